"""How does a program run from its beginning, with the results of earlier calls from the journal?

Each new call is decoded, decided on by hooks and people, and run like a call of the model.
"""

from __future__ import annotations

import asyncio
import json
from contextvars import ContextVar
from datetime import UTC, datetime
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from ..json_values import is_object, without_surrogates
from ..message_text import clip, count_of, one_line, quote
from ..rounds import Defer, HookError, Reject, RoundError
from ..similar_names import nearest
from ..tools import RawCall
from .child import as_json
from .declarations import stubs_of
from .journal import JournalEntry
from .program_runs import may_have_run
from .sandbox import CallAnswer, Ended, Request

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from ..execution import Executor
    from ..rounds import Round, ToolCall
    from .declarations import StubFunction
    from .journal import Journal, SavedProgram
    from .sandbox import Limits, Program, Sandbox

    Context = Mapping[Any, Any]

_T = TypeVar("_T")

_NOT_REACHED = "the program hasn't come to it"
"""The reason why a call that was found by looking ahead isn't run."""
_LONGEST_ARGUMENTS = 300


class ReplayError(RoundError):
    """A continued program makes a different call than one that may have run; nothing was run."""


class _Paused(Exception):  # noqa: N818  # nothing is wrong
    """A call waits for a person."""


class ProgramReplay:
    """One run of a program, from its beginning.

    Args:
        executor: runs the calls; its store is a `Beginnings`.
        sandbox: runs the program.
        journal: has the calls of earlier runs, and gets those of this run.
        limits: the limits of the program.
        saved: the program, which this process has claimed.
        context: for the injected parameters of tools.
    """

    def __init__(
        self,
        executor: Executor,
        sandbox: Sandbox,
        journal: Journal,
        limits: Limits,
        saved: SavedProgram,
        context: Context | None,
    ) -> None:
        self._executor, self._sandbox, self._journal = executor, sandbox, journal
        self._limits, self._saved, self._context = limits, saved, context
        self._functions = stubs_of(self._executor).functions
        self._entries = self._journal.entries(saved.id)  # nobody else writes: the program is claimed
        self._number = 0
        """The number of the next call; calls that fail because of an unknown function or wrong arguments have
        none."""
        self._requests = 0

    async def run(self) -> tuple[str, dict[str, Any] | None]:
        """Run the program; return its state and its outcome."""
        program = await self._start()
        try:
            return await self._steps(program)
        finally:
            await _run_to_end(program.close)

    async def _start(self) -> Program:
        """Start the program, and close it if nobody waits for it any more."""
        saved = self._saved
        now = datetime.fromtimestamp(saved.made, UTC)
        made: list[Program] = []
        is_first = Lock()
        """Taken by the first of two: the started program, and the end of the wait for it. The second one
        closes the program."""

        def start() -> Program:
            program = self._sandbox.start(saved.code, self._functions, self._limits, seed=saved.id, now=now)
            made.append(program)
            if not is_first.acquire(blocking=False):
                program.close()
            return program

        try:
            return await _run_to_end(start)
        except asyncio.CancelledError:
            if not is_first.acquire(blocking=False):
                await _run_to_end(made[0].close)
            raise

    async def _steps(self, program: Program) -> tuple[str, dict[str, Any] | None]:
        answer: CallAnswer | None = None
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
                printed = self._output_of(program)
                await self._look_ahead(program)
                return "waiting", {"output": printed, "value": None, "error": None}

    def _check_all_replayed(self) -> None:
        entry = self._entries.get(self._number)
        if entry is not None and may_have_run(entry):
            now = "the program ends"
            raise self._different(entry, now)
        self._forget_the_rest()

    def _different(self, entry: JournalEntry, now: str) -> ReplayError:
        before = f"call {self._number} was {_call_text(entry)}"
        message = f"the program does something else than before: {before}, and now {now}; nothing was run"
        return ReplayError(message)

    def _output_of(self, program: Program) -> str:
        changed = [text for one in self._entries.values() if (text := (one.outcome or {}).get("changed"))]
        more = (
            [f"({count_of(len(changed) - _MOST_CHANGED, 'more calls')} changed)"]
            if changed[_MOST_CHANGED:]
            else []
        )
        lines = [*changed[:_MOST_CHANGED], *more, program.printed()]
        return without_surrogates(clip("\n".join(lines), self._limits.output))

    def _ended(self, step: Ended, program: Program) -> tuple[str, dict[str, Any]]:
        error, value = step.error, None
        if error is None:
            try:
                value = as_json(step.value)
                size = len(json.dumps(value, ensure_ascii=False))
                if size > self._limits.output:
                    most = self._limits.output
                    error = f"the value of the program is too large: {size:,} characters, at most {most:,}"
            except (TypeError, ValueError) as failure:
                error = f"the value of the program can't be used: {failure}"
        if error is not None:
            error = without_surrogates(error)
        ended = {"output": self._output_of(program), "value": None if error else value, "error": error}
        return "failed" if error else "done", ended

    # --- one call --------------------------------------------------------------------------------

    async def _answer(self, request: Request) -> CallAnswer:
        """Return the outcome of a call: from the journal, or by running it.

        Raises:
            ReplayError: the journal has another call in its place.
            _Paused: it waits for a person.
        """
        try:
            asked = self._new_entry(request)
        except (NameError, TypeError, ValueError) as error:
            return CallAnswer(None, error)
        entry = self._entries.get(self._number)
        if entry is not None and not entry.is_call(asked.name, asked.arguments):
            if may_have_run(entry):
                now = f"is {_call_text(asked)}"
                raise self._different(entry, now)
            self._forget_the_rest()
            entry = None
        match entry:
            case JournalEntry(state="done", outcome=outcome):
                self._number += 1
                return _answer_of(outcome or {})
            case JournalEntry(state="answered", outcome=outcome):
                return self._finish_call(entry, outcome or {})
            case JournalEntry(state="begun") | JournalEntry(state="waiting", is_foreseen=False):
                raise _Paused
            case _:
                is_approved = self._saved.approved or (entry is not None and entry.state == "approved")
                return await self._run_call(asked, approved=is_approved)

    def _new_entry(self, request: Request) -> JournalEntry:
        """Return the journal entry of a call that begins.

        Raises:
            NameError: there is no such function.
            TypeError: its arguments aren't those of the function, or aren't JSON values.
            ValueError: an argument nests too deeply, or is a number that isn't JSON.
        """
        function = self._functions.get(request.name)
        if function is None:
            raise _unknown_name(request.name, self._functions)
        return JournalEntry(function.tool, json.dumps(_arguments_of(request, function)), "begun", None)

    async def _run_call(self, entry: JournalEntry, *, approved: bool) -> CallAnswer:
        """Run a call, and write its beginning and its outcome into the journal.

        Hooks and people decide first; until then, the journal doesn't change.

        Raises:
            _Paused: it waits for a person.
        """
        before, executor = self._entries.get(self._number), self._executor

        def begin(work: Round[Any]) -> None:
            self._write(self._number, entry.replace(outcome={"approved": work.calls[0].approved}))

        token = _begin.set(begin)
        try:
            work = await executor.run(self._round(self._number, entry), context=self._context)
            if approved and work.deferred and work.deferred[0].question is None:
                work = await executor.run(work.approve(0), context=self._context)
        finally:
            _begin.reset(token)
        if work.deferred and work.deferred[0].question is None:
            outcome: dict[str, Any] = {"reason": work.deferred[0].reason}
            if before is not None and may_have_run(before):
                outcome["interrupted"] = True
            self._write(self._number, entry.replace(state="waiting", outcome=outcome))
            raise _Paused
        return self._finish_call(entry, _outcome_of(work))

    def _round(self, number: int, entry: JournalEntry) -> Round[Any]:
        raw = RawCall(f"call_{number}", entry.name, json.loads(entry.arguments))
        work: Round[Any] = self._executor.registry.toolset.offer().round([raw])
        return work

    def _finish_call(self, entry: JournalEntry, outcome: dict[str, Any]) -> CallAnswer:
        self._write(self._number, entry.replace(state="done", outcome=outcome, is_foreseen=False))
        self._number += 1
        return _answer_of(outcome)

    def _write(self, number: int, entry: JournalEntry) -> None:
        self._entries[number] = entry
        self._journal.write(self._saved, {number: entry})

    # --- calls that the program hasn't come to ---------------------------------------------------

    def _forget_the_rest(self) -> None:
        """Delete the foreseen calls from here on; none of them has run."""
        numbers = [number for number in self._entries if number >= self._number]
        self._journal.forget(self._saved, numbers)
        self._entries = {number: one for number, one in self._entries.items() if number not in numbers}

    async def _look_ahead(self, program: Program) -> None:
        """Note the calls that the program makes without the result of the waiting one; none is run."""
        ahead: Callable[[], Request | Ended | None] | None = getattr(program, "ahead", None)
        if ahead is None:
            return
        found: dict[int, JournalEntry] = {}
        for number in range(self._number + 1, self._number + 1 + self._limits.calls - self._requests):
            request = await asyncio.to_thread(ahead)
            if not isinstance(request, Request):
                break
            try:
                asked = self._new_entry(request)
                reason = await self._why_waiting(number, asked)
            except (NameError, TypeError, ValueError, HookError):
                break  # the call itself will say so
            before = self._entries.get(number)
            is_same = before is not None and before.is_call(asked.name, asked.arguments)
            if before is not None and is_same and before.state != "waiting":
                continue  # somebody has decided about it
            if reason is not None:
                found[number] = asked.replace(state="waiting", outcome={"reason": reason}, is_foreseen=True)
        stale = [
            number
            for number, one in self._entries.items()
            if one.is_foreseen and one.state == "waiting" and number not in found
        ]
        self._journal.forget(self._saved, stale)
        self._journal.write(self._saved, found)

    async def _why_waiting(self, number: int, entry: JournalEntry) -> str | None:
        """Return why a call would wait for a person, without running it; None if it wouldn't.

        Raises:
            HookError: a hook failed.
        """
        work = await self._executor.run(
            self._round(number, entry), context=self._context, hooks=_hold_back, confirm=_nobody_decides
        )
        if not work.deferred:
            return None
        if work.deferred[0].reason == _NOT_REACHED:
            work = self._round(number, entry).confirmed()
        return work.deferred[0].reason if work.deferred else None


