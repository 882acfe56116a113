"""Values of a context by type: generic types, protocols, aliases, and what nearly fits."""

from __future__ import annotations

import sys
import typing
from collections.abc import Awaitable, Callable, Hashable, Mapping
from types import GenericAlias
from typing import Annotated, Any, Generic, NewType, Protocol, TypedDict, TypeVar, runtime_checkable

import pytest

from operator_schema import Executor, RawCall, ToolError, skip, tool
from operator_schema.errors import MissingContextError
from operator_schema.types import Progress

T = TypeVar("T")
S = TypeVar("S")


class Db:
    pass


class Cache:
    pass


class RunContext(Generic[T]):
    pass


class ToolContext(RunContext[T]):
    pass


class OfDb(RunContext[Db]):
    pass


class Swapped(RunContext[T], Generic[S, T]):
    pass


class Nested(RunContext[list[T]]):
    pass


class Untyped(RunContext):  # type: ignore[type-arg]  # as many write it
    pass


class Proto(Protocol):
    size: int

    def close(self) -> None: ...


@runtime_checkable
class Closes(Protocol):
    def close(self) -> None: ...


class File(Proto):
    pass


class Socket:
    def close(self) -> None: ...


class Config(TypedDict):
    name: str


UserId = NewType("UserId", str)
Confirm = Callable[[str], Awaitable[bool]]


class Odd:
    """A key whose comparison fails."""

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        message = "not comparable"
        raise RuntimeError(message)


def taker(annotation: Any) -> Any:
    def act(x) -> str:
        return str(x)

    act.__annotations__["x"] = Annotated[annotation, skip]
    return tool(act)


def given(annotation: Any, *keys: Any) -> str:
    """Return which of the keys is given, each with its number as the value."""
    return taker(annotation).run({}, context={key: number for number, key in enumerate(keys)})


@pytest.mark.parametrize(
    ("annotation", "keys"),
    [
        (RunContext[Db], [RunContext]),
        (RunContext[Db], [RunContext[Db]]),
        (RunContext[Db], [RunContext[Db], RunContext]),
        (RunContext[Db], [RunContext, ToolContext[Db]]),
        (RunContext[Db], [RunContext[Any]]),
        (RunContext[Db], [ToolContext]),
        (RunContext[Db], [ToolContext[Db]]),
        (RunContext[Db], [ToolContext[Db], ToolContext[Cache]]),
        (RunContext[Db], [OfDb]),
        (RunContext[Db], [Swapped[int, Db]]),
        (RunContext[Db], [Swapped]),
        (RunContext[Db], [Untyped]),
        (RunContext[Any], [RunContext[Db]]),
        (RunContext, [RunContext[Db]]),
        (RunContext, [RunContext, RunContext[Db]]),
        (RunContext, [RunContext[Db], ToolContext]),
        (RunContext, [ToolContext[Db]]),
        (RunContext[Db] | None, [RunContext]),
        (RunContext[Db] | Cache, [Cache]),
        (RunContext[None], [RunContext[None]]),
        (RunContext[list[Db]], [Nested[Db]]),
        (list[Db], [list[Db]]),
        (list[Db], [typing.List[Db], list]),  # noqa: UP006  # both spellings are one type
        (list[None], [typing.List[None]]),  # noqa: UP006  # both spellings are one type
        (list[Db], [list]),
        (list, [list[Db]]),
        (type[Db], [type[Db], type]),
        (type[Db], [type[Db], type[Cache]]),
        (Confirm, [Confirm]),
        (Confirm, [typing.Callable[[str], Awaitable[bool]], Socket]),
        (UserId, [UserId, str]),
        (Config, [Config]),
        (Proto, [File]),
        (Proto, [Proto]),
        (Closes, [Socket]),
        (Closes, [Closes, Socket]),
        (Hashable, [Socket]),
        (Db, [Annotated[Db, "of tests"]]),
        (Db, [Db, Odd(), "Db"]),
        (UserId, [UserId, Odd()]),
    ],
)
def test_the_first_key_is_given(annotation, keys):
    assert given(annotation, *keys) == "0"
    assert given(annotation, *reversed(keys)) == str(len(keys) - 1)


