"""The tools of servers that check nothing are read, judged and called; real ones are among the frameworks."""

from __future__ import annotations

import base64
import json
import sys
from functools import partial
from io import BytesIO

import anyio
import pytest
import warm_processes
from mcp import Client, MCPError, StdioServerParameters, types
from mcp.server.lowlevel import Server
from patience import LONGEST_WAIT

from operator_schema import Executor, RawCall, Registry, ToolError
from operator_schema.adapters import mcp_client as reading
from operator_schema.adapters import mcp_connection as connection
from operator_schema.adapters.mcp import server
from operator_schema.adapters.mcp_client import (
    ServerTools,
    described_tools,
    tools_from,
)
from operator_schema.adapters.mcp_connection import ServerEndedError, connected
from operator_schema.content import Image, Resource, Text

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
MODES = ["legacy", "2026-07-28"]

ECHO = {
    "properties": {
        "text": {"description": "What to say", "type": "string", "minLength": 1},
        "times": {"type": "integer", "default": 1, "maximum": 3},
        "to": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    },
    "type": "object",
    "required": ["text"],
}
WITH_PATTERN = {**ECHO, "properties": {**ECHO["properties"], "path": {"type": "string", "pattern": "a(?=b)"}}}
LEFT = "#/properties/path pattern: it looks at the text ahead, which is only possible right after a leading ^"
COUNT = {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}


class Bad:
    """A server whose tools check nothing, with whatever schemas it is given."""

    def __init__(self, **schemas):
        self.tools = [
            types.Tool(name=name, description="", input_schema=schema) for name, schema in schemas.items()
        ]
        self.calls = []
        self.page = len(self.tools) or 1
        self.cancelled = anyio.Event()

    async def list_tools(self, _ctx, params):
        start = int((params.cursor if params else None) or 0)
        end = start + self.page
        cursor = str(end) if end < len(self.tools) else None
        return types.ListToolsResult(tools=self.tools[start:end], next_cursor=cursor)

    async def call_tool(self, ctx, params):
        self.calls.append((params.name, params.arguments))
        answer = getattr(self, f"do_{params.name}", None)
        if answer is None:
            return said(json.dumps(params.arguments))
        return await answer(ctx, params.arguments)

    def serve(self):
        return Server("bad", on_list_tools=self.list_tools, on_call_tool=self.call_tool)


def said(*texts, **more):
    return types.CallToolResult(content=[types.TextContent(type="text", text=text) for text in texts], **more)


def run(bad, ask, *, mode="legacy", backend="asyncio", **options):
    async def main():
        async with Client(bad.serve(), mode=mode) as client:
            with anyio.fail_after(LONGEST_WAIT):
                return await ask(await tools_from(client, **options))

    return anyio.run(main, backend=backend)


def ran(bad, name, arguments, **options):
    async def ask(tools):
        return await Executor(Registry(tools)).run(RawCall("1", name, arguments))

    return run(bad, ask, **options)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("mode", MODES)
def test_arguments_are_judged_before_the_server_gets_them(mode, backend):
    bad = Bad(echo=ECHO)
    result = ran(bad, "echo", '{"txt": "a", "times": 9, "to": "b"}', mode=mode, backend=backend)
    assert result.code == "invalid_params"
    assert result.content.splitlines()[:4] == [
        "echo: 3 problems with the arguments",
        '- text: missing (string (length ≥ 1), required); rename "txt" to "text"',
        "- times: 9 is above the maximum 3",
        '- to: expected array of string, got string "b"; did you mean ["b"]?',
    ]
    assert bad.calls == []


def test_repaired_arguments_and_keys_without_a_name_get_to_the_server():
    bad = Bad(echo=ECHO)
    result = ran(bad, "echo", '{"Text": "a", "times": "2", "to": null, "more": [1]}', repair=True)
    assert not result.is_error
    assert bad.calls == [("echo", {"text": "a", "times": 2, "more": [1]})]
    strict = ran(Bad(echo=ECHO), "echo", {"text": "a", "more": 1}, unknown_fields="reject")
    assert "- more: unknown key" in strict.content


