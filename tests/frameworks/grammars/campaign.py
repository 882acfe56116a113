"""Constrained decoding against the decoder: random types, walks through their grammars, encoded instances.

The same seed gives the same run. Ends with status 1 when a disagreement isn't on the closed list.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from grammars.engine import RefusedSchemaError
from grammars.of_llama_cpp import LlamaCpp
from grammars.of_llguidance import LLGuidance
from grammars.of_outlines import Outlines
from grammars.of_xgrammar import XGrammar
from grammars.reasons import (
    ACCEPTED,
    DECODED,
    closed_list,
    why_not_accepted,
    why_refused,
    why_unsupported,
    written_forms,
)
from grammars.subjects import subject_of
from grammars.walks import UnfinishedError, first_refused, walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from grammars.engine import Engine, Grammar
    from grammars.subjects import Subject

ENGINES: dict[str, Callable[[], Engine]] = {
    "llguidance": LLGuidance,
    "outlines-core": Outlines,
    "xgrammar": XGrammar,
    "xllamacpp": LlamaCpp,
}
"""By the name by which pip installs each."""

WALKS = 5
"""Walks through the grammar of each schema, and instances."""

COMPILED = "compiled"
UNFINISHED = "did not end"
GOOD = frozenset({COMPILED, DECODED, ACCEPTED, UNFINISHED})


class Count(NamedTuple):
    """What is counted.

    Attributes:
        engine: by name.
        wire: the form of the schema.
        step: `schemas`, `walks`, `instances` or `other forms`.
        outcome: what came of it.
    """

    engine: str
    wire: str
    step: str
    outcome: str


class Disagreement(NamedTuple):
    """What isn't on the closed list."""

    count: Count
    text: str
    schema: dict[str, Any]
    why: str


class Outcome(NamedTuple):
    """What a part of the campaign gave."""

    counts: Counter[Count]
    disagreements: list[Disagreement]


class Judge:
    """Compares one engine with the decoder, subject by subject.

    Args:
        engine: that is compared.
        rng: draws the walks.
    """

    def __init__(self, engine: Engine, rng: random.Random) -> None:
        self.engine = engine
        self.rng = rng
        self.outcome = Outcome(Counter(), [])

    def compare(self, subject: Subject) -> None:
        """Compare them for one schema."""
        try:
            grammar = self.engine.compile(subject.schema)
        except RefusedSchemaError as error:
            reason = why_unsupported(self.engine.name, str(error))
            self.count(subject, "schemas", reason, "", str(error))
            return
        self.count(subject, "schemas", COMPILED, "")
        for _ in range(WALKS):
            self.walk(subject, grammar)
        for value in islice(subject.instances, WALKS):
            self.ask(subject, grammar, value)

    def walk(self, subject: Subject, grammar: Grammar) -> None:
        try:
            text = walk(grammar, self.rng)
        except UnfinishedError as unfinished:
            self.count(subject, "walks", UNFINISHED, str(unfinished))
            return
        reason = why_refused(subject, text, self.engine.name)
        self.count(subject, "walks", reason, text.decode(errors="backslashreplace"), "the decoder refuses it")

    def ask(self, subject: Subject, grammar: Grammar, value: Any) -> None:
        text = _compact(value)
        if subject.problems(text):
            self.count(subject, "instances", None, text, "the decoder refuses what the library wrote")
            return
        offset = first_refused(grammar, text.encode())
        if offset is not None:
            reason = why_not_accepted(self.engine, subject.schema, text.encode(), offset)
            self.count(subject, "instances", reason, text, f"the grammar refuses it at byte {offset}")
            return
        self.count(subject, "instances", ACCEPTED, text)
        for form, other in written_forms(value).items():
            is_accepted = first_refused(grammar, other.encode()) is None
            self.count(subject, "other forms", ACCEPTED if is_accepted else form, other, form)

    def count(self, subject: Subject, step: str, outcome: str | None, text: str, why: str = "") -> None:
        is_known = outcome in GOOD or outcome in closed_list(self.engine.name)[step]
        count = Count(self.engine.name, subject.wire, step, outcome or "of an unknown kind")
        self.outcome.counts[count] += 1
        if not is_known:
            self.outcome.disagreements.append(Disagreement(count, text, subject.schema, why))


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def compare(engine: str, wire: str, types: int, seed: str) -> Outcome:
    """Compare an engine with the decoder on some random types.

    Args:
        engine: by name.
        wire: the form of the schemas.
        types: how many.
        seed: says which.
    """
    rng = random.Random(f"{seed} {engine} {wire}")  # noqa: S311  # repeatable on purpose
    judge = Judge(ENGINES[engine](), rng)
    for _ in range(types):
        judge.compare(subject_of(wire, rng))
    return judge.outcome
