"""Which call was probably meant by one that doesn't fit, as a whole and value by value?

It walks like `repair`, but also takes less certain readings, because the results are only shown.
"""

from __future__ import annotations

from functools import partial, reduce
from json import loads
from operator import getitem
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ..errors import DecodeError
from ..findings import Finding
from ..introspect.node_kinds import flat_members, json_types_of, parts_of, shape_of
from ..introspect.nodes import (
    ArrayNode,
    EnumNode,
    LeafNode,
    LiteralNode,
    MapNode,
    ObjectNode,
    ScalarNode,
    TupleNode,
    UnionNode,
    resolve,
)
from ..json_values import MAX_DEPTH, copy_json, is_array, is_object, to_json_text
from ..message_text import excerpt
from ..sameness import is_same_json
from .fitting import Fitting
from .json_text import read_json, read_nearly_json
from .likely_choices import meant_boolean, near_choice
from .likely_keys import meant_keys
from .likely_numbers import contradicts, has_mixed_amounts, meant_amounts
from .likely_times import meant_times
from .repair import Reading, Repairer, only_reading
from .spellings import NOTHING, has_separators, parts_of_list, quoted_scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ..findings import DecodeReport
    from ..introspect.nodes import Field, Graph, Node
    from .problems import Asked, Problems

    Steps = tuple[str | int, ...]

_MAY_BE_DEFAULT = frozenset({"", "null", "None"})
"""Texts that repair replaces by the default of the field, like null."""

_LENGTH = 100
"""The most characters of a suggestion."""


_NULLS = frozenset({"none", "null", "nil"})
_HOPELESS = frozenset({"rejected", "too_deep", "too_large", "out_of_range", "bad_length", "duplicate"})
"""Codes of problems that another spelling of the value can't solve; a class's own check runs only once."""


def corrected(
    graph: Graph,
    problems: Problems,
    value: object,
    max_depth: int,
    decode_report: Callable[[Any], DecodeReport[Any]],
) -> Any:
    """Return the arguments that were probably meant.

    Returns:
        JSON values that decode without repair; None if a part has no reading that fits, or several.
    """
    codes = [problem.code for problem in problems.found]
    if value is None or problems.omitted or problems.is_hopeless or not _HOPELESS.isdisjoint(codes):
        return None
    try:
        if codes == ["invalid_json"]:
            value = read_nearly_json(value, problems)[0]  # type: ignore[arg-type]  # the text that was read
        elif len(patches := _patches(problems, value)) == len(codes):
            meant = _in_order(graph, graph.root, _patched(value, patches))
            found = _decoded(meant, decode_report)
            if found is not None:
                return found
        reading = _Corrector(graph.definitions, graph.root, max_depth).read(graph.root, value, 1)
        return _decoded(reading.value, decode_report) if reading.fits else None
    except Exception:  # noqa: BLE001  # code of the user's that what is wrong would never have reached
        return None


def _decoded(meant: Any, decode_report: Callable[[Any], DecodeReport[Any]]) -> Any:
    """Return a copy of a correction; None if it isn't JSON, or doesn't decode without repair."""
    copied = loads(to_json_text(meant))
    try:
        return copied if copied == meant and not decode_report(copied).findings else None
    except DecodeError:
        return None


class _Rename(NamedTuple):
    """The key to use in place of a misspelt one."""

    key: str


def _patches(problems: Problems, value: Any) -> dict[Steps, Any]:
    """Return the replacement for each path; for a missing key, a `_Rename`.

    Problems of other kinds are left to the walk.
    """
    meant = add_suggestions(problems)
    found: dict[Steps, Any] = {}
    for at, node, _, _ in problems.asked:
        path = problems.found[at].path
        if at in meant:
            found[path] = meant[at]
        elif problems.found[at].code == "missing":
            # The object that was asked about may have been changed since then.
            sent = reduce(getitem, path[:-1], value)
            found[path] = _Rename(meant_keys(cast("Any", node), sent)[0][cast("str", path[-1])])
    return found


def _patched(value: Any, patches: dict[Steps, Any]) -> Any:
    """Return a value with replaced parts at some paths; containers on the way are copied."""
    if () in patches:
        return patches[()]
    inner: dict[Any, dict[Steps, Any]] = {}
    for path, meant in patches.items():
        inner.setdefault(path[0], {})[path[1:]] = meant
    if is_array(value):
        return [_patched(item, inner[at]) if at in inner else item for at, item in enumerate(value)]
    made = dict(value)
    for step, parts in inner.items():
        rename = parts.pop((), None) if isinstance(parts.get(()), _Rename) else None
        if rename is not None:
            made[step] = made.pop(rename.key)
        if parts:
            made[step] = _patched(made[step], parts)
    return made


