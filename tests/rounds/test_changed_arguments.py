"""What a result says of a call whose arguments a hook, a person or the program changed."""

from __future__ import annotations

import copy
import json
import logging
import pickle
from dataclasses import InitVar, dataclass, field
from typing import Annotated, Any
from uuid import UUID, uuid4

import pytest
from round_samples import done

from operator_schema import (
    Complete,
    Defer,
    EncodeError,
    Executor,
    NeedsInput,
    RawCall,
    Reject,
    RunNormally,
    SchemaLeaf,
    ToolResult,
    Toolset,
    hook,
    skip,
    tool,
    tool_input,
)
from operator_schema.content import Image
from operator_schema.execution.threads import Threads
from operator_schema.rounds import SqliteStore, stored_records
from operator_schema.testing import playback, record
from operator_schema.tools.changes import ChangedArguments, changed_by

pytestmark = pytest.mark.needs_threads

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
PASSWORD = SchemaLeaf(str, {"type": "string", "format": "password"}, str, str, "secret")


@dataclass
class Way:
    stops: list[str] = field(default_factory=list)
    pin: Annotated[str, PASSWORD] = ""


@tool(confirm=True)
def pay(amount: int, to: str = "me", way: Way | None = None, notes: dict[str, str] | None = None) -> Any:
    """Pay."""
    if to == "nobody":
        message = "nobody is there"
        raise ValueError(message)
    return Image(PNG, "image/png") if to == "painter" else f"paid {amount}"


@tool
def ask(topic: str, answer: Annotated[bool | None, skip] = None) -> str:
    """Ask."""
    if answer is None:
        raise NeedsInput("May I?")
    return f"{topic}: {answer}"


TOOLS = Toolset(pay, ask)
FIRST = {"amount": 900}


def waiting(**arguments: Any) -> Any:
    return TOOLS.offer().round([RawCall("1", "pay", {**FIRST, **arguments})]).confirmed()


def said(arguments: Any, **options: Any) -> str:
    """Return the line about the change that a person made."""
    work = Executor(TOOLS, **options).run_sync(waiting().approve("1", arguments=arguments))
    return work.calls[0].result.content.partition("\n")[0]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"amount": 9}, "A person changed amount to 9 before it ran."),
        ({"amount": 9, "to": "you"}, 'A person changed amount to 9, to to "you" before it ran.'),
        ({"amount": 900, "to": 'a "b"\nc'}, r'A person changed to to "a \"b\"\u000ac" before it ran.'),
        (
            {"amount": 900, "notes": {"a": "b"}, "way": {"stops": []}},
            'A person changed way, notes to {"a": "b"} before it ran.',
        ),
    ],
)
def test_one_line_says_what_a_person_changed(arguments, line):
    assert said(arguments) == line


def test_the_line_names_the_places_inside_a_value_and_what_was_taken_away():
    before = {"notes": {"a": "b", "c": "d"}}
    work = waiting(**before).approve("1", arguments={**FIRST, "notes": {"a": "x"}})
    (result,) = Executor(TOOLS).run_sync(work).commit([]).results
    assert result.content == 'A person changed notes.a to "x", notes.c to nothing before it ran.\npaid 900'
    gone = waiting(**before).approve("1", arguments=FIRST)
    (result,) = Executor(TOOLS).run_sync(gone).commit([]).results
    assert result.content == "A person changed notes to nothing before it ran.\npaid 900"


@dataclass
class Node:
    name: str
    pin: Annotated[str, PASSWORD] = ""
    inner: list[Node] = field(default_factory=list)


@tool
def plant(sizes: list[int], root: Node | None = None) -> str:
    """Plant."""
    return "planted"


