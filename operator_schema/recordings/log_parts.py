"""How is a log cut into parts, so that any number of processes can share the work?

A log is a file of lines (plain, or compressed with gzip or zstd), one JSON value, a Parquet file, or a store
of rounds. No part is lost: one that can't be read becomes a part with the reason.
"""

from __future__ import annotations

import glob
import shlex
import sys
import zlib
from codecs import BOM_UTF8
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from ..json_values import JSON_SPACES
from ..message_text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import BinaryIO

MAX_LINE: Final = 20_000_000
"""The most bytes of one line; a longer one can't be read."""

PART_SIZE: Final = 4_000_000
"""The least bytes of lines in a part, except for the last part."""

STANDARD_INPUT = "-"
CHUNK = 1 << 18

_GZIP, _ZSTD, _PARQUET, _SQLITE = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1", b"SQLite format 3\0"
_PEEKED = len(_SQLITE)
_GZIP_STEP, _ZSTD_STEP = 1 << 14, 1 << 10
"""Bytes that are decompressed at once; they result in at most 16 and 32 MB."""


class LogError(ValueError):
    """A log can't be read at all; the message has the reason and a remedy."""


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
        if pattern == STANDARD_INPUT or Path(pattern).exists() or not glob.has_magic(pattern):
            found.append(pattern)
            continue
        names = glob.iglob(pattern, recursive=True)  # noqa: PTH207  # `Path.glob` takes no absolute pattern
        files = sorted(each for each in names if Path(each).is_file())
        if not files:
            raise _cannot_open(pattern, f"no file matches {pattern}")
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
    if log == STANDARD_INPUT:
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
    return _cannot_open(log, f"{log} can't be read: {error.strerror}")


def _cannot_open(path: str, why: str) -> LogError:
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
        chunks = iter(lambda: stream.read(CHUNK), b"")
        if log != STANDARD_INPUT and stream.seekable():
            for part in _cut_lines(chunks, log, stream.tell):
                yield part._replace(data=None)
            return
    yield from _cut_lines(chunks, log, stream.tell if log != STANDARD_INPUT else lambda: 0)


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

        An error of the stream passes through; `whole_lines` then has the lines before it.
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
                yield self._take(last)
                last = 0
            if not last and len(self._buffer) > MAX_LINE:
                del self._buffer[MAX_LINE + 1 :]
                is_skipping = True
        if self._buffer:
            yield self._take(len(self._buffer))

    def whole_lines(self) -> _Lines | None:
        """Return the complete lines before an error, if there are any."""
        end = self._buffer.rfind(b"\n") + 1
        return self._take(end) if end else None

    def _take(self, size: int) -> _Lines:
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        # Not by `size`: only the beginning of a line that is too long is kept.
        end = self._read - len(self._buffer)
        piece = _Lines(self._number, self._start, end, data)
        self._number += data.count(b"\n")
        self._start = end
        return piece


def _cut_lines(chunks: Iterable[bytes], log: str, tell: Callable[[], int]) -> Iterator[Part]:
    cutter, done = _Cutter(chunks), 0
    pieces = cutter.pieces()
    reason = ""
    try:
        for piece in pieces:
            size, done = tell() - done, tell()
            if piece.first == 1 and _begins_value(piece.data):
                yield _whole_value(piece, pieces, log, size)
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


def _whole_value(piece: _Lines, others: Iterator[_Lines], log: str, size: int) -> Part:
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
            yield _decompress_step(decoder, data)
            data = decoder.unused_data if decoder.eof else b""  # the next frame
            decoder = None if decoder.eof else decoder
    if decoder is not None:
        message = "compressed data end too early"
        raise EOFError(message)


def _decompress_step(decoder: Any, data: bytes) -> bytes:
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


def parquet_file(log: str) -> Any:
    """Open a Parquet file, for use in a `with` block."""
    try:
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError:
        message = "to read Parquet, install the extra: pip install 'operator-schema[arrow]'"
        raise LogError(message) from None
    try:
        return parquet.ParquetFile(log)
    except (OSError, ValueError) as error:
        raise BrokenFileError(str(error)) from None


class BrokenFileError(Exception):
    """A file that isn't read line by line is broken; the message has the reason."""


def _row_groups(log: str) -> Iterator[Part]:
    try:
        with parquet_file(log) as file:
            sizes = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
            total = max(1, sum(sizes))
    except BrokenFileError as error:
        yield Part(log, "unreadable", 0, 0, reason=f"it isn't a Parquet file that can be read: {error}")
        return
    whole, first = Path(log).stat().st_size, 1
    for number, rows in enumerate(sizes):
        yield Part(log, "parquet", whole * rows // total, first, number, number + 1)
        first += rows
