"""Names on the command line, turned into modules, types, tools and registries."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import traceback
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import is_dataclass
from types import GenericAlias, UnionType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click

from ..codec.codec import Codec
from ..errors import SchemaError, ToolNotFoundError
from ..rounds.toolset import Toolset
from ..tools.registry.discovery import tools_in
from ..tools.registry.registry import Registry
from ..tools.tool import Tool
from ..wording import clip, escape, listed, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from ..codec.options import UnknownFields

__all__ = [
    "ObjectName",
    "WrongUse",
    "codec_of_name",
    "dataclasses_of",
    "find_context",
    "find_offered",
    "find_tool",
    "find_tools",
    "load_module",
    "modules_of",
]

_MESSAGE_LENGTH = 300


class ObjectName(NamedTuple):
    """What `MODULE:NAME` names.

    Attributes:
        module: name of the module.
        path: names that lead from the module to the object, with dots between them; empty for the module.
    """

    module: str
    path: str


class WrongUse(click.ClickException):  # it isn't a fault of the program
    """A name, file or module that can't be used: status 2, and one line that says why."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        """Write the line to standard error."""
        click.echo(f"operator-schema: error: {self.message}", file=file or sys.stderr)


def load_module(name: str, *, show_traceback: bool) -> ModuleType:
    """Import a module.

    Args:
        name: of the module, with dots.
        show_traceback: whether to print the whole traceback if that fails.

    Returns:
        The module.

    Raises:
        SchemaError: a type or tool in it has complaints; a note says where in the user's code.
        WrongUse: it isn't found, or raises while it is imported.
    """
    try:
        # Standard output is for schemas and values, not for what a module prints at import.
        with redirect_stdout(sys.stderr):
            return importlib.import_module(name)
    except (Exception, SystemExit) as error:  # importing a module can raise anything
        if show_traceback:
            traceback.print_exception(error)
        if isinstance(error, SchemaError):
            error.add_note(_place(error).strip(" ()"))
            raise
        raise WrongUse(_import_failure(name, error, show_traceback=show_traceback)) from None


def modules_of(name: str, *, show_traceback: bool) -> Iterator[str]:
    """List a module and, if it is a package, the modules below it.

    Args:
        name: of the module.
        show_traceback: as for `load_module`.

    Yields:
        Names of modules; private ones and `__main__` are left out below a package.
    """
    yield name
    try:
        module = load_module(name, show_traceback=show_traceback)
    except SchemaError:  # reported when the module is checked
        return
    for entry in pkgutil.iter_modules(getattr(module, "__path__", ())):
        if not entry.name.startswith("_"):
            yield from modules_of(f"{name}.{entry.name}", show_traceback=show_traceback)


def _import_failure(name: str, error: BaseException, *, show_traceback: bool) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name is not None:
        if f"{name}.".startswith(f"{error.name}."):
            return _not_found(name, error.name)
        return f"the module {escape(name)} imports {escape(error.name)}, which is not found{_place(error)}"
    return f"the module {escape(name)} can't be imported: {_reason(error, show_traceback=show_traceback)}"


def _reason(error: BaseException, *, show_traceback: bool) -> str:
    """Return what was raised, where, and how to see more."""
    text = clip(escape(str(error)), _MESSAGE_LENGTH)
    reason = f"{type(error).__name__}: {text}" if text else type(error).__name__
    more = "" if show_traceback else "; --traceback shows all of it"
    return f"{reason}{_place(error)}{more}"


def _kind_of(value: object) -> str:
    name = escape(type(value).__name__)
    return f"an {name}" if name[:1].lower() in "aeiou" else f"a {name}"


def _is_annotation(value: object) -> bool:
    """Return whether an object that isn't a class may be used as a type, such as `list[int] | None`."""
    is_form = type(value).__module__ in {"typing", "typing_extensions"}
    return value is None or is_form or isinstance(value, (GenericAlias, UnionType))


