"""What the last line of an error, `send: {…}`, and each suggestion keep to, whatever came."""

from __future__ import annotations

import copy
import json
import pickle
import sys
from dataclasses import MISSING, dataclass, field, fields, make_dataclass
from datetime import date
from itertools import product
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_domains import texts_of
from strategies import DATACLASSES, OBJECTS, edited

from operator_schema import Codec, DecodeError, tool_input
from operator_schema.testing import arguments

sys.path.insert(0, str(Path(__file__).parent))

from mistake_score import LINE, judge, last_line
from mistakes import KINDS, NOT_TO_COPY, OPTIONAL, VALUE_KINDS, WRAPPERS, repeatable, wrong_call
from right_calls import AGENT_TOOLS, RightCall, agent_calls, airline_calls, right_call, subject_of
from text_readings import UNCLEAR, read_boolean, read_date, read_integer, read_integers, read_texts

MOST_CHARACTERS = 2000
LONG_LINE = 900
"""Arguments of so many characters needn't be shown."""

SEEDS = st.integers(0, 2**32 - 1)
CALLS = [*agent_calls(6, 1), *airline_calls()[::12]]


def error_of(codec, value):
    """Return the error of a value, or None if it decodes."""
    try:
        codec.decode(value)
    except DecodeError as error:
        return error
    return None


# --- the last line -------------------------------------------------------------------------------------


def check_line(codec, repairing, value, error):
    """Check everything about the last line that can be seen without knowing what was meant."""
    text, correction = str(error), error.correction()
    assert len(text) <= MOST_CHARACTERS
    has_line = f"\n{LINE}" in text
    assert error.as_dict()["correction"] == (correction if has_line else None)
    if not has_line:
        assert correction is None or len(json.dumps(correction)) > LONG_LINE
        return
    assert text.count(f"\n{LINE}") == 1
    line = text.rsplit("\n", 1)[-1]
    assert line.isprintable()
    assert last_line(text) == correction
    assert in_order(codec.json_schema(), correction)
    codec.decode(copy.deepcopy(correction))
    report = repairing.decode_report(copy.deepcopy(correction))
    assert report.repairs == ()
    assert report.ignored == ()
    assert error.correction() is not error.correction()
    assert pickle.loads(pickle.dumps(error)).correction() == correction
    if isinstance(value, dict) and len(value) > 1:  # no wrapper
        assert len(correction) <= len(value), "a key was invented"


def in_order(schema, value, whole=None):
    """Say whether the keys of objects stand as in the schema; what a union means isn't looked into."""
    whole = whole or schema
    if "$ref" in schema:
        return in_order(whole["$defs"][schema["$ref"].removeprefix("#/$defs/")], value, whole)
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        return all(in_order(schema["items"], item, whole) for item in value)
    if not isinstance(value, dict) or "properties" not in schema:
        return True
    wanted = [key for key in schema["properties"] if key in value]
    known = [key for key in value if key in schema["properties"]]
    return wanted == known and all(in_order(schema["properties"][key], value[key], whole) for key in known)


@pytest.mark.slow("draws hundreds of types")
@given(st.data())
def test_the_last_line_of_a_random_error_is_what_decodes(data):
    annotation = data.draw(OBJECTS)
    closed = data.draw(st.sampled_from(["ignore", "reject"]))
    codec = Codec(annotation, unknown_fields=closed)
    valid = data.draw(arguments(codec))
    for value in (data.draw(edited(valid)), {"arguments": data.draw(edited(valid))}):
        error = error_of(codec, value)
        if error is not None:
            check_line(codec, Codec(annotation, unknown_fields=closed, repair=True), value, error)
            check_suggestions(codec, value, error)


@pytest.mark.slow("makes hundreds of mistakes")
@given(SEEDS)
def test_the_last_line_of_a_mistake_is_what_decodes(seed):
    rng = repeatable(seed)
    call = rng.choice(CALLS)
    wrong = wrong_call(call, tuple(rng.sample(KINDS, rng.choice([1, 2, 3]))), rng)
    error = wrong and error_of(call.subject.codec, wrong.arguments)
    if error:
        check_line(call.subject.codec, call.subject.repairing, wrong.arguments, error)
        check_suggestions(call.subject.codec, wrong.arguments, error)
        if set(NOT_TO_COPY) & {kind for kind, _ in wrong.kinds}:
            assert error.correction() is None


