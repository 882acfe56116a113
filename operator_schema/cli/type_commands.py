"""The commands decode and check."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from ..codec.codec import Codec
from ..codec.json_text import read_json
from ..errors import DecodeError, EncodeError, SchemaError
from ..introspect.nodes import ObjectNode
from ..lint.checks import anything, no_docstring, numbered_choices, undescribed
from ..message_text import escape, show_path
from ..tools.tool_sources import tools_in
from .arguments import REGISTRY, TYPE, complete_files, traceback_option, unknown_fields_option
from .lookup import codec_of_name, dataclasses_of, find_tools, imported_tools, offered_by
from .modules import WrongUse, load_module, modules_of
from .output import count, to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from contextlib import AbstractContextManager
    from types import ModuleType

    from ..codec.options import UnknownFields
    from ..tools.tool import Tool
    from .lookup import ObjectName
    from .output import Output

__all__ = ["Decoder", "Verdict", "check", "check_target", "decode", "decode_file", "write_verdict"]


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
@click.option("--json", "as_json", is_flag=True, help="Print each problem report as JSON.")
@unknown_fields_option
@traceback_option
@click.pass_obj
def decode(
    outputs: tuple[Output, Output],
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
    return decode_file(Decoder(codec, None if quiet else out, err, as_json=as_json), file, err, lines=lines)


@click.command(
    epilog="""\b
examples:
  operator-schema check tools
  operator-schema check --strict package
  operator-schema check app:registry
"""
)
@click.argument("targets", type=REGISTRY, nargs=-1, required=True, metavar="MODULE[:REGISTRY]...")
@click.option("--strict", is_flag=True, help="Exit with 1 if there are warnings.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
@traceback_option
@click.pass_obj
def check(
    outputs: tuple[Output, Output],
    targets: tuple[ObjectName, ...],
    *,
    strict: bool,
    as_json: bool,
    show_traceback: bool,
) -> int:
    """Check every dataclass and tool of a module or package, or the tools of a registry.

    Dataclasses and tools that a module merely imports are checked with the module that defines them.
    Warnings name things that leave a model guessing: no docstring, no descriptions, Any, an Enum of
    numbers.
    """
    found: dict[str, list[Verdict]] = {}
    for target in targets:
        found |= check_target(target, show_traceback=show_traceback)
    verdicts = [verdict for each in found.values() for verdict in each]
    bad = sum(bool(verdict.complaints) for verdict in verdicts)
    warned = sum(len(verdict.warnings) for verdict in verdicts)
    status = 1 if bad or (strict and warned) else 0
    out = outputs[0]
    if as_json:
        out.json({name: [verdict.as_dict() for verdict in each] for name, each in found.items()}, 2)
        return status
    for name, each in found.items():
        if not each:
            out.line(f"{escape(name)} defines no dataclasses or tools")
        elif len(found) > 1:
            out.line(f"{escape(name)}:")
        for verdict in each:
            write_verdict(verdict, out)
    if verdicts:
        warnings = f", {count(warned, 'warning')}" if warned else ""
        out.line(f"{len(verdicts):,} checked: {len(verdicts) - bad:,} ok, {bad:,} with complaints{warnings}")
    return status


@dataclass(frozen=True)
class Verdict:
    """The verdict on one dataclass, one tool, or a module that can't be imported.

    Attributes:
        name: of the type, tool or module.
        kind: `type`, `tool` or `module`.
        size: bytes of its schema or definition on one line; None if there are complaints.
        fields: number of its fields or parameters; None if it isn't an object.
        complaints: all problems, a line each.
        warnings: things that are correct but leave a model guessing, a line each.
        place: file and line, if known.
    """

    name: str
    kind: str
    size: int | None = None
    fields: int | None = None
    complaints: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    place: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON values."""
        return {**vars(self), "complaints": list(self.complaints), "warnings": list(self.warnings)}


def check_target(target: ObjectName, *, show_traceback: bool) -> dict[str, list[Verdict]]:
    """Check a module and those below it, or the tools of a registry or toolset.

    Args:
        target: a module or package, or a registry, a toolset or a function that makes one.
        show_traceback: as for `load_module`.

    Returns:
        Name of each module or registry to its verdicts.

    Raises:
        WrongUse: there is nothing to check, no such module or registry, or a module can't be imported.
    """
    if target.path:
        tools, _ = find_tools(target, show_traceback=show_traceback)
        found = {":".join(target): [_check_tool(tool) for tool in tools]}
    else:
        names = modules_of(target.module, show_traceback=show_traceback)
        found = {
            name: _check_module(name, is_named=name == target.module, show_traceback=show_traceback)
            for name in names
        }
    if not any(found.values()):  # in a CI this would pass for ever
        what = "tools" if target.path else "dataclasses or tools"
        message = f"there are no {what} in {escape(':'.join(filter(None, target)))}, so nothing was checked"
        imported = imported_tools(target, show_traceback=show_traceback)
        raise WrongUse(f"{message}: {imported}" if imported else message)
    return found


