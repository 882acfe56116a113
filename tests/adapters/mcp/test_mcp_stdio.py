"""The server over standard input and output: every line gets its answer, and no line ends it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import threading
from contextlib import suppress

import anyio
import pytest
import warm_processes
from hypothesis import given
from hypothesis import strategies as st
from mcp.server.stdio import stdio_server
from mcp.types import JSONRPCError, JSONRPCNotification
from patience import LONGEST_WAIT

from operator_schema import tool
from operator_schema.adapters.mcp import server, stdio, stdio_lines
from operator_schema.adapters.mcp.stdio import serve_stdio
from operator_schema.adapters.mcp.stdio_lines import UnreadableLine, message_of

pytestmark = pytest.mark.needs_threads

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602
OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}


@tool
def add(a: int, b: int = 0) -> int:
    """Add."""
    return a + b


def request(number, method, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def written(message):
    return message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"


def exchange(*messages, until=None, sink=None):
    """Return the status of a server, and all that it answers.

    Args:
        messages: what a client sends.
        until: id of the answer after which the client closes its end; it does so at once without one.
        sink: where the server writes, if it isn't to the client.
    """

    async def main():
        source, there = os.pipe()
        here, back = os.pipe()
        with os.fdopen(source, "rb") as incoming, os.fdopen(back, "wb", 0) as out:
            client = asyncio.create_task(
                asyncio.to_thread(talk, os.fdopen(there, "wb", 0), os.fdopen(here, "rb"))
            )
            async with asyncio.timeout(LONGEST_WAIT):
                status = await serve_stdio(server([add]), incoming, sink or out)
            out.close()
            return status, await client

    def talk(sends, receives):
        answers = []
        with receives:
            with sends:
                for message in messages:
                    sends.write(written(message))
                while until is not None and until not in [each["id"] for each in answers]:
                    answers.append(json.loads(receives.readline()))
            return answers + [json.loads(line) for line in receives]

    return asyncio.run(main())


def answers_to(*lines):
    """Return the answers to lines, without those to the handshake before and the question after them."""
    opening = request("opening", "initialize", **OPENING)
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    status, answers = exchange(opening, initialized, *lines, request("last", "tools/list"), until="last")
    assert status == 0
    return [answer for answer in answers if answer["id"] not in {"opening", "last"}]


PING = '{"jsonrpc": "2.0", "id": 7, "method": "ping"'

UNREADABLE = {
    "no JSON": (b"hello\n", PARSE_ERROR, None),
    "half of it": (f"{PING}\n".encode(), PARSE_ERROR, 7),
    "its beginning": (b'{"jsonrpc":"2.0","id":7,"method":\n', PARSE_ERROR, 7),
    "its beginning, the id last": (b'{"method": "ping", "id": "a" , "params": {\n', PARSE_ERROR, "a"),
    "an id behind very many keys": (
        b'{"method": "ping", ' + b'"k": 1, ' * 1000 + b'"id": 7,\n',
        PARSE_ERROR,
        None,
    ),
    "half of an id": (b'{"jsonrpc": "2.0", "method": "ping", "id": 7\n', PARSE_ERROR, None),
    "an id of nobody knows what": (b'{"jsonrpc": "2.0", "id": 7,\n', PARSE_ERROR, None),
    "an id inside": (b'{"method": "ping", "params": {"id": 7}, \n', PARSE_ERROR, None),
    "two messages": (f"{PING}}}{PING}}}\n".encode(), PARSE_ERROR, 7),
    "no UTF-8": (f'{PING}, "params": {{"a": "'.encode() + b'\xff"}}\n', PARSE_ERROR, 7),
    "half of a pair of surrogates": (f'{PING}, "params": {{"a": "\\ud800"}}}}\n'.encode(), PARSE_ERROR, 7),
    "too many levels": (f'{PING}, "params": {{"a": {"[" * 300}{"]" * 300}}}}}\n'.encode(), PARSE_ERROR, 7),
    "far too many levels": (f'{PING}, "params": {{"a": {"[" * 10**5}\n'.encode(), PARSE_ERROR, 7),
    "too many digits": (f'{PING}, "params": {{"a": {"9" * 10**5}}}}}\n'.encode(), PARSE_ERROR, 7),
    "params in an array": (request("x", "ping") | {"params": [1]}, INVALID_REQUEST, "x"),
    "params that are a text": (request(3, "ping") | {"params": "a"}, INVALID_REQUEST, 3),
    "a method that is a number": (request(3, "ping") | {"method": 5}, INVALID_REQUEST, 3),
    "no method": ({"jsonrpc": "2.0", "id": 9}, INVALID_REQUEST, 9),
    "another version": (request(3, "ping") | {"jsonrpc": "1.0"}, INVALID_REQUEST, 3),
    "no version": ({"id": 3, "method": "ping"}, INVALID_REQUEST, 3),
    "an id that is null": (request(None, "tools/list"), INVALID_REQUEST, None),
    "an id that is true": (request(True, "tools/list"), INVALID_REQUEST, None),
    "an id that is a fraction": (request(1.5, "tools/list"), INVALID_REQUEST, None),
    "an id that is an array": (request([1], "tools/list"), INVALID_REQUEST, None),
    "an empty batch": ([], INVALID_REQUEST, None),
    "a batch": ([request(1, "ping"), request(2, "ping")], INVALID_REQUEST, None),
    "null": (None, INVALID_REQUEST, None),
    "a text": ("ping", INVALID_REQUEST, None),
    "an empty object": ({}, INVALID_REQUEST, None),
    "a byte order mark": (b"\xef\xbb\xbf" + f"{PING}}}\n".encode(), PARSE_ERROR, 7),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cant_be_read_is_answered(name):
    line, code, number = UNREADABLE[name]
    (answer,) = answers_to(line)
    assert (answer["jsonrpc"], answer["id"], answer["error"]["code"]) == ("2.0", number, code)
    assert 0 < len(answer["error"]["message"]) < 300


def test_the_sdks_own_transport_answers_nothing_of_this():
    """If it does one day, ours can go. One text that isn't UTF-8 it changes, and runs the request."""
    repeated = b'{"jsonrpc": "2.0", "id": 8, "method": "nothing", "method": "ping"}\n'
    frames = [request("opening", "initialize", **OPENING), *[frame for frame, _, _ in UNREADABLE.values()]]
    source, there = os.pipe()
    here, back = os.pipe()

    def talk():
        with os.fdopen(there, "wb", 0) as sends, os.fdopen(here, "rb") as receives:
            for frame in [*frames, repeated, request("last", "ping")]:
                sends.write(written(frame))
            ids = []
            while "last" not in ids:
                ids.append(json.loads(receives.readline())["id"])
            return ids

    async def main():
        made, client = server([add]), asyncio.create_task(asyncio.to_thread(talk))
        with os.fdopen(source, encoding="utf-8", errors="replace") as read, os.fdopen(back, "w") as write:
            async with stdio_server(anyio.wrap_file(read), anyio.wrap_file(write)) as streams:
                await made.run(*streams, made.create_initialization_options())
        return await client

    assert set(asyncio.run(main())) == {"opening", 7, 8, "last"}


