"""Repair, row by row: what is put right, what is left alone, and what is said about it."""

from __future__ import annotations

import enum
import json
import sys
from collections import deque
from dataclasses import InitVar, dataclass, field
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict, Union
from uuid import UUID

import pytest

from operator_schema import Codec, DecodeError, SchemaLeaf
from operator_schema.codec.json_text.lenient import as_json_text
from operator_schema.codec.limits import MAX_INTEGER_DIGITS, MAX_PROBLEMS
from operator_schema.codec.report import DecodeReport, IgnoredKey, Repair


class Limits:
    def __init__(self, **limits):
        vars(self).update(limits)


class Color(enum.Enum):
    RED = "red"
    DARK_BLUE = "navy"
    OFF_WHITE = "off-white"


class Level(enum.IntEnum):
    LOW = 1
    VERY_HIGH = 9


class Twisted(enum.Enum):
    """A name here is a value there."""

    A = "b"
    B = "c"
    C_1 = 1


@dataclass
class Leg:
    number: str
    stops: int = 0


class Span(NamedTuple):
    first: int
    last: int = 10


class Source(TypedDict):
    name: str
    line: NotRequired[int]
    tags: NotRequired[list[str]]


@dataclass
class Trip:
    legs: list[Leg]
    price: float = 9.5
    is_paid: bool = False
    color: Color = Color.RED
    seats: int | None = None
    note: str = "none"
    limit: int | None = 5
    labels: list[str] = field(default_factory=list)
    names: list[str] | None = None
    since: date = date(2020, 1, 1)


@dataclass
class Renamed:
    max_results: int = field(default=1, metadata={"alias": "maxHits"})
    page_token: str | None = field(default=None, metadata={"alias": "cursor"})


@dataclass
class Circle:
    kind: Literal["circle"]
    radius: float


@dataclass
class Square:
    kind: Literal["square"]
    side_length: float


@dataclass
class Loose:
    name: str
    size: int = 0


@dataclass
class Other:
    name: str
    max_depth: int = 0


@dataclass
class Tree:
    value: int
    children: list[Tree] = field(default_factory=list)


@dataclass
class One:
    first_name: str
    inner: list[One | Two] = field(default_factory=list)


@dataclass
class Two:
    second_name: str
    inner: list[One | Two] = field(default_factory=list)


def report(annotation, value, **options):
    return Codec(annotation, repair=True, **options).decode_report(value)


def repaired(annotation, value, **options):
    """Decode what can't be decoded without repair, or not whole; return it and the kinds of repair."""
    plain = Codec(annotation, **options)
    assert plain.problems(value) or plain.decode_report(value).ignored
    made = report(annotation, value, **options)
    assert made.repairs
    return made.instance, [repair.kind for repair in made.repairs]


def refused(annotation, value, **options):
    with pytest.raises(DecodeError) as caught:
        report(annotation, value, **options)
    return [problem.code for problem in caught.value.problems]


def kept(annotation, value, **options):
    made = report(annotation, value, **options)
    assert made.repairs == ()
    assert made.instance == Codec(annotation, **options).decode(value)
    return made.instance


# --- a string that holds JSON ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("annotation", "value", "instance"),
    [
        (Leg, '{"number": "A1"}', Leg("A1")),
        (Leg, ' \n{"number": "A1"} ', Leg("A1")),
        (Leg, json.dumps('{"number": "A1"}'), Leg("A1")),
        (Leg, json.dumps(json.dumps(json.dumps({"number": "A1"}))), Leg("A1")),
        (list[int], "[1, 2]", [1, 2]),
        (tuple[int, str], '[1, "a"]', (1, "a")),
        (deque[int], "[]", deque()),
        (set[int], "[1]", {1}),
        (dict[str, int], '{"a": 1}', {"a": 1}),
        (Span, '{"first": 1}', Span(1)),
        (Source, '{"name": "a"}', {"name": "a"}),
        (list[list[int]], ["[1]", [2]], [[1], [2]]),
        (dict[str, list[int]], {"a": "[1]"}, {"a": [1]}),
        (list[Leg] | None, '[{"number": "A1"}]', [Leg("A1")]),
        (Circle | Square | int, '{"kind": "circle", "radius": 1}', Circle("circle", 1.0)),
        (Tree, {"value": 1, "children": '[{"value": 2, "children": "[]"}]'}, Tree(1, [Tree(2)])),
    ],
)
def test_json_in_a_string_is_read(annotation, value, instance):
    made, kinds = repaired(annotation, value)
    assert made == instance
    assert set(kinds) == {"json_text"}


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (list[int], "[1, 2"),
        (list[int], "[1, 2] and more"),
        (list[int], "[1, 2,]"),
        (list[int], '{"a": 1}'),
        (Leg, "[]"),
        (Leg, "A1"),
        (Leg, '{"number": "A1", "number": "A2"}'),
        (Leg, "{'number': 'A1'}"),
        (list[float], "[NaN]"),
        (list[int], '"' * 9),
        (list[int], "[" * 600 + "]" * 600),
        (tuple[int, int], "[1]"),
        (Union[date, list[int]], "[1]"),
        (Union[Literal["a"], list[int]], "[1]"),
    ],
)
def test_other_strings_are_no_json(annotation, value):
    assert refused(annotation, value)


