"""Which tools of a server are called, and with which calls?"""

from __future__ import annotations

from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple

from ...json_values import to_json_text
from ...message_text import listed, quote
from ...similar_names import nearest
from .calls import Call, ProbedTool
from .drawing import storing_nothing
from .probe_error import ProbeError
from .reports import KINDS, MAY_CHANGE, NO_TIME, Plan

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from .subject import Server
    from .watching import ProbeLimits

_PLANNING: Final = 0.3
"""The part of the time for reading tools and planning their calls, after the server has started."""


class PlannedCalls(NamedTuple):
    """The calls of a probe that are planned before the first one is made.

    Attributes:
        tools: name to definition, without the tools for which there was no time.
        plans: the numbers of calls of each tool, or why it isn't called.
        calls: name to calls, for each tool that is called.
    """

    tools: dict[str, ProbedTool]
    plans: list[Plan]
    calls: dict[str, list[Call]]

    @property
    def is_complete(self) -> bool:
        """Whether there was time to look at all tools."""
        return not any(plan.reason == NO_TIME for plan in self.plans)


def planned_calls(
    server: Server, limits: ProbeLimits, allow: Collection[str], *, allow_all: bool
) -> PlannedCalls:
    """Start a server, read its tools, and plan their calls.

    Args:
        server: the server, which is started.
        limits: the limits of the probe.
        allow: names of tools that may be called although they may change something.
        allow_all: whether all tools may be called.

    Raises:
        ProbeError: the server can't be started, or has no tool of a name that is allowed.
        ValueError: all tools are allowed of a server that isn't started here.
    """
    if allow_all and server.place is None:
        message = "allow_all is for servers that the probe starts: name the tools in allow"
        raise ValueError(message)
    server.start()
    described = {each["name"]: each for each in server.list_tools()}
    _refuse_unknown(allow, described)
    limits = replace(limits, start=monotonic())  # a slow start takes no tool away
    work = None if server.place is None else str(server.place.work)
    planned = PlannedCalls({}, [], {})
    with storing_nothing():
        for name, each in described.items():
            if planned.plans and not limits.left(_PLANNING):
                numbers = dict.fromkeys(KINDS, 0)
                planned.plans.append(
                    Plan(name, reason=NO_TIME, is_called=False, numbers=numbers, example=None)
                )
                continue
            tool = planned.tools[name] = ProbedTool.of(each, work)
            plan, calls = _plan_of(tool, limits, is_allowed=allow_all or name in allow)
            planned.plans.append(plan)
            if plan.is_called:
                planned.calls[name] = calls
    return planned


def _refuse_unknown(allow: Iterable[str], described: Collection[str]) -> None:
    """Refuse the name of a tool that the server doesn't have.

    Raises:
        ProbeError: there is one.
    """
    for name in allow:
        if name not in described:
            near = nearest(name, described)
            there = listed(list(described)) or "none"
            hint = f"did you mean {quote(near)}?" if near else f"the server has {there}"
            message = f"there is no tool {quote(name)} to allow; {hint}"
            raise ProbeError(message)


def refuse_idle_plan(plans: Sequence[Plan]) -> None:
    """Refuse a probe that calls nothing, which would find nothing.

    Raises:
        ProbeError: no tool may be called.
    """
    if all(each.needs_allow for each in plans):
        names = listed([quote(each.tool) for each in plans])
        said = "no tool was called, since none says readOnlyHint: name some"
        messages = [f"{said} {how}, of {names}" for how in ("in allow=", "with --allow")]
        raise ProbeError(*messages)


def _plan_of(tool: ProbedTool, limits: ProbeLimits, *, is_allowed: bool) -> tuple[Plan, list[Call]]:
    """Return whether a tool is called, and its calls."""
    is_called = tool.is_read_only or is_allowed
    reason = "it says that it only reads" if tool.is_read_only else "it is allowed"
    if not is_called:
        reason = MAY_CHANGE
    elif tool.codec is None:
        is_called, reason = False, "its input schema can't be read as a whole"
    calls = tool.calls(limits.calls, limits.seed) if is_called else []
    if is_called and not calls:
        is_called, reason = False, "no call was found that its schema allows, and none that it refuses"
    numbers = {kind: sum(call.kind == kind for call in calls) for kind in KINDS}
    valid = [call.arguments for call in calls if call.kind == "valid"]
    example = min(valid, key=lambda each: len(to_json_text(each)), default=None)
    return Plan(tool.name, is_called, reason, numbers, example), calls
