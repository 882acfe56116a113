"""When the input of a function becomes a dataclass, and that everything asks for it in time."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from operator_schema import Codec, DecodeError, tool


def fresh(function=None):
    def search(query: str, limit: int = 10, *, tags: list[str] = []) -> str:  # noqa: B006  # what people write
        return query

    made = tool(function or search)
    return made, made.input_type


def is_made(cls):
    return "__init__" in vars(cls)


def test_registration_and_schema_do_not_make_it():
    made, cls = fresh()
    made.definition()
    assert not is_made(cls)


@pytest.mark.parametrize(
    "use",
    [
        lambda cls: cls("a"),
        lambda cls: cls.__init__,
        lambda cls: cls.__match_args__,
        dataclasses.is_dataclass,
        dataclasses.fields,
        inspect.signature,
        lambda cls: Codec(cls).decode({"query": "a"}),
        lambda cls: Codec(cls).compile(),
        lambda cls: cls.__repr__,
        lambda cls: object.__new__(cls) == 1,
        lambda cls: type("Sub", (cls,), {})("a"),
        lambda cls: dataclasses.dataclass(type("Sub", (cls,), {"__annotations__": {"page": int}, "page": 1})),
    ],
)
def test_every_use_as_a_dataclass_makes_it(use):
    _, cls = fresh()
    use(cls)
    assert is_made(cls)
    assert [field.name for field in dataclasses.fields(cls)] == ["query", "limit", "tags"]
    assert cls("a") == cls("a", 10, tags=[])
    assert repr(cls("a")) == f"{cls.__qualname__}(query='a', limit=10, tags=[])"


def test_the_signature_is_that_of_the_constructor():
    _, cls = fresh()
    assert list(inspect.signature(cls).parameters) == ["query", "limit", "tags"]


@pytest.mark.needs_threads
def test_threads_that_need_it_at_once_get_one_dataclass():
    for _ in range(20):
        _, cls = fresh()
        start = Barrier(4)

        def use(cls=cls, start=start):
            start.wait()
            return cls("a", tags=["b"])

        with ThreadPoolExecutor(4) as pool:
            made = [future.result() for future in [pool.submit(use) for _ in range(4)]]
        assert all(one == made[0] for one in made)
        assert made[0].tags is not cls("a").tags


def test_parameters_with_names_that_classes_know():
    def odd(mro: int, self_: str, __doc: int = 1, name: str = "a") -> str:
        return f"{mro}{self_}{name}"

    made, cls = fresh(odd)
    with pytest.raises(TypeError, match="missing 2 required"):
        cls()
    assert made.run({"mro": 1, "self_": "b"}) == "1ba"
    with pytest.raises(DecodeError, match="mro: missing"):
        made.decode({"self_": "b"})


def test_a_name_that_the_extra_arguments_repeat_is_refused():
    def post(url: str, /, timeout: int = 1, **headers: str) -> str:
        return f"{url}{timeout}{headers}"

    made, cls = fresh(post)
    assert made.run({"url": "a", "headers": {"url": "b"}}) == "a1{'url': 'b'}"
    with pytest.raises(ValueError, match="'timeout' is a parameter of its own"):
        cls("a", headers={"timeout": "2"})
    with pytest.raises(DecodeError, match="'timeout' is a parameter of its own"):
        made.decode({"url": "a", "headers": {"timeout": "2"}})


def test_its_attribute_errors_are_those_of_any_class():
    base = fresh()[1].__mro__[1]
    assert not dataclasses.is_dataclass(base)
    with pytest.raises(AttributeError):
        base.__match_args__  # noqa: B018  # what is tested


@tool
def taken_twice(x: int) -> int:
    return x


def test_it_is_found_under_its_own_name():
    assert vars(sys.modules[__name__])["TakenTwiceInput"] is taken_twice.input_type
