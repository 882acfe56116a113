"""What a framework made of the schema of a tool: the one that it sends, compared with ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

from ..immutable import Value
from ..json_values import is_array, is_object, to_json_text
from ..wording import clip, escape, received
from .keywords import KEYWORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    class _Tool(Protocol):
        """What has a schema of its arguments: a tool."""

        def input_schema(self, *, inline: bool = ...) -> dict[str, Any]: ...


__all__ = ["SchemaChange", "schema_changes"]

_SHOWN = 60
_MOST = 200
_MOST_LEVELS = 100


class SchemaChange(Value):
    """One thing in which a schema that a framework sends differs from ours.

    Attributes:
        path: names of properties that lead to it; `*` stands for the items of an array, a number for a member
            of a union.
        keyword: that it is about.
        kind: `removed`, `added` or `changed`.
        ours: what our schema says; None where it is added.
        theirs: what the framework's schema says; None where it is removed.
    """

    path: tuple[str, ...]
    keyword: str
    kind: Literal["removed", "added", "changed"]
    ours: Any
    theirs: Any

    __hash__ = None  # type: ignore[assignment]  # schemas are in it

    def __str__(self) -> str:
        """Write it on one line."""
        place = escape(".".join(self.path)) if self.path else "the arguments"
        shown = {"removed": _short(self.ours), "added": _short(self.theirs)}
        what = shown.get(self.kind, f"{_short(self.ours)} → {_short(self.theirs)}")
        return f"{place}: {self.kind} {escape(self.keyword)} {what}"


def schema_changes(tool: _Tool, sent: Mapping[str, Any], /) -> list[SchemaChange]:
    """Compare the schema that a framework sends for a tool with that of the tool.

    Read `sent` from the framework's own tool, or from a request that you recorded.

    Args:
        tool: one of ours.
        sent: the schema of its arguments, as JSON values. References that are written out aren't a change.

    Returns:
        The changes in the order of our schema, at most 200; none if the model reads what we wrote.

    Raises:
        TypeError: an argument is of another kind.
    """
    if not callable(getattr(tool, "input_schema", None)):
        message = f"schema_changes takes a tool made by @tool or @tool_input, not {received(tool)}"
        raise TypeError(message)
    if not is_object(sent):
        message = f"sent is a JSON Schema as a dict, not {received(sent)}"
        raise TypeError(message)
    ours = tool.input_schema(inline="$defs" not in sent)
    found: list[SchemaChange] = []
    for change in _changes((), ours, sent, 0):
        found.append(change)
        if len(found) == _MOST:
            break
    return found


def _changes(
    path: tuple[str, ...], ours: Mapping[str, Any], theirs: Mapping[str, Any], level: int
) -> Iterator[SchemaChange]:
    if level > _MOST_LEVELS:
        return
    for keyword, value in ours.items():
        if keyword not in theirs:
            yield SchemaChange(path, keyword, "removed", value, None)
            continue
        other: Any = theirs[keyword]
        holds = KEYWORDS[keyword].holds if keyword in KEYWORDS else "value"
        if holds == "named" and is_object(value) and is_object(other):
            yield from _named(path, keyword, value, other, level)
        elif (
            holds in {"schemas", "either"}
            and is_array(value)
            and is_array(other)
            and len(other) == len(value)
        ):
            for place, (one, another) in enumerate(zip(value, other, strict=True)):
                yield from _inner((*path, str(place)), keyword, one, another, level)
        elif holds in {"schema", "either"}:
            yield from _inner((*path, "*"), keyword, value, other, level)
        elif to_json_text(value) != to_json_text(other):
            yield SchemaChange(path, keyword, "changed", value, other)
    for keyword in theirs:
        if keyword not in ours:
            yield SchemaChange(path, keyword, "added", None, theirs[keyword])


def _named(
    path: tuple[str, ...], keyword: str, ours: Mapping[str, Any], theirs: Mapping[str, Any], level: int
) -> Iterator[SchemaChange]:
    for name, schema in ours.items():
        if name in theirs:
            yield from _inner((*path, name), keyword, schema, theirs[name], level)
        else:
            yield SchemaChange((*path, name), keyword, "removed", schema, None)
    for name in theirs:
        if name not in ours:
            yield SchemaChange((*path, name), keyword, "added", None, theirs[name])


def _inner(path: tuple[str, ...], keyword: str, ours: Any, theirs: Any, level: int) -> Iterator[SchemaChange]:
    if is_object(ours) and is_object(theirs):
        yield from _changes(path, ours, theirs, level + 1)
    elif to_json_text(ours) != to_json_text(theirs):
        yield SchemaChange(path, keyword, "changed", ours, theirs)


def _short(value: Any) -> str:
    return clip(to_json_text(value), _SHOWN)