def test_the_schema_is_that_of_the_server():
    received = []

    async def ask(tools):
        received.extend((await tools._source.session.list_tools()).tools)
        return tools

    tools = run(Bad(echo=WITH_PATTERN), ask, prefix="bad_")
    assert isinstance(tools, ServerTools)
    assert [tool.name for tool in tools] == ["bad_echo"]
    assert tools.originals == {"bad_echo": "echo"}
    assert json.dumps(tools["bad_echo"].input_schema()) == json.dumps(received[0].input_schema)
    assert tools.left == {"bad_echo": (LEFT,)}
    assert tools.report() == f"bad_echo: left to the server: {LEFT}"
    with pytest.raises(KeyError):
        tools["echo"]


def test_what_no_graph_holds_is_checked_too():
    result = ran(Bad(echo=ECHO), "echo", {"text": "a", "to": ["b", "b"]})
    assert '- to[1]: "b" equals an earlier one; items must differ' in result.content


def test_a_tool_that_cant_be_used_keeps_no_other_from_being_used(caplog):
    async def ask(tools):
        return tools

    deep = {"type": "string"}
    for _ in range(210):
        deep = {"not": deep}
    tools = run(Bad(deep={"type": "object", "not": deep}, echo=ECHO), ask)
    assert [tool.name for tool in tools] == ["echo"]
    assert list(tools.refused) == ["deep"]
    assert "deep: refused: its JSON Schema can't be used: it nests too deep" in tools.report()
    assert 'the tool "deep" of the server "bad" is left out' in caplog.text


def test_names_are_those_that_providers_take():
    long = "x" * 100
    names = ["a.b", "a/b", "a b", long, "ok-1"]

    async def ask(tools):
        return tools

    tools = run(Bad(**{name: {"type": "object"} for name in names}), ask, prefix="p_")
    assert list(tools.originals.values()) == names
    assert tools[0].name == "p_a_b"
    assert tools[4].name == "p_ok-1"
    assert len(set(tools.originals)) == 5
    assert all(len(tool.name) <= 64 for tool in tools)


def test_all_pages_are_read_and_a_list_without_end_ends():
    bad = Bad(**{f"t{i}": {"type": "object"} for i in range(7)})
    bad.page = 2

    async def ask(tools):
        return [tool.name for tool in tools]

    assert run(bad, ask) == [f"t{i}" for i in range(7)]
    endless = Bad(a={"type": "object"})

    async def again(_ctx, _params):
        return types.ListToolsResult(tools=endless.tools, next_cursor="again")

    endless.list_tools = again
    assert run(endless, ask) == ["a"]


@pytest.mark.parametrize(("most_tools", "most_pages", "asked"), [(10, 1000, 4), (10_000, 5, 5)])
def test_a_list_of_ever_new_tools_ends(monkeypatch, most_tools, most_pages, asked):
    monkeypatch.setattr(reading, "MAX_TOOLS", most_tools)
    monkeypatch.setattr(reading, "MAX_PAGES", most_pages)
    endless, cursors = Bad(), []

    async def more(_ctx, params):
        number = len(cursors)
        cursors.append(params.cursor if params else None)
        made = [types.Tool(name=f"t{3 * number + i}", input_schema={"type": "object"}) for i in range(3)]
        return types.ListToolsResult(tools=made, next_cursor=f"page {number + 1}")

    endless.list_tools = more

    async def ask(tools):
        return [tool.name for tool in tools]

    assert run(endless, ask) == [f"t{i}" for i in range(min(most_tools, 3 * asked))]
    assert cursors == [None, *[f"page {number}" for number in range(1, asked)]]


def test_only_some_tools():
    async def ask(tools):
        return [tool.name for tool in tools]

    bad = Bad(one={"type": "object"}, two={"type": "object"})
    assert run(bad, ask, only=["two"]) == ["two"]
    assert run(bad, ask, only="two") == ["two"]
    assert run(bad, ask, only=lambda name: name == "one") == ["one"]
    for wrong, hint in (
        (["tow"], 'did you mean "two"?'),
        (["zzz", "tow"], 'mean "two"?'),
        (["zzz"], "one, two"),
    ):
        with pytest.raises((ToolError, ExceptionGroup)) as caught:
            run(bad, ask, only=wrong)
        assert hint in str(caught.value) + str(getattr(caught.value, "exceptions", ""))


