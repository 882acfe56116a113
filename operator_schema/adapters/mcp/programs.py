"""How does a server let a model call its tools from a program, and whom does it ask about that?"""

from __future__ import annotations

import json
from math import inf
from typing import TYPE_CHECKING, Annotated, Any, cast

from mcp.server.context import ServerRequestContext  # noqa: TC002  # a tool evaluates its annotations
from mcp_types import InputRequiredResult

from ...code_mode import stubs_of
from ...errors import CallError, StoreError
from ...message_text import clip, count_of, escape
from ...rounds import Reject, ToolSearch
from ...tools import WholeContext, document_tool, skip
from .messages import answer_to_ask, ask

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    from ...code_mode import CodeSession, ProgramRun
    from ...execution import Executor
    from ...tools import Tool

    Ctx: TypeAlias = ServerRequestContext[Any, Any]
    Context: TypeAlias = Mapping[Any, Any]

__all__ = ["program_tools"]

_RUN = """\
Run a program in Python that calls tools.

The value of its last expression, and what it prints, come back. Tools are plain functions, called without
await; one that fails raises an exception. A person may be asked before some of them run."""
_SEARCH_FIRST = "Their declarations come from search_tools: use it first."
_DECLARED = "These functions are there:"
_FIND = (
    "Find functions that a program may call, and read their declarations in Python. Say in a few words what "
    "has to be done"
)
_NOTHING = "# No function fits these words. Try others: say what has to be done, and with what."
_QUERY = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "minLength": 1,
            "maxLength": 2_000,
            "description": "What has to be done, in a few words.",
        },
        "prefix": {
            "type": "string",
            "description": "Only functions whose names begin with this, such as one of a server.",
        },
    },
    "required": ["query"],
}
_SOURCE = {
    "type": "object",
    "properties": {"source": {"type": "string", "description": "The program."}},
    "required": ["source"],
}
_MOST_DECLARED = 8_000
"""Characters of declarations that the description of a tool holds."""

_MOST_ASKED = 50
"""Calls about which a person is asked at once."""

_MOST_SHOWN = 500


def program_tools(executor: Executor, session: CodeSession, /) -> list[Tool[..., Any]]:
    """Return two tools in place of many: one finds declarations, the other runs a program that calls them.

    What waits for a person is asked of the user of the client, as one question for all calls of a plan. If
    they refuse, or the client can't ask, those calls raise a `PermissionError` in the program.

    Args:
        executor: that of the session, with the tools that programs may call.
        session: what runs the programs.
    """
    return [_search_tool(executor), _run_tool(executor, session)]


def _search_tool(executor: Executor) -> Tool[..., Any]:
    registry = executor.registry
    searches: list[tuple[object, ToolSearch]] = []

    def search_tools(arguments: dict[str, Any], context: Annotated[WholeContext | None, skip] = None) -> str:
        given: Any = context
        toolset = registry.toolset
        if not searches or searches[0][0] is not toolset:
            searches[:] = [(toolset, ToolSearch(toolset))]
        found = searches[0][1].search(arguments["query"], prefix=arguments.get("prefix", ""), context=given)
        if not found:
            return _NOTHING
        return stubs_of(executor, only={one.name for one in found}).text

    return document_tool(
        search_tools, _QUERY, description=_FIND, read_only=True, idempotent=True, open_world=False
    )


def _run_tool(executor: Executor, session: CodeSession) -> Tool[..., Any]:
    async def run_program(
        arguments: dict[str, Any],
        ctx: Annotated[ServerRequestContext[Any, Any] | None, skip] = None,
        context: Annotated[WholeContext | None, skip] = None,
    ) -> Any:
        source, given = str(arguments["source"]), cast("Context", context)
        again = None if ctx is None else answer_to_ask(ctx)
        run = None if again is None else await _resumed(session, source, again, given)
        run = await session.run(source, context=given) if run is None else run
        while run.plan:
            decided = await _asked(ctx, run)
            if isinstance(decided, InputRequiredResult):
                return decided
            run = await session.resume(run, _decisions(run, decided), context=given)
        if run.state == "failed":
            raise CallError(run.text)
        return run.text

    text = stubs_of(executor).text
    about = _SEARCH_FIRST if len(text) > _MOST_DECLARED else f"{_DECLARED}\n\n{text}"
    return document_tool(run_program, _SOURCE, description=f"{_RUN} {about}", timeout=inf)


async def _asked(ctx: Ctx | None, run: ProgramRun) -> bool | str | InputRequiredResult:
    if ctx is None:
        return "a person has to agree to it, and nobody can be asked here"
    return await ask(ctx, _question(run), f"{run.id}:{run.revision}")


async def _resumed(
    session: CodeSession, source: str, again: tuple[str, bool | str], context: Context
) -> ProgramRun | None:
    """Let a program go on that waited for this answer; None if none does, so that it runs anew."""
    program_id, _, revision = again[0].partition(":")
    try:
        run = session.load(program_id)
        if str(run.revision) != revision or session.journal.load(program_id).code != source:
            return None
        return await session.resume(run, _decisions(run, again[1]), context=context)
    except StoreError:
        return None


def _decisions(run: ProgramRun, answer: object) -> list[Any]:
    """Return what is decided about each call of a plan: nothing about those that nobody was shown."""
    decision = "approve" if answer is True else Reject(str(answer))
    asked = min(len(run.plan), _MOST_ASKED)
    return [*[decision] * asked, *[None] * (len(run.plan) - asked)]


def _question(run: ProgramRun) -> str:
    """Write which calls a program is about to make, on a line for each."""
    shown = run.plan[:_MOST_ASKED]
    lines = [
        f"{escape(call.name)} {escape(clip(json.dumps(call.arguments, ensure_ascii=False), _MOST_SHOWN))}"
        for call in shown
    ]
    more = len(run.plan) - len(shown)
    later = [f"({count_of(more, 'more calls')} will be asked about later)"] if more else []
    return "\n".join([f"Run {count_of(len(shown), 'calls')} of a program?", *lines, *later])
