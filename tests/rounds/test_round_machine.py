"""Random toolsets, turns, hooks and decisions, with a save and restore between any two steps.

The model beside it is a list of words: what each call is at. It knows which tool wants a person and which one
asks, and nothing of how plans work.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from operator_schema import (
    Complete,
    DecodeError,
    Defer,
    Executor,
    NeedsInput,
    Offer,
    RawCall,
    Registry,
    Reject,
    RoundError,
    RunNormally,
    ToolResult,
    Toolset,
    Transcript,
    hook,
    skip,
    tool,
    tool_input,
)
from operator_schema.rounds import CommitError, HookError, Hooks, OfferError

RAN: list[int] = []
"""The tags of the calls whose functions have run."""


@tool
def plain(tag: int, text: str = "x") -> str:
    """Do something."""
    RAN.append(tag)
    return text


@tool(confirm=True)
async def guarded(tag: int, text: str = "x") -> dict[str, int]:
    """Do something that a person has to agree to."""
    RAN.append(tag)
    return {text: tag}


@tool
def asking(tag: int, text: str = "x", answer: Annotated[int | None, skip] = None) -> int:
    """Ask first."""
    if answer is None:
        raise NeedsInput(f"how many for {text}?")
    RAN.append(tag)
    return answer


@tool
def failing(tag: int, text: str = "x") -> None:
    """Fail."""
    RAN.append(tag)
    raise ValueError(text)


@dataclass
class Order:
    """Order something."""

    tag: int
    text: str = "x"


order = tool_input(Order)
WITH_FUNCTION = (plain, guarded, asking, failing)
POOL = (*WITH_FUNCTION, order)
_DEEPEST = 4


@st.composite
def toolsets(draw: st.DrawFn, depth: int = _DEEPEST) -> Toolset[Any]:
    members: list[Any] = []
    chosen = draw(st.permutations(POOL))[: draw(st.integers(depth == _DEEPEST, 4))]
    for one in chosen:
        form = draw(st.sampled_from(["as it is", "as it is", "as it is", "hidden", "registry", "disabled"]))
        member: Any = one
        if form == "registry":
            member = Registry([one])
        elif form == "disabled":
            member = Toolset(one).switch(one, enabled=False)
        members.append(Toolset(member).hide(member) if form == "hidden" else member)
    if depth > 1 and draw(st.booleans()):
        inner = draw(toolsets(depth=depth - 1)).prefix(f"d{depth}_")
        members.insert(
            draw(st.integers(0, len(members))), draw(st.sampled_from([inner.hide(inner), [inner]]))
        )
    return Toolset(*members)


def offer_of(toolset: Toolset[Any], data: st.DataObject) -> Offer[Any]:
    names = st.lists(st.sampled_from(toolset.names), max_size=3) if toolset.names else st.just([])
    chosen: dict[str, Any] = data.draw(
        st.sampled_from([{}, {"only": toolset}])
        | names.map(lambda found: {"only": found})
        | names.map(lambda found: {"also": [*found, *found]})
    )
    required = data.draw(st.sampled_from([None, "any", *toolset.names[:1], *toolset.names]))
    offered = toolset.offer(**chosen).names
    try:
        return toolset.offer(**chosen, required=required)
    except OfferError:
        assert not offered or (required != "any" and required not in offered)
        return toolset.offer(**chosen)


def base(name: str) -> str:
    return name.rpartition("_")[2]


DECISIONS = [
    "none",
    "same",
    "edit",
    "in place",
    "in place and returned",
    "complete",
    "reject",
    "defer",
    "defer for two",
    "approve",
    "raise",
    "nonsense",
]


class Step:
    """A hook with one decision for all calls that it is asked about."""

    def __init__(self, decision: str, is_async: bool) -> None:
        self.decision = decision
        self.is_async = is_async

    def decide(self, call: Any) -> Any:
        match self.decision:
            case "same":
                return RunNormally()
            case "edit":
                return RunNormally(type(call.input)(call.input.tag, "edited"))
            case "in place":
                call.input.text += "changed"
                call.raw.arguments and call.raw.arguments.clear() if isinstance(
                    call.raw.arguments, dict
                ) else None
                return None
            case "in place and returned":
                call.input.text += "edited"
                return RunNormally(call.input)
            case "complete":
                outputs: dict[str, Any] = {
                    "plain": "done",
                    "guarded": {"done": 1},
                    "asking": 1,
                    "failing": None,
                }
                return Complete(outputs.get(base(call.name)))
            case "reject":
                return Reject("no")
            case "defer":
                return Defer("wait")
            case "defer for two":
                return Defer("wait for two", expires_in=1e6, approvals=2)
            case "approve":
                return RunNormally(approved=True)
            case "raise":
                raise LookupError(self.decision)
            case "nonsense":
                return "nonsense"
        return None

    def __call__(self, call: Any) -> Any:
        if not self.is_async:
            return self.decide(call)

        async def later() -> Any:
            await asyncio.sleep(0)
            return self.decide(call)

        return later()


class RoundMachine(RuleBasedStateMachine):
    @precondition(lambda self: not self.is_open)
    @rule(data=st.data(), toolset=toolsets())
    def another_turn(self, data: st.DataObject, toolset: Toolset[Any]) -> None:
        self.begin_with(data, toolset)

    @initialize(data=st.data(), toolset=toolsets())
    def begin(self, data: st.DataObject, toolset: Toolset[Any]) -> None:
        self.begin_with(data, toolset)

    def begin_with(self, data: st.DataObject, toolset: Toolset[Any]) -> None:
        RAN.clear()
        self.toolset, self.offer = toolset, offer_of(toolset, data)
        self.executor = Executor(toolset)
        self.transcript = Transcript()
        self.is_open = True
        self.sent: list[str] = []
        self.model: list[str] = []
        self.approved: set[int] = set()
        self.answered: set[int] = set()
        self.names: list[str] = []
        self.needed: dict[int, int] = {}
        self.agreed: dict[int, list[str]] = {}
        self.people: dict[int, list[tuple[str, str | None, str]]] = {}
        known = {"about": data.draw(st.sampled_from([None, {"by": ["ü"]}, 5])), "conversation": None}
        known["conversation"] = data.draw(st.sampled_from([None, "7", "ü 7"]))
        calls = [self.call(data, tag) for tag in range(data.draw(st.sampled_from([3, 4, 5, 2, 1, 6, 0])))]
        self.round = self.offer.round(iter(calls), assistant={"text": "said"}, **known)
        self.plan = self.round
        for call in calls:  # what the caller does with its own objects changes nothing
            if isinstance(call.arguments, dict):
                call.arguments["tag"] = "changed"

    def call(self, data: st.DataObject, tag: int) -> RawCall:
        kind = data.draw(st.sampled_from([*["valid"] * 9, "unavailable", "unknown", "invalid", "not JSON"]))
        names = self.toolset.names if kind == "unavailable" else self.offer.names
        kind = "valid" if kind == "unavailable" else kind
        name = data.draw(st.sampled_from(names)) if kind != "unknown" and names else "nothing"
        arguments: Any = {"tag": tag, "text": data.draw(st.sampled_from(["x", "y"]))}
        if kind == "invalid":
            arguments = data.draw(st.sampled_from([{"tag": "x"}, '{"tag": ', "", None, [1], 5]))
        elif kind == "not JSON":
            arguments["more"] = float("nan")
        elif data.draw(st.booleans()):
            arguments = json.dumps(arguments)
        call_id = data.draw(st.sampled_from(["a", "b", f"c{tag}"]))
        is_valid = kind == "valid" and name in self.offer.names
        self.model.append("pending" if is_valid else "issue")
        self.sent.append(repr((call_id, name, arguments)))
        self.names.append(base(name))
        return RawCall(call_id, name, arguments)

    # --- what may happen ---------------------------------------------------------------------------

    def at(self, *kinds: str) -> list[int]:
        return [index for index, kind in enumerate(self.model) if kind in kinds]

    def decide(self, index: int, steps: list[Step]) -> bool:
        """Say what hooks make of a call; False if one fails."""
        was_approved, waits = index in self.approved, False
        self.needed[index], self.agreed[index] = 1, []
        for step in steps:
            match step.decision:
                case "raise" | "nonsense" | "in place":
                    if not was_approved:
                        self.approved.discard(index)
                    return False
                case "complete" | "reject":
                    self.model[index] = {"complete": "handled", "reject": "rejected"}[step.decision]
                    return True
                case "defer" | "defer for two" if index not in self.approved:
                    waits = True
                    self.needed[index] = 2 if step.decision == "defer for two" else self.needed[index]
                case "approve":
                    self.approved.add(index)
        self.want_person(index)
        if waits:
            self.model[index] = "deferred"
        return True

    def who(self, index: int, kind: str, data: st.DataObject) -> dict[str, Any]:
        """Draw who decides, which the record will say."""
        by, words = data.draw(st.sampled_from([None, "anna", "ben"])), data.draw(st.sampled_from(["", "ok"]))
        self.people.setdefault(index, []).append((kind, by, words))
        return {"by": by, "words": words}

    def want_person(self, index: int) -> None:
        if self.names[index] == "guarded" and index not in self.approved:
            self.model[index] = "deferred"

    def predict(self, steps: list[Step]) -> bool:
        return all(self.decide(index, steps) for index in self.at("pending"))

    @rule(
        steps=st.lists(st.builds(Step, st.sampled_from(DECISIONS), st.booleans()), max_size=3),
        bound=st.booleans(),
    )
    @precondition(lambda self: self.is_open)
    def hooks(self, steps: list[Step], bound: bool) -> None:
        sources: list[Any] = list(steps)
        if bound and self.toolset.names:
            sources = [hook(*self.toolset.names)(_Function(step)) for step in steps]
        hooks = Hooks(*sources, toolset=self.toolset if bound else None)
        will_pass = self.predict(steps)
        try:
            self.plan = asyncio.run(self.plan.apply(hooks))
        except HookError as error:
            assert not will_pass
            self.plan = error.round
        else:
            assert will_pass

    @rule()
    @precondition(lambda self: self.is_open)
    def execute(self) -> None:
        for index in self.at("pending"):
            self.want_person(index)
        before = list(RAN)
        pending = self.at("pending")
        self.plan = self.executor.run_sync(self.plan)
        ran = sorted(RAN[len(before) :])
        expected = []
        for index in pending:
            name = self.plan.calls[index].name  # what it hides was asked for by the offer
            disabled = not self.toolset.switched_tools.is_enabled(name, None, asked_for=True)
            if self.names[index] == "asking" and index not in self.answered and not disabled:
                self.model[index] = "deferred"
                continue
            if self.names[index] == "order":
                continue  # it has no function
            self.model[index] = "handled"
            if not disabled:
                expected.append(index)
        assert ran == expected
        assert len(set(RAN)) == len(RAN)

    @rule(data=st.data())
    @precondition(lambda self: self.is_open and self.at("deferred"))
    def a_person_rejects(self, data: st.DataObject) -> None:
        index = data.draw(st.sampled_from(self.at("deferred")))
        self.plan = self.plan.reject(index, "a person said no", **self.who(index, "reject", data))
        self.model[index] = "rejected"

    @rule(data=st.data())
    @precondition(lambda self: self.is_open and self.at("deferred"))
    def a_person_lets_all_go_on(self, data: st.DataObject) -> None:
        for index in data.draw(st.permutations(self.at("deferred"))):
            self.go_on(index, data)

    @rule(data=st.data())
    @precondition(lambda self: self.is_open and self.at("deferred"))
    def a_person_lets_one_go_on(self, data: st.DataObject) -> None:
        self.go_on(data.draw(st.sampled_from(self.at("deferred"))), data)

    def go_on(self, index: int, data: st.DataObject) -> None:
        waiting: Any = self.plan.calls[index]
        if waiting.question is not None:
            with pytest.raises(RoundError):
                self.plan.approve(index)
            with pytest.raises(DecodeError):
                self.plan.answer(index, "many")
            self.plan = self.plan.answer(index, 3, **self.who(index, "answer", data))
            self.answered.add(index)
        else:
            with pytest.raises(RoundError):
                self.plan.answer(index, 3)
            is_changed = data.draw(st.booleans())
            changed = type(waiting.input)(waiting.input.tag, "by a person") if is_changed else None
            is_other = changed is not None and changed != waiting.input
            who = self.who(index, "approve", data)
            agreed = [] if is_other else self.agreed.get(index, [])
            if self.needed.get(index, 1) > 1 and (who["by"] is None or who["by"] in agreed):
                self.people[index].pop()
                with pytest.raises(RoundError):
                    self.plan.approve(index, input=changed, **who)
                return
            self.plan = self.plan.approve(index, input=changed, **who)
            if is_changed:
                assert self.plan.calls[index].input == changed
            self.agreed[index] = [*agreed, who["by"]]
            if len(self.agreed[index]) < self.needed.get(index, 1):
                assert self.plan.calls[index].approved_by == tuple(self.agreed[index])
                return
        self.approved.add(index)
        self.model[index] = "pending"

    @rule(data=st.data())
    @precondition(lambda self: self.is_open)
    def a_wrong_decision(self, data: st.DataObject) -> None:
        others = [index for index, kind in enumerate(self.model) if kind != "deferred"]
        wrong: Any = data.draw(st.sampled_from([*others, "z", 99]))
        with pytest.raises(RoundError):
            self.plan.approve(wrong)
        with pytest.raises(RoundError):
            self.plan.answer(wrong, 1)
        if wrong not in self.at("pending"):
            with pytest.raises(RoundError):
                self.plan.reject(wrong)

    @rule(data=st.data())
    @precondition(lambda self: self.is_open and self.at("pending"))
    def the_host_runs_one(self, data: st.DataObject) -> None:
        index = data.draw(st.sampled_from(self.at("pending")))
        call: Any = self.plan.calls[index]
        self.plan = self.plan.with_results(
            [call.handled(None, by="host") if self.names[index] == "order" else _result(call)]
        )
        changed = [at for at, state in enumerate(self.plan.calls) if state.state == "handled"]
        found = [at for at in changed if self.model[at] != "handled"]
        assert len(found) == 1  # of several with one id and one name, the first gets it
        self.model[found[0]] = "handled"

    @rule(secret=st.sampled_from([None, b"a key of 16 bytes"]))
    def save_and_restore(self, secret: bytes | None) -> None:
        saved = self.plan.as_dict(secret=secret)
        restored = self.toolset.restore_round(json.loads(json.dumps(saved)), secret=secret)
        assert restored.as_dict(secret=secret) == saved
        assert restored == self.plan
        assert (restored.about, restored.conversation) == (self.plan.about, self.plan.conversation)
        for one, other in zip(restored.calls, self.plan.calls, strict=True):
            assert (one.expires_at, one.approvals) == (other.expires_at, other.approvals)
            assert [made.when for made in one.decisions] == [made.when for made in other.decisions]
        if self.is_open:
            self.plan = restored

    # --- the end -----------------------------------------------------------------------------------

    @rule(data=st.data())
    @precondition(lambda self: self.is_open)
    def a_wrong_commit(self, data: st.DataObject) -> None:
        results = [_result(self.plan.calls[index]) for index in self.at("pending")]
        wrong = data.draw(st.sampled_from(["missing", "unknown", "twice", "name", "decided"]))
        decided = self.at("handled", "rejected")
        if wrong == "missing" and results:
            results.pop(data.draw(st.integers(0, len(results) - 1)))
        elif wrong == "twice" and results:
            results.append(results[0])
        elif wrong == "name" and results:
            results[0] = results[0].replace(name="another")
        elif wrong == "decided" and decided:
            results.append(_result(self.plan.calls[decided[0]]))
            if any(self.plan.calls[decided[0]].id == self.plan.calls[at].id for at in self.at("issue")):
                return  # it may be meant for the issue
        else:
            results.append(ToolResult("z", "nothing", ""))
        same_id = {result.call_id for result in results if result.name != "another"}
        if wrong == "twice" and any(self.plan.calls[at].id in same_id for at in self.at("issue")):
            return  # the second one may be meant for an issue with the same id
        with pytest.raises(CommitError):
            self.plan.commit(self.transcript, results=results)
        assert len(self.transcript) == 0

    @rule(data=st.data())
    @precondition(lambda self: self.is_open and not self.at("deferred"))
    def commit(self, data: st.DataObject) -> None:
        if self.at("pending") and data.draw(st.integers(0, 5)):
            return
        results = [_result(self.plan.calls[index]) for index in self.at("pending")]
        turn = self.plan.commit(self.transcript, results=data.draw(st.permutations(results)))
        assert list(self.transcript) == [turn]
        assert [result.call_id for result in turn.results] == [call.id for call in turn.calls]
        assert [result.name for result in turn.results] == [call.name for call in turn.calls]
        assert len(turn.calls) == len(self.model)
        assert turn.assistant == {"text": "said"}
        assert turn.about == self.plan.about
        assert turn.decisions in {(), tuple([call.decisions for call in self.plan.calls])}
        self.is_open = False

    @rule(chance=st.integers(0, 9))
    @precondition(lambda self: self.is_open)
    def discard(self, chance: int) -> None:
        if chance < 9:
            return
        self.plan.discard()
        self.is_open = False

    @rule()
    @precondition(lambda self: not self.is_open)
    def after_the_end(self) -> None:
        before = list(self.transcript)
        for attempt in (
            lambda: self.plan.commit(self.transcript, results=[]),
            self.plan.discard,
            lambda: self.plan.approve(0),
            lambda: asyncio.run(self.plan.apply()),
            lambda: self.plan.with_results([]),
        ):
            with pytest.raises((RoundError, CommitError)):
                attempt()
        assert list(self.transcript) == before

    # --- what always holds -------------------------------------------------------------------------

    @invariant()
    def each_call_is_at_what_the_model_says(self) -> None:
        plan: Any = getattr(self, "plan", None)
        if plan is None:
            return
        assert [call.state for call in plan.calls] == self.model
        parts = [plan.pending, plan.handled, plan.rejected, plan.deferred, plan.issues]
        assert sorted(state.index for part in parts for state in part) == list(range(len(self.model)))
        assert [state.index for state in plan.calls] == list(range(len(self.model)))

    @invariant()
    def the_record_has_what_people_decided(self) -> None:
        plan: Any = getattr(self, "plan", None)
        for call in plan.calls if plan else ():
            found = [(one.kind, one.by, one.words) for one in call.decisions if one.decider == "person"]
            assert found == self.people.get(call.index, [])

    @invariant()
    def the_calls_are_those_that_the_model_sent(self) -> None:
        plan: Any = getattr(self, "plan", None)
        for state, sent in zip(plan.calls if plan else (), self.sent if plan else (), strict=True):
            call = state.raw
            if "nan" not in sent:
                assert repr((call.id, call.name, call.arguments)) == sent


class _Function:
    """What `hook` can mark: an object of its own for each use."""

    def __init__(self, step: Step) -> None:
        self.step = step

    def __call__(self, call: Any) -> Any:
        return self.step(call)


def _result(state: Any) -> ToolResult:
    return ToolResult(state.id, state.name, "by the host")


TestRounds = pytest.mark.needs_threads(RoundMachine.TestCase)
TestRounds.settings = settings(
    max_examples=3 * settings().max_examples // 5, stateful_step_count=25, deadline=None
)
