"""Documents and values that were made to keep a program busy, or to use up its memory."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from patience import assert_linear, assert_takes

from operator_schema.engine import DocumentCodec, SchemaDocument
from operator_schema.errors import DecodeError
from operator_schema.schema.value_check import MAX_STEPS, ValueCheck

pytestmark = pytest.mark.slow("gives the reader documents that grow")


STEPS = MAX_STEPS // 12
"""So many steps show how long all of them take."""

SECONDS = 0.2
"""What they may take; those of the slowest case take 0.03 s."""


@pytest.fixture
def allow(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Return what sets the steps that a check may take."""
    return lambda steps: monkeypatch.setattr(ValueCheck.__init__, "__defaults__", (steps,))


def of(schema: object, **more: object) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": schema}, **more}


def texts(number: int) -> list[str]:
    return [f"text {i}" for i in range(number)]


def objects(number: int) -> list[dict[str, int]]:
    return [{"a": i} for i in range(number)]


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


def doubled(levels: int) -> dict[str, object]:
    """Return definitions each of which asks the next one twice."""
    found: dict[str, object] = {
        f"a{i}": {"anyOf": [{"$ref": f"#/$defs/a{i + 1}"}] * 2} for i in range(levels)
    }
    return {**found, f"a{levels}": {"not": {}}}


def consts(number: int) -> list[object]:
    return [{"const": [*texts(3), i]} for i in range(number)]


CASES: dict[str, tuple[Callable[[], dict[str, Any]], Callable[[], Any]]] = {
    "many objects that have to differ": (
        lambda: of({"type": "array", "uniqueItems": True}),
        lambda: objects(16_000),
    ),
    "many texts that have to differ": (lambda: of({"uniqueItems": True}), lambda: texts(60_000)),
    "long lists that have to differ": (
        lambda: of({"uniqueItems": True}),
        lambda: [list(range(i, i + 100)) for i in range(1000)],
    ),
    "deep lists that have to differ": (
        lambda: of({"uniqueItems": True, "items": {"uniqueItems": True}}),
        lambda: [nested(80) for _ in range(400)],
    ),
    "many patterns of keys": (
        lambda: of({"patternProperties": {f"^k{i}x$": {} for i in range(2000)}}),
        lambda: dict.fromkeys(texts(4000), 1),
    ),
    "patterns of keys beside other keys": (
        lambda: of({"patternProperties": {f"k{i}": {} for i in range(1000)}, "additionalProperties": False}),
        lambda: dict.fromkeys(texts(10_000), 1),
    ),
    "a condition with many alternatives": (
        lambda: of({"if": {"anyOf": [{"type": "string", "maxLength": i} for i in range(2000)]}, "then": {}}),
        lambda: texts(64_000),
    ),
    "many alternatives": (
        lambda: of({"anyOf": [{"type": "string", "maxLength": i} for i in range(2000)]}),
        lambda: texts(64_000),
    ),
    "exactly one of many": (
        lambda: of({"oneOf": [{"type": "array", "maxItems": i} for i in range(2000)]}),
        lambda: texts(64_000),
    ),
    "many long constants": (lambda: of({"anyOf": consts(3000)}), lambda: texts(20_000)),
    "a choice of many": (
        lambda: of({"items": {"not": {"enum": texts(20_000)}}}),
        lambda: [text + "!" for text in texts(20_000)],
    ),
    "what each contains": (
        lambda: of({"contains": {"contains": {"const": 1}}, "maxContains": 0}),
        lambda: [list(range(2, 300)) for _ in range(300)],
    ),
    "references that double": (lambda: of({"$ref": "#/$defs/a0"}, **{"$defs": doubled(60)}), lambda: 5),
    "references that double on each level": (
        lambda: of(
            {"$ref": "#/$defs/n"},
            **{
                "$defs": {
                    "n": {
                        "anyOf": [{"items": {"$ref": "#/$defs/n"}}, {"prefixItems": [{"$ref": "#/$defs/n"}]}]
                    }
                }
            },
        ),
        lambda: nested(90),
    ),
    "all that nobody looked at": (
        lambda: of(
            {"allOf": [{"properties": {f"k{i}": {}}} for i in range(2000)], "unevaluatedProperties": False}
        ),
        lambda: {f"k{i}": 1 for i in range(2000)},
    ),
    "all items that nobody looked at": (
        lambda: of({"allOf": [{"contains": {"const": i}} for i in range(300)], "unevaluatedItems": False}),
        lambda: list(range(1000)),
    ),
    "names of keys": (
        lambda: of({"propertyNames": {"anyOf": [{"pattern": f"(a+)+{i}$"} for i in range(200)]}}),
        lambda: {f"{'a' * 50}{i}b": 1 for i in range(2000)},
    ),
    "many that depend on each other": (
        lambda: of({"dependentRequired": {f"k{i}": [f"k{j}" for j in range(200)] for i in range(200)}}),
        lambda: {f"k{i}": 1 for i in range(200)},
    ),
    "everything is missing": (
        lambda: of({"required": texts(40_000), "not": {"required": ["a"]}}),
        dict,
    ),
    "multiples of long numbers": (
        lambda: of({"items": {"multipleOf": 1e-300, "not": {"multipleOf": 7e-300}}}),
        lambda: [1.5e300] * 800,
    ),
    "a pattern and a long text": (lambda: of({"pattern": "^(a|a)*$"}), lambda: "a" * 100_000 + "!"),
}


