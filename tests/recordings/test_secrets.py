"""What `redact` names stands in no record, however a model or a tool wrote it."""

from __future__ import annotations

import html
import json
import logging
import string
from dataclasses import dataclass, field
from typing import Annotated, Any
from urllib.parse import quote

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

pytest.importorskip("opentelemetry.sdk", reason="WebAssembly has no threads, and the tests of it no SDK")

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from operator_schema import CallError, Executor, RawCall, Registry, RunNormally, skip, tool
from operator_schema.adapters.opentelemetry import spans
from operator_schema.testing import PlaybackError, playback, record
from operator_schema.workbench.compare.recorded_calls import calls_in
from operator_schema.workbench.compare.replay import Replay
from operator_schema.workbench.compare.replay_report import replay_page
from operator_schema.workbench.inspector.call_logs import read_log, replayed_log

pytestmark = pytest.mark.needs_threads

# --- spellings -----------------------------------------------------------------------------------

BY_HAND = [
    *("api_token", "apiToken", "ApiToken", "API_TOKEN", "api-token", "api token", "api__token", " api_token"),
    *(
        "my_api_token",
        "userApiToken",
        "api_tokn",
        "apiTokens",
        "api.token",
        "".join(chr(ord(letter) + 0xFEE0) for letter in "api_token"),
    ),
    *("\u00e0pi_t\u00f6k\u00e9n", "api_toke\u0301n"),
]
MEANT_BY_MODEL = [*BY_HAND, "token", "api_tok"]
"""A model may write these, too: of each of them the text for the model says that it was sent instead."""


@st.composite
def by_the_rules(draw):
    """Write a key as repair accepts it: in either case, with separators anywhere."""
    pieces = [draw(st.sampled_from([letter, letter.upper()])) for letter in "apitoken"]
    gaps = [draw(st.text("_- ", max_size=2)) for _ in pieces]
    return "".join(gap + piece for gap, piece in zip(gaps, pieces, strict=True)) + draw(
        st.text("_- ", max_size=2)
    )


# --- forms ---------------------------------------------------------------------------------------


def escaped(value):
    """Write every letter of every key as an escape."""
    text = json.dumps(value)
    for key in {key for key in keys_of(value) if key.isascii() and key.isalpha()}:
        text = text.replace(f'"{key}"', '"' + "".join(f"\\u{ord(letter):04x}" for letter in key) + '"')
    return text


def keys_of(value):
    if isinstance(value, dict):
        yield from value
        for inner in value.values():
            yield from keys_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner)


def pairs(value, name, other):
    """Write each key beside its value."""
    is_first = other.lower() == "value"
    return [
        {name: key, other: inner} if is_first else {name: inner, other: key} for key, inner in value.items()
    ]


def octal(text):
    """Write every letter t and k as an escape of Python."""
    return text.replace("t", "\\164").replace("k", "\\153")


