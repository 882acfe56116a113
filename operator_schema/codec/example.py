"""What is a minimal valid value of a type, as an example for docs, prompts and errors?"""

from __future__ import annotations

import re
from fractions import Fraction
from math import inf, nextafter
from sys import float_info
from typing import TYPE_CHECKING, Any, Literal

from ..introspect.node_kinds import flat_members
from ..introspect.nodes import (
    AnyNode,
    ArrayNode,
    EnumNode,
    LeafNode,
    LiteralNode,
    MapNode,
    ObjectNode,
    RefNode,
    ScalarNode,
    TupleNode,
    UnionNode,
    resolve,
)
from ..introspect.number_bounds import Bounds, bounds_of
from ..json_values import is_object, plain_number
from ..schema.keywords import TEXTS, Constraints
from .interpret import SCALARS, interpret
from .problems import INVALID, Trial

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..introspect.nodes import Field, Graph, Node, Target
    from ..introspect.number_bounds import Bound


_LONGEST = 100
"""The most items or entries of an example."""

NO_EXAMPLE: Any = object()
"""`example_of` returns it if it found none."""


class _NoExample(Exception):  # noqa: N818  # there is none in this branch; never leaves this module
    pass


def example_of(graph: Graph) -> Any:
    """Make the smallest value of a type.

    Returns:
        JSON values that satisfy every constraint except, perhaps, a pattern; `NO_EXAMPLE` if a type has no
        finite value, or no small one.
    """
    try:
        return _Maker(graph).make(graph.root)
    except (_NoExample, RecursionError):
        return NO_EXAMPLE


def checked_example(graph: Graph, max_depth: int) -> tuple[Any, ...]:
    """Make the smallest value of a type that decodes, because the type's own code may refuse a value.

    Returns:
        The value; empty if none was found that decodes.
    """
    try:
        made = example_of(graph)
        if made is NO_EXAMPLE or interpret(graph, made, max_depth)[1].found:
            return ()
    except Exception:  # noqa: BLE001  # the type's own code: its failure is no reason for another error
        return ()
    return (made,)


