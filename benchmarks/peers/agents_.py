"""openai-agents: functions alone."""

from __future__ import annotations

from typing import Any

from agents.function_schema import function_schema as made


def function_schema(function: Any) -> dict[str, Any]:
    # strict_json_schema refuses `dict[str, str]`
    return made(function, strict_json_schema=False).params_json_schema
