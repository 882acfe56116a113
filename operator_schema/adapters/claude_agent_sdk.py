"""claude-agent-sdk: our tools in the process of its agent; needs the extra `claude-agent-sdk`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .base import needing, registry_of

with needing("claude_agent_sdk", "claude-agent-sdk 0.2.187 or newer", "claude-agent-sdk"):
    from claude_agent_sdk import McpSdkServerConfig

from ..lazy import answer_misnamed
from ..message_text import received
from .mcp.tool_server import server

if TYPE_CHECKING:
    from ..execution import Executor
    from ..rounds import Registry
    from .base import Tools
    from .runner import Context

__all__ = ["allowed_tools", "to_server"]

answer_misnamed(__name__)

_NAME = "tools"


def to_server(
    tools: Tools,
    /,
    *,
    name: str = _NAME,
    context: Context | None = None,
    executor: Executor | None = None,
    **native: Any,
) -> Any:
    """Return tools as a server for `mcp_servers` of `ClaudeAgentOptions`; it runs in this process.

    Claude Code asks a person about every tool that isn't in its `allowed_tools`, so tools with `confirm=True`
    run when it calls them. Make server and `allowed_tools` at the same time: if a registry later replaces an
    allowed tool by one with `confirm=True`, the new tool doesn't run, because nobody was asked. With the
    argument `confirm=True`, the server asks too.

    Args:
        tools: a registry, a toolset, or any iterable of tools. Claude Code lists them once for each query.
        name: its key in `mcp_servers`; the model reads `mcp__NAME__TOOL`.
        context: the values that your program injects, by type or by name; or a plain function that takes the
            `ServerRequestContext` of a call and returns them.
        executor: an executor to run the calls, for limits of your own; its registry must have these tools.
        native: options of `operator_schema.adapters.mcp.server`: `version`, `structured`, `instructions`, …

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: an argument has the wrong type.
        ValueError: the name can't be part of the name of a tool, or the executor has other tools.
    """
    made = server(
        tools, name=_checked(name), context=context, executor=executor, **{"confirm": False, **native}
    )
    made.handlers.unasked = frozenset(_without_confirm(made.handlers.executor.registry))
    return McpSdkServerConfig(type="sdk", name=name, instance=made)


def allowed_tools(tools: Tools, /, *, name: str = _NAME) -> list[str]:
    """List the names that the model reads, for `allowed_tools` of `ClaudeAgentOptions`.

    Claude Code runs these without asking. Tools with `confirm=True` are left out, so that it asks about them.

    Args:
        tools: a registry, a toolset, or any iterable of tools; those that are switched off are left out too.
        name: name of the server.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: an argument has the wrong type.
        ValueError: the name can't be part of the name of a tool.
    """
    return [f"mcp__{_checked(name)}__{tool}" for tool in _without_confirm(registry_of(tools))]


def _without_confirm(registry: Registry) -> list[str]:
    return [tool.name for tool in registry.offered() if not tool.annotations.confirm]


def _checked(name: Any) -> str:
    if not isinstance(name, str):
        message = f"the name of the server must be a string, not {received(name)}"
        raise TypeError(message)
    if not name or not all(letter.isascii() and (letter.isalnum() or letter in "_-") for letter in name):
        message = (
            f"the name of the server has letters, digits, _ and - alone: the model reads mcp__{name}__TOOL"
        )
        raise ValueError(message)
    return name
