"""What docs/probe.md shows is what the command prints, and its table of checks is complete."""

import re
import shlex
import sys
from pathlib import Path

import pytest

pytest.importorskip("hypothesis")
pytest.importorskip("mcp")

from operator_schema.cli import main
from operator_schema.probe.checks import CHECKS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "probe.md").read_text(encoding="utf-8")
BLOCKS = [block.split("\n", 1) for block in re.findall(r"```console\n\$ (.*?)```", PAGE, re.DOTALL)]
SHOP = re.search(r"```python\n(from operator_schema import Registry.*?)```", PAGE, re.DOTALL)[1]


def without_numbers(text):
    """Leave out how many calls were drawn, which another version of Hypothesis may do otherwise."""
    return re.sub(r" *\d[\d,]* *", " N ", text)


@pytest.mark.needs_process
@pytest.mark.slow("it starts servers")
@pytest.mark.parametrize(("command", "shown"), BLOCKS, ids=[command for command, _ in BLOCKS])
def test_the_page_shows_what_the_command_prints(command, shown, tmp_path, monkeypatch, capsys):
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delitem(sys.modules, "shop", raising=False)
    main(shlex.split(command)[1:])
    assert without_numbers(capsys.readouterr().out) == without_numbers(shown)


def test_the_page_lists_every_check():
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*) \|$", PAGE, re.MULTILINE)
    assert rows == [(check.code, check.severity, check.meaning) for check in CHECKS.values()]
