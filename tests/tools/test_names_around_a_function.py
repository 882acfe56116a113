"""Names that the annotations of a function may use."""

from __future__ import annotations

import abc
import asyncio
import contextlib
import functools
import inspect
import sys
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from typing import (
    Annotated,
    Any,
    TypeVar,
)

import pytest
from tool_samples import Derived, Point, T, codes_of, many, quick, wrapping

from operator_schema import Codec, SchemaError, decode, json_schema, tool, tool_input
from operator_schema.errors import MissingContextError
from operator_schema.tools import schema_response
from operator_schema.types import RawArguments


def test_local_types_are_known_where_the_function_is_defined():
    @dataclass
    class Local:
        x: int

    @tool
    def move(to: Local, times: int) -> list[Local]:
        return [to] * times

    assert move.run({"to": {"x": 1}, "times": 1}) == '[{"x":1}]'

    class Holder:
        @dataclass
        class Inner:
            y: int

        @tool
        def hold(self, what: Inner, where: Local) -> int:
            return what.y + where.x

    assert Holder().hold.run({"what": {"y": 1}, "where": {"x": 2}}) == "3"


class Handler:
    @dataclass
    class Payload:
        x: int

    def __call__(self, payload: Payload) -> list[Payload]:
        return [payload]

    def act(self, payload: Payload) -> list[Payload]:
        return [payload]

    @classmethod
    def make(cls, payload: Payload) -> list[Payload]:
        return [payload]


class Descendant(Handler):
    Payload = int  # type: ignore[assignment]  # the annotations were written in the other class


@pytest.mark.parametrize(
    "function",
    [
        *(Handler(), Handler().act, Handler.make, functools.partial(Handler().act)),
        *(
            Descendant(),
            Descendant().act,
            Descendant.make,
            functools.partial(functools.partial(Descendant())),
        ),
    ],
    ids=[
        *("instance", "method", "classmethod", "partial"),
        *("instance of a child", "method of a child", "classmethod of a child", "partial of partial"),
    ],
)
def test_types_of_the_class_are_known_to_its_methods_and_its_instances(function):
    made = tool(function, name="work")
    assert made.run({"x": 1}) == '[{"x":1}]'
    assert made.output_schema()["items"]["required"] == ["x"]


def test_a_class_that_a_method_was_only_given_to_has_no_say():
    class Other:
        Unheard = int

    def work(self: object, x: Unheard) -> str:  # noqa: F821  # of no class that it is in
        return str(x)

    Other.work = work
    for function in (Other().work, functools.partial(work, None)):
        with pytest.raises(SchemaError, match="the name Unheard is not defined"):
            tool(function)


def test_names_that_are_given():
    def move(to: Unheard, times: int) -> str:  # noqa: F821  # given below
        return str(to)

    with pytest.raises(SchemaError) as caught:
        tool(move)
    assert codes_of(caught) == ["unresolved"]
    assert tool(namespace={"Unheard": Point})(move).run({"to": {"x": 1}, "times": 1}) == "Point(x=1, y=0)"


def test_a_type_variable_is_what_it_is_bound_to():
    number = TypeVar("number", bound=int)

    def double(x: number, y: T) -> number:
        return x * 2

    schema = tool(namespace={"number": number})(double).input_schema()
    assert schema["properties"] == {"x": {"type": "integer"}, "y": {}}


def test_a_function_without_a_module():
    names: dict[str, Any] = {"tool": tool}
    exec("@tool\ndef say(text: 'str') -> 'list[str]':\n    return [text]", names)  # noqa: S102  # our own text
    assert names["say"].run({"text": "a"}) == '["a"]'


def test_options_that_there_are_not():
    with pytest.raises(TypeError, match="did you mean timeout"):
        tool(timeuot=3)(many)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="unexpected option"):
        tool_input(skip=("x",))(Point)  # type: ignore[call-overload]


def test_everything_wrong_is_said_at_once():
    with pytest.raises(SchemaError) as caught:

        @tool(
            name="not valid!",
            skip=("nothing",),
            timeout=-1,
            enabled="yes",
            tags="one",
            unknown_fields="drop",
            description=5,
        )
        def wrong(a, b: complex, c: int = "c", **extra) -> str:
            """Do it.

            Args:
                z: Nobody.
            """

    others = ["bad_name", "unannotated", "unannotated", "unknown_description", "unsupported", "bad_default"]
    assert sorted(codes_of(caught)) == sorted(["bad_option"] * 6 + others)
    assert str(caught.value).startswith("not valid!: 12 complaints")
    assert 'it describes "z", which isn\'t a parameter' in str(caught.value)


