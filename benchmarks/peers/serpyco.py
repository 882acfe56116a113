"""serpyco-rs (Rust)."""

from __future__ import annotations

from typing import Any

from serpyco_rs import SchemaValidationError, Serializer

STYLE = "from serpyco_rs.metadata import JsonSchemaExtension; JsonSchemaExtension({'description': …})"


def register(cls: type) -> Any:
    return Serializer(cls)


def decoder(cls: type) -> Any:
    return Serializer(cls).load


def json_decoder(cls: type) -> Any:
    import orjson

    loads, load = orjson.loads, Serializer(cls).load
    return lambda text: load(loads(text))


def encoder(cls: type) -> Any:
    return Serializer(cls).dump


def schema(cls: type) -> dict[str, Any]:
    return Serializer(cls).get_json_schema()


def report(cls: type) -> Any:
    load = Serializer(cls).load

    def fail(value: object) -> Any:
        try:
            load(value)
        except SchemaValidationError as error:
            return [(item.instance_path, item.message) for item in error.errors]

    return fail
