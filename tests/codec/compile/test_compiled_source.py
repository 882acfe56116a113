"""The source that the compiled tier shows."""

from __future__ import annotations

import gc
import linecache
import traceback
from dataclasses import field, make_dataclass
from typing import Literal, TypedDict

import pytest
from compile_samples import Expression, GiveUp, Part, Text, Tree, check, decoder_of
from garbage import pass_over_what_is_there

from operator_schema import Codec, SchemaLeaf


def explode(value):
    if value == "bad":
        raise KeyError("a bug in a leaf")
    return Text(value)


def test_a_traceback_shows_the_generated_source():
    codec = Codec(
        list[Text], leaves=[SchemaLeaf(Text, {"type": "string"}, explode, str, Text("a"))]
    ).compile()
    with pytest.raises(KeyError) as caught:
        codec.decode(["bad"])
    shown = "".join(traceback.format_exception(caught.value))
    assert "<operator_schema decoder " in shown
    assert "= decode_" in shown


def test_the_source_goes_away_with_its_codec():
    pass_over_what_is_there()

    def files():
        gc.collect()
        return {name for name in linecache.cache if name.startswith("<operator_schema ")}

    before = files()
    for annotation in (Part, Tree, Expression):
        codec = Codec(annotation).compile()
        assert len(files() - before) == 2
        codec.compile()
        assert len(files() - before) == 2
        del codec
        assert files() <= before


HOSTILE = [
    "x'] if print(1) else d['x",
    "it's",
    'a"b',
    "a\nb",
    "\u2028",
    "{x}",
    "%s",
    "\\",
    "class",
    "größe",
    "",
]


def test_text_of_the_user_s_is_no_code():
    for text in HOSTILE:
        fields = [
            ("x", Literal[text], field(metadata={"alias": text})),
            ("y", str, field(default=text, metadata={"alias": text + "y"})),
        ]
        codec = Codec(make_dataclass("Hostile", fields)).compile()
        value = {text: text, text + "y": "b"}
        assert decoder_of(codec)(value) is not GiveUp
        assert codec.compiled == {"decode", "encode"}
        assert codec.encode(codec.decode(value)) == value
        check(codec, value)
        check(codec, {text: text})
        record = Codec(TypedDict("Record", {text: int})).compile()
        check(record, {text: 1})
        assert record.compiled == {"decode", "encode"}


def test_names_of_the_user_s_do_not_get_in_the_way():
    names = ["value", "make", "depth", "GiveUp_1", "str", "len", "print", "new_2", "_x", "__dunder"]
    cls = make_dataclass("main", [(name, int) for name in names])
    codec = Codec(cls).compile()
    value = dict.fromkeys(names, 1)
    assert codec.compiled == {"decode", "encode"}
    assert codec.decode(value) == cls(**value)
    assert codec.encode(cls(**value)) == value