def test_an_error_says_what_to_send_instead():
    (batch,) = answers_to([request(1, "ping")])
    assert "send each message in a line of its own" in batch["error"]["message"]
    (shapeless,) = answers_to({"id": 3})
    assert '"method": a string' in shapeless["error"]["message"]


def test_a_line_that_is_too_long_is_answered_and_skipped(monkeypatch):
    monkeypatch.setattr(stdio_lines, "LONGEST_LINE", 2000)
    fits = written(request(1, "ping"))
    fits = fits[:-1] + b" " * (2000 - len(fits)) + b"\n"
    too_long = b" " * 2000 + b"\n"
    far_too_long = b"x" * 20_000 + b"\n"
    answers = answers_to(fits, too_long, far_too_long)
    assert [answer["id"] for answer in answers if "error" in answer] == [None, None]
    assert {answer["error"]["message"] for answer in answers if "error" in answer} == {
        "the message has more than 2,000 bytes"
    }
    assert [answer["id"] for answer in answers if "result" in answer] == [1]
    assert len(answers) == 3


def test_a_line_that_is_too_long_at_the_end_of_the_input_is_answered(monkeypatch):
    monkeypatch.setattr(stdio_lines, "LONGEST_LINE", 100)
    assert [answer["error"]["code"] for answer in exchange(b"x" * 250)[1]] == [PARSE_ERROR]


