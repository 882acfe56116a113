"""What came of a stream is put together when it is asked for, and not for each piece that comes."""

import sys
from random import Random

import pytest
from splitting import FORMS
from test_moves import PROVIDERS

from operator_schema.providers import partial_response
from operator_schema.testing import ScriptedModel


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
def test_a_piece_of_a_stream_never_puts_the_whole_together(provider):
    response = ScriptedModel(provider, ["so many words " * 100])(**provider.request([], ["Hello"]))
    events = [*FORMS[type(provider.wire).__name__](response, Random(1))]  # noqa: S311  # the same each time
    stream, asked = provider.stream([]), []

    def note(frame, event, _argument):
        if event == "call" and frame.f_code.co_filename == partial_response.__file__:
            asked[-1] |= frame.f_code.co_name == "whole"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        for event in events:
            asked.append(False)
            stream.feed(event)
    finally:
        sys.setprofile(before)
    assert len(events) > 20
    assert sum(asked) <= 1  # at the end, what may be calls is decided