def _not_found(name: str, missing: str) -> str:
    parent, dot, last = missing.rpartition(".")
    paths = getattr(sys.modules.get(parent), "__path__", ()) if parent else None
    known = [module.name for module in pkgutil.iter_modules(paths)]
    near = nearest(last, known if parent else [name for name in known if name not in sys.stdlib_module_names])
    meant = f"{parent}{dot}{near}{name[len(missing) :]}"
    hint = "" if near is None or meant == name else f"; did you mean {escape(meant)}?"
    if missing != name:
        return f"no module {escape(name)}: there is no {escape(missing)}{hint}"
    where = "" if parent else " in this folder or on the path"
    return f"no module {escape(name)}{where}{hint}"


def _place(error: BaseException) -> str:
    """Return where the user's own code raised an exception: ` (tools.py, line 3)`, or nothing."""
    if isinstance(error, SyntaxError):
        return ""  # its message says where
    ours = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120  # only text is compared
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = frame.filename
        if file != importlib.__file__ and not file.startswith(("<frozen ", ours + os.sep)):
            here = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118  # only text is compared
            return f" ({escape(file.removeprefix(here))}, line {frame.lineno})"
    return ""


def codec_of_name(target: ObjectName, unknown_fields: UnknownFields, *, show_traceback: bool) -> Codec[Any]:
    """Import a type, or a tool, and return the codec of its values.

    Args:
        target: where the type is.
        unknown_fields: as for `Codec`; a tool keeps its own unless they are rejected.
        show_traceback: as for `load_module`.

    Returns:
        Its codec; that of the input for a tool.

    Raises:
        SchemaError: with every complaint about the type.
        WrongUse: there is no such module, or no such type in it.
    """
    module = load_module(target.module, show_traceback=show_traceback)
    annotation = _find(module, target.path, is_type=True)
    if isinstance(annotation, Tool):
        tool = cast("Tool[..., Any]", annotation)
        return (tool.with_(unknown_fields=unknown_fields) if unknown_fields == "reject" else tool).codec
    is_class = isinstance(annotation, type)
    if not is_class and not _is_annotation(annotation):
        # Without the value: it may be a secret.
        message = f"{escape(target.path)} is {_kind_of(annotation)}, not a type or a tool"
        raise WrongUse(message)
    name = None if is_class else target.path
    try:
        return Codec(annotation, name=name, unknown_fields=unknown_fields)
    except SchemaError as error:
        if is_class or all(complaint.code != "unresolved" for complaint in error.complaints):
            raise
    # Text inside an alias does not know its module. This comes second because the names given here
    # win over those of the modules that other classes of the alias were written in.
    return Codec(annotation, name=name, unknown_fields=unknown_fields, namespace=vars(module))


def find_tools(target: ObjectName, *, show_traceback: bool) -> tuple[list[Tool[..., Any]], Registry | None]:
    """Import the tools of a module, of a registry or of a toolset.

    Args:
        target: a module or package, or a registry or toolset in it. The modules below a package are read too.
        show_traceback: as for `load_module`.

    Returns:
        The tools, and the registry where one was named.

    Raises:
        WrongUse: there is no such module, or no registry of that name in it.
    """
    offered = find_offered(target, show_traceback=show_traceback)
    registry = _registry_of(offered)
    return list(offered), registry


def find_offered(
    target: ObjectName, *, show_traceback: bool
) -> Registry | Toolset[Any] | list[Tool[..., Any]]:
    """Import the tools of a module, or a registry or toolset.

    Args:
        target: as for `find_tools`.
        show_traceback: as for `load_module`.

    Returns:
        The registry or toolset itself; or the tools of a module and of those below it.

    Raises:
        WrongUse: there is no such module, or no registry of that name in it.
    """
    if not target.path:
        names = list(modules_of(target.module, show_traceback=show_traceback))
        modules = [load_module(name, show_traceback=show_traceback) for name in names]
        tools = {id(tool): tool for module in modules for tool in tools_in(module)}
        return list(tools.values())
    module = load_module(target.module, show_traceback=show_traceback)
    found: Any = _find(module, target.path)
    if not isinstance(found, (Registry, Toolset)):
        message = f"{escape(target.path)} is {_kind_of(found)}, not a Registry or a Toolset"
        raise WrongUse(message)
    return found  # pyright: ignore[reportUnknownVariableType]  # of whatever inputs


