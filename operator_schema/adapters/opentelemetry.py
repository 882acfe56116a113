"""OpenTelemetry: a span for each call of a tool and for each round; needs the extra `opentelemetry`.

`Executor(tools, hooks=spans())` is enough. Names and attributes follow the conventions for generative AI
(https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-spans.md); names
that these don't have begin with `operator_schema.`. Arguments and results are recorded only if asked for.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic, time
from typing import TYPE_CHECKING, Any, Final, cast

from .base import needing

with needing("opentelemetry.trace", "opentelemetry-api 1.30 or newer", "opentelemetry"):
    from opentelemetry import context as contexts
    from opentelemetry.trace import (
        Link,
        SpanKind,
        Status,
        StatusCode,
        get_current_span,
        get_tracer,
        set_span_in_context,
    )
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from .. import __version__, recordings
from ..errors import DecodeError
from ..json_values import to_json_text, without_surrogates
from ..lazy import answer_misnamed
from ..message_text import checked_switch, received, show_path
from ..rounds import hook
from ..tools import RawCall, ToolResult
from .opentelemetry_metrics import (
    APPROVAL,
    DECISIONS,
    approvals_in,
    bounded,
    histogram_in,
    observe_store,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterable, Mapping, Sequence

    from opentelemetry.metrics import Histogram, Meter
    from opentelemetry.trace import Span, Tracer

    from ..execution import Execution
    from ..findings import Finding
    from ..recordings import KeysOfTools
    from ..rounds import ArgumentChange, ChangedArguments, DecisionRecord, Round, ToolCall
    from ..tools import Tool
    from .opentelemetry_metrics import Approvals

__all__ = ["Spans", "current_trace", "observe_store", "spans"]

answer_misnamed(__name__)

_DESCRIPTION_LENGTH: Final = 2_000
_MOST_EVENTS: Final = 20
"""The most events of one kind in a span; the SDK keeps 128 in all."""

_NO_ERROR: Final = frozenset({"expired", "needs_approval", "needs_input", "rejected"})
"""The codes of calls without a result that aren't errors, because somebody decides or decided so."""

_ran: ContextVar[list[tuple[str, str]] | None] = ContextVar("operator_schema_ran", default=None)
"""Id and name of the calls of the current round that have a span of their own."""

_round: ContextVar[Round[Any] | None] = ContextVar("operator_schema_round", default=None)
"""The current round; None while a call runs alone."""

_TRACES: Final = TraceContextTextMapPropagator()
_CARRIED: Final = ("traceparent", "tracestate")
"""The keys of a trace in W3C's form. Source: https://www.w3.org/TR/trace-context/"""


def current_trace() -> dict[str, str]:
    """Return the current trace as JSON, for `about` of a round that may wait.

    With `offer.round(answer, about=current_trace())`, or with these keys beside others in `about`, the spans
    of the round link to this trace, also days later and in another process.

    Returns:
        `traceparent`, and `tracestate` if there is one; nothing outside of a span.
    """
    carrier: dict[str, str] = {}
    _TRACES.inject(carrier)
    return carrier


def _links_of(about: object) -> list[Link]:
    """Return a link to the trace in which a round was asked for, unless that is the current trace."""
    if not isinstance(about, dict):
        return []
    known = cast("dict[str, object]", about)
    carrier = {name: text for name in _CARRIED if isinstance(text := known.get(name), str)}
    asked = get_current_span(_TRACES.extract(carrier, contexts.Context())).get_span_context()
    now = get_current_span().get_span_context()
    return [Link(asked)] if asked.is_valid and asked.trace_id != now.trace_id else []


def _names_of(work: Round[Any]) -> dict[str, str]:
    """Return the attributes that name a round."""
    names = {"operator_schema.round.id": bounded(work.id)}
    return (
        names
        if work.conversation is None
        else {**names, "gen_ai.conversation.id": bounded(work.conversation)}
    )


