"""A gateway before other servers: what passes, whose it is, and what its clients are told if it doesn't."""

from __future__ import annotations

import io
import logging
import sys
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from typing import Any, Literal

import anyio
import anyio.lowlevel
import pytest
from gateway_cases import FORM, NEW, OLD, Ctx, altered, ask_user, at_once, behind, count, ending, through
from mcp import Client, MCPError, StdioServerParameters, types
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import PromptsListChanged, ResourcesListChanged
from mcp.shared.message import SessionMessage
from patience import LONGEST_WAIT

from operator_schema import Defer, Executor, Registry, RunNormally, tool
from operator_schema.adapters.mcp import behind as behind_module
from operator_schema.adapters.mcp import forwarding, server
from operator_schema.adapters.mcp import gateway as gateway_module
from operator_schema.adapters.mcp.gateway import Gateway, ServerBehind
from operator_schema.adapters.mcp_client import described_tools
from operator_schema.adapters.mcp_connection import _error_stream, _lenient
from operator_schema.rounds import ToolSearch

ERAS = pytest.mark.parametrize(
    ("mode", "lacks"),
    [("legacy", OLD), ("legacy", ()), ("legacy", NEW), ("auto", OLD), ("auto", ()), ("auto", NEW)],
)
OF_OLD = pytest.mark.filterwarnings("ignore:resources/.*subscribe is removed", "ignore:The .* capability is")


@tool(title="Add")
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@tool
async def ask_model(ctx: Ctx) -> str:
    """Ask the model."""
    asked = types.SamplingMessage(role="user", content=types.TextContent(type="text", text="Why?"))
    params = types.CreateMessageRequestParams(messages=[asked], max_tokens=9)
    request = types.CreateMessageRequest(params=params)
    answer = await ctx.session.send_request(request, types.CreateMessageResult)
    return answer.content.text


@tool
async def ask_roots(ctx: Ctx) -> str:
    """Ask for folders."""
    answer = await ctx.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
    return str(answer.roots[0].uri)


@tool
def ask_by_answer(ctx: Ctx) -> Any:
    """Ask as newer servers do."""
    found = (ctx.params or {}).get("inputResponses")
    if found:
        return f"{found['who']['content']} {(ctx.params or {}).get('requestState')}"
    form = types.ElicitRequestFormParams(message="Who?", requested_schema=FORM)
    asked = {"who": types.ElicitRequest(params=form)}
    return types.InputRequiredResult(input_requests=asked, request_state="state")


def note(day: int, mood: Literal["good", "bad"] = "good") -> str:
    """Return a note."""
    return f"{day} {mood}"


def day_of(day: int) -> str:
    """Return a day."""
    return f"day {day}"


def plan(day: Literal["today", "tomorrow"]) -> str:
    """Plan."""
    return f"Plan {day}"


def everything(**more: Any) -> Any:
    tools = Registry([add, ask_user, ask_model, ask_roots, ask_by_answer, count])
    resources = {"note://today": "rye", "note://{day}{?mood}": note}
    options = {"resources": resources, "prompts": [plan], "logger": "gateway_tests", **more}
    return server(tools, **options)


async def accept(_context, _params):
    return types.ElicitResult(action="accept", content={"name": "Ann"})


async def say(_context, _params):
    text = types.TextContent(type="text", text="Because")
    return types.CreateMessageResult(role="assistant", content=text, model="m")


