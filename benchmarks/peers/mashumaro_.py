"""mashumaro (pure Python, generated code)."""

from __future__ import annotations

from typing import Any

from mashumaro.codecs.basic import BasicDecoder


def register(cls: type) -> Any:
    return BasicDecoder(cls)


def decoder(cls: type) -> Any:
    return BasicDecoder(cls).decode


def json_decoder(cls: type) -> Any:
    from mashumaro.codecs.orjson import ORJSONDecoder

    return ORJSONDecoder(cls).decode


def encoder(cls: type) -> Any:
    from mashumaro.codecs.basic import BasicEncoder

    return BasicEncoder(cls).encode


def schema(cls: type) -> dict[str, Any]:
    from mashumaro.jsonschema import build_json_schema

    BasicDecoder(cls)
    return build_json_schema(cls).to_dict()


def report(cls: type) -> Any:
    decode = BasicDecoder(cls).decode

    def fail(value: object) -> Any:
        try:
            decode(value)
        except ValueError as error:
            return str(error)

    return fail