def find_tool(target: ObjectName, *, show_traceback: bool) -> Tool[..., Any]:
    """Import a tool.

    Args:
        target: where it is, by its name in the module, by the name of the tool, or by its name in a
            registry of the module.
        show_traceback: as for `load_module`.

    Returns:
        The tool.

    Raises:
        WrongUse: there is no such module, or no such tool in it.
    """
    module = load_module(target.module, show_traceback=show_traceback)
    known = {tool.name: tool for tool in tools_in(module)}
    if target.path in known and not hasattr(module, target.path):
        return known[target.path]
    if "." not in target.path and not hasattr(module, target.path):
        near = nearest(target.path, known)
        there = f"; its tools are {listed(list(known))}" if known else ""
        hint = f"; did you mean {near}?" if near else there
        message = f"the module {escape(module.__name__)} has no {escape(target.path)}{hint}"
        raise WrongUse(message)
    found = _find(module, target.path)
    if not isinstance(found, Tool):
        message = f"{escape(target.path)} isn't a tool; decorate it with @tool or @tool_input"
        raise WrongUse(message)
    return cast("Tool[..., Any]", found)


def find_context(target: ObjectName, *, show_traceback: bool) -> Mapping[Any, Any]:
    """Import a context: a mapping, or a function that returns one.

    Args:
        target: where it is.
        show_traceback: as for `load_module`.

    Returns:
        The mapping.

    Raises:
        WrongUse: there is no such name, or no mapping comes of it.
    """
    module = load_module(target.module, show_traceback=show_traceback)
    found = _find(module, target.path)
    if not callable(found):
        context, verb = found, "is"
    else:
        try:
            context, verb = found(), "returns"
        except (Exception, SystemExit) as error:  # noqa: BLE001  # the program's own code
            if show_traceback:
                traceback.print_exception(error)
            message = f"{escape(target.path)}() failed: {_reason(error, show_traceback=show_traceback)}"
            raise WrongUse(message) from None
    if not isinstance(context, Mapping):
        message = f"{escape(target.path)} {verb} {_kind_of(context)}, not a mapping such as {{Db: db}}"
        raise WrongUse(message)
    return context  # pyright: ignore[reportUnknownVariableType]  # of any keys and values


def _find(module: ModuleType, path: str, *, is_type: bool = False) -> Any:
    found: Any = module
    place = f"the module {escape(module.__name__)}"
    for step in path.split("."):
        try:
            registry = _registry_of(found)
            found = getattr(found, step) if registry is None else registry.get(step)
        except (AttributeError, ToolNotFoundError):
            hint = _offer(found, step) or (_list_dataclasses(module) if is_type and found is module else "")
            message = f"{place} has no {escape(step)}{hint}"
            raise WrongUse(message) from None
        place = escape(step) if place.startswith("the module ") else f"{place}.{escape(step)}"
    return found


def _registry_of(found: object) -> Registry | None:
    """Return a registry as it is, a toolset as a registry, and None for anything else."""
    if isinstance(found, Toolset):
        return Registry(found)  # pyright: ignore[reportUnknownArgumentType]  # of whatever inputs
    return found if isinstance(found, Registry) else None


def _offer(owner: object, name: str) -> str:
    registry = _registry_of(owner)
    names = dir(owner) if registry is None else [tool.name for tool in registry]
    near = nearest(name, [other for other in names if not other.startswith("_")])
    return "" if near is None else f"; did you mean {escape(near)}?"


def _list_dataclasses(module: ModuleType) -> str:
    known = [escape(cls.__qualname__) for cls in dataclasses_of(module)]
    return f"; its dataclasses are {listed(known)}" if known else ""


def dataclasses_of(module: ModuleType) -> list[type]:
    """Return the dataclasses that a module defines, nested ones included, in their order."""
    return [cls for cls in _classes(module, module.__name__, set()) if is_dataclass(cls)]


def _classes(owner: object, module: str, seen: set[int]) -> Iterator[type]:
    for value in list(vars(owner).values()):
        if isinstance(value, type) and value.__module__ == module and id(value) not in seen:
            seen.add(id(value))
            yield value
            yield from _classes(value, module, seen)
