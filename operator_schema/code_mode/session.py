"""Programs of a model whose calls run like all others: decoded, checked by hooks, approved, once each."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from datetime import time as clock_time
from math import inf, isfinite
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Literal

from ..execution import Executor
from ..immutable import Value
from ..json_values import is_object
from ..message_text import clip, count_of, escape, nearest, quote, received
from ..rounds import Complete, HookError, Reject, RoundError
from ..tools import RawCall, class_name_of, document_tool
from .declarations import stubs_of
from .journal import Journal, JournalEntry
from .sandbox import Answer, Ended, Limits, Request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..rounds import Round
    from ..tools import Tool
    from .declarations import StubFunction
    from .journal import SavedProgram
    from .sandbox import Program, Sandbox

    Decision = Literal["approve", "approve_all"] | Reject | Complete

__all__ = ["CodeSession", "ProgramRun", "ReplayError", "WaitingCall"]

_INTERRUPTED = "it was interrupted: nobody knows whether it did its work"
"""Why a call waits whose process died while it ran."""

_TOOL_TEXT = """\
Run a program in Python that calls tools.

It runs in an interpreter of a part of Python, without files, network or other packages. The value of its
last expression, and what it prints, come back. A tool that fails raises an exception. These functions are
there, and are called without await:"""
_MOST_LEVELS = 100
_ERROR_LENGTH = 2_000
_ERRORS: Mapping[str, type[Exception]] = {
    "invalid_params": ValueError,
    "timeout": TimeoutError,
    "rejected": PermissionError,
    "needs_approval": PermissionError,
    "disabled": PermissionError,
    "not_available": PermissionError,
}
"""What a program sees of a call without a result, by its code; any other is a `RuntimeError`."""


class ReplayError(RoundError):
    """A program that goes on makes other calls than before; nothing was run."""


class WaitingCall(Value):
    """The call of a program that waits for a person.

    Attributes:
        number: 0 for the first call of the program.
        name: of the tool.
        arguments: as the program gave them, as JSON values.
        reason: why it waits.
        is_interrupted: whether its process died while it ran, so that it may have done its work.
    """

    number: int
    name: str
    arguments: dict[str, Any]
    reason: str
    is_interrupted: bool


class ProgramRun(Value):
    """What has come of a program so far.

    Attributes:
        id: of the program, for `session.resume`.
        state: `done`, `failed`, or `waiting` for a person.
        output: what it printed, bounded.
        value: of its last expression, as a JSON value; None until it is done.
        error: why it failed, for the model; None if it didn't.
        waiting: the call that waits; None if none does.
        revision: of its state: two people who decide at once don't decide twice.
    """

    id: str
    state: Literal["done", "failed", "waiting"]
    output: str
    value: Any
    error: str | None
    waiting: WaitingCall | None
    revision: int

    @property
    def text(self) -> str:
        """What the model reads."""
        parts = [self.output.rstrip("\n")]
        if self.waiting is not None:
            parts.append(f"The program waits for a person to agree to {self.waiting.name}.")
        elif self.error is not None:
            parts.append(f"The program failed:\n{self.error}")
        elif self.value is not None:
            parts.append(json.dumps(self.value, ensure_ascii=False))
        return "\n".join([part for part in parts if part]) or "null"


class _Paused(Exception):  # noqa: N818  # nothing is wrong
    """A call waits for a person."""


class CodeSession:
    """Run programs that call tools, each call as an executor runs it.

    A call is decoded, repaired, decided on by hooks and run like a call of the model. If it needs an
    approval, the program ends there and waits in the journal. When somebody has decided, it runs again from
    its beginning: calls that have ended give the results of the journal, and don't run again.

    Args:
        tools: an executor without a store, or what `Executor` takes.
        sandbox: such as `Monty()`.
        journal: where programs wait; in memory unless you give one with a file.
        seconds: that a program may compute; time in which its calls run doesn't count.
        max_calls: calls that a program may make.
        max_output: bytes that it may print, and characters that its value may have as JSON.
        memory: bytes that it may use.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: the sandbox is something else.
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
        self._executor: Executor = tools if isinstance(tools, Executor) else Executor(tools)
        # No option can be asked for.
        if self._executor._store is not None:  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
            message = "a session has a journal of its own: give it an executor without a store"
            raise ValueError(message)
        given = {"seconds": seconds, "max_calls": max_calls, "max_output": max_output, "memory": memory}
        for name, limit in given.items():
            _check_limit(name, limit)
        _check_sandbox(sandbox)
        self._sandbox = sandbox
        self._journal = Journal() if journal is None else journal
        self._limits = Limits(float(seconds), int(memory), int(max_calls), int(max_output))

    @property
    def journal(self) -> Journal:
        """Where programs wait."""
        return self._journal

    async def run(self, code: str, /) -> ProgramRun:
        """Run a program until it ends, or waits for a person.

        Args:
            code: Python, as far as the sandbox knows it.

        Raises:
            HookError: a hook failed; the call about which it was asked hasn't run.
            TypeError: it isn't a string.
        """
        if not isinstance(code, str):
            message = f"a program is a string, not {received(code)}"
            raise TypeError(message)
        saved = self._journal.add(f"program_{token_hex(12)}", code)
        return await self._run(saved, None)

    async def resume(self, program: ProgramRun | str, decision: Decision | None = None, /) -> ProgramRun:
        """Decide about the call that waits, and let the program go on.

        Args:
            program: what `run` or `load` returned, or its id. With the former, somebody else's decision in
                the meantime is noticed.
            decision: `"approve"` runs the call, a second time if it was interrupted; `"approve_all"` runs it,
                and agrees to all later calls of this program; `Reject(reason)` raises an error in the
                program; `Complete(output)` gives it a result without running it. None lets a program go on
                whose process died, if no call was interrupted.

        Raises:
            ReplayError: the program makes other calls than before.
            RoundError: a decision is missing, or there is nothing to decide.
            StoreError: the program runs, has ended, or was changed in the meantime.
        """
        if not isinstance(decision, (Reject, Complete)) and decision not in {None, "approve", "approve_all"}:
            message = f'decide by "approve", "approve_all", Reject or Complete, not by {received(decision)}'
            raise TypeError(message)
        found = self.load(program if isinstance(program, str) else program.id)
        if (found.waiting is None) != (decision is None) and found.state == "waiting":
            message = "no call waits: leave out the decision" if decision else "a call waits: decide about it"
            raise RoundError(message)
        revision = None if isinstance(program, str) else program.revision
        saved = self._journal.claim(found.id, revision, approved=decision == "approve_all")
        return await self._run(saved, decision)

    def run_sync(self, code: str, /) -> ProgramRun:
        """Do what `run` does, in a program without an event loop or inside one."""
        ran: ProgramRun = _waited_for(self.run, code)
        return ran

    def resume_sync(self, program: ProgramRun | str, decision: Decision | None = None, /) -> ProgramRun:
        """Do what `resume` does, in a program without an event loop or inside one."""
        ran: ProgramRun = _waited_for(self.resume, program, decision)
        return ran

    def load(self, program_id: str, /) -> ProgramRun:
        """Return what has come of a program so far; nothing is run.

        Raises:
            StoreError: there is none, or it runs now.
        """
        saved = self._journal.load(program_id)
        ended = saved.ended or {"output": "", "value": None, "error": None}
        state: Any = saved.state if saved.state in {"done", "failed"} else "waiting"
        waiting = self._waiting(saved) if state == "waiting" else None
        return ProgramRun(
            saved.id, state, ended["output"], ended["value"], ended["error"], waiting, saved.revision
        )

    def tool(self, name: str = "run_code", /) -> Tool[..., Any]:
        """Return one tool that runs a program, for any loop; its description has the declarations.

        Args:
            name: by which the model calls it.
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

    def _waiting(self, saved: SavedProgram) -> WaitingCall | None:
        number = self._journal.last(saved.id) - 1
        entry = self._journal.entry(saved.id, number)
        if entry is None or entry.state == "done":
            return None
        reason = _INTERRUPTED if entry.outcome is None else entry.outcome["reason"]
        arguments = json.loads(entry.arguments)
        return WaitingCall(number, entry.name, arguments, reason, entry.state == "begun")

    async def _run(self, saved: SavedProgram, decision: Decision | None) -> ProgramRun:
        """Run a program that this process has claimed, and save what came of it."""
        state, ended = "waiting", None
        try:
            state, ended = await _Replay(self, saved, decision).run()
        finally:
            self._journal.end(saved.id, state, ended)
        return self.load(saved.id)


def _check_limit(name: str, limit: Any) -> None:
    if not isinstance(limit, (int, float)) or isinstance(limit, bool) or not 0 < limit < inf:
        message = f"{name} is a number above 0, not {received(limit)}"
        raise ValueError(message)


def _check_sandbox(sandbox: Any) -> None:
    if not isinstance(sandbox, type) and callable(getattr(sandbox, "start", None)):
        return
    name = clip(escape(sandbox.__name__), 100) if isinstance(sandbox, type) else None
    given = received(sandbox) if name is None else f"the class {name}"
    example = f"{name or 'Monty'}()"
    message = f"sandbox is an object with the method start, such as {example}, not {given}"
    raise TypeError(message)


class _Replay:
    """One run of a program, from its beginning."""

    def __init__(self, session: CodeSession, saved: SavedProgram, decision: Decision | None) -> None:
        self._executor = session._executor  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # one thought with it
        self._journal, self._limits = session.journal, session._limits  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # the same
        self._sandbox = session._sandbox  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # the same
        self._saved, self._decision = saved, decision
        self._functions = stubs_of(self._executor).functions
        self._number = 0
        """Of the next call: those that can't be made for lack of a function or an argument have none."""
        self._requests = 0

    async def run(self) -> tuple[str, dict[str, Any] | None]:
        """Run it; return its state, and what came of it."""
        saved = self._saved
        now = datetime.fromtimestamp(saved.made, UTC)
        program = await asyncio.to_thread(
            lambda: self._sandbox.start(saved.code, self._functions, self._limits, seed=saved.id, now=now)
        )
        try:
            return await self._steps(program)
        finally:
            await asyncio.to_thread(program.close)

    async def _steps(self, program: Program) -> tuple[str, dict[str, Any] | None]:
        answer: Answer | None = None
        while True:
            step = await asyncio.to_thread(program.step, answer)
            if isinstance(step, Ended):
                self._check_all_replayed()
                return self._ended(step, program)
            self._requests += 1
            if self._requests > self._limits.calls:
                error = f"the program made more than {count_of(self._limits.calls, 'calls')}"
                return self._ended(Ended(None, error), program)
            try:
                answer = await self._answer(step)
            except _Paused:
                return "waiting", {"output": self._printed(program), "value": None, "error": None}

    def _check_all_replayed(self) -> None:
        if self._journal.last(self._saved.id) > self._number:
            now = "it ends"
            raise self._different(now)

    def _different(self, now: str) -> ReplayError:
        entry = self._journal.entry(self._saved.id, self._number)
        before = f"call {self._number} was {entry.name}" if entry else "there was no such call"
        message = f"the program does something else than before: {before}, and now {now}; nothing was run"
        return ReplayError(message)

    def _printed(self, program: Program) -> str:
        return clip(program.printed(), self._limits.output)

    def _ended(self, step: Ended, program: Program) -> tuple[str, dict[str, Any]]:
        error, value = step.error, None
        if error is None:
            try:
                value = _as_json(step.value)
                size = len(json.dumps(value, ensure_ascii=False))
                if size > self._limits.output:
                    error = f"the value of the program is too large: {size:,} characters"
            except (TypeError, ValueError) as failure:
                error = f"the value of the program can't be used: {failure}"
        ended = {"output": self._printed(program), "value": None if error else value, "error": error}
        return "failed" if error else "done", ended

    # --- one call --------------------------------------------------------------------------------

    async def _answer(self, request: Request) -> Answer:
        """Return what comes of a call: from the journal, or by running it.

        Raises:
            ReplayError: the journal has another call in its place.
            _Paused: it waits for a person.
        """
        function = self._functions.get(request.name)
        try:
            if function is None:
                raise _unknown(request.name, self._functions)
            arguments = json.dumps(_arguments_of(request, function), sort_keys=True)
        except (NameError, TypeError, ValueError) as error:
            return Answer(None, error)
        entry = self._journal.entry(self._saved.id, self._number)
        if entry is not None and (entry.name, entry.arguments) != (function.tool, arguments):
            now = f"it is {function.tool}"
            raise self._different(now)
        if entry is None:
            entry = JournalEntry(function.tool, arguments, "begun", None)
            return await self._begin(entry, approved=self._saved.approved)
        if entry.state == "done":
            self._number += 1
            return _answer_of(entry.outcome or {})
        return await self._decide(entry)

    async def _decide(self, entry: JournalEntry) -> Answer:
        """Do what somebody decided about a call that waits or was interrupted."""
        decision, self._decision = self._decision, None
        match decision:
            case None:
                raise _Paused
            case Reject(reason=reason):
                outcome = {"code": "rejected", "content": f"This call was rejected: {reason}", "json": None}
                return self._done(entry, outcome)
            case Complete(output=output):
                return self._done(entry, {"code": None, "content": "", "json": _as_json(output)})
            case _:
                return await self._begin(entry.replace(state="begun", outcome=None), approved=True)

    async def _begin(self, entry: JournalEntry, *, approved: bool) -> Answer:
        """Run a call, and write down that it begins and what comes of it.

        Raises:
            _Paused: it waits for a person.
        """
        journal, place = self._journal, (self._saved.id, self._number)
        journal.write(*place, entry)
        raw = RawCall(f"call_{self._number}", entry.name, json.loads(entry.arguments))
        executor = self._executor
        try:
            work = await executor.run(executor.registry.toolset.offer().round([raw]))
            if approved and work.deferred and work.deferred[0].question is None:
                work = await executor.run(work.approve(0))
        except HookError:
            journal.forget(*place)
            raise
        if work.deferred and work.deferred[0].question is None:
            journal.write(*place, entry.replace(state="waiting", outcome={"reason": work.deferred[0].reason}))
            raise _Paused
        return self._done(entry, _outcome_of(work))

    def _done(self, entry: JournalEntry, outcome: dict[str, Any]) -> Answer:
        done = entry.replace(state="done", outcome=outcome)
        self._journal.write(self._saved.id, self._number, done)
        self._number += 1
        return _answer_of(outcome)