def spans(
    tracer: Tracer | None = None,
    *,
    record_arguments: bool = False,
    record_results: bool = False,
    redact: Collection[str] = (),
    max_length: int = 10_000,
    meter: Meter | None = None,
) -> Spans:
    """Return hooks that make a span for each call and each round: `Executor(tools, hooks=spans())`.

    Args:
        tracer: makes the spans; None for the tracer of the global provider.
        record_arguments: whether to record `gen_ai.tool.call.arguments`, which may contain personal data.
        record_results: whether to record `gen_ai.tool.call.result`, the text for the model.
        redact: names of keys whose values are replaced by "[redacted]" at any depth, in arguments and
            results, also under other spellings and in texts. Arguments that aren't JSON, and unreadable texts
            that name such a key, may contain secrets anywhere and are replaced as a whole. If the schema of a
            called tool has a key that is nearly one of these, a warning is logged once.
        max_length: characters that arguments, and a result, may have; longer ones are left out, and only
            their length is recorded.
        meter: records how long calls take in the histogram `gen_ai.execute_tool.duration`, and counts those
            that waited for a person in `operator_schema.approvals`; None for no metrics.

    Raises:
        TypeError: tracer, meter or a switch has the wrong type, or `redact` isn't a list of names.
        ValueError: `max_length` isn't a positive integer.
    """
    for name, given, method, module in (
        ("tracer", tracer, "start_span", "trace"),
        ("meter", meter, "create_histogram", "metrics"),
    ):
        if given is not None and not hasattr(given, method):
            example = f"{module}.get_{name}(…)"
            message = f"{name} must be one of OpenTelemetry's, such as {example}, not {received(given)}"
            raise TypeError(message)
    checked_switch("record_arguments", record_arguments)
    checked_switch("record_results", record_results)
    if type(max_length) is not int or max_length < 1:
        message = f"max_length must be a positive number of characters, not {received(max_length)}"
        raise ValueError(message)
    used = get_tracer("operator_schema", __version__) if tracer is None else tracer
    keys: KeysOfTools | None = None
    if redact != ():
        keys = recordings.KeysOfTools(recordings.hidden_keys(redact, "a list of names of arguments"))
    return Spans(
        used, histogram_in(meter), approvals_in(meter), record_arguments, record_results, max_length, keys
    )


