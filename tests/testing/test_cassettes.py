"""Cassettes: what is recorded of an executor, and what is played back; with secrets and several processes."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from operator_schema import Complete, Executor, RawCall, Reject, Toolset, Transcript, tool
from operator_schema.recordings import records_in
from operator_schema.testing import PlaybackError, arguments, assert_calls, near_misses, playback, record
from operator_schema.tools import NO_OUTPUT, tool_of_document
from operator_schema.workbench.compare.recorded_calls import calls_in

pytestmark = pytest.mark.needs_threads


@dataclass
class Order:
    """An order."""

    id: str
    total: float


ran = []


@tool
def find(order_id: str, limit: int = 3) -> list[Order]:
    """Find orders."""
    ran.append(order_id)
    if order_id == "A0":
        raise ValueError(order_id)
    return [Order(order_id, float(limit))]


@tool
def log_in(name: str, password: str) -> dict[str, str]:
    """Log in."""
    if name == "nobody":
        message = f"no user {name} with {password}"
        raise LookupError(message)
    return {"token": f"t-{password}", "name": name}


@tool(confirm=True)
def wipe(path: str) -> str:
    """Wipe a folder."""
    return f"wiped {path}"


TOOLS = Toolset(find, log_in, wipe)
CALLS = [
    RawCall("c1", "find", {"order_id": "A7"}),
    RawCall("c2", "find", '{"order_id": "A7", "limit": 3.0}'),
    RawCall("c3", "find", {"order_id": "A0"}),
    RawCall("c4", "find", {"order_id": 7}),
    RawCall("c5", "find", '{"order_id": '),
    RawCall("c6", "nobody", {}),
    RawCall("c7", "wipe", {"path": "x"}),
    RawCall("c8", "find", '{"order_id": "A7", "lim', is_cut_off=True),
]


def told(result):
    return result.call_id, result.name, result.content, result.is_error, result.code, result.json


@pytest.fixture
def path(tmp_path):
    return tmp_path / "calls.jsonl"


def lines(path):
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.mark.needs_threads
def test_what_was_recorded_is_played_back(path):
    recording = record(Executor(TOOLS), path)
    results = [recording.run_sync(call) for call in CALLS]
    assert_calls(recording, CALLS)
    before = list(ran)
    playing = playback(TOOLS, path)
    assert playing.left == len(CALLS)
    assert [told(playing.run_sync(call)) for call in CALLS] == [told(result) for result in results]
    assert playing.left == 0
    assert ran == before
    assert_calls(playing, CALLS)


@pytest.mark.needs_threads
def test_every_way_to_run_calls_is_recorded_and_played_back(path):
    async def run(executor):
        alone = await executor.run(CALLS[0])
        several = await executor.run(CALLS[1:4])
        async with executor.stream(CALLS[4:6]) as results:
            streamed = [result async for result in results]
        toolset = executor.registry.toolset
        done = await executor.run(toolset.offer().round([CALLS[0], CALLS[3]]))
        turn = done.commit(Transcript())
        return [told(one) for one in (alone, *several, *sorted(streamed, key=str), *turn.results)]

    recorded = asyncio.run(run(record(Executor(TOOLS), path)))
    before = list(ran)
    playing = playback(Executor(TOOLS), path)
    assert asyncio.run(run(playing)) == recorded
    assert ran == before
    assert playing.left == 1  # the round knows by itself which of its calls doesn't fit
    assert len(lines(path)) == 8


def test_calls_of_a_round_that_a_hook_or_a_person_decided_are_recorded_once(path):
    def decided(call):
        return {"1": Reject("Not this one."), "2": Complete("done")}.get(call.id)

    people = {"3": True, "4": "A person said no."}
    executor = record(
        Executor(TOOLS, hooks=decided, confirm=lambda call: people.get(call.id)), path, redact=["path"]
    )
    calls = [RawCall(str(number), "wipe", {"path": f"folder {number}"}) for number in range(1, 6)]
    work = executor.run_sync(TOOLS.offer().round(calls))
    executor.run_sync(work.approve("5")).commit(Transcript())
    told = {line["id"]: (line["result"]["code"], line["result"]["content"]) for line in lines(path)}
    assert len(lines(path)) == len(told)
    assert {key: code for key, (code, _) in told.items()} == {
        "1": "rejected", "2": None, "3": None, "4": "rejected", "5": None,
    }  # fmt: skip
    assert "folder" not in path.read_text()


@pytest.mark.needs_threads
def test_on_result_of_the_program_is_still_called(path):
    seen = []

    def see(call, result):
        seen.append((call.id, result.content))

    record(Executor(TOOLS), path).run_sync(CALLS[0], on_result=see)
    playback(TOOLS, path).run_sync(CALLS[0], on_result=see)
    playback(TOOLS, path).run_sync(CALLS[:1], on_result=see)
    playback(TOOLS, path).run_sync(TOOLS.offer().round(CALLS[:1]), on_result=see)
    assert seen == [("c1", '[{"id":"A7","total":3.0}]')] * 4


def test_equal_calls_get_their_results_in_order(path):
    with path.open("w") as file:
        for number in range(3):
            result = {"content": str(number), "is_error": False}
            file.write(json.dumps({"name": "find", "arguments": {"order_id": "A7"}, "result": result}) + "\n")
    playing = playback(TOOLS, path)
    found = [
        playing.run_sync(RawCall(None, "find", {"order_id": "A7", "limit": 3})).content for _ in range(3)
    ]
    assert found == ["0", "1", "2"]
    with pytest.raises(PlaybackError, match="has this call 3 times, and that was played back already"):
        playing.run_sync(CALLS[0])


@pytest.mark.needs_threads
def test_an_unknown_call_shows_the_nearest_recorded_one(path):
    recording = record(Executor(TOOLS), path)
    recording.run_sync(CALLS[0])
    recording.run_sync(RawCall(None, "find", {"order_id": "B1", "limit": 9}))
    playing = playback(TOOLS, path)
    call = RawCall(None, "find", {"order_id": "B2", "limit": 9})
    with pytest.raises(PlaybackError) as raised:
        playing.run_sync(call)
    assert str(raised.value) == (
        f'{path} doesn\'t have the call find {{"order_id": "B2", "limit": 9}}. The nearest one is '
        'find {"order_id": "B1", "limit": 9}; of that, differs:\n  order_id: expected "B1", got "B2"'
    )
    assert raised.value.call == call
    with pytest.raises(PlaybackError, match='no call of "fnd" is recorded; there are calls of "find"'):
        playing.run_sync(RawCall(None, "fnd", {}))
    with pytest.raises(PlaybackError):
        playing.run_sync([call])
    with pytest.raises(PlaybackError):
        playing.run_sync(TOOLS.offer().round([call]))


@pytest.mark.needs_threads
def test_arguments_that_do_not_matter_are_ignored(path):
    record(Executor(TOOLS), path).run_sync(CALLS[0])
    call = RawCall(None, "find", {"order_id": "A7", "limit": 99})
    assert playback(TOOLS, path, ignore=["limit"]).run_sync(call).json == [{"id": "A7", "total": 3.0}]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.needs_threads
@given(sent=arguments(find) | near_misses(find))
def test_any_call_is_played_back(path, sent):
    path.unlink(missing_ok=True)
    call = RawCall("c1", "find", sent)
    result = record(Executor(TOOLS), path).run_sync(call)
    assert told(playback(TOOLS, path).run_sync(call)) == told(result)
    with path.open("rb") as file:
        (line,) = records_in(file)
    assert [found.name for found in calls_in(line)] == ["find"]


# --- secrets -------------------------------------------------------------------------------------


@pytest.mark.needs_threads
@pytest.mark.parametrize("password", ["hunter2-and-more", 'a"b\\c\n', "x" * 5000, "123"])
@pytest.mark.parametrize("form", [dict, json.dumps])
@pytest.mark.parametrize("user", ["ann", "nobody"])
def test_secrets_stay_out_of_the_cassette(path, password, form, user):
    executor = record(Executor(TOOLS, show_errors="message"), path, redact=["password", "token"])
    call = RawCall("c1", "log_in", form({"name": user, "password": password}))
    executor.run_sync(call)
    executor.run_sync(
        RawCall("c2", "log_in", form({"name": user, "password": password, "extra": [password]}))
    )
    executor.run_sync(RawCall("c3", "log_in", json.dumps({"name": user, "password": password})[:-1]))
    text = path.read_text()
    assert password[:8] not in text
    assert json.dumps(password)[1:9] not in text
    assert len(lines(path)) == 3
    played = playback(TOOLS, path).run_sync(RawCall("c9", "log_in", {"name": user, "password": "other"}))
    assert played.is_error == (user == "nobody")
    if user == "ann":
        assert played.json == {"token": "[redacted]", "name": "ann"}


@pytest.mark.needs_threads
@pytest.mark.parametrize(
    "key", ["api_token", "apiToken", "API-Token", " api token", "api_tokn", "api_tokens"]
)
@pytest.mark.parametrize("repair", [True, False])
def test_a_secret_under_another_spelling_of_its_key_stays_out_too(path, key, repair):
    @tool(repair=repair)
    def connect(host: str, api_token: str = "") -> str:
        """Connect."""
        return f"{host} knows {api_token}"

    executor = record(Executor(connect), path, redact=["api_token"])
    executor.run_sync(RawCall("hunter2-and-more", "connect", {"host": "a", key: "hunter2-and-more"}))
    executor.run_sync(RawCall("c2", "connect", {"host": 5, "more": {key: "hunter2-and-more"}}))
    assert "hunter2" not in path.read_text()
    assert [line["arguments"] for line in lines(path)] == [
        {"host": "a", key: "[redacted]"},
        {"host": 5, "more": {key: "[redacted]"}},
    ]


@pytest.mark.needs_threads
def test_a_key_that_a_tool_has_is_no_other_spelling(path):
    @tool
    def count(tokens: int) -> int:
        """Count."""
        return tokens

    call = {"tokens": 3, "token" * 60: "b"}
    record(Executor(count), path, redact=["token"]).run_sync(RawCall("c1", "count", call))
    assert [line["arguments"] for line in lines(path)] == [call]


@tool
def sign_in(body: str, password: str = "") -> dict[str, dict[str, int]]:
    """Sign in."""
    return {"sessions": {password: len(body)}}


@tool
def told_in_json() -> str:
    """Say a secret."""
    return json.dumps([{"password": "hunter2-and-more"}])


@pytest.mark.needs_threads
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("sign_in", {"body": "", "password": "hunter2-and-more"}),  # as a key of the result
        ("sign_in", {"body": "", "password": "hunter2-and-more", "hunter2-and-more": 1}),  # of the arguments
        ("sign_in", {"body": ' {"users": [{"password": "hunter2-and-more"}]}'}),  # in JSON in a text
        ("told_in_json", {}),  # the same in a result
        ("hunter2-and-more", {"password": "hunter2-and-more"}),  # as the name of a tool
    ],
)
def test_secrets_stay_out_wherever_they_are(path, name, arguments):
    executor = record(Executor([sign_in, told_in_json]), path, redact=["password"])
    executor.run_sync(RawCall("c1", name, arguments))
    assert len(lines(path)) == 1
    assert "hunter2" not in path.read_text()


@pytest.mark.needs_threads
def test_a_text_that_held_a_secret_is_played_back_for_any_text(path):
    body = '{"password": "%s"}'
    record(Executor([sign_in]), path, redact=["password"]).run_sync(
        RawCall("c1", "sign_in", {"body": body % "old"})
    )
    played = playback([sign_in], path).run_sync(RawCall("c1", "sign_in", {"body": body % "new"}))
    assert not played.is_error


@pytest.mark.needs_threads
def test_a_key_of_another_tool_shows_no_secret_that_repair_accepts_under_this_key(path):
    @tool(repair=True)
    def log_in(api_token: str) -> str:
        """Log in."""
        return api_token

    @tool
    def count(apiToken: int) -> int:  # noqa: N803  # a key that means itself, of this tool
        """Count."""
        return apiToken

    executor = record(Executor([log_in, count]), path, redact=["api_token"])
    for name, value in (("log_in", "s3cret"), ("count", 5), ("unknown", "s3cret")):
        executor.run_sync(RawCall("c1", name, {"apiToken": value}))
    kept = [line["arguments"]["apiToken"] for line in lines(path)]
    assert kept == ["[redacted]", 5, "[redacted]"]


def test_a_name_in_redact_that_is_nearly_a_key_is_logged(path, caplog):
    record(Executor(TOOLS), path, redact=["pasword", "token"])  # a result that is a mapping has the token
    expected = 'redact has names of keys that no tool has: "pasword" (did you mean "password"?)'
    assert caplog.messages == [expected]


def test_a_name_in_redact_may_be_deep_inside_the_arguments(path, caplog):
    @dataclass
    class Account:
        card: str

    @tool
    def pay(accounts: list[Account]) -> None:
        """Pay."""

    record(Executor(pay), path, redact=["card"])
    assert caplog.messages == []


@pytest.mark.parametrize("properties", [5, True, [1]])
def test_keys_are_looked_for_in_any_document(path, caplog, properties):
    def pay(arguments: dict[str, Any]) -> None:
        """Pay."""

    schema = {"type": "object", "properties": {"password": {"properties": properties}}}
    record(Executor(tool_of_document(pay, schema, NO_OUTPUT)), path, redact=["pasword"])
    assert len(caplog.messages) == 1


@pytest.mark.needs_threads
@pytest.mark.parametrize("recorded", [{"name": "ann"}, {"name": "ann", "password": "old"}, "{broken"])
@pytest.mark.parametrize("form", [dict, json.dumps])
@pytest.mark.parametrize(
    ("name", "key"),
    [("log_in", "password"), ("log_in", "Password"), ("log_out", "password"), ("find", "pass_word")],
)
def test_what_is_said_of_a_call_that_is_not_recorded_shows_no_secret(path, recorded, form, name, key):
    """Also if the recorded calls have no such key, or nothing but a text that was left out."""
    record(Executor(TOOLS), path, redact=["password"]).run_sync(RawCall("c1", "log_in", recorded))
    call = RawCall("c2", name, form({"name": "bob", key: "hunter2-and-more"}))
    playing = playback(TOOLS, path)
    if name == "log_in" and recorded == "{broken":
        playing.run_sync(call)  # the text that was left out may have been this
    with pytest.raises(PlaybackError) as raised:
        playing.run_sync(call)
    assert "hunter2" not in f"{raised.value} {raised.value!r} {vars(raised.value)}"
    assert "bob" in str(raised.value)
    assert playing.calls[-1] == call


@pytest.mark.needs_threads
def test_keys_whose_values_were_left_out_by_a_function_are_not_shown_either(path):
    def keep(line):
        return {**line, "arguments": {"name": "ann", "more": [{"password": "[redacted]"}]}}

    record(Executor(TOOLS), path, redact=keep).run_sync(RawCall("c1", "log_in", {"name": "ann"}))
    with pytest.raises(PlaybackError) as raised:
        playback(TOOLS, path).run_sync(RawCall("c2", "log_in", {"name": "bob", "password": "hunter2"}))
    assert str(raised.value).count("hunter2") == 0
    path.write_text(path.read_text().replace('"name":"log_in"', '"redact":[5,"name"],"name":"log_in"'))
    with pytest.raises(PlaybackError) as raised:
        playback(TOOLS, path).run_sync(RawCall("c2", "log_in", {"name": "bob", "password": "hunter2"}))
    assert "bob" not in str(raised.value)


@pytest.mark.needs_threads
def test_arguments_that_are_no_json_are_not_shown_where_something_was_left_out(path):
    record(Executor(TOOLS), path, redact=["password"]).run_sync(CALLS[0])
    with pytest.raises(PlaybackError, match=r"the call find \"\[redacted\]\""):
        playback(TOOLS, path).run_sync(RawCall("c2", "find", {"order_id": [float("nan"), "hunter2"]}))


@pytest.mark.needs_threads
def test_a_function_decides_what_is_kept(path):
    def keep(line):
        return (
            None if line["name"] == "log_in" else {**line, "result": {"content": "kept", "is_error": False}}
        )

    executor = record(Executor(TOOLS), path, redact=keep)
    executor.run_sync(RawCall("c1", "log_in", {"name": "ann", "password": "hunter2"}))
    executor.run_sync(CALLS[0])
    assert [line["name"] for line in lines(path)] == ["find"]
    assert playback(TOOLS, path).run_sync(CALLS[0]).content == "kept"


@pytest.mark.needs_threads
@pytest.mark.parametrize("kept", ["text", {}, {"name": 3}, ZeroDivisionError])
def test_where_redacting_fails_nothing_is_written(path, kept, caplog):
    def keep(line):
        if isinstance(kept, type):
            raise kept(line["name"])
        return kept

    result = record(Executor(TOOLS), path, redact=keep).run_sync(CALLS[0])
    assert not result.is_error
    assert path.read_bytes() == b""
    assert "find: the call couldn't be recorded" in caplog.text


@pytest.mark.needs_threads
def test_an_executor_has_one_cassette(path, tmp_path):
    recorded = record(Executor(TOOLS), path)
    recorded.run_sync(CALLS[0])
    message = "takes an executor of yours, not one that {0} returned: one cassette has its calls"
    with pytest.raises(TypeError, match="^record " + message.format("record")):
        record(recorded, tmp_path / "other.jsonl")
    played = playback(recorded, path)
    with pytest.raises(TypeError, match="^playback " + message.format("playback")):
        playback(played, path)
    assert played.run_sync(CALLS[0]).code is None
    assert len(lines(path)) == 1


@pytest.mark.parametrize("redact", ["password", 3, [3], b"x"])
def test_redact_is_a_function_or_names(path, redact):
    with pytest.raises(TypeError, match="redact must be a function or a list of names"):
        record(Executor(TOOLS), path, redact=redact)
    if isinstance(redact, str):
        with pytest.raises(TypeError, match=r'not string "password": write \["password"\]$'):
            record(Executor(TOOLS), path, redact=redact)


# --- files ---------------------------------------------------------------------------------------

WRITER = """
import sys
from operator_schema import Executor, RawCall, tool
from operator_schema.testing import record