# --- numbers, booleans, null in quotes --------------------------------------------------------------


@pytest.mark.parametrize(
    ("annotation", "value", "instance"),
    [
        (int, "5", 5),
        (int, "-12", -12),
        (int, "5.0", 5),
        (int, "1e3", 1000),
        (int, "1.242970108301102e+16", 12429701083011020),
        (float, "-2.5", -2.5),
        (float, "5", 5.0),
        (float, "1E-2", 0.01),
        (int | float, "5", 5),
        (bool, "true", True),
        (bool, "False", False),
        (None, "null", None),
        (None, "None", None),
        (int | None, "null", None),
        (int | None, "7", 7),
        (int | bool | None, "true", True),
        (Level, "9", Level.VERY_HIGH),
        (Literal[1, 2, True], "2", 2),
        (Literal[1, True], "True", True),
        (Annotated[int, Limits(ge=3)], "5", 5),
        (list[int], ["1", 2, "3"], [1, 2, 3]),
        (dict[str, bool], {"a": "true"}, {"a": True}),
    ],
)
def test_scalars_lose_their_quotes(annotation, value, instance):
    made, kinds = repaired(annotation, value)
    assert (made, type(made)) == (instance, type(instance))
    assert set(kinds) == {"scalar"}


def test_null_in_quotes_for_a_field_that_may_be_left_out():
    assert repaired(Trip, {"legs": [], "seats": "null"}) == (Trip([]), ["scalar"])
    assert repaired(Trip, {"legs": [], "limit": "None"}) == (Trip([], limit=None), ["scalar"])


@pytest.mark.parametrize(
    "text",
    [
        "",
        " 5",
        "5 ",
        "+5",
        "05",
        "5.",
        ".5",
        "5.5",
        "1_000",
        "1,000",
        "٣",
        "0x5",
        "five",
        "5\n",
        "NaN",
        "Infinity",
    ],
)
def test_integers_have_one_spelling(text):
    assert refused(int, text)


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (int, "9007199254740993.0"),  # the float nearest to it is another integer
        (float, "9007199254740993.0"),
        (float, "9007199254740993.00"),
        (int, "1e30"),
        (float, "9007199254740993e0"),
        (Literal[1, 2], "1.00000000000000000001"),
        (Literal[1, 2], "1e-" + "9" * 30),
        (Level, "1.00000000000000000001"),
        (int, "1e-400"),
        (int, "1e-" + "9" * 30),
        (float, "9007199254740993"),
        (float, "1" + "0" * 400),
        (float, "1e400"),
        (int, "1" * (MAX_INTEGER_DIGITS + 1)),
        (int, "true"),
        (bool, "1"),
        (bool, "yes"),
        (bool, "TRUE"),
        (bool, "null"),
        (int, "null"),
        (Annotated[int, Limits(ge=3)], "2"),
        (Level, "2"),
        (Union[int, Literal["a"]], "5"),
        (Union[int, date], "5"),
        (int, 2.5),
        (bool, 1),
        (str, 5),
    ],
)
def test_what_would_be_guessed_or_rounded_is_refused(annotation, value):
    assert refused(annotation, value)


def test_a_float_takes_the_largest_exact_integer():
    assert repaired(float, "9007199254740992")[0] == 2.0**53
    assert repaired(float, "9007199254740992.0")[0] == 2.0**53
    assert repaired(float, "1e22")[0] == 1e22