class _Maker:
    """Makes one example.

    Attributes:
        entered: the recursive types that are being made, because a recursion through required fields never
            ends.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.entered: list[Target] = []

    def make(self, node: Node, turn: int = 0) -> Any:
        """Make the example of a node; each `turn` gives a different one, if there are several."""
        match node:
            case ScalarNode():
                return _scalar(node, turn)
            case LiteralNode() | EnumNode():
                return _choice_at(node.values, turn)
            case LeafNode():
                return _only_first(_placeholder(node), turn)
            case ObjectNode():
                return _only_first({f.key: self._field(f) for f in node.fields if f.required}, turn)
            case ArrayNode():
                return _only_first(self._items(node), turn)
            case TupleNode():
                return [self.make(item, turn) for item in node.items]
            case MapNode():
                return _only_first(self._entries(node), turn)
            case UnionNode():
                return self._member(node, turn)
            case RefNode():
                return self._reference(node, turn)
            case AnyNode():
                return _choice_at(({}, *range(1, _LONGEST + 1)), turn)
            case _:
                raise _NoExample

    def _field(self, field: Field) -> Any:
        if field.examples:
            return field.examples[0]
        return self.make(field.node)

    def _items(self, node: ArrayNode) -> list[Any]:
        return [self.make(node.items, turn if node.unique else 0) for turn in range(_least_length(node))]

    def _entries(self, node: MapNode) -> dict[str, Any]:
        keys = [str(self.make(node.keys, turn)) for turn in range(_least_length(node))]
        return {key: self.make(node.values) for key in keys}

    def _reference(self, node: RefNode, turn: int) -> Any:
        if node.target in self.entered:
            raise _NoExample
        self.entered.append(node.target)
        try:
            return self.make(self.graph.definitions[node.target], turn)
        finally:
            self.entered.pop()

    def _member(self, node: UnionNode, turn: int) -> Any:
        found: list[Any] = []
        for member in node.members:
            try:
                made = self.make(member, turn)
                found.append(made)
                if not is_object(made) or self._tell_apart(node, member, made):
                    return made
            except _NoExample:
                continue
        if not found:
            raise _NoExample
        return found[0]

    def _tell_apart(self, node: UnionNode, member: Node, made: dict[str, Any]) -> bool:
        """Add fields to an object until it fits only one member of a union; return whether it does."""
        from ..introspect.overlaps import Objects  # few unions have several objects

        definitions = self.graph.definitions
        members, member = flat_members(node, definitions), resolve(member, definitions)
        objects = Objects(members, definitions)
        own = next((number for number in objects.shapes if members[number] is member), None)
        if own is None:
            return True
        others = [
            number
            for number, shape in objects.shapes.items()
            if number != own
            and objects.share(own, number)
            and made.keys() <= objects.marks(shape).fields.keys()
        ]
        field = objects.distinguishing_field(own, others, made) if others else None
        if field is not None:
            made[field.key] = self._field(field)
        return field is not None or not others


def _scalar(node: ScalarNode, turn: int) -> Any:
    made: str | float | None
    if node.type == "string":
        made = _find_text(node.constraints, turn)
    elif node.type == "integer" or node.type == "number":  # noqa: PLR1714  # the type checker reads this
        made = _find_number(node.type, node.constraints, turn)
    else:
        return _choice_at((False, True) if node.type == "boolean" else (None,), turn)
    if made is None:
        raise _NoExample
    return made


def _placeholder(node: LeafNode) -> Any:
    try:
        return node.leaf.encode(node.leaf.placeholder)
    except ValueError:  # a pydantic model without a known small value
        raise _NoExample from None


def _choice_at(values: tuple[Any, ...], turn: int) -> Any:
    if turn >= len(values):
        raise _NoExample
    return values[turn]


def _only_first(value: Any, turn: int) -> Any:
    if turn:
        raise _NoExample
    return value


def _least_length(node: ArrayNode | MapNode) -> int:
    least = (node.constraints and node.constraints.min_length) or 0
    if least > _LONGEST:
        raise _NoExample
    return least


# --- texts ---------------------------------------------------------------------------------------

_TEXT = "text"
_LONGEST_TEXT = 1000
_NO_LIMITS = Constraints()


def _find_text(constraints: Constraints | None, turn: int) -> str | None:
    """Find a string that fits; return None if none was found.

    Args:
        constraints: the constraints on the string.
        turn: how many strings to skip, for strings that must differ.
    """
    limits = constraints or _NO_LIMITS
    least, most = limits.min_length or 0, limits.max_length
    if least > _LONGEST_TEXT:
        return None
    text = f"{_TEXT}{turn or ''}"
    text = text[len(text) - most :] if most is not None and most < len(text) else text
    candidates = [text.rjust(least, "x")]
    matching = matching_text(limits.pattern) if limits.pattern is not None and not turn else None
    if matching is not None:
        candidates += [matching, matching.ljust(least, matching[-1:] or "x")]
    if not turn:
        said = [(row, getattr(limits, row.slot)) for row in TEXTS]
        candidates += [str(row.written(limit)) for row, limit in said if limit is not None]
    return next((text for text in candidates if _fits("string", limits, text)), None)


def _fits(kind: Any, constraints: Constraints, value: Any) -> bool:
    return SCALARS[kind](Trial(), ScalarNode(kind, constraints), value, None) is not INVALID


class _TooHard(Exception):  # noqa: N818  # says that the expression is not plain; never leaves this module
    pass


def matching_text(pattern: re.Pattern[str]) -> str | None:
    """Make a short string for a pattern.

    Literals, sets, groups, repetitions and alternatives are followed, each in its shortest form.

    Returns:
        A string in which the pattern is found; None if the pattern was not understood.
    """
    # The parser of `re` isn't public: if it changes, there is no example, and nothing else fails.
    parser: Any = getattr(re, "_parser", None)
    try:
        text = _text_of_parts(parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG))
    except (_TooHard, AttributeError, KeyError, TypeError, ValueError, RecursionError, re.error):
        return None
    return text if pattern.search(text) else None


def _text_of_parts(items: Any) -> str:
    text = "".join([_text_of_part(str(code), argument) for code, argument in items])
    if len(text) > _LONGEST_TEXT:
        raise _TooHard
    return text


def _text_of_part(code: str, argument: Any) -> str:
    match code:
        case "LITERAL":
            return chr(argument)
        case "ANY":
            return "a"
        case "NOT_LITERAL":
            return next(character for character in _SAMPLES if ord(character) != argument)
        case "IN":
            return _character_in(argument)
        case "AT":
            return ""
        case "SUBPATTERN":
            return _text_of_parts(argument[-1])
        case "BRANCH":
            return _text_of_parts(argument[1][0])
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT" if argument[0] <= _LONGEST_TEXT:
            return _text_of_parts(argument[2]) * int(argument[0]) if argument[0] else ""
        case _:
            raise _TooHard


_SAMPLES = "aA0-_ ./:@é"
_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
}


def _character_in(items: Any) -> str:
    """Return a character of a set: one of its first part, or one outside of all parts if it is negated."""
    parts = [(str(code), part) for code, part in items]
    is_negated = parts[0][0] == "NEGATE"
    meant = parts[1:] if is_negated else parts[:1]
    starts = [chr(part if code == "LITERAL" else part[0]) for code, part in meant if code != "CATEGORY"]
    candidates: list[str] = [*starts, *_SAMPLES]
    for character in candidates:
        if any(_is_in(code, part, character) for code, part in meant) is not is_negated:
            return character
    raise _TooHard


def _is_in(code: str, part: Any, character: str) -> bool:
    match code:
        case "LITERAL":
            return bool(ord(character) == part)
        case "RANGE":
            return bool(part[0] <= ord(character) <= part[1])
        case _:
            return re.match(_CATEGORIES[str(part)], character) is not None


# --- numbers -------------------------------------------------------------------------------------


def _find_number(
    kind: Literal["integer", "number"], constraints: Constraints | None, turn: int
) -> float | None:
    """Find a number that fits; return None if none was found.

    Args:
        kind: the JSON type.
        constraints: the constraints on the number.
        turn: how many numbers to skip, for numbers that must differ.
    """
    if constraints is None:
        return turn
    numbers = _numbers_to_try(kind, constraints, turn)
    found = dict.fromkeys([number for number in numbers if _fits(kind, constraints, number)])
    return list(found)[turn] if len(found) > turn else None


def _numbers_to_try(
    kind: Literal["integer", "number"], constraints: Constraints, turn: int
) -> Iterator[float]:
    """Yield numbers to try, integers first, because they fit both kinds of numbers."""
    step = Fraction(constraints.multiple_of or 1)
    if kind == "integer":
        step = Fraction(step.numerator)  # a multiple of p/q is an integer where it is one of p
    low, high = bounds_of(constraints)
    if kind == "number":  # a limit beyond all floats restricts none
        low = None if low is None or low.limit <= -float_info.max else low
        high = None if high is None or high.limit >= float_info.max else high
    least, most = Bounds(low, high).multiples(step)
    start = least or 0
    if most is not None and start > most:
        start = most
    for count in range(turn + 3):
        for way in (1, -1) if low is None else (1,):
            yield plain_number((start + way * count) * step)
    if kind == "number" and low is not None and high is not None:
        yield plain_number((Fraction(low.limit) + Fraction(high.limit)) / 2)
    if kind == "number":  # if neighbouring floats are farther apart than the steps
        yield from _floats_from(low, inf, turn + 2)
        yield from _floats_from(high, -inf, turn + 2)


def _floats_from(bound: Bound | None, towards: float, count: int) -> Iterator[float]:
    if bound is not None:
        number = float(bound.limit)
        for _ in range(count):
            yield number
            number = nextafter(number, towards)
