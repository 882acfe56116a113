"""What are a model's call and its result, and what does an executor need of a round?"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from os import urandom
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from ..immutable import Value, set_once
from ..json_values import is_object, to_json_text
from ..message_text import checked_text, exception_text, received

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from typing import Protocol, Self, TypeAlias, TypeVar

    from .changes import ChangedArguments
    from .content import Part
    from .decision_records import DecisionRecord

    Outcome: TypeAlias = "ToolResult | Passed | BaseException"
    Asking: TypeAlias = "Callable[[Any], Awaitable[Any]]"
    Settle: TypeAlias = "Callable[[int, ToolResult], Awaitable[ToolResult | None]]"
    OnResult: TypeAlias = "Callable[[RawCall, ToolResult], object]"
    Wording: TypeAlias = "Callable[[RawCall, Exception], str]"
    Limited: TypeAlias = "Callable[[Any, RawCall, ToolResult], ToolResult]"
    RunAll: TypeAlias = (
        "Callable[[Sequence[DecodedCall], Settle], Awaitable[list[ToolResult | BaseException]]]"
    )


ResultCode = Literal[
    "tool_not_found",
    "invalid_params",
    "timeout",
    "execution_failed",
    "disabled",
    "needs_input",
    "not_available",
    "rejected",
    "needs_approval",
    "cut_off",
    "expired",
]
"""The reasons why a call has no result: the tool is unknown · the arguments do not fit · it took too long ·
its function, or your program, failed · the tool is switched off · it needs a person's answer first · it was
not offered in this request · a hook or a person refused the call · nobody has agreed to it, and its tool says
`confirm=True` · the model's answer ended before the call was complete · nobody agreed to it in time."""


ShowErrors = Literal["type", "message", "traceback"]
"""How much of an exception the model sees, unless it is a `CallError`."""


_ID = "in RawCall(id, name, arguments), the id of a call"
_NAME = "in RawCall(id, name, arguments), the name of a call"


class RawCall(Value):
    """One call as the model sent it.

    A call without an id gets one of its own, such as `call_9f0c7d2b51e84a3690ab12cd`: two of them are
    never equal.

    Attributes:
        id: the provider's id for the call and its result; calls of one turn may share it. Any string is kept
            unchanged, even an empty one.
        name: name of the tool as the model wrote it; the corrected name if it was repaired.
        arguments: a dict of JSON values, or JSON text; it isn't copied. Some providers send None or empty
            text for a call without arguments.
        is_cut_off: whether the model's answer ended before the arguments were complete, for example at a
            limit of tokens. Such a call is never run, even if the part of its arguments that arrived fits.
        caller: the program in the provider's sandbox that made the call, as the provider names it: a JSON
            object such as `{"type": "code_execution_20260120", "tool_id": "srvtoolu_1"}`. None if the model
            made it.
        is_from_text: whether the call was found in the text of the answer, where the server had left it.
        sent_name: the name that the model wrote, if it was repaired (`repair=True`); otherwise None.
        is_malformed: whether the provider reports that the call isn't well-formed. Then `is_cut_off` is true.

    Raises:
        TypeError: a name or the id isn't a string, `is_cut_off`, `is_from_text` or `is_malformed` isn't a
            bool, `caller` isn't a dict, or there is no name.
    """

    id: str
    name: str
    arguments: Any
    is_cut_off: bool
    caller: dict[str, Any] | None
    is_from_text: bool
    sent_name: str | None
    is_malformed: bool

    @overload
    def __init__(
        self,
        id: str | None,
        name: str,
        arguments: Any = None,
        is_cut_off: bool = False,
        caller: dict[str, Any] | None = None,
        is_from_text: bool = False,
        sent_name: str | None = None,
        is_malformed: bool = False,
    ) -> None: ...
    @overload
    def __init__(
        self,
        *,
        name: str,
        arguments: Any = None,
        is_cut_off: bool = False,
        caller: dict[str, Any] | None = None,
        is_from_text: bool = False,
        sent_name: str | None = None,
        is_malformed: bool = False,
    ) -> None: ...
    def __init__(
        self,
        id: str | None = None,  # noqa: A002  # the attribute's name
        name: Any = None,
        arguments: Any = None,
        is_cut_off: bool = False,
        caller: Any = None,
        is_from_text: bool = False,
        sent_name: Any = None,
        is_malformed: bool = False,
    ) -> None:
        if type(name) is not str:
            name = _checked_name(name)
        if not (type(is_cut_off) is type(is_from_text) is type(is_malformed) is bool):
            raise _wrong_flag(is_cut_off=is_cut_off, is_from_text=is_from_text, is_malformed=is_malformed)
        if type(id) is not str:
            id = new_id("call") if id is None else checked_text(_ID, id)  # noqa: A001  # the attribute's name
        set_once(self, "id", id)
        set_once(self, "name", name)
        set_once(self, "arguments", arguments)
        set_once(self, "is_cut_off", is_cut_off or is_malformed)
        if caller is not None:
            _check_caller(caller)
        set_once(self, "caller", caller)
        set_once(self, "is_from_text", is_from_text)
        if sent_name is not None:
            sent_name = checked_text("sent_name", sent_name)
        set_once(self, "sent_name", sent_name)
        set_once(self, "is_malformed", is_malformed)

    def __repr__(self) -> str:
        cut = ", is_cut_off=True" if self.is_cut_off else ""
        caller = "" if self.caller is None else f", caller={self.caller!r}"
        text = ", is_from_text=True" if self.is_from_text else ""
        sent = "" if self.sent_name is None else f", sent_name={self.sent_name!r}"
        malformed = ", is_malformed=True" if self.is_malformed else ""
        more = f"{cut}{caller}{text}{sent}{malformed}"
        return f"RawCall(id={self.id!r}, name={self.name!r}, arguments={self.arguments!r}{more})"


