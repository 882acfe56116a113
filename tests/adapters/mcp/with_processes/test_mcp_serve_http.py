"""The command `serve --http`, asked by real clients and by hostile ones."""

from __future__ import annotations

import asyncio
import http.client
import json
import signal
import socket
import subprocess
import sys
import time
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ToolListChangedNotification
from mcp_processes import HERE, http_server, request
from patience import LONGEST_WAIT, at_least, wait_until

from operator_schema import Registry, tool
from operator_schema.adapters.mcp import http as serving
from operator_schema.adapters.mcp import http_guard, http_limits, server
from operator_schema.tools import document_tool
from operator_schema.workbench.cli import main as operator_schema

pytestmark = [
    pytest.mark.needs_process,
    pytest.mark.slow("starts a server in a process for each question"),
]

LEGACY, MODERN = "legacy", "2026-07-28"
SECRET = "swordfish-swordfish-swordfish"  # noqa: S105  # what must not be found anywhere
EVERYWHERE = "0.0.0.0"  # noqa: S104  # for a moment
PAGE = "https://inspector.example.com"
both_protocols = pytest.mark.parametrize("mode", [LEGACY, MODERN])


@pytest.fixture(scope="module")
def url():
    """Of a server that everybody on this machine may use."""
    with http_server("mcp_app:registry") as (found, _):
        yield found


@pytest.fixture(scope="module")
def guarded():
    """Of a server that wants a token; afterwards its log is searched for that."""
    words = ("--token-env", "TOKEN", "--allow-host", "tools.example.com")
    origin = ("--allow-origin", f"{PAGE.upper()}/")
    with http_server(*words, *origin, "mcp_app:registry", TOKEN=SECRET) as (found, process):
        yield found, process
        assert post(found, opening(), headers={"Authorization": "Bearer wrong-wrong"})[0] == 401
    assert "is refused with 401: the bearer token is missing or wrong" in process.said
    assert "wrong-wrong" not in process.said
    assert "swordfish" not in process.said
    assert "evil" not in process.said


def post(url, message, *, headers=None, **own):
    """Send one request as it is, and return status, headers and body."""
    parts = urlsplit(url)
    sent = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **(headers or {}),
        **own,
    }
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=LONGEST_WAIT)
    try:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        connection.request("POST", parts.path, body, sent)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


def opening():
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    }
    return request(1, "initialize", params)


async def size(client, number):
    return (await client.call_tool("size_of", {"text": "x" * number})).content[0].text


@both_protocols
def test_a_client_calls_tools(url, mode):
    told = []

    async def tell(done, total, message):
        told.append((done, total, message))

    async def main():
        async with Client(url, mode=mode) as client:
            added = await client.call_tool("add", {"a": 1, "b": 2})
            waited = await client.call_tool("wait", {"seconds": 0}, progress_callback=tell)
            return added.structured_content, waited.content[0].text

    assert anyio.run(main) == ({"total": 3}, "done")
    assert told == [(0, 1, "started")]


@pytest.mark.parametrize("event", ["1", "0", "", "a b", "x" * 4000, "é", "../1"])
def test_a_client_that_wants_to_resume_a_stream_gets_a_new_one(url, event):
    _, opened, _ = post(url, opening())
    sent = {"Accept": "text/event-stream", "Mcp-Session-Id": opened["mcp-session-id"]}
    connection = http.client.HTTPConnection("127.0.0.1", port_of(url), timeout=LONGEST_WAIT)
    try:
        connection.request("GET", "/mcp", headers={**sent, "Last-Event-ID": event.encode()})
        answer = connection.getresponse()
        assert (answer.status, answer.headers["content-type"].partition(";")[0]) == (200, "text/event-stream")
    finally:
        connection.close()


@both_protocols
def test_twenty_connections_at_once(url, mode):
    async def main():
        sizes = []

        async def one(number):
            # Without certificates, which take as long to read as all the rest.
            own = httpx2.AsyncClient(verify=False, timeout=LONGEST_WAIT)
            async with own, Client(streamable_http_client(url, http_client=own), mode=mode) as client:
                sizes.append((number, await size(client, number)))

        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(one, number)
        return sorted(sizes)

    assert anyio.run(main) == [(number, str(number)) for number in range(20)]


