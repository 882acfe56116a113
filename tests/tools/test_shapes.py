"""The shapes of callables, parameters and docstrings that a tool can be made of."""

from __future__ import annotations

import abc
import asyncio
import contextlib
import functools
import inspect
import sys
import threading
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NotRequired,
    Required,
    TypedDict,
    TypeVar,
    Unpack,
)

import pytest

from operator_schema import (
    DecodeError,
    MissingContextError,
    RawArguments,
    SchemaError,
    ToolError,
    json_schema,
    parameters_of,
    schema_response,
    skip,
    tool,
    tool_input,
)

T = TypeVar("T")


@dataclass
class Point:
    x: int
    y: int = 0


class Options(TypedDict):
    verbose: bool
    depth: NotRequired[int]


class Pair(NamedTuple):
    left: int
    right: int = 2


@dataclass
class Page(Generic[T]):
    items: list[T]


def codes_of(caught):
    return [complaint.code for complaint in caught.value.complaints]


# --- parameters ----------------------------------------------------------------------------------


def many(
    a: int,
    b: Annotated[str, "text", object(), 7],
    c: list[Later],
    d: dict[str, Later],
    e: Later | None,
    f: Literal["x", "y"],
    g: Sequence[int],
    h: tuple[int, str],
    i: float = 1.5,
    j: bool = False,
    k: str = "k",
    l: Later | None = None,  # noqa: E741  # a name like any other
    m: list[int] = [],  # noqa: B006  # what people write
    n: dict[str, int] = {},  # noqa: B006  # likewise
    o: Annotated[int | None, "number", []] = None,
    p: int = None,  # noqa: RUF013  # likewise
    q: Any = None,
    r: object = None,
    s: frozenset[str] = frozenset(),
    t: list[Later] | None = None,
) -> str:
    return f"{a}{b}{c}{e}{m}{t}"


@dataclass
class Later:
    name: str


def test_twenty_parameters_with_forward_references_and_junk_in_annotated():
    made = tool(many)
    schema = made.input_schema()
    assert list(schema["properties"]) == list("abcdefghijklmnopqrst")
    assert schema["required"] == ["a", "b", "c", "d", "f", "g", "h"]
    assert schema["properties"]["b"] == {"type": "string", "description": "text"}
    assert schema["properties"]["m"]["default"] == []
    arguments = {
        "a": 1,
        "b": "b",
        "c": [{"name": "c"}],
        "d": {},
        "f": "x",
        "g": [1],
        "h": [1, "h"],
        "t": [{"name": "t"}],
    }
    assert made.run(arguments) == "1b[Later(name='c')]None[][Later(name='t')]"


def test_names_that_others_reserve():
    @tool
    def call(
        self: int, cls: int, json: str, model_dump: bool, args: list[int], kwargs: int, title: str
    ) -> int:
        return self + cls + sum(args) + kwargs + len(json + title) + model_dump

    names = ["self", "cls", "json", "model_dump", "args", "kwargs", "title"]
    assert list(call.input_schema()["properties"]) == names
    arguments = {"self": 1, "cls": 2, "json": "a", "model_dump": True, "args": [3], "kwargs": 4, "title": "b"}
    assert call.run(arguments) == "13"
    assert call.decode(arguments) == call.input_type(**arguments)


def test_names_of_options_and_of_the_input_itself():
    @tool
    def call(given: int, context: int, hosted: int, param_descriptions: dict[str, int] = {}) -> int:  # noqa: B006  # on purpose
        return given + context + hosted + len(param_descriptions)

    assert call.run({"given": 1, "context": 2, "hosted": 3, "param_descriptions": {"a": 1}}) == "7"


def test_varargs():
    @tool
    def add(first: int, *rest: int, scale: int = 1, **named: int) -> str:
        return f"{first}{rest}{scale}{named}"

    assert add.input_schema() == {
        "type": "object",
        "properties": {
            "first": {"type": "integer"},
            "rest": {"type": "array", "items": {"type": "integer"}},
            "scale": {"type": "integer", "default": 1},
            "named": {"type": "object", "additionalProperties": {"type": "integer"}},
        },
        "required": ["first"],
    }
    assert add.run({"first": 1}) == "1()1{}"
    assert add.run({"first": 1, "rest": [2, 3], "scale": 4, "named": {"a": 5}}) == "1(2, 3)4{'a': 5}"
    assert add(1, 2, scale=3, a=4) == "1(2,)3{'a': 4}"


