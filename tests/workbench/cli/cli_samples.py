"""Modules and helpers that the tests of the command line share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import warm_processes

ROOT = Path(__file__).parents[3]


on_posix = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell, terminal and signals")


TOOLS = '''
import dataclasses
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from shared import Imported

@dataclass
class Search:
    """Search the web."""
    query: str
    mode: Literal["fast", "deep"] = "fast"

    @dataclass
    class Option:
        "Nested."
        name: str

class Plain:
    @dataclass
    class Inside:
        pass

@dataclass
class _Private:
    x: Any

@dataclass
class Strict:
    """Has users' own checks."""
    x: int

    def __post_init__(self):
        if self.x < 0:
            raise ValueError("negative")
        if self.x == 13:
            raise KeyError("a bug")

@dataclass
class Changes:
    x: int

    def __post_init__(self):
        self.x = str(self.x)

Again = Search
Searches = list[Search]
Ahead = list["Later"]

@dataclass
class Later:
    y: int
'''


FAULTY = """
from dataclasses import dataclass

@dataclass
class Good:
    x: int

@dataclass
class Faulty:
    x: complex
    y: "Nowhere"
"""


CALLABLE = """
import asyncio
from dataclasses import dataclass
from typing import Annotated
from operator_schema import CallError, skip, tool, tool_input

@tool
def shout(text: str) -> str:
    "Shout it. With feeling."
    print("taking a breath")
    if text == "stop":
        raise CallError("I will not.")
    if text == "bug":
        raise ZeroDivisionError("no")
    if text == "half":
        return "\\ud800"
    return text.upper() + "\\x1b\\t!\\n"

@tool(name="sleep-well", timeout=0.05)
async def sleep() -> None:
    await asyncio.sleep(60)

@tool
def rows(db: Annotated[object, skip]) -> int:
    "Count rows."
    return 0

@tool_input
@dataclass
class Move:
    "Move a piece."
    to: str

class Box:
    @staticmethod
    @tool(enabled=False)
    def size(x: int, y: int = 2) -> int:
        "The size."
        return x * y

plain = len
"""


UNLISTED = """
from dataclasses import dataclass
from typing import Annotated, Literal
from operator_schema import tool, tool_input
from operator_schema.types import RawArguments

@dataclass
class Create:
    kind: Literal["create"]
    inside: "list[Create | Remove] | None"

@dataclass
class Remove:
    kind: Literal["remove"]
    path: str

edit = tool_input(name="edit")(Create | Remove)
Described = Annotated[RawArguments, RawArguments.described_by({"type": "object", "properties": {"x": {}}})]

@tool
def raw(arguments: Described) -> int:
    return len(arguments)
"""


BAD_TOOL = """
from operator_schema import tool

limit = 3

@tool
def search(query, wait: complex) -> str:
    "Search."
    return ""
"""


WEAK = """
from enum import Enum, auto
from typing import Any
from operator_schema import tool

class Level(Enum):
    LOW = auto()
    HIGH = auto()

@tool
def bare(x: int) -> int:
    return x

@tool
def vague(level: Level, note: Any) -> str:
    "Do something."
    return ""
"""


HOST = """
from typing import Annotated
from operator_schema import Defer, Executor, Registry, Reject, Toolset, skip, tool

class Db:
    def __init__(self):
        self.rows = 3

@tool
def count(table: str, times: int = 1, *, db: Annotated[Db, skip]) -> int:
    "Count rows."
    return db.rows * times

@tool(enabled=False)
def drop(table: str) -> str:
    "Drop a table."
    return "dropped"

registry = Registry(Toolset(count, drop).prefix("db_"))
context = {Db: Db()}

def make_context():
    return context

def make_nothing():
    return None

def make_no_context():
    raise LookupError("no database")

settings = {"password": "hunter2"}
password = "hunter2"
alias = list[Db] | None

@tool
def count_named(table: str) -> str:
    "Repeat the name."
    return table

def decide(call):
    if call.input.table == "secrets":
        return Reject("nobody reads secrets")
    if call.input.table == "payroll":
        return Defer("the board decides")
    return None

executor = Executor(registry, hooks=decide, context=context, timeout=0.5)

def make_executor(rows: int = 1) -> Executor:
    "Make an executor."
    db = Db()
    db.rows = rows
    return executor.with_(context={Db: db})

guarded = Toolset(registry, hooks=decide)
toolset = Toolset(registry, count)
hiding = Toolset(count, count_named).hide(count_named)
"""


ENDING = """
import sys
from typing import Annotated

from operator_schema import NeedsInput, skip, tool

@tool
def die() -> None:
    "End the process."
    sys.exit(3)

@tool
async def leave() -> None:
    "End the process, from an event loop."
    sys.exit(3)

@tool
def unsure(answer: Annotated[bool | None, skip] = None) -> None:
    "Ask first."
    raise NeedsInput("Really?")
"""

FILES = {
    "ending.py": ENDING,
    "clitools.py": TOOLS,
    "callable.py": CALLABLE,
    "unlisted.py": UNLISTED,
    "shared.py": "from dataclasses import dataclass\n\n@dataclass\nclass Imported:\n    x: int\n",
    "faulty.py": FAULTY,
    "empty.py": "import clitools\n",
    "empty_registry.py": "from operator_schema import Registry\n\nno_tools = Registry()\n",
    "loud.py": "print('loading')\nfrom shared import Imported\n",
    "raises.py": "import clitools\nraise LookupError('no\\nluck')\n",
    "needs.py": "import yarrl.core\n",
    "needs_name.py": "from clitools import Nothing\n",
    "unparsable.py": "def (\n",
    "exits.py": "import sys\nsys.exit(0)\n",
    "bad_tool.py": BAD_TOOL,
    "weak.py": WEAK,
    "host.py": HOST,
    "clipkg2/__init__.py": "",
    "clipkg2/bad.py": BAD_TOOL,
    "clipkg2/sub/__init__.py": "",
    "clipkg2/sub/good.py": "from dataclasses import dataclass\n\n@dataclass\nclass Good:\n    x: int\n",
    "clipkg2/_private.py": "raise RuntimeError\n",
    "clipkg/__init__.py": "",
    "clipkg/inner.py": "from shared import Imported\nDeep = Imported\n",
    "clipkg/needs.py": "import clipkg.missing\n",
}


def environment(**more):
    kept = {key: value for key, value in os.environ.items() if key not in {"NO_COLOR", "FORCE_COLOR"}}
    settings = {
        "PYTHONPATH": str(ROOT),
        "PYTHONIOENCODING": "utf-8",
        "COLUMNS": "100",
        "TERM": "xterm-256color",
    }
    return {**kept, **settings, **more}


PROGRAM = (sys.executable, "-m", "operator_schema")


WITHOUT_RICH = (
    sys.executable,
    "-c",
    (
        "import sys; sys.modules['rich'] = None\n"
        "from operator_schema.workbench.cli import main; sys.exit(main())"
    ),
)


def process(argv, folder, data=b"", program=None, **more):
    program = program or warm_processes.command()
    done = subprocess.run(
        [*program, *argv], cwd=folder, input=data, capture_output=True, env=environment(**more), check=False
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


LINES = b'\xef\xbb\xbf{"x": 1}\r\n\n{"x": "two"}\n \t\r\n{"x" 3}\n{"x": "\xff"}\n[[[[[\n{"x": 8}'
