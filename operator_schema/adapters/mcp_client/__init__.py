"""MCP: the tools of any server as tools of ours; needs the extra `mcp`."""

from __future__ import annotations

try:
    import mcp_types
except ModuleNotFoundError as error:
    if error.name != "mcp_types":
        raise
    message = "operator_schema.adapters.mcp_client needs mcp 2.1 or newer: pip install 'operator-schema[mcp]'"
    raise ModuleNotFoundError(message, name="mcp") from None

from .tools import ServerTools, tools_from

__all__ = ["ServerTools", "tools_from"]

del mcp_types
