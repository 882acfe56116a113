"""Damage calls as models damage them, and judge what repair makes of them."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any, NamedTuple

from calls import Call, made_calls, recorded_calls
from hands_off import HANDS_OFF, Trap
from kinds import KEY_KINDS, KINDS, NOT_HERE, TEXT_KINDS, VALUE_KINDS, has_place, new_key, written
from places import ABSENT, Place, places_of
from proposed import PROPOSED, SHARE_SHOWN, propose, share_right
from rich.console import Console
from rich.table import Table

from operator_schema import DecodeError

SHARE_RESTORED = 0.99
MADE_CALLS_A_TOOL = 1000
PAIRS_A_CALL = 12
TRIES_A_KIND = 2


class Outcome(NamedTuple):
    """What some calls gave.

    Attributes:
        counts: by kind of damage, whether another one came with it, and what came back.
        trapped: by what must not be repaired and what came of it.
        proposed: by kind of mistake, and what the text of the error shows: `right`, `absent` or `wrong`.
        found: the damage, the call and what is wrong.
    """

    counts: Counter[tuple[str, bool, str]]
    trapped: Counter[tuple[str, str]]
    found: list[tuple[str, str, str]]
    proposed: Counter[tuple[str, str]]


class Damaged(NamedTuple):
    """A call as it is sent: as a value, or as text where the damage is in the text."""

    value: Any
    text: str | None


# --- damaging ------------------------------------------------------------------------------------------


def damaged(
    arguments: Any, places: list[Place], kinds: tuple[str, ...], rng: random.Random
) -> Damaged | None:
    """Damage a call in one way or in several, each at a place of its own; None where one has no place."""
    value, taken = json.loads(json.dumps(arguments)), dict[tuple[Any, ...], str]()
    chosen: list[tuple[Place, str]] = []
    for kind in kinds:
        if kind in TEXT_KINDS:
            continue
        free = [place for place in places if _is_free(kind, place, taken)]
        rng.shuffle(free)
        place = next((place for place in free if _fits_here(kind, place, rng)), None)
        if place is None:
            return None
        taken[place.path] = kind
        chosen.append((place, kind))
    # What is inside goes first, and the key after its value.
    for place, kind in sorted(
        chosen, key=lambda one: (-len(one[0].path), one[1] in KEY_KINDS, one[1] in AS_TEXT)
    ):
        changed = _apply(value, place, kind, rng)
        if changed is NOT_HERE:
            return None
        value = changed
    of_text = {kind for kind in kinds if kind in TEXT_KINDS}
    if not of_text:
        return Damaged(value, None)
    if not all(has_place(kind, value) for kind in of_text):
        return None
    return Damaged(value, written(value, rng, of_text))


AS_TEXT = {"array as text", "object as text", "root as text"}


def _is_free(kind: str, place: Place, taken: dict[tuple[Any, ...], str]) -> bool:
    """Say whether no other damage stands in the way: a value once changed is no longer what it was."""
    other = taken.get(place.path)
    return other is None or (kind in KEY_KINDS) != (other in KEY_KINDS)


def _fits_here(kind: str, place: Place, rng: random.Random) -> bool:
    if kind in KEY_KINDS:
        return new_key(kind, place, rng) is not NOT_HERE
    return VALUE_KINDS[kind](place, place.value, rng) is not NOT_HERE


def _apply(root: Any, place: Place, kind: str, rng: random.Random) -> Any:
    """Damage the value in place; return the root, which may be another one."""
    if not place.path:
        return VALUE_KINDS[kind](place, root, rng)
    around = root
    for step in place.path[:-1]:
        around = around[step]
    step = place.path[-1]
    if kind in KEY_KINDS:
        key = new_key(kind, place, rng)
        if key is NOT_HERE or step not in around:
            return NOT_HERE
        entries = [(key if known == step else known, item) for known, item in around.items()]
        around.clear()
        around.update(entries)
        return root
    current = around.get(step, ABSENT) if isinstance(around, dict) else around[step]
    made = VALUE_KINDS[kind](place, current, rng)
    if made is NOT_HERE:
        return NOT_HERE
    around[step] = made
    return root


# --- judging -------------------------------------------------------------------------------------------


def verdict(call: Call, original: Any, sent: Damaged) -> tuple[str, str]:
    """Say what came back of a damaged call whose arguments decode to a value, and show it."""
    try:
        if sent.text is None:
            report = call.repairing.decode_report(sent.value)
        else:
            report = call.repairing.decode_json_report(sent.text)
    except DecodeError as error:
        return "refused", str(error)
    same = report.instance == original and repr(report.instance) == repr(original)
    return ("restored" if same else "different"), repr(report.instance)


def run_calls(calls: list[Call], seed: str) -> Outcome:
    """Damage each call in every way, and in some pairs of ways."""
    rng = random.Random(seed)  # noqa: S311  # repeatable on purpose
    proposed, wrong = propose(calls, seed)
    outcome = Outcome(Counter(), Counter(), wrong, proposed)
    for call in calls:
        places, original = places_of(call.codec.graph, call.arguments), call.codec.decode(call.arguments)
        alone = [(kind,) for kind in KINDS for _ in range(TRIES_A_KIND)]
        pairs = [tuple(rng.sample(KINDS, 2)) for _ in range(PAIRS_A_CALL * 4)]
        left = PAIRS_A_CALL
        for kinds in [*alone, *pairs]:
            if len(kinds) > 1 and not left:
                break
            sent = damaged(call.arguments, places, kinds, rng)
            if sent is None:
                continue
            left -= len(kinds) > 1
            what, shown = verdict(call, original, sent)
            outcome.counts.update((kind, len(kinds) > 1, what) for kind in kinds)
            if what != "restored":
                came = sent.text if sent.text is not None else json.dumps(sent.value, ensure_ascii=False)
                outcome.found.append((f"{what}: {' + '.join(kinds)}", f"{call.codec.name} {came}", shown))
        _set_traps(call, places, rng, outcome)
    return outcome


def _set_traps(call: Call, places: list[Place], rng: random.Random, outcome: Outcome) -> None:
    for name, make in HANDS_OFF.items():
        trap = make(call, places, rng)
        if isinstance(trap, Trap):
            what, shown = trap.outcome()
            outcome.trapped[name, what] += 1
            if what != trap.wanted:
                outcome.found.append((f"{what}: {name}", f"{call.codec.name} {trap.sent!r}", shown))


def chunk(work: tuple[str, int, int, int, str]) -> tuple[int, Outcome]:
    """Damage some calls of a corpus, in a process of its own."""
    corpus, start, stop, seed, name = work
    calls = corpus_of(corpus, seed)[start:stop]
    return len(calls), run_calls(calls, name)


_CORPORA: dict[tuple[str, int], list[Call]] = {}


def corpus_of(name: str, seed: int) -> list[Call]:
    """Return the recorded or the made calls."""
    if (name, seed) not in _CORPORA:
        made = recorded_calls() if name == "recorded" else made_calls(MADE_CALLS_A_TOOL, seed)
        _CORPORA[name, seed] = made
    return _CORPORA[name, seed]


# --- reporting -----------------------------------------------------------------------------------------


def report(name: str, outcomes: list[Outcome], console: Console) -> bool:
    """Print the tables of one corpus; say whether every bar is met."""
    counts = sum((outcome.counts for outcome in outcomes), Counter[tuple[str, bool, str]]())
    console.print(_damage_table(name, counts))
    console.print(
        _trap_table(name, sum((outcome.trapped for outcome in outcomes), Counter[tuple[str, str]]()))
    )
    console.print(_table_of_proposals(name, _all_proposed(outcomes)))
    found = [entry for outcome in outcomes for entry in outcome.found]
    smallest: dict[str, tuple[str, str, str]] = {}
    for entry in found:
        kept = smallest.setdefault(entry[0], entry)
        if len(entry[1]) < len(kept[1]):
            smallest[entry[0]] = entry
    for what, came, shown in sorted(smallest.values()):
        console.print(f"\n{what}\n  {came[:1000]}\n  {shown[:600]}", markup=False, highlight=False)
    return meets_the_bar(outcomes)


def meets_the_bar(outcomes: list[Outcome]) -> bool:
    """Say whether enough comes back of each kind, nothing different, and every trap was left alone."""
    counts = sum((outcome.counts for outcome in outcomes), Counter[tuple[str, bool, str]]())
    enough = all(_share(counts, kind, pair) >= SHARE_RESTORED for kind in KINDS for pair in (False, True))
    bad = [entry for outcome in outcomes for entry in outcome.found if not entry[0].startswith("refused: ")]
    trapped = {f"refused: {name}" for name in HANDS_OFF}
    bad += [entry for outcome in outcomes for entry in outcome.found if entry[0] in trapped]
    proposed = _all_proposed(outcomes)
    shown = all(share_right(proposed, kind) >= SHARE_SHOWN for kind in PROPOSED)
    return enough and shown and not bad


def _all_proposed(outcomes: list[Outcome]) -> Counter[tuple[str, str]]:
    return sum((outcome.proposed for outcome in outcomes), Counter[tuple[str, str]]())


def _table_of_proposals(name: str, proposed: Counter[tuple[str, str]]) -> Table:
    table = Table(title=f"{name}: the call that the error shows", title_justify="left")
    for column in ("mistake", "right", "absent", "wrong", "share"):
        table.add_column(column, justify="left" if column == "mistake" else "right")
    for kind in PROPOSED:
        counts = [f"{proposed[kind, what]:,}" for what in ("right", "absent", "wrong")]
        table.add_row(kind, *counts, f"{share_right(proposed, kind):.2%}")
    return table


def _share(counts: Counter[tuple[str, bool, str]], kind: str, pair: bool) -> float:  # a key
    total = sum(counts[kind, pair, what] for what in ("restored", "refused", "different"))
    return counts[kind, pair, "restored"] / total if total else 1.0


def _damage_table(name: str, counts: Counter[tuple[str, bool, str]]) -> Table:
    table = Table(title=f"{name}: damaged and repaired", title_justify="left")
    came_back = ("restored", "refused", "different")
    table.add_column("kind of damage", no_wrap=True)
    for column in ("alone", *came_back, "with another", *came_back):
        table.add_column(column, justify="right", no_wrap=True)
    for kind in KINDS:
        row = [kind]
        for pair in (False, True):
            found = [counts[kind, pair, what] for what in ("restored", "refused", "different")]
            row += [f"{sum(found):,}", f"{_share(counts, kind, pair):.2%}" if sum(found) else "-"]
            row += [f"{number:,}" for number in found[1:]]
        table.add_row(*row)
    return table


def _trap_table(name: str, trapped: Counter[tuple[str, str]]) -> Table:
    table = Table(title=f"{name}: not to be repaired", title_justify="left")
    for column in ("what came", "kept", "refused", "changed"):
        table.add_column(column, justify="left" if column == "what came" else "right")
    for trap in HANDS_OFF:
        table.add_row(trap, *[f"{trapped[trap, what]:,}" for what in ("kept", "refused", "changed")])
    return table