def test_what_needs_no_answer_gets_none():
    assert answers_to(b"\n", b" \t \r\n", {"jsonrpc": "2.0", "method": "notifications/unheard"}) == []


def test_what_cant_be_read_is_answered_before_the_handshake():
    status, answers = exchange(*[b"{\n"] * 50, request(1, "initialize", **OPENING), until=1)
    assert status == 0
    assert [answer["id"] for answer in answers] == [None] * 50 + [1]


BROKEN_ANSWERS = [
    {"jsonrpc": "2.0", "id": 3, "result": 5},
    {"jsonrpc": "2.0", "id": 3, "error": "no"},
    {"jsonrpc": "1.0", "id": 3, "result": {}},
    b'{"jsonrpc": "2.0", "id": 3, "result": {"a": "\\ud800"}}\n',
]


@pytest.mark.parametrize("answer", BROKEN_ANSWERS)
def test_an_answer_that_cant_be_read_ends_the_wait_for_it_and_is_never_answered(answer):
    message = message_of(written(answer))
    assert isinstance(message, JSONRPCError)
    assert (message.id, message.error.code) == (3, INVALID_REQUEST)
    assert answers_to(answer) == []


def test_an_answer_to_nobody_is_logged(caplog):
    assert message_of(b'{"jsonrpc": "2.0", "result": 5}') is None
    assert "an answer of the client can't be read" in caplog.text


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
objects = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | json_values,
        "id": st.integers() | st.text() | json_values,
        "method": st.sampled_from(["ping", "tools/list"]) | json_values,
        "params": st.dictionaries(st.text(max_size=5), json_values, max_size=2) | json_values,
        "result": json_values,
        "error": json_values,
    },
)
texts = st.binary() | (objects | json_values).map(lambda value: json.dumps(value).encode())


@given(texts.filter(lambda line: line and b"\n" not in line))
def test_every_line_is_a_message_or_has_an_answer(line):
    """Nothing that has an id is taken for what needs no answer."""
    found = message_of(line + b"\n")
    if isinstance(found, UnreadableLine):
        answer = json.loads(found.answer())
        assert found.answer().endswith("\n")
        assert answer["error"]["code"] in {PARSE_ERROR, INVALID_REQUEST}
        assert answer["id"] is None or type(answer["id"]) in {int, str}
        return
    try:
        sent = json.loads(line)
    except ValueError:
        sent = None
    if found is None:
        assert line.isspace() or ("method" not in sent and ("result" in sent or "error" in sent))
    elif isinstance(found, JSONRPCNotification):
        assert "id" not in sent


class Sink:
    """Standard output whose n-th write fails, or that takes a few bytes at a time."""

    def __init__(self, target=None, *, fails_at=None, error=BrokenPipeError, most=None):
        self.target, self.fails_at, self.error, self.most = target, fails_at, error, most
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.written = []

    def write(self, data):
        self.begun.set()
        assert self.go_on.wait(LONGEST_WAIT)
        if self.fails_at is not None and len(self.written) >= self.fails_at:
            raise self.error
        part = bytes(data[: self.most])
        self.written.append(part)
        return len(part)


