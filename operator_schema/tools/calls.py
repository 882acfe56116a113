"""One call as a model sent it, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

from ..immutable import Value
from ..wording import clip, escape, received

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["RawCall", "ResultCode", "ToolResult", "class_name_of", "exception_text", "message_of"]

ResultCode = Literal["tool_not_found", "invalid_params", "timeout", "execution_failed", "disabled"]
"""Why a call has no result: the tool is unknown · the arguments do not fit · it took too long · its
function, or your program, failed · the tool is switched off."""

_SHOWN_EXCEPTION = 1000


class RawCall(Value):
    """One call as the model sent it.

    Attributes:
        id: by which the provider matches call and result; calls of one turn may share it.
        name: of the tool, as the model wrote it.
        arguments: a dict of JSON values, or JSON text; it is kept as it is, not copied. None and
            empty text are what some providers send for a call without arguments.
    """

    id: str
    name: str
    arguments: Any

    def __init__(self, id: str, name: str, arguments: Any = None) -> None:  # noqa: A002  # the attribute's name
        super().__init__(_checked_text("id", id), _checked_text("name", name), arguments)


def _checked_text(attribute: str, value: object) -> str:
    if not isinstance(value, str):
        message = f"the {attribute} of a call is a string, not {received(value)}"
        raise TypeError(message)
    return str.__str__(value)  # a subclass may have code of its own


class ToolResult(Value):
    """What came of one call.

    Attributes:
        call_id: that of the call.
        name: that of the call.
        content: text for the model: the result, or why there is none.
        is_error: whether there is none.
        code: why there is none; None where there is one.
        details: for your program, never for the model; None if there are none. `exception` is
            what was raised; `problems` and the rest of `DecodeError.as_dict()` come with
            `invalid_params`. With a result: `repairs` made to the arguments, keys `ignored` in them,
            and `mismatches` of the result with the declared type.
    """

    call_id: str
    name: str
    content: str
    is_error: bool = False
    code: ResultCode | None = None
    details: Mapping[str, Any] | None = None

    def __repr__(self) -> str:
        # `asyncio` asks for it in places where an exception's own `__repr__` must not raise or take long.
        return f"ToolResult({', '.join([f'{name}={value!r}' for name, value in self.as_dict().items()])})"

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON values, for logs: the exception as type and message, bounded."""
        content = {name: getattr(self, name) for name in self.__slots__}
        if self.details is not None:
            content["details"] = {key: _shown(value) for key, value in self.details.items()}
        return content


def _shown(value: Any) -> Any:
    if isinstance(value, tuple):  # of repairs, ignored keys or problems
        return [str(item) for item in cast("tuple[object, ...]", value)]
    return exception_text(value) if issubclass(type(value), BaseException) else value


def exception_text(error: BaseException, limit: int = _SHOWN_EXCEPTION) -> str:
    """Write the type and the message of an exception, safe to print.

    Args:
        error: any exception, even one that can't write itself.
        limit: characters at most.
    """
    name, message = class_name_of(error), message_of(error)
    text = f"{name}: {message[:limit]}" if message else name
    return clip("\n".join([escape(line) for line in text.split("\n")]), limit)


_CLASS_NAME: Any = vars(type)["__name__"]


def class_name_of(error: BaseException) -> str:
    """Return the name of the class of an exception, even where its metaclass has another `__name__`."""
    name: str = _CLASS_NAME.__get__(type(error))
    return name


def message_of(error: BaseException) -> str:
    """Return the message of an exception, even of one that can't write itself."""
    try:
        return str.__str__(str(error))  # `__str__` may return a subclass with code of its own
    except Exception:  # noqa: BLE001  # the exception's own code
        return ""
