"""How does a composed schema become one object, for APIs that take nothing else at the root?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..json_values import is_array, is_object, to_json_text
from ..message_text import clip
from .dialect_writing import CannotSay
from .keywords import COMPOSING, KEYWORDS
from .moved_definitions import with_own_definitions
from .references import References, resolve_pointer
from .schema_words import short_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_EITHER = ("anyOf", "oneOf")
_BESIDE = COMPOSING | {"unevaluatedProperties", "discriminator"}
"""The composing keywords, and those that have no meaning without them."""

_LONGEST = 600
_MOST_FORMS = 50
_MOST_LEVELS = 50
_MOST_NAMES = 100_000


class Uncomposed(NamedTuple):
    """A schema without the keywords at its root that compose schemas.

    Attributes:
        schema: takes all values of the original schema, and more.
        words: a description of the left-out parts, as the end of a sentence; empty if there are none.
        keywords: the left-out keywords, in order.
    """

    schema: dict[str, Any]
    words: str
    keywords: tuple[str, ...]

    def described(self, description: str, most: int | None = None) -> str:
        """Return a tool's description followed by `words`, if there is room for them."""
        sentence = f"{self.words[:1].upper()}{self.words[1:]}." if self.words else ""
        if most is not None:
            room = most - len(description) - 2
            sentence = clip(sentence, room) if room >= _SHORTEST else ""
        return "\n\n".join(filter(None, (description, sentence)))


_SHORTEST = 40


def uncomposed(schema: dict[str, Any]) -> Uncomposed | None:
    """Write a schema as one object with the properties of all alternatives; None if it is one already.

    Properties that all alternatives require are required. Words describe the rest, and the decoder checks it
    anyway. A property has the schemas of the alternatives that name it, although the others might allow any
    value.

    Args:
        schema: the schema of a tool's arguments; it isn't changed.

    Raises:
        CannotSay: no object fits it, or its root refers to another document.
    """
    root = _with_target(schema)
    if COMPOSING.isdisjoint(root):
        return None if root is schema else Uncomposed(with_own_root(schema), "", ())
    shapes = _Shapes(schema)
    shape = shapes.of(root) or (_own_shape(root) if root.get("properties") else None)
    if shape is None:
        what = "no object fits its schema"
        raise CannotSay((), what)
    left_out = {key: root[key] for key in root if key in _BESIDE}
    kept = {key: value for key, value in root.items() if key not in left_out and key != "required"}
    kept = {"type": "object", **kept, "properties": shape.named()}
    if shape.required:
        kept["required"] = list(shape.required)
    if shape.allowed is not None and "patternProperties" not in kept:
        kept.setdefault("additionalProperties", False)
    words = _describe({key: left_out[key] for key in left_out if key != "discriminator"}, shapes)
    return Uncomposed(with_own_definitions(kept, schema), words, tuple(left_out))


