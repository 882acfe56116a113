"""What each command does: arguments in, exit status out."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, BinaryIO

from ..codec.codec import Codec
from ..codec.json_text.reader import read_json
from ..errors import DecodeError, EncodeError, SchemaError
from ..introspect.nodes import ObjectNode
from ..wording import escape
from .lookup import dataclasses_of, load_module, refuse, register
from .plain_output import Verdict, count, to_json

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Generator, Iterator
    from contextlib import AbstractContextManager

    from .plain_output import Output

__all__ = ["check", "decode", "schema"]

_LONG = 1 << 18
"""Bytes of input that are worth a progress bar."""

_STRIDE = 64
"""Lines between two steps of the bar: a step costs as much as decoding a small value."""

_JSON_SPACE = b" \t\r\n"
_EMPTY = (b"", b"\xef\xbb\xbf")
"""What is left of an empty line; a byte order mark may stand before the first."""


def schema(arguments: Namespace, out: Output, err: Output) -> int:  # noqa: ARG001  # the form that all commands have
    """Print the JSON Schema of a type."""
    codec = register(arguments.target, arguments.unknown_fields, show_traceback=arguments.traceback)
    out.write_json(codec.json_schema(), None if arguments.compact else 2)
    return 0


def check(arguments: Namespace, out: Output, err: Output) -> int:  # noqa: ARG001  # likewise
    """Register every dataclass of some modules."""
    modules = [load_module(name, show_traceback=arguments.traceback) for name in arguments.modules]
    verdicts: list[Verdict] = []
    for module in modules:
        found = [_judge(cls) for cls in dataclasses_of(module)]
        if not found:
            out.write_line(f"{escape(module.__name__)} defines no dataclasses")
            continue
        if len(modules) > 1:
            out.write_line(f"{escape(module.__name__)}:")
        out.write_verdicts(found)
        verdicts += found
    bad = sum(1 for verdict in verdicts if verdict.complaints)
    if verdicts:
        out.write_line(f"{count(len(verdicts), 'type')}: {len(verdicts) - bad:,} ok, {bad:,} with complaints")
    return 1 if bad else 0


def _judge(cls: type) -> Verdict:
    name = cls.__qualname__
    try:
        codec: Codec[Any] = Codec(cls)
    except SchemaError as error:
        return Verdict(name, None, 0, error.complaints)
    root = codec.graph.resolve(codec.graph.root)
    fields = len(root.fields) if isinstance(root, ObjectNode) else None
    return Verdict(name, fields, len(to_json(codec.json_schema()).encode()), ())


def decode(arguments: Namespace, out: Output, err: Output) -> int:
    """Decode one JSON value, or one a line."""
    codec = register(arguments.target, arguments.unknown_fields, show_traceback=arguments.traceback)
    decoder = _Decoder(codec, None if arguments.quiet else out, err)
    name = "<stdin>" if arguments.file == "-" else arguments.file
    with _open(arguments.file) as source:
        if arguments.lines:
            return decoder.decode_lines(source, name)
        text = b"".join([line for _, line in _numbered(source, name)])
    if decoder.decode(text, f"{name}: "):
        return 0
    if _is_json_lines(text):
        err.write_line("for one value a line give --lines")
    return 1


def _is_json_lines(text: bytes) -> bool:
    first, _, rest = text.partition(b"\n")
    return bool(rest.strip(_JSON_SPACE)) and not read_json(first)[1].found


class _Decoder:
    """One codec, and where its values and reports go.

    Args:
        codec: of the type.
        out: takes the values that decode; None when nobody wants them.
        err: takes the reports of those that do not.
    """

    def __init__(self, codec: Codec[Any], out: Output | None, err: Output) -> None:
        self._codec = codec
        self._out = out
        self._err = err

    def decode(self, text: bytes, place: str, *, is_line: bool = False) -> bool:
        """Decode one JSON text, and say whether it could be."""
        try:
            instance = self._codec.decode_json(text)
            if self._out is not None:
                self._out.write_json(self._codec.encode(instance))
        except (DecodeError, EncodeError) as error:
            if self._out is not None:
                self._out.flush()  # where both streams are one file, it reads in order
            self._err.write_report(place, str(_without_line(error) if is_line else error))
            return False
        except Exception as error:  # it is raised again, with its place
            error.add_note(f"while decoding {place.removesuffix(': ')}")
            raise
        return True

    def decode_lines(self, source: BinaryIO, name: str) -> int:
        """Decode JSON Lines and return the exit status."""
        decoded = failed = done = 0
        with self._progress(source) as advance:
            for number, line in _numbered(source, name):
                done += len(line)
                if number % _STRIDE == 0:
                    advance(done)
                    done = 0
                if line.strip(_JSON_SPACE) in _EMPTY:
                    continue
                if self.decode(line.rstrip(_JSON_SPACE), f"{name}:{number}: ", is_line=True):
                    decoded += 1
                else:
                    failed += 1
        if self._out is not None:
            self._out.flush()
        self._err.write_line(f"{count(decoded + failed, 'value')}: {decoded:,} decoded, {failed:,} failed")
        return 1 if failed else 0

    def _progress(self, source: BinaryIO) -> AbstractContextManager[Callable[[int], None]]:
        size = _size(source)
        is_short = size is not None and size < _LONG
        # Values that run over the terminal, or are typed there, show how far the work is.
        is_seen = source.isatty() or (self._out is not None and self._out.is_terminal)
        return nullcontext(lambda _: None) if is_short or is_seen else self._err.progress(size)


def _without_line(error: DecodeError | EncodeError) -> DecodeError | EncodeError:
    # The text was one line of a file: "line 1" beside the number of that line would mislead.
    problems = [
        problem.replace(message=problem.message.replace(" at line 1 column ", " at column ", 1))
        if problem.code == "invalid_json"
        else problem
        for problem in error.problems
    ]
    return error.with_problems(problems)


@contextmanager
def _open(file: str) -> Generator[BinaryIO]:
    if file == "-":
        yield sys.stdin.buffer
        return
    try:
        source = open(file, "rb")  # noqa: PTH123, SIM115  # closed below, outside of the `try`
    except OSError as error:
        refuse(_read_failure(file, error))
    with source:
        yield source


def _numbered(source: BinaryIO, name: str) -> Iterator[tuple[int, bytes]]:
    try:
        yield from enumerate(source, 1)
    except OSError as error:
        refuse(_read_failure(name, error))


def _read_failure(file: str, error: OSError) -> str:
    return f"can't read {escape(file)}: {escape(error.strerror or type(error).__name__)}"


def _size(source: BinaryIO) -> int | None:
    try:
        status = os.fstat(source.fileno())
        return status.st_size - source.tell() if stat.S_ISREG(status.st_mode) else None
    except OSError:  # a stream that is no file has no number either
        return None
