"""The dataclasses that are made of parameters: real ones, which tests and programs can use."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
import types
import typing
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar, Generic, Literal, NamedTuple, TypedDict, TypeVar, Union

import pytest

from operator_schema import Codec, DecodeError, Tool, decode, encode, json_schema, skip, tool, tool_input

TakenInput = "a name that is there already"


@tool
def web_search(query: str, max_results: int | None = None, *, tags: list[str] = []) -> str:  # noqa: B006  # what people write
    """Search the web."""
    return query


@tool
def taken(x: int) -> int:
    return x


class Service:
    @tool
    def find(self, x: int) -> int:
        return x


def make_local():
    @tool
    def local(x: int) -> int:
        return x

    return local


def test_it_can_be_imported_from_the_module_of_the_function():
    cls = web_search.input_type
    assert vars(sys.modules[__name__])["WebSearchInput"] is cls
    assert (cls.__name__, cls.__qualname__, cls.__module__) == ("WebSearchInput", "WebSearchInput", __name__)
    assert vars(sys.modules[__name__])["ServiceFindInput"] is Service.find.input_type


def test_no_name_is_taken_away():
    assert TakenInput == "a name that is there already"
    assert taken.input_type.__name__ == "TakenInput"


def test_functions_whose_inputs_share_a_name():
    module = types.ModuleType("shared_names")
    module.tool = tool
    code = (
        "def f_x(a: int): ...\ndef fX(b: int): ...\nfirst, second = tool(f_x), tool(fX)\nagain = tool(f_x)\n"
    )
    exec(code, vars(module))  # noqa: S102  # our own text
    assert module.first.input_type.__name__ == module.second.input_type.__name__ == "FXInput"
    assert module.FXInput is module.again.input_type


def test_it_is_a_dataclass():
    cls = web_search.input_type
    made = cls("x")
    assert dataclasses.is_dataclass(cls)
    assert [field.name for field in dataclasses.fields(cls)] == ["query", "max_results", "tags"]
    assert dataclasses.asdict(made) == {"query": "x", "max_results": None, "tags": []}
    assert dataclasses.astuple(made) == ("x", None, [])
    assert dataclasses.replace(made, query="y") == cls("y")
    assert made == cls(query="x", max_results=None, tags=[])
    assert made != cls("y")
    assert made != ("x", None, [])
    assert repr(made) == "WebSearchInput(query='x', max_results=None, tags=[])"
    assert cls.__match_args__ == ("query", "max_results")
    assert (
        str(inspect.signature(cls))
        == "(query: str, max_results: int | None = None, *, tags: list[str] = <factory>) -> None"
    )
    assert made.tags is not cls("x").tags
    with pytest.raises(TypeError, match="unhashable"):
        hash(made)


def test_it_is_matched_by_patterns():
    match web_search.decode({"query": "x", "max_results": 3}):
        case web_search.input_type(query, 3):
            assert query == "x"
        case _:
            pytest.fail("it does not match")


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, "missing 1 required positional argument: 'query'"),
        (("x", 1, []), {}, "takes from 2 to 3 positional arguments but 4 were given"),
        (("x",), {"query": "y"}, "multiple values for argument 'query'"),
        (("x",), {"limit": 1}, "unexpected keyword argument 'limit'"),
    ],
)
def test_it_refuses_what_its_parameters_refuse(args, kwargs, message):
    with pytest.raises(TypeError, match=message):
        web_search.input_type(*args, **kwargs)


def test_it_stands_for_itself_in_the_engine():
    cls = web_search.input_type
    assert json_schema(cls) == web_search.input_schema()
    assert decode(cls, {"query": "x"}) == cls("x")
    assert encode(cls("x", 2)) == {"query": "x", "max_results": 2, "tags": []}
    assert Codec(list[cls]).decode([{"query": "x"}]) == [cls("x")]


@pytest.mark.parametrize(
    "made",
    [
        web_search.input_type("x", 1, tags=["a"]),
        taken.input_type(1),
        Service.find.input_type(2),
    ],
    ids=lambda made: type(made).__name__,
)
def test_copies(made):
    for again in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert again == made
        assert type(again) is type(made)
        assert again is not made


def test_the_input_of_a_local_function_is_copied_and_pickled_as_any_local_class():
    made = make_local().input_type(3)
    assert copy.copy(made) == copy.deepcopy(made) == made
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(made)


def test_a_copy_in_depth_shares_nothing():
    made = web_search.input_type("x", tags=["a"])
    assert copy.deepcopy(made).tags is not made.tags
    assert copy.copy(made).tags is made.tags


def test_tools_are_pickled_by_their_place():
    assert pickle.loads(pickle.dumps(web_search)) is web_search
    assert copy.deepcopy(web_search) is copy.copy(web_search) is web_search
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(make_local())


@pytest.mark.parametrize(
    "cls",
    [
        web_search.input_type,
        taken.input_type,
        Service.find.input_type,
    ],
    ids=lambda cls: cls.__name__,
)
def test_the_class_itself_can_be_pickled(cls):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(cls, protocol)) is cls
        assert pickle.loads(pickle.dumps(cls(1), protocol)) == cls(1)
    assert copy.copy(cls) is copy.deepcopy(cls) is cls


@dataclass
class Extended(web_search.input_type):
    page: int = 1


def test_a_class_that_derives_from_it_is_pickled_as_any_class():
    made = Extended("x", page=2)
    assert pickle.loads(pickle.dumps(made)) == made
    assert pickle.loads(pickle.dumps(Extended)) is Extended
    assert pickle.loads(pickle.dumps(Extended.__mro__[2])) is Extended.__mro__[2]

    @dataclass
    class Local(web_search.input_type):
        page: int = 1

    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(Local)


def test_its_hints_are_those_of_the_parameters():
    assert typing.get_type_hints(web_search.input_type) == {
        "query": str,
        "max_results": int | None,
        "tags": list[str],
    }


MODULE = """
from operator_schema import tool
ReadInput = HolderReadInput = None
@tool
def read(path: str): ...
@tool
def write(path: str): ...
class Holder:
    @tool
    def read(self, path: str): ...
