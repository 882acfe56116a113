"""strands: our tools in its agent, with a model that says what the test wants."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any

from strands import Agent, ToolContext
from strands.interrupt import InterruptException
from strands.models.model import Model
from strands.types._events import ToolResultEvent
from strands.types.tools import AgentTool

from operator_schema import Executor, Image, RawCall, Registry, Text, skip, tool

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


def content_of(part):
    match part:
        case Text():
            return {"text": part.text}
        case Image():
            return {
                "image": {"format": part.media_type.removeprefix("image/"), "source": {"bytes": part.data}}
            }
        case _:
            raise NotImplementedError(type(part))


class OperatorTool(AgentTool):
    def __init__(self, made, executor):
        super().__init__()
        self.made, self.executor = made, executor

    @property
    def tool_name(self):
        return self.made.name

    @property
    def tool_type(self):
        return "operator"

    @property
    def tool_spec(self):
        schema = self.made.input_schema(inline=True, boolean_schemas=False, empty_schemas=False)
        description = self.made.definition()["description"]
        return {"name": self.made.name, "description": description, "inputSchema": {"json": schema}}

    async def stream(self, tool_use, invocation_state, **kwargs):
        context = {
            ToolContext: ToolContext(tool_use, invocation_state["agent"], invocation_state),
            **{type(value): value for value in invocation_state.get("context", ())},
        }
        call = RawCall(tool_use["toolUseId"], self.made.name, tool_use["input"])
        result = await self.executor.execute(call, context=context)
        content = [content_of(part) for part in result.parts]
        if not result.is_error and isinstance(result.json, dict) and isinstance(result.parts[0], Text):
            content = [{"json": result.json}]
        status = "error" if result.is_error else "success"
        yield ToolResultEvent({"toolUseId": result.call_id, "status": status, "content": content})


class Scripted(Model):
    """A model that makes one call after another, and then says "done"."""

    def __init__(self, *calls):
        self.calls = list(calls)
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
        if self.calls:
            name, arguments = self.calls.pop(0)
            use = {"toolUseId": f"t{len(self.seen)}", "name": name}
            yield {"contentBlockStart": {"start": {"toolUse": use}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(arguments)}}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "tool_use"}}
        else:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": "done"}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn"}}


def agent_with(*tools, calls=()):
    executor = Executor(Registry(tools), pass_through=(InterruptException,))
    model = Scripted(*calls)
    made = [OperatorTool(one, executor) for one in tools]
    return Agent(model=model, tools=made, callback_handler=None), model


def run(tools, *calls, **state):
    """Return the results of the calls, as the model gets them."""
    agent, _ = agent_with(*tools, calls=calls)
    end = agent("go", invocation_state=state)
    assert end.message["content"][0]["text"] == "done"
    blocks = [block for message in agent.messages for block in message["content"]]
    return [block["toolResult"] for block in blocks if "toolResult" in block]


def test_a_json_value_arrives_as_one():
    @tool
    def find(word: str, limit: int = 3) -> dict[str, int]:
        """Find.

        Args:
            word: What.
            limit: How many.
        """
        return {word: limit}

    (result,) = run([find], ("find", {"word": "a"}))
    assert result["status"] == "success"
    assert result["content"] == [{"json": {"a": 3}}]


def test_errors_are_told_in_our_words():
    @tool
    def find(word: str) -> int:
        """Find.

        Args:
            word: What.
        """
        return 1

    (result,) = run([find], ("find", {"word": 1}))
    assert result["status"] == "error"
    assert result["content"][0]["text"].startswith("find: 1 problem with the arguments")


def test_an_image_arrives_as_a_block():
    @tool
    def look() -> Any:
        """Look."""
        return ["Here:", Image.from_bytes(PNG)]

    (result,) = run([look], ("look", {}))
    assert result["content"] == [{"text": "Here:"}, {"image": {"format": "png", "source": {"bytes": PNG}}}]


@dataclass
class Db:
    rows: int


def test_the_context_of_the_call_is_found():
    @tool
    async def count(ctx: Annotated[ToolContext, skip], db: Annotated[Db, skip]) -> list[Any]:
        """Count."""
        return [ctx.tool_use["name"], db.rows]

    (result,) = run([count], ("count", {}), context=[Db(7)])
    assert result["content"] == [{"text": '["count",7]'}]


def test_an_interrupt_asks_a_human_and_the_answer_comes_back():
    done = []

    @tool
    def pay(amount: int, ctx: Annotated[ToolContext, skip]) -> str:
        """Pay.

        Args:
            amount: How much.
        """
        answer = ctx.interrupt("approval", reason=f"pay {amount}?")
        done.append(answer)
        return f"paid: {answer}"

    agent, _ = agent_with(pay, calls=[("pay", {"amount": 5})])
    asked = agent("go")
    assert asked.stop_reason == "interrupt"
    (interrupt,) = asked.interrupts
    assert interrupt.reason == "pay 5?"
    assert done == []
    end = agent([{"interruptResponse": {"interruptId": interrupt.id, "response": "yes"}}])
    assert end.message["content"][0]["text"] == "done"
    assert done == ["yes"]


def test_a_schema_without_definitions_booleans_and_empty_ones_reaches_the_model():
    @dataclass
    class Line:
        start: tuple[int, str]
        extra: Any

    @tool
    def draw(line: Line, anything: object = None) -> int:
        """Draw.

        Args:
            line: A line.
            anything: Anything.
        """
        return 1

    agent, model = agent_with(draw)
    agent("go")
    shown = model.seen[0][0]["inputSchema"]["json"]
    ours = draw.input_schema(inline=True, boolean_schemas=False, empty_schemas=False)
    assert without_made_up_descriptions(shown) == ours


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