@pytest.mark.slow("draws hundreds of types")
@given(st.data(), SEEDS)
def test_the_last_line_of_a_mistake_in_a_random_type_is_right(data, seed):
    call = data.draw(random_calls())
    rng = repeatable(seed)
    # Whether a random key that is ignored was meant as another one, nobody can tell.
    kinds = [kind for kind in KINDS if kind not in {"unknown tool", OPTIONAL}]
    for chosen in [*[(kind,) for kind in kinds], *[tuple(rng.sample(kinds, 2)) for _ in kinds]]:
        wrong = wrong_call(call, chosen, rng)
        if wrong is not None:
            verdict = judge(call, wrong, [])
            assert verdict.outcome not in {"wrong", "broken"}, (wrong, verdict.text)
            assert "nested" not in chosen or verdict.outcome != "other", (wrong, verdict.text)
            assert verdict.repaired != "other" or verdict.outcome == "other", (wrong, verdict.text)
            assert verdict.outcome != "right" or not set(chosen) & set(NOT_TO_COPY), (wrong, verdict.text)


@st.composite
def random_calls(draw):
    """A call of a random type, without keys that nobody reads."""
    subject = subject_of(tool_input(draw(OBJECTS), name="the_tool"))
    known = subject.schema.get("properties", {})
    sent = draw(arguments(subject.codec))
    return right_call(subject, {key: value for key, value in sent.items() if key in known})


def check_suggestions(codec, value, error):
    """Put each suggestion of a value into its place: what was wrong there is gone."""
    for finding in error.findings:
        if finding.suggestion is None or finding.code in {"missing", "unknown", "invalid_json"}:
            continue
        changed = put(value, finding.path, json.loads(finding.suggestion))
        left = codec.report(changed)
        assert not [other for other in left if other.path[: len(finding.path)] == finding.path], (
            f"{finding}: then {left}"
        )


def put(value, path, new):
    """Return a value with another one somewhere inside it, which may be in a text that holds JSON."""
    if not path:
        return new
    around = json.loads(value) if isinstance(value, str) else copy.copy(value)
    around[path[0]] = put(around[path[0]], path[1:], new)
    return around


# --- what doesn't matter -------------------------------------------------------------------------------


def shuffled(value, rng):
    """Return a value with the keys of its objects in another order."""
    if isinstance(value, dict):
        keys = list(value)
        rng.shuffle(keys)
        return {key: shuffled(value[key], rng) for key in keys}
    return [shuffled(item, rng) for item in value] if isinstance(value, list) else value


def correction_of(codec, value):
    error = error_of(codec, value)
    return error and error.correction()


@given(SEEDS)
def test_the_order_of_keys_does_not_matter(seed):
    rng = repeatable(seed)
    call = rng.choice(CALLS)
    wrong = wrong_call(call, tuple(rng.sample(KINDS, rng.choice([1, 2]))), rng)
    if wrong is not None:
        codec = call.subject.codec
        assert correction_of(codec, wrong.arguments) == correction_of(codec, shuffled(wrong.arguments, rng))


@given(SEEDS)
def test_the_order_of_items_does_not_matter(seed):
    rng = repeatable(seed)
    call = rng.choice([call for call in CALLS if any(isinstance(v, list) for v in call.arguments.values())])
    wrong = wrong_call(call, ("wrong list item",), rng)
    if wrong is None:
        return
    turned = {
        key: value[::-1] if isinstance(value, list) else value for key, value in wrong.arguments.items()
    }
    corrected = correction_of(call.subject.codec, wrong.arguments)
    again = correction_of(call.subject.codec, turned)
    assert again == (
        corrected
        and {key: value[::-1] if isinstance(value, list) else value for key, value in corrected.items()}
    )


def renamed(cls, names):
    """Return a class with other names for its fields."""
    hints = get_type_hints(cls, include_extras=True)
    members = []
    for each in fields(cls):
        default = {} if each.default is MISSING else {"default": each.default}
        factory = {} if each.default_factory is MISSING else {"default_factory": each.default_factory}
        members.append((names[each.name], hints[each.name], field(**default, **factory)))
    return make_dataclass(cls.__name__, members)


@given(SEEDS)
def test_what_a_key_is_called_does_not_matter_where_its_value_is_wrong(seed):
    """A field that is called `is_public` is read by its type, as any other. But a name may say a unit."""
    rng = repeatable(seed)
    call = rng.choice([call for call in CALLS if call.subject.name in AGENT_TOOLS])
    cls = AGENT_TOOLS[call.subject.name]
    wrong = wrong_call(call, (rng.choice([*VALUE_KINDS]),), rng)
    if wrong is None or "unit" in str(wrong.kinds) or "key: " in str(wrong.kinds):
        return
    letters = rng.sample("abcdefghijklmnopqrstuvwxyz", len(fields(cls)))
    names = {each.name: f"{letter}_{letter * 5}" for each, letter in zip(fields(cls), letters, strict=True)}
    other = Codec(renamed(cls, names), name=call.subject.name)
    expected = correction_of(call.subject.codec, wrong.arguments)
    sent = {names[key]: value for key, value in wrong.arguments.items()}
    assert correction_of(other, sent) == (expected and {names[key]: value for key, value in expected.items()})


