"""Methods that are called like a type: in annotations written as text, the name means the type."""

from __future__ import annotations

import builtins
import keyword
import sys
from datetime import date

import pytest

from operator_schema import Codec, SchemaError, json_schema, tool

NAMES = sorted(name for name in vars(builtins) if not keyword.iskeyword(name) and name != "__debug__")
BEGINNING = """
from __future__ import annotations
from dataclasses import dataclass
from operator_schema import tool
"""
KITS = """
class Kit:
    @dataclass
    class Inner:
        x: int

    @tool
    def {name}(self): ...

    @tool
    def find(self, among: list[str], inner: Inner | None = None, n: int = 1) -> list[dict[str, int]]:
        return [{{"found": n}}]

class Plain:
    class Inner(Kit.Inner): ...

    def {name}(self): ...

    def find(self, among: list[str], inner: Inner | None = None, n: int = 1) -> list[dict[str, int]]:
        return [{{"found": n}}]

def local():
    @dataclass
    class Inner:
        x: int

    @tool
    def {name}(): ...

    @tool
    def find(among: list[str], inner: Inner | None = None, n: int = 1) -> list[dict[str, int]]:
        return [{{"found": n}}]

    return find

def local_class():
    class Kit:
        @dataclass
        class Inner:
            x: int
            among: list[int] | dict[str, int] | None = None

            def {name}(self): ...

        @tool
        def {name}(self): ...

        @tool
        def find(self, among: list[str], inner: Inner | None = None, n: int = 1) -> list[dict[str, int]]:
            return [{{"found": n}}]

    return Kit().find
"""
BOUND_TO_THE_CLASS = """
class Kit:
    @dataclass
    class Inner:
        x: int

    {first}
    {second}
    def {name}({receiver}): ...

    {first}
    {second}
    def find({receiver} among: list[str], inner: Inner | None = None, n: int = 1) -> list[dict[str, int]]:
        return [{{"found": n}}]
"""
RESULT = {"type": "array", "items": {"type": "object", "additionalProperties": {"type": "integer"}}}


def check(found):
    assert found.output_schema() == RESULT
    properties = found.input_schema()["properties"]
    assert properties["among"] == {"type": "array", "items": {"type": "string"}}
    assert properties["inner"]["properties"]["x"] == {"type": "integer"}
    assert properties["n"]["type"] == "integer"
    assert found.run({"among": ["a"], "inner": {"x": 1}, "n": 2}) == '[{"found":2}]'


@pytest.mark.parametrize("name", NAMES)
def test_a_builtin_as_the_name_of_a_method_or_of_a_function_in_a_function(define, name):
    module = define(BEGINNING + KITS.format(name=name))
    for found in (module.Kit().find, tool(module.Plain().find), module.local(), module.local_class()):
        check(found)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("@tool", "@staticmethod"),
        ("@staticmethod", "@tool"),
        ("@tool", "@classmethod"),
        pytest.param(
            *("@classmethod", "@tool"),
            marks=pytest.mark.skipif(
                sys.version_info >= (3, 13), reason="since Python 3.13, classmethod asks no other descriptor"
            ),
        ),
    ],
)
@pytest.mark.parametrize("name", ["list", "dict", "str", "int", "object", "type", "ValueError"])
def test_a_builtin_as_the_name_of_a_static_or_class_method(define, name, first, second):
    receiver = "" if "@staticmethod" in {first, second} else "cls,"
    source = BOUND_TO_THE_CLASS.format(name=name, receiver=receiver, first=first, second=second)
    check(define(BEGINNING + source).Kit.find)


def test_a_name_of_the_module_as_the_name_of_a_method(define):
    source = """
    from datetime import date

    class Calendar:
        @tool
        def date(self) -> date: ...

        @tool
        def next(self, after: date) -> list[date]:
            return [after]

    def factory():
        @tool
        def date() -> str: ...

        @tool
        def days(of: date) -> date:
            return of

        return days
    """
    module = define(BEGINNING + source.replace("\n    ", "\n"))
    day = json_schema(date)
    assert module.Calendar().date.output_schema() == day
    assert module.Calendar().next.output_schema() == {"type": "array", "items": day}
    assert module.Calendar().next.input_schema()["properties"]["after"] == day
    assert module.factory().output_schema() == day


def test_a_class_in_a_function_hides_one_of_the_module(define):
    source = """
    Item = int

    def factory():
        @dataclass
        class Item:
            x: int

        @tool
        def take(item: Item) -> Item:
            return item

        return take
    """
    take = define(BEGINNING + source.replace("\n    ", "\n")).factory()
    assert take.output_schema()["properties"] == {"x": {"type": "integer"}}


@pytest.mark.parametrize("name", NAMES)
def test_a_builtin_as_the_name_of_a_method_of_a_data_class(define, name):
    source = f"""
@dataclass
class Page:
    items: list[str]
    other: dict[str, Own] | None
    more: Own | None = None

    class Own(int): ...
    Own = int

    def {name}(self): ...
"""
    properties = json_schema(define(BEGINNING + source).Page)["properties"]
    assert properties["items"] == {"type": "array", "items": {"type": "string"}}
    assert properties["other"] == {"type": "object", "additionalProperties": {"type": "integer"}}


BROKEN = {
    "int[str]": "TypeError: type 'int' is not subscriptable",
    "1 / 0": "ZeroDivisionError",
    "list[": "it isn't valid Python",
    "os.Missing": "AttributeError",
    "{}['x']": "KeyError",
    "int | 5": "TypeError",
    "[][1]": "IndexError",
    "int('x')": "ValueError",
}


@pytest.mark.parametrize("text", BROKEN)
@pytest.mark.parametrize(
    "written", ["{text}", "list['{text}']", "dict[str, list['{text}']]", "'{text}' | None"]
)
def test_a_result_that_cannot_be_evaluated_is_a_complaint(define, text, written):
    shown = written.format(text=text.replace("'", '\\"') if "'" in written else text)
    source = f"import os\n@tool\ndef f() -> {shown!r}: ..."
    with pytest.raises(SchemaError) as caught:
        define(BEGINNING.replace("from __future__ import annotations", "") + source)
    (finding,) = caught.value.findings
    assert finding.path[0] == "return"
    assert finding.code == "unresolved"


@pytest.mark.parametrize("text", BROKEN)
def test_so_is_one_in_a_class_of_the_result(define, text):
    source = f"import os\n@dataclass\nclass Page:\n    x: {text!r}\n@tool\ndef f() -> Page: ..."
    with pytest.raises(SchemaError) as caught:
        define(BEGINNING.replace("from __future__ import annotations", "") + source)
    (finding,) = caught.value.findings
    assert finding.path == ("return", "x")
    assert BROKEN[text] in finding.message


@pytest.mark.parametrize(
    "written", ["Later", "list[Later]", "Later | None", "list['Later']", "dict[str, Later]"]
)
def test_a_result_whose_name_comes_later_is_described_when_it_is_there(define, written):
    source = f"@tool\ndef f() -> {written}: ..."
    module = define(BEGINNING + source)
    assert module.f.output_schema() is None
    vars(module)["Later"] = int
    assert "integer" in str(module.f.output_schema())


def test_text_of_a_codec_is_evaluated_with_the_names_given_first():
    assert Codec("list[int]", namespace={"list": set}).json_schema()["uniqueItems"] is True  # type: ignore[var-annotated]
