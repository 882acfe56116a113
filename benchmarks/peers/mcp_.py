"""mcp (the Python SDK): functions alone."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver.utilities.func_metadata import func_metadata


def function_schema(function: Any) -> dict[str, Any]:
    return func_metadata(function, structured_output=False).arg_model.model_json_schema()