async def roots(_context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///home")])


CALLBACKS = {"elicitation_callback": accept, "sampling_callback": say, "list_roots_callback": roots}


def text_of(result):
    return result.content[0].text


async def refusal(awaitable):
    with pytest.raises(MCPError) as caught:
        await awaitable
    return caught.value


@ERAS
def test_what_one_server_has_passes(mode, lacks):
    async def main(client):
        arguments = {"name": "mood", "value": "b"}
        reference = types.ResourceTemplateReference(uri="note://{day}{?mood}")
        listed = await client.list_tools()
        return (
            [one.name for one in listed.tools][:2],
            listed.tools[0].title,
            text_of(await client.call_tool("add", {"a": 1, "b": 2})),
            [one.uri for one in (await client.list_resources()).resources],
            [one.uri_template for one in (await client.list_resource_templates()).resource_templates],
            (await client.read_resource("note://today")).contents[0].text,
            (await client.read_resource("note://7?mood=bad")).contents[0].text,
            [one.name for one in (await client.list_prompts()).prompts],
            (await client.get_prompt("plan", {"day": "today"})).messages[0].content.text,
            (await client.complete(reference, arguments)).completion.values,
            (
                await client.complete(types.PromptReference(name="plan"), {"name": "day", "value": "tom"})
            ).completion.values,
        )

    assert through(main, behind(everything(), lacks=lacks), mode=mode) == (
        ["add", "ask_user"],
        "Add",
        "3",
        ["note://today"],
        ["note://{day}{?mood}"],
        "rye",
        "7 bad",
        ["plan"],
        "Plan today",
        ["bad"],
        ["tomorrow"],
    )


@ERAS
def test_errors_of_a_server_keep_their_codes_and_words(mode, lacks):
    async def main(client):
        return [
            await refusal(client.read_resource("other://x")),
            await refusal(client.get_prompt("paln")),
            await refusal(client.get_prompt("plan", {"day": "never"})),
        ]

    found = through(main, behind(everything(), lacks=lacks), mode=mode)
    assert [error.code for error in found] == [types.INVALID_PARAMS] * 3
    assert "there is no resource" in found[0].message
    assert "did you mean plan?" in found[1].message
    assert "day: " in found[2].message


def test_arguments_are_checked_before_the_server_gets_them():
    seen = []

    async def main(client):
        return await client.call_tool("add", {"a": "one", "b": 2})

    result = through(main, behind(everything(), seen=seen))
    assert result.is_error
    assert "a: expected integer" in text_of(result)
    assert "tools/call" not in [getattr(message, "method", None) for message in seen]


@pytest.mark.parametrize("lacks", [OLD, ()])
@pytest.mark.parametrize(
    ("name", "said"),
    [("ask_user", "accept {'name': 'Ann'}"), ("ask_model", "Because"), ("ask_roots", "file:///home")],
)
def test_what_a_server_asks_while_a_call_waits_is_asked_of_the_client(lacks, name, said):
    async def main(client):
        return text_of(await client.call_tool(name, {}))

    assert through(main, behind(everything(), lacks=lacks), **CALLBACKS) == said


@pytest.mark.parametrize("name", ["ask_user", "ask_model", "ask_roots"])
def test_a_client_that_cannot_be_asked_is_not(name):
    async def main(client):
        return await refusal(client.call_tool(name, {}))

    error = through(main, behind(everything(), lacks=OLD))
    assert "the gateway's client can't be asked: it has no" in error.message


def test_a_client_of_the_newer_generation_is_not_asked_as_before():
    async def main(client):
        return await refusal(client.call_tool("ask_user", {}))

    error = through(main, behind(everything(), lacks=OLD), mode="auto", **CALLBACKS)
    assert "it speaks 2026-07-28, and the server asks in the way of earlier versions" in error.message


@pytest.mark.parametrize(("mode", "lacks"), [("auto", ()), ("auto", NEW), ("legacy", NEW)])
def test_what_a_newer_server_asks_by_its_answer_is_asked_of_the_client(mode, lacks):
    async def main(client):
        return text_of(await client.call_tool("ask_by_answer", {}))

    found = through(main, behind(everything(), lacks=lacks), mode=mode, **CALLBACKS)
    assert found == "{'name': 'Ann'} state"


def test_a_server_that_asks_without_end_is_stopped():
    @tool
    def nosy() -> Any:
        """Ask again."""
        return types.InputRequiredResult(request_state="again")

    async def main(client):
        return await refusal(client.call_tool("nosy", {}))

    error = through(main, behind(server([nosy]), lacks=NEW))
    assert "asked more than 10 times" in error.message


@pytest.mark.parametrize("capable", [True, False])
def test_a_newer_server_knows_what_the_client_can_do(capable):
    @tool
    def able(ctx: Ctx) -> str:
        """Say what the client can do."""
        return str(ctx.session.client_capabilities.elicitation is not None)

    async def main(client):
        return text_of(await client.call_tool("able", {}))

    options = CALLBACKS if capable else {}
    assert through(main, behind(server([able])), mode="auto", **options) == str(capable)


def test_a_tool_that_a_person_has_to_agree_to_cannot_ask_by_its_answer():
    async def main():
        source = behind(everything())
        async with (
            Gateway(source, confirm=True) as gateway,
            Client(gateway.server(), elicitation_callback=accept) as client,
        ):
            return await client.call_tool("ask_by_answer", {})

    result = anyio.run(main)
    assert result.is_error
    assert "nobody can be asked from here" in text_of(result)


@pytest.mark.parametrize("decided", ["defer", "approve"])
def test_an_answer_to_a_question_of_the_gateway_is_none_to_a_server_behind_it(decided):
    """If a hook of the gateway has asked about a call, its tool can't ask by its answer; otherwise it can."""
    asked, told = [], []

    @tool
    def nosy(ctx: Ctx) -> Any:
        """Ask by the answer."""
        told.append((ctx.params or {}).get("inputResponses"))
        form = types.ElicitRequestFormParams(message="Who?", requested_schema=FORM)
        question = {"confirm": types.ElicitRequest(params=form)}
        return "done" if told[-1] else types.InputRequiredResult(input_requests=question)

    async def answer(_context, params):
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"name": "Ann"})

    def decide(call):
        return Defer("large") if decided == "defer" else RunNormally(approved=True)

    async def main():
        async with Gateway(behind(server([nosy]))) as gateway:
            front = gateway.server(Executor(gateway.registry, hooks=decide))
            async with Client(front, elicitation_callback=answer) as client:
                return text_of(await client.call_tool("nosy", {}))

    text = anyio.run(main)
    if decided == "defer":
        assert "nobody can be asked from here" in text
        assert (asked, told) == (["Run nosy?\n(large)"], [None])
    else:
        assert text == "done"
        assert asked == ["Who?"]


@ERAS
def test_progress_and_logs_reach_the_client_that_calls(mode, lacks):
    reported, logged = [], []

    async def report(done, total, _message):
        reported.append((done, total))

    async def log(params):
        logged.append((params.level, params.data))

    async def main(client):
        await client.call_tool("count", {}, progress_callback=report)

    options = {"logging_callback": log, "log_level": "info"}
    through(main, behind(everything(), lacks=lacks), mode=mode, **options)
    assert reported == [(1, 2), (2, 2)]
    assert logged == [("warning", "counted")]


@OF_OLD
@pytest.mark.parametrize("lacks", [OLD, NEW, ()])
@pytest.mark.parametrize(("level", "texts"), [("debug", ["detail", "counted"]), ("error", [])])
def test_a_client_gets_the_logs_of_its_level(lacks, level, texts):
    logged = []

    async def log(params):
        logged.append(params.data)

    async def main(client):
        await client.set_logging_level(level)
        await client.call_tool("count", {})

    through(main, behind(everything(), lacks=lacks), logging_callback=log)
    assert logged == texts