def _in_order(graph: Graph, node: Node, value: Any) -> Any:
    """Return a value whose objects have their keys in the order of the schema."""
    if type(node) is ScalarNode:
        return value
    node = graph.resolve(node)
    if isinstance(node, ObjectNode) and is_object(value):
        fields = [field for field in node.fields if field.key in value]
        made = {field.key: _in_order(graph, field.node, value[field.key]) for field in fields}
        return {**made, **{key: item for key, item in value.items() if key not in made}}
    if isinstance(node, UnionNode) and is_object(value):
        fitting = Fitting(graph.definitions, MAX_DEPTH)
        members = [each for each in flat_members(node, graph.definitions) if fitting.fits(each, value, 2)]
        return _in_order(graph, members[0], value) if len(members) == 1 else value
    if isinstance(node, ArrayNode) and is_array(value):
        return [_in_order(graph, node.items, item) for item in value]
    if isinstance(node, MapNode) and is_object(value):
        return {key: _in_order(graph, node.values, item) for key, item in value.items()}
    return value


def add_suggestions(problems: Problems) -> Mapping[int, Any]:
    """Add to each problem the value that was probably meant, if that is clear; return these by index."""
    if problems.meant is not None:
        return problems.meant
    meant = problems.meant = {}
    corrector: _Corrector | None = None
    for asked in problems.asked:
        problem = problems.found[asked.at] if asked.at < len(problems.found) else None
        if problem is None or problem.code == "missing":
            problems.is_hopeless |= problem is None or "; rename " not in problem.message
            continue
        if corrector is None or corrector.definitions is not asked.definitions:
            corrector = _Corrector(asked.definitions, asked.node, MAX_DEPTH)
        try:
            reading = _read_wrong_part(corrector, asked, problems, problem.path)
            kept = copy_json(reading.value) if reading.fits else None
        except Exception:  # noqa: BLE001, S112  # as above
            continue
        if not (reading.fits and reading.changes):
            may_be_default = asked.value is None or (
                isinstance(asked.value, str) and asked.value in _MAY_BE_DEFAULT
            )
            problems.is_hopeless |= not may_be_default
            continue
        meant[asked.at] = kept
        # The whole arguments are shown at the end of the text.
        if problem.suggestion is None and (problem.path or not is_object(reading.value)):
            problems.found[asked.at] = _suggesting(problem, reading.value)
    return meant


def _read_wrong_part(corrector: _Corrector, asked: Asked, problems: Problems, path: Steps) -> Reading:
    """Return the reading of the value of one problem, without the values around it."""
    corrector.about = partial(_fields_at, path, problems)
    reading = corrector.read(asked.node, asked.value, 2)  # the content of a wrapper isn't a reading of a part
    if reading.fits or not isinstance(asked.value, str) or type(asked.node) is ScalarNode:
        return reading
    # A text that a member of a union refuses may be meant for another one.
    unions = [each for each in _place(path, problems)[1] if isinstance(each, UnionNode)]
    return next((corrector.read(each, asked.value, 2) for each in unions), reading)


def _suggesting(problem: Finding, meant: Any) -> Finding:
    shown = excerpt(meant, _LENGTH)
    if "…" in shown or shown.startswith("an integer"):
        return problem
    return Finding(problem.path, problem.code, problem.message, problem.expected, problem.received, shown)


def _fields_at(path: Steps, problems: Problems) -> Sequence[Field]:
    return _place(path, problems)[0]


def _place(path: Steps, problems: Problems) -> tuple[Sequence[Field], list[Node]]:
    """Follow a path through the type; return the last fields on it and the nodes at its end."""
    nodes = [] if problems.root is None else [problems.root]
    found: Sequence[Field] = ()
    for step in path:
        inner: list[Node] = []
        for node in [member for each in nodes for member in flat_members(each, problems.definitions)]:
            shape = shape_of(node)
            if shape is not None:
                fields = [field for field in shape.fields if field.key == step]
                found = fields or found
                inner += [field.node for field in fields] or [node]  # a wrapper around the arguments
            else:
                inner += [part for _, part in parts_of(node)]
        nodes = inner
    return found, [resolve(node, problems.definitions) for node in nodes]