@pytest.mark.parametrize(
    "text", ["0.1", "1.00000000000000000001", "1e-400", "1e30", "2.5E+40", "1e-" + "9" * 30, "-0.0"]
)
def test_a_float_takes_what_json_writes(text):
    made, kinds = repaired(float, text)
    assert (repr(made), kinds) == (repr(json.loads(text)), ["scalar"])


def test_choices_are_never_rounded_to():
    class Share(enum.Enum):
        TENTH = 0.1
        ALL = 1.0

    assert repaired(Share, "0.1")[0] is Share.TENTH
    assert repaired(Share, "1.0")[0] is Share.ALL
    assert refused(Share, "1.00000000000000000001")


@pytest.mark.parametrize("limit", [640, 0])
def test_integers_of_more_digits_than_the_interpreter_takes_are_refused(limit):
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(limit)
    try:
        assert Codec(int).problems("9" * 1000)
        most = limit or MAX_INTEGER_DIGITS - 1
        assert repaired(int, "-" + "9" * most)[0] == 1 - 10**most
        assert not limit or refused(Trip, {"legs": [], "labels": "9" * 1000, "limit": "9" * 1000})
    finally:
        sys.set_int_max_str_digits(before)


# --- null where the default is meant ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value"),
    [(key, value) for key in ("price", "is_paid", "labels") for value in (None, "null", "None")]
    + [("price", ""), ("is_paid", ""), ("note", None), ("color", None), ("since", None)],
)
def test_null_stands_for_the_default(key, value):
    made = report(Trip, {"legs": [], key: value})
    assert made.instance == Trip([])
    assert [(repair.path, repair.kind, repair.after) for repair in made.repairs] == [
        ((key,), "default", "default")
    ]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("legs", None),  # it has no default
        ("legs", "null"),
        ("legs", ""),
        ("color", "null"),  # it takes strings
        ("color", ""),
        ("since", ""),
        ("since", "null"),
        ("limit", ""),  # null is one reading, the default another
        ("seats", ""),
        ("labels", ""),  # no label, or an empty one
        ("names", ""),
        ("price", " "),
        ("price", []),
    ],
)
def test_what_may_mean_more_than_the_default_is_refused(key, value):
    assert refused(Trip, {"legs": [], key: value})


def test_keys_of_typed_dicts_have_no_default():
    assert refused(Source, {"name": "a", "line": None})
    assert refused(Source, {"name": "a", "tags": ""})


def test_defaults_of_fields_that_are_not_kept():
    @dataclass
    class Made:
        seed: InitVar[int] = 3
        total: int = 0

        def __post_init__(self, seed):
            self.total = seed

    assert repaired(Made, {"seed": None})[0].total == 3


def test_null_that_fits_is_kept():
    assert kept(Trip, {"legs": [], "seats": None, "limit": None, "names": None}) == Trip([], limit=None)


def test_strings_are_kept_where_strings_are_wanted():
    for text in ("", "null", "5", "[1]", '{"a": 1}', "true", " x ", "'x'", "```json\n{}\n```"):
        assert kept(Trip, {"legs": [], "note": text}).note == text
        assert kept(str | None, text) == text
        assert kept(list[str], [text]) == [text]
        assert kept(dict[str, str], {text: text}) == {text: text}
        assert kept(Union[int, bool, list[int], str, None], text) == text
        assert kept(Any, text) == text
        assert kept(list[Any], [text]) == [text]


def test_leaves_read_strings_themselves():
    assert kept(Decimal, "5") == Decimal(5)
    assert kept(date | int | str, "5") == "5"
    assert refused(UUID, "5") == ["bad_format"]
    assert refused(date, '"2020-01-01"') == ["bad_format"]


def test_leaves_of_numbers_are_given_numbers():
    leaf = SchemaLeaf(complex, {"type": "number"}, complex, lambda value: value.real, 1j)
    assert repaired(complex, "5", leaves=[leaf]) == (complex(5), ["scalar"])
    assert repaired(complex, "0.1", leaves=[leaf]) == (complex(0.1), ["scalar"])
    assert refused(complex, "9007199254740993.0", leaves=[leaf])
    whole = SchemaLeaf(complex, {"type": "integer"}, complex, lambda value: int(value.real), 1j)
    assert repaired(complex, "9007199254740992.0", leaves=[whole]) == (complex(2**53), ["scalar"])
    assert refused(complex, "9007199254740993.0", leaves=[whole])
    assert refused(complex, "1.00000000000000000001", leaves=[whole])