@pytest.fixture
def all_share(monkeypatch):
    """Have all clients share one connection to a server."""
    monkeypatch.setattr(behind_module, "_MOST_OWN", 0)


async def asked_in_turn(source, *names):
    """Have each client call in turn a tool that asks it; return the answers, or errors, and the logs."""
    logs = {}

    def options(name):
        async def answer(_context, _params):
            return types.ElicitResult(action="accept", content={"name": name})

        async def log(params):
            logs.setdefault(name, []).append(params.data)

        return {"elicitation_callback": answer, "logging_callback": log, "mode": "legacy"}

    found = []
    async with Gateway(source) as gateway, AsyncExitStack() as stack:
        app = gateway.server()
        clients = {
            name: await stack.enter_async_context(Client(app, **options(name)))
            for name in dict.fromkeys(names)
        }
        for name in names:
            try:
                found.append(text_of(await clients[name].call_tool("ask_user", {})))
                await clients[name].call_tool("count", {})
            except MCPError as error:
                found.append(error.message)
    return found, logs


def accepted(*names):
    return [f"accept {{'name': '{name}'}}" for name in names]


def counted(source):
    """Return a source, and a list with one entry for each connection that was made from it."""
    made = []

    def connect():
        made.append(source())
        return made[-1]

    return connect, made


def test_each_client_gets_what_its_own_connection_asks_and_logs():
    source, made = counted(behind(everything(), lacks=OLD))
    found, logs = anyio.run(asked_in_turn, source, "Ann", "Bob", "Ann", "Bob")
    assert found == accepted("Ann", "Bob", "Ann", "Bob")
    assert logs == {"Ann": ["counted"] * 2, "Bob": ["counted"] * 2}
    assert len(made) == 2


@pytest.mark.usefixtures("all_share")
def test_clients_that_share_a_connection_are_not_asked(caplog):
    found, logs = anyio.run(asked_in_turn, behind(everything(), lacks=OLD), "Ann", "Bob")
    assert found[0] == accepted("Ann")[0]
    assert "the gateway can't tell which of its clients is meant" in found[1]
    assert "a question isn't asked: several clients have used its connection" in caplog.text
    assert logs == {"Ann": ["counted"]}


def test_the_connection_that_is_unused_for_longest_ends_for_another_client_and_its_own_is_told(monkeypatch):
    monkeypatch.setattr(behind_module, "_MOST_OWN", 2)
    source, made = counted(behind(everything(), lacks=OLD))
    names = ["Ann", "Bob", "Cid", "Bob", "Dan", "Ann", "Cid", "Cid", "Cid"]
    found, _ = anyio.run(asked_in_turn, source, *names)
    closed = (
        "the server server was closed for this client because 2 others use it; another request opens it again"
    )
    assert found == [*accepted(*names[:6]), closed, *accepted(*names[7:])]
    assert len(made) == 5


def test_a_server_that_takes_only_one_connection_serves_all_clients(caplog):
    source, made = counted(behind(everything(), lacks=OLD))

    def connect():
        if made:
            message = "only one at a time"
            raise ConnectionError(message)
        return source()

    found, _ = anyio.run(asked_in_turn, connect, "Ann", "Bob", "Bob")
    assert found[0] == accepted("Ann")[0]
    assert all("can't tell which of its clients is meant" in each for each in found[1:])
    assert "its clients share a connection, so it can't ask them" in caplog.text


def test_the_connection_of_a_client_ends_with_it():
    source, _ = counted(behind(everything(), lacks=OLD))

    async def main():
        async with Gateway(source) as gateway:
            app = gateway.server()
            async with Client(app, mode="legacy") as ann:
                await ann.call_tool("count", {})
                async with Client(app, mode="legacy") as bob:
                    await bob.call_tool("count", {})
                    [link] = gateway.links
                    [connection] = link.own_connections
                    assert connection.is_open
                while connection.is_open:  # what is waited for is an attribute
                    await anyio.lowlevel.checkpoint()
                await ann.call_tool("count", {})
                return link.own_connections

    assert anyio.run(main) == []


def leaving(told):
    """Return a tool that leaves work behind: what it was called with is in a list."""

    @tool
    async def leave(ctx: Ctx) -> str:
        """Leave work behind."""
        told.append(ctx)
        return "left"

    return leave


def accepting(asked):
    """Return an answer to all questions, which are in a list."""

    async def answer(_context, params):
        asked.append(params)
        return types.ElicitResult(action="accept", content={})

    return answer


@pytest.mark.usefixtures("all_share")
def test_a_question_about_work_of_a_client_that_is_over_is_asked_of_no_other_one():
    told, refused = [], []

    @tool
    async def ask_late(ctx: Ctx) -> str:
        """Ask for the one before."""
        refused.append(await refusal(told[0].session.elicit_form("Whose?", FORM)))
        return "asked"

    async def main(ann, bob):
        await ann.call_tool("leave", {})
        return text_of(await bob.call_tool("ask_late", {}))

    asked = []

    source = behind(server([leaving(told), ask_late]), lacks=OLD)
    assert through(main, source, clients=2, elicitation_callback=accepting(asked)) == "asked"
    assert asked == []
    assert len(refused) == 1


def test_a_question_after_a_client_has_gone_is_not_asked_of_the_next_one():
    told, asked = [], []

    async def main():
        async with Gateway(behind(server([leaving(told)]), lacks=OLD)) as gateway:
            app = gateway.server()
            async with Client(app, mode="legacy", elicitation_callback=accepting(asked)) as client:
                await client.call_tool("leave", {})
            async with Client(app, mode="legacy", elicitation_callback=accepting(asked)):
                return await refusal(told[0].session.elicit_form("Whose?", FORM))

    assert "its client has gone" in anyio.run(main).message
    assert asked == []


