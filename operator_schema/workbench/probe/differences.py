"""Does a server refuse a value that its schema allows, although it takes others in the same place?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...json_values import choice_key, is_array, is_object
from ...message_text import excerpt
from .calls import has_place
from .checks import AnswerFault
from .parts import (
    FORMATS,
    choices_of,
    is_number,
    limits_of,
    members_of,
    paths_in,
    placed,
    removed,
    type_names,
    value_at,
)
from .sample_values import list_sizes
from .words import pattern_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ...findings import Severity
    from .calls import ProbedTool
    from .outcomes import ProbedOutcome
    from .parts import ArgumentPart, Path

ABSENT: Final = object()
"""Stands for the value of a part that is left out."""

_MOST_CONTEXTS: Final = 12
_FREE_TEXTS: Final = ("probe", "Lorem ipsum", "Q7 x-y")
"""Texts without anything in common: a server that takes all of them takes any text."""

_SEVERAL_TEXTS: Final = ("5", "+49 30 123456", "ada@example.com", "https://example.com/a", "2026-01-31", "a")
"""Texts of several kinds: most programs take one of them."""

_OWN: Final = frozenset({"empty list"})
"""Traits of values beside which a call without the part is accepted."""

_FREE_NUMBERS: Final = (1, 2, 7, 1000)
_RISING: Final = (2, 3, 5, 8, 13, 21, 32, 100, 1000, 10_000, 100_000)
_LEAST_READ: Final = 32
_LEAST_CHANGED: Final = 10_000
"""The least accepted number after which a limit is a fault: smaller limits may be the length of a list."""

_LARGE: Final = 32
_FAR: Final = 1000
_LONG: Final = 200


class Trait(NamedTuple):
    """A property of a value because of which a server may refuse it, and accept another one in its place.

    Attributes:
        name: the kind of property.
        proof: values that the server has to take in its place before its refusal is a fault.
        severity: the level of the fault; None for the level of the check.
    """

    name: str
    proof: tuple[Any, ...] = ()
    severity: Severity | None = None


def trait_of(part: ArgumentPart, value: Any, plain: Any) -> Trait | None:
    """Return the special property of a value; None if a server may have a reason to refuse the value.

    Args:
        part: a part of the arguments.
        value: the refused value of this part; `ABSENT` if the part was left out.
        plain: a value that the server takes there.
    """
    if value is ABSENT:
        return Trait("left out")
    if value is None:
        return Trait("null")
    if isinstance(value, bool):  # one of two may be what the tool is about, such as a confirmation
        return Trait("falsy") if part.is_required and not value else None
    if choice_key(value) in map(choice_key, choices_of(part.schema)):
        return Trait("choice")
    if is_array(value):
        return _trait_of_list(part, value)
    if is_object(value):
        return Trait("form") if value in part.forms else None
    if isinstance(value, str):
        return _trait_of_text(part.schema, value, plain)
    if is_number(value):
        return _trait_of_number(part.schema, value, plain)
    return None


def _trait_of_list(part: ArgumentPart, value: list[Any]) -> Trait | None:
    """Return the property of a list of the smallest or the largest size."""
    if not value:  # without it a call has as many items
        return Trait("empty list", severity="warning") if part.is_required else Trait("empty list", (ABSENT,))
    sizes = [list_sizes(member) for member in members_of(part.schema)]
    if len(value) > 1 and any(len(value) == most for _, most in sizes):
        return Trait("most items", (value[:-1],))
    return (
        Trait("fewest items", ([*value, value[0]],)) if any(len(value) == one for one, _ in sizes) else None
    )


def _trait_of_text(schema: Mapping[str, Any], value: str, plain: Any) -> Trait | None:
    if not isinstance(plain, str):
        return Trait("type", _FREE_NUMBERS) if isinstance(plain, (int, float)) else None
    members = [each for each in members_of(schema) if "string" in type_names(each)]
    formats = [str(each["format"]) for each in members if "format" in each]
    if formats:
        return Trait("format") if any(value in FORMATS.get(each, ()) for each in formats) else None
    if any("pattern" in each for each in members):
        return None
    if not value.strip():
        return Trait("empty", _FREE_TEXTS, "warning")
    if not value.isascii():
        return Trait("letters", _FREE_TEXTS)
    return Trait("long", _FREE_TEXTS) if len(value) > _LONG else None


def _trait_of_number(schema: Mapping[str, Any], value: float, plain: Any) -> Trait | None:
    if isinstance(plain, str):
        return Trait("type", _FREE_TEXTS)
    if not isinstance(plain, (int, float)):
        return None
    if type(value) is float and value.is_integer() and "number" not in type_names(schema):
        return Trait("whole", (int(value),), "warning")
    beside = _beside(value, plain) if "number" in type_names(schema) else ()
    if beside:
        return Trait("form", beside)
    for member in members_of(schema):
        least, most = limits_of(member)
        if value in (least, most):
            return _limit(value, least, most)
    if value == 0:
        return Trait("falsy", (1,))
    return _large(value) if value > _LARGE else None


def _beside(value: float, plain: float) -> tuple[float, ...]:
    """Return numbers next to a refused one that have the form of an accepted one: whole numbers or fractions.

    There are none for 0, 1 and -1, with which a calculation may be impossible.
    """
    is_whole = value == int(value)
    if is_whole and plain == int(plain):
        return (float(value),) if isinstance(value, int) and isinstance(plain, float) else ()
    if is_whole:
        return (value - 0.5, value + 0.5) if abs(value) > 1 else ()
    return (int(value) - 1, int(value) + 1, int(value)) if plain == int(plain) else ()


def _limit(value: float, least: Any, most: Any) -> Trait:
    """Return the property of a limit: values beside it and far from it have to be accepted."""
    low: float = value - _FAR if least is None else least
    high: float = value + _FAR if most is None else most
    far = (high - 1, (low + high) // 2, low + 1)
    return Trait("most", (*far[::-1], value - 1)) if value == most else Trait("least", (*far, value + 1))


def _large(value: float) -> Trait:
    return Trait("large", tuple(each for each in _RISING if each < value))


class ComparedPart(NamedTuple):
    """A part of a call for which other values are tried.

    Attributes:
        tool: the called tool.
        part: the part with another value in each call.
        base: arguments that the server takes.
        answer: a function that calls the tool, and returns None if no answer comes.
    """

    tool: ProbedTool
    part: ArgumentPart
    base: Any
    answer: Callable[[Any], ProbedOutcome | None]

    def takes(self, arguments: Any) -> bool:
        """Return whether a call is valid and succeeds."""
        return arguments is not ABSENT and self.tool.allows(arguments) and _is_taken(self.answer(arguments))

    def with_value(self, value: Any) -> Any:
        """Return the arguments with another value of the part."""
        return with_value(self.base, self.part.path, value)


def refused_value(compared: ComparedPart, refused: Any, contexts: Sequence[Any]) -> AnswerFault | None:
    """Return the fault that a server refuses a value, if the rest of the call can't be the reason.

    Args:
        compared: the part with the value.
        refused: arguments that the server refused.
        contexts: other arguments that the server takes; the value is tried in them, too.
    """
    part, base = compared.part, compared.base
    value, plain = value_at(refused, part.path, ABSENT), value_at(base, part.path, ABSENT)
    trait = None if plain is ABSENT else trait_of(part, value, plain)
    outcome = None if trait is None else compared.answer(refused)
    if trait is None or outcome is None or not outcome.is_flagged or not _is_taken(compared.answer(base)):
        return None
    taken = [base, *contexts]
    if _has_reason(compared, trait, refused, outcome) or any(
        _is_taken(compared.answer(each)) for each in _elsewhere(compared, value, taken)
    ):
        return None
    other = _proven(compared, trait)
    if other is ABSENT and trait.name == "most":
        trait = _large(value)
        other = _proven(compared, trait)
    if other is not ABSENT and trait.name == "large":
        other = _largest(compared, (other, value))
        if any(_is_taken(compared.answer(each)) for each in _elsewhere(compared, other + 1, taken)):
            return None
    if other is ABSENT:
        return None
    fault = AnswerFault("valid_refused", part.path, "", trait.severity, trait.name, other)
    return fault._replace(message=refusal_of(fault, value, outcome))


def refusal_of(fault: AnswerFault, value: Any, outcome: ProbedOutcome) -> str:
    """Describe the refusal of a value beside what is accepted instead."""
    if fault.other is ABSENT and fault.detail not in _OWN:
        return f"it takes each alone, and answers to it together with {fault.detail}: {outcome.said}"
    if fault.other is ABSENT:
        return f"it takes a call without it, and answers to {excerpt(value)}: {outcome.said}"
    shown = "a call without it" if value is ABSENT else excerpt(value)
    return f"it takes {excerpt(fault.other)}, and answers to {shown}: {outcome.said}"


def _has_reason(compared: ComparedPart, trait: Trait, refused: Any, outcome: ProbedOutcome) -> bool:
    """Return whether a server may have a reason to refuse a false value, or a form of an object."""
    if trait.name == "falsy":
        return not _is_as_missing(compared, refused, outcome)
    return trait.name == "form" and any(compared.takes(each) for each in _with_other_texts(compared, refused))


def _is_as_missing(compared: ComparedPart, refused: Any, outcome: ProbedOutcome) -> bool:
    """Return whether a value gets the same answer as a call without it."""
    without = with_value(refused, compared.part.path, ABSENT)
    other = None if without is ABSENT else compared.answer(without)
    if other is None or other.is_lost or not other.is_flagged:
        return False
    return pattern_of(outcome.whole_text, refused) == pattern_of(other.whole_text, without)


def _with_other_texts(compared: ComparedPart, base: Any) -> Iterator[Any]:
    """Yield arguments with other texts inside the part: a server may have its reasons to refuse the first."""
    path, tool = compared.part.path, compared.tool
    places = [path + inner for inner, value in paths_in(value_at(base, path)) if isinstance(value, str)]
    for text in _SEVERAL_TEXTS:
        changed = base
        for place in places:
            other = placed(changed, place, text)
            changed = other if tool.allows(other) else changed
        if changed != base:
            yield changed


def _largest(compared: ComparedPart, between: tuple[Any, Any]) -> int:
    """Return the largest number that is accepted.

    Args:
        compared: the part that has the number.
        between: a number that the server takes, and a larger one that it refuses.
    """
    low, high = int(between[0]), int(between[1])
    while high - low > 1:
        middle = (low + high) // 2
        if compared.takes(compared.with_value(middle)):
            low = middle
        else:
            high = middle
    return low


def _is_taken(outcome: ProbedOutcome | None) -> bool:
    return outcome is not None and not outcome.is_lost and not outcome.is_flagged


def _elsewhere(compared: ComparedPart, value: Any, taken: Sequence[Any]) -> Iterator[Any]:
    """Yield other arguments with the same value: a value that is refused in one call may fit another one."""
    tool, path = compared.tool, compared.part.path
    number = 0
    for base in taken[:_MOST_CONTEXTS]:
        changed = with_value(base, path, value)
        if changed is not ABSENT and tool.allows(changed) and number < _MOST_CONTEXTS:
            number += 1
            yield changed
    first = with_value(taken[0], path, value)
    for other in tool.parts:
        is_around = path[: len(other.path)] == other.path
        if is_around or not has_place(first, other.path):
            continue
        for each in _closed_values(other, value):
            changed = with_value(first, other.path, each)
            if changed is not ABSENT and tool.allows(changed) and number < 3 * _MOST_CONTEXTS:
                number += 1
                yield changed


def _closed_values(part: ArgumentPart, value: Any) -> list[Any]:
    """Return values of another part that may fit the value."""
    limits = [each for member in members_of(part.schema) for each in limits_of(member) if each is not None]
    nothing = [] if part.is_required else [ABSENT]
    nulls = [None] if "null" in type_names(part.schema) else []
    return [*choices_of(part.schema)[:_MOST_CONTEXTS], *limits, *nulls, *nothing, value]


def with_value(base: Any, path: Path, value: Any) -> Any:
    """Return arguments with a value at a place, or without one; `ABSENT` if that place isn't there."""
    if not has_place(base, path) or (value is ABSENT and isinstance(path[-1], int)):
        return ABSENT
    if value is not ABSENT:
        return placed(base, path, value)
    return removed(base, path) if value_at(base, path, ABSENT) is not ABSENT else base


def _proven(compared: ComparedPart, trait: Trait) -> Any:
    """Return an accepted value if all values are accepted that prove the fault; else `ABSENT`."""
    best = value_at(compared.base, compared.part.path, ABSENT)
    least = _LEAST_READ if compared.tool.is_read_only else _LEAST_CHANGED
    for each in trait.proof:
        changed = compared.with_value(each)
        if not compared.tool.allows(changed):
            continue
        if not _is_taken(compared.answer(changed)):
            return best if trait.name == "large" and best >= least else ABSENT
        best = best if each is ABSENT else each
    return ABSENT if trait.name == "large" and best < least else best