@pytest.mark.parametrize("name", ["first", "db"])
def test_extra_arguments_override_nothing(name):
    @tool
    def write(first: int, *, db: Annotated[Any, skip], **extra: int) -> str:
        return f"{first}{db}{extra}"

    with pytest.raises(DecodeError) as caught:
        write.run({"first": 1, "extra": {name: 2}}, db=3)
    assert caught.value.problems[0].code == "rejected"


def test_typed_keywords():
    @tool
    def walk(path: str, **options: Unpack[Options]) -> str:
        return f"{path}{options}"

    assert walk.input_schema()["required"] == ["path", "options"]
    assert walk.run({"path": "a", "options": {"verbose": True}}) == "a{'verbose': True}"


class Loose(TypedDict):
    depth: NotRequired[int]


class Tight(TypedDict, total=False):
    depth: Required[int]
    width: int


def test_keywords_whose_types_say_which_must_be_there():
    # The annotations of both are text, into which `typing` does not look.
    @tool
    def loose(**options: Unpack[Loose]) -> str:
        return str(options)

    @tool
    def tight(**options: Unpack[Tight]) -> str:
        return str(options)

    assert "required" not in loose.input_schema()
    assert loose.run({}) == "{}"
    assert loose.run({"options": {"depth": 1}}) == "{'depth': 1}"
    assert tight.input_schema()["required"] == ["options"]
    assert tight.run({"options": {"depth": 1}}) == "{'depth': 1}"
    with pytest.raises(DecodeError):
        tight.run({})


def test_keywords_whose_types_are_given_as_text():
    def walk(**options: Unpack["Unheard"]) -> str:  # noqa: F821,UP037  # given below
        return str(options)

    made = tool(namespace={"Unheard": Loose})(walk)
    assert made.run({"options": {"depth": 1}}) == "{'depth': 1}"
    with pytest.raises(SchemaError) as caught:
        tool(walk)
    assert codes_of(caught) == ["unsupported"]


@pytest.mark.parametrize("given", [int, Point, dict[str, int]])
def test_keywords_of_what_is_no_typed_dict(given):
    def walk(**options): ...

    walk.__annotations__ = {"options": Unpack[given]}
    with pytest.raises(SchemaError, match="in Unpack is no TypedDict") as caught:
        tool(walk)
    assert caught.value.complaints[0].path == ("options",)


def test_positional_only_and_keyword_only():
    @tool
    def mix(a: int, /, b: int, *, c: int = 3) -> str:
        return f"{a}{b}{c}"

    assert mix.run({"a": 1, "b": 2}) == "123"
    assert mix.input_type(1, 2, c=4) == mix.decode({"a": 1, "b": 2, "c": 4})
    assert mix.input_type.__match_args__ == ("a", "b")
    assert mix(1, 2) == "123"


def test_a_mutable_default_is_fresh_at_each_call():
    @tool
    def collect(item: str, into: list[str] = []) -> list[str]:  # noqa: B006  # what people write
        into.append(item)
        return into

    assert collect.run({"item": "a"}) == '["a"]'
    assert collect.run({"item": "b"}) == '["b"]'
    assert collect.input_schema()["properties"]["into"]["default"] == []


def test_a_mutable_default_is_told_as_it_was_when_the_tool_was_made():
    @tool
    def collect(item: str, into: list[str] = [], pair: tuple[list[int], ...] = ([1],)) -> int:  # noqa: B006  # likewise
        into.append(item)
        pair[0].append(len(into))
        return len(into)

    before = collect.input_schema()
    assert (collect("a"), collect("b")) == (1, 2)
    assert collect.input_schema() == before
    assert (before["properties"]["into"]["default"], before["properties"]["pair"]["default"]) == ([], [[1]])
    assert parameters_of(collect)[1][1]["default"] == []
    assert collect.run({"item": "c"}) == "1"
    assert collect("d") == 3  # what Python does with the default of a function


