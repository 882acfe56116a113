"""Go through the schemas inside a schema, and follow the JSON pointers (RFC 6901) that lead to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote

from ..json_values import is_array, is_object
from .keywords import KEYWORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Schema = dict[str, Any]

__all__ = [
    "MAX_REFERENCE",
    "as_path",
    "mapped",
    "path_of",
    "rebuilt",
    "resolve_pointer",
    "step",
    "steps_of",
    "subschemas",
    "unescaped",
    "written_step",
]

MAX_REFERENCE: Final = 2000
"""Characters of a reference."""


def subschemas(schema: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Find the schemas right inside a schema, each with the steps that lead to it."""
    for keyword, value in schema.items():
        row = KEYWORDS.get(keyword)
        holds = "value" if row is None else row.holds
        if is_array(value):
            if holds in _LISTED:
                yield from [((keyword, str(index)), each) for index, each in enumerate(value)]
        elif holds in _ONE:
            yield (keyword,), value
        elif holds == "named" and is_object(value):
            yield from [((keyword, name), each) for name, each in value.items() if not is_array(each)]


def mapped(schema: Mapping[str, Any], visit: Callable[[Any], Any]) -> Schema:
    """Return a copy of a schema with what `visit` makes of each schema right inside it."""
    copy = dict(schema)
    for keyword, value in schema.items():
        if keyword in _HOLDING:
            copy[keyword] = _mapped(keyword, value, visit)
    return copy


_HOLDING: Final = frozenset([name for name, row in KEYWORDS.items() if row.holds != "value"])


def _mapped(keyword: str, value: Any, visit: Callable[[Any], Any]) -> Any:
    holds = KEYWORDS[keyword].holds
    if is_array(value):
        return [visit(each) for each in value] if holds in _LISTED else value
    if holds in _ONE:
        return visit(value)
    if holds == "named" and is_object(value):
        return {name: each if is_array(each) else visit(each) for name, each in value.items()}
    return value


def rebuilt(schema: Mapping[str, Any], visit: Callable[[Schema], Any]) -> Schema:
    """Return a copy as `mapped` does; what an unknown keyword holds counts as schemas, and booleans stay.

    A reference in a keyword of somebody else leads somewhere too.
    """

    def visited(value: Any) -> Any:
        if is_array(value):
            return [visited(each) for each in value]
        return visit(value) if is_object(value) else value

    return {
        keyword: _mapped(keyword, value, visited) if keyword in KEYWORDS else visited(value)
        for keyword, value in schema.items()
    }


_LISTED: Final = frozenset({"schemas", "either"})
_ONE: Final = frozenset({"schema", "either"})


def as_path(steps: tuple[str, ...]) -> tuple[str, ...]:
    """Return the path in a value that steps in its schema mean; `*` stands for the items of an array."""
    row = KEYWORDS[steps[0]]
    return steps[1:] if row.holds == "named" else ("*",) if row.of else ()


def path_of(pointer: str) -> tuple[str, ...]:
    """Return the path in a value that the JSON pointer to a schema means.

    A definition has its name there, and so has a keyword of somebody else, to which only references lead.
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
    """Return the pointer to what is some steps below."""
    path = "/".join(steps)
    if "~" in path or path.count("/") >= len(steps):
        path = "/".join([_escaped(each) for each in steps])
    return f"{pointer}/{path}"


def _escaped(written: str) -> str:
    return written.replace("~", "~0").replace("/", "~1")


def unescaped(written: str) -> str:
    """Return the meaning of a step in a JSON pointer."""
    return written.replace("~1", "/").replace("~0", "~")


def written_step(name: str) -> str:
    """Return a step as the pointer in a fragment has it (RFC 6901, section 6)."""
    return quote(_escaped(name))


def steps_of(reference: str) -> list[str]:
    """Return the steps of a JSON pointer in a fragment; none for anything else."""
    if not reference.startswith("#/"):
        return []
    return [unescaped(unquote(written)) for written in reference[2:].split("/")]


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
    for key in steps_of(reference):
        if is_object(found) and key in found:
            found = found[key]
        elif is_array(found) and key.isdecimal() and key.isascii() and len(key) < 6 and int(key) < len(found):  # noqa: PLR2004  # digits
            found = found[int(key)]
        else:
            return None
        pointer = step(pointer, key)
    return pointer, found
