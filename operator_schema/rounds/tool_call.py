"""One call of a turn, decoded, and what was decided about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

from ..immutable import Value
from ..json_values import copy_json
from ..tools.calls import RawCall, ToolResult
from ..wording import checked_text, clip, escape, excerpt, listed, writable_text
from .inputs import checked_input

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..tools.calls import ResultCode
    from ..tools.execution.rounds import Limited
    from ..tools.tool import Tool

__all__ = [
    "CallIssue",
    "DecidedBy",
    "DeferredCall",
    "HandledCall",
    "Question",
    "RejectedCall",
    "State",
    "ToolCall",
    "continue_suggestion",
    "rejection_reason",
    "rejection_text",
    "shortened",
]

Input = TypeVar("Input", covariant=True)  # noqa: PLC0105  # it reads like the word

DecidedBy = Literal["hook", "host", "executor"]
"""Who gave the result of a call, or refused it."""

_REJECTION = "This call was rejected"
"""What the model reads of a rejected call begins with this."""


class _OfTurn:
    """What all calls of a turn have, whatever was decided about them."""

    __slots__ = ()

    if TYPE_CHECKING:
        index: int
        _raw: RawCall  # whose arguments somebody else may change
        _arguments: Any  # our own copy of them

    @property
    def id(self) -> str:
        """The id by which the provider matches call and result; calls of one turn may share it."""
        return self._raw.id

    @property
    def name(self) -> str:
        """The name of the tool, as the model wrote it."""
        return self._raw.name

    @property
    def metadata(self) -> RawCall:
        """The call as the model sent it, with a copy of the arguments at each reading."""
        raw = self._raw
        return RawCall(raw.id, raw.name, copy_json(self._arguments), raw.is_cut_off)

    def __repr__(self) -> str:
        about = [repr(getattr(self, name)) for name in ("input", "reason", "content") if hasattr(self, name)]
        return f"{type(self).__name__}({', '.join([repr(self.id), repr(self.name), *about, *self._more()])})"

    def _more(self) -> Sequence[str]:
        """Return what only some of them show."""
        return ()


class ToolCall(_OfTurn, Value, Generic[Input]):
    """A call of a turn, with its arguments decoded; `match call.input:` dispatches on it.

    Attributes:
        index: position in the turn, the first being 0.
        tool: that it calls.
        input: of `tool.input_type`.
        approved: whether a person, or a hook, has agreed to it; it isn't deferred again.
        answers: names of injected parameters, each with the answer of a person as a JSON value.
    """

    index: int
    _raw: RawCall
    _arguments: Any
    tool: Tool[..., Any]
    input: Input
    approved: bool = False
    _answers: tuple[tuple[str, Any], ...] = ()
    _runs: int = 0  # how often it was run before: it asked something, or was interrupted

    if not TYPE_CHECKING:  # for speed alone: it saves a quarter of what a call of a round costs

        def __new__(cls, index, _raw, _arguments, tool, input, approved, _answers, _runs):
            self = cls._draft()
            self.index = index
            self._raw = _raw
            self._arguments = _arguments
            self.tool = tool
            self.input = input
            self.approved = approved
            self._answers = _answers
            self._runs = _runs
            self.__class__ = cls
            return self

    @property
    def answers(self) -> dict[str, Any]:
        """The answers of people, as JSON values, by the name of the injected parameter."""
        return {name: copy_json(answer) for name, answer in self._answers}

    @property
    def run(self) -> tuple[int, int]:
        """Which run of which call of the turn it would be, for the rest of this package."""
        return self.index, self._runs

    def again(self) -> ToolCall[Input]:
        """Return the call as one that may be run once more, for the rest of this package."""
        return self.replace(approved=False, _runs=self._runs + 1)

    @property
    def arguments(self) -> dict[str, Any]:
        """The input as arguments: with what hooks and people changed.

        Raises:
            EncodeError: the input can't be written as JSON.
            ToolError: the input doesn't keep all that it was made of (`InitVar`).
        """
        return self.tool.encode_input(self.input)

    def with_input(self, given: Any, /) -> ToolCall[Any]:
        """Return the call with a copy of another input; `metadata` stays as the model sent it.

        The input is checked as the arguments of a model are.

        Args:
            given: of `tool.input_type`.

        Raises:
            DecodeError: it doesn't fit the types or the limits of the tool.
            EncodeError: it can't be written as JSON, so the plan could not be saved.
            ToolError: it isn't an input of this tool.
        """
        return self.replace(input=checked_input(self.tool, given))

    def complete(self, output: object, /) -> ToolResult:
        """Return the result of a call that your program has run.

        Args:
            output: of `tool.output_type`, where one is declared.

        Raises:
            EncodeError: it doesn't fit, or has no JSON form.
        """
        written = self.tool.write_output(output)
        return ToolResult(
            self.id,
            self.name,
            written.text,
            parts=written.parts,
            json=written.json,
            value=output,
            _index=self.index,
        )

    def fail(self, message: str, /) -> ToolResult:
        """Return the result of a call that your program could not run.

        Args:
            message: what the model reads.
        """
        text = writable_text("the message", message)
        return ToolResult(self.id, self.name, text, is_error=True, code="execution_failed", _index=self.index)

    def handled(self, output: object, /, by: DecidedBy = "host") -> HandledCall:
        """Return the call with its output, for `commit`.

        Raises:
            EncodeError: the output doesn't fit, or has no JSON form.
        """
        return HandledCall(self.index, self._raw, self._arguments, self, self.complete(output), by)

    def reject(self, reason: str = "", /, by: DecidedBy = "host") -> RejectedCall:
        """Return the call as one that is refused, for `commit`.

        Args:
            reason: for the model; it may be empty.
            by: who refuses it.
        """
        return RejectedCall(
            self.index, self._raw, self._arguments, self, writable_text("the reason", reason), by
        )

    def defer(self, reason: str = "", question: Question | None = None) -> DeferredCall[Input]:
        """Return the call as one about which somebody has to decide first.

        Args:
            reason: for whoever decides.
            question: that the tool has, or None.
        """
        reason = writable_text("the reason", reason)
        return DeferredCall(self.index, self._raw, self._arguments, self, reason, question)


class HandledCall(_OfTurn, Value):
    """A call that has its result.

    Attributes:
        index: position in the turn.
        call: with the input that was run; None if it was an issue before, or was restored and no longer
            fits its tool.
        result: that goes into the transcript.
        by: who gave it: a hook, your program, or the executor.
    """

    index: int
    _raw: RawCall
    _arguments: Any
    call: ToolCall[Any] | None
    result: ToolResult
    by: DecidedBy
    _saved: Any = None  # of a call that no longer fits: what is saved of it

    def _more(self) -> Sequence[str]:
        code = [f"code={self.result.code!r}"] if self.result.is_error else []
        return excerpt(self.result.content), *code


class RejectedCall(_OfTurn, Value):
    """A call that a hook or a person refused; it isn't run.

    Attributes:
        index: position in the turn.
        call: with the input that was refused; None if it was restored and no longer fits its tool.
        reason: for the model; it may be empty.
        by: who refused it.
    """

    index: int
    _raw: RawCall
    _arguments: Any
    call: ToolCall[Any] | None
    reason: str
    by: DecidedBy
    _saved: Any = None  # of a call that no longer fits: what is saved of it

    @property
    def result(self) -> ToolResult:
        """What goes into the transcript; `rejection_reason` reads the reason back."""
        return ToolResult(self.id, self.name, rejection_text(self.reason), is_error=True, code="rejected")


class Question(Value):
    """What a tool has to know before it can go on.

    Attributes:
        text: for a person.
        parameter: name of the injected parameter by which the function gets the answer.
        answer_schema: the JSON Schema of the answer, for a form; a copy at each reading.
    """

    text: str
    parameter: str
    _schema: Any
    _answer_type: Any = None

    @property
    def answer_schema(self) -> dict[str, Any]:
        """The JSON Schema of the answer, for a form; a copy at each reading."""
        copied: dict[str, Any] = copy_json(self._schema)
        return copied

    def __repr__(self) -> str:
        return f"Question({self.text!r}, {self.parameter!r})"


class DeferredCall(_OfTurn, Value, Generic[Input]):
    """A call about which a person or another system has to decide first.

    Attributes:
        index: position in the turn.
        call: as it will be run when it is approved.
        reason: why it waits, for whoever decides.
        question: that the tool has, or None: then the call is to be approved or rejected.
    """

    index: int
    _raw: RawCall
    _arguments: Any
    call: ToolCall[Input]
    reason: str
    question: Question | None = None

    @property
    def input(self) -> Input:
        """The input with which it will be run."""
        return self.call.input

    @property
    def arguments(self) -> dict[str, Any]:
        """The input as arguments: with what hooks changed.

        Raises:
            EncodeError: the input can't be written as JSON.
            ToolError: the input doesn't keep all that it was made of (`InitVar`).
        """
        return self.call.arguments

    @property
    def tool(self) -> Tool[..., Any]:
        """The tool that it calls."""
        return self.call.tool

    def _more(self) -> Sequence[str]:
        return () if self.question is None else (repr(self.question),)


class CallIssue(_OfTurn, Value):
    """A call that can't be run, and what the model reads about it.

    Attributes:
        index: position in the turn.
        code: why: the tool wasn't offered, isn't known, or the arguments don't fit.
        content: for the model.
        error: with all data, such as the problems of a `DecodeError`; None after a restart, and where
            there is no more to say. It takes no part in equality and hash.
    """

    index: int
    _raw: RawCall
    _arguments: Any
    code: ResultCode
    content: str
    error: Exception | None = None

    @property
    def result(self) -> ToolResult:
        """What goes into the transcript, unless `commit` gets another result."""
        details = None if self.error is None else {"exception": self.error}
        return ToolResult(self.id, self.name, self.content, is_error=True, code=self.code, details=details)

    def _key(self) -> tuple[Any, ...]:
        return self.index, self.id, self.name, self.code, self.content

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CallIssue):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


State: TypeAlias = "ToolCall[Any] | HandledCall | RejectedCall | DeferredCall[Any] | CallIssue"
"""The state of a call of a turn: pending (as a `ToolCall`), or one of the others."""


def shortened(state: State, limited: Limited) -> State:
    """Return a state with a result as long as a model may read; one without a result stays as it is."""
    if not isinstance(state, (HandledCall, RejectedCall)) or state.call is None:
        return state
    result = limited(state.call.tool, state.metadata, state.result)
    if isinstance(state, HandledCall):
        return state.replace(result=result)
    return state.replace(reason=rejection_reason(result) or "")


def rejection_text(reason: str) -> str:
    """Write what the model reads of a rejected call; the reason may be empty."""
    return f"{_REJECTION}: {reason}" if reason else f"{_REJECTION}."


def rejection_reason(result: ToolResult | Mapping[str, Any] | str, /) -> str | None:
    """Return why a call was rejected; None if it wasn't.

    Args:
        result: a result, one of the `results` of a turn as data (`turn.as_dict()`), or its text alone, as it
            came back from a provider. By its text alone, an output or a failure that says the same can't be
            told from a rejection.

    Returns:
        The reason; an empty string if none was given.

    Raises:
        TypeError: it is none of these.
    """
    text: object
    if isinstance(result, ToolResult):
        is_error, code, text = result.is_error, result.code, result.content
    elif isinstance(result, Mapping):
        is_error, code, text = result.get("is_error") is True, result.get("code"), result.get("content")
    else:
        is_error, code, text = True, None, result
    # A provider's module may not know the code any more.
    if not is_error or code not in {None, "rejected"}:
        return None
    content = checked_text("a result", text)
    if content == f"{_REJECTION}.":
        return ""
    head, separator, reason = content.partition(": ")
    return reason if head == _REJECTION and separator else None


def continue_suggestion(states: Iterable[State]) -> str | None:
    """Return why the model should get another turn: some of its calls could not be used."""
    issues = [state for state in states if isinstance(state, CallIssue)]
    if not issues:
        return None
    found = [f"{clip(escape(issue.name), 100)} ({issue.code})" for issue in issues]
    number = "1 call" if len(issues) == 1 else f"{len(issues)} calls"
    return f"{number} could not be used: {listed(found)}. Commit the turn and ask the model again"
