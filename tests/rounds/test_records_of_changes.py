"""After a change, each record says what ran: turn, span, cassette, recorded call, log and next request."""

from __future__ import annotations

import json
import logging
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk", reason="WebAssembly has no threads, and the tests of it no SDK")

from hypothesis import event, given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from round_samples import raw

from operator_schema import Executor, RunNormally, Toolset, Transcript, hook, tool
from operator_schema.adapters.opentelemetry import spans
from operator_schema.content import Image
from operator_schema.providers import (
    anthropic,
    bedrock,
    cohere,
    gemini,
    ollama,
    openai_chat,
    openai_responses,
)
from operator_schema.recordings import records_in
from operator_schema.rounds import SqliteStore, stored_records
from operator_schema.testing import playback, record
from operator_schema.workbench.compare.recorded_calls import calls_in

pytestmark = pytest.mark.needs_threads

PROVIDERS = (anthropic, bedrock, cohere, gemini, ollama, openai_chat, openai_responses)
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
RAN: list[dict[str, Any]] = []
"""With what the function was called, as JSON."""


@dataclass
class Place:
    city: str
    floor: int | None = None


def outcome(kind: str) -> Any:
    match kind:
        case "an object":
            return {"is_done": True}
        case "nothing":
            return None
        case "an image":
            return Image(PNG, "image/png")
        case "a failure":
            message = "the shop is closed"
            raise ValueError(message)
        case _:
            return "it is on its way"


@tool
def order(item: str, count: int = 1, tags: list[str] | None = None, where: Place | None = None) -> Any:
    """Order something."""
    RAN.append(order.encode_input(order.input_type(item, count, tags, where)))
    found = outcome(item)
    where = None  # a function may do with its input what it likes
    return found


GUARDED = order.with_(confirm=True)

NAMES = st.sampled_from(["item", "count", "tags", "where"])
VALUES: dict[str, Any] = {
    "item": st.sampled_from(["an object", "nothing", "an image", "a failure", "an apple", 'a "pear"\n']),
    "count": st.integers(1, 10**12),
    "tags": st.lists(st.text("äb<\"'", max_size=4), max_size=3),
    "where": st.fixed_dictionaries({"city": st.text(max_size=5)}, optional={"floor": st.integers(0, 9)}),
}
ARGUMENTS = st.fixed_dictionaries(
    {"item": VALUES["item"]}, optional={name: VALUES[name] for name in VALUES if name != "item"}
)
CHANGES = NAMES.flatmap(lambda name: st.tuples(st.just(name), VALUES[name] | st.none()))
WAYS = st.sampled_from(["alone", "round", "confirm", "confirm alone", "approve", "restart", "by the program"])


def changed(arguments: dict[str, Any], change: tuple[str, Any]) -> dict[str, Any]:
    """Return arguments as a tool writes them, after a change; one that is None is left out."""
    name, value = change
    rest = {key: inner for key, inner in arguments.items() if key != name}
    if value is None:
        rest |= {"item": "an apple"} if name == "item" else {}
    else:
        rest[name] = value
    found = order.encode_input(order.decode(rest))
    return dict(found)


def all_changed(arguments: dict[str, Any], changes: list[tuple[str, Any]]) -> dict[str, Any]:
    for change in changes:
        arguments = changed(arguments, change)
    return arguments


def steps(way: str, by_hooks: list[Any], by_person: list[Any]) -> list[tuple[str, list[Any]]]:
    """Return who changes the arguments, one after the other: a person does all at once."""
    found = [("hook", [one]) for one in by_hooks]
    if way == "by the program":
        return found + [("host", [one]) for one in by_person]
    return [*found, ("person", by_person)]


def changing(change: tuple[str, Any], number: int) -> Any:
    def rewrite(call: Any) -> RunNormally:
        return RunNormally(call.tool.decode(changed(call.arguments, change)))

    rewrite.__qualname__ = f"rewrite_{number}"
    return hook("order")(rewrite)


@dataclass
class Records:
    """What is left of one call."""

    ran: dict[str, Any]
    result: Any
    turn: Any
    spans: list[Any]
    cassette: list[dict[str, Any]]
    calls: list[Any]
    log: list[str]
    path: Path


