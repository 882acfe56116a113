"""What seldom happens to tools, and still has one meaning."""

from __future__ import annotations

import functools
import types
from dataclasses import dataclass, field
from typing import Annotated

import pytest

from operator_schema import DecodeError, Executor, RawCall, SchemaLeaf, Toolset, skip, tool
from operator_schema.content import File, Resource
from operator_schema.tools import documentation_of, parameters_of, schema_of_parameters, tools_in, tools_of
from operator_schema.tools.injection import _without_names
from operator_schema.tools.raw_arguments import schema_of_raw
from operator_schema.tools.signature import _innermost, gives_context_manager
from operator_schema.tools.tool_sources import own_tools_of
from operator_schema.types import RawArguments


@dataclass
class Point:
    """A place."""

    x: int


class Handle:
    """Something of the host."""

    def __init__(self, text=""):
        self.text = text

    def __eq__(self, other):
        return self.text == other.text

    __hash__ = None


@dataclass
class Sized:
    """Something of a size."""

    size: int = field(metadata={"examples": [3]})


@tool
def send(text: str, count: Annotated[int, skip] = 1) -> str:
    """Send."""
    return text * count


def test_a_call_is_cut_off_or_not():
    with pytest.raises(TypeError, match="is_cut_off must be True or False, not integer 1"):
        RawCall(name="send", arguments={}, is_cut_off=1)


def test_a_call_is_from_the_text_or_not():
    call = RawCall("1", "send", {}, is_from_text=True)
    assert repr(call) == "RawCall(id='1', name='send', arguments={}, is_from_text=True)"
    with pytest.raises(TypeError, match="is_from_text must be True or False, not integer 1"):
        RawCall(name="send", arguments={}, is_from_text=1)


def test_a_call_that_is_not_well_formed_is_cut_off_too():
    call = RawCall("1", "send", {}, is_malformed=True)
    assert repr(call) == "RawCall(id='1', name='send', arguments={}, is_cut_off=True, is_malformed=True)"
    with pytest.raises(TypeError, match="is_malformed must be True or False, not integer 1"):
        RawCall(name="send", arguments={}, is_malformed=1)


def test_the_caller_of_a_call_is_an_object():
    with pytest.raises(TypeError, match="caller must be a dict of JSON values or None, not string"):
        RawCall("1", "search", {}, caller="code_execution")


def test_what_is_injected_has_names_in_order():
    assert send.injected == ("count",)


def test_a_result_that_does_not_fit_is_written_with_notes():
    assert send.write_output("a", is_lenient=True).notes == ()
    written = send.write_output(5, is_lenient=True)
    assert (written.text, len(written.notes)) == ("5", 1)


def test_only_an_async_tool_has_the_mark_of_coroutine_functions():
    assert send._is_coroutine_marker is None


def test_ignored_keys_are_found_at_every_depth():
    @tool
    def move(to: dict[str, int], place: Point) -> str:
        """Move."""
        return ""

    with pytest.raises(DecodeError) as caught:
        move.decode({"to": {}, "place": {"x": "a", "z": 1}, "fast": True})
    assert str(caught.value).endswith('unknown, and ignored: place.z, "fast"')


def test_a_function_without_a_name_that_python_takes_has_an_input_type_too():
    def function(text: str) -> str:
        return text

    function.__qualname__ = "2nd"
    assert tool(function, name="echo", description="Echo.").input_type.__name__ == "FunctionInput"


def test_a_property_that_was_described_by_hand_is_no_parameter_inside():
    parameter = {"type": "string", "required": True, "summary": "a"}
    assert schema_of_parameters({"text": parameter})["properties"] == {
        "text": {"type": "string", "description": "a"}
    }


def test_a_fence_is_longer_than_those_in_the_text():
    quoting = send.with_(examples=[{"text": "```"}])
    assert '````json\n{"text":"```"}\n````' in documentation_of(quoting)


@pytest.mark.needs_threads
@pytest.mark.parametrize(
    "part",
    [File.from_bytes(b"a", "text/plain", "x" * 1000), Resource("file:///a", text="x" * 1000)],
    ids=["file", "resource"],
)
def test_a_part_that_is_too_long_is_cut_in_what_is_long(part):
    @tool
    def show() -> File | Resource:
        """Show it."""
        return part

    cut, _ = Executor(show, max_content=200).run_sync(RawCall("1", "show")).parts
    assert type(cut) is type(part)
    assert cut != part


def test_a_wrapper_of_too_many_is_not_looked_through():
    def function():
        pass

    wrapped = function
    for _ in range(150):
        wrapped = functools.wraps(wrapped)(lambda: None)
    assert _innermost(wrapped) is not function
    assert not gives_context_manager(types.SimpleNamespace(function=wrapped, source=function))


