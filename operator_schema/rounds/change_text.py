"""The line that tells the model which arguments of its call hooks or people changed."""

from __future__ import annotations

from dataclasses import MISSING
from types import NoneType
from typing import TYPE_CHECKING, Any

from ..json_values import is_array, is_object, to_json_text
from ..message_text import excerpt, listed, one_line, show_path
from ..tools.calls import own_parts
from ..tools.content import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..tools.calls import ToolResult
    from ..tools.changes import ChangedArguments
    from ..tools.tool import Tool

_NOT_RUN = frozenset(
    {"cut_off", "disabled", "needs_approval", "needs_input", "not_available", "rejected", "tool_not_found"}
)
"""The codes of results whose call didn't run."""

_MOST_NAMES = 5
_NAME_LENGTH = 60
_VALUE_LENGTH = 60


def with_change(
    result: ToolResult, tool: Tool[..., Any], changed: ChangedArguments, *, has_run: bool
) -> ToolResult:
    """Return the result of a call with a note on its changed arguments; unchanged if nobody changed any."""
    if result.changed is not None or result.code in _NOT_RUN:
        return result
    text, parts = change_text(changed, tool, has_run=has_run), own_parts(result)
    return result.replace(
        content=f"{text}\n{result.content}" if result.content else text,
        parts=(Text(text), *parts) if parts else (),
        json=result.json,
        value=result.value,
        changed=changed,
    )


def change_text(changed: ChangedArguments, tool: Tool[..., Any], *, has_run: bool) -> str:
    """Write one line for the model: who changed which arguments to what, and whether the call ran with them.

    The line has a maximum length. It doesn't show a value that the schema of the tool marks as secret
    (`writeOnly`, or the format `password`). Nor does it show a text that the program filled in, since that
    may be a key of the program.
    """
    when = "before it ran" if has_run else "in this call"
    said: dict[str, list[str]] = {}
    schema = tool.input_schema()
    for name in changed.names:
        by = _who_changed(name, changed)
        places = _write_places(name, changed, schema, hides_texts=by != "A person")
        said.setdefault(by, []).extend(places)
    return " ".join(
        [f"{who} changed {listed(places, _MOST_NAMES)} {when}." for who, places in said.items() if places]
    )


def _who_changed(name: str, changed: ChangedArguments) -> str:
    """Write who changed an argument last, or both sides if each may have changed a part of it."""
    by = ["A person" if one.by == "person" else "The program" for one in changed.changes if name in one.names]
    now = changed.arguments.get(name)
    if len({*by}) == 1 or not (is_object(now) or is_array(now)):
        return by[-1]
    return "A person and the program"


def _write_places(
    name: str, changed: ChangedArguments, schema: Mapping[str, Any], *, hides_texts: bool
) -> list[str]:
    """Write which values of an argument were changed, and to what."""
    if _is_secret(name, schema):
        return [one_line(name, _NAME_LENGTH)]
    values = (changed.before.get(name, MISSING), changed.arguments.get(name, MISSING))
    return [
        f"{one_line(show_path(path), _NAME_LENGTH)}{_write_new_value(now, hides_texts=hides_texts)}"
        for path, now in _changed_places((name,), *values)
    ]


def _write_new_value(now: Any, *, hides_texts: bool) -> str:
    if now is MISSING:
        return " to nothing"
    is_hidden = hides_texts and not isinstance(now, (bool, int, float, NoneType))
    return "" if is_hidden else f" to {excerpt(now, _VALUE_LENGTH)}"


def _changed_places(
    path: tuple[str | int, ...], before: Any, now: Any
) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield the paths at which two values differ, each with the new value."""
    inside = _paired_parts(before, now)
    if inside is None:
        if before is MISSING or now is MISSING or to_json_text(before) != to_json_text(now):
            yield path, now
        return
    for key, one, other in inside:
        yield from _changed_places((*path, key), one, other)


def _paired_parts(before: Any, now: Any) -> Sequence[tuple[str | int, Any, Any]] | None:
    """Return the values of two containers by key or index; None if they aren't of the same kind."""
    if is_object(before) and is_object(now):
        return [(key, before.get(key, MISSING), now.get(key, MISSING)) for key in {**before, **now}]
    if is_array(before) and is_array(now) and len(before) == len(now):
        return [(place, *both) for place, both in enumerate(zip(before, now, strict=True))]
    return None


_SECRETS = ('"writeOnly":true', '"format":"password"')


def _is_secret(name: str, schema: Mapping[str, Any]) -> bool:
    """Return whether the schema of an argument says, at any depth, that its value must not be shown."""
    properties = schema.get("properties")
    text = to_json_text(properties.get(name)) if is_object(properties) else ""
    if '"$ref"' in text:
        text += to_json_text(schema)
    return any(mark in text for mark in _SECRETS)
