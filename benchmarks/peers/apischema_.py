"""apischema (Cython, where it has a wheel; pure Python elsewhere)."""

from __future__ import annotations

from typing import Any

from apischema import ValidationError, deserialization_method

STYLE = "from apischema import schema; schema(description=…)"


def register(cls: type) -> Any:
    return deserialization_method(cls)


def decoder(cls: type) -> Any:
    return deserialization_method(cls)


def json_decoder(cls: type) -> Any:
    import orjson

    loads, decode = orjson.loads, decoder(cls)
    return lambda text: decode(loads(text))


def encoder(cls: type) -> Any:
    from apischema import serialization_method

    return serialization_method(cls)


def schema(cls: type) -> dict[str, Any]:
    from apischema.json_schema import deserialization_schema

    deserialization_method(cls)
    return dict(deserialization_schema(cls))


def report(cls: type) -> Any:
    decode = decoder(cls)

    def fail(value: object) -> Any:
        try:
            decode(value)
        except ValidationError as error:
            return error.errors

    return fail