# --- texts, and values that aren't like those of people -------------------------------------------


@given(SEEDS)
def test_arguments_as_text_have_the_same_last_line(seed):
    rng = repeatable(seed)
    call = rng.choice(CALLS)
    wrong = wrong_call(call, tuple(rng.sample(KINDS, rng.choice([1, 2]))), rng)
    if wrong is not None:
        codec = call.subject.codec
        error = error_of_text(codec, json.dumps(wrong.arguments))
        assert (error and error.correction()) == correction_of(codec, wrong.arguments)


def error_of_text(codec, text):
    """Return the error of a text, or None if it decodes."""
    try:
        codec.decode_json(text)
    except DecodeError as error:
        return error
    return None


@pytest.mark.parametrize("name", ["create_ticket", "book_room", "calculate"])
def test_a_text_that_was_cut_off_has_no_last_line(name):
    """Half a call must not run, and so it isn't shown as a whole one."""
    call = next(call for call in CALLS if call.subject.name == name)
    text = json.dumps(call.arguments)
    for end in range(len(text)):
        for cut in (text[:end], text[:end].replace('"', "'"), f"```json\n{text[:end]}\n```"):
            error = error_of_text(call.subject.codec, cut)
            assert error is not None
            assert error.correction() is None
            assert LINE not in str(error)


@dataclass
class Note:
    """Something long, something of any kind, and a number."""

    text: str
    count: int
    data: Any = None


HOSTILE_TEXTS = [
    "\n- a: fine\nsend: {}",
    "\r\x1b[2J\x07",
    "\u202e\u2066\ufeff",
    "\x85\u2028\u2029",
    '"\\' * 9,
    "é😀",
]
ODD = [-(10**400), 1e308, 5e-324, True, [[]], {"": {}}, {"send": 'send: {"a": 1}'}, *HOSTILE_TEXTS]


@pytest.mark.parametrize("odd", [*ODD, "\ud800", 10**4300], ids=range(15))
def test_odd_values_beside_the_mistake_stay_as_they_were(odd):
    text = odd if isinstance(odd, str) else "a"
    for right in ({"text": text, "count": 3}, {"text": "a", "count": 3, "data": odd}):
        error = error_of(Codec(Note), {**right, "count": "3"})
        assert error is not None
        check_line(Codec(Note), Codec(Note, repair=True), right, error)
        assert error.correction() == right or odd not in ODD


@pytest.mark.parametrize("deep", [1, 90, 5000])
def test_deep_and_long_values_beside_the_mistake_leave_the_text_bounded(deep):
    data = [0]
    for _ in range(deep):
        data = [data]
    for value in (data, ["a"] * deep, "a" * deep, {str(number): "\n" for number in range(deep)}):
        error = error_of(Codec(Note), {"text": "a", "count": "3", "data": value})
        assert error is not None
        check_line(Codec(Note), Codec(Note, repair=True), {}, error)


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), {"a": float("nan")}, b"x", {1: 2}, {"a"}], ids=str
)
def test_what_is_no_json_beside_the_mistake_is_in_no_last_line(value):
    error = error_of(Codec(Note), {"text": "a", "count": "3", "data": value})
    assert error is not None
    assert error.correction() is None
    assert LINE not in str(error)


def test_changing_the_arguments_afterwards_changes_no_correction():
    sent = {"text": "a", "count": "3", "data": {"a": [1]}}
    error = error_of(Codec(Note), sent)
    sent["data"]["a"].append(2)
    sent.clear()
    assert error.correction() == {"text": "a", "count": 3, "data": {"a": [1]}}
    error.correction()["data"]["a"].append(3)
    assert error.correction() == {"text": "a", "count": 3, "data": {"a": [1]}}


# --- wrappers ------------------------------------------------------------------------------------------