TEXTS = {
    "JSON": json.dumps,
    "JSON with its letters": lambda value: json.dumps(value, ensure_ascii=False, indent=1),
    "escapes": escaped,
    "twice": lambda value: json.dumps(json.dumps(value)),
    "three times": lambda value: json.dumps(json.dumps(json.dumps(value, ensure_ascii=False))),
    "in a list of texts": lambda value: json.dumps(["a", json.dumps({"b": json.dumps(value)})]),
    "Python": repr,
    "a comma too many": lambda value: json.dumps([value])[:-1] + ",]",
    "fence": lambda value: f"```json\n{json.dumps(value)}\n```",
    "fence in a sentence": lambda value: f"Here:\n```\n{json.dumps(value)}\n```\nDone.",
    "byte order mark": lambda value: "\ufeff" + json.dumps(value),
    "comment": lambda value: f'{{"a": 1, /* {json.dumps(value)} */ "b": 2}}',
    "cut": lambda value: json.dumps([value])[:-1],
    "cut in Python": lambda value: repr([value])[:-1],
    "lines": lambda value: f'{{"a": 1}}\n{json.dumps(value)}\n',
    "sentence": lambda value: f"Here it is: {json.dumps(value)}. More?",
    "escaped in a sentence": lambda value: f"It said {json.dumps(json.dumps(value))}, I think",
    "1,500 levels": lambda value: "[" * 1500 + json.dumps(value) + "]" * 1500,
    "keys twice": lambda value: f'{{"a": {json.dumps(value)}, "a": 1}}',
    "not finite": lambda value: f"[NaN, {json.dumps(value)}]",
    "comment before the colon": lambda value: json.dumps(value)[:-1].replace('": ', '" /* a: b */ : '),
    "comment to the end of a line": lambda value: json.dumps(value)[:-1].replace('": ', '" // "a: b"\n: '),
    "comment of a shell": lambda value: json.dumps(value)[:-1].replace('": ', "\" # it's\n: "),
    "far from its colon": lambda value: json.dumps(value)[:-1].replace('": ', '"' + "\0* \t\\" * 99 + ": "),
    "many backslashes": lambda value: json.dumps(value)[:-1].replace('": ', "\\" * 401 + '": '),
    "HTML": lambda value: html.escape(json.dumps(value)),
    "HTML with numbers": lambda value: json.dumps(value).replace('"', "&#34;").replace(":", "&#x3a;"),
    "HTML twice": lambda value: html.escape(html.escape(json.dumps(value))),
    "percents": lambda value: quote(json.dumps(value)),
    "percents twice": lambda value: f"https://a.b/?q={quote(quote(json.dumps(value), safe=''))}&r=1",
    "octal": lambda value: octal(repr(value)),
    "octal, cut": lambda value: octal(repr(value)[:-1]),
    "JavaScript": lambda value: json.dumps(value)[:-1].replace("t", "\\u{74}"),
    "names and values in a text": lambda value: json.dumps(pairs(value, "name", "value")),
    "names and values, cut": lambda value: json.dumps(pairs(value, "value", "header")[::-1])[:-1],
    "names and values in a text, twice, cut": lambda value: json.dumps(
        json.dumps(pairs(value, "field", "value"))
    )[:-1],
    "assignments": lambda value: "; ".join(f"{key} = {inner!r}" for key, inner in value.items()),
    "YAML": lambda value: "\n".join(f"  {key}: {inner}" for key, inner in value.items()),
    "XML": lambda value: "".join(f"<{key}>{inner}</{key}>" for key, inner in value.items()),
    "XML with attributes": lambda value: "".join(
        f"<{key} a='{'b' * 200}'>{inner}" for key, inner in value.items()
    ),
    "notes": lambda value: "; ".join(f"{key} (new): {inner}" for key, inner in value.items()),
    "places": lambda value: "; ".join(f"{key}[0] = {inner}" for key, inner in value.items()),
}
"""Ways to write an object in a text."""

BARE = {"assignments", "YAML", "XML", "XML with attributes", "notes", "places"}
"""Keys without quotes, which repair reads nowhere, so errors name none of them for another one."""

FORMS = {
    "as it is": lambda value: value,
    "names and values": lambda value: pairs(value, "name", "value"),
    "keys and values": lambda value: {"headers": pairs(value, "Key", "Value")},
    **TEXTS,
}

AROUND = [
    lambda value: value,
    lambda value: [value],
    lambda value: {"a": value},
    lambda value: {"b": [1, {"c": value}], "d": "text"},
    lambda value: [[], [[value]]],
    lambda value: {json.dumps(value): 1},
    lambda value: json.dumps({"e": value}),
    lambda value: {"f": json.dumps([value])},
]
MARKS = st.text(string.ascii_uppercase, min_size=16, max_size=16)
VALUES = [
    str,
    lambda mark: f" \"{mark}\\n\u00e9\u2028 \U0001f511\t{mark}'",
    lambda mark: [mark],
    lambda mark: {"kind": "x", "value": {"deep": mark}},
    lambda mark: json.dumps({"inner": mark}),
    lambda mark: {mark: True},
]
"""Secrets in which a mark is, which nothing else has."""

