"""What the messages say about mistakes that people make with tools."""

from __future__ import annotations

import asyncio
import functools
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar

import pytest

from operator_schema import (
    Codec,
    Executor,
    RawCall,
    Registry,
    SchemaError,
    Tool,
    Toolset,
    describe_tools,
    skip,
    tool,
    tool_input,
)
from operator_schema.tools import document_tool, schema_response


def complaint_of(make):
    with pytest.raises(SchemaError) as caught:
        make()
    (complaint,) = caught.value.findings
    return complaint


@pytest.mark.parametrize("name", ["my_name", "search", "web-search", "find2"])
def test_a_name_in_the_place_of_the_description(name):
    def f(x: int) -> int:
        return x

    complaint = complaint_of(lambda: tool(name)(f))
    assert complaint.code == "bad_option"
    assert complaint.message == f'description is "{name}", not a sentence'
    assert complaint.remedy == 'If it is the name, write name="…"'


@pytest.mark.parametrize("word", ["my_name", "search", "web-search", "d"])
def test_a_description_given_by_its_keyword_may_be_any_word(word):
    @dataclass
    class Query:
        text: str

    def f(x: int) -> int:
        return x

    assert tool(description=word)(f).description == word
    assert tool(f).with_(description=word).description == word
    assert tool_input(description=word)(Query).description == word


def test_a_description_is_a_string():
    def f(x: int) -> int:
        return x

    complaint = complaint_of(lambda: tool(description=5)(f))
    assert (complaint.code, complaint.message) == ("bad_option", "description is 5, not a string")


@pytest.mark.parametrize("text", ["Search", "Search.", "search the web", "Suche", "检索", ""])
def test_one_word_may_describe(text):
    def f(x: int) -> int:
        return x

    assert tool(text)(f).description == text


@pytest.mark.parametrize(
    "name", ["param_description", "params_description", "parameter_descriptions", "paramDescriptions"]
)
def test_misspelt_param_descriptions(name):
    made = dataclass(type("Point", (), {"__annotations__": {"x": int}, name: {"x": "Where."}}))
    complaint = complaint_of(lambda: Codec(made))
    assert (complaint.path, complaint.code) == ((name,), "bad_description")
    assert complaint.message == f"{name} has no effect: the attribute is called param_descriptions"
    assert complaint.suggestion == '"param_descriptions"'


@dataclass
class Own:
    param_description: str

    params_descriptions: ClassVar[int] = 3


def test_other_uses_of_these_names_are_left_alone():
    assert Codec(Own).decode({"param_description": "a"}) == Own("a")


@tool
def find(x: int) -> int:
    return x


def test_a_decorator_above_tool():
    @functools.wraps(find)
    def shout(x):
        return -find(x)

    @functools.cache
    @tool
    def cached(x: int) -> int:
        return x

    with pytest.raises(TypeError, match=r"^a _lru_cache_wrapper around the tool cached isn't a Tool; put"):
        Registry([cached])
    with pytest.raises(TypeError, match=r"^a function around the tool find isn't a Tool; put @tool"):
        Registry([shout])
    assert Registry([tool(functools.cache(find.__wrapped__))])["find"].run({"x": 1}) == "1"


def test_what_wraps_itself_is_not_searched_for_ever():
    def f(): ...

    f.__wrapped__ = f
    with pytest.raises(TypeError, match=r"^the function \w+ isn't a Tool; decorate it with @tool"):
        Registry([f])


@pytest.mark.parametrize(
    ("item", "named"), [(object(), "an object"), (Own("a"), "an Own"), ("a", "a str"), (3, "an int")]
)
def test_what_is_not_a_tool_has_an_article(item, named):
    for take in (lambda: Registry([item]), lambda: describe_tools([item])):
        with pytest.raises(TypeError, match=f"^{named} isn't a Tool; give what @tool or @tool_input makes$"):
            take()


def test_a_decorator_without_wraps():
    def logged(function):
        def inner(*args, **kwargs):
            return function(*args, **kwargs)

        return inner

    with pytest.raises(SchemaError) as caught:
        tool(logged(find.__wrapped__))
    start = "If a decorator made this function, use functools.wraps in it. Annotate"
    assert all(complaint.remedy.startswith(start) for complaint in caught.value.findings)
    assert str(caught.value).startswith("inner: 2 complaints about the function")


def plain(*args):
    return args


