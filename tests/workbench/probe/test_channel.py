"""Servers behind a URL, and servers that write strange things."""

import json
import os
import sys
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from threading import Semaphore, Thread

import pytest
from patience import LONGEST_WAIT

pytest.importorskip("hypothesis")

from operator_schema.workbench.probe import ProbeError, probe
from operator_schema.workbench.probe import channel as channels
from operator_schema.workbench.probe.channel import HttpChannel, PipeChannel, ProcessChannel

pytestmark = pytest.mark.needs_threads

TOOL = {
    "name": "double",
    "description": "Double a number.",
    "inputSchema": {
        "type": "object",
        "properties": {"number": {"type": "integer", "description": "Any."}},
        "required": ["number"],
    },
    "annotations": {"readOnlyHint": True},
}


def answered(message):
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        return {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "serverInfo": {"name": "x", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method != "tools/call":
        return {}
    number = params["arguments"].get("number")
    if params["name"] != "double" or isinstance(number, bool) or not isinstance(number, (int, float)):
        return {"content": [{"type": "text", "text": "number must be an integer"}], "isError": True}
    return {"content": [{"type": "text", "text": str(number * 2)}]}


class Handler(BaseHTTPRequestHandler):
    as_events = False
    seen: list = []

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append((message["method"], self.headers.get("Mcp-Session-Id")))
        body = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": answered(message)})
        kind = "text/event-stream" if self.as_events else "application/json"
        data = (f"event: message\ndata: {body}\n\n" if self.as_events else body).encode()
        self.send_response(200 if "id" in message else 202)
        self.send_header("Content-Type", kind)
        self.send_header("Mcp-Session-Id", "s1")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_DELETE(self):
        self.seen.append(("DELETE", self.headers.get("Mcp-Session-Id")))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


@contextmanager
def served(*, as_events):
    handler = type("Own", (Handler,), {"as_events": as_events, "seen": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp", handler.seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize("as_events", [False, True])
def test_a_server_behind_a_url_is_probed(as_events):
    with served(as_events=as_events) as (url, seen):
        report = probe(url, calls=4)
    assert [each.finding.code for each in report.found if each.finding.code != "invalid_accepted"] == []
    assert report.calls > 10
    assert seen[0] == ("initialize", None)
    assert seen[-1] == ("DELETE", "s1")
    assert ("tools/call", "s1") in seen


def test_all_tools_of_a_url_are_never_allowed_at_once():
    with served(as_events=False) as (url, _), pytest.raises(ValueError, match="name the tools in allow"):
        probe(url, allow_all=True)


def test_a_url_without_a_server_is_said():
    channel = HttpChannel("http://127.0.0.1:9/mcp", {}, 1.0)
    assert channel.wait(channel.send("ping", None), 5).kind == "closed"
    with pytest.raises(ProbeError, match="initialize failed"):
        probe("http://127.0.0.1:9/mcp")


WRITER = """
import sys
sys.stderr.write("a word on standard error\\n")
print("hello")
print("[1]")
print('{"jsonrpc": "2.0", "id": 1, "result": {}}')
print('{"jsonrpc": "2.0", "id": 9, "method": "ping"}')
sys.stdout.flush()
sys.stderr.write(sys.stdin.readline() + sys.stdin.readline())
"""


@pytest.mark.needs_process
def test_what_is_not_a_message_is_kept_and_requests_of_the_server_are_answered(tmp_path):
    channel = ProcessChannel([sys.executable, "-c", WRITER], str(tmp_path), {}, 4096)
    assert channel.wait(channel.send("ping", None), 30).value == {}
    assert channel.wait(channel.send("ping", None), 30).kind == "closed"
    assert channel.noise == ["hello", "[1]"]
    errors = channel.close()
    assert "a word on standard error" in errors
    assert '{"jsonrpc":"2.0","id":9,"result":{}}' in errors


ASKER = """
import json, sys

def write(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

for line in sys.stdin:
    request = json.loads(line)
    method = request["params"]["asks"]
    if method is None:
        write({"id": request["id"], "error": {"code": -32601, "message": "none"}})
        continue
    write({"id": 1, "method": method})
    answer = json.loads(sys.stdin.readline())
    write({"id": request["id"], **{key: answer[key] for key in ("result", "error") if key in answer}})
"""


@pytest.mark.needs_process
def test_an_answer_says_whether_the_server_was_refused_what_it_asked(tmp_path):
    channel = ProcessChannel([sys.executable, "-c", ASKER], str(tmp_path), {}, 4096)
    try:
        for method, is_refusal in (
            (None, False),
            ("ping", False),
            ("elicitation/create", True),
            (None, False),
        ):
            outcome = channel.wait(channel.send("tools/call", {"asks": method}), 30)
            assert outcome.is_own_refusal is is_refusal
            assert (outcome.code == -32601) is (method != "ping")
    finally:
        channel.close()


GREEDY = """
import json, sys

request = json.loads(sys.stdin.readline())
size = len(bytearray(2**29))
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"size": size}}), flush=True)
"""


@pytest.mark.needs_process
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of another process")
@pytest.mark.parametrize(("memory", "kind"), [(256, "closed"), (4096, "result")])
def test_a_server_gets_no_more_memory_than_it_may_have(memory, kind, tmp_path):
    channel = ProcessChannel([sys.executable, "-S", "-c", GREEDY], str(tmp_path), {}, memory)
    assert channel.wait(channel.send("ask", None), LONGEST_WAIT).kind == kind
    assert ("MemoryError" in channel.close()) is (kind == "closed")


class SetClock:
    """A clock that stands still until both the reader of a message and the one who waits have read it."""

    def __init__(self):
        self.now, self.reads = 0.0, Semaphore(0)

    def __call__(self):
        self.reads.release()
        return self.now

    def go_on(self, seconds):
        for _ in range(2):
            self.reads.acquire(timeout=LONGEST_WAIT)
        self.now += seconds


@pytest.mark.parametrize(
    "gaps", [each for number in range(1, 5) for each in product((0.4, 0.9), repeat=number)]
)
def test_an_answer_is_waited_for_three_times_as_long_while_parts_of_it_come(gaps, monkeypatch):
    clock = SetClock()
    monkeypatch.setattr(channels, "monotonic", clock)
    (source, theirs), (ours, sink) = os.pipe(), os.pipe()
    channel = PipeChannel(os.fdopen(source, "rb"), os.fdopen(sink, "wb", 0))
    request = channel.send("ask", None)
    is_late = sum(gaps) >= 3
    answer = json.dumps({"jsonrpc": "2.0", "id": request, "result": {}}).encode()

    def drip():
        for number, gap in enumerate(gaps):
            clock.go_on(gap * LONGEST_WAIT)
            os.write(theirs, answer[number : number + 1])
        if not is_late:
            os.write(theirs, answer[len(gaps) :] + b"\n")

    dripping = Thread(target=drip)
    dripping.start()
    reply = channel.wait(request, LONGEST_WAIT)
    dripping.join()
    os.close(theirs)
    channel.close()
    os.close(ours)
    assert reply.kind == ("silent" if is_late else "result")
