"""Does a value fit a whole document, with keywords that a graph can't hold, such as `not` and `if`?

Neither documents nor values are trusted, so all work is counted in steps: one for each keyword, and for each
item, key or group of characters that it reads. If a document has a keyword that isn't understood, the answer
may be neither yes nor no; `Judge.left` lists these keywords.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ..findings import Finding
from ..json_values import JSON_TYPES, fits_types, is_array, is_object
from ..message_text import count_of, excerpt, listed, quote, received, steps_of
from ..sameness import same_text
from .keywords import DEFINITIONS, EXCLUSIVE, KEYWORDS, LIMITS, UNITS, limit_of
from .linear_regex import why_unread
from .references import References, is_old, resolve_pointer, step, subschemas
from .value_check import (
    MAX_PROBLEMS,
    TOO_DEEP,
    KeywordRule,
    SchemaRules,
    TooMuch,
    ValueCheck,
    meant_of,
    unchecked,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from ..message_text import Path
    from .keywords import Limit
    from .linear_regex import LinearPattern, Patterns
    from .value_check import Check, Seen, Verdict

    Read = Callable[[Any, dict[str, Any], Patterns], Any]
    """Turns the value of a keyword, given its schema, into what `Check` takes; None if it can't be read."""


_NOTHING: Final = object()
_SHOWN_CHOICES = 20


def _read_type(argument: Any, _schema: object, _patterns: object) -> Any:
    names = argument if is_array(argument) else [argument]
    return tuple(names) if names and all(name in JSON_TYPES for name in names) else None


def _check_type(run: ValueCheck, names: Any, value: Any, path: Path, _seen: object) -> Verdict:
    return fits_types(value, names) or run.refuse(
        path, "wrong_type", lambda: f"expected {' or '.join(names)}, got {received(value)}", value
    )


def _choices(values: list[Any]) -> tuple[frozenset[str], bool, str]:
    has_containers = any(isinstance(value, (dict, list)) for value in values)
    shown = listed([excerpt(value) for value in values[:_SHOWN_CHOICES]])
    return frozenset(map(same_text, values)), has_containers, shown


def _check_choice(run: ValueCheck, choices: Any, value: Any, path: Path, _seen: object) -> Verdict:
    texts, has_containers, shown = choices
    is_container = is_array(value) or is_object(value)
    if (has_containers or not is_container) and run.text(value) in texts:
        return True
    return run.refuse(path, "not_one_of", lambda: f"{excerpt(value)} is not one of {shown}", value)


# --- numbers, lengths and texts


def _read_limit(row: Limit, keyword: str, argument: Any, schema: dict[str, Any], _patterns: object) -> Any:
    if isinstance(argument, bool) and keyword in EXCLUSIVE.values():  # draft 4
        return _NOTHING
    limit = limit_of(keyword, argument)
    if limit is not None and schema.get(EXCLUSIVE.get(keyword, "")) is True:
        row = KEYWORDS[EXCLUSIVE[keyword]].limit or row
    return None if limit is None else (row, limit)


def _read_divisor(argument: Any, _schema: object, _patterns: object) -> Any:
    is_number = isinstance(argument, (int, float)) and not isinstance(argument, bool)
    return (argument, _as_written(argument)) if is_number and argument > 0 else None


def _as_written(number: float) -> Fraction:
    """Return a number exactly as its digits are written: then 0.3 is three times 0.1, unlike the floats."""
    from fractions import Fraction

    # Python writes no integer of thousands of digits.
    return Fraction(number if isinstance(number, int) else repr(number))


def _check_number(run: ValueCheck, limit: Any, value: Any, path: Path, _seen: object) -> Verdict:
    row, most = limit
    return not row.breaks(value, most) or run.refuse(
        path, "out_of_range", lambda: f"{excerpt(value)} is {row.said} {excerpt(most)}", value
    )