_begin: ContextVar[Callable[[Round[Any]], None] | None] = ContextVar("operator_schema_begin", default=None)
"""The function that writes into the journal that the current call begins."""


class Beginnings:
    """A store that stores nothing; it only reports when the functions of a round begin to run."""

    async def run(self, work: Round[Any], run: Callable[..., Awaitable[Round[Any]]]) -> Round[Any]:
        """Run a round, as a store does."""
        return await run(work, _begin.get())


def _hold_back(call: ToolCall[Any]) -> Defer | Reject:
    # A call that a hook approved can't be deferred any more.
    return Reject(_NOT_REACHED) if call.approved else Defer(_NOT_REACHED)


def _nobody_decides(_: object) -> None:
    return None


async def _run_to_end(work: Callable[[], _T]) -> _T:
    """Run a function in a thread to its end, even if nobody waits for it any more."""
    return await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, work))


# --- the outcome of a call -----------------------------------------------------------------------

_ERROR_LENGTH = 2_000
_MOST_CHANGED = 10
"""How many changed calls of a program are reported to the model."""

_ERRORS: Mapping[str, type[Exception]] = {
    "invalid_params": ValueError,
    "timeout": TimeoutError,
    "rejected": PermissionError,
    "needs_approval": PermissionError,
    "disabled": PermissionError,
    "not_available": PermissionError,
}
"""The exception for a call without a result, by its code; any other is a `RuntimeError`."""


