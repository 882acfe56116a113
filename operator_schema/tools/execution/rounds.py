"""What an executor runs of a round: calls whose input is known already."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from ...immutable import Value
from ...wording import as_written

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping, Sequence
    from typing import TypeAlias

    from ..calls import RawCall, ToolResult

    RunAll: TypeAlias = "Callable[[Sequence[DecodedCall]], Awaitable[list[ToolResult | BaseException]]]"

__all__ = ["DecodedCall", "Executable", "check_executable", "context_of"]

Hooks_contra = TypeVar("Hooks_contra", contravariant=True)
Plan_co = TypeVar("Plan_co", covariant=True)


class DecodedCall(Value):
    """One call that is to be run, with its input.

    Attributes:
        call: as the model sent it.
        given: the input, maybe edited.
        answers: name of an injected parameter to its value; wins over the context.
    """

    call: RawCall
    given: Any
    answers: Mapping[str, Any]


class Executable(Protocol[Hooks_contra, Plan_co]):
    """What `Executor.execute_round` takes: a round, or the plan of one."""

    async def execute_with(self, run_all: RunAll, hooks: Hooks_contra | None, /) -> Plan_co:
        """Run what is to be run, and return what comes of it.

        Args:
            run_all: runs calls side by side; returns, in their order, a result for each or the exception
                of `pass_through` that it raised.
            hooks: decide about the calls; None for no hooks.
        """
        ...


def check_executable(plan: object) -> None:
    """Check what an executor is to run.

    Raises:
        TypeError: it isn't a round or a plan.
    """
    if not callable(getattr(type(plan), "execute_with", None)):
        message = f"expected a ToolRound or a ToolRoundPlan, not {as_written(plan)}"
        raise TypeError(message)


def context_of(decoded: DecodedCall, context: Mapping[Any, Any] | None) -> Mapping[Any, Any] | None:
    """Return the context of one call: that of all calls, and the answers for this one."""
    if not decoded.answers:
        return context
    if context is None:
        return decoded.answers
    if not isinstance(context, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  # the tool says so
        return context
    # Not a copy: a mapping may make its values when it is asked for them.
    return ChainMap({**decoded.answers}, cast("MutableMapping[Any, Any]", context))