ELSEWHERE = [
    lambda _: {},
    lambda said: {"other": said},
    lambda said: {"other": [{"b": f"hi {said}!"}]},
    lambda said: {"other": {said: 1}},
    lambda said: {f"is {said}": 1},
    lambda said: {"other": json.dumps({"a": said})},
    lambda said: {"other": "[" * 70 + json.dumps(said) + "]" * 70},
]
"""Ways to repeat the secret in another argument."""

# --- what is run ---------------------------------------------------------------------------------


@dataclass
class Login:
    """Who somebody is."""

    user: str
    api_token: Any = None


class Vault:
    """What the program knows."""

    def __init__(self, answer):
        self.answer = answer


@tool(repair=True)
def sign_in(
    vault: Annotated[Vault, skip], login: Login | None = None, note: str = "", more: Any = None
) -> Any:
    """Sign in."""
    return vault.answer(login, note, more)


@tool
def strict(vault: Annotated[Vault, skip], user: str, count: int, api_token: str = "") -> Any:
    """Sign in, without repair."""
    return vault.answer(user, count, api_token)


def written(value):
    return json.dumps(value, ensure_ascii=False)


class Records:
    """Everything that is written of a call, and of its recording."""

    def __init__(self, folder):
        self.path = folder / "calls.jsonl"
        self.exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracer = provider.get_tracer("tests")
        self.lines = []

    def run(self, call, answer, tools=(sign_in, strict), names=("api_token",), is_round=False, **options):
        """Run one call; return everything that was written of it."""
        self.path.unlink(missing_ok=True)
        self.exporter.clear()
        self.lines.clear()
        kept = {"record_arguments": True, "record_results": True, "max_length": 10**9, "redact": names}
        hooks = [spans(self.tracer, **kept), *options.pop("hooks", ())]
        context = {Vault: Vault(answer)}
        executor = Executor(list(tools), hooks=hooks, context=context, max_content=None, **options)
        recording = record(executor, self.path, redact=names)
        recording.run_sync(executor.registry.toolset.offer().round([call]) if is_round else call)
        return [self.path.read_text(), *self.spans(), *self.reports(executor), "\n".join(self.lines)]

    def spans(self):
        found = self.exporter.get_finished_spans()
        events = [[[event.name, dict(event.attributes)] for event in span.events] for span in found]
        return [
            written([span.name, dict(span.attributes), of_span])
            for span, of_span in zip(found, events, strict=True)
        ]

    def reports(self, executor):
        """Return reports about the recording: a replay, its page, and the page of the inspector."""
        replay = Replay(executor.registry)
        for line in self.path.read_text().split("\n")[:-1]:
            for found in calls_in(json.loads(line)):
                replay.add(found)
        report = replay.as_dict()
        told = replayed_log(read_log(self.path), lambda name: executor.registry[name])
        return [written(report), replay_page(report, "Replay"), written(told)]

    def missed(self, call, tools=(sign_in, strict)):
        """Return what is said of a call that isn't in the cassette."""
        try:
            playback(list(tools), self.path).run_sync(call)
        except PlaybackError as error:
            return f"{error!s} {error!r} {error.call!r}"
        return ""  # what was left out may have been this


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    made = Records(tmp_path_factory.mktemp("records"))

    class Lines(logging.Handler):
        def emit(self, record):
            made.lines.append(record.getMessage() + str(record.exc_info and record.exc_info[1]))

    logger, handler = logging.getLogger("operator_schema"), Lines()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)  # `DEBUG` shows values: docs/executing.md says so
    yield made
    logger.removeHandler(handler)
    logger.setLevel(before)


