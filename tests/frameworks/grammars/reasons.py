"""Why a grammar and a decoder disagree: a closed list for each engine."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from grammars.engine import RefusedSchemaError
from grammars.subjects import PLAIN, Subject
from grammars.walks import first_refused
from jsonschema import Draft202012Validator
from jsonschema.validators import extend
from judge import FORMATS
from run import AMBIGUOUS, STRICTER, is_excused, reason_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grammars.engine import Engine

# --- the closed list -----------------------------------------------------------------------------

DECODED = "decoded"
ACCEPTED = "accepted"

NOT_UTF8 = "bytes that aren't UTF-8"
NOT_JSON = "text that isn't JSON"
KEY_TWICE = "a key twice in an object"
BEYOND_FLOATS = "a number beyond the range of floats"
LONE_SURROGATE = "a lone surrogate"
OF_TEXT = (NOT_UTF8, NOT_JSON, KEY_TWICE, BEYOND_FLOATS, LONE_SURROGATE)
"""What a validator of JSON Schema doesn't see, since it gets the value alone."""

ROUNDED = STRICTER["out_of_range"]
EQUAL = STRICTER["duplicate"]
DOCUMENTED = frozenset({STRICTER["bad_format"], ROUNDED, EQUAL, AMBIGUOUS})
"""Where the decoder is stricter than any schema; the random types have no checks of their own."""

SEVERAL = "several keywords"

TOO_LONG = "a regular expression of more than 8,000 characters"
"""Which isn't the engine's own limit: see `of_outlines`."""

EMPTY = "an empty schema"
"""Which means any value, and llama.cpp takes that of a tool for an object."""

NUMBER_FORM = "the form of a number"
TITLE = "a property with the name title"
LENGTHS = "minLength and maxLength"
DEPTH = "the depth of a recursive type"
UNROLLED = 3
"""Levels of a recursive type, past which outlines-core leaves out what is recursive."""

ORDER = "the order of keys"
ESCAPES = "escapes in strings"
LINES = "lines and indents"
SPACES = "spaces after commas and colons"


class Known(NamedTuple):
    """Why an engine and the decoder may disagree, or the engine may refuse a schema.

    Attributes:
        unsupported: a pattern in the engine's message to what it says that it can't do.
        of_text: those of `OF_TEXT` that its grammars allow.
        not_enforced: keywords that it takes, and doesn't hold the model to in every case; a format as
            `format uuid`.
        stricter: what it refuses though JSON Schema allows it: keywords, several joined by "and", or `TITLE`,
            `NUMBER_FORM` or `DEPTH`.
        forms: in which the library doesn't write, and its grammars refuse.
    """

    unsupported: dict[str, str]
    of_text: frozenset[str]
    not_enforced: frozenset[str]
    stricter: frozenset[str]
    forms: frozenset[str]


KNOWN: dict[str, Known] = {
    "llguidance": Known(
        unsupported={
            r'Unimplemented keys: \["propertyNames"': "propertyNames",
            r'Unimplemented keys: \["uniqueItems"': "uniqueItems",
        },
        of_text=frozenset({KEY_TWICE, BEYOND_FLOATS}),
        not_enforced=frozenset({"format date", "format date-time", "format time"}),
        stricter=frozenset({"multipleOf"}),
        forms=frozenset({ORDER, ESCAPES}),
    ),
    "outlines-core": Known(
        unsupported={
            "Format ipv4 ": "format ipv4",
            "Format ipv6 ": "format ipv6",
            "the regular expression is too long": TOO_LONG,
            "Unsupported JSON Schema structure": "a value of any type with a description",
            "Found no transitions": "pattern",
        },
        of_text=frozenset({NOT_JSON, KEY_TWICE, BEYOND_FLOATS}),
        not_enforced=frozenset({
            "exclusiveMaximum", "exclusiveMinimum", "format date", "format date-time", "format time",
            "maxProperties", "maximum", "minimum", "multipleOf", "propertyNames", "uniqueItems", SEVERAL,
        }),
        stricter=frozenset({"format date-time", "format time", "pattern", NUMBER_FORM, DEPTH}),
        forms=frozenset({ORDER, ESCAPES, LINES}),
    ),
    "xgrammar": Known(
        unsupported={},
        of_text=frozenset({NOT_UTF8, NOT_JSON, KEY_TWICE, BEYOND_FLOATS}),
        not_enforced=frozenset({
            "format date", "format date-time", "format ipv4", "format ipv6", "format time", "multipleOf",
            "pattern", "uniqueItems", SEVERAL, TITLE,
        }),
        stricter=frozenset({"pattern", LENGTHS, TITLE}),
        forms=frozenset({ORDER, ESCAPES}),
    ),
    "xllamacpp": Known(
        unsupported={
            "schema must be an object": "a boolean schema",
            "an empty schema": EMPTY,
        },
        of_text=frozenset({NOT_UTF8, KEY_TWICE, BEYOND_FLOATS}),
        not_enforced=frozenset({
            "exclusiveMaximum", "exclusiveMinimum", "format date", "format date-time", "format ipv4",
            "format ipv6", "maxLength", "maxProperties", "maximum", "minimum", "multipleOf",
            "pattern", "propertyNames", "uniqueItems", SEVERAL,
        }),
        stricter=frozenset({"format date-time", "format time", "required", NUMBER_FORM}),
        forms=frozenset({ORDER, ESCAPES}),
    ),
}  # fmt: skip
"""By engine."""

