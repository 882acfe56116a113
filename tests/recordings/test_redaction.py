"""Which keys have secrets, and what is left of a call without them."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, NotRequired, TypedDict
from uuid import UUID

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from patience import assert_linear

from operator_schema import Codec, tool
from operator_schema.codec.spellings import sent_keys
from operator_schema.errors import DecodeError
from operator_schema.recordings import REDACTED, Hidden, KeysOfTools, hidden_keys, without_secrets
from operator_schema.recordings.keys_in_texts import names_key_of
from operator_schema.similar_names import nearest

TOKEN = Hidden(frozenset({"token"}))
MARK = "MARK-4711-MARK"


def cleaned(arguments, hidden=TOKEN, content="", **result):
    said = {"content": content, "is_error": False, **result}
    return without_secrets({"id": "c1", "name": "use", "arguments": arguments, "result": said}, hidden)


# --- keys ----------------------------------------------------------------------------------------


@dataclass
class Pair:
    """A field whose name in Python isn't its key."""

    ab: int = 0
    yx: int = field(default=0, metadata={"alias": "cd"})


@tool(repair=True)
def pair(pair: Pair) -> None:
    """Take a pair."""


PAIR = Codec(Pair).graph.resolve_root()


@pytest.mark.parametrize(
    ("name", "key", "letters"), [("ab", "ab", "aAbB"), ("cd", "cd", "cCdD"), ("cd", "cd", "yYxX")]
)
@pytest.mark.parametrize("is_python_name", [True, False])
def test_a_key_that_repair_accepts_for_a_secret_one_is_hidden(name, key, letters, is_python_name):
    """Of all 19,608 keys of up to five letters and separators."""
    given_name = "yx" if is_python_name and name == "cd" else name
    hidden = hidden_keys([given_name], "names").for_tool(pair)
    keys = ["".join(each) for size in range(6) for each in product(letters + "_- ", repeat=size)]
    accepted = [one for one in keys if sent_keys(PAIR, {one: 1}) == {key: one}]
    assert len(accepted) > 100
    assert [one for one in accepted if one not in hidden] == []


FULL_WIDTH = "".join(chr(ord(letter) + 0xFEE0) for letter in "api_token")
ACCENTS = "\u00e0pi_t\u00f6k\u00e9n"
WRITTEN = [
    *("apiToken", "ApiToken", "API_TOKEN", "api-token", "api token", " api_token ", "apitoken", "api__token"),
    *("api.token", "$api_token", "api_token:", "api_tokn", "api_tokens", "apitokenn", "api\u200b_token"),
    *("my_api_token", "userApiToken", "x-api-token", "login.api_token", "login[api_token]", "the apiToken"),
    *(FULL_WIDTH, ACCENTS, "api_toke\u0301n", "ap\u0131_token", "a" + "_" * 300 + "piToken"),
]
"""Spellings of `api_token`, by hand."""


@pytest.mark.parametrize("key", WRITTEN)
def test_other_spellings_are_hidden(key):
    assert key in hidden_keys(["api_token"], "names")


@given(st.text("token_apis ", max_size=12))
@example("access_token")
@example("api_token")
@example("tkn")
def test_a_key_that_an_error_names_in_place_of_a_secret_one_is_hidden(key):
    @tool
    def use(token: str) -> None:
        """Use it."""

    assume(key != "token")
    with pytest.raises(DecodeError) as raised:
        use.decode({key: "x"})
    is_meant = "; rename" in str(raised.value) or nearest(key, ["token"]) is not None
    assert not is_meant or key in TOKEN.for_tool(use).by_model


@pytest.mark.parametrize(
    "key", ["user", "note", "city", "tokens", "", "_", "access", "T", "passport", "token" * 60]
)
def test_ordinary_and_declared_keys_are_not_hidden(key):
    @tool
    def use(token: str, tokens: int = 0) -> None:
        """Use it."""

    assert key not in TOKEN.for_tool(use).by_model
    assert names_key_of(f"{key}: 3", TOKEN.for_tool(use)) is False


def test_a_name_without_letters_means_only_itself():
    hidden = hidden_keys(["_", "$"], "names")
    assert [key for key in ("_", "$", "-", "", " ", "%") if key in hidden] == ["_", "$"]


class Typed(TypedDict):
    """A dict."""

    api_token: NotRequired[str]


