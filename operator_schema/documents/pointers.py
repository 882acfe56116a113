"""References in a JSON Schema document: JSON pointers (RFC 6901), identifiers and anchors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urldefrag, urljoin

from ..json_values import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MAX_REFERENCE", "References", "is_old", "resolve_pointer", "step", "subschemas"]

MAX_REFERENCE: Final = 2000
"""Characters of a reference."""


def step(pointer: str, *steps: str) -> str:
    """Return the pointer to what is some steps below."""
    path = "/".join(steps)
    if "~" in path or path.count("/") >= len(steps):
        path = "/".join([each.replace("~", "~0").replace("/", "~1") for each in steps])
    return f"{pointer}/{path}"


def resolve_pointer(document: Any, reference: object) -> tuple[str, Any] | None:
    """Return the pointer in a reference in its usual spelling, and what is there.

    Args:
        document: JSON values.
        reference: of the keyword `$ref`.

    Returns:
        None if nothing is there, or the reference leads to another document or an anchor.
    """
    if not isinstance(reference, str) or len(reference) > MAX_REFERENCE:
        return None
    if reference != "#" and not reference.startswith("#/"):
        return None
    pointer, found = "", document
    for written in reference.split("/")[1:]:
        key = unquote(written).replace("~1", "/").replace("~0", "~")
        if is_object(found) and key in found:
            found = found[key]
        elif is_array(found) and key.isdecimal() and key.isascii() and len(key) < 6 and int(key) < len(found):  # noqa: PLR2004  # digits
            found = found[int(key)]
        else:
            return None
        pointer = step(pointer, key)
    return pointer, found


_ONE = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_LISTED = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
_NAMED = frozenset(
    {"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
)
DEFINITIONS: Final = frozenset({"$defs", "definitions"})


def subschemas(schema: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Find the schemas directly inside of one, each with the steps that lead to it."""
    for keyword, value in schema.items():
        if is_array(value):
            if keyword in _LISTED:
                yield from [((keyword, str(index)), each) for index, each in enumerate(value)]
        elif keyword in _ONE:
            yield (keyword,), value
        elif keyword in _NAMED and is_object(value):
            yield from [((keyword, name), each) for name, each in value.items() if not is_array(each)]


def is_old(document: dict[str, Any]) -> bool:
    """Return whether nothing beside a reference counts, as in drafts before 2019-09."""
    said = document.get("$schema")
    return isinstance(said, str) and any(f"/draft-0{number}/" in said for number in (3, 4, 6, 7))


class References:
    """Where the references of a document lead, never out of it.

    Args:
        document: whose schemas may have identifiers (`$id`) and anchors.
    """

    def __init__(self, document: dict[str, Any]) -> None:
        self._is_old = is_old(document)
        self._resources: dict[str, Any] = {"": document}
        self._anchors: dict[tuple[str, str], Any] = {}
        self._bases: dict[int, str] = {}
        pending: list[tuple[Any, str]] = [(document, "")]
        while pending:
            schema, base = pending.pop()
            if not is_object(schema) or id(schema) in self._bases:
                continue
            base = self._bases[id(schema)] = self._named(schema, base)
            pending += [(each, base) for _, each in subschemas(schema)]

    def _named(self, schema: dict[str, Any], base: str) -> str:
        """Note the identifier and the anchors of a schema, and return the base of its references."""
        for keyword in ("$id", "id") if self._is_old else ("$id",):
            said = schema.get(keyword)
            if (
                isinstance(said, str)
                and len(said) <= MAX_REFERENCE
                and not (self._is_old and "$ref" in schema)
            ):
                where, anchor = _joined(base, said)
                if anchor:
                    self._anchors[where, anchor] = schema
                else:
                    base = where
                    self._resources.setdefault(base, schema)
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(schema.get(keyword), str):
                self._anchors[base, schema[keyword]] = schema
        return base

    def find(self, schema: dict[str, Any]) -> Any:
        """Return what the reference of a schema leads to.

        Raises:
            LookupError: it leads out of the document, or nowhere.
        """
        said = schema["$ref"]
        if not isinstance(said, str) or len(said) > MAX_REFERENCE:
            raise LookupError
        where, fragment = _joined(self._bases.get(id(schema), ""), said)
        if not fragment or fragment.startswith("/"):
            found = resolve_pointer(self._resources[where], f"#{fragment}")
            if found is None:
                raise LookupError
            return found[1]
        return self._anchors[where, unquote(fragment)]


def _joined(base: str, reference: str) -> tuple[str, str]:
    """Return the address that a reference means, and the fragment in it."""
    try:
        where, fragment = urldefrag(urljoin(base, reference) if base or ":" in reference else reference)
    except ValueError:
        raise LookupError from None
    return where, fragment
