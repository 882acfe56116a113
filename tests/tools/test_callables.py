"""What can become a tool: functions, methods, partials, callable objects."""

from __future__ import annotations

import asyncio
import functools
import inspect
from types import ModuleType

import pytest
from tool_samples import Derived, Point, Service, codes_of, scale, wrapping

from operator_schema import (
    SchemaError,
    ToolError,
    tool,
)


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
    with pytest.raises(
        ToolError,
        match=r"self must be injected: Service\.search is a method without its instance",
    ):
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


def test_the_text_in_a_signature_means_what_it_means_where_the_inner_function_is():
    module = ModuleType("far_away")
    exec("Size = int\ndef resize(to: 'Size') -> 'Size': return to", vars(module))  # noqa: S102  # as in a file of its own

    @functools.wraps(module.resize)
    def call(*args, **kwargs):
        return module.resize(*args, **kwargs)

    call.__signature__ = inspect.signature(module.resize)
    assert tool(call).input_schema()["properties"] == {"to": {"type": "integer"}}


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
