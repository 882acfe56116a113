"""How does the schema that a framework sends for a tool differ from the tool's own?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ..findings import Finding
from ..json_values import is_array, is_object, to_json_text
from ..lazy import answer_misnamed
from ..message_text import excerpt, one_line, received
from .keywords import KEYWORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    class _Tool(Protocol):
        """The part of a tool that is needed here: the schema of its arguments."""

        def input_schema(self, *, inline: bool = ...) -> dict[str, Any]: ...


__all__ = ["schema_changes"]

answer_misnamed(__name__)

_SHOWN = 60
_MOST = 200
_MOST_LEVELS = 100


def schema_changes(tool: _Tool, sent: Mapping[str, Any], /) -> list[Finding]:
    """Compare the schema that a framework sends for a tool with the schema of the tool.

    Read `sent` from the framework's own tool, or from a request that you recorded.

    Args:
        tool: made by `tool` or `tool_input`.
        sent: the schema of its arguments, as JSON values. Inlined references don't count as a change.

    Returns:
        The changes in the order of our schema, at most 200; none if the model gets the tool's own schema.
        Their codes are `removed`, `added` and `changed`; `expected` shows the part of our schema, `received`
        the part of theirs. In a path, `*` stands for the items of an array, and a number for a member of a
        union.

    Raises:
        TypeError: an argument has the wrong type.
    """
    if not callable(getattr(tool, "input_schema", None)):
        message = f"schema_changes takes a tool made by @tool or @tool_input, not {received(tool)}"
        raise TypeError(message)
    if not is_object(sent):
        message = f"sent must be a JSON Schema as a dict, not {received(sent)}"
        raise TypeError(message)
    ours = tool.input_schema(inline="$defs" not in sent)
    found: list[Finding] = []
    for change in _compare((), ours, sent, 0):
        found.append(change)
        if len(found) == _MOST:
            break
    return found


def _compare(
    path: tuple[str, ...], ours: Mapping[str, Any], theirs: Mapping[str, Any], level: int
) -> Iterator[Finding]:
    if level > _MOST_LEVELS:
        return
    for keyword, value in ours.items():
        if keyword not in theirs:
            yield _make_finding(path, keyword, "removed", ours=value)
            continue
        other: Any = theirs[keyword]
        holds = KEYWORDS[keyword].holds if keyword in KEYWORDS else "value"
        if holds == "named" and is_object(value) and is_object(other):
            yield from _compare_named(path, keyword, value, other, level)
        elif (
            holds in {"schemas", "either"}
            and is_array(value)
            and is_array(other)
            and len(other) == len(value)
        ):
            for place, (one, another) in enumerate(zip(value, other, strict=True)):
                yield from _compare_inner((*path, str(place)), keyword, one, another, level)
        elif holds in {"schema", "either"}:
            yield from _compare_inner((*path, "*"), keyword, value, other, level)
        elif _differ(value, other):
            yield _make_finding(path, keyword, "changed", ours=value, theirs=other)
    for keyword in theirs:
        if keyword not in ours:
            yield _make_finding(path, keyword, "added", theirs=theirs[keyword])


def _compare_named(
    path: tuple[str, ...], keyword: str, ours: Mapping[str, Any], theirs: Mapping[str, Any], level: int
) -> Iterator[Finding]:
    for name, schema in ours.items():
        if name in theirs:
            yield from _compare_inner((*path, name), keyword, schema, theirs[name], level)
        else:
            yield _make_finding((*path, name), keyword, "removed", ours=schema)
    for name in theirs:
        if name not in ours:
            yield _make_finding((*path, name), keyword, "added", theirs=theirs[name])


def _compare_inner(
    path: tuple[str, ...], keyword: str, ours: Any, theirs: Any, level: int
) -> Iterator[Finding]:
    if is_object(ours) and is_object(theirs):
        yield from _compare(path, ours, theirs, level + 1)
    elif _differ(ours, theirs):
        yield _make_finding(path, keyword, "changed", ours=ours, theirs=theirs)


_ABSENT: Any = object()


def _make_finding(
    path: tuple[str, ...], keyword: str, code: str, *, ours: Any = _ABSENT, theirs: Any = _ABSENT
) -> Finding:
    """Make a finding about one difference; a side that lacks the keyword is left empty."""
    before = None if ours is _ABSENT else excerpt(ours)
    after = None if theirs is _ABSENT else excerpt(theirs)
    what = " → ".join([text for text in (before, after) if text is not None])
    message = f"{code} {one_line(keyword, _SHOWN)} {what}"
    return Finding(path, code, message, before, after, severity="note", keyword=keyword)


def _differ(ours: Any, theirs: Any) -> bool:
    try:
        return to_json_text(ours) != to_json_text(theirs)
    except RecursionError:
        return True  # our own schema never nests that deep
