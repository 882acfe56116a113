"""What importing costs and brings: nothing of anybody else's, wherever the package lies."""

from __future__ import annotations

import ast
import importlib
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import operator_schema

PACKAGE = Path(operator_schema.__file__).parent
FORBIDDEN = {
    "json",
    "uuid",
    "decimal",
    "ipaddress",
    "urllib.parse",
    "logging",
    "asyncio",
    "difflib",
    "argparse",
}
REGISTER = """
import sys
import dataclasses
from dataclasses import dataclass
{import_it}
@dataclass
class Plain:
    name: str
    size: int | None = None
    tags: list[str] = dataclasses.field(default_factory=list)
    param_descriptions = {{"name": "Who"}}
{use_it}
print(" ".join(sorted(sys.modules)))
"""


MAKE_TOOL = """
@tool
def search(query: str, plain: Plain | None = None) -> list[str]:
    '''Search.'''
    return [query]
search.call(search.decode({'query': 'x'}))
search.input_schema()
"""


@cache
def modules_after(import_it="", use_it=""):
    code = REGISTER.format(import_it=import_it, use_it=use_it)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=PACKAGE.parent,
    )
    return frozenset(done.stdout.split())


@pytest.mark.needs_process
@pytest.mark.parametrize(
    ("import_it", "use_it"),
    [
        ("import operator_schema", ""),
        ("import operator_schema", "operator_schema.Codec(Plain).json_schema()"),
        ("from operator_schema import decode", "decode(Plain, {'name': 'x'})"),
        ("from operator_schema import Codec", "Codec(Plain).encode(Codec(Plain).decode({'name': 'x'}))"),
        ("from operator_schema import tool", MAKE_TOOL),
    ],
)
def test_importing_and_registering_bring_the_standard_library_alone(import_it, use_it):
    added = modules_after(import_it, use_it) - modules_after()
    assert not added & FORBIDDEN
    foreign = {name.partition(".")[0] for name in added} - sys.stdlib_module_names - {"operator_schema"}
    assert foreign == set()


CORE = ("introspect", "schema", "codec", "tools", "rounds", "execution")
"""The rooms that know nobody, with the modules beside them."""

STANDARD = sys.stdlib_module_names | {"annotationlib"}  # new in Python 3.14


def statements_in(node):
    """Yield all statements that run: there are ten times as many other nodes."""
    is_for_checkers = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    # Type checkers bring typing_extensions.
    for name in ("orelse", "handlers", "finalbody", "cases", *(() if is_for_checkers else ("body",))):
        for child in getattr(node, name, ()):
            yield child
            yield from statements_in(child)


IMPORT = re.compile(r"(?:^|[:;])[ \t]*(?:from[ \t\\\n]+([\w.]+)|import[ \t\\\n]+([^;\n]+))", re.MULTILINE)


def may_import_others(source):
    """Return whether a text looks as if it did, which is told sooner than it is parsed."""
    names = [name for first, more in IMPORT.findall(source) for name in (first, *more.split(",")) if name]
    roots = {re.split(r"\W", name.strip())[0] for name in names if not name.startswith(".")}
    return not roots <= STANDARD


def test_the_core_imports_nobody_outside_the_standard_library():
    files = [*PACKAGE.glob("*.py"), *(file for room in CORE for file in (PACKAGE / room).rglob("*.py"))]
    foreign = set()
    for file in files:
        source = file.read_text(encoding="utf-8")
        for node in statements_in(ast.parse(source)) if may_import_others(source) else ():
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            else:
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            roots = {name.partition(".")[0] for name in names} - STANDARD
            foreign |= {(file.relative_to(PACKAGE).as_posix(), root) for root in roots}
    # It runs where trio runs already.
    assert foreign == {("execution/on_trio.py", "trio")}


START = """
codec codec.codec codec.interpret codec.problems codec.tiered_compilation
immutable introspect introspect.annotations introspect.classes introspect.hints introspect.leaves
introspect.nodes introspect.object_nodes introspect.shipped_leaves introspect.shown_annotations
introspect.walk json_values message_text
"""
"""What the first decode of a plain dataclass loads: each module takes 0.1 to 0.2 ms, the whole 6 ms."""

DECODE_OTHERS = """
import datetime, enum, uuid
from typing import Literal
class Colour(enum.Enum):
    RED = "red"
@dataclass
class Event:
    id: uuid.UUID
    starts_at: datetime.datetime
    plain: Plain | None = None
    visibility: Literal["public", "private"] = "private"
    labels: dict[str, str] = dataclasses.field(default_factory=dict)
    budget: int | float | None = None
    limit: int | str = 3
    colour: Colour = Colour.RED
    ends_at: datetime.datetime | None = None
    mark: Literal["!", "?"] | None = None
    ink: Colour | None = None
    words: set[str] = dataclasses.field(default_factory=set)
Codec(Event).decode({"id": str(uuid.UUID(int=1)), "starts_at": "2026-01-31T09:30:00Z", "budget": 3})
"""
DECODE_UNIONS = """
@dataclass
class Other:
    number: int | str
    tags: {}
Codec(Other).decode({{"number": "x", "tags": "y"}})
"""


def own_modules(names):
    found = {name.partition(".")[2] for name in names if name.partition(".")[0] == "operator_schema"}
    return {name for name in found if name}


@pytest.mark.needs_process
def test_the_first_decode_loads_what_most_types_need_and_no_more():
    import_it = "from operator_schema import Codec"
    before = modules_after("import __future__, math, typing")
    added = modules_after(import_it, "Codec(Plain).decode({'name': 'x', 'size': 3, 'tags': ['a']})") - before
    assert own_modules(added) == set(START.split())
    assert {name for name in added if name.partition(".")[0] != "operator_schema"} == set()
    more = modules_after(import_it, DECODE_OTHERS) - before
    assert own_modules(more - added) == set()
    scalars = modules_after(import_it, DECODE_UNIONS.format("bool | str | float")) - before
    assert own_modules(scalars - added) == set()
    unions = modules_after(import_it, DECODE_UNIONS.format("list[int] | str")) - before
    assert own_modules(unions - added) == {"introspect.node_kinds", "introspect.union_plans"}