def test_the_line_names_items_and_hides_what_a_recursive_schema_hides(tmp_path):
    store = SqliteStore(tmp_path / "desk.db")
    sent = {"sizes": [1, 2, 3], "root": {"name": "a"}}
    now = {"sizes": [1, 5, 3], "root": {"name": "a", "inner": [{"name": "b", "pin": "1234"}]}}
    change = lambda call: RunNormally(call.tool.decode(now))  # noqa: E731  # one line
    tools = Toolset(plant)
    work = tools.offer().round([RawCall("1", "plant", sent)])
    turn = Executor(tools, hooks=change, store=store).run_sync(work).commit(store.transcript("a"))
    assert turn.results[0].content == "The program changed sizes[1] to 5, root before it ran.\nplanted"
    ran = turn.results[0].changed.arguments
    assert ran["root"]["inner"][0]["pin"] == "1234"
    assert list(stored_records(tmp_path / "desk.db")) == [[{"name": "plant", "arguments": ran, "sent": sent}]]


def test_the_line_is_bounded_and_hides_what_the_schema_hides():
    long = {"amount": 10**300, "to": "x" * 100_000, "notes": {f"{n}" * 200: "y" * 200 for n in range(50)}}
    assert len(said(long)) < 1_000
    for content in (200, 1_000):
        work = waiting().approve("1", arguments={"amount": 9, "to": "x" * 5_000})
        (call,) = Executor(TOOLS, max_content=content).run_sync(work).calls
        assert len(call.result.content) <= content
    assert said({"amount": 900, "way": {"pin": "1234"}}) == "A person changed way before it ran."


def test_a_long_result_is_cut_with_the_line():
    @tool
    def tell(length: int) -> str:
        """Tell."""
        return "x" * length

    longer = lambda call: RunNormally(call.tool.decode({"length": 1_000}))  # noqa: E731  # one line
    result = Executor(tell, hooks=longer, max_content=300).run_sync(RawCall("1", "tell", {"length": 1}))
    assert len(result.content) == 300
    assert result.content.startswith("The program changed length to 1000 before it ran.\nxxx")
    assert result.content.endswith("\n[cut: the whole result has 1,000 characters; ask for less of it]")
    assert result.content.count("[cut") == 1


def test_what_is_no_text_gets_the_line_as_a_part_of_its_own():
    work = Executor(TOOLS).run_sync(waiting().approve("1", arguments={**FIRST, "to": "painter"}))
    text, image = work.calls[0].result.parts
    assert (text.text, image.data) == ('A person changed to to "painter" before it ran.', PNG)
    failed = Executor(TOOLS).run_sync(waiting().approve("1", arguments={**FIRST, "to": "nobody"}))
    assert failed.calls[0].result.content.splitlines()[1:] == ["pay failed: ValueError"]


def test_nothing_is_said_where_nothing_changed_or_nothing_ran():
    same = Executor(TOOLS).run_sync(waiting().approve("1", arguments={"amount": 900.0, "to": "me"}))
    assert (same.calls[0].changed, same.calls[0].result.content) == (None, "paid 900")
    less = lambda call: RunNormally(call.tool.decode({"amount": 9}))  # noqa: E731  # one line
    for decision in (Complete("done"), Reject("no"), Defer()):
        work = Executor(TOOLS, hooks=[less, lambda _, made=decision: made]).run_sync(waiting_round())
        assert work.calls[0].changed.arguments["amount"] == 9
        result = work.calls[0].result
        assert result is None or (result.changed, "changed" in result.content) == (None, False)
    back = waiting().approve("1", arguments={"amount": 9}).calls[0].with_input(pay.decode(FIRST))
    assert back.changed is None
    tools = Toolset(pay)
    executor = Executor(tools.toolset)
    work = waiting().approve("1", arguments={"amount": 9})
    executor.registry.switch("pay", enabled=False)
    assert executor.run_sync(work).calls[0].result.code == "disabled"
    assert executor.run_sync(RawCall("1", "pay", FIRST)).changed is None


@tool
def meet(day: str, how: str = "well") -> str:
    """Meet."""
    RAN.append(day)
    if how == "badly":
        raise ValueError(day)
    return f"met on {day}"


RAN: list[str] = []


def by_executor(**options: Any) -> Any:
    return lambda call, work: Executor(MEETING, **options).run_sync(work)


def without_threads(call: Any, work: Any) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Threads, "run", no_threads)
        return Executor(MEETING).run_sync(work)


