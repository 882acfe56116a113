"""How is the schema of a leaf written in a dialect? Also: how null is added to a schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..json_values import JSON_TYPES, fits_types, is_array, is_object
from ..message_text import quote
from .keywords import KEYWORDS
from .schema_words import WORDS, short_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .dialect import Dialect

    Fitted = Callable[[dict[str, Any]], dict[str, Any]]


def says_null(document: Mapping[str, Any]) -> bool:
    """Return whether a schema takes null."""
    kind = document.get("type")
    if kind == "null" or (isinstance(kind, list) and "null" in kind):
        return True
    return any(says_null(member) for member in document.get("anyOf", ()))


def or_null(document: dict[str, Any], *, as_list: bool) -> dict[str, Any]:
    """Return a schema that takes null too; its description stays at the top."""
    null = {"type": "null"}
    about = {key: document[key] for key in (WORDS, "description") if key in document}
    rest = {key: value for key, value in document.items() if key not in about}
    if rest.keys() == {"anyOf"}:
        return {"anyOf": [*rest["anyOf"], null], **about}
    if (
        as_list
        and isinstance(rest.get("type"), str)
        and rest.keys().isdisjoint({"enum", "properties", "items"})
    ):
        return {**rest, "type": [rest["type"], "null"], **about}
    return {"anyOf": [rest, null], **about}


_ABOUT = frozenset({"description", "title"})
_OUTER = frozenset({"default", "examples"})
"""Keywords that stay outside when a type becomes a member of a union."""

_OF_OBJECTS: Final = frozenset({"properties", "required", "additionalProperties"})
_OWN: Final = {
    kind: _OF_OBJECTS
    if kind == "object"
    else frozenset(
        [name for name, row in KEYWORDS.items() if kind in row.of and (row.words or name == "items")]
    )
    for kind in JSON_TYPES
}
"""JSON type to the keywords about its values that can be rewritten; every other keyword is refused."""

_ANY = _OUTER | {"type", "enum"}
_SCALARS = frozenset({"string", "integer", "number", "boolean", "null"})
_LEVELS = 50


class CannotSay(Exception):  # noqa: N818  # it never leaves the package
    """The parts of a leaf's schema that a dialect can't express.

    Attributes:
        path: property names below the leaf; `*` stands for the items of an array.
        what: the part, as the beginning of a message.
    """

    def __init__(self, path: tuple[str, ...], what: str) -> None:
        self.path = path
        self.what = what
        super().__init__(what)


def leaf_schema(document: Any, dialect: Dialect, fitted: Fitted) -> dict[str, Any]:
    """Write the schema of a leaf in a dialect.

    Args:
        document: the schema.
        dialect: the dialect that it must fit.
        fitted: moves the keywords that the dialect doesn't take to the description.

    Returns:
        A copy that takes the same values, except for unknown keys.

    Raises:
        CannotSay: the dialect can't express it, or it has an unknown keyword.
    """
    return _SchemaWriter(dialect, fitted).schema(document, ())


def types_in(document: Any) -> list[str]:
    """List the JSON types that a schema names at its top level; empty if it names none."""
    kinds = document.get("type") if is_object(document) else None
    kinds = kinds if is_array(kinds) else [kinds]
    return [kind for kind in kinds if isinstance(kind, str) and kind in _OWN]


class _SchemaWriter:
    """Rewrites foreign schemas, from the outside to the inside.

    Args:
        dialect: the dialect that they must fit.
        fitted: moves the keywords that the dialect doesn't take to the description.
    """

    __slots__ = ("_dialect", "_fitted", "_level")

    def __init__(self, dialect: Dialect, fitted: Fitted) -> None:
        self._dialect = dialect
        self._fitted = fitted
        self._level = 0

    def schema(self, document: Any, path: tuple[str, ...]) -> dict[str, Any]:
        """Write a schema."""
        if not is_object(document):
            raise CannotSay(path, f"its schema is {short_json(document)}")
        if self._level == _LEVELS:
            raise CannotSay(path, f"its schema nests more than {_LEVELS} levels")
        self._level += 1
        about = {key: document[key] for key in _ABOUT if key in document}
        rest = {key: value for key, value in document.items() if key not in _ABOUT}
        if "const" in rest and "enum" not in rest:
            rest["enum"] = [rest.pop("const")]
        found = self._union(rest, path) if "anyOf" in rest else self._several_types(rest, path)
        self._level -= 1
        return {**found, **about}

    def _union(self, rest: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
        members = rest.pop("anyOf")
        _check_known(rest, _OUTER, path)
        if not is_array(members) or not members:
            raise CannotSay(path, 'its schema has an "anyOf" without members')
        return self._fitted({"anyOf": [self.schema(member, path) for member in members], **rest})

    def _several_types(self, rest: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
        """Write a schema of one type, or of several types, each with the keywords that are about it."""
        kinds = types_in(rest)
        if not kinds:
            raise CannotSay(path, "its schema leaves open what type a value has")
        _check_known(rest, frozenset[str]().union(*[_OWN[kind] for kind in kinds], _ANY), path)
        values = rest.get("enum")
        if values is not None and not is_array(values):
            raise CannotSay(path, "its schema has an enum that isn't a list")
        possible = [
            kind for kind in kinds if values is None or any(fits_types(value, {kind}) for value in values)
        ]
        if not possible:
            raise CannotSay(path, "its schema takes no value")
        made = [
            self._one_type(kind, {key: rest[key] for key in rest if key in _OWN[kind] or key == "enum"}, path)
            for kind in possible
            if kind != "null"
        ]
        outer = {key: rest[key] for key in rest if key in _OUTER}
        if not made:
            return self._fitted({"type": "null", **outer})
        found = made[0] if len(made) == 1 else {"anyOf": made}
        if "null" in possible:
            found = or_null(found, as_list=self._dialect.takes_type_lists)
        return self._fitted({**found, **outer})

    def _one_type(self, kind: str, rest: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
        """Write a schema of one type."""
        if kind in _SCALARS:
            if "enum" in rest:
                rest["enum"] = [value for value in rest["enum"] if fits_types(value, {kind})]
            return self._fitted({"type": kind, **rest})
        if "enum" in rest:
            raise CannotSay(path, f"its schema is an enum of {kind}s")
        if kind == "object":
            return self._object(rest, path)
        if "items" not in rest:
            raise CannotSay(path, "its schema is an array of any items")
        return self._fitted({"type": "array", **rest, "items": self.schema(rest["items"], (*path, "*"))})

    def _object(self, rest: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
        """Write an object. Optional properties can't become required, because null would reach the leaf."""
        dialect = self._dialect
        properties, required = rest.get("properties"), rest.get("required", [])
        others = rest.get("additionalProperties", properties is None)
        if others is not False and not dialect.takes_maps:
            raise CannotSay(path, "its schema is an object with free keys")
        named: dict[str, Any] = properties or {}
        if dialect.required == "one" and named and not required:
            raise CannotSay(path, "its schema requires none of its properties")
        if dialect.required == "all":
            needed = {key for key in required if isinstance(key, str)}
            for key in named:
                if key not in needed:
                    raise CannotSay((*path, key), "its schema lets it be left out")
        document: dict[str, Any] = {"type": "object"}
        if properties is not None:
            document["properties"] = {key: self.schema(named[key], (*path, key)) for key in named}
        if required:
            document["required"] = list(required)
        if others is not False and others is not True:
            document["additionalProperties"] = self.schema(others, (*path, "*"))
        elif others is True or dialect.closed == "always" or "additionalProperties" in rest:
            document["additionalProperties"] = others
        if dialect.closed == "none":
            document.pop("additionalProperties", None)
        return document


def _check_known(rest: Mapping[str, Any], known: frozenset[str], path: tuple[str, ...]) -> None:
    for key in rest:
        if key not in known:
            raise CannotSay(path, f"its schema has the keyword {quote(key)}")
