"""Reads JSON text, and refuses text that RFC 8259 and RFC 7493 don't allow.

The standard library's parser takes more than JSON: `NaN`, numbers that overflow to infinity, the last of
several equal keys, lone surrogates. Here each of these is a problem with its place in the text.
"""

from __future__ import annotations

import json
import re
import sys
from codecs import BOM_UTF8
from functools import partial
from typing import TYPE_CHECKING, Any

from ..findings import Finding, repaired
from ..json_reading import distinct_keys, json_scanner
from ..json_values import (
    JSON_SPACES,
    MAX_INTEGER_DIGITS,
    MAX_TEXT_DEPTH,
    WrittenFloat,
    is_array,
    is_object,
    most_digits,
)
from ..message_text import clip, escape, excerpt, quote, said_by, steps_of
from .problems import GiveUp, Problems

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..findings import ValueCode
    from ..introspect.nodes import Graph
    from ..message_text import Path


_SHOWN_LENGTH = 40


class RefusedTextError(ValueError):
    """Raised at the first problem of a text; it becomes a `DecodeError`.

    Attributes:
        problem: the problem of the text.
    """

    def __init__(self, problem: Finding) -> None:
        super().__init__(problem)
        self.problem = problem


class _Repeating(dict[str, Any]):
    """An object of the text with repeated keys."""

    repeated: tuple[str, ...] = ()


class _Unread:
    """A placeholder for a number that can't be read, until its path is known."""

    def __init__(self, code: ValueCode, message: str, text: str) -> None:
        self.problem = Finding((), code, message, None, clip(text, _SHOWN_LENGTH))


def read_json(text: str | bytes | bytearray, *, keeps_digits: bool = False) -> tuple[Any, Problems]:
    """Parse one JSON text.

    Args:
        text: a string, or its UTF-8 bytes.
        keeps_digits: whether a number becomes a `WrittenFloat` if a float would round it or write it
            differently.

    Returns:
        The value and no problems, or None and at least one.

    Raises:
        TypeError: text is neither a string nor bytes.
    """
    value = GiveUp if keeps_digits else read_faultless(text)
    return _read_with_faults(text, keeps_digits=keeps_digits) if value is GiveUp else (value, Problems())


def _read_with_faults(text: str | bytes | bytearray, *, keeps_digits: bool) -> tuple[Any, Problems]:
    problems = Problems()
    try:
        source = text_of(text)
        check_depth(source)
        reader = _Parse(keeps_digits=keeps_digits)
        value = reader.read(source)
        if "\\u" in source:
            _check_surrogates(value)
    except RefusedTextError as refused:
        problems.add(refused.problem)
    except RecursionError:  # pragma: no cover  # only where the caller has used up its own stack
        problems.add(TOO_DEEP)
    else:
        if not reader.has_faults:
            return value, problems
        _note_faults(value, problems)
    return None, problems


def read_faultless(text: str | bytes | bytearray) -> Any:
    """Return the value of a valid text, or `GiveUp` for any other, whose problem `read_json` finds.

    Raises:
        TypeError: text is neither a string nor bytes.
    """
    try:
        kind = text.__class__
        if (kind is str or kind is bytes) and text.isascii():
            source = text if isinstance(text, str) else text.decode()
        else:
            source = text_of(text)
        if len(source) > _SHORT_LENGTH:
            check_depth(source)
            if len(source) > MAX_INTEGER_DIGITS and not _refuses_long_integers():
                return GiveUp
        value, end = _scan(source, 0)
        if end < len(source) and source[end:].strip(JSON_SPACES):
            return GiveUp
        if "\\" in source and "\\u" in source:
            _check_surrogates(value)
    except StopIteration:  # no value begins here
        rest, size = source.lstrip(JSON_SPACES), len(source)  # pyright: ignore[reportPossiblyUnboundVariable]  # it was scanned
        is_new = len(rest) < size and not rest.startswith(_BYTE_ORDER_MARK)
        return read_faultless(rest) if is_new else GiveUp
    except (ValueError, RecursionError):
        return GiveUp
    return value


