"""Spans of calls and rounds, as the real SDK of OpenTelemetry exports them."""

from __future__ import annotations

import asyncio
import io
import itertools
import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("opentelemetry.sdk", reason="WebAssembly has no threads, and the tests of it no SDK")

import trio
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from operator_schema import (
    Complete,
    Defer,
    Executor,
    NeedsInput,
    RawCall,
    Reject,
    RunAgain,
    RunNormally,
    Toolset,
    hook,
    tool,
)
from operator_schema.adapters.opentelemetry import current_trace, observe_store, spans
from operator_schema.rounds import Hooks, SqliteStore, tool_call
from operator_schema.workbench.cli import main
from operator_schema.workbench.compare import snapshot_of

try:
    from opentelemetry.exporter.otlp.json.file import FileSpanExporter
except ImportError:  # `make test-extras` has an SDK that is older than any exporter to files
    FileSpanExporter = None

pytestmark = pytest.mark.needs_threads


class Traced:
    """A provider of spans, and what it exported."""

    def __init__(self):
        self.exporter = InMemorySpanExporter()
        self.written = io.StringIO()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        if FileSpanExporter is not None:
            provider.add_span_processor(SimpleSpanProcessor(FileSpanExporter(stream=self.written)))
        self.tracer = provider.get_tracer("tests")

    @property
    def file(self):
        if FileSpanExporter is None:
            pytest.skip("the SDK is older than any exporter to files")
        return self.written

    @property
    def all(self):
        return self.exporter.get_finished_spans()

    def named(self, name):
        return [span for span in self.all if span.name == name]

    def one(self, name):
        (span,) = self.named(name)
        return span


@pytest.fixture
def traced():
    return Traced()


@tool
def add(numbers: list[float]) -> float:
    """Add numbers."""
    return sum(numbers)


@tool(repair=True)
async def order(item: str, count: int = 1) -> str:
    """Order something."""
    return f"{count} {item}"


@tool(confirm=True)
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


@tool
def broken(secret: str) -> str:
    """Break."""
    raise ZeroDivisionError(secret)


@tool(timeout=0.01)
async def slow() -> str:
    """Take long."""
    await asyncio.sleep(60)


@tool
def mistyped() -> int:
    """Return something else than declared."""
    return "text"


TOOLS = [add, order, pay, broken, slow]


def call(name, arguments, call_id="c1"):
    return RawCall(call_id, name, arguments)


def events(span, name):
    return [dict(event.attributes) for event in span.events if event.name == name]


def test_a_call_has_the_attributes_of_the_conventions(traced):
    executor = Executor(TOOLS, hooks=spans(traced.tracer))
    executor.run_sync(call("add", {"numbers": [1, 2]}))
    span = traced.one("execute_tool add")
    assert dict(span.attributes) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "add",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.description": "Add numbers.",
    }
    assert span.kind is trace.SpanKind.INTERNAL
    assert span.status.status_code is StatusCode.UNSET


def test_arguments_and_results_are_recorded_only_if_asked_for(traced):
    quiet = Executor(TOOLS, hooks=spans(traced.tracer))
    quiet.run_sync([call("add", {"numbers": [4117.25]}), call("broken", {"secret": "s3cret"})])
    assert "4117.25" not in traced.file.getvalue()
    assert "s3cret" not in traced.file.getvalue()
    open_ = Executor(TOOLS, hooks=spans(traced.tracer, record_arguments=True, record_results=True))
    open_.run_sync(call("add", '{"numbers": [41]}'))
    span = traced.named("execute_tool add")[-1]
    assert span.attributes["gen_ai.tool.call.arguments"] == '{"numbers": [41]}'
    assert span.attributes["gen_ai.tool.call.result"] == "41.0"