class Spans:
    """Hooks that make spans; made by `spans`."""

    def __init__(
        self,
        tracer: Tracer,
        durations: Histogram | None,
        approvals: Approvals | None,
        record_arguments: bool,  # noqa: FBT001  # `spans` takes them by name
        record_results: bool,  # noqa: FBT001  # the same
        max_length: int,
        keys: KeysOfTools | None,
    ) -> None:
        self._tracer = tracer
        self._durations = durations
        self._approvals = approvals
        self._record_arguments = record_arguments
        self._record_results = record_results
        self._max_length = max_length
        self._keys = keys

    @hook.around()
    @contextmanager
    def around(self, execution: Execution) -> Generator[None]:
        """Make the span of a call or a round; spans made inside become its children."""
        work = execution.work
        is_call = isinstance(work, RawCall)
        if not is_call:  # a tool may be replaced meanwhile
            self._note_keys([work.toolset[call.name] for call in work.calls if call.name in work.toolset])
        began = monotonic()
        links = None if is_call else _links_of(work.about)
        span = self._call_span(work) if is_call else self._tracer.start_span("execute_round", links=links)
        token = contexts.attach(set_span_in_context(span))
        outer = _ran.get()
        ran = _ran.set(None if is_call else [])  # what a tool itself runs isn't part of the round
        known = _round.set(None if is_call else work)
        try:
            yield
        finally:
            if is_call and outer is not None:
                outer.append((work.id, work.name))
            try:
                self._describe(span, execution)
                if is_call and self._durations is not None:
                    self._measure(self._durations, execution, monotonic() - began)
            finally:
                span.end()
                if not isinstance(execution.outcome, GeneratorExit):  # that may come in another context
                    contexts.detach(token)
                    _ran.reset(ran)
                    _round.reset(known)

    def _describe(self, span: Span, execution: Execution) -> None:
        work, outcome = execution.work, execution.outcome
        if not isinstance(work, RawCall):
            if isinstance(outcome, BaseException):
                _mark_failed(span, _class_name(outcome))
            self._describe_round(span, work, outcome)
            return
        if execution.tool is None:
            span.update_name("execute_tool")  # a name that a model made up: there may be any number of them
        else:
            span.set_attribute(
                "gen_ai.tool.description", bounded(execution.tool.description, _DESCRIPTION_LENGTH)
            )
        self._note_keys(execution.tools)
        decision = _record_waiting(span, execution.deferred_at, outcome)
        if decision is not None and self._approvals is not None:
            self._approvals.add(work.name, decision)
        span.set_attributes(_decisions(execution.decisions))
        self._record_outcome(span, work, outcome, execution.details, execution.changed)

    def _call_span(self, call: RawCall) -> Span:
        """Start the span of a call."""
        name = bounded(call.name)
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.call.id": bounded(call.id),
            "gen_ai.tool.type": "function",
        }
        if call.sent_name is not None:
            attributes[_NAMES["sent_name"]] = bounded(call.sent_name)
        work, links = _round.get(), None
        if work is not None:
            attributes |= _names_of(work)
            links = _links_of(work.about)
        return self._tracer.start_span(
            f"execute_tool {name}", kind=SpanKind.INTERNAL, attributes=attributes, links=links
        )

    def _record_outcome(
        self,
        span: Span,
        call: RawCall,
        outcome: ToolResult | BaseException,
        notes: Mapping[str, Any],
        changed: ChangedArguments | None = None,
    ) -> None:
        """Record the outcome of a call; `changed` has its arguments if they differ from the model's."""
        if not span.is_recording():
            return
        if isinstance(outcome, ToolResult):
            details = outcome.details or {}
            raised = details.get("exception")
            wrong = raised.findings if isinstance(raised, DecodeError) else ()
            notes = {**notes, "findings": wrong, "mismatches": details.get("mismatches", ())}
            if outcome.code is not None:
                span.set_attribute("operator_schema.code", outcome.code)
        found = {kind: tuple(notes.get(kind, ())) for kind in _EVENTS}
        data = self._data_of(call, outcome, found, changed)
        for key, attribute in _NAMES.items():
            if key in data and data[key] != getattr(call, key):
                span.set_attribute(attribute, bounded(data[key]))
        if changed is not None:
            span.set_attribute(_CHANGED_BY, [_changer(change) for change in changed.changes][:_MOST_EVENTS])
        if self._record_arguments:
            if changed is not None:
                self._record(span, "arguments", _arguments_text(data["sent"]), _SENT)
            self._record(span, "arguments", _arguments_text(data["arguments"]))
        if self._record_results and isinstance(outcome, ToolResult) and not outcome.is_error:
            self._record(span, "result", data["result"]["content"])
        for kind, event in _EVENTS.items():
            _record_findings(span, event, data["findings"][kind])
        error = _error_of(outcome)
        if error is not None:
            _mark_failed(span, error)

    def _note_keys(self, tools: Iterable[Tool[..., Any]]) -> None:
        """Note the keys of tools; warn once about keys that are similar to secret ones but are recorded."""
        if self._keys is None:
            return
        for tool in tools:
            if self._keys.add(tool) and (self._record_arguments or self._record_results):
                self._keys.hidden.warn_of_misspelt([tool])

    def _data_of(
        self,
        call: RawCall,
        outcome: Any,
        found: Mapping[str, tuple[Finding, ...]],
        changed: ChangedArguments | None,
    ) -> dict[str, Any]:
        """Return the data to record about a call, without secrets."""
        is_result = isinstance(outcome, ToolResult)
        result = {"content": outcome.content, "json": outcome.json} if is_result else {"content": ""}
        names = {key: name for key in _NAMES if (name := getattr(call, key)) is not None}
        line = {**names, "arguments": call.arguments, "result": result}
        if changed is not None:
            line |= {"arguments": changed.arguments, "sent": call.arguments}
        if self._keys is None:
            return {**line, "findings": found}
        steps = {step for findings in found.values() for each in findings for step in each.path}
        keys = [step for step in steps if isinstance(step, str)]
        without, hidden = recordings.without_secrets, recordings.REDACTED
        data: dict[str, Any]
        try:
            data = without({**line, "keys": [{key: None} for key in keys]}, self._keys.of(call.name))
        except Exception:  # noqa: BLE001  # it nests too deep, or isn't JSON: a secret may be anywhere
            data = dict.fromkeys(line, hidden) | {
                "result": {"content": hidden},
                "keys": [{hidden: 0}] * len(keys),
            }
        shown = dict(zip(keys, [next(iter(key)) for key in data.pop("keys")], strict=True))
        return {**data, "findings": {kind: _with_keys(each, shown) for kind, each in found.items()}}

    def _record(self, span: Span, kind: str, text: str | None, name: str | None = None) -> None:
        name = name or f"gen_ai.tool.call.{kind}"
        if text is None:
            return
        if len(text) > self._max_length:
            span.set_attribute(f"operator_schema.{kind}.length", len(text))
        else:
            span.set_attribute(name, without_surrogates(text))

    def _count(self, work: Round[Any], call: ToolCall[Any], decision: str) -> None:
        """Count a call of a round that wasn't run; if the round is in a store, its commit counts the call."""
        if self._approvals is not None and work.revision is None:
            self._approvals.add_once(work, call, decision)

    def _measure(self, durations: Histogram, execution: Execution, seconds: float) -> None:
        name = execution.work.name if execution.tool is not None else "_OTHER"
        attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": bounded(name)}
        error = _error_of(execution.outcome)
        durations.record(seconds, attributes if error is None else {**attributes, "error.type": error})

    # --- rounds ----------------------------------------------------------------------------------

    def _describe_round(self, span: Span, before: Round[Any], outcome: Any) -> None:
        """Record a round: the number of calls in each state, and the calls that had no span yet."""
        after: Any = getattr(outcome, "round", outcome)
        span.set_attributes(_names_of(before))
        calls: Iterable[ToolCall[Any]] = getattr(after, "calls", before.calls)
        states = [call.state for call in calls]
        for state in dict.fromkeys(states):
            span.set_attribute(f"operator_schema.round.{state}", states.count(state))
        if after is outcome:
            self._record_calls_without_spans(span, before, after)

    def _record_calls_without_spans(self, span: Span, before: Round[Any], after: Round[Any]) -> None:
        """Make a span for each call that ended now without being run.

        A call that waits, or that a person refused before, becomes an event of the round.
        """
        ran = list(_ran.get() or ())
        is_first = not any(call.approved or call.by in {"executor", "host"} for call in before.calls)
        for old, new in zip(before.calls, after.calls, strict=True):
            if (new.id, new.name) in ran:
                ran.remove((new.id, new.name))
            elif new.state == "deferred" or old.state == "rejected":
                data = self._data_of(new.raw, new.result, {}, new.changed)
                names = {
                    "gen_ai.tool.name": bounded(data["name"]),
                    "gen_ai.tool.call.id": bounded(data["id"]),
                }
                span.add_event(f"operator_schema.{new.state}", {**names, **_decisions(new.decisions)})
                if new.state == "rejected" and after.is_complete:  # else the round runs again
                    self._count(after, new, "rejected")
            elif new.result is not None and (old.state in {"pending", "deferred"} or is_first):
                self._record_ended_call(after, new, new.result)

    def _record_ended_call(self, work: Round[Any], call: ToolCall[Any], result: ToolResult) -> None:
        raw = call.raw
        span = self._call_span(raw)
        decision = _record_waiting(span, call.deferred_at, result)
        if decision is not None:
            self._count(work, call, decision)
        span.set_attributes(_decisions(call.decisions))
        if call.has_input:
            span.set_attribute("gen_ai.tool.description", bounded(call.tool.description, _DESCRIPTION_LENGTH))
        elif call.name not in work.toolset or result.code == "not_available":
            span.update_name("execute_tool")
        self._record_outcome(span, raw, result, call.details)
        span.end()