def quick_reader(parse: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    """Return a function that reads a text as `read_faultless` does, by a parser if there is one.

    Args:
        parse: what `parser_of` made; None for the reader of this package.
    """
    if parse is None:
        return read_faultless

    def read(text: Any) -> Any:
        try:
            return parse(text)
        except RefusedTextError:
            return GiveUp

    return read


def _refuses_long_integers() -> bool:
    """Return whether Python itself refuses integers that are too long for `read_json`."""
    return 0 < sys.get_int_max_str_digits() <= MAX_INTEGER_DIGITS


def _finite(text: str) -> float:
    number = float(text)
    if number - number == 0:
        return number
    raise ValueError(text)


def _no_number(name: str) -> Any:
    raise ValueError(name)


_scan = json_scanner(object_pairs_hook=distinct_keys, parse_float=_finite, parse_constant=_no_number)
_BYTE_ORDER_MARK = "\ufeff"


def read_text(
    text: str | bytes | bytearray,
    parse: Callable[[Any], Any] | None,
    repair: bool,
    decimals: Graph | None = None,
) -> tuple[Any, tuple[Finding, ...], Problems | None]:
    """Parse one JSON text, and repair it if that is wanted and possible.

    Args:
        text: a string, or its UTF-8 bytes.
        parse: a parser from `parser_of`; None for the reader of this package.
        repair: whether to repair a text that isn't valid JSON if there is only one way to do it.
        decimals: the graph of the type if it may contain a `Decimal`, for which digits are kept.

    Returns:
        The value, the repair if there was one, and None; or None, no repair and the problems.

    Raises:
        TypeError: text is neither a string nor bytes.
    """
    read: Callable[[Any], tuple[Any, Problems]] | None
    if parse is None:
        if decimals is None and (value := read_faultless(text)) is not GiveUp:
            return value, (), None
        read = None if decimals is None else partial(_read_digits, decimals)
        value, problems = read_json(text) if read is None else read(text)
        if not problems.found:
            return value, (), None
    else:
        read = partial(_parsed_by, parse)
        try:
            return parse(text), (), None
        except RefusedTextError as refused:
            problems = Problems()
            problems.add(refused.problem)
    if not repair:
        return None, (), problems
    value, repairs, problems = read_nearly_json(text, problems, read)
    return value, repairs, None if repairs else problems


def _read_digits(decimals: Graph, text: str | bytes | bytearray) -> tuple[Any, Problems]:
    from .written_digits import with_digits_of_decimals

    value, problems = read_json(text, keeps_digits=True)
    return (value if problems.found else with_digits_of_decimals(decimals, value)), problems


def _parsed_by(parse: Callable[[Any], Any], text: str | bytes) -> tuple[Any, Problems]:
    problems = Problems()
    try:
        return parse(text), problems
    except RefusedTextError as refused:
        problems.add(refused.problem)
    return None, problems


def read_nearly_json(
    text: str | bytes | bytearray,
    problems: Problems,
    read: Callable[[str | bytes], tuple[Any, Problems]] | None = None,
) -> tuple[Any, tuple[Finding, ...], Problems]:
    """Repair and parse a text that isn't valid JSON, if there is only one way to repair it.

    Args:
        text: a string, or its UTF-8 bytes.
        problems: the problems found in it.
        read: the parser that found them, if it wasn't `read_json`.

    Returns:
        The value, the repair and no problems; or None, no repair and the problems.
    """
    from .broken_text import ends_early  # only broken text pays for it
    from .nearly_json import as_json_text, end_of_open, without_fence_lines

    # If the user's parser refuses text that is JSON, the reason isn't its syntax.
    _, own = (None, problems) if read is None else read_json(text)
    if [problem.code for problem in own.found] != ["invalid_json"]:
        return None, (), problems
    try:
        source = text_of(text)
    except RefusedTextError:
        return None, (), problems
    rewritten, end = as_json_text(source), end_of_open(source)
    if end is not None:
        problems = Problems()
        problems.add(ends_early(source, end))
        return None, (), problems
    if rewritten is not None:
        value, still_wrong = (read or read_json)(rewritten if isinstance(text, str) else rewritten.encode())
        if not still_wrong.found:
            return value, (repaired((), "syntax", quote(source), excerpt(value)),), still_wrong
    # A Markdown fence would be removed: what else is wrong?
    inside = without_fence_lines(source)
    found = problems if inside == source else read_json(inside)[1]
    return None, (), found if found.found else problems


def text_of(text: object) -> str:
    """Return JSON text as a string; refuse invalid UTF-8 and other impossible characters."""
    if isinstance(text, str):
        if not text.isascii():
            _check_characters(text)
        # RFC 8259, section 8.1: a reader may ignore a byte order mark.
        return text.removeprefix(_BYTE_ORDER_MARK)
    if not isinstance(text, (bytes, bytearray)):
        message = f"JSON text is str or bytes, not {type(text).__name__}; for a parsed value use decode"
        raise TypeError(message)
    try:
        # The codec with the mark in its name is written in Python: it takes as long as reading a small text.
        return text.decode("utf-8-sig" if text.startswith(BOM_UTF8) else "utf-8")
    except UnicodeDecodeError as error:
        byte, skipped = error.object[error.start], len(text) - len(error.object)
        message = f": it is not UTF-8: byte 0x{byte:02x} at position {error.start + skipped}"
        raise _invalid(message) from None


def _invalid(message: str, received: str | None = None) -> RefusedTextError:
    """Return the exception for a text that isn't valid JSON."""
    from .broken_text import invalid  # only broken text pays for it

    return RefusedTextError(invalid(message, received))


_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_BRACKET = re.compile(r"[\[\]{}]")
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}
TOO_DEEP = Finding((), "too_deep", f"the JSON text nests deeper than {MAX_TEXT_DEPTH} levels")


