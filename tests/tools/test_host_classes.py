"""Classes of the host: what is not marked with skip, and defaults that hide a missing value."""

from __future__ import annotations

import gc
import importlib
import sys
import threading
import weakref
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Literal, Optional, TypedDict, TypeVar, Union

import pytest

from operator_schema import Codec, SchemaError, SchemaLeaf, skip, tool
from operator_schema.tools import injection
from operator_schema.types import register_injected

T = TypeVar("T")


class Db:
    pass


def complaints_of(annotation: Any, **options: Any) -> tuple[Any, ...]:
    def act(q: int, ctx) -> str: ...

    act.__annotations__["ctx"] = annotation
    with pytest.raises(SchemaError) as caught:
        tool(**options)(act)
    return caught.value.findings


# --- register_injected -----------------------------------------------------------------------------------


def test_a_registered_class_needs_no_mark():
    @register_injected
    class Context(Generic[T]):
        pass

    class Special(Context[T]):
        pass

    @tool
    def act(
        q: int,
        a: Context,
        b: Context[Db],
        c: Annotated[Special[Db] | None, "The session."] = None,
        *rest: Context[int],
        d: "Context | Special[Db]",  # noqa: UP037  # text inside text
    ) -> str:
        return type(b).__name__

    assert list(act.input_schema()["properties"]) == ["q"]
    assert act.run({"q": 1}, context={Context: Context()}, c=None) == "Context"


def test_a_registered_class_beside_what_the_model_gives():
    @register_injected
    class Context:
        pass

    assert [one.path for one in complaints_of(Context | int)] == [("ctx",)]
    assert [one.path for one in complaints_of(list[Context])] == [("ctx", "*")]


def test_registering_counts_for_tools_made_later():
    @dataclass
    class Context:
        user: str

    def act(q: int, ctx) -> str:
        return ctx.user

    act.__annotations__["ctx"] = Context
    before = tool(act)
    assert register_injected(register_injected(Context)) is Context
    assert list(before.input_schema()["properties"]) == ["q", "ctx"]
    assert tool(act).run({"q": 1}, context={Context: Context("ann")}) == "ann"


@pytest.mark.parametrize("given", [None, "Db", list[int], Db(), Db | None, 5])
def test_only_classes_are_registered(given):
    with pytest.raises(TypeError, match="register_injected takes a class, not "):
        register_injected(given)


@pytest.mark.parametrize("given", [int, object, dict, Exception, Generic])
def test_classes_of_python_are_not_registered(given):
    with pytest.raises(TypeError, match="is one of Python's own"):
        register_injected(given)


def test_a_registered_class_is_not_kept_alive():
    class Unhashable(type):
        __hash__ = None  # type: ignore[assignment]  # such classes can be registered too

    def make() -> weakref.ref[type]:
        cls = register_injected(Unhashable("Context", (), {}))
        assert injection.is_registered(cls)
        return weakref.ref(cls)

    gc.collect()
    registered = injection._registered
    before = len(registered)
    made = make()
    gc.collect()
    gc.collect()  # without the GIL, the first one only finds what the frame held
    assert made() is None
    assert len(registered) == before


@pytest.mark.needs_threads
def test_a_result_that_a_framework_handles_itself():
    class Reply:
        pass

    class Special(Reply):
        pass

    def give() -> list[Special]:
        """Give."""
        return []

    with pytest.raises(SchemaError, match="is not supported"):
        tool(give)
    injection.register_handed_through(Reply)
    assert tool(give).output_schema() == {}


