"""How are schemas found inside a schema, and the targets of its references? JSON pointers: RFC 6901."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote, urldefrag, urljoin

from ..json_values import is_array, is_object
from .keywords import DEFINITIONS, KEYWORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Rename = Callable[[str], str]
    Place = tuple[str, str]  # which of the two keywords, and the name below it
    Schema = dict[str, Any]

MAX_REFERENCE: Final = 2000
"""The most characters of a reference."""


def subschemas(schema: Mapping[str, Any]) -> list[tuple[tuple[str, ...], Any]]:
    """Find the schemas directly inside a schema, each with the steps that lead to it."""
    found: list[tuple[tuple[str, ...], Any]] = []
    for keyword, value in schema.items():
        if keyword not in _HOLDING:
            continue
        holds = KEYWORDS[keyword].holds
        if is_array(value):
            if holds in _LISTED:
                found += [((keyword, str(index)), each) for index, each in enumerate(value)]
        elif holds in _ONE:
            found.append(((keyword,), value))
        elif holds == "named" and is_object(value):
            found += [((keyword, name), each) for name, each in value.items() if not is_array(each)]
    return found


def mapped(schema: Mapping[str, Any], visit: Callable[[Any], Any]) -> Schema:
    """Return a copy of a schema in which `visit` has replaced each schema directly inside it."""
    copy = dict(schema)
    for keyword, value in schema.items():
        if keyword in _HOLDING:
            copy[keyword] = _map_keyword(keyword, value, visit)
    return copy


_HOLDING: Final = frozenset([name for name, row in KEYWORDS.items() if row.holds != "value"])


def _map_keyword(keyword: str, value: Any, visit: Callable[[Any], Any]) -> Any:
    holds = KEYWORDS[keyword].holds
    if is_array(value):
        return [visit(each) for each in value] if holds in _LISTED else value
    if holds in _ONE:
        return visit(value)
    if holds == "named" and is_object(value):
        return {name: each if is_array(each) else visit(each) for name, each in value.items()}
    return value


def rebuilt(schema: Mapping[str, Any], visit: Callable[[Schema], Any]) -> Schema:
    """Return a copy as `mapped` does, but also visit the values of unknown keywords, and keep booleans.

    References in foreign keywords lead somewhere too.
    """

    def visited(value: Any) -> Any:
        if is_array(value):
            return [visited(each) for each in value]
        return visit(value) if is_object(value) else value

    return {
        keyword: _map_keyword(keyword, value, visited) if keyword in KEYWORDS else visited(value)
        for keyword, value in schema.items()
    }


_LISTED: Final = frozenset({"schemas", "either"})
_ONE: Final = frozenset({"schema", "either"})


def as_path(steps: tuple[str, ...]) -> tuple[str, ...]:
    """Turn steps in a schema into a path in its values; `*` stands for the items of an array."""
    row = KEYWORDS[steps[0]]
    return steps[1:] if row.holds == "named" else ("*",) if row.of else ()


def path_of(pointer: str) -> tuple[str, ...]:
    """Turn the JSON pointer to a schema into a path in the value.

    Definitions and foreign keywords, which only references lead to, appear with their names in the path.
    """
    steps = [unescaped(written) for written in pointer.split("/")[1:]]
    path: list[str] = []
    while steps:
        row = KEYWORDS.get(steps[0])
        size = 1
        if row is None:
            path.append(steps[0])
        else:
            has_place = steps[1:] and steps[1].isdecimal()
            if row.holds in {"named", "schemas"} or (row.holds == "either" and has_place):
                size = 2
            path += as_path(tuple(steps[:size]))
        steps = steps[size:]
    return tuple(path)


# --- JSON pointers -------------------------------------------------------------------------------


def step(pointer: str, *steps: str) -> str:
    """Append steps to a JSON pointer."""
    path = "/".join(steps)
    if "~" in path or path.count("/") >= len(steps):
        path = "/".join([_escaped(each) for each in steps])
    return f"{pointer}/{path}"


def _escaped(written: str) -> str:
    return written.replace("~", "~0").replace("/", "~1")


def unescaped(written: str) -> str:
    """Return the name that a step in a JSON pointer stands for."""
    return written.replace("~1", "/").replace("~0", "~")


def written_step(name: str) -> str:
    """Return a name as a step of a pointer in a URI fragment (RFC 6901, section 6)."""
    return quote(_escaped(name))


def steps_of(reference: str) -> list[str]:
    """Return the steps of a JSON pointer in a URI fragment; none for any other text."""
    if not reference.startswith("#/"):
        return []
    return [unescaped(unquote(written)) for written in reference[2:].split("/")]


def resolve_pointer(document: Any, reference: object) -> tuple[str, Any] | None:
    """Return the pointer in a reference, in its usual spelling, and the value that it leads to.

    Args:
        document: JSON values.
        reference: the value of the keyword `$ref`.

    Returns:
        None if the reference leads nowhere, to another document or to an anchor.
    """
    if not isinstance(reference, str) or len(reference) > MAX_REFERENCE:
        return None
    if reference != "#" and not reference.startswith("#/"):
        return None
    pointer, found = "", document
    for key in steps_of(reference):
        if is_object(found) and key in found:
            found = found[key]
        elif is_array(found) and key.isdecimal() and key.isascii() and len(key) < 6 and int(key) < len(found):  # noqa: PLR2004  # digits
            found = found[int(key)]
        else:
            return None
        pointer = step(pointer, key)
    return pointer, found


def resolve(schema: Mapping[str, Any], reference: str) -> Any:
    """Return the target of a reference below the definitions of a schema; None if there is none."""
    steps = steps_of(reference)
    if len(steps) < 2 or steps[0] not in DEFINITIONS:  # noqa: PLR2004  # the keyword and the name
        return None
    found = resolve_pointer(schema, reference)
    return None if found is None else found[1]


# --- references ----------------------------------------------------------------------------------


def is_old(document: dict[str, Any]) -> bool:
    """Return whether nothing beside a reference counts, as in drafts before 2019-09."""
    said = document.get("$schema")
    return isinstance(said, str) and any(f"/draft-0{number}/" in said for number in (3, 4, 6, 7))


class References:
    """Finds the targets of references in a document, never outside of it.

    Args:
        document: a document; its schemas may have identifiers (`$id`) and anchors.
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
            base = self._bases[id(schema)] = self._note_names(schema, base)
            pending += [(each, base) for _, each in subschemas(schema)]

    def _note_names(self, schema: dict[str, Any], base: str) -> str:
        """Note the identifier and the anchors of a schema, and return the base of its references."""
        for keyword in ("$id", "id") if self._is_old else ("$id",):
            said = schema.get(keyword)
            if (
                isinstance(said, str)
                and len(said) <= MAX_REFERENCE
                and not (self._is_old and "$ref" in schema)
            ):
                where, anchor = _address(base, said)
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
        """Return the target of a schema's reference.

        Raises:
            LookupError: the reference leads to another document, or nowhere.
        """
        said = schema["$ref"]
        if not isinstance(said, str) or len(said) > MAX_REFERENCE:
            raise LookupError
        where, fragment = _address(self._bases.get(id(schema), ""), said)
        if not fragment or fragment.startswith("/"):
            found = resolve_pointer(self._resources[where], f"#{fragment}")
            if found is None:
                raise LookupError
            return found[1]
        return self._anchors[where, unquote(fragment)]


def _address(base: str, reference: str) -> tuple[str, str]:
    """Return the address of a reference, and its fragment."""
    try:
        where, fragment = urldefrag(urljoin(base, reference) if base or ":" in reference else reference)
    except ValueError:
        raise LookupError from None
    return where, fragment