def _check_module(name: str, *, is_named: bool, show_traceback: bool) -> list[Verdict]:
    """Check every dataclass and tool that a module defines.

    Args:
        name: of the module.
        is_named: whether the command line names it; then the tools in its `__tools__` are checked too.
        show_traceback: whether to print a traceback if it can't be imported.

    Returns:
        A verdict for each, in the order of the module; if a type or tool is wrong while the module is
        imported, one verdict for the module.

    Raises:
        WrongUse: the module isn't found, or raises anything else while it is imported.
    """
    try:
        module = load_module(name, show_traceback=show_traceback)
    except SchemaError as error:
        complaints = tuple([str(complaint) for complaint in error.findings])
        return [Verdict(error.name, "module", complaints=complaints, place=error.__notes__[-1])]
    tools = tools_in(module)
    if is_named:
        known = {id(tool) for tool in tools}
        offered = offered_by(module, show_traceback=show_traceback)
        tools += [tool for tool in offered if id(tool) not in known]
    return [*_check_dataclasses(module), *[_check_tool(tool) for tool in tools]]


def _check_dataclasses(module: ModuleType) -> Iterator[Verdict]:
    inputs = {id(tool.input_type) for tool in tools_in(module)}
    for cls in dataclasses_of(module):
        if id(cls) in inputs:  # its tool says more
            continue
        name = cls.__qualname__
        try:
            codec: Codec[Any] = Codec(cls)
        except SchemaError as error:
            yield Verdict(name, "type", complaints=tuple(map(str, error.findings)))
            continue
        size = len(to_json(codec.json_schema()).encode())
        yield Verdict(name, "type", size, _count_fields(codec), warnings=tuple(_weak_nodes(codec)))


def _check_tool(tool: Tool[..., Any]) -> Verdict:
    size = len(to_json(tool.definition()).encode())
    warnings = [*_weak_texts(tool), *_weak_nodes(tool.codec)]
    return Verdict(tool.name, "tool", size, _count_fields(tool.codec), warnings=tuple(warnings))


def _count_fields(codec: Codec[Any]) -> int | None:
    root = codec.graph.resolve_root()
    return len(root.fields) if isinstance(root, ObjectNode) else None


def _weak_texts(tool: Tool[..., Any]) -> Iterator[str]:
    for weakness in no_docstring(tool):
        yield weakness.message
        return
    bare = [show_path(weakness.path) for weakness in undescribed(tool.codec)]
    if bare:
        yield f"no description: {', '.join(map(escape, bare))}"


def _weak_nodes(codec: Codec[Any]) -> Iterator[str]:
    found = [*numbered_choices(codec), *anything(codec)]
    yield from [f"{escape(show_path(weakness.path))}: {weakness.message}" for weakness in found]


def write_verdict(verdict: Verdict, out: Output) -> None:
    """Write a verdict: one line, and one for each complaint and warning below it."""
    if verdict.complaints:
        what = f"  ({count(len(verdict.complaints), 'complaint')})"
        place = f" {escape(verdict.place)}" if verdict.place else ""
        out.styled(("bad ", "bold red"), (escape(verdict.name), "bold"), (f"{what}{place}", "dim"))
    else:
        size = count(verdict.size or 0, "byte")
        noun = "parameter" if verdict.kind == "tool" else "field"
        fields = "" if verdict.fields is None else f"{count(verdict.fields, noun)}, "
        kind = "tool, " if verdict.kind == "tool" else ""
        out.styled(("ok  ", "green"), (escape(verdict.name), "bold"), (f"  ({kind}{fields}{size})", "dim"))
    for complaint in verdict.complaints:
        out.line(f"    - {escape(complaint)}")
    for warning in verdict.warnings:
        out.styled(("    warning: ", "yellow"), (escape(warning), ""))
    if verdict.kind == "module":
        out.line("    the import ended here, so the rest of the module wasn't checked")


_LONG = 1 << 18
"""Bytes of input from which a progress bar is worth drawing."""

_STRIDE = 64
"""Lines between two steps of the bar: a step costs as much as decoding a small value."""

_JSON_SPACE = b" \t\r\n"
_EMPTY = (b"", b"\xef\xbb\xbf")
"""What is left of an empty line; the first may begin with a byte order mark."""


class Decoder:
    """A codec, and where its values and reports go.

    Args:
        codec: of the type.
        out: takes the values that decode; None to print problems alone.
        err: takes the reports about values that don't fit.
        as_json: whether reports are written as JSON.
    """

    def __init__(self, codec: Codec[Any], out: Output | None, err: Output, *, as_json: bool) -> None:
        self._codec = codec
        self._out = out
        self._err = err
        self._as_json = as_json
        self._decoded = 0
        self._failed = 0

    def decode(self, text: bytes, file: str, line: int | None = None) -> bool:
        """Decode one JSON text, and return whether that worked."""
        place = file if line is None else f"{file}:{line}"
        try:
            instance = self._codec.decode_json(text)
            if self._out is not None:
                self._out.json(self._codec.encode(instance))
        except (DecodeError, EncodeError) as error:
            if self._out is not None:
                self._out.flush()  # where both streams are one file, it reads in order
            self._report(error if line is None else _without_line(error), place)
            return False
        except Exception as error:  # it is raised again, with its place
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
        # Values that appear on the terminal, or are typed there, show the progress themselves.
        is_seen = source.isatty() or (self._out is not None and self._out.may_reach_terminal)
        return nullcontext(lambda _: None) if is_short or is_seen else self._err.progress(size)


def decode_file(decoder: Decoder, file: str, err: Output, *, lines: bool) -> int:
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
    # The text was one line of a file: "line 1" next to the number of that line would mislead.
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
    return WrongUse(f"can't read {escape(file)}: {escape(error.strerror or type(error).__name__)}")


def _size(source: BinaryIO) -> int | None:
    try:
        status = os.fstat(source.fileno())
        return status.st_size - source.tell() if stat.S_ISREG(status.st_mode) else None
    except OSError:  # a stream that isn't a file has no number either
        return None
