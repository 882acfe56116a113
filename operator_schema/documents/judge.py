"""`jsonschema` as the judge of what a graph leaves out, where it is installed."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from importlib import import_module
from threading import local
from typing import TYPE_CHECKING, Any

from ..errors import Problem
from ..json_values import is_array, is_object
from ..wording import clip, escape, excerpt
from .patterns import harmless_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ..errors import ProblemCode

__all__ = ["Judge", "make_judge"]

_MAX_STEPS = 30_000
_MAX_DEPTH = 100
_MAX_PROBLEMS = 20
_MESSAGE_LENGTH = 200
_CODES: Mapping[str, ProblemCode] = {
    "required": "missing",
    "dependentRequired": "missing",
    "additionalProperties": "unknown",
    "unevaluatedProperties": "unknown",
    "propertyNames": "unknown",
    "type": "wrong_type",
    "enum": "not_one_of",
    "const": "not_one_of",
    "minimum": "out_of_range",
    "maximum": "out_of_range",
    "exclusiveMinimum": "out_of_range",
    "exclusiveMaximum": "out_of_range",
    "multipleOf": "out_of_range",
    "minLength": "bad_length",
    "maxLength": "bad_length",
    "minItems": "bad_length",
    "maxItems": "bad_length",
    "minProperties": "bad_length",
    "maxProperties": "bad_length",
    "pattern": "bad_format",
    "uniqueItems": "duplicate",
    "anyOf": "no_match",
    "oneOf": "no_match",
}


class Judge:
    """Checks values against a whole document.

    Args:
        validator: of `jsonschema`, for the document.
        failures: what it raises where a document is more than it can do.
    """

    __slots__ = ("_validator",)

    def __init__(self, validator: Any) -> None:
        self._validator = validator

    def problems(self, value: object) -> list[Problem]:
        """Return what is wrong with a value, as far as that can be found out in reasonable time."""
        _steps.left, _steps.depth = _MAX_STEPS, 0
        found: dict[tuple[Any, ...], Problem] = {}
        # References may lead nowhere, expressions be none of Python's, and steps too many.
        with suppress(Exception):
            for error in self._validator.iter_errors(value):
                problem = _problem(error)
                found[problem.path, problem.message] = problem
                if len(found) >= _MAX_PROBLEMS:
                    break
        return list(found.values())


def make_judge(schema: Mapping[str, Any]) -> Judge | None:
    """Return what judges the values of a document; None if `jsonschema` isn't installed or can't be used.

    It can't where the document has a regular expression that could take too long, or that isn't one for
    Python. It never fetches another document.
    """
    try:
        from jsonschema import Draft202012Validator
        from jsonschema.validators import validator_for
        from referencing.jsonschema import EMPTY_REGISTRY
    except ImportError:
        return None
    if not all(map(harmless_pattern, _patterns(schema))):
        return None
    try:
        cls = _counting(validator_for(schema, default=Draft202012Validator))
        return Judge(cls(schema, registry=EMPTY_REGISTRY))
    except Exception:  # noqa: BLE001  # such as a `$schema` that isn't a text
        return None


def _patterns(schema: Any) -> Iterator[object]:
    """Find all that may be a regular expression in a document, data included."""
    pending = [schema]
    while pending:
        value = pending.pop()
        if is_array(value):
            pending += value
        elif is_object(value):
            pending += value.values()
            if isinstance(value.get("pattern"), str):
                yield value["pattern"]
            if is_object(value.get("patternProperties")):
                yield from value["patternProperties"]


class _Steps(local):
    left = 0
    depth = 0


_steps = _Steps()


class _TooManyStepsError(Exception):
    pass


@cache
def _counting(cls: Any) -> Any:
    """Return a validator class that gives up after so many keywords, or so many inside each other.

    Without a limit on those, references that go round and round would use up the stack, and what
    `jsonschema` is made of can't stand that everywhere.
    """
    extend: Any = vars(import_module("jsonschema.validators"))["extend"]

    def counted(check: Callable[..., Any]) -> Callable[..., Any]:
        def checked(*args: Any) -> Iterator[Any]:
            _steps.left -= 1
            _steps.depth += 1
            try:
                if _steps.left < 0 or _steps.depth > _MAX_DEPTH:
                    raise _TooManyStepsError
                yield from check(*args) or ()
            finally:
                _steps.depth -= 1

        return checked

    return extend(cls, {keyword: counted(check) for keyword, check in cls.VALIDATORS.items()})


def _problem(error: Any) -> Problem:
    code = _CODES.get(str(error.validator), "rejected")
    message = clip(escape(str(error.message)), _MESSAGE_LENGTH)
    if code == "no_match":
        message = "it fits none of the alternatives, or more than one where one is asked for"
        reasons = [
            clip(escape(str(inner.message)), _MESSAGE_LENGTH // 2) for inner in list(error.context)[:3]
        ]
        message += f": {'; '.join(reasons)}" if reasons else ""
    return Problem(tuple(error.absolute_path), code, message, None, excerpt(error.instance), None)
