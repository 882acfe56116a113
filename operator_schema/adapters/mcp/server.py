"""How do tools become a server?"""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.lowlevel.server import NotificationOptions, Server

from ...tools.registry import Registry
from .handlers import handlers

if TYPE_CHECKING:
    from mcp.server.models import InitializationOptions

    from ...tools.execution.executor import Executor
    from .described import Structured
    from .handlers import Context, Handlers, Tools

__all__ = ["ToolServer", "server", "server_of"]


_CHECKS_HEADERS = "get_tool_input_schema" in signature(Server).parameters
"""Whether the SDK asks for a schema, to compare headers with the arguments that they repeat.

Before 2.3 it lists all tools for that.
"""


class ToolServer(Server[Any]):
    """A server that says to clients before 2026-07-28 that its tools may change."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Return what a client gets in the handshake."""
        said = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(said, experimental_capabilities, extensions)


def server(
    tools: Tools,
    /,
    *,
    name: str = "operator-schema",
    version: str = "",
    instructions: str | None = None,
    context: Context | None = None,
    executor: Executor | None = None,
    structured: Structured = "objects",
    confirm: bool = True,
    page_size: int | None = None,
    logger: str | None = None,
    **native: Any,
) -> Server[Any]:
    """Make a low-level MCP `Server` that offers tools.

    It speaks every version of the protocol that the package `mcp` speaks, over every transport.

    Args:
        tools: what is offered: a registry, which may change later, a toolset, or any iterable of tools.
        name: of the server, for people and logs.
        version: of the server; empty if it has none.
        instructions: what the model is to know about the server as a whole.
        context: as for `handlers`.
        executor: as for `handlers`.
        structured: as for `handlers`.
        confirm: as for `handlers`.
        page_size: as for `handlers`.
        logger: as for `handlers`.
        native: what else `mcp.server.lowlevel.Server` takes, such as `title`, `icons`, `lifespan`,
            `on_list_prompts`.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: an argument is of another kind.
        ValueError: an argument is out of range, or the executor has other tools.
    """
    own = handlers(
        tools,
        context=context,
        executor=executor,
        structured=structured,
        confirm=confirm,
        page_size=page_size,
        logger=logger,
    )
    may_change = isinstance(tools, Registry)
    return server_of(own, name, may_change=may_change, version=version, instructions=instructions, **native)


def server_of(own: Handlers, name: str, *, may_change: bool, **native: Any) -> Server[Any]:
    """Make a server of handlers.

    Args:
        own: the handlers.
        name: of the server.
        may_change: whether the server announces that it reports changes.
        native: what `Server` takes.
    """
    options: dict[str, Any] = {
        "on_list_tools": own.list_tools,
        "on_call_tool": own.call_tool,
        **({"get_tool_input_schema": own.input_schema} if _CHECKS_HEADERS else {}),
        **({"on_subscriptions_listen": own.listen} if may_change else {}),
        **native,
    }
    made: Server[Any] = ToolServer(name, **options) if may_change else Server(name, **options)
    if may_change:
        made.add_notification_handler("notifications/initialized", types.NotificationParams, own.initialized)
    if own.log is not None:
        # Not by the constructor, which warns: the protocol gives this up in 2026-07-28.
        made.add_request_handler("logging/setLevel", types.SetLevelRequestParams, own.log.set_level)
    return made
