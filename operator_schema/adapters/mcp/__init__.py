"""MCP: tools as a server, or as the two handlers for your own server; needs the extra `mcp`."""

from __future__ import annotations

try:
    import mcp_types
except ModuleNotFoundError as error:
    if error.name != "mcp_types":
        raise
    message = "operator_schema.adapters.mcp needs mcp 2.1 or newer: pip install 'operator-schema[mcp]'"
    raise ModuleNotFoundError(message, name="mcp") from None

from ...lazy import answer_misnamed
from .server import Handlers, handlers, server
from .stdio import serve

__all__ = ["Handlers", "handlers", "serve", "server"]

answer_misnamed(__name__)

del mcp_types
