"""Which tools have the tags and state what a program asks for."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, TypedDict

from ...wording import as_written, nearest
from ..tool_annotations import FLAGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..tool import Tool

__all__ = ["Wanted", "selected"]


class Wanted(TypedDict, total=False):
    """What `Registry.select` takes."""

    tags: Collection[str]
    read_only: bool | None
    destructive: bool | None
    idempotent: bool | None
    open_world: bool | None
    confirm: bool | None


def selected(tools: Iterable[Tool[..., Any]], wanted: Mapping[str, Any]) -> list[Tool[..., Any]]:
    """List the tools that have all tags and state all of this; what isn't stated isn't False.

    Raises:
        TypeError: something is asked for that tools don't state, or not with True or False.
    """
    for name, value in wanted.items():
        _check(name, value)
    tags = frozenset(wanted.get("tags", ()))
    flags = [(name, wanted[name]) for name in FLAGS if wanted.get(name) is not None]
    return [tool for tool in tools if tags.issubset(tool.tags) and _states(tool, flags)]


def _states(tool: Tool[..., Any], flags: list[tuple[str, bool]]) -> bool:
    return all(getattr(tool.annotations, name) is value for name, value in flags)


def _check(name: str, value: Any) -> None:
    if name == "tags":
        if not _are_tags(value):
            message = f'select() takes tags=("files",), not {as_written(value)}'
            raise TypeError(message)
        return
    if name not in FLAGS:
        near = nearest(name, ["tags", *FLAGS])
        hint = f"did you mean {near}?" if near else f"it takes tags, {', '.join(FLAGS)}"
        message = f"select() got an unexpected option {name!r}; {hint}"
        raise TypeError(message)
    if value is not None and not isinstance(value, bool):
        message = f"select() takes True or False for {name}, not {as_written(value)}"
        raise TypeError(message)


def _are_tags(value: Any) -> bool:
    if not isinstance(value, Collection) or isinstance(value, (str, bytes)):
        return False
    return all(isinstance(tag, str) for tag in value)  # pyright: ignore[reportUnknownVariableType]  # of whatever items