def _check_multiple(run: ValueCheck, argument: Any, value: Any, path: Path, _seen: object) -> Verdict:
    divisor, as_written = argument
    return (_as_written(value) / as_written).denominator == 1 or run.refuse(
        path, "out_of_range", lambda: f"{excerpt(value)} is not a multiple of {excerpt(divisor)}", value
    )


def _check_length(unit: str, run: ValueCheck, limit: Any, value: Any, path: Path, _seen: object) -> Verdict:
    row, most = limit
    return not row.breaks(len(value), most) or run.refuse(
        path, "bad_length", lambda: f"expected {row.said} {count_of(most, unit)}, got {len(value)}", value
    )


def _check_pattern(run: ValueCheck, pattern: LinearPattern, value: str, path: Path, _seen: object) -> Verdict:
    return run.finds(pattern, value) or run.refuse(
        path,
        "bad_format",
        lambda: f"{excerpt(value)} does not match the pattern {quote(pattern.pattern)}",
        value,
    )


# --- arrays


def _read_items(argument: Any, schema: dict[str, Any], _patterns: object) -> Any:
    if is_array(argument):  # until draft 2019-09
        return (argument, 0, True)
    first = schema.get("prefixItems")
    return ([], len(first) if is_array(first) else 0, argument)


def _read_more_items(argument: Any, schema: dict[str, Any], _patterns: object) -> Any:
    first = schema.get("items")
    return ([], len(first), argument) if is_array(first) else _NOTHING


def _check_items(run: ValueCheck, argument: Any, value: list[Any], path: Path, seen: Seen | None) -> Verdict:
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


def _check_contains(
    run: ValueCheck, argument: Any, value: list[Any], path: Path, seen: Seen | None
) -> Verdict:
    schema, least, most = argument
    verdicts = [run.fits(schema, item) for item in value]
    if seen is not None:
        seen.indexes.update([i for i, verdict in enumerate(verdicts) if verdict])
    number, unknown = verdicts.count(True), verdicts.count(None)
    if number + unknown < least or (most is not None and number > most):
        wanted = (
            f"at least {least} of the items must" if number < least else f"at most {most} of the items may"
        )
        return run.refuse(path, "rejected", lambda: f"{wanted} fit {excerpt(schema)}, got {number}", value)
    return None if unknown and (number < least or most is not None) else True


def _check_unique(run: ValueCheck, _argument: object, value: list[Any], path: Path, _seen: object) -> Verdict:
    texts: set[str] = set()
    for index, item in enumerate(value):
        text = run.text(item)
        if text in texts:
            say = partial("{} equals an earlier one; items must differ".format, excerpt(item))
            return run.refuse((path, index), "duplicate", say, item)
        texts.add(text)
    return True


def _check_other_items(
    run: ValueCheck, argument: Any, value: list[Any], path: Path, seen: Seen | None
) -> Verdict:
    assert seen is not None  # noqa: S101  # it is made where this keyword is
    verdicts = [
        run.check(argument[0], item, (path, i), None)
        for i, item in enumerate(value)
        if i >= seen.size and i not in seen.indexes
    ]
    seen.size = len(value)
    return _all(verdicts)


# --- objects


def _check_properties(run: ValueCheck, named: Any, value: Any, path: Path, seen: Seen | None) -> Verdict:
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


def _check_patterns(run: ValueCheck, argument: Any, value: Any, path: Path, seen: Seen | None) -> Verdict:
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


def _check_more(run: ValueCheck, argument: Any, value: Any, path: Path, seen: Seen | None) -> Verdict:
    schema, named, patterns = argument
    run.count(len(value))
    rest = [key for key in value if key not in named and not any(run.finds(one, key) for one in patterns)]
    return _check_rest(run, schema, rest, value, path, seen)


def _check_others(run: ValueCheck, argument: Any, value: Any, path: Path, seen: Seen | None) -> Verdict:
    assert seen is not None  # noqa: S101  # it is made where this keyword is
    return _check_rest(run, argument[0], [key for key in value if key not in seen.keys], value, path, seen)


