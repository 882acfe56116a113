"""Reads logs in parts, so that any number of processes can share the work.

A log is a file of lines (plain, or compressed with gzip or zstd), one JSON value, a Parquet file, or a store
of rounds. `parts_of` cuts it, `records_of` reads one part. An unreadable part becomes a record too, so that
nothing is lost.
"""

from __future__ import annotations

import glob
import io
import json
import shlex
import sys
import zlib
from codecs import BOM_UTF8
from importlib import import_module
from itertools import chain, count, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from .. import rounds
from ..codec.codec import codec_of
from ..codec.problems import GiveUp
from ..json_reading import RepeatedKeyError, read_distinct
from ..json_values import JSON_SPACES, is_array, is_object
from ..message_text import one_line
from .line_reader import line_reader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import BinaryIO

MAX_LINE: Final = 20_000_000
"""The most bytes of one line; a longer one can't be read."""

PART_SIZE: Final = 4_000_000
"""The least bytes of lines in a part, except for the last part."""

_STANDARD_INPUT = "-"
_CHUNK = 1 << 18
_BLOCK = 1 << 13
"""Bytes of lines that are read at once: the values of more are many objects for the garbage collector."""

_GZIP, _ZSTD, _PARQUET, _SQLITE = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1", b"SQLite format 3\0"
_PEEKED = len(_SQLITE)
_GZIP_STEP, _ZSTD_STEP = 1 << 14, 1 << 10
"""Bytes that are decompressed at once; they result in at most 16 and 32 MB."""

_ROWS = 1_000


class LogError(ValueError):
    """A log can't be read at all; the message has the reason and a remedy."""


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


class Part(NamedTuple):
    """A piece of a log that is read by itself, on any machine that has the file.

    Attributes:
        log: name of the file: its path as given, or `-`.
        kind: the kind of log, which decides how it is read.
        size: how many bytes of the file it represents, for a progress bar.
        first: the number of its first line, or of its row group.
        start: position of its first byte in the file.
        end: position after its last byte.
        data: the bytes themselves, if the file can't be read from the middle.
        reason: the reason why it can't be read.
        path: absolute path of the file.
    """

    log: str
    kind: Literal["lines", "value", "parquet", "store", "unreadable"]
    size: int
    first: int = 1
    start: int = 0
    end: int = 0
    data: bytes | None = None
    reason: str = ""
    path: str = ""

    def place(self, line: int) -> str:
        """Return where a record is, such as `calls.jsonl:3`."""
        return f"{self.log}:{line}" if line else self.log


# --- which files ---------------------------------------------------------------------------------


def logs_in(patterns: Iterable[str]) -> list[str]:
    """Return the paths of files that match patterns such as `logs/**/*.jsonl.gz`, sorted for each pattern.

    Raises:
        LogError: no file is found for a pattern.
    """
    found: list[str] = []
    for pattern in patterns:
        if pattern == _STANDARD_INPUT or Path(pattern).exists() or not glob.has_magic(pattern):
            found.append(pattern)
            continue
        names = glob.iglob(pattern, recursive=True)  # noqa: PTH207  # `Path.glob` takes no absolute pattern
        files = sorted(each for each in names if Path(each).is_file())
        if not files:
            raise _refused(pattern, f"no file matches {pattern}")
        found += files
    return found


def parts_of(log: str) -> Iterator[Part]:
    """Cut a log into parts.

    Args:
        log: the path of a file, or `-` for standard input.

    Yields:
        The parts in order: together they are the whole log, and no record is in two of them.

    Raises:
        LogError: the file can't be opened, or a library that reads it isn't installed.
    """
    if log == _STANDARD_INPUT:
        yield from parts_of_stream(sys.stdin.buffer, log)
        return
    try:
        stream = Path(log).open("rb")  # noqa: SIM115  # closed below
    except OSError as error:
        raise _not_opened(log, error) from None
    path = str(Path(log).absolute())  # other processes may be in another folder
    with stream:
        for part in _parts_of_file(stream, log):
            yield part._replace(path=path)