"""


@pytest.mark.needs_process
@pytest.mark.parametrize(("name", "cls"), [("read", "read.input_type"), ("write", "WriteInput")])
def test_it_is_unpickled_in_another_process(tmp_path, name, cls):
    assert _unpickled_elsewhere(tmp_path, f"some_tools.{name}.input_type('a')") == f"{cls}(path='a')"


@pytest.mark.needs_process
@pytest.mark.parametrize(
    ("name", "cls"),
    [
        ("read", "read.input_type"),
        ("write", "WriteInput"),
        ("Holder.read", "Holder.read.input_type"),
    ],
)
def test_its_class_is_unpickled_in_another_process(tmp_path, name, cls):
    unpickled = _unpickled_elsewhere(tmp_path, f"some_tools.{name}.input_type")
    assert unpickled == f"<class 'some_tools.{cls}'>"


def _unpickled_elsewhere(tmp_path, made):
    (tmp_path / "some_tools.py").write_text(MODULE)
    made = f"pickle.dumps({made})"
    dump = f"import some_tools, pickle, sys; sys.stdout.buffer.write({made})"
    load = "import pickle, sys; print(pickle.loads(sys.stdin.buffer.read()))"
    run = [sys.executable, "-c"]
    text = subprocess.run([*run, dump], cwd=tmp_path, capture_output=True, check=True).stdout
    done = subprocess.run([*run, load], cwd=tmp_path, input=text, capture_output=True, check=True)
    return done.stdout.decode().strip()


def test_it_can_be_extended():
    @dataclasses.dataclass
    class More(web_search.input_type):
        page: int = 1

    assert More("x", page=2).page == 2


def test_it_looks_like_its_function():
    assert web_search.__name__ == "web_search"
    assert web_search.__doc__ == "Search the web."
    assert web_search.__module__ == __name__
    assert list(inspect.signature(web_search).parameters) == ["query", "max_results", "tags"]
    assert list(inspect.signature(Service().find).parameters) == ["x"]
    assert inspect.unwrap(web_search)("x") == "x"


def test_a_tool_never_changes():
    with pytest.raises(AttributeError, match="immutable"):
        web_search.name = "other"
    with pytest.raises(AttributeError, match="immutable"):
        del web_search.name
    with pytest.raises(TypeError, match="made by @tool"):
        type(web_search)()


def test_with_returns_a_changed_copy():
    changed = web_search.with_(name="find", description="Find. All of it.", tags=["a"], timeout=3)
    assert (changed.name, changed.summary, changed.description) == ("find", "Find.", "Find. All of it.")
    assert (changed.tags, changed.timeout) == (("a",), 3)
    assert (web_search.name, web_search.summary, web_search.tags) == ("web_search", "Search the web.", ())
    assert changed.codec.name == "find"
    assert changed("x") == "x"
    assert changed != web_search
    assert web_search.with_(summary="In short.").definition()["description"] == "In short."
    with pytest.raises(TypeError, match="refused by providers"):
        web_search.with_(name="not valid")


def test_skip_is_one_object():
    assert copy.deepcopy(skip) is copy.copy(skip) is pickle.loads(pickle.dumps(skip)) is skip
    assert repr(Annotated[int, skip]).endswith("skip]")


@tool_input
@dataclass
class Ask:
    """Ask."""

    question: str


@dataclass
class Asked:
    first: Ask
    others: list[Ask]
    last: Ask | None = None
    either: int | Ask = 1


def test_a_class_under_a_tool_is_a_type():
    assert json_schema(Ask) == json_schema(Ask.input_type)
    decoded = Codec(Asked).decode({"first": {"question": "a"}, "others": [], "either": {"question": "b"}})
    assert decoded == Asked(Ask("a"), [], None, Ask("b"))

    @tool
    def answer(to: Ask, loud: bool = False) -> str:
        return f"{to.question}{loud}"

    @tool
    def whole(to: Ask) -> str:
        return to.question

    assert answer.run({"to": {"question": "a"}}) == "aFalse"
    assert whole.input_schema() == Ask.input_schema()
    assert whole.run({"question": "a"}) == "a"
    assert Ask | None == Ask.input_type | None
    assert int | Ask == int | Ask.input_type


def test_a_class_under_a_tool_in_a_pattern():
    match Ask.decode({"question": "a"}):
        case Ask.input_type(question=question):
            assert question == "a"
        case _:
            pytest.fail("no match")
    match Ask.decode({"question": "a"}):
        case Search():
            pytest.fail("it is no Search")
        case Ask("b"):
            pytest.fail("it asks something else")
        case Ask(question):
            assert question == "a"
        case _:
            pytest.fail("no match")


@tool_input
@dataclass(frozen=True, slots=True)
class Search:
    """Search."""

    text: str
    limit: int = 10


@tool_input
class Pair(NamedTuple):
    left: int
    right: int = 2


@tool_input
class Keys(TypedDict):
    x: int


class Outside:
    @tool_input
    @dataclass
    class Inside:
        x: int


@pytest.mark.parametrize(
    ("entry", "arguments"),
    [
        (Ask, {"question": "a"}),
        (Search, {"text": "a"}),
        (Pair, {"left": 1}),
        (Keys, {"x": 1}),
        (Outside.Inside, {"x": 1}),
    ],
)
def test_instances_of_a_class_under_a_tool_can_be_pickled(entry, arguments):
    made = entry.decode(arguments)
    again = [pickle.loads(pickle.dumps(made, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    for other in (*again, copy.copy(made), copy.deepcopy(made)):
        assert other == made
        assert type(other) is type(made)


def test_a_local_class_under_a_tool_can_be_copied():
    @tool_input
    @dataclass
    class Local:
        x: list[int]

    made = Local([1])
    assert copy.deepcopy(made) == made
    assert copy.deepcopy(made).x is not made.x


def test_a_class_that_pickles_in_its_own_way_is_left_alone():
    @tool_input
    @dataclass
    class Own:
        x: int

        def __reduce__(self):
            return int, (self.x,)

    assert pickle.loads(pickle.dumps(Own(3))) == 3


@dataclass
class AskMore(Ask):
    loud: bool = False


def test_a_class_under_a_tool_can_be_extended():
    made = AskMore("a", loud=True)
    assert AskMore.__bases__ == (Ask.input_type,)
    assert isinstance(made, Ask)
    assert issubclass(AskMore, Ask)
    assert not issubclass(Kept, Ask)
    assert pickle.loads(pickle.dumps(made)) == made
    assert json_schema(AskMore)["properties"].keys() == {"question", "loud"}


def test_a_tool_of_a_class_is_a_tool():
    assert isinstance(Ask, type)
    assert isinstance(Ask, Tool)
    assert (Ask.__name__, Ask.__module__, Ask.__doc__) == ("Ask", __name__, "Ask.")
    assert pickle.loads(pickle.dumps(Ask)) is copy.deepcopy(Ask) is Ask
    assert str(inspect.signature(Ask)) == "(question: 'str') -> None"
    changed = Ask.with_(name="question")
    assert (changed.name, changed("a")) == ("question", Ask("a"))
    assert (changed == Ask, Ask == Ask, {Ask: 1}[Ask]) == (False, True, 1)  # noqa: PLR0124  # what is tested
    with pytest.raises(AttributeError, match="immutable"):
        Ask.name = "other"
    with pytest.raises(AttributeError, match="immutable"):
        del Ask.name


@dataclass
class Left:
    side: Literal["left"]


@dataclass
class Right:
    side: Literal["right"]


def test_a_tool_of_a_union_in_a_pattern():
    turn = tool_input(name="turn")(Left | Right)
    match turn.decode({"side": "left"}):
        case Right():
            pytest.fail("it is no Right")
        case turn():
            pass
        case _:
            pytest.fail("no match")
    assert (turn.__name__, turn.__qualname__) == ("turn", "turn")
    assert tool_input(name="turn")(Union[Left, Right]).__qualname__ == "turn"  # the older spelling


def test_a_program_injects_a_class_under_a_tool():
    @tool
    def answer(text: str, *, asked: Annotated[Ask, skip]) -> str:
        return asked.question + text

    for key in (Ask, Ask.input_type, AskMore):
        assert answer.run({"text": "!"}, context={key: Ask("a")}) == "a!"


@dataclass
class Kept:
    x: int


kept = tool_input(name="kept")(Kept)


def test_a_class_beside_its_tool_can_be_pickled():
    decoded = kept.decode({"x": 1})
    assert pickle.loads(pickle.dumps(decoded)) == decoded


T = TypeVar("T")


@tool_input
@dataclass
class Page(Generic[T]):
    items: list[T]

    limit: ClassVar[int] = 2

    @classmethod
    def of(cls, item):
        return cls([item])

    def is_full(self):
        return len(self.items) >= Page.limit


def test_a_generic_class_under_a_tool_takes_arguments():
    assert Page[int] == Page.input_type[int]
    assert decode(list[Page[int]], [{"items": [1]}]) == [Page([1])]
    with pytest.raises(DecodeError, match=r"items\[0\]: expected integer"):
        decode(Page[int], {"items": ["a"]})
    with pytest.raises(TypeError, match="not subscriptable"):
        Ask[int]
    with pytest.raises(TypeError, match="not iterable"):
        list(Page)


def test_a_tool_has_the_attributes_of_its_class():
    assert Page.of(1).is_full() is False
    assert Page.limit == 2
    assert Pair._fields == ("left", "right")
    with pytest.raises(AttributeError, match="'Page' has no attribute 'pages'"):
        Page.pages  # noqa: B018  # what is tested
    turn = tool_input(name="turn")(Left | Right)
    with pytest.raises(AttributeError, match="the tool turn has no attribute side"):
        turn.side  # noqa: B018  # likewise


def test_an_input_type_of_a_class_under_a_tool():
    again = tool_input(name="question")(Ask)
    assert (again.input_type, again.name, tool_input(Ask).name) == (Ask.input_type, "question", "ask")


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


class Times:
    """What multiplies."""

    def __call__(self, a: int, b: int) -> int:
        """Multiply two numbers."""
        return a * b


add_two = tool(name="add_two")(partial(add, 2))
times = tool(Times())
either = tool_input(name="either", description="One side. Or the other.")(Left | Right)


@pytest.mark.parametrize(
    ("entry", "doc"),
    [
        (add_two, "Add two numbers."),
        (times, "Multiply two numbers."),
        (either, "One side. Or the other."),
    ],
)
def test_a_tool_of_what_has_no_name_stands_where_it_was_made(entry, doc):
    assert (entry.__module__, entry.__doc__) == (__name__, doc)
    assert pickle.loads(pickle.dumps(entry)) is entry
