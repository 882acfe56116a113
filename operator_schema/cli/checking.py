"""The command check: what is wrong with the types and tools of a module, and what could be better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..codec.codec import Codec
from ..errors import SchemaError
from ..introspect.nodes import ObjectNode
from ..lint.checks import anything, no_docstring, numbered_choices, undescribed
from ..tools.registry.discovery import tools_in
from ..wording import escape, show_path
from .lookup import dataclasses_of, find_tools, offered_by
from .modules import WrongUse, load_module, modules_of
from .output import count, to_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from ..tools.tool import Tool
    from .lookup import ObjectName
    from .output import Output

__all__ = ["Verdict", "check_target", "write_verdict"]


@dataclass(frozen=True)
class Verdict:
    """The verdict on one dataclass, one tool, or a module that can't be imported.

    Attributes:
        name: of what was checked.
        kind: `type`, `tool` or `module`.
        size: bytes of its schema or definition on one line; None if there are complaints.
        fields: number of its fields or parameters; None if it isn't an object.
        complaints: everything that is wrong with it, a line each.
        warnings: what is correct but leaves a model guessing, a line each.
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
        Name of what was checked to its verdicts.

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
        raise WrongUse(message)
    return found


def _check_module(name: str, *, is_named: bool, show_traceback: bool) -> list[Verdict]:
    """Check every dataclass and tool that a module defines.

    Args:
        name: of the module.
        is_named: whether it was named itself: then what it offers as `__tools__` is checked too.
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
        complaints = tuple([str(complaint) for complaint in error.complaints])
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
            yield Verdict(name, "type", complaints=tuple(map(str, error.complaints)))
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