def _not_opened(log: str, error: OSError) -> LogError:
    if Path(log).is_dir():
        pattern = shlex.quote(str(Path(glob.escape(log)) / "*.jsonl"))
        return LogError(f"{log} is a folder: write {pattern} for the files in it")
    return _refused(log, f"{log} can't be read: {error.strerror}")


def _refused(path: str, why: str) -> LogError:
    if path.lstrip().startswith("{"):
        why = f"{one_line(path, 60)} is a line of JSON, not a file: give the path of a file"
    return LogError(why)


def _parts_of_file(stream: Any, log: str) -> Iterator[Part]:
    try:
        begin = stream.peek(_PEEKED)[:_PEEKED]
    except OSError as error:
        raise _not_opened(log, error) from None
    if begin.startswith(_PARQUET):
        yield from _row_groups(log)
    elif begin == _SQLITE:
        yield Part(log, "store", Path(log).stat().st_size)
    elif (reason := _not_as_named(log, begin)) is not None:
        yield Part(log, "unreadable", Path(log).stat().st_size, 0, reason=reason)
    else:
        yield from parts_of_stream(stream, log)


_NAMED: Final = {
    **dict.fromkeys((".parquet", ".parq"), "a Parquet file"),
    **dict.fromkeys((".gz", ".gzip"), "compressed with gzip"),
    **dict.fromkeys((".zst", ".zstd"), "compressed with zstd"),
    **dict.fromkeys((".db", ".sqlite", ".sqlite3"), "a SQLite database"),
}
"""The format that the ending of a file's name stands for."""


def _not_as_named(log: str, begin: bytes) -> str | None:
    """Return the reason why a file isn't what its name says; None if it can be read as what it is."""
    kind = _NAMED.get(Path(log).suffix.lower())
    can_be_read = begin.startswith((_GZIP, _ZSTD)) or begin.lstrip(_BEFORE_JSON)[:1] in b"{["
    return None if kind is None or can_be_read else f"it isn't {kind}: it begins with {begin!r}"


_BEFORE_JSON: Final = BOM_UTF8 + JSON_SPACES.encode()


def parts_of_stream(stream: Any, log: str) -> Iterator[Part]:
    """Cut a stream into parts.

    Args:
        stream: a stream of bytes with `peek`.
        log: its name; a plain file, unlike standard input, is read from the disk again.

    Raises:
        LogError: the stream is compressed with zstd, and no library for that is installed.
    """
    begin = stream.peek(len(_ZSTD))[: len(_ZSTD)]
    if begin.startswith(_GZIP):
        chunks = _decompressed(stream, lambda: zlib.decompressobj(wbits=31), _GZIP_STEP)
    elif begin == _ZSTD:
        chunks = _decompressed(stream, _zstd_decoder(), _ZSTD_STEP)
    else:
        chunks = iter(lambda: stream.read(_CHUNK), b"")
        if log != _STANDARD_INPUT and stream.seekable():
            for part in _cut(chunks, log, stream.tell):
                yield part._replace(data=None)
            return
    yield from _cut(chunks, log, stream.tell if log != _STANDARD_INPUT else lambda: 0)


class _Lines(NamedTuple):
    """Whole lines of a stream.

    Attributes:
        first: number of the first line.
        start: position of its beginning in the stream.
        end: position of the end of the last line.
        data: their bytes; for a line that is too long, only the beginning.
    """

    first: int
    start: int
    end: int
    data: bytes


