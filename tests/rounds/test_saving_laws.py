"""Whatever the type of an input: a plan that was saved and restored is equal to what it was."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from saving_samples import restored
from strategies import DATACLASSES

from operator_schema import Codec, DecodeError, EncodeError, RawCall, ToolError, Toolset, tool_input
from operator_schema.testing import arguments


@settings(max_examples=3 * settings().max_examples // 5)  # making a random type is slow
@given(DATACLASSES, st.data())
def test_inputs_of_any_type_come_back_as_sent_and_edited(cls, data):
    codec = Codec(cls)
    toolset = Toolset(tool_input(name="search")(cls))
    sent, edited = data.draw(arguments(codec)), data.draw(arguments(codec))
    calls = [RawCall("c0", "search", sent), RawCall("c1", "search", json.dumps(sent))]
    plan = toolset.offer().round(calls).confirmed()
    assert restored(plan, toolset) == plan
    assert len(plan.pending) == 2
    first, second = plan.pending
    try:
        changed = first.with_input(codec.decode(edited))
    except (DecodeError, EncodeError, ToolError):  # it can't be written, and says so before it is saved
        return
    plan = plan.replace(calls=(changed, second))
    again = restored(plan, toolset)
    assert again == plan