@pytest.mark.parametrize(
    ("annotation", "key"),
    [
        (RunContext[Db], RunContext[Cache]),
        (RunContext[Db], ToolContext[Cache]),
        (RunContext[Cache], OfDb),
        (RunContext[Db], Swapped[Db, Cache]),
        (RunContext[Cache], Nested[Db]),
        (RunContext[None], RunContext[Db]),
        (list[Db], list[Cache]),
        (type[Db], type[Cache]),
        (ToolContext[Db], RunContext[Db]),
        (Confirm, Callable[[int], Awaitable[bool]]),
        (Confirm, Callable[[str, str], Awaitable[bool]]),
        (Callable[[], int], Socket),
        (Mapping[str, int], dict),
        (Proto, Socket),
        (UserId, str),
        (UserId, Odd()),
        (object, Db),
        (Any, Db),
        (Config, dict),
    ],
)
def test_a_key_that_does_not_fit(annotation, key):
    with pytest.raises(MissingContextError):
        given(annotation, key)


@pytest.mark.parametrize(
    ("annotation", "keys"),
    [
        (RunContext, [RunContext[Db], RunContext[Cache]]),
        (RunContext[Any], [RunContext[Db], RunContext[Cache]]),
        (RunContext[Db], [ToolContext[Db], OfDb]),
        (Closes, [Socket, File]),
    ],
)
def test_two_keys_that_fit_equally_well(annotation, keys):
    with pytest.raises(ToolError, match=r"the context has .*, .*; give it by name"):
        given(annotation, *keys)
    assert taker(annotation).run({}, context={"x": "by name", **dict.fromkeys(keys)}) == "by name"


def test_arguments_that_are_text():
    for annotation in (RunContext["Db"], typing.List["Db"], list["Db"]):  # noqa: UP006  # text on purpose
        key = typing.get_origin(annotation)[Db]
        assert given(annotation, key) == "0"
        with pytest.raises(MissingContextError):
            given(annotation, typing.get_origin(annotation)[Cache])
    assert given(RunContext["Missing"], RunContext[Db]) == "0"  # what isn't known may be anything


def test_a_parameter_of_many_values_is_given_by_name_alone():
    @tool
    def act(*dbs: Annotated[Db, skip], **more: Annotated[Db, skip]) -> int:
        return len(dbs) + len(more)

    assert act.run({}, context={Db: Db()}) == "0"
    assert act.run({}, context={"dbs": [Db()], "more": {"a": Db(), "b": Db()}}) == "3"


@pytest.mark.needs_threads
def test_the_executor_finds_generic_types_too():
    @tool
    async def act(q: str, ctx: Annotated[RunContext[Db], skip]) -> str:
        return f"{q} {type(ctx).__name__}"

    result = Executor([act]).run_sync(RawCall("1", "act", {"q": "a"}), context={RunContext: OfDb()})
    assert result.content == "a OfDb"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 695 came with Python 3.12")
def test_classes_and_aliases_of_python_3_12():
    names: dict[str, Any] = {"Db": Db, "Cache": Cache, "RunContext": RunContext}
    code = """
class Ctx[T]: pass
class Sub[T](Ctx[T]): pass
type Alias = RunContext[Db] | None
type Broken = missing
"""
    exec(code, names)  # noqa: S102  # the syntax is new
    ctx, sub = names["Ctx"], names["Sub"]
    assert given(ctx[Db], ctx[Cache], ctx) == "1"
    assert given(ctx[Db], sub[Cache], sub[Db]) == "1"
    assert given(names["Alias"], RunContext) == "0"
    assert given(names["Broken"], names["Broken"], Db) == "0"
    with pytest.raises(MissingContextError):
        given(names["Broken"], Db)


def test_aliases_of_typing_extensions():
    extensions = pytest.importorskip("typing_extensions")
    alias = extensions.TypeAliasType("alias", RunContext[Db] | None)
    assert given(alias, RunContext[Cache], RunContext) == "1"

    class Failing:
        @property
        def __value__(self) -> None:
            raise self.error

    Failing.__name__ = "TypeAliasType"
    failing = Failing()
    failing.error = NameError("missing")
    assert given(failing, failing, Db) == "0"
    failing.error = MemoryError()
    with pytest.raises(MemoryError):
        given(failing, Db)


def test_code_of_a_class_that_fails():
    class Meta(type):
        error: type[BaseException] = RuntimeError

        def __subclasscheck__(cls, other: type) -> bool:
            raise cls.error

    class Base(metaclass=Meta):
        pass

    class Derived(Base):
        pass

    assert given(Base, Db, Derived) == "1"
    Meta.error = MemoryError
    with pytest.raises(MemoryError):
        given(Base, Db)