def _check_caller(caller: Any) -> None:
    """Check that a round can save the `caller` of a call.

    Raises:
        TypeError: the caller isn't a dict of JSON values.
    """
    what = f", not {received(caller)}"
    if is_object(caller):
        try:
            to_json_text(caller)
        except (TypeError, ValueError, RecursionError) as error:
            what = f": {error}"
        else:
            return
    message = f"caller must be a dict of JSON values or None{what}"
    raise TypeError(message)


def arguments_to_decode(call: RawCall) -> Any:
    """Return the arguments to decode: `{}` for None and blank text."""
    arguments = call.arguments
    is_blank = isinstance(arguments, (str, bytes, bytearray)) and not arguments.strip()
    return {} if arguments is None or is_blank else arguments


_ID_BYTES = 12
"""How many random bytes an id has: among 10**12 ids, two are equal with a chance of 1 in 10**5."""


def new_id(kind: str) -> str:
    """Return a random id, such as `call_9f0c7d2b51e84a3690ab12cd`."""
    # `uuid` and `secrets` take longer to import than a call to run.
    return f"{kind}_{urandom(_ID_BYTES).hex()}"


def _checked_name(name: Any) -> str:
    """Check and return the name of the tool of a call.

    Raises:
        TypeError: it isn't a string.
    """
    if name is None:
        message = "a call needs the name of a tool: RawCall(id, name, arguments), or RawCall(name=…)"
        raise TypeError(message)
    if issubclass(type(name), Mapping):
        message = (
            "the id comes first: RawCall(id, name, arguments), or without an id RawCall(name=…, arguments=…)"
        )
        raise TypeError(message)
    return checked_text(_NAME, name)


def _wrong_flag(**flags: object) -> TypeError:
    """Return the error for the first of these values that is neither True nor False."""
    (name, given), *_ = [one for one in flags.items() if type(one[1]) is not bool]
    return TypeError(f"{name} must be True or False, not {received(given)}")


