"""Names on the command line, turned into modules and types; wrong use ends the program here."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import traceback
from contextlib import redirect_stdout
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any, NoReturn, cast

from ..codec.codec import Codec
from ..errors import SchemaError
from ..tools.discovery import tools_in
from ..tools.tool import Tool
from ..wording import clip, escape, listed, nearest
from .arguments import PROGRAM

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from ..codec.options import UnknownFields
    from .arguments import Target

__all__ = ["dataclasses_of", "find_tool", "load_module", "refuse", "register"]

_MESSAGE_LENGTH = 300
_WRONG_USE = 2


def refuse(message: str) -> NoReturn:
    """End the program because it can't be used like this.

    Args:
        message: why, safe to print.

    Raises:
        SystemExit: always, with status 2.
    """
    sys.stderr.write(f"{PROGRAM}: error: {message}\n")
    raise SystemExit(_WRONG_USE)


def load_module(name: str, *, show_traceback: bool) -> ModuleType:
    """Import a module.

    Args:
        name: of the module, with dots.
        show_traceback: whether to show the whole traceback when that fails.

    Returns:
        The module.

    Raises:
        SystemExit: with status 2, when it is not found or raises while it is imported.
    """
    try:
        # Standard output is for schemas and values: what a module prints at import is neither.
        with redirect_stdout(sys.stderr):
            return importlib.import_module(name)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # importing a module can raise anything
        if show_traceback:
            traceback.print_exception(error)
        refuse(_import_failure(name, error, show_traceback=show_traceback))


def _import_failure(name: str, error: BaseException, *, show_traceback: bool) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name is not None:
        if f"{name}.".startswith(f"{error.name}."):
            return _not_found(name, error.name)
        return f"the module {escape(name)} imports {escape(error.name)}, which is not found{_place(error)}"
    text = clip(escape(str(error)), _MESSAGE_LENGTH)
    reason = f"{type(error).__name__}: {text}" if text else type(error).__name__
    more = "" if show_traceback else "; --traceback shows all of it"
    return f"the module {escape(name)} can't be imported: {reason}{_place(error)}{more}"


def _not_found(name: str, missing: str) -> str:
    parent, dot, last = missing.rpartition(".")
    paths = getattr(sys.modules.get(parent), "__path__", ()) if parent else None
    near = nearest(last, [module.name for module in pkgutil.iter_modules(paths)])
    meant = f"{parent}{dot}{near}{name[len(missing) :]}"
    hint = "" if near is None or meant == name else f"; did you mean {escape(meant)}?"
    what = escape(name) if missing == name else f"{escape(name)}: there is no {escape(missing)}"
    return f"no module {what}{hint}"


def _place(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return ""  # its message says where
    machinery = (__file__, importlib.__file__)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename not in machinery and not frame.filename.startswith("<frozen "):
            return f" ({escape(_from_here(frame.filename))}, line {frame.lineno})"
    return ""


def _from_here(file: str) -> str:
    here = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118  # only text is wanted
    return file.removeprefix(here)


def register(target: Target, unknown_fields: UnknownFields, *, show_traceback: bool) -> Codec[Any]:
    """Import a type and register it.

    Args:
        target: where the type is.
        unknown_fields: as for `Codec`.
        show_traceback: as for `load_module`.

    Returns:
        Its codec.

    Raises:
        SchemaError: with every complaint about the type.
        SystemExit: with status 2, when there is no such module, or no such type in it.
    """
    module = load_module(target.module, show_traceback=show_traceback)
    annotation = _find(module, target.path)
    is_class = isinstance(annotation, type)
    name = None if is_class else target.path
    try:
        return Codec(annotation, name=name, unknown_fields=unknown_fields)
    except SchemaError as error:
        if is_class or all(complaint.code != "unresolved" for complaint in error.complaints):
            raise
    # Text inside an alias does not know its module. This comes second because the names given here
    # win over those of the modules that other classes of the alias were written in.
    return Codec(annotation, name=name, unknown_fields=unknown_fields, namespace=vars(module))


def find_tool(target: Target, *, show_traceback: bool) -> Tool[..., Any]:
    """Import a tool.

    Args:
        target: where it is, by its name in the module or by the name of the tool.
        show_traceback: as for `load_module`.

    Returns:
        The tool.

    Raises:
        SystemExit: with status 2, when there is no such module, or no such tool in it.
    """
    module = load_module(target.module, show_traceback=show_traceback)
    known = {tool.name: tool for tool in tools_in(module)}
    if target.path in known and not hasattr(module, target.path):
        return known[target.path]
    if "." not in target.path and not hasattr(module, target.path):
        near = nearest(target.path, known)
        there = f"; its tools are {listed(list(known))}" if known else ""
        hint = f"; did you mean {near}?" if near else there
        refuse(f"the module {escape(module.__name__)} has no {escape(target.path)}{hint}")
    found = _find(module, target.path)
    if not isinstance(found, Tool):
        refuse(f"{escape(target.path)} is no tool; decorate it with @tool or @tool_input")
    return cast("Tool[..., Any]", found)


def _find(module: ModuleType, path: str) -> Any:
    found: Any = module
    place = f"the module {escape(module.__name__)}"
    for step in path.split("."):
        try:
            found = getattr(found, step)
        except AttributeError:
            refuse(f"{place} has no {escape(step)}{_offer(module, found, step)}")
        place = escape(step) if place.startswith("the module ") else f"{place}.{escape(step)}"
    return found


def _offer(module: ModuleType, owner: object, name: str) -> str:
    near = nearest(name, [other for other in dir(owner) if not other.startswith("_")])
    if near is not None:
        return f"; did you mean {escape(near)}?"
    known = [escape(cls.__qualname__) for cls in dataclasses_of(module)] if owner is module else []
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