@pytest.mark.usefixtures("all_share")
def test_a_question_is_not_asked_of_either_client_while_calls_of_two_run():
    started, asked, refused = [], [], []

    async def two_of(those):
        while len(those) < 2:  # noqa: ASYNC110  # what is waited for is a list
            await anyio.sleep(0.001)

    @tool
    async def ask_together(ctx: Ctx) -> str:
        """Ask while two calls run."""
        started.append(ctx)
        await two_of(started)
        refused.append(await refusal(ctx.session.elicit_form("Who?", FORM, ctx.request_id)))
        await two_of(refused)
        raise refused[0]

    found = []

    async def call(client):
        found.append((await refusal(client.call_tool("ask_together", {}))).message)

    async def main(ann, bob):
        async with anyio.create_task_group() as group:
            group.start_soon(call, ann)
            group.start_soon(call, bob)

    through(main, behind(server([ask_together]), lacks=OLD), clients=2, elicitation_callback=accepting(asked))
    assert asked == []
    assert all("the gateway can't tell which of its clients is meant" in message for message in found)
    assert len(found) == 2


def test_the_time_in_which_a_person_answers_does_not_count():
    async def slow(_context, _params):
        await anyio.sleep(0.6)
        return types.ElicitResult(action="accept", content={})

    async def main():
        from operator_schema import Executor

        async with Gateway(behind(everything(), lacks=OLD)) as gateway:
            app = gateway.server(Executor(gateway.registry, timeout=0.5))
            async with Client(app, mode="legacy", elicitation_callback=slow) as client:
                return text_of(await client.call_tool("ask_user", {}))

    assert anyio.run(main) == "accept {}"


def test_a_cancelled_call_is_cancelled_on_the_server():
    ended = anyio.Event()
    started = anyio.Event()

    @tool
    async def wait() -> str:
        """Wait."""
        started.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    async def main(client):
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "wait", {})
            await started.wait()
            group.cancel_scope.cancel()
        await ended.wait()
        return True

    assert through(main, behind(server([wait])))


# --- several servers ---------------------------------------------------------------------------------


def two(first=(), second=(), **lacks):
    one = server([add], resources={"note://a": "a", "note://both": "one"}, prompts=[plan])
    other = server(
        [add],
        resources={"note://b": "b", "note://both": "other", "day://{day}": day_of},
        prompts=[plan],
    )
    return {"one": behind(one, lacks=first), "other": behind(other, lacks=second)}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_names_of_several_servers_begin_with_theirs(mode):
    async def main(client):
        return (
            [each.name for each in (await client.list_tools()).tools],
            [each.name for each in (await client.list_prompts()).prompts],
            text_of(await client.call_tool("other_add", {"a": 1, "b": 2})),
            (await client.get_prompt("other_plan", {"day": "today"})).messages[0].content.text,
            (
                await client.complete(types.PromptReference(name="one_plan"), {"name": "day", "value": ""})
            ).completion.values,
            (await refusal(client.get_prompt("plan", {"day": "today"}))).message,
            (await refusal(client.get_prompt("one_plam"))).message,
        )

    names, prompts, three, text, values, missing, near = through(main, two(OLD), mode=mode)
    assert names == ["one_add", "other_add"]
    assert prompts == ["one_plan", "other_plan"]
    assert (three, text, values) == ("3", "Plan today", ["today", "tomorrow"])
    assert "no server has a prompt" in missing
    assert "did you mean one_plan?" in near


def test_a_resource_is_read_from_the_server_that_lists_it(caplog):
    async def main(client):
        return (
            [(await client.read_resource(uri)).contents[0].text for uri in URIS],
            [each.uri for each in (await client.list_resources()).resources],
            (await refusal(client.read_resource("note://none"))).message,
        )

    URIS = ["note://b", "note://a", "note://both", "day://7"]  # noqa: N806  # read before they are listed
    texts, uris, missing = through(main, two())
    assert texts == ["b", "a", "one", "day 7"]
    assert uris == ["note://a", "note://both", "note://b"]
    assert "no server has a resource" in missing
    assert "note://both is left out: another server has it" in caplog.text


def test_a_person_reads_which_server_asks():
    asked = []

    async def answer(_context, params):
        asked.append(params.message)
        return types.ElicitResult(action="decline")

    async def main(client):
        await client.call_tool("b_ask_user", {})

    servers = {"a": behind(server([add]), lacks=OLD), "b": behind(everything(), lacks=OLD)}
    through(main, servers, elicitation_callback=answer)
    assert asked == ["b: Who?"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_person_reads_which_newer_server_asks(mode):
    asked = []

    async def answer(_context, params):
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"name": "Ann"})

    async def main(client):
        return text_of(await client.call_tool("b_ask_by_answer", {}))

    servers = {"a": behind(server([add])), "b": behind(everything(), lacks=NEW)}
    assert through(main, servers, mode=mode, elicitation_callback=answer) == "{'name': 'Ann'} state"
    assert asked == ["b: Who?"]


def test_a_server_that_cannot_list_is_left_out(caplog):
    async def fail(_ctx, _params):
        raise MCPError(-32000, "out of order")

    broken = Server("broken", on_list_resources=fail)

    async def main(client):
        return [each.uri for each in (await client.list_resources()).resources]

    assert through(main, {**two(), "bad": behind(broken)}) == ["note://a", "note://both", "note://b"]
    assert "bad: its resources are left out: out of order" in caplog.text