class ToolResult(Value):
    """The result of one call.

    `json` and `value` are for the program that runs the tools: they take no part in equality, hash and
    `repr`. `replace(content=…)` drops them and `parts`, unless they are given too, because they would still
    contain the old content.

    Attributes:
        call_id: the id of the call.
        name: the name in the call.
        content: text for the model: the result, or why the call has none.
        is_error: whether the call has no result.
        code: the reason why it has none; None if it has a result.
        details: for your program, never for the model; None if there are none. `exception` is the raised
            exception; `findings` and the rest of `DecodeError.as_dict()` come with `invalid_params`. With a
            result: `repairs` made to the arguments, keys `ignored` in them, and `mismatches` of the result
            with the declared type.
        parts: the content as parts for the model. If the function returned no parts, it is one
            `Text` with the content.
        json: the result as a JSON value, which `content` shows as text: `"5"` and `5` differ here. For a
            string it is the string. For content parts it describes them, without their data. None if the
            function returned None, if there is no result, and for one of `native_results`. It shares nothing
            with `value`: you may change it.
        value: the object that the function returned; None if there is no result. Pickling a result leaves it
            out, and an exception in `details` that can't be pickled.
        changed: the arguments of the call after hooks or people changed those of the model, and who changed
            them; the content begins with a sentence that says so. None if nobody did.
    """

    call_id: str
    name: str
    content: str
    is_error: bool = False
    code: ResultCode | None = None
    details: Mapping[str, Any] | None = None
    parts: tuple[Part, ...] = ()
    json: Any = None
    value: Any = None
    _index: int | None = None  # of the call of a round that made it: another call may have the same id
    changed: ChangedArguments | None = None

    if not TYPE_CHECKING:  # for speed alone, as in `introspect/nodes.py`: every call makes one

        def __new__(
            cls,
            call_id: str,
            name: str,
            content: str,
            is_error: bool,
            code: ResultCode | None,
            details: Mapping[str, Any] | None,
            parts: tuple[Part, ...],
            json: Any,
            value: Any,
            _index: int | None,
            changed: ChangedArguments | None,
        ) -> Self:
            """Make a result."""
            self = cls._draft()
            self.call_id = call_id
            self.name = name
            self.content = content
            self.is_error = is_error
            self.code = code
            self.details = details
            if parts:
                self.parts = tuple(parts) if parts.__class__ is list else parts
            self.json = json
            self.value = value
            if _index is not None:
                self._index = _index
            if changed is not None:
                self.changed = changed
            self.__class__ = cls
            return self

        def __getattr__(self, name: str) -> Any:
            # Python asks here for a slot without a value: few programs want the text as a part.
            if name == "parts":
                from .content import Text

                return (Text(self.content),)
            if name in self.__field_defaults__:
                return self.__field_defaults__[name]
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=self)

    def replace(self, **changes: Any) -> Self:
        """Return a copy in which the named attributes have other values."""
        content: dict[str, Any] = {**_logged(self), "_index": self._index, "changed": self.changed}
        if "content" not in changes:
            content.update(parts=own_parts(self), json=self.json, value=self.value)
        return type(self)(**{**content, **changes})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ToolResult):
            return NotImplemented
        if _logged(self) != _logged(other) or own_parts(self) != own_parts(other):
            return False
        return self.changed == other.changed

    def __hash__(self) -> int:
        # Without the details: they are a dict, which has no hash.
        logged = [value for name, value in _logged(self).items() if name != "details"]
        return hash((ToolResult, *logged, own_parts(self)))

    def __repr__(self) -> str:
        # `asyncio` asks for it in places where an exception's own `__repr__` must not raise or take long.
        return f"ToolResult({', '.join([f'{name}={value!r}' for name, value in self.as_dict().items()])})"

    def __reduce__(self) -> tuple[Any, ...]:
        own = (own_parts(self), self.json, None, self._index, self.changed)
        logged = _logged(self)
        return type(self), (*{**logged, "details": _with_portable(logged["details"])}.values(), *own)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # The function may have returned or raised any object, even one that can't be copied.
        for kept in (self.details or {}).values():
            if issubclass(type(kept), BaseException):
                memo[id(kept)] = kept
        content = deepcopy({**_logged(self), "json": self.json}, memo)
        content |= {"parts": own_parts(self), "value": self.value, "changed": self.changed}
        return type(self)(**content, _index=self._index)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON values, for logs: the exception as type and message, bounded.

        Parts that the function returned are given by type and size, without their data; `json` and `value`
        are left out.
        """
        content = _logged(self)
        if self.details is not None:
            content["details"] = {key: _loggable(value) for key, value in self.details.items()}
        if self.changed is not None:
            content["changed"] = self.changed.as_dict()
        parts = own_parts(self)
        return {**content, "parts": [part.as_dict() for part in parts]} if parts else content


_LOGGED = ("call_id", "name", "content", "is_error", "code", "details")


def _with_portable(details: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return details without exceptions that another process can't make again."""
    if not details:
        return details
    return {key: value for key, value in details.items() if not _holds_back(value)}