def _check_rest(
    run: ValueCheck, schema: Any, keys: list[str], value: Any, path: Path, seen: Seen | None
) -> Verdict:
    """Check the values of keys that have no schema of their own."""
    if seen is not None:
        seen.keys.update(keys)
    if schema is not False:
        return _all([run.check(schema, value[key], (path, key), None) for key in keys])
    for key in keys:
        run.refuse((path, key), "unknown", lambda: "unknown key", value[key])
    return not keys


def _check_names(run: ValueCheck, argument: Any, value: Any, path: Path, _seen: object) -> Verdict:
    verdicts = {key: run.fits(argument[0], key) for key in value}
    for key in [key for key, verdict in verdicts.items() if verdict is False]:
        say = partial(_say_with_reasons, run, "this key isn't allowed", argument, key)
        run.refuse((path, key), "unknown", say, key)
    return _all(list(verdicts.values()))


def _read_keys(argument: Any, _schema: object, _patterns: object) -> Any:
    is_list = is_array(argument) and all(isinstance(key, str) for key in argument)
    return (None, argument) if is_list else None


def _check_required(run: ValueCheck, argument: Any, value: Any, path: Path, _seen: object) -> Verdict:
    because, keys = argument
    run.count(len(keys))
    missing = [key for key in keys if key not in value]
    why = "required" if because is None else f"required because {quote(because)} is there"
    for key in missing[:MAX_PROBLEMS] if not run.is_quiet else []:
        run.found.append(Finding(steps_of((path, key)), "missing", f"missing ({why})", None, None, None))
    return not missing


def _read_dependencies(argument: Any, schema: object, patterns: Patterns) -> Any:
    if not is_object(argument):
        return None
    read = {
        key: _read_keys(each, schema, patterns) if is_array(each) else (each,)
        for key, each in argument.items()
    }
    return None if None in read.values() else read


def _check_dependencies(run: ValueCheck, argument: Any, value: Any, path: Path, seen: Seen | None) -> Verdict:
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


def _check_all(run: ValueCheck, schemas: Any, value: Any, path: Path, seen: Seen | None) -> Verdict:
    return _all([run.check(schema, value, path, seen) for schema in schemas])


def _check_any(run: ValueCheck, schemas: Any, value: Any, path: Path, seen: Seen | None) -> Verdict:
    verdicts: list[Verdict] = []
    for schema in schemas:
        verdicts.append(run.fits(schema, value, seen))
        if verdicts[-1] and seen is None:
            return True
    if True in verdicts:
        return True
    return None if None in verdicts else _refuse_all(run, schemas, value, path)


def _refuse_all(run: ValueCheck, schemas: Any, value: Any, path: Path) -> bool:
    """Note why a value fits none of some schemas; if one was clearly meant, note only its problems."""
    if run.is_quiet:
        return False
    meant = meant_of(run, schemas, value)
    if meant is not None:
        run.check(meant, value, path, None)
        return False
    say = partial(_say_with_reasons, run, "it fits none of the alternatives", schemas, value)
    return run.refuse(path, "no_match", say, value)


def _say_with_reasons(run: ValueCheck, message: str, schemas: Any, value: Any) -> str:
    return f"{message}{run.reasons(schemas, value)}"


def _check_one(run: ValueCheck, schemas: Any, value: Any, path: Path, seen: Seen | None) -> Verdict:
    verdicts = [run.fits(schema, value, seen) for schema in schemas]
    number = verdicts.count(True)
    if number > 1:
        message = "it fits more than one of the alternatives, but has to fit exactly one"
        return run.refuse(path, "no_match", lambda: message, value)
    if None in verdicts:
        return None
    return True if number else _refuse_all(run, schemas, value, path)


def _check_not(run: ValueCheck, argument: Any, value: Any, path: Path, _seen: object) -> Verdict:
    verdict = run.fits(argument[0], value)
    if verdict is not True:
        return None if verdict is None else True
    message = "it fits {}, which isn't allowed"
    return run.refuse(path, "rejected", lambda: message.format(excerpt(argument[0])), value)