class Named(NamedTuple):
    """A tuple."""

    apiToken: str = ""  # noqa: N815  # the key of a model's own API


def test_a_key_of_another_part_of_the_tool_is_hidden_where_repair_takes_it_for_the_secret_one():
    @tool(repair=True)
    def use(typed: Typed, named: Named) -> None:
        """Use both."""

    sent = {"typed": {"apiToken": MARK}, "named": {}}
    assert use.decode(sent).typed == {"api_token": MARK}
    assert MARK not in str(cleaned(sent, hidden_keys(["api_token"], "names").for_tool(use)))


def using(kind):
    def use(given: Any) -> None:
        """Use it."""

    use.__annotations__ = {"given": kind, "return": None}
    return tool(use)


@dataclass
class Aliased:
    """A field with another key than its name."""

    api_token: str = field(metadata={"alias": "t"})


@dataclass
class Own:
    """A key that means itself, unless another tool takes it for the secret one."""

    apiToken: int  # noqa: N815  # as above


def test_the_keys_of_two_tools_of_one_name_are_hidden():
    first, second = using(Aliased), using(Own)
    for order in ([first, second], [second, first], [first, second, first, second]):
        keys = KeysOfTools(hidden_keys(["api_token"], "names"))
        assert [keys.add(each) for each in order] == [True, True, False, False][: len(order)]
        assert all(key in keys.of("use") for key in ("t", "api_token", "apiToken"))
    keys = KeysOfTools(hidden_keys(["api_token"], "names"))
    keys.add(second)
    assert "apiToken" not in keys.of("use")


# --- texts that can't be read --------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        *("token: x", "the token = x", "token=x", "a&token=x", "--token=x", "<token>x</token>", "(token): x"),
        *("{accessToken: x", "user_token = x", "my Token : x", "access token: x", "tok-en=> x", "{token: x"),
        *("{'token': x", '"token" :x', "`token`: x", "**token**: x", "token\uff1a x", "'a'='b', 'token' = 1"),
        *('\\"token\\": x', '\\\\"token\\\\": x', '{"a": {"b": "{\\"token\\": 1'),
        *('{"t\\u006fken": "x', '{"tok\\x65n" : 1', '{"tok\\U00000065n" : 1'),
        *("x" * 500 + " token: x", "token" + " " * 500 + ": x", "to" + "_" * 500 + "ken: x"),
    ],
)
def test_a_text_that_names_a_secret_key_is_left_out(text):
    assert names_key_of(text, TOKEN)
    assert cleaned({"note": text})["arguments"] == {"note": REDACTED}
    assert cleaned({}, content=text)["result"]["content"] == REDACTED


@pytest.mark.parametrize(
    "text",
    [
        *("", "token", "your token has expired", "no token", "a: token", "x == token", "https://a.b/c?d=1"),
        *("10:30", "user: x", "broken: x", "tok: x", "\\", "\\U99999999: x", "==="),
        "token " + "x" * 500 + ": y",
    ],
)
def test_a_text_that_names_none_stays(text):
    assert not names_key_of(text, TOKEN)
    result = {"content": text, "is_error": False}
    assert cleaned({"note": text}, content=text) == {
        "id": "c1", "name": "use", "arguments": {"note": text}, "result": result,
    }  # fmt: skip