def assert_hidden(mark, texts):
    for place, text in enumerate(texts):
        start = text.find(mark)
        assert start < 0, (place, text[max(start - 200, 0) : start + 40])


# --- what a model wrote --------------------------------------------------------------------------


def fail_with(kind):
    def fail(*given):
        raise kind(f"no {given}")

    return fail


ANSWERS = [
    lambda *_: "done",
    lambda login, *_: f"hello {getattr(login, 'api_token', '')}",
    lambda login, *_: json.dumps({"said": f"hello {getattr(login, 'api_token', '')}"}),
    lambda login, *_: {"a": getattr(login, "api_token", ""), "b": [1]},
    fail_with(CallError),
]


@pytest.mark.slow("writes and reads hundreds of records")
@settings(max_examples=4 * settings().max_examples)
@given(
    mark=MARKS,
    key=st.sampled_from(MEANT_BY_MODEL) | by_the_rules(),
    form=st.sampled_from(sorted(FORMS)),
    value=st.sampled_from(VALUES),
    place=st.sampled_from(["login", "note", "more", "extra", "whole", "strict"]),
    around=st.sampled_from(AROUND),
    answer=st.sampled_from(ANSWERS),
    elsewhere=st.sampled_from(ELSEWHERE),
)
def test_what_a_model_wrote_under_a_secret_key_stands_in_no_record(
    records, mark, key, form, value, place, around, answer, elsewhere
):
    assume(form not in BARE or key in BY_HAND)
    secret = {"user": "ann", key: value(mark)}
    sent = FORMS[form](secret)
    arguments = {
        "login": {"login": sent},
        "note": {"note": sent if isinstance(sent, str) else json.dumps(sent)},
        "whole": FORMS[form]({"login": secret}) if form not in BARE else sent,
        "strict": {**secret, "count": 5},
    }.get(place, {place: around(sent)})
    if isinstance(arguments, dict):
        arguments |= elsewhere(value(mark) if value is VALUES[1] else mark)
    call = RawCall("c1", "strict" if place == "strict" else "sign_in", arguments)
    texts = records.run(call, answer)
    assert_hidden(mark, texts)
    assert len(records.path.read_text().split("\n")[:-1]) == 1
    other = {"login": {"user": "bob", key: value(mark)}, "extra": sent}
    assert_hidden(mark, [records.missed(RawCall("c2", "sign_in", other))])


# --- what a tool wrote ---------------------------------------------------------------------------


@pytest.mark.slow("writes and reads a hundred records")
@settings(max_examples=2 * settings().max_examples)
@given(
    mark=MARKS,
    key=st.sampled_from(BY_HAND) | by_the_rules(),
    form=st.sampled_from(sorted(FORMS)),
    value=st.sampled_from(VALUES),
    around=st.sampled_from(AROUND),
    is_error=st.booleans(),
    elsewhere=st.sampled_from(ELSEWHERE),
)
@example(
    mark="A" * 16,
    key="api token",
    form="XML with attributes",
    value=str,
    around=lambda value: value,
    is_error=False,
    elsewhere=lambda _: {},
)
def test_what_a_tool_wrote_under_a_secret_key_stands_in_no_record(
    records, mark, key, form, value, around, is_error, elsewhere
):
    """The message of another exception than `CallError` is in the log: the pages say so."""
    assume(form not in BARE or key in BY_HAND)
    said = around(FORMS[form]({"user": "ann", key: value(mark)}))
    other = elsewhere(value(mark) if value is VALUES[1] else mark)
    said = {"said": said, **other} if other else said

    def answer(*_):
        if is_error:
            raise CallError(said if isinstance(said, str) else json.dumps(said))
        return said

    assert_hidden(mark, records.run(RawCall("c1", "sign_in", {}), answer))
    assert len(records.path.read_text().split("\n")) == 2


