"""How is a callable called: with which parameters, and does its result have to be awaited?"""

from __future__ import annotations

import functools
import inspect
import sys
from contextlib import suppress
from dataclasses import MISSING
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Literal

from ..findings import UnfitError
from ..immutable import Value
from ..introspect.classes import annotations_of
from ..message_text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from types import CodeType, FrameType


Kind = Literal["positional_only", "positional", "keyword_only", "rest", "extra"]
"""How a parameter is given; `rest` is `*args`, `extra` is `**kwargs`."""

_WRAPPED_AT_MOST = 100


class Parameter(Value):
    """One parameter of a callable.

    Attributes:
        name: the name as written.
        kind: how it is given.
        annotation: the annotation as written, or `dataclasses.MISSING`.
        default: the default, or `dataclasses.MISSING`.
    """

    name: str
    kind: Kind
    annotation: Any
    default: Any = MISSING

    if not TYPE_CHECKING:  # for speed: every function has several

        def __new__(cls, name, kind, annotation, default):
            self = cls._draft()
            self.name = name
            self.kind = kind
            self.annotation = annotation
            self.default = default
            self.__class__ = cls
            return self


_new_parameter: Callable[..., Parameter] = Parameter.__new__  # as in `introspect/nodes.py`


class Callee(Value):
    """A callable and its parameters.

    Attributes:
        function: the called function; for a method, the function inside it.
        source: the function with the annotations.
        parameters: the parameters that a caller gives, in order.
        returns: the return annotation as written, or `dataclasses.MISSING`.
        hidden: names of parameters that are bound already.
        binds: whether access through an instance or a class binds it.
        is_bound: whether its first parameter is bound already.
    """

    function: Callable[..., Any]
    source: Any
    parameters: Sequence[Parameter]
    returns: Any
    hidden: Sequence[str] = ()
    binds: Literal["instance", "class", "nothing"] = "instance"
    is_bound: bool = False

    if not TYPE_CHECKING:

        def __new__(cls, function, source, parameters, returns, hidden, binds, is_bound):
            self = cls._draft()
            self.function = function
            self.source = source
            self.parameters = parameters
            self.returns = returns
            self.hidden = hidden
            self.binds = binds
            self.is_bound = is_bound
            self.__class__ = cls
            return self

    @property
    def receiver(self) -> Parameter | None:
        """The parameter for the instance or the class, if that isn't bound yet."""
        if self.binds == "nothing" or self.is_bound or not self.parameters:
            return None
        scope = self.source.__qualname__.rpartition(".")[0]
        first = self.parameters[0]
        if not scope or scope.endswith("<locals>") or first.kind not in {"positional_only", "positional"}:
            return None
        return first if first.annotation is MISSING or first.name in {"self", "cls"} else None


def read_callee(function: Any) -> Callee:
    """Read the parameters of a callable.

    Args:
        function: a function, method, `staticmethod`, `classmethod`, `functools.partial`, or an object
            with a `__call__` that was written in Python. A function decorated with `functools.wraps` is read
            as the one that it wraps.

    Raises:
        UnfitError: the callable can't be read.
    """
    kind: Any = function.__class__
    if kind in _BINDS:
        inner, binds = function.__func__, _BINDS[kind]
        return _read(inner, 0).replace(function=inner, binds=binds)
    callee = _read(function, 0)
    return callee if callee.function is function else callee.replace(function=function)


_BINDS: Mapping[Any, str] = {staticmethod: "nothing", classmethod: "class"}


def _read(function: Any, wrapped: int) -> Callee:
    bound: Any = function
    if isinstance(function, FunctionType) and not (
        hasattr(function, "__wrapped__") or hasattr(function, "__signature__")
    ):
        return _read_code(function)
    if isinstance(function, MethodType):
        return _without(_read(bound.__func__, wrapped), 1, ())
    if isinstance(function, functools.partial):
        return _without(_read(bound.func, wrapped), len(bound.args), bound.keywords)
    attributes: Mapping[str, Any] = getattr(function, "__dict__", {})
    if "__signature__" in attributes:
        return _read_signature(function)
    if "__wrapped__" in attributes:
        if wrapped > _WRAPPED_AT_MOST:
            message, remedy = "it wraps itself", "Fix its __wrapped__"
            raise UnfitError(message, remedy)
        return _read(bound.__wrapped__, wrapped + 1)
    if isinstance(function, type):
        message = f"{one_line(function.__name__, 100)} is a class, not a function"
        raise UnfitError(message, "Write a function (def) that calls it; for a dataclass, use tool_input")
    call: Any = getattr(bound.__class__, "__call__", None)  # noqa: B004  # not whether, but what
    if isinstance(call, FunctionType) or hasattr(call, "__wrapped__"):
        return _without(_read(call, wrapped), 1, ())
    own = one_line(type(function).__name__, 100)
    if not callable(function):
        message = f"an object of class {own} can't be called"
        raise UnfitError(message, "Give a function (def)")
    what = "a built-in function" if own == "builtin_function_or_method" else f"an object of class {own}"
    message = f"{what} has no parameters that can be read"
    raise UnfitError(message, "Write a function (def) that calls it")


