"""The command `decode`: values of a type, in a file or from standard input."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from ...engine import read_json
from ...errors import DecodeError, EncodeError
from ...message_text import escape
from .arguments import TYPE, complete_files, json_option, traceback_option, unknown_fields_option
from .lookup import codec_of_name
from .module_loading import WrongUse
from .output import count

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from contextlib import AbstractContextManager

    from ...engine import Codec, UnknownFields
    from .lookup import ObjectName
    from .output import Printer


@click.command(
    epilog="""\b
examples:
  operator-schema decode tools:WebSearch arguments.json
  echo '{"query": "x"}' | operator-schema decode tools:WebSearch
  operator-schema decode --lines tools:WebSearch calls.jsonl > decoded.jsonl
  operator-schema decode --lines --quiet --unknown-fields reject tools:WebSearch calls.jsonl
"""
)
@click.argument("target", type=TYPE, metavar="MODULE:TYPE")
@click.argument("file", default="-", shell_complete=complete_files)
@click.option("--lines", is_flag=True, help="FILE is JSON Lines: one value a line; empty lines are skipped.")
@click.option("--quiet", is_flag=True, help="Print problems only, not the decoded values.")
@json_option("Print each problem report as JSON.")
@unknown_fields_option
@traceback_option
@click.pass_obj
def decode(
    outputs: tuple[Printer, Printer],
    target: ObjectName,
    file: str,
    unknown_fields: UnknownFields,
    *,
    lines: bool,
    quiet: bool,
    as_json: bool,
    show_traceback: bool,
) -> int:
    """Decode JSON values as a type.

    FILE is one JSON value in UTF-8; without it, or if it is -, standard input is read. Each value that
    decodes is printed on one line, encoded again, as the tool would get it. Problems go to
    standard error, with the file and the number of the line.
    """
    codec = codec_of_name(target, unknown_fields, show_traceback=show_traceback)
    out, err = outputs
    return decode_file(
        DecodeOutput(codec, None if quiet else out, err, as_json=as_json), file, err, lines=lines
    )


_LONG = 1 << 18
"""Inputs that are smaller, in bytes, get no progress bar."""

_STRIDE = 64
"""The lines between two steps of the bar: a step takes as long as decoding a small value."""

_JSON_SPACE = b" \t\r\n"
_EMPTY = (b"", b"\xef\xbb\xbf")
"""The possible content of an empty line; the first line may begin with a byte order mark."""


class DecodeOutput:
    """A codec, and the printers for values and reports.

    Args:
        codec: the codec of the type.
        out: the printer for the values that decode; None to print only problems.
        err: the printer for the reports on values that don't fit.
        as_json: whether reports are written as JSON.
    """

    def __init__(self, codec: Codec[Any], out: Printer | None, err: Printer, *, as_json: bool) -> None:
        self._codec = codec
        self._out = out
        self._err = err
        self._as_json = as_json
        self._decoded = 0
        self._failed = 0

    def decode(self, text: bytes, file: str, line: int | None = None) -> bool:
        """Decode one JSON text, and return whether it fits."""
        place = file if line is None else f"{file}:{line}"
        try:
            instance = self._codec.decode_json(text)
            if self._out is not None:
                self._out.json(self._codec.encode(instance))
        except (DecodeError, EncodeError) as error:
            if self._out is not None:
                self._out.flush()  # so that the order is right if both streams go to one file
            self._report(error if line is None else _without_line(error), place)
            return False
        except Exception as error:  # it is raised again, with its position
            error.add_note(f"while decoding {place}")
            raise
        return True

    def _report(self, error: DecodeError | EncodeError, place: str) -> None:
        if self._as_json:
            self._err.json({"place": place, **error.as_dict()})
        else:
            self._err.report(f"{place}: ", str(error))

    def decode_lines(self, source: BinaryIO, name: str) -> int:
        """Decode JSON Lines and return the exit status."""
        try:
            with self._progress(source) as advance:
                self._decode_each(source, name, advance)
        except KeyboardInterrupt:
            self._summarise("interrupted after ")
            raise
        if self._out is not None:
            self._out.flush()
        self._summarise("")
        return 1 if self._failed else 0

    def _decode_each(self, source: BinaryIO, name: str, advance: Callable[[int], None]) -> None:
        done = 0
        for number, line in _numbered(source, name):
            done += len(line)
            if number % _STRIDE == 0:
                advance(done)
                done = 0
            if line.strip(_JSON_SPACE) in _EMPTY:
                continue
            if self.decode(line.rstrip(_JSON_SPACE), name, number):
                self._decoded += 1
            else:
                self._failed += 1

    def _summarise(self, before: str) -> None:
        total = count(self._decoded + self._failed, "value")
        self._err.line(f"{before}{total}: {self._decoded:,} decoded, {self._failed:,} failed")

    def _progress(self, source: BinaryIO) -> AbstractContextManager[Callable[[int], None]]:
        size = _size(source)
        is_short = size is not None and size < _LONG
        # Values that appear or are typed on the terminal show the progress themselves.
        is_seen = source.isatty() or (self._out is not None and self._out.may_reach_terminal)
        return nullcontext(lambda _: None) if is_short or is_seen else self._err.progress(size)


def decode_file(decoder: DecodeOutput, file: str, err: Printer, *, lines: bool) -> int:
    """Decode a file, or standard input if its name is `-`, and return the exit status."""
    name = "<stdin>" if file == "-" else file
    with _open(file) as source:
        if lines:
            return decoder.decode_lines(source, name)
        text = b"".join([line for _, line in _numbered(source, name)])
    if decoder.decode(text, name):
        return 0
    if _is_json_lines(text):
        err.line("for one value a line give --lines")
    return 1


def _is_json_lines(text: bytes) -> bool:
    first, _, rest = text.partition(b"\n")
    return bool(rest.strip(_JSON_SPACE)) and not read_json(first)[1].found


def _without_line(error: DecodeError | EncodeError) -> DecodeError | EncodeError:
    # The text was a single line of a file: "line 1" next to the number of that line would mislead.
    problems = [
        problem.replace(message=problem.message.replace(" at line 1 column ", " at column ", 1))
        if problem.code == "invalid_json"
        else problem
        for problem in error.findings
    ]
    return error.with_findings(problems)


@contextmanager
def _open(file: str) -> Generator[BinaryIO]:
    if file == "-":
        yield sys.stdin.buffer
        return
    try:
        source = open(file, "rb")  # noqa: PTH123, SIM115  # closed below, outside of the `try`
    except OSError as error:
        raise _read_failure(file, error) from None
    with source:
        yield source


def _numbered(source: BinaryIO, name: str) -> Iterator[tuple[int, bytes]]:
    try:
        yield from enumerate(source, 1)
    except OSError as error:
        raise _read_failure(name, error) from None


def _read_failure(file: str, error: OSError) -> WrongUse:
    way = ""
    if isinstance(error, FileNotFoundError) and "=" in file:
        way = "; it takes JSON from a file or standard input, and call takes KEY=VALUE"
    if file.lstrip()[:1] in _JSON_STARTS:
        way = "; JSON itself is read from standard input: echo JSON | operator-schema decode …"
    return WrongUse(f"can't read {escape(file)}: {escape(error.strerror or type(error).__name__)}{way}")


_JSON_STARTS = frozenset('{["')


def _size(source: BinaryIO) -> int | None:
    try:
        status = os.fstat(source.fileno())
        return status.st_size - source.tell() if stat.S_ISREG(status.st_mode) else None
    except OSError:  # a stream that isn't a file may have no descriptor
        return None
