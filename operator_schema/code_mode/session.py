"""How are a model's programs run, continued after a decision, and offered as a tool?"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from math import inf
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from ..execution import Executor
from ..json_values import without_surrogates
from ..message_text import one_line, received
from ..rounds import StoreError
from ..tools import document_tool
from .declarations import stubs_of
from .journal import Journal
from .program_runs import ProgramRun, decided, decisions_by_number, run_of
from .replay import Beginnings, ProgramReplay, ReplayError
from .sandbox import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from ..tools import Tool
    from .journal import SavedProgram
    from .program_runs import Decision
    from .sandbox import Sandbox

    Context = Mapping[Any, Any]

_TOOL_TEXT = """\
Run a program in Python that calls tools.

It runs in an interpreter of a part of Python, without files, network or other packages. The value of its
last expression, and what it prints, come back. A tool that fails raises an exception. These functions are
there, and are called without await:"""
_MOST_RESULT = 10_000_000
"""The most characters of a result; the program's memory limit applies to results that it keeps."""
_NOT_TEXT = (
    "the program has a lone surrogate or U+0000, which no program may contain, so it wasn't run: "
    "write the character that you mean, or an escape such as \\0"
)


class CodeSession:
    """Runs programs that call tools; an executor runs each call.

    A call is decoded, repaired, decided on by hooks and run like a call of the model. If it needs an
    approval, the program waits in the journal, with that call and with the next calls that it makes without
    needing the result: they are one plan. When somebody has decided, the program runs again from its
    beginning: finished calls don't run again, but get their results from the journal.

    Args:
        tools: an executor without a store, or tools as `Executor` takes them.
        sandbox: `Monty()`, or `ProcessSandbox()` for programs that you trust.
        journal: stores the programs that wait; in memory unless you give one with a file.
        seconds: how long a program may compute; the time in which its calls run doesn't count.
        max_calls: how many calls a program may make.
        max_output: bytes that it may print, and characters that its value may have as JSON.
        memory: bytes that it may use.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: `sandbox` isn't a sandbox.
        ValueError: the executor has a store, or a limit isn't a positive number.
    """

    def __init__(
        self,
        tools: Any,
        /,
        *,
        sandbox: Sandbox,
        journal: Journal | None = None,
        seconds: float = 10.0,
        max_calls: int = 1_000,
        max_output: int = 20_000,
        memory: int = 100_000_000,
    ) -> None:
        executor: Executor = tools if isinstance(tools, Executor) else Executor(tools)
        # A result that is too long for a model isn't too long for a program.
        self._executor: Executor = executor.with_(max_content=_MOST_RESULT, store=Beginnings())
        # There is no public way to read an executor's options.
        if executor._store is not None:  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
            message = "a session has a journal of its own: give it an executor without a store"
            raise ValueError(message)
        given = {"seconds": seconds, "max_calls": max_calls, "max_output": max_output, "memory": memory}
        for name, limit in given.items():
            _check_limit(name, limit)
        _check_sandbox(sandbox)
        if journal is not None and not isinstance(journal, Journal):  # pyright: ignore[reportUnnecessaryIsInstance]
            message = f"journal must be a Journal, such as Journal('programs.db'), not {received(journal)}"
            raise TypeError(message)
        self._sandbox = sandbox
        self._journal = Journal() if journal is None else journal
        self._limits = Limits(float(seconds), int(memory), int(max_calls), int(max_output))

    @property
    def journal(self) -> Journal:
        """The journal in which programs wait."""
        return self._journal

    async def run(self, code: str, /, *, context: Context | None = None) -> ProgramRun:
        """Run a program until it ends, or waits for a person.

        Args:
            code: Python, as far as the sandbox knows it.
            context: for the injected parameters of its tools, as for `Executor.run`.

        Raises:
            HookError: a hook failed; the call that it had to decide on hasn't run.
            TypeError: the code isn't a string.
        """
        if not isinstance(code, str):
            message = f"a program must be a string, not {received(code)}"
            raise TypeError(message)
        writable = without_surrogates(code).replace("\0", "\ufffd")
        saved = self._journal.add(f"program_{token_hex(12)}", writable)
        if writable == code:
            return await self._run(saved, context)
        self._journal.end(saved, "failed", {"output": "", "value": None, "error": _NOT_TEXT})
        return self.load(saved.id)

    async def resume(
        self,
        program: ProgramRun | str,
        decision: Decision | None = None,
        /,
        *,
        context: Context | None = None,
    ) -> ProgramRun:
        """Decide about waiting calls, and continue the program.

        Args:
            program: a result of `run` or `load`, or its id. With a result, a decision that somebody else made
                since then raises an error; with an id, the decision is about the current plan.
            decision: `"approve"`, `Reject(reason)` or `Complete(output)` is for the first call of the plan:
                it runs (a second time if it was interrupted), raises an error in the program, or gets a
                result without running. A list has one of these for each call of the plan, or None for calls
                without a decision. `"approve_plan"` runs every call of the plan, and `"approve_all"` every
                call that this program makes from now on. None continues a program in which no call waits.
            context: as for `run`.

        Raises:
            HookError: a hook failed; the call about which it was asked hasn't run.
            ReplayError: the program makes a different call in place of one that may have run; it waits as
                before, and no decision was made.
            RoundError: there is a decision and no call waits, or a call waits without one; or a list has
                another length than the plan.
            StoreError: the program doesn't exist, runs, has ended, or was changed in the meantime; or
                somebody took it back while it ran here, so that no further call is begun.
            TypeError: `decision` isn't a decision, `program` isn't a program, or the output of a `Complete`
                has no JSON value.
            ValueError: that output nests too deeply, or has a number that isn't JSON, or a lone surrogate.
        """
        if not isinstance(program, (str, ProgramRun)):
            message = f"resume takes what run returned, or its id, not {received(program)}"
            raise TypeError(message)
        found = self._journal.load(program if isinstance(program, str) else program.id)
        entries = self._journal.entries(found.id)
        run = run_of(found, entries)
        decisions = decisions_by_number(run.plan, decision) if run.state == "waiting" else {}
        changed = {number: decided(entries[number], one) for number, one in decisions.items()}
        # Also with an id: the calls are those of this revision, or nothing is decided.
        revision = found.revision if isinstance(program, str) else program.revision
        saved = self._journal.claim(found.id, revision, approved=decision == "approve_all")
        self._journal.write(saved, changed)
        try:
            return await self._run(saved, context)
        except ReplayError:
            self._journal.put_back(found, entries)
            raise

    def run_sync(self, code: str, /, *, context: Context | None = None) -> ProgramRun:
        """Run as `run` does, for code that isn't async, inside an event loop or outside."""
        return _waited_for(lambda: self.run(code, context=context))

    def resume_sync(
        self,
        program: ProgramRun | str,
        decision: Decision | None = None,
        /,
        *,
        context: Context | None = None,
    ) -> ProgramRun:
        """Continue as `resume` does, for code that isn't async, inside an event loop or outside."""
        return _waited_for(lambda: self.resume(program, decision, context=context))

    def load(self, program_id: str, /) -> ProgramRun:
        """Return the state of a program so far; nothing is run.

        Raises:
            StoreError: the program doesn't exist.
        """
        saved = self._journal.load(program_id)
        return run_of(saved, self._journal.entries(saved.id))

    def tool(self, name: str = "run_code", /) -> Tool[..., Any]:
        """Return a tool that runs a program; its description contains the declarations of the tools.

        Args:
            name: the name that the model calls.
        """
        schema = {
            "type": "object",
            "properties": {"code": {"type": "string", "description": "The program."}},
            "required": ["code"],
        }

        async def run_code(**arguments: Any) -> str:
            return (await self.run(arguments["code"])).text

        description = f"{_TOOL_TEXT}\n\n{stubs_of(self._executor).text}"
        return document_tool(run_code, schema, name=name, description=description, timeout=inf)

    # --- inside ----------------------------------------------------------------------------------

    def _replay(self, saved: SavedProgram, context: Context | None) -> ProgramReplay:
        return ProgramReplay(self._executor, self._sandbox, self._journal, self._limits, saved, context)

    async def _run(self, saved: SavedProgram, context: Context | None) -> ProgramRun:
        """Run a program that this process has claimed."""
        state, ended = "waiting", None
        try:
            state, ended = await self._replay(saved, context).run()
        except ReplayError:
            raise  # the program was put back already
        except BaseException as error:
            try:
                self._journal.end(saved, state, ended)
            except StoreError as failure:  # the reason why it stopped matters more
                error.add_note(str(failure))
            raise
        self._journal.end(saved, state, ended)
        return self.load(saved.id)


def _check_limit(name: str, limit: Any) -> None:
    if not isinstance(limit, (int, float)) or isinstance(limit, bool) or not 0 < limit < inf:
        message = f"{name} must be a number above 0, not {received(limit)}"
        raise ValueError(message)


def _check_sandbox(sandbox: Any) -> None:
    if not isinstance(sandbox, type) and callable(getattr(sandbox, "start", None)):
        return
    name = one_line(sandbox.__name__, 100) if isinstance(sandbox, type) else None
    given = received(sandbox) if name is None else f"the class {name}"
    example = f"{name or 'Monty'}()"
    message = f"sandbox is an object with the method start, such as {example}, not {given}"
    raise TypeError(message)


def _waited_for(start: Callable[[], Coroutine[Any, Any, ProgramRun]]) -> ProgramRun:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(start())
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, start()).result()
