"""What does the metadata of `Annotated` mean: constraints, descriptions and leaves?

Constraints are those of the annotated-types vocabulary. They are recognised by their attributes (`ge`,
`max_length` …), so that `annotated_types` needn't be installed, and metadata of other libraries with the same
attributes works too: https://github.com/annotated-types/annotated-types
"""

from __future__ import annotations

import re
import sys
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, Literal, cast, get_origin

from ..findings import UnfitError
from ..json_values import LONGEST_BITS, has_surrogate, is_object
from ..message_text import excerpt, received
from ..schema.keywords import KEYWORDS, LIMITS, NUMBERS, Constraints, has_exact_step
from .decimal_limits import is_decimal, limit_leaf, limits_of
from .foreign_metadata import is_foreign, translate
from .hints import FieldPlace
from .leaves import IMPORT_OWN, SchemaLeaf, as_leaf, copy_of_leaf, received_leaf
from .nodes import UNKNOWN, ArrayNode, LeafNode, MapNode, Node, RefNode, ScalarNode, UnionNode, is_null
from .number_bounds import bounds_of
from .shown_annotations import is_annotation, is_type, name_of, show_briefly

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..findings import TypeCode
    from .foreign_metadata import Translation
    from .hints import Place
    from .protocols import Reader


def read_annotated(reader: Reader, args: tuple[Any, ...], place: Place) -> Node:
    """Read `Annotated[X, …]`: X, or the leaf in the metadata, with its constraints and description."""
    inner, *metadata = args
    leaf = next((item for item in map(as_leaf, reversed(metadata)) if item is not None), None)
    if leaf is None and type(inner) is not type and not is_annotation(inner):
        after = next(filter(is_type, metadata), None)
        if after is not None:
            message = f"{name_of(inner)} comes before the type in Annotated"
            remedy = f"Write the type first: Annotated[{name_of(after)}, …]"
            return reader.complain(place, "unsupported", message, remedy)
    fault = _fault_of(inner, metadata, leaf)
    if fault is not None:
        return reader.complain(place, *fault)
    node = reader.node(inner, place) if leaf is None else LeafNode(leaf)
    if node is UNKNOWN:
        return node
    try:
        if any(map(is_foreign, metadata)):
            translation = _translate_foreign(metadata, place)
            metadata = translation.metadata
            if isinstance(node, UnionNode) and translation.discriminator is not None:
                node = node.replace(discriminator=translation.discriminator)
        constraints = _read_constraints(metadata)
        node = node if constraints is None else _constrain(node, constraints)
    except UnfitError as unfit:
        return reader.complain(place, "bad_constraint", unfit.message, unfit.remedy)
    for text in map(_description_in, metadata):
        if text is not None:
            if has_surrogate(text):
                return reader.complain_surrogate(text, place)
            node = node.replace(description=text)
    return reader.distinct.union(node) if isinstance(node, UnionNode) else node


def _translate_foreign(metadata: list[Any], place: Place) -> Translation:
    """Translate metadata of other libraries; store field-level metadata on the place."""
    translation = translate(metadata)
    if isinstance(place, FieldPlace):
        place.metadata = {**(place.metadata or {}), **translation.of_field}
        if translation.default is not None:
            place.metadata["default"] = translation.default
        return translation
    if translation.default is not None:
        raise translation.default
    for name, value in translation.of_field.items():
        message = f"{name}={excerpt(value)} works only in the annotation of a field, and this is another one"
        raise UnfitError(message, f"Give the {name} in the annotation of the field itself, or leave it out")
    return translation


def _description_in(item: object) -> str | None:
    """Return the text of a description: a string, or the `Doc` of PEP 727."""
    text = item if isinstance(item, str) else getattr(item, "documentation", None)
    return text if isinstance(text, str) else None


# --- metadata without effect ----------------------------------------------------------------------


def _fault_of(
    inner: Any, metadata: list[Any], leaf: SchemaLeaf[Any] | None
) -> tuple[TypeCode, str, str] | None:
    """Return code, text and remedy of the first fault in the metadata of an annotation, or None."""
    lost = next((fault for each in metadata if (fault := _without_effect(inner, each)) is not None), None)
    if lost is not None:
        return "bad_metadata", *lost
    fault = _describe_copied_leaf(metadata) if leaf is None else _describe_unfit_leaf(inner, leaf)
    return None if fault is None else ("bad_leaf", *fault)