@pytest.mark.parametrize(
    ("arguments", "recorded"),
    [
        ({"user": "Ada", "token": "hunter2"}, {"user": "Ada", "token": "[redacted]"}),
        ('{"user": "hunter2", "token": "hunter2"}', {"user": "[redacted]", "token": "[redacted]"}),
        (b'{"user": "Ada", "token": "hunter2"}', {"user": "Ada", "token": "[redacted]"}),
        (
            {"user": {"token": 471147114711}, "token": []},
            {"user": {"token": "[redacted]"}, "token": "[redacted]"},
        ),
        ('{"user": "Ada", "token": "hunter2', "[redacted]"),
        ({"user": "Ada", "Token": "hunter2"}, {"user": "Ada", "Token": "[redacted]"}),
    ],
)
def test_secrets_stay_out_of_recorded_arguments_and_results(traced, arguments, recorded):
    @tool
    def log_in(user: str, token: str) -> dict[str, str]:
        """Log in."""
        return {"session": f"of {token}", "token": token or user}

    both = {"record_arguments": True, "record_results": True}
    executor = Executor(log_in, hooks=spans(traced.tracer, redact=["token"], **both))
    result = executor.run_sync(call("log_in", arguments))
    attributes = traced.one("execute_tool log_in").attributes
    told = attributes["gen_ai.tool.call.arguments"]
    assert (told if recorded == "[redacted]" else json.loads(told)) == recorded
    if result.code is None:
        assert json.loads(attributes["gen_ai.tool.call.result"]) == {
            "session": "of [redacted]", "token": "[redacted]",
        }  # fmt: skip
    assert "hunter2" not in traced.file.getvalue()
    assert "471147114711" not in traced.file.getvalue()


@pytest.mark.parametrize(
    ("redact", "said"),
    [
        (["tokn"], ['redact has names of keys that no tool has: "tokn" (did you mean "token"?)']),
        (["token", "card"], []),  # some other tool may have a card
    ],
)
def test_a_name_that_nearly_hides_a_key_is_logged_once(traced, caplog, redact, said):
    @tool
    def log_in(token: str) -> str:
        """Log in."""
        return token[:1]

    executor = Executor(log_in, hooks=spans(traced.tracer, redact=redact, record_arguments=True))
    for _ in range(2):
        executor.run_sync(call("log_in", {"token": "hunter2"}))
    assert caplog.messages == said


def test_arguments_in_which_secrets_cannot_be_found_are_left_out(traced):
    deep = {"token": "hunter2"}
    for _ in range(100_000):
        deep = {"numbers": deep}
    executor = Executor(TOOLS, hooks=spans(traced.tracer, record_arguments=True, redact=["token"]))
    executor.run_sync(call("add", deep))
    assert traced.one("execute_tool add").attributes["gen_ai.tool.call.arguments"] == "[redacted]"


