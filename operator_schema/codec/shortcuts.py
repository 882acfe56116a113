"""The functions for everyday use: they register a type at its first use, and cache its codec."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from .codec import codec_of

if TYPE_CHECKING:
    from typing import Unpack

    from ..schema.style import StyleOptions
    from .codec import Codec

T = TypeVar("T")


def json_schema(annotation: Any, /, **options: Unpack[StyleOptions]) -> dict[str, Any]:
    """Return the JSON Schema 2020-12 document of a type.

    Args:
        annotation: a dataclass, or any other supported annotation.
        inline: whether only recursive types are under `$defs`; for hosts that follow no references.
        boolean_schemas: whether `true` and `false` may be schemas, as in `"items": false`.
        empty_schemas: whether a schema may leave out the type of a value, as `{}` does.

    Returns:
        A fresh dict, which the caller may change. It takes the same values with all options.

    Raises:
        SchemaError: with every complaint about the type; also if the result of `inline` would have more than
            10,000 schemas.
        TypeError: an option doesn't exist, or is neither True nor False.
    """
    return codec_of(annotation).json_schema(**options)


@overload
def decode(annotation: type[T], value: object, /, *, repair: bool = False) -> T: ...
@overload
def decode(annotation: Any, value: object, /, *, repair: bool = False) -> Any: ...
def decode(annotation: Any, value: object, /, *, repair: bool = False) -> Any:
    """Turn a JSON value into an instance of a type.

    Args:
        annotation: a dataclass, or any other supported annotation. It is registered at its first
            use and kept.
        value: dict, list, str, int, float, bool and None. It is not changed.
        repair: whether to correct values that can be read in only one way, as `Codec` does.

    Returns:
        An instance.

    Raises:
        DecodeError: with every problem.
        SchemaError: with every complaint about the type.
    """
    return codec_of(annotation, repair=repair).decode(value)


@overload
def decode_json(annotation: type[T], text: str | bytes | bytearray, /, *, repair: bool = False) -> T: ...
@overload
def decode_json(annotation: Any, text: str | bytes | bytearray, /, *, repair: bool = False) -> Any: ...
def decode_json(annotation: Any, text: str | bytes | bytearray, /, *, repair: bool = False) -> Any:
    """Turn the JSON text of a model's arguments into an instance of a type.

    Args:
        annotation: a dataclass, or any other supported annotation. It is registered at its first
            use and kept.
        text: one JSON value (RFC 8259), as a string or as UTF-8.
        repair: whether to correct values that can be read in only one way, as `Codec` does.

    Returns:
        An instance.

    Raises:
        DecodeError: the text isn't valid JSON, with line and column; or every problem of its value.
        SchemaError: with every complaint about the type.
        TypeError: text is neither a string nor bytes.
    """
    return codec_of(annotation, repair=repair).decode_json(text)


def encode(value: object, /) -> Any:
    """Turn an instance into JSON values, based on its class.

    Args:
        value: an instance of a dataclass, Enum or type with a leaf; a JSON value; or lists, tuples
            and dicts of them. For a value whose meaning depends on its annotation use
            `Codec(annotation).encode`.

    Returns:
        JSON values that share nothing with it.

    Raises:
        EncodeError: with everything that has no JSON form or does not fit its field.
        SchemaError: the value is a dataclass instance, and its type can't be registered.
    """
    return _codec_for(value).encode(value)


def encode_json(value: object, /) -> str:
    """Turn an instance into JSON text, based on its class.

    Args:
        value: as `encode` takes it. For a value whose meaning depends on its annotation use
            `Codec(annotation).encode_json`.

    Returns:
        Compact JSON (RFC 8259); other characters than ASCII aren't escaped.

    Raises:
        EncodeError: with everything that has no JSON form or does not fit its field.
        SchemaError: the value is a dataclass instance, and its type can't be registered.
    """
    return _codec_for(value).encode_json(value)


def _codec_for(value: object) -> Codec[Any]:
    is_dataclass = hasattr(type(value), "__dataclass_fields__")
    return codec_of(type(value) if is_dataclass else Any)
