"""What hooks see that are around a call, or around a round, while an executor runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..tools.failures import ERROR, Passed, write_log

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from ..rounds.hooks import ForTools, Hook
    from ..tools.tool import Tool

__all__ = ["Execution", "around"]


class Execution:
    """A call, or a round, that an executor runs; for `hook.around`.

    Attributes:
        work: the `RawCall` as the model sent it, or the `Round` before it runs.
        outcome: what came of it: the `ToolResult`, the `Round` afterwards, or the exception that is raised.
            None as long as it runs.
    """

    __slots__ = ("_run", "outcome", "work")

    def __init__(self, work: Any) -> None:
        self.work = work
        self.outcome: Any = None
        self._run: Any = None

    def follow(self, run: Any) -> None:
        """Take what is known of the call from its `Run`; for executors."""
        self._run = run

    @property
    def tool(self) -> Tool[..., Any] | None:
        """The tool of a call; None before it is found, if there is none, and for a round."""
        return getattr(self._run, "tool", None)

    @property
    def details(self) -> Mapping[str, Any]:
        """What decoding said of the arguments of a call: `repairs`, and keys that it `ignored`."""
        found: Mapping[str, Any] = {} if self._run is None else self._run.details
        return found

    @property
    def deferred_at(self) -> float | None:
        """When a call began to wait for somebody, in seconds since 1970; None if it didn't."""
        found: float | None = None if self._run is None else self._run.deferred_at
        return found


async def around(
    hooks: ForTools, name: str | None, work: Any, start: Callable[[Execution], Awaitable[Any]]
) -> Any:
    """Run a call or a round inside the context managers of hooks.

    Args:
        hooks: each with the names of its tools, None for all.
        name: of the tool that is called; None for a round, which only hooks around every call see.
        work: the call or the round.
        start: runs it.

    Returns:
        What `start` returns.

    Raises:
        BaseException: what `start` raises; never what a hook raises.
    """
    execution = Execution(work)
    entered: list[tuple[Hook, Any]] = []
    for hook, names in hooks:
        if names is None or (name is not None and name in names):
            manager = _entered(hook, execution)
            if manager is not None:
                entered.append((hook, manager))
    raised: BaseException | None = None
    try:
        outcome = await start(execution)
        execution.outcome = outcome.error if isinstance(outcome, Passed) else outcome
    except BaseException as error:
        execution.outcome = raised = error
        raise
    finally:
        for hook, manager in reversed(entered):
            _leave(hook, manager, raised)
    return outcome


def _entered(hook: Hook, execution: Execution) -> Any:
    """Return the context manager of a hook, entered; None if there is none, or it failed."""
    try:
        manager = hook.function(execution)
        if manager is not None:
            manager.__enter__()
    except Exception as error:  # noqa: BLE001  # the program's own code must not take the call with it
        write_log(ERROR, "the hook %s failed before a call or a round", hook.name, error=error)
        return None
    return manager


def _leave(hook: Hook, manager: Any, raised: BaseException | None) -> None:
    """Leave a context manager; what it returns or raises changes nothing."""
    try:
        manager.__exit__(type(raised) if raised else None, raised, raised.__traceback__ if raised else None)
    except Exception as error:  # noqa: BLE001  # as above
        if error is not raised:
            write_log(ERROR, "the hook %s failed after a call or a round", hook.name, error=error)