@pytest.mark.parametrize("sent", [{"user": "Ada", "token": "hunter2"}, '{"user": "Ada", "token": "hunter2"}'])
@pytest.mark.parametrize("now", ["hunter3", "hunter3" * 20, 'hunter3 "\n\u00e4\x1b', "hun"])
def test_secrets_stay_out_of_what_is_recorded_of_a_change(traced, sent, now):
    @tool
    def log_in(user: str, token: str) -> dict[str, str]:
        """Log in."""
        return {"user": user, "at": str(len(token) // 1_000)}

    def change(call):
        return RunNormally(call.tool.decode({"user": "Bob", "token": now}))

    both = {"record_arguments": True, "record_results": True}
    executor = Executor(log_in, hooks=[spans(traced.tracer, redact=["token"], **both), change])
    executor.run_sync(call("log_in", sent))
    attributes = traced.one("execute_tool log_in").attributes
    assert json.loads(attributes["gen_ai.tool.call.arguments"]) == {"user": "Bob", "token": "[redacted]"}
    assert json.loads(attributes["operator_schema.arguments.sent"]) == {"user": "Ada", "token": "[redacted]"}
    assert attributes["gen_ai.tool.call.result"] == '[redacted]\n{"user":"Bob","at":"0"}'
    assert "hunter" not in traced.file.getvalue()


@pytest.mark.parametrize("redact", ["token", 5, [5], None])
def test_redact_is_a_list_of_names(redact):
    with pytest.raises(TypeError, match="redact must be a list of names of arguments, not"):
        spans(redact=redact)


def test_what_is_too_long_is_left_out_and_its_length_recorded(traced):
    executor = Executor(TOOLS, hooks=spans(traced.tracer, record_arguments=True, max_length=20))
    executor.run_sync(call("order", {"item": "x" * 100}))
    span = traced.one("execute_tool order")
    assert "gen_ai.tool.call.arguments" not in span.attributes
    assert span.attributes["operator_schema.arguments.length"] == len('{"item":""}') + 100


def test_arguments_that_do_not_fit_are_an_error_with_paths_and_codes(traced):
    executor = Executor(TOOLS, hooks=spans(traced.tracer))
    executor.run_sync(call("add", {"numbers": [1, "two"]}))
    span = traced.one("execute_tool add")
    assert span.status.status_code is StatusCode.ERROR
    assert span.attributes["error.type"] == "invalid_params"
    assert events(span, "operator_schema.problem") == [
        {"operator_schema.path": "numbers[1]", "operator_schema.code": "wrong_type"}
    ]
    assert span.attributes["operator_schema.problem.count"] == 1


def test_repairs_and_ignored_keys_are_events(traced):
    executor = Executor(TOOLS, hooks=spans(traced.tracer))
    executor.run_sync(call("order", {"item": "a", "count": "2", "colour": "red"}))
    span = traced.one("execute_tool order")
    assert [event["operator_schema.path"] for event in events(span, "operator_schema.repair")] == ["count"]
    assert [event["operator_schema.path"] for event in events(span, "operator_schema.ignored")] == ["colour"]
    assert "error.type" not in span.attributes


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [
        ("broken", {"secret": "x"}, "ZeroDivisionError"),
        ("slow", {}, "timeout"),
        ("shop", {"item": "a"}, "tool_not_found"),
    ],
)
def test_failures_have_a_type(traced, name, arguments, error):
    Executor(TOOLS, hooks=spans(traced.tracer)).run_sync(call(name, arguments))
    (span,) = traced.all
    assert span.attributes["error.type"] == error
    assert span.status.status_code is StatusCode.ERROR


def test_a_name_that_no_tool_has_is_not_the_name_of_the_span(traced):
    Executor(TOOLS, hooks=spans(traced.tracer)).run_sync(call("x" * 1_000 + "\ud800", {}))
    span = traced.one("execute_tool")
    assert len(span.attributes["gen_ai.tool.name"]) <= 200
    assert traced.file.getvalue()


def test_a_call_that_was_cut_off_has_a_span(traced):
    Executor(TOOLS, hooks=spans(traced.tracer)).run_sync(RawCall("c", "add", '{"numb', is_cut_off=True))
    assert traced.all[0].attributes["error.type"] == "cut_off"


# --- parents and children ------------------------------------------------------------------------


def nested(traced, *, is_async):
    if is_async:

        async def work(place: int) -> str:
            with traced.tracer.start_as_current_span(f"inner {place}"):
                await asyncio.sleep(0)
            return "ok"
    else:

        def work(place: int) -> str:
            with traced.tracer.start_as_current_span(f"inner {place}"):
                return threading.current_thread().name

    return tool(work)


@pytest.mark.parametrize("is_async", [False, True], ids=["in a thread", "async"])
def test_spans_of_a_tool_are_children_of_its_call(traced, is_async):
    executor = Executor([nested(traced, is_async=is_async)], hooks=spans(traced.tracer))
    calls = [call("work", {"place": place}, str(place)) for place in range(20)]
    with traced.tracer.start_as_current_span("outside"):
        asyncio.run(executor.run(calls))
    outside = traced.one("outside")
    by_id = {span.context.span_id: span for span in traced.all}
    for place in range(20):
        parent = by_id[traced.one(f"inner {place}").parent.span_id]
        assert parent.attributes["gen_ai.tool.call.id"] == str(place)
        assert parent.parent.span_id == outside.context.span_id


def test_calls_that_are_streamed_under_trio_have_spans(traced):
    executor = Executor(TOOLS, hooks=spans(traced.tracer))

    async def main():
        calls = [call("order", {"item": str(place)}, str(place)) for place in range(5)]
        with traced.tracer.start_as_current_span("outside"):
            async with executor.stream(calls) as results:
                return [result.content async for result in results]

    assert len(trio.run(main)) == 5
    outside = traced.one("outside")
    inside = traced.named("execute_tool order")
    assert {span.parent.span_id for span in inside} == {outside.context.span_id}
    assert len(inside) == 5


def test_a_span_is_current_only_inside_its_call(traced):
    executor = Executor(TOOLS, hooks=spans(traced.tracer))
    executor.run_sync(call("add", {"numbers": []}))
    assert trace.get_current_span() is trace.INVALID_SPAN


def test_a_call_that_is_cancelled_ends_its_span(traced):
    entered = asyncio.Event()

    @tool
    async def wait() -> str:
        """Wait."""
        entered.set()
        await asyncio.Event().wait()

    async def main():
        running = asyncio.ensure_future(Executor([wait], hooks=spans(traced.tracer)).run(call("wait", {})))
        await entered.wait()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(main())
    span = traced.one("execute_tool wait")
    assert span.attributes["error.type"] == "asyncio.exceptions.CancelledError"


def test_an_exception_that_passes_through_is_the_error_of_its_span(traced):
    executor = Executor(TOOLS, hooks=spans(traced.tracer), pass_through=(ZeroDivisionError,))
    with pytest.raises(ZeroDivisionError):
        executor.run_sync(call("broken", {"secret": "x"}))
    assert traced.one("execute_tool broken").attributes["error.type"] == "ZeroDivisionError"


def test_a_call_that_runs_again_has_one_span(traced):
    runs = []

    @tool
    def shaky() -> str:
        """Fail at first."""
        runs.append(1)
        if len(runs) == 1:
            raise ValueError
        return "ok"

    @hook.after(shaky)
    def again(call):
        return RunAgain() if call.error else None

    Executor([shaky], hooks=[spans(traced.tracer), again]).run_sync(call("shaky", {}))
    assert "error.type" not in traced.one("execute_tool shaky").attributes
    assert len(runs) == 2


# --- people --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "decision"), [(True, "approved"), (False, "rejected"), (None, "none")], ids=str
)
def test_what_a_person_says_is_recorded_and_is_no_error(traced, answer, decision):
    executor = Executor(TOOLS, hooks=spans(traced.tracer), confirm=lambda _: answer)
    executor.run_sync(call("pay", {"amount": 1}))
    span = traced.one("execute_tool pay")
    assert span.attributes["operator_schema.approval"] == decision
    assert span.attributes["operator_schema.approval.seconds"] >= 0
    assert span.status.status_code is StatusCode.UNSET


