"""Instances of models that hold what doesn't fit: encoding names the place, and raises nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

pydantic = pytest.importorskip("pydantic", reason="pydantic isn't installed")

from operator_schema import Codec, DecodeError, EncodeError, Executor, RawCall, decode, tool  # noqa: E402

MISFITS = [None, "x", 5, b"\xff", object(), float("nan"), [None], {"a": 1}, ["1"], {1}]


@dataclass
class Data:
    x: list[int]


class Model(pydantic.BaseModel):
    x: list[int]


class Aliased(pydantic.BaseModel):
    x: list[int] = pydantic.Field(alias="theX")


def held(value):
    """Yield an instance with the value at `x`, and the path to it."""
    for made, key in ((Data(value), "x"), (Model.model_construct(x=value), "x")):
        yield type(made), made, (key,)
    yield Aliased, Aliased.model_construct(x=value), ("theX",)


def inside(cls, made, path):
    """Yield instances of models that hold an instance: as a field, in a list, a map, a tuple, deeper."""

    class Field(pydantic.BaseModel):
        d: cls

    class Items(pydantic.BaseModel):
        d: list[cls]

    class Map(pydantic.BaseModel):
        d: dict[str, cls]

    class Pair(pydantic.BaseModel):
        d: tuple[int, cls]

    class Maybe(pydantic.BaseModel):
        d: cls | None = None

    class Deep(pydantic.BaseModel):
        e: list[Items]

    class Named(pydantic.BaseModel):
        d: cls = pydantic.Field(alias="theD")

    items = Items.model_construct(d=[made])
    yield Field, Field.model_construct(d=made), ("d", *path)
    yield Items, items, ("d", 0, *path)
    yield Map, Map.model_construct(d={"k": made}), ("d", "k", *path)
    yield Pair, Pair.model_construct(d=(1, made)), ("d", 1, *path)
    yield Maybe, Maybe.model_construct(d=made), ("d", *path)
    yield Deep, Deep.model_construct(e=[items]), ("e", 0, "d", 0, *path)
    yield Named, Named.model_construct(d=made), ("theD", *path)


@pytest.mark.parametrize("number", range(len(MISFITS)))
def test_a_misfit_at_each_place(number):
    value = MISFITS[number]
    seen = 0
    for held_class, held_value, held_path in held(value):
        for cls, made, path in [
            (held_class, held_value, held_path),
            *inside(held_class, held_value, held_path),
        ]:
            with pytest.raises(EncodeError) as caught:
                Codec(cls).encode(made)
            (first, *_) = caught.value.findings
            # What pydantic can't write at all, it refuses as a whole: its message has the name of the field.
            is_refused = issubclass(cls, pydantic.BaseModel) and value not in (None, [None])
            assert first.path[: len(path)] == (() if is_refused else path)
            with pytest.raises(EncodeError):
                Codec(list[cls]).encode([made])
            seen += 1
    assert seen == 3 * 8


def test_a_default_that_does_not_fit():
    @dataclass
    class Kept:
        x: list[int] = None  # type: ignore[assignment]  # as people write it

    class Model(pydantic.BaseModel):
        d: Kept

    value = decode(Model, {"d": {}})
    with pytest.raises(EncodeError) as caught:
        Codec(Model).encode(value)
    assert caught.value.findings[0].path == ("d", "x")
    with pytest.raises(DecodeError):
        decode(Model, {"d": {"x": "y"}})

    @tool
    def give() -> Model:
        """Give it."""
        return value

    result = Executor(give).run_sync(RawCall("1", "give", {}))
    assert (result.content, result.is_error) == ('{"d":{"x":null}}', False)
    (mismatch,) = result.details["mismatches"]
    assert str(mismatch) == "d.x: Input should be a valid array, got null"
