"""The laws of corrections, for random types, and values that are nearly right."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import TYPES, edited, misses

from operator_schema import Codec, DecodeError, Finding
from operator_schema.message_text import received

pytestmark = pytest.mark.slow("draws hundreds of types")


def put(value: Any, path: tuple[str | int, ...], part: Any) -> Any:
    if not path:
        return part
    made = copy.copy(value)
    made[path[0]] = put(value[path[0]], path[1:], part)
    return made


@settings(max_examples=2 * settings().max_examples)
@given(st.data(), TYPES, st.booleans())
def test_what_a_text_proposes_decodes(data: st.DataObject, annotation: Any, closed: bool) -> None:
    codec = Codec(annotation, unknown_fields="reject" if closed else "ignore")
    value = data.draw(misses(codec) if data.draw(st.booleans()) else edited(codec))
    before = copy.deepcopy(value)
    try:
        codec.decode(value)
    except DecodeError as error:
        check(codec, value, error)
    assert repr(value) == repr(before)


def check(codec: Codec[Any], value: Any, error: DecodeError) -> None:
    meant, last = error.correction(), str(error).splitlines()[-1]
    assert not (meant is None and last.startswith("send: "))
    if meant is not None:
        assert codec.decode_report(meant).findings == ()
        is_short = len(json.dumps(meant, ensure_ascii=False)) < 400
        if is_short:
            assert json.loads(last.removeprefix("send: ")) == meant
    for problem in error.findings:
        if problem.suggestion is None or problem.code == "unknown" or not is_of_a_value(value, problem):
            continue
        again = codec.report(put(value, problem.path, json.loads(problem.suggestion)))
        assert problem.message not in [each.message for each in again if each.path == problem.path]


def is_of_a_value(value: Any, problem: Finding) -> bool:
    """Return whether a problem is with the value at its path, and not with a key of a map."""
    for step in problem.path:
        if not isinstance(value, (dict, list)) or (isinstance(value, dict) and step not in value):
            return False
        value = value[step]
    return problem.received == received(value)
