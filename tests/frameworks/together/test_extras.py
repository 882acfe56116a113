"""Whoever has tools in a framework may also serve them: `mcp` can be installed beside every other extra."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
UV = ROOT / ".venv-uv" / "bin" / "uv"
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]
APART = {"semantic-kernel"}
"""Those that want the SDK of MCP of the generation before: docs/mcp.md says so."""


def resolved(*extras):
    """Return name to version of what is installed, or what the resolver says."""
    command = [
        *(UV, "pip", "compile", "--quiet", "--no-header", "--no-annotate", "--python-version", "3.11"),
        *("--override", ROOT / "tests" / "frameworks" / "overrides.txt", ROOT / "pyproject.toml"),
        *[word for extra in extras for word in ("--extra", extra)],
    ]
    done = subprocess.run(command, capture_output=True, check=False, text=True, timeout=300)
    if done.returncode:
        if "No solution found" not in done.stderr:
            pytest.skip(f"the index isn't reached from here: {done.stderr[-300:]}")
        return done.stderr
    lines = [line.partition(" ")[0].partition("==") for line in done.stdout.splitlines() if "==" in line]
    return {name: version for name, _, version in lines}


@pytest.mark.skipif(not UV.exists(), reason="make test-frameworks installs it")
@pytest.mark.parametrize("extra", sorted(set(EXTRAS) - APART))
def test_mcp_can_be_installed_beside(extra):
    found = resolved("mcp", extra)
    assert isinstance(found, dict), found
    assert found["mcp"].startswith("2.")


@pytest.mark.skipif(not UV.exists(), reason="make test-frameworks installs it")
@pytest.mark.parametrize("extra", sorted(APART))
def test_what_is_kept_apart_has_to_be(extra):
    found = resolved("mcp", extra)
    assert isinstance(found, str), "it can be installed beside mcp now: say so, here and on the page"
    assert "depends on mcp" in found
