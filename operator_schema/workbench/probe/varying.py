"""How does a tool answer if one part of a call is changed?"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from ...json_values import to_json_text
from .calls import Call
from .differences import ABSENT, ComparedPart, refused_value, with_value
from .pairs import refused_pair
from .parts import value_at
from .sample_values import edge_values
from .sequences import Step
from .several_calls import call_again

if TYPE_CHECKING:
    from .calling import ToolCaller
    from .calls import ProbedTool
    from .outcomes import ProbedOutcome
    from .parts import ArgumentPart

_MOST_SOUGHT: Final = 3
"""The number of generated calls whose parts are changed until one succeeds."""


_MOST_ADDED: Final = 5
"""The number of values that are tried when an optional parameter is added to a call."""


@dataclass
class Variation:
    """A call whose parts are changed one after the other.

    Attributes:
        tool: the called tool.
        base: the call, after those that it needs.
        is_good: whether it succeeded.
        planned: the changed calls that weren't made yet.
        refused: the valid changed calls that were refused, and weren't compared yet.
        is_used_up: whether it works only once in a server; None if that isn't known yet.
    """

    tool: ProbedTool
    base: list[Step]
    is_good: bool
    planned: list[Call]
    refused: list[Call] = field(default_factory=list[Call])
    is_used_up: bool | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether something is left to do."""
        return bool(self.planned or (self.is_good and self.refused))

    @property
    def arguments(self) -> Any:
        """The arguments of the call."""
        return self.base[-1].call.arguments

    def steps_of(self, call: Call) -> list[Step]:
        """Return a changed call, after the calls whose results it uses."""
        if not self.base:
            return [Step(call)]
        links = tuple(
            link
            for link in self.base[-1].links
            if value_at(call.arguments, link[0]) is not None
            and to_json_text(value_at(call.arguments, link[0]))  # true isn't 1
            == to_json_text(value_at(self.arguments, link[0]))
        )
        return [*(self.base[:-1] if links else []), Step(call, links)]