async def no_threads(*_: object) -> None:
    """Start no thread, as where the system gives no more."""
    message = "can't start new thread"
    raise RuntimeError(message)


def own_result(call: Any) -> Any:
    return ToolResult(call.id, call.name, "we meet another day")


def own_failure(call: Any) -> Any:
    return call.fail("the office is closed")


MEETING = Toolset(meet)
ENDS = {
    "an executor runs it": by_executor(),
    "no thread runs it": without_threads,
    "the program runs it": lambda call, work: work.with_results([call.complete(meet(call.input.day))]),
    "the program fails": lambda call, work: work.with_results([own_failure(call)]),
    "the program failed": lambda call, work: work.with_results([call.with_result(own_failure(call))]),
    "the program answers": lambda call, work: work.with_results([own_result(call)]),
    "the program answered": lambda call, work: work.with_results([call.with_result(own_result(call))]),
    "a person rejects it": lambda call, work: work.reject(call.index, "no"),
    "a hook answers": by_executor(hooks=lambda _: Complete("fine")),
    "a hook after it fails": by_executor(hooks=hook.after(meet)(lambda _: 1 / 0)),
    "a hook after it answers": by_executor(hooks=hook.after(meet)(own_result)),
}


@pytest.mark.parametrize("how", ["well", "badly"])
@pytest.mark.parametrize("by", ["hook", "person", "host"])
@pytest.mark.parametrize("end", ENDS)
def test_a_result_says_that_a_call_ran_only_if_it_did(end, by, how):
    RAN.clear()
    offered = MEETING.offer().round([RawCall("1", "meet", {"day": "Monday", "how": how})])
    changed = offered.calls[0].with_input(meet.decode({"day": "Friday", "how": how}), by=by)
    after = ENDS[end](changed, offered.replace(calls=(changed,)))
    (result,) = after.commit([]).results
    says_so, has_run = "before it ran" in result.content, bool(RAN)
    assert says_so == (has_run and not result.is_error)
    assert has_run == (end in {"an executor runs it", "the program runs it"} or "after it" in end)
    assert ("changed day" in result.content) == (end not in {"a person rejects it", "a hook answers"})
    assert MEETING.restore_round(after.as_dict()).commit([]).results[0].content == result.content


def waiting_round() -> Any:
    return TOOLS.offer().round([RawCall("1", "pay", FIRST)])


def test_who_changed_what_is_kept_in_order_also_after_a_restart():
    @hook(pay)
    def double(call):
        return RunNormally(call.tool.decode({"amount": call.input.amount * 2, "to": "you"}))

    work = Executor(TOOLS, hooks=double).run_sync(waiting_round())
    again = TOOLS.restore_round(json.loads(json.dumps(work.as_dict())))
    assert (again, again.calls[0].arguments_before) == (work, {"amount": 900, "to": "me"})
    decided = again.approve("1", arguments={"amount": 9, "to": "you"})
    finished = Executor(TOOLS).run_sync(TOOLS.restore_round(decided.as_dict()))
    told = finished.calls[0].result.changed
    assert [(one.by, one.hook and one.hook.rpartition(".")[2], one.names) for one in told.changes] == [
        ("hook", "double", ("amount", "to")),
        ("person", None, ("amount",)),
    ]
    line = "A person changed amount to 9 before it ran. The program changed to before it ran."
    assert finished.calls[0].result.content == f"{line}\npaid 9"
    assert TOOLS.restore_round(finished.as_dict()) == finished
    assert TOOLS.restore_round(finished.as_dict()).calls[0].changed == told
    for same in (
        pickle.loads(pickle.dumps(finished.calls[0].result)),
        copy.deepcopy(finished.calls[0].result),
    ):
        assert same == finished.calls[0].result
    assert finished.calls[0].result != finished.calls[0].result.replace(changed=None)