@pytest.mark.parametrize("name", CASES)
def test_time_and_memory_are_bounded(name: str, allow: Callable[[int], None]) -> None:
    schema, value = (made() for made in CASES[name])
    size = len(json.dumps(schema)) + len(json.dumps(value))
    arguments = {"x": value}
    try:
        codec = DocumentCodec(SchemaDocument("tool", schema))
        codec.decode({})  # what is made once
    except DecodeError:
        pass
    allow(STEPS)

    def decode() -> None:
        try:
            codec.decode(arguments)
        except DecodeError as error:
            assert len(str(error)) < 20_000

    assert_takes(SECONDS, decode)
    tracemalloc.start()  # it makes the check several times as slow
    with suppress(DecodeError):
        codec.decode(arguments)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 20 * size // 3 + 350_000


LARGE_PATTERNS = (
    r"(\ba|\Bb|a|b)*a(a|b|\b){300}c",
    r"(a|b)*a(a|b){450}c",
    r"(a|b)*a((a|b)(a|b)(a|b)|b){100}c",
    r"^(?!(a|b)*a(a|b){450}c)a",
    r"(a|b)*a(a|b|ab|ba){90}c",
    r"(a|b)*a(\ba|\Ba|\bb|\Bb){60}c",
)


def random_text(size: int) -> str:
    return "".join(Random(1).choices("ab", k=size))  # noqa: S311  # no secret


# All patterns go one way through a text, and each kind of value another one to it.
@pytest.mark.parametrize(
    ("pattern", "kind"),
    [
        *[(pattern, "one long text") for pattern in LARGE_PATTERNS],
        *[(pattern, kind) for pattern in LARGE_PATTERNS[:2] for kind in ("many texts", "keys")],
    ],
)
def test_a_large_pattern_takes_no_longer_than_other_checks(
    pattern: str, kind: str, allow: Callable[[int], None]
) -> None:
    size = 100_000
    text = random_text(size)
    parts = [text[start : start + 1000] for start in range(0, size, 1000)]
    schemas: dict[str, tuple[object, object]] = {
        "one long text": ({"type": "string", "pattern": pattern}, text),
        "many texts": ({"type": "array", "items": {"pattern": pattern}}, parts),
        "keys": ({"type": "object", "patternProperties": {pattern: False}}, dict.fromkeys(parts, 1)),
    }
    schema, value = schemas[kind]
    allow(STEPS)

    def decode(codec: DocumentCodec) -> None:
        with suppress(DecodeError):
            codec.decode({"x": value})

    # A codec remembers what it found in a pattern, so each try has a new one.
    assert_takes(SECONDS, decode, lambda: DocumentCodec(SchemaDocument("tool", of(schema))))


ONE_AFTER_THE_OTHER = r"(a|b)*a[ab]{900}c"
"""Its places follow each other, so it takes no more steps than its text has characters."""


def test_time_grows_with_the_text_where_only_its_characters_are_counted() -> None:
    def made(size: int) -> tuple[DocumentCodec, str]:
        pattern = {"type": "string", "pattern": ONE_AFTER_THE_OTHER}
        return DocumentCodec(SchemaDocument("tool", of(pattern))), random_text(size)

    def decode(given: tuple[DocumentCodec, str]) -> None:
        codec, text = given
        with pytest.raises(DecodeError):
            codec.decode({"x": text})

    assert_linear(decode, 6_000, setup=made)


@pytest.mark.parametrize("pattern", [*LARGE_PATTERNS, ONE_AFTER_THE_OTHER])
def test_a_text_that_leads_a_large_pattern_to_nothing_new_may_be_long(pattern: str) -> None:
    codec = DocumentCodec(SchemaDocument("tool", of({"type": "string", "pattern": pattern})))
    try:
        codec.decode({"x": "a" * 1_000_000})
    except DecodeError as error:
        assert [problem.code for problem in error.findings] == ["bad_format"]  # it may fit