def _read_code(function: FunctionType) -> Callee:
    annotations = annotations_of(function)
    defaults = _defaults_of(function)
    found: list[Parameter] = []
    for name, kind in _kinds_of(function.__code__).items():
        annotation, default = annotations.get(name, MISSING), defaults.get(name, MISSING)
        found.append(_new_parameter(Parameter, name, kind, annotation, default))
    return Callee(function, function, tuple(found), annotations.get("return", MISSING))


def _kinds_of(code: CodeType) -> Mapping[str, Kind]:
    """Return the kind of each parameter, in the order of the signature."""
    names, flags, positional = code.co_varnames, code.co_flags, code.co_argcount
    kinds: dict[str, Kind] = dict.fromkeys(names[:positional], "positional")
    if code.co_posonlyargcount:
        kinds.update(dict.fromkeys(names[: code.co_posonlyargcount], "positional_only"))
    end = positional + code.co_kwonlyargcount
    if flags & inspect.CO_VARARGS:
        kinds[names[end]] = "rest"
    if end > positional:
        kinds.update(dict.fromkeys(names[positional:end], "keyword_only"))
    if flags & inspect.CO_VARKEYWORDS:
        kinds[names[end + bool(flags & inspect.CO_VARARGS)]] = "extra"
    return kinds


def _defaults_of(function: FunctionType) -> Mapping[str, Any]:
    by_name = function.__kwdefaults__
    given: dict[str, Any] = dict(by_name) if by_name else {}
    defaults = function.__defaults__
    if defaults:
        code = function.__code__
        names = code.co_varnames
        # As Python does, the last defaults go to the last parameters; those before have no parameter.
        given.update(zip(reversed(names[: code.co_argcount]), reversed(defaults), strict=False))
    return given


def _read_signature(function: Any) -> Callee:
    kinds: tuple[Kind, ...] = ("positional_only", "positional", "rest", "keyword_only", "extra")
    explicit = inspect.signature(function)
    empty = inspect.Signature.empty
    parameters = [
        Parameter(
            p.name,
            kinds[p.kind],
            MISSING if p.annotation is empty else p.annotation,
            MISSING if p.default is empty else p.default,
        )
        for p in explicit.parameters.values()
    ]
    returns = MISSING if explicit.return_annotation is empty else explicit.return_annotation
    return Callee(function, _innermost(function), tuple(parameters), returns)


def _innermost(function: Any) -> Any:
    for _ in range(_WRAPPED_AT_MOST):
        inner = getattr(function, "__wrapped__", None) or getattr(function, "__func__", None)
        if inner is None:
            break
        function = inner
    return function if isinstance(function, FunctionType) else _innermost


def _without(callee: Callee, count: int, names: Collection[str]) -> Callee:
    """Remove the parameters that are bound by position and by name."""
    kept: list[Parameter] = []
    hidden = list(callee.hidden)
    by_name = False
    for parameter in callee.parameters:
        is_positional = parameter.kind in {"positional_only", "positional"}
        if count and is_positional:
            hidden.append(parameter.name)
            count -= 1
        elif parameter.name in names and parameter.kind in {"positional", "keyword_only"}:
            hidden.append(parameter.name)
            by_name = by_name or is_positional
        elif by_name and parameter.kind == "rest":
            hidden.append(parameter.name)  # earlier parameters can't be given by position
        else:
            # Parameters after one that is bound by name can be given only by name.
            kind: Kind = "keyword_only" if by_name and parameter.kind == "positional" else parameter.kind
            kept.append(parameter if kind == parameter.kind else parameter.replace(kind=kind))
    return callee.replace(parameters=tuple(kept), hidden=tuple(hidden), is_bound=True)


def caller_module(frame: FrameType) -> str:
    """Return the name of the module whose code runs in a frame."""
    name: object = frame.f_globals.get("__name__")
    return name if isinstance(name, str) else "__main__"