# --- what is left --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ({"a": ({"token": MARK},)}, {"a": [{"token": REDACTED}]}),
        ({"token": (MARK,), "b": MARK}, {"token": REDACTED, "b": REDACTED}),
        (b'{"token": "MARK-4711-MARK"}', {"token": REDACTED}),
        (bytearray(b'{"token": "MARK'), REDACTED),
        ("", {}),
        (None, None),
        ("[NaN]", REDACTED),
        ({5: MARK, "token": MARK}, {"5": REDACTED, "token": REDACTED}),
        ({"token": 471147, "b": [471147.0, "471147"]}, {"token": REDACTED, "b": [REDACTED, REDACTED]}),
        ({"token": 471147, "b": [4711, "4711"]}, {"token": REDACTED, "b": [4711, "4711"]}),
        ({"token": 471147.0, "b": [471147]}, {"token": REDACTED, "b": [REDACTED]}),
        ({"token": "471147e0", "b": [471147]}, {"token": REDACTED, "b": [REDACTED]}),
        ({"token": [None, True, ""], "b": [None, True, ""]}, {"token": REDACTED, "b": [None, True, ""]}),
        ({"token": "abc", "b": "xabcx", "c": "ab"}, {"token": REDACTED, "b": REDACTED, "c": "ab"}),
        ({"a": '{"token": 1, "b": [2]}', "b": 3}, {"a": '{"token":"[redacted]","b":[2]}', "b": 3}),
        ({"a": "{'token': None, /* token: x */}"}, {"a": REDACTED}),
        ({"a": "[1, /* token: x */ 2]", "b": "y", "c": 3}, {"a": REDACTED, "b": REDACTED, "c": 3}),
        ({"a": "token: 4711", "b": [4711, 5, True, ""]}, {"a": REDACTED, "b": [REDACTED, 5, True, ""]}),
        ({"a": "token: xyz", "is xyz": {"city": "Oslo"}}, {"a": REDACTED, REDACTED: {"city": REDACTED}}),
        ({"a": [{"Name": "Token", "Value": MARK}]}, {"a": [{"Name": "Token", "Value": REDACTED}]}),
        ({"a": {"name": "ann", "value": 1, "key": None}}, {"a": {"name": "ann", "value": 1, "key": None}}),
        ({"a": "name: token"}, {"a": "name: token"}),
        ({"token": {MARK: 1, "id": 2}, MARK: "id"}, {"token": REDACTED, REDACTED: "id"}),
        ({"a": "[1, /* user: x */ 2]"}, {"a": "[1, /* user: x */ 2]"}),
        ({json.dumps({"token": MARK}): 1}, {'{"token":"[redacted]"}': 1}),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_left_of_arguments(sent, kept):
    assert cleaned(sent)["arguments"] == kept


@pytest.mark.parametrize("levels", [10, 59, 60, 61, 300])
@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"a": inner}])
def test_what_nests_deep_is_left_out_if_it_has_a_secret(levels, wrap):
    secret, plain = {"token": MARK}, {"user": "ann"}
    for _ in range(levels):
        secret, plain = wrap(secret), wrap(plain)
    found = cleaned({"secret": secret, "plain": plain, "b": MARK})
    assert MARK not in str(found)
    assert found["arguments"]["plain"] == plain


def test_a_known_tool_and_its_keys_keep_their_names():
    @tool
    def use(token: str, user: str = "") -> None:
        """Use it."""

    found = cleaned({"token": "s", "user": "x", "us": 1}, TOKEN.for_tool(use), content="s")
    assert found["name"] == "use"
    assert found["arguments"] == {"token": REDACTED, "user": "x", REDACTED: 1}
    assert cleaned({"token": "us"})["name"] == REDACTED  # it may be one that a model made up


def test_whatever_else_a_line_has_is_cleaned_too():
    line = {
        "name": "use",
        "arguments": {},
        "result": {"content": ""},
        "ran": {"token": MARK},
        "at": [MARK],
        "n": 1,
    }
    assert without_secrets(line, TOKEN) == {**line, "ran": {"token": REDACTED}, "at": [REDACTED]}


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ({"token": MARK}, {"token": REDACTED}),
        (json.dumps({"token": MARK}), {"token": REDACTED}),
        (json.dumps({"token": MARK})[:-1], REDACTED),
        ({"a": MARK}, {"a": MARK}),
    ],
    ids=str,
)
def test_what_a_model_sent_is_read_like_what_ran(sent, kept):
    result = {"content": f"changed to {MARK[:3]}…\nit was {MARK}", "is_error": False}
    found = without_secrets({"name": "use", "arguments": {"a": 1}, "sent": sent, "result": result}, TOKEN)
    assert found["arguments"] == {"a": 1}
    assert found["sent"] == kept
    said = f"{REDACTED}\nit was {REDACTED}" if kept == {"token": REDACTED} else REDACTED
    assert found["result"]["content"] == (result["content"] if kept == sent else said)


def test_a_value_that_was_cut_shows_no_beginning_of_a_secret():
    content = f'A person changed token to "{MARK[:9]}…", and "MAR…" isn\'t one, …\n{MARK}'
    expected = f'A person changed token to "{REDACTED}…", and "MAR…" isn\'t one, …\n{REDACTED}'
    assert cleaned({"token": MARK}, content=content)["result"]["content"] == expected
    assert cleaned({"token": MARK}, content="…" * 1_000_001)["result"]["content"] == REDACTED


