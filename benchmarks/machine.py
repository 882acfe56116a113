"""The machine, the versions and the date of a run."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path

from .contestants import CONTESTANTS, OF_FUNCTIONS, version_of


def machine() -> dict[str, str]:
    """Return what a reader should know about the machine."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "load before": f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown",
    }


def versions() -> dict[str, str]:
    """Return the version of every contestant, or `not installed`."""
    everybody = dict.fromkeys((*CONTESTANTS, *OF_FUNCTIONS))
    found = {each.name: version_of(each) for each in everybody}
    return {
        name: "not installed" if version is None else version
        for name, version in found.items()
        if version != ""
    }


def folder_name() -> str:
    """Return the name of the folder of results for this interpreter: `cpython-3.11`."""
    return f"{platform.python_implementation().lower()}-{'.'.join(platform.python_version_tuple()[:2])}"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