@pytest.mark.slow("draws hundreds of types")
@given(st.data())
def test_a_wrapper_never_runs_with_the_defaults(data):
    """Whatever it is called: where nothing is required, what is inside must not be lost."""
    annotation = data.draw(DATACLASSES)
    codec, repairing = (Codec(annotation, name="the_tool", repair=repair) for repair in (False, True))
    known = set(codec.json_schema().get("properties", {}))
    inside = data.draw(arguments(codec))
    if not set(inside) or set(inside) - known:
        return
    name = data.draw(st.sampled_from([*WRAPPERS, "the_tool"]) | st.text(min_size=1, max_size=8))
    if name in known:
        return
    for sent in ({name: inside}, {name: json.dumps(inside)}):
        check_wrapper(codec, repairing, sent, inside)


def check_wrapper(codec, repairing, sent, inside):
    error = error_of(codec, sent)
    assert error is not None
    right = codec.decode(inside)
    if (correction := error.correction()) is not None:
        assert codec.decode(correction) == right
    try:
        report = repairing.decode_report(sent)
    except DecodeError:
        return
    assert report.instance == right
    assert "wrapper" in {repair.code for repair in report.repairs}


FEED = [call for call in CALLS if call.subject.name == "read_feed"]


@pytest.mark.parametrize("name", [*WRAPPERS, "read_feed", "anything", "Arguments", "args_"])
def test_arguments_one_level_too_deep_are_shown_where_they_belong(name):
    for call in FEED:
        subject, sent = call.subject, {name: call.arguments}
        assert correction_of(subject.codec, sent) == (call.arguments or None)
        report = subject.repairing.decode_report(sent)
        assert report.instance == call.decoded
        assert [repair.code for repair in report.repairs] == ["wrapper"] * bool(call.arguments)


@dataclass(frozen=True)
class Filter:
    """A part with a key of the whole."""

    field: str
    filter: Filter | None = None


@dataclass(frozen=True)
class Listing:
    """Where a misspelt key looks like a wrapper, and is none."""

    filter: Filter | None = None
    field: str = "all"


@pytest.mark.parametrize("name", ["filters", "Filter", "the_filter", "filtr"])
def test_a_misspelt_field_is_no_wrapper(name):
    meant = Listing(filter=Filter("x"))
    for repair in (False, True):
        codec = Codec(Listing, repair=repair)
        correction = correction_of(codec, {name: {"field": "x"}})
        assert correction is None or codec.decode(correction) == meant
        report = codec.decode_report({name: {"field": "x"}}) if correction is None else None
        assert report is None or report.instance in {meant, Listing()}


def test_a_wrapper_is_refused_however_often_the_tool_was_called_before():
    codec = FEED[0].subject.codec
    for _ in range(300):
        codec.decode({"query": "a"})
    assert correction_of(codec, {"arguments": {"query": "a"}}) == {"query": "a"}
    assert codec.decode({"query": "a", "arguments": {"query": "b"}}).query == "a"


@pytest.mark.parametrize("other", [{}, {"x": 1}, [], ["query"], "text", None, 5, "{}"])
def test_an_unknown_key_that_holds_none_of_the_tools_keys_is_ignored_as_any_other(other):
    assert error_of(FEED[0].subject.codec, {"foo": other}) is None


# --- short texts ---------------------------------------------------------------------------------------


UNCLEAR_TEXTS = [(annotation, text) for annotation, texts in UNCLEAR for text in texts.split("|")]


def suggested(codec, text):
    """Return whether something else is suggested for a text, and what."""
    error = error_of(codec, {"x": text})
    if error is None:
        return None
    (finding,) = error.findings
    correction = error.correction()
    if finding.suggestion is None:
        assert correction is None
        return ()
    value = json.loads(finding.suggestion)
    assert correction == {"x": value}
    codec.decode(correction)
    return (value,)


def misread(annotation, read, texts):
    """List each text whose suggestion isn't what a person reads."""
    codec, found = Codec(make_dataclass("One", [("x", annotation)])), []
    for text in texts:
        came, reading = suggested(codec, text), read(text)
        is_read = came == () and not reading.is_clear
        is_read |= came is None or any(_same(*came, allowed) for allowed in reading.allowed if came)
        if not is_read:
            found.append((text, came, reading))
    return found


def _same(one, other):
    return one == other and isinstance(one, bool) == isinstance(other, bool)


DATES = [
    separator.join(numbers)
    for separator in "-/., "
    for numbers in product(["1", "05", "12", "13", "31", "99", "2026", "026"], repeat=3)
]


READERS = {
    int: (read_integer, "012,;.- a\n"),
    list[int]: (read_integers, "012,;.- a\n"),
    list[str]: (read_texts, "012,;.- a\n"),
    bool: (read_boolean, "012,;.- a\n"),
    date: (read_date, "012,;.- a\\n"),
}
"""Who reads the texts for a type, and what these are made of."""