# --- choices -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("annotation", "value", "instance"),
    [
        (Color, "RED", Color.RED),
        (Color, " red ", Color.RED),
        (Color, "NAVY", Color.DARK_BLUE),
        (Color, "DARK_BLUE", Color.DARK_BLUE),
        (Color, "dark blue", Color.DARK_BLUE),
        (Color, "DarkBlue", Color.DARK_BLUE),
        (Color, "off white", Color.OFF_WHITE),
        (Color, "Off_White", Color.OFF_WHITE),
        (Level, "very high", Level.VERY_HIGH),
        (Level, "LOW", Level.LOW),
        (Twisted, "a", Twisted.A),
        (Twisted, "C", Twisted.B),
        (Twisted, "c_1", Twisted.C_1),
        (Literal["bug report", "other"], "bug_report", "bug report"),
        (Literal["bug report", "other"], "Bug-Report", "bug report"),
        (Literal["a", 1, None], "A", "a"),
        (Literal["v1-2", "v12"], "V1_2", "v1-2"),
        (Color | int, "Red", Color.RED),
        (Color | None, "Red", Color.RED),
        (Color | list[int], "Red", Color.RED),
    ],
)
def test_the_choice_that_is_meant_is_found(annotation, value, instance):
    assert repaired(annotation, value) == (instance, ["choice"])


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Color, "redd"),
        (Color, ""),
        (Color, "_"),
        (Twisted, "B"),  # the name of one, the value of another
        (Literal["a", "A"], " a"),
        (Literal["ab", "a-b"], "A B"),
        (Literal["+", "-"], ""),
        (Literal["+", "-"], "_"),
        (Literal["+", "-"], " "),
        (Literal["-1", "2"], "1"),
        (Literal["v1-2"], "v12"),
        (Literal["A-", "B"], "A"),
        (Literal["a", 1], "1"),
        (Union[Color, date], "Red"),
        (Union[Literal["a"], int], "5"),
    ],
)
def test_what_no_choice_or_more_than_one_is_named_by_is_refused(annotation, value):
    assert refused(annotation, value)


def test_text_next_to_choices_is_kept():
    assert kept(Union[Color, str], "Red") == "Red"
    assert kept(Twisted, "b") is Twisted.A
    assert kept(Literal["a", "A"], "A") == "A"


# --- keys --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key", ["sideLength", "SideLength", "side-length", "SIDE_LENGTH", "side length", "side_length_"]
)
def test_keys_in_another_convention(key):
    assert repaired(Square, {"kind": "square", key: 2}) == (Square("square", 2.0), ["key"])
    assert repaired(Square, {"kind": "square", key: 2}, unknown_fields="reject")[0] == Square("square", 2.0)


@pytest.mark.parametrize("key", ["max_results", "maxResults", "maxhits", "max_hits", "MaxHits"])
def test_the_name_of_a_field_where_its_key_is_an_alias(key):
    assert repaired(Renamed, {key: 7}) == (Renamed(7), ["key"])


def test_a_key_that_need_not_be_there_is_found_all_the_same():
    assert repaired(Renamed, {"page_token": "x"}) == (Renamed(1, "x"), ["key"])
    assert repaired(Leg, {"number": "A1", "Stops": "2"}) == (Leg("A1", 2), ["key", "scalar"])
    assert repaired(Leg, {"number": "A1", "Stops": None}) == (Leg("A1"), ["key", "default"])


@pytest.mark.parametrize(
    "value",
    [
        {"maxHits": 1, "max_results": 2},  # the proper key is there
        {"max_results": 2, "max_hits": 3},  # either could be meant
        {"MaxHits": 2, "maxhits": 3},
        {"max_result": 2},
        {"max_results": "many"},  # it would not fit
        {"": 1, "_": 2},
    ],
)
def test_keys_that_are_not_certain_stay_unknown(value):
    made = report(Renamed, value)
    assert (made.instance, made.repairs) == (Renamed(value.get("maxHits", 1)), ())
    assert {key.path for key in made.ignored} == {(key,) for key in value if key != "maxHits"}
    assert set(refused(Renamed, value, unknown_fields="reject")) == {"unknown"}