def _record_waiting(span: Span, deferred_at: float | None, outcome: Any) -> str | None:
    """Record how waiting for a person ended and how long it took; return the decision, if the call waited."""
    if deferred_at is None:
        return None
    decision = DECISIONS.get(getattr(outcome, "code", None), "approved")
    span.set_attribute(APPROVAL, decision)
    span.set_attribute("operator_schema.approval.seconds", max(0.0, time() - deferred_at))
    return decision


_EVENTS: Final = {
    "findings": "operator_schema.problem",
    "repairs": "operator_schema.repair",
    "ignored": "operator_schema.ignored",
    "mismatches": "operator_schema.mismatch",
}
"""The events for findings: problems, repairs, ignored keys, and results that don't fit."""


_NAMES: Final = {
    "id": "gen_ai.tool.call.id",
    "name": "gen_ai.tool.name",
    "sent_name": "operator_schema.tool.sent_name",
}
_SENT: Final = "operator_schema.arguments.sent"
_CHANGED_BY: Final = "operator_schema.arguments.changed_by"


def _changer(change: ArgumentChange) -> str:
    return change.by if change.hook is None else bounded(f"{change.by} {change.hook}")


def _arguments_text(arguments: Any) -> str | None:
    """Return the arguments of a call as JSON text; None if they have none."""
    if isinstance(arguments, (bytes, bytearray)):
        return bytes(arguments).decode(errors="replace")
    if isinstance(arguments, str):
        return arguments
    try:
        return to_json_text({} if arguments is None else arguments)
    except Exception:  # noqa: BLE001  # they aren't JSON, or the code of a class
        return None