def _outcome_of(work: Round[Any]) -> dict[str, Any]:
    """Return what came of the only call of a round, as JSON values."""
    if work.deferred:
        asked = work.deferred[0]
        text = f"{asked.name} needs an answer of a person, which a program can't give"
        return {"code": "needs_input", "content": text, "json": None}
    turn: list[Any] = []
    work.commit(turn)
    result = turn[0].results[0]
    code = result.code or ("execution_failed" if result.is_error else None)
    value = result.json
    if not result.is_error and value is None and result.content != "null":
        value = result.content
    return {"code": code, "content": clip(result.content, _ERROR_LENGTH) if code else "", "json": value}


def _answer_of(outcome: dict[str, Any]) -> Answer:
    code = outcome["code"]
    if code is None:
        return Answer(outcome["json"])
    return Answer(None, _ERRORS.get(code, RuntimeError)(outcome["content"]))


def _unknown(name: str, known: Mapping[str, StubFunction]) -> NameError:
    near = nearest(name, known)
    hint = f"; did you mean {near}?" if near else ""
    return NameError(f"name {quote(name)} is not defined{hint}")


def _arguments_of(request: Request, function: StubFunction) -> dict[str, Any]:
    """Return the arguments of a call by their keys.

    Raises:
        TypeError: there are too many, one is there twice, or one isn't a JSON value.
    """
    name, parameters = request.name, function.parameters
    if parameters is None:
        given = [*request.args, *request.kwargs.values()]
        if len(given) != 1 or not is_object(given[0]) or not request.kwargs.keys() <= {"input"}:
            message = f"{name}() takes one dict"
            raise TypeError(message)
        return dict(_as_json(given[0]))
    if len(request.args) > len(parameters):
        message = f"{name}() takes at most {count_of(len(parameters), 'arguments')}"
        raise TypeError(message)
    by_position = dict(zip(parameters, request.args, strict=False))
    twice = by_position.keys() & request.kwargs.keys()
    if twice:
        message = f"{name}() got {min(twice)} twice"
        raise TypeError(message)
    named = {**by_position, **request.kwargs}
    return {parameters.get(key, key): _as_json(value) for key, value in named.items()}


def _as_json(value: Any, levels: int = _MOST_LEVELS) -> Any:
    """Return a value of a program as a JSON value.

    Raises:
        TypeError: some part of it isn't one.
        ValueError: it nests too deep, or has a number that isn't JSON.
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if not isfinite(value):
            message = f"{value} isn't a number of JSON"
            raise ValueError(message)
        return value
    if levels == 0:
        message = f"a value nests more than {_MOST_LEVELS} levels deep"
        raise ValueError(message)
    if isinstance(value, (list, tuple, set, frozenset)):
        items: list[Any] = list(value)  # pyright: ignore[reportUnknownArgumentType]  # of whatever items
        if isinstance(value, (set, frozenset)):
            items.sort(key=repr)  # in the same order each time
        return [_as_json(item, levels - 1) for item in items]
    if is_object(value) and all(isinstance(key, str) for key in value):
        return {key: _as_json(item, levels - 1) for key, item in value.items()}
    if isinstance(value, (date, clock_time)):  # a datetime is a date
        return value.isoformat()
    message = f"a value of class {escape(class_name_of(value))} isn't a JSON value"
    raise TypeError(message)


def _waited_for(start: Any, *args: Any) -> Any:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(start(*args))
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, start(*args)).result()
