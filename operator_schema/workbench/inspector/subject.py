"""Which tools are inspected, with which executor, store and log?"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

from ... import Registry
from ...errors import ToolNotFoundError
from ...execution import Executor
from ...immutable import Value
from ...rounds import Store, Toolset
from ...similar_names import nearest
from ..lint import lint
from .tried_calls import TriedCalls

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence
    from pathlib import Path

    from ...findings import Finding
    from ...tools import Tool


class UnknownToolError(LookupError):
    """No tool has this name; the message has the most similar one."""


class Subject(Value):
    """The present tools; a reload makes another subject.

    Attributes:
        name: the name as the user wrote it.
        toolset: the toolset with the tools, for rounds.
        executor: the executor of the calls.
        findings: the findings of `lint`, without those about providers.
        context: the objects that are injected into the functions; None for those of the executor.
        is_foreign: whether the tools run on somebody else's server, which may do more than it states.
        notes: facts about the tools as a whole, one line each.
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
        """The tools in their order, including those that are switched off."""
        return list(self.executor.registry)

    def tool(self, name: str) -> Tool[..., Any]:
        """Return a tool by its name.

        Raises:
            UnknownToolError: no tool has this name.
        """
        registry = self.executor.registry
        try:
            return registry[name]
        except ToolNotFoundError:
            near = nearest(name, [tool.name for tool in registry])
            message = f"there is no tool {name!r}" + (f"; did you mean {near}?" if near else "")
            raise UnknownToolError(message) from None

    def findings_of(self, name: str) -> list[Finding]:
        """List the findings of `lint` about a tool; for an empty name, those about all tools together."""
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
    """Make a subject from tools.

    Args:
        name: the name shown on the page.
        offered: a registry, a toolset, a list of tools, or an executor, whose rules then apply.
        context: the objects that are injected into the functions.
        is_foreign: as for `Subject`.
        notes: as for `Subject`.
        timeout: the maximum number of seconds of a call, if no executor is given.

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
        subject: the first subject.
        store: the store with waiting rounds, or None.
        by: the name of the person who decides about them, for the record; None if nobody said it.
        recorded: JSON Lines of calls, or None.
        tried: the calls that a person has tried.
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
        """How many times the tools were loaded."""
        self.problem: str | None = None
        """The reason why the last reload failed; None if it didn't."""

    def replace(self, subject: Subject) -> None:
        """Show other tools from now on, after a reload."""
        self.subject, self.problem = subject, None
        self.version += 1

    def fail(self, problem: str) -> None:
        """Note that a reload failed; the tools are unchanged."""
        self.problem = problem


_SECONDS_TO_CONNECT = 30.0


@asynccontextmanager
async def server_tools(source: str | Sequence[str]) -> AsyncGenerator[Any]:
    """Connect to an MCP server, and return its tools as our tools while the context lasts.

    Args:
        source: the URL, or the words of the command that starts the server.

    Yields:
        The list of `operator_schema.adapters.mcp_client.tools_from`.

    Raises:
        ModuleNotFoundError: the package mcp isn't installed.
        ServerEndedError: the program of the server ended too early.
        TimeoutError: the server doesn't answer within 30 seconds.
    """
    from ...adapters.mcp_client import tools_from
    from ...adapters.mcp_connection import connected

    async with asyncio.timeout(_SECONDS_TO_CONNECT) as limit:
        async with connected(source) as client:
            tools = await tools_from(client)
            limit.reschedule(None)
            yield tools
