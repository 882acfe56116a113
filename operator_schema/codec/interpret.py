"""Decodes by walking graph and value together; this code defines the results and makes the reports.

There is one function for each kind of node. It returns the decoded value, or notes every problem that it
finds and returns `INVALID`. The given value is never changed, and no part of it is shared with the result,
except under `Any`. Encoding checks scalars in the same way.
"""

from __future__ import annotations

from dataclasses import MISSING
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any, cast

from ..introspect.nodes import (
    TAKERS,
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
from ..json_values import (
    MAX_COLLISIONS,
    MAX_KEY_DIGITS,
    choice_key,
    copy_json,
    fits_types,
    has_surrogate,
    has_too_many_digits,
    is_array,
    is_object,
    type_of,
)
from ..message_text import count_of, key_step, steps_of
from .problems import INVALID, GiveUp, Problems, Trial, Trials, document_reader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
    from types import ModuleType

    from ..introspect.leaves import SchemaLeaf
    from ..introspect.nodes import Field, Graph, Node, ScalarType, Target
    from ..introspect.union_plans import UnionPlan
    from ..message_text import Path
    from ..schema.keywords import Constraints
    from ..schema.written import WrittenSchema

    Fill = Callable[[list[Any], Iterator[Any]], Any]
    FillerOf = Callable[[ArrayNode, int, int], Fill | None]
    Check = Callable[[Problems, ScalarNode, Any, Path], Any]


@cache
def constraint_checks() -> ModuleType:
    """Import and return the module that checks constraints; only constrained values need it."""
    from . import constraint_checks as checks

    return checks


@cache
def wrappers() -> ModuleType:
    """Import and return the module that finds wrapped arguments; only objects with a single key need it."""
    from . import wrapped_arguments

    return wrapped_arguments


def _string(problems: Problems, node: ScalarNode, value: Any, path: Path) -> Any:
    text = value
    if value.__class__ is not str:
        if not isinstance(value, str):
            return problems.wrong_type(path, node, value)
        text = str.__str__(value)
    if not text.isascii() and has_surrogate(text):
        return problems.bad_text(path, text)
    if node.constraints is None:
        return text
    return constraint_checks().check_text(node.constraints, problems, text, path)


def _integer(problems: Problems, node: ScalarNode, value: Any, path: Path) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        number = int.__int__(value)
        if has_too_many_digits(number):
            return problems.too_large(path, value)
    elif isinstance(value, float) and float.is_integer(value):
        number = float.__int__(value)
    else:
        return problems.wrong_type(path, node, value)
    if node.constraints is None:
        return number
    return constraint_checks().check_number(node.constraints, problems, number, path)


def _number(problems: Problems, node: ScalarNode, value: Any, path: Path) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return problems.wrong_type(path, node, value)
    try:
        number = float(value)
    except OverflowError:
        return problems.out_of_range(path, value, "is beyond the range of a float", "a float")
    if not isfinite(number):
        return problems.out_of_range(path, value, "is not finite", "a finite number")
    if node.constraints is None:
        return number
    return constraint_checks().check_float(node.constraints, problems, value, number, path)


def _boolean(problems: Problems, node: ScalarNode, value: Any, path: Path) -> Any:
    return value if isinstance(value, bool) else problems.wrong_type(path, node, value)


def _null(problems: Problems, node: ScalarNode, value: Any, path: Path) -> Any:
    return None if value is None else problems.wrong_type(path, node, value)


SCALARS: Mapping[ScalarType, Check] = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "null": _null,
}
"""By JSON type, the function that returns the value as its built-in type, or notes its problem."""


def encoded_at_sight(node: Node, value: object) -> Any:
    """Return the encoded form of a value, if a quick look is enough to know it; else `INVALID`.

    Args:
        node: any node; a quick look is enough for scalars without constraints, literals and Enums.
        value: a default or an example.
    """
    if type(node) is ScalarNode:
        is_plain = node.constraints is None and _is_plain(node.type, value)
        return value if is_plain else INVALID
    if type(node) is LiteralNode or type(node) is EnumNode:
        for written, member in zip(node.values, node.table.values(), strict=True):
            if member is value or (type(value) in _PLAIN and type(member) is type(value) and member == value):
                return written
    return INVALID