def test_a_result_that_was_cut_shows_no_beginning_of_a_secret():
    for size in range(4, len(MARK)):
        cut = f"it is {MARK[:size]}\n[cut: the whole result has 70 characters; ask for less of it]"
        assert cleaned({"token": MARK}, content=cut)["result"]["content"].startswith(
            f"it is {REDACTED}\n[cut"
        )
    cut = "MARK is MAR\n[cut: more]"
    assert cleaned({"token": MARK}, content=cut)["result"]["content"] == cut


@pytest.mark.parametrize(
    ("kind", "sent", "shown"),
    [
        (bytes, base64.b64encode(MARK.encode()).decode(), MARK),
        (bytes, base64.b64encode(b"\xff\xfe" + MARK.encode()).decode(), "nothing to see"),
        (datetime, "2026-01-31T09:30:00Z", "2026-01-31 09:30:00+00:00"),
        (datetime | None, "2026-01-31T09:30:00.000Z", "2026-01-31T09:30:00+00:00"),
        (list[UUID], ["12345678-1234-5678-1234-56781234567A"], "12345678-1234-5678-1234-56781234567a"),
        (Decimal, "4711.50", "4711.50"),
        (Path, "/home//ann/./key", "/home/ann/key"),
    ],
    ids=str,
)
def test_what_a_secret_was_decoded_to_is_left_out(kind, sent, shown):
    def use(token: Any, note: str = "") -> None:
        """Use it."""

    use.__annotations__ = {"token": kind, "note": str, "return": None}
    found = cleaned({"token": sent}, TOKEN.for_tool(tool(use)), content=f"it is {shown}")
    assert found["result"]["content"] == (
        "it is [redacted]" if shown != "nothing to see" else f"it is {shown}"
    )


# --- time ----------------------------------------------------------------------------------------

HOSTILE = {
    "keys": lambda size: {f"{number}tokex": 1 for number in range(size // 20)},
    "keys in a text": lambda size: {"a": " ".join(f"{number}tokex:" for number in range(size // 20))},
    "colons": lambda size: {"a": ": " * size},
    "quotes": lambda size: {"a": '"a":' * size},
    "backslashes": lambda size: {"a": '"' + "\\" * size + "u0061:" * size},
    "brackets": lambda size: {"a": "[" * size + "token"},
    "objects": lambda size: {"a": "{'a':" * size},
    "comments": lambda size: {"a": "/*" * size},
    "comments and colons": lambda size: {"a": "a /* b */ // c:\n" * size},
    "quotes in backslashes": lambda size: {"a": '"\\' * size + ":"},
    "HTML": lambda size: {"a": "&amp;quot" * size + ":"},
    "percents": lambda size: {"a": "%25" * size + ":"},
    "brackets after a key": lambda size: {"a": "a(" * size + ":"},
    "tags": lambda size: {"a": "<a " * size + ":"},
    "far from a colon": lambda size: {"a": ("a" + "*" * size) * 3 + ":"},
    "names and values": lambda size: {"a": "name:'b' value" * size, "b": [{"name": "x", "value": 1}] * size},
    "unclear": lambda size: {"a": "token: x", "b": ["x" * 20] * size, "c": "word " * size},
    "fences": lambda size: {"a": "```json\n" * size},
    "spaces": lambda size: {"a": (" " * size + ":") * 2},
    "words": lambda size: {"a": "x y " * size + ":"},
    "secrets": lambda size: {"token": [f"{number} secret" for number in range(size)], "b": ["x" * 20] * size},
    "a long secret": lambda size: {"token": "ab" * size, "b": "ab" * size + "c", "c": ["abab"] * size},
    "texts": lambda size: {"a": [json.dumps({"user": str(number)}) for number in range(size // 10)]},
}


@pytest.mark.slow("measures growth")
@pytest.mark.parametrize("form", HOSTILE)
def test_hostile_calls_take_time_that_grows_with_their_size(form):
    assert_linear(
        lambda sent: cleaned(sent, content=f"{str(sent)[:20_000]}\n[cut: x]"),
        2_000,
        setup=HOSTILE[form],
        least=0.05,
    )


def test_more_secrets_than_can_be_looked_for_leave_everything_out():
    found = cleaned(
        {"token": [f"{number} secret" for number in range(5_000)], "b": "x"}, content="x" * 20_000
    )
    result = {"content": REDACTED, "is_error": False}
    assert found == {"id": REDACTED, "name": REDACTED, "arguments": REDACTED, "result": result}
