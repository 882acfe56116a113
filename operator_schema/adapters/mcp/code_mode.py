"""A server whose tools a model calls from a program, with questions to a person."""

from __future__ import annotations

import json
from contextlib import contextmanager, suppress
from dataclasses import replace
from hashlib import sha256
from math import inf
from typing import TYPE_CHECKING, Annotated, Any, cast

from mcp.server.context import ServerRequestContext  # noqa: TC002  # a tool evaluates its annotations
from mcp_types import InputRequiredResult

from ...code_mode import stubs_of
from ...errors import CallError
from ...immutable import Value
from ...message_text import clip, count_of, escape
from ...rounds import HookError, Reject, StoreError, ToolSearch, call_text
from ...similar_names import no_such_prefix
from ...tools import RawCall, WholeContext, document_tool, skip
from .asking import answer_to_ask, ask
from .behind_tools import current_request

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from typing import TypeAlias

    from ...code_mode import CodeSession, ProgramRun, WaitingCall
    from ...execution import Executor
    from ...rounds import ToolCall
    from ...tools import Tool

    Ctx: TypeAlias = ServerRequestContext[Any, Any]
    Context: TypeAlias = Mapping[Any, Any]

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
            "description": 'What has to be done, and with what, such as "cancel a flight".',
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
"""The most characters of declarations in the description of a tool."""

_MOST_ASKED = 50
"""The most calls in one question to a person."""

_MOST_SHOWN = 10_000
"""The most characters of a question about several calls; one call is always written whole."""

_NOT_OPEN = (
    "this question has been answered already, or was forgotten, as by a restart of the server: nothing was"
    " run for this answer"
)


def program_tools(executor: Executor, session: CodeSession, /) -> list[Tool[..., Any]]:
    """Return two tools in place of many: one finds declarations, the other runs programs that call the tools.

    If calls wait for a person, the user of the client gets one question for all calls of a plan. If they
    refuse, or the client can't ask, those calls raise a `PermissionError` in the program.

    Args:
        executor: the executor of the session, with the tools that programs may call.
        session: the session that runs the programs.
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
        prefix = arguments.get("prefix", "")
        found = searches[0][1].search(arguments["query"], prefix=prefix, context=given)
        if not found:
            unknown = no_such_prefix(prefix, [one.name for one in registry.offered(context=given)])
            return _NOTHING if unknown is None else f"# {unknown}"
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
        program = _ClientProgram(executor, session, str(arguments["source"]), cast("Context", context))
        try:
            with _calls_from_within():
                return await program.run(ctx)
        except StoreError as error:
            if error.round_id is None:  # the journal can't be used
                raise
            raise CallError(_NOT_OPEN) from None

    text = stubs_of(executor).text
    about = _SEARCH_FIRST if len(text) > _MOST_DECLARED else f"{_DECLARED}\n\n{text}"
    return document_tool(run_program, _SOURCE, description=f"{_RUN} {about}", timeout=inf)


@contextmanager
def _calls_from_within() -> Generator[None]:
    """Mark calls as made by a program, so that a gateway doesn't pass on answers that the client gave us."""
    ctx = current_request.get()
    token = current_request.set(None if ctx is None else replace(ctx, params=None))
    try:
        yield
    finally:
        current_request.reset(token)


class _Question(Value):
    """A question to a person, about the calls that a program is about to make.

    Attributes:
        text: the question for the person.
        asked: how many calls the question shows, beginning with the first.
        state: a value that comes back with the answer.
    """

    text: str
    asked: int
    state: str


