"""How are the records of a part of a log read?

A record that can't be read becomes an `Unreadable`, so that nothing is lost.
"""

from __future__ import annotations

import io
import json
from itertools import chain, count, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import rounds
from ..codec.codec import codec_of
from ..codec.problems import GiveUp
from ..json_reading import RepeatedKeyError, read_distinct
from ..json_values import is_array, is_object
from . import log_parts
from .line_reader import line_reader
from .log_parts import STANDARD_INPUT, BrokenFileError, parquet_file, parts_of_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import BinaryIO

    from .log_parts import Part

_BLOCK = 1 << 13
"""Bytes of lines that are read at once: the values of more are many objects for the garbage collector."""

_ROWS = 1_000
"""Rows of a Parquet file that are read at once."""


class Unreadable(NamedTuple):
    """A part of a log that can't be read.

    Attributes:
        line: its line number, from 1; 0 for the log as a whole.
        reason: the reason.
    """

    line: int
    reason: str


class Record(NamedTuple):
    """One value of a log.

    Attributes:
        line: number of its line or row, from 1; 0 if the log is one value.
        value: JSON values, or an `Unreadable`.
        is_finite: whether all its numbers are known to be finite.
    """

    line: int
    value: Any
    is_finite: bool = False


def records_of(part: Part) -> Iterator[Record]:
    """Return the records of a part in order.

    Raises:
        LogError: by the iterator: a library that reads it isn't installed.
    """
    match part.kind:
        case "lines":
            return chain.from_iterable(_line_records(part))
        case "value":
            return _value_records(part)
        case "parquet":
            return _row_records(part)
        case "store":
            return _store_records(part)
        case "unreadable":
            return iter([Record(part.first, Unreadable(part.first, part.reason))])


def _value_records(part: Part) -> Iterator[Record]:
    found = _read_leniently(_data_of(part), 0)
    for value in found if is_array(found) else [found]:
        yield Record(0, value)


def records_in(stream: Any) -> Iterator[Any]:
    """Yield the values of a log: one in each line, or one in the whole log.

    Args:
        stream: a stream of bytes with `peek`, plain or compressed with gzip or zstd.

    Yields:
        JSON values, and an `Unreadable` for each line that isn't one.
    """
    for part in parts_of_stream(stream, STANDARD_INPUT):
        for record in records_of(part):
            yield record.value


def _data_of(part: Part) -> bytes:
    if part.data is not None:
        return part.data
    with Path(part.path).open("rb") as stream:
        stream.seek(part.start)
        return stream.read(part.end - part.start)


def _line_records(part: Part) -> Iterator[Iterable[Record]]:
    """Yield the records of the lines of a part, those of some lines at a time."""
    if part.data is not None:
        yield from _records_in_blocks(io.BytesIO(part.data), part.first, len(part.data))
        return
    try:
        with Path(part.path).open("rb") as stream:
            stream.seek(part.start)
            yield from _records_in_blocks(stream, part.first, part.end - part.start)
    except OSError as error:
        what = f"the {part.end - part.start:,} bytes from here on can't be read: {error.strerror}"
        yield [Record(part.first, Unreadable(part.first, what))]


def _records_in_blocks(stream: BinaryIO, number: int, left: int) -> Iterator[Iterable[Record]]:
    while left > 0:
        block = stream.read(min(left, _BLOCK))
        left -= len(block)
        if left and block and not block.endswith(b"\n"):
            rest = stream.readline(min(left, log_parts.MAX_LINE + 1))
            left -= len(rest)
            block += rest
        if not block:
            what = f"the file has become shorter by {left:,} bytes since it was opened"
            yield [Record(number, Unreadable(number, what))]
            return
        yield from _records_in_block(block, number)
        number += block.count(b"\n")
        if not block.endswith(b"\n"):
            number += 1
            left -= _skip_line(stream, left) if len(block) > log_parts.MAX_LINE else 0