@pytest.mark.parametrize("error", [BrokenPipeError, ValueError])
@pytest.mark.parametrize("fails_at", [0, 1])
def test_what_waits_behind_a_write_that_fails_is_given_up(fails_at, error):
    sink = Sink(fails_at=fails_at, error=error)

    async def main():
        writer = stdio.ThreadedWriter(sink)
        await writer.write("first\n")
        assert await asyncio.to_thread(sink.begun.wait, LONGEST_WAIT)
        for text in ("second\n", "third\n"):  # while the first one is written
            await writer.write(text)
        sink.go_on.set()
        async with asyncio.timeout(LONGEST_WAIT):
            await writer.drain()
        with pytest.raises(OSError):  # noqa: PT011  # what was raised, or what stands for it
            await writer.write("fourth\n")

    asyncio.run(main())
    assert sink.written == [b"first\n"][:fails_at]


def test_all_is_written_in_order_however_little_is_taken_at_a_time():
    sink = Sink(most=3)
    sink.go_on.set()

    async def main():
        writer = stdio.ThreadedWriter(sink)
        for number in range(100):
            await writer.write(f"{number}\n")
        async with asyncio.timeout(LONGEST_WAIT):
            await writer.drain()

    asyncio.run(main())
    assert b"".join(sink.written) == "".join(f"{number}\n" for number in range(100)).encode()


def test_whoever_writes_too_much_waits_for_who_reads():
    sink = Sink()

    async def main():
        writer = stdio.ThreadedWriter(sink)
        await writer.write("x" * (stdio.WAITING_BYTES + 1))
        late = asyncio.create_task(writer.write("late\n"))
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(late), 0.05)
        assert not late.done()
        sink.go_on.set()
        async with asyncio.timeout(LONGEST_WAIT):
            await late
            await writer.drain()

    asyncio.run(main())
    assert b"".join(sink.written).endswith(b"late\n")


def test_nobody_waits_for_who_reads_a_little_late():
    sink = Sink()

    async def main():
        writer = stdio.ThreadedWriter(sink)
        async with asyncio.timeout(LONGEST_WAIT):
            for _ in range(10):
                await writer.write("x" * 100_000)
        sink.go_on.set()
        await writer.drain()

    asyncio.run(main())
    assert len(b"".join(sink.written)) == 1_000_000


def test_a_client_that_no_longer_reads_ends_the_server():
    sink = Sink(fails_at=0)
    sink.go_on.set()
    assert exchange(request(1, "initialize", **OPENING), b"{\n", b"{\n", sink=sink) == (0, [])


def test_about_a_megabyte_waits_for_who_reads():
    sink = Sink()
    waiting = 0

    async def main():
        nonlocal waiting
        writer = stdio.ThreadedWriter(sink)
        with suppress(TimeoutError):
            while waiting < 10_000_000:
                async with asyncio.timeout(0.2):
                    await writer.write("x" * 100_000)
                waiting += 100_000
        sink.go_on.set()

    asyncio.run(main())
    assert 1_000_000 <= waiting <= 1_200_000


PRINTS = """
import os, sys
if sys.argv[1:]:  # what a process has that is started without standard error
    os.close(2)
    sys.stderr = sys.__stderr__ = None
from operator_schema.adapters.mcp.stdio import taken_streams
with taken_streams() as (reader, writer):
    print("printed", flush=True)
    os.write(1, b"written")
    os.system("echo echoed")
    assert not sys.stdin.read()
    writer.write(reader.readline())
"""


@pytest.mark.needs_process
@pytest.mark.parametrize("closed", [[], ["closed"]], ids=["with standard error", "without it"])
def test_only_messages_reach_the_client(tmp_path, closed):
    (tmp_path / "prints.py").write_text(PRINTS)
    done = subprocess.run(
        [*warm_processes.script("prints.py", serves=True), *closed],
        cwd=tmp_path,
        input=b"a message\n",
        capture_output=True,
        timeout=LONGEST_WAIT,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"a message\n")
    assert done.stderr == (b"" if closed else b"printed\nwrittenechoed\n")