def test_examples_must_decode():
    with pytest.raises(SchemaError) as caught:
        tool(examples=[{"text": 1}, "{", {}])(quick)
    assert codes_of(caught) == ["bad_option"] * 3
    made = tool(examples=[{"text": "a"}, '{"text": "b"}'])(quick)
    assert made.examples == ({"text": "a"}, {"text": "b"})
    assert tool_input(examples=[Point(1)])(Point).examples == ({"x": 1, "y": 0},)


@pytest.mark.parametrize("name", ["a" * 65, "", "web search", "été", 5])
def test_names_that_providers_refuse(name):
    with pytest.raises(SchemaError) as caught:
        tool(name=name)(quick)
    assert codes_of(caught) == ["bad_name"]


def test_skipping_a_documented_parameter():
    @tool(skip=["conn"])
    def read(key: str, conn) -> str:
        """Read.

        Args:
            key: Which.
            conn: Where.
        """
        return f"{key}{conn}"

    assert list(read.input_schema()["properties"]) == ["key"]
    assert read.run({"key": "k"}, conn=1) == "k1"
    assert read.run({"key": "k"}, context={"conn": 2}) == "k2"


def test_skipped_stars_need_not_be_given():
    @tool(skip=("args", "kwargs"))
    def read(key: str, *args, **kwargs) -> str:
        return f"{key}{args}{kwargs}"

    assert read.run({"key": "k"}) == "k(){}"
    assert read.run({"key": "k"}, args=(1,), kwargs={"a": 2}) == "k(1,){'a': 2}"


class Managing:
    @contextlib.contextmanager
    def method(self, name: str):
        yield name


@contextlib.contextmanager
def manage(name: str):
    yield name


@contextlib.asynccontextmanager
async def amanage(name: str):
    yield name


@pytest.mark.parametrize(
    "function",
    [
        manage,
        amanage,
        wrapping(manage),
        functools.lru_cache(manage),
        Managing().method,
        staticmethod(manage),
        functools.partial(manage, "a"),
    ],
)
def test_context_managers_give_no_result(function):
    with pytest.raises(SchemaError, match="it returns a context manager"):
        tool(function)


def test_other_decorated_things():
    # It runs inside a context manager, and gives its own result.
    @manage("a")
    def say(text: str) -> str:
        return text

    # What consumes a generator gives what it likes.
    def listed(function):
        return functools.wraps(function)(lambda *args, **kwargs: list(function(*args, **kwargs)))

    @tool
    @listed
    def count(to: int) -> list[int]:
        yield from range(to)

    assert tool(say).run({"text": "a"}) == "a"
    assert count.run({"to": 2}) == "[0,1]"


def test_a_generator_that_comes_as_a_result_is_a_list_where_one_is_declared():
    def squares(to: int) -> Iterable[int]:
        return (x * x for x in range(to))

    assert tool(squares).run({"to": 3}) == "[0,1,4]"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="inspect.markcoroutinefunction came with Python 3.12")
@pytest.mark.needs_threads
def test_a_function_that_is_marked_as_a_coroutine_function():
    def later(text: str) -> Awaitable[str]:
        return asyncio.sleep(0, text)

    made = tool(inspect.markcoroutinefunction(later))
    assert made.is_async
    assert asyncio.run(made.arun({"text": "a"})) == "a"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 695 came with Python 3.12")
def test_type_parameters_of_a_function():
    names: dict[str, Any] = {}
    exec("def pick[N: int](x: N, y: list[N]) -> N:\n    return x", names)  # noqa: S102  # no syntax of 3.11
    made = tool(names["pick"])
    assert made.input_schema()["properties"]["y"] == {"type": "array", "items": {"type": "integer"}}


def test_names_of_python_itself():
    def odd(__init__: int, x: int) -> int: ...

    with pytest.raises(SchemaError) as caught:
        tool(odd)
    assert codes_of(caught) == ["bad_name"]


def test_a_class_method_of_the_outside_among_tools():
    (entry,) = schema_response([Derived.inner_class])["tools"]
    assert entry["name"] == "inner_class"
    assert entry["parameters"].keys() == {"query"}


def test_a_method_that_takes_its_arguments_with_a_star():
    class Summing:
        @tool
        def total(*args: Any) -> int:  # the instance is among them
            return sum(args[1:])

    assert Summing().total.run({"args": [1, 2]}) == "3"
    assert Summing().total(1, 2) == 3