CALL = """
@tool
def search(query: str, limit: int = 3) -> list[str]:
    'Search.'
    return [query]
assert Executor([search]).run_sync(RawCall('1', 'search', {'query': 'x'})).content == '["x"]'
"""
REQUEST = """
@tool
def search(query: str, plain: Plain | None = None) -> str:
    'Search.'
    return query
openai_chat.request([search])
"""
LIMITS = {
    "a tool and an executor": (50, "from operator_schema import Executor, RawCall, tool", CALL),
    "a provider": (
        60,
        "from operator_schema import tool\nfrom operator_schema.providers import openai_chat",
        REQUEST,
    ),
}
"""What loads how many modules of this package at most."""


@pytest.mark.needs_process
@pytest.mark.parametrize("what", LIMITS)
def test_programs_load_few_modules(what):
    most, import_it, use_it = LIMITS[what]
    assert len(own_modules(modules_after(import_it, use_it))) <= most


@pytest.mark.needs_process
def test_importing_loads_one_module():
    added = modules_after("import operator_schema") - modules_after()
    assert {name for name in added if name.startswith("operator_schema")} == {"operator_schema"}


@pytest.mark.needs_process
@pytest.mark.parametrize("room", ["providers", "testing", "adapters"])
def test_importing_a_room_from_the_package_loads_this_room_alone(room):
    assert own_modules(modules_after(f"from operator_schema import {room}")) <= {room, "lazy"}


def test_every_public_name_is_there():
    for name in operator_schema.__all__:
        assert getattr(operator_schema, name) is not None
    assert set(operator_schema.__all__) <= set(dir(operator_schema))
    with pytest.raises(AttributeError, match="no attribute 'Codek'"):
        _ = operator_schema.Codek


@pytest.mark.parametrize(
    "room", ["codec", "content", "errors", "execution", "rounds", "testing", "tools", "types"]
)
def test_every_name_that_a_room_exports_is_there(room):
    module = importlib.import_module(f"operator_schema.{room}")
    assert set(module.__all__) <= set(dir(module))
    for name in module.__all__:
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = module.Nothing


@pytest.mark.needs_process
def test_vendored(tmp_path):
    vendor = tmp_path / "acme" / "_vendor"
    vendor.mkdir(parents=True)
    (tmp_path / "acme" / "__init__.py").touch()
    (vendor / "__init__.py").touch()
    # With what is compiled of it, but for what others write just now.
    shutil.copytree(PACKAGE, vendor / "operator_schema", ignore=shutil.ignore_patterns("*.pyc.*"))
    code = (
        "import sys; from dataclasses import dataclass\n"
        "from acme._vendor import operator_schema as o\n"
        "from acme._vendor.operator_schema.types import URL\n"
        "@dataclass\nclass Point:\n    x: int\n    link: URL | None = None\n"
        "c = o.Codec(Point)\n"
        "assert c.decode_json('{\"x\": 3}') == Point(3) and o.encode(Point(3)) == {'x': 3}\n"
        "assert o.json_schema(Point)['required'] == ['x']\n"
        "try: o.decode(Point, {'y': 1})\n"
        "except o.DecodeError as error: assert 'missing' in str(error)\n"
        "assert 'operator_schema' not in sys.modules\n"
    )
    as_module = "import runpy, sys; sys.argv[1:] = ['--help']\n"
    as_module += "from acme._vendor.operator_schema.workbench import PACKAGE\n"
    as_module += "assert PACKAGE == 'acme._vendor.operator_schema', PACKAGE\n"
    as_module += "runpy.run_module('acme._vendor.operator_schema', run_name='__main__')"
    # The command line needs its libraries, which only `site` finds.
    for source, alone in ((code, ["-S"]), (as_module, [])):
        found_there = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{source}"
        done = subprocess.run(
            [sys.executable, "-I", *alone, "-c", found_there], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


OLD = "operator_schema needs Python 3.11 or newer, and this is Python 3.10.4"


@pytest.mark.needs_process
@pytest.mark.parametrize(
    "import_it",
    ["import operator_schema", "from operator_schema import tool", "import operator_schema.workbench.cli"],
)
def test_an_older_python_is_answered_with_what_is_needed(import_it):
    code = f"import sys\nsys.version_info = (3, 10, 4, 'final', 0)\n{import_it}"
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=PACKAGE.parent
    )
    assert done.stderr.splitlines()[-1] == f"ImportError: {OLD}"


@pytest.mark.needs_process
@pytest.mark.parametrize("version", ["3.7", "3.8", "3.9", "3.10"])
def test_so_is_a_real_one(version, tmp_path):
    python = shutil.which(f"python{version}")
    if python is None or subprocess.run([python, "-c", ""], check=False, capture_output=True).returncode != 0:
        pytest.skip(f"Python {version} isn't installed")
    shutil.copytree(PACKAGE, tmp_path / "copied", ignore=shutil.ignore_patterns("__pycache__"))
    command = [python, "-B", "-c", "from copied import tool"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert f"needs Python 3.11 or newer, and this is Python {version}." in done.stderr.splitlines()[-1]


def test_the_package_says_the_same_to_installers():
    metadata = (PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert 'requires-python = ">=3.11"' in metadata
    for version in (7, 8, 9, 10):  # what they read before they see the message
        ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"), feature_version=(3, version))
