"""Doubles, which replace tools in a test: they answer calls and remember them."""

from __future__ import annotations

from copy import deepcopy
from inspect import signature
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Self

from ..errors import EncodeError, ToolError
from ..immutable import Value
from ..message_text import quote
from ..tools.failures import NoAnswerError
from ..tools.signature import is_awaitable
from ..tools.tool import Tool
from ..tools.tool_sources import check_is_tool

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Context = Mapping[Any, Any]

_GENERATED: Final = object()
_NUMBERS: Final = count()
"""The counter that numbers the calls of all doubles in their order."""

_MOST_GENERATED: Final = 25
"""How many results are generated for a double before they repeat."""


class DoubledCall(Value):
    """One call of a double.

    Attributes:
        name: name of the tool.
        arguments: the arguments as JSON values, with the defaults; None if the input can't be written.
        input: the input that the function would have got.
        number: the position of the call among the calls of all doubles.
    """

    name: str
    arguments: dict[str, Any] | None
    input: Any
    number: int


class ToolDouble(Tool[..., Any]):
    """A tool that replaces another one in a test: same name, schema and errors, but its function never runs.

    Use it wherever you use the tool: in toolsets, executors, servers and the adapters of frameworks.
    Arguments that the tool would refuse are refused with the same errors. Injected values aren't needed. For
    a tool without a function, the double answers the calls.

    Args:
        tool: the tool that it replaces.
        answer: the answer to each call: a value as the function would return it, an exception to raise, or a
            function that gets the input, plain or async, and returns the value. Without `answer` and
            `answers`, the double generates results that fit the declared type; this needs the extra
            `testing`.
        answers: such answers, one for each call; a call after the last one raises AssertionError, also
            through an executor.
        seed: the seed of generated results: the same seed gives the same results.

    Attributes:
        calls: the calls so far, in order, without refused ones.

    Raises:
        TypeError: `tool` isn't a tool, or `answer` is given together with `answers`.
        ValueError: there is nothing to generate, because the tool doesn't declare the type of its result.
    """

    _original: Tool[..., Any]
    _script: _Script

    def __init__(
        self,
        tool: Tool[..., Any],
        /,
        answer: Any = _GENERATED,
        *,
        answers: Iterable[Any] | None = None,
        seed: int = 0,
    ) -> None:
        check_is_tool("ToolDouble", tool)
        script = _Script(tool, answer, answers, seed)
        content: dict[str, Any] = {
            **tool.__dict__,
            "_original": tool,
            "_script": script,
            "_function": script,
            "_forms": {},
        }
        object.__setattr__(self, "__dict__", content)

    @property
    def calls(self) -> list[DoubledCall]:
        """The calls so far, including those of copies."""
        return list(self._script.calls)

    @property
    def has_function(self) -> bool:
        """Always True: the double answers calls, even for a tool without a function."""
        return True

    @property
    def takes_progress(self) -> bool:
        """Always False: a double reports no progress."""
        return False

    def check_context(self, context: Context | None = None) -> None:
        """Check nothing, because a double needs no context."""

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Answer a call from Python; for a tool without a function, build the input."""
        plan = self._plan
        if plan is None:
            return self._original(*args, **kwargs)
        given = signature(self._original).bind_partial(*args, **kwargs).arguments
        if plan.input_parameter is not None:
            return self._answered(given[plan.input_parameter])
        hidden = {parameter.name for parameter, _, _ in plan.injected}
        return self._answered(
            self.input_type(**{name: value for name, value in given.items() if name not in hidden})
        )

    def _call(self, given: Any, context: Context | None, injected: Mapping[str, Any]) -> Any:  # noqa: ARG002  # a double needs neither
        self._check_input(given, "call")
        return self._answered(given)

    def _answered(self, given: Any) -> Any:
        self._script.calls.append(
            DoubledCall(self.name, _arguments(self._original, given), given, next(_NUMBERS))
        )
        if not self.is_async:
            return self._script(given)
        return _awaited(self._script, given)

    def __get__(self, instance: Any, owner: Any = None, /) -> Any:
        """Return the double itself: it needs no instance."""
        return self

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> Any:
        message = f"a double of {quote(self.name)} can't be pickled: it remembers its calls in this process"
        raise TypeError(message)

    def __repr__(self) -> str:
        return f"ToolDouble({self._original!r})"


async def _awaited(script: _Script, given: Any) -> Any:
    answer = script(given)
    return await answer if is_awaitable(answer) else answer


def _arguments(tool: Tool[..., Any], given: Any) -> dict[str, Any] | None:
    try:
        return tool.encode_input(given)
    except (EncodeError, ToolError):
        return None


class _Script:
    """The answers of a double, shared by its copies.

    Attributes:
        calls: the calls so far.
    """

    def __init__(self, tool: Tool[..., Any], answer: Any, answers: Iterable[Any] | None, seed: int) -> None:
        if answers is not None and answer is not _GENERATED:
            message = "give ToolDouble either answer, for each call, or answers, one after the other"
            raise TypeError(message)
        self.calls: list[DoubledCall] = []
        self._tool = tool
        self._seed = seed
        self._answer = answer
        self._answers = None if answers is None else list(answers)
        self._generated: list[Any] = []
        self._given = 0
        self._lock = Lock()
        if answers is None and answer is _GENERATED:
            from .result_values import results

            self._results = results(tool)

    def __call__(self, given: Any) -> Any:
        """Answer a call."""
        with self._lock:
            answer = self._next()
        if isinstance(answer, BaseException):
            raise answer
        return answer(given) if callable(answer) and not isinstance(answer, type) else answer

    def _next(self) -> Any:
        number, self._given = self._given, self._given + 1
        if self._answers is not None:
            if number < len(self._answers):
                return self._answers[number]
            message = (
                f"the double of {quote(self._tool.name)} has {len(self._answers)} answers, "
                f"and this is call {number + 1}"
            )
            raise NoAnswerError(message)
        if self._answer is not _GENERATED:
            return self._answer
        if not self._generated:
            from .result_values import drawn

            self._generated = drawn(self._results, self._seed, _MOST_GENERATED)
        return deepcopy(self._generated[number % len(self._generated)])