def offered(*calls):
    toolset = Toolset(*TOOLS)
    return toolset, toolset.offer().round(list(calls))


def test_a_round_has_a_span_and_so_has_each_call_that_ended(traced):
    _, round_ = offered(
        call("add", {"numbers": [1]}, "a"),
        call("add", {"numbers": "x"}, "b"),
        call("pay", {"amount": 1}, "c"),
        call("order", {"item": "x", "count": "2"}, "d"),
        call("nobody", {}, "e"),
    )
    asyncio.run(Executor(TOOLS, hooks=spans(traced.tracer, record_arguments=True)).run(round_))
    outside = traced.one("execute_round")
    assert {key: value for key, value in outside.attributes.items() if key != "operator_schema.round.id"} == {
        "operator_schema.round.handled": 2,
        "operator_schema.round.issue": 2,
        "operator_schema.round.deferred": 1,
    }
    assert events(outside, "operator_schema.deferred") == [
        {"gen_ai.tool.name": "pay", "gen_ai.tool.call.id": "c"}
    ]
    inside = [span for span in traced.all if span is not outside]
    assert {span.parent.span_id for span in inside} == {outside.context.span_id}
    ids = {span.attributes["gen_ai.tool.call.id"]: span for span in inside}
    assert sorted(ids) == ["a", "b", "d", "e"]
    assert len(events(ids["b"], "operator_schema.problem")) == 1
    assert len(events(ids["d"], "operator_schema.repair")) == 1
    assert ids["e"].name == "execute_tool"


HIDDEN = "hunter2-7f3a"
LONG = "x" * 100_000
AS_SENT = [HIDDEN, f"{HIDDEN} {LONG}", LONG, "\ud800", "plain", ""]


@tool(confirm=True)
def log_in(token: str) -> str:
    """Log in."""
    return token


@pytest.mark.parametrize("name", ["log_in", *AS_SENT])
@pytest.mark.parametrize("door", ["round", "rejected", "call"])
def test_nothing_that_a_model_named_a_call_is_recorded_as_it_was_sent(traced, name, door):
    hooks = spans(traced.tracer, redact=["token"], record_arguments=True)
    executor = Executor([log_in, add], hooks=hooks)
    for call_id, is_cut_off in itertools.product(AS_SENT, [False, True]):
        sent = RawCall(call_id, name, {"token": HIDDEN}, is_cut_off)
        if door == "call":
            executor.run_sync(sent)
            continue
        work = executor.registry.toolset.offer().round([sent, call("add", {"numbers": [1]}, "2")]).confirmed()
        executor.run_sync(work.reject_open("no") if door == "rejected" else work)
    for span in traced.all:
        of_events = [value for event in span.events for value in (event.name, *event.attributes.values())]
        for text in map(str, (span.name, *span.attributes.values(), *of_events)):
            assert HIDDEN not in text
            assert len(text) <= 2_000
            text.encode()
        assert span.name in {"execute_round", "execute_tool", "execute_tool log_in", "execute_tool add"}


