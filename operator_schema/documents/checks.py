"""The keywords of JSON Schema that say which values fit: how each is read, and how it is checked.

A reader prepares what a keyword says. It returns None where that isn't understood, and `NOTHING` where it
says nothing. A check returns whether a value fits, or None if that isn't known.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ..codec.problems import steps_of
from ..errors import Problem
from ..introspect.limits import LIMITS
from ..json_values import JSON_TYPES, fits_types, is_array, is_object
from ..wording import count_of, excerpt, listed, quote, received
from .keywords import UNREAD_PATTERN, limit_of
from .meant import meant_of
from .run import MAX_PROBLEMS, same_text

if TYPE_CHECKING:
    from ..codec.problems import Path
    from ..introspect.limits import Limit
    from .patterns import LinearPattern, Patterns
    from .run import Run, Seen, Verdict

__all__ = ["KEYWORDS", "LAST", "NOTHING", "REASONS"]

NOTHING: Final = object()
_SHOWN_CHOICES = 20


def _read_type(argument: Any, _schema: object, _patterns: object) -> Any:
    names = argument if is_array(argument) else [argument]
    return tuple(names) if names and all(name in JSON_TYPES for name in names) else None


def _check_type(run: Run, names: Any, value: Any, path: Path, _seen: object) -> Verdict:
    if fits_types(value, names):
        return True
    return not run.is_quiet and run.refuse(
        path, "wrong_type", f"expected {' or '.join(names)}, got {received(value)}", value
    )


def _read_enum(argument: Any, _schema: object, _patterns: object) -> Any:
    return _choices(argument) if is_array(argument) else None


def _read_const(argument: Any, _schema: object, _patterns: object) -> Any:
    return _choices([argument])


def _choices(values: list[Any]) -> tuple[frozenset[str], bool, str]:
    has_containers = any(isinstance(value, (dict, list)) for value in values)
    shown = listed([excerpt(value) for value in values[:_SHOWN_CHOICES]])
    return frozenset(map(same_text, values)), has_containers, shown


def _check_choice(run: Run, choices: Any, value: Any, path: Path, _seen: object) -> Verdict:
    texts, has_containers, shown = choices
    is_container = is_array(value) or is_object(value)
    if (has_containers or not is_container) and run.text(value) in texts:
        return True
    return not run.is_quiet and run.refuse(
        path, "not_one_of", f"{excerpt(value)} is not one of {shown}", value
    )


# --- numbers, lengths and texts


def _read_limit(row: Limit, keyword: str, argument: Any, schema: dict[str, Any], _patterns: object) -> Any:
    if isinstance(argument, bool) and keyword in _BESIDE_MINIMUM.values():  # draft 4
        return NOTHING
    if keyword == "multipleOf":
        is_number = isinstance(argument, (int, float)) and not isinstance(argument, bool)
        return argument if is_number and argument > 0 else None
    limit = limit_of(keyword, argument)
    if limit is not None and schema.get(_BESIDE_MINIMUM.get(keyword, "")) is True:
        row = _ROWS[_BESIDE_MINIMUM[keyword]]
    return None if limit is None else (row, limit)


_BESIDE_MINIMUM = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}


def _check_number(run: Run, limit: Any, value: Any, path: Path, _seen: object) -> Verdict:
    row, most = limit
    if not row.breaks(value, most):
        return True
    return not run.is_quiet and run.refuse(
        path, "out_of_range", f"{excerpt(value)} is {row.said} {excerpt(most)}", value
    )


def _check_multiple(run: Run, divisor: Any, value: Any, path: Path, _seen: object) -> Verdict:
    from fractions import Fraction

    # As it is written: the float 0.3 isn't three times the float 0.1.
    if (Fraction(repr(value)) / Fraction(repr(divisor))).denominator == 1:
        return True
    return not run.is_quiet and run.refuse(
        path, "out_of_range", f"{excerpt(value)} is not a multiple of {excerpt(divisor)}", value
    )


def _check_length(unit: str, run: Run, limit: Any, value: Any, path: Path, _seen: object) -> Verdict:
    row, most = limit
    if not row.breaks(len(value), most):
        return True
    message = f"expected {row.said} {count_of(most, unit)}, got {len(value)}"
    return not run.is_quiet and run.refuse(path, "bad_length", message, value)


def _read_pattern(argument: Any, _schema: object, patterns: Patterns) -> Any:
    return patterns.get(argument)


def _check_pattern(run: Run, pattern: LinearPattern, value: str, path: Path, _seen: object) -> Verdict:
    if run.finds(pattern, value):
        return True
    message = f"{excerpt(value)} does not match the pattern {quote(pattern.pattern)}"
    return not run.is_quiet and run.refuse(path, "bad_format", message, value)


# --- arrays


def _read_schemas(argument: Any, _schema: object, _patterns: object) -> Any:
    return argument if is_array(argument) and argument else None


def _read_items(argument: Any, schema: dict[str, Any], _patterns: object) -> Any:
    if is_array(argument):  # until draft 2019-09
        return (argument, 0, True)
    first = schema.get("prefixItems")
    return ([], len(first) if is_array(first) else 0, argument)


def _read_more_items(argument: Any, schema: dict[str, Any], _patterns: object) -> Any:
    first = schema.get("items")
    return ([], len(first), argument) if is_array(first) else NOTHING


def _read_first_items(argument: Any, _schema: object, _patterns: object) -> Any:
    return (argument, 0, True) if is_array(argument) else None


def _check_items(run: Run, argument: Any, value: list[Any], path: Path, seen: Seen | None) -> Verdict:
    first, start, rest = argument
    verdicts = [
        run.check(schema, item, (path, i), None)
        for i, (schema, item) in enumerate(zip(first, value))  # noqa: B905  # the shorter counts
    ]
    if rest is not True:
        verdicts += [run.check(rest, value[i], (path, i), None) for i in range(start, len(value))]
    if seen is not None:
        seen.size = max(seen.size, len(first) if first else len(value))
    return _all(verdicts)


def _read_contains(argument: Any, schema: dict[str, Any], _patterns: object) -> Any:
    least, most = schema.get("minContains", 1), schema.get("maxContains")
    known = [limit for limit in (least, most) if limit is not None]
    return (argument, least, most) if all(limit_of("minItems", each) is not None for each in known) else None


def _check_contains(run: Run, argument: Any, value: list[Any], path: Path, seen: Seen | None) -> Verdict:
    schema, least, most = argument
    verdicts = [run.fits(schema, item) for item in value]
    if seen is not None:
        seen.indexes.update([i for i, verdict in enumerate(verdicts) if verdict])
    number, unknown = verdicts.count(True), verdicts.count(None)
    if number + unknown < least or (most is not None and number > most):
        wanted = (
            f"at least {least} of the items must" if number < least else f"at most {most} of the items may"
        )
        message = f"{wanted} fit {excerpt(schema)}, got {number}"
        return not run.is_quiet and run.refuse(path, "rejected", message, value)
    return None if unknown and (number < least or most is not None) else True


def _read_unique(argument: Any, _schema: object, _patterns: object) -> Any:
    return argument if argument is True else NOTHING if argument is False else None


def _check_unique(run: Run, _argument: object, value: list[Any], path: Path, _seen: object) -> Verdict:
    texts: set[str] = set()
    for index, item in enumerate(value):
        text = run.text(item)
        if text in texts:
            message = f"{excerpt(item)} equals an earlier one; items must differ"
            return not run.is_quiet and run.refuse((path, index), "duplicate", message, item)
        texts.add(text)
    return True


def _check_other_items(run: Run, argument: Any, value: list[Any], path: Path, seen: Seen | None) -> Verdict:
    assert seen is not None  # noqa: S101  # it is made where this keyword is
    verdicts = [
        run.check(argument[0], item, (path, i), None)
        for i, item in enumerate(value)
        if i >= seen.size and i not in seen.indexes
    ]
    seen.size = len(value)
    return _all(verdicts)


# --- objects


def _read_named(argument: Any, _schema: object, _patterns: object) -> Any:
    return argument if is_object(argument) else None


def _check_properties(run: Run, named: Any, value: Any, path: Path, seen: Seen | None) -> Verdict:
    run.count(min(len(named), len(value)))
    keys = (
        [key for key in named if key in value]
        if len(named) < len(value)
        else [key for key in value if key in named]
    )
    if seen is not None:
        seen.keys.update(keys)
    return _all([run.check(named[key], value[key], (path, key), None) for key in keys])


def _read_patterns(argument: Any, _schema: object, patterns: Patterns) -> Any:
    if not is_object(argument):
        return None
    found = [(patterns.get(text), schema) for text, schema in argument.items()]
    return None if any(pattern is None for pattern, _ in found) else found


def _check_patterns(run: Run, argument: Any, value: Any, path: Path, seen: Seen | None) -> Verdict:
    verdicts: list[Verdict] = []
    for pattern, schema in argument:
        for key in value:
            if run.finds(pattern, key):
                if seen is not None:
                    seen.keys.add(key)
                verdicts.append(run.check(schema, value[key], (path, key), None))
    return _all(verdicts)


def _read_more(argument: Any, schema: dict[str, Any], patterns: Patterns) -> Any:
    named = schema.get("properties", {})
    found = _read_patterns(schema.get("patternProperties", {}), schema, patterns)
    return (
        None
        if found is None or not is_object(named)
        else (argument, named, [pattern for pattern, _ in found])
    )


def _check_more(run: Run, argument: Any, value: Any, path: Path, seen: Seen | None) -> Verdict:
    schema, named, patterns = argument
    run.count(len(value))
    rest = [key for key in value if key not in named and not any(run.finds(one, key) for one in patterns)]
    return _check_rest(run, schema, rest, value, path, seen)


def _check_others(run: Run, argument: Any, value: Any, path: Path, seen: Seen | None) -> Verdict:
    assert seen is not None  # noqa: S101  # it is made where this keyword is
    return _check_rest(run, argument[0], [key for key in value if key not in seen.keys], value, path, seen)


def _check_rest(run: Run, schema: Any, keys: list[str], value: Any, path: Path, seen: Seen | None) -> Verdict:
    """Check the keys that have no schema of their own."""
    if seen is not None:
        seen.keys.update(keys)
    if schema is not False:
        return _all([run.check(schema, value[key], (path, key), None) for key in keys])
    for key in keys if not run.is_quiet else []:
        run.refuse((path, key), "unknown", "unknown key", value[key])
    return not keys


def _read_schema(argument: Any, _schema: object, _patterns: object) -> Any:
    return (argument,)


def _check_names(run: Run, argument: Any, value: Any, path: Path, _seen: object) -> Verdict:
    verdicts = [(key, run.fits(argument[0], key)) for key in value]
    for key, verdict in verdicts if not run.is_quiet else []:
        if verdict is False:
            message = f"this key isn't allowed{run.reasons(argument, key)}"
            run.refuse((path, key), "unknown", message, key)
    return _all([verdict for _, verdict in verdicts])


def _read_keys(argument: Any, _schema: object, _patterns: object) -> Any:
    is_list = is_array(argument) and all(isinstance(key, str) for key in argument)
    return (None, argument) if is_list else None


def _check_required(run: Run, argument: Any, value: Any, path: Path, _seen: object) -> Verdict:
    because, keys = argument
    run.count(len(keys))
    missing = [key for key in keys if key not in value]
    why = "required" if because is None else f"required because {quote(because)} is there"
    for key in missing[:MAX_PROBLEMS] if not run.is_quiet else []:
        run.found.append(Problem(steps_of((path, key)), "missing", f"missing ({why})", None, None, None))
    return not missing


def _read_dependencies(argument: Any, schema: object, patterns: Patterns) -> Any:
    if not is_object(argument):
        return None
    read = {
        key: _read_keys(each, schema, patterns) if is_array(each) else (each,)
        for key, each in argument.items()
    }
    return None if None in read.values() else read


def _check_dependencies(run: Run, argument: Any, value: Any, path: Path, seen: Seen | None) -> Verdict:
    run.count(len(argument))
    verdicts = [
        run.check(each[0], value, path, seen)
        if len(each) == 1
        else _check_required(run, (key, each[1]), value, path, None)
        for key, each in argument.items()
        if key in value
    ]
    return _all(verdicts)


# --- several schemas


def _all(verdicts: list[Verdict]) -> Verdict:
    return False if False in verdicts else None if None in verdicts else True


def _check_all(run: Run, schemas: Any, value: Any, path: Path, seen: Seen | None) -> Verdict:
    return _all([run.check(schema, value, path, seen) for schema in schemas])


def _check_any(run: Run, schemas: Any, value: Any, path: Path, seen: Seen | None) -> Verdict:
    verdicts: list[Verdict] = []
    for schema in schemas:
        verdicts.append(run.fits(schema, value, seen))
        if verdicts[-1] and seen is None:
            return True
    if True in verdicts:
        return True
    return None if None in verdicts else _refuse_all(run, schemas, value, path)


def _refuse_all(run: Run, schemas: Any, value: Any, path: Path) -> bool:
    """Say why a value fits none of some schemas: of the one that was meant, if that is known."""
    if run.is_quiet:
        return False
    meant = meant_of(run, schemas, value)
    if meant is not None:
        run.check(meant, value, path, None)
        return False
    return run.refuse(
        path, "no_match", f"it fits none of the alternatives{run.reasons(schemas, value)}", value
    )


def _check_one(run: Run, schemas: Any, value: Any, path: Path, seen: Seen | None) -> Verdict:
    verdicts = [run.fits(schema, value, seen) for schema in schemas]
    number = verdicts.count(True)
    if number > 1:
        message = "it fits more than one of the alternatives, and exactly one is asked for"
        return not run.is_quiet and run.refuse(path, "no_match", message, value)
    if None in verdicts:
        return None
    return True if number else _refuse_all(run, schemas, value, path)


def _check_not(run: Run, argument: Any, value: Any, path: Path, _seen: object) -> Verdict:
    verdict = run.fits(argument[0], value)
    if verdict is not True:
        return None if verdict is None else True
    message = f"it fits {excerpt(argument[0])}, which is excluded"
    return not run.is_quiet and run.refuse(path, "rejected", message, value)


def _read_if(argument: Any, schema: dict[str, Any], _patterns: object) -> Any:
    return argument, schema.get("then", True), schema.get("else", True)


def _check_if(run: Run, argument: Any, value: Any, path: Path, seen: Seen | None) -> Verdict:
    condition, then, otherwise = argument
    verdict = run.fits(condition, value, seen)
    if verdict is None:
        return None
    return run.check(then if verdict else otherwise, value, path, seen)


def _check_reference(run: Run, argument: Any, value: Any, path: Path, seen: Seen | None) -> Verdict:
    return run.refer(argument[0], value, path, seen)


def _read_nothing(*_: object) -> Any:
    return None


_ROWS = {keyword: row for row in LIMITS for keyword in row.keywords.values() if row.of != "text"}
_UNITS = {"Length": "characters", "Items": "items", "Properties": "keys"}
_NUMBER, _STRING, _ARRAY, _OBJECT = (frozenset({name}) for name in ("number", "string", "array", "object"))
_OF = {"Length": _STRING, "Items": _ARRAY, "Properties": _OBJECT}

KEYWORDS: dict[str, tuple[frozenset[str] | None, Any, Any]] = {
    "type": (None, _read_type, _check_type),
    "enum": (None, _read_enum, _check_choice),
    "const": (None, _read_const, _check_choice),
    **{
        keyword: (_NUMBER, partial(_read_limit, row, keyword), _check_number)
        for keyword, row in _ROWS.items()
        if row.of == "number"
    },
    "multipleOf": (_NUMBER, partial(_read_limit, _ROWS["multipleOf"], "multipleOf"), _check_multiple),
    **{
        keyword: (
            _OF[keyword[3:]],
            partial(_read_limit, row, keyword),
            partial(_check_length, _UNITS[keyword[3:]]),
        )
        for keyword, row in _ROWS.items()
        if row.of == "length"
    },
    "pattern": (_STRING, _read_pattern, _check_pattern),
    "prefixItems": (_ARRAY, _read_first_items, _check_items),
    "items": (_ARRAY, _read_items, _check_items),
    "additionalItems": (_ARRAY, _read_more_items, _check_items),
    "contains": (_ARRAY, _read_contains, _check_contains),
    "uniqueItems": (_ARRAY, _read_unique, _check_unique),
    "properties": (_OBJECT, _read_named, _check_properties),
    "patternProperties": (_OBJECT, _read_patterns, _check_patterns),
    "additionalProperties": (_OBJECT, _read_more, _check_more),
    "propertyNames": (_OBJECT, _read_schema, _check_names),
    "required": (_OBJECT, _read_keys, _check_required),
    "dependentRequired": (_OBJECT, _read_dependencies, _check_dependencies),
    "dependentSchemas": (_OBJECT, _read_dependencies, _check_dependencies),
    "dependencies": (_OBJECT, _read_dependencies, _check_dependencies),
    "allOf": (None, _read_schemas, _check_all),
    "anyOf": (None, _read_schemas, _check_any),
    "oneOf": (None, _read_schemas, _check_one),
    "not": (None, _read_schema, _check_not),
    "if": (None, _read_if, _check_if),
    "$ref": (None, _read_nothing, _check_reference),
    "$dynamicRef": (None, _read_nothing, _check_reference),
    "$recursiveRef": (None, _read_nothing, _check_reference),
    "unevaluatedItems": (_ARRAY, _read_schema, _check_other_items),
    "unevaluatedProperties": (_OBJECT, _read_schema, _check_others),
}
LAST = frozenset({"unevaluatedItems", "unevaluatedProperties"})
REASONS = {
    "$ref": "it leads out of the document, or nowhere",
    "$dynamicRef": "it isn't followed",
    "$recursiveRef": "it isn't followed",
    "pattern": UNREAD_PATTERN,
    "patternProperties": UNREAD_PATTERN,
    "additionalProperties": "it stands beside patternProperties",
}
