"""How a call is read: the same as by a round, and nothing runs."""

from __future__ import annotations

from dataclasses import InitVar, dataclass

import help_desk
import pytest

from operator_schema import RawCall, Toolset, tool, tool_input
from operator_schema.workbench.inspector.decode_call import read_call, read_in_steps, shown


def test_a_call_that_fits_shows_what_the_function_gets(subject):
    reading = read_call(subject.tool("find_articles"), '{"text": "rye", "limt": 3}')
    assert reading.fits
    assert reading.arguments == {"text": "rye", "limit": 10}
    assert reading.shown == "FindArticlesInput(text='rye', limit=10)"
    assert [(note.code, note.suggestion) for note in reading.findings] == [("ignored", '"limit"')]
    assert reading.outcome == {"arguments": reading.arguments}


def test_repairs_are_listed(subject):
    reading = read_call(subject.tool("refund"), '{"orderId": "7", "amount": "1.50"}')
    assert {note.code for note in reading.findings} == {"key", "scalar"}
    assert reading.as_dict()["findings"][0]["line"].startswith("order_id: ")


@pytest.mark.parametrize(
    "arguments", ['{"order_id": 1, "amount": "ten"}', '{"amount"', "", "[]", '{"order_id": null}']
)
def test_a_call_that_does_not_fit_has_the_text_that_the_model_reads(subject, arguments):
    refund = subject.tool("refund")
    reading = read_call(refund, arguments)
    (call,) = Toolset(refund).offer().round([RawCall("1", "refund", arguments)]).issues
    assert reading.text == call.content
    assert reading.code == call.code == "invalid_params"
    assert reading.outcome == {"text": call.content}
    assert reading.arguments is None
    assert help_desk.PAID == []


def test_blank_arguments_are_none():
    @tool
    def now() -> str:
        """Tell the time."""
        return "now"

    assert read_call(now, " ").fits
    assert read_call(now, None).findings == ()


def test_a_class_with_code_of_its_own():
    class Evil:
        def __repr__(self):
            raise ZeroDivisionError

    assert shown(Evil()) == "<Evil, whose repr raises ZeroDivisionError>"
    assert len(shown("x" * 10_000)) == 4_000


def test_an_input_that_cannot_be_written_again():
    @tool_input
    @dataclass
    class Secretly:
        """Keep a digest."""

        password: InitVar[str]
        size: int = 0

        def __post_init__(self, password):
            self.size = len(password)

    reading = read_call(Secretly, '{"password": "swordfish"}')
    assert reading.fits
    assert reading.arguments is None
    assert "size=9" in reading.shown


def test_the_steps_of_a_stream(subject):
    text = '{"lines": [{"sku": "a"}], "payment": {"kind": "card", "number": "12345"}, "discount": 3}'
    found = read_in_steps(subject.tool("create_order"), text, 5)
    steps = found["steps"]
    assert [list(step["fields"]) for step in steps][-1] == ["lines", "payment"]
    assert "lines" in {step["receiving"] for step in steps}
    assert steps[-1]["is_complete"]
    assert "discount" in steps[-1]["findings"][0]["line"]
    assert [step["characters"] for step in steps] == sorted({step["characters"] for step in steps})
    assert found["reading"]["text"].endswith(read_call(subject.tool("create_order"), text).text)
    assert not found["is_cut"]


def test_a_long_stream_is_cut(subject):
    text = '{"text": "%s"}' % ("x" * 30_000)
    found = read_in_steps(subject.tool("find_articles"), text, 1_000)
    assert found["is_cut"]
    assert found["reading"]["fits"]
    many = "{%s}" % ",".join([f'"k{number}": {number}' for number in range(900)])
    assert len(read_in_steps(subject.tool("find_articles"), many, 1)["steps"]) == 400