DESCRIBED = frozenset({
    "exclusiveMaximum", "exclusiveMinimum", "format", "maxItems", "maxLength", "maxProperties", "maximum",
    "minItems", "minLength", "minimum", "multipleOf", "pattern", "propertyNames",
    "uniqueItems", SEVERAL,
})  # fmt: skip
"""What some strict mode can't say; for one tool, only what `Provider.report` lists."""


def not_enforced(keyword: str) -> str:
    """Name the reason that an engine doesn't enforce a keyword."""
    return f"not enforced: {keyword}"


def described(keyword: str) -> str:
    """Name the reason that a strict mode can't say a keyword."""
    return f"moved to the description: {keyword}"


def stricter(keyword: str) -> str:
    """Name the reason that an engine refuses by a keyword what JSON Schema allows."""
    return f"stricter than JSON Schema: {keyword}"


def closed_list(engine: str) -> dict[str, frozenset[str]]:
    """Return the reasons that are allowed, by step."""
    known = KNOWN[engine]
    return {
        "schemas": frozenset(known.unsupported.values()),
        "walks": known.of_text
        | DOCUMENTED
        | {not_enforced(keyword) for keyword in known.not_enforced}
        | {described(keyword) for keyword in DESCRIBED},
        "instances": frozenset(map(stricter, known.stricter)),
        "other forms": known.forms,
    }


# --- the engine says that it can't ---------------------------------------------------------------


def why_unsupported(engine: str, message: str) -> str | None:
    """Say what an engine can't do; None if that isn't on the list."""
    for pattern, meaning in KNOWN[engine].unsupported.items():
        if re.search(pattern, message):
            return meaning
    return None


# --- the grammar allows, the decoder refuses -----------------------------------------------------


def why_refused(subject: Subject, text: bytes, engine: str) -> str | None:
    """Say why the decoder refuses what a grammar allows; None if the reason isn't known.

    Args:
        subject: what the text is for.
        text: that a walk drew.
        engine: that it drew it from.

    Returns:
        `DECODED` if the decoder takes it.
    """
    try:
        decoded = text.decode()
    except UnicodeDecodeError:
        return NOT_UTF8
    try:
        value = json.loads(decoded)
    except ValueError:
        return NOT_JSON
    problems = subject.problems(decoded)
    if not problems:
        return DECODED
    of_text = _why_of_text(decoded)
    if of_text is not None:
        return of_text
    known = KNOWN[engine].not_enforced
    ignored = _needed(subject.schema, value, known)
    if ignored:
        return not_enforced(_named(ignored))
    if ignored is None:
        is_title = TITLE in known and _needed(_with_any_title(subject.schema), value, known) is not None
        return not_enforced(TITLE) if is_title else None
    if subject.wire != PLAIN:
        ignored = _needed(_with_nulls(subject.full_schema), value, subject.described)
        if ignored:
            return described(_named(ignored))
    return next((reason_of(problem) for problem in problems if is_excused(problem)), None)