class NoHash:
    def __hash__(self):
        raise LookupError


def test_a_default_that_can_not_be_copied():
    def hold(x: Any = [threading.Lock()], y: Any = NoHash()) -> str: ...  # noqa: B006,B008  # what is refused

    with pytest.raises(SchemaError, match="can't be copied: TypeError") as caught:
        tool(hold)
    assert [(c.path, c.code) for c in caught.value.complaints] == [
        (("x",), "bad_default"),
        (("y",), "bad_default"),
    ]
    assert tool(skip=("x", "y"))(hold).input_schema() == {"type": "object", "properties": {}}


# --- one parameter that is an object -------------------------------------------------------------


@pytest.mark.parametrize("annotation", [Point, Pair, Page[int], Annotated[Point, "where"]])
def test_one_object_takes_its_fields(annotation):
    def move(to): ...

    move.__annotations__ = {"to": annotation}
    bare = Point if annotation == Annotated[Point, "where"] else annotation
    assert tool(move).input_schema() == json_schema(bare)
    assert tool(move).input_type is bare or tool(move).input_type == bare


def test_one_object_that_may_be_absent_stays_a_parameter():
    @tool
    def move(to: Point | None) -> str:
        return str(to)

    assert list(move.input_schema()["properties"]) == ["to"]
    assert move.run({}) == "None"


def test_two_objects_stay_parameters():
    @tool
    def move(start: Point, end: Point) -> int:
        return end.x - start.x

    assert move.run({"start": {"x": 1}, "end": {"x": 3}}) == "2"


def test_the_documentation_of_a_whole_parameter():
    @tool
    def move(to: Point) -> str:
        """Move.

        Args:
            to: Where.
        """

    assert move.definition()["description"] == "Move."
    with pytest.raises(SchemaError) as caught:

        @tool
        def turn(to: Point) -> str:
            """Turn.

            Args:
                x: How far.
            """

    assert codes_of(caught) == ["unknown_description"]


# --- callables -----------------------------------------------------------------------------------


class Service:
    def __init__(self, name="s"):
        self.name = name

    def plain(self, query: str) -> str:
        return self.name + query

    @tool
    def search(self, query: str) -> str:
        """Search."""
        return self.name + query

    @tool
    async def later(self, query: str) -> str:
        return self.name + query

    @tool
    @classmethod
    def outer_class(cls, query: str) -> str:
        return cls.__name__ + query

    @classmethod
    @tool
    def inner_class(cls, query: str) -> str:
        return cls.__name__ + query

    @tool
    @staticmethod
    def outer_static(query: str) -> str:
        return query

    @staticmethod
    @tool
    def inner_static(query: str) -> str:
        return query


class Derived(Service):
    pass


@pytest.mark.needs_threads
def test_methods():
    service = Service("a")
    assert service.search("b") == "ab"
    assert Service.search(service, "b") == "ab"
    assert service.search.run({"query": "b"}) == "ab"
    assert Service.search.run({"query": "b"}, self=service) == "ab"
    assert asyncio.run(service.later.arun({"query": "b"})) == "ab"
    assert service.search == service.search
    assert service.search != Service("c").search
    assert hash(service.search) == hash(service.search)
    with pytest.raises(ToolError, match="must give self"):
        Service.search.run({"query": "b"})


def test_bound_and_unbound_methods_have_equal_schemas():
    bound, unbound = tool(Service().plain), tool(Service.plain)
    assert bound.definition() == unbound.definition()
    assert bound.run({"query": "q"}) == "sq"
    assert unbound.run({"query": "q"}, self=Service()) == "sq"
    assert Service.search.definition() == Service().search.definition()


@pytest.mark.parametrize("name", ["outer_class", "inner_class"])
def test_class_methods(name):
    for owner in (Derived, Derived()):
        made = getattr(owner, name)
        assert made("q") == "Derivedq"
        assert made.name == name
    assert Derived.outer_class.run({"query": "q"}) == "Derivedq"
    assert list(Derived.outer_class.input_schema()["properties"]) == ["query"]