def _holds_back(value: object) -> bool:
    if not issubclass(type(value), BaseException):
        return False
    import pickle  # few results are pickled

    try:
        pickle.loads(pickle.dumps(value))  # noqa: S301  # our own bytes
    except Exception:  # noqa: BLE001  # code of the class of the exception
        return True
    return False


def _logged(result: ToolResult) -> dict[str, Any]:
    """Return the attributes for the model and the log."""
    return {name: getattr(result, name) for name in _LOGGED}


_parts_slot: Any = vars(ToolResult)["parts"]


def own_parts(result: ToolResult) -> tuple[Part, ...]:
    """Return the parts that a result was made with, without the one that stands for its text."""
    try:
        parts: tuple[Part, ...] = _parts_slot.__get__(result)
    except AttributeError:
        return ()
    return parts


def _loggable(value: Any) -> Any:
    if issubclass(type(value), BaseException):  # by its type, as its `__class__` may be code that raises
        return exception_text(value)
    if isinstance(value, tuple):  # of findings
        return [str(item) for item in cast("tuple[object, ...]", value)]
    return value


# --- the outcome of a call -----------------------------------------------------------------------


class Passed:
    """An exception that the caller gets and handles.

    Attributes:
        error: the raised exception.
    """

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


def result_of(outcome: Outcome) -> ToolResult:
    """Return the result of a call, or raise the exception that passes through."""
    return outcome if type(outcome) is ToolResult else results_of([outcome], return_exceptions=False)[0]


def results_of(outcomes: Iterable[Outcome], *, return_exceptions: bool) -> list[Any]:
    """Return the results of several calls, or raise the exception that passes through.

    Args:
        outcomes: the outcomes of ended calls, in order.
        return_exceptions: whether exceptions that pass through are items of the list.

    Raises:
        BaseException: first one that ends the program, else the first one that passes through.
    """
    results: list[Any] = []
    passed: list[BaseException] = []
    for outcome in outcomes:
        if type(outcome) is Passed:
            passed.append(outcome.error)
        elif type(outcome) is not ToolResult:
            raise cast("BaseException", outcome)
        results.append(outcome.error if type(outcome) is Passed else outcome)
    if passed and not return_exceptions:
        raise passed[0]
    return results


def is_of_class(value: object, classes: Sequence[type]) -> bool:
    """Return whether a value is an instance of one of the classes.

    Only the type of the value is asked: its `__class__`, and the subclass test of a metaclass, may run any
    code.
    """
    above = _ORDER.__get__(type(value))
    return any(cls is known for cls in classes for known in above)


_ORDER: Any = vars(type)["__mro__"]


# --- calls that a program gives ------------------------------------------------------------------

_READERS = {
    "function": "openai_chat.answer(response, offer).calls",
    "function_call": "openai_responses.answer(response, offer).calls",
    "tool_use": "anthropic.answer(response, offer).calls",
}
"""The functions that read calls from responses, by the `type` of a call."""

_RESPONSES = {
    "choices": "openai_chat",
    "tool_calls": "openai_chat",
    "candidates": "gemini",
    "stop_reason": "anthropic",
    "stopReason": "bedrock",
    "output": "openai_responses",
}
"""Keys that occur only in responses or messages of one provider, each with the provider that reads them."""


def checked_call(call: object) -> RawCall:
    """Return the given call; refuse anything else.

    Raises:
        TypeError: the object isn't a call.
    """
    if not isinstance(call, RawCall):
        message = f"a call must be a RawCall(id, name, arguments), not {received(call)}{remedy_for(call)}"
        raise TypeError(message)
    return call