def test_an_only_server_that_cannot_list_says_so():
    async def fail(_ctx, _params):
        raise MCPError(-32000, "out of order")

    async def main(client):
        return await refusal(client.list_resources())

    error = through(main, behind(Server("broken", on_list_resources=fail)))
    assert (error.code, error.message) == (-32000, "out of order")


def test_lists_come_in_pages():
    async def main(client):
        page = await client.list_resources()
        following = await client.list_resources(cursor=page.next_cursor)
        return [each.uri for each in [*page.resources, *following.resources]], following.next_cursor

    assert through(main, two(), front={"page_size": 2}) == (["note://a", "note://both", "note://b"], None)


def test_of_a_server_some_tools_are_offered_and_a_person_is_asked_about_some():
    asked = []

    async def answer(_context, params):
        asked.append(params.message)
        return types.ElicitResult(action="decline")

    async def main(client):
        listed = [each.name for each in (await client.list_tools()).tools]
        for name in ("x_add", "x_count"):
            await client.call_tool(name, {"a": 1, "b": 2} if name == "x_add" else {})
        return listed

    chosen = ServerBehind(behind(everything()), only=["add", "count"], confirm=["add"])
    assert sorted(through(main, {"x": chosen}, elicitation_callback=answer)) == ["x_add", "x_count"]
    assert len(asked) == 1
    assert "add" in asked[0]


def test_of_a_server_a_person_is_asked_about_all():
    async def main(client):
        return text_of(await client.call_tool("add", {"a": 1, "b": 2}))

    assert "a person has to agree" in through(main, ServerBehind(behind(everything()), confirm=True))


def test_servers_that_cannot_be_reached_are_left_out_if_the_program_says_so():
    told = []

    async def main(servers):
        async with Gateway(
            servers, unreachable=lambda name, error: told.append((name, str(error)))
        ) as gateway:
            return [each.name for each in gateway.registry]

    lost = ["no-such-program-anywhere"]
    assert anyio.run(main, {"lost": lost, "there": behind(server([add]))}) == ["there_add"]
    ((name, reason),) = told
    assert name == "lost"
    assert "the server lost can't be reached" in reason
    with pytest.raises(ConnectionError, match="none of the servers behind the gateway can be reached"):
        anyio.run(main, {"lost": lost})


class Noticed(logging.Handler):
    """Sets an event when a server is said to be waited for."""

    def __init__(self):
        super().__init__()
        self.event, self.names = anyio.Event(), []

    def emit(self, record):
        if "hasn't answered yet" in record.getMessage():
            self.names.append(record.args[0])
            self.event.set()


@pytest.mark.parametrize("slow_at", ["server/discover", "tools/list"])
def test_a_server_that_is_waited_for_at_the_start_is_named(monkeypatch, slow_at):
    monkeypatch.setattr(gateway_module, "_SECONDS_UNTOLD", 0.05)

    async def wait(method, send):
        if method == slow_at:
            await noticed.event.wait()  # it answers only then
        await send()

    slow = altered(behind(server([add])), wait)

    async def main():
        async with Gateway({"slow": slow, "quick": behind(server([add]))}, seconds=30) as gateway:
            return [each.name for each in gateway.registry]

    noticed = Noticed()
    log = logging.getLogger("operator_schema.mcp_gateway")
    log.addHandler(noticed)
    try:
        assert anyio.run(main) == ["slow_add", "quick_add"]
    finally:
        log.removeHandler(noticed)
    assert "slow" in noticed.names


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("declares", [True, False])
def test_a_result_that_is_cut_is_an_error_if_its_tool_declares_data(mode, declares):
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}

    async def listed(_ctx, _params):
        output = schema if declares else None
        long = types.Tool(name="long", input_schema={"type": "object"}, output_schema=output)
        return types.ListToolsResult(tools=[long])

    async def called(_ctx, _params):
        text = types.TextContent(type="text", text="x" * 1000)
        return types.CallToolResult(content=[text], structured_content={"text": "x" * 1000})

    async def main():
        async with Gateway(behind(Server("long", on_list_tools=listed, on_call_tool=called))) as gateway:
            app = gateway.server(Executor(gateway.registry, max_content=500))
            async with Client(app, mode=mode, cache=None) as client:
                await client.list_tools()  # so that the client checks results
                return await client.call_tool("long", {})

    result = anyio.run(main)
    assert (result.is_error, result.structured_content) == (declares, None)
    assert result.content[-1].text == (
        "[cut: the whole result has 1,000 characters, and its data is left out; ask for less of it]"
    )


def test_some_of_the_tools_are_offered_in_another_form():
    async def main():
        async with Gateway(two()) as gateway:
            app = gateway.server(ToolSearch(gateway.registry), name="found")
            async with Client(app) as client:
                return [each.name for each in (await client.list_tools()).tools]

    names = anyio.run(main)
    assert len(names) == 1
    assert "search" in names[0]


# --- changes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("lacks", [OLD, NEW])
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_change_of_the_tools_reaches_clients(lacks, mode):
    tools = Registry([add])

    async def main():
        heard = anyio.Event()

        async def on_message(message):
            if isinstance(message, types.ToolListChangedNotification):
                heard.set()

        async with Gateway(behind(server(tools), lacks=lacks)) as gateway:
            app = gateway.server()
            async with Client(app, mode=mode, message_handler=on_message, cache=None) as client:
                listens = client.listen(tools_list_changed=True) if mode == "auto" else ExitStack()
                async with _entered(listens):
                    for _ in range(100):
                        tools.register(plan_tool) if "plan" not in tools else tools.unregister("plan")
                        with anyio.move_on_after(0.1):
                            await heard.wait()
                            break
                    return [each.name for each in (await client.list_tools()).tools]

    plan_tool = tool(plan)
    assert anyio.run(main) in (["add", "plan"], ["add"])


