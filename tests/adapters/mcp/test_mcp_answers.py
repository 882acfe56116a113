"""Whatever a server answers to a call, nobody waits, or reads of a tool that did its work that it failed."""

from __future__ import annotations

import gzip
import json
import re
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from string import whitespace
from threading import Thread

import anyio
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from mcp import Client, MCPError
from mcp.types import JSONRPCError, JSONRPCResponse, jsonrpc_message_adapter
from patience import LONGEST_WAIT
from raw_servers import CACHED, MODERN, answer_to, first, raw

from operator_schema import Executor, RawCall, Registry
from operator_schema.adapters import mcp_connection as connection
from operator_schema.adapters.mcp.gateway import Gateway
from operator_schema.adapters.mcp_client import tools_from
from operator_schema.adapters.mcp_http_answers import without_surrogates_in

MODES = ["legacy", MODERN]
COUNT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
TEXT = [{"type": "text", "text": "counted"}]
NOT_FINITE = "its data is left out, because it has a number that JSON can't hold, such as NaN"
MISFIT = "its data is left out, because it doesn't fit what the server declares: n: "


def counting(answer, mode, schema=COUNT):
    """Return a source: a server with one tool, and the text of its answers.

    Args:
        answer: of the request, as a text.
        mode: the generation that it speaks.
        schema: of its results.
    """
    page = {"tools": [{"name": "count", "inputSchema": {"type": "object"}, "outputSchema": schema}]}
    page |= CACHED if mode == MODERN else {}
    return raw({"tools/list": lambda message: answer_to(message, page), "tools/call": answer}, mode=mode)


async def asked(source):
    """Return what everybody reads of a call: text, data, and whether it is an error."""
    with anyio.fail_after(LONGEST_WAIT):
        async with Client(source(), mode="auto") as client:
            result = await Executor(Registry(await tools_from(client))).run(RawCall("1", "count", {}))
            yield "tools_from", result.content, result.json, result.is_error
        async with Gateway(source) as gateway:
            app = gateway.server()
            for each in MODES:
                async with Client(app, mode=each, cache=None) as client:
                    await client.list_tools()  # from then on it checks what comes
                    found = await client.call_tool("count", {})
                    text = "\n".join([block.text for block in found.content])
                    yield f"gateway, {each}", text, found.structured_content, found.is_error


def answers(source):
    async def main():
        return [said async for said in asked(source)]

    return anyio.run(main)


def resulting(mode, **result):
    """Return what answers a call by a result."""
    more = {"resultType": "complete"} if mode == MODERN else {}
    return lambda message: answer_to(message, {"content": TEXT, **result, **more})


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({}, "sent no data, although the server declares some"),
        ({"structuredContent": {"wrong": "shape"}}, f"{MISFIT}missing (integer, required)"),
        ({"structuredContent": {"n": "five"}}, f'{MISFIT}expected integer, got string "five"'),
        ({"structuredContent": {"n": float("nan")}}, NOT_FINITE),
        ({"structuredContent": {"n": 1, "more": [float("-inf")]}}, NOT_FINITE),
    ],
)
def test_data_that_do_not_fit_are_left_out_of_a_result_and_its_text_arrives(data, why, mode, caplog):
    for way, text, found, is_error in answers(counting(resulting(mode, **data), mode)):
        assert text == f"counted\n[count did its work, but {why}]", way
        assert is_error is (way != "tools_from"), way  # a client refuses a result without the data it expects
        if way != "tools_from":
            assert found is None
    lines = {one.getMessage() for one in caplog.records if one.name == "operator_schema.mcp_client"}
    assert lines == {f"count did its work, but {why}"}


@pytest.mark.parametrize("mode", MODES)
def test_data_without_a_text_stay_readable(mode):
    source = counting(resulting(mode, content=[], structuredContent={"wrong": "shape"}), mode)
    for _, text, _, _ in answers(source):
        assert text.startswith('{"wrong":"shape"}\n[count did its work, but its data')


