"""msgspec (C)."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

STYLE = "from msgspec import Meta; Meta(description=…)"


def register(cls: type) -> Any:
    decode = msgspec.json.Decoder(cls)  # `convert` keeps its knowledge in the class, as this does
    schema(cls)
    return decode


def decoder(cls: type) -> Any:
    return partial(msgspec.convert, type=cls)


def json_decoder(cls: type) -> Any:
    return msgspec.json.Decoder(cls).decode


def encoder(cls: type) -> Any:  # noqa: ARG001  # it reads the class of the value
    return msgspec.to_builtins


def schema(cls: type) -> dict[str, Any]:
    return msgspec.json.schema(cls)


def report(cls: type) -> Any:
    def fail(value: object) -> Any:
        try:
            msgspec.convert(value, cls)
        except msgspec.ValidationError as error:
            return str(error)

    return fail
