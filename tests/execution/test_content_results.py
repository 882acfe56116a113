"""Results in every form: text for the model, a JSON value, the value itself, and content parts."""

from __future__ import annotations

import copy
import json
import logging
import pickle
import threading
from dataclasses import dataclass, field
from typing import Annotated, Any, Optional, Union

import pytest
from executor_samples import both, one

from operator_schema import Codec, EncodeError, Executor, RawCall, SchemaError, SchemaLeaf, ToolResult, tool
from operator_schema.content import Audio, File, Image, Resource, Text

pytestmark = pytest.mark.needs_threads

IMAGE = Image.from_bytes(b"GIF89a\x01\x00")
SHOWN = {"type": "image", "media_type": "image/gif", "bytes": 8}
LINE = "[image image/gif, 8 bytes]"


def giving(value, declared=Any, is_async=False):
    async def later() -> declared:
        return value

    def now() -> declared:
        return value

    return tool(name="work", namespace={"declared": declared})(later if is_async else now)


@dataclass
class Hit:
    title: str
    tags: list[str] = field(default_factory=list)


# --- json and value ------------------------------------------------------------------------------


@both
@pytest.mark.parametrize(
    ("value", "declared", "content", "found"),
    [
        ("5", str, "5", "5"),
        (5, int, "5", 5),
        ("5", Any, "5", "5"),
        (5, Any, "5", 5),
        ("null", str | None, "null", "null"),
        (None, str | None, "null", None),
        ([1.5, True], list, "[1.5,true]", [1.5, True]),
        ((1, 2), tuple[int, int], "[1,2]", [1, 2]),
        (Hit("a"), Hit, '{"title":"a","tags":[]}', {"title": "a", "tags": []}),
        ("five", int, "five", "five"),
        ({1: 2}, dict[str, int], '{"1":2}', {"1": 2}),
        ("a\ud800", str, "a\ufffd", "a\ufffd"),
    ],
)
def test_a_result_has_a_text_a_json_value_and_itself(value, declared, content, found, is_async):
    result = one(giving(value, declared, is_async))
    assert (result.content, result.json, type(result.json)) == (content, found, type(found))
    assert result.value is value
    assert result.parts == (Text(content),)
    assert "parts" not in result.as_dict()


def test_the_json_value_shares_nothing_with_the_value():
    value = {"hits": [Hit("a", ["x"])], "list": [[1]]}
    for declared in (Any, dict[str, Any], dict[str, list[Any]]):
        made = giving(value, declared)
        for _ in range(300):  # compiled, too
            result = Executor([made]).run_sync(RawCall("c", "work"))
        result.json["list"][0].append(2)
        result.json["hits"][0]["tags"].append("y")
        assert value == {"hits": [Hit("a", ["x"])], "list": [[1]]}


def test_what_a_leaf_of_your_own_returns_is_copied():
    class Held:
        def __init__(self):
            self.rows = [[1]]

    leaf = SchemaLeaf(Held, {"type": "array"}, lambda _: Held(), lambda held: held.rows, Held())
    value, made = Held(), giving(None, Annotated[Held, leaf])
    for _ in range(300):
        written = made.write_output(value)
    written.json[0].append(2)
    assert value.rows == [[1]]


@both
def test_a_failure_has_neither(is_async):
    result = one(giving(object(), Any, is_async))
    assert (result.code, result.json, result.value) == ("execution_failed", None, None)
    assert result.parts == (Text(result.content),)


def test_equality_hash_and_text_of_a_result_are_those_of_what_the_model_gets():
    plain, full = ToolResult("1", "a", "5"), ToolResult("1", "a", "5", json=5, value=object())
    assert plain == full
    assert hash(plain) == hash(full)
    assert repr(plain) == repr(full)
    assert plain != ToolResult("1", "a", "5", parts=(Text("5"), IMAGE))
    assert plain != RawCall("1", "a", "5")
    rich = ToolResult("1", "a", "5", parts=(IMAGE,))
    assert json.loads(json.dumps(rich.as_dict()))["parts"] == [SHOWN]
    assert "GIF89" not in repr(rich)
    with pytest.raises(AttributeError, match="'ToolResult' object has no attribute 'text'"):
        getattr(rich, "text")  # noqa: B009  # to see the error