def _without_effect(inner: Any, given: Any) -> tuple[str, str] | None:
    """Return message and remedy for metadata that would have no effect here, or None.

    Other libraries may read metadata too, so this finds only what can't be meant for them.
    """
    misplaced: tuple[str, str] | None = getattr(cast("Any", type(given)), MISPLACED, None)
    if misplaced is not None:
        return misplaced
    if _is_schema(given):
        message = f"{excerpt(given)} in Annotated has no effect: JSON Schema isn't read from there"
        remedy = "Write limits such as Ge(1) of annotated-types, and a description as a plain text"
        return message, remedy
    if inner in _LIMITED and _is_limit(given):
        message = f"{_shown_limit(given)} in Annotated has no effect: limits have names"
        return message, "Write limits such as Ge(0), Le(10), MinLen(1) or MaxLen(10) of annotated-types"
    if get_origin(given) is Literal:
        choices = name_of(given)
        return f"{choices} in Annotated has no effect", f"Write {choices} in place of the type"
    return None


MISPLACED: Final = "misplaced"
"""The attribute of markers that have no effect inside an annotation; it holds a message and a remedy."""


_LIMITED: Final = (int, float, str)
_LIMIT_KEYS: Final = frozenset(
    ("ge", "gt", "le", "lt", "max", "max_length", "min", "min_length", "multiple_of", "range")
)


def _is_limit(given: Any) -> bool:
    """Return whether metadata is surely meant as limits, as `(0, 10)` is; a lone number may mean anything."""
    cls = type(cast("object", given))
    if cls is dict:
        return bool(given) and given.keys() <= _LIMIT_KEYS
    parts = [*map(type, given)] if cls in {tuple, list} else []
    return cls in {range, slice} or (len(parts) == 2 and {*parts} <= {int, float})  # noqa: PLR2004  # from, to


def _shown_limit(given: Any) -> str:
    return f"({excerpt([*given])[1:-1]})" if type(cast("object", given)) is tuple else excerpt(given)


def _is_schema(given: Any) -> bool:
    return is_object(given) and bool(given) and given.keys() <= _SCHEMA_KEYS


_SCHEMA_KEYS: Final = KEYWORDS.keys() | {"type", "description", "title", "examples", "default", "enum"}


def _describe_unfit_leaf(inner: Any, leaf: SchemaLeaf[Any]) -> tuple[str, str] | None:
    """Return message and remedy for a leaf whose values can't be instances of the annotated class, or None.

    A class with a metaclass, such as a protocol, may accept them without being a base class.
    """
    if type(inner) is not type or issubclass(leaf.type, inner) or issubclass(inner, leaf.type):
        return None
    written, meant = name_of(inner), name_of(leaf.type)
    message = f"the leaf in Annotated[{written}, …] is for {meant}, which isn't {written}"
    return message, f"Write Annotated[{meant}, …], or give a leaf for {written}"


def _describe_copied_leaf(metadata: list[Any]) -> tuple[str, str] | None:
    """Return message and remedy for a leaf of another copy of this package, or None."""
    for item in metadata:
        if copy_of_leaf(item) is not None:
            return f"Annotated has {received_leaf(item)}", IMPORT_OWN
    return None


# --- reading constraints --------------------------------------------------------------------------


def _read_constraints(metadata: Iterable[object]) -> Constraints | None:
    """Return the constraints in metadata, the tighter of two that limit the same; None without any.

    Raises:
        UnfitError: a constraint has a value that no schema can hold.
    """
    found: dict[str, Any] = {}
    for item in metadata:
        if isinstance(item, re.Pattern):
            pattern = _checked_pattern(item)  # pyright: ignore[reportUnknownArgumentType]  # str or bytes
            _add_limit(found, "pattern", pattern, pattern)
            continue
        for slot, name, check in _GIVEN:
            value = getattr(item, name, None)
            if value is not None and not callable(value):
                _add_limit(found, slot, check(name, value, item), item)
    if found.get("min_length") == 0:
        del found["min_length"]
    return Constraints(**found) if found else None