def test_what_a_server_says_of_a_tool_is_kept():
    bad = Bad(drop={"type": "object"})
    bad.tools[0] = bad.tools[0].model_copy(
        update={
            "title": "Drop it",
            "description": "Drop a table. There is no way back.",
            "annotations": types.ToolAnnotations(
                read_only_hint=False, destructive_hint=True, open_world_hint=False
            ),
            "meta": {"own": {"a": 1}},
            "output_schema": COUNT,
        }
    )

    async def ask(tools):
        return tools[0]

    drop = run(bad, ask)
    assert drop.description == "Drop a table. There is no way back."
    said_of_it = drop.annotations.as_dict()
    assert said_of_it.pop("meta")["own"] == {"a": 1}
    assert said_of_it == {"title": "Drop it", "read_only": False, "destructive": True, "open_world": False}
    assert drop.output_schema() == COUNT
    reads = Bad(look={"type": "object"})
    reads.tools[0].annotations = types.ToolAnnotations(
        read_only_hint=True, destructive_hint=True, title="Look"
    )
    assert run(reads, ask).annotations.as_dict() == {"title": "Look", "read_only": True}


def test_content_becomes_parts():
    bad = Bad(show={"type": "object"})

    async def do_show(_ctx, _arguments):
        picture = base64.b64encode(PNG).decode()
        return types.CallToolResult(
            content=[
                types.TextContent(type="text", text="here"),
                types.ImageContent(type="image", data=picture, mime_type="image/png"),
                types.ImageContent(type="image", data="%%%", mime_type="image/png"),
                types.AudioContent(type="audio", data=picture, mime_type="audio/wav"),
                types.ResourceLink(type="resource_link", uri="file:///a.txt", name="a"),
                types.EmbeddedResource(
                    type="resource", resource=types.TextResourceContents(uri="file:///b", text="b")
                ),
                types.EmbeddedResource(
                    type="resource", resource=types.BlobResourceContents(uri="file:///c", blob=picture)
                ),
            ]
        )

    bad.do_show = do_show
    result = ran(bad, "show", {})
    kinds = [type(part) for part in result.parts]
    assert kinds == [Text, Image, Text, Text, Resource, Resource, Resource]
    assert result.parts[1].data == PNG
    assert result.parts[2].text.startswith("[image that can't be shown: ")
    assert result.parts[6].media_type == "image/png"
    assert isinstance(result.value, types.CallToolResult)
    assert result.json[0] == "here"


@pytest.mark.parametrize("mode", MODES)
def test_structured_content_is_the_value(mode):
    bad = Bad(count={"type": "object"})
    bad.tools[0].output_schema = COUNT

    async def do_count(_ctx, _arguments):
        return said("three", structured_content={"total": 3})

    bad.do_count = do_count
    result = ran(bad, "count", {}, mode=mode)
    assert (result.content, result.json) == ("three", {"total": 3})


def test_structured_content_alone_is_the_text_too():
    bad = Bad(count={"type": "object"})

    async def do_count(_ctx, _arguments):
        return said(structured_content={"total": 3})

    bad.do_count = do_count
    result = ran(bad, "count", {})
    assert (result.content, result.json, result.parts) == (
        '{"total":3}',
        {"total": 3},
        (Text('{"total":3}'),),
    )


def test_what_is_no_content_is_a_text_that_says_so():
    bad = Bad(look={"type": "object"})

    async def do_look(_ctx, _arguments):
        image = types.ImageContent(type="image", data="\x1b" * 500, mime_type="image/png")
        return types.CallToolResult(content=[image])

    bad.do_look = do_look
    shown = ran(bad, "look", {}).content
    assert shown.startswith("[image that can't be shown: ")
    assert len(shown) < 250
    assert shown.isprintable()


def test_an_output_schema_that_cant_be_used_is_none():
    deep = {"type": "string"}
    for _ in range(210):
        deep = {"not": deep}
    bad = Bad(one={"type": "object"}, two={"type": "object"})
    bad.tools[0].output_schema = {"type": "object", "not": deep}
    bad.tools[1].output_schema = COUNT

    async def ask(tools):
        return [tool.output_schema() for tool in tools]

    assert run(bad, ask) == [None, COUNT]


