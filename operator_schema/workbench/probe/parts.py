"""Which parts do the arguments of a tool have, and what does the schema say about each?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeGuard

from ...engine import resolve_pointer
from ...json_values import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Path = tuple[str | int, ...]
"""Keys and indexes that lead from the arguments to a part."""

_DEEPEST: Final = 6
_MOST_PARTS: Final = 80
_ABSENT: Final = object()

FORMATS: Final[Mapping[str, list[str]]] = {
    "uri": ["https://example.com/a"],
    "url": ["https://example.com/a"],
    "uri-reference": ["https://example.com/a"],
    "email": ["ada@example.com"],
    "date": ["2026-01-31", "2028-02-29"],
    "time": ["10:30:00Z", "10:30:00+00:00", "10:30:00.000Z", "12:30:00+02:00"],
    "date-time": [
        "2026-01-31T10:30:00Z",
        "2026-01-31T10:30:00+00:00",
        "2026-01-31T10:30:00.000Z",
        "2026-01-31T12:30:00+02:00",
    ],
    "duration": ["PT1H", "PT60M"],
    "uuid": ["6f1c1c1e-8a4f-4b52-9f0c-2b7d4d1f0a11", "6F1C1C1E-8A4F-4B52-9F0C-2B7D4D1F0A11"],
    "ipv4": ["192.0.2.1"],
    "ipv6": ["2001:db8::1"],
    "hostname": ["example.com"],
    "regex": ["a+"],
    "json-pointer": ["/a"],
}
"""Samples of each format: several are forms of one value, or days of one calendar."""


class ArgumentPart(NamedTuple):
    """A part of the arguments: a parameter, or something inside one.

    Attributes:
        path: the place of the part.
        schema: the schema of its values, without references.
        is_required: whether the object around it has to have it.
        forms: an object for each member of a union of objects; none if it isn't one.
    """

    path: Path
    schema: Mapping[str, Any]
    is_required: bool
    forms: tuple[dict[str, Any], ...] = ()


def example_of(schema: Mapping[str, Any]) -> tuple[Any, list[ArgumentPart]]:
    """Return a value with all optional parts, and the list of its parts.

    The value need not fit: a pattern, say, isn't followed.

    Args:
        schema: the schema of an object, whose references lead to its own definitions.
    """
    parts: list[ArgumentPart] = []
    value = _Examples(schema, parts).of(schema, (), 0)
    return value, parts[:_MOST_PARTS]


class _Examples:
    """Builds a value, and notes its parts on the way."""

    def __init__(self, root: Mapping[str, Any], parts: list[ArgumentPart]) -> None:
        self._root, self._parts = root, parts

    def of(self, schema: Any, path: Path, depth: int) -> Any:
        """Return a value of a schema."""
        found = self.resolved(schema)
        ready = _ready_value(found)
        chosen = self._chosen(found)
        types = type_names(chosen)
        if "properties" in chosen or "object" in types:
            built: Any = self._object(chosen, path, depth)
        elif "array" in types:
            built = self._list(chosen, path, depth)
        else:
            return _plain_value(chosen, types) if ready is _ABSENT else ready
        return ready if ready and ready is not _ABSENT else built  # an empty one has no parts

    def resolved(self, schema: Any) -> Mapping[str, Any]:
        """Follow the references of a schema, in its members too."""
        found = schema
        for _ in range(_DEEPEST):
            if not is_object(found) or "$ref" not in found:
                break
            near = {key: value for key, value in found.items() if key != "$ref"}
            target = resolve_pointer(self._root, found["$ref"])
            found = near if target is None or not is_object(target[1]) else {**target[1], **near}
        if not is_object(found):
            return {}
        unions = {key: found[key] for key in ("anyOf", "oneOf") if is_array(found.get(key))}
        if not any("$ref" in each for members in unions.values() for each in members if is_object(each)):
            return found
        return {
            **found,
            **{key: [self.resolved(each) for each in members] for key, members in unions.items()},
        }

    def _chosen(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the most detailed member of a union; the schema itself if it isn't a union."""
        members = [each for each in members_of(schema) if type_names(each) != {"null"}]
        return max(members, key=lambda each: "properties" in each) if members else schema

    def _object(self, schema: Mapping[str, Any], path: Path, depth: int) -> dict[str, Any]:
        properties = schema.get("properties")
        required = schema.get("required")
        needed = {each for each in required if isinstance(each, str)} if is_array(required) else set[str]()
        found: dict[str, Any] = {}
        for name, inner in properties.items() if is_object(properties) else ():
            if depth >= _DEEPEST and name not in needed:
                continue
            if depth > 2 * _DEEPEST:
                break
            found[name] = self._part(inner, (*path, name), depth, is_required=name in needed)
        more = schema.get("additionalProperties")
        if not found and is_object(more) and depth < _DEEPEST:
            found["a"] = self._part(more, (*path, "a"), depth, is_required=False)
        return found

    def _list(self, schema: Mapping[str, Any], path: Path, depth: int) -> list[Any]:
        first = schema.get("prefixItems")
        items = [*first] if is_array(first) else []
        least = schema.get("minItems")
        inner, number = schema.get("items"), least if isinstance(least, int) else 1
        if is_object(inner) and depth < _DEEPEST:
            items += [inner] * (min(max(number, 1), _DEEPEST) - len(items))
        return [
            self._part(each, (*path, index), depth, is_required=True) if index == 0 else
            _Examples(self._root, []).of(each, (*path, index), depth + 1)
            for index, each in enumerate(items)
        ]  # fmt: skip

    def _part(self, schema: Any, path: Path, depth: int, *, is_required: bool) -> Any:
        found = self.resolved(schema)
        objects = [each for each in members_of(found) if "properties" in each and each is not found]
        alone = _Examples(self._root, [])  # whose parts don't count
        forms = [alone.of(each, path, depth + 1) for each in objects] if len(objects) > 1 else []
        self._parts.append(ArgumentPart(path, found, is_required, tuple(forms)))
        return self.of(schema, path, depth + 1)