def _with_keys(findings: tuple[Finding, ...], shown: Mapping[Any, str]) -> tuple[Finding, ...]:
    """Return findings with other keys in their paths."""
    return tuple(
        [each.replace(path=tuple([shown.get(step, step) for step in each.path])) for each in findings]
    )


def _record_findings(span: Span, event: str, found: tuple[Finding, ...]) -> None:
    if not found:
        return
    span.set_attribute(f"{event}.count", len(found))
    for finding in found[:_MOST_EVENTS]:
        attributes = {
            "operator_schema.path": bounded(show_path(finding.path)),
            "operator_schema.code": finding.code,
        }
        span.add_event(event, attributes)


def _decisions(decisions: Sequence[DecisionRecord]) -> dict[str, list[str]]:
    """Return the attribute that says what was decided about a call, and by whom; none if nothing was."""
    found = [bounded(f"{one.kind} by {one.by or one.decider}") for one in decisions[-_MOST_EVENTS:]]
    return {"operator_schema.decisions": found} if found else {}


def _error_of(outcome: Any) -> str | None:
    """Return the `error.type` for the outcome of a call; None if nothing went wrong."""
    if isinstance(outcome, BaseException):
        return _class_name(outcome)
    if outcome is None or outcome.code is None or outcome.code in _NO_ERROR:
        return None
    details: Mapping[str, Any] = outcome.details or {}
    raised = details.get("exception")
    return _class_name(raised) if outcome.code == "execution_failed" and raised is not None else outcome.code


def _class_name(error: BaseException) -> str:
    cls = type(error)
    name = cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"
    return bounded(name)


def _mark_failed(span: Span, error: str) -> None:
    span.set_attribute("error.type", error)
    span.set_status(Status(StatusCode.ERROR, error))
