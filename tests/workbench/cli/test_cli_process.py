"""The command as a process: pipes, signals, exit status."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from cli_samples import PROGRAM, environment, on_posix
from cli_samples import process as any_process
from patience import LONGEST_WAIT

from operator_schema import __version__


def process(argv, folder, data=b"", program=PROGRAM, **more):
    """Run the command as its users do, in a process that imports everything itself."""
    return any_process(argv, folder, data, program, **more)


@pytest.mark.parametrize(
    ("argv", "data", "status"),
    [
        (["check", "clitools"], b"", 0),
        (["decode", "clitools:Search"], b"{}", 1),
        (["schema", "clitools:Nothing"], b"", 2),
    ],
)
@pytest.mark.needs_process
def test_exit_status_of_the_process(folder, argv, data, status):
    assert any_process(argv, folder, data)[0] == status


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
        "import sys; from operator_schema.workbench.cli import main; sys.exit(main())",
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
        assert (child.wait(timeout=LONGEST_WAIT), errors) == (141, b"")


@on_posix
@pytest.mark.needs_process
def test_an_interrupt_ends_it_with_130(folder):
    # A test run in the background inherits that interrupts are ignored.
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        " from operator_schema.workbench.cli import main; sys.exit(main())"
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
        assert child.wait(timeout=LONGEST_WAIT) == 130
        assert b"Traceback" not in child.stderr.read()


@pytest.mark.parametrize("missing", ["click", "rich"])
@pytest.mark.needs_process
def test_without_its_libraries_the_command_names_the_extra(folder, missing):
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "from operator_schema.workbench.cli import main; sys.exit(main())"
    )
    status, out, err = process(
        ["schema", "clitools:Search"], folder, program=(sys.executable, "-c", code), FORCE_COLOR="1"
    )
    assert (status, out) == (2, "")
    assert (
        err == "operator-schema: the command line needs click and rich: pip install 'operator-schema[cli]'\n"
    )


@pytest.mark.needs_process
def test_a_pipe_gets_colour_only_when_it_is_forced(folder):
    argv = ["schema", "clitools:Search"]
    assert "\x1b" not in any_process(argv, folder)[1]
    assert "\x1b[" in any_process(argv, folder, FORCE_COLOR="1")[1]


@pytest.mark.needs_process
def test_json_is_ascii_where_the_encoding_is_narrow(folder):
    status, out, _ = process(
        ["decode", "clitools:Search"], folder, '{"query": "é€"}'.encode(), PYTHONIOENCODING="ascii"
    )
    assert (status, out) == (0, '{"query":"\\u00e9\\u20ac","mode":"fast"}\n')


@on_posix
@pytest.mark.needs_process
def test_what_the_system_writes_at_import_goes_to_standard_error(tmp_path):
    (tmp_path / "noisy.py").write_text(
        "import os\nos.write(1, b'by the system\\n')\nos.system('echo by a child')\n"
        "from operator_schema import tool\n\n@tool\ndef f() -> str:\n    'Do it.'\n    return 'done'\n",
        encoding="utf-8",
    )
    assert any_process(["call", "noisy:f"], tmp_path) == (0, "done\n", "by the system\nby a child\n")