@pytest.mark.parametrize("name", ["outer_static", "inner_static"])
def test_static_methods(name):
    for owner in (Derived, Derived()):
        made = getattr(owner, name)
        assert made("q") == made.run({"query": "q"}) == "q"


def wrapping(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return "<" + function(*args, **kwargs) + ">"

    return wrapper


def test_wrapped_functions():
    @tool
    @wrapping
    @functools.lru_cache
    @wrapping
    def say(text: str, times: int = 1) -> str:
        """Say it."""
        return text * times

    assert say.run({"text": "a", "times": 2}) == "<<aa>>"
    assert say.summary == "Say it."
    assert say.input_type.__name__ == "SayInput"


def test_a_wrapped_method_is_bound():
    class Speaker:
        sign = "!"

        @tool
        @wrapping
        def say(self, text: str) -> str:
            return text + self.sign

        @wrapping
        def shout(self, text: str) -> str:
            return text.upper() + self.sign

    assert Speaker().say.run({"text": "a"}) == "<a!>"
    assert tool(Speaker().shout).run({"text": "a"}) == "<A!>"


def test_a_signature_that_is_said_in_so_many_words():
    def call(*args, **kwargs):
        return f"{args}{kwargs}"

    def example(a: int, *, b: str = "b"): ...

    call.__signature__ = inspect.signature(example)
    assert tool(call).run({"a": 1}) == "(1,){'b': 'b'}"


def scale(value: int, by: int, *rest: int, unit: str = "m") -> str:
    """Scale.

    Args:
        value: What to scale.
        by: How much.
        rest: Not used.
        unit: Of the result.
    """
    return f"{value * by}{unit}{rest}"


@pytest.mark.parametrize(
    ("partial", "visible", "arguments", "result"),
    [
        (functools.partial(scale, 3), ["by", "rest", "unit"], {"by": 2, "rest": [1]}, "6m(1,)"),
        (functools.partial(scale, by=3), ["value", "unit"], {"value": 2, "unit": "k"}, "6k()"),
        (functools.partial(scale, value=3), ["by", "unit"], {"by": 2}, "6m()"),
        (functools.partial(scale, unit="x"), ["value", "by", "rest"], {"value": 2, "by": 3}, "6x()"),
        (functools.partial(functools.partial(scale, 3), 4), ["rest", "unit"], {}, "12m()"),
    ],
)
def test_partials_hide_what_they_bind(partial, visible, arguments, result):
    made = tool(partial)
    assert made.name == "scale"
    assert list(made.input_schema()["properties"]) == visible
    assert made.run(arguments) == result


def test_callable_objects():
    class AddNumbers:
        """Add numbers."""

        def __call__(self, a: int, b: int) -> int:
            """Add two numbers."""
            return a + b

    made = tool(AddNumbers())
    assert made.name == "add_numbers"
    assert made.summary == "Add two numbers."
    assert made.run({"a": 1, "b": 2}) == "3"


def test_a_tool_of_a_tool():
    @tool
    def say(text: str) -> str:
        return text

    assert tool(name="tell")(say).name == "tell"
    assert tool(functools.partial(say, "a")).run({}) == "a"


@pytest.mark.parametrize("thing", [len, print, "".join, 3, None.__class__, Point, [].append, object()])
def test_what_can_not_be_read(thing):
    with pytest.raises(SchemaError) as caught:
        tool(thing)
    assert "unsupported" in codes_of(caught)


def test_lambdas_have_no_name():
    with pytest.raises(SchemaError) as caught:
        tool(lambda x: x)
    assert codes_of(caught) == ["bad_name", "unannotated"]


def test_generators_give_no_result():
    def count(to: int):
        yield to

    async def acount(to: int):
        yield to

    for function in (count, acount):
        with pytest.raises(SchemaError, match="generator"):
            tool(function)


def test_what_wraps_itself():
    def endless(): ...

    endless.__wrapped__ = endless
    with pytest.raises(SchemaError, match="wraps itself"):
        tool(endless)


# --- sync and async ------------------------------------------------------------------------------


@tool
async def slow(text: str) -> str:
    await asyncio.sleep(0)
    return text


@tool
def quick(text: str) -> str:
    return text


@tool
def promise(text: str) -> Awaitable[int]:
    async def wait():
        return len(text)

    return wait()


@pytest.mark.needs_threads
def test_async_tools_are_awaited():
    assert slow.is_async
    assert not quick.is_async
    for call in (slow.run, lambda a: slow.call(slow.decode(a))):
        with pytest.raises(ToolError, match="await"):
            call({"text": "a"})
    assert asyncio.run(slow.arun({"text": "a"})) == "a"
    assert asyncio.run(quick.arun({"text": "a"})) == "a"
    assert asyncio.run(slow.acall(slow.decode({"text": "a"}))) == "a"
    assert asyncio.run(tool(functools.partial(slow, "b")).arun({})) == "b"


@pytest.mark.needs_threads
def test_what_gives_something_to_await():
    with pytest.raises(ToolError, match="await arun"):
        promise.run({"text": "abc"})
    assert asyncio.run(promise.arun({"text": "abc"})) == "3"
    assert promise.output_schema() == {"type": "integer"}


# --- docstrings ----------------------------------------------------------------------------------


def google(query: str, *terms: str, limit: int = 5) -> str:
    """Search it.

    Longer.

    Args:
        query (str): What to look for,
            over two lines.
        *terms: More of it.

    Keyword Args:
        limit: How many.

    Returns:
        Something.
    """


def close_google(query: str, *terms: str, limit: int = 5) -> str:
    """Search it.

    Longer.
    Args:
        query: What to look for,
            over two lines.
        terms: More of it.
        limit: How many.
    """


def numpy(query: str, *terms: str, limit: int = 5) -> str:
    """Search it.

    Longer.

    Parameters
    ----------
    query : str
        What to look for,
        over two lines.
    *terms : str
        More of it.
    limit : int, optional
        How many.

    Returns
    -------
    str
    """


def rest(query: str, *terms: str, limit: int = 5) -> str:
    """Search it.

    Longer.

    :param query: What to look for,
        over two lines.
    :param str terms: More of it.
    :param limit: How many.
    :type limit: int
    :returns: Something.
    """


def test_docstrings_in_every_style_give_one_schema():
    made = [tool(function) for function in (google, close_google, numpy, rest)]
    schemas = [entry.input_schema() for entry in made]
    assert schemas[0]["properties"] == {
        "query": {"type": "string", "description": "What to look for, over two lines."},
        "terms": {"type": "array", "items": {"type": "string"}, "description": "More of it."},
        "limit": {"type": "integer", "default": 5, "description": "How many."},
    }
    assert all(schema == schemas[0] for schema in schemas)
    assert {(entry.summary, entry.description) for entry in made} == {("Search it.", "Longer.")}


def test_annotated_text_wins_over_the_docstring():
    @tool
    def search(query: Annotated[str, "Said here."]) -> str:
        """Search.

        Args:
            query: Said there.
        """

    assert search.input_schema()["properties"]["query"]["description"] == "Said here."


# --- names around a function ---------------------------------------------------------------------


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
    assert 'it describes "z", which is no parameter' in str(caught.value)


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
    with pytest.raises(SchemaError, match="it gives a context manager"):
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
    assert error.complaints[0].path == ("this",)
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
    with pytest.raises(MissingContextError, match=r'context=\{"self": …\}'):
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
        with pytest.raises(SchemaError, match=r"can't be left out") as caught:
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
    with pytest.raises(SchemaError, match="It is a tool; give its input_type"):
        json_schema(tool(quick))


def test_one_example_alone_is_no_list():
    with pytest.raises(SchemaError, match=r"examples is object .*, not a list") as caught:
        tool(examples={"text": "a"})(quick)  # type: ignore[arg-type]  # what is refused
    assert codes_of(caught) == ["bad_option"]
