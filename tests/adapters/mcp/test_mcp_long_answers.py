"""Answers of a program that are long: they arrive in linear time, and above the limit they say their size."""

from __future__ import annotations

import json
import sys
from itertools import pairwise

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from patience import assert_linear

from operator_schema import Executor, RawCall, Registry
from operator_schema.adapters import mcp_streams as streams
from operator_schema.adapters.mcp_client import tools_from
from operator_schema.adapters.mcp_connection import connected

ANSWER = '{"jsonrpc":"2.0","id":7,"result":{"a":"%s"}}'
LAST = '{"result":{"a":"%s"},"id":7,"jsonrpc":"2.0"}'


def decoded(data, places=()):
    """Return what the SDK reads of bytes that come in chunks."""
    decoder = streams._WholeLines("replace")
    cuts = sorted({0, len(data), *[place for place in places if place <= len(data)]})
    return "".join([decoder.decode(data[start:end]) for start, end in pairwise(cuts)])


@given(text=st.text(st.sampled_from("aé\ud83d\ufeff\r\n\n")), places=st.lists(st.integers(0, 60)))
def test_lines_arrive_whole_and_as_they_are_wherever_they_are_cut(text, places):
    data = text.encode(errors="surrogatepass")
    assert decoded(data, places) == "".join(data.decode(errors="replace").rpartition("\n")[:2])


@pytest.mark.parametrize("searched", [60, 200])
@given(
    length=st.integers(150, 600), where=st.sampled_from([ANSWER, LAST]), places=st.lists(st.integers(0, 700))
)
def test_an_answer_that_is_too_long_is_an_error_of_its_request_with_its_size(searched, length, where, places):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "LONGEST_ANSWER", 300)
        patch.setattr(streams, "_SEARCHED", searched)
        line, after = where % (length * "x"), '{"jsonrpc":"2.0","id":8,"result":{}}'
        first, second, rest = decoded(f"{line}\n{after}\n".encode(), places).split("\n")
    assert (second, rest) == (after, "")
    if len(line) <= 300:
        assert first == line
        return
    error = json.loads(first)
    assert error["id"] == 7
    assert f"it has {len(line)} bytes, and at most 300 are read" in error["error"]["message"]


def test_a_long_line_for_developers_is_no_answer(monkeypatch):
    monkeypatch.setattr(streams, "LONGEST_ANSWER", 300)
    assert decoded(b'DEBUG {"jsonrpc":"2.0","id":7' + 400 * b"x" + b"}\n") == "\n"


@pytest.mark.slow("measures growth")
def test_a_long_answer_takes_linear_time():
    def read(size):
        line = (ANSWER % (size * "x")).encode() + b"\n"
        decoded(line, range(0, len(line), 4_096))

    assert_linear(read, 4_000_000, 4)


SERVER = """
import json, sys

for line in sys.stdin:
    asked = json.loads(line)
    found = {}
    if "id" not in asked:
        continue
    if asked["method"] == "initialize":
        info = {"name": "long", "version": "1"}
        version = asked["params"]["protocolVersion"]
        found = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    elif asked["method"] == "tools/list":
        found = {"tools": [{"name": "tell", "inputSchema": {"type": "object"}}]}
    elif asked["method"] == "tools/call":
        found = {"content": [{"type": "text", "text": "\\u00e9" * asked["params"]["arguments"]["length"]}]}
    answer = {"jsonrpc": "2.0", "id": asked["id"], "result": found}
    sys.stdout.buffer.write(json.dumps(answer, ensure_ascii=False).encode() + b"\\n")
    sys.stdout.flush()
"""


@pytest.mark.needs_process
@pytest.mark.slow("starts a server")
def test_a_server_whose_answer_was_too_long_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "LONGEST_ANSWER", 300_000)
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")

    async def main():
        async with connected([sys.executable, str(tmp_path / "server.py")]) as client:
            executor = Executor(Registry(await tools_from(client)))
            calls = [RawCall("1", "tell", {"length": length}) for length in (140_000, 160_000, 2)]
            return [(await executor.run(call)).content for call in calls]

    short, long, again = anyio.run(main)
    assert (short, again) == ("é" * 140_000, "éé")
    said = "tell: the answer of the server can't be read: it has 320,082 bytes, and at most 300,000 are read"
    assert long == f"{said}; the tool may have done its work"