def test_a_function_of_the_module_was_not_made_by_a_decorator():
    assert "functools.wraps" not in complaint_of(lambda: tool(plain)).remedy


class WebService:
    @tool
    def find(self, x: int) -> int:
        return x

    @tool
    @classmethod
    def make(cls, x: int) -> int:
        return x

    @staticmethod
    @tool
    def count(x: int) -> int:
        return x


@pytest.mark.needs_threads
def test_methods_without_an_instance_are_refused_everywhere():
    message = (
        r"^WebService.find is a method without its instance; give web_service.find, "
        r"where web_service is an instance of WebService$"
    )
    with pytest.raises(TypeError, match=message):
        Registry([WebService.find])
    with pytest.raises(TypeError, match=message):
        Registry().register(WebService.find)
    with pytest.raises(TypeError, match=message):
        schema_response([WebService.find])
    with pytest.raises(TypeError, match=message):
        describe_tools({"find": WebService.find})
    with pytest.raises(TypeError, match=message):
        Executor([WebService.find])
    service = WebService()
    registry = Registry([service.find, WebService.make, WebService.count])
    assert [made.name for made in registry] == ["find", "make", "count"]
    result = Executor(registry).run_sync(RawCall("1", "find", {"x": 1}))
    assert result.content == "1"


def test_the_first_line_says_what_the_complaints_are_about():
    def wrong(x): ...

    with pytest.raises(SchemaError, match=r"^wrong: 1 complaint about the function\n"):
        tool(wrong)
    with pytest.raises(SchemaError, match=r"about the function\n.*a built-in function"):
        tool(len)


def test_more_defaults_than_parameters():
    def f(x: int) -> int:
        return x

    f.__defaults__ = (1, 2, 3)
    assert f() == 3
    assert tool(f).run({}) == "3"


# --- async tools ---------------------------------------------------------------------------------


@tool
async def fetch(x: int) -> int:
    return x


@pytest.mark.needs_threads
@pytest.mark.filterwarnings("ignore:.*iscoroutinefunction:DeprecationWarning")  # from Python 3.14 on
def test_asyncio_takes_an_async_tool_for_a_coroutine_function():
    assert asyncio.iscoroutinefunction(fetch)
    assert not asyncio.iscoroutinefunction(find)
    assert asyncio.run(fetch(3)) == 3


@pytest.mark.skipif(sys.version_info < (3, 12), reason="inspect.markcoroutinefunction came with Python 3.12")
def test_inspect_takes_an_async_tool_for_a_coroutine_function():
    assert inspect.iscoroutinefunction(fetch)
    assert not inspect.iscoroutinefunction(find)


def test_a_describer_is_known_by_its_mark():
    describer = describe_tools([find], name="help")
    assert describer.describes_tools
    assert not find.describes_tools
    renamed = describer.with_(name="more")
    own = tool(name="docs")(find.__wrapped__).as_describer()
    for entry in (describer, renamed, own):
        registry = Registry([fetch, entry])
        assert registry.shown("fetch").described_by == entry.name
        assert registry.shown(entry.name).described_by is None


def test_a_list_of_tools_that_is_not_one():
    def plain(): ...

    for given, shown in [(None, "a NoneType"), ("find", "a str"), (Own, "the class Own"), (3, "an int")]:
        with pytest.raises(TypeError, match=f"^{shown} isn't a Tool; "):
            Registry(given)
    with pytest.raises(TypeError, match=r"^the function plain isn't a Tool; decorate it with @tool$"):
        Registry(plain)
    assert [one.name for one in Registry([Toolset(find)])] == ["find"]
    with pytest.raises(
        TypeError, match="a dict isn't a Tool; give the tools themselves, not their definitions"
    ):
        Registry(Registry([find]).definitions())
    with pytest.raises(TypeError, match=r"the class Own isn't a Tool; decorate its methods with @tool, or"):
        Registry([Own])


def test_a_mark_that_is_not_in_annotated():
    with pytest.raises(SchemaError, match=r"skip is a mark, not a type\. Write db: Annotated\[T, skip\]"):

        @tool
        def act(db: skip) -> int: ...

    with pytest.raises(SchemaError, match="Write skip without quotes"):

        @tool
        def quoted(db: Annotated[int, "skip"]) -> int: ...


def test_tool_input_above_a_function():
    with pytest.raises(SchemaError, match=r"^own: 1 complaint about the function\n.* Use @tool\.$"):

        @tool_input
        def own(x: int) -> int: ...


