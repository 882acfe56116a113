"""The command line: what it prints, where, and with which exit status."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from operator_schema import Codec, __version__
from operator_schema.cli import main
from operator_schema.cli.arguments import make_parser
from operator_schema.cli.plain_output import Output, to_json
from operator_schema.cli.streams import open_output

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")

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
from operator_schema import RawArguments, tool, tool_input

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

FILES = {
    "clitools.py": TOOLS,
    "callable.py": CALLABLE,
    "unlisted.py": UNLISTED,
    "shared.py": "from dataclasses import dataclass\n\n@dataclass\nclass Imported:\n    x: int\n",
    "faulty.py": FAULTY,
    "empty.py": "import clitools\n",
    "loud.py": "print('loading')\nfrom shared import Imported\n",
    "raises.py": "import clitools\nraise LookupError('no\\nluck')\n",
    "needs.py": "import yarrl.core\n",
    "needs_name.py": "from clitools import Nothing\n",
    "unparsable.py": "def (\n",
    "exits.py": "import sys\nsys.exit(0)\n",
    "clipkg/__init__.py": "",
    "clipkg/inner.py": "from shared import Imported\nDeep = Imported\n",
    "clipkg/needs.py": "import clipkg.missing\n",
}


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("modules")
    for name, text in FILES.items():
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def here(folder, monkeypatch):
    """Work in the folder of the modules, and forget them afterwards."""
    monkeypatch.chdir(folder)
    before = set(sys.modules)
    yield folder
    names = {name.removesuffix(".py").partition("/")[0] for name in FILES}
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in names:
            del sys.modules[name]


@pytest.fixture
def run(here, capsys):  # noqa: ARG001  # where it runs
    """Call `main` and return status, standard output and standard error."""

    def call(*argv):
        try:
            status = main(argv)
        except SystemExit as stop:
            status = stop.code
        return status, *capsys.readouterr()

    return call


@pytest.fixture
def stdin(monkeypatch):
    def give(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return give


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
    "import sys; sys.modules['rich'] = None; from operator_schema.cli import main; sys.exit(main())",
)


def process(argv, folder, data=b"", program=PROGRAM, **more):
    done = subprocess.run(
        [*program, *argv], cwd=folder, input=data, capture_output=True, env=environment(**more), check=False
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def on_terminal(argv, folder, program=PROGRAM, out=True, err=True, **more):
    """Run with standard output, error or both on a pseudo terminal; return what it shows."""
    import pty

    master, slave = pty.openpty()
    child = subprocess.Popen(
        [*program, *argv],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=slave if out else subprocess.DEVNULL,
        stderr=slave if err else subprocess.DEVNULL,
        env=environment(**more),
    )
    os.close(slave)
    shown = b""
    try:
        while chunk := os.read(master, 65536):
            shown += chunk
    except OSError:  # how Linux tells that the other end is closed
        pass
    os.close(master)
    return child.wait(timeout=30), shown.decode().replace("\r\n", "\n")


# --- schema --------------------------------------------------------------------------------------


def test_schema_prints_the_schema(run):
    status, out, err = run("schema", "clitools:Search")
    import clitools

    assert (status, err) == (0, "")
    assert json.loads(out) == Codec(clitools.Search).json_schema()
    assert out.startswith('{\n  "type": "object",\n')


def test_schema_compact_is_one_line_without_spaces(run):
    _, out, _ = run("schema", "--compact", "clitools:Search.Option")
    assert out == '{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}\n'


def test_schema_of_closed_objects(run):
    _, out, _ = run("schema", "--unknown-fields", "reject", "clitools:Search")
    assert json.loads(out)["additionalProperties"] is False


@pytest.mark.parametrize(
    "target", ["clitools:Searches", "clitools:Ahead", "clipkg.inner:Deep", "clitools:Again"]
)
def test_schema_of_any_annotation(run, target):
    status, out, _ = run("schema", target)
    assert status == 0
    assert json.loads(out)["type"] in {"array", "object"}


def test_complaints_about_the_type_go_to_standard_error(run):
    status, out, err = run("schema", "faulty:Faulty")
    assert (status, out) == (1, "")
    assert err.startswith("Faulty: 2 complaints about the type\n- x (in Faulty): complex")


def test_what_a_module_prints_is_no_schema(run):
    status, out, err = run("schema", "loud:Imported")
    assert status == 0
    assert json.loads(out)["type"] == "object"
    assert err == "loading\n"


# --- decode: one value ---------------------------------------------------------------------------


def test_decode_reads_one_value_over_several_lines(run, tmp_path):
    file = tmp_path / "value.json"
    file.write_text('\n{\n  "query": "é",\n  "unknown": 1\n}\n', encoding="utf-8")
    assert run("decode", "clitools:Search", str(file)) == (0, '{"query":"é","mode":"fast"}\n', "")


@pytest.mark.parametrize("argv", [("clitools:Strict",), ("clitools:Strict", "-")])
def test_decode_reads_standard_input(run, stdin, argv):
    stdin(b'{"x": 3.0}')
    assert run("decode", *argv) == (0, '{"x":3}\n', "")


def test_decode_names_the_file_of_a_problem(run, stdin):
    stdin(b'{"mode": "fsat"}')
    status, out, err = run("decode", "clitools:Search")
    assert (status, out) == (1, "")
    assert err.splitlines() == [
        "<stdin>: Search: 2 problems with the arguments",
        "  - query: missing (string, required)",
        '  - mode: "fsat" is not one of "fast", "deep"; did you mean "fast"?',
        '  Search expects: query (string, required), mode ("fast" | "deep")',
    ]


def test_decode_calls_an_alias_by_its_name(run, stdin):
    stdin(b"5")
    _, _, err = run("decode", "clitools:Searches")
    assert err.startswith("<stdin>: Searches: 1 problem")


def test_decode_quiet_prints_no_value(run, stdin):
    stdin(b'{"x": 1}')
    assert run("decode", "--quiet", "clitools:Strict") == (0, "", "")


def test_decode_can_reject_unknown_fields(run, stdin):
    stdin(b'{"x": 1, "z": 2}')
    status, _, err = run("decode", "--unknown-fields", "reject", "clitools:Strict")
    assert status == 1
    assert "- z: unknown" in err


def test_decode_without_lines_knows_json_lines_when_it_sees_them(run, stdin):
    stdin(b'{"x": 1}\n{"x": 2}\n')
    status, _, err = run("decode", "clitools:Strict")
    assert status == 1
    assert "line 2 column 1" in err
    assert err.endswith("\nfor one value a line give --lines\n")


@pytest.mark.parametrize("data", [b"", b"{", b'{"x":\n"\xff"}', '{"x": 1}'.encode("utf-16")])
def test_decode_reports_what_is_no_json(run, stdin, data):
    stdin(data)
    status, out, err = run("decode", "clitools:Strict")
    assert (status, out) == (1, "")
    assert "not valid JSON" in err
    assert "--lines" not in err


def test_a_users_own_check_is_a_problem(run, stdin):
    stdin(b'{"x": -1}')
    status, _, err = run("decode", "clitools:Strict")
    assert status == 1
    assert "negative" in err


def test_a_bug_in_a_users_class_is_not_hidden_and_says_where(run, stdin):
    stdin(b'{"x": 1}\n{"x": 13}\n')
    with pytest.raises(KeyError, match="a bug") as caught:
        run("decode", "--lines", "clitools:Strict")
    assert caught.value.__notes__ == ["while decoding <stdin>:2"]


def test_a_value_that_cannot_be_encoded_again_fails_unless_quiet(run, stdin):
    stdin(b'{"x": 1}')
    status, out, err = run("decode", "clitools:Changes")
    assert (status, out) == (1, "")
    assert "- x: " in err
    stdin(b'{"x": 1}')
    assert run("decode", "--quiet", "clitools:Changes") == (0, "", "")


# --- decode: lines -------------------------------------------------------------------------------

LINES = b'\xef\xbb\xbf{"x": 1}\r\n\n{"x": "two"}\n \t\r\n{"x" 3}\n{"x": "\xff"}\n[[[[[\n{"x": 8}'


def test_lines_are_numbered_as_an_editor_does(run, tmp_path):
    file = tmp_path / "calls.jsonl"
    file.write_bytes(LINES)
    status, out, err = run("decode", "--lines", "clitools:Strict", str(file))
    assert status == 1
    assert out == '{"x":1}\n{"x":8}\n'
    places = re.findall(rf"^{re.escape(str(file))}:(\d+): Strict: 1 problem", err, re.MULTILINE)
    assert places == ["3", "5", "6", "7"]
    assert err.endswith("6 values: 2 decoded, 4 failed\n")


def test_a_line_has_columns_but_no_second_line_number(run, stdin):
    stdin(b'\n\n{"x" 3}\n')
    _, _, err = run("decode", "--lines", "clitools:Strict")
    assert "<stdin>:3: " in err
    assert "- not valid JSON at column 6: " in err
    assert "line 1" not in err


@pytest.mark.parametrize(
    ("data", "summary"),
    [
        (b"", "0 values: 0 decoded, 0 failed\n"),
        (b"\xef\xbb\xbf\n\n", "0 values: 0 decoded, 0 failed\n"),
        (b'{"x": 1}', "1 value: 1 decoded, 0 failed\n"),
        (b'{"x": 1}\n' * 1164, "1,164 values: 1,164 decoded, 0 failed\n"),
    ],
)
def test_lines_end_with_a_summary(run, stdin, data, summary):
    stdin(data)
    assert run("decode", "--lines", "--quiet", "clitools:Strict") == (0, "", summary)


@pytest.mark.needs_process
def test_lines_are_read_one_by_one(folder):
    argv = [*PROGRAM, "decode", "--lines", "--quiet", "clitools:Strict"]
    with subprocess.Popen(
        argv, cwd=folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as child:
        child.stdin.write(b"null\n")
        child.stdin.flush()
        assert child.stderr.readline().startswith(b"<stdin>:1: ")
        child.stdin.close()
        assert child.wait(timeout=30) == 1


@pytest.mark.needs_process
def test_values_and_problems_come_in_order_when_they_share_a_file(folder):
    command = [*PROGRAM, "decode", "--lines", "clitools:Strict"]
    data = b'{"x": 1}\nnull\n{"x": 3}\n'
    done = subprocess.run(
        command,
        cwd=folder,
        input=data,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment(),
        check=False,
    )
    starts = [line[:9] for line in done.stdout.decode().splitlines() if not line.startswith("  ")]
    assert starts == ['{"x":1}', "<stdin>:2", '{"x":3}', "3 values:"]


# --- check ---------------------------------------------------------------------------------------


def test_check_registers_every_dataclass_that_the_module_defines(run):
    status, out, err = run("check", "clitools")
    assert (status, err) == (0, "")
    names = ["Search", "Search.Option", "Plain.Inside", "_Private", "Strict", "Changes", "Later"]
    *lines, summary = out.splitlines()
    assert [line.split()[1] for line in lines] == names
    assert summary == "7 types: 7 ok, 0 with complaints"


def test_check_counts_the_bytes_of_the_compact_schema(run):
    _, schema, _ = run("schema", "--compact", "clitools:Search")
    _, out, _ = run("check", "clitools")
    assert out.splitlines()[0] == f"ok  Search  (2 fields, {len(schema.encode()) - 1} bytes)"


def test_check_prints_all_complaints(run):
    status, out, err = run("check", "faulty")
    assert (status, err) == (1, "")
    assert re.sub(r"(- [xy] \(in Faulty\): \w+).*", r"\1", out).splitlines()[1:] == [
        "bad Faulty  (2 complaints)",
        "    - x (in Faulty): complex",
        "    - y (in Faulty): the",
        "2 types: 1 ok, 1 with complaints",
    ]


def test_check_says_that_there_is_nothing_to_check(run):
    assert run("check", "empty") == (0, "empty defines no dataclasses\n", "")


def test_check_takes_several_modules(run):
    status, out, _ = run("check", "shared", "empty", "faulty")
    assert status == 1
    lines = out.splitlines()
    assert lines[0] == "shared:"
    assert lines[1].startswith("ok  Imported  (1 field, ")
    assert lines[2:4] == ["empty defines no dataclasses", "faulty:"]
    assert lines[-1] == "3 types: 2 ok, 1 with complaints"


def test_check_checks_nothing_when_a_module_is_not_found(run):
    status, out, err = run("check", "shared", "nowhere_at_all")
    assert (status, out) == (2, "")
    assert err == "operator-schema: error: no module nowhere_at_all\n"


# --- tools, call, describe -----------------------------------------------------------------------


def test_tools_prints_a_table(run):
    status, out, err = run("tools", "callable")
    assert (status, err) == (0, "")
    *lines, summary = [line.split(maxsplit=4) for line in out.splitlines()]
    assert lines[0] == ["tool", "kind", "parameters", "bytes", "summary"]
    assert [(line[0], line[1], line[2], line[4]) for line in lines[1:]] == [
        ("shout", "sync", "1", "Shout it."),
        ("sleep-well", "async", "0", "Use this tool for sleep-well. Auto generated."),
        ("rows", "sync", "0", "Count rows."),
        ("move", "input", "1", "Move a piece."),
    ]
    sizes = [int(line[3]) for line in lines[1:]]
    assert " ".join(summary) == f"4 tools, {sum(sizes)} bytes"
    _, definitions, _ = run("tools", "--json", "callable")
    assert [len(to_json(definition).encode()) for definition in json.loads(definitions)] == sizes


def test_tools_counts_the_parameters_of_unions_and_raw_arguments(run):
    status, out, err = run("tools", "unlisted")
    assert (status, err) == (0, "")
    rows = [line.split()[:3] for line in out.splitlines()[1:-1]]
    assert rows == [["edit", "input", "3"], ["raw", "sync", "1"]]


def test_tools_prints_the_definitions(run):
    status, out, err = run("tools", "--json", "callable")
    module = sys.modules["callable"]
    assert (status, err) == (0, "")
    assert json.loads(out) == [
        tool.definition() for tool in (module.shout, module.sleep, module.rows, module.Move)
    ]
    assert run("tools", "empty") == (0, "empty defines no tools\n", "")
    assert run("tools", "--json", "empty") == (0, "[]\n", "")


@pytest.mark.needs_threads
def test_call_prints_the_result_alone(run, stdin):
    shown = (0, "HI\\u001b\t!\n", "taking a breath\n")
    assert run("call", "callable:shout", '{"text": "hi"}') == shown
    stdin(b'{"text": "hi"}')
    assert run("call", "callable:shout", "-") == shown
    assert run("call", "callable:Box.size", '{"x": 4}') == (0, "8\n", "")


@pytest.mark.needs_threads
@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["callable:shout"], "shout: 1 problem with the arguments\n- text: missing"),
        (["callable:shout", '{"text": '], "not valid JSON"),
        (["callable:shout", '{"text": "stop"}'], "I will not.\n"),
        (["callable:shout", '{"text": "bug"}'], "shout failed: ZeroDivisionError: no\n"),
        (["callable:shout", '{"text": "half"}'], "shout: 1 problem with the value\n- "),
        (["callable:sleep"], "sleep-well: no result within 0.05 s"),
        (["callable:sleep-well"], "sleep-well: no result within 0.05 s"),
        (["callable:rows"], "rows: the host must give db"),
        (["callable:Move", '{"to": "a1"}'], "move: it has no function"),
    ],
)
def test_call_says_why_there_is_no_result(run, argv, told):
    status, out, err = run("call", *argv)
    assert (status, out) == (1, "")
    assert told in err
    assert "Traceback" not in err


@pytest.mark.needs_threads
def test_call_shows_the_traceback_when_asked_for(run):
    status, _, err = run("call", "--traceback", "callable:shout", '{"text": "bug"}')
    assert status == 1
    assert "Traceback (most recent call last):" in err
    assert "callable.py" in err


@pytest.mark.needs_threads
def test_call_may_end_earlier(run):
    status, _, err = run("call", "--timeout", "20", "callable:Box.size", '{"x": 1}')
    assert (status, err) == (0, "")


def test_describe_prints_the_whole_documentation(run):
    assert run("describe", "callable:shout") == (0, "## shout\n\nShout it.\n\nWith feeling.\n", "")


# --- wrong use -----------------------------------------------------------------------------------


IN_PACKAGE = str(Path("clipkg", "needs.py"))
MORE = "; --traceback shows all of it"


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["schema", "clitolls:Search"], "no module clitolls; did you mean clitools?"),
        (["schema", "clipkg.iner:Deep"], "no module clipkg.iner; did you mean clipkg.inner?"),
        (
            ["schema", "clipgk.inner:X"],
            "no module clipgk.inner: there is no clipgk; did you mean clipkg.inner?",
        ),
        (["schema", "clitools.inner:X"], "no module clitools.inner"),
        (["schema", "clitools:Serch"], "the module clitools has no Serch; did you mean Search?"),
        (["schema", "clitools:Search.Optoin"], "Search has no Optoin; did you mean Option?"),
        (["schema", "faulty:Zzzzzz"], "the module faulty has no Zzzzzz; its dataclasses are Good, Faulty"),
        (["check", "needs"], "the module needs imports yarrl, which is not found (needs.py, line 1)"),
        (
            ["check", "clipkg.needs"],
            f"the module clipkg.needs imports clipkg.missing, which is not found ({IN_PACKAGE}, line 1)",
        ),
        (
            ["check", "raises"],
            f"the module raises can't be imported: LookupError: no\\u000aluck (raises.py, line 2){MORE}",
        ),
        (
            ["check", "exits"],
            f"the module exits can't be imported: SystemExit: 0 (exits.py, line 2){MORE}",
        ),
        (["call", "callable:shuot"], "the module callable has no shuot; did you mean shout?"),
        (
            ["describe", "callable:zzzzzz"],
            "the module callable has no zzzzzz; its tools are shout, sleep-well, rows, move",
        ),
        (["call", "clitools:zzzzzz"], "the module clitools has no zzzzzz"),
        (["call", "callable:plain"], "plain is no tool; decorate it with @tool or @tool_input"),
        (["call", "callable:Box.sise"], "Box has no sise; did you mean size?"),
        (["decode", "clitools:Search", "nowhere.json"], "can't read nowhere.json: No such file or directory"),
    ],
)
def test_wrong_use_is_one_line(run, argv, message):
    assert run(*argv) == (2, "", f"operator-schema: error: {message}\n")


def test_a_name_that_is_not_in_another_module_is_an_import_error(run):
    status, _, err = run("check", "needs_name")
    assert status == 2
    assert "the module needs_name can't be imported: ImportError: cannot import name 'Nothing'" in err


def test_a_module_that_does_not_parse(run):
    status, _, err = run("check", "unparsable")
    assert status == 2
    assert "can't be imported: SyntaxError: " in err
    assert "(unparsable.py, line 1)" in err


def test_a_folder_is_no_file(run, tmp_path):
    status, out, err = run("decode", "--lines", "clitools:Search", str(tmp_path))
    assert (status, out) == (2, "")
    assert err.startswith(f"operator-schema: error: can't read {tmp_path}: ")


def test_input_that_breaks_off_is_wrong_use_too(run, monkeypatch):
    class Broken(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, _):
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Broken())))
    status, _, err = run("decode", "--lines", "clitools:Search")
    assert (status, err) == (2, "operator-schema: error: can't read <stdin>: Input/output error\n")


def test_traceback_shows_all_of_it(run):
    status, out, err = run("check", "--traceback", "raises")
    assert (status, out) == (2, "")
    assert err.startswith("Traceback (most recent call last):\n")
    assert "raise LookupError(" in err
    assert err.endswith("(raises.py, line 2)\n")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([], "required: COMMAND"),
        (["scheme"], "invalid choice: 'scheme'"),
        (["schema"], "required: MODULE:TYPE"),
        (["check"], "required: MODULE"),
        (["schema", "clitools"], "'clitools' is no MODULE:TYPE, such as tools:WebSearch"),
        (["schema", "clitools.Search"], "'clitools.Search' is no MODULE:TYPE; did you mean clitools:Search?"),
        (["schema", "clitools:a:b"], "'clitools:a:b' is no MODULE:TYPE: a TYPE is a name"),
        (["schema", "clitools:"], "'clitools:' is no MODULE:TYPE: a TYPE is a name"),
        (["schema", ":Search"], "'' is no name of a module"),
        (["schema", ".clitools:Search"], "'.clitools' is no name of a module"),
        (["schema", "clitools.py:Search"], "'clitools.py' is a path; a MODULE is given by name: clitools"),
        (
            ["check", "./clipkg/inner.py"],
            "'./clipkg/inner.py' is a path; a MODULE is given by name: clipkg.inner",
        ),
        (["check", "../else/tools.py"], "is a path; a MODULE is given by name: tools"),
        (["decode", "clitools:Search", "--unknown-fields", "forbid"], "invalid choice: 'forbid'"),
        (["call", "callable.shout"], "'callable.shout' is no MODULE:TOOL; did you mean callable:shout?"),
        (["call", "callable"], "'callable' is no MODULE:TOOL, such as tools:web_search"),
        (["call", "--timeout", "0", "callable:shout"], "'0' is no positive number of seconds"),
        (["call", "--timeout", "soon", "callable:shout"], "'soon' is no positive number of seconds"),
        (["schema", "clitools:Search", "--comp"], "unrecognized arguments: --comp"),
    ],
)
def test_wrong_arguments_show_the_usage(run, argv, message, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    status, out, err = run(*argv)
    assert (status, out) == (2, "")
    assert err.startswith("usage: operator-schema")
    assert message in err


@pytest.mark.needs_threads
def test_options_may_stand_anywhere(run, here):
    call = ["call", "callable:shout", '{"text": "hi"}']
    file = here / "calls.jsonl"
    file.write_text('{"query": "x"}\n', encoding="utf-8")
    decode = ["decode", "clitools:Search", str(file)]
    for words, options in ((call, ["--timeout", "5"]), (decode, ["--lines"])):
        expected = run(*words[:1], *options, *words[1:])
        assert expected[0] == 0
        assert run(*words[:2], *options, *words[2:]) == expected
        assert run(*words, *options) == expected
    _, _, err = run(*decode[:2], "--lines", str(file), "more.jsonl")
    assert "unrecognized arguments: more.jsonl" in err
    _, _, err = run(*decode[:2], "--line", str(file))
    assert f"unrecognized arguments: --line {file}" in err


def test_main_leaves_the_path_as_it_was(run):
    before = list(sys.path)
    run("check", "shared")
    run("check", "nowhere_at_all")
    assert sys.path == before


# --- the process ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "data", "status"),
    [
        (["check", "clitools"], b"", 0),
        (["decode", "clitools:Search"], b"{}", 1),
        (["schema", "clitools:Nothing"], b"", 2),
        (["--version"], b"", 0),
    ],
)
@pytest.mark.needs_process
def test_exit_status_of_the_process(folder, argv, data, status):
    assert process(argv, folder, data)[0] == status


def test_version(run):
    assert run("--version") == (0, f"operator-schema {__version__}\n", "")


@pytest.mark.needs_process
def test_the_current_directory_wins(tmp_path):
    (tmp_path / "this.py").write_text("Day = int\n", encoding="utf-8")
    argv = ["schema", "--compact", "this:Day"]
    script = (
        sys.executable,
        "-P",
        "-c",
        "import sys; from operator_schema.cli import main; sys.exit(main())",
    )
    assert process(argv, tmp_path, program=script) == (0, '{"type":"integer"}\n', "")


@on_posix
@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.needs_process
def test_a_reader_that_goes_away_ends_it_quietly(folder, merged):
    argv = [*PROGRAM, "decode", "--lines", "clitools:Strict"]
    with subprocess.Popen(
        argv,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if merged else subprocess.PIPE,
        env=environment(),
    ) as child:
        child.stdout.close()
        child.stdin.write((b"null\n" if merged else b'{"x": 1}\n') * 10)
        child.stdin.close()
        errors = b"" if merged else child.stderr.read()
        assert (child.wait(timeout=30), errors) == (141, b"")


@on_posix
@pytest.mark.needs_process
def test_an_interrupt_ends_it_with_130(folder):
    # A test run in the background inherits that interrupts are ignored.
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        " from operator_schema.cli import main; sys.exit(main())"
    )
    argv = [sys.executable, "-c", code, "decode", "--lines", "clitools:Strict"]
    with subprocess.Popen(
        argv,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as child:
        child.stdin.write(b"null\n")
        child.stdin.flush()
        child.stderr.readline()  # it is at work now
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=30) == 130
        assert b"Traceback" not in child.stderr.read()


@pytest.mark.needs_process
def test_a_pipe_gets_the_same_with_and_without_rich(folder):
    for argv in (
        ["schema", "clitools:Search"],
        ["check", "faulty"],
        ["decode", "--lines", "clitools:Strict"],
    ):
        assert process(argv, folder, LINES) == process(argv, folder, LINES, WITHOUT_RICH)


@pytest.mark.needs_process
def test_json_is_ascii_where_the_encoding_is_narrow(folder):
    status, out, _ = process(
        ["decode", "clitools:Search"], folder, '{"query": "é€"}'.encode(), PYTHONIOENCODING="ascii"
    )
    assert (status, out) == (0, '{"query":"\\u00e9\\u20ac","mode":"fast"}\n')


# --- the terminal --------------------------------------------------------------------------------

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

HOSTILE = """\
{"query": "[red]x[/red] :smile: \\u001b[31m \\u009b31m \\u202e \x7f"}
{"mode": "[b]\\u001b]0;x\\u0007"}
"""


@pytest.fixture
def hostile(tmp_path):
    file = tmp_path / "hostile.jsonl"
    file.write_text(HOSTILE, encoding="utf-8")
    return str(file)


@on_posix
@pytest.mark.needs_process
def test_rich_colours_what_a_person_sees(folder):
    status, shown = on_terminal(["schema", "clitools:Search"], folder)
    assert status == 0
    assert "\x1b[" in shown
    assert ESCAPE.sub("", shown) == process(["schema", "clitools:Search"], folder)[1]


@on_posix
@pytest.mark.needs_process
def test_rich_draws_a_table(folder):
    status, shown = on_terminal(["check", "faulty"], folder)
    assert status == 1
    plain = [" ".join(line.split()) for line in ESCAPE.sub("", shown).splitlines()]
    assert plain[0] == "Type Fields Bytes"
    assert re.fullmatch(r"ok Good 1 \d+", plain[1])
    assert plain[2:4] == ["bad Faulty", "Faulty: 2 complaints"]
    assert plain[4].startswith("- x (in Faulty): complex is not supported.")
    assert plain[-1] == "2 types: 1 ok, 1 with complaints"


@on_posix
@pytest.mark.parametrize(
    ("program", "more"), [(WITHOUT_RICH, {}), (PROGRAM, {"NO_COLOR": "1"}), (PROGRAM, {"TERM": "dumb"})]
)
@pytest.mark.needs_process
def test_plain_text_on_a_terminal(folder, hostile, program, more):
    argv = ["decode", "--lines", "clitools:Search", hostile]
    status, shown = on_terminal(argv, folder, program, **more)
    assert status == 1
    assert "\x1b" not in shown
    _, out, err = process(argv, folder)
    assert shown == out + err


@on_posix
@pytest.mark.needs_process
def test_nothing_in_a_value_is_markup_or_a_command(folder, hostile):
    argv = ["decode", "--lines", "clitools:Search", hostile]
    status, shown = on_terminal(argv, folder)
    assert status == 1
    assert re.search("[\x00-\x09\x0b-\x1a\x7f-\x9f\u202e]", shown) is None
    _, out, err = process(argv, folder)
    assert ESCAPE.sub("", shown) == out + err
    assert "[red]x[/red] :smile: \\u001b[31m \\u009b31m \\u202e \\u007f" in out


@pytest.fixture
def long(tmp_path):
    file = tmp_path / "long.jsonl"
    line = b'{"query": "' + b"x" * 500 + b'"}\n'
    file.write_bytes(line * 600 + b"null\n")
    return str(file)


@on_posix
@pytest.mark.needs_process
def test_rich_draws_a_progress_bar_on_long_input(folder, long):
    status, shown = on_terminal(["decode", "--lines", "clitools:Search", long], folder, out=False)
    assert status == 1
    assert "decoding" in shown
    assert re.search(r"/30\d\.\d kB", shown)
    plain = ESCAPE.sub("", shown)
    assert f"{long}:601: Search: 1 problem with the arguments" in plain
    assert plain.endswith("601 values: 600 decoded, 1 failed\n")


@on_posix
@pytest.mark.needs_process
def test_no_progress_bar_where_values_run_over_the_terminal_or_input_is_short(folder, long, hostile):
    assert "decoding" not in on_terminal(["decode", "--lines", "clitools:Search", long], folder)[1]
    short = on_terminal(["decode", "--lines", "clitools:Search", hostile], folder, out=False)
    assert "decoding" not in short[1]


# --- output --------------------------------------------------------------------------------------


def test_json_escapes_what_a_terminal_could_obey():
    value = {"a": "\x7f\x9b\u2028\U000e0001é", "b": [1.5, None]}
    for indent in (None, 2):
        text = to_json(value, indent)
        assert json.loads(text) == value
        assert all(line.isprintable() for line in text.split("\n"))
        assert "é" in text
    assert to_json(value, ascii_only=True).isascii()


def test_a_stream_without_encoding_takes_everything():
    stream = io.StringIO()
    output = open_output(stream)
    assert type(output) is Output
    output.write_line("é")
    output.write_report("", "one\ntwo\x1b")
    assert stream.getvalue() == "é\none\ntwo\\u001b\n"


def test_a_narrow_stream_takes_every_line():
    raw = io.BytesIO()
    output = Output(io.TextIOWrapper(raw, encoding="ascii"))
    output.write_line("é…")
    output.flush()
    assert raw.getvalue() == b"\\xe9\\u2026" + os.linesep.encode()


@pytest.mark.needs_process
def test_the_package_and_its_command_line_do_not_import_rich(folder):
    code = (
        "import sys, operator_schema.cli; print(*[n for n in sys.modules if n.partition('.')[0] == 'rich'])"
    )
    assert process(["-c", code], folder, program=(sys.executable,)) == (0, "\n", "")


COMMANDS = [[], ["schema"], ["decode"], ["check"], ["tools"], ["call"], ["describe"]]

# --- help and the page ---------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_on_a_page_and_has_examples(run, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    status, out, err = run(*command, "--help")
    assert (status, err) == (0, "")
    assert "\nexamples:\n  operator-schema " in out
    assert max(map(len, out.splitlines())) <= 100


def test_the_examples_in_the_help_parse(run):
    shown = "".join(run(*command, "--help")[1] for command in COMMANDS)
    examples = re.findall(r"^  .*?operator-schema ([^>\n]+)", shown, re.MULTILINE)
    assert len(examples) >= 10
    for example in examples:
        make_parser().parse_args(shlex.split(example.partition(" < ")[0]))


def test_the_page_has_the_options_and_exit_statuses_of_the_help(run):
    shown = "".join(run(*command, "--help")[1] for command in COMMANDS)
    table = PAGE.partition("## Options")[2].partition("\n## ")[0]
    assert set(re.findall(r"--[a-z][a-z-]+", table)) == set(re.findall(r"--[a-z][a-z-]+", shown))
    statuses = re.findall(r"^  (\d)  (.*)$", run("--help")[1], re.MULTILINE)
    assert len(statuses) == 3
    for status, meaning in statuses:
        assert f"| {status} | {meaning} |" in PAGE
    for status in (130, 141):
        assert f"| {status} | " in PAGE


@on_posix
@pytest.mark.needs_process
def test_the_examples_of_the_page_are_true(tmp_path):
    for name, text in re.findall(r"`([\w.]+)`:\n\n```(?:python|text)\n(.*?)```", PAGE, re.DOTALL):
        (tmp_path / name).write_text(text, encoding="utf-8")
    program = tmp_path / "bin" / "operator-schema"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m operator_schema "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL):
        shown, status = "", 0
        for command in re.findall(r"^\$ (.*)$", block, re.MULTILINE):
            script = f"(exit {status})\n{{ {command}\n}} 2>&1"
            status, out, _ = process(["-c", script], tmp_path, program=("/bin/sh",), PATH=path)
            shown += f"$ {command}\n{out}"
        assert shown == block


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize(
    ("redirection", "status", "said"),
    [(">/dev/full", 2, "can't read or write"), (">&-", 0, ""), ("<&-", 1, "not valid JSON")],
)
@pytest.mark.needs_process
def test_streams_that_are_closed_or_full(tmp_path, redirection, status, said):
    (tmp_path / "closed_tools.py").write_text(
        "from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: int\n", encoding="utf-8"
    )
    command = "decode" if redirection.startswith("<") else "schema"
    line = f'"{sys.executable}" -m operator_schema {command} closed_tools:Point {redirection}'
    root = str(Path(__file__).parent.parent)
    done = subprocess.run(
        ["sh", "-c", line],  # noqa: S607  # any shell will do
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    assert said in done.stderr