class Variations:
    """Changes the parts of a call of each tool, one after the other.

    Args:
        caller: makes the calls.
    """

    def __init__(self, caller: ToolCaller) -> None:
        self._caller = caller
        self._by_tool: dict[str, Variation] = {}

    @property
    def done(self) -> list[str]:
        """The names of the tools with no planned call left."""
        return [name for name, each in self._by_tool.items() if not each.is_waiting]

    def make(self, share: float) -> None:
        """Make the calls that weren't made yet; the tools share the time evenly.

        Args:
            share: the part of the whole time after which this ends.
        """
        waiting = [
            name
            for name in self._caller.reading_first
            if name not in self._by_tool or self._by_tool[name].is_waiting
        ]
        for number, name in enumerate(waiting):
            self._caller.progress(f"calling {name}", number, len(waiting))
            now = monotonic()
            left = max(0.0, self._caller.limits.end_of(share) - now)
            self._vary(name, now + left / (len(waiting) - number))

    def _vary(self, name: str, until: float) -> None:
        """Make the changed calls of a tool, and go on where the last time ended."""
        caller = self._caller
        is_first = name not in self._by_tool
        if is_first:
            self._by_tool[name] = self._variation_of(name, until)
        variation = self._by_tool[name]
        until += self._renew_for(variation)
        before = caller.state_before()
        made = self._call_planned(variation, until)
        if variation.tool.is_read_only and caller.watched() != before:  # one of them did it
            for call in made:
                caller.call(variation.steps_of(call))
        if variation.is_good:
            self._compare(variation, until)
            if is_first:  # later calls of other tools may have changed what it reads
                call_again(caller, name)
        caller.evidence.show_again()

    # --- the call that is varied ---------------------------------------------------------------------

    def _variation_of(self, name: str, until: float) -> Variation:
        """Choose the call of a tool that is changed, and plan the changes."""
        caller = self._caller
        tool = caller.tools[name]
        self._seek_base(name, until)
        base = self._full_base(name)
        others = [call for call in caller.calls[name] if call.varied is None and not call.is_generated]
        planned = [*(tool.variations(base[-1].call.arguments) if base else []), *others]
        if not tool.is_read_only:
            planned.sort(key=lambda call: (call.kind != "invalid", call.magnitude()))
        return Variation(tool, base, name in caller.bases, planned)

    def _seek_base(self, name: str, until: float) -> None:
        """Change the parts of refused calls one after the other, until one succeeds."""
        caller = self._caller
        tool = caller.tools[name]
        generated = [call.arguments for call in caller.calls[name] if call.is_generated][:_MOST_SOUGHT]
        for arguments in [*map(tool.full_call, generated), *generated]:
            for call in tool.variations(arguments):
                if name in caller.bases or monotonic() > until:
                    return
                if call.kind == "valid" and caller.is_new([Step(call)]):
                    caller.call([Step(call)])

    def _full_base(self, name: str) -> list[Step]:
        """Choose the call of a tool that is changed: with all parts, if that succeeds."""
        base = self._caller.base_of(name)
        if name not in self._caller.bases or not base:
            return base
        last = base[-1]
        whole = replace(last.call, arguments=self._caller.tools[name].full_call(last.call.arguments))
        steps = [*base[:-1], last._replace(call=whole)]
        if whole.arguments == last.call.arguments:  # the order of keys may differ
            return steps
        return steps if self._succeeds(steps) else self._fullest(base, whole.arguments)

    def _succeeds(self, steps: list[Step]) -> bool:
        outcome = self._caller.call(steps)
        return outcome is not None and not outcome.is_flagged

    def _fullest(self, base: list[Step], whole: Any) -> list[Step]:
        """Add optional parameters to a call one by one, as long as it succeeds, and compare those refused."""
        tool = self._caller.tools[base[-1].call.tool]
        found: list[Step] = base
        left: list[ArgumentPart] = []
        for part in tool.parts:
            value = value_at(whole, part.path, ABSENT)
            is_there = value_at(found[-1].call.arguments, part.path, ABSENT) is not ABSENT
            if len(part.path) > 1 or is_there or value is ABSENT:
                continue
            for each in [value, *edge_values(part.schema)][:_MOST_ADDED]:
                changed = with_value(found[-1].call.arguments, part.path, each)
                steps = [*found[:-1], found[-1]._replace(call=replace(found[-1].call, arguments=changed))]
                if tool.allows(changed) and self._succeeds(steps):
                    found = steps
                    break
            else:
                left.append(part)
        for part in left:
            self._compare_pair(tool, found, part, value_at(whole, part.path))
        return found

    def _compare_pair(self, tool: ProbedTool, base: list[Step], part: ArgumentPart, value: Any) -> None:
        """Note that a parameter is refused beside another one, if nothing else is the reason."""
        variation = Variation(tool, base, is_good=True, planned=[])
        compared = self._comparison(variation, part, self._caller.limits.until)
        self._note_pair(compared, variation, value)

    def _note_pair(self, compared: ComparedPart, variation: Variation, value: Any) -> None:
        fault = refused_pair(compared, value)
        if fault is not None:
            path, name = compared.part.path, compared.tool.name
            call = Call(name, compared.with_value(value), "valid", "together", path)
            self._caller.evidence.note(fault, variation.steps_of(call), name)

    # --- the calls in its place ----------------------------------------------------------------------

    def _renew_for(self, variation: Variation) -> float:
        """Start the server if the unchanged call fails now; return the seconds that this took."""
        if variation.tool.is_read_only or not variation.is_good or len(variation.base) > 1:
            return 0.0
        outcome = self._caller.watcher.made(variation.base[-1].call)
        if not (outcome.is_lost or outcome.is_flagged):
            return 0.0
        self._caller.server.start()
        return self._caller.server.seconds_to_start

    def _call_planned(self, variation: Variation, until: float) -> list[Call]:
        """Make the changed calls of a tool as long as there is time, and return them."""
        made: list[Call] = []
        watches = not variation.tool.is_read_only
        while variation.planned and monotonic() <= until:
            call = variation.planned.pop(0)
            if call.magnitude() > self._caller.largest.get(call.tool, inf):
                continue
            made.append(call)
            outcome = self._caller.call(variation.steps_of(call), watches=watches)
            if outcome is not None and outcome.is_flagged and call.kind == "valid":
                variation.refused.append(call)
        return made

    # --- values that are refused ---------------------------------------------------------------------

    def _compare(self, variation: Variation, until: float) -> None:
        """Find values that a tool refuses although it takes others in their place."""
        caller, tool = self._caller, variation.tool
        parts = {part.path: part for part in tool.parts}
        contexts = [steps[-1].call.arguments for steps in caller.good.get(tool.name, ())]
        paired: list[ArgumentPart] = []
        while variation.refused and monotonic() <= until:
            call = variation.refused.pop(0)
            part = parts.get(call.varied or ())
            if part is None or caller.is_given_up(tool.name):
                continue
            compared = self._comparison(variation, part, until)
            found = refused_value(compared, call.arguments, contexts)
            if found is not None:
                caller.evidence.note(found, variation.steps_of(call), tool.name)
            elif value_at(variation.arguments, part.path, ABSENT) is None and part not in paired:
                paired.append(part)
                self._note_pair(compared, variation, value_at(call.arguments, part.path))
            if found is None and monotonic() > until:
                variation.refused.insert(0, call)  # some of its calls weren't made

    def _comparison(self, variation: Variation, part: ArgumentPart, until: float) -> ComparedPart:
        """Return a part for which other values are tried as long as there is time."""

        def answer(arguments: Any) -> ProbedOutcome | None:
            return self._answer(variation, arguments, until)

        return ComparedPart(variation.tool, part, variation.arguments, answer)

    def _answer(self, variation: Variation, arguments: Any, until: float) -> ProbedOutcome | None:
        """Return the answer to a changed call; None if it doesn't come, or the time is over."""
        caller = self._caller
        if monotonic() > until:
            return None
        steps = variation.steps_of(Call(variation.tool.name, arguments, "valid", "compared"))
        if variation.is_used_up is None:
            variation.is_used_up = self._is_used_up(variation)
        if variation.is_used_up:
            caller.server.start()
        outcomes = caller.watcher.made_again(steps)
        if len(outcomes) == len(steps) and not outcomes[-1].is_lost:
            caller.count(steps[-1].call, outcomes[-1])
            return outcomes[-1]
        if outcomes and outcomes[-1].is_lost:
            caller.server.start()
        return None

    def _is_used_up(self, variation: Variation) -> bool:
        """Return whether a call works only once, so that each needs a new server."""
        server, watcher = self._caller.server, self._caller.watcher
        if variation.tool.is_read_only or len(variation.base) > 1 or server.kind == "url":
            return False
        server.start()
        first, second = [watcher.made(variation.base[-1].call) for _ in range(2)]
        if first.is_lost or second.is_lost:
            server.start()
        return second.is_flagged and not first.is_flagged
