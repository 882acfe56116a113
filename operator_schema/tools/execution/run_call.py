"""One call of a tool: decode the arguments, run the function, encode its result; each failure is a result."""

from __future__ import annotations

from types import NoneType
from typing import TYPE_CHECKING, Any, cast

from ...errors import DecodeError, ToolError
from ...json_values import is_array, is_object
from ...wording import received
from ..awaitables import close_awaitable, is_awaitable
from ..calls import ToolResult, arguments_to_decode
from ..log import DEBUG
from ..raw_arguments import RawArguments
from .passing import Passed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    from ..calls import RawCall
    from ..tool import Tool
    from .failures import Failures
    from .rounds import DecodedCall
    from .successes import Successes

__all__ = ["Pending", "RunCall", "takes_long"]

LONG = 4096
"""Characters of JSON above which the arguments of an async function are decoded in a thread.

Measured on CPython 3.11: a thread takes 0.1 ms. Decoding takes 0.02 ms (one string) to 0.35 ms (many
small values) at this length, up to 1.4 ms at 16,000 characters, 10 ms at 64,000 and 0.2 s at 1,000,000.
"""

_VALUE_LENGTH = 8
"""Characters that a value other than a string counts for."""

_SHORT = frozenset({int, float, bool, NoneType})
"""Classes of values that have nothing inside."""


def takes_long(arguments: object) -> bool:
    """Return whether decoding arguments would block an event loop for too long."""
    if isinstance(arguments, (str, bytes, bytearray)):
        return len(arguments) > LONG
    left = LONG
    waiting: list[Any] = [arguments]
    while waiting:
        value = waiting.pop()
        if type(value) in _SHORT:
            continue
        if isinstance(value, str):
            left -= len(value)
        elif is_object(value) or is_array(value):
            inside: Any = value.values() if is_object(value) else value
            left -= _VALUE_LENGTH * len(inside)
            if left > 0:
                waiting += inside
        if left < 0:
            return True
    return False


class Pending:
    """What an async function returned, to be awaited.

    Attributes:
        given: the input of the function.
        awaitable: what the function returned.
        is_awaited: whether something has begun to await it.
    """

    __slots__ = ("awaitable", "given", "is_awaited")

    def __init__(self, given: Any, awaitable: Awaitable[Any]) -> None:
        self.given = given
        self.awaitable = awaitable
        self.is_awaited = False

    def close(self) -> None:
        """Close it, unless something awaits it."""
        if not self.is_awaited:
            close_awaitable(self.awaitable)


class RunCall:
    """A call, the tool that it names, and the values that your program injects.

    Args:
        call: as the model sent it.
        tool: as the model sees it.
        context: type, or name of a parameter, to value.
        failures: makes the results of calls that fail.
        successes: makes the results of those that don't.
        decoded: the same call with its input, where that is known already.

    Attributes:
        decoded: as given.
    """

    __slots__ = ("_call", "_context", "_details", "_failures", "_successes", "_tool", "decoded")

    def __init__(
        self,
        call: RawCall,
        tool: Tool[..., Any],
        context: Mapping[Any, Any] | None,
        failures: Failures,
        successes: Successes,
        decoded: DecodedCall | None = None,
    ) -> None:
        self._call = call
        self._tool = tool
        self._context = context
        self._failures = failures
        self._successes = successes
        self.decoded = decoded
        self._details: Mapping[str, Any] = {} if decoded is None else decoded.details

    @property
    def details(self) -> Mapping[str, Any]:
        """What decoding said of the arguments: repairs, and keys that it ignored."""
        return self._details

    def run(self) -> ToolResult | Pending | Passed:
        """Run a function that isn't async."""
        return self.run_decoded(self.decode())

    def run_decoded(self, given: Any) -> ToolResult | Pending | Passed:
        """Run a function that isn't async with what `decode` returned."""
        if isinstance(given, (ToolResult, Passed)):
            return given
        try:
            value = self._tool.call(given, context=self._context)
            is_pending = is_awaitable(value)
        except Exception as error:  # noqa: BLE001  # every failure is a result
            return self._failed(error, given)
        return Pending(given, value) if is_pending else self._result(value)

    def prepare(self) -> ToolResult | Pending | Passed:
        """Decode the arguments of an async function, which `finish` then runs."""
        given = self.decode()
        if isinstance(given, (ToolResult, Passed)):
            return given
        return Pending(given, self._tool.acall(given, context=self._context))

    async def arun(self) -> ToolResult | Passed:
        """Run an async function."""
        pending = self.prepare()
        return await self.finish(pending) if isinstance(pending, Pending) else pending

    async def finish(self, pending: Pending) -> ToolResult | Passed:
        """Await what a function returned."""
        pending.is_awaited = True
        try:
            value = await pending.awaitable
        except Exception as error:  # noqa: BLE001  # every failure is a result
            return self._failed(error, pending.given)
        return self._result(value)

    def decode(self) -> Any:
        """Return the input of the function, or the result that says why there is none."""
        decoded = self.decoded
        if decoded is not None:
            return self._checked(decoded.given)
        try:
            report = self._tool.decode_report(arguments_to_decode(self._call))
        except DecodeError as error:
            return self._failures.invalid(self._call, error)
        except Exception as error:  # noqa: BLE001  # a class's own code runs in it
            return self._failures.failed(self._call, error)

        if report.repairs or report.ignored:
            notes = {"repairs": report.repairs, "ignored": report.ignored}
            self._details = {kind: found for kind, found in notes.items() if found}
            self._failures.note(self._call, DEBUG, "the arguments did not fit exactly", self._details)
        return report.instance

    def _checked(self, given: object) -> Any:
        """Return an input that is given; a result in its place would be taken for that of the call."""
        if not isinstance(given, (ToolResult, Passed)):
            return given
        error = ToolError(self._tool.name, f"its input can't be {received(given)}; decode makes one")
        return self._failures.failed(self._call, error)

    def _failed(self, error: Exception, given: Any) -> ToolResult | Passed:
        # Raw arguments are decoded by the function itself.
        if issubclass(type(error), DecodeError) and isinstance(given, RawArguments):
            own = cast("DecodeError", error)  # asked by its type: its `__class__` may be code that raises
            if own.name == given.tool:
                return self._failures.invalid(self._call, own)
        return self._failures.failed(self._call, error)

    def _result(self, value: object) -> ToolResult:
        return self._successes.result(self._call, self._tool, value, self._details)