@pytest.mark.parametrize("is_round", [True, False])
@pytest.mark.parametrize("name", ["strict", "sign_in", "MARKMARK4711"])
@pytest.mark.parametrize("key", ["api_token", "login", "x"])
def test_a_secret_that_is_also_an_id_a_name_or_a_key_stands_in_no_record(records, is_round, name, key):
    mark = "MARKMARK4711"
    arguments = {"user": "ann", "count": 1, "api_token": mark, mark: 1, key: {mark: mark, "api_token": mark}}
    *texts, _log = records.run(RawCall(mark, name, arguments), lambda *_: {mark: 1}, is_round=is_round)
    assert_hidden(mark, texts)


@pytest.mark.parametrize("show", ["type", "message", "traceback"])
@given(mark=MARKS, form=st.sampled_from(sorted(FORMS)), value=st.sampled_from(VALUES[:2]))
def test_an_error_of_a_call_with_a_secret_is_left_out(records, show, mark, form, value):
    secret = {"user": "ann", "api_token": value(mark)}
    call = RawCall("c1", "sign_in", {"login": FORMS[form](secret)})
    *texts, _log = records.run(call, fail_with(LookupError), show_errors=show)
    assert_hidden(mark, texts)


@given(mark=MARKS, length=st.integers(0, 60))
def test_a_result_that_is_cut_shows_no_part_of_a_secret(records, mark, length):
    assert_hidden(
        mark[:8],
        records.run(
            RawCall("c1", "strict", {"user": "ann", "count": 1, "api_token": mark}),
            lambda *_: "x" * (500 - length) + mark + "y" * 1000,
            tools=(sign_in, strict.with_(max_content=500 + 60)),
        ),
    )


@given(mark=MARKS, length=st.integers(4, 15), around=st.sampled_from(AROUND), levels=st.sampled_from([0, 70]))
def test_a_result_that_repeats_the_beginning_of_a_secret_shows_none_of_it(
    records, mark, length, around, levels
):
    beginning = f"in {mark[:length]}"
    said = around({"user": f"{beginning}…", f"{beginning}…": [1]})
    for _ in range(levels):
        said = [said]
    sent = {"user": "ann", "count": 1, "api_token": mark}
    assert_hidden(beginning, records.run(RawCall("c1", "strict", sent), lambda *_: said))


@given(mark=MARKS, form=st.sampled_from(sorted(FORMS)))
def test_what_the_program_injects_stands_in_no_record(records, mark, form):
    said = FORMS[form]({"api_token": mark})
    assert_hidden(mark, records.run(RawCall("c1", "strict", {"user": "ann", "count": 1}), lambda *_: said))


# --- what has no secret --------------------------------------------------------------------------

PLAIN_KEYS = st.text("uvwxyzUVW_- 0123456789", max_size=12)
PLAIN_TEXTS = st.text(max_size=30) | st.text("uvw:={}[]\"'<>/\\ \n#*`,1", max_size=30)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
PLAIN = st.recursive(
    st.none() | st.booleans() | NUMBERS | PLAIN_TEXTS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(PLAIN_KEYS, inner, max_size=4)
        | st.builds(
            lambda value, form: TEXTS[form](value),
            st.dictionaries(PLAIN_KEYS, inner, max_size=3),
            st.sampled_from(sorted(TEXTS)),
        )
    ),
    max_leaves=12,
)


@pytest.mark.slow("writes and reads a hundred records")
@settings(max_examples=2 * settings().max_examples)
@given(sent=st.dictionaries(PLAIN_KEYS, PLAIN, max_size=4), said=PLAIN, is_error=st.booleans())
@example(
    {"note": "no token here, and no card", "more": {"access": 1, "passport": "x", "time": "10:30"}},
    "x",
    False,
)
@example({"user": "https://example.org/?user=1&city=Oslo"}, '{"a": 1, "a": 2}', True)
def test_what_has_no_secret_is_recorded_unchanged(records, sent, said, is_error):
    def answer(*_):
        if is_error:
            raise CallError(json.dumps(said))
        return said

    found = []
    for names in ((), ("api_token", "card")):
        records.run(RawCall("c1", "sign_in", sent), answer, names=names)
        (line,) = records.path.read_text().split("\n")[:-1]
        shown = json.loads(records.spans()[0])[1:]
        found.append(({key: value for key, value in json.loads(line).items() if key != "redact"}, shown))
    assert found[0] == found[1]


