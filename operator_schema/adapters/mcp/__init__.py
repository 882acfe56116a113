"""MCP: tools as a server, or as the two handlers for your own server; needs the extra `mcp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    import mcp_types
except ModuleNotFoundError as error:
    if error.name != "mcp_types":
        raise
    message = "operator_schema.adapters.mcp needs mcp 2.1 or newer: pip install 'operator-schema[mcp]'"
    raise ModuleNotFoundError(message, name="mcp") from None

from ...lazy import lazy_names

if TYPE_CHECKING:
    from .code_mode import program_tools as program_tools
    from .gateway_chain import gateways_above as gateways_above
    from .gateway_chain import note_gateways_above as note_gateways_above
    from .gateway_chain import started_below as started_below
    from .http import Address as Address
    from .http import serve_http as serve_http
    from .resources_and_prompts import read_prompts as read_prompts
    from .resources_and_prompts import read_resources as read_resources
    from .stdio import opening_request as opening_request
    from .stdio import serve as serve
    from .stdio import serve_stdio as serve_stdio
    from .stdio import taken_streams as taken_streams
    from .tool_server import Handlers as Handlers
    from .tool_server import handlers as handlers
    from .tool_server import server as server
    from .tool_server import server_of as server_of
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            ".code_mode": "program_tools",
            ".gateway_chain": "gateways_above note_gateways_above started_below",
            ".http": "Address serve_http",
            ".resources_and_prompts": "read_prompts read_resources",
            ".stdio": "opening_request serve serve_stdio taken_streams",
            ".tool_server": "Handlers handlers server server_of",
        },
    )

del mcp_types