def test_a_key_that_two_fields_could_have_stays_unknown():
    @dataclass
    class Two:
        max_size: int = 1
        maxsize: int = 2

    assert kept(Two, {"MaxSize": 5}) == Two()


def test_keys_without_letters_name_nothing():
    @dataclass
    class Odd:
        dash: int = field(default=0, metadata={"alias": "-"})

    assert kept(Odd, {"_": 5}) == Odd()
    assert refused(Odd, {5: 5, "-": "x"}) == ["wrong_type"]


def test_unknown_keys_are_never_dropped():
    assert refused(Leg, {"number": "A1", "colour": 1}, unknown_fields="reject") == ["unknown"]
    assert report(Leg, {"number": "A1", "stop": 1}).ignored == (IgnoredKey(("stop",), "stops"),)


# --- one item ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("annotation", "value", "instance", "kinds"),
    [
        (list[int], 5, [5], ["array"]),
        (list[int], "5", [5], ["array", "scalar"]),
        (list[str], "a", ["a"], ["array"]),
        (list[str], "a, b", ["a, b"], ["array"]),
        (list[Leg], {"number": "A1"}, [Leg("A1")], ["array"]),
        (list[Leg], '{"number": "A1"}', [Leg("A1")], ["array", "json_text"]),
        (list[Color], "Red", [Color.RED], ["array", "choice"]),
        (set[int], 5, {5}, ["array"]),
        (tuple[int, ...], 5, (5,), ["array"]),
        (list[list[int]], 5, [[5]], ["array", "array"]),
        (list[tuple[int, int]], [1, 2], [(1, 2)], ["array"]),
        (list[date], "2020-01-01", [date(2020, 1, 1)], ["array"]),
        (list[Any], {"a": 1}, [{"a": 1}], ["array"]),
        (list[int] | None, 5, [5], ["array"]),
        (Annotated[list[int], Limits(min_length=1)], 5, [5], ["array"]),
        (list[Circle | Square], {"kind": "circle", "radius": 1}, [Circle("circle", 1.0)], ["array"]),
        (Trip, {"legs": [], "labels": "a"}, Trip([], labels=["a"]), ["array"]),
    ],
)
def test_one_item_becomes_an_array(annotation, value, instance, kinds):
    assert repaired(annotation, value) == (instance, kinds)


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (list[int], None),
        (list[int], "x"),
        (list[int | None], None),
        (list[str], 5),
        (list[str], ""),
        (set[str], ""),
        (list[Any], ""),
        (list[str] | None, ""),
        (list[list[str]], ""),
        (list[str], '["a"'),
        (list[str], '"a"'),
        (list[str], " {"),
        (list[str], "5"),
        (list[str], "true"),
        (list[str], '```json\n["a"]\n```'),
        (list[Any], "5"),
        (list[list[int]], [1, 2]),  # two arrays of one, or one of two
        (Annotated[list[int], Limits(min_length=2)], 5),
        (tuple[int], 5),
        (list[Leg], {"stops": 1}),
        (Tree, {"value": 1, "children": "x"}),
    ],
)
def test_what_is_no_item_or_may_be_more_is_refused(annotation, value):
    assert refused(annotation, value)


def test_arrays_of_arrays_are_wrapped_where_one_reading_fits():
    assert repaired(list[list[int]], [[1], 2]) == ([[1], [2]], ["array"])
    assert repaired(list[Annotated[list[int], Limits(min_length=2)]], [1, 2])[0] == [[1, 2]]


def test_no_item_is_wrapped_past_the_limit_on_depth():
    assert refused(list[list[int]], {"a": 5}, max_depth=2)
    assert refused(Tree, {"value": 1, "children": {"value": 2}}, max_depth=2) == ["wrong_type"]


# --- unions --------------------------------------------------------------------------------------------


def test_the_tag_says_which_member_is_meant():
    assert repaired(Circle | Square, {"kind": "square", "sideLength": "2"})[0] == Square("square", 2.0)
    assert repaired(Circle | Square, {"kind": "Square", "side_length": 2})[0] == Square("square", 2.0)
    assert refused(Circle | Square, {"kind": "circle", "sideLength": "2"})
    assert refused(Circle | Square, {"kind": None, "radius": 2})