@both_protocols
def test_ten_megabytes(url, mode):
    async def main():
        async with Client(url, mode=mode) as client:
            made = await client.call_tool("make", {"size": 10_000_000})
            return await size(client, 10_000_000), len(made.content[0].text)

    assert anyio.run(main) == ("10000000", 10_000_000)


@both_protocols
def test_a_client_that_gives_up_cancels_the_tool(mode):
    """And so does one that vanishes, once its session ends."""
    with http_server("mcp_app:registry") as (url, process):

        async def main():
            started = anyio.Event()

            async def tell(_done, _total, _message):
                started.set()

            async with Client(url, mode=mode) as client:
                async with anyio.create_task_group() as group:
                    group.start_soon(
                        lambda: client.call_tool("wait", {"seconds": 60}, progress_callback=tell)
                    )
                    with anyio.fail_after(LONGEST_WAIT):
                        await started.wait()
                    group.cancel_scope.cancel()
                return await size(client, 5)

        assert anyio.run(main) == "5"
        assert any("waited" in line for line in process.stderr)


@both_protocols
def test_a_registry_that_changes_is_told(url, mode):
    async def main():
        told = anyio.Event()

        async def handle(message):
            if isinstance(message, ToolListChangedNotification):
                told.set()

        async with Client(url, mode=mode, message_handler=handle) as client:
            with anyio.fail_after(LONGEST_WAIT):
                if mode == MODERN:
                    async with client.listen(tools_list_changed=True) as events:
                        await client.call_tool("late", {})
                        await anext(aiter(events))
                else:
                    while not told.is_set():  # until the client has opened its stream
                        await client.call_tool("late", {})
                        await anyio.sleep(0.05)
            return [one.name for one in (await client.list_tools()).tools][-1]

    assert anyio.run(main) == "later"


def test_files_that_change_are_imported_again(tmp_path):
    source = "from operator_schema import tool\n\n@tool\ndef greet() -> str:\n    return 'hello'\n"
    module = tmp_path / "greeting.py"
    module.write_text(source, encoding="utf-8")

    async def main(url):
        async with Client(url) as client:
            assert (await client.call_tool("greet", {})).content[0].text == "hello"
            module.write_text(source.replace("hello", "good evening"), encoding="utf-8")
            with anyio.fail_after(LONGEST_WAIT):
                while (await client.call_tool("greet", {})).content[0].text != "good evening":  # noqa: ASYNC110  # as the server looks now and then
                    await anyio.sleep(0.05)

    with http_server("--reload", "greeting", folder=tmp_path) as (url, _):
        anyio.run(main, url)


def test_clients_that_read_slowly_hold_up_nobody(url):
    parts = urlsplit(url)
    opened = post(url, opening())
    params = {"name": "make", "arguments": {"size": 3_000_000}}
    lazy = [socket.create_connection((parts.hostname, parts.port), LONGEST_WAIT) for _ in range(10)]
    for number, connection in enumerate(lazy):
        body = json.dumps(request(number + 2, "tools/call", params)).encode()
        head = {
            "Host": parts.netloc,
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Content-Length": len(body),
            "Mcp-Session-Id": opened[1]["Mcp-Session-Id"],
            "Connection": "close",
        }
        lines = ["POST /mcp HTTP/1.1", *[f"{name}: {value}" for name, value in head.items()], "", ""]
        connection.sendall("\r\n".join(lines).encode() + body)
    time.sleep(0.3)
    assert post(url, opening())[0] == 200  # while nobody reads the others
    for connection in lazy[:8]:
        with connection, connection.makefile("rb") as answer:
            assert answer.read().count(b"x" * 1000) >= 2000
    for connection in lazy[8:]:
        connection.close()  # and some never do