def test_an_unknown_option_lists_the_options():
    with pytest.raises(TypeError, match=r"unexpected option 'zzzzzz' for find; it takes attribute_docs, "):
        tool(find.__wrapped__, zzzzzz=1)
    with pytest.raises(TypeError, match=r"unexpected option 'zzzzzz'; it takes attribute_docs, "):
        tool(zzzzzz=1)  # before there is a function


def test_a_longer_name_that_is_refused_is_about_the_tool():
    with pytest.raises(SchemaError, match=r"^find: 1 complaint about the tool\n.*refused by providers"):
        Toolset([find]).prefix("my shop ")


def test_a_description_of_no_parameter_is_about_parameters():
    with pytest.raises(SchemaError, match=r'which isn\'t a parameter\..* the only parameter is "x"\.'):

        @tool(param_descriptions={"aa": "What."})
        def seek(x: int) -> int: ...


# --- a tool where a framework expects a function ----------------------------------------------------------

INSTEAD = (
    "give the framework the function, tool.__wrapped__, or give it tool.definition() and run the calls "
    "with an Executor"
)


@pytest.mark.parametrize("name", ["__fastmcp__", "__kernel_function__", "metadata_of_a_framework"])
def test_a_framework_can_not_set_attributes(name):
    with pytest.raises(AttributeError) as caught:
        setattr(find, name, 1)
    assert str(caught.value) == f"a Tool isn't a function, and {name} can't be set on it; {INSTEAD}"
    assert not hasattr(find, name)


@pytest.mark.parametrize("name", ["name", "timeout", "input_schema"])
def test_a_change_to_a_tool_is_made_with_with(name):
    with pytest.raises(AttributeError, match=f"immutable: {name} can't be set; with_ returns a changed copy"):
        setattr(find, name, 1)


def test_pydantic_can_not_read_a_tool():
    pydantic = pytest.importorskip("pydantic")
    with pytest.raises(TypeError) as caught:
        pydantic.TypeAdapter(find)
    assert str(caught.value) == f"a Tool isn't a function, and pydantic can't read it; {INSTEAD}"

    class Agent(pydantic.BaseModel, arbitrary_types_allowed=True):
        tools: list[Tool]
        first: Tool

    assert Agent(tools=[find], first=find).tools == [find]


def test_an_attribute_that_a_tool_has_not():
    with pytest.raises(AttributeError, match=r"'Tool' object has no attribute 'nam'") as caught:
        find.nam  # noqa: B018  # the mistake
    assert (caught.value.name, caught.value.obj) == ("nam", find)


def test_the_signature_for_frameworks_has_all_parameters():
    @tool
    def ask(question: str, *, user: Annotated[Own, skip]) -> str: ...

    # A framework that would not see `user` would find out in each call.
    assert list(inspect.signature(ask).parameters) == ["question", "user"]
    assert list(ask.signature.parameters) == ["question"]


def test_a_complaint_names_the_tool_or_the_class_inside_it():
    @dataclass
    class Inside:
        action: Callable[[], None]

    def run(inside: Inside, action: Callable[[], None]) -> None: ...

    with pytest.raises(SchemaError) as caught:
        tool(run)
    found = [(complaint.type, complaint.path) for complaint in caught.value.findings]
    assert found == [("Inside", ("inside", "action")), ("run", ("action",))]


@pytest.mark.parametrize("arguments", [(), (int,), ("db",)])
def test_skip_is_not_called(arguments):
    with pytest.raises(TypeError, match=r"write Annotated\[Db, skip\]"):
        skip(*arguments)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            print,
            "a built-in function has no parameters that can be read. Write a function (def) that calls it.",
        ),
        (int, "int is a class, not a function. Write a function (def) that calls it; for a dataclass, use"),
        (
            dict.get,
            "an object of class method_descriptor has no parameters that can be read. Write a function",
        ),
        (3, "an object of class int can't be called. Give a function (def)."),
        ({"type": "object"}, "an object of class dict can't be called. Give a function (def)."),
    ],
)
@pytest.mark.parametrize("make", [tool, lambda function: document_tool(function, {"type": "object"})])
def test_what_is_no_function_says_what_to_write_for_either_kind_of_tool(make, function, message):
    with pytest.raises(SchemaError) as caught:
        make(function)
    assert message in str(caught.value)
    assert "annotated" not in str(caught.value)