def test_the_member_that_leaves_no_key_unused_is_meant():
    assert repaired(Loose | Other, {"name": "a", "maxDepth": 3}) == (Other("a", 3), ["key"])
    assert repaired(Loose | Other, {"name": "a", "size": "3"}) == (Loose("a", 3), ["scalar"])


def test_a_repair_that_members_take_differently_is_not_made():
    @dataclass
    class Apart:
        a_b: int

    @dataclass
    class Close:
        ab: int

    assert refused(Apart | Close, {"AB": 1})
    assert repaired(Loose | Other, {"NAME": "a"})[0] == kept(Loose | Other, {"name": "a"})
    assert refused(Union[dict[str, int], list[int]], "x")


class Counted(enum.Enum):
    ONE = 1


class Said(enum.Enum):
    ONE = True


@dataclass
class Filed:
    name: str
    tags: list[int] = field(default_factory=list)
    first: int = 0


@dataclass
class Found:
    name: str
    tags: list[int] = field(default_factory=list)
    last: int = 0


def test_readings_that_are_equal_in_python_alone_are_two():
    assert refused(Counted | Said, "one")
    assert repaired(Counted | int, "1.0") == (Counted.ONE, ["scalar"])
    both = repaired(Filed | Found, {"NAME": "a", "tags": ["1", 2]})
    assert both == (Filed("a", [1, 2]), ["key", "scalar"])


def test_values_that_no_json_has_are_left_alone():
    class Vague:
        def __eq__(self, other):
            raise ValueError("neither")

        __hash__ = None

    @dataclass
    class Held:
        anything: Any = None
        number: int = 0
        either: int | list[int] = 0

    vague = Vague()
    assert Codec(Held, repair=True).decode({"anything": vague, "number": "5"}).number == 5
    assert set(refused(Held, {"anything": vague, "number": vague, "either": vague})) == {"wrong_type"}
    assert Codec(dict[str, Any] | list[Any], repair=True).decode({"a": vague})["a"] is vague


def test_a_member_that_needs_no_array_comes_first():
    assert repaired(int | list[int], "5") == (5, ["scalar"])
    assert repaired(Leg | list[Leg], {"number": "A1", "stops": "1"}) == (Leg("A1", 1), ["scalar"])


def test_recursive_unions():
    value = {"value": "1", "children": {"value": 2, "children": [{"VALUE": 3}]}}
    made, kinds = repaired(Tree, value)
    assert made == Tree(1, [Tree(2, [Tree(3)])])
    assert kinds == ["scalar", "array", "key"]


# --- what comes of it ----------------------------------------------------------------------------------


def test_repair_is_off_by_default():
    assert Codec(int).problems("5")
    assert Codec(int).decode_report(5) == DecodeReport(5, (), ())
    with pytest.raises(DecodeError):
        Codec(dict[str, int]).decode_json("{'a': 1}")


def test_each_repair_is_recorded_with_its_path():
    value = {"legs": '[{"Number": "A1", "stops": "2"}]', "price": None, "isPaid": "true"}
    made = report(Trip, value)
    assert made.instance == Trip([Leg("A1", 2)], is_paid=True)
    assert [(repair.path, repair.kind, repair.before, repair.after) for repair in made.repairs] == [
        (
            ("legs",),
            "json_text",
            '"[{\\"Number\\": \\"A1\\", \\"stops\\": \\"2\\"}]"',
            '[{"number": "A1", "stops": 2}]',
        ),
        (("legs", 0, "number"), "key", '"Number"', '"number"'),
        (("legs", 0, "stops"), "scalar", '"2"', "2"),
        (("price",), "default", "null", "default"),
        (("is_paid",), "key", '"isPaid"', '"is_paid"'),
        (("is_paid",), "scalar", '"true"', "true"),
    ]
    assert str(made.repairs[2]) == 'legs[0].stops: "2" read as 2 (scalar)'


def test_a_repair_of_the_root_has_no_path():
    (repair,) = report(int, "5").repairs
    assert repair == Repair((), "scalar", '"5"', "5")
    assert str(repair) == '"5" read as 5 (scalar)'


def test_what_is_shown_of_a_repair_is_bounded():
    (repair, *_) = report(dict[str, list[int]], {"k" * 1000: json.dumps([1] * 1000)}).repairs
    assert len(repair.before) <= 60
    assert len(repair.after) <= 60
    assert len(str(repair)) <= 400