@contextmanager
def logged() -> Any:
    lines: list[str] = []

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    logger, handler = logging.getLogger("operator_schema"), Lines(logging.DEBUG)
    logger.addHandler(handler)
    level, logger.level = logger.level, logging.DEBUG
    logger.setLevel(logging.DEBUG)
    try:
        yield lines
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)


def records_of(
    way: str, arguments: Any, hooks: list[Any], person: list[tuple[str, Any]], path: Path
) -> Records:
    """Let a call run after some changes, and return what is left of it."""
    RAN.clear()
    is_guarded = way in {"confirm", "confirm alone", "approve", "restart"}
    tools = Toolset(GUARDED if is_guarded else order)
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    traced = spans(provider.get_tracer("x"), record_arguments=True, record_results=True)

    def ask(call: Any) -> Any:
        now = call.tool.decode(all_changed(call.arguments, person))
        return RunNormally(now, approved=True) if person else True

    store = SqliteStore(path / "desk.db")
    options: dict[str, Any] = {"confirm": ask} if way.startswith("confirm") else {}
    options |= {"store": store} if way == "restart" else {}
    executor = record(Executor(tools, hooks=[traced, *hooks], threads=False, **options), path / "calls.jsonl")
    call, turn = raw("order", **arguments), None
    with logged() as log:
        if way.endswith("alone"):
            result = executor.run_sync(call)
        else:
            work = tools.offer().round([call])
            if way == "by the program":
                work = work.with_results([by_the_program(work.calls[0], person)])
            else:
                work = executor.run_sync(work)
            if way in {"approve", "restart"}:
                work = store.load(work.id, tools) if way == "restart" else work
                now = all_changed(work.calls[0].arguments, person)
                work = executor.run_sync(work.approve("c1", arguments=now if person else None))
            history = store.transcript("a") if way == "restart" else Transcript()
            turn = work.commit(history)
            result = turn.results[0]
    file = path / "calls.jsonl"
    with file.open("rb") as lines:
        cassette = list(records_in(lines))
    found = [dict(span.attributes) for span in exporter.get_finished_spans() if span.name != "execute_round"]
    (ran,) = RAN
    return Records(ran, result, turn, found, cassette, executor.calls, log, path)


def by_the_program(call: Any, changes: list[tuple[str, Any]]) -> Any:
    """Return a call that the program has changed and run itself."""
    for change in changes:
        call = call.with_input(call.tool.decode(changed(call.arguments, change)))
    try:
        return call.handled(call.tool.call(call.input))
    except ValueError as error:
        return call.with_result(call.fail(str(error)))


def text_of(found: Any) -> str:
    return json.dumps(found, ensure_ascii=False, default=repr)  # Bedrock takes bytes


def check_result(found: Records, before: dict[str, Any], who: dict[str, str]) -> None:
    """Check that the result says in data and in words what ran, who changed it and when."""
    told = found.result.changed
    assert (told.arguments, told.before) == (found.ran, before)
    assert {name: change.by for change in told.changes for name in change.names} | who == {
        name: change.by for change in told.changes for name in change.names
    }
    assert all(change.hook == f"rewrite_{number}" for number, change in numbered_hooks(told))
    assert all(abs(datetime.now(UTC) - change.at).days < 1 for change in told.changes)
    line, _, rest = found.result.content.partition("\n")
    assert len(line) < 1_000
    for name in told.names:
        assert name in line
    named = {"person": "A person" in line, "program": "he program changed" in line}
    for whom, last in (("person", {"person"}), ("program", {"hook", "host"})):
        assert named[whom] or not last & {*who.values()}
        assert not named[whom] or last & {change.by for change in told.changes}
    for name in set(told.names) & {"count"} & set(found.ran):
        assert f"count to {found.ran[name]}" in line
    assert found.result.parts[0].text.startswith(line)
    assert rest or not found.result.content.endswith("\n")


def numbered_hooks(told: Any) -> list[tuple[str, Any]]:
    return [(change.hook.rpartition("_")[2], change) for change in told.changes if change.by == "hook"]