def check_depth(text: str) -> None:
    """Refuse JSON text that nests too deeply."""
    # The parser's own limit depends on the version of Python and on how deep the caller is.
    if text.count("[") + text.count("{") <= MAX_TEXT_DEPTH:
        return
    depth = 0
    for bracket in _BRACKET.findall(_STRING.sub("", text)):
        depth += _STEPS[bracket]
        if depth > MAX_TEXT_DEPTH:
            raise RefusedTextError(TOO_DEEP)


def _check_characters(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = escape(text[error.start])
        message = f": a string has a lone surrogate, {half}, which isn't a character"
        raise _invalid(message) from None


class _Parse:
    """One parse; it notes repeated keys and numbers that can't be read."""

    def __init__(self, *, keeps_digits: bool) -> None:
        self.has_faults = False
        self._keeps_digits = keeps_digits
        self._most_digits = most_digits()

    def read(self, text: str) -> Any:
        try:
            return json.loads(
                text,
                object_pairs_hook=self._object,
                parse_float=self._float_as_written if self._keeps_digits else self._float,
                parse_int=self._integer if len(text) > self._most_digits else None,
                parse_constant=lambda name: _refuse_constant(name, text),
            )
        except json.JSONDecodeError as error:
            from .broken_text import describe_broken  # only broken text pays for it

            raise RefusedTextError(describe_broken(error)) from None

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) == len(pairs):
            return made
        self.has_faults = True
        seen: set[str] = set()
        repeating = _Repeating(made)
        repeating.repeated = tuple(
            dict.fromkeys([key for key, _ in pairs if key in seen or seen.add(key)])  # type: ignore[func-returns-value]  # add returns None
        )
        return repeating

    def _float(self, text: str) -> float | _Unread:
        number = float(text)
        if number - number == 0:
            return number
        self.has_faults = True
        message = f"the number {clip(text, _SHOWN_LENGTH)} is beyond the range of a float"
        return _Unread("out_of_range", message, text)

    def _float_as_written(self, text: str) -> float | _Unread:
        number = self._float(text)
        if not isinstance(number, float) or float.__repr__(number) == text:
            return number
        written = WrittenFloat(number)
        written.text = text
        return written

    def _integer(self, text: str) -> int | _Unread:
        digits = len(text.lstrip("-"))
        if digits <= self._most_digits:
            return int(text)
        self.has_faults = True
        message = f"an integer of {digits} digits; at most {self._most_digits} are read"
        return _Unread("too_large", message, text)


_STRING_OR_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|NaN|-?Infinity')


def _refuse_constant(name: str, text: str) -> Any:
    found = _STRING_OR_CONSTANT.finditer(text)
    start = next((match.start() for match in found if match[0][0] != '"'), 0)
    from .broken_text import position_of

    message = f"{position_of(text, start)}: {name} isn't a JSON number; send a finite one"
    raise _invalid(message, name)


def _note_faults(value: Any, problems: Problems) -> None:
    pending: list[tuple[Path, Any]] = [(None, value)]
    while pending:
        path, item = pending.pop()
        if isinstance(item, _Unread):
            problems.add(item.problem.replace(path=steps_of(path)))
            continue
        if isinstance(item, _Repeating):
            for key in item.repeated:
                problems.repeated_key((path, key))
        inner = item.items() if is_object(item) else enumerate(item)
        parts = [
            ((path, key), part)
            for key, part in inner
            if is_object(part) or is_array(part) or isinstance(part, _Unread)
        ]
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


_MESSAGE_LENGTH = 200
_SHORT_LENGTH = 2 * MAX_TEXT_DEPTH
"""Shorter text can't nest too deeply, because each level needs two brackets."""


def parser_of(loads: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that parses one JSON text.

    It raises `RefusedTextError` with the one problem of the text, and TypeError for anything but a string or
    bytes, which the parser never sees.

    Args:
        loads: takes the text and returns its value, or raises ValueError.
    """

    def parse(text: Any) -> Any:
        if (type(text) is not bytes and type(text) is not str) or len(text) > _SHORT_LENGTH:
            _check_bounds(text)
        try:
            return loads(text)
        except ValueError as error:
            message = f": {said_by(error, _MESSAGE_LENGTH)}"
        except RecursionError:  # the caller has used up its own stack
            raise RefusedTextError(TOO_DEEP) from None

        raise _invalid(message)

    return parse


def _check_bounds(text: Any) -> None:
    """Refuse values other than text, and text that nests too deeply, by counting its brackets."""
    if isinstance(text, str):
        brackets = text.count("[") + text.count("{")
    elif isinstance(text, (bytes, bytearray)):
        brackets = text.count(b"[") + text.count(b"{")
    else:
        brackets = MAX_TEXT_DEPTH + 1
    if brackets > MAX_TEXT_DEPTH:
        check_depth(text_of(text))