def test_a_client_that_vanishes_in_the_middle_of_a_request(url):
    parts = urlsplit(url)
    for sent in (b"", b"POST /mcp HT", b"POST /mcp HTTP/1.1\r\nHost: %b\r\nContent-Length: 100\r\n\r\n{"):
        with socket.create_connection((parts.hostname, parts.port)) as connection:
            connection.sendall(sent.replace(b"%b", parts.netloc.encode()))
    status, _, body = post(url, opening())
    assert (status, '"protocolVersion":"2025-11-25"' in body) == (200, True)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"[" * 100_000, b"\xff", b'{"jsonrpc": "2.0"}'])
def test_garbage_is_answered_as_such(url, body):
    assert post(url, body)[0] in {400, 202}
    assert post(url, body, **{"MCP-Protocol-Version": MODERN})[0] in {400, 202}


def port_of(url):
    return urlsplit(url).port


class TestRefusals:
    """What must not reach the tools doesn't, and is told in one line."""

    def test_a_host_of_another_name(self, url):
        # DNS rebinding: the browser believes that this server is its page's own.
        for host in ("evil.example", f"evil.example:{port_of(url)}", "127.0.0.1.evil.example", "localhost:1"):
            status, _, body = post(url, opening(), Host=host)
            assert (status, body) == (421, "this Host isn't served here\n")
        for host in ("localhost", f"LOCALHOST:{port_of(url)}", f"[::1]:{port_of(url)}"):
            assert post(url, opening(), Host=host)[0] == 200

    @pytest.mark.parametrize("path", ["/", "/mcp/", "/.well-known/oauth-protected-resource"])
    def test_every_path_is_guarded(self, url, path):
        connection = http.client.HTTPConnection("127.0.0.1", port_of(url), timeout=LONGEST_WAIT)
        connection.request("GET", path, headers={"Host": "evil.example"})
        assert connection.getresponse().status == 421
        connection.close()

    def test_a_page_of_another_origin(self, url):
        here = f"http://localhost:{port_of(url)}"
        others = ("http://localhost", "https://localhost", here.replace("http", "https"), "http://127.0.0.1")
        for origin in (
            "https://evil.example",
            "null",
            "http://localhost:1",
            f"{here}.evil.example",
            "",
            *others,
        ):
            status, _, body = post(url, opening(), Origin=origin)
            assert (status, body) == (403, "this Origin isn't allowed\n")
        for own in (here, here.upper(), f"http://127.0.0.1:{port_of(url)}", f"http://[::1]:{port_of(url)}"):
            assert post(url, opening(), Origin=own)[0] == 200

    def test_a_page_of_the_proxy_in_front(self, guarded):
        url, _ = guarded
        known = {"Authorization": f"Bearer {SECRET}"}
        for origin in ("https://tools.example.com", f"http://tools.example.com:{port_of(url)}"):
            assert post(url, opening(), headers=known, Origin=origin)[0] == 200
        assert post(url, opening(), headers=known, Origin="https://tools.example.com:1")[0] == 403

    def test_browsers_leave_out_the_port_80(self):
        assert http_guard.origins_of(["Localhost", "[::1]"], 80) == ["http://localhost", "http://[::1]"]

    def test_names_and_origins_that_are_allowed(self, guarded):
        url, _ = guarded
        known = {"Authorization": f"Bearer {SECRET}"}
        for host in ("tools.example.com", "Tools.Example.com:443"):
            status = post(url, opening(), headers=known, Host=host)[0]
            assert status == (200 if host.islower() else 421)
        status, answered, _ = post(url, opening(), headers=known, Origin=PAGE)
        assert (status, answered["Access-Control-Allow-Origin"]) == (200, PAGE)

    @pytest.mark.parametrize(
        ("origin", "asks", "status"),
        [(PAGE, "POST", 200), (PAGE, "PUT", 400), (PAGE, None, 401), ("https://evil.example", "POST", 403)],
    )
    def test_browsers_that_ask_what_a_page_may_send(self, guarded, origin, asks, status):
        wanted = {} if asks is None else {"Access-Control-Request-Method": asks}
        headers = {"Origin": origin, "Access-Control-Request-Headers": "authorization", **wanted}
        connection = http.client.HTTPConnection("127.0.0.1", port_of(guarded[0]), timeout=LONGEST_WAIT)
        connection.request("OPTIONS", "/mcp", headers=headers)
        answer = connection.getresponse()
        connection.close()
        assert answer.status == status
        if status == 200:
            assert answer.headers["Access-Control-Allow-Origin"] == PAGE
            assert answer.headers["Access-Control-Allow-Headers"] == "authorization"

    @pytest.mark.parametrize(
        "given",
        [
            None,
            "",
            "Bearer",
            "Bearer ",
            "Bearer wrong-wrong",
            f"Basic {SECRET}",
            f"Bearer {SECRET}x",
            f"Bearer {SECRET[:-1]}",
            SECRET,
        ],
    )
    def test_a_missing_or_wrong_token(self, guarded, given):
        url, _ = guarded
        headers = {} if given is None else {"Authorization": given}
        for message, more in ((opening(), {}), (b"{", {}), (opening(), {"MCP-Protocol-Version": MODERN})):
            status, answered, body = post(url, message, headers={**headers, **more})
            assert (status, body) == (401, "the bearer token is missing or wrong\n")
            assert answered["WWW-Authenticate"] == "Bearer"

    @both_protocols
    def test_the_right_token(self, guarded, mode):
        url, _ = guarded

        async def main():
            own = httpx2.AsyncClient(headers={"Authorization": f"bearer {SECRET}"})
            transport = streamable_http_client(url, http_client=own)
            async with own, Client(transport, mode=mode) as client:
                seen = await client.call_tool("variable", {"name": "TOKEN"})
                return await size(client, 3), seen.content[0].text

        assert anyio.run(main) == ("3", "None")  # tools, and what they start, don't know it

    def test_no_secret_is_in_the_list_of_processes(self, guarded):
        _, process = guarded
        words = ("ps", "-ww", "-o", "args", "-p", str(process.pid))
        listed = subprocess.run(words, capture_output=True, check=True, text=True).stdout
        assert "--token-env TOKEN" in listed
        assert SECRET not in listed

    def test_a_request_that_is_too_large(self, url):
        status, _, body = post(url, b"x" * (http_guard.LARGEST_BODY + 1))
        assert (status, body) == (413, "the request is too large\n")
        assert post(url, opening())[0] == 200

    def test_headers_that_are_too_large(self, url):
        with suppress(ConnectionError):  # it may be closed while we still write
            assert post(url, opening(), **{"X-Filler": "x" * 200_000})[0] == 400
        assert post(url, opening())[0] == 200


