"""The text that a person reads before agreeing to a call."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..json_values import is_array, is_object
from ..message_text import escape, listed, show_path
from ..tools.calls import arguments_to_decode
from .deciding import noted_details
from .hook_decisions import CONFIRM

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .tool_call import ToolCall

_SHOWN = 2000
"""The most characters of arguments that a person reads, unless there are very many arguments."""

_LEAST = 60
"""The number of characters that every argument may always have."""

_MOST_INSIDE = 8
"""How many values of a long object or array are shown."""

_DEEPEST = 3
"""The longest path, in keys and indexes, of a value with a line of its own."""

_MOST_IGNORED = 8


def call_text(call: ToolCall[Any]) -> str:
    """Write which tool is to run, why a hook makes the call wait, and a line for each argument.

    The text shows the arguments that will run, with defaults and repairs. Each long argument is cut on its
    own, so that no argument hides another one or can look like something else.

    Args:
        call: a call that nobody has agreed to yet.
    """
    title = call.tool.annotations.title or call.name
    name = escape(call.name)
    head = f"Run {name}?" if title == call.name else f"Run {escape(title)} ({name})?"
    why = [] if call.reason in {None, "", CONFIRM} else [f"({escape(call.reason or '')[:_SHOWN]})"]
    return "\n".join([head, *why, *_approval_lines(call), *_argument_lines(call), *_ignored_lines(call)])


def _approval_lines(call: ToolCall[Any]) -> list[str]:
    """Write how many people have to agree and who has agreed, if one person isn't enough."""
    if call.approvals == 1:
        return []
    names = listed([escape(name) for name in call.approved_by], _MOST_IGNORED)
    so_far = f"{len(call.approved_by)} of {call.approvals} people have agreed"
    return [f"({so_far}: {names})" if names else f"({so_far})"]


def _argument_lines(call: ToolCall[Any]) -> list[str]:
    try:
        arguments: Any = call.arguments
    except Exception:  # noqa: BLE001  # what it was made of isn't kept (`InitVar`), or a class's own code
        sent = arguments_to_decode(call.raw)
        return ["(as the model sent it; defaults aren't shown)", *_write_arguments(sent)]
    return _write_arguments(arguments)


def _ignored_lines(call: ToolCall[Any]) -> list[str]:
    """Write which arguments of the model are ignored."""
    names = [str(key) for key in noted_details(call).get("ignored", ())]
    return [f"(the tool doesn't know, and ignores: {listed(names, _MOST_IGNORED)})"] if names else []


def _write_arguments(arguments: Any) -> list[str]:
    if not is_object(arguments):
        return _write_value((), arguments, _SHOWN)
    return _write_values(((key,), value) for key, value in arguments.items())


def _write_values(pairs: Iterable[tuple[tuple[str | int, ...], Any]], most: int = _SHOWN) -> list[str]:
    """Write values line by line; short values leave their space to long ones."""
    shown = list(pairs)
    room = _room_for([len(_json_line(value)) for _, value in shown], most)
    return [line for path, value in shown for line in _write_value(path, value, room)]


def _room_for(lengths: Sequence[int], most: int) -> int:
    """Return the maximum length of each value, so that all values together have the given length."""
    room = most
    for position, length in enumerate(sorted(lengths)):
        share = most // (len(lengths) - position)
        if length > share:
            return max(share, _LEAST)
        most -= length
    return room


def _write_value(path: tuple[str | int, ...], value: Any, room: int) -> list[str]:
    text = _json_line(value)
    where = f"{show_path(path)}: " if path else ""
    if len(text) <= room:
        return [f"{where}{text}"]
    inside = _parts_of(value) if len(path) < _DEEPEST else []
    if not inside:
        return [f"{where}{text[:room]}… ({len(text) - room:,} more characters are not shown)"]
    rest = len(inside) - _MOST_INSIDE
    lines = _write_values((((*path, key), one) for key, one in inside[:_MOST_INSIDE]), room)
    return lines if rest <= 0 else [*lines, f"{where}… ({rest:,} more values are not shown)"]


def _parts_of(value: Any) -> list[tuple[str | int, Any]]:
    if is_object(value):
        return list(value.items())
    return list(enumerate(value)) if is_array(value) else []


def _json_line(value: Any) -> str:
    return escape(json.dumps(value, ensure_ascii=False))
