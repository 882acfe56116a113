"""Leaves: types that one JSON value stands for, and how each is read and written."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .._value import Value, set_once
from ..errors import Complaint, SchemaError
from ..json_values import JSON_TYPES, copy_json
from ..wording import kind

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Iterable, Mapping

__all__ = [
    "SchemaLeaf",
    "as_leaf",
    "index_leaves",
    "leaf_generation",
    "own_leaf",
    "register_leaf",
    "registered_leaf",
    "shipped_leaf",
]

T = TypeVar("T")


class SchemaLeaf(Value, Generic[T]):
    """How values of one Python type stand in JSON.

    Give it to a codec (`leaves=[…]`), to one annotation (`Annotated[yarl.URL, leaf]`), to the class
    itself (a class attribute or class method `__schema_leaf__`) or to the whole process
    (`register_leaf`). Where several apply, the first in this order counts.

    Attributes:
        type: the Python type.
        json_schema: its JSON Schema 2020-12 document, with a `type`; a `description` in it is
            used where the field has none.
        decode: takes a JSON value of that `type`, returns an instance; raises ValueError or
            TypeError, whose text goes to the model.
        encode: takes an instance, returns a JSON value of that `type`; raises likewise.
        placeholder: a valid instance, used in examples.

    Raises:
        SchemaError: an argument is not of its kind, or the placeholder does not come back from
            `decode(encode(placeholder))`.
    """

    __slots__ = ("type", "json_schema", "decode", "encode", "placeholder")

    type: builtins.type[T]
    json_schema: Mapping[str, Any]
    decode: Callable[[Any], T]
    encode: Callable[[T], Any]
    placeholder: T

    def __init__(
        self,
        type: builtins.type[T],  # noqa: A002  # the attribute's name
        json_schema: Mapping[str, Any],
        decode: Callable[[Any], T],
        encode: Callable[[T], Any],
        placeholder: T,
    ) -> None:
        _check_leaf(type, json_schema, decode, encode, placeholder)
        set_once(self, "type", type)
        set_once(self, "json_schema", copy_json(json_schema))
        set_once(self, "decode", decode)
        set_once(self, "encode", encode)
        set_once(self, "placeholder", placeholder)

    def __hash__(self) -> int:
        return hash((SchemaLeaf, self.type))

    @property
    def json_types(self) -> tuple[str, ...]:
        """The JSON types that `json_schema` names."""
        return _json_types(self.json_schema)


def _json_types(json_schema: Mapping[str, Any]) -> tuple[str, ...]:
    declared = json_schema.get("type", ())
    return (declared,) if isinstance(declared, str) else tuple(declared)


def _check_leaf(
    cls: object, json_schema: object, decode: object, encode: object, placeholder: object
) -> None:
    fault = (
        _describe_fault(cls, json_schema, decode, encode)
        or _describe_schema_fault(json_schema)  # type: ignore[arg-type]  # a dict, as just checked
        or _describe_placeholder_fault(cls, decode, encode, placeholder)  # type: ignore[arg-type]  # likewise
    )
    if fault:
        name = getattr(cls, "__qualname__", None) or repr(cls)
        message, remedy = fault
        title = f"SchemaLeaf({name})"
        raise SchemaError(title, [Complaint((), "bad_leaf", name, message, remedy)])


def _describe_fault(
    cls: object, json_schema: object, decode: object, encode: object
) -> tuple[str, str] | None:
    if not isinstance(cls, type):
        return f"type is {kind(cls)}, not a class", "Give the Python type that the leaf stands for"
    if not isinstance(json_schema, dict):
        return f"json_schema is {kind(json_schema)}, not a dict", "Give a JSON Schema document"
    for name, function in (("decode", decode), ("encode", encode)):
        if not callable(function):
            return f"{name} is {kind(function)}, not a function", "Give a function of one value"
    return None


def _describe_schema_fault(json_schema: Mapping[str, Any]) -> tuple[str, str] | None:
    types = _json_types(json_schema)
    if types and all(name in JSON_TYPES for name in types):
        return None
    return (
        "json_schema does not say which JSON type the values have",
        f'Add "type", one of {", ".join(JSON_TYPES)} or a list of them',
    )


def _describe_placeholder_fault(
    cls: type, decode: Callable[[Any], Any], encode: Callable[[Any], Any], placeholder: object
) -> tuple[str, str] | None:
    if not isinstance(placeholder, cls):
        return f"placeholder is no {cls.__name__}", "Give a valid instance"
    try:
        decode(encode(placeholder))
    except (ValueError, TypeError) as error:
        return (
            f"placeholder does not survive decode(encode(placeholder)): {error}",
            "Give one that does, or mend the two functions",
        )
    return None


_registered: dict[type, SchemaLeaf[Any]] = {}
_generation = 0


def register_leaf(leaf: SchemaLeaf[T]) -> SchemaLeaf[T]:
    """Use a leaf for its type in every codec made from now on.

    Args:
        leaf: replaces the registered or shipped one of the same type.

    Returns:
        The same leaf.
    """
    global _generation, _registered  # noqa: PLW0603  # replaced whole: readers see the old or the new
    _registered = {**_registered, leaf.type: leaf}
    _generation += 1
    return leaf


def registered_leaf(cls: type) -> SchemaLeaf[Any] | None:
    """Return the leaf that `register_leaf` was given for a type."""
    return _registered.get(cls)


def leaf_generation() -> int:
    """Return a number that changes whenever a leaf is registered, for caches of what was walked."""
    return _generation


def own_leaf(cls: type) -> object:
    """Return what a class says in `__schema_leaf__`, called if it is a method; None if nothing."""
    own: Any = getattr(cls, "__schema_leaf__", None)
    return own() if callable(own) else own


def as_leaf(item: Any) -> SchemaLeaf[Any] | None:
    """Return a leaf as it is, None for anything else."""
    return item if isinstance(item, SchemaLeaf) else None  # pyright: ignore[reportUnknownVariableType]  # of whatever type


def index_leaves(leaves: Iterable[SchemaLeaf[Any]]) -> dict[type, SchemaLeaf[Any]]:
    """Arrange leaves by type; the last of one type counts."""
    return {leaf.type: leaf for leaf in leaves}


def shipped_leaf(cls: type) -> SchemaLeaf[Any] | None:
    """Return this package's own leaf for a type of the standard library.

    The type is recognised by its module and name, and everything the leaf needs is taken from the
    module that defined it: nothing is imported here.
    """
    known = _made.get(cls)
    if known is not None:
        return known
    make = _SHIPPED.get((cls.__module__, cls.__qualname__))
    if make is None or getattr(sys.modules[cls.__module__], cls.__qualname__, None) is not cls:
        return None
    return _made.setdefault(cls, make(cls))


_made: dict[type, SchemaLeaf[Any]] = {}


# Patterns are compiled when their leaf is made: most programs never need most of them.
_BAD_IN_URL = r"[\x00-\x20\x7f-\xa0\u2028\u2029\ud800-\udfff]"
_NEEDS_HOST = frozenset({"http", "https", "ws", "wss", "ftp"})


def _url_leaf(cls: Any) -> SchemaLeaf[Any]:
    split: Callable[[str], Any] = vars(sys.modules[cls.__module__])["urlsplit"]
    bad_in_url = re.compile(_BAD_IN_URL)

    def decode(text: str) -> Any:
        if bad_in_url.search(text):
            message = "a URL has no spaces or control characters; write them as %XX"
            raise ValueError(message)
        parts = split(text)
        _check_absolute(parts)
        return parts

    def encode(url: Any) -> str:
        text: str = url.geturl()
        if decode(text) != url:
            message = f"its text {text} is read as another URL"
            raise ValueError(message)
        return text

    placeholder = split("https://example.com/")
    return SchemaLeaf(cls, {"type": "string"}, decode, encode, placeholder)


def _check_absolute(parts: Any) -> None:
    # In "example.com:8080/p" the host is read as a scheme; no registered scheme looks like that.
    if not parts.scheme or "." in parts.scheme or parts.scheme == "localhost":
        message = "an absolute URL starts with its scheme, such as https://"
        raise ValueError(message)
    if parts.scheme in _NEEDS_HOST and not parts.hostname:
        message = f"a URL of scheme {parts.scheme} names a host, as in {parts.scheme}://example.com"
        raise ValueError(message)
    if not (parts.netloc or parts.path):
        message = "nothing follows the scheme"
        raise ValueError(message)
    _ = parts.port  # raises ValueError for a port that is no number up to 65535


# RFC 3339, section 5.6. It is stricter than ISO 8601 and than `datetime.fromisoformat`, and it is
# what the format "date-time" in the schema promises. Leap seconds have no place in datetime.
_RFC3339 = r"\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)"
_FULL_DATE = r"\d{4}-\d\d-\d\d"


def _datetime_leaf(cls: Any) -> SchemaLeaf[Any]:
    rfc3339 = re.compile(_RFC3339, re.ASCII)

    def decode(text: str) -> Any:
        if not rfc3339.fullmatch(text):
            message = "write date, time and UTC offset as in 2026-01-31T09:30:00Z"
            raise ValueError(message)
        return cls.fromisoformat(text)

    def encode(moment: Any) -> str:
        if moment.utcoffset() is None:
            message = "a datetime without time zone has no JSON form; give it a tzinfo"
            raise ValueError(message)
        text: str = moment.isoformat()
        if not rfc3339.fullmatch(text):
            message = f"{text} is no RFC 3339 date-time: its UTC offset has seconds"
            raise ValueError(message)
        return text

    schema = {"type": "string", "format": "date-time", "description": "ISO 8601 date string"}
    return SchemaLeaf(cls, schema, decode, encode, cls.fromisoformat("2026-01-31T09:30:00+00:00"))


def _date_leaf(cls: Any) -> SchemaLeaf[Any]:
    full_date = re.compile(_FULL_DATE, re.ASCII)

    def decode(text: str) -> Any:
        if not full_date.fullmatch(text):
            message = "write a date as in 2026-01-31"
            raise ValueError(message)
        return cls.fromisoformat(text)

    def encode(day: Any) -> str:
        text: str = day.isoformat()
        if not full_date.fullmatch(text):
            message = "a datetime is more than a date"
            raise ValueError(message)
        return text

    schema = {"type": "string", "format": "date"}
    return SchemaLeaf(cls, schema, decode, encode, cls(2026, 1, 31))


_UUID = r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"


def _uuid_leaf(cls: Any) -> SchemaLeaf[Any]:
    hyphenated = re.compile(_UUID)

    def decode(text: str) -> Any:
        if not hyphenated.fullmatch(text):
            message = "a UUID has 32 hexadecimal digits, as in 12345678-1234-5678-1234-567812345678"
            raise ValueError(message)
        return cls(text)

    schema = {"type": "string", "format": "uuid", "description": "UUID string"}
    placeholder = cls("12345678-1234-5678-1234-567812345678")
    return SchemaLeaf(cls, schema, decode, cls.__str__, placeholder)


_SHIPPED: dict[tuple[str, str], Callable[[Any], SchemaLeaf[Any]]] = {
    ("urllib.parse", "SplitResult"): _url_leaf,
    ("datetime", "datetime"): _datetime_leaf,
    ("datetime", "date"): _date_leaf,
    ("uuid", "UUID"): _uuid_leaf,
}