def _skip_line(stream: BinaryIO, left: int) -> int:
    """Read a line that is too long to its end; return how many bytes these were."""
    size = 0
    while size < left and (line := stream.readline(min(left - size, log_parts.CHUNK))):
        size += len(line)
        if line.endswith(b"\n"):
            break
    return size


def _records_in_block(block: bytes, number: int) -> Iterator[Iterable[Record]]:
    """Yield the records of lines that aren't blank."""
    lines = block.removesuffix(b"\n")
    if len(block) <= log_parts.MAX_LINE:
        yield _records_in_lines(lines, number)
        return
    for each, line in enumerate(lines.split(b"\n"), number):
        if len(line) > log_parts.MAX_LINE:
            yield [Record(each, Unreadable(each, f"it is longer than {log_parts.MAX_LINE:,} bytes"))]
        else:
            yield _records_in_lines(line, each)


def _records_in_lines(text: bytes, number: int) -> Iterable[Record]:
    lines, values = line_reader()(text)
    if GiveUp in values:
        return _with_faults(lines, values, number)
    return map(_new, repeat(Record), zip(count(number), values, repeat(object=True)))


_new: Callable[[type[Record], tuple[int, Any, bool]], Record] = tuple.__new__  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType]  # of any items
"""Makes a record as the class does, but without a frame of Python for each of a million lines."""


def _with_faults(lines: Sequence[bytes | str], values: list[Any], number: int) -> Iterator[Record]:
    for each, (line, value) in enumerate(zip(lines, values, strict=True), number):
        if value is not GiveUp:
            yield Record(each, value, is_finite=True)
        elif line:
            data = line if isinstance(line, bytes) else line.encode()
            if not data.isspace():
                yield Record(each, _read_leniently(data, each))


def _read_leniently(text: bytes, number: int) -> Any:
    """Return the value of a text, as Python reads more than JSON is, or why it can't be read."""
    try:
        return read_distinct(text.rstrip(b"\r\n"))
    except json.JSONDecodeError as error:
        # The line number is shown beside the message, which needs no "line 1".
        where = f"column {error.colno}" if number else f"line {error.lineno} column {error.colno}"
        return Unreadable(number, f"it isn't JSON: {error.msg}: {where}")
    except RepeatedKeyError as error:
        return Unreadable(number, str(error))
    except (ValueError, RecursionError) as error:
        return Unreadable(number, f"it isn't JSON: {error}")


def _row_records(part: Part) -> Iterator[Record]:
    number = part.first
    try:
        with parquet_file(part.path) as file:
            for batch in file.iter_batches(_ROWS, row_groups=[part.start]):
                for row in _values_of(batch):
                    value = Unreadable(number, _MAP_REPEATS) if row is None else json_of(row)
                    yield Record(number, value)
                    number += 1
    except (BrokenFileError, OSError) as error:
        what = f"the rows from here on in this row group can't be read: {error}"
        yield Record(number, Unreadable(number, what))


_MAP_REPEATS = "a map has a key more than once"


def _values_of(batch: Any) -> Iterator[Any]:
    """Yield the rows of a batch; None for a row that has a map with a repeated key."""
    try:
        rows = batch.to_pylist(maps_as_pydicts="strict")
    except KeyError:
        if batch.num_rows == 1:
            yield None
        else:
            half = batch.num_rows // 2
            yield from _values_of(batch.slice(0, half))
            yield from _values_of(batch.slice(half))
    else:
        yield from rows


def json_of(value: Any) -> Any:
    """Return a value of a column as JSON values; null in a struct means an absent key."""
    if is_object(value):
        return {str(key): json_of(inner) for key, inner in value.items() if inner is not None}
    if is_array(value):
        return [json_of(inner) for inner in value]
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    try:
        return codec_of(type(value)).encode(value)
    except ValueError:
        return str(value)


def _store_records(part: Part) -> Iterator[Record]:
    number = 0
    try:
        for number, value in enumerate(rounds.stored_records(part.path), 1):  # its number is in the message
            yield Record(number, value)
    except rounds.StoreError as error:
        yield Record(number + 1, Unreadable(number + 1, str(error)))
