"""What the page shows of tools: costs, what providers get, and lint."""

from __future__ import annotations

import help_desk
import pytest

from operator_schema import Registry, tool
from operator_schema.providers import gemini, gemini_parameters, groq, openai_chat, provider_names
from operator_schema.workbench.inspector import subject_of
from operator_schema.workbench.inspector.catalogue import (
    costs_of,
    needs_agreement,
    overview,
    page_of_tool,
    side_by_side,
)
from operator_schema.workbench.inspector.pasted_answers import UnknownProviderError, provider_named
from operator_schema.workbench.inspector.subject import UnknownToolError


def shown(subject, name, provider, *, strict=False):
    return page_of_tool(subject, subject.tool(name), provider, strict=strict)


def test_the_dearest_tool_is_known(subject):
    found = overview(subject, openai_chat, strict=False)
    costs = {row["name"]: row["tokens"] for row in found["tools"]}
    assert max(costs, key=costs.get) == "create_order"
    assert found["tokens"] == sum(costs.values())
    assert sum(row["share"] for row in found["tools"]) == pytest.approx(1)
    report = openai_chat.report(subject.tools)
    assert [row["sent_tokens"] for row in found["tools"]] == [one.tokens for one in report.tools]
    assert (found["provider"]["tokens"], found["provider"]["bytes"]) == (report.tokens, report.size)


def test_the_costs_of_a_tool_name_its_dearest_part(subject):
    costs = costs_of(subject.tool("create_order").definition())
    assert {cost["part"] for cost in costs} == {
        *("lines", "payment", "note", "discount"),
        "(description of the tool)",
    }
    assert costs[0]["part"] == "payment"
    assert [cost["tokens"] for cost in costs] == sorted([cost["tokens"] for cost in costs], reverse=True)


@pytest.mark.parametrize(("is_foreign", "given"), [(False, ["progress"]), (True, [])])
def test_what_a_program_injects_is_shown_of_its_own_tools_alone(is_foreign, given):
    offered = subject_of("x", [help_desk.export], is_foreign=is_foreign)
    assert shown(offered, "export", openai_chat)["injected"] == given


def test_shared_definitions_cost_something_too():
    definition = {
        "description": "Do it.",
        "input_schema": {
            "$defs": {"Node": {"type": "object"}},
            "properties": {"a": {"$ref": "#/$defs/Node"}},
        },
    }
    assert {cost["part"] for cost in costs_of(definition)} == {
        "a",
        "(shared: Node)",
        "(description of the tool)",
    }


def test_what_a_provider_is_not_told_is_listed_with_its_place(subject):
    sent = shown(subject, "create_order", gemini_parameters)["sent"]
    losses = {(loss["path"], loss["keyword"]) for loss in sent["losses"]}
    assert losses == {
        (".".join(loss.path).replace(".*", "[*]"), loss.keyword)
        for loss in gemini_parameters.report(subject.tool("create_order")).tools[0].losses
    }
    assert losses
    assert all(loss["message"] for loss in sent["losses"])
    assert any(row["same"] is False for row in sent["rows"])
    assert next(row["theirs"] for row in sent["rows"] if row["theirs"] is not None) == "{"


def test_a_strict_mode_changes_what_is_sent(subject):
    plain = shown(subject, "refund", openai_chat)["sent"]
    strict = shown(subject, "refund", openai_chat, strict=True)["sent"]
    assert (plain["strict"], strict["strict"]) == (False, True)
    assert strict["body"] == openai_chat.request(subject.toolset.only("refund").offer(strict=True))
    assert {"reason"} <= {loss["path"] for loss in strict["losses"] if loss["code"] == "null"}


def test_a_provider_without_a_strict_mode_is_asked_without(subject):
    assert not shown(subject, "refund", groq, strict=True)["sent"]["strict"]
    assert not overview(subject, groq, strict=True)["provider"]["strict"]


