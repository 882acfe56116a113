"""Programs by MCP: what a person is asked about a plan, and what comes of an answer that comes twice."""

from __future__ import annotations

from contextlib import asynccontextmanager
from importlib.util import find_spec

import anyio
import mcp_types as types
import pytest
from gateway_cases import behind, ending
from mcp import Client, MCPError
from mcp.server.lowlevel import Server

from operator_schema import Executor, RawCall, tool
from operator_schema.adapters.mcp import server
from operator_schema.adapters.mcp.code_mode import program_tools
from operator_schema.adapters.mcp.gateway import Gateway, ServerBehind
from operator_schema.code_mode import CodeSession, Journal, Monty
from operator_schema.rounds import Defer, RunNormally

pytestmark = pytest.mark.skipif(
    not find_spec("pydantic_monty"), reason="Monty has no wheels for every platform"
)
both_protocols = pytest.mark.parametrize("mode", ["legacy", "auto"])
AGREED = {"confirm": types.ElicitResult(action="accept")}


class Bank:
    """Tools, and a server whose clients call them from programs."""

    def __init__(self, hooks=(), **options):
        self.ran = []

        @tool(confirm=True, repair=True)
        def transfer(to: str = "me", amount: int = 1_000_000, note: str = "") -> int:
            """Send money."""
            self.ran.append((to, amount))
            return amount

        @tool
        def charge(amount: int) -> int:
            """Take money."""
            self.ran.append(("charge", amount))
            return amount

        self.executor = Executor([transfer, charge], hooks=hooks, **options)

    def server(self, **options):
        session = CodeSession(self.executor, sandbox=Monty(), **options)
        return server(Executor(program_tools(self.executor, session)))


def asked(bank, source, mode="auto", actions=None):
    """Run a program; return the result and the questions, which are answered in turn."""
    questions = []
    answers = iter(actions or [])

    async def answer(_, params):
        questions.append(params.message)
        return types.ElicitResult(action=next(answers, "accept"))

    async def main():
        async with Client(bank.server(), mode=mode, elicitation_callback=answer) as client:
            return await client.call_tool("run_program", {"source": source})

    return anyio.run(main), questions


@both_protocols
def test_a_plan_shows_each_call_as_it_will_run(mode):
    bank = Bank()
    source = "transfer(amount='5', note='x' * 5000)\ntransfer(to='you')"
    _, (question,) = asked(bank, source, mode)
    first, *_ = lines = question.split("\n\n")
    assert first == "Run 2 calls of a program?"
    assert lines[1].startswith('Run transfer?\nto: "me"\namount: 5\nnote: "xxx')
    assert "more characters are not shown" in lines[1]
    assert lines[2] == 'Run transfer?\nto: "you"\namount: 1000000\nnote: ""'
    assert bank.ran == [("me", 5), ("you", 1_000_000)]


@both_protocols
def test_a_long_value_hides_no_other_argument(mode):
    _, (question,) = asked(Bank(), "transfer(amount=7, note='A' * 5000, to='thief')", mode, ["decline"])
    assert 'to: "thief"' in question
    assert "amount: 7" in question


def test_what_hooks_make_of_a_call_is_shown_with_their_reason():
    def more(call):
        if call.name == "transfer":
            return RunNormally(input=call.tool.decode({"to": "hook", "amount": call.arguments["amount"] * 2}))
        return Defer("the limit\nis 10")

    bank = Bank(hooks=[more])
    _, (question,) = asked(bank, "transfer(amount=4)\ncharge(11)")
    assert question.split("\n\n")[1:] == [
        'Run transfer?\nto: "hook"\namount: 8\nnote: ""',
        "Run charge?\n(the limit\\u000ais 10)\namount: 11",
    ]
    assert bank.ran == [("hook", 8), ("charge", 11)]


def test_to_show_a_call_does_not_run_it_even_if_a_hook_approves_by_then():
    answers = iter([None])

    def changes_its_mind(_):
        return next(answers, RunNormally(approved=True))

    bank = Bank(hooks=[changes_its_mind])
    _, (_,) = asked(bank, "transfer(amount=1)", actions=["decline"])
    assert bank.ran == []


@both_protocols
def test_a_plan_too_long_for_one_question_is_asked_about_in_parts(mode):
    bank = Bank()
    source = "[transfer(amount=n, note='x' * 5000) for n in range(9)]"
    _, questions = asked(bank, source, mode)
    shown = [question.count("Run transfer?") for question in questions]
    assert sum(shown) == 9
    assert len(shown) > 1
    assert all(len(question) < 11_000 for question in questions)
    assert f"({9 - shown[0]} more calls will be asked about later)" in questions[0]
    assert [amount for _, amount in bank.ran] == [*range(9)]