def _add_limit(found: dict[str, Any], slot: str, value: Any, item: object) -> None:
    known = found.get(slot)
    if known is None or known == value:
        found[slot] = value
    elif (tighter := _TIGHTER[slot]) is not None:
        found[slot] = tighter(known, value)
    else:
        message = f"{show_briefly(item)} is the second constraint of its kind"
        raise UnfitError(message, "Keep one of them")


def _checked_number(name: str, value: object, item: object) -> float:
    value = _of_decimal(value)
    is_finite = isinstance(value, int) or (isinstance(value, float) and isfinite(value))
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not is_finite:
        message = f"{name} of {show_briefly(item)} is {received(value)}, not a finite number"
        raise UnfitError(message, "Give an int or a float")
    _refuse_long(name, value)
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_INTEGER
    number: float = int(value) if is_whole else value
    if name == "multiple_of" and number <= 0:
        message = f"multiple_of is {excerpt(value)}, not above zero"
        raise UnfitError(message, "Give a positive number")
    return number


def _of_decimal(value: Any) -> object:
    """Return a decimal as the JSON number with the same digits; any other value unchanged."""
    decimal = sys.modules.get("decimal")
    if decimal is None or not isinstance(value, decimal.Decimal) or not value.is_finite():
        return value
    if abs(value.adjusted()) < _MOST_DECIMAL_PLACES:
        number = int(value) if value == value.to_integral_value() else float(value)
        if isinstance(number, int) or decimal.Decimal(repr(number)) == value:
            return number
    message = f"the limit {excerpt(str(value))} has more digits than JSON readers keep"
    raise UnfitError(message, "Give a limit of at most 15 digits")


_MOST_DECIMAL_PLACES = 300