def test_memory_that_runs_out_is_not_hidden():
    class Large(Odd):
        __hash__ = object.__hash__

        def __eq__(self, other: object) -> bool:
            raise MemoryError

    with pytest.raises(MemoryError):
        given(UserId, Large())


def test_classes_that_give_odd_arguments():
    class Loose(RunContext[typing.List[T]]):  # noqa: UP006  # which checks its arguments
        pass

    class Circular(RunContext[Db]):
        pass

    Circular.__orig_bases__ = (Circular,)
    assert given(RunContext[list[Db]], GenericAlias(Loose, ((1, 2),))) == "0"
    assert given(RunContext[Cache], Circular) == "0"  # as if it said nothing about its arguments


def test_generic_models_of_pydantic():
    pydantic = pytest.importorskip("pydantic")

    class Page(pydantic.BaseModel, Generic[T]):
        items: list[T]

    class Own(Page[int]):
        pass

    assert given(Page[int], Page[str], Page) == "1"
    assert given(Page[int], Page[str], Own) == "1"
    assert given(Page[int], Page[str], Page[int]) == "1"
    assert given(Page, Page[int]) == "0"
    with pytest.raises(MissingContextError):
        given(Page[str], Own)


# --- what nearly fits ---------------------------------------------------------------------------------


def again(cls: type) -> type:
    """Return what a class is after its module was loaded again."""
    return type(cls.__name__, cls.__bases__, {"__module__": cls.__module__, "__qualname__": cls.__qualname__})


NEAR = [
    (Db, "Db", 'the text "Db" as a key, not the class'),
    (Db, f"{__name__}.Db", f'the text "{__name__}.Db" as a key, not the class'),
    (RunContext[Db], "RunContext", 'the text "RunContext" as a key, not the class'),
    (RunContext[Db], RunContext[Cache], r"RunContext\[Cache\], not RunContext\[Db\]"),
    (RunContext[Db], ToolContext[Cache], r"ToolContext\[Cache\], not RunContext\[Db\]"),
    (RunContext[Cache], OfDb, r"OfDb, not RunContext\[Cache\]"),
    (Db, again(Db), f"another class named {__name__}.Db, perhaps from before its module was reloaded"),
    (RunContext[Db], again(Db), None),
    (Db, Cache, None),
    (Db, UserId, None),
    (int, "int", None),
    (UserId, "UserId", None),
]


@pytest.mark.parametrize(("annotation", "key", "said"), NEAR)
def test_a_default_does_not_hide_what_nearly_fits(annotation, key, said):
    @tool(skip=("x",))
    def act(x: annotation | None = None) -> str:
        return str(x)

    if said is None:
        assert act.run({}, context={key: 1}) == "None"
    else:
        wrong = f'"x" would get its default, but the context has {said}; give it'
        with pytest.raises(ToolError, match=wrong):
            act.run({}, context={key: 1})
    assert act.run({}, context={key: 1, "x": 2}) == "2"
    assert act.run({}, x=3, context={key: 1}) == "3"
    assert act.run({}) == "None"


@pytest.mark.parametrize(("annotation", "key", "said"), NEAR)
def test_an_error_about_a_missing_value_says_what_nearly_fits(annotation, key, said):
    with pytest.raises(MissingContextError) as caught:
        given(annotation, key)
    assert ("the context has" in str(caught.value)) is (said is not None)
    if said is not None:
        caught.match(said)


@pytest.mark.needs_threads
def test_what_lacks_its_context_is_known_before_a_call():
    @tool
    def needs_two(db: Annotated[Db, skip], cache: Annotated[Cache, skip], city: str) -> str:
        return city

    @tool
    def has_a_default(progress: Annotated[Progress, skip], db: Annotated[Db | None, skip] = None) -> str:
        return ""

    @tool
    def needs_nothing(city: str) -> str:
        return city

    executor = Executor([needs_two, has_a_default, needs_nothing])
    missing = executor.missing_context()
    assert {name: error.parameters for name, error in missing.items()} == {"needs_two": ("db", "cache")}
    result = executor.run_sync(RawCall("1", "needs_two", {"city": "a"}))
    assert str(result.details["exception"]) == str(missing["needs_two"])
    assert executor.missing_context({Db: Db(), "cache": Cache()}) == {}
    assert list(executor.missing_context({Db: Db()})) == ["needs_two"]
    needs_nothing.check_context({})
    with pytest.raises(MissingContextError, match="cache must be injected"):
        needs_two.check_context({Db: Db()})
