"""Switches: whether the model may call a tool now."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..immutable import Value
from ..wording import received
from .awaitables import close_awaitable, is_awaitable
from .signature import is_coroutine_function, is_generator_function, required_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Context = Mapping[Any, Any]
    Switch = bool | Callable[[], bool] | Callable[[Context], bool]
    Enabled = Switch | None  # None: something else decides

__all__ = ["HiddenSwitch", "NO_CONTEXT", "SWITCH_REMEDY", "check_switch", "is_switch", "question_of"]

NO_CONTEXT: Context = MappingProxyType({})
"""What a switch gets where there is no context."""

SWITCH_REMEDY = "Give True, False, or a function (def) that takes nothing or the context"


class HiddenSwitch(Value):
    """The switch of a tool that a toolset hides: off, except for requests that offer the tool all the same.

    Attributes:
        own: what decides for such requests; None leaves it to the tool.
    """

    own: Switch | None

    def __call__(self) -> bool:
        """Return that nobody else may call the tool."""
        return False


def is_switch(value: object) -> bool:
    """Return whether it is a boolean, or a function that can be asked without being awaited."""
    if isinstance(value, bool):
        return True
    if not callable(value) or _takes(value) is None:
        return False
    # Coroutines and generators count as true, whatever they would return.
    return not is_coroutine_function(value) and not is_generator_function(value)


def check_switch(enabled: Switch) -> Switch:
    """Return a switch, if it is one.

    Raises:
        TypeError: it isn't.
    """
    if not is_switch(enabled):
        what = received(enabled)
        if callable(enabled):
            takes_more = _takes(enabled) is None
            what = "one that takes other arguments" if takes_more else "one that is async or a generator"
        message = f"enabled is a boolean, or a function that takes nothing or the context, not {what}"
        raise TypeError(message)
    return enabled


def question_of(switch: Switch) -> bool | Callable[[Context], bool]:
    """Return a switch as a boolean, or as a function of the context."""
    if isinstance(switch, bool):
        return switch
    ask: Any = switch
    if _takes(ask):
        return lambda context: _answer(ask(context))
    return lambda context: _answer(ask())  # noqa: ARG005  # it takes none


def _takes(function: Any) -> int | None:
    """Return how many arguments a switch has to be given: 0, 1, or None where it can't be asked."""
    by_position, by_name = required_parameters(function)
    return None if by_name or by_position > 1 else by_position


def _answer(answer: object) -> bool:
    if is_awaitable(answer):
        close_awaitable(answer)
        message = "a switch returns a boolean, not something to await"
        raise TypeError(message)
    return bool(answer)