def test_a_value_is_read_once_however_deep_unions_nest():
    value: Any = {"firstName": "x"}
    for level in range(40):
        value = {"firstName" if level % 2 else "secondName": "x", "inner": value}
    made = report(One | Two, value).instance
    for level in reversed(range(40)):
        assert type(made) is (One if level % 2 else Two)
        (made,) = made.inner
    assert made == One("x")


def test_the_value_is_not_changed():
    value = {"legs": [{"Number": "A1"}], "isPaid": "true"}
    before = json.dumps(value)
    report(Trip, value)
    assert json.dumps(value) == before


def test_problems_are_those_that_repair_leaves():
    codec = Codec(Trip, repair=True)
    assert codec.problems({"Legs": "[]", "price": "5"}) == ()
    assert [problem.path for problem in codec.problems({"legs": "[]", "price": "x"})] == [("price",)]


def test_values_too_deep_to_follow_are_left_to_decoding():
    deep: Any = {"value": 1}
    for _ in range(5000):
        deep = {"value": 1, "children": [deep]}
    assert refused(Tree, deep, max_depth=10**6) == ["too_deep"]
    assert "too_deep" in refused(Tree, deep)


# --- text that is nearly JSON --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('\n ```\r\n{"a": 1}```\n', {"a": 1}),
        ('```JSON5  \n{"a": "```"}\n```', {"a": "```"}),
        ('{"a": 1,}', {"a": 1}),
        ('{"a": [1, [2,],],\n}', {"a": [1, [2]]}),
        ('// first\n{"a": /* why */ 1} # last', {"a": 1}),
        ('{"a": "// no /* comment */ # here"} //', {"a": "// no /* comment */ # here"}),
        ("{'a': True, 'b': False, 'c': None}", {"a": True, "b": False, "c": None}),
        ("{'a': true, \"b\": null}", {"a": True, "b": None}),
        ("{'a': 'it\\'s \"so\"\\n'}", {"a": 'it\'s "so"\n'}),
        ("{'a': 'x\\\\'}", {"a": "x\\"}),
        ("{'a': '\\xe9\\U0001f600\\u00e9\\x00\\x22'}", {"a": 'é😀é\x00"'}),
        ("{'a': \"it's \\xe9\"}", {"a": "it's é"}),
        ('{"a": None, "b": "\\x41"}', {"a": None, "b": "A"}),
        ("```python\n{'a': [None,],} # so\n```", {"a": [None]}),
        (b"{'a': 1}", {"a": 1}),
        (b"\xef\xbb\xbf{'a': 1}", {"a": 1}),
    ],
)
def test_text_is_made_json(text, value):
    made = Codec(dict[str, Any], repair=True).decode_json_report(text)
    assert made.instance == value
    assert [(repair.path, repair.kind) for repair in made.repairs] == [((), "syntax")]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"a": 1',
        '{"a": 1,',
        '{"a": "x',
        "{'a': 'x",
        '{"a": tru',
        '{"a": Tru',
        "{'a': [1, 2}",
        '```json\n{"a": 1}',
        '```json\n{"a": 1\n```',
        "```json\n```",
        "```",
        "``````",
        '```json\n{"a": 1}\n``` and more',
        'Here it is: {"a": 1}',
        '{"a": 1} {"a": 2}',
        '{"a": 1} /* more',
        '{"a" 1}',
        '{"a": 1 "b": 2}',
        "{a: 1}",
        '{"a": undefined}',
        '{"a": NaN}',
        '{"a": +1}',
        '{"a": .5}',
        '{"a": [,]}',
        '{"a": [1,,]}',
        '{"a":,}',
        "{,}",
        ",",
        '{"a": "C:\\xaa"}',
        "{'a': '\\x4'}",
        "{'a': '\\U00110000'}",
        "{'a': '\\q'}",
        "{'a': 'x\ny'}",
        '{"a": 1, "a": 2,}',
        b"{'a': '\xff'}",
        "{'a': '\ud800'}",
        "{'a': '\\ud800'}",
        "{'a': 1e400}",
        "[" * 501 + "]" * 501,
        r"{'a': 'b\/c'}",
        r"""{'a': "b\/c"}""",
        r'{"a": None, "b": "b\/c"}',
        "{'a':\xa01}",
        '\xa0```json\n{"a": 1}\n```',
        "{'a': 1}\x0c",
    ],
)
def test_text_that_would_be_guessed_is_refused(text):
    with pytest.raises(DecodeError):
        Codec(dict[str, Any], repair=True).decode_json(text)