def test_a_hook_after_the_call_sees_the_line_and_may_change_it():
    seen = []

    @hook.after(pay)
    def look(call):
        seen.append(call.result.content)
        return {1: None, 2: call.complete("other"), 3: call.result.replace(content="hidden")}[len(seen)]

    executor = Executor(TOOLS, hooks=look)
    found = [executor.run_sync(waiting().approve("1", arguments={"amount": 9})).calls[0] for _ in range(3)]
    line = "A person changed amount to 9 before it ran."
    assert seen == [f"{line}\npaid 9"] * 3
    assert [call.content for call in found] == [f"{line}\npaid 9", f"{line}\nother", "hidden"]
    assert all(call.result.changed.arguments["amount"] == 9 for call in found)


def test_a_call_that_the_program_runs_says_what_ran():
    changed = waiting().approve("1", arguments={"amount": 9})
    line = "A person changed amount to 9 before it ran."
    (call,) = changed.pending
    for given in (call.complete("done"), call.handled("done")):
        assert waiting().approve("1", arguments={"amount": 9}).commit([], results=[given]).results[
            0
        ].content == (f"{line}\ndone")
    after = changed.with_results([call.complete("done")])
    assert after.revise("1", after.calls[0].result.replace(content="short")).calls[0].content == "short"
    own = done(waiting_round().apply(lambda _: RunNormally(approved=True))).calls[0]
    told = own.with_input(pay.decode({"amount": 7})).handled("done").result
    assert told.content == "The program changed amount to 7 before it ran.\ndone"
    assert told.changed.changes[0].by == "host"


def test_arguments_that_cannot_be_written_are_compared_as_the_model_sent_them():
    @tool_input
    @dataclass
    class Seeded:
        x: int
        seed: InitVar[int] = 1

        def __post_init__(self, seed: int) -> None:
            self.x += seed

    (call,) = Toolset(Seeded).offer().round([RawCall("1", "seeded", {"x": 1})]).calls
    assert call.with_edits(by="person") is call
    (call,) = Toolset(Seeded).offer().round([RawCall("1", "seeded", '{"x": 1}')]).calls
    assert call.with_edits(by="person") is call


def test_an_input_that_was_edited_in_place_counts_as_changed():
    work = waiting()
    edited = work.deferred[0].input
    edited.amount, edited.to = 9, "you"
    (result,) = Executor(TOOLS).run_sync(work.approve("1", input=edited)).commit([]).results
    assert result.content.startswith('A person changed amount to 9, to to "you" before it ran.')
    assert result.changed.before == {"amount": 900, "to": "me"}


@dataclass
class Parcel:
    weight: int | float
    to: str = "me"
    notes: list[Any] = field(default_factory=list)
    key: UUID = field(default_factory=uuid4)


@tool(confirm=True)
def send(parcel: Parcel, times: int = 1, agreed: Annotated[bool | None, skip] = None) -> str:
    """Send a parcel."""
    if times > 1 and agreed is None:
        raise NeedsInput("So often?", parameter="agreed")
    SENT.append(json.loads(json.dumps([parcel.weight, parcel.to, parcel.notes, times])))
    return "sent"


SENT: list[Any] = []
SENDING = Toolset(send)
PARCEL = {"weight": 9, "notes": [1]}
EDITS = {
    "nothing": lambda given: None,
    "a number": lambda given: setattr(given.parcel, "weight", 900),
    "a kind of number": lambda given: setattr(given.parcel, "weight", 9.5),
    "a text": lambda given: setattr(given.parcel, "to", "you"),
    "a list": lambda given: given.parcel.notes.append({"a": None}),
    "a part of a list": lambda given: given.parcel.notes.__setitem__(0, True),
    "the key": lambda given: setattr(given.parcel, "key", uuid4()),
    "a whole": lambda given: setattr(given, "parcel", Parcel(7)),
    "all": lambda given: [edit(given) for name, edit in EDITS.items() if name != "all"],
}