class _ClientProgram:
    """A program that a client wants to run or to continue."""

    def __init__(self, executor: Executor, session: CodeSession, source: str, context: Context) -> None:
        self._executor, self._session = executor, session
        self._source, self._context = source, context

    async def run(self, ctx: Ctx | None) -> str | InputRequiredResult:
        """Run the program until it ends, or the client has to be asked.

        Raises:
            CallError: the program failed, or the answered question isn't open.
            StoreError: meanwhile somebody else decided about the program, or it was deleted.
        """
        again = None if ctx is None else answer_to_ask(ctx)
        if again is None:
            run = await self._session.run(self._source, context=self._context)
        else:
            run = await self._answered(*again)
        while run.plan:
            question = await self._question(run)
            decided: Any = "a person has to agree to it, and nobody can be asked here"
            if ctx is not None:
                decided = await ask(ctx, question.text, question.state)
            if isinstance(decided, InputRequiredResult):
                return decided
            if self._state(run, question.asked) == question.state:  # otherwise another question is due
                run = await self._resumed(run, question.asked, decided)
        if run.state == "failed":
            raise CallError(run.text)
        return run.text

    async def _answered(self, state: str, answer: object) -> ProgramRun:
        """Continue the program that waited for this answer; it never starts again from the beginning.

        Returns:
            Its state afterwards. It still waits if the answer is missing, or belongs to another question.

        Raises:
            CallError: there is no such program, waiting or ended.
            StoreError: there is no such program in the store.
        """
        program_id, _, rest = state.partition(":")
        saved = self._session.journal.load(program_id)
        run = self._session.load(program_id)
        is_stuck = run.state == "waiting" and not run.plan
        if saved.code != self._source or saved.state == "running" or is_stuck:
            raise CallError(_NOT_OPEN)
        count = rest.split(":")[1] if rest.count(":") else ""
        asked = int(count) if len(count) <= len(str(_MOST_ASKED)) and count.isdecimal() else 0
        # A client that can forge the number could also forge the answer.
        if not run.plan or answer is None or state != self._state(run, asked):
            return run
        return await self._resumed(run, asked, answer)

    async def _resumed(self, run: ProgramRun, asked: int, answer: object) -> ProgramRun:
        """Continue with the decisions about the calls that the person saw, and no others."""
        decision: Any = "approve" if answer is True else Reject(str(answer))
        decisions = [decision if position < asked else None for position in range(len(run.plan))]
        return await self._session.resume(run, decisions, context=self._context)

    def _state(self, run: ProgramRun, asked: int) -> str:
        """Return a digest of a question and of the definitions of the tools, as for a direct call."""
        tools = self._executor.registry.toolset
        names = [call.name for call in run.plan[:asked]]
        definitions = [tools[name].definition() if name in tools else None for name in names]
        text = json.dumps(definitions, sort_keys=True)
        return f"{run.id}:{run.revision}:{asked}:{sha256(text.encode()).hexdigest()}"

    async def _question(self, run: ProgramRun) -> _Question:
        """Write the calls that a program is about to make, as many as can be shown in full."""
        shown: list[str] = []
        for call in run.plan[:_MOST_ASKED]:
            text = await self._text(call)
            if shown and sum(map(len, shown)) + len(text) > _MOST_SHOWN:
                break
            shown.append(text)
        more = len(run.plan) - len(shown)
        later = [f"({count_of(more, 'more calls')} will be asked about later)"] if more else []
        head = f"Run {count_of(len(shown), 'calls')} of a program?"
        return _Question("\n\n".join([head, *shown, *later]), len(shown), self._state(run, len(shown)))

    async def _text(self, call: WaitingCall) -> str:
        """Describe a call as if the client had made it itself: decoded, and with the changes of hooks."""
        raw = RawCall(f"call_{call.number}", call.name, call.arguments)
        work = self._executor.registry.toolset.offer().round([raw])
        seen: list[ToolCall[Any]] = []

        def look(found: ToolCall[Any]) -> Reject:
            seen.append(found)
            return Reject("it is shown to a person first")  # a call that a hook approves can't be deferred

        with suppress(HookError):  # the call itself reports the error later
            await self._executor.run(work, context=self._context, hooks=look)
        shown = seen[0] if seen else work.calls[0]
        if shown.state != "issue":
            return call_text(shown.defer(call.reason))
        arguments = escape(clip(json.dumps(call.arguments, ensure_ascii=False), _MOST_SHOWN))
        return f"Run {escape(call.name)}? (Its arguments don't fit, so it will fail.)\n{arguments}"