def test_the_error_is_that_of_the_text_as_it_came():
    codec = Codec(dict[str, Any], repair=True)
    for text in ('{"a": [1, 2', "{'a': [1}", '```json\n{"a": 1'):
        with pytest.raises(DecodeError) as with_repair:
            codec.decode_json(text)
        with pytest.raises(DecodeError) as without:
            Codec(dict[str, Any]).decode_json(text)
        assert with_repair.value.problems == without.value.problems


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("{'query': 'delete all but", "line 1 column 26"),
        ('{"query": True, "x": "abc', "line 1 column 26"),
        ('// c\n{"query": "abc", ', "line 2 column 18"),
        ('{"query": "a", "tags": ["x",]', "line 1 column 30"),
        ('```json\n{"query": "abc\n```', "line 2 column 15"),
        ('```json\n{"query": "abc", \n', "line 3 column 1"),
        ('{"query": None, "a": Tru', "line 1 column 25"),
        ('{"query": "a",} /* so', None),
        ("{'query': 'a' /* so", "line 1 column 20"),
        ("'abc", "line 1 column 5"),
        ("{'query': [1}", None),
        ("{'query': 1}}", None),
        ("{'query': it's", None),
        ("{'query': 'it's'}", None),
        ('```json\n{"a": 1\n```\nDone!', None),
        (b"{'query': '\xc3\xa4", "line 1 column 13"),
    ],
)
def test_text_that_was_cut_off_says_so_whatever_else_would_be_mended(text, where):
    with pytest.raises(DecodeError) as caught:
        Codec(dict[str, Any], repair=True).decode_json(text)
    [problem] = caught.value.problems
    assert problem.code == "invalid_json"
    assert ("the text ends early" in problem.message) is (where is not None)
    assert where is None or f"ends early at {where}, after " in problem.message


def test_mended_text_goes_through_the_parser_of_the_user():
    seen = []

    def loads(text):
        seen.append(text)
        return json.loads(text)

    codec = Codec(dict[str, Any], repair=True, json_loads=loads)
    assert codec.decode_json("{'a': 1,}") == {"a": 1}
    assert codec.decode_json(b"{'a': [1,]}") == {"a": [1]}
    assert codec.decode_json(bytearray(b"{'a': 1}")) == {"a": 1}
    assert codec.decode_json('{"a": 1, "a": 2,}') == {"a": 2}
    assert [type(text) for text in seen] == [str, str, bytes, bytes, bytearray, bytes, str, str]
    assert seen[1] == '{ "a" : 1 }'


@pytest.mark.parametrize("text", ['{"a": 1}', b'{"a": 1}', '{"a": 1, "a": 2}', '{"a": 1e999}', "{'a': 1}"])
def test_what_the_parser_of_the_user_refuses_stays_refused(text):
    def loads(_):
        raise ValueError("not today")

    with pytest.raises(DecodeError, match="not valid JSON: not today"):
        Codec(dict[str, Any], repair=True, json_loads=loads).decode_json(text)


def test_text_that_is_json_is_not_touched():
    made = Codec(dict[str, str], repair=True).decode_json_report('{"a": "True, // \'x\',}"}')
    assert (made.instance, made.repairs) == ({"a": "True, // 'x',}"}, ())


def test_the_value_of_mended_text_is_repaired_too():
    made = Codec(Leg, repair=True).decode_json_report("{'Number': 'A1', 'stops': '2',}")
    assert made.instance == Leg("A1", 2)
    assert [repair.kind for repair in made.repairs] == ["syntax", "key", "scalar"]


def test_nearly_json_inside_of_strings_is_not_mended():
    assert refused(Trip, {"legs": "[{'number': 'A1'}]"})
    assert refused(Trip, {"legs": '[{"number": "A1"},]'})


def test_rewriting_says_nothing_of_values():
    assert as_json_text("[1e5, -0, 'a']") == '[ 1e5 , -0 , "a" ]'
    assert as_json_text("?") is None


def test_what_was_ignored_is_told_within_a_bound():
    report = Codec(list[One]).decode_report([{"first_name": "a", "unheard_of": 3}] * 1000)
    assert len(report.ignored) == MAX_PROBLEMS
    assert report.ignored[0].path == (0, "unheard_of")
