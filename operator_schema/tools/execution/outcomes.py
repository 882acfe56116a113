"""From one call to its result: its tool is found, its function runs, and whatever happens is a result."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from ...errors import ToolNotFoundError
from ..calls import ToolResult
from ..snapshot import snapshot_of
from .backends import current_backend, is_cancellation
from .concurrency import PLACE, Place
from .confirmation import Confirmation
from .rounds import DecodedCall, context_of
from .run_call import RunCall

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..calls import RawCall
    from ..registry import Registry
    from ..tool import Tool
    from .concurrency import Slots
    from .confirmation import Confirm
    from .failures import Failures
    from .passing import Passed
    from .reports import OnProgress
    from .runner import Runner
    from .successes import Successes

    Context = Mapping[Any, Any]

__all__ = ["Outcomes"]

_NO_THREAD = "no thread could be started for it; with threads=False it needs none"


class _Unapproved:
    """A call that nobody has agreed to.

    Attributes:
        tool: that it names, with `confirm=True`.
    """

    __slots__ = ("tool",)

    def __init__(self, tool: Tool[..., Any]) -> None:
        self.tool = tool


class Outcomes:
    """Run calls, each from its name to its result.

    Args:
        registry: the tools.
        timeout: seconds that a call may take, unless its tool has a timeout; None for no limit.
        slots: limit what runs at once.
        runner: runs the functions.
        failures: makes the results of calls that fail.
        successes: makes the results of those that don't.
        confirm: the option of the executor.
        max_content: characters of a result, unless its tool has a limit; None for no limit.

    Attributes:
        confirmation: asks about calls before they run.
    """

    __slots__ = (
        "_failures",
        "_registry",
        "_runner",
        "_slots",
        "_successes",
        "_timeout",
        "confirmation",
        "_max_content",
    )

    def __init__(
        self,
        registry: Registry,
        timeout: float | None,
        slots: Slots,
        runner: Runner,
        failures: Failures,
        successes: Successes,
        confirm: Confirm | None,
        max_content: float | None,
    ) -> None:
        self._max_content = inf if max_content is None else max_content
        self.confirmation = Confirmation(confirm, runner, failures, successes)
        self._registry = registry
        self._timeout = timeout
        self._slots = slots
        self._runner = runner
        self._failures = failures
        self._successes = successes

    async def of(
        self,
        call: RawCall,
        context: Context | None,
        on_progress: OnProgress | None,
        decoded: DecodedCall | None = None,
        confirm: Confirm | None = None,
    ) -> ToolResult | Passed | BaseException:
        """Return the result of a call, or an exception that is to be raised: a task must not raise it.

        Args:
            call: as the model sent it.
            context: type, or name of a parameter, to value.
            on_progress: gets the progress of the function, or None.
            decoded: the same call with its input, where that is known already.
            confirm: the option for this call; None for that of the executor.
        """
        if call.is_cut_off:
            return self._failures.cut_off(call)
        outcome: Any = await self._in_slot(call, context, on_progress, decoded, confirm)
        if type(outcome) is not _Unapproved:
            result: ToolResult | Passed | BaseException = outcome
            return result
        # The person's time takes no place and no time of the call.
        tool = outcome.tool
        try:
            agreed: Any = await self.confirmation.agreement(
                call, tool, context, decoded, confirm, self._seconds(tool)
            )
        except RuntimeError as error:
            return self._failures.not_started(call, error, _NO_THREAD)
        if type(agreed) is DecodedCall:
            agreed = await self._in_slot(call, context, on_progress, agreed, confirm)
        elif type(agreed) is ToolResult:
            agreed = self.limited(tool, call, agreed)
        final: ToolResult | Passed | BaseException = agreed
        return final

    async def _in_slot(
        self,
        call: RawCall,
        context: Context | None,
        on_progress: OnProgress | None,
        decoded: DecodedCall | None,
        confirm: Confirm | None,
    ) -> Any:
        slots, outer, place = self._slots, PLACE.get(), None
        if slots.is_limited:
            place = Place(slots, current_backend().home())
            await slots.acquire(None, place.home)
        PLACE.set(place)
        try:
            outcome = await self._execute(call, context, on_progress, decoded, confirm)
        except Exception as error:  # noqa: BLE001  # one call must not take the others down
            outcome = error
        finally:
            PLACE.set(outer)  # not `reset`: what ends a coroutine may do so in another context
            if place is not None:
                slots.give_back(place)
        if type(outcome) is not ToolResult and issubclass(type(outcome), Exception):
            return self._failures.failed_badly(call, outcome)
        return outcome

    async def _execute(
        self,
        call: RawCall,
        context: Context | None,
        on_progress: OnProgress | None,
        decoded: DecodedCall | None,
        confirm: Confirm | None,
    ) -> Any:
        try:
            found = self._find(call, context, was_offered=decoded is not None)
        except Exception as error:  # noqa: BLE001  # a switch is your program's own code
            failed = "the switch of the tool failed"
            return self._failures.passed(call, error) or self._failures.not_started(call, error, failed)
        if isinstance(found, ToolResult):
            return found
        if (
            found.annotations.confirm
            and (decoded is None or not decoded.approved)
            and not self.confirmation.is_waived(confirm)
        ):
            return _Unapproved(found)
        if decoded is not None:
            if decoded.tool is not None and decoded.tool != found:
                return self._failures.tool_changed(call)
            context = context_of(decoded, context)
        reports = None
        if found.takes_progress:
            from .reports import with_progress

            context, reports = with_progress(call, context, on_progress)
        seconds = self._seconds(found)
        try:
            run = RunCall(call, found, context, self._failures, self._successes, decoded)
            outcome = await self._runner.run(run, call, found, seconds)
        except TimeoutError as late:
            return self._failures.timed_out(call, seconds or 0, late)
        except RuntimeError as error:
            return self._failures.not_started(call, error, _NO_THREAD)
        finally:
            if reports is not None:
                reports.end()
        if type(outcome) is ToolResult:
            return self.limited(found, call, outcome)
        if not is_cancellation(outcome):
            return outcome
        return self._failures.cancelled(call, outcome)

    def limited(self, tool: Tool[..., Any], call: RawCall, result: ToolResult) -> ToolResult:
        """Return a result as it is, or its beginning if it is longer than that of this tool may be."""
        most = self._max_content if tool.max_content is None else tool.max_content
        return self._failures.limited(call, result, most)

    def _find(
        self, call: RawCall, context: Context | None, *, was_offered: bool
    ) -> Tool[..., Any] | ToolResult:
        registry, name = self._registry, call.name
        try:
            tool = registry.shown(name, context=context)
            may_run = registry.is_enabled(name, context=context)
            if not may_run and was_offered:  # by a request that asked for a tool which is hidden from others
                entries = snapshot_of(registry)
                may_run = entries is not None and entries.is_enabled(name, context, asked_for=True)
            return tool if may_run else self._failures.disabled(call)
        except ToolNotFoundError as error:
            names = [] if error.suggestions else [tool.name for tool in registry.offered(context=context)]
            return self._failures.not_found(call, error, names)

    def _seconds(self, tool: Tool[..., Any]) -> float | None:
        seconds = self._timeout if tool.timeout is None else tool.timeout
        return None if seconds == inf else seconds
