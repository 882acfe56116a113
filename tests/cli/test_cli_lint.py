"""The command lint."""

from __future__ import annotations

import json

import pytest

TOOLS = '''
from operator_schema import tool

@tool(name="3d_send")
def send(to: str, headers: dict[str, str], pages: int = 1) -> str:
    """Send a mail, 100% sure.

    Args:
        to: Address of the reader.
        headers: More headers.
        pages: How many: 1, 2 or more.
    """
    return to

@tool
def bare(value: str) -> str:
    return value
'''


@pytest.fixture
def mail(tmp_path, monkeypatch, run):
    """Return how to run the command in a folder with a module of its own."""
    (tmp_path / "lint_mail.py").write_text(TOOLS)
    monkeypatch.chdir(tmp_path)
    yield run
    import sys

    sys.modules.pop("lint_mail", None)


def test_lint_prints_a_table_and_its_status(mail):
    status, out, err = mail("lint", "lint_mail")
    assert (status, err) == (0, "")
    head, *lines, summary = out.splitlines()
    assert head.split()[:5] == ["severity", "tool", "parameter", "code", "provider"]
    assert [line.split()[:4] for line in lines] == [
        ["warning", "bare", "-", "no_description"],
        ["warning", "bare", "value", "undescribed"],
    ]
    assert summary == "2 tools: 0 errors, 2 warnings, 0 notes"
    assert mail("lint", "--fail-on", "warning", "lint_mail")[0] == 1
    assert mail("lint", "--fail-on", "never", "--strict", "--provider", "anthropic", "lint_mail")[0] == 0


def test_what_a_provider_refuses_makes_the_status_1(mail):
    status, out, _ = mail("lint", "--provider", "openai_chat", "--strict", "lint_mail")
    assert status == 1
    assert "error     3d_send  headers    refused" in out
    assert "; --notes shows the notes" in out
    assert mail("lint", "--provider", "all", "lint_mail")[0] == 0
    assert "null" in mail("lint", "--provider", "openai_chat", "--strict", "--notes", "lint_mail")[1]


def test_lint_prints_json(mail):
    _, out, _ = mail("lint", "--format", "json", "lint_mail")
    first = json.loads(out)[0]
    assert (first["code"], first["tool"], first["line"]) == ("no_description", "bare", 15)
    assert first["file"].endswith("lint_mail.py")


def test_lint_prints_annotations_for_github(mail):
    _, out, _ = mail("lint", "--format", "github", "--provider", "gemini_parameters", "--notes", "lint_mail")
    lines = out.splitlines()
    assert lines[0] == (
        "::warning file=lint_mail.py,line=15,title=bare%3A no_description::"
        "it has no docstring, so a model knows only its name. Write one: what it does, and when to use it."
    )
    assert any(
        line.startswith("::notice file=lint_mail.py,line=4,title=3d_send.pages%3A described::")
        for line in lines
    )


def test_lint_of_a_module_without_tools_fails_in_a_ci(mail):
    remedy = ": decorate functions with @tool\n"
    assert mail("lint", "json") == (2, "", f"operator-schema: error: there are no tools in json{remedy}")
    status, out, err = mail("lint", "--fail-on", "never", "lint_mail", "json", "email")
    assert (status, out) == (2, "")
    assert err.endswith(f"there are no tools in json and email{remedy}")


@pytest.mark.parametrize(
    ("options", "meant"),
    [
        (["--provider", "openai"], "there is no openai; did you mean openai_chat or openai_responses?"),
        (["--provider", "Gemni"], "there is no Gemni; did you mean gemini?"),
        (["--provider", "parameters"], "there is no parameters; did you mean gemini_parameters?"),
        (["--format", "jsno"], "there is no jsno; did you mean json?"),
        (["--fail-on", "warnings"], "there is no warnings; did you mean warning?"),
        (["--provider", "watson"], "'watson' is not one of 'anthropic'"),
    ],
)
def test_a_word_that_is_nearly_right_is_answered_with_the_right_one(mail, options, meant):
    status, _, err = mail("lint", *options, "lint_mail")
    assert status == 2
    assert meant in err


def test_lint_of_a_module_that_isnt_there(mail):
    assert mail("lint", "no_such_module")[0] == 2


def test_each_provider_has_a_line_of_its_own_behind_the_table(mail):
    status, out, err = mail("lint", "lint_mail", "--provider", "openai_chat", "--provider", "anthropic")
    assert (status, err) == (0, "")
    *_, first, second = out.splitlines()
    assert first.startswith("OpenAI Chat Completions")
    assert second.startswith("Anthropic")
