"""strands-agents: our tools in its agent, with a model that says what the test wants."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
import strands
from contract import *  # noqa: F403  # what every adapter promises
from contract import Driver, nothing
from patience import cancelled_once, until
from strands import Agent, ToolContext
from strands.models.model import Model
from strands.session.file_session_manager import FileSessionManager
from turn_table import run_section
from turns import CALLS, OURS, PNG, TOOLS, Answer, Call, check_schemas, wipe

from operator_schema import Executor, RunNormally, skip, tool
from operator_schema.adapters import strands_agents as adapter
from operator_schema.adapters.strands_agents import to_tool, to_tools
from operator_schema.content import File

TURNS = {
    "good": OURS,
    "problems": OURS,
    "malformed": "the arguments become {}, of which our text says what is missing",
    "unknown": "its own text: Unknown tool: ad",
    "call_error": OURS,
    "exception": OURS,
    "parallel": OURS,
    "context": OURS,
    "cancelled": OURS,
    "rich": OURS,
    "approval": "asks, by an interrupt",
}
SCHEMA = "it writes a description where there is none, and a type where there is none"


class Scripted(Model):
    """A model that makes calls, and then says "done"."""

    def __init__(self, *calls):
        self.calls = calls
        self.seen = []

    def update_config(self, **model_config):
        raise NotImplementedError

    def get_config(self):
        return {}

    def structured_output(self, *args, **kwargs):
        raise NotImplementedError

    async def stream(self, messages, tool_specs=None, system_prompt=None, **kwargs):
        self.seen.append(tool_specs)
        yield {"messageStart": {"role": "assistant"}}
        calls, self.calls = self.calls, ()
        for number, (name, arguments) in enumerate(calls):
            use = {"toolUseId": f"t{number}", "name": name}
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            yield {"contentBlockStart": {"start": {"toolUse": use}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": text}}}}
            yield {"contentBlockStop": {}}
        if calls:
            yield {"messageStop": {"stopReason": "tool_use"}}
        else:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": "done"}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn"}}


def results_of(tools, calls, **state):
    """Return the results of the calls, as the model gets them."""
    agent = Agent(model=Scripted(*calls), tools=tools, callback_handler=None)
    end = agent("go", invocation_state=state)
    assert end.message["content"][0]["text"] == "done"
    blocks = [block for message in agent.messages for block in message["content"]]
    return [block["toolResult"] for block in blocks if "toolResult" in block]


def answer_of(result):
    told = [part.get("text", "") or json.dumps(part.get("json", "")) for part in result["content"]]
    return Answer(
        "\n".join(told), result["status"] == "error", any("image" in part for part in result["content"])
    )


def turn_of(tools, calls, _is_async, **options):
    return [answer_of(one) for one in results_of(to_tools(tools, **options), calls)]


def ask(tools, agrees, meanwhile=nothing):
    agent = Agent(model=Scripted(*CALLS["approval"]), tools=to_tools(tools), callback_handler=None)
    (interrupt,) = agent("go").interrupts
    meanwhile()
    agent([{"interruptResponse": {"interruptId": interrupt.id, "response": agrees}}])
    blocks = [block for message in agent.messages for block in message["content"]]
    return [answer_of(block["toolResult"]) for block in blocks if "toolResult" in block]


def agent_in_file(called, folder, *calls):
    manager = FileSessionManager(session_id="s", storage_dir=str(folder))
    model, tools = Scripted(*calls), to_tools([called])
    return Agent(agent_id="a", model=model, tools=tools, callback_handler=None, session_manager=manager)


def pause(called, call, folder):
    (interrupt,) = agent_in_file(called, folder, call)("go").interrupts
    (folder / "id").write_text(interrupt.id)
    return interrupt.reason["question"], ""


def resume(called, _call, folder):
    agent = agent_in_file(called, folder)
    answer = {"interruptId": (folder / "id").read_text(), "response": "yes"}
    end = agent([{"interruptResponse": answer}])
    if end.stop_reason == "interrupt":
        return end.interrupts[0].reason["question"]
    blocks = [block for message in agent.messages for block in message["content"]]
    (text,) = [answer_of(block["toolResult"]).text for block in blocks if "toolResult" in block]
    return text


DRIVER = Driver(
    adapter,
    TURNS,
    turn_of,
    host=ToolContext,
    names=lambda made: [one.tool_name for one in made],
    ask=ask,
    pause=pause,
    resume=resume,
)


def test_what_is_no_call_is_told_otherwise():
    (malformed,) = results_of(to_tools(TOOLS), CALLS["malformed"])
    assert "a: missing (integer, required)" in answer_of(malformed).text
    (unknown,) = results_of(to_tools(TOOLS), CALLS["unknown"])
    assert "Unknown tool: ad" in answer_of(unknown).text
    assert unknown["status"] == "error"


def test_cancelling_the_run_cancels_the_tool():
    begun, ended = [], []

    @tool
    async def wait() -> int:
        """Wait."""
        begun.append(True)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append(True)
            raise
        return 1

    async def main():
        agent = Agent(model=Scripted(Call("wait", {})), tools=[to_tool(wait)], callback_handler=None)
        await cancelled_once(begun, agent.invoke_async("go"))
        await until(lambda: ended)

    asyncio.run(main())
    assert ended == [True]


def test_an_object_arrives_as_one():
    @tool
    def find(word: str, limit: int = 3) -> dict[str, int]:
        """Find.

        Args:
            word: What.
            limit: How many.
        """
        return {word: limit}

    (result,) = results_of([to_tool(find)], [Call("find", {"word": "a"})])
    assert result["content"] == [{"json": {"a": 3}}]


def test_media_that_it_has_no_block_for_are_text():
    @tool
    def read() -> File:
        """Read."""
        return File(b"plain", "text/plain", "a.txt")

    (result,) = results_of([to_tool(read)], [Call("read", {})])
    assert result["content"] == [{"text": "[file a.txt text/plain, 5 bytes]"}]
    (seen,) = results_of(to_tools(TOOLS), [Call("look", {})])
    assert seen["content"][1] == {"image": {"format": "png", "source": {"bytes": PNG}}}


@dataclass
class Rows:
    number: int


def test_the_context_of_the_call_is_found():
    @tool
    async def count(ctx: ToolContext, rows: Annotated[Rows, skip]) -> list[Any]:
        """Count."""
        return [ctx.tool_use["name"], rows.number, ctx.cancel_signal.is_set()]

    (result,) = results_of([to_tool(count)], [Call("count", {})], rows=Rows(7))
    assert result["content"] == [{"text": '["count",7,false]'}]


def test_an_interrupt_asks_a_human_and_the_answer_comes_back():
    done = []

    @tool
    def pay(amount: int, ctx: ToolContext) -> str:
        """Pay.

        Args:
            amount: How much.
        """
        answer = ctx.interrupt("approval", reason=f"pay {amount}?")
        done.append(answer)
        return f"paid: {answer}"

    model = Scripted(Call("pay", {"amount": 5}))
    agent = Agent(model=model, tools=[to_tool(pay)], callback_handler=None)
    asked = agent("go")
    assert asked.stop_reason == "interrupt"
    (interrupt,) = asked.interrupts
    assert interrupt.reason == "pay 5?"
    assert done == []
    end = agent([{"interruptResponse": {"interruptId": interrupt.id, "response": "yes"}}])
    assert end.message["content"][0]["text"] == "done"
    assert done == ["yes"]


def test_the_schema_on_the_wire_is_ours_but_for_descriptions_that_it_makes():
    @dataclass
    class Line:
        start: tuple[int, str]
        extra: Any

    @tool(read_only=True)
    def draw(line: Line, anything: object = None) -> int:
        """Draw.

        Args:
            line: A line.
            anything: Anything.
        """
        return 1

    model = Scripted()
    Agent(model=model, tools=[to_tool(draw)], callback_handler=None)("go")
    (shown,) = model.seen[0]
    ours = draw.input_schema(inline=True, boolean_schemas=False, empty_schemas=False)
    assert without_made_up_descriptions(shown["inputSchema"]["json"]) == ours
    assert shown["annotations"] == {"readOnlyHint": True}
    Agent(model=model, tools=to_tools(TOOLS), callback_handler=None)("go")
    check_schemas(SCHEMA, {one["name"]: one["inputSchema"]["json"] for one in model.seen[-1]})


def without_made_up_descriptions(schema):
    """Return a schema without what the framework writes where it finds no description."""
    match schema:
        case dict():
            kept = {k: without_made_up_descriptions(v) for k, v in schema.items()}
            if str(kept.get("description", "")).startswith("Property "):
                del kept["description"]
            return kept
        case list():
            return [without_made_up_descriptions(item) for item in schema]
        case _:
            return schema


def test_a_tool_given_to_its_decorator_is_taken_for_a_function():
    # When this fails, the page about frameworks may say what it says instead.
    assert strands.tool(TOOLS[0]).tool_name == "add"


def test_the_example_of_the_page_works():
    names = run_section("strands-agents")
    (result,) = results_of(names["tools"], [Call("weather", {"city": "Rome"})])
    assert result["content"] == [{"json": {"degrees": 20}}]


@pytest.mark.parametrize(("answer", "is_agreed"), [("yes", True), ("no", False), (True, True), ("", False)])
def test_a_tool_that_needs_a_person_interrupts_the_agent(answer, is_agreed):
    ran = []

    @tool(confirm=True)
    def delete(path: str) -> str:
        """Delete.

        Args:
            path: Which file.
        """
        ran.append(path)
        return f"{path} is gone"

    agent = Agent(
        model=Scripted(Call("delete", {"path": "a"})), tools=to_tools([delete]), callback_handler=None
    )
    (interrupt,) = agent("go").interrupts
    assert interrupt.reason["question"] == 'Run delete?\npath: "a"'
    assert (interrupt.reason["tool"], interrupt.reason["arguments"]) == ("delete", {"path": "a"})
    assert ran == []
    agent([{"interruptResponse": {"interruptId": interrupt.id, "response": answer}}])
    assert ran == (["a"] if is_agreed else [])


def test_an_answer_about_other_arguments_doesnt_count(wiped):
    paths = ["b", "c", "c"]  # what a hook makes of the arguments, each time that the call comes
    executor = Executor([wipe], hooks=lambda call: RunNormally(call.tool.decode({"path": paths.pop(0)})))
    agent = Agent(model=Scripted(*CALLS["approval"]), tools=to_tools(executor), callback_handler=None)
    end, read = agent("go"), []
    while end.stop_reason == "interrupt":
        (interrupt,) = end.interrupts
        read.append(interrupt.reason["arguments"])
        end = agent([{"interruptResponse": {"interruptId": interrupt.id, "response": "yes"}}])
    assert read == [{"path": "b"}, {"path": "c"}]
    assert wiped == ["c"]