@pytest.mark.parametrize("mode", MODES)
def test_numbers_that_json_cannot_hold_are_said_even_if_no_data_are_declared(mode):
    def answer(message):
        return resulting(mode, structuredContent={"n": "HERE"})(message).replace('"HERE"', "1e999")

    for _, text, _, is_error in answers(counting(answer, mode, schema=None)):
        assert (text, is_error) == (f"counted\n[count did its work, but {NOT_FINITE}]", False)


@pytest.mark.parametrize("mode", MODES)
def test_data_that_fit_arrive(mode):
    source = counting(resulting(mode, structuredContent={"n": 1, "more": None}), mode)
    assert all(found == {"n": 1, "more": None} and not is_error for _, _, found, is_error in answers(source))


def test_a_tool_that_asks_something_first_says_so_if_its_session_asks_nobody():
    asked = {"resultType": "input_required", "inputRequests": {}, "requestState": "state"}

    async def main():
        source = counting(lambda message: answer_to(message, asked), MODERN)
        async with Client(source(), mode="auto") as client:
            tools = await tools_from(client.session)
            return await Executor(Registry(tools)).run(RawCall("1", "count", {}))

    said = "count asks something first, and nobody can be asked from here"
    assert anyio.run(main).content == said


# --- answers that can't be read -------------------------------------------------------------------


MAY = "; the tool may have done its work"
UNREADABLE = [
    '{"jsonrpc":"2.0","id":ID,"result":null}',
    '{"jsonrpc":"2.0","id":ID,"result":"\\ud800"}',
    '{"jsonrpc":"2.0","id":ID,"result":' + 100_000 * '{"a":' + "1" + 100_000 * "}" + "}",
    '{"jsonrpc":"2.0","result":' + 100_000 * "[" + 100_000 * "]" + ',"id":ID}',
    '{"result":"' + 100_000 * "\\ud800" + '", "jsonrpc": "2.0", "id": "ID" } ',
    '{"jsonrpc":"2.0","id":ID,"result":{"content":[',
    '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"id": 7, "method": "x"',
    '{"jsonrpc":"2.0","id":ID}',
    '{"jsonrpc":"2.0","id":ID.0,"result":{"content":[]}}',
    '{"jsonrpc":"2.0","id":ID,"error":"boom"}',
    '{"jsonrpc":"2.0","id":ID,"error":{"code":"boom"}}',
    '{"jsonrpc":"2.0","result":{"content":[]}}',
    '{"jsonrpc":"2.0","id":null,"result":{"content":[]}}',
    '{"jsonrpc":"2.0","id":[],"result":{"content":[]}}',
    '\ufeff {"jsonrpc":"2.0","id":ID,"result":{"content":[]}}',
    '{"id":ID,"result":{"content":[]}}',
    '{"id":ID,"error":{"code":1,"message":"boom"}}',
    '[{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}]',
    '[{"jsonrpc":"2.0","method":"notifications/message"},{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}]',
    '[{"jsonrpc":"2.0","id":ID,"result":{"content":[]}',
]
MISSHAPEN = [
    {"content": 5},
    {"content": [{"type": "text"}]},
    {"content": [{"type": "nonsense", "text": 5}]},
    {"content": [5]},
    {"isError": "nonsense"},
    {"_meta": 5},
]


NOTHING = "nothing before it was an answer"
"""What the server answers at last, which is read only if nothing before it was taken for an answer."""


def read_of(*lines, mode="legacy"):
    """Return what a client reads of a call through a gateway, which the server answers by lines."""
    content = [{"type": "text", "text": NOTHING}]
    last = answer_to({"id": "ID"}, {"content": content, "resultType": "complete"}).replace('"ID"', "ID")

    def answer(message):
        return [line.replace("ID", str(message["id"])) for line in (*lines, last)]

    async def main():
        async with (
            Gateway(counting(answer, mode, schema=None)) as gateway,
            Client(gateway.server(), mode="legacy", cache=None) as client,
        ):
            try:
                found = await client.call_tool("count", {})
            except MCPError as error:
                return error.message, True
            return "\n".join([getattr(block, "text", "") for block in found.content]), found.is_error

    return anyio.run(main)