@asynccontextmanager
async def served_here(*tools, host="127.0.0.1"):
    """Serve in this process, where times and limits can be shorter."""

    @tool
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    urls = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(
        serving.serve_http(server(Registry(tools or [add])), serving.Address(host, port=0), urls.set_result)
    )
    yield urlsplit(await urls)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is only one address of this machine")
@pytest.mark.parametrize(
    ("host", "shown", "status"), [("127.0.0.2", "127.0.0.2", 200), (EVERYWHERE, "127.0.0.1", 421)]
)
def test_the_address_that_it_listens_on_is_a_name_of_the_server(host, shown, status):
    async def main():
        async with served_here(host=host) as place:
            assert place.hostname == shown
            named = f"{host}:{place.port}"
            return await asyncio.to_thread(post, place.geturl(), opening(), Host=named)

    assert asyncio.run(main())[0] == status


class TestSessions:
    """A new session always finds room, whoever has taken it."""

    MOST = 5

    def served(self, monkeypatch, talk, **limits):
        for name, value in {"most": self.MOST, **limits}.items():
            monkeypatch.setitem(http_limits.Sessions.__init__.__kwdefaults__, name, value)

        async def main():
            async with served_here() as place:
                url = f"http://127.0.0.1:{place.port}/mcp"
                async with httpx2.AsyncClient(verify=False, timeout=LONGEST_WAIT) as client:
                    with anyio.fail_after(LONGEST_WAIT):
                        return await talk(Visitor(client, url))

        return asyncio.run(main())

    def test_programs_that_open_thousands_end_their_own(self, monkeypatch):
        async def talk(visitor):
            own = await visitor.opened()
            assert await visitor.uses(own) == 200
            greedy = [await visitor.opened() for _ in range(5 * self.MOST)]
            assert await visitor.uses(own) == 200
            return [await visitor.uses(session) for session in greedy]

        statuses = self.served(monkeypatch, talk)
        assert statuses == [404] * (4 * self.MOST + 1) + [200] * (self.MOST - 1)

    def test_the_one_that_has_been_idle_for_longest_ends(self, monkeypatch):
        async def talk(visitor):
            sessions = [await visitor.opened() for _ in range(self.MOST)]
            for session in sessions:
                await visitor.uses(session)
            await visitor.uses(sessions[0])
            sessions.append(await visitor.opened())
            return [await visitor.uses(session) for session in sessions]

        assert self.served(monkeypatch, talk) == [200, 404, 200, 200, 200, 200]

    def test_one_in_use_never_ends(self, monkeypatch):
        async def talk(visitor):
            sessions = [await visitor.opened() for _ in range(self.MOST)]
            async with AsyncExitStack() as stack:
                for session in sessions:
                    await stack.enter_async_context(visitor.listens(session))
                late = [await visitor.opened() for _ in range(3)]
                return [await visitor.uses(session) for session in [*sessions, *late]]

        assert self.served(monkeypatch, talk) == [200] * self.MOST + [404, 404, 200]

    def test_one_that_its_client_ends_leaves_room(self, monkeypatch):
        async def talk(visitor):
            sessions = [await visitor.opened() for _ in range(self.MOST)]
            assert await visitor.ends(sessions[2]) == 200
            sessions.append(await visitor.opened())
            return [await visitor.uses(session) for session in sessions]

        assert self.served(monkeypatch, talk) == [200, 200, 404, 200, 200, 200]

    def test_an_end_that_is_refused_leaves_none(self, monkeypatch):
        async def talk(visitor):
            sessions = [await visitor.opened() for _ in range(self.MOST)]
            for session in sessions:
                assert await visitor.ends(session, **{"MCP-Protocol-Version": "1999-01-01"}) >= 400
            late = [await visitor.opened() for _ in range(self.MOST)]
            return [await visitor.uses(session) for session in [*sessions, *late]]

        assert self.served(monkeypatch, talk) == [404] * self.MOST + [200] * self.MOST

    def test_one_that_is_idle_for_long_ends_with_the_next_one(self, monkeypatch):
        async def talk(visitor):
            first = await visitor.opened()
            await anyio.sleep(0.3)
            second = await visitor.opened()
            return [await visitor.uses(session) for session in (first, second)]

        assert self.served(monkeypatch, talk, seconds_idle=0.2) == [404, 200]

    def test_sessions_that_nobody_knows_are_not_counted(self, monkeypatch):
        async def talk(visitor):
            sessions = [await visitor.opened() for _ in range(self.MOST)]
            for number in range(3 * self.MOST):
                assert await visitor.uses(f"unheard-of-{number}") == 404
            return [await visitor.uses(session) for session in sessions]

        assert self.served(monkeypatch, talk) == [200] * self.MOST