def test_a_call_that_is_approved_after_a_restart_knows_how_long_it_waited(traced, monkeypatch):
    toolset, round_ = offered(call("pay", {"amount": 1}), call("add", {"numbers": "x"}, "wrong"))
    executor = Executor(toolset, hooks=spans(traced.tracer))
    waiting = asyncio.run(executor.run(round_))
    data = json.dumps(waiting.as_dict())
    day = 86_400
    now = time.time()
    monkeypatch.setattr("operator_schema.adapters.opentelemetry.time", lambda: now + day)
    restored = toolset.restore_round(data).approve("c1")
    done = asyncio.run(executor.run(restored))
    assert done.is_complete
    span = traced.one("execute_tool pay")
    assert span.attributes["operator_schema.approval"] == "approved"
    assert day <= span.attributes["operator_schema.approval.seconds"] < day + 3_600
    assert len(traced.named("execute_tool add")) == 1  # what was wrong before isn't said again


def test_a_call_that_a_person_refused_before_is_an_event_of_the_round(traced):
    toolset, round_ = offered(call("pay", {"amount": 1}), call("pay", {"amount": 2}, "c2"))
    executor = Executor(toolset, hooks=spans(traced.tracer))
    waiting = asyncio.run(executor.run(round_))
    restored = toolset.restore_round(waiting.as_dict()).approve("c2", by="anna")
    asyncio.run(executor.run(restored.reject("c1", "no", by="ben")))
    span = traced.one("execute_tool pay")
    assert span.attributes["gen_ai.tool.call.id"] == "c2"
    assert span.attributes["operator_schema.approval"] == "approved"
    assert span.attributes["operator_schema.decisions"] == ("approve by anna",)
    assert events(traced.named("execute_round")[-1], "operator_schema.rejected") == [
        {
            "gen_ai.tool.name": "pay",
            "gen_ai.tool.call.id": "c1",
            "operator_schema.decisions": ("reject by ben",),
        }
    ]


def test_a_call_that_expired_has_a_span_and_a_round_names_its_conversation(traced, monkeypatch):
    toolset, round_ = offered(call("pay", {"amount": 1}))
    executor = Executor(toolset, hooks=[spans(traced.tracer), lambda _: Defer(expires_in=60)])
    waiting = asyncio.run(executor.run(round_.replace(conversation="customer 7")))
    monkeypatch.setattr("operator_schema.rounds.tool_call.time", lambda: waiting.calls[0].expires_at)
    asyncio.run(executor.run(waiting))
    span = traced.one("execute_tool pay")
    assert span.attributes["operator_schema.approval"] == span.attributes["operator_schema.code"] == "expired"
    assert span.attributes["operator_schema.decisions"] == ("expire by host",)
    assert span.status.status_code is StatusCode.UNSET
    assert {one.attributes["gen_ai.conversation.id"] for one in traced.named("execute_round")} == {
        "customer 7"
    }


def test_calls_that_hooks_end_have_spans(traced):
    def decide(call):
        return Complete("made up") if call.id == "a" else Reject("no")

    _, round_ = offered(call("order", {"item": "x"}, "a"), call("order", {"item": "x"}, "b"))
    asyncio.run(Executor(TOOLS, hooks=[spans(traced.tracer), decide]).run(round_))
    found = {span.attributes["gen_ai.tool.call.id"]: span for span in traced.named("execute_tool order")}
    assert found["b"].attributes["operator_schema.code"] == "rejected"
    assert sorted(found) == ["a", "b"]


def test_a_hook_that_fails_fails_the_span_of_its_round(traced):
    def fail(_):
        raise KeyError

    _, round_ = offered(call("order", {"item": "x"}))
    with pytest.raises(Exception, match="KeyError"):
        asyncio.run(Executor(TOOLS, hooks=[spans(traced.tracer), fail]).run(round_))
    outside = traced.one("execute_round")
    assert outside.attributes["error.type"] == "operator_schema.rounds.round.HookError"