@pytest.mark.parametrize("noise", [(), ("started",), ('{"level": "info", "id": 1, "error": "x"}', "[]")])
@pytest.mark.parametrize("line", UNREADABLE, ids=[line[:60] for line in UNREADABLE])
def test_an_answer_that_cannot_be_read_is_an_error_at_once(line, noise):
    text, is_error = read_of(*noise, line)
    assert text == f"count: the answer of the server can't be read{MAY}"
    assert is_error


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("result", MISSHAPEN)
def test_an_answer_that_is_none_of_the_protocol_is_an_error_at_once(result, mode):
    whole = {"content": [], **({"resultType": "complete"} if mode == MODERN else {}), **result}
    text, is_error = read_of(answer_to({"id": "ID"}, whole).replace('"ID"', "ID"), mode=mode)
    assert text == f"count: the answer of the server isn't one of the protocol{MAY}"
    assert is_error


@pytest.mark.parametrize(
    "lines",
    [
        ("started",),
        ('"jsonrpc":"2.0","method":"notifications/message","params":{}}',),
        ('{"level": "info"}', "[]"),
        ('{"jsonrpc": "2.0", "id": 999}',),
        ('{"jsonrpc": "2.0"}',),
        ('{"error": "the cache is empty"}', '{"result": [], "level": "debug", "id": ID}'),
        ('"jsonrpc":"2.0","id":ID,"result":{"content":[]}}',),
        ('[{"jsonrpc": "2.0", "method": "notifications/message"}]', "[[]]"),
    ],
)
def test_what_is_no_answer_ends_no_call(lines):
    assert read_of(*lines) == (NOTHING, False)


ANSWER = '{"jsonrpc": "2.0", "id": ID, "result": {"content": []}}'
PRINTED = [
    ANSWER,
    repr(json.loads(ANSWER.replace("ID", "7"))).replace("7", "ID"),
    '{"jsonrpc": "2.0"}',
    '{"result": 1, "id": ID}',
    '{"jsonrpc": "2.0", "id": ID, "result": {"content": [{"type": "te',
    json.dumps(ANSWER),
]
BEFORE = ["-> ", "done", "DEBUG answering ", "[DEBUG] ", "[12:00:01] [7] ", "{DEBUG} ", "<", "'", "\ufeff> "]
BEFORE += [
    '{"level": "debug", "sent": ',
    '{"level": "debug", "sent": "',
    "{'sent': ",
    "sent={",
    "(",
    "[[",
    "[1, ",
]


@pytest.mark.parametrize("printed", PRINTED)
def test_what_a_server_prints_for_its_developers_ends_no_call(printed):
    lines = [f"{before}{printed}{after}" for before in BEFORE for after in ("", "}", '"}', "]")]
    assert read_of(*lines) == (NOTHING, False)


@given(before=st.text(min_size=1), printed=st.sampled_from(PRINTED))
def test_a_line_that_begins_in_another_way_than_an_answer_ends_no_call(before, printed):
    assume(before.strip("\ufeff" + whitespace).strip("[{"))
    assert read_of(f"{before}{printed}") == (NOTHING, False)


SURROGATE = "\\ud83d"


@given(text=st.lists(st.sampled_from(["cut ", SURROGATE, "\\udca9", "\\ud83d\\udca9", "é"]), min_size=1))
def test_a_lone_surrogate_in_an_answer_is_replaced_and_its_text_arrives(text):
    shown = "".join(text)
    line = f'{{"jsonrpc":"2.0","id":ID,"result":{{"content":[{{"type":"text","text":"{shown}"}}]}}}}'
    read = json.loads(f'"{shown}"').encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert read_of(line) == (read, False)


