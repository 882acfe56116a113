"""What an executor runs of a round: calls whose input is known already."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from ..immutable import Value
from .log import ERROR, write_log
from .signature import close_awaitable, is_awaitable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping, Sequence
    from typing import TypeAlias

    from .calls import RawCall, ToolResult
    from .tool import Tool

    Asking: TypeAlias = "Callable[[Any], Awaitable[Any]]"
    Settle: TypeAlias = "Callable[[int, ToolResult], Awaitable[ToolResult | None]]"
    OnResult: TypeAlias = "Callable[[RawCall, ToolResult], object]"
    Wording: TypeAlias = "Callable[[RawCall, Exception], str]"
    Limited: TypeAlias = "Callable[[Tool[..., Any], RawCall, ToolResult], ToolResult]"
    RunAll: TypeAlias = (
        "Callable[[Sequence[DecodedCall], Settle], Awaitable[list[ToolResult | BaseException]]]"
    )

__all__ = [
    "DecodedCall",
    "Executable",
    "context_of",
    "give_result",
]

Hooks_contra = TypeVar("Hooks_contra", contravariant=True)
Plan_co = TypeVar("Plan_co", covariant=True)


class DecodedCall(Value):
    """One call that is to be run, with its input.

    Attributes:
        call: as the model sent it.
        given: the input, maybe edited.
        answers: name of an injected parameter to its value; wins over the context.
        approved: whether a person has agreed to it, or need not be asked.
        tool: to which a person has agreed; None for whatever has the name.
        details: what decoding said of the arguments: repairs, and keys that it ignored.
    """

    call: RawCall
    given: Any
    answers: Mapping[str, Any]
    approved: bool = False
    tool: Tool[..., Any] | None = None
    details: Mapping[str, Any] = MappingProxyType({})


class Executable(Protocol[Hooks_contra, Plan_co]):
    """What `Executor.run` takes as a round."""

    async def execute_with(
        self,
        run_all: RunAll,
        hooks: Hooks_contra | None,
        asking: Asking | None,
        wording: Wording | None,
        limited: Limited | None,
        /,
    ) -> Plan_co:
        """Run the pending calls, and return the round with their results.

        Args:
            run_all: runs calls side by side; gives each result with the position of its call to an async
                function as it comes, also if it is cancelled later, which returns the result that counts, or
                None to run the call again; returns, in their order, a result for each or the exception of
                `pass_through` that it raised.
            hooks: decide about the calls; None for no hooks.
            asking: asks about calls of tools with `confirm=True`; None to defer them.
            wording: writes what the model reads of arguments that could not be decoded; None to leave it.
            limited: cuts results that a hook or a person gave; None to leave them.
        """
        ...


def give_result(on_result: OnResult | None, call: RawCall, result: ToolResult) -> None:
    """Give a result to your program as it comes; what its function raises is logged."""
    if on_result is None:
        return
    try:
        returned: Any = on_result(call, result)
    except Exception as error:  # noqa: BLE001  # your program's own code
        write_log(ERROR, "%s: the function given as on_result failed", call.name, error=error)
        return
    if is_awaitable(returned):
        close_awaitable(returned)
        write_log(ERROR, "%s: on_result is a plain function, but returned something to await", call.name)


def context_of(decoded: DecodedCall, context: Mapping[Any, Any] | None) -> Mapping[Any, Any] | None:
    """Return the context of one call: the common context, and the answers for this call."""
    if not decoded.answers:
        return context
    if context is None:
        return decoded.answers
    if not isinstance(context, Mapping):  # the tool says so
        return context
    # Not a copy: a mapping may make its values when it is asked for them.
    return ChainMap({**decoded.answers}, cast("MutableMapping[Any, Any]", context))
