"""What does a bad call cost, with the full report?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from .. import types_
from ..contestants import CONTESTANTS, OURS, Cant, chosen, job_of
from ..measure import Entry, Plan, check, hot, race, samplers
from ..samples import FAILING_EVENT

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..contestants import Contestant

TITLE = "A decode that fails"
HOW = (
    "`attendees[7].optional` of an Event is a string; the report is the text for the model where a library "
    "makes one, pydantic's is `.errors()`"
)
UNIT = "s"

DATA_ALONE = f"{OURS}, .findings alone"


def run(plan: Plan) -> dict[str, dict[str, Entry]]:
    """Measure every contestant that refuses the call."""
    entrants = samplers(chosen(quick=plan.quick), partial(_sampler, plan, "report"))
    entrants[DATA_ALONE] = samplers(CONTESTANTS[:1], partial(_sampler, plan, "problems"))[OURS]
    return {"Event": race("failing decode", entrants, plan)}


def _sampler(plan: Plan, job: str, contestant: Contestant) -> Callable[[], float]:
    make = job_of(contestant, job)

    def says_where(report: Callable[[object], object]) -> bool:
        reported = report(FAILING_EVENT)
        if reported is None:
            message = "can't: accepts it"
            raise Cant(message)
        text = str(reported)
        return all(part in text for part in ("attendees", "7", "optional"))

    report = check(lambda: make(types_.Event), says_where)
    return hot(report, FAILING_EVENT, plan.seconds)