@pytest.mark.slow("reads thousands of texts")
@pytest.mark.parametrize("annotation", READERS, ids=str)
def test_what_is_suggested_for_a_short_text_is_what_a_person_reads(annotation):
    read, letters = READERS[annotation]
    assert misread(annotation, read, texts_of(letters, 3)) == []


def test_what_is_suggested_for_a_word_or_a_date_is_what_a_person_reads():
    assert misread(bool, read_boolean, texts_of("yesno", 3)) == []
    assert misread(date, read_date, DATES) == []


@settings(max_examples=2 * settings().max_examples)
@given(st.data())
def test_what_is_suggested_for_a_longer_text_is_what_a_person_reads(data):
    annotation = data.draw(st.sampled_from([*READERS]))
    read, letters = READERS[annotation]
    text = data.draw(st.text(letters + "3456789", max_size=10))
    assert misread(annotation, read, [text]) == []


@pytest.mark.parametrize(("annotation", "text"), UNCLEAR_TEXTS, ids=str)
def test_nothing_is_suggested_where_more_than_one_thing_may_be_meant(annotation, text):
    codec = Codec(make_dataclass("One", [("x", annotation)]))
    assert suggested(codec, text) == ()


@dataclass
class Trip:
    """Keys of which several are near to others."""

    start_date: str
    end_date: str
    city_name: str
    nights: int


TRIP = {"start_date": "1", "end_date": "2", "city_name": "Lyon", "nights": 3}


@pytest.mark.parametrize(
    "changed",
    [
        {"start_date": ..., "end_date": ..., "date": "1"},
        {"start_date": ..., "end_date": ..., "dates": "1", "when": "2"},
        {"city_name": ..., "cityName": "Lyon", "CityName": "Paris"},
        {"city_name": ..., "cityName": ["Lyon", "Paris"]},
        {"city_name": ..., "nights": ..., "something": "Lyon"},
        {"city_name": ..., "nights": ..., "cityName": 3, "night": "Lyon"},
        {"nights": ..., "city_name": 3},
        {"nights": None},
        {"nights": [3, 4]},
        {"nights": "3 or 4"},
        {"nights": {}},
        {"nights": ..., "arguments": {"nights": 3}},
    ],
    ids=str,
)
def test_there_is_no_last_line_where_a_key_or_value_could_be_another(changed):
    sent = {key: value for key, value in {**TRIP, **changed}.items() if value is not ...}
    error = error_of(Codec(Trip), sent)
    assert error is not None
    assert error.correction() is None


TURNING = "dont do_not not no non never without skip omit hide ignore disable exclude un dis anti in"


@pytest.mark.parametrize("key", ["include", "public", "limit", "notify"])
def test_a_key_with_a_word_that_turns_it_round_is_not_renamed(key):
    codec = Codec(make_dataclass("One", [(key, bool)]))
    names = [f"{word}_{key}" for word in TURNING.split()] + [f"{key}_{word}" for word in ("off", "disabled")]
    assert [name for name in names if correction_of(codec, {name: True})] == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("weight_kg", "5 lb"),
        ("duration_minutes", "2 hours"),
        ("timeout_seconds", "5 min"),
        ("distanceMeters", "5 km"),
        ("price_usd", "5 EUR"),
        ("price_eur", "$5"),
        ("temp_celsius", "70 °F"),
        ("days", "2 weeks"),
        ("size_mb", "5 GB"),
        ("timeout_ms", "5 s"),
        ("amount_cents", "$5"),
        ("lengthInCm", "5 in"),
        ("height_cm", "1.8 m"),
        ("speed_kmh", "21 mph"),
    ],
)
def test_a_number_of_another_unit_than_the_name_says_has_no_reading(name, text):
    codec = Codec(make_dataclass("One", [(name, float)]))
    (finding,) = error_of(codec, {name: text}).findings
    assert finding.suggestion is None
    assert correction_of(codec, {name: text}) is None


@pytest.mark.parametrize(
    ("description", "text"),
    [
        ("The radius in meters.", "5 km"),
        ("How long to wait, in seconds.", "5 minutes"),
        ("Weight in kg", "5 lbs"),
        ("The amount of USD.", "5 EUR"),
        ("The number of days", "2 weeks"),
    ],
)
def test_a_number_of_another_unit_than_the_description_says_has_no_reading(description, text):
    codec = Codec(make_dataclass("One", [("x", Annotated[float, description])]))
    assert suggested(codec, text) == ()


def test_the_calls_are_there():
    assert all(isinstance(call, RightCall) for call in CALLS)
    assert {call.subject.name for call in CALLS} > set(AGENT_TOOLS)