def test_a_refusal_of_one_part_is_none_of_the_next():
    bank = Bank()
    source = """
for n in range(8):
    try:
        transfer(amount=n, note='x' * 5000)
    except PermissionError:
        pass
"""
    _, questions = asked(bank, source, actions=["decline", "accept", "accept"])
    refused = questions[0].count("Run transfer?")
    assert [amount for _, amount in bank.ran] == [*range(refused, 8)]


# --- answers that come again ----------------------------------------------------------------------

SOURCE = {"source": "charge(1)\ntransfer(amount=2)"}


async def agree(_, params):
    del params
    return types.ElicitResult(action="accept")


def call(client, answers=None, state=None, arguments=None):
    return client.session.call_tool(
        "run_program",
        arguments or SOURCE,
        input_responses=answers,
        request_state=state,
        allow_input_required=True,
    )


def test_the_same_answer_again_gives_the_same_result_and_runs_nothing():
    bank = Bank()

    async def main():
        async with Client(bank.server(), elicitation_callback=agree) as client:
            state = (await call(client)).request_state
            return [(await call(client, AGREED, state)).content[0].text for _ in range(3)]

    assert anyio.run(main) == ["2"] * 3
    assert bank.ran == [("charge", 1), ("me", 2)]


@pytest.mark.parametrize(
    ("change", "arguments"),
    [
        (lambda _: None, None),
        (lambda _: "", None),
        (lambda _: "program_0:1:1:0", None),
        (lambda state: state, {"source": "charge(2)"}),
    ],
    ids=["without its state", "an empty state", "of no program", "of another program"],
)
def test_an_answer_to_no_open_question_runs_nothing(change, arguments):
    bank = Bank()

    async def main():
        async with Client(bank.server(), elicitation_callback=agree) as client:
            state = (await call(client)).request_state
            bank.ran.clear()
            return await call(client, AGREED, change(state), arguments)

    refused = anyio.run(main)
    assert refused.is_error
    assert "nothing was run" in refused.content[0].text
    assert bank.ran == []


def test_an_answer_after_a_restart_runs_nothing():
    bank = Bank()

    async def main():
        async with Client(bank.server(), elicitation_callback=agree) as client:
            state = (await call(client)).request_state
        bank.ran.clear()
        async with Client(bank.server(), elicitation_callback=agree) as client:
            return await call(client, AGREED, state)

    refused = anyio.run(main)
    assert "a restart of the server: nothing was run" in refused.content[0].text
    assert bank.ran == []


@both_protocols
def test_an_answer_to_a_program_that_was_forgotten_meanwhile_runs_nothing(mode):
    bank = Bank()

    async def main():
        made = bank.server(journal=Journal(most=1))

        async def another_one_runs(_, params):
            del params
            async with Client(made, mode=mode) as other:
                await other.call_tool("run_program", {"source": "1"})
            return types.ElicitResult(action="accept")

        async with Client(made, mode=mode, elicitation_callback=another_one_runs) as client:
            return await client.call_tool("run_program", SOURCE)

    refused = anyio.run(main)
    assert "nothing was run" in refused.content[0].text
    assert bank.ran == [("charge", 1)]


@pytest.mark.parametrize(
    ("answers", "change"),
    [
        (None, lambda state: state),
        (AGREED, lambda state: state.rpartition(":")[0] + ":0"),
        (AGREED, lambda state: state.replace(":1:", ":" + "9" * 9000 + ":")),
        (AGREED, lambda state: state.partition(":")[0]),
    ],
    ids=["no answer", "other definitions", "another number", "cut"],
)
def test_what_answers_another_question_gives_the_open_one_again(answers, change):
    bank = Bank()

    async def main():
        async with Client(bank.server(), elicitation_callback=agree) as client:
            first = await call(client)
            again = await call(client, answers, change(first.request_state))
            assert bank.ran == [("charge", 1)]
            return first, again, await call(client, AGREED, again.request_state)

    first, again, done = anyio.run(main)
    assert again == first
    assert done.content[0].text == "2"
    assert bank.ran == [("charge", 1), ("me", 2)]


def test_a_tool_behind_a_gateway_gets_no_answer_of_the_program():
    given = []

    async def tools(_, params=None):
        del params
        return types.ListToolsResult(tools=[types.Tool(name="program", input_schema={"type": "object"})])

    async def called(_, params):
        given.append((params.request_state, params.input_responses))
        return types.CallToolResult(content=[types.TextContent(type="text", text="ok")])

    @tool
    def pay(amount: int) -> int:
        """Pay."""
        return amount

    async def main():
        sources = {
            "run": behind(Server("run", on_list_tools=tools, on_call_tool=called)),
            "bank": ServerBehind(behind(server([pay])), confirm=True),
        }
        async with Gateway(sources) as gateway:
            executor = Executor(gateway.registry)
            front = gateway.server(Executor(program_tools(executor, CodeSession(executor, sandbox=Monty()))))
            async with Client(front, elicitation_callback=agree) as client:
                return await client.call_tool("run_program", {"source": "bank_pay(amount=1)\nrun_program()"})

    assert anyio.run(main).content[0].text == '"ok"'
    assert given == [(None, None)]


