"""How often a text about a wrong call ends with the right one."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from typing import Any, NamedTuple

from mistakes import KINDS, NOT_TO_COPY, OPTIONAL, Wrong, repeatable, wrong_call
from right_calls import RightCall

from operator_schema import DecodeError, Executor, RawCall, Toolset
from operator_schema.testing import ToolDouble

SHARE_WITH_LINE = 0.90
SHARE_RIGHT = 0.99
TRIES_A_KIND = 2
PAIRS_A_CALL = 4
TOOLS_BESIDE = 9
LINE = "send: "


class Verdict(NamedTuple):
    """What came of a wrong call.

    Attributes:
        outcome: without repair: `right`, `wrong` or `broken` (what the last line is), `no line`, or `same` or
            `other`, of a call that isn't refused.
        repaired: with repair: `same`, `other` or `refused`.
        text: what the model reads; the instance where there is no such text.
    """

    outcome: str
    repaired: str
    text: str


class Score(NamedTuple):
    """What came of some wrong calls.

    Attributes:
        counts: by kind and outcome.
        repaired: by kind and what repair made of them.
        characters: of the texts, by kind.
        found: kinds and outcome, what was sent, what came back; of all that shouldn't be.
    """

    counts: Counter[tuple[str, str]]
    repaired: Counter[tuple[str, str]]
    characters: Counter[str]
    found: list[tuple[str, str, str]]

    @classmethod
    def of_nothing(cls) -> Score:
        """Return one to count in."""
        return cls(Counter(), Counter(), Counter(), [])

    def add(self, other: Score) -> None:
        """Count what another one counted."""
        for mine, theirs in zip(self[:3], other[:3], strict=True):
            mine.update(theirs)
        self.found.extend(other.found)


def last_line(text: str) -> Any:
    """Return what the last line tells the model to send, or None; raise ValueError where that isn't JSON."""
    line = text.rsplit("\n", 1)[-1]
    return json.loads(line.removeprefix(LINE)) if line.startswith(LINE) else None


def judge(call: RightCall, wrong: Wrong, tools: list[Any]) -> Verdict:
    """Send a wrong call, and look at what comes back.

    Args:
        call: the right one.
        wrong: the call that is sent.
        tools: some of them are offered beside the one that is meant.
    """
    if wrong.name != call.subject.name:
        return _judge_names(call, wrong, tools)
    try:
        decoded = call.subject.codec.decode(wrong.arguments)
    except DecodeError as error:
        text = str(error)
        outcome = _outcome(call, text, last_line(text))
    else:
        text, outcome = repr(decoded), ("same" if _is_same(decoded, call.decoded) else "other")
    return Verdict(outcome, _repaired(call, wrong.arguments), text)


def _outcome(call: RightCall, text: str, sent: Any) -> str:
    if sent is None:
        return "broken" if f"\n{LINE}" in text else "no line"
    try:
        decoded = call.subject.codec.decode(sent)
    except DecodeError:
        return "broken"
    return "right" if _is_same(decoded, call.decoded) else "wrong"


def _is_same(decoded: Any, right: Any) -> bool:
    return bool(decoded == right) and _shown(decoded) == _shown(right)