def _check_if(run: ValueCheck, argument: Any, value: Any, path: Path, seen: Seen | None) -> Verdict:
    condition, then, otherwise = argument
    verdict = run.fits(condition, value, seen)
    if verdict is None:
        return None
    return run.check(then if verdict else otherwise, value, path, seen)


def _check_reference(run: ValueCheck, argument: Any, value: Any, path: Path, seen: Seen | None) -> Verdict:
    return run.refer(argument[0], value, path, seen)


def _read_list(argument: Any, _schema: object, _patterns: object) -> Any:
    return argument if is_array(argument) and argument else None


def _read_flag(argument: Any, _schema: object, _patterns: object) -> Any:
    return argument if argument is True else _NOTHING if argument is False else None


def _read_schema(argument: Any, _schema: object, _patterns: object) -> Any:
    return (argument,)


def _read_nothing(_argument: object, _schema: object, _patterns: object) -> Any:
    return None


_CHECKS: dict[str, tuple[Read, Check]] = {
    "type": (_read_type, _check_type),
    "enum": (lambda argument, _s, _p: _choices(argument) if is_array(argument) else None, _check_choice),
    "const": (lambda argument, _s, _p: _choices([argument]), _check_choice),
    **{
        name: (
            partial(_read_limit, row, name),
            _check_number if row.of == "number" else partial(_check_length, UNITS[json_type]),
        )
        for row in LIMITS
        if row.of != "text"
        for json_type, name in row.keywords.items()
    },
    "multipleOf": (_read_divisor, _check_multiple),
    "pattern": (lambda argument, _s, patterns: patterns.get(argument), _check_pattern),
    "prefixItems": (
        lambda argument, _s, _p: (argument, 0, True) if is_array(argument) else None,
        _check_items,
    ),
    "items": (_read_items, _check_items),
    "additionalItems": (_read_more_items, _check_items),
    "contains": (_read_contains, _check_contains),
    "uniqueItems": (_read_flag, _check_unique),
    "properties": (lambda argument, _s, _p: argument if is_object(argument) else None, _check_properties),
    "patternProperties": (_read_patterns, _check_patterns),
    "additionalProperties": (_read_more, _check_more),
    "propertyNames": (_read_schema, _check_names),
    "required": (_read_keys, _check_required),
    "dependentRequired": (_read_dependencies, _check_dependencies),
    "dependentSchemas": (_read_dependencies, _check_dependencies),
    "dependencies": (_read_dependencies, _check_dependencies),
    "allOf": (_read_list, _check_all),
    "anyOf": (_read_list, _check_any),
    "oneOf": (_read_list, _check_one),
    "not": (_read_schema, _check_not),
    "if": (lambda argument, rest, _p: (argument, rest.get("then", True), rest.get("else", True)), _check_if),
    "$ref": (_read_nothing, _check_reference),
    "$dynamicRef": (_read_nothing, _check_reference),
    "$recursiveRef": (_read_nothing, _check_reference),
    "unevaluatedItems": (_read_schema, _check_other_items),
    "unevaluatedProperties": (_read_schema, _check_others),
}
"""By keyword: the functions that read it and check it."""

_LAST = frozenset({"unevaluatedItems", "unevaluatedProperties"})
NOT_READ: Final = "it can't be read"
NO_SCHEMA: Final = "it isn't a schema"
"""The reasons for a keyword and a part that no reader of JSON Schema could check."""

_REASONS = {
    "$ref": "it refers to another document, or to nothing",
    "$dynamicRef": "it isn't followed",
    "$recursiveRef": "it isn't followed",
    "additionalProperties": "it stands beside patternProperties",
}


def _reason(keyword: str, argument: object) -> str:
    """Return the reason why a keyword isn't checked."""
    if keyword == "pattern":
        return why_unread([argument])
    if keyword == "patternProperties" and is_object(argument):
        return why_unread(argument)
    return _REASONS.get(keyword, NOT_READ)


