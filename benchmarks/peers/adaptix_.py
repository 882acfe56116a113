"""adaptix (pure Python, generated code)."""

from __future__ import annotations

from typing import Any

from adaptix import Retort


def register(cls: type) -> Any:
    return Retort().get_loader(cls)


def decoder(cls: type) -> Any:
    return Retort().get_loader(cls)


def json_decoder(cls: type) -> Any:
    import orjson

    loads, load = orjson.loads, decoder(cls)
    return lambda text: load(loads(text))


def encoder(cls: type) -> Any:
    return Retort().get_dumper(cls)


def schema(cls: type) -> dict[str, Any]:
    from adaptix.json_schema import Direction, generate_json_schema

    retort = Retort()
    retort.get_loader(cls)
    return generate_json_schema(retort, cls, direction=Direction.INPUT)


def report(cls: type) -> Any:
    from adaptix.load_error import LoadError
    from adaptix.struct_trail import get_trail

    load = decoder(cls)

    def leaves(error: Any, trail: tuple[Any, ...] = ()) -> Any:
        trail = (*trail, *get_trail(error))
        inner = getattr(error, "exceptions", ())
        return [leaf for one in inner for leaf in leaves(one, trail)] if inner else [(trail, repr(error))]

    def fail(value: object) -> Any:
        try:
            load(value)
        except LoadError as error:
            return leaves(error)

    return fail