class _Corrector(Repairer):
    """A repair of one value that also takes likely readings, not only certain ones.

    Attributes:
        about: the fields that the current value belongs to.
    """

    ignores_misfits = False
    about: Callable[[], Sequence[Field]] = tuple

    def read(self, node: Node, value: Any, depth: int) -> Reading:
        if type(node) is ScalarNode and not is_array(value):
            return self._read_whole(node, value, depth)
        shape = shape_of(node) if isinstance(node, LeafNode) else None
        if shape is not None and not self.fits(node, value, depth):
            reading = self._read_as(dict, super()._object, shape, value, depth)
            if reading.fits and self.fits(node, reading.value, depth):
                return reading
        reading = super().read(node, value, depth)
        if isinstance(node, TupleNode) and not reading.fits:
            return self._split(self._tuple, node, value, depth) or reading
        return (
            reading
            if reading.fits or not is_array(value)
            else self._item_alone(node, value, depth) or reading
        )

    def _item_alone(self, node: Node, value: list[Any], depth: int) -> Reading | None:
        """Read an array with one item as that item."""
        if len(value) != 1 or "array" in json_types_of(node, self.definitions) or is_array(value[0]):
            return None
        reading = self.read(node, value[0], depth)
        return reading.after("scalar", value) if reading.fits else None

    # --- arrays ----------------------------------------------------------------------------------

    def _array_or_item(self, node: ArrayNode, value: Any, depth: int) -> Reading:
        reading = super()._array_or_item(node, value, depth)
        split = self._split(self._array, node, value, depth)
        if split is None or (reading.fits and is_same_json(reading.value, split.value)):
            return reading
        return Reading(value, fits=False) if reading.fits else split

    def _split(
        self, read: Callable[..., Reading], node: ArrayNode | TupleNode, value: Any, depth: int
    ) -> Reading | None:
        """Read the parts of a text as the items of an array."""
        if not isinstance(value, str) or depth > self.max_depth or self._json_in_text(value) is not NOTHING:
            return None
        items = [node.items] if isinstance(node, ArrayNode) else node.items
        are_texts = any(self._takes_text(item) for item in items)
        types = frozenset[str]().union(*[json_types_of(item, self.definitions) for item in items])
        parts = parts_of_list(value, are_texts=are_texts)
        if parts is None and not has_separators(value) and (not are_texts or isinstance(node, TupleNode)):
            parts = value.split()  # words aren't items of a list of texts
        if parts is None or parts == [value] or has_mixed_amounts(value, parts, types):
            return None
        reading = read(node, parts, depth)
        return reading.after("json_text", value) if reading.fits else None

    def _member(self, node: UnionNode, value: Any, depth: int) -> Reading:
        reading = super()._member(node, value, depth)
        if reading.fits or not isinstance(value, str):
            return reading
        # The text itself fits no member, so it isn't meant as a text.
        readings = [self.read(member, value, depth) for member in flat_members(node, self.definitions)]
        return only_reading(readings) or reading

    # --- objects ---------------------------------------------------------------------------------

    def _object(self, node: ObjectNode, value: dict[Any, Any], depth: int) -> Reading:
        """Read an object; the result has the keys of the schema, in its order."""
        reading = super()._object(node, value, depth)
        if not reading.fits or meant_keys(node, value)[1]:
            return reading._replace(fits=False)
        keys = [field.key for field in node.fields if field.key in reading.value]
        rest = reading.value if node.type is dict else ()  # a document of others takes any keys
        made = {key: reading.value[key] for key in (*keys, *rest)}
        return reading if list(made) == list(reading.value) else reading._replace(value=made)

    def keys(self, node: ObjectNode, value: dict[Any, Any]) -> dict[str, str]:
        return meant_keys(node, value)[0]

    def field(self, node: ObjectNode, field: Field, value: Any, depth: int) -> Reading:
        before, self.about = self.about, lambda: (field,)
        reading = super().field(node, field, value, depth)
        self.about = before
        return reading

    def _map(self, node: MapNode, value: dict[Any, Any], depth: int) -> Reading:
        keys = {key: self.read(node.keys, key, depth).value for key in value}
        if len(set(keys.values())) == len(keys) and all(isinstance(key, str) for key in keys.values()):
            value = {keys[key]: item for key, item in value.items()}
        return super()._map(node, value, depth)

    # --- values without parts --------------------------------------------------------------------

    def _json_in_text(self, text: str) -> Any:
        held = super()._json_in_text(text)
        if held is NOTHING and text.lstrip()[:1] in {"{", "["}:
            value, repairs, _ = read_nearly_json(text, read_json(text)[1])
            held = self.read_texts[text] = value if repairs else NOTHING
        return held

    def _read_whole(self, node: Node, value: Any, depth: int) -> Reading:
        reading = super()._read_whole(node, value, depth)
        if reading.fits:
            return reading
        fitting: list[Any] = []
        for meant in self._proposals(node, value):
            is_new = not any(is_same_json(meant, other) for other in fitting)
            if meant is not NOTHING and is_new and self.fits(node, meant, depth):
                fitting.append(meant)
        return Reading(fitting[0], fits=True).after("scalar", value) if len(fitting) == 1 else reading

    def _proposals(self, node: Node, value: Any) -> Iterator[Any]:
        types = {node.type} if type(node) is ScalarNode else json_types_of(node, self.definitions)
        is_choice = isinstance(node, (LiteralNode, EnumNode))
        if isinstance(value, (str, int, float)) and "boolean" in types and not is_choice:
            yield meant_boolean(value)
        if isinstance(value, int) and not isinstance(value, bool) and "string" in types:
            yield str(value)
        if not isinstance(value, str):
            return
        if isinstance(node, (LiteralNode, EnumNode)):
            yield near_choice(node, value)
            quoted = quoted_scalar(value.strip())
            yield quoted if isinstance(quoted, bool) else NOTHING
            yield None if value.casefold() in _NULLS else NOTHING
        if not types.isdisjoint({"integer", "number"}) and not self._is_contradicted(value):
            yield from meant_amounts(value, [field.key for field in self.about()])
        if isinstance(node, LeafNode) and "string" in types:
            yield meant_times(node.leaf.json_schema.get("format"), value)

    def _is_contradicted(self, text: str) -> bool:
        about = " ".join([f"{field.key} {field.description or ''}" for field in self.about()])
        return contradicts(text, about)