def check_turn(found: Records, sent: Any) -> None:
    """Check the turn, the saved turn, and the next request to each provider."""
    turn = found.turn
    assert turn.calls[0].arguments == sent
    saved = json.loads(json.dumps(turn.as_dict()))
    assert saved["results"][0].get("changed", {}).get("arguments", sent) == (
        found.ran if found.result.changed else sent
    )
    store = SqliteStore(found.path / "other.db")
    store.transcript("a").append(turn)
    (again,) = store.transcript("a")
    assert again.results[0].changed == turn.results[0].changed
    assert again.as_dict() == turn.as_dict()
    if found.result.changed is not None:
        assert [one.at for one in again.results[0].changed.changes] == [
            one.at for one in found.result.changed.changes
        ]
        assert next(iter(stored_records(found.path / "other.db"))) == [
            {"name": "order", "arguments": found.ran, "sent": sent}
        ]
    line = found.result.content.partition("\n")[0]
    offer = Toolset(order).offer()
    for provider in PROVIDERS:
        body = text_of(provider.request(offer, ["order", turn]))
        assert found.result.changed is None or text_of(line)[1:-1] in body
        said, *_ = provider.turn(turn)
        anew = provider.wire.with_stand_ins(provider.wire.calls_message(turn.calls))
        assert said == anew[0]  # as the model wrote it


def check_outside(found: Records, sent: Any) -> None:
    """Check what is written for programs: span, cassette, recorded call."""
    (span,) = found.spans
    (line,) = found.cassette
    assert json.loads(span["gen_ai.tool.call.arguments"]) == found.ran
    assert json.loads(span["operator_schema.arguments.sent"]) == sent
    whom = [f"hook {one.hook}" if one.hook else one.by for one in found.result.changed.changes]
    assert list(span["operator_schema.arguments.changed_by"]) == whom
    assert (line["arguments"], line["sent"]) == (found.ran, sent)
    assert line["changes"] == found.result.changed.as_dict()["changes"]
    assert [call.arguments for call in calls_in(line)] == [found.ran]
    assert [call.arguments for call in found.calls] == [found.ran]
    assert [text for text in found.log if text_of(found.ran).replace(" ", "")[:40] in text.replace(" ", "")]
    tape = playback(order, found.path / "calls.jsonl")
    played = tape.run_sync(raw("order", **sent))
    assert (played.content, played.changed.arguments) == (found.result.content, found.ran)


@pytest.mark.slow("draws calls, changes and records of each")
@settings(max_examples=2 * settings().max_examples, deadline=None)
@given(WAYS, ARGUMENTS, st.lists(CHANGES, max_size=2), st.lists(CHANGES, max_size=2))
def test_each_record_says_what_ran(way, arguments, by_hooks, by_person):
    by_hooks = [] if way == "by the program" else by_hooks
    by_person = [] if way in {"alone", "round"} else by_person
    before = dict(order.encode_input(order.decode(arguments)))
    now, who = before, {}
    for whom, changes in steps(way, by_hooks, by_person):
        after = all_changed(now, changes)
        who |= {name: whom for name in {**now, **after} if now.get(name) != after.get(name)}
        now = after
    who = {name: whom for name, whom in who.items() if now.get(name) != before.get(name)}
    hooks = [changing(change, number) for number, change in enumerate(by_hooks)]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        found = records_of(way, arguments, hooks, by_person, Path(folder))
        assert found.ran == now
        event(f"{way}: {'changed' if who else 'as sent'}")
        if who:
            check_result(found, before, who)
            if way != "by the program":
                check_outside(found, arguments)
        else:
            plain = records_of(way, arguments, [], [], Path(other))
            assert found.result.as_dict() == plain.result.as_dict()
            assert found.result.changed is None
            assert found.cassette == plain.cassette
            timed = {
                "operator_schema.approval.seconds",
                "operator_schema.decisions",
                "operator_schema.round.id",
            }
            assert [{k: v for k, v in one.items() if k not in timed} for one in found.spans] == [
                {k: v for k, v in one.items() if k not in timed} for one in plain.spans
            ]
        if found.turn is not None:
            check_turn(found, arguments)