def test_a_question_of_a_tool_is_no_error(traced):
    @tool
    def ask() -> str:
        """Ask."""
        raise NeedsInput("May I?", bool)

    Executor([ask], hooks=spans(traced.tracer)).run_sync(call("ask", {}))
    span = traced.one("execute_tool ask")
    assert span.attributes["operator_schema.code"] == "needs_input"
    assert span.status.status_code is StatusCode.UNSET


# --- what is exported ----------------------------------------------------------------------------


def test_replay_reads_what_the_exporter_writes(traced, tmp_path, capsys):
    executor = Executor(TOOLS, hooks=spans(traced.tracer, record_arguments=True))
    executor.run_sync([call("add", {"numbers": [1]}, "a"), call("add", '{"numbers": "x"}', "b")])
    _, round_ = offered(call("order", {"item": "x"}, "c"), call("nobody", {}, "d"))
    asyncio.run(executor.run(round_))
    log, tools = tmp_path / "spans.jsonl", tmp_path / "tools.json"
    log.write_text(traced.file.getvalue(), encoding="utf-8")
    tools.write_text(snapshot_of(TOOLS).as_text(), encoding="utf-8")
    assert main(["replay", str(log), "--against", str(tools), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["calls"], report["unknown"], report["unreadable"]["count"]) == (4, {"nobody": 1}, 0)
    counts = {name: (one["fits"], one["fails"]) for name, one in report["tools"].items() if one["calls"]}
    assert counts == {"add": (1, 1), "order": (1, 0)}


def test_durations_are_measured_with_a_meter(traced):
    reader = InMemoryMetricReader()
    meter = MeterProvider(metric_readers=[reader]).get_meter("tests")
    executor = Executor(TOOLS, hooks=spans(traced.tracer, meter=meter))
    executor.run_sync([call("add", {"numbers": []}), call("add", {}), call("made_up", {})])
    (metric,) = reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics
    assert (metric.name, metric.unit) == ("gen_ai.execute_tool.duration", "s")
    points = {
        (point.attributes["gen_ai.tool.name"], point.attributes.get("error.type")): point.count
        for point in metric.data.data_points
    }
    assert points == {("add", None): 1, ("add", "invalid_params"): 1, ("_OTHER", "tool_not_found"): 1}


PAGE = Path(__file__).parents[2] / "docs" / "opentelemetry.md"


def test_the_page_lists_every_attribute_and_event(traced):
    both = {"record_arguments": True, "record_results": True}
    executor = Executor([*TOOLS, mistyped], hooks=spans(traced.tracer, **both))
    short = executor.with_(hooks=spans(traced.tracer, **both, max_length=1))
    calls = [
        call("order", {"item": "x", "count": "2", "colour": 1}),
        call("add", {}),
        call("mistyped", {}),
        call("functions.order", {"item": "long"}),
    ]
    for one in (executor, short):
        one.run_sync(calls)
    wrong = call("add", {}, "c3")
    _, round_ = offered(call("pay", {"amount": 1}), call("pay", {"amount": 2}, "c2"), wrong)
    round_ = round_.replace(conversation="customer 7")
    waiting = executor.run_sync(round_)
    executor.run_sync(waiting.reject("c1", "no"))
    executor.run_sync(waiting.approve("c1", arguments={"amount": 3}))
    executor.run_sync(Toolset(add).offer().round([wrong], conversation="customer 7"))
    shown = {name for span in traced.all for name in span.attributes}
    shown |= {event.name for span in traced.all for event in span.events}
    shown |= {name for span in traced.all for event in span.events for name in event.attributes}
    pattern = r"`((?:gen_ai|operator_schema)\.[a-z_.]+|error\.type)`"
    listed = set(re.findall(pattern, PAGE.read_text(encoding="utf-8")))
    # A histogram, the gauges of a store, and the calls of tools without a function.
    listed -= {"gen_ai.execute_tool.duration", "operator_schema.round.pending"}
    listed -= {"operator_schema.approvals"}
    listed -= {"operator_schema.store.rounds", "operator_schema.store.oldest", "operator_schema.round.state"}
    assert shown == listed


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"tracer": "x"}, TypeError),
        ({"meter": 3}, TypeError),
        ({"max_length": 0}, ValueError),
        ({"record_arguments": "yes"}, TypeError),
        ({"record_results": None}, TypeError),
    ],
    ids=str,
)
def test_wrong_options_are_refused(options, error):
    with pytest.raises(error, match=next(iter(options))):
        spans(**options)