def test_a_lone_surrogate_in_a_definition_leaves_all_tools_usable():
    tools = [{"name": name, "description": "cut HERE", "inputSchema": {"type": "object"}} for name in "ab"]
    source = raw(
        {
            "tools/list": lambda message: answer_to(message, {"tools": tools}).replace("HERE", SURROGATE),
            "tools/call": lambda message: answer_to(message, {"content": TEXT}),
        }
    )

    async def main():
        async with Gateway(source) as gateway, Client(gateway.server(), mode="legacy", cache=None) as client:
            found = (await client.list_tools()).tools
            return [(one.name, one.description) for one in found], await client.call_tool("b", {})

    listed, result = anyio.run(main)
    assert listed == [("a", "cut \ufffd"), ("b", "cut \ufffd")]
    assert [block.text for block in result.content] == ["counted"]


def test_an_error_without_an_id_belongs_to_the_only_request_there_is():
    error = '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}'
    assert read_of(error) == ("Parse error", True)


WHOLE = (
    '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a \\"b\\" {c}"}],'
    '"structuredContent":{"n":1,"deep":[[{"id":7}]]},"isError":false}}'
)
REORDERED = json.dumps(
    {key: json.loads(WHOLE.replace("ID", "1"))[key] for key in ("result", "id", "jsonrpc")}
)


@given(
    line=st.sampled_from([WHOLE, REORDERED.replace('"id": 1,', '"id": ID,')]),
    start=st.integers(0, len(WHOLE)),
    length=st.integers(0, 12),
    new=st.text(max_size=6) | st.sampled_from(["\\ud800", "null", "}", "]", '"', "NaN", "1e999", "[", "{"]),
)
@example(line=WHOLE, start=12, length=0, new="0")
@example(line=WHOLE, start=11, length=5, new="null")
def test_whatever_part_of_an_answer_is_something_else_the_call_ends(line, start, length, new):
    broken = line[:start] + new.replace("\n", " ") + line[start + length :]
    text, _ = read_of(broken)
    assert "failed" not in text
    if text == NOTHING:
        assert is_of_another(broken.replace("ID", "3"))


BEGINS = re.compile(r'\{\s*"(jsonrpc|id|result|error)"\s*:')
OF_THIS = re.compile(r'"id": ?"?3"?[,}]')


def is_of_another(line):
    """Return whether a line is no answer, or that to another request, or doesn't say to which one."""
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        is_answer = BEGINS.match(line) and '"jsonrpc"' in line and '"method"' not in line
        return not is_answer or not OF_THIS.search(line)
    return not isinstance(message, JSONRPCResponse | JSONRPCError) or str(message.id) != "3"


# --- over HTTP ------------------------------------------------------------------------------------


