"""What does a cancelled call leave behind, and does the server go on after it?"""

from __future__ import annotations

from time import sleep
from typing import TYPE_CHECKING, Final

from .checks import AnswerFault
from .watching import State, differences_of

if TYPE_CHECKING:
    from .calls import Call
    from .watching import ServerWatcher

_CANCELLED_AFTER: Final = (0.0, 0.5, 0.2)
"""The shares of the usual time of a call after which it is cancelled."""

_LONGEST_DELAY: Final = 1.0


def fault_after_cancel(watcher: ServerWatcher, call: Call) -> AnswerFault | None:
    """Cancel a call, and return the fault that shows then; None for none. After a fault, start the server."""
    is_read_only = watcher.tools[call.tool].is_read_only
    fault = _after_reading(watcher, call) if is_read_only else _after_change(watcher, call)
    if fault is not None:
        watcher.server.start()
    return fault


def _after_reading(watcher: ServerWatcher, call: Call) -> AnswerFault | None:
    """Cancel a call of a tool that only reads several times; return the fault that shows then, or None.

    There is no fault if the call doesn't succeed twice first.
    """
    if any(outcome.is_lost or outcome.is_flagged for outcome in [watcher.made(call), watcher.made(call)]):
        return None
    before = watcher.steady_state()
    if before is None:
        return None
    for share in _CANCELLED_AFTER:
        _cancel(watcher, call, share)
    if not watcher.server.answers():
        return AnswerFault("stuck_after_cancel", (), "neither a ping nor an equal call is answered")
    left = watcher.state()
    outcome = watcher.made(call)
    if outcome.is_lost:
        return AnswerFault("stuck_after_cancel", (), "a ping is answered, and an equal call isn't")
    if outcome.is_flagged:
        said = f"an equal call, which succeeded before, is answered: {outcome.said}"
        return AnswerFault("stuck_after_cancel", (), said)
    said, now = differences_of(before, left), watcher.state()
    return AnswerFault("changed_by_cancelled", (), said) if said and now == left else None


def _after_change(watcher: ServerWatcher, call: Call) -> AnswerFault | None:
    """Cancel a call of a tool that may change something; return the fault that shows then, or None.

    Each call is made in a new server.
    """
    whole: State | None = None
    for share in _CANCELLED_AFTER[:2]:
        watcher.server.start()
        before = watcher.steady_state()
        _cancel(watcher, call, share)
        if not watcher.server.answers():
            return AnswerFault("stuck_after_cancel", (), "a ping isn't answered")
        left = watcher.state()
        if before is None or left in (before, whole):
            continue
        whole = _left_by(watcher, call, before)
        if whole not in (None, left) and _left_by(watcher, call, before) == whole:
            said = "what is there differs from before, and from what the whole call leaves"
            return AnswerFault("changed_by_cancelled", (), said)
    return None


def _left_by(watcher: ServerWatcher, call: Call, before: State) -> State | None:
    """Return the state after a call in a new server; None if it fails, or another state came before."""
    watcher.server.start()
    if watcher.state() != before:
        return None
    outcome = watcher.made(call)
    return None if outcome.is_lost or outcome.is_flagged else watcher.state()


def _cancel(watcher: ServerWatcher, call: Call, share: float) -> None:
    """Send a call, and cancel it after a share of the time that its tool last needed."""
    request = watcher.server.send(call.tool, call.arguments)
    watcher.count += 1
    sleep(min(share * watcher.seconds.get(call.tool, 0.0), _LONGEST_DELAY))
    watcher.server.channel.notify("notifications/cancelled", {"requestId": request, "reason": "probe"})