@pytest.mark.parametrize(
    ("prefix", "said"),
    [
        (
            "bnak_",
            '# No name of a tool begins with "bnak_": did you mean "bank_"? Names begin with "bank_", "other',
        ),
        ("bank_", "# No function fits these words."),
    ],
)
def test_a_search_with_an_unknown_prefix_is_told_which_there_are(prefix, said):
    @tool
    def charge(amount: int) -> int:
        """Take money."""
        return amount

    executor = Executor([charge.with_(name="bank_charge"), charge.with_(name="other_charge")])
    search, _ = program_tools(executor, CodeSession(executor, sandbox=Monty()))
    assert search({"query": "zebra", "prefix": prefix}).startswith(said)


class Dying:
    """A source for `Gateway`: a server that ends at its first call, and can't be started again."""

    def __init__(self, made, *, starts_again=False):
        self.made, self.is_dead, self.starts_again = made, False, starts_again

    def __call__(self):
        return self.connect()

    @asynccontextmanager
    async def connect(self):
        if self.is_dead and not self.starts_again:
            message = "swordfish: no such program"
            raise OSError(message)
        async with ending(self.made, "tools/call", self.ends) as streams:
            yield streams

    def ends(self):
        was_dead, self.is_dead = self.is_dead, True
        return not was_dead


def through_gateway(*calls, mode="auto", **sources):
    """Return the text of each call of `run_program` behind a gateway, or of the error of the protocol."""

    async def main():
        async with Gateway(sources) as gateway:
            executor = Executor(gateway.registry)
            session = CodeSession(executor, sandbox=Monty())
            app = gateway.server(Executor([*program_tools(executor, session), *gateway.registry]))
            async with Client(app, mode=mode, cache=None) as client:
                return [await text_of(client.call_tool(*call)) for call in calls]

    return anyio.run(main)


async def text_of(call):
    try:
        return (await call).content[0].text
    except MCPError as error:
        return f"MCPError: {error.message}"


def program(source):
    return "run_program", {"source": source}


@both_protocols
def test_a_program_reads_which_server_is_dead_and_what_to_do(mode):
    bank = Bank()
    source = "try:\n    shop_charge(1)\nexcept RuntimeError as error:\n    print(error)\nbank_charge(2)"
    dead, still_dead, alive, direct = through_gateway(
        program("shop_charge(1)"),
        program(source),
        program("bank_charge(3)"),
        ("shop_charge", {"amount": 1}),
        mode=mode,
        shop=Dying(server(bank.executor)),
        bank=behind(server(bank.executor)),
    )
    assert "RuntimeError: the server shop has closed its connection; another request opens it again" in dead
    lost = "the server shop can't be reached: try again later, or continue without its tools"
    assert still_dead.startswith(f"{lost}\n")
    assert direct == f"MCPError: {lost}"
    assert "swordfish" not in still_dead
    assert alive == '"3"'
    assert bank.ran == [("charge", 2), ("charge", 3)]


def test_a_program_reads_what_a_server_answers_by_an_error_as_its_client_would():
    async def fail(_ctx, _params):
        raise MCPError(-32050, "the till is closed")

    async def listed(_ctx, _params):
        shop = types.Tool(name="charge", input_schema={"type": "object"})
        return types.ListToolsResult(tools=[shop])

    shop = Server("shop", on_list_tools=listed, on_call_tool=fail)
    in_program, direct = through_gateway(program("shop_charge()"), ("shop_charge", {}), shop=behind(shop))
    assert "RuntimeError: the till is closed" in in_program
    assert direct == "MCPError: the till is closed"


def test_a_loop_without_a_client_reads_that_a_server_is_dead_and_no_error_of_its_own():
    async def fail(_ctx, _params):
        raise MCPError(-32050, "swordfish")

    async def listed(_ctx, _params):
        return types.ListToolsResult(tools=[types.Tool(name="charge", input_schema={"type": "object"})])

    shop = Server("shop", on_list_tools=listed, on_call_tool=fail)

    async def main():
        async with Gateway({"shop": behind(shop), "dead": Dying(server(Bank().executor))}) as gateway:
            executor = Executor(gateway.registry)
            calls = [RawCall("1", "shop_charge", {}), RawCall("2", "dead_charge", {"amount": 1})]
            return [(await executor.run(call)).content for call in calls]

    of_shop, of_dead = anyio.run(main)
    assert "swordfish" not in of_shop
    assert "the server dead has closed its connection" in of_dead