def test_copies_of_a_result():
    lock = threading.Lock()
    result = ToolResult("1", "a", "5", details={"ignored": []}, parts=(IMAGE,), json=[5], value=lock)
    sent = pickle.loads(pickle.dumps(result))
    assert (sent, sent.json, sent.parts, sent.value) == (result, [5], (IMAGE,), None)
    copied = copy.deepcopy(result)
    assert (copied, copied.value, copied.json) == (result, lock, [5])
    assert copied.json is not result.json
    assert copied.details is not result.details
    assert copy.copy(result) is result


def test_a_result_with_another_text_says_nothing_else():
    result = ToolResult("1", "a", "secret", parts=(Text("secret"), IMAGE), json="secret", value="secret")
    hidden = result.replace(content="***")
    assert (hidden.parts, hidden.json, hidden.value) == ((Text("***"),), None, None)
    kept = result.replace(content="***", parts=(IMAGE,))
    assert (kept.parts, kept.json) == ((IMAGE,), None)
    renamed = result.replace(name="b")
    assert (renamed.parts, renamed.json, renamed.value) == (result.parts, "secret", "secret")
    plain = ToolResult("1", "a", "x")
    assert plain.parts == (Text("x"),)
    assert plain.replace(content="y").parts == (Text("y"),)


# --- parts ---------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize(
    ("value", "declared", "content", "found", "parts"),
    [
        (IMAGE, Image, LINE, SHOWN, (IMAGE,)),
        (IMAGE, Image | None, LINE, SHOWN, (IMAGE,)),
        (IMAGE, Image | str, LINE, SHOWN, (IMAGE,)),
        ("none", Image | str, "none", "none", (Text("none"),)),
        (None, Image | None, "null", None, (Text("null"),)),
        (Text("5"), Text, "5", "5", (Text("5"),)),
        (["a", IMAGE], list[str | Image], f"a\n{LINE}", ["a", SHOWN], (Text("a"), IMAGE)),
        ((IMAGE, "a"), tuple[Image, str], f"{LINE}\na", [SHOWN, "a"], (IMAGE, Text("a"))),
        ([IMAGE], list, LINE, [SHOWN], (IMAGE,)),
        ([IMAGE], list[Any], LINE, [SHOWN], (IMAGE,)),
        ([IMAGE], Any, LINE, [SHOWN], (IMAGE,)),
        ([], list[Image], "[]", [], (Text("[]"),)),
        (
            [Hit("a"), IMAGE],
            list[Hit | Image],
            '{"title":"a","tags":[]}\n' + LINE,
            [{"title": "a", "tags": []}, SHOWN],
            None,
        ),
        ([1, None, IMAGE], list, f"1\nnull\n{LINE}", [1, None, SHOWN], (Text("1"), Text("null"), IMAGE)),
    ],
)
def test_a_function_may_return_parts(caplog, value, declared, content, found, parts, is_async):
    for options in ({}, {"strict_results": True}):
        made = giving(value, declared, is_async)
        result = one(made, **options)
        assert (result.content, result.json, result.is_error, result.details) == (content, found, False, None)
        assert parts is None or result.parts == parts
        assert result.value is value
    assert caplog.records == []
    assert made.encode_output(value) == content


def test_every_kind_of_part():
    parts = (
        Audio.from_bytes(b"fLaC"),
        File.from_bytes(b"%PDF-1", name="a.pdf"),
        Resource("file:///a.txt", "text"),
        Resource("file:///b"),
    )
    result = one(giving(list(parts), list[Audio | File | Resource]))
    assert result.parts == parts
    assert result.json == [
        {"type": "audio", "media_type": "audio/flac", "bytes": 4},
        {"type": "file", "name": "a.pdf", "media_type": "application/pdf", "bytes": 6},
        {
            "type": "resource",
            "uri": "file:///a.txt",
            "media_type": "text/plain",
            "characters": 4,
            "text": "text",
        },
        {"type": "resource", "uri": "file:///b"},
    ]
    assert result.content.splitlines() == [
        "[audio audio/flac, 4 bytes]",
        "[file a.pdf application/pdf, 6 bytes]",
        "[resource file:///a.txt text/plain]",
        "text",
        "[resource file:///b]",
    ]


