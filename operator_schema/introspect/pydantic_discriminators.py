"""Which keys do the unions inside a pydantic model require?

A union with `Field(discriminator="kind")` refuses an object without the key, but pydantic's schema doesn't
require the key if its field has a default. A class that is also used outside of unions gets two definitions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..json_values import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Keys = frozenset[str]
    Meant = Callable[[str, Keys], str]

_NONE: Final[frozenset[str]] = frozenset()
_PREFIX: Final = "#/$defs/"


def with_required_discriminators(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema whose unions require the discriminators that pydantic requires.

    Args:
        schema: pydantic's schema for reading.
    """
    definitions: dict[str, Any] = schema.get("$defs", {})
    uses: dict[str, set[Keys]] = {name: set() for name in definitions}
    pending: list[tuple[Any, Keys]] = [({**schema, "$defs": None}, _NONE)]

    def note(reference: str, keys: Keys) -> str:
        name = reference.removeprefix(_PREFIX)
        if name in uses and keys not in uses[name]:
            uses[name].add(keys)
            pending.append((definitions[name], keys))
        return reference

    while pending:
        _requiring(*pending.pop(), note)
    if all(keys == {_NONE} for keys in uses.values()):
        return schema

    names = _names_of_variants(uses)

    def meant(reference: str, keys: Keys) -> str:
        name = reference.removeprefix(_PREFIX)
        return reference if name not in uses else _PREFIX + names[name, keys]

    made = {new: _requiring(definitions[name], keys, meant) for (name, keys), new in names.items()}
    rest = {key: value for key, value in schema.items() if key != "$defs"}
    return {"$defs": made, **_requiring(rest, _NONE, meant)}


def _names_of_variants(uses: dict[str, set[Keys]]) -> dict[tuple[str, Keys], str]:
    """Return a unique name for each definition and each set of keys required of it.

    Args:
        uses: names of definitions to the sets of keys that are required of them.
    """
    found: dict[tuple[str, Keys], str] = {}
    taken = {*uses}
    for name, several in uses.items():
        for keys in sorted(several, key=sorted):
            new = name
            if keys and len(several) > 1:
                new = "_".join([name, "with", *sorted(keys)])
                while new in taken:
                    new += "_"
            taken.add(new)
            found[name, keys] = new
    return found


def _requiring(part: Any, keys: Keys, meant: Meant) -> Any:
    """Return a part of a schema, changed so that it requires some keys.

    Args:
        part: the part of the schema.
        keys: the keys that its objects must have.
        meant: returns the reference to the variant of a definition that requires some keys.
    """
    if is_array(part):
        return [_requiring(each, _NONE, meant) for each in part]
    return _requiring_object(part, keys, meant) if is_object(part) else part


def _requiring_object(part: dict[str, Any], keys: Keys, meant: Meant) -> dict[str, Any]:
    if isinstance(part.get("$ref"), str):
        return {**part, "$ref": meant(part["$ref"], keys)}
    discriminator: Any = part.get("discriminator")
    if is_array(part.get("oneOf")) and is_object(discriminator) and "mapping" in discriminator:
        return _requiring_union(part, keys | {discriminator["propertyName"]}, meant)
    made = {key: _requiring(value, _NONE, meant) for key, value in part.items()}
    known = part.get("required", [])
    lacking = sorted(keys.intersection(part.get("properties", ())).difference(known))
    return {**made, "required": [*known, *lacking]} if lacking else made


def _requiring_union(part: dict[str, Any], keys: Keys, meant: Meant) -> dict[str, Any]:
    """Return a union with a discriminator so that its members and references to them require keys."""
    members = part["oneOf"]
    made = [_requiring(each, keys, meant) for each in members]
    names = dict(pair for old, new in zip(members, made, strict=True) for pair in _new_references(old, new))
    rest = {key: value for key, value in part.items() if key not in {"discriminator", "oneOf"}}
    return {**rest, "discriminator": _with_new_references(part["discriminator"], names), "oneOf": made}


def _new_references(old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the references of a union's member, each with the reference that replaces it."""
    if "$ref" in old:
        yield old["$ref"], new["$ref"]
    for each, other in zip(old.get("oneOf", ()), new.get("oneOf", ()), strict=True):
        yield from _new_references(each, other)


def _with_new_references(part: Any, names: dict[str, str]) -> Any:
    if is_object(part):
        return {key: _with_new_references(value, names) for key, value in part.items()}
    if is_array(part):
        return [_with_new_references(each, names) for each in part]
    return names.get(part, part) if isinstance(part, str) else part
