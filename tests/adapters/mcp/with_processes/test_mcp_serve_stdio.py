"""The command `serve` over standard input and output, asked by real clients and by rude ones."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import anyio
import pytest
from mcp import Client
from mcp.types import ElicitResult, ToolListChangedNotification, methods
from mcp_processes import environment, over_stdio, raw_server, request, run
from patience import LONGEST_WAIT

pytestmark = [
    pytest.mark.needs_process,
    pytest.mark.slow("starts a server in a process for each question"),
]

LEGACY, MODERN = "legacy", "2026-07-28"
both_protocols = pytest.mark.parametrize("mode", [LEGACY, MODERN])


@both_protocols
def test_a_client_starts_it_and_calls_tools(mode):
    async def main():
        told = []

        async def tell(done, total, message):
            told.append((done, total, message))

        async with Client(over_stdio("mcp_app:registry"), mode=mode) as client:
            listed = (await client.list_tools()).tools
            added = await client.call_tool("add", {"a": 1, "b": 2})
            wrong = await client.call_tool("add", {"a": "x"})
            shouted = await client.call_tool("shout", {})
            waited = await client.call_tool("wait", {"seconds": 0}, progress_callback=tell)
        return listed, added, wrong, shouted, waited, told

    listed, added, wrong, shouted, waited, told = anyio.run(main)
    names = ["add", "size_of", "make", "shout", "variable", "wait", "delete", "late"]
    assert [one.name for one in listed] == names
    assert (listed[0].title, listed[0].annotations.read_only_hint) == ("Add numbers", True)
    assert (added.structured_content, added.content[0].text) == ({"total": 3}, '{"total":3}')
    assert wrong.content[0].text.startswith("add: 1 problem with the arguments")
    assert shouted.content[0].text == "''"  # standard input is the client's, so a tool finds it empty
    assert waited.content[0].text == "done"
    assert told == [(0, 1, "started")]


def test_nothing_but_messages_is_on_standard_output():
    with raw_server("mcp_app:registry") as raw:
        raw.begin()
        raw.call(1, "shout")
        assert raw.receive()["id"] == 1
        raw.process.stdin.close()
        assert raw.process.stdout.read() == b""
        said = raw.process.stderr.read().decode()
        assert raw.process.wait(LONGEST_WAIT) == 0
    for text in ["printed at import", "written at import", "printed", "written by the system", "a child"]:
        assert f"{text}\n" in said
    assert "serving 8 tools on standard input and output" in said


def test_a_thousand_calls_over_one_connection():
    async def main():
        async with Client(over_stdio("mcp_app:registry"), mode=LEGACY) as client:
            sizes = []

            async def some(start):
                for size in range(start, start + 100):
                    result = await client.call_tool("size_of", {"text": "x" * size})
                    sizes.append((size, result.content[0].text))

            async with anyio.create_task_group() as group:
                for start in range(0, 1000, 100):
                    group.start_soon(some, start)
            return sorted(sizes)

    assert anyio.run(main) == [(size, str(size)) for size in range(1000)]


@pytest.fixture(scope="module")
def raw():
    """A server that has to bear with several tests."""
    with raw_server("mcp_app:registry") as one:
        one.begin()
        yield one


def test_garbage_costs_nothing_but_itself(raw):
    raw.send(
        *(
            b"",
            b"{",
            b"[]",
            b"null",
            b'"text"',
            b"\xff\xfe",
            b"\x00",
            b'{"jsonrpc": "1.0"}',
            b"[" * 100_000,
        ),
        {"jsonrpc": "2.0", "id": 9},
        {"jsonrpc": "2.0", "method": "notifications/unheard"},
        request(1, "no/such/method"),
        request(2, "tools/call", {"name": 5}),
        request(3, "tools/call", {"name": "add", "arguments": [1]}),
    )
    raw.call(4, "add", a=1)
    answers = {}
    while 4 not in answers:
        answer = raw.receive()
        answers[answer["id"]] = answer
    assert {number: answers[number]["error"]["code"] for number in (1, 2, 3)} == {
        1: -32601,
        2: -32602,
        3: -32602,
    }
    assert answers[4]["result"]["structuredContent"] == {"total": 1}


def test_ten_megabytes_in_and_out(raw):
    raw.call(1, "size_of", text="x" * 10_000_000)
    assert raw.receive()["result"]["content"][0]["text"] == "10000000"
    raw.call(2, "make", size=10_000_000)
    assert len(raw.receive()["result"]["content"][0]["text"]) == 10_000_000


def test_a_client_that_reads_slowly_loses_nothing(raw):
    for number in range(1, 31):
        raw.call(number, "make", size=100_000)  # far more than a pipe holds
    time.sleep(0.5)
    assert sorted(raw.receive()["id"] for _ in range(30)) == list(range(1, 31))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends a process at once")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_cancels_what_runs(number):
    with raw_server("mcp_app:registry") as raw:
        raw.begin()
        raw.call(1, "wait", seconds=60)
        raw.call(2, "add", a=1)
        assert raw.receive()["id"] == 2
        raw.process.send_signal(number)
        assert raw.process.wait(LONGEST_WAIT) == 128 + number
        assert b"waited" in raw.process.stderr.read()


def test_a_client_that_vanishes_ends_it():
    with raw_server("mcp_app:registry") as raw:
        raw.begin()
        raw.call(1, "wait", seconds=60)
        raw.call(2, "make", size=1_000_000)
        raw.process.stdout.close()
        raw.process.stdin.close()
        assert raw.process.wait(LONGEST_WAIT) == 0
        said = raw.process.stderr.read().decode()
    assert "waited" in said
    assert "Traceback" not in said


@both_protocols
def test_a_registry_that_changes_is_told(mode):
    async def main():
        told = anyio.Event()

        async def handle(message):
            if isinstance(message, ToolListChangedNotification):
                told.set()

        async with Client(over_stdio("mcp_app:registry"), mode=mode, message_handler=handle) as client:
            with anyio.fail_after(LONGEST_WAIT):
                if mode == MODERN:
                    async with client.listen(tools_list_changed=True) as events:
                        await client.call_tool("late", {})
                        await anext(aiter(events))
                else:
                    await client.call_tool("late", {})
                    await told.wait()
            return [one.name for one in (await client.list_tools()).tools][-1]

    assert anyio.run(main) == "later"


@both_protocols
def test_a_person_is_asked_and_log_records_are_sent_if_wanted(mode):
    told = []

    async def ask(_context, params):
        return ElicitResult(action="accept" if "b" in params.message.partition("\n")[2] else "decline")

    async def take(params):
        told.append((params.level, params.data))

    async def main():
        transport = over_stdio("--confirm", "--log", "acme", "mcp_app:registry")
        level = {"log_level": "info"} if mode == MODERN else {}
        client = Client(transport, mode=mode, elicitation_callback=ask, logging_callback=take, **level)
        async with client:
            await client.call_tool("shout", {})
            return [(await client.call_tool("delete", {"path": path})).content[0].text for path in "ab"]

    assert anyio.run(main) == ["This call was rejected: a person declined it", "b is gone"]
    assert told == [("warning", "logged")]


FIRST = '''
from operator_schema import tool

@tool
def greet() -> str:
    """Greet."""
    return "hello"
'''

SECOND = (
    FIRST
    + '''
@tool
def leave() -> str:
    """Leave."""
    return "bye"
'''
)


async def until(ask, expected):
    with anyio.fail_after(LONGEST_WAIT):
        while await ask() != expected:  # noqa: ASYNC110  # the clock of the other process counts
            await anyio.sleep(0.05)


def test_files_that_change_are_imported_again(tmp_path):
    module = tmp_path / "greeting.py"
    module.write_text(FIRST, encoding="utf-8")

    async def main():
        async with Client(over_stdio("--reload", "greeting", folder=tmp_path)) as client:

            async def names():
                return [one.name for one in (await client.list_tools()).tools]

            async def answer():
                return (await client.call_tool("leave", {})).content[0].text

            await until(names, ["greet"])
            module.write_text("this is no Python", encoding="utf-8")
            await anyio.sleep(0.7)
            await until(names, ["greet"])  # the old tools go on
            assert (await client.call_tool("greet", {})).content[0].text == "hello"
            module.write_text(SECOND, encoding="utf-8")
            await until(names, ["greet", "leave"])
            assert await answer() == "bye"
            module.write_text(SECOND.replace("bye", "ciao"), encoding="utf-8")
            await until(answer, "ciao")

    anyio.run(main)


def test_what_is_printed_for_a_client_starts_the_server(tmp_path):
    done = run("--no-confirm", "--print-config", "claude-desktop", "mcp_app:registry")
    ((name, entry),) = json.loads(done.stdout)["mcpServers"].items()
    assert name == "mcp_app"
    opening = request(
        1,
        "initialize",
        {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"},
        },
    )
    # As Claude Desktop does it: from another folder, with an environment of its own.
    with subprocess.Popen(
        [entry["command"], *entry["args"]],
        cwd=tmp_path,
        env={**environment(), "PYTHONPATH": f"{environment()['PYTHONPATH']}:{entry['env']['PYTHONPATH']}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        process.stdin.write(json.dumps(opening).encode() + b"\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["result"]["serverInfo"]["name"] == "mcp_app"
        process.stdin.close()
        assert process.wait(LONGEST_WAIT) == 0


HOSTILE = [
    *("lone_surrogate", "surrogates_inside", "surrogates_in_parts", "surrogates_said"),
    *("error_of_the_protocol", "no_number", "ends", "ends_async", "cancels_itself"),
]


@pytest.fixture(scope="module")
def bearing():
    with raw_server("--log", "hostile", "--structured", "all", "mcp_hostile_app") as one:
        one.begin()
        yield one


def answers_of(raw, *numbers):
    """Read until these are answered."""
    answers = {}
    while set(numbers) - set(answers):
        message = raw.receive()
        answers[message.get("id")] = message
    return [answers[number] for number in numbers]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_tool_that_misbehaves_fails_alone(bearing, name):
    params = {"name": name, "arguments": {}, "_meta": {"progressToken": 1}}
    bearing.send(request(1, "tools/call", params))
    bearing.call(2, "fine")
    bad, fine = answers_of(bearing, 1, 2)
    assert fine["result"]["content"][0]["text"] == "fine"
    assert "error" in bad if name == "error_of_the_protocol" else bad["result"]["isError"]


@pytest.mark.parametrize("levels", [50, 100, 250, 900])
def test_results_of_any_depth(bearing, levels):
    bearing.call(1, "deep", levels=levels)
    bearing.call(2, "fine")
    answers = answers_of(bearing, 1, 2)
    assert ["result" in answer for answer in answers] == [True, True]
    assert answers[0]["result"]["isError"] == (levels > 50)


def test_what_tools_say_can_be_listed(bearing):
    bearing.send(request(1, "tools/list"))
    bearing.call(2, "odd_progress")
    listed, reported = answers_of(bearing, 1, 2)
    assert "A tool \ufffd" in [one["description"].partition("\n")[0] for one in listed["result"]["tools"]]
    assert reported["result"]["content"][0]["text"] == "reported"


class TestMessages:
    """Every message is as the schema of its version says; the SDK ships one model for each."""

    CALLS = (
        ("add", {"a": 1}),
        ("add", {"a": "x"}),
        ("nothing", {}),
        ("shout", {}),
        ("wait", {"seconds": 0}),
        ("delete", {"path": "a"}),
        ("late", {}),
    )

    def exchange(self, opening, meta):
        """Return methods and results, and the notifications between them."""
        results, notifications = [], []
        with raw_server("--confirm", "--log", "acme", "--structured", "all", "mcp_app:registry") as raw:
            calls = [("tools/call", {"name": name, "arguments": given}) for name, given in self.CALLS]
            for number, (method, params) in enumerate([*opening, ("tools/list", {}), *calls]):
                own = {**meta, "progressToken": number}
                raw.send(request(number, method, {**params, "_meta": own}))
                while "id" not in (message := raw.receive()) or "method" in message:
                    notifications.append(message)
                results.append((method, message["result"]))
        return results, notifications

    def test_of_2025_11_25(self):
        client = {"name": "raw", "version": "1"}
        opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        self.check("2025-11-25", *self.exchange([("initialize", opening)], {}))

    def test_of_2026_07_28(self):
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
            "io.modelcontextprotocol/logLevel": "info",
        }
        results, notifications = self.exchange([("server/discover", {})], meta)
        self.check(MODERN, results, notifications)
        assert results[7][1]["resultType"] == "input_required"

    def check(self, version, results, notifications):
        for method, result in results:
            methods.validate_server_result(method, version, result)
        for notification in notifications:
            methods.parse_server_notification(notification["method"], version, notification.get("params"))
        told = {notification["method"] for notification in notifications}
        assert {"notifications/progress", "notifications/message"} <= told