@pytest.mark.parametrize("is_restored", [False, True])
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_in_place_is_recorded_whichever_way_a_person_agrees(edit, times, is_restored):
    SENT.clear()
    work = SENDING.offer().round([RawCall("1", "send", {"parcel": PARCEL, "times": times})]).confirmed()
    if times > 1:
        work = Executor(SENDING).run_sync(work.approve("1"))
    EDITS[edit](work.deferred[0].input)
    work = SENDING.restore_round(work.as_dict()) if is_restored else work
    agreed = work.answer("1", True) if times > 1 else work.approve("1")
    (result,) = Executor(SENDING).run_sync(agreed).commit([]).results
    ran = {**PARCEL, "to": "me"} if result.changed is None else result.changed.arguments["parcel"]
    assert [[ran["weight"], ran["to"], ran["notes"], times]] == SENT
    assert repr(SENT[0][2][:1]) == repr(ran["notes"][:1])
    # A key that is made anew each time can't be told from one that somebody edited.
    assert ("A person changed parcel" in result.content) == (edit not in {"nothing", "the key"})


@pytest.mark.parametrize("edit", [{"weight": "heavy"}, {"to": 5}, {"notes": {1}}])
def test_an_edit_in_place_that_does_not_fit_is_refused(edit):
    work = SENDING.offer().round([RawCall("1", "send", {"parcel": PARCEL})]).confirmed()
    vars(work.deferred[0].input.parcel).update(edit)
    with pytest.raises(EncodeError):
        work.approve("1")


def test_what_a_default_gives_anew_each_time_was_not_changed():
    @dataclass
    class Note:
        text: str
        key: UUID = field(default_factory=uuid4)

    tools = Toolset(tool_input(Note))
    (call,) = tools.offer().round([RawCall("1", "note", {"text": "a"})]).calls
    assert call.with_input(call.tool.decode(call.arguments)).changed is None
    changed = call.with_input(Note("b", call.input.key)).changed
    assert changed.names == ("text",)
    other = call.with_input(Note("a", uuid4())).changed
    assert other.names == ("key",)


def test_what_was_changed_before_counts_with_the_next_change():
    first = changed_by(None, {"a": 1}, {"a": 2}, "hook", "one")
    assert isinstance(first, ChangedArguments)
    assert changed_by(first, {"a": 2}, {"a": 2}, "person", None) is first
    assert changed_by(first, {"a": 2}, {"a": 1}, "person", None) is None
    assert changed_by(None, {"a": 1}, {"a": 1}, "person", None) is None


# --- the log -------------------------------------------------------------------------------------


def lines_of(caplog: Any, level: int, decide: Any) -> list[tuple[str, str]]:
    caplog.clear()
    with caplog.at_level(level, logger="operator_schema"):
        decide()
    return [(record.levelname, record.getMessage()) for record in caplog.records]


def test_decisions_of_a_person_are_logged_as_those_of_hooks(caplog):
    work, ran = waiting(), '{"amount":9,"to":"me"}'
    approve = lambda: work.approve("1", arguments={"amount": 9})  # noqa: E731  # one line
    assert lines_of(caplog, logging.INFO, lambda: work.approve("1")) == [
        ("INFO", "pay (call 1): a person decided Approve")
    ]
    assert lines_of(caplog, logging.INFO, approve) == [
        ("INFO", "pay (call 1): a person decided Approve: changed amount")
    ]
    assert lines_of(caplog, logging.DEBUG, approve)[1] == (
        "DEBUG",
        f"pay (call 1): a person decided Approve: {ran}",
    )
    for reject in (lambda: work.reject("1", "too\nmuch"), lambda: work.reject_open("too\nmuch")):
        assert lines_of(caplog, logging.INFO, reject) == [
            ("INFO", r"pay (call 1): a person decided Reject: too\u000amuch")
        ]
    asked = Executor(TOOLS).run_sync(TOOLS.offer().round([RawCall("2", "ask", {"topic": "x"})]))
    assert lines_of(caplog, logging.DEBUG, lambda: asked.answer("2", True)) == [
        ("INFO", "ask (call 2): a person decided Answer"),
        ("DEBUG", "ask (call 2): a person decided Answer: true"),
    ]


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (True, "confirm decided RunNormally"),
        (False, "confirm decided Reject: a person declined it"),
        ("no", "confirm decided Reject: no"),
        (Complete("done"), "confirm decided Complete"),
        (None, None),
    ],
)
def test_what_the_function_that_asks_says_is_logged(caplog, answer, line):
    executor = Executor(TOOLS, confirm=lambda _: answer, threads=False)
    found = lines_of(caplog, logging.INFO, lambda: executor.run_sync(waiting_round()))
    assert [text for _, text in found if "confirm decided" in text] == (
        [f"pay (call 1): {line}"] if line else []
    )


