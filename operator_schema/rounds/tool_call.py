"""One call of a turn, in each of its states: pending, deferred, handled, rejected, or an issue."""

from __future__ import annotations

from collections.abc import Mapping
from time import time
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from ..errors import DecodeError, EncodeError
from ..findings import shown_call
from ..immutable import Value
from ..json_values import copy_json, is_array, is_object, to_json_text
from ..message_text import checked_text, count_of, excerpt, listed, one_line, writable_text
from ..tools.calls import RawCall, ToolResult, arguments_to_decode
from ..tools.failures import Failures
from .errors import RoundError
from .input_copies import checked_input, own_arguments

if TYPE_CHECKING:
    from collections.abc import Iterable

    import typing_extensions  # a type checker has it

    from ..findings import Finding
    from ..tools.calls import Limited, ResultCode, Wording
    from ..tools.changes import ChangedArguments, ChangedBy
    from ..tools.decision_records import DecisionRecord
    from ..tools.tool import Tool

    Input = typing_extensions.TypeVar("Input", covariant=True, default=Any)  # noqa: PLC0105  # it reads like the word

if not TYPE_CHECKING:
    Input = TypeVar("Input", covariant=True)  # noqa: PLC0105  # it reads like the word

CallState = Literal["pending", "handled", "rejected", "deferred", "issue"]
"""The call is to be run · it has its result · a hook or a person refused it · a person or another system has
to decide first · it can't be run."""

DecidedBy = Literal["hook", "host", "executor"]
"""Who gave the result of a call, or refused the call."""

FAILURES = Failures("type", str, ())
"""The texts for the model and the log when a call can't be run: the same as from an executor."""

INTERRUPTED = "it was begun and interrupted, so nobody knows whether it did its work"
"""The reason why a call waits that began and never ended."""

_EXPIRED = "Nobody approved this call in time, so it was not run."
"""The text that the model reads about a call that waited too long."""

_REJECTION = "This call was rejected"
"""The beginning of the text that the model reads about a rejected call."""


class Question(Value):
    """Information that a tool needs from a person before it can continue.

    Attributes:
        text: the question for a person.
        parameter: the name of the injected parameter for the answer.
        answer_schema: the JSON Schema of the answer, for a form; a new copy each time.
    """

    text: str
    parameter: str
    _schema: Any
    _answer_type: Any = None

    @property
    def answer_schema(self) -> dict[str, Any]:
        """The JSON Schema of the answer, for a form; a new copy each time."""
        copied: dict[str, Any] = copy_json(self._schema)
        return copied

    def __repr__(self) -> str:
        return f"Question({self.text!r}, {self.parameter!r})"


class Wait(Value):
    """The conditions on which a deferred call waits.

    Attributes:
        approvals: how many different people have to agree.
        expires_at: the deadline for approvals, in seconds since 1970; None for no deadline.
        approved_by: the people who have agreed to the call in its present form.
    """

    approvals: int = 1
    expires_at: float | None = None
    approved_by: tuple[str, ...] = ()


ONE_APPROVAL = Wait()
"""Most deferred calls wait for one person, at any time."""