class _Cutter:
    """Cuts a stream of bytes into pieces of whole lines."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self._buffer = bytearray()
        self._number, self._start, self._read = 1, 0, 0

    @property
    def next_line(self) -> int:
        """The number of the next line to read."""
        return self._number

    def pieces(self) -> Iterator[_Lines]:
        """Yield pieces of `PART_SIZE` bytes or more; the last one may be smaller.

        Raises:
            OSError: an error of the stream, raised after the whole lines before it.
            EOFError: the same.
            ValueError: the same.
        """
        last, is_skipping = 0, False
        for chunk in self._chunks:
            self._read += len(chunk)
            rest = chunk
            if is_skipping:
                found = chunk.find(b"\n")
                if found < 0:
                    continue
                rest, is_skipping = chunk[found:], False
            found = rest.rfind(b"\n")
            if found >= 0:
                last = len(self._buffer) + found + 1
            self._buffer += rest
            if last and len(self._buffer) >= PART_SIZE:
                yield self._taken(last)
                last = 0
            if not last and len(self._buffer) > MAX_LINE:
                del self._buffer[MAX_LINE + 1 :]
                is_skipping = True
        if self._buffer:
            yield self._taken(len(self._buffer))

    def whole_lines(self) -> _Lines | None:
        """Return the complete lines before an error, if there are any."""
        end = self._buffer.rfind(b"\n") + 1
        return self._taken(end) if end else None

    def _taken(self, size: int) -> _Lines:
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        # Not by `size`: only the beginning of a line that is too long is kept.
        end = self._read - len(self._buffer)
        piece = _Lines(self._number, self._start, end, data)
        self._number += data.count(b"\n")
        self._start = end
        return piece


def _cut(chunks: Iterable[bytes], log: str, tell: Callable[[], int]) -> Iterator[Part]:
    cutter, done = _Cutter(chunks), 0
    pieces = cutter.pieces()
    reason = ""
    try:
        for piece in pieces:
            size, done = tell() - done, tell()
            if piece.first == 1 and _begins_value(piece.data):
                yield _whole(piece, pieces, log, size)
                return
            yield Part(log, "lines", size, piece.first, piece.start, piece.end, piece.data)
    except (EOFError, OSError, ValueError) as error:
        reason = str(error) or type(error).__name__
    if reason:
        left = cutter.whole_lines()
        if left is not None:
            yield Part(log, "lines", 0, left.first, left.start, left.end, left.data)
        what = f"the file ends, or is broken, here: {reason}"
        yield Part(log, "unreadable", 0, cutter.next_line, reason=what)


def _begins_value(data: bytes) -> bool:
    """Return whether the first line is only the beginning of a value."""
    return data[: data.find(b"\n") + 1].strip() in {b"[", b"{"}


def _whole(piece: _Lines, others: Iterator[_Lines], log: str, size: int) -> Part:
    """Return the part of a log that is one value."""
    data = bytearray(piece.data)
    end = piece.end
    for other in others:
        data += other.data
        end = other.end
        if len(data) > MAX_LINE:
            what = f"it is one value of more than {MAX_LINE:,} bytes: write one value in each line"
            return Part(log, "unreadable", size, 0, reason=what)
    return Part(log, "value", size, 0, 0, end, bytes(data))


def _decompressed(stream: BinaryIO, new: Callable[[], Any], step: int) -> Iterator[bytes]:
    """Yield the content of a compressed stream, up to its end or to the place where it is broken.

    Args:
        stream: a stream of one or several frames (or members).
        new: makes a decompressor for one frame.
        step: bytes to decompress at once.

    Raises:
        EOFError: the stream ends in the middle of a frame.
    """
    decoder: Any = None
    while data := stream.read(step):
        while data:
            if decoder is None:
                data = data.lstrip(b"\0")  # gzip allows padding
                if not data:
                    break
                decoder = new()
            yield _step(decoder, data)
            data = decoder.unused_data if decoder.eof else b""  # the next frame
            decoder = None if decoder.eof else decoder
    if decoder is not None:
        message = "compressed data end too early"
        raise EOFError(message)


def _step(decoder: Any, data: bytes) -> bytes:
    try:
        found: bytes = decoder.decompress(data)
    except Exception as error:  # noqa: BLE001  # each library has an error of its own
        message = f"compressed data are broken: {error}"
        raise ValueError(message) from None
    return found


def _zstd_decoder() -> Callable[[], Any]:
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.ZstdDecompressor
    try:
        import zstandard
    except ImportError:
        message = "to read zstd, install the extra: pip install 'operator-schema[zstd]'"
        raise LogError(message) from None
    return lambda: zstandard.ZstdDecompressor().decompressobj()


def _parquet_file(log: str) -> Any:
    try:
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError:
        message = "to read Parquet, install the extra: pip install 'operator-schema[arrow]'"
        raise LogError(message) from None
    try:
        return parquet.ParquetFile(log)
    except (OSError, ValueError) as error:
        raise _BrokenFileError(str(error)) from None


class _BrokenFileError(Exception):
    """A file that isn't read line by line is broken; the message has the reason."""