@tool
def say(text: str) -> str:
    "Say it."
    return text

executor = record(Executor(say, threads=False), sys.argv[1])
for number in range(60):
    executor.run_sync(RawCall(None, "say", {"text": sys.argv[2] * 20_000}))
"""


@pytest.mark.slow("starts two processes")
@pytest.mark.needs_process
def test_two_processes_never_mix_their_lines(path):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), letter], stderr=subprocess.PIPE)
        for letter in "ab"
    ]
    for writer in writers:
        _, errors = writer.communicate(timeout=120)
        assert (writer.returncode, errors) == (0, b"")
    found = lines(path)
    assert len(found) == 120
    assert {line["result"]["content"] for line in found} == {"a" * 20_000, "b" * 20_000}


@pytest.mark.needs_threads
def test_threads_never_mix_their_lines(path):
    executor = record(Executor(TOOLS), path)
    threads = [
        threading.Thread(target=lambda: [executor.run_sync(CALLS[0]) for _ in range(20)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(lines(path)) == 80


@pytest.mark.needs_threads
def test_a_line_that_was_cut_does_not_swallow_the_next_one(path):
    path.write_bytes(b'{"name": "find", "arg')
    record(Executor(TOOLS), path).run_sync(CALLS[0])
    second = path.read_bytes().splitlines()[1]
    assert json.loads(second)["name"] == "find"
    with pytest.raises(ValueError, match="line 1: it isn't JSON"):
        playback(TOOLS, path)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("3", "line 1: this isn't a line of a cassette: 3"),
        ('{"name": "find", "arguments": {}}', "this isn't a line of a cassette"),
        ('{"name": 3, "arguments": {}, "result": {"content": ""}}', "this isn't a line of a cassette"),
        ('{"name": "find", "arguments": {}, "result": {"content": 3}}', "this isn't a line of a cassette"),
        (
            '{"name": "find", "arguments": {}, "result": {"content": "", "code": 3}}',
            "isn't a line of a cassette",
        ),
        ("[" * 100_000, "isn't JSON"),
    ],
)
def test_a_file_of_something_else_is_refused(path, text, why):
    path.write_text(text)
    with pytest.raises(ValueError, match=why):
        playback(TOOLS, path)


def test_a_file_that_cannot_be_read_or_written_is_told_before_a_call_runs(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"there is no cassette here; record\(executor, path\) writes one"
    ):
        playback(TOOLS, tmp_path / "none.jsonl")
    with pytest.raises(FileNotFoundError):
        record(Executor(TOOLS), tmp_path / "none" / "calls.jsonl")


def test_only_an_executor_is_recorded(path):
    with pytest.raises(TypeError, match="record takes an Executor, not"):
        record(TOOLS, path)
    one = next(iter(Executor(TOOLS).registry))
    with pytest.raises(TypeError, match=rf"not Tool: write Executor\({one.name}\)$"):
        record(one, path)
    for use, tools in ((record, Executor(TOOLS)), (playback, TOOLS)):
        with pytest.raises(TypeError, match="the path of a cassette must be a string or a Path, not integer"):
            use(tools, 5)


def test_a_subclass_stays_one(path):
    class Own(Executor):
        pass

    executor = record(Own(TOOLS), path)
    assert isinstance(executor, Own)
    assert isinstance(executor.with_(timeout=3), Own)
    executor.with_(timeout=3).run_sync(RawCall("c1", "nobody", {}))
    assert len(lines(path)) == 1


@pytest.mark.needs_threads
def test_arguments_that_nest_too_deep_are_refused_without_a_crash(path):
    deep: object = "x"
    for _ in range(5000):
        deep = [deep]
    path.write_text("")
    with pytest.raises(PlaybackError):
        playback(TOOLS, path).run_sync(RawCall("c1", "find", {"order_id": deep}))


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_does_not_have_is_recorded_as_text(path, number, caplog):
    sent = {"order_id": "A7", "limit": number}
    recording = record(Executor([find]), path)
    result = recording.run_sync(RawCall("1", "find", sent))
    (line,) = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
    assert result.is_error
    assert caplog.records == []
    assert line["result"]["content"] == result.content
    assert repr(json.loads(line["arguments"])) == repr(sent)
