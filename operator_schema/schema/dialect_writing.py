"""Special forms of a dialect: keywords as words, null beside a schema, the schemas of leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..json_values import JSON_TYPES, fits_types, is_array, is_object, to_json_text
from ..message_text import clip, quote
from .keywords import KEYWORDS, UNITS
from .references import mapped, rebuilt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .style import Dialect

    Fitted = Callable[[dict[str, Any]], dict[str, Any]]


WORDS = "<words>"
"""The key under which a schema stores words for its description until `written_out` puts them there."""

_TEXT_LENGTH = 200


def said_of(keywords: Mapping[str, Any]) -> list[str]:
    """Describe keywords in words.

    Args:
        keywords: keywords with words in the table of keywords, and their values.
    """
    if not keywords:
        return []  # like most schemas
    exactly = {
        least: most
        for least, most in _BOTH.items()
        if least in keywords and keywords[least] == keywords.get(most)
    }
    return [
        _said(keyword, value, exactly=keyword in exactly)
        for keyword, value in keywords.items()
        if keyword not in exactly.values()
    ]


WITH_WORDS: Final = frozenset([keyword for keyword, row in KEYWORDS.items() if row.words != ""])
"""The keywords that can be described in words."""


_BOTH = {"minLength": "maxLength", "minItems": "maxItems", "minProperties": "maxProperties"}


def _said(keyword: str, value: Any, *, exactly: bool) -> str:
    words = KEYWORDS[keyword].words
    words = words.replace("at least", "exactly") if exactly else words
    return _in_number(words.format(_shown(keyword, value)), value)


def _in_number(words: str, value: Any) -> str:
    is_one = value == 1 and words.endswith(tuple(UNITS.values()))
    return words.removesuffix("s") if is_one else words


def short_json(value: Any) -> str:
    """Return a JSON value as a text that is short enough for a description."""
    return clip(to_json_text(value), _TEXT_LENGTH)


def with_words(document: dict[str, Any], words: str) -> dict[str, Any]:
    """Return a schema that stores words for its description."""
    return {**document, WORDS: [*document.get(WORDS, ()), words]}


def _shown(keyword: str, value: Any) -> str:
    if keyword == "examples":
        return clip(", ".join([to_json_text(example) for example in value]), _TEXT_LENGTH)
    # Without quotes, an empty text or one of spaces would be invisible.
    return clip(value, _TEXT_LENGTH) if isinstance(value, str) and value.strip() else short_json(value)


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


def written_out(document: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with its stored words in the descriptions, and nothing beside its references."""
    kept = mapped({key: value for key, value in document.items() if key != WORDS}, _written_inside)
    if WORDS in document:
        kept["description"] = _with_words(kept.pop("description", None), document[WORDS])
    if "$ref" in kept and len(kept) > 1:
        return {"anyOf": [{"$ref": kept.pop("$ref")}], **kept}
    return kept


def _written_inside(value: Any) -> Any:
    return written_out(value) if is_object(value) else value


def _with_words(description: Any, words: list[str]) -> str:
    text = "; ".join(words)
    return f"{description} ({text})" if isinstance(description, str) else f"{text[0].upper()}{text[1:]}."


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
        found = self._union(rest, path) if "anyOf" in rest else self._typed(rest, path)
        self._level -= 1
        return {**found, **about}

    def _union(self, rest: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
        members = rest.pop("anyOf")
        _check_known(rest, _OUTER, path)
        if not is_array(members) or not members:
            raise CannotSay(path, 'its schema has an "anyOf" without members')
        return self._fitted({"anyOf": [self.schema(member, path) for member in members], **rest})

    def _typed(self, rest: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
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
            self._of(kind, {key: rest[key] for key in rest if key in _OWN[kind] or key == "enum"}, path)
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

    def _of(self, kind: str, rest: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
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


def openapi_schema(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema in OpenAPI's form: types in capitals, `nullable` for null, and the order of properties.

    Args:
        document: a schema without references and lists of types.
    """
    kept = dict(document)
    members = kept.pop("anyOf", None)
    if members is not None:
        return _union([member for member in members if member.get("type") != "null"], len(members), kept)
    kept = rebuilt(kept, openapi_schema)
    kept["type"] = kept["type"].upper()
    if "properties" in kept:
        kept["propertyOrdering"] = list(kept["properties"])
    if "enum" in kept:
        kept["enum"] = [value for value in kept["enum"] if value is not None]
        kept["format"] = "enum"
        if not kept["enum"]:
            del kept["enum"], kept["format"]
    return kept


def _union(others: list[Any], count: int, about: dict[str, Any]) -> dict[str, Any]:
    """Return a union: OpenAPI allows nothing beside `anyOf`, so shared keywords move into each member."""
    made = [openapi_schema(member) for member in others] or [{"type": "NULL"}]
    first = made[0]
    if about.get("description"):
        _say(first, about["description"])
    if len(made) == 1:
        if len(others) < count and others:
            _take_null(first)
        return first if "anyOf" in first else {**about, **first}
    if len(others) < count:
        for member in made:
            _take_null(member)
    return {"anyOf": made}


def _say(document: dict[str, Any], text: str) -> None:
    """Put a text at the beginning of the description of a schema, or of a union's first member."""
    while "anyOf" in document:
        document = document["anyOf"][0]
    own = document.get("description")
    document["description"] = f"{text} {own}" if own else text


def _take_null(document: dict[str, Any]) -> None:
    """Make a schema take null; in a union, every member."""
    if "anyOf" not in document:
        document["nullable"] = True
    for member in document.get("anyOf", ()):
        _take_null(member)