_PLAIN = frozenset({str, int, bool})


def _is_plain(json_type: ScalarType, value: object) -> bool:
    if type(value) is str:
        return json_type == "string" and value.isascii()
    if type(value) is int:
        return json_type == "integer" and not has_too_many_digits(value)
    if type(value) is float:
        return json_type == "number" and isfinite(value)
    return type(value) is bool and json_type == "boolean"


def fits_at_sight(node: Node, value: object) -> bool:
    """Return whether a quick look shows that a value can be encoded, to save importing the encoder."""
    if type(node) is UnionNode:
        return any(fits_at_sight(member, value) for member in node.members)
    return encoded_at_sight(node, value) is not INVALID


_KEY = ScalarNode("string")


def interpret(
    graph: Graph,
    value: object,
    max_depth: int,
    plans: dict[int, UnionPlan] | None = None,
    depth: int = 1,
    filler_of: FillerOf | None = None,
) -> tuple[Any, Problems]:
    """Decode a JSON value.

    Args:
        graph: the graph of the type.
        value: consists of dict, list, str, int, float, bool and None, or subclasses of them.
        max_depth: levels of arrays and objects that are followed.
        plans: plans of unions of this graph, by identity of the node; new ones are added.
        depth: depth of the value, which may be a part of another one.
        filler_of: returns compiled code for the items of an array, as `ItemDecoders.filler` does; None if the
            interpreter decodes all of them.

    Returns:
        The instance and no problems, or `INVALID` and at least one.
    """
    shared = DecodeState(graph.definitions, max_depth, plans, filler_of)
    return follow(DecodeRun(shared, Problems(graph.definitions, graph.root)), graph.root, value, depth)


def decode_field(graph: Graph, field: Field, value: object, max_depth: int) -> tuple[Any, Problems]:
    """Decode the value of one field of the root, without the rest of the root.

    Returns:
        The attribute's value and no problems, or `INVALID` and at least one; paths begin at the root.
    """
    problems = Problems(graph.definitions, graph.root)
    if value is None and field.absent_is_none:
        return None, problems
    run = DecodeRun(DecodeState(graph.definitions, max_depth), problems)
    return follow(run, field.node, value, 2, (None, field.key))


def follow(run: DecodeRun, node: Node, value: Any, depth: int = 1, path: Path = None) -> tuple[Any, Problems]:
    """Decode a JSON value with a run that was made for it."""
    try:
        decoded = INVALID
        is_map = depth == 1 and (value.__class__ is dict or is_object(value))
        if not (is_map and len(value) == 1 and run.refuse_wrapper(node, value)):
            decoded = run.decode(node, value, path, depth)
    except RecursionError as error:
        if error is run.shared.raised_by_user:
            raise
        return run.problems.too_deep_for_stack(), run.problems
    return decoded, run.problems


class DecodeState:
    """The state of a decode and of its trials.

    Attributes:
        definitions: the definitions of the graph.
        max_depth: levels of arrays and objects that are followed.
        plans: of the unions met so far, by identity of the node.
        filler_of: as `interpret` takes it.
        raised_by_user: the RecursionError that the user's code raised, which isn't a problem of the value.
    """

    __slots__ = ("_trials", "definitions", "filler_of", "max_depth", "plans", "raised_by_user")

    def __init__(
        self,
        definitions: Mapping[Target, Node],
        max_depth: int,
        plans: dict[int, UnionPlan] | None = None,
        filler_of: FillerOf | None = None,
    ) -> None:
        self.definitions = definitions
        self.max_depth = max_depth
        self.filler_of = filler_of
        self.plans = {} if plans is None else plans
        self._trials: Trials[bool] | None = None
        self.raised_by_user: RecursionError | None = None

    @property
    def trials(self) -> Trials[bool]:
        """The known answers whether values fit members of unions, made when first needed."""
        if self._trials is None:
            self._trials = Trials()
        return self._trials

    def plan(self, node: UnionNode) -> UnionPlan:
        """Return the plan for choosing the member of a union."""
        plan = self.plans.get(id(node))
        if plan is None:
            from ..introspect.union_plans import make_plan

            plan = self.plans[id(node)] = make_plan(node, self.definitions)
        return plan

    def candidates(self, node: UnionNode, json_type: str) -> Sequence[Node]:
        """Return the members of a union that may take a value of a JSON type, in the order to try them.

        Scalars of different types need no plan. So the code that makes plans isn't imported for `int |
        float`, which saves 7 % of the time to the first decode.
        """
        if id(node) not in self.plans and self.filler_of is None:
            few = node.members[: len(TAKERS)]
            scalars = {member.type: member for member in few if isinstance(member, ScalarNode)}
            if len(scalars) == len(node.members):
                return [scalars[taker] for taker in TAKERS.get(json_type, ()) if taker in scalars]
        return self.plan(node).candidates.get(json_type, ())


