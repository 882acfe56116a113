"""What does the log say about decisions of hooks and people?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import to_json_text
from ..message_text import listed, one_line
from ..tools.logs import DEBUG, INFO, is_logged, write_log

if TYPE_CHECKING:
    from .tool_call import ToolCall

WHO = "confirm"
"""The name of the function that asks a person, in logs and errors: the name of its option."""

TEXT_LENGTH = 2000
_NAME_LENGTH = 100


def log_decision(level: int, call: ToolCall[Any], who: str, decision: str, about: object) -> None:
    """Log a decision about a call and who made it; `about` is further text, or empty."""
    if not is_logged(level):
        return
    name, call_id = one_line(call.name, _NAME_LENGTH), one_line(call.id, _NAME_LENGTH)
    if about == "":
        write_log(level, "%s (call %s): %s decided %s", name, call_id, who, decision)
    else:
        write_log(level, "%s (call %s): %s decided %s: %s", name, call_id, who, decision, about)


def log_hook(call: ToolCall[Any], hook: str, decision: Any, after: ToolCall[Any]) -> None:
    """Log the decision of a hook before a call."""
    if after.state == "pending":
        # The arguments may hold secrets, so they are logged only at the level DEBUG.
        log_decision(DEBUG, call, hook, "RunNormally", _WrittenArguments(after))
        return
    log_decision(INFO, call, hook, type(decision).__name__, one_line(after.reason or "", TEXT_LENGTH))


def log_agreement(after: ToolCall[Any], who: str, decision: str, *more: str) -> None:
    """Log who agreed to a call and which arguments were changed; at DEBUG, also log the arguments."""
    changed = after.changed
    names = "" if changed is None else f"changed {listed([one_line(name, 100) for name in changed.names], 5)}"
    log_decision(INFO, after, who, decision, joined(names, *more))
    log_decision(DEBUG, after, who, decision, _WrittenArguments(after))


def joined(*parts: str) -> str:
    """Join the parts of a log line that aren't empty."""
    return "; ".join([one_line(part, TEXT_LENGTH) for part in parts if part])


class _WrittenArguments:
    """The arguments of a call, which are written only if somebody reads the log."""

    __slots__ = ("_call",)

    def __init__(self, call: ToolCall[Any]) -> None:
        self._call = call

    def __str__(self) -> str:
        try:
            return one_line(to_json_text(self._call.arguments), TEXT_LENGTH)
        except Exception:  # noqa: BLE001  # an input that can't be written, or its own code
            return "(the input can't be written as JSON)"
