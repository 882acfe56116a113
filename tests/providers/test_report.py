"""What a provider gets of tools, path by path."""

import json
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from annotated_types import Ge

from operator_schema import Toolset, token_counts, tool, tool_input
from operator_schema.providers import anthropic, gemini, gemini_parameters, openai_chat, openai_compatible
from operator_schema.schema.dialect_renderer import lost
from operator_schema.token_counts import count_tokens


@pytest.fixture(autouse=True)
def without_tiktoken(monkeypatch):
    monkeypatch.setattr(token_counts, "_encoder", lambda: None)


@dataclass
class Guest:
    """A guest."""

    name: str
    age: Annotated[int, Ge(18)] = 18


@tool(name="3d_book")
def book(guests: list[Guest], nights: int = 1) -> str:
    """Book a room."""
    return f"{guests} {nights}"


@tool
def anything(value: Any, labels: dict[str, int]) -> str:
    """Take anything."""
    return f"{value} {labels}"


def test_each_place_has_its_fate():
    report = anthropic.report([book], strict=True)
    (found,) = report.tools
    assert report.is_accepted
    assert (found.name, found.wire_name) == ("3d_book", "3d_book")
    assert {path: found.fate_of(path) for path in found.paths} == {
        ("guests",): ("kept",),
        ("guests", "*"): ("kept",),
        ("guests", "*", "name"): ("kept",),
        ("guests", "*", "age"): ("described",),
        ("nights",): ("described",),
    }
    openai = openai_chat.report([book], strict=True).tools[0]
    assert openai.fate_of(("guests", "*", "age")) == ("described", "null")
    assert lost(("nights",), "null", "required", "3d_book", openai_chat.name) in openai.losses
    for wrong in ("nights", ("night",), ("guests", "0")):
        with pytest.raises(
            ValueError, match=r"no parameter at the path .*; its paths are \(\), \('guests',\)"
        ):
            openai.fate_of(wrong)


def test_the_size_is_that_of_the_request():
    report = openai_chat.report([book, anything])
    sent = openai_chat.request([book, anything])["tools"]
    assert [tool.size for tool in report.tools] == [
        len(json.dumps(one, separators=(",", ":"), ensure_ascii=False).encode()) for one in sent
    ]
    assert report.size == sum(tool.size for tool in report.tools)
    assert report.is_estimate


def test_what_is_refused_is_listed_and_nothing_is_raised():
    report = openai_chat.report([book, anything], strict=True)
    kept, refused = report.tools
    assert not report.is_accepted
    assert kept.size > 0
    assert (refused.size, refused.tokens) == (None, None)
    assert [complaint.path for complaint in refused.refused] == [("value",), ("labels",)]
    assert refused.fate_of(("value",)) == ("refused",)


def test_what_a_union_loses_is_listed_in_the_default_mode():
    union = tool_input(Guest | Other, name="meet", description="Meet.")
    for provider in (openai_chat, anthropic, gemini_parameters):
        report = provider.report([union])
        assert report.is_accepted
        losses = [(loss.path, loss.code, loss.keyword) for loss in report.tools[0].losses]
        assert ((), "weakened", "anyOf") in losses
    assert gemini.report([union]).tools[0].losses == ()


@dataclass
class Other:
    """Another one."""

    place: str


def test_names_that_would_be_equal_and_requests_that_are_too_large():
    wire = gemini.names.wire_name("3d_book")
    (complaint,) = gemini.report([book, book.with_(name=wire)]).refused
    assert f'would both be "{wire}"' in complaint.message
    many = [book.with_(name=f"book_{number}") for number in range(21)]
    complaint = anthropic.report(many, strict=True).refused[0]
    assert complaint.message == "there are 21 strict tools, but a request takes only 20"


def test_the_descriptions_of_an_offer_count():
    tools = Toolset(anything)
    long = tools.offer(descriptions={"anything": "x" * 500})
    assert anthropic.report(long).size > anthropic.report(tools).size + 400


def test_a_report_reads_as_text_and_as_json():
    report = openai_chat.report([book, anything], strict=True)
    lines = str(report).splitlines()
    assert (
        lines[0]
        == f"OpenAI Chat Completions, strict: {report.size} bytes, {report.tokens} tokens (an estimate)"
    )
    assert lines[1] == f"  3d_book: {report.size} bytes, {report.tokens} tokens"
    assert "    nights: moved to the description (default)" in lines
    assert "  anything: refused" in lines
    renamed = gemini.report([book])
    assert f"  3d_book, renamed to {gemini.names.wire_name('3d_book')}: " in str(renamed)
    document = json.loads(json.dumps(report.as_dict()))
    assert {
        "path": ["nights"],
        "code": "described",
        "keyword": "default",
        "message": "OpenAI Chat Completions doesn't take default, which moves to the description",
    } in document["tools"][0]["losses"]
    assert document["accepted"] is False
    assert {"path": ["labels"], "fate": ["refused"]} in document["tools"][1]["paths"]


def test_a_strict_mode_that_is_not_known_raises():
    with pytest.raises(ValueError, match="no strict mode of ours is known"):
        openai_compatible("ours").report([book], strict=True)
    assert gemini.report([book]).is_accepted


# What `o200k_base` counts, computed once with tiktoken.
COUNTED = {
    '{"name":"search","description":"Search the web.","input_schema":{"type":"object"}}': 18,
    "internationalization of everything, 12345 times": 9,
}


def test_tokens_are_estimated():
    for text, tokens in COUNTED.items():
        assert abs(count_tokens(text) - tokens) <= 0.25 * tokens
    assert count_tokens("") == 0


def test_tiktoken_counts_where_it_is_there(monkeypatch):
    monkeypatch.setattr(token_counts, "_encoder", lambda: lambda text, **_: text.split())
    assert count_tokens("a b c") == 3
    assert not openai_chat.report([book]).is_estimate
    assert "(by tiktoken)" in str(openai_chat.report([book]))


@tool
def keep(a: str, value: Any, z: str) -> str:
    """Keep it."""
    return f"{a} {value} {z}"


def test_a_refused_parameter_says_nothing_of_the_others():
    (found,) = openai_chat.report([keep], strict=True).tools
    assert {path: found.fate_of(path) for path in found.paths} == {
        ("a",): ("kept",),
        ("value",): ("refused",),
        ("z",): ("kept",),
    }
