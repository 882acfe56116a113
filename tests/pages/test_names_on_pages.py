"""What pages name exists: targets of make, commands and their options, modules, attributes, files.

Links are checked in `test_docs.py`; `cli/test_cli_help.py` checks that the table of options is complete.
"""

from __future__ import annotations

import ast
import inspect
import re
import shutil
import subprocess
from collections import defaultdict
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from operator_schema.workbench.cli.app import commands

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))

PAST = re.compile(r"^### Changed.*|^\| before \|.*", re.DOTALL | re.MULTILINE)
"""The changelog after what was added: it tells of names that are gone."""


@cache
def text_of(page: Path) -> str:
    text = page.read_text(encoding="utf-8")
    return PAST.sub("", text) if page.name == "CHANGELOG.md" else text


def code_of(page: Path) -> list[str]:
    """Return each line of the blocks of a page, and each piece of code in its prose."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", text_of(page), re.DOTALL | re.MULTILINE)
    prose = re.sub(r"^```\w*\n.*?^```", "", text_of(page), flags=re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines()] + re.findall(r"`([^`\n]+)`", prose)


# make


MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z][\w-]*):", MAKEFILE, re.MULTILINE))
VARIABLES = set(re.findall(r"^([A-Z]\w+) *[?:]?=", MAKEFILE, re.MULTILINE)) | set(
    re.findall(r"\$\(([A-Z]\w+)\)", MAKEFILE)
)


def unknown_to_make(line: str) -> list[str]:
    """Return the words of a line with `make` that are neither a target nor a variable of the Makefile."""
    called = re.match(r"(?:\$ )?make ((?:[a-z-]+|[A-Z]\w*=(?:\"[^\"]*\"|'[^']*'|\S*)| )+)", line)
    words = re.findall(r"([A-Z]\w*)=(?:\"[^\"]*\"|'[^']*'|\S*)|([a-z-]+)", called[1]) if called else []
    return [name for name in map("".join, words) if name not in TARGETS | VARIABLES]


@every_page
def test_targets_of_make_exist(page):
    assert [line for line in code_of(page) if unknown_to_make(line)] == []


def test_a_wrong_target_is_seen():
    assert unknown_to_make("$ make test-near ROOM=providers   # some") == []
    assert unknown_to_make("make bench ARGS='encode --rounds 9'") == []
    assert unknown_to_make("make tests lint") == ["tests"]
    assert unknown_to_make('make mutation ROOM="a b" MUTANT=1') == ["MUTANT"]


@pytest.mark.skipif(shutil.which("make") is None, reason="make isn't installed")
@pytest.mark.needs_process
def test_make_help_says_what_each_target_is_for():
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607  # any make will do
    said = re.findall(r"^  make ([a-z-]+) +(.+)$", done.stdout, re.MULTILINE)
    assert said == re.findall(r"^([a-z-]+):.* ## (.+)$", MAKEFILE, re.MULTILINE)


# operator-schema


COMMANDS = commands()
GLOBAL = {"--version", "--help", "-V", "-h"}


def wrong_in_command(line: str, page: str = "") -> str | None:
    """Return what the program doesn't know of a command line, or None."""
    called = re.search(r"\boperator-schema (\S+)([^|>#]*)", re.sub(r'"[^"]*"', "…", line))
    if called is None or called[1].startswith(("…", "[")) or called[1] in GLOBAL:
        return None
    name = called[1].rstrip(",.;:)")
    if name not in COMMANDS:
        return name
    known = {option for each in COMMANDS[name].params for option in (*each.opts, *each.secondary_opts)}
    given = re.findall(r"(?<!\S)--?[a-zA-Z][\w-]*", called[2])
    unknown = [option for option in given if option not in known | GLOBAL]
    return next((option for option in unknown if not of_factory(option, line, page)), None)


def of_factory(option: str, line: str, page: str) -> bool:
    """Return whether an option is a parameter of the function that makes the tools."""
    name = option.removeprefix("--").replace("-", "_")
    if "operator_schema.code_tools" in line:
        source = (ROOT / "operator_schema/code_tools/__init__.py").read_text(encoding="utf-8")
        function = next(each for each in ast.parse(source).body if getattr(each, "name", "") == "make_tools")
        assert isinstance(function, ast.FunctionDef)
        return name in {each.arg for each in (*function.args.args, *function.args.kwonlyargs)}
    return re.search(rf"^def make_tools\(.*?\b{name}: ", page, re.MULTILINE) is not None


@every_page
def test_commands_and_their_options_exist(page):
    wrong = {line: wrong_in_command(line, text_of(page)) for line in code_of(page)}
    assert {line: what for line, what in wrong.items() if what} == {}