def remedy_for(given: Any) -> str:
    """Return the remedy for something that isn't a call; empty if none is known."""
    kind: Any = cast("Any", type(given))
    if hasattr(kind, "execute_with"):
        return ": executor.run(…) runs it"
    if hasattr(kind, "again"):
        return ": executor.run(round) runs the calls of a round"
    if issubclass(kind, (list, tuple)) and any(isinstance(item, RawCall) for item in given[:1]):
        return ": executor.run(calls) runs several"
    try:
        return f": {_READERS[given['type'] if issubclass(kind, dict) else given.type]} makes them"
    except Exception:  # noqa: BLE001  # the code of whatever was given
        return _response_remedy(given)


def _response_remedy(given: Any) -> str:
    """Return the remedy for a response of a provider, its message, or a call as a dict; empty for others."""
    is_dict = issubclass(cast("Any", type(given)), dict)
    try:
        there = [key for key in _RESPONSES if (key in given if is_dict else hasattr(given, key))]
        is_call = is_dict and {"name", "arguments"} <= {*given}
    except Exception:  # noqa: BLE001  # the code of whatever was given
        return ""
    if there:
        reader = f"{_RESPONSES[there[0]]}.answer(response, offer)"
        return f": a provider reads the whole response, as in offer.round({reader})"
    return ": write RawCall(name=…, arguments=…)" if is_call else ""


def checked_calls(calls: Any) -> list[RawCall]:
    """Return the given calls as a list; refuse anything else.

    Raises:
        TypeError: the objects aren't calls, or only one call is given.
    """
    if isinstance(calls, RawCall):
        message = "expected a list of calls, not one RawCall alone: write [call]"
        raise TypeError(message)
    kind: Any = cast("Any", type(calls))
    if kind is list or kind is tuple:
        return [checked_call(call) for call in calls]
    # The responses of some SDKs can be iterated, and give their fields.
    has_calls = hasattr(kind, "calls")
    remedy = "" if has_calls else remedy_for(calls)
    is_listed = hasattr(kind, "__iter__") and not issubclass(kind, (Mapping, str, bytes))
    if remedy or not is_listed:
        remedy = ": give its calls" if has_calls else remedy
        message = f"expected a list of calls, not {received(calls)}{remedy}"
        raise TypeError(message)
    return [checked_call(call) for call in calls]


# --- what an executor runs -----------------------------------------------------------------------


class DecodedCall(Value):
    """One call to run, with its input.

    Attributes:
        call: the call as the model sent it.
        given: the input, maybe edited.
        answers: name of an injected parameter to its value; wins over the context.
        approved: whether a person has approved it, or needn't be asked.
        tool: the `Tool` that a person has approved; None for the tool of that name when the call runs.
        details: the notes from decoding the arguments: repairs and ignored keys.
        deferred_at: when it began to wait for somebody, in seconds since 1970; None if it didn't.
        changed: the record of changes, if hooks or people changed the model's input; else None.
        decisions: the decisions of hooks and people about it.
    """

    call: RawCall
    given: Any
    answers: Mapping[str, Any]
    approved: bool = False
    tool: Any = None
    details: Mapping[str, Any] = MappingProxyType({})
    deferred_at: float | None = None
    changed: ChangedArguments | None = None
    decisions: tuple[DecisionRecord, ...] = ()


if TYPE_CHECKING:
    Hooks_contra = TypeVar("Hooks_contra", contravariant=True)
    Plan_co = TypeVar("Plan_co", covariant=True)

    class Executable(Protocol[Hooks_contra, Plan_co]):
        """The interface of a round for `Executor.run`."""

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

            An executor with a store also passes two functions: one is called with the round when its calls
            begin, the other with each call that has ended.

            Args:
                run_all: runs calls concurrently. As soon as a result arrives, even before a cancellation, it
                    passes the result and the position of the call to an async function, which returns the
                    final result, or None to run the call again. It returns the result of each call, or the
                    exception of `pass_through` that it raised, in the order of the calls.
                hooks: decide about the calls; None for no hooks.
                asking: asks about calls of tools with `confirm=True`; None to defer them.
                wording: writes the text for the model if its arguments could not be decoded; None for the
                    usual text.
                limited: shortens the results that a hook or a person gave; None to leave them.
            """
            ...