def test_a_failure_tells_the_model_what_the_server_says():
    bad = Bad(
        fail={"type": "object"},
        blank={"type": "object"},
        strange={"type": "object"},
        crash={"type": "object"},
    )

    async def do_fail(_ctx, _arguments):
        return said("the disk is full", is_error=True)

    async def do_blank(_ctx, _arguments):
        return said(is_error=True)

    async def do_strange(_ctx, _arguments):
        raise MCPError(types.INVALID_PARAMS, "the path is relative")

    async def do_crash(_ctx, _arguments):
        raise MCPError(-32050, "secret: 1234")

    bad.do_fail, bad.do_blank, bad.do_strange, bad.do_crash = do_fail, do_blank, do_strange, do_crash
    assert "the disk is full" in ran(bad, "fail", {}).content
    assert "blank failed" in ran(bad, "blank", {}).content
    assert "the path is relative" in ran(bad, "strange", {}).content
    crashed = ran(bad, "crash", {})
    assert crashed.is_error
    assert "secret" not in crashed.content


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_progress_and_cancellation_are_passed_on(backend):
    bad = Bad(slow={"type": "object"})
    seen = []

    async def do_slow(ctx, _arguments):
        await ctx.session.report_progress(1, 2, "half")
        try:
            await anyio.sleep(60)
        except BaseException:
            bad.cancelled.set()
            raise
        return said("done")

    bad.do_slow = do_slow

    async def ask(tools):
        executor = Executor(Registry(tools))
        async with anyio.create_task_group() as group:
            listen = partial(executor.run, on_progress=lambda _call, update: seen.append(update))
            group.start_soon(listen, RawCall("1", "slow", {}))
            with anyio.fail_after(LONGEST_WAIT):
                while not seen:  # noqa: ASYNC110  # what is waited for is a list
                    await anyio.sleep(0.01)
            group.cancel_scope.cancel()
        with anyio.fail_after(LONGEST_WAIT):
            await bad.cancelled.wait()

    run(bad, ask, backend=backend)
    assert (seen[0].done, seen[0].total, seen[0].message) == (1, 2, "half")


def test_a_time_limit_cancels_the_call_on_the_server():
    bad = Bad(slow={"type": "object"})

    async def do_slow(_ctx, _arguments):
        try:
            await anyio.sleep(60)
        finally:
            bad.cancelled.set()

    bad.do_slow = do_slow

    async def ask(tools):
        result = await Executor(Registry(tools)).run(RawCall("1", "slow", {}))
        with anyio.fail_after(LONGEST_WAIT):
            await bad.cancelled.wait()
        return result

    assert run(bad, ask, timeout=1).code == "timeout"


def test_a_session_belongs_to_its_event_loop():
    async def ask(tools):
        return tools

    tools = run(Bad(echo=ECHO), ask)
    result = anyio.run(Executor(Registry(tools)).run, RawCall("1", "echo", {"text": "a"}))
    assert "another event loop" in str(result.details["exception"])


def test_a_list_that_has_changed_is_read_again():
    bad = Bad(one={"type": "object"}, two={"type": "object"})

    async def ask(tools):
        registry = Registry(tools)
        one = tools["one"]
        assert not await tools.refresh(registry)
        bad.tools[1] = types.Tool(name="two", input_schema=ECHO)
        bad.tools.append(types.Tool(name="three", input_schema={"type": "object"}))
        bad.page = 9
        assert await tools.refresh(registry)
        assert sorted(tool.name for tool in registry) == ["one", "three", "two"]
        assert registry["one"] is one
        assert registry["two"].input_schema() == ECHO
        del bad.tools[0]
        assert await tools.refresh(registry)
        assert [tool.name for tool in tools] == ["two", "three"]
        assert "one" not in registry

    async def main():
        async with Client(bad.serve(), mode="legacy") as client:
            await ask(await tools_from(client.session))

    anyio.run(main)


