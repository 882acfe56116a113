"""What the text of a failed call shows: each value that was probably meant, and at its end the whole call."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from itertools import product
from typing import Annotated, Any, Literal, TypedDict

import pytest
from annotated_types import Ge, Le, MinLen

from operator_schema import Codec, DecodeError, SchemaLeaf, tool
from operator_schema.codec.likely_keys import is_near_key, meant_keys
from operator_schema.codec.likely_numbers import meant_amounts
from operator_schema.codec.likely_times import meant_times
from operator_schema.errors import REPORT_LENGTH
from operator_schema.types import LocalDateTime, LocalTime


class Mode(Enum):
    FAST = "fast"
    EXACT = "exact"


@dataclass
class Place:
    lat: float
    lon: float = 0.0


@dataclass
class Circle:
    kind: Literal["circle"]
    radius: float


@dataclass
class Square:
    kind: Literal["square"]
    side: float


def failure(codec: Codec[Any], value: Any) -> DecodeError:
    with pytest.raises(DecodeError) as caught:
        codec.decode_json(value) if isinstance(value, bytes) else codec.decode(value)
    return caught.value


def meant(annotation: Any, value: Any) -> Any:
    """Return what the corrected call has for one value; None if there is no such call."""

    @dataclass
    class Call:
        it: Any

    Call.__annotations__ = {"it": annotation}
    codec = Codec(dataclass(Call))
    error = failure(codec, {"it": value})
    corrected = error.correction()
    lines = str(error).splitlines()
    if corrected is None:
        assert not lines[-1].startswith("send: ")
        return None
    assert codec.decode_report(corrected).findings == ()
    assert json.loads(lines[-1].removeprefix("send: ")) == corrected
    return corrected["it"]


@pytest.mark.parametrize(
    ("annotation", "value", "corrected"),
    [
        (int, "50 units", 50),
        (int, "-12 kg", -12),
        (float, "3.5 km/h", 3.5),
        (float, "$1,200", 1200),
        (float, "USD 5", 5),
        (int, "1,200", 1200),
        (int, "1 000 000", 1_000_000),
        (float, "1.234,5", 1234.5),
        (float, ".5", 0.5),
        (float, "0,500", 0.5),
        (float, "2.125 kg", 2.125),
        (int, "007", 7),
        (int, " 5 ", 5),
        (int, [5], 5),
        (Decimal, "1,5", 1.5),
        (bool, "Yes", True),
        (bool, "off", False),
        (bool, 1, True),
        (str, 5, "5"),
        (list[str], ["a", 5], ["a", "5"]),
        (list[int], ["2", "3 kg"], [2, 3]),
        (list[int], "2, 3, 4", [2, 3, 4]),
        (list[int], "2 3", [2, 3]),
        (list[str], "a, b, c", ["a", "b", "c"]),
        (list[str], "a; b, c", None),
        (list[str], "- a\n- b", ["a", "b"]),
        (list[str], "1. a\n2. b", ["a", "b"]),
        (list[str], "a, b, and c", ["a", "b", "c"]),
        (list[str], "a, b and c", None),
        (list[str], "a\nb", ["a", "b"]),
        (list[int], "2, 3 and 4", [2, 3, 4]),
        (list[int], "1,0", [1, 0]),
        (list[str], "a (b, c), d", None),
        (list[str], "['x', 'y']", ["x", "y"]),
        (list[str], "[x, y]", ["x", "y"]),
        (list[str], "one", ["one"]),
        (tuple[int, int], "1, 2", [1, 2]),
        (list[int], "1,200", None),
        (Literal["open", "in_progress"], "the open one", "open"),
        (Literal["open", "in_progress"], "In Progress", "in_progress"),
        (Literal["open", "closed"], "clos", "closed"),
        (Literal["open", "closed"], "opened", "open"),
        (Literal["open", "closed"], "clsoed", "closed"),
        (Literal["high", "very high"], "a very high one", "very high"),
        (Literal["on", None], "none", None),
        (Literal["a", 3], "3", 3),
        (Literal[1, 2], "2 stars", 2),
        (Mode, "the exact one", "exact"),
        (date, "2026/01/31", "2026-01-31"),
        (date, "31.01.2026", "2026-01-31"),
        (date, "20260131", "2026-01-31"),
        (date, "Jan 31, 2026", "2026-01-31"),
        (date, "31st of January 2026", "2026-01-31"),
        (date, "2026-01-31T00:00:00", "2026-01-31"),
        (datetime, "2026/01/31 09:30 UTC", "2026-01-31T09:30:00Z"),
        (datetime, "31.01.2026 9:30+01:00", "2026-01-31T09:30:00+01:00"),
        (LocalDateTime, "2026-01-31 9:30", "2026-01-31T09:30:00"),
        (LocalTime, "9:30 pm", "21:30:00"),
        (Place, '{"lat": 1}', {"lat": 1}),
        (Place, "{'lat': 1}", {"lat": 1}),
        (Place, [{"lat": "1"}], {"lat": 1}),
        (Place, {"lon": 2, "latt": 1, "zoom": 3}, {"lat": 1, "lon": 2}),
        (dict[str, int], {"a": "5 kg"}, {"a": 5}),
        (dict[Literal["FRA"], int], {"fra": 1}, {"FRA": 1}),
        (int | Literal["auto"], "5 units", 5),
        (Circle | Square, {"radius": "2", "kind": "Circle"}, {"kind": "circle", "radius": 2}),
        (list[Circle | Square], [{"side": "1 m²", "kind": "square"}], [{"kind": "square", "side": 1}]),
    ],
)
def test_what_has_one_reading_is_shown(annotation, value, corrected):
    assert meant(annotation, value) == corrected


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        *[
            (int, text)
            for text in ("30%", "5k", "2 million", "5-7 days", "about 5", "5 or 6", "a dozen", "1/2")
        ],
        *[
            (int, text)
            for text in ("5 m", "10 percent", "5 pm", "5 or more", "NOT 5", "", "five", "5.5", "1.200")
        ],
        *[
            (float, text)
            for text in ("1,200", "12.34.56", "1,2,3", "9" * 400 + " kg", "0.30000000000000000001 m")
        ],
        *[(bool, text) for text in ("maybe", "yes, please", 2, "10")],
        *[
            (Literal["open", "closed"], text)
            for text in ("not open", "open or closed", "nope", "", "opne close")
        ],
        *[(Literal["active", "idle"], text) for text in ("inactive", "deactivate", "a", "active, idle")],
        *[(Literal["v1", "v2"], text) for text in ("v3", "v", "V12")],
        *[
            (date, text)
            for text in ("01/02/2026", "30.02.2026", "31.01.26", "next week", "2026-01-31T09:30:00")
        ],
        *[(datetime, text) for text in ("2026-01-31 09:30", "2026-01-31", "01/02/2026 09:30 UTC")],
        *[(time, text) for text in ("9:30", "25:00Z", "noon")],
        *[(Annotated[int, Le(5)], text) for text in ("30", "30 kg", "6 stars")],
        (Annotated[int, Ge(5)], "3"),
        (Annotated[float, Ge(0)], "-1"),
        (Annotated[list[int], MinLen(2)], 1),
        (timedelta, "5 minutes"),
        (float, "1,200,50"),
        (float, "$1.200 each"),
        (date, "2026/01/31" + " " * 200 + "x"),
        (LocalTime, "13:30 pm"),
        (list[str], "a," * 6000),
        (str, True),
        (int, None),
        (Place, {"lon": 1}),
        (Place, {"longitude": 1, "latitude": 2, "lati": 3}),
        (Circle | Square, {"kind": "triangle", "side": 1}),
    ],
)
def test_what_has_several_readings_or_none_is_not(annotation, value):
    assert meant(annotation, value) is None
    for problem in Codec(list[annotation]).report([value]):
        assert problem.suggestion is None


def test_a_unit_of_another_size_than_the_field_s_is_not_dropped():
    @tool(param_descriptions={"wait": "How long to wait, in seconds"})
    def run(timeout_ms: int = 1, wait: int = 1, size: int = 1, length: int = 0) -> None:
        """Run it."""

    for key, text in (("timeout_ms", "5 seconds"), ("wait", "5 min"), ("wait", "2 hours")):
        assert failure(run.codec, {key: text}).correction() is None
    for key, text in (("timeout_ms", "5 ms"), ("wait", "5 sec"), ("size", "5 kg"), ("length", "5 minutes")):
        error = failure(run.codec, {key: text})
        assert error.correction() == {key: 5}
        assert error.findings[0].suggestion == "5"


@pytest.mark.parametrize(
    ("sent", "wanted"),
    [
        *[(sent, "element_name") for sent in ("elementName", "the_element_name", "element", "elemnt_name")],
        *[
            (sent, "max_results")
            for sent in ("maxResults", "max_result", "max", "max-results", "param_max_results")
        ],
        ("user_location", "location"),
        ("loc", "location"),
        ("titel", "title"),
    ],
)
def test_a_key_that_is_nearly_a_field_s_is_renamed(sent, wanted):
    codec: Codec[Any] = Codec(dataclass(type("Call", (), {"__annotations__": {wanted: str}})))
    error = failure(codec, {sent: "x"})
    assert error.findings[0].message == f'missing (string, required); rename "{sent}" to "{wanted}"'
    assert error.correction() == {wanted: "x"}
    closed = Codec(codec.type, unknown_fields="reject")
    assert str(failure(closed, {sent: "x"}).findings[1]).endswith(f'; rename "{sent}" to "{wanted}"')
    assert is_near_key(sent, wanted)


@pytest.mark.parametrize(
    ("sent", "wanted"),
    [
        ("min_price", "max_price"),
        ("from_date", "to_date"),
        ("price", "max_price"),
        ("x", "y"),
        ("page2", "page3"),
    ],
)
def test_a_key_that_means_something_else_is_not(sent, wanted):
    codec: Codec[Any] = Codec(dataclass(type("Call", (), {"__annotations__": {wanted: int}})))
    error = failure(codec, {sent: 1})
    assert (error.findings[0].message, error.correction()) == ("missing (integer, required)", None)


@pytest.mark.parametrize("wanted", ["", " ", "_", "__", "-", "$", ".", "→"])
def test_no_key_means_one_without_words(wanted):
    codec: Codec[Any] = Codec(TypedDict("Call", {wanted: str}))
    for sent in ("input", "data", "text", "user_name", "id", "a", "order"):
        assert not is_near_key(sent, wanted)
        assert failure(codec, {sent: "x"}).correction() is None


def test_a_key_that_may_be_two_fields_is_left_to_the_model():
    codec = Codec(dataclass(type("Call", (), {"__annotations__": {"user_name": str, "user_id": str}})))
    error = failure(codec, {"user": "x"})
    assert error.correction() is None
    assert meant_keys(codec.graph.root, {"user": "x"}) == ({}, True)
    assert "rename" not in str(error)


def test_keys_that_become_one_are_left_to_the_model():
    assert failure(Codec(dict[Literal["FRA"], int]), {"fra": 1, "Fra": 2}).correction() is None


def test_keys_that_are_left_out_have_no_value_made_up():
    error = failure(Codec(Place), {"lon": "2"})
    assert [problem.suggestion for problem in error.findings] == [None, "2"]
    assert error.correction() is None


def test_a_default_may_take_the_place_of_null():
    assert failure(Codec(Place), {"lat": 1, "lon": None}).correction() == {"lat": 1}
    assert failure(Codec(Place), {"lat": None, "lon": 1}).correction() is None


def test_text_that_is_nearly_json_is_shown_as_json():
    error = failure(Codec(Place), b"```json\n{'lat': 1,}\n```")
    assert error.correction() == {"lat": 1}
    assert failure(Codec(Place), b'{"lat": 1').correction() is None


def test_it_travels_and_is_the_caller_s_own():
    error = failure(Codec(Place), {"lat": "1"})
    for again in (error, copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert again.correction() == {"lat": 1}
        assert again.as_dict()["correction"] == {"lat": 1}
    error.correction()["lat"] = 2
    assert error.correction() == {"lat": 1}
    assert DecodeError("x", ()).correction() is None


def test_a_call_of_any_length_is_corrected_but_only_a_short_one_is_shown():
    for size in (900, 1100, 10_000):
        error = failure(Codec(dict[str, int | str]), {"a": "x" * size, "b": ["5"]})
        assert error.correction() == {"a": "x" * size, "b": "5"}
        assert ("\nsend: " in str(error)) is (size < 1000)
        assert (error.as_dict()["correction"] is not None) is (size < 1000)
        assert len(str(error)) <= REPORT_LENGTH


def test_what_the_class_refuses_is_not_shown():
    @dataclass
    class Range:
        low: int
        high: int

        def __post_init__(self) -> None:
            if self.low > self.high:
                raise ValueError("low must not be above high")

    assert failure(Codec(Range), {"low": "1", "high": 2}).correction() == {"low": 1, "high": 2}
    assert failure(Codec(Range), {"low": "5", "high": 2}).correction() is None
    assert failure(Codec(Range), {"low": 5, "high": 2}).correction() is None


def test_code_of_the_user_s_that_fails_on_a_proposal_does_not_reach_the_caller():
    @dataclass
    class Odd:
        size: int

        def __post_init__(self) -> None:
            raise RuntimeError("a bug")

    assert failure(Codec(Odd), {"size": "5 kg"}).correction() is None


def test_a_leaf_that_fails_on_a_proposal_has_no_suggestion():
    class Level:
        pass

    def decode(text: str) -> Level:
        if text == "high":
            return Level()
        if text == "31.01.2026":
            raise ValueError("no dates")
        raise RuntimeError("a bug")

    leaf = SchemaLeaf(Level, {"type": "string", "format": "date"}, decode, lambda _: "high", Level())
    [problem] = Codec(list[Level], leaves=[leaf]).report(["31.01.2026"])
    assert (problem.message, problem.suggestion) == ('"31.01.2026" is not accepted: no dates', None)
    assert not is_near_key('{"query": "x"}', "query")


# --- wrappers --------------------------------------------------------------------------------------


@dataclass
class Search:
    query: str = "*"
    most: int = 10
    near: Place | None = None


@dataclass
class Open:
    path: str
    mode: str = "r"


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("key", ["arguments", "input", "parameters", "search", "x"])
def test_arguments_inside_a_key_of_their_own_are_refused_or_unwrapped(key, compiled):
    for cls, inside in ((Search, {"query": "shoes"}), (Open, {"path": "a"})):
        codec, repairing = Codec(cls), Codec(cls, repair=True)
        if compiled:
            codec.compile(), repairing.compile()
        for value in ({key: inside}, {key: json.dumps(inside)}, {"call": {key: inside}}):
            error = failure(codec, value)
            last = next(iter(value.get("call", value)))
            assert [each.message for each in error.findings] == [
                f'the arguments are inside "{last}"; send its keys directly'
            ]
            assert error.findings[0].code == "unknown"
            assert error.correction() == inside
            assert codec.report(value) == error.findings
            report = repairing.decode_report(value)
            assert report.instance == codec.decode(inside) == repairing.decode(value)
            assert {each.code for each in report.repairs} == {"wrapper"}
            assert repairing.stream().feed(json.dumps(value)).findings == ()
            assert codec.stream().feed(json.dumps(value)).findings == error.findings


@pytest.mark.parametrize("compiled", [False, True])
def test_other_unknown_keys_are_ignored_as_before(compiled):
    codec, repairing = Codec(Search), Codec(Search, repair=True)
    if compiled:
        codec.compile(), repairing.compile()
    for value in (
        {"foo": {"bar": 1}},
        {"foo": 1},
        {"foo": "{"},
        {"foo": "text"},
        {"foo": {}},
        {"near": {"lat": 1}},
        {"Query": "x"},
        {"a": {"query": "x"}, "b": 1},
        {"a": {"query": "x"}, "most": 1},
        {"a": {"b": {"c": 1}}},
    ):
        assert codec.decode(value) == codec.decode({k: v for k, v in value.items() if k in ("near", "most")})
        assert not any(each.code == "wrapper" for each in repairing.decode_report(value).repairs)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_misspelt_key_alone_in_a_wrapper_is_refused(compiled):
    codec, repairing = Codec(Search), Codec(Search, repair=True)
    if compiled:
        codec.compile(), repairing.compile()
    for value in ({"arguments": {"qurey": "x"}}, {"arguments": '{"qurey": "x"}'}):
        for each in (codec, repairing):
            assert failure(each, value).correction() == {"query": "x"}


@pytest.mark.parametrize("text", ["a and b", "a & b", "a or b", "a | b", "a|b", "a / b", "a\tb", " ", "\n"])
def test_a_text_that_may_be_several_items_or_none_is_not_one(text):
    assert meant(list[str], text) is None
    with pytest.raises(DecodeError):
        Codec(list[str], repair=True).decode(text)


def test_arguments_that_are_too_many_to_copy_have_no_correction():
    @dataclass
    class Rows:
        rows: list[int]
        count: int

    assert failure(Codec(Rows), {"rows": [1] * 990, "count": "3"}).correction() == {
        "rows": [1] * 990,
        "count": 3,
    }
    assert failure(Codec(Rows), {"rows": [1] * 1000, "count": "3"}).correction() is None


def test_a_map_has_no_wrapper_in_another_one():
    @dataclass
    class Move:
        items: dict[str, dict[str, Any]]

    for name in ("the_items", "foo"):
        with pytest.raises(DecodeError):
            Codec(Move, repair=True).decode({name: {"a": {"items": {}}}})


def test_what_is_wrong_in_a_wrapper_is_said_at_once():
    error = failure(Codec(Search), {"input": {"most": "5 items", "near": {"lat": "x"}}})
    assert [each.path for each in error.findings] == [
        ("input",),
        ("input", "most"),
        ("input", "near", "lat"),
    ]
    assert error.correction() is None
    with pytest.raises(DecodeError) as caught:
        Codec(Search, repair=True).decode({"input": {"most": "five", "query": 5}})
    assert [each.path for each in caught.value.findings] == [("query",), ("most",)]


def test_only_the_whole_arguments_are_looked_at():
    @dataclass
    class Outer:
        search: Search

    assert Codec(Outer).decode({"search": {"x": {"query": "a"}}}) == Outer(Search())


# --- small domains, whole --------------------------------------------------------------------------


def test_of_all_days_of_a_year_those_are_read_that_have_one_reading():
    for day, month in product(range(1, 32), range(1, 32)):
        days = set()
        for one, other in {(day, month), (month, day)}:
            try:
                days.add(date(2024, other, one).isoformat())
            except ValueError:
                continue
        for text in (f"{day:02}.{month:02}.2024", f"{day}/{month}/2024", f"{day}-{month}-2024"):
            read = meant_times("date", text)
            assert len(days) == 1 or not isinstance(read, str) or read not in days, text
            assert days != {read} or len(days) == 1, text
            if len(days) == 1:
                assert read in days, text


def test_each_number_is_read_as_itself_in_each_way_to_write_it():
    for number in (*range(-50, 1300, 7), 10**6, 123_456_789, 10**9):
        for text in (f"{number:,}", f"{number:_}", f"{number} units", f"{number:,}.00 kg", f"$ {number}"):
            found = meant_amounts(text)
            assert number in found or (not found and len(text) > len("123,456,789.00 kg")), text
            assert len(found) <= 1 or text.count(",") == 1, text


def test_a_choice_after_its_key_is_that_choice_and_a_long_text_is_no_boolean():
    assert meant(Literal["fast", "exact"], "mode: fast") == "fast"
    for other in ("not: fast", "never use: fast", "exact: fast", "anything except: fast"):
        assert meant(Literal["fast", "exact"], other) is None
    assert meant(Literal["active", "inactive"], "active: false") is None
    assert meant(Literal["high", "highest"], "very high") is None
    assert meant(bool, "yes " * 100) is None
