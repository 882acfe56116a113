"""What a model reads after a wrong call, as several libraries say it."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from judge_mistakes import WrongCall
from judge_tasks import tasks_in

from operator_schema import Executor, RawCall

OURS, EARLIER, SHORT = "ours", "ours before", "ours without `send:`"
PYDANTIC_AI, BARE = "pydantic-ai", '"invalid arguments"'
TEXTS = (OURS, EARLIER, SHORT, PYDANTIC_AI, BARE)
SEND = "send: "


def our_text(call: WrongCall) -> str | None:
    """Return what our executor says; None if it ran the tool."""
    (result,) = Executor([call.task.tool]).run_sync([RawCall("c1", call.name, call.arguments)])
    return str(result.content) if result.is_error else None


def earlier_texts(checkout: Path, data: Path, calls: list[WrongCall]) -> list[str | None]:
    """Return what our executor of another checkout says after each call; None where it ran the tool.

    Args:
        checkout: a folder that has the package.
        data: the wheel of `bfcl-eval` that the tasks are from.
        calls: the wrong calls.
    """
    sent = json.dumps([[call.task.id, call.name, call.arguments] for call in calls])
    command = [sys.executable, __file__, str(data)]
    paths = {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(command, input=sent, env=paths, stdout=subprocess.PIPE, text=True, check=True)
    texts: list[str | None] = json.loads(done.stdout)
    return texts


def _texts(data: Path, calls: list[Any]) -> list[str | None]:
    tasks = {task.id: task for task in tasks_in(data)}
    return [
        our_text(WrongCall(tasks[number], (), name, arguments)) if number in tasks else None
        for number, name, arguments in calls
    ]


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


def texts_after(call: WrongCall, earlier: str | None = None) -> dict[str, str]:
    """Return each text after a wrong call, but those of libraries that aren't here or took it as it is.

    Args:
        call: the wrong call.
        earlier: what another version of ours says.
    """
    ours = our_text(call)
    said = {
        OURS: ours,
        EARLIER: earlier,
        SHORT: without_send(ours) if ours is not None else None,
        PYDANTIC_AI: pydantic_ai_text(call) if HAS_PYDANTIC_AI else None,
        BARE: "invalid arguments",
    }
    return {name: text for name, text in said.items() if text is not None}


if __name__ == "__main__":
    json.dump(_texts(Path(sys.argv[1]), json.load(sys.stdin)), sys.stdout)