@contextmanager
def answering_by_http(answer, kind):
    """Serve one tool, whose calls are answered by a text, and give the URL.

    Args:
        answer: of the request, as a text.
        kind: `json`, `gzip` for JSON that is compressed, or `sse` for a stream of events.
    """
    answers = {**first("legacy"), "tools/call": answer}
    page = {"tools": [{"name": "count", "inputSchema": {"type": "object"}}]}
    answers["tools/list"] = lambda message: answer_to(message, page)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            made = answers.get(message.get("method"))
            if made is None or "id" not in message:
                self.send_response(404 if "id" in message else 202)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            text, is_stream = made(message), kind == "sse" and message["method"] == "tools/call"
            body = (f"event: message\ndata: {text}\n\n" if is_stream else text).encode()
            self.send_response(200)
            if kind == "gzip":
                body = gzip.compress(body)
                self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Type", "text/event-stream" if is_stream else "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            self.send_error(405)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as served:
        thread = Thread(target=served.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{served.server_port}/mcp"
        finally:
            served.shutdown()
            thread.join()


def read_by_http(answer, kind):
    """Return what a session and a client of a gateway read of a call that is answered over HTTP."""

    async def main(url):
        async with Client(url, mode="legacy") as client:
            result = await Executor(Registry(await tools_from(client))).run(RawCall("1", "count", {}))
            yield result.content, result.is_error
        async with Gateway(url) as gateway, Client(gateway.server(), mode="legacy", cache=None) as client:
            found = await client.call_tool("count", {})
            yield "\n".join([block.text for block in found.content]), found.is_error

    async def all_of(url):
        return [said async for said in main(url)]

    with answering_by_http(answer, kind) as url:
        return anyio.run(all_of, url)


@pytest.mark.parametrize("kind", ["json", "sse"])
@pytest.mark.parametrize("line", UNREADABLE[:3], ids=[line[:60] for line in UNREADABLE[:3]])
def test_an_answer_over_http_that_cannot_be_read_is_an_error_in_the_same_words(line, kind):
    found = read_by_http(lambda message: line.replace("ID", str(message["id"])), kind)
    assert found == 2 * [(f"count: the answer of the server can't be read{MAY}", True)]


@pytest.mark.parametrize("kind", ["json", "sse"])
def test_a_long_answer_over_http_arrives(kind):
    content = [{"type": "text", "text": 150_000 * "0123456789"}]
    session, gateway = read_by_http(lambda message: answer_to(message, {"content": content}), kind)
    breaks_off = (f"count: the answer of the server breaks off{MAY}", True)
    has_limit = kind == "sse"  # the SDK's own, which a gateway raises if the SDK lets it
    assert (session == breaks_off) is has_limit
    assert (gateway == breaks_off) is (has_limit and not connection._LONGER)
    assert gateway == breaks_off or (len(gateway[0]) > 100_000 and not gateway[1])


@pytest.mark.slow("asks servers over HTTP in three ways")
@pytest.mark.parametrize("kind", ["json", "gzip", "sse"])
def test_a_lone_surrogate_in_an_answer_over_http_is_replaced_and_its_text_arrives(kind):
    shown = f"cut {SURROGATE} \\\\{SURROGATE} \\ud83d\\udca9 {SURROGATE}\\n"

    def answer(message):
        return answer_to(message, {"content": [{"type": "text", "text": "SHOWN"}]}).replace("SHOWN", shown)

    async def main(url):
        async with Gateway(url) as gateway, Client(gateway.server(), mode="legacy", cache=None) as client:
            yield await client.call_tool("count", {})
        async with connection.connected(url) as client:
            yield await client.call_tool("count", {})
        async with Client(connection.transport_of(url), mode="legacy") as client:
            yield await client.call_tool("count", {})

    async def all_of(url):
        return [found.content[0].text async for found in main(url)]

    with answering_by_http(answer, kind) as url:
        assert anyio.run(all_of, url) == 3 * ["cut \ufffd \\\ufffd \U0001f4a9 \ufffd\n"]


PARTS = [
    "a",
    "\\\\",
    "\\n",
    "\\ud83d",
    "\\uDCA9",
    "\\uDBFF\\udfff",
    "\\u00e9",
    "\\ufffd",
    '\\"',
    "ud83d",
    "D8",
]


@given(parts=st.lists(st.sampled_from(PARTS)), cuts=st.lists(st.integers(0, 60)))
def test_lone_surrogates_are_replaced_wherever_an_answer_is_cut_into_chunks(parts, cuts):
    text = f'"{"".join(parts)}"'
    places = sorted({0, len(text), *[cut for cut in cuts if cut <= len(text)]})
    made, held = b"", b""
    for start, end in pairwise(places):
        more, held = without_surrogates_in(held + text[start:end].encode())
        made += more
    assert held == b""  # nothing waits for more behind a whole text
    read = json.loads(text).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert json.loads(made) == read
