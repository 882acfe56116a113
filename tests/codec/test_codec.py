"""The codec as an object: immutable, shared by threads, pickled as its type and options."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest

from operator_schema import Codec, DecodeError, SchemaLeaf, decode, json_schema
from operator_schema.codec import codec as codec_module


@dataclass
class Point:
    x: int
    y: int | None = None


class Hour(int):
    pass


def to_hour(value: int) -> Hour:
    return Hour(value)


HOUR = SchemaLeaf(Hour, {"type": "integer"}, to_hour, int, Hour(1))


@dataclass
class Timed:
    hour: Hour


def test_it_shows_what_it_is():
    codec = Codec(Point, name="move")
    assert repr(codec) == "Codec(move)"
    assert (codec.type, codec.name) == (Point, "move")
    assert [field.name for field in codec.graph.resolve_root().fields] == ["x", "y"]
    assert Codec(list[int]).name == "list[int]"


def test_it_is_immutable():
    codec = Codec(Point)
    with pytest.raises(AttributeError, match="immutable"):
        codec.name = "x"
    with pytest.raises(AttributeError, match="immutable"):
        codec.graph = None
    with pytest.raises(AttributeError):
        codec.graph.root.closed = True


def test_it_pickles_as_type_and_options():
    descriptions = {"hour": "When"}
    codec = Codec(Timed, name="t", leaves=[HOUR], param_descriptions=descriptions, unknown_fields="reject")
    descriptions.clear()
    for again in (pickle.loads(pickle.dumps(codec)), copy.copy(codec), copy.deepcopy(codec)):
        assert again.json_schema() == codec.json_schema()
        assert again.decode({"hour": 3}) == Timed(Hour(3))
        assert again.name == "t"


def test_errors_speak_of_the_name():
    with pytest.raises(DecodeError, match=r"^move: 1 problem"):
        Codec(Point, name="move").decode({})


@pytest.mark.parametrize("wrong", ["rejct", "Reject", None, True])
def test_unknown_fields_is_one_of_two(wrong):
    with pytest.raises(ValueError, match="'ignore' or 'reject'"):
        Codec(Point, unknown_fields=wrong)
    if wrong == "rejct":
        with pytest.raises(ValueError, match="did you mean 'reject'"):
            Codec(Point, unknown_fields=wrong)


@pytest.mark.parametrize("wrong", [0, -1, "5", 1.5, None])
def test_max_depth_is_a_positive_integer(wrong):
    with pytest.raises(ValueError, match="max_depth"):
        Codec(Point, max_depth=wrong)


@pytest.mark.needs_threads
def test_threads_share_one_codec():
    codec = Codec(Point)
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda i: codec.decode({"x": i}), range(500)))
        schemas = list(pool.map(lambda _: json_schema(Point), range(100)))
        fresh = list(pool.map(lambda i: decode(list[Literal[i]], [i]), range(200)))
    assert made == [Point(i) for i in range(500)]
    assert all(schema == schemas[0] for schema in schemas)
    assert fresh == [[i] for i in range(200)]


def test_the_functions_register_once(monkeypatch):
    monkeypatch.setattr(codec_module, "_codecs", {})
    made = []
    register = Codec.__init__

    def count(codec, annotation, /, **options):
        made.append(annotation)
        register(codec, annotation, **options)

    monkeypatch.setattr(Codec, "__init__", count)
    for _ in range(3):
        decode(Point, {"x": 1})
        decode(list[Point], [])
        decode(list[Literal[1]], [1])
        decode(list[Literal[True]], [True])
        decode(dict[str, Any], {})
    assert len(made) == 5


def test_metadata_counts_by_identity():
    class Equal:
        def __eq__(self, other):
            return True

        def __hash__(self):
            return 0

    first = Annotated[Hour, SchemaLeaf(Hour, {"type": "integer"}, to_hour, int, Hour(1)), Equal()]
    other = SchemaLeaf(Hour, {"type": "string"}, lambda text: Hour(int(text)), str, Hour(1))
    assert decode(first, 3) == 3
    assert decode(Annotated[Hour, other, Equal()], "3") == 3


def test_a_compiled_codec_compiles_its_reports_after_as_many_calls():
    codec = Codec(Point).compile()
    value = codec.example()
    assert not codec.fits_exactly(value)
    for _ in range(100):
        assert codec.decode_report(value).findings == ()
    assert codec.fits_exactly(value)


def test_the_cache_is_bounded(monkeypatch):
    monkeypatch.setattr(codec_module, "_codecs", {})
    monkeypatch.setattr(codec_module, "_CACHED_CODECS", 10)
    for i in range(50):
        assert decode(Literal[i], i) == i
        assert len(codec_module._codecs) <= 10


def test_an_annotation_without_hash_is_registered_each_time():
    unhashable = Annotated[int, {"a": 1}]
    assert decode(unhashable, 3) == 3
    assert decode(Annotated[int, ["x"], "text"], 3) == 3


def test_a_value_fits_exactly_once_its_decoder_is_compiled():
    codec = Codec(Point)
    assert not codec.fits_exactly({"x": 1})  # not known at once
    while not codec.fits_exactly({"x": 1}):
        assert codec.decode_report({"x": 1}).findings == ()
    for value in ({"x": 1, "y": None}, {"x": 1.0}, {"x": "1"}, {"x": 1, "z": 2}):
        try:
            has_findings = bool(codec.decode_report(value).findings)
        except DecodeError:
            has_findings = True
        assert not (codec.fits_exactly(value) and has_findings)
    assert codec.fits_exactly({"x": 2, "y": 3})


def test_dir_names_what_the_room_exports_before_it_is_loaded():
    from operator_schema import codec

    assert set(codec.__all__) <= set(dir(codec))
