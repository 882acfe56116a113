"""What mypy and pyright say of the public names; both run over this file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, assert_type
from urllib.parse import SplitResult

import pytest

import operator_schema
from operator_schema import (
    Codec,
    DecodeError,
    Finding,
    SchemaError,
    SchemaLeaf,
    decode,
    decode_json,
    encode,
    errors,
    json_schema,
)
from operator_schema.codec import ArgumentStream, Partial
from operator_schema.types import URL, register_leaf


@dataclass
class Point:
    x: int
    link: URL | None = None


def test_decoded_values_have_the_type() -> None:
    codec = Codec(Point)
    assert_type(codec, Codec[Point])
    assert_type(codec.decode({"x": 1}), Point)
    assert_type(codec.decode_json('{"x": 1}'), Point)
    assert_type(decode(Point, {"x": 1}), Point)
    assert_type(decode_json(Point, b'{"x": 1}'), Point)
    assert_type(decode(list[int], [1]), list[int])
    assert_type(Codec(int | None).decode(None), Any)


def test_schema_and_values() -> None:
    assert_type(json_schema(Point), dict[str, Any])
    assert_type(encode(Point(1)), Any)
    assert_type(Codec(Point).report({}), tuple[Finding, ...])
    assert_type(Point(1).link, SplitResult | None)


def test_a_stream_has_the_type() -> None:
    stream = Codec(Point).stream()
    assert_type(stream, ArgumentStream[Point])
    assert_type(stream.feed('{"x": 1'), Partial)
    assert_type(stream.feed("}").fields, Mapping[str, Any])
    assert_type(stream.finish(), Point)
    assert_type(Codec(Point).decode_partial(b"{").receiving, str | None)


def test_errors_carry_data() -> None:
    try:
        decode(Point, {})
    except DecodeError as error:
        assert_type(error.findings, tuple[Finding, ...])
        assert_type(error.findings[0].path, tuple[str | int, ...])
    try:
        Codec(complex)
    except SchemaError as error:
        assert_type(error.findings, tuple[Finding, ...])


def test_leaves_know_their_type() -> None:
    leaf = SchemaLeaf(complex, {"type": "string"}, complex, str, 1j)
    assert_type(leaf, SchemaLeaf[complex])
    assert_type(register_leaf(leaf), SchemaLeaf[complex])


def test_a_name_that_is_not_there_is_an_error_of_type_checkers() -> None:
    with pytest.raises(AttributeError):
        _ = operator_schema.Codek  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    with pytest.raises(AttributeError):
        _ = errors.CommitError  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
