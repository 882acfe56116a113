"""What a model reads after a wrong call, as several libraries say it."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from operator_schema import Executor, RawCall

if TYPE_CHECKING:
    from judge_mistakes import WrongCall

OURS, SHORT, PYDANTIC_AI, BARE = "ours", "ours without `send:`", "pydantic-ai", '"invalid arguments"'
TEXTS = (OURS, SHORT, PYDANTIC_AI, BARE)
SEND = "send: "


def our_text(call: WrongCall) -> str | None:
    """Return what our executor says; None if it ran the tool."""
    (result,) = Executor([call.task.tool]).run_sync([RawCall("c1", call.name, call.arguments)])
    return str(result.content) if result.is_error else None


def without_send(text: str) -> str:
    """Return a text without its last line if that is the corrected call."""
    before, _, last = text.rpartition("\n")
    return before if last.startswith(SEND) else text


def pydantic_ai_text(call: WrongCall) -> str | None:
    """Return what an agent of pydantic-ai says; None if it ran the tool."""
    from pydantic_ai import Agent, Tool
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    returned: list[ToolReturnPart] = []

    def model(messages, _):
        returned.extend(part for one in messages for part in one.parts if isinstance(part, ToolReturnPart))
        done, wrong = TextPart("done"), ToolCallPart(call.name, call.arguments)
        return ModelResponse(parts=[done if returned else wrong])

    agent = Agent(FunctionModel(model), tools=[Tool(call.task.function)], retries=1)
    agent.run_sync(call.task.question)
    return returned[0].model_response_str() if returned[0].outcome == "retried" else None


HAS_PYDANTIC_AI = importlib.util.find_spec("pydantic_ai") is not None


def texts_after(call: WrongCall) -> dict[str, str]:
    """Return each text after a wrong call, but those of libraries that aren't here or took it as it is."""
    ours = our_text(call)
    said = {
        OURS: ours,
        SHORT: without_send(ours) if ours is not None else None,
        PYDANTIC_AI: pydantic_ai_text(call) if HAS_PYDANTIC_AI else None,
        BARE: "invalid arguments",
    }
    return {name: text for name, text in said.items() if text is not None}
