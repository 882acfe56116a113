"""Tools in modules, in objects, and in the entry points of installed distributions."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from ..wording import clip, escape, listed, quote
from .tool import Tool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["methods_of", "offered_by_distributions", "own_tools_of", "tools_in"]

_SHOWN_NAMES = 5


def tools_in(module: ModuleType | str) -> list[Tool[..., Any]]:
    """List the tools of a module, in the order in which it defines them.

    Args:
        module: a module, or its name, by which it is imported.

    Returns:
        Those that `__all__` names; without `__all__`, those under a name without a leading
        underscore that are not merely imported from the module that made them.
    """
    if isinstance(module, str):
        module = import_module(module)
    content = vars(module)
    public = content.get("__all__")
    if public is None:
        found = [value for name, value in content.items() if not name.startswith("_")]
    else:
        found = [getattr(module, name) for name in public if not _is_submodule(module, name)]
    tools: list[Tool[..., Any]] = [value for value in found if isinstance(value, Tool)]
    if public is None:
        # What is merely imported is left to the module that made it.
        tools = [tool for tool in tools if not _is_imported(tool, module)]
    return list({id(tool): tool for tool in tools}.values())


def own_tools_of(module: ModuleType | str) -> list[Tool[..., Any]]:
    """List the tools of a module, as `tools_in` does, for a registry that would be empty without them.

    Raises:
        ValueError: it is a package without tools and without `__all__`, whose submodules may have some.
    """
    if isinstance(module, str):
        module = import_module(module)
    tools = tools_in(module)
    if not tools and hasattr(module, "__path__") and not hasattr(module, "__all__"):
        _refuse_package(module, module.__path__)
    return tools


def _is_submodule(module: ModuleType, name: str) -> bool:
    """Return whether a package names a submodule that isn't imported yet, as `xml` does in its `__all__`."""
    if name in vars(module) or not hasattr(module, "__path__"):
        return False
    from importlib.util import find_spec

    return find_spec(f"{module.__name__}.{name}") is not None


def _refuse_package(module: ModuleType, path: Iterable[str]) -> None:
    from pkgutil import iter_modules

    names = [f"{module.__name__}.{found.name}" for found in iter_modules(path)]
    if names:
        one = quote(names[0])
        message = (
            f"the package {module.__name__} itself has no tools, and its submodules aren't looked at:"
            f" {listed(names, _SHOWN_NAMES)}. Give one, Registry.from_module({one}), and merge the others,"
            f" or import their tools in the package and name them in __all__"
        )
        raise ValueError(message)


def _is_imported(found: Tool[..., Any], module: ModuleType) -> bool:
    """Return whether another module made a tool and has it under a name of its own."""
    home = found.home
    if home == module.__name__ or home not in sys.modules:
        return False
    # What the function of another module made for this one is in this one alone.
    return any(value is found for value in [*vars(sys.modules[home]).values()])


def methods_of(instance: object) -> list[Tool[..., Any]]:
    """List the tools among the methods of an object, bound to it; methods of the bases come first.

    Only classes are looked at, so that no code of the object runs. An attribute of the instance that has
    the name of a method counts instead of it.

    Raises:
        TypeError: it is a class or a module.
    """
    _refuse_place(instance)
    owner = type(instance)
    own: Mapping[str, Any] = getattr(instance, "__dict__", {})
    # A class that defines a method anew does not change its place in the order.
    found = {name: value for cls in reversed(owner.__mro__) for name, value in vars(cls).items()}
    tools: dict[int, Tool[..., Any]] = {}
    for name, value in found.items():
        inside = _tool_inside(value)
        if inside is None or name.startswith("_"):
            continue
        tool = own[name] if name in own else _bound(value, instance, owner)
        if isinstance(tool, Tool):
            tools.setdefault(id(inside), cast("Tool[..., Any]", tool))
    return list(tools.values())


def _tool_inside(attribute: Any) -> Tool[..., Any] | None:
    """Return the tool that an attribute of a class is, or that a class or static method is made of."""
    inside: Any = attribute.__func__ if type(attribute) in _WRAPPERS else attribute
    return cast("Tool[..., Any]", inside) if isinstance(inside, Tool) else None


_WRAPPERS = frozenset({classmethod, staticmethod})


def _bound(attribute: Any, instance: Any, owner: type[Any]) -> Any:
    tool = _tool_inside(attribute)
    if tool is None or type(attribute) is staticmethod:
        return tool
    # Until Python 3.12 a class method binds what it is made of itself, later it is a method around it.
    return tool.__get__(owner if type(attribute) is classmethod else instance, owner)


def _refuse_place(instance: Any) -> None:
    if isinstance(instance, ModuleType):
        message = f"{instance.__name__} is a module: write Registry.from_module({instance.__name__})"
        raise TypeError(message)
    if isinstance(instance, type):
        name = clip(escape(instance.__name__), 100)
        message = (
            f"{name} is a class, and its methods need an instance: write Registry.from_object({name}(…))"
        )
        raise TypeError(message)


def offered_by_distributions(group: str) -> Iterator[tuple[str, Any]]:
    """Load what installed distributions offer, by distribution and name.

    Args:
        group: of entry points.

    Yields:
        Where it is written, such as `web of acme-tools`, and what it leads to: a tool, a module, a
        registry, or any other iterable of tools. An exception that loading raises says where.
    """
    from importlib.metadata import entry_points

    points = [("" if point.dist is None else point.dist.name, point) for point in entry_points(group=group)]
    for owner, point in sorted(points, key=lambda entry: (entry[0], entry[1].name, entry[1].value)):
        place = f"{point.name} of {owner}" if owner else point.name
        try:
            found: Any = point.load()
            if isinstance(found, Tool):
                found = (found,)
            elif isinstance(found, ModuleType):
                found = own_tools_of(found)
        except Exception as error:  # it is raised again, with its place
            error.add_note(f"while loading the entry point {place}, group {group}")
            raise
        yield place, found