def _ready_value(schema: Mapping[str, Any]) -> Any:
    """Return a default, constant, example or choice of the schema."""
    for key in ("default", "const"):
        if schema.get(key) is not None:
            return schema[key]
    for key in ("examples", "enum"):
        values = schema.get(key)
        for each in values if is_array(values) else ():
            if each is not None:
                return each
    return _ABSENT


def _plain_value(schema: Mapping[str, Any], types: set[str]) -> Any:
    if "string" in types:
        least, most = schema.get("minLength"), schema.get("maxLength")
        samples = FORMATS.get(str(schema.get("format")))
        text = samples[0] if samples else "probe"
        if isinstance(least, int) and len(text) < least:
            text = text.ljust(least, "a")
        return text[:most] if isinstance(most, int) and not samples else text
    if types & {"integer", "number"}:
        least, most = limits_of(schema)
        inside = 1 if least is None else least + 1  # a limit is a special value
        return inside if most is None or inside <= most else most
    if "boolean" in types:
        return True
    return None if types == {"null"} else "probe"


# --- what a schema says --------------------------------------------------------------------------


def type_names(schema: Mapping[str, Any]) -> set[str]:
    """Return the JSON types that a schema names, in members of a union too."""
    named = schema.get("type")
    found = {named} if isinstance(named, str) else set(named) if is_array(named) else set[str]()
    for inner in _union(schema):
        found |= type_names(inner)
    return found


def _union(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    for key in ("anyOf", "oneOf"):
        members = schema.get(key)
        found += [inner for inner in members if is_object(inner)] if is_array(members) else []
    return found


def members_of(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the members of a union; the schema itself, if it isn't one."""
    members = _union(schema)
    return [inner for each in members for inner in members_of(each)] if members else [schema]


def choices_of(schema: Mapping[str, Any]) -> list[Any]:
    """Return all values but null that a schema allows, if it lists them one by one."""
    found: list[Any] = []
    for member in members_of(schema):
        listed = member.get("enum")
        if is_array(listed):
            found += listed
        elif "const" in member:
            found.append(member["const"])
        elif type_names(member) == {"boolean"}:
            found += [True, False]
        elif type_names(member) != {"null"}:
            return []
    return [each for each in found if each is not None]


def limits_of(schema: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the least and the largest number that a schema allows; None for no limit."""
    found: list[Any] = []
    for key, other, step in (("minimum", "exclusiveMinimum", 1), ("maximum", "exclusiveMaximum", -1)):
        value, beyond = schema.get(key), schema.get(other)
        if is_number(beyond):
            value = beyond + step
        found.append(value if is_number(value) else None)
    return found[0], found[1]


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a JSON value is a number; true and false aren't."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# --- a value inside another one ------------------------------------------------------------------


def value_at(value: Any, path: Path, missing: Any = None) -> Any:
    """Return a value inside another one; `missing` if it isn't there."""
    found = value
    for step in path:
        try:
            found = found[step]
        except (LookupError, TypeError):
            return missing
    return found


def placed(value: Any, path: Path, inner: Any) -> Any:
    """Return a copy with another value at a place.

    Raises:
        LookupError: it isn't.
    """
    if not path:
        return inner
    step, *rest = path
    if is_object(value) and isinstance(step, str):
        return {**value, step: placed(value[step], tuple(rest), inner) if rest else inner}
    if is_array(value) and isinstance(step, int):
        return [*value[:step], placed(value[step], tuple(rest), inner), *value[step + 1 :]]
    raise LookupError(step)


def removed(value: Any, path: Path) -> Any:
    """Return a copy without a key.

    Raises:
        LookupError: it isn't.
    """
    around = value_at(value, path[:-1])
    if not is_object(around) or path[-1] not in around:
        raise LookupError(path)
    return placed(value, path[:-1], {key: each for key, each in around.items() if key != path[-1]})


def paths_in(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the path and the content of every place inside a value."""
    pairs = value.items() if is_object(value) else enumerate(value) if is_array(value) else ()
    for step, inner in pairs:
        yield (*path, step), inner
        yield from paths_in(inner, (*path, step))
