"""JSON text to JSON values, refusing what RFC 8259 and RFC 7493 refuse.

The standard library's parser takes more than JSON: `NaN`, numbers that overflow to infinity, the
last of several equal keys, lone surrogates. Here each of these is a problem.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ..errors import Problem, TextRefused
from ..json_values import is_array, is_object
from ..wording import clip, escape, quote
from .limits import MAX_INTEGER_DIGITS, MAX_TEXT_DEPTH
from .problems import Problems

if TYPE_CHECKING:
    from .problems import Path

__all__ = ["TOO_DEEP", "check_depth", "invalid", "read_json", "text_of"]

_SHOWN_BEFORE = 20
_SHOWN_LENGTH = 40
_MESSAGE_LENGTH = 200


class _Repeating(dict[str, Any]):
    """An object of the text in which keys came more than once."""

    repeated: tuple[str, ...] = ()


def read_json(text: str | bytes | bytearray) -> tuple[Any, Problems]:
    """Parse one JSON text.

    Args:
        text: a string, or its UTF-8 bytes.

    Returns:
        The value and no problems, or None and at least one.

    Raises:
        TypeError: text is neither a string nor bytes.
    """
    problems = Problems()
    try:
        source = text_of(text)
        check_depth(source)
        reader = _Reader()
        value = reader.read(source)
        if "\\u" in source:
            _check_surrogates(value)
    except TextRefused as refused:
        problems.add(refused.problem)
    except RecursionError:  # pragma: no cover  # only where the caller has used up its own stack
        problems.add(TOO_DEEP)
    else:
        if not reader.repeats:
            return value, problems
        _note_repeated(value, problems)
    return None, problems


def text_of(text: object) -> str:
    """Return JSON text as a string, or refuse it for its characters."""
    if isinstance(text, str):
        if not text.isascii():
            _check_characters(text)
        return text
    if not isinstance(text, (bytes, bytearray)):
        message = f"JSON text is str or bytes, not {type(text).__name__}; for a parsed value use decode"
        raise TypeError(message)
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"not UTF-8: byte 0x{text[error.start]:02x} at position {error.start}"
        raise TextRefused(invalid(message)) from None


_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_BRACKET = re.compile(r"[\[\]{}]")
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}
TOO_DEEP = Problem((), "too_deep", f"the JSON text nests deeper than {MAX_TEXT_DEPTH} levels")


def check_depth(text: str) -> None:
    """Refuse JSON text that nests too deep."""
    # The parser's own limit depends on the version of Python and on how deep the caller stands.
    if text.count("[") + text.count("{") <= MAX_TEXT_DEPTH:
        return
    depth = 0
    for bracket in _BRACKET.findall(_STRING.sub("", text)):
        depth += _STEPS[bracket]
        if depth > MAX_TEXT_DEPTH:
            raise TextRefused(TOO_DEEP)


def _check_characters(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise TextRefused(invalid(f"lone surrogate {escape(text[error.start])}")) from None


def invalid(message: str) -> Problem:
    """Return the problem of a text that is no JSON."""
    return Problem((), "invalid_json", f"not valid JSON: {message}", "one JSON value")


class _Reader:
    """One parse, and whether keys came more than once in it."""

    def __init__(self) -> None:
        self.repeats = False

    def read(self, text: str) -> Any:
        try:
            return json.loads(
                text,
                object_pairs_hook=self._object,
                parse_float=_finite,
                parse_int=_integer if len(text) > MAX_INTEGER_DIGITS else None,
                parse_constant=lambda name: _refuse_constant(name, text),
            )
        except json.JSONDecodeError as error:
            raise TextRefused(_describe(error)) from None
        except TextRefused:
            raise
        except ValueError as error:  # the process allows fewer digits than this package
            raise TextRefused(Problem((), "too_large", clip(str(error), _MESSAGE_LENGTH))) from None

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) == len(pairs):
            return made
        self.repeats = True
        seen: set[str] = set()
        repeating = _Repeating(made)
        repeating.repeated = tuple(
            dict.fromkeys([key for key, _ in pairs if key in seen or seen.add(key)])  # type: ignore[func-returns-value]  # add returns None
        )
        return repeating


def _finite(text: str) -> float:
    number = float(text)
    if number - number == 0:
        return number
    message = f"{clip(text, _SHOWN_LENGTH)} is beyond the range of a float"
    raise TextRefused(Problem((), "out_of_range", message, None, clip(text, _SHOWN_LENGTH)))


def _integer(text: str) -> int:
    digits = len(text.lstrip("-"))
    if digits > MAX_INTEGER_DIGITS:
        message = f"an integer of {digits} digits; at most {MAX_INTEGER_DIGITS} are read"
        raise TextRefused(Problem((), "too_large", message, None, clip(text, _SHOWN_LENGTH)))
    return int(text)


_STRING_OR_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|NaN|-?Infinity')


def _refuse_constant(name: str, text: str) -> Any:
    found = _STRING_OR_CONSTANT.finditer(text)
    start = next((match.start() for match in found if match[0][0] != '"'), 0)
    line = text.count("\n", 0, start) + 1
    column = start - text.rfind("\n", 0, start)
    message = f"not valid JSON at line {line} column {column}: {name} is no JSON number"
    raise TextRefused(Problem((), "invalid_json", message, "one JSON value", name))


def _describe(error: json.JSONDecodeError) -> Problem:
    start = max(error.pos - _SHOWN_BEFORE, 0)
    near = error.doc[start : error.pos + _SHOWN_BEFORE]
    ended = not error.doc[error.pos :].strip()
    what = error.msg[:1].lower() + error.msg[1:]
    where = f"line {error.lineno} column {error.colno}"
    place = "where the text ends" if ended else f"near {quote(near)}"
    return Problem(
        (),
        "invalid_json",
        f"not valid JSON at {where}: {what}, {place}",
        "one JSON value",
        quote(near),
    )


def _note_repeated(value: Any, problems: Problems) -> None:
    pending: list[tuple[Path, Any]] = [(None, value)]
    while pending:
        path, item = pending.pop()
        if isinstance(item, _Repeating):
            for key in item.repeated:
                problems.repeated((path, key))
        inner = item.items() if is_object(item) else enumerate(item)
        parts = [((path, key), part) for key, part in inner if is_object(part) or is_array(part)]
        pending.extend(reversed(parts))


def _check_surrogates(value: Any) -> None:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            _check_characters(item)
        elif is_object(item):
            pending.extend(item)
            pending.extend(item.values())
        elif is_array(item):
            pending.extend(item)