class ToolCall(Value, Generic[Input]):
    """A call of a turn, with its state; use `match call.input:` to dispatch on the type of its input.

    Attributes:
        index: the position in the turn; the first is 0.
        state: `pending`: the call is to be run; `handled`: it has its result; `rejected`: a hook or a person
            refused it; `deferred`: a person or another system decides first; `issue`: it can't be run.
        approved: whether a person, or a hook, has agreed to the call; then it isn't deferred again.
        by: who gave its result, or refused it: `hook`, `host` (your program) or `executor`; otherwise None.
        reason: the reason of a rejected call, for the model; or the reason of a deferred call, for the person
            who decides. It may be empty. None in other states.
        question: the question of the tool of a deferred call; None if the call only needs approval.
        deferred_at: when the call last began to wait for a decision, in seconds since 1970; None if it never
            did.
        decisions: the decisions of hooks and people about the call so far, in order.
    """

    index: int
    _raw: RawCall  # whose arguments somebody else may change
    _arguments: Any  # our own copy of them
    _tool: Tool[..., Any] | None
    _input: Input
    state: CallState = "pending"
    approved: bool = False
    _answers: tuple[tuple[str, Any], ...] = ()
    _runs: int = 0  # how often it was run before: it asked something, or was interrupted
    by: DecidedBy | None = None
    reason: str | None = None
    question: Question | None = None
    _result: ToolResult | None = None
    _error: Exception | None = None  # of an issue; it takes no part in equality and hash
    _saved: Any = None  # of a call that no longer fits its tool: what is saved of it
    deferred_at: float | None = None  # neither this nor what follows takes part in equality
    _notes: Mapping[str, Any] | None = None  # notes of decoding on the arguments; lost by a restart
    _changed: ChangedArguments | None = None  # changes by hooks and people so far
    decisions: tuple[DecisionRecord, ...] = ()
    _wait: Wait = ONE_APPROVAL

    if not TYPE_CHECKING:  # for speed alone: it saves a quarter of what a call of a round costs

        def __new__(
            cls,
            index,
            _raw,
            _arguments,
            _tool,
            _input,
            state,
            approved,
            _answers,
            _runs,
            by,
            reason,
            question,
            _result,
            _error,
            _saved,
            deferred_at,
            _notes,
            _changed,
            decisions,
            _wait,
        ):
            self = cls._draft()
            self.index, self._raw, self._arguments = index, _raw, _arguments
            self._tool, self._input = _tool, _input
            self.state, self.approved = state, approved
            self._answers, self._runs = _answers, _runs
            self.by, self.reason, self.question = by, reason, question
            self._result, self._error, self._saved = _result, _error, _saved
            self.deferred_at, self._notes, self._changed = deferred_at, _notes, _changed
            self.decisions = tuple(decisions) if decisions.__class__ is list else decisions
            self._wait = _wait
            self.__class__ = cls
            return self

    # --- as the model sent it --------------------------------------------------------------------

    @property
    def id(self) -> str:
        """The provider's id for the call and its result; several calls of one turn may have the same id."""
        return self._raw.id

    @property
    def name(self) -> str:
        """The name of the tool; if it was corrected, `raw.sent_name` has the name that the model wrote."""
        return self._raw.name

    @property
    def raw(self) -> RawCall:
        """The call as the model sent it, with a new copy of the arguments each time."""
        raw = self._raw
        return raw.replace(arguments=copy_json(self._arguments), caller=copy_json(raw.caller))

    # --- the input -----------------------------------------------------------------------------------

    @property
    def details(self) -> Mapping[str, Any]:
        """The report of decoding the arguments: `repairs` and `ignored` keys, as findings.

        Empty if decoding reported nothing, and after a restart.
        """
        return self._notes or {}

    @property
    def has_input(self) -> bool:
        """Whether the call has a tool and an input; not for an issue, or if it no longer fits its tool."""
        return self._tool is not None

    @property
    def tool(self) -> Tool[..., Any]:
        """The called tool.

        Raises:
            RoundError: the call has no tool.
        """
        if self._tool is None:
            raise self._without_input()
        return self._tool

    @property
    def input(self) -> Input:
        """The input that the call runs with, an instance of `tool.input_type`.

        Raises:
            RoundError: the call has no input.
        """
        if self._tool is None:
            raise self._without_input()
        return self._input

    @property
    def arguments(self) -> dict[str, Any]:
        """The input as arguments, with the changes of hooks and people.

        Raises:
            EncodeError: the input can't be written as JSON.
            RoundError: the call has no input.
            ToolError: the input doesn't store everything that it was made from (`InitVar`).
        """
        return self.tool.encode_input(self.input)

    @property
    def arguments_before(self) -> dict[str, Any] | None:
        """The arguments before hooks or people changed them; None if nobody changed them."""
        return None if self._changed is None else copy_json(self._changed.before)

    @property
    def changed(self) -> ChangedArguments | None:
        """The changes of hooks and people to the arguments; None if there are none."""
        return self._changed

    @property
    def expires_at(self) -> float | None:
        """The deadline for the approval of a deferred call, in seconds since 1970; None for no deadline."""
        return self._wait.expires_at

    @property
    def has_expired(self) -> bool:
        """Whether the call waits, and its deadline has passed."""
        until = self.expires_at
        return until is not None and time() >= until

    @property
    def approvals(self) -> int:
        """How many different people have to agree before a deferred call runs."""
        return self._wait.approvals

    @property
    def approved_by(self) -> tuple[str, ...]:
        """Who has agreed so far to a deferred call that needs several approvals."""
        return self._wait.approved_by

    @property
    def answers(self) -> dict[str, Any]:
        """The answers of people, as JSON values, by the name of the injected parameter."""
        return {name: copy_json(answer) for name, answer in self._answers}

    @property
    def run(self) -> tuple[int, int]:
        """The position of the call and the number of its next run, for the rest of this package."""
        return self.index, self._runs

    def _without_input(self) -> RoundError:
        why = "can't be run" if self.state == "issue" else "doesn't fit its tool"
        message = (
            f"{shown_call(self.name, self.id)} {why}, so it has no input: call.raw has what the model sent"
        )
        return RoundError(message)

    # --- its result -------------------------------------------------------------------------

    @property
    def result(self) -> ToolResult | None:
        """The result for the transcript; None while the call is pending or deferred.

        `commit` may get another result for an issue. `rejection_reason` returns the reason of a rejected
        call.
        """
        if self.state == "rejected":
            text = rejection_text(self.reason or "")
            return ToolResult(self.id, self.name, text, is_error=True, code="rejected")
        if self._error is None or self._result is None:
            return self._result
        return self._result.replace(details={"exception": self._error})

    @property
    def error(self) -> Exception | None:
        """The exception for which the call has no output, such as the `DecodeError` of an issue.

        None if no exception was raised or there is no result, and after a restart.
        """
        details = None if self.result is None else self.result.details
        return None if details is None else details.get("exception")

    @property
    def code(self) -> ResultCode | None:
        """The code of the failure in the result; None if the call has an output, or no result."""
        return None if self.result is None else self.result.code

    @property
    def content(self) -> str | None:
        """The content of the result for the model; None while there is no result."""
        return None if self.result is None else self.result.content

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The problems with the arguments of an issue; empty in other states, and after a restart."""
        return tuple(self._error.findings) if isinstance(self._error, DecodeError) else ()

    # --- results and other states ----------------------------------------------------------------

    def with_input(self, given: Any, /, *, by: ChangedBy = "host", hook: str | None = None) -> ToolCall[Any]:
        """Return the call with a copy of another input; `raw` stays as the model sent it.

        The input passes the same checks as the arguments of a model.

        Args:
            given: an instance of `tool.input_type`.
            by: who changes the input; `host` is your program.
            hook: the name of the hook that changes the input, or None.

        Raises:
            DecodeError: the input doesn't fit the types or the limits of the tool.
            EncodeError: the input can't be written as JSON, so the round could not be saved.
            RoundError: the call has no tool.
            ToolError: the input belongs to another tool.
        """
        from ..tools.changes import changed_by  # most calls run as the model sent them

        own = checked_input(self.tool, given)
        try:
            before = self._before_edits()
        except Exception:  # noqa: BLE001  # an `InitVar`, or a class's own code: what was sent has to do
            sent = arguments_to_decode(self.raw)
            before = sent if is_object(sent) else {}
        changed = changed_by(self._changed, before, self.tool.encode_input(own), by, hook)
        return self.replace(_input=own, _changed=changed)

    def with_edits(self, *, by: ChangedBy) -> ToolCall[Input]:
        """Return the call, in which edits of its input in place are recorded as a change; for this package.

        An input that can't be written as JSON, or not be created again, stays unchanged: it can't be
        compared.

        Args:
            by: who edited the input.

        Raises:
            DecodeError: the input no longer fits the types or the limits of the tool.
            EncodeError: the input can no longer be written as JSON.
        """
        try:
            before = self._before_edits()
        except Exception:  # noqa: BLE001  # as above
            return self
        is_same = to_json_text(before) == to_json_text(self._written())
        return self if is_same else self.with_input(self.input, by=by)

    def _before_edits(self) -> dict[str, Any]:
        """Return the arguments before edits in place: from the model, or after the last recorded change.

        A value that a default creates anew each time is the same as in the input.
        """
        if self._changed is not None:
            return self._changed.arguments
        first, now = self._made_anew(), self._written()
        if now is None or to_json_text(first) == to_json_text(now):
            return first
        before: dict[str, Any] = _with_what_is_new(first, self._made_anew(), now)
        return before

    def _made_anew(self) -> dict[str, Any]:
        return self.tool.encode_input(self.tool.decode(arguments_to_decode(self.raw)))

    def _written(self) -> dict[str, Any] | None:
        """Return the input as arguments; None if it can't be written after an edit."""
        try:
            return self.arguments
        except EncodeError:
            return None

    def complete(self, output: object, /) -> ToolResult:
        """Return the result of a call that your program has run.

        Args:
            output: an instance of `tool.output_type`, if one is declared.

        Raises:
            EncodeError: the output doesn't fit, or has no JSON form.
            RoundError: the call has no tool.
        """
        return self._saying_what_changed(self._completed(output), has_run=True)

    def _completed(self, output: object) -> ToolResult:
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
            message: the text that the model reads.
        """
        text = writable_text("the message", message)
        return ToolResult(self.id, self.name, text, is_error=True, code="execution_failed", _index=self.index)

    def handled(self, output: object, /, by: DecidedBy = "host") -> ToolCall[Input]:
        """Return the call with its output, for `commit`.

        Raises:
            EncodeError: the output doesn't fit, or has no JSON form.
            RoundError: the call has no tool.
        """
        # If a hook gives the output, the function doesn't run.
        return (
            self._ended(self._completed(output), by)
            if by == "hook"
            else self.with_result(self.complete(output), by)
        )

    def with_result(self, result: ToolResult, /, by: DecidedBy = "host") -> ToolCall[Input]:
        """Return the call with a result, for `commit`.

        Args:
            result: a result, such as one from `complete` or `fail`. If hooks or people changed the arguments,
                the text of the result will say so.
            by: who gave the result.
        """
        # Only `complete` proves that your program has run a call: a call can fail before its function runs.
        has_run = by != "host" and not result.is_error
        return self._ended(self._saying_what_changed(result, has_run=has_run), by)

    def _ended(self, result: ToolResult, by: DecidedBy) -> ToolCall[Input]:
        return self.replace(
            state="handled",
            by=by,
            reason=None,
            question=None,
            _result=result,
            _error=None,
            _saved=None,
            _wait=ONE_APPROVAL,
        )

    def _saying_what_changed(self, result: ToolResult, *, has_run: bool) -> ToolResult:
        """Return a result whose text describes the changes of the arguments, if there are any."""
        if self._changed is None:
            return result
        from .change_text import with_change  # most calls run as the model sent them

        return with_change(result, self.tool, self._changed, has_run=has_run)

    def reject(self, reason: str = "", /, by: DecidedBy = "host") -> ToolCall[Input]:
        """Return the call as rejected, for `commit`.

        Args:
            reason: the reason for the model; it may be empty.
            by: who rejected the call.
        """
        text = writable_text("the reason", reason)
        return self.replace(
            state="rejected",
            by=by,
            reason=text,
            question=None,
            _result=None,
            _error=None,
            _saved=None,
            _wait=ONE_APPROVAL,
        )

    def defer(
        self, reason: str = "", question: Question | None = None, wait: Wait = ONE_APPROVAL
    ) -> ToolCall[Input]:
        """Return the call as deferred: a person or another system has to decide first.

        Args:
            reason: the reason for the person or system that decides.
            question: the question of the tool, or None.
            wait: the deadline, and the number of people who must agree.

        Raises:
            RoundError: the call has no tool.
        """
        if self._tool is None:
            raise self._without_input()
        text = writable_text("the reason", reason)
        return self.replace(
            state="deferred",
            by=None,
            reason=text,
            question=question,
            _result=None,
            deferred_at=time(),
            _wait=wait,
        )

    def as_pending(self) -> ToolCall[Input]:
        """Return a deferred call as pending, for the rest of this package."""
        if self.state == "pending":
            return self
        return self.replace(state="pending", reason=None, question=None, _wait=ONE_APPROVAL)

    def again(self) -> ToolCall[Input]:
        """Return the call with permission to run once more, for the rest of this package."""
        return self.as_pending().replace(approved=False, _runs=self._runs + 1)

    def interrupted(self) -> ToolCall[Input]:
        """Return an interrupted call as deferred; it keeps the record of who has agreed to it."""
        return self.as_pending().replace(_runs=self._runs + 1).defer(INTERRUPTED)

    def expired(self) -> ToolCall[Input]:
        """Return a deferred call with a result that says that nobody agreed in time, for this package."""
        result = ToolResult(self.id, self.name, _EXPIRED, is_error=True, code="expired", _index=self.index)
        return self.with_result(result)

    # --- as a value ------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ToolCall):
            return NotImplemented
        for name in _COMPARED:
            own, others = getattr(self, name), getattr(other, name)  # pyright: ignore[reportUnknownArgumentType]  # of whatever input
            if own is not others and own != others:
                return False
        return True

    def __hash__(self) -> int:
        return hash((self.index, self.id, self.name, self.state))

    def __repr__(self) -> str:
        shown = [repr(self.id), repr(self.name)]
        if self.state != "pending":
            shown.append(repr(self.state))
        if self.state in {"pending", "deferred"}:
            shown.append(repr(self._input))
        if self.reason is not None:
            shown.append(repr(self.reason))
        if self.question is not None:
            shown.append(repr(self.question))
        if self.approvals > 1:
            shown.append(f"{len(self.approved_by)} of {self.approvals} approvals")
        if self._result is not None:
            shown.append(excerpt(self._result.content))
            shown += [f"code={self._result.code!r}"] if self._result.is_error else []
        return f"ToolCall({', '.join(shown)})"


def _with_what_is_new(first: Any, second: Any, now: Any) -> Any:
    """Return a JSON value in which parts that differ between two decodings have their present values."""
    if is_object(first) and is_object(second) and is_object(now):
        return {
            key: _with_what_is_new(value, second.get(key), now.get(key, value))
            for key, value in first.items()
        }
    if is_array(first) and is_array(second) and is_array(now) and len(first) == len(second):
        counterparts = [*now, *first[len(now) :]]
        return [_with_what_is_new(*parts) for parts in zip(first, second, counterparts, strict=False)]
    return first if to_json_text(first) == to_json_text(second) else now


_NOT_COMPARED = frozenset({"_error", "deferred_at", "_notes", "_changed"})
_COMPARED = tuple([name for name in ToolCall.__slots__ if name not in _NOT_COMPARED])


def call_with_input(
    index: int, raw: RawCall, tool: Tool[..., Any], given: Any, notes: Mapping[str, Any] | None = None
) -> ToolCall[Any]:
    """Return a pending call with its input, and with arguments that nobody else can change.

    Raises:
        DecodeError: the arguments aren't JSON, although they fit the types.
    """
    arguments = raw.arguments
    own = arguments if arguments.__class__ is str else own_arguments(raw)
    return ToolCall(index, raw, own, tool, given, _notes=notes)


def call_issue(index: int, raw: RawCall, arguments: Any, result: ToolResult) -> ToolCall[Any]:
    """Return a call that can't be run."""
    error = (result.details or {}).get("exception")
    own = ToolResult(raw.id, raw.name, result.content, is_error=True, code=result.code)
    return ToolCall(index, raw, arguments, None, None, "issue", _result=own, _error=error)


