"""openai-agents: function tools over ours, in its runner, with a model that says what the test wants."""

from __future__ import annotations

import asyncio
import base64
import json
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from agents import (
    Agent,
    Model,
    ModelResponse,
    RunConfig,
    RunContextWrapper,
    Runner,
    ToolOutputImage,
    ToolOutputText,
    Usage,
)
from agents.tool_context import ToolContext
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from operator_schema import skip, tool
from operator_schema.adapters.openai_agents import to_tools
from operator_schema.content import Image

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


class Scripted(Model):
    """A model that makes one call after another, and then says "done"."""

    def __init__(self, *calls):
        self.calls = list(calls)
        self.inputs = []
        self.tools = []

    async def get_response(self, system_instructions, input, model_settings, tools, *args, **kwargs):  # noqa: A002  # its name there
        self.inputs.append(input)
        self.tools.append(tools)
        if self.calls:
            name, arguments = self.calls.pop(0)
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            said = ResponseFunctionToolCall(
                type="function_call", call_id=f"call_{len(self.inputs)}", name=name, arguments=text
            )
        else:
            text = ResponseOutputText(type="output_text", text="done", annotations=[])
            said = ResponseOutputMessage(
                id="1", type="message", role="assistant", status="completed", content=[text]
            )
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


def agent_with(*tools, calls=()):
    model = Scripted(*calls)
    return Agent(name="a", model=model, tools=to_tools(tools)), model


def run(tools, *calls, context=None):
    """Return the outputs of the calls, as the model gets them."""
    agent, model = agent_with(*tools, calls=calls)
    config = RunConfig(tracing_disabled=True)
    result = asyncio.run(Runner.run(agent, "go", context=context, run_config=config))
    assert result.final_output == "done"
    return [item["output"] for item in model.inputs[-1] if item.get("type") == "function_call_output"]


@dataclass
class Db:
    rows: dict[str, int]


@pytest.mark.parametrize("kind", [RunContextWrapper[Db], ToolContext[Db], RunContextWrapper, ToolContext])
def test_the_context_of_the_run_is_found_generic_or_plain(kind):
    @tool
    async def count(name: str, ctx: Annotated[kind, skip], db: Annotated[Db, skip]) -> list[Any]:
        """Count.

        Args:
            name: What.
        """
        return [ctx.context.rows[name], ctx.context is db, type(ctx).__name__]

    assert run([count], ("count", {"name": "x"}), context=Db({"x": 7})) == ['[7,true,"ToolContext"]']


def test_their_images_arrive_untouched():
    image = ToolOutputImage(image_url="https://example.com/a.png", detail="low")

    @tool
    def look() -> Any:
        """Look."""
        return image

    @tool
    async def compare() -> Any:
        """Compare."""
        return [ToolOutputText(text="Two:"), image, image]

    one, three = run([look, compare], ("look", {}), ("compare", {}))
    shown = {"type": "input_image", "image_url": "https://example.com/a.png", "detail": "low"}
    assert one == [shown]
    assert three == [{"type": "input_text", "text": "Two:"}, shown, shown]


def test_our_images_arrive_as_theirs():
    @tool
    def look() -> list[Any]:
        """Look."""
        return ["Here:", Image.from_bytes(PNG)]

    ((text, image),) = run([look], ("look", {}))
    assert text == {"type": "input_text", "text": "Here:"}
    assert base64.b64decode(image["image_url"].removeprefix("data:image/png;base64,")) == PNG


def test_the_model_reads_our_errors_and_the_run_goes_on():
    @tool
    def add(a: int, b: int = 0) -> int:
        """Add.

        Args:
            a: One.
            b: Another.
        """
        return a // b

    wrong, broken, failed = run([add], ("add", {"a": "x", "b": "y"}), ("add", '{"a": 1'), ("add", {"a": 1}))
    assert wrong.startswith("add: 2 problems with the arguments")
    assert "the text ends early" in broken
    assert failed == "add failed: ZeroDivisionError"


def test_the_model_gets_our_schema_as_it_is():
    @tool
    def find(words: dict[str, int], limit: int | None = None) -> int:
        """Find.

        Args:
            words: What.
            limit: How many.
        """
        return len(words)

    agent, model = agent_with(find)
    asyncio.run(Runner.run(agent, "go", run_config=RunConfig(tracing_disabled=True)))
    assert model.tools[0][0].params_json_schema == find.input_schema()


def test_a_tool_that_is_switched_off_is_not_offered():
    @tool(enabled=False)
    def find() -> int:
        """Find."""
        return 1

    agent, model = agent_with(find)
    asyncio.run(Runner.run(agent, "go", run_config=RunConfig(tracing_disabled=True)))
    assert model.tools == [[]]


@pytest.mark.parametrize(("rows", "offered"), [({}, []), ({"x": 1}, ["find"])])
def test_a_switch_may_look_at_the_context_of_the_run(rows, offered):
    @tool(enabled=lambda context: bool(context[Db].rows))
    def find(db: Annotated[Db, skip]) -> int:
        """Find."""
        return len(db.rows)

    agent, model = agent_with(find)
    run_config = RunConfig(tracing_disabled=True)
    asyncio.run(Runner.run(agent, "go", context=Db(rows), run_config=run_config))
    assert [[one.name for one in tools] for tools in model.tools] == [offered]


def test_a_tool_marked_for_confirmation_waits_for_a_human():
    done = []

    @tool(confirm=True)
    def delete(name: str) -> str:
        """Delete.

        Args:
            name: What to delete.
        """
        done.append(name)
        return "deleted"

    agent, _ = agent_with(delete, calls=[("delete", {"name": "x"})])

    async def main():
        config = RunConfig(tracing_disabled=True)
        asked = await Runner.run(agent, "go", run_config=config)
        (interruption,) = asked.interruptions
        assert done == []
        state = asked.to_state()
        state.approve(interruption)
        return await Runner.run(agent, state, run_config=config)

    assert asyncio.run(main()).final_output == "done"
    assert done == ["x"]


def test_cancelling_the_run_cancels_the_tool():
    ended = []
    started = asyncio.Event()

    @tool
    async def hang() -> None:
        """Hang."""
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    agent, _ = agent_with(hang, calls=[("hang", {})])

    async def main():
        running = asyncio.create_task(Runner.run(agent, "go", run_config=RunConfig(tracing_disabled=True)))
        await started.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(main())
    assert ended == [True]
