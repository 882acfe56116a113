"""pydantic (Rust)."""

from __future__ import annotations

from functools import partial
from typing import Any

from pydantic import TypeAdapter, ValidationError

STYLE = "from pydantic import Field; Field(description=…)"


def register(cls: type) -> Any:
    return TypeAdapter(cls)


def decoder(cls: type) -> Any:
    return TypeAdapter(cls).validate_python


def json_decoder(cls: type) -> Any:
    return TypeAdapter(cls).validate_json


def encoder(cls: type) -> Any:
    return partial(TypeAdapter(cls).dump_python, mode="json")


def schema(cls: type) -> dict[str, Any]:
    return TypeAdapter(cls).json_schema()


def report(cls: type) -> Any:
    validate = TypeAdapter(cls).validate_python

    def fail(value: object) -> Any:
        try:
            validate(value)
        except ValidationError as error:
            return error.errors()

    return fail