class DecodeRun:
    """One decode, or one trial, which builds no instances and reports nothing."""

    __slots__ = ("builds", "problems", "shared")

    def __init__(self, shared: DecodeState, problems: Problems) -> None:
        self.shared = shared
        self.problems = problems
        self.builds = not isinstance(problems, Trial)

    def decode(self, node: Node, value: Any, path: Path, depth: int) -> Any:
        """Return the decoded value, or note its problems and return `INVALID`."""
        # Most parts of a value are scalars: they are spared a call.
        if type(node) is ScalarNode:
            return SCALARS[node.type](self.problems, node, value, path)
        return DECODERS[node.__class__](self, node, value, path, depth)

    def refuse_wrapper(self, node: Node, value: dict[Any, Any]) -> bool:
        """Return whether the only key of the whole value wraps the arguments; if so, note a problem."""
        root = node if type(node) is ObjectNode else resolve(node, self.shared.definitions)
        if not isinstance(root, ObjectNode) or any(field.key in value for field in root.fields):
            return False
        wrapped = wrappers().wrapped_arguments(root, value, self.shared.definitions)
        if wrapped is None:
            return False
        keys, arguments = wrapped
        path: Path = None
        for key in keys:
            path = (path, key)
        self.problems.wrapped(path, keys[-1])
        # What else is wrong is said at once, but nothing is built of what is refused anyway.
        inside = DecodeRun(self.shared, self.problems)
        inside.builds = False
        inside.decode_object(root, arguments, path, 1 + len(keys))
        return True

    def _too_deep(self, path: Path, depth: int) -> bool:
        if depth <= self.shared.max_depth:
            return False
        self.problems.too_deep(path, self.shared.max_depth)
        return True

    def _has_length(self, limits: Constraints, value: Sized, path: Path, unit: str) -> bool:
        return constraint_checks().check_length(limits, self.problems, value, path, unit) is not INVALID

    def decode_reference(self, node: RefNode, value: Any, path: Path, depth: int) -> Any:
        """Decode a value by the definition that a reference names."""
        return self.decode(self.shared.definitions[node.target], value, path, depth)

    def decode_anything(self, _node: AnyNode, value: Any, _path: Path, _depth: int) -> Any:
        """Return a value unchanged."""
        return value

    # --- objects ---------------------------------------------------------------------------------

    def decode_object(self, node: ObjectNode, value: Any, path: Path, depth: int) -> Any:
        """Decode an object with known fields."""
        if value.__class__ is not dict and not is_object(value):
            return self.problems.wrong_type(path, node, value)
        if depth > self.shared.max_depth:
            return self.problems.too_deep(path, self.shared.max_depth)
        unused = len(value) - len(node.fields)
        valid = True
        decode, problems, below = self.decode, self.problems, depth + 1
        arguments: dict[str, Any] = {}
        for field in node.fields:
            key = field.key
            item = value.get(key, MISSING)
            if item is MISSING:
                unused += 1
                if field.required or (field.absent_is_none and field.default is MISSING):
                    valid = self._take_absent(field, node, value, path, arguments) and valid
                continue
            if item is None and field.absent_is_none:
                arguments[field.name] = None
                continue
            inner = field.node
            if type(inner) is ScalarNode:  # spared a call, as in `decode`
                decoded = SCALARS[inner.type](problems, inner, item, (path, key))
            else:
                decoded = decode(inner, item, (path, key), below)
            if decoded is INVALID:
                valid = False
            else:
                arguments[field.name] = decoded
        if unused > 0:
            valid = self._take_unused(node, value, path) and valid
        return self._build(node, arguments, path) if valid else INVALID

    def _take_absent(
        self, field: Field, node: ObjectNode, value: dict[Any, Any], path: Path, arguments: dict[str, Any]
    ) -> bool:
        if field.required:
            self.problems.missing(path, field, node, value)
            return False
        arguments[field.name] = None
        return True

    def _take_unused(self, node: ObjectNode, value: dict[Any, Any], path: Path) -> bool:
        if not node.closed:
            self.problems.ignore(path, node, value)
            return True
        keys = {field.key for field in node.fields}
        for key in value:
            if key not in keys:
                self.problems.unknown(path, key, node, value)
        return False

    def _build(self, node: ObjectNode, arguments: dict[str, Any], path: Path) -> Any:
        if not self.builds:
            return object()
        make = node.type if node.form not in _CALLED_OTHERWISE else constructor_of(node)
        try:
            return make(**arguments)
        except (ValueError, TypeError) as error:
            given = {each.key: arguments[each.name] for each in node.fields if each.name in arguments}
            return self.problems.rejected(path, node, error, given)
        except RecursionError as error:
            self.shared.raised_by_user = error
            raise

    # --- arrays ----------------------------------------------------------------------------------

    def decode_array(self, node: ArrayNode, value: Any, path: Path, depth: int) -> Any:
        """Decode an array of any length."""
        if value.__class__ is not list and not is_array(value):
            return self.problems.wrong_type(path, node, value)
        if self._too_deep(path, depth):
            return INVALID
        limits = node.constraints
        valid = limits is None or self._has_length(limits, value, path, "items")
        decoded = self._decode_items(node, value, path, depth + 1)
        if not valid or decoded is None:
            return INVALID
        if node.unique and not self._are_distinct(decoded, value, path):
            return INVALID
        return decoded if node.container is list else node.container(decoded)

    def _decode_items(self, node: ArrayNode, value: list[Any], path: Path, depth: int) -> list[Any] | None:
        """Return the decoded items; None if one doesn't decode."""
        decode, inner = self.decode, node.items
        filler_of = self.shared.filler_of if self.builds and value.__class__ is list else None
        fill = None if filler_of is None else filler_of(node, len(value), depth)
        valid = True
        decoded: list[Any] = []
        if fill is None:
            for index, item in enumerate(value):
                result = decode(inner, item, (path, index), depth)
                if result is INVALID:
                    valid = False
                else:
                    decoded.append(result)
            return decoded if valid else None
        items = iter(value)
        while fill(decoded, items) is GiveUp:
            index = len(decoded)
            result = decode(inner, value[index], (path, index), depth)
            valid = valid and result is not INVALID
            decoded.append(result)
        return decoded if valid else None

    def _are_distinct(self, decoded: list[Any], value: list[Any], path: Path) -> bool:
        by_hash: dict[int, list[Any]] = {}  # comparing values that share a hash takes long if they are many
        is_distinct = True
        for index, item in enumerate(decoded):
            same = by_hash.setdefault(hash(item), [])
            if len(same) >= MAX_COLLISIONS:
                self.problems.colliding_hashes(path, "the items")
                return False
            if item in same:
                self.problems.duplicate((path, index), value[index], "the items")
                is_distinct = False
            else:
                same.append(item)
        return is_distinct

    def decode_tuple(self, node: TupleNode, value: Any, path: Path, depth: int) -> Any:
        """Decode an array with a node for each position."""
        if value.__class__ is not list and not is_array(value):
            return self.problems.wrong_type(path, node, value)
        if self._too_deep(path, depth):
            return INVALID
        if len(value) != len(node.items):
            return self.problems.bad_length(
                path,
                value,
                f"{count_of(len(value), 'items')}, exactly {len(node.items)} expected",
                f"length {len(node.items)}",
            )
        decoded = [
            self.decode(inner, item, (path, index), depth + 1)
            for index, (inner, item) in enumerate(zip(node.items, value, strict=True))
        ]
        return INVALID if any(item is INVALID for item in decoded) else tuple(decoded)

    # --- maps ------------------------------------------------------------------------------------

    def decode_map(self, node: MapNode, value: Any, path: Path, depth: int) -> Any:
        """Decode an object with free keys."""
        if value.__class__ is not dict and not is_object(value):
            return self.problems.wrong_type(path, node, value)
        if self._too_deep(path, depth):
            return INVALID
        limits = node.constraints
        valid = limits is None or self._has_length(limits, value, path, "keys")
        decoded: dict[Any, Any] = {}
        # Only many keys can share a hash too often: a few thousand integers chosen for that would keep a dict
        # busy for minutes.
        hashes: dict[int, int] | None = {} if len(value) > MAX_COLLISIONS else None
        for key, item in value.items():
            step = (path, key_step(key))
            name = self.decode_key(node.keys, key, step)
            result = self.decode(node.values, item, step, depth + 1)
            if name is INVALID or result is INVALID:
                valid = False
            elif hashes is not None and hashes.get(hash(name), 0) >= MAX_COLLISIONS:
                return self.problems.colliding_hashes(path, "the keys")
            elif name in decoded:
                valid = False
                self.problems.duplicate(step, key, "the keys")
            else:
                decoded[name] = result
                if hashes is not None:
                    hashes[hash(name)] = hashes.get(hash(name), 0) + 1
        if not valid:
            return INVALID
        return decoded if node.container is dict else node.container(decoded)

    def decode_key(self, node: Node, key: Any, path: Path) -> Any:
        """Decode a key of a map."""
        if not isinstance(key, str):
            return self.problems.wrong_type(path, _KEY, key)
        if isinstance(node, ScalarNode) and node.type == "integer":
            if not is_integer_key(key):
                return self.problems.bad_integer_key(path, key)
            if len(key) > MAX_KEY_DIGITS:
                return self.problems.bad_length(
                    path, key, f"{len(key)} digits, at most {MAX_KEY_DIGITS} expected"
                )
            return int(key)
        return self.decode(node, key, path, 1)

    # --- values without parts --------------------------------------------------------------------

    def decode_choice(self, node: LiteralNode | EnumNode, value: Any, path: Path, _depth: int) -> Any:
        """Decode one of a fixed set of scalars."""
        if value.__class__ is str or value is None or isinstance(value, (str, int, float)):
            member = node.table.get(choice_key(value), INVALID)
            if member is not INVALID:
                return member
        return self.problems.not_one_of(path, node, value)

    def decode_leaf(self, node: LeafNode, value: Any, path: Path, _depth: int) -> Any:
        """Decode a value by its leaf."""
        leaf, given = node.leaf, value
        if leaf.json_schema.__class__ is not dict and not keeps_schema(
            leaf, value, self.problems, path, self.shared.max_depth
        ):
            return INVALID
        # Most of them take text alone, and get it.
        if value.__class__ is not str or leaf.json_schema.get("type") != "string":
            if not fits_types(value, leaf.json_types):
                return self.problems.wrong_type(path, node, value)
            if isinstance(value, float) and not isfinite(value):
                return self.problems.out_of_range(path, value, "is not finite", "a finite number")
            if is_array(given) or is_object(given):
                # The caller's own is not for others to keep or change.
                given = copy_json(given)
        try:
            return leaf.decode(given)
        except (ValueError, TypeError, OverflowError) as error:
            return self.problems.refused_by_leaf(path, node, value, error)
        except RecursionError as error:
            self.shared.raised_by_user = error
            raise

    # --- unions ----------------------------------------------------------------------------------

    def decode_union(self, node: UnionNode, value: Any, path: Path, depth: int) -> Any:
        """Decode a value by one of several nodes."""
        candidates = self.shared.candidates(node, type_of(value) or "")
        if not candidates:
            return self.problems.wrong_type(path, node, value)
        if len(candidates) == 1:
            return self.decode(candidates[0], value, path, depth)
        if is_object(value):
            return self._one_of_objects(node, candidates, value, path, depth)
        for member in candidates:
            if self._fits(member, value, depth):
                return self.decode(member, value, path, depth)
        return self.problems.no_match(path, node, value)

    def _one_of_objects(
        self, node: UnionNode, candidates: Sequence[Node], value: dict[Any, Any], path: Path, depth: int
    ) -> Any:
        tag = self.shared.plan(node).tag
        if tag is not None:
            if tag.key in value:
                given = value[tag.key]
                if self.decode_choice(tag.choices, given, (path, tag.key), depth + 1) is INVALID:
                    return INVALID
                return self.decode(tag.members[choice_key(given)], value, path, depth)
            if tag.required:
                return self.problems.missing_tag(path, tag.key, tag.choices)
        fitting = [member for member in candidates if self._fits(member, value, depth)]
        if not self.builds:
            return object() if fitting else self.problems.no_match(path, node, value)
        from ..introspect.meant_objects import meant_object, nearest_objects  # loaded already, by the plan

        if not fitting:
            meant = meant_object(candidates, value, self.shared.definitions)
            if meant is None:
                return self.problems.no_match(path, node, value)
            return self.decode(meant, value, path, depth)
        nearest = nearest_objects(fitting, value)
        if len(nearest) > 1 and not are_plain(nearest):
            return self.problems.ambiguous(path, nearest, value)
        return self.decode(nearest[0], value, path, depth)

    def _fits(self, node: Node, value: Any, depth: int) -> bool:
        if type(node) is ScalarNode:  # as fast to try again as to look up
            return self._try(node, value, depth)
        return self.shared.trials.ask(self._try, node, value, depth)

    def _try(self, node: Node, value: Any, depth: int) -> bool:
        return DecodeRun(self.shared, Trial()).decode(node, value, None, depth) is not INVALID