def test_what_is_refused_has_its_reason():
    @tool
    def anything(value: dict[str, int]) -> None:
        """Take a map.

        Args:
            value: Whatever.
        """

    subject = subject_of("x", [anything])
    sent = shown(subject, "anything", openai_chat, strict=True)["sent"]
    assert sent["body"] == {}
    assert sent["rows"] == []
    assert sent["tokens"] is None
    assert "free keys" in sent["refused"][0]["message"]
    found = overview(subject, openai_chat, strict=True)
    assert found["tools"][0]["refused"]
    assert not found["provider"]["accepted"]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", provider_names())
def test_each_provider_is_shown_with_one_tool(subject, name, strict):
    page = shown(subject, "find_articles", provider_named(name), strict=strict)
    assert page["sent"]["bytes"] > 0
    theirs = [row["theirs"] for row in page["sent"]["rows"] if row["theirs"] is not None]
    assert theirs[0] == "{"  # the tool itself, not a list around it
    assert [one["key"] for one in page["providers"]] == provider_names()


def test_a_tool_that_is_switched_off_is_shown_too():
    @tool(enabled=False)
    def hidden() -> None:
        """Do nothing."""

    subject = subject_of("x", Registry([hidden]))
    assert shown(subject, "hidden", gemini)["sent"]["bytes"] > 0
    assert not overview(subject, gemini, strict=False)["tools"][0]["enabled"]


def test_lint_is_where_it_belongs(subject):
    page = shown(subject, "create_order", openai_chat)
    assert {finding["path"] for finding in page["findings"]} >= {"lines[*].sku", "payment.number"}
    assert shown(subject, "refund", openai_chat)["findings"] == []
    row = next(
        row for row in overview(subject, gemini, strict=False)["tools"] if row["name"] == "create_order"
    )
    assert row["warnings"] == len(page["findings"])


def test_a_tool_begins_with_arguments_that_fit(subject):
    from operator_schema.workbench.inspector.decode_call import read_call

    for each in subject.tools:
        assert read_call(each, shown(subject, each.name, openai_chat)["example"]).fits


def test_examples_come_first_and_none_is_no_error():
    @tool(examples=[{"size": 3}])
    def with_example(size: int) -> None:
        """Take a size."""

    @tool
    def without(size: int) -> None:
        """Take a size."""

    subject = subject_of("x", [with_example, without])
    assert shown(subject, "with_example", gemini)["example"] == {"size": 3}
    assert shown(subject, "without", gemini)["example"]["size"] is not None


def test_names_that_are_nearly_right(subject):
    with pytest.raises(UnknownProviderError, match="did you mean gemini"):
        provider_named("gemni")
    with pytest.raises(UnknownProviderError, match="no provider 'zzz'"):
        provider_named("zzz")
    with pytest.raises(UnknownProviderError):
        provider_named("Provider")  # a name of the module, which is no provider
    with pytest.raises(UnknownToolError, match="did you mean refund"):
        subject.tool("refnd")


def test_lines_beside_each_other():
    rows = side_by_side(["{", '  "a": 1,', '  "b": 2', "}"], ["{", '    "a": 1', "    c", "}"])
    assert [(row["ours"], row["theirs"], row["same"]) for row in rows] == [
        ("{", "{", True),
        ('  "a": 1,', '    "a": 1', True),
        ('  "b": 2', "    c", False),
        ("}", "}", True),
    ]
    assert side_by_side(["a"], []) == [{"ours": "a", "theirs": None, "same": False}]


def test_very_long_documents_are_not_compared():
    rows = side_by_side(["x"] * 4_000, ["y"] * 10)
    assert len(rows) == 4_000
    assert {row["same"] for row in rows} == {None}


@pytest.mark.parametrize(
    ("options", "own", "foreign"),
    [
        ({}, False, True),
        ({"read_only": True}, False, False),
        ({"destructive": False}, False, False),
        ({"destructive": True}, True, True),
        ({"confirm": True}, True, True),
        ({"confirm": True, "read_only": True}, True, True),
    ],
)
def test_which_tools_need_an_agreement(options, own, foreign):
    @tool(**options)
    def act() -> None:
        """Act."""

    assert needs_agreement(subject_of("x", [act]), act) is own
    assert needs_agreement(subject_of("x", [act], is_foreign=True), act) is foreign