def _checked_length(name: str, value: object, item: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        message = f"{name} of {show_briefly(item)} is {received(value)}, not a number of items"
        raise UnfitError(message, "Give an int of at least 0")
    _refuse_long(name, value)
    return value


_GIVEN = [
    (row.slot, row.given_as, row.check or (_checked_number if row.of == "number" else _checked_length))
    for row in LIMITS
    if row.given_as
]
"""Attribute of `Constraints`, attribute of the metadata, and the function that checks its value."""
_TIGHTER = {row.slot: row.tighter for row in LIMITS}


def _refuse_long(name: str, value: float) -> None:
    if isinstance(value, int) and value.bit_length() > LONGEST_BITS:
        message = f"{name} is {excerpt(value)}, which some Python processes can't write"
        raise UnfitError(message, "Leave it out, or give less than 640 digits")


def _checked_pattern(pattern: re.Pattern[Any]) -> re.Pattern[str]:
    if not isinstance(pattern.pattern, str):
        message = f"the pattern {show_briefly(pattern)} is of bytes"
        raise UnfitError(message, "Compile it from a str")
    if pattern.flags & ~re.UNICODE:
        message = f"the pattern {show_briefly(pattern)} has flags, which JSON Schema doesn't have"
        raise UnfitError(message, "Write them out in the pattern")
    if has_surrogate(pattern.pattern):
        message = f"the pattern {show_briefly(pattern)} has a lone surrogate, which JSON can't hold"
        raise UnfitError(message, "Take it out")
    if _PYTHON_SYNTAX.search(pattern.pattern):
        message = f"the pattern {show_briefly(pattern)} uses syntax that JSON Schema doesn't have"
        raise UnfitError(message, "Use only what ECMA 262 has: no inline flags, (?P<…>), \\A or \\Z")
    return pattern


_EXACT_INTEGER = 2**53

_PYTHON_SYNTAX = re.compile(r"\(\?[aiLmsux(P#>]|\\[AZ]|[*+?}]\+")


# --- putting constraints on nodes -----------------------------------------------------------------


def _constrain(node: Node, constraints: Constraints) -> Node:
    """Return a node with further constraints; in a union, each member but null gets them.

    Raises:
        UnfitError: the constraints don't apply to values of this kind, contradict each other, or aren't
            exact.
    """
    match node:
        case UnionNode():
            members = [
                member if is_null(member) else _constrain(member, constraints) for member in node.members
            ]
            return node.replace(members=tuple(members))
        case ScalarNode() | ArrayNode() | MapNode():
            allowed = _allowed(node)
            for slot in Constraints.__slots__:
                if getattr(constraints, slot) is not None and slot not in allowed:
                    raise _unfit_limit(slot, node)
            if not has_exact_step(constraints):
                message = (
                    f"multiple_of {excerpt(constraints.multiple_of)} has no exact binary form,"
                    " so validators disagree about it"
                )
                raise UnfitError(message, "Count in the smaller unit as int, or use Decimal")
            together = _combine(node.constraints, constraints)
            _refuse_contradiction(node, together)
            return node.replace(constraints=together)
        case RefNode():
            message = f"{node.target.name} is recursive, so constraints here would apply to it everywhere"
            raise UnfitError(message, "Put them where it is defined, or into a dataclass of their own")
        case LeafNode(leaf=leaf) if is_decimal(leaf):
            return node.replace(leaf=_limit_decimal(leaf, constraints))
        case _:
            message = "constraints are for strings, numbers, arrays, maps and Decimal"
            raise UnfitError(message, "Leave them out, or say it in the type or its leaf")


def _unfit_limit(slot: str, node: ScalarNode | ArrayNode | MapNode) -> UnfitError:
    limit = next(row for row in LIMITS if row.slot == slot)
    kinds = {row.of for row in LIMITS if row.slot in _allowed(node)}
    remedy = "Leave it out, or change the type"
    if limit.of == "number" and "length" in kinds:
        remedy = "Write MinLen or MaxLen if it is about the length; otherwise change the type"
    if limit.of == "length" and "number" in kinds:
        remedy = "Write Ge or Le if it is about the number; otherwise change the type"
    return UnfitError(f"the constraint {limit.given_as or slot} says nothing about {_noun(node)}", remedy)


def _limit_decimal(leaf: SchemaLeaf[Any], constraints: Constraints) -> SchemaLeaf[Any]:
    for slot in Constraints.__slots__:
        if getattr(constraints, slot) is not None and slot not in _ON_NUMBERS:
            message = f"the constraint {slot} has no meaning for a Decimal"
            raise UnfitError(message, "Leave it out, or change the type")
    together = _combine(limits_of(leaf), constraints)
    _refuse_contradiction(ScalarNode("number"), together)
    return limit_leaf(leaf, together)


_ON_NUMBERS = frozenset([row.slot for row in NUMBERS])


def _allowed(node: ScalarNode | ArrayNode | MapNode) -> frozenset[str]:
    container = "array" if isinstance(node, ArrayNode) else "object"
    json_type = node.type if isinstance(node, ScalarNode) else container
    return frozenset([row.slot for row in LIMITS if json_type in row.keywords])


def _noun(node: ScalarNode | ArrayNode | MapNode) -> str:
    if isinstance(node, ScalarNode):
        return f"a {node.type}" if node.type != "integer" else "an integer"
    return "an array" if isinstance(node, ArrayNode) else "a map"


def _refuse_contradiction(node: Node, limits: Constraints) -> None:
    least: float | None = limits.min_length
    most: float | None = limits.max_length
    is_open = False
    if isinstance(node, ScalarNode) and node.type in {"integer", "number"}:
        bounds = bounds_of(limits)
        if node.type == "integer":
            least, most = bounds.multiples()
        elif bounds.low is not None and bounds.high is not None:
            least, most = bounds.low.limit, bounds.high.limit
            is_open = least == most and (bounds.low.is_open or bounds.high.is_open)
    if least is not None and most is not None and (least > most or is_open):
        message = (
            f"no value is within the limits: {excerpt(least)} is the least, {excerpt(most)} the greatest"
        )
        raise UnfitError(message, "Make the least smaller than the greatest")


def _combine(one: Constraints | None, other: Constraints) -> Constraints:
    if one is None:
        return other
    found = {slot: getattr(one, slot) for slot in Constraints.__slots__}
    for slot in Constraints.__slots__:
        value = getattr(other, slot)
        if value is not None:
            _add_limit(found, slot, value, value)
    return Constraints(**found)