def _row_groups(log: str) -> Iterator[Part]:
    try:
        with _parquet_file(log) as file:
            sizes = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
            total = max(1, sum(sizes))
    except _BrokenFileError as error:
        yield Part(log, "unreadable", 0, 0, reason=f"it isn't a Parquet file that can be read: {error}")
        return
    whole, first = Path(log).stat().st_size, 1
    for number, rows in enumerate(sizes):
        yield Part(log, "parquet", whole * rows // total, first, number, number + 1)
        first += rows


# --- the records of a part -----------------------------------------------------------------------


def records_of(part: Part) -> Iterator[Record]:
    """Return the records of a part in order.

    Raises:
        LogError: by the iterator: a library that reads it isn't installed.
    """
    match part.kind:
        case "lines":
            return chain.from_iterable(_line_records(part))
        case "value":
            return _values(part)
        case "parquet":
            return _rows(part)
        case "store":
            return _stored(part)
        case "unreadable":
            return iter([Record(part.first, Unreadable(part.first, part.reason))])


def _values(part: Part) -> Iterator[Record]:
    found = _lenient(_data_of(part), 0)
    for value in found if is_array(found) else [found]:
        yield Record(0, value)


def records_in(stream: Any) -> Iterator[Any]:
    """Yield the values of a log: one in each line, or one in the whole log.

    Args:
        stream: a stream of bytes with `peek`, plain or compressed with gzip or zstd.

    Yields:
        JSON values, and an `Unreadable` for each line that isn't one.
    """
    for part in parts_of_stream(stream, _STANDARD_INPUT):
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
        yield from _blocks(io.BytesIO(part.data), part.first, len(part.data))
        return
    try:
        with Path(part.path).open("rb") as stream:
            stream.seek(part.start)
            yield from _blocks(stream, part.first, part.end - part.start)
    except OSError as error:
        what = f"the {part.end - part.start:,} bytes from here on can't be read: {error.strerror}"
        yield [Record(part.first, Unreadable(part.first, what))]


def _blocks(stream: BinaryIO, number: int, left: int) -> Iterator[Iterable[Record]]:
    while left > 0:
        block = stream.read(min(left, _BLOCK))
        left -= len(block)
        if left and block and not block.endswith(b"\n"):
            rest = stream.readline(min(left, MAX_LINE + 1))
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
            left -= _skip_line(stream, left) if len(block) > MAX_LINE else 0


def _skip_line(stream: BinaryIO, left: int) -> int:
    """Read a line that is too long to its end; return how many bytes these were."""
    size = 0
    while size < left and (line := stream.readline(min(left - size, _CHUNK))):
        size += len(line)
        if line.endswith(b"\n"):
            break
    return size


def _records_in_block(block: bytes, number: int) -> Iterator[Iterable[Record]]:
    """Yield the records of lines that aren't blank."""
    lines = block.removesuffix(b"\n")
    if len(block) <= MAX_LINE:
        yield _records_in_lines(lines, number)
        return
    for each, line in enumerate(lines.split(b"\n"), number):
        if len(line) > MAX_LINE:
            yield [Record(each, Unreadable(each, f"it is longer than {MAX_LINE:,} bytes"))]
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
                yield Record(each, _lenient(data, each))


def _lenient(text: bytes, number: int) -> Any:
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


def _rows(part: Part) -> Iterator[Record]:
    number = part.first
    try:
        with _parquet_file(part.path) as file:
            for batch in file.iter_batches(_ROWS, row_groups=[part.start]):
                for row in _values_of(batch):
                    value = Unreadable(number, _MAP_REPEATS) if row is None else json_of(row)
                    yield Record(number, value)
                    number += 1
    except (_BrokenFileError, OSError) as error:
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


def _stored(part: Part) -> Iterator[Record]:
    number = 0
    try:
        for number, value in enumerate(rounds.stored_records(part.path), 1):  # its number is in the message
            yield Record(number, value)
    except rounds.StoreError as error:
        yield Record(number + 1, Unreadable(number + 1, str(error)))
