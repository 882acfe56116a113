"""Is a result an error that isn't flagged, judged by its form or by other answers?"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ...json_values import is_array, is_object
from .words import names_in, pattern_of, without_values

if TYPE_CHECKING:
    from .calls import Call, ProbedTool
    from .outcomes import ProbedOutcome

_ERROR_NAME: Final = re.compile(
    r"^[\W_]*(?:[A-Za-z]+ ){0,2}(?:errors?\b\s*(?::|[a-z])|\w+(?:Error|Exception)\b|traceback \()",
    re.IGNORECASE,
)
"""The beginnings of error texts in programs; the rest may be in any language."""

_OPENING: Final = re.compile(r"^[\W_]*([^\W\d_][^\d:\n]{1,30}?) ?[:!]")
_LEAST_ALIKE: Final = 2
"""The number of different refusals with the same beginning that makes other texts with it errors."""

_MOST_KEYS: Final = 3
"""The maximum number of keys of an object that is only an error."""

_MOST_TEXTS: Final = 20
_LEAST_LETTERS: Final = 3
_VERDICTS: Final = frozenset({"valid", "isValid", "is_valid"})


@dataclass
class Learned:
    """Remembers the texts of the errors and of the other answers of a server.

    Attributes:
        refusals: patterns of the texts of errors that are flagged.
        openings: the first words of such texts, each with the patterns that begin with them.
        answers: tool to texts of its other answers, and whether they are data.
        reasons: tool to the patterns of its errors for valid calls.
    """

    refusals: set[str] = field(default_factory=set[str])
    openings: dict[str, set[str]] = field(default_factory=dict[str, "set[str]"])
    answers: dict[str, list[tuple[str, bool]]] = field(default_factory=dict[str, "list[tuple[str, bool]]"])
    reasons: dict[str, set[str]] = field(default_factory=dict[str, "set[str]"])

    def learn(self, tool: ProbedTool, call: Call, outcome: ProbedOutcome) -> None:
        """Remember the text of the answer to a call."""
        if outcome.is_lost:
            return
        if not outcome.is_flagged:
            texts = self.answers.setdefault(call.tool, [])
            if call.kind == "valid" and len(texts) < _MOST_TEXTS:
                texts.append((without_values(outcome.text, call.arguments), outcome.data is not None))
            return
        if call.kind == "valid":
            self.reasons.setdefault(call.tool, set()).add(pattern_of(outcome.whole_text, call.arguments))
        pattern = pattern_of(outcome.text, call.arguments, tool.properties)
        if sum(map(str.isalpha, pattern)) >= _LEAST_LETTERS:
            self.refusals.add(pattern)
        if opening := _opening_of(outcome.text, call):
            self.openings.setdefault(opening, set()).add(pattern)

    def has_refused(self, tool: ProbedTool, call: Call, text: str) -> bool:
        """Return whether a text reads like errors that are flagged, or begins like several of them."""
        if pattern_of(text, call.arguments, tool.properties) in self.refusals:
            return True
        return len(self.openings.get(_opening_of(text, call), ())) >= _LEAST_ALIKE


def _opening_of(text: str, call: Call) -> str:
    """Return the words of a text before its first colon; empty if there is none, or they name an argument."""
    found = _OPENING.match(without_values(text, call.arguments))
    opening = found[1].casefold() if found else ""
    return "" if names_in(opening, [call.tool, *call.arguments]) else opening


NOTHING_LEARNED: Final = Learned()


def looks_like_error(tool: ProbedTool, call: Call, outcome: ProbedOutcome, learned: Learned) -> bool:
    """Return whether a result that isn't flagged is an error, judged by its form or by other answers."""
    result = outcome.result
    if result is None or outcome.is_flagged:
        return False
    text = outcome.text.strip()
    if not text or _is_asked_for(text, call.arguments):
        return False
    content = result.get("content")
    if is_array(content) and len(content) > 1:
        return False
    if _ERROR_NAME.search(text[:200]) or _is_error_object(outcome.data):
        return True
    return learned.has_refused(tool, call, text) or _names_mistake(tool, call, outcome, learned)


def _names_mistake(tool: ProbedTool, call: Call, outcome: ProbedOutcome, learned: Learned) -> bool:
    """Return whether an answer to a wrong call names the wrong part, and no answer to a right call does."""
    answers = learned.answers.get(tool.name)
    if call.kind != "invalid" or not answers:
        return False
    problems = tool.problems(call.arguments)
    keys = [step for problem in problems for step in problem.path if isinstance(step, str)]
    said = names_in(without_values(outcome.text, call.arguments), keys)
    alike = [text for text, is_data in answers if is_data is (outcome.data is not None)]
    return bool(said) and not any(names_in(answer, said) for answer in alike)


def _is_asked_for(text: str, value: Any) -> bool:
    """Return whether a text repeats an argument, or contains one that looks like an error."""
    if isinstance(value, str):
        one, other = text.casefold(), value.casefold()
        return one in other or (len(other) > 2 and _ERROR_NAME.search(value) is not None and other in one)  # noqa: PLR2004  # fewer are there by chance
    inner = value.values() if is_object(value) else value if is_array(value) else ()
    return any(_is_asked_for(text, each) for each in inner)


def _is_error_object(value: Any) -> bool:
    if not is_object(value):
        return False
    if not _VERDICTS.isdisjoint(value):
        return False  # that what was asked about is wrong is the answer
    error = value.get("error") if len(value) <= _MOST_KEYS else None
    failed = value.get("success") is False or value.get("ok") is False
    return failed or (isinstance(error, str) and bool(error)) or (is_object(error) and bool(error))
