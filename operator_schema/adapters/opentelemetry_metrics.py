"""Metrics of OpenTelemetry: how long calls take, what people decide, and how many rounds a store has."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from opentelemetry.metrics import Observation

from ..json_values import without_surrogates
from ..message_text import clip
from ..rounds import ON_COMMIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from opentelemetry.metrics import CallbackOptions, Counter, Histogram, Meter

    from ..rounds import Round, Store, ToolCall

_DURATION: Final = "gen_ai.execute_tool.duration"
_APPROVALS: Final = "operator_schema.approvals"
APPROVAL: Final = "operator_schema.approval"
_BUCKETS: Final = tuple([0.01 * 2**power for power in range(14)])
"""The bounds of the histogram in seconds, from the conventions for `gen_ai.client.operation.duration`."""

NAME_LENGTH: Final = 200


def observe_store(store: Store, meter: Meter) -> None:
    """Measure how many rounds of a store wait, run and are stuck, whenever the meter is read.

    The gauge `operator_schema.store.rounds` has a value for each `operator_schema.round.state`: `deferred`,
    `pending`, `complete`, `running` and `stuck`. The gauge `operator_schema.store.oldest` is the seconds for
    which the oldest deferred round has waited; 0 if there is none. One process of a desk is enough for that.

    Args:
        store: is counted in a thread of the meter.
        meter: such as `metrics.get_meter("desk")`.
    """

    def rounds(_: CallbackOptions) -> Iterable[Observation]:
        counts = store.counts()
        return [Observation(getattr(counts, state), {_STATE: state}) for state in _STATES]

    def oldest(_: CallbackOptions) -> Iterable[Observation]:
        return [Observation(store.counts().oldest or 0.0)]

    meter.create_observable_gauge(
        "operator_schema.store.rounds", [rounds], "{round}", "Rounds in a store, by what they wait for"
    )
    meter.create_observable_gauge(
        "operator_schema.store.oldest", [oldest], "s", "How long the oldest round has waited for a person"
    )


_STATE: Final = "operator_schema.round.state"
_STATES: Final = ("deferred", "pending", "complete", "running", "stuck")


def histogram_in(meter: Meter | None) -> Histogram | None:
    """Return the histogram of the durations of calls in a meter."""
    if meter is None:
        return None
    about = "How long a call of a tool took, from its arguments to its result"
    return meter.create_histogram(_DURATION, "s", about, explicit_bucket_boundaries_advisory=_BUCKETS)


def approvals_in(meter: Meter | None) -> Approvals | None:
    """Return the counter of decisions in a meter, the same for all hooks with this meter."""
    if meter is None:
        return None
    if _count_committed not in ON_COMMIT:
        ON_COMMIT.append(_count_committed)
    found = _COUNTED.get(meter)
    if found is None:
        about = "Calls that waited for a person and ended, by what was decided"
        found = _COUNTED[meter] = Approvals(meter.create_counter(_APPROVALS, "{call}", about))
    return found


class Approvals:
    """The counter of calls that waited for a person and ended; it counts each call of a round once."""

    KEPT = 10_000
    """The number of the latest calls that are known to be counted."""

    def __init__(self, counter: Counter) -> None:
        self._counter = counter
        self._known: dict[tuple[str, int], None] = {}
        self._lock = Lock()

    def add(self, name: str, decision: str) -> None:
        """Count a call."""
        self._counter.add(1, {"gen_ai.tool.name": bounded(name), APPROVAL: decision})

    def add_once(self, work: Round[Any], call: ToolCall[Any], decision: str) -> None:
        """Count a call of a round, unless it was counted before."""
        key = work.id, call.index
        with self._lock:
            if key in self._known:
                return
            self._known[key] = None
            if len(self._known) > self.KEPT:
                del self._known[next(iter(self._known))]
        self.add(call.name, decision)


_COUNTED: WeakKeyDictionary[Meter, Approvals] = WeakKeyDictionary()


def _count_committed(work: Round[Any]) -> None:
    """Count the calls of a committed round that a person decided about and no executor ran."""
    for approvals in list(_COUNTED.values()):
        for call in work.calls:
            decision = _decided_without_run(call)
            if decision is not None:
                approvals.add_once(work, call, decision)


def _decided_without_run(call: ToolCall[Any]) -> str | None:
    """Return the decision about a call that waited and that no executor ran; None for others."""
    if call.deferred_at is None:
        return None
    if call.code in DECISIONS:
        return DECISIONS[call.code]
    has_run = call.by == "executor" or (call.by == "host" and call.has_input and call.tool.has_function)
    return None if has_run else "approved"


DECISIONS: Final[Mapping[str | None, str]] = {
    "rejected": "rejected",
    "needs_approval": "none",
    "expired": "expired",
}
"""The decision about a call that waited for a person, by the code of its result."""


def bounded(text: str, limit: int = NAME_LENGTH) -> str:
    """Return a foreign text in a form that every exporter takes: bounded, without lone surrogates."""
    return clip(without_surrogates(text), limit)