def test_aliases_that_never_end_are_left():
    alias = type("TypeAliasType", (), {})()
    alias.__value__ = alias
    assert _without_names(alias) is alias


def test_raw_arguments_are_described_by_their_leaf_alone():
    leaf = SchemaLeaf(RawArguments, {"type": "object"}, RawArguments, dict, RawArguments({}))
    assert schema_of_raw(Annotated[RawArguments, "of the host", leaf], ()) == {"type": "object"}
    assert schema_of_raw(Annotated[RawArguments, "of the host"], ()) is None


def test_a_dataclass_with_a_leaf_in_its_annotation_is_not_taken_apart():
    leaf = SchemaLeaf(Point, {"type": "integer"}, Point, lambda point: point.x, Point(1))

    @tool
    def whole(at: Annotated[Point, leaf]) -> str:
        """Go."""
        return ""

    @tool
    def apart(at: Annotated[Point, "where to"]) -> str:
        """Go."""
        return ""

    assert [list(one.input_schema()["properties"]) for one in (whole, apart)] == [["at"], ["x"]]


def test_the_base_of_inputs_is_no_dataclass():
    base = send.input_type.__base__
    assert not hasattr(base, "__dataclass_fields__")
    assert repr(send.decode({"text": "a"})) == "SendInput(text='a')"


def test_a_class_of_input_is_asked_itself_and_becomes_a_dataclass_once():
    """As `inspect.signature` of Python 3.13 does it."""
    cls = tool(lambda text: text, name="echo", description="Echo.", skip=("text",)).input_type
    asked = vars(cls.__base__)["__eq__"]
    assert asked.__get__(cls, type).__self__ is cls
    before = cls.__dataclass_params__
    asked.__get__(cls, type)
    assert cls.__dataclass_params__ is before


def test_a_default_whose_copy_needs_too_much_memory_raises_that():
    class Huge(list):
        def __deepcopy__(self, memo):
            raise MemoryError

        __copy__ = __reduce_ex__ = lambda self, *_: (_ for _ in ()).throw(MemoryError())

    def work(items: list = Huge()) -> str:  # noqa: B008  # a default that can change is what is tested
        """Work."""
        return ""

    with pytest.raises(MemoryError):
        tool(work)


def test_tools_are_found_in_a_module_by_its_name(define):
    define("from operator_schema import tool\n\n@tool\ndef f() -> str: ...\n", "named_by_a_test")
    assert [found.name for found in tools_in("named_by_a_test")] == ["f"]


def test_a_package_without_tools_and_modules_has_none(define, tmp_path):
    package = define("", "empty_package_of_a_test")
    package.__path__ = [str(tmp_path)]
    assert own_tools_of(package) == []


def test_a_method_of_a_tool_is_the_tool_of_its_instance():
    class Desk:
        @tool
        def open(self) -> str:
            """Open."""
            return "open"

    desk = Desk()
    (found,) = tools_of([types.MethodType(vars(Desk)["open"], desk)])
    assert found() == "open"


@pytest.mark.needs_threads
def test_the_wording_of_a_failure_that_fails_names_the_tool():
    class Odd(ExceptionGroup):
        @property
        def exceptions(self):
            raise ZeroDivisionError

    @dataclass
    class Place:
        x: int

        def __post_init__(self):
            raise Odd("odd", [ValueError()])

    @tool
    def go(place: Place) -> str:
        """Go."""
        return ""

    work = Toolset(go).offer().round([RawCall("1", "go", {"x": 1})])
    done = Executor(go, show_errors="message").run_sync(work)
    assert done.commit([]).results[0].content == "go failed"


def test_the_arguments_of_a_base_that_no_written_base_names_are_unknown():
    class Rows(list[int]):
        pass

    class Named:
        def __mro_entries__(self, bases):
            return (Rows,)

    class Own(Named()):
        pass

    @tool
    def count(rows: Annotated[list[str], skip]) -> int:
        """Count."""
        return len(rows)

    assert count.run({}, context={Own: Own([1])}) == "1"


def test_a_parameter_has_the_examples_of_its_field():
    ((_, parameter),) = parameters_of(Sized)
    assert parameter["properties" if "properties" in parameter else "examples"] == [3]


def test_an_object_of_a_module_that_says_itself_which_class_it_has_is_passed_over(define):
    module = define(
        """
        from operator_schema import tool

        class Lazy:
            @property
            def __class__(self):
                raise RuntimeError("not configured")

        settings = Lazy()

        @tool
        def search(query: str) -> str:
            "Search."
            return query
        """
    )
    assert [one.name for one in tools_in(module)] == ["search"]