def name_of_callee(function: Any) -> str | None:
    """Return the name of a callable in its source; None if it has none."""
    while isinstance(function, functools.partial):
        function = function.func
    name: object = getattr(function, "__name__", None)
    return name if isinstance(name, str) else None


def flags_of(function: Any) -> int:
    """Return the flags of the code that runs first in a call; 0 if there is no code."""
    for _ in range(_WRAPPED_AT_MOST):
        code = getattr(function, "__code__", None)
        if code is not None:
            flags: int = code.co_flags
            # The mark of `inspect.markcoroutinefunction` (Python 3.12).
            return flags | (inspect.CO_COROUTINE if hasattr(function, "_is_coroutine_marker") else 0)
        function = _inside(function)
    return 0


def _inside(function: Any) -> Any:
    """Return the function inside a callable, if it can be found."""
    if isinstance(function, functools.partial):
        return function.func
    for attribute in ("__func__", "__wrapped__"):
        if hasattr(function, attribute):
            return getattr(function, attribute)
    return getattr(function.__class__, "__call__", None)  # noqa: B004  # not whether, but what


def is_coroutine_function(function: Any) -> bool:
    """Return whether a call returns something to await."""
    return bool(flags_of(function) & (inspect.CO_COROUTINE | inspect.CO_ITERABLE_COROUTINE))


def is_generator_function(function: Any) -> bool:
    """Return whether a call returns an iterator that runs the code step by step."""
    return bool(flags_of(function) & (inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR))


def gives_context_manager(callee: Callee) -> bool:
    """Return whether a callable is a generator decorated with `contextlib.contextmanager` or similar."""
    function: Any = callee.function
    for _ in range(_WRAPPED_AT_MOST):
        if function is callee.source:
            break
        # The result of a decorator of that module looks like the generator, except for its globals.
        if getattr(function, "__globals__", {}).get("__name__") == "contextlib":
            return is_generator_function(callee.source)
        function = _inside(function)
    return False


def takes(function: Any, count: int) -> bool:
    """Return whether a function can be called with a number of positional arguments."""
    # What a wrapper with `*args` takes, the marks of its decorator say; any other takes what its code says.
    if type(function) is FunctionType and not (function.__dict__ and _has_rest(function)):
        return _takes_by_code(function, count)
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    except Exception:  # noqa: BLE001  # a function in C may have no signature; or the code of an object
        return True
    return True


def _takes_by_code(function: FunctionType, count: int) -> bool:
    """Answer as `takes` does for a plain function, without its signature, which takes 40 µs."""
    code = function.__code__
    most = code.co_argcount
    named = code.co_varnames[most : most + code.co_kwonlyargcount]
    if not set(named).issubset(function.__kwdefaults__ or ()):
        return False
    return most - len(function.__defaults__ or ()) <= count and (_has_rest(function) or count <= most)


def _has_rest(function: FunctionType) -> bool:
    return bool(function.__code__.co_flags & inspect.CO_VARARGS)


# --- what a call returns -------------------------------------------------------------------------


def is_awaitable(value: object) -> bool:
    """Return whether `await` takes a value.

    Like `await`, this looks only at the class: asking the value itself would run its own `__getattr__`.
    """
    try:
        return hasattr(type(value), "__await__")
    except Exception:  # noqa: BLE001  # the code of its metaclass
        return False


def close_awaitable(value: object) -> None:
    """Close a coroutine that nothing will await, so that Python gives no warning about it."""
    with suppress(Exception):  # the code of the value
        close = getattr(value, "close", None)
        if close is not None:
            close()


async def outcome_of(function: Callable[..., Any], /, *given: Any) -> Any:
    """Call a function of the program, and await its result if it is awaitable.

    Raises:
        RuntimeError: something that the function awaited was cancelled, but not the current task. Such a
            cancellation must not end the task, in which other calls may have run.
        BaseException: any other exception of the function.
    """
    try:
        outcome = function(*given)
        return await outcome if is_awaitable(outcome) else outcome
    except BaseException as error:
        if not _is_cancelled_alone(error):
            raise
        message = "what it waited for was cancelled"
        raise RuntimeError(message) from error


def _is_cancelled_alone(error: BaseException) -> bool:
    """Return whether an exception is an asyncio cancellation while nobody cancels the current task."""
    asyncio: Any = sys.modules.get("asyncio")
    if not issubclass(type(error), getattr(asyncio, "CancelledError", ())):
        return False
    try:
        task = asyncio.current_task()
    except RuntimeError:  # another event loop runs here, such as that of trio
        return True
    return task is not None and not task.cancelling()