def _shown(value: Any) -> Any:
    """Return a value so that true isn't 1, but 4.0 is 4; the order of keys is nothing that differs."""
    if isinstance(value, dict):
        return {key: _shown(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_shown(inner) for inner in value]
    return re.sub(r"(\d)\.0\b", r"\1", repr(value))


def _repaired(call: RightCall, arguments: Any) -> str:
    try:
        decoded = call.subject.repairing.decode(arguments)
    except DecodeError:
        return "refused"
    return "same" if _is_same(decoded, call.decoded) else "other"


# --- names of tools ------------------------------------------------------------------------------------


@cache
def _executors(tools: tuple[Any, ...]) -> tuple[Executor, Executor]:
    doubles = Toolset(*[ToolDouble(tool, "done") for tool in tools])
    return Executor(doubles), Executor(doubles.with_(repair=True))


def tools_of(calls: list[RightCall]) -> list[Any]:
    """Return the tools of some calls, each once."""
    return list({call.subject.name: call.subject.tool for call in calls}.values())


def _judge_names(call: RightCall, wrong: Wrong, tools: list[Any]) -> Verdict:
    beside = [tool for tool in tools if tool.name != call.subject.name][:TOOLS_BESIDE]
    plain, repairing = _executors((call.subject.tool, *beside))
    sent = RawCall("call_1", wrong.name, wrong.arguments)
    result = plain.run_sync(sent)
    text = result.content
    if not result.is_error:
        return Verdict("other", "refused", text)
    line = last_line(text)
    if line is None or line.get("name") != call.subject.name:
        outcome = "no line" if line is None else "wrong"
    else:
        outcome = _outcome(call, text, line.get("arguments"))
    again = repairing.run_sync(sent)
    return Verdict(outcome, "refused" if again.is_error else "same", text)


# --- many ----------------------------------------------------------------------------------------------


def score(calls: list[RightCall], tools: list[Any], seed: str) -> Score:
    """Make every kind of mistake in every call, and some pairs of them."""
    rng, made = repeatable(seed), Score.of_nothing()
    for call in calls:
        alone = [(kind,) for kind in KINDS for _ in range(TRIES_A_KIND)]
        pairs = [tuple(rng.sample(KINDS, 2)) for _ in range(PAIRS_A_CALL)]
        seen = set[str]()
        for kinds in [*alone, *pairs]:
            wrong = wrong_call(call, kinds, rng)
            key = json.dumps(wrong)
            if wrong is not None and key not in seen:
                seen.add(key)
                _count(made, wrong, judge(call, wrong, tools))
    return made


def _count(made: Score, wrong: Wrong, verdict: Verdict) -> None:
    kinds = [kind for kind, _ in wrong.kinds]
    name = kinds[0] if len(kinds) == 1 else PAIR_NOT_TO_COPY if set(kinds) & set(NOT_TO_COPY) else PAIR
    made.counts[name, verdict.outcome] += 1
    made.repaired[name, verdict.repaired] += 1
    if verdict.outcome not in NOT_REFUSED:
        made.characters[name] += len(verdict.text)
    forms = " + ".join(f"{kind} ({form})" for kind, form in wrong.kinds)
    sent = f"{wrong.name} {json.dumps(wrong.arguments, ensure_ascii=False)}"
    is_bad = verdict.outcome in {"wrong", "broken"} or (verdict.outcome == "no line") == has_to_copy(name)
    if is_bad and verdict.outcome not in NOT_REFUSED:
        made.found.append((f"{verdict.outcome}: {forms}", sent, verdict.text))
    if verdict.outcome == "other" and "nested" in kinds:
        made.found.append((f"{SILENT}: {forms}", sent, verdict.text))
    # What an unknown key was for is nothing that repair looks at, where nothing is missing.
    if verdict.repaired == "other" and verdict.outcome not in NOT_REFUSED and OPTIONAL not in kinds:
        made.found.append((f"{MISREPAIRED}: {forms}", sent, verdict.text))


NOT_REFUSED = ("same", "other")
SILENT, MISREPAIRED = "runs with something else", "repaired to something else"
PAIR, PAIR_NOT_TO_COPY = "two mistakes", "two, one not to copy"
ROWS = (*KINDS, PAIR, PAIR_NOT_TO_COPY)


def has_to_copy(row: str) -> bool:
    """Say whether a person who reads only the call and the tool could tell what was meant."""
    return row not in {*NOT_TO_COPY, PAIR_NOT_TO_COPY}


class Row(NamedTuple):
    """One row of the table, or several as one.

    Attributes:
        made: how many calls.
        refused: how many of them.
        lines: how many texts end with a call.
        right: how many of these are right.
        same: calls that run as they were meant, with repair.
        other: calls that run as something else, with repair.
        characters: of all texts.
    """

    made: int
    refused: int
    lines: int
    right: int
    same: int
    other: int
    characters: int


def row_of(score: Score, *names: str) -> Row:
    """Sum up some kinds."""

    def of(counts: Counter[tuple[str, str]], *outcomes: str) -> int:
        return sum(counts[name, outcome] for name in names for outcome in outcomes)

    lines = of(score.counts, "right", "wrong", "broken")
    refused = lines + of(score.counts, "no line")
    return Row(
        refused + of(score.counts, *NOT_REFUSED),
        refused,
        lines,
        of(score.counts, "right"),
        of(score.repaired, "same"),
        of(score.repaired, "other"),
        sum(score.characters[name] for name in names),
    )


def missed_bars(score: Score) -> list[str]:
    """Say which bars aren't met."""
    row = row_of(score, *filter(has_to_copy, ROWS))
    nothing = row_of(score, *[name for name in ROWS if not has_to_copy(name)])
    missed = []
    if row.lines < SHARE_WITH_LINE * row.refused:
        missed.append(f"{row.lines:,} of {row.refused:,} texts end with a call, wanted {SHARE_WITH_LINE:.0%}")
    if row.right < SHARE_RIGHT * row.lines:
        missed.append(f"{row.right:,} of {row.lines:,} calls at the end are right, wanted {SHARE_RIGHT:.0%}")
    if nothing.lines:
        missed.append(f"{nothing.lines:,} calls at the end where there is nothing to copy")
    bad = Counter(name.partition(":")[0] for name, _, _ in score.found)
    return missed + [f"{bad[what]:,}: {what}" for what in (SILENT, MISREPAIRED, "broken") if bad[what]]