def test_a_wrong_command_is_seen():
    assert wrong_in_command("$ operator-schema check --provider openai_chat tools | less -x") is None
    assert wrong_in_command('$ operator-schema inspect mcp:"npx -y server"') is None
    assert wrong_in_command("$ operator-schema serve operator_schema.code_tools --root .") is None
    assert wrong_in_command("operator-schema lint TARGET") == "lint"
    assert wrong_in_command("operator-schema check --notes TARGET") == "--notes"
    assert wrong_in_command("operator-schema serve operator_schema.code_tools --roots .") == "--roots"
    assert wrong_in_command("$ operator-schema serve notes --most 3", "def make_tools(most: int)") is None


# operator_schema.a.b


SPANS = "\n".join(
    (ROOT / f"operator_schema/adapters/{name}.py").read_text(encoding="utf-8")
    for name in ("opentelemetry", "opentelemetry_metrics")
)
ATTRIBUTES_OF_SPANS = [
    re.compile(re.sub(r"{[\w.]+}", r"\\w+", name) + r"(\.count)?")
    for name in re.findall(r'"(operator_schema\.[\w.{}]+)"', SPANS)
]


def file_of(name: str) -> Path | None:
    path = ROOT.joinpath(*name.split("."))
    found = [path / "__init__.py", path.with_suffix(".py")]
    return next((each for each in found if each.is_file()), None)


def exists(name: str) -> bool:
    """Return whether there is a module, or something in one; what its framework needs isn't imported."""
    parts = name.split(".")
    starts = [".".join(parts[:size]) for size in range(len(parts), 0, -1)]
    module = next(start for start in starts if file_of(start))
    names = parts[module.count(".") + 1 :]
    if names and module.startswith("operator_schema.adapters."):
        file = file_of(module)
        assert file is not None
        body = ast.parse(file.read_text(encoding="utf-8")).body
        return len(names) == 1 and names[0] in {getattr(each, "name", "") for each in body}
    found = import_module(module) if names else None
    for each in names:
        if not hasattr(found, each):
            return False
        found = getattr(found, each)
    return True


@every_page
def test_dotted_names_exist(page):
    named = {
        name for line in code_of(page) for name in re.findall(r"\boperator_schema(?:\.[A-Za-z_]\w*)+", line)
    }
    if page.name == "opentelemetry.md":
        named = {name for name in named if not any(each.fullmatch(name) for each in ATTRIBUTES_OF_SPANS)}
    files = {name for name in named if name.endswith((".md", ".py"))}
    assert sorted(name for name in named - files if not exists(name)) == []


def test_a_wrong_dotted_name_is_seen():
    assert exists("operator_schema.rounds.stores.SqliteStore")
    assert exists("operator_schema.adapters.fastmcp.RegistryProvider")
    assert not exists("operator_schema.rounds.stores.Sqlite")
    assert not exists("operator_schema.adapters.fastmcp.Registries")


# Class.attribute


def public_classes() -> dict[str, set[type]]:
    """Return the classes that the page about stability lists, by name."""
    page = (ROOT / "docs/stability.md").read_text(encoding="utf-8")
    found = defaultdict(set)
    for module in re.findall(r"^\| `(operator_schema[\w.]*)` \|", page, re.MULTILINE):
        try:
            exporter = import_module(module)
        except ImportError:  # a part of an extra that isn't installed here
            continue
        for name in exporter.__all__:
            if isinstance(cls := getattr(exporter, name), type) and cls.__module__.startswith(
                "operator_schema"
            ):
                found[name].add(cls)
    return found


CLASSES = public_classes()


def has(class_name: str, attribute: str) -> bool:
    """Return whether the objects of a public class have an attribute; several classes may have the name."""
    return any(
        hasattr(base, attribute)
        or attribute in getattr(base, "__annotations__", ())
        or re.search(rf"\bself\.{attribute}\b", inspect.getsource(base))
        for cls in CLASSES[class_name]
        for base in cls.__mro__
        if base.__module__.startswith("operator_schema")
    )


OF_FRAMEWORKS = {"ToolDefinition"}
"""Pages also speak of classes of frameworks that have the name of one of ours."""


@every_page
def test_attributes_of_public_classes_exist(page):
    named = re.findall(r"(?<![\w.])([A-Z]\w+)\.([a-z_]\w*)", "\n".join(code_of(page)))
    ours = [(name, attribute) for name, attribute in named if name in CLASSES.keys() - OF_FRAMEWORKS]
    assert [(name, attribute) for name, attribute in ours if not has(name, attribute)] == []


def test_a_wrong_attribute_is_seen():
    assert has("DecodeError", "findings")
    assert not has("DecodeError", "problems")


# files


@every_page
def test_files_of_the_repository_exist(page):
    folders = ("tests", "benchmarks", "docs", "website", "operator_schema", ".ci", ".github")
    for line in code_of(page):
        for path in re.findall(rf"(?<![\w/.~-])((?:{'|'.join(folders)})/[\w./*-]*)", line):
            assert list(ROOT.glob(path.rstrip("/."))), path


def test_modules_that_are_run_exist():
    for page in PAGES:
        for name in re.findall(r"\bpython -m ((?:operator_schema|benchmarks)[\w.]*)", text_of(page)):
            assert file_of(name), f"{page.name}: {name}"