def test_a_receiver_that_the_model_would_be_told():
    with pytest.raises((SchemaError, RuntimeError)) as caught:

        class Wrong:
            @tool
            def method(this: object, x: int) -> int:  # noqa: N805  # what is refused
                return x

    # Before Python 3.12 what is raised while a class is made comes as the cause.
    error = caught.value if isinstance(caught.value, SchemaError) else caught.value.__cause__
    assert isinstance(error, SchemaError)
    assert error.findings[0].path == ("this",)
    assert "name it self" in str(error)


def test_a_class_that_holds_tools_of_functions():
    class Held:
        point = tool(name="point")(free)

        @staticmethod
        @tool
        def static(x: int) -> int:
            return x

        @tool
        def typed(self: object, x: int) -> int:
            return x

    assert Held.point.run({"x": 1}) == "1"
    assert Held().static.run({"x": 1}) == "1"
    assert Held().typed.run({"x": 1}) == "1"
    with pytest.raises(MissingContextError, match=r"Held\.typed is a method without its instance"):
        Held.typed.run({"x": 1})
    assert Held.typed.run({"x": 1}, context={"self": Held()}) == "1"


def free(x: int) -> int:
    return x


def test_abstract_methods():
    class Base(abc.ABC):
        @abc.abstractmethod
        @tool
        def above(self, x: int) -> int: ...

        @tool
        @abc.abstractmethod
        def below(self, x: int) -> int: ...

    class Half(Base):
        @tool
        def above(self, x: int) -> int:
            return x

    class Whole(Half):
        @tool
        def below(self, x: int) -> int:
            return -x

    assert Base.__abstractmethods__ == {"above", "below"}
    with pytest.raises(TypeError, match="below"):
        Half()
    assert Whole().above.run({"x": 1}) == "1"
    assert Whole().below.run({"x": 1}) == "-1"


def test_a_description_is_given_once():
    with pytest.raises(TypeError, match="twice"):
        tool("d", description="e")


def test_options_of_another_kind_are_complaints():
    with pytest.raises(SchemaError) as caught:
        tool(repair="x", name="no good")(free)
    assert codes_of(caught) == ["bad_option", "bad_name"]
    with pytest.raises(SchemaError, match="described_by"):
        tool(free).with_(described_by="no good")


def test_extra_arguments_beside_one_that_is_given_by_position_alone():
    @tool
    def both(a: int, /, **kw: int) -> int:
        return a + kw["a"]

    assert both.run({"a": 1, "kw": {"a": 3}}) == "4"


def test_raw_arguments_are_always_given():
    def raw(x: RawArguments = None):  # type: ignore[assignment]  # what is refused
        return x

    def may_be(x: RawArguments | None):
        return x

    def described(x: Annotated[RawArguments | None, "all of them"]):
        return x

    for function in (raw, may_be, described):
        with pytest.raises(SchemaError, match=r"can't be optional") as caught:
            tool(function)
        assert codes_of(caught) == ["unsupported"]

    def beside(x: RawArguments | None, y: int):
        return x

    with pytest.raises(SchemaError, match="no other parameter"):
        tool(beside)


def test_what_is_no_input_is_told_what_it_lacks():
    class Plain:
        x: int

    with pytest.raises(SchemaError, match="Make it a dataclass, with @dataclass next to the class") as caught:
        tool_input(Plain)
    assert codes_of(caught) == ["unsupported"]
    for wrong in (len, None, int):
        with pytest.raises(SchemaError) as caught:
            tool_input(wrong)
        assert codes_of(caught) == ["unsupported"]


def test_a_tool_in_place_of_a_type_is_answered_with_what_it_has_itself():
    itself = r"Give the input_type of the tool, or ask the tool itself: tool\.decode\(…\)"
    for wrong in (json_schema, Codec, lambda own: decode(own, {})):
        with pytest.raises(SchemaError, match=itself):
            wrong(tool(quick))
    with pytest.raises(SchemaError, match=r"Give the input_type of the tool\.$"):
        Codec(list[tool(quick)])


def test_one_example_alone_is_no_list():
    with pytest.raises(SchemaError, match=r"examples is \{.*, not a list") as caught:
        tool(examples={"text": "a"})(quick)  # type: ignore[arg-type]  # what is refused
    assert codes_of(caught) == ["bad_option"]


def test_a_tool_in_a_class_whose_function_has_no_parameters():
    class Server:
        @tool
        def ping() -> str:  # as if it were static
            return "pong"

    assert Server().ping.name == "ping"
    assert Server.ping.run({}) == "pong"