@pytest.mark.needs_threads
def test_classes_are_registered_in_several_threads():
    classes: list[type] = []

    def register() -> None:
        for number in range(50):
            cls = register_injected(type(f"Context{number}", (), {}))
            classes.append(cls)
            tool(_taking(cls))

    threads = [threading.Thread(target=register) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(classes) == 200
    assert all(map(injection.is_registered, classes))


def _taking(cls: type) -> Any:
    def act(ctx) -> str: ...

    act.__annotations__["ctx"] = cls
    return act


# --- defaults --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("annotation", [Db, list[Db], Db | int, Literal["a"]])
def test_a_default_of_none_is_in_the_annotation(annotation):
    def act(q: int, db: Annotated[annotation, skip] = None) -> str: ...

    with pytest.raises(SchemaError) as caught:
        tool(act)
    (complaint,) = caught.value.findings
    assert (complaint.path, complaint.code) == (("db",), "bad_default")
    assert complaint.message.startswith("its default is None, but ")
    assert "| None, skip] = None; if not, remove the default" in complaint.remedy


def test_a_parameter_that_skip_names_has_its_default_in_the_annotation_too():
    def act(q: int, db: Db = None) -> str: ...

    with pytest.raises(SchemaError, match=r"db: Annotated\[Db \| None, skip\] = None"):
        tool(skip=("db",))(act)


@pytest.mark.parametrize(
    "annotation",
    [
        *(Db | None, Optional[Db], Union[Db, int, None], Any, object, None, T, Literal["a", None]),
        *("Unknown", "Db | Unknown", Annotated[Db | None, "text"], Optional["Unknown"]),  # noqa: F821  # not known yet
    ],
)
def test_a_default_of_none_that_fits(annotation):
    def act(q: int, db=None) -> str:
        return str(db)

    act.__annotations__["db"] = annotation
    assert tool(skip=("db",))(act).run({"q": 1}) == "None"


def test_a_parameter_without_annotation_may_be_none():
    @tool(skip=("db",))
    def act(q: int, db=None) -> str:
        return str(db)

    assert act.run({"q": 1}) == "None"


# --- classes that are not marked --------------------------------------------------------------------------

LIBRARY = """
from dataclasses import dataclass, field
from typing import Generic, TypedDict, TypeVar
T = TypeVar("T")
class Part: pass
@dataclass
class Session(Generic[T]):
    a: Part
    b: Part
    c: Part
    d: list[Part]
    e: Part | None = None
@dataclass
class RunContext(Session[T]):
    pass
@dataclass
class Short:
    a: Part
    b: Part
@dataclass
class ToolCall:
    name: str
class Config(TypedDict):
    part: Part
"""


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Return a function that installs the library under a name, and imports it."""

    def install(name: str) -> Any:
        place = tmp_path / "site-packages"
        place.mkdir(exist_ok=True)
        (place / f"{name}.py").write_text(LIBRARY)
        monkeypatch.syspath_prepend(place)
        monkeypatch.delitem(sys.modules, name, raising=False)
        importlib.invalidate_caches()
        module = importlib.import_module(name)
        monkeypatch.setitem(sys.modules, name, module)
        return module

    return install


def test_a_class_of_a_known_framework(library):
    module = library("pydantic_ai")
    for annotation, shown in [
        (module.RunContext, "RunContext"),
        (module.RunContext[Db], "RunContext[Db]"),
        (module.RunContext[Db] | None, "RunContext[Db] | None"),
    ]:
        (complaint,) = complaints_of(annotation)
        assert (complaint.path, complaint.code, complaint.type) == (("ctx",), "unsupported", "act")
        assert complaint.message == "RunContext of pydantic_ai is given by the framework, not by the model"
        assert complaint.remedy == (
            f"Mark it: ctx: Annotated[{shown}, skip], or call register_injected(RunContext) once before "
            "the tools are made"
        )


def test_a_class_of_a_known_framework_that_has_a_schema(library):
    module = library("llm")
    (complaint,) = complaints_of(module.ToolCall)
    assert complaint.message == "ToolCall of llm is given by the framework, not by the model"
    with pytest.raises(SchemaError, match="ToolCall of llm is given by the framework"):
        tool(_taking(module.ToolCall))

    class Own(module.ToolCall):
        pass

    assert complaints_of(Own)[0].message == "Own of llm is given by the framework, not by the model"
    leaf = SchemaLeaf(module.ToolCall, {"type": "string"}, module.ToolCall, str, module.ToolCall("a"))
    made = tool(leaves=[leaf])(_taking(module.ToolCall))
    assert made.input_schema()["properties"] == {"ctx": {"type": "string"}}


def test_a_model_of_a_known_framework(monkeypatch):
    pydantic = pytest.importorskip("pydantic")
    cls = type("Context", (pydantic.BaseModel,), {"__annotations__": {"x": int}, "__module__": "mcp.server"})
    (complaint,) = complaints_of(cls)
    assert complaint.message == "Context of mcp is given by the framework, not by the model"
    own = type("Context", (pydantic.BaseModel,), {"__annotations__": {"x": int}, "__module__": "mcpx"})
    assert "x" in tool(_taking(own)).input_schema()["properties"]["ctx"]["properties"]


def test_a_class_of_an_installed_library_with_many_complaints(library):
    module = library("somebodys_library")
    (complaint,) = complaints_of(module.Session[int])
    assert complaint.path == ("ctx",)
    assert complaint.message.startswith(
        "Session isn't a type that a model can give, with 5 complaints about it: "
        "ctx.a: somebodys_library.Part is not supported; ctx.b: somebodys_library.Part is not supported; "
    )
    assert complaint.message.endswith("; and 2 more")
    assert "mark it: ctx: Annotated[Session[int], skip]" in complaint.remedy
    assert "Codec(Session) lists them all" in complaint.remedy
    with pytest.raises(SchemaError) as caught:
        tool(_taking(module.Session[int]))
    assert len(caught.value.findings) == 1
    with pytest.raises(SchemaError, match="5 complaints about the type"):
        Codec(module.Session)


def test_few_complaints_are_all_shown(library):
    found = complaints_of(library("somebodys_library").Short)
    assert [one.path for one in found] == [("ctx", "a"), ("ctx", "b")]


def test_other_parameters_keep_their_complaints(library):
    module = library("somebodys_library")

    def act(a, ctx, b: Db) -> str: ...

    act.__annotations__["ctx"] = module.Session
    with pytest.raises(SchemaError) as caught:
        tool(tags="no", param_descriptions={"nothing": "x"})(act)
    paths = [(one.path, one.code) for one in caught.value.findings]
    assert paths.count((("ctx",), "unsupported")) == 1
    assert (("a",), "unannotated") in paths
    assert (("b",), "unsupported") in paths


@dataclass
class App:
    """A class of the program itself."""

    db: Db
    cache: Db
    log: Db
    names: list[Db] = field(default_factory=list)


def test_a_class_of_the_program_keeps_its_complaints():
    found = complaints_of(App)
    assert [one.path for one in found] == [
        *(("ctx", "db"), ("ctx", "cache"), ("ctx", "log"), ("ctx", "names", "*"))
    ]
    assert found[0].remedy.endswith(". If your program gives ctx, mark it: ctx: Annotated[App, skip]")
    assert not any("mark it" in one.remedy for one in found[1:])
    with pytest.raises(SchemaError) as caught:
        tool(_taking(App))
    assert [one.path for one in caught.value.findings][:2] == [("db",), ("cache",)]
    assert "mark it: ctx: Annotated[App, skip]" in caught.value.findings[0].remedy


def test_what_is_not_a_class_keeps_its_complaints():
    assert complaints_of(list[App])[0].path == ("ctx", "*", "db")
    assert len(complaints_of(App | Db)) > 1


class Options(TypedDict):
    part: Db


def test_a_typed_dict_of_the_program():
    assert "mark it: ctx: Annotated[Options, skip]" in complaints_of(Options)[0].remedy