def test_a_server_that_speaks_both_generations_runs_once_for_clients_of_one():
    """Each connection gets a server with a memory of its own, as a process has."""
    made = []

    def source():
        tools = Registry([add])

        @tools.register
        @tool
        def grow() -> str:
            """Let a tool appear."""
            tools.register(tool(plan))
            return "grown"

        made.append(behind(server(tools))())
        return made[-1]

    async def main():
        heard = anyio.Event()

        async def on_message(message):
            if isinstance(message, types.ToolListChangedNotification):
                heard.set()

        async with Gateway(source) as gateway:
            app = gateway.server()
            async with Client(app, mode="legacy", message_handler=on_message) as client:
                await client.call_tool("grow", {})
                while "plan" not in gateway.registry:
                    await heard.wait()
                    heard = anyio.Event()
                first = text_of(await client.call_tool("plan", {"day": "today"}))
            async with Client(app) as client:
                return first, text_of(await client.call_tool("add", {"a": 1, "b": 2}))

    assert anyio.run(main) == ("Plan today", "3")
    assert len(made) == 3  # the first one is left for the client of the earlier generation


class _entered:  # noqa: N801  # like the function of contextlib that it stands for
    """Enter what may be no asynchronous context manager."""

    def __init__(self, manager):
        self.manager = manager

    async def __aenter__(self):
        if hasattr(self.manager, "__aenter__"):
            await self.manager.__aenter__()

    async def __aexit__(self, *failure):
        if hasattr(self.manager, "__aexit__") and hasattr(self.manager, "__aenter__"):
            return await self.manager.__aexit__(*failure)
        return None


@OF_OLD
@pytest.mark.parametrize("lacks", [OLD, NEW])
def test_a_client_hears_of_the_resources_that_it_watches(lacks):
    watched = everything()
    heard = {"ann": [], "bob": []}

    async def main():
        done = anyio.Event()

        def hearing(name):
            async def on_message(message):
                heard[name].append(str(message.params.uri))
                done.set()

            return {"message_handler": on_message, "mode": "legacy"}

        async with Gateway(behind(watched, lacks=lacks)) as gateway:
            app = gateway.server()
            async with Client(app, **hearing("ann")) as ann, Client(app, **hearing("bob")) as bob:
                await ann.subscribe_resource("note://today")
                await bob.subscribe_resource("note://7")
                await bob.unsubscribe_resource("note://7")
                watched.handlers.resource_updated("note://7")
                watched.handlers.resource_updated("note://today")
                await done.wait()
            while gateway.watched:  # noqa: ASYNC110  # nothing says that it is over
                await anyio.sleep(0.001)

    anyio.run(main)
    assert heard == {"ann": ["note://today"], "bob": []}


@OF_OLD
@pytest.mark.parametrize("lacks", [OLD, NEW])
def test_what_is_watched_is_watched_again_after_a_connection_was_lost(lacks):
    watched = everything()

    async def main():
        heard = anyio.Event()

        async def on_message(message):
            if isinstance(message, types.ResourceUpdatedNotification):
                heard.set()

        async with Gateway(behind(watched, lacks=lacks)) as gateway:
            app = gateway.server()
            async with Client(app, mode="legacy", message_handler=on_message) as client:
                await client.session.send_notification(types.InitializedNotification())  # once too often
                await client.subscribe_resource("note://today")
                gateway.links[0].home.close()
                await client.call_tool("add", {"a": 1, "b": 2})
                while not heard.is_set():
                    watched.handlers.resource_updated("note://today")
                    await anyio.sleep(0.01)
        return True

    assert anyio.run(main)


@pytest.mark.parametrize("lacks", [OLD, NEW])
def test_a_newer_client_hears_of_the_resources_that_it_watches(lacks):
    watched = everything()

    async def main(client):
        async with client.listen(resource_subscriptions=["note://today"]) as changes:
            watched.handlers.resource_updated("note://7")
            watched.handlers.resource_updated("note://today")
            return (await anext(changes)).uri

    assert through(main, behind(watched, lacks=lacks), mode="auto") == "note://today"


@pytest.mark.parametrize("event", [PromptsListChanged(), ResourcesListChanged()])
def test_a_gateway_hears_of_new_lists_of_a_newer_server(event):
    changing, told = everything(), []

    async def main():
        async with Gateway(behind(changing, lacks=NEW)) as gateway:
            gateway.server().handlers.changes.subscribe(told.append)
            for _ in range(500):
                changing.handlers.changes.tell(event)
                await anyio.sleep(0.01)
                if told:
                    break

    anyio.run(main)
    assert told[:1] == [event]


@OF_OLD
def test_a_newer_server_that_never_confirms_a_watch_tells_of_no_changes(monkeypatch):
    async def say_nothing(_context, _params):
        await anyio.sleep_forever()

    silent = everything()
    silent.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, say_nothing)

    async def main():
        async with (
            Gateway(behind(silent, lacks=NEW)) as gateway,
            Client(gateway.server(), mode="legacy") as client,
        ):
            await client.read_resource("note://today")  # the gateway knows its server by now
            session = (await gateway.links[0].connection(None)).client.session
            monkeypatch.setattr(session, "_session_read_timeout_seconds", 0.01)
            with pytest.raises(MCPError) as caught:
                await client.subscribe_resource("note://today")
            return caught.value.message

    said = anyio.run(main)
    assert said == "the server server doesn't report changes of resources"