# --- tools of one name ---------------------------------------------------------------------------


@dataclass
class ShortKey:
    """A field with another key than its name."""

    api_token: str = field(default="", metadata={"alias": "t"})


@dataclass
class OwnKey:
    """A key that means itself, unless another tool has it for the secret one."""

    apiToken: str = ""  # noqa: N815
    t: str = ""


def renamed(given, name="use"):
    @tool(name=name, repair=True)
    def use(given: ShortKey) -> str:
        """Use it."""
        return str(given)

    @tool(name=name, repair=True)
    def own(given: OwnKey) -> str:
        """Use it."""
        return str(given)

    return use if given is ShortKey else own


@pytest.mark.parametrize("kinds", [(ShortKey, OwnKey), (OwnKey, ShortKey)])
@pytest.mark.parametrize("is_round", [True, False])
@pytest.mark.parametrize("key", ["t", "apiToken", "api_token", "ApiToken"])
def test_a_tool_that_was_replaced_hides_what_either_hides(records, kinds, is_round, key):
    mark = "MARKMARKMARK4711"
    first, second = map(renamed, kinds)
    registry = Registry(first)
    seen = []

    def replace(call):
        seen.append(call.name)
        if registry["use"] == first:
            registry.unregister("use")
            registry.register(second)

    records.path.unlink(missing_ok=True)
    records.exporter.clear()
    kept = {"record_arguments": True, "record_results": True, "redact": ["api_token"]}
    executor = Executor(registry, hooks=[spans(records.tracer, **kept), replace])
    recording = record(executor, records.path, redact=["api_token"])
    for _ in range(2):
        call = RawCall("c1", "use", {"given": {key: mark}})
        recording.run_sync(registry.toolset.offer().round([call]) if is_round else call)
    assert seen == ["use", "use"]
    texts = [records.path.read_text(), *records.spans()]
    assert texts[0].count("\n") == 2
    assert_hidden(mark, texts)


# --- arguments that somebody changed -------------------------------------------------------------


@pytest.mark.slow("writes and reads a hundred records")
@settings(max_examples=2 * settings().max_examples)
@given(
    marks=st.lists(MARKS, min_size=2, max_size=2, unique=True),
    key=st.sampled_from(BY_HAND) | by_the_rules(),
    form=st.sampled_from(["as it is", "JSON", "twice", "Python", "fence", "cut"]),
    value=st.sampled_from(VALUES),
    place=st.sampled_from(["login", "more"]),
    padding=st.integers(0, 80),
    is_round=st.booleans(),
    answer=st.sampled_from(ANSWERS),
)
def test_neither_what_a_model_sent_nor_what_ran_instead_stands_in_a_record(
    records, marks, key, form, value, place, padding, is_round, answer
):
    sent = FORMS[form]({"user": "ann", key: value(marks[0])})
    ran = {"user": "bob" + "b" * padding, "api_token": value(marks[1])}

    def change(call):
        changed = Login(**ran) if place == "login" else call.input.login
        more = {"a": [ran]} if place == "more" else call.input.more
        return RunNormally(type(call.input)(changed, call.input.note, more))

    call = RawCall("c1", "sign_in", {place: sent})
    texts = records.run(call, answer, hooks=[change], is_round=is_round)
    for mark in marks:
        assert_hidden(mark, texts)
    line = json.loads(texts[0])
    assert ("sent" in line) == ("changes" in line)
    assert place == "login" or line["changes"][0]["names"] == ["more"]
