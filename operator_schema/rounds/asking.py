"""What the answer of a person about one call means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..wording import received
from .decisions import Complete, Defer, Reject, RunNormally
from .decoding import call_with_input
from .pipeline import CONFIRM, decided, with_own_input
from .tool_call import DeferredCall, ToolCall

if TYPE_CHECKING:
    from ..tools.calls import RawCall, ToolResult
    from ..tools.execution.rounds import Asking
    from ..tools.tool import Tool
    from .tool_call import State

__all__ = ["WHO", "ask_about", "ask_about_one"]

WHO = "confirm"
"""What an error calls the function that asks, by the option that it was given as."""


async def ask_about(call: ToolCall[Any], asking: Asking) -> State:
    """Ask about a call, and return its new state.

    Args:
        call: that nobody has agreed to.
        asking: returns True, False, the text of a refusal, or a decision; None if nobody decided.

    Raises:
        DecodeError: an input doesn't fit the types of the tool.
        TypeError: the answer is something else.
        ValueError: the input was edited in place, and isn't what the answer says.
        Exception: what asking raises.
    """
    shown = with_own_input(call)
    state = decided(call, shown, _decision(await asking(shown)))
    if type(state) is ToolCall:
        return state.replace(approved=True)
    return state


async def ask_about_one(
    raw: RawCall, tool: Tool[..., Any], given: Any, asking: Asking
) -> ToolCall[Any] | ToolResult | None:
    """Ask about a call that belongs to no round.

    Args:
        raw: as the model sent it.
        tool: that it calls.
        given: its input.
        asking: as for `ask_about`.

    Returns:
        The call with the input to run, the result of one that isn't run, or None if nobody decided.

    Raises:
        DecodeError: the arguments aren't JSON.
        Exception: as for `ask_about`.
    """
    state = await ask_about(call_with_input(0, raw, tool, given), asking)
    if type(state) is ToolCall:
        return state
    return None if isinstance(state, DeferredCall) else state.result  # type: ignore[union-attr]  # it was handled or rejected


def _decision(answer: Any) -> Any:
    """Return the decision that an answer stands for.

    Raises:
        TypeError: it stands for none.
    """
    match answer:
        case True:
            return RunNormally(approved=True)
        case False:
            return Reject("a person declined it")
        case None:
            return Defer(CONFIRM)
        case str():
            return Reject(answer)
        case RunNormally() | Complete() | Reject() | Defer():
            return answer
        case _:
            message = f"confirm returns True, False, a text, a decision or None, not {received(answer)}"
            raise TypeError(message)
