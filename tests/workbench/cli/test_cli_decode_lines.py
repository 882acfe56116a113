"""The command decode, with a value a line."""

from __future__ import annotations

import re
import subprocess

import pytest
import warm_processes
from cli_samples import LINES, environment
from patience import LONGEST_WAIT


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
    argv = [*warm_processes.command(), "decode", "--lines", "--quiet", "clitools:Strict"]
    with subprocess.Popen(
        argv, cwd=folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as child:
        child.stdin.write(b"null\n")
        child.stdin.flush()
        assert child.stderr.readline().startswith(b"<stdin>:1: ")
        child.stdin.close()
        assert child.wait(timeout=LONGEST_WAIT) == 1


@pytest.mark.needs_process
def test_values_and_problems_come_in_order_when_they_share_a_file(folder):
    command = [*warm_processes.command(), "decode", "--lines", "clitools:Strict"]
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