_MAX_NOTES = 100


class Judge:
    """Checks values against a document.

    Args:
        document: a JSON Schema document of draft 4 or later.
        patterns: its regular expressions.

    Attributes:
        left: the keywords that aren't checked, in the order of the document; 100 at most.
    """

    __slots__ = (
        "_document",
        "_is_old",
        "_is_tracking",
        "_notes",
        "_patterns",
        "_references",
        "_rules",
        "left",
    )

    def __init__(self, document: dict[str, Any], patterns: Patterns) -> None:
        self._document = document
        self._patterns = patterns
        self._references = References(document)
        self._is_old = is_old(document)
        self._is_tracking = False
        self._rules: dict[int, SchemaRules] = {}
        self._notes: dict[tuple[str, str], Finding] = {}
        self._read_all()
        self.left = tuple(self._notes.values())

    def problems(self, value: object) -> list[Finding]:
        """Return the problems of a value; none if it can't be decided."""
        run = ValueCheck(self._rules, is_tracking=self._is_tracking)
        try:
            run.check(self._document, value, None, None)
        except TooMuch as error:
            run.found.append(error.problem)
        except RecursionError:
            run.found.append(TOO_DEEP)
        return run.found

    def fits(self, schema: Any, value: object) -> Verdict:
        """Return whether a value fits a schema of the document; None if it can't be decided."""
        run = ValueCheck(self._rules, is_tracking=self._is_tracking)
        try:
            return run.fits(schema, value)
        except (TooMuch, RecursionError):
            return None

    # --- reading ---------------------------------------------------------------------------------

    def _read_all(self) -> None:
        """Read every schema that can be reached from the root."""
        pending: list[tuple[str, Any]] = [("", self._document)]
        while pending:
            where, schema = pending.pop()
            if isinstance(schema, bool) or id(schema) in self._rules:
                continue
            if not is_object(schema):
                self._note(where, "", NO_SCHEMA)
                continue
            self._rules[id(schema)], inside = self._read(schema, where)
            pending += reversed(inside)

    def _note(self, where: str, keyword: str, reason: str) -> None:
        if len(self._notes) < _MAX_NOTES:
            self._notes.setdefault((where, keyword), unchecked(where, keyword, reason))

    def _read(self, schema: dict[str, Any], where: str) -> tuple[SchemaRules, list[tuple[str, Any]]]:
        """Return the rules of a schema, and the schemas inside it or behind its references."""
        rules: list[KeywordRule] = []
        inside: list[tuple[str, Any]] = []
        is_whole = True
        shown = {"$ref": schema["$ref"]} if self._is_old and "$ref" in schema else schema
        for keyword in sorted(shown, key=_LAST.__contains__):
            if keyword == "$ref":
                target = self._target(schema, where)
                inside += [target] if target is not None else []
                argument = None if target is None else (target[1],)
            elif keyword in _CHECKS:
                argument = _CHECKS[keyword][0](schema[keyword], schema, self._patterns)
            else:
                continue
            if argument is None:
                is_whole = False
                self._note(where, keyword, _reason(keyword, schema[keyword]))
            elif argument is not _NOTHING:
                types = frozenset(KEYWORDS[keyword].of) or None
                rules.append(KeywordRule(keyword, types, _CHECKS[keyword][1], argument, keyword in _LAST))
                self._is_tracking = self._is_tracking or keyword in _LAST
        inside += [
            (step(where, *steps), each) for steps, each in subschemas(shown) if steps[0] not in DEFINITIONS
        ]
        return SchemaRules(tuple(rules), is_whole), inside

    def _target(self, schema: dict[str, Any], where: str) -> tuple[str, Any] | None:
        try:
            target = self._references.find(schema)
        except LookupError:
            return None
        if not is_object(target) and not isinstance(target, bool):
            return None
        found = resolve_pointer(self._document, schema["$ref"])
        is_here = found is not None and found[1] is target
        return (found[0] if found is not None and is_here else step(where, "$ref")), target