def worded(call: ToolCall[Any], wording: Wording) -> ToolCall[Any]:
    """Return an issue about arguments with the text of an executor; any other call unchanged."""
    result = call.result if call.state == "issue" else None
    if result is None or call.error is None or result.code not in _WORDED:
        return call
    return call.replace(_result=result.replace(content=wording(call.raw, call.error), details=None))


_WORDED = frozenset({"invalid_params", "execution_failed"})
"""The codes of issues for which an executor may have its own text."""


def shortened(call: ToolCall[Any], limited: Limited) -> ToolCall[Any]:
    """Return a call whose result is cut to the length that a model may read; unchanged without a result."""
    result = call.result if call.state in {"handled", "rejected"} and call.has_input else None
    if result is None:
        return call
    short = limited(call.tool, call.raw, result)
    if call.state == "handled":
        return call.replace(_result=short)
    return call.replace(reason=rejection_reason(short) or "")


def rejection_text(reason: str) -> str:
    """Write the text that the model reads about a rejected call; the reason may be empty."""
    return f"{_REJECTION}: {reason}" if reason else f"{_REJECTION}."


def rejection_reason(result: ToolResult | Mapping[str, Any] | str, /) -> str | None:
    """Return the reason why a call was rejected; None if it wasn't.

    Args:
        result: a result, an item of the `results` of a turn as data (`turn.as_dict()`), or the text of a
            result that came back from a provider. If only a text is given, a rejection can't be distinguished
            from an output or failure with the same text.

    Returns:
        The reason; an empty string if the rejection has no reason.

    Raises:
        TypeError: the argument is none of these.
    """
    text: object
    if isinstance(result, ToolResult):
        is_error, code, text = result.is_error, result.code, result.content
    elif isinstance(result, Mapping):
        is_error, code, text = result.get("is_error") is True, result.get("code"), result.get("content")
    else:
        is_error, code, text = True, None, result
    # A provider's module may not know the code of the result any more.
    if not is_error or code not in {None, "rejected"}:
        return None
    content = checked_text("a result", text)
    if content == f"{_REJECTION}.":
        return ""
    head, separator, reason = content.partition(": ")
    return reason if head == _REJECTION and separator else None


def continue_suggestion(calls: Iterable[ToolCall[Any]]) -> str | None:
    """Return the reason why the model should get another turn: some of its calls were unusable."""
    issues = [call for call in calls if call.state == "issue"]
    if not issues:
        return None
    found = [f"{one_line(issue.name, 100)} ({issue.code})" for issue in issues]
    number = count_of(len(issues), "calls")
    return f"{number} could not be used: {listed(found)}. Commit the turn and ask the model again"
