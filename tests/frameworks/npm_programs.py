"""Programs for Node.js, from npm."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def installed_from_npm(package, version):
    """Install a program for Node.js once, and return its folder."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip(f"there is no npm here, and {package} is a program for Node.js")
    folder = ROOT / ".venv-frameworks" / f"{package.rpartition('/')[2]}-{version}"
    if not (folder / "node_modules" / package).is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        options = ("--no-audit", "--no-fund", "--ignore-scripts", "--silent", "--prefix", str(folder))
        done = subprocess.run([npm, "install", *options, f"{package}@{version}"], check=False, timeout=180)
        if done.returncode != 0:
            pytest.skip(f"npm can't install {package}: its registry isn't reached from here")
    return folder