class TestGateway:
    """What the page of the gateway says about what passes."""

    def asked(self, bad, question, *, behind=None, before=None, **options):
        async def main():
            async with Client(bad.serve(), mode="legacy", **(behind or {})) as session:
                gateway = server(Registry(await tools_from(session, **options)))
                async with Client(gateway, mode="legacy", **(before or {})) as client:
                    with anyio.fail_after(LONGEST_WAIT):
                        return await question(client)

        return anyio.run(main)

    @staticmethod
    async def call(client):
        return await client.call_tool("ask", {})

    def asking(self):
        bad = Bad(ask={"type": "object"})

        async def do_ask(ctx, _arguments):
            try:
                answer = await ctx.session.elicit_form("Which?", {"type": "object", "properties": {}})
            except MCPError:
                return said("the client can't")
            return said(answer.action)

        bad.do_ask = do_ask
        return bad

    def test_a_question_of_the_server_behind_it_needs_a_callback(self):
        async def answer(_context, _params):
            return types.ElicitResult(action="accept")

        asks = {"elicitation_callback": answer}
        assert self.asked(self.asking(), self.call, before=asks).content[0].text == "the client can't"
        assert self.asked(self.asking(), self.call, behind=asks).content[0].text == "accept"

    def test_it_asks_itself_if_it_is_told_to(self):
        questions = []

        async def answer(_context, params):
            questions.append(params.message)
            return types.ElicitResult(action="decline")

        bad = Bad(ask={"type": "object"})
        declined = self.asked(bad, self.call, before={"elicitation_callback": answer}, confirm=True)
        assert declined.content[0].text == "This call was rejected: a person declined it"
        assert self.asked(bad, self.call, confirm=True).is_error
        assert (questions, bad.calls) == (["Run ask?"], [])

    def test_what_a_tool_says_about_itself_passes(self):
        bad = Bad(ask=ECHO)
        hints = types.ToolAnnotations(read_only_hint=False, destructive_hint=True)
        update = {"title": "Ask", "annotations": hints, "meta": {"a": 1}, "description": "Ask somebody."}
        bad.tools[0] = bad.tools[0].model_copy(update=update)

        async def listed(client):
            return (await client.list_tools()).tools

        (passed,) = self.asked(bad, listed)
        assert (passed.title, passed.description, passed.meta) == ("Ask", "Ask somebody.", {"a": 1})
        assert (passed.annotations, passed.input_schema) == (hints, ECHO)


@pytest.mark.parametrize(
    ("answer", "text", "json", "parts"),
    [
        (said(), "", [], ()),
        (said("one"), "one", "one", ()),
        (said("one", "two"), "one\ntwo", ["one", "two"], (Text("one"), Text("two"))),
        (said("one", structured_content={"a": 1}), "one", {"a": 1}, ()),
        (said(structured_content={"a": 1}), '{"a":1}', {"a": 1}, ()),
        (
            said("one", "two", structured_content={"a": 1}),
            "one\ntwo",
            {"a": 1},
            (Text("one"), Text("two")),
        ),
    ],
    ids=["nothing", "a text", "two texts", "a text and data", "data", "two texts and data"],
)
def test_an_answer_has_a_text_a_value_and_parts(answer, text, json, parts):
    found = reading._write_answer(answer)
    assert (found.text, found.json, found.parts) == (text, json, parts)


# --- a server that is started here -------------------------------------------------------------------


def ended(*words):
    with pytest.raises(ServerEndedError) as caught:
        anyio.run(described_tools, words)
    return caught.value


@pytest.mark.needs_process
def test_a_program_that_ends_says_how_and_why():
    found = ended(sys.executable, "-S", "-c", "import sys; sys.exit('no database')")
    assert (found.status, found.errors) == (1, "no database")
    assert str(found) == "the program ended with exit status 1; its standard error ends with:\nno database"


@pytest.mark.needs_process
def test_of_a_long_standard_error_the_end_is_kept():
    found = ended(sys.executable, "-S", "-c", "import sys; sys.exit('x' * 5000 + 'end')")
    assert len(found.errors) == 1000
    assert (found.errors[0], found.errors[-3:]) == ("…", "end")


