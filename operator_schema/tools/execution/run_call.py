"""One call of a tool that was found: decode, run, encode; every failure is a result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import DecodeError, EncodeError
from ..calls import ToolResult
from ..raw_arguments import RawArguments
from . import failures

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    from ..calls import RawCall
    from ..tool import Tool
    from .failures import ShowErrors

__all__ = ["Pending", "Work"]


class Pending:
    """What a function gave that was not async and still gave something to await.

    Attributes:
        given: the input.
        awaitable: what it gave.
        is_awaited: whether somebody has begun to await it.
    """

    __slots__ = ("awaitable", "given", "is_awaited")

    def __init__(self, given: Any, awaitable: Awaitable[Any]) -> None:
        self.given = given
        self.awaitable = awaitable
        self.is_awaited = False

    def close(self) -> None:
        """Drop what nobody has awaited, and nobody will."""
        close = getattr(self.awaitable, "close", None)
        if close is not None and not self.is_awaited:
            close()


class Work:
    """A call, the tool that it names, and what the host gives.

    Args:
        call: as the model sent it.
        tool: as the model is told about it.
        context: type, or name of a parameter, to value.
        show: how much of an exception the model sees.
    """

    __slots__ = ("_call", "_context", "_show", "_tool")

    def __init__(
        self, call: RawCall, tool: Tool[..., Any], context: Mapping[Any, Any] | None, show: ShowErrors
    ) -> None:
        self._call = call
        self._tool = tool
        self._context = context
        self._show: ShowErrors = show

    def run(self) -> ToolResult | Pending:
        """Do the work of a function that is not async."""
        try:
            given = self._decode()
        except Exception as error:  # noqa: BLE001  # a class's own code runs in it
            return self._refused(error)
        try:
            value = self._tool.call(given, context=self._context)
        except Exception as error:  # noqa: BLE001  # every failure is a result
            return self._failed(error, given)
        return Pending(given, value) if hasattr(value, "__await__") else self._tell(value)

    async def arun(self) -> ToolResult:
        """Do the work of an async function."""
        try:
            given = self._decode()
        except Exception as error:  # noqa: BLE001  # a class's own code runs in it
            return self._refused(error)
        return await self.finish(Pending(given, self._tool.acall(given, context=self._context)))

    async def finish(self, pending: Pending) -> ToolResult:
        """Await what a function gave."""
        pending.is_awaited = True
        try:
            value = await pending.awaitable
        except Exception as error:  # noqa: BLE001  # every failure is a result
            return self._failed(error, pending.given)
        return self._tell(value)

    def _decode(self) -> Any:
        arguments = self._call.arguments
        is_blank = isinstance(arguments, (str, bytes, bytearray)) and not arguments.strip()
        return self._tool.decode({} if arguments is None or is_blank else arguments)

    def _refused(self, error: Exception) -> ToolResult:
        if isinstance(error, DecodeError):
            return failures.invalid(self._call, error)
        return self._failed(error, None)

    def _failed(self, error: Exception, given: Any) -> ToolResult:
        # Raw arguments are decoded by the function itself.
        if isinstance(error, DecodeError) and isinstance(given, RawArguments) and error.name == given.tool:
            return failures.invalid(self._call, error)
        return failures.failed(self._call, error, self._show)

    def _tell(self, value: object) -> ToolResult:
        try:
            content = self._tool.encode_output(value)
        except EncodeError as error:
            return failures.untellable(self._call, error)
        except Exception as error:  # noqa: BLE001  # a leaf's own code runs in it
            return self._failed(error, None)
        return ToolResult(self._call.id, self._call.name, content)