def _outcome_of(work: Round[Any]) -> dict[str, Any]:
    """Return the outcome of the only call of a round, as JSON values."""
    if work.deferred:
        asked = work.deferred[0]
        text = f"{asked.name} needs an answer from a person, which a program can't give"
        return {"code": "needs_input", "content": text, "json": None}
    turn: list[Any] = []
    work.commit(turn)
    result = turn[0].results[0]
    length: int | None = None if result.details is None else result.details.get("characters")
    if length is not None and not result.is_error:
        text = f"the result of {result.name} has {length:,} characters, which is too long: ask for less of it"
        return {"code": "result_too_long", "content": text, "json": None}
    code = result.code or ("execution_failed" if result.is_error else None)
    # A program gets the bare result; what was changed in its call is for the model that wrote it.
    line, _, text = ("", "", result.content) if result.changed is None else result.content.partition("\n")
    value = result.json
    if not result.is_error and value is None and text != "null":
        value = text
    changed = {"changed": f"{result.name}: {line}"} if line else {}
    return {
        "code": code,
        "content": clip(result.content, _ERROR_LENGTH) if code else "",
        "json": value,
        **changed,
    }


def _answer_of(outcome: Mapping[str, Any]) -> CallAnswer:
    """Return the answer for the program from the outcome of a call."""
    code = outcome["code"]
    if code is None:
        return CallAnswer(outcome["json"])
    return CallAnswer(None, _ERRORS.get(code, RuntimeError)(outcome["content"]))


def _unknown_name(name: str, known: Mapping[str, StubFunction]) -> NameError:
    """Return the error for the name of an unknown tool."""
    near = nearest(name, known)
    hint = f"; did you mean {near}?" if near else ""
    return NameError(f"name {quote(name)} is not defined{hint}")


def _arguments_of(request: Request, function: StubFunction) -> dict[str, Any]:
    """Return the arguments of a call by their keys.

    Raises:
        TypeError: there are too many arguments, one is given twice, or one isn't a JSON value.
    """
    name, parameters = request.name, function.parameters
    if parameters is None:
        given = [*request.args, *request.kwargs.values()]
        if len(given) != 1 or not is_object(given[0]) or not request.kwargs.keys() <= {"input"}:
            message = f"{name}() takes one dict"
            raise TypeError(message)
        return dict(as_json(given[0]))
    if len(request.args) > len(parameters):
        message = f"{name}() takes at most {count_of(len(parameters), 'arguments')}"
        raise TypeError(message)
    by_position = dict(zip(parameters, request.args, strict=False))
    twice = by_position.keys() & request.kwargs.keys()
    if twice:
        message = f"{name}() got {min(twice)} twice"
        raise TypeError(message)
    named = {**by_position, **request.kwargs}
    return {parameters.get(key, key): as_json(value) for key, value in named.items()}


def _call_text(entry: JournalEntry) -> str:
    return f"{entry.name}({one_line(entry.arguments, _LONGEST_ARGUMENTS)})"
