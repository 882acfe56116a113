"""Defects measured in other libraries: errors that a model can't use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest

from operator_schema import (
    Codec,
    DecodeError,
    decode,
)


@dataclass
class Edit:
    path: str
    start_line: int
    mode: Literal["replace", "append"] = "replace"


def test_an_error_says_what_is_wrong_where_and_what_is_expected():
    with pytest.raises(DecodeError) as caught:
        decode(Edit, {"path": 5, "mode": "apend"})
    text = str(caught.value)
    for said in (
        "path: expected string, got integer 5",
        "start_line: missing (integer, required)",
        'did you mean "append"?',
        "Edit expects: path (string, required), start_line (integer, required)",
    ):
        assert said in text
    assert "http" not in text


def test_an_argument_that_is_ignored_is_told():
    report = Codec(Edit).decode_report({"path": "a", "start_line": 1, "startLine": 5})
    assert [(key.path, key.suggestion) for key in report.ignored] == [(("startLine",), '"start_line"')]