# --- recordings ----------------------------------------------------------------------------------


def test_a_recording_hides_secrets_of_both(tmp_path):
    other = lambda call: RunNormally(call.tool.decode({"amount": 9, "to": "card 4999"}))  # noqa: E731
    path = tmp_path / "calls.jsonl"
    executor = record(Executor(TOOLS, hooks=other, confirm="run"), path, redact=["to"])
    sent = RawCall("1", "pay", {"amount": 9, "to": "card 4111"})
    assert executor.run_sync(sent).content.endswith("paid 9")
    text = path.read_text()
    assert "4999" not in text
    assert "4111" not in text
    line = json.loads(text)
    assert (line["arguments"]["to"], line["sent"]["to"]) == ("[redacted]", "[redacted]")
    played = playback(TOOLS, path).run_sync(sent)
    assert played.changed.changes[0].by == "hook"


def test_a_recording_that_hides_nothing_of_a_change_keeps_the_line(tmp_path):
    less = lambda call: RunNormally(call.tool.decode({"amount": 9}))  # noqa: E731  # one line
    path = tmp_path / "calls.jsonl"
    executor = record(Executor(TOOLS, hooks=less, confirm="run"), path, redact=["notes"])
    content = executor.run_sync(RawCall("1", "pay", '{"amount": 900}')).content
    line = json.loads(path.read_text())
    assert line["result"]["content"] == content == "The program changed amount to 9 before it ran.\npaid 9"
    assert line["sent"] == {"amount": 900}


def test_a_line_whose_changes_cannot_be_read_is_played_back_without_them(tmp_path):
    path = tmp_path / "calls.jsonl"
    said = {"content": "paid", "is_error": False, "code": None}
    line = {"name": "pay", "arguments": {"amount": 9}, "sent": "x", "changes": 7, "result": said}
    path.write_text(json.dumps(line))
    played = playback(TOOLS, path).run_sync(RawCall("1", "pay", "x"))
    assert (played.content, played.changed) == ("paid", None)


def test_a_round_that_runs_is_listed_with_what_runs(tmp_path):
    store = SqliteStore(tmp_path / "desk.db")
    store.claim(waiting().approve("1", arguments={"amount": 9}), begun=True)
    (stuck,) = store.stuck()
    assert [call.arguments for call in stuck.calls] == [{"amount": 9, "to": "me"}]
    (record_of_it,) = stored_records(tmp_path / "desk.db")
    assert record_of_it == [{"name": "pay", "arguments": {"amount": 9, "to": "me"}, "sent": FIRST}]


def test_what_the_program_filled_in_as_text_is_not_told_to_the_model():
    @hook(pay)
    def fill(call):
        return RunNormally(call.tool.decode({"amount": 7, "to": "key-0123456789"}))

    work = Executor(TOOLS, hooks=fill, confirm=lambda call: True).run_sync(RawCall("1", "pay", FIRST))
    assert work.content == "The program changed amount to 7, to before it ran.\npaid 7"


def test_both_are_named_where_each_may_have_changed_another_part_of_an_argument():
    @hook(pay)
    def stop_twice(call):
        return RunNormally(call.tool.decode({"amount": 900, "way": {"stops": ["a", "b"]}}))

    work = Executor(TOOLS, hooks=stop_twice).run_sync(waiting_round())
    decided = work.approve("1", arguments={"amount": 900, "way": {"stops": ["a", "c"]}})
    result = Executor(TOOLS).run_sync(decided).calls[0].result
    assert result.content.startswith("A person and the program changed way")
