"""Functions that make tools: their parameters are options of `serve` and `call`."""

from __future__ import annotations

import json
import os
import sys
from textwrap import dedent

import pytest

MODULE = '''
import sys
from pathlib import Path
from typing import Annotated

from annotated_types import Ge

from operator_schema import Registry, Toolset, tool


def make_tools(
    root: Path = Path("docs"),
    depth: Annotated[int, Ge(1)] = 2,
    label: str = "files",
    deep: bool = False,
    kinds: list[str] = [],
    sizes: list[int] | None = None,
) -> Registry:
    """Make tools that list files.

    Args:
        root: The folder to list.
        depth: How many levels.
    """
    print("making tools")

    @tool
    def settings(more: str = "") -> str:
        """Say what the tools were made with."""
        return f"{root} {depth!r} {label!r} {deep} {kinds} {sizes} {more}"

    return Registry([settings])


def needs(url: str) -> "Toolset[object]":
    @tool
    def get() -> str:
        """Get it."""
        return url

    return Toolset(get)


def fails() -> Registry:
    raise LookupError("no luck")


def ends() -> Registry:
    sys.exit(3)


def lies() -> Registry:
    return 5


def taken(port: int = 5) -> Registry:
    return Registry()


def negated(token: bool = False) -> Registry:
    return Registry()


def several(roots: list[Path] = [], sizes: list[int] = []) -> Registry:
    return Registry()


def plain(a: int) -> int:
    raise AssertionError("it must not be called")


@tool
def alone() -> str:
    """Stand alone."""
    return "alone"


__tools__ = make_tools
'''


@pytest.fixture
def made(tmp_path, monkeypatch, run):
    """Call the program in a folder with the module `made`."""
    (tmp_path / "made.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "nothing.py").write_text("x = 5\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    yield run
    for name in ("made", "nothing"):
        sys.modules.pop(name, None)


@pytest.mark.needs_threads
def test_a_function_makes_the_tools_with_its_defaults(made):
    status, out, err = made("call", "made:settings")
    assert (status, out) == (0, "docs 2 'files' False [] None \n")
    assert err == "making tools\n"
    assert made("call", "made:make_tools.settings", "more=x")[1] == "docs 2 'files' False [] None x\n"


@pytest.mark.needs_threads
def test_its_parameters_are_options(made):
    words = [
        "--root",
        "a b",
        "--depth=3",
        "--label",
        "5",
        "--deep",
        "--kinds",
        "x",
        "--kinds",
        "7",
        "--sizes",
        "[1, 2]",
    ]
    expected = "a b 3 '5' True ['x', '7'] [1, 2] {}\n"
    assert made("call", "made:settings", *words)[1] == expected.format("")
    # They may stand on both sides of the arguments.
    assert made("call", "made:settings", "more=x", *words)[1] == expected.format("x")
    assert made("call", "made:settings", "--no-deep", "--sizes", "3")[1] == "docs 2 'files' False [] [3] \n"
    assert (
        made("call", "made:settings", "--kinds", '["a", "b"]')[1] == "docs 2 'files' False ['a', 'b'] None \n"
    )


@pytest.mark.needs_threads
def test_a_required_parameter_is_a_required_option(made):
    assert made("call", "made:needs.get", "--url", "x")[:2] == (0, "x\n")
    status, _, err = made("call", "made:needs.get")
    assert status == 2
    assert err == "operator-schema: error: --url: missing (string, required)\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["made:settings", "--rot", "x"],
            "No such option '--rot'; a parameter is written rot=…, and the nearest option is --root",
        ),
        (["made:settings", "--depth", "x"], '--depth: expected integer (≥ 1), got string "x"'),
        (["made:settings", "--depth", "0"], "--depth: 0 is below the minimum 1"),
        (["made:settings", "--root"], "Option '--root' requires an argument"),
        (["made:fails.get"], "fails() failed: LookupError: no luck (made.py, line"),
        (["made:ends.get"], "ends() failed: SystemExit: 3 (made.py, line"),
        (["made:lies.get"], "lies() returned int, not an Executor, a Registry or a Toolset"),
        (["made:plain.get", "--root", "x"], "No such option '--root'"),
        (["made:setings"], "did you mean settings?"),
        (["made:make_tols"], "the module made has no make_tols; did you mean make_tools?"),
        (["made:make_tools"], "make_tools makes tools: add a dot and the name of one: settings"),
        (["made:alone", "--deep"], "No such option '--deep'"),
        (["maid:settings", "--deep"], "no module maid in this folder"),
        (["--rot", "made:settings"], "No such option '--rot'"),
    ],
)
def test_wrong_options_say_what_is_wrong(made, words, message):
    status, out, err = made("call", *words)
    assert (status, out) == (2, "")
    assert message in err


def test_what_makes_no_tools_is_refused(made):
    status, _, err = made("tools", "made:plain")
    assert status == 2
    kinds = "a tool, an Executor, a Registry or a Toolset"
    assert f"plain is a function, not {kinds}; if it makes tools, annotate what it returns" in err


def test_an_option_of_the_command_cant_be_a_parameter(made):
    status, _, err = made("serve", "made:taken", "--help")
    assert status == 2
    assert "--port is an option already: rename that parameter of taken" in " ".join(err.split())


def test_the_negated_form_of_a_boolean_counts_too(made):
    status, _, err = made("serve", "made:negated", "--help")
    assert status == 2
    assert "--no-token is an option already: rename that parameter of negated" in " ".join(err.split())


