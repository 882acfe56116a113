"""cattrs (pure Python, generated code)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from cattrs.preconf.json import make_converter as made


def make_converter() -> Any:
    """Make a converter that knows UUID, as its documentation recommends."""
    converter = made()
    converter.register_structure_hook(UUID, lambda value, _: UUID(value))
    converter.register_unstructure_hook(UUID, str)
    return converter


def register(cls: type) -> Any:
    return make_converter().get_structure_hook(cls)


def decoder(cls: type) -> Any:
    converter = make_converter()
    hook = converter.get_structure_hook(cls)
    return lambda value: hook(value, cls)


def json_decoder(cls: type) -> Any:
    import orjson

    loads, decode = orjson.loads, decoder(cls)
    return lambda text: decode(loads(text))


def encoder(cls: type) -> Any:
    return make_converter().get_unstructure_hook(cls)


def report(cls: type) -> Any:
    from cattrs import BaseValidationError, transform_error

    decode = decoder(cls)

    def fail(value: object) -> Any:
        try:
            decode(value)
        except BaseValidationError as error:
            return transform_error(error)

    return fail
