"""The inspected subject: tools, maybe of an MCP server, what runs them, and the kept calls."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

from ... import Registry
from ...errors import ToolNotFoundError
from ...execution import Executor
from ...immutable import Value
from ...message_text import nearest
from ...rounds import Store, Toolset
from ..lint import lint
from .call_logs import TriedCalls

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence
    from pathlib import Path

    from ...findings import Finding
    from ...tools import Tool

__all__ = ["Inspector", "Subject", "UnknownToolError", "server_tools", "subject_of"]


class UnknownToolError(LookupError):
    """No tool has this name; the text says which was probably meant."""


class Subject(Value):
    """The tools as they are now; a reload makes another one.

    Attributes:
        name: as the user wrote it.
        toolset: the toolset with the tools, for rounds.
        executor: runs the calls.
        findings: of `lint`, without those of providers.
        context: what is injected into the functions; None for what the executor has.
        is_foreign: whether the tools run on somebody else's server, which may do more than it says.
        notes: what has to be known about the tools as a whole, one line each.
    """

    name: str
    toolset: Toolset[Any]
    executor: Executor
    findings: tuple[Finding, ...]
    context: Mapping[Any, Any] | None = None
    is_foreign: bool = False
    notes: tuple[str, ...] = ()

    @property
    def tools(self) -> list[Tool[..., Any]]:
        """The tools in their order, also those that are switched off."""
        return list(self.executor.registry)

    def tool(self, name: str) -> Tool[..., Any]:
        """Return a tool by its name.

        Raises:
            UnknownToolError: there is none.
        """
        registry = self.executor.registry
        try:
            return registry[name]
        except ToolNotFoundError:
            near = nearest(name, [tool.name for tool in registry])
            message = f"there is no tool {name!r}" + (f"; did you mean {near}?" if near else "")
            raise UnknownToolError(message) from None

    def findings_of(self, name: str) -> list[Finding]:
        """List what `lint` says of a tool; of an empty name, what it says of all tools together."""
        return [finding for finding in self.findings if (finding.tool or "") == name]


def subject_of(
    name: str,
    offered: Any,
    *,
    context: Mapping[Any, Any] | None = None,
    is_foreign: bool = False,
    notes: tuple[str, ...] = (),
    timeout: float | None = 30.0,
) -> Subject:
    """Make a subject of tools.

    Args:
        name: shown on the page.
        offered: a registry, a toolset, a list of tools, or an executor, whose rules then hold.
        context: what is injected into the functions.
        is_foreign: as for `Subject`.
        notes: as for `Subject`.
        timeout: seconds that a call may take, where no executor is given.

    Raises:
        DuplicateToolError: two tools have the same name.
        ValueError: an option is out of range.
    """
    if isinstance(offered, Executor):
        executor = offered
        toolset: Toolset[Any] = Toolset(executor.registry)
    else:
        registry = offered if isinstance(offered, Registry) else Registry(offered)
        executor = Executor(registry, timeout=timeout, strict_results=True, show_errors="message")
        toolset = cast("Any", offered) if isinstance(offered, Toolset) else Toolset(registry)
    findings = tuple(lint(list(executor.registry)))
    return Subject(name, toolset, executor, findings, context, is_foreign, notes)


class Inspector:
    """The content of one page: the subject, which may change, its store, its log, and the tried calls.

    Args:
        subject: what is inspected first.
        store: in which rounds wait, or None.
        by: the name of the person who decides about them, for the record; None if nobody said it.
        recorded: JSON Lines of calls, or None.
        tried: the calls that were tried.
    """

    def __init__(
        self,
        subject: Subject,
        *,
        store: Store | None = None,
        by: str | None = None,
        recorded: Path | None = None,
        tried: TriedCalls | None = None,
    ) -> None:
        self.subject = subject
        self.store = store
        self.by = by
        self.recorded = recorded
        self.tried = TriedCalls() if tried is None else tried
        self.version = 1
        """How often the tools were loaded."""
        self.problem: str | None = None
        """Why the last reload failed; None if it didn't."""

    def replace(self, subject: Subject) -> None:
        """Show other tools from now on, after a reload."""
        self.subject, self.problem = subject, None
        self.version += 1

    def fail(self, problem: str) -> None:
        """Say that a reload failed; the tools stay as they are."""
        self.problem = problem


_SECONDS_TO_CONNECT = 30.0


@asynccontextmanager
async def server_tools(source: str | Sequence[str]) -> AsyncGenerator[Any]:
    """Connect to an MCP server, and return its tools as ours while the context lasts.

    Args:
        source: its URL, or the words of the command that starts it.

    Yields:
        The list of `operator_schema.adapters.mcp_client.tools_from`.

    Raises:
        ModuleNotFoundError: the package mcp isn't installed.
        ServerEndedError: its program ends before it is asked to.
        TimeoutError: it doesn't answer within 30 seconds.
    """
    from ...adapters.mcp_client import tools_from
    from ...adapters.mcp_connection import connected

    async with asyncio.timeout(_SECONDS_TO_CONNECT) as limit:
        async with connected(source) as client:
            tools = await tools_from(client)
            limit.reschedule(None)
            yield tools