def test_a_server_cannot_say_that_a_resource_of_another_has_changed():
    async def main():
        servers = two(OLD, OLD)
        async with Gateway(servers) as gateway:
            app = gateway.server()
            one, other = gateway.links
            told = []
            app.handlers.changes.subscribe(told.append)
            async with Client(app, mode="legacy") as client:
                await client.session.send_request(
                    types.SubscribeRequest(params=types.SubscribeRequestParams(uri="note://a")),
                    types.EmptyResult,
                )
                params = types.ResourceUpdatedNotificationParams(uri="note://a")
                for link in (other, one):
                    gateway._heard(link, link.home, types.ResourceUpdatedNotification(params=params))
                    await anyio.sleep(0.01)
                    told.append(link.name)
        return [one if isinstance(one, str) else one.uri for one in told]

    assert anyio.run(main) == ["other", "note://a", "one"]


# --- limits ------------------------------------------------------------------------------------------


def test_a_server_that_gives_no_answer_is_not_waited_for():
    async def never() -> str:
        await anyio.sleep_forever()

    async def main():
        silent = server([add], resources={"note://x": never})
        async with Gateway(behind(silent), seconds=1) as gateway, Client(gateway.server()) as client:
            return await refusal(client.read_resource("note://x"))

    assert "gave no answer within 1 s" in at_once(main).message


def test_what_is_too_large_is_not_handed_on(monkeypatch):
    monkeypatch.setattr(forwarding, "MOST_CHARACTERS", 1000)

    async def main(client):
        return await refusal(client.read_resource("note://large"))

    error = through(main, behind(server([add], resources={"note://large": "x" * 2000})))
    assert "sent more than 1,000 characters at once" in error.message


def test_what_is_long_in_an_error_is_cut():
    async def fail(_ctx, _params):
        raise MCPError(-32001, "x" * 100_000, {"more": "y" * 10})

    async def main(client):
        return await refusal(client.read_resource("note://x"))

    async def nothing(_ctx, _params):
        return types.ListResourcesResult(resources=[])

    error = through(main, behind(Server("bad", on_list_resources=nothing, on_read_resource=fail)))
    assert (error.code, len(error.message), error.data) == (-32001, 2000, {"more": "y" * 10})


def test_at_most_a_hundred_completions_are_handed_on():
    async def complete(_ctx, _params):
        completion = types.Completion(values=[str(number) for number in range(100)], total=300, has_more=True)
        return types.CompleteResult(completion=completion.model_copy(update={"values": ["v"] * 300}))

    async def prompts(_ctx, _params):
        return types.ListPromptsResult(prompts=[types.Prompt(name="p")])

    made = Server("long", on_list_prompts=prompts, on_completion=complete)

    async def main(client):
        return await client.complete(types.PromptReference(name="p"), {"name": "a", "value": ""})

    found = through(main, behind(made)).completion
    assert (len(found.values), found.has_more) == (100, True)


def test_a_connection_that_is_lost_is_opened_again():
    opened = []
    made = everything()

    def source():
        opened.append(behind(made)())
        return opened[-1]

    async def main():
        async with Gateway(source) as gateway, Client(gateway.server()) as client:
            first = text_of(await client.call_tool("add", {"a": 1, "b": 2}))
            gateway.links[0].home.close()
            return first, text_of(await client.call_tool("add", {"a": 2, "b": 2}))

    assert anyio.run(main) == ("3", "4")
    assert len(opened) == 2


def test_a_server_that_ends_says_so_and_is_started_again():
    starts = []

    def source():
        starts.append(None)
        return ending(everything(), "resources/read", lambda: len(starts) == 1, lacks=OLD)

    async def main(client):
        error = await refusal(client.read_resource("note://today"))
        return error.message, (await client.read_resource("note://today")).contents[0].text

    message, text = through(main, source)
    assert "has closed its connection; another request opens it again" in message
    assert text == "rye"


@pytest.mark.parametrize("several", [True, False])
def test_a_server_that_cannot_be_reached_is_named(several):
    async def main():
        lost = ["no-such-program-anywhere"]
        async with Gateway({"lost": lost} if several else lost):
            pass

    with pytest.raises(
        ConnectionError, match=f"the server {'lost' if several else 'server'} can't be reached: "
    ):
        anyio.run(main)


def test_a_gateway_needs_a_server():
    with pytest.raises(ValueError, match="a gateway needs a server behind it"):
        Gateway({})


def test_only_what_servers_have_is_announced():
    async def main(client):
        return client.server_capabilities

    bare = through(main, behind(server([add])))
    assert (bare.resources, bare.prompts, bare.completions) == (None, None, None)
    full = through(main, behind(everything(), lacks=OLD))
    assert full.resources.subscribe
    assert None not in (full.prompts, full.completions, full.logging)


# --- a server's errors go where a process can write them ---------------------------------------------


def test_a_process_writes_its_errors_where_it_can(monkeypatch):
    with ExitStack() as files:
        monkeypatch.setattr(sys, "stderr", io.StringIO())
        assert _error_stream(files) is sys.__stderr__
        monkeypatch.setattr(sys, "__stderr__", None)
        stream = _error_stream(files)
        assert stream.fileno() > 2
    assert stream.closed


async def gateway_tools(command):
    """List the tools of a gateway before a command."""
    async with Gateway(command) as gateway:
        return list(gateway.registry)


BARE = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        info = {"name": "bare", "version": "1"}
        results = {
            "initialize": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": info,
            },
            "tools/list": {"tools": []},
        }
        found = results.get(asked["method"])
        answer = {"error": {"code": -32601, "message": "unknown"}} if found is None else {"result": found}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