def _with_any_title(schema: Any) -> Any:
    """Return a schema whose objects may have a property `title` with any value."""
    if isinstance(schema, list):
        return [_with_any_title(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _with_any_title(item) for key, item in schema.items()}
    if schema.get("type") == "object" and isinstance(made.get("properties"), dict):
        made["properties"] = {**made["properties"], "title": {}}
        made["required"] = [key for key in schema.get("required", ()) if key != "title"]
    return made


def _with_nulls(schema: Any) -> Any:
    """Return a schema in which each property that may be left out may be null instead."""
    if isinstance(schema, list):
        return [_with_nulls(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _with_nulls(item) for key, item in schema.items()}
    if isinstance(schema.get("properties"), dict):
        left_out = schema["properties"].keys() - schema.get("required", ())
        made["properties"] = {
            name: {"anyOf": [item, {"type": "null"}]} if name in left_out else item
            for name, item in made["properties"].items()
        }
    return made


def _named(keywords: frozenset[str]) -> str:
    return min(keywords) if len(keywords) == 1 else SEVERAL


def _why_of_text(text: str) -> str | None:
    found: list[str] = []

    def check_keys(pairs: list[tuple[str, Any]]) -> list[Any]:
        if len({key for key, _ in pairs}) < len(pairs):
            found.append(KEY_TWICE)
        return [*pairs]

    def check_float(number: str) -> float:
        if abs(float(number)) == float("inf"):
            found.append(BEYOND_FLOATS)
        return float(number)

    value = json.loads(text, object_pairs_hook=check_keys, parse_float=check_float)
    if re.search(r"[\ud800-\udfff]", json.dumps(value, ensure_ascii=False)):
        found.append(LONE_SURROGATE)
    return min(found, default=None, key=OF_TEXT.index)


def _needed(schema: Any, value: Any, ignorable: frozenset[str]) -> frozenset[str] | None:
    """Return the keywords that have to be ignored for a value to be valid; None if these aren't enough.

    One keyword alone, where that is enough; otherwise all of them.
    """
    attempts = [frozenset[str](), *[frozenset([keyword]) for keyword in sorted(ignorable)], ignorable]
    return next((ignored for ignored in attempts if _lenient(ignored)(schema).is_valid(value)), None)


@lru_cache
def _lenient(ignored: frozenset[str]) -> Callable[[Any], Draft202012Validator]:
    """Return what makes validators that ignore some keywords."""

    def unless_ignored(keyword: str, check: Any) -> Any:
        def checked(judge: Any, expected: Any, value: Any, schema: Any) -> Iterator[Any]:
            if keyword in ignored or (keyword == "format" and f"format {expected}" in ignored):
                return
            if keyword == "items" and expected is False and "maxItems" in ignored:  # of a tuple
                return
            yield from check(judge, expected, value, schema) or ()

        return checked

    checks = {name: unless_ignored(name, check) for name, check in Draft202012Validator.VALIDATORS.items()}
    made: Any = extend(Draft202012Validator, checks)
    return lambda schema: made(schema, format_checker=FORMATS)


# --- the library writes, the grammar refuses -----------------------------------------------------


def written_forms(value: Any) -> dict[str, str]:
    """Write a JSON value in other forms than the usual one, each by what is different."""
    return {
        SPACES: json.dumps(value, ensure_ascii=False),
        LINES: json.dumps(value, ensure_ascii=False, indent=2),
        ESCAPES: json.dumps(value, separators=(",", ":")),
        ORDER: json.dumps(_reversed(value), ensure_ascii=False, separators=(",", ":")),
    }


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(value)}
    return [_reversed(item) for item in value] if isinstance(value, list) else value


def why_not_accepted(engine: Engine, schema: dict[str, Any], text: bytes, offset: int) -> str | None:
    """Say why a grammar refuses what the library writes; None if the reason isn't known.

    Args:
        engine: that made the grammar.
        schema: of which.
        text: that it refuses.
        offset: of the first byte that it refuses.
    """
    known = KNOWN[engine.name].stricter
    for reason in sorted(known - {NUMBER_FORM, DEPTH}):
        changed, same_text = schema, text
        if reason == TITLE:
            changed, same_text = _without_titles(schema), text.replace(b'"title"', b'"tutle"')
        else:
            for keyword in reason.split(" and "):
                changed = _without(changed, keyword)
        try:
            later = first_refused(engine.compile(changed), same_text)
        except RefusedSchemaError:
            continue
        if later is None or later > offset:
            return stricter(reason)
    if NUMBER_FORM in known and _is_in_number(text, offset):
        return stricter(NUMBER_FORM)
    if DEPTH in known and "$defs" in schema and _depth_at(text, offset) >= UNROLLED:
        return stricter(DEPTH)
    return None


def _without_titles(schema: Any) -> Any:
    """Return a schema whose properties with the name `title` have another name."""
    return json.loads(json.dumps(schema).replace('"title"', '"tutle"'))


def _without(schema: Any, keyword: str) -> Any:
    """Return a schema without a keyword, wherever it is; a format is named `format uuid`."""
    name, _, value = keyword.partition(" ")
    if isinstance(schema, list):
        return [_without(item, keyword) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _without(item, keyword)
        for key, item in schema.items()
        if key != name or isinstance(item, dict) or (value and item != value)
    }


def _is_in_number(text: bytes, offset: int) -> bool:
    pieces = re.finditer(rb'"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*', text)
    return any(piece[0][0] != ord('"') and piece.start() <= offset <= piece.end() for piece in pieces)


def _depth_at(text: bytes, offset: int) -> int:
    """Count the arrays and objects that are open at an offset."""
    outside = re.sub(rb'"(?:[^"\\]|\\.)*"?', b"", text[:offset])
    return sum(outside.count(bracket) for bracket in (b"{", b"[")) - sum(
        outside.count(bracket) for bracket in (b"}", b"]")
    )