class Visitor:
    """A client that holds several sessions, of 2025-11-25."""

    def __init__(self, client, url):
        self.client, self.url = client, url
        self.accept = {"Accept": "application/json, text/event-stream"}

    async def opened(self):
        answer = await self.client.post(self.url, json=opening(), headers=self.accept)
        assert answer.status_code == 200
        return answer.headers["Mcp-Session-Id"]

    def of(self, session):
        return {**self.accept, "Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25"}

    async def uses(self, session):
        asked = [{"jsonrpc": "2.0", "method": "notifications/initialized"}, request(2, "tools/list")]
        for message in asked:
            answer = await self.client.post(self.url, json=message, headers=self.of(session))
        return answer.status_code

    async def ends(self, session, **headers):
        return (await self.client.delete(self.url, headers={**self.of(session), **headers})).status_code

    def listens(self, session):
        return self.client.stream("GET", self.url, headers=self.of(session))


ROUTED = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}


@pytest.mark.parametrize(("header", "status"), [("eu", 200), ("EU", 400), ("us", 400), (None, 400)], ids=str)
def test_a_header_that_contradicts_an_argument_is_refused(header, status):
    """What routes requests reads the header alone."""

    def where(arguments: dict[str, str]) -> str:
        return arguments["region"]

    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "where", "arguments": {"region": "eu"}, "_meta": meta}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "where",
        **({} if header is None else {"Mcp-Param-Region": header}),
    }

    async def main():
        made = document_tool(where, ROUTED, name="where")
        async with served_here(made) as place, httpx2.AsyncClient(timeout=LONGEST_WAIT) as client:
            url = f"http://127.0.0.1:{place.port}/mcp"
            return await client.post(url, json=request(1, "tools/call", params), headers=headers)

    answer = asyncio.run(main())
    assert answer.status_code == status
    assert answer.json()["result" if status == 200 else "error"]


