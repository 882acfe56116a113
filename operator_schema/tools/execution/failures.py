"""What the model and the host are told when a call has no result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ...errors import CallError, ToolError
from ...wording import listed, quote
from ..calls import ToolResult, exception_text, message_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...errors import DecodeError, EncodeError, ToolNotFoundError
    from ..calls import RawCall, ResultCode

__all__ = ["ShowErrors", "cancelled", "disabled", "failed", "invalid", "not_found", "timed_out", "untellable"]

ShowErrors = Literal["type", "message", "traceback"]
"""How much of an exception that a function did not mean for the model reaches it."""

_SHOWN_LEAVES = 5
_TRACEBACK_LENGTH = 10_000


def not_found(call: RawCall, error: ToolNotFoundError, names: Sequence[str]) -> ToolResult:
    """Say that there is no such tool, and which there are."""
    more = ""
    if not error.suggestions:
        more = (
            f"; the tools are {listed([quote(name) for name in names])}" if names else "; there are no tools"
        )
    return _no_result(call, "tool_not_found", f"{error}{more}", error)


def disabled(call: RawCall) -> ToolResult:
    """Say that the tool is switched off."""
    return _no_result(call, "disabled", f"tool {quote(call.name)} is disabled: it can't be called now")


def invalid(call: RawCall, error: DecodeError) -> ToolResult:
    """Say what is wrong with the arguments."""
    return _no_result(call, "invalid_params", str(error), error, **error.as_dict())


def timed_out(call: RawCall, seconds: float, error: TimeoutError) -> ToolResult:
    """Say that it took too long, and that its effects are not known."""
    why = str(error)
    after = "it was not run" if why else "whether it did its work is not known"
    content = f"{call.name}: no result within {seconds:g} s; {after}"
    details = {"reason": why} if why else {}
    return _no_result(call, "timeout", content, None, seconds=seconds, **details)


def cancelled(call: RawCall, error: BaseException) -> ToolResult:
    """Say that the function ended itself."""
    return _no_result(call, "execution_failed", f"{call.name} was cancelled", error)


def untellable(call: RawCall, error: EncodeError) -> ToolResult:
    """Say that the function did its work, but that its result is nothing for a model."""
    content = f"{call.name} did its work, but its result can't be shown; calling it again will not help"
    return _no_result(call, "execution_failed", content, error, **error.as_dict())


def failed(call: RawCall, error: Exception, show: ShowErrors) -> ToolResult:
    """Say what the function raised.

    Args:
        call: whose function it is.
        error: what it raised. What a `CallError` says is for the model; a `ToolError` is for the host
            alone.
        show: how much of any other exception the model sees.
    """
    if isinstance(error, ToolError):
        content = f"{call.name} can't be run here; calling it again will not help"
        return _no_result(call, "execution_failed", content, error)
    leaves = _leaves(error)
    if all(isinstance(leaf, CallError) for leaf in leaves):
        content = "\n".join([message_of(leaf) or type(leaf).__name__ for leaf in leaves])
        return _no_result(call, "execution_failed", content, error)
    if show == "type":
        shown = [type(leaf).__name__ for leaf in leaves]
    else:
        shown = [exception_text(leaf) for leaf in leaves]
    content = f"{call.name} failed: {listed(shown, _SHOWN_LEAVES, '; ')}"
    if show == "traceback":
        content = f"{content}\n\n{_traceback(error)}"
    return _no_result(call, "execution_failed", content, error)


def _leaves(error: BaseException) -> list[BaseException]:
    """List the exceptions of a group, as what runs several tasks at once raises it."""
    inside: Sequence[BaseException] = getattr(error, "exceptions", ())
    is_group = isinstance(error, BaseExceptionGroup)
    return [leaf for inner in inside for leaf in _leaves(inner)] if is_group else [error]


def _traceback(error: BaseException) -> str:
    from traceback import format_exception  # noqa: PLC0415  # only who asks for it pays for it

    return "".join(format_exception(error))[-_TRACEBACK_LENGTH:]


def _no_result(
    call: RawCall, code: ResultCode, content: str, raised: BaseException | None = None, /, **details: Any
) -> ToolResult:
    if raised is not None:
        details["exception"] = raised
    return ToolResult(call.id, call.name, content, is_error=True, code=code, details=details)
