"""What docs/probe.md shows is what the command prints, and its table of checks is complete."""

import os
import platform
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import warm_processes

pytest.importorskip("hypothesis")
pytest.importorskip("mcp")

import hypothesis

from operator_schema.workbench.probe.checks import CHECKS

ROOT = Path(__file__).parents[3]
FILE = ROOT / "docs" / "probe.md"
PAGE = FILE.read_text(encoding="utf-8")
COMMANDS = re.findall(r"```console\n\$ (.*)\n", PAGE)
SHOP = re.search(r"```python\n(from operator_schema import Registry.*?)```", PAGE, re.DOTALL)[1]
WRITTEN_WITH = ("3.11", "6.170.17")
"""Versions of Python and Hypothesis, which draw the calls; others may draw other ones."""
IS_SAME = (platform.python_version().rpartition(".")[0], hypothesis.__version__) == WRITTEN_WITH


PROBES = """
import sys
from operator_schema.workbench.cli import main

sys.executable = sys.argv[1]
sys.exit(main(sys.argv[2:]))
"""
"""The command, which starts servers by another Python."""


def python() -> str:
    """Return the path of a Python for servers, which takes most of the time to import the SDK of MCP."""
    if not warm_processes.CAN_FORK:
        return sys.executable
    server = warm_processes.command(serves=True)[-1]
    return warm_processes.python(server, skipped=len(["-m", "operator_schema"]))


def printed(command: str, folder: Path) -> str:
    """Run a command as where the package is installed; elsewhere Hypothesis draws its constants, too."""
    (folder / "shop.py").write_text(SHOP, encoding="utf-8")
    installed = folder / "site-packages"
    installed.mkdir()
    (installed / "operator_schema").symlink_to(ROOT / "operator_schema", target_is_directory=True)
    enough = [] if "--dry-run" in command else ["--seconds", "600"]  # then nothing depends on the machine
    words = [sys.executable, "-c", PROBES, python(), *shlex.split(command)[1:], *enough]
    env = {**os.environ, "PYTHONPATH": str(installed), "COLUMNS": "110"}
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert not done.stderr
    return done.stdout


def without_numbers(text: str) -> str:
    return re.sub(r" *\d[\d,]* *", " N ", text)


@pytest.mark.needs_process
@pytest.mark.slow("it starts servers")
@pytest.mark.parametrize("command", COMMANDS)
def test_the_page_shows_what_the_command_prints(command, tmp_path, request):
    before, block, after = re.split(rf"(?<=\$ {re.escape(command)}\n)([^`]*)(?=```)", FILE.read_text("utf-8"))
    found = printed(command, tmp_path)
    if request.config.getoption("--write-golden") and IS_SAME:
        FILE.write_text(f"{before}{found}{after}", encoding="utf-8")
        block = found
    shown = str if IS_SAME else without_numbers
    assert shown(found) == shown(block)


def test_the_page_lists_every_check():
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*) \|$", PAGE, re.MULTILINE)
    assert rows == [(check.code, check.severity, check.meaning) for check in CHECKS.values()]
