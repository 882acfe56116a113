"""operator_schema, this package, by its public interface alone."""

from __future__ import annotations

from typing import Any

import operator_schema  # for its exception, which only what fails needs; so with the other peers
from operator_schema import Codec

STYLE = ""


def register(cls: type) -> Codec[Any]:
    return Codec(cls)


def decoder(cls: type) -> Any:
    return Codec(cls).decode


def warm_decoder(cls: type) -> Any:
    return _compiled(Codec(cls)).decode


def json_decoder(cls: type) -> Any:
    import orjson

    try:
        codec = Codec(cls, json_loads=orjson.loads)
    except TypeError:
        codec = Codec(cls)
    return _compiled(codec).decode_json


def own_json_decoder(cls: type) -> Any:
    return _compiled(Codec(cls)).decode_json


def encoder(cls: type) -> Any:
    return _compiled(Codec(cls)).encode


def schema(cls: type) -> dict[str, Any]:
    return Codec(cls).json_schema()


def report(cls: type) -> Any:
    decode = _compiled(Codec(cls)).decode

    def fail(value: object) -> Any:
        try:
            decode(value)
        except operator_schema.DecodeError as error:
            return str(error)

    return fail


def problems(cls: type) -> Any:
    decode = _compiled(Codec(cls)).decode

    def fail(value: object) -> Any:
        try:
            decode(value)
        except operator_schema.DecodeError as error:
            return error.findings

    return fail


def function_schema(function: Any) -> dict[str, Any]:
    from operator_schema import tool

    return tool(function).input_schema()


def _compiled(codec: Codec[Any]) -> Codec[Any]:
    if hasattr(codec, "compile"):
        codec.compile()
    return codec
