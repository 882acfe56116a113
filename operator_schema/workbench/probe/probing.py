"""How is a server probed, from the first call to the report?"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from .calling import ToolCaller
from .calls import Call
from .checks import AnswerFault
from .definitions import faults_of_definitions
from .evidence import Evidence
from .exploring import explore
from .planning import planned_calls, refuse_idle_plan
from .probe_options import MEMORY, check_options
from .reports import LEVELS, ProbeReport
from .sequences import Step
from .several_calls import call_at_once, cancel_calls, judge_tools, repeat_equal
from .targets import server_of
from .varying import Variations
from .walking import call_in_sequences
from .watching import ProbeLimits, ServerWatcher

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from .planning import PlannedCalls
    from .reports import Plan
    from .subject import Server

_PLANNED: Final = 0.9
"""The part of the given time that is planned; the rest is for calls that aren't answered."""


def probe(
    target: Any,
    /,
    *,
    allow: Collection[str] = (),
    allow_all: bool = False,
    seconds: float = 60.0,
    calls: int = 20,
    timeout: float = 10.0,
    most_bytes: int = 1_000_000,
    seed: int = 0,
    setup: str | None = None,
    context: str | None = None,
    memory: int = MEMORY,
    env: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    on_progress: Callable[[str, int, int], None] | None = None,
) -> ProbeReport:
    """Call the tools of an MCP server with right and wrong arguments, and report faults in its answers.

    A server that the probe starts works in an empty folder, which is removed afterwards. Only tools that
    say `readOnlyHint` are called unless others are allowed.

    Args:
        target: a command, such as `"python server.py"`, as a text or as words; `"mcp:COMMAND"`; a URL;
            `"MODULE:REGISTRY"`; `"process:COMMAND"`, a program of `tools_of`; or a registry, a toolset, an
            executor or a list of tools, which then run in this process.
        allow: names of tools that may be called although they may change something.
        allow_all: whether all tools may; only for a server that the probe starts.
        seconds: the time after which the probe ends, even if not all planned calls were made.
        calls: the number of generated calls of each kind for each tool.
        timeout: the seconds in which a call has to be answered.
        most_bytes: the size up to which an answer isn't a finding.
        seed: a number; the same number makes the same calls.
        setup: a command line that prepares the working directory of the server, such as `"git init"`.
        context: for `"MODULE:REGISTRY"`, the name of what is injected, such as `"app:make_context"`.
        memory: the megabytes that each process of a started server may have; only Linux limits them.
        env: environment variables for the server, beside those that it needs to start.
        headers: headers of HTTP requests, for a URL.
        on_progress: a function that gets the present work, and the numbers of finished and of all steps.

    Returns:
        All findings, each with the smallest call that shows it.

    Raises:
        ProbeError: the server can't be reached, has no tools, or none with a name in `allow`; or none of them
            may be called.
        TypeError: an option is of another kind.
        ValueError: a number isn't above 0, or `allow_all` is given for a URL.
    """
    with closing(_open_server(locals())) as server:
        begin = monotonic()
        limits = ProbeLimits(begin + seconds * _PLANNED, calls, seed, begin)
        planned = planned_calls(server, limits, allow, allow_all=allow_all)
        refuse_idle_plan(planned.plans)
        watcher = ServerWatcher(server, planned.tools, most_bytes)
        return _report(watcher, replace(limits, start=monotonic()), planned, on_progress or _silent)


def plan(
    target: Any,
    /,
    *,
    allow: Collection[str] = (),
    allow_all: bool = False,
    calls: int = 20,
    timeout: float = 10.0,
    seed: int = 0,
    setup: str | None = None,
    context: str | None = None,
    memory: int = MEMORY,
    env: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> list[Plan]:
    """Return the plan of a probe without calling a tool; the server is started, and asked for its tools.

    It takes the arguments that `probe` takes, as far as they matter here.

    Raises:
        ProbeError: as for `probe`.
        TypeError: as for `probe`.
        ValueError: as for `probe`.
    """
    with closing(_open_server(locals())) as server:
        return planned_calls(server, ProbeLimits(inf, calls, seed), allow, allow_all=allow_all).plans


def _silent(_: str, __: int, ___: int) -> None:
    """Show no progress."""


def _open_server(given: Mapping[str, Any]) -> Server:
    """Check the arguments of `probe` or `plan`, and return the server; it isn't started yet."""
    options = {name: value for name, value in given.items() if name != "target"}
    check_options(options)
    named = {name: options[name] for name in ("setup", "timeout", "context", "memory")}
    maps: dict[str, Any] = {name: options[name] or {} for name in ("env", "headers")}
    return server_of(given["target"], **named, **maps)


def _report(
    watcher: ServerWatcher,
    limits: ProbeLimits,
    planned: PlannedCalls,
    progress: Callable[[str, int, int], None],
) -> ProbeReport:
    """Make the planned calls and those that follow from them, and report the faults."""
    server = watcher.server
    caller = ToolCaller(watcher, limits, planned.calls, progress, Evidence(watcher, limits))
    notes = tuple(server.notes())
    caller.hear_noise(None, [])
    found = faults_of_definitions(server, planned.tools)
    _call_unknown_tool(caller)
    done = _make_calls(caller)
    is_all = planned.is_complete and len(done) == len(planned.calls)
    caller.is_complete = caller.is_complete and is_all
    judge_tools(caller, done)
    found += caller.evidence.settled(progress)
    return ProbeReport(
        server.target,
        [each for level in LEVELS for each in found if each.finding.severity == level],
        [*map(caller.with_numbers, planned.plans)],
        watcher.count,
        server.restarts,
        caller.evidence.unrepeated,
        caller.is_complete and caller.evidence.is_in_time,
        limits.seed,
        notes,
    )


def _call_unknown_tool(caller: ToolCaller) -> None:
    call = Call("probe_no_such_tool", {}, "invalid", "a tool that doesn't exist")
    outcome = caller.watcher.made(call)
    if outcome.result is not None and not outcome.is_flagged:
        said = f"it answers: {outcome.said}"
        caller.evidence.note(AnswerFault("unknown_tool_accepted", (), said), [Step(call)], None)


def _make_calls(caller: ToolCaller) -> list[str]:
    """Call the tools in each way, one after the other; return the tools with no planned call left."""
    names = [name for name in caller.calls if not caller.tools[name].problems({})]
    caller.watcher.find_observers([Call(name, {}, "valid", "to see the state") for name in names])
    # Each way of calling gets the time until a share of the whole is over.
    explore(caller, 0.3)
    is_explored = caller.is_complete  # else some values of answers weren't tried
    variations = Variations(caller)
    variations.make(0.5)
    variations.make(0.5)  # what others left of their time
    repeat_equal(caller, 0.55)
    call_at_once(caller, 0.58)
    cancel_calls(caller, 0.63)
    variations.make(0.75)
    call_in_sequences(caller, 0.85)
    return variations.done if is_explored else []