def with_own_root(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema whose root isn't a reference; the schema itself if its root isn't one.

    Raises:
        CannotSay: the root refers to another document, or to something that isn't an object.
    """
    root = _with_target(schema)
    return schema if root is schema else with_own_definitions(root, schema)


def _with_target(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema whose root is replaced by the target of its reference.

    Raises:
        CannotSay: the target isn't in the document, or isn't an object.
    """
    if "$ref" not in schema:
        return schema
    references = References(schema)
    root, meant, seen = schema, schema, set[int]()
    while "$ref" in root:
        what = f"its root refers to {short_json(root['$ref'])}, which isn't an object in the same document"
        try:
            target = references.find(meant)
        except LookupError:
            raise CannotSay((), what) from None
        if not is_object(target) or id(target) in seen:
            raise CannotSay((), what)
        seen.add(id(target))
        root = _merge_beside({key: value for key, value in root.items() if key != "$ref"}, target)
        meant = target
    return root


def _merge_beside(beside: dict[str, Any], target: dict[str, Any]) -> dict[str, Any]:
    """Merge the keywords beside a reference with its target."""
    own = {key: value for key, value in beside.items() if not _says_nothing(key, value)}
    nothing: dict[str, Any] = {"type": "object", "properties": {}}
    if any(key in target and not _is_note(key) for key in own):
        return {**nothing, "allOf": [target, own]}
    return {**nothing, **target, **own}


def _says_nothing(keyword: str, value: Any) -> bool:
    """Return whether a keyword only states that the arguments are an object."""
    return (keyword == "type" and value == "object") or (keyword == "properties" and not value)


def _is_note(keyword: str) -> bool:
    return keyword in KEYWORDS and KEYWORDS[keyword].says in {"note", "name"}


class _ObjectShape(NamedTuple):
    """The known facts about the objects that fit a schema.

    Attributes:
        properties: name to the schema of its value.
        possible: the same for names that some alternatives don't restrict.
        required: names that each object has.
        allowed: the only names that an object may have; None for any.
    """

    properties: dict[str, Any]
    possible: dict[str, Any]
    required: tuple[str, ...]
    allowed: frozenset[str] | None

    def named(self) -> dict[str, Any]:
        """Return the schemas of all names."""
        return {**self.properties, **self.possible}

    def allows(self, name: str) -> bool:
        """Return whether an object may have a name."""
        return self.allowed is None or name in self.allowed

    def both(self, other: _ObjectShape) -> _ObjectShape:
        """Return the shape of the objects that fit both shapes."""
        properties = {**self.properties, **other.properties}
        for name in self.properties.keys() & other.properties.keys():
            properties[name] = _narrower(self.properties[name], other.properties[name])
        possible = {
            name: _join_schemas([one.possible[name] for one in (self, other) if name in one.possible])
            for name in {**self.possible, **other.possible}
            if name not in properties
        }
        limits = [one.allowed for one in (self, other) if one.allowed is not None]
        return _ObjectShape(
            {name: one for name, one in properties.items() if self.allows(name) and other.allows(name)},
            {name: one for name, one in possible.items() if self.allows(name) and other.allows(name)},
            tuple(dict.fromkeys((*self.required, *other.required))),
            limits[0].intersection(*limits) if limits else None,
        )


_ANY: Final = _ObjectShape({}, {}, (), None)


class _Shapes:
    """Finds the shapes of schemas in a document; very large schemas get less exact shapes.

    Args:
        document: the document that references lead into.
    """

    __slots__ = ("_document", "_known", "_left", "_level")

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._known: dict[str, _ObjectShape | None] = {}
        self._left = _MOST_NAMES
        self._level = 0

    def of(self, schema: Any) -> _ObjectShape | None:
        """Return the shape of the objects that fit a schema; None if none does."""
        if schema is False or schema == {"not": {}}:
            return None
        if not is_object(schema) or self._level == _MOST_LEVELS or self._left < 0:
            return _ANY
        if schema.keys() == {"$ref"}:
            return self._of_reference(schema["$ref"])
        kinds = schema.get("type", "object")
        if "object" not in (kinds if is_array(kinds) else [kinds]):
            return None
        self._level += 1
        found = self._with_others(_own_shape(schema), schema)
        self._level -= 1
        return found

    def _with_others(self, found: _ObjectShape, schema: dict[str, Any]) -> _ObjectShape | None:
        for other in self._others(schema):
            if other is None:
                return None
            if self._left >= 0:
                found = found.both(other)
                self._left -= 1 + len(found.properties) + len(found.possible)
        return found

    def _others(self, schema: dict[str, Any]) -> Iterable[_ObjectShape | None]:
        if "$ref" in schema:
            yield self._of_reference(schema["$ref"])
        yield from map(self.of, _members(schema, "allOf"))
        for keyword in _EITHER:
            if keyword in schema:
                yield _join_shapes(list(map(self.of, _members(schema, keyword))))
        if "if" in schema:
            yield _join_shapes([self.of(schema.get("then", {})), self.of(schema.get("else", {}))])

    def _of_reference(self, reference: object) -> _ObjectShape | None:
        found = resolve_pointer(self._document, reference)
        if found is None:
            return _ANY
        pointer, target = found
        if pointer not in self._known:
            self._known[pointer] = _ANY  # for a schema that contains itself
            self._known[pointer] = self.of(target)
        return self._known[pointer]


def _members(schema: Mapping[str, Any], keyword: str) -> Sequence[Any]:
    members = schema.get(keyword)
    return members if is_array(members) else ()


def _own_shape(schema: Mapping[str, Any]) -> _ObjectShape:
    named, required = schema.get("properties"), schema.get("required")
    properties = dict(named) if is_object(named) else {}
    is_closed = schema.get("additionalProperties") in (False, {"not": {}})
    return _ObjectShape(
        properties,
        {},
        tuple(required) if is_array(required) else (),
        frozenset(properties) if is_closed and "patternProperties" not in schema else None,
    )


def _join_shapes(shapes: Sequence[_ObjectShape | None]) -> _ObjectShape | None:
    """Return the shape of the objects that fit one of several shapes."""
    known = list({id(shape): shape for shape in shapes if shape is not None}.values())
    if not known:
        return None
    named = [(shape, shape.named()) for shape in known]
    found = {
        name: _join_schemas([schemas[name] for _, schemas in named if name in schemas])
        for name in dict.fromkeys([name for _, schemas in named for name in schemas])
    }
    said = {
        name for name in found if all(name in shape.properties or not shape.allows(name) for shape in known)
    }
    limits = [shape.allowed for shape in known if shape.allowed is not None]
    return _ObjectShape(
        {name: one for name, one in found.items() if name in said},
        {name: one for name, one in found.items() if name not in said},
        tuple([name for name in known[0].required if all(name in shape.required for shape in known)]),
        frozenset[str]().union(*limits) if len(limits) == len(known) else None,
    )


def _join_schemas(schemas: Sequence[Any]) -> Any:
    """Return a schema that takes the values of all the given schemas."""
    different = {id(one): one for one in schemas}.values()
    once = list({to_json_text(one): one for one in different}.values())
    if len(once) == 1:
        return once[0]
    if all(is_object(one) and one.keys() <= _CHOICE and one.keys() & _CHOSEN for one in once):
        values = [value for one in once for value in one.get("enum", [one.get("const")])]
        kinds = list(dict.fromkeys([one["type"] for one in once if isinstance(one.get("type"), str)]))
        same = {"type": kinds[0]} if len(kinds) == 1 and all("type" in one for one in once) else {}
        return {**same, "enum": list({to_json_text(value): value for value in values}.values())}
    return {"anyOf": once}


_CHOSEN = frozenset({"enum", "const"})
_CHOICE = _CHOSEN | {"type"}


def _narrower(one: Any, other: Any) -> Any:
    """Return the more restrictive one of two schemas that both apply, with the description of either."""
    if not is_object(one) or not is_object(other):
        return other if is_object(other) else one
    chosen, rest = (other, one) if _weight(other) > _weight(one) else (one, other)
    return {**{key: value for key, value in rest.items() if key == "description"}, **chosen}


def _weight(schema: Mapping[str, Any]) -> int:
    if schema.keys() & _CHOSEN:
        return 2
    return int(any(not _is_note(key) for key in schema))


def _describe(left_out: Mapping[str, Any], shapes: _Shapes) -> str:
    """Return the words that replace some keywords in the description."""
    forms = {
        keyword: _describe_forms(shapes, left_out[keyword]) for keyword in _EITHER if keyword in left_out
    }
    said = [
        f"use {_HOW[keyword]} these sets of arguments: {forms[keyword]}"
        for keyword in forms
        if forms[keyword]
    ]
    rest = {key: value for key, value in left_out.items() if not forms.get(key)}
    if rest:
        said.append(f"the arguments must also fit the JSON Schema {short_json(rest)}")
    return clip("; ".join(said), _LONGEST)


_HOW = {"anyOf": "at least one of", "oneOf": "exactly one of"}


def _describe_forms(shapes: _Shapes, members: Any) -> str:
    """Describe alternatives by the names of their properties; empty if the names don't distinguish them."""
    if not is_array(members) or len(members) > _MOST_FORMS:
        return ""
    found = [_describe_form(shape) for shape in map(shapes.of, members) if shape is not None]
    if not all(found) or len(set(found)) < len(found):
        return ""
    return " · ".join([f"({number}) {form}" for number, form in enumerate(found, 1)])


def _describe_form(shape: _ObjectShape) -> str:
    named = shape.named()
    required = [f"{name}{_only_value(named.get(name))}" for name in shape.required]
    optional = [name for name in named if name not in shape.required]
    words = [", ".join(required), f"optionally {', '.join(optional)}" if optional else ""]
    return ", ".join(filter(None, words))


def _only_value(schema: Any) -> str:
    """Return the value that a property must have, if there is only one."""
    if not is_object(schema):
        return ""
    values = [schema["const"]] if "const" in schema else schema.get("enum", ())
    return f" = {short_json(values[0])}" if len(values) == 1 else ""
