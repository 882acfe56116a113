"""Tools that are found: in a module, and in what other distributions offer."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .tool import Tool

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["GROUP", "offered_by_distributions", "tools_in"]

GROUP = "operator_schema.tools"
"""The group of entry points in which a distribution names its tools."""


def tools_in(module: ModuleType | str) -> list[Tool[..., Any]]:
    """List the tools of a module, in the order in which it defines them.

    Args:
        module: a module, or its name, by which it is imported.

    Returns:
        Those that `__all__` names; without `__all__`, those that the module itself defines under a
        name without a leading underscore.
    """
    if isinstance(module, str):
        module = import_module(module)
    content = vars(module)
    public = content.get("__all__")
    if public is None:
        # What is merely imported is left to the module that defines it.
        found = [
            value for name, value in content.items() if not name.startswith("_") and _is_of(value, module)
        ]
    else:
        found = [getattr(module, name) for name in public]
    tools: list[Tool[..., Any]] = [value for value in found if isinstance(value, Tool)]
    return list({id(tool): tool for tool in tools}.values())


def _is_of(value: Any, module: ModuleType) -> bool:
    return getattr(value, "__module__", None) == module.__name__


def offered_by_distributions(group: str) -> Iterator[tuple[str, Any]]:
    """Load what installed distributions offer, by distribution and name.

    Args:
        group: of entry points.

    Yields:
        Where it is written, such as `web of acme-tools`, and what it leads to: a tool, a module, a
        registry, or any other iterable of tools. An exception that loading raises says where.
    """
    from importlib.metadata import entry_points  # noqa: PLC0415  # takes longer than the whole package

    points = [("" if point.dist is None else point.dist.name, point) for point in entry_points(group=group)]
    for owner, point in sorted(points, key=lambda entry: (entry[0], entry[1].name, entry[1].value)):
        place = f"{point.name} of {owner}" if owner else point.name
        try:
            found: Any = point.load()
            if isinstance(found, Tool):
                found = (found,)
            elif isinstance(found, ModuleType):
                found = tools_in(found)
        except Exception as error:
            error.add_note(f"while loading the entry point {place}, group {group}")
            raise
        yield place, found