@pytest.mark.parametrize(
    "declared",
    [
        Image,
        Image | None,
        Optional[Image],  # both spellings
        Union[str, Image],  # likewise
        Annotated[Image, "A picture"],
        Annotated[Image | str, "A picture"],
        list[str | Image],
        list[Annotated[Image, "one"]] | str,
        tuple[Image, ...],
        Text | Image | Audio | File | Resource,
    ],
    ids=str,
)
def test_a_type_with_parts_is_taken_and_has_no_schema(declared):
    made = giving(IMAGE, declared)
    assert made.output_schema() is None
    assert made.structured_output() is None


@dataclass
class Held:
    image: Image


@pytest.mark.parametrize(
    ("declared", "path"),
    [
        (dict[str, Image], ("return", "*")),
        (list[list[Image]], ("return", "*", "*")),
        (Held, ("return", "image")),
        (Held | Image, ("return",)),
        (list[Held], ("return", "*", "image")),
    ],
    ids=str,
)
def test_a_part_inside_another_value_is_refused_at_registration(declared, path):
    with pytest.raises(SchemaError) as caught:
        giving(None, declared)
    assert path in {complaint.path for complaint in caught.value.findings}
    assert "A function may return a content part alone or in a list, but not inside another value." in str(
        caught.value
    )
    assert "declare Any" not in str(caught.value)


def test_a_parameter_can_not_be_a_part():
    with pytest.raises(SchemaError, match="function may return a content part"):

        @tool
        def show(image: Image) -> None: ...


@pytest.mark.parametrize(
    "value", [{"image": IMAGE}, [[IMAGE]], [IMAGE, [IMAGE]], [IMAGE, {"a": (IMAGE,)}]], ids=str
)
def test_a_part_inside_another_value_fails_and_says_why(caplog, value):
    result = one(giving(value))
    assert result.code == "execution_failed"
    assert "a function may return a content part alone or in a list" in caplog.text
    said = (
        r"^work: 1 problem with the value\n- .*Image has no JSON form; a function may return a content part"
    )
    with pytest.raises(EncodeError, match=said):
        giving(value).encode_output(value)
    with pytest.raises(EncodeError):
        Codec(Any).encode(IMAGE)


@pytest.mark.parametrize(
    ("declared", "value"), [(str, IMAGE), (list[int], [1, IMAGE]), (Hit, IMAGE)], ids=str
)
def test_parts_where_another_type_is_declared(caplog, declared, value):
    result = one(giving(value, declared))
    assert (result.is_error, IMAGE in result.parts) == (False, True)
    assert result.details["mismatches"]
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert one(giving(value, declared), strict_results=True).code == "execution_failed"


def test_text_that_can_not_be_encoded():
    value = [Text("a\ud800"), "b\udfff", Resource("a:b", "c\ud800"), IMAGE]
    result = one(giving(value))
    texts = result.parts[0].text, result.parts[1].text, result.parts[2].text
    assert texts == ("a\ufffd", "b\ufffd", "c\ufffd")
    result.content.encode()
    assert [note.path for note in result.details["mismatches"]] == [(0,), (1,), (2,)]
    strict = one(giving(value), strict_results=True)
    assert [problem["path"] for problem in strict.details["findings"]] == ["[0]"]


def test_named_tuples_and_other_lists_are_values():
    class Parts(list[Any]):
        pass

    assert one(giving(Parts([IMAGE]))).code == "execution_failed"


class Hostile(type):
    def __hash__(cls):
        raise RuntimeError


def test_classes_with_code_of_their_own():
    value = [IMAGE, Hostile("Bad", (), {})()]
    assert one(giving(value)).code == "execution_failed"
    assert one(giving(value[1:])).code == "execution_failed"