WITHOUT_SPANS = """
import sys
from operator_schema import Executor, RawCall, tool
@tool
def add(numbers: list[float]) -> float:
    'Add numbers.'
    return sum(numbers)
assert Executor([add]).run_sync(RawCall("c", "add", {"numbers": [1]})).content == "1.0"
print([name for name in sys.modules if "opentelemetry" in name or name.endswith(".around")])
"""


@pytest.mark.needs_process
def test_spans_that_redact_nothing_load_nothing_of_comparisons():
    look = "import sys; from operator_schema.adapters.opentelemetry import spans; spans(); "
    look += "print('operator_schema.workbench.compare' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.needs_process
def test_nothing_is_imported_for_spans_that_nobody_asked_for():
    done = subprocess.run([sys.executable, "-c", WITHOUT_SPANS], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_what_a_tool_runs_itself_is_not_taken_for_a_call_of_the_round(traced):
    inner = Executor(TOOLS, hooks=spans(traced.tracer))

    @tool
    async def outer() -> str:
        """Call another tool, with the id of a call that a hook ends."""
        return (await inner.run(call("order", {"item": "inner"}, "same"))).content

    def end(one):
        return Complete("ended") if one.name == "order" else None

    toolset = Toolset(outer, order)
    round_ = toolset.offer().round([call("outer", {}, "o"), call("order", {"item": "x"}, "same")])
    asyncio.run(Executor(toolset, hooks=[spans(traced.tracer), end]).run(round_))
    parents = [span.parent.span_id for span in traced.named("execute_tool order")]
    round_span, outer_span = traced.one("execute_round"), traced.one("execute_tool outer")
    assert sorted(parents) == sorted([round_span.context.span_id, outer_span.context.span_id])


@pytest.mark.parametrize("given", [spans, [spans]])
def test_spans_without_parentheses_is_refused_when_the_executor_is_made(given):
    with pytest.raises(TypeError, match=r"write hooks=spans\(\)"):
        Executor([], hooks=given)


def linked(span):
    return [link.context.trace_id for link in span.links]


def test_spans_link_back_to_the_trace_that_asked(traced, tmp_path):
    from operator_schema.rounds import SqliteStore

    store, toolset = SqliteStore(tmp_path / "desk.db"), Toolset(pay)
    executor = Executor(toolset, hooks=spans(traced.tracer), store=store)
    with traced.tracer.start_as_current_span("POST /say") as asked:
        about = {"user": "anna", **current_trace()}
        work = toolset.offer().round([call("pay", {"amount": 5})], conversation="customer 7", about=about)
        work = executor.run_sync(work)
    with traced.tracer.start_as_current_span("POST /decide"):
        executor.run_sync(store.load(work.id, toolset).approve(0, by="anna"))
    first, _, ran, second, _ = traced.all
    assert linked(first) == []  # it is in that trace itself
    assert linked(ran) == linked(second) == [asked.get_span_context().trace_id]
    for span in (first, ran, second):
        assert span.attributes["operator_schema.round.id"] == work.id
        assert span.attributes["gen_ai.conversation.id"] == "customer 7"
    executor.run_sync(call("pay", {"amount": 5}), confirm="run")
    assert "operator_schema.round.id" not in traced.all[-1].attributes


ABOUT = [None, 5, "text", [], [["traceparent", "x"]], {}, {"tracestate": "a=b"}]
ABOUT += [{"traceparent": given} for given in (None, 5, "", "00-0-0-0", ["00"], "\ud800", "x" * 9_000)]


@pytest.mark.parametrize("about", ABOUT, ids=range(len(ABOUT)))
def test_whatever_a_program_notes_links_to_nothing_else(traced, about):
    work = Toolset(add).offer().round([call("add", {"numbers": [1]})], about=about)
    assert Executor(Toolset(add), hooks=spans(traced.tracer)).run_sync(work).is_complete
    assert [linked(span) for span in traced.all] == [[], []]
    assert current_trace() == {}


def test_a_meter_reads_what_waits_in_a_store(tmp_path):
    from operator_schema.rounds import SqliteStore

    store, toolset, reader = SqliteStore(tmp_path / "desk.db"), Toolset(pay), InMemoryMetricReader()
    observe_store(store, MeterProvider(metric_readers=[reader]).get_meter("desk"))
    executor = Executor(toolset, store=store)
    rounds = [executor.run_sync(toolset.offer().round([call("pay", {"amount": 5})])) for _ in range(4)]
    store.save(rounds[0].approve(0))
    store.save(rounds[1].reject(0))
    store.claim(rounds[2].approve(0))

    def read():
        (metrics,) = [one.metrics for one in reader.get_metrics_data().resource_metrics[0].scope_metrics]
        return {one.name: one.data.data_points for one in metrics}

    found = read()
    states = {
        point.attributes["operator_schema.round.state"]: point.value
        for point in found["operator_schema.store.rounds"]
    }
    assert states == {"deferred": 1, "pending": 1, "complete": 1, "running": 0, "stuck": 1}
    (oldest,) = found["operator_schema.store.oldest"]
    assert oldest.value >= 0
    store.save(rounds[3].reject(0))
    assert read()["operator_schema.store.oldest"][0].value == 0


def counts_of(reader):
    data = reader.get_metrics_data()
    metrics = (
        []
        if data is None
        else [one for part in data.resource_metrics[0].scope_metrics for one in part.metrics]
    )
    points = [
        point for one in metrics if one.name == "operator_schema.approvals" for point in one.data.data_points
    ]
    return {point.attributes["operator_schema.approval"]: point.value for point in points}


ENDS = {
    "rejected": lambda work: work.reject("1"),
    "rejected with all": lambda work: work.reject_open(),
    "expired": lambda work: work.with_expired(),
    "approved": lambda work: work.approve("1"),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("runs", [0, 1, 2])
def test_a_decision_is_counted_once_however_the_round_ends(tmp_path, monkeypatch, end, stored, runs):
    """Before its commit, the decided round runs again, is saved and loaded by another process, or neither."""
    reader = InMemoryMetricReader()
    meter = MeterProvider(metric_readers=[reader]).get_meter("desk")
    defers = Hooks(lambda call: None if call.approved else Defer("a lot", expires_in=60))
    store = SqliteStore(tmp_path / "desk.db") if stored else None
    executor = Executor(Toolset(pay), hooks=[defers, spans(meter=meter)], store=store)
    others = spans(meter=meter)  # of another executor of the program
    work = executor.run_sync(offered(call("pay", {"amount": 5}, "1"))[1])
    if end == "expired":
        monkeypatch.setattr(tool_call, "time", lambda: time.time() + 90)
    work = ENDS[end](work)
    for _ in range(1 if end == "approved" else runs):
        work = executor.run_sync(work)
    if stored and work.is_complete and runs == 0 and end != "approved":
        work = store.load(store.save(work).id, executor.registry.toolset)
    assert work.is_complete
    work.commit([] if store is None else store.transcript("customer 7"))
    assert counts_of(reader) == {end.split()[0]: 1}
    del others


def test_a_round_that_is_discarded_counts_nothing():
    reader = InMemoryMetricReader()
    meter = MeterProvider(metric_readers=[reader]).get_meter("desk")
    executor = Executor(Toolset(pay), hooks=spans(meter=meter))
    executor.run_sync(offered(call("pay", {"amount": 5}, "1"))[1]).reject_open().discard()
    assert counts_of(reader) == {}


def test_a_meter_counts_what_was_decided_about_calls():
    reader = InMemoryMetricReader()
    meter = MeterProvider(metric_readers=[reader]).get_meter("desk")
    executor = Executor(Toolset(pay), hooks=spans(meter=meter))
    work = executor.run_sync(offered(*[call("pay", {"amount": n}, f"c{n}") for n in range(4)])[1])
    work = executor.run_sync(work.approve("c0").reject("c1"))  # two of them wait still
    work = executor.run_sync(work.reject("c2").approve("c3"))
    assert work.is_complete
    (found,) = [one.metrics for one in reader.get_metrics_data().resource_metrics[0].scope_metrics]
    (counter,) = [one for one in found if one.name == "operator_schema.approvals"]
    counts = {point.attributes["operator_schema.approval"]: point.value for point in counter.data.data_points}
    assert counts == {"approved": 2, "rejected": 2}