def test_each_path_of_a_list_is_printed_in_full(made):
    words = ("--roots", "a", "--roots", "b", "--sizes", "3")
    status, out, err = made("serve", "--print-config", "claude-code", "made:several", *words)
    assert status == 0, err
    args = json.loads(out)["mcpServers"]["made"]["args"]
    full = [os.path.abspath(name) for name in ("a", "b")]  # noqa: PTH100  # as text
    assert args[4:] == ["--roots", full[0], "--roots", full[1], "--sizes", "3"]


def test_the_help_after_the_target_has_the_options(made):
    status, out, _ = made("call", "made:settings", "--help")
    assert status == 0
    assert "--root PATH" in out
    assert "The folder to list. [default: docs]" in out
    assert "--deep / --no-deep" in out
    assert "--root PATH" not in made("call", "--help")[1]
    assert "--root PATH" not in made("call", "nothing:settings", "--help")[1]
    assert made("call", "missing:settings", "--help")[0] == 0
    assert "[required]" in made("serve", "made:needs", "--help")[1]


def test_the_printed_configuration_holds_in_any_folder(made):
    words = (
        "--print-config",
        "claude-code",
        "made",
        "--depth",
        "3",
        "--no-deep",
        "--kinds",
        "a",
        "--kinds",
        "b c",
    )
    status, out, err = made("serve", *words)
    assert status == 0, err
    args = json.loads(out)["mcpServers"]["made"]["args"]
    assert args[2:] == [
        *("serve", "made", "--root", os.path.abspath("docs")),  # noqa: PTH100  # as text
        *("--depth", "3", "--no-deep", "--kinds", "a", "--kinds", "b c"),
    ]  # fmt: skip


def test_other_commands_take_the_defaults(made):
    status, out, _ = made("tools", "made")
    assert status == 0
    assert "Say what the tools were made with." in out
    assert "settings" in made("describe", "made:settings")[1]
    assert made("schema", "made:settings")[0] == 0
    assert made("check", "made:make_tools.settings")[0] == 0


@pytest.mark.parametrize("target", ["made", "made:make_tools"])
def test_check_checks_what_a_function_makes(made, target):
    status, out, err = made("check", "-v", target)
    assert status == 0, err
    assert "checked settings (tool, " in out


@pytest.mark.parametrize("missing", ["tree_sitter"])
@pytest.mark.parametrize("words", [["call"], ["serve"], ["tools"], ["check"]], ids=lambda words: words[0])
def test_code_tools_without_their_packages_fail_before_the_first_call(made, monkeypatch, words, missing):
    pytest.importorskip("tree_sitter", reason="WebAssembly has no wheel of it")
    pytest.importorskip("mcp", reason="not on every Python")
    monkeypatch.setitem(sys.modules, missing, None)
    target = "operator_schema.code_tools"
    more = ["pattern=a"] if words == ["call"] else []
    status, out, err = made(*words, f"{target}:search" if more else target, *more)
    name = missing.replace("_", "-")
    assert (status, out) == (2, "")
    assert f"the code tools need {name}: pip install 'operator-schema[code]'" in err


def test_the_code_tools_of_a_folder(made, tmp_path):
    pytest.importorskip("tree_sitter", reason="WebAssembly has no wheel of it")
    from operator_schema.code_tools import code_tools

    (tmp_path / "shop.py").write_text(
        dedent("""
        def price(item: str) -> float:
            return 1.0
    """),
        encoding="utf-8",
    )
    words = ("operator_schema.code_tools:search", "--root", str(tmp_path), "pattern=pri*")
    status, out, err = made("call", *words)
    assert status == 0, err
    assert [found["name"] for found in json.loads(out)["results"]] == ["price"]
    assert made("call", *words[:2], "missing-folder", words[-1])[0] == 2
    for tool in code_tools(tmp_path):
        status, out, err = made("call", f"operator_schema.code_tools:{tool.name}", *words[1:3], "{}")
        assert out or f"{tool.name}: " in err, (tool.name, err)


@pytest.mark.needs_threads
def test_a_submodule_does_not_hide_the_tool_of_its_name(made, tmp_path):
    package = tmp_path / "hidden_tools"
    package.mkdir()
    (package / "settings.py").write_text("DEPTH = 2\n", encoding="utf-8")
    (package / "__init__.py").write_text(
        "from made import make_tools\n\nfrom . import settings\n\n__tools__ = make_tools\n", encoding="utf-8"
    )
    assert made("call", "hidden_tools:settings", "--root", "here", "more=x")[:2] == (
        0,
        "here 2 'files' False [] None x\n",
    )


@pytest.mark.needs_threads
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--kinds", "a"), "['a'] None"),
        (("--kinds", "a", "--kinds", "b"), "['a', 'b'] None"),
        (("--kinds", '["a", "b"]'), "['a', 'b'] None"),
        (("--kinds", '["a"]', "--kinds", '["b"]'), "['[\"a\"]', '[\"b\"]'] None"),
        (("--sizes", "1", "--sizes", "2"), "[] [1, 2]"),
        (("--sizes", "[1, 2]"), "[] [1, 2]"),
    ],
)
def test_a_list_is_an_option_several_times_or_json_once(made, words, said):
    status, out, err = made("call", "made:make_tools.settings", *words)
    assert (status, out) == (0, f"docs 2 'files' False {said} \n"), err