"""


@pytest.mark.parametrize("use", [described_tools, gateway_tools])
def test_a_server_is_started_where_standard_error_is_no_file(monkeypatch, use):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert anyio.run(use, [sys.executable, "-S", "-c", BARE]) == []


IN_LATIN_1 = BARE.replace(
    '"tools": []',
    '"tools": [{"name": "brew", "description": "caf\\u00e9", "inputSchema": {"type": "object"}}]',
).replace(
    'print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)',
    """answer = json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}, ensure_ascii=False)
        sys.stdout.buffer.write(f"caf\\u00e9\\n{answer}\\n".encode("latin-1"))
        sys.stdout.flush()""",
)


@pytest.mark.needs_process
def test_a_byte_that_cannot_be_decoded_is_replaced_and_the_connection_stays():
    words = [sys.executable, "-S", "-c", IN_LATIN_1]
    parameters = StdioServerParameters(command=words[0], args=words[1:])

    async def main():
        with anyio.fail_after(LONGEST_WAIT):
            (listed,) = await described_tools(words)
            through_gateways = [await gateway_tools(source) for source in (words, parameters)]
            return [listed["description"], *[tool.description for (tool,) in through_gateways]]

    assert anyio.run(main) == 3 * ["caf\ufffd"]


def test_how_bytes_are_decoded_stays_as_it_was_chosen():
    chosen = StdioServerParameters(command="x", encoding_error_handler="strict")
    assert _lenient(chosen).encoding_error_handler == "strict"


def test_a_connection_whose_end_fails_ends_nothing_else():
    source, made = counted(behind(everything(), lacks=OLD))

    @asynccontextmanager
    async def failing():
        async with source() as streams:
            yield streams
        if len(made) == 2:
            message = "its end fails"
            raise OSError(message)

    async def main():
        async with Gateway(failing) as gateway:
            app = gateway.server()
            async with Client(app, mode="legacy") as ann:
                await ann.call_tool("count", {})
                async with Client(app, mode="legacy") as bob:
                    await bob.call_tool("count", {})
                    [connection] = gateway.links[0].own_connections
                while connection.is_open:  # what is waited for is an attribute
                    await anyio.lowlevel.checkpoint()
                return text_of(await ann.call_tool("count", {}))

    assert anyio.run(main) == "counted"


@OF_OLD
def test_a_connection_ends_if_its_request_is_cancelled_while_the_level_of_its_log_is_set():
    source, made = counted(behind(everything(), lacks=OLD))
    ended = []

    @asynccontextmanager
    async def slow():
        async with source() as (read, write):
            number, inner = len(made), write.send

            async def send(item):
                if number > 1 and getattr(item.message, "method", "") == "logging/setLevel":
                    asked.set()
                    await anyio.sleep_forever()
                await inner(item)

            write.send = send
            yield read, write
        ended.append(number)

    async def main():
        async with Gateway(slow) as gateway:
            app = gateway.server()
            async with Client(app, mode="legacy") as ann:
                await ann.set_logging_level("info")
                await ann.call_tool("count", {})
                async with Client(app, mode="legacy") as bob, anyio.create_task_group() as group:
                    group.start_soon(bob.call_tool, "count", {})
                    await asked.wait()
                    group.cancel_scope.cancel()
                with anyio.fail_after(LONGEST_WAIT):
                    while not ended:  # noqa: ASYNC110  # what is waited for is a list
                        await anyio.sleep(0.01)

    asked = anyio.Event()
    anyio.run(main)
    assert ended[:1] == [2]


def test_a_newer_client_takes_no_connection_from_an_older_one():
    source, made = counted(behind(everything(), lacks=OLD))

    async def main():
        async with Gateway(source) as gateway:
            app = gateway.server()
            async with Client(app, mode="legacy", elicitation_callback=accept) as ann:
                found = [text_of(await ann.call_tool("ask_user", {}))]
                for _ in range(2):
                    async with Client(app, mode="auto") as newer:
                        await newer.call_tool("add", {"a": 1, "b": 2})
                return [*found, text_of(await ann.call_tool("ask_user", {}))]

    assert anyio.run(main) == accepted("Ann", "Ann")
    assert len(made) == 2


@pytest.mark.parametrize(
    ("code", "message"),
    [(-32600, "Session terminated"), (-32600, "Session not found"), (-32001, "Session not found")],
)
def test_a_session_that_the_server_has_forgotten_is_opened_again(code, message):
    source, made = counted(behind(everything(), lacks=OLD))
    forgotten = []

    @asynccontextmanager
    async def forgetting():
        async with source() as (read, write):
            inner = write.send

            async def send(item):
                if write in forgotten and hasattr(item.message, "id"):
                    error = types.ErrorData(code=code, message=message)
                    answer = types.JSONRPCError(jsonrpc="2.0", id=item.message.id, error=error)
                    await write.back.send(SessionMessage(answer))
                else:
                    await inner(item)

            write.send = send
            current.append(write)
            yield read, write

    async def main():
        async with Gateway(forgetting) as gateway, Client(gateway.server(), mode="legacy") as client:
            before = text_of(await client.call_tool("add", {"a": 1, "b": 2}))
            forgotten.append(current[-1])
            error = await refusal(client.call_tool("add", {"a": 1, "b": 2}))
            return before, error.message, text_of(await client.call_tool("add", {"a": 1, "b": 2}))

    current: list[Any] = []
    before, told, after = anyio.run(main)
    assert (before, after) == ("3", "3")
    assert told == "the server server has closed its connection; another request opens it again"
    assert len(made) == 2