def test_streams_that_stay_open_leave_connections_over(monkeypatch):
    most = 5
    monkeypatch.setattr(serving, "MOST_CONNECTIONS", 2 * most)
    monkeypatch.setitem(http_limits.Streams.__init__.__kwdefaults__, "most", most)

    async def listened(place, session):
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        head = (
            "GET /mcp HTTP/1.1",
            "Host: localhost",
            "Accept: text/event-stream",
            f"Mcp-Session-Id: {session}",
        )
        writer.write("\r\n".join([*head, "", ""]).encode())
        assert (await reader.readline()).startswith(b"HTTP/1.1 200 ")
        return reader, writer

    async def main():
        async with served_here() as place, httpx2.AsyncClient(timeout=LONGEST_WAIT) as client:
            with anyio.fail_after(LONGEST_WAIT):
                visitor = Visitor(client, f"http://127.0.0.1:{place.port}/mcp")
                own = await visitor.opened()
                streams = [await listened(place, await visitor.opened()) for _ in range(4 * most)]
                for reader, writer in streams[:-most]:  # which have ended
                    await reader.read()
                    writer.close()
                assert await visitor.uses(own) == 200
                assert await visitor.uses(await visitor.opened()) == 200
                assert not any(reader.at_eof() for reader, _ in streams[-most:])
                for _, writer in streams:
                    writer.close()

    asyncio.run(main())