@pytest.mark.needs_process
@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def test_a_program_that_a_signal_ends():
    found = ended(sys.executable, "-S", "-c", "import os; os.kill(os.getpid(), 9)")
    assert (found.status, found.errors) == (-9, "")
    assert str(found) == "the program ended with signal 9 (SIGKILL); its standard error is empty"


@pytest.mark.needs_process
def test_a_program_that_is_not_there():
    found = ended("/no/such/program")
    assert found.status == 127
    assert "/no/such/program" in found.errors


@pytest.mark.parametrize(
    ("written", "passed_on"),
    [
        ("", ""),
        ("loading\n", "loading\n"),
        ("loading", "loading\n"),
        ("\n", "\n"),
        ("\n\nloading\n\n", "\n\nloading\n\n"),
        ("x" * 1000, "x" * 1000 + "\n"),
        ("x" * 999 + "\n", "x" * 999 + "\n"),
    ],
)
@pytest.mark.parametrize("is_cut", [False, True])
def test_what_a_server_writes_to_standard_error_is_passed_on_as_it_is(capsys, written, passed_on, is_cut):
    program = connection._ServerProcess(["x"])
    program.pass_on()
    end = "" if is_cut else f"\n\0{program._mark}0\n"
    program._listen(BytesIO(f"{written}{end}".encode()))
    assert capsys.readouterr().err == (written if is_cut else passed_on)
    assert program.status == (None if is_cut else 0)


@pytest.mark.needs_process
@pytest.mark.skipif(sys.platform == "win32", reason="programs are started as they are there")
def test_a_program_that_cannot_be_started_is_named_before_anything_is(tmp_path, monkeypatch):
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/plain").write_text("")
    (tmp_path / "tools/run").write_text("#!/bin/sh\n")
    (tmp_path / "tools/run").chmod(0o755)
    monkeypatch.chdir(tmp_path)

    def words(command, **more):
        return connection._kept(StdioServerParameters(command=command, **more)).args[6:]

    with pytest.raises(FileNotFoundError, match="'no-such-program'"):
        words("no-such-program")
    for path in ("tools/plain", "./tools", f"{tmp_path}/tools/plain"):
        with pytest.raises(PermissionError, match=path):
            words(path)
    with pytest.raises(FileNotFoundError, match="'run'"):
        words("run")
    assert words("run", env={"PATH": str(tmp_path / "tools")}, args=["-v"]) == ["run", "-v"]
    assert words("tools/run") == ["tools/run"]
    assert words("./run", cwd="tools") == ["./run"]
    with pytest.raises(FileNotFoundError, match="'tools/run'"):
        words("tools/run", cwd="tools")
    with pytest.raises(FileNotFoundError, match=r"no such working directory \(cwd\): 'gone'"):
        words("./run", cwd="gone")
    with pytest.raises(NotADirectoryError, match=r"\(cwd\) isn't a folder: 'tools/plain'"):
        words("run", cwd="tools/plain")


DYING = """
import os
from operator_schema import tool

@tool
def die(status: int) -> int:
    \"\"\"End the program.\"\"\"
    os.write(2, b"no more\\n")
    os._exit(status)
"""


@pytest.mark.needs_process
@pytest.mark.slow("starts a server")
def test_a_call_whose_server_dies_says_how(tmp_path, capfd):
    (tmp_path / "dying.py").write_text(DYING)

    async def main():
        async with connected(
            [*warm_processes.command(serves=True), "serve", str(tmp_path / "dying.py")]
        ) as client:
            executor = Executor(await tools_from(client), show_errors="message")
            return await executor.run(RawCall("1", "die", {"status": 7}))

    result = anyio.run(main)
    assert "ServerEndedError: the program ended with exit status 7; " in result.content
    assert result.content.endswith("no more")
    assert "no more" in capfd.readouterr().err  # what a server writes is shown, too


@pytest.mark.parametrize("given", ["https://example.com/mcp", ["uvx", "mcp-server-time"], None])
def test_what_is_no_session_says_how_to_get_one(given):
    said = r"takes a ClientSession or a Client of the MCP SDK, not .*: enter one first .*, or use Gateway"
    with pytest.raises(TypeError, match=said):
        anyio.run(tools_from, given)