def keeps_schema(leaf: SchemaLeaf[Any], value: Any, problems: Problems, path: Path, max_depth: int) -> bool:
    """Return whether a value fits the schema of a leaf; note the problems if it doesn't.

    Args:
        leaf: one whose schema is a `WrittenSchema`.
        value: the value before the leaf decodes it, or after it has encoded it.
        problems: the problems of the run.
        path: the path of the value.
        max_depth: levels of arrays and objects that are followed, the value being the first.
    """
    reading, schema = document_reader().reading_of(leaf), cast("WrittenSchema", leaf.json_schema)
    inner = type(problems)(reading.graph.definitions)
    state = DecodeState(reading.graph.definitions, max_depth)
    fits = DecodeRun(state, inner).decode(reading.graph.root, value, path, 1) is not INVALID
    if fits and reading.left:
        steps = steps_of(path)
        for problem in schema.judge.problems(value):
            fits = False
            inner.add(problem.replace(path=(*steps, *problem.path)))
    problems.take(inner)
    return fits


def are_plain(members: Iterable[Node]) -> bool:
    """Return whether objects come from a JSON Schema document, so that it doesn't matter which one fits."""
    return all(isinstance(member, ObjectNode) and member.type is dict for member in members)


_CALLED_OTHERWISE = frozenset({"struct", "attrs"})


def constructor_of(node: ObjectNode) -> Callable[..., Any]:
    """Return a function that makes an instance of a class from the values of its fields, by their names."""
    if node.form not in _CALLED_OTHERWISE:
        return node.type
    from ..introspect.foreign_classes import constructor_of_foreign

    return constructor_of_foreign(node)


DECODERS: Mapping[type[Any], Callable[[DecodeRun, Any, Any, Path, int], Any]] = {
    ObjectNode: DecodeRun.decode_object,
    ArrayNode: DecodeRun.decode_array,
    LiteralNode: DecodeRun.decode_choice,
    EnumNode: DecodeRun.decode_choice,
    LeafNode: DecodeRun.decode_leaf,
    MapNode: DecodeRun.decode_map,
    TupleNode: DecodeRun.decode_tuple,
    UnionNode: DecodeRun.decode_union,
    RefNode: DecodeRun.decode_reference,
    AnyNode: DecodeRun.decode_anything,
    ScalarNode: DecodeRun.decode,
}
"""By kind of node, the method that decodes a value of it."""


def is_integer_key(key: str) -> bool:
    """Return whether a key matches `INTEGER_KEY`."""
    digits = key.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()):
        return False
    return digits[0] != "0" or key == "0"