class TestSlowness:
    """Who dawdles is sent away, and nobody else waits."""

    def served(self, monkeypatch, talk):
        monkeypatch.setattr(http_limits, "SECONDS_FOR_HEADERS", 0.3)
        monkeypatch.setattr(http_guard, "SECONDS_FOR_BODY", 0.3)

        async def main():
            async with served_here() as place:
                with anyio.fail_after(LONGEST_WAIT):
                    return await talk(place)

        return asyncio.run(main())

    @pytest.mark.parametrize("first", [b"", b"POST /mcp HTTP/1.1\r\nHost: "])
    def test_headers_that_never_end(self, monkeypatch, first):
        async def talk(place):
            with at_least(0.2):
                reader, writer = await asyncio.open_connection(place.hostname, place.port)
                writer.write(first)
                assert await reader.read() == b""
            writer.close()

        self.served(monkeypatch, talk)

    def test_a_connection_may_rest_between_two_requests(self, monkeypatch):
        async def talk(place):
            reader, writer = await asyncio.open_connection(place.hostname, place.port)
            for pause in (0.6, 0):
                writer.write(b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n")
                await reader.readuntil(b"\r\n\r\nNot Found")
                await asyncio.sleep(pause)  # longer than headers may take
            writer.close()

        self.served(monkeypatch, talk)

    def test_headers_that_never_end_after_a_first_request(self, monkeypatch):
        async def talk(place):
            reader, writer = await asyncio.open_connection(place.hostname, place.port)
            writer.write(b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await reader.readuntil(b"\r\n\r\nNot Found")
            writer.write(b"GET /nothing HT")
            assert await reader.read() == b""
            writer.close()

        self.served(monkeypatch, talk)

    def test_a_body_that_never_ends(self, monkeypatch):
        async def talk(place):
            reader, writer = await asyncio.open_connection(place.hostname, place.port)
            writer.write(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
            answer = await reader.read()
            writer.close()
            return answer

        answer = self.served(monkeypatch, talk)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert answer.endswith(b"the request took too long to arrive\n")


def test_another_machine_needs_a_token(capsys, monkeypatch, tmp_path):
    (tmp_path / "short").write_text("abc", encoding="ascii")
    (tmp_path / "odd").write_bytes("ä".encode() * 20)
    monkeypatch.setenv("SPACED", "a token with spaces in it")
    monkeypatch.chdir(tmp_path)
    http_ = ("serve", "--http", "--port", "0")
    for words, text in [
        (("--host", "0.0.0.0"), "0.0.0.0 can be reached by other machines: give a token"),  # noqa: S104  # refused
        (("--token-env", "NOT_SET"), "the variable NOT_SET with the token isn't set"),
        (("--token-env", "SPACED"), "the variable SPACED holds no token of at least 16 visible"),
        (("--token-file", "short"), "short holds no token of at least 16 visible"),
        (("--token-file", "odd"), "can't read a token from odd: not ASCII"),
        (("--token-file", "none"), "can't read a token from none: No such file"),
        (("--token-file", "a", "--token-env", "B"), "give --token-env or --token-file, not both"),
    ]:
        assert operator_schema([*http_, *words, "mcp_app:registry"]) == 2
        said = capsys.readouterr()
        assert (said.out, text in said.err) == ("", True)
        assert "with spaces" not in said.err


def test_a_port_that_is_taken(capsys, monkeypatch):
    monkeypatch.chdir(HERE)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert operator_schema(["serve", "--http", "--port", port, "mcp_app:registry"]) == 2
    message = f"can't serve on 127.0.0.1, port {port}: Address already in use: give another --port"
    assert message in capsys.readouterr().err
    assert (
        operator_schema(
            ["serve", "--http", "--host", "no.such.host.invalid", "--no-token", "mcp_app:registry"]
        )
        == 2
    )
    said = capsys.readouterr().err
    assert "can't serve on no.such.host.invalid, port 8000: " in said
    assert "--port" not in said


def test_a_token_file(tmp_path):
    file = tmp_path / "token"
    file.write_text(f"{SECRET}\n", encoding="ascii")
    with http_server("--token-file", str(file), "mcp_app:toolset") as (url, process):
        assert post(url, opening())[0] == 401
        assert post(url, opening(), headers={"Authorization": f"Bearer {SECRET}"})[0] == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(LONGEST_WAIT) == 130
    assert "swordfish" not in process.said


def test_an_address_does_not_show_its_token():
    assert SECRET not in repr(serving.Address(token=SECRET))


NUMBERED = """
import os
from pathlib import Path
from operator_schema import tool

Path("number").write_text(str(os.getpid()))


@tool
def greet() -> str:
    "Greet."
    return "hello"
"""


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts open files as Linux lists them")
def test_connections_leave_nothing_behind(tmp_path):
    (tmp_path / "numbered.py").write_text(NUMBERED, encoding="utf-8")
    with http_server("numbered", folder=tmp_path) as (url, _):
        folder = Path(f"/proc/{(tmp_path / 'number').read_text()}/fd")
        post(url, opening())
        before = len(list(folder.iterdir()))
        for _ in range(20):
            post(url, opening(), Host="evil.example")
            post(url, opening())
        assert wait_until(lambda: len(list(folder.iterdir())) <= before + 2)
