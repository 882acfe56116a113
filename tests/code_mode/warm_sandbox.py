"""A sandbox of processes whose interpreter needn't start, which is what takes longest."""

from __future__ import annotations

from pathlib import Path

import warm_programs

from operator_schema.code_mode import ProcessSandbox, child

OPTIONS = ("-s", "-P", "-B", "-X", "utf8")
"""With which a program is started."""
IMPORTED = ("ast", "datetime", "fcntl", "json", "linecache", "random", "resource", "threading", "traceback")
"""What its process imports."""


def warm_sandbox() -> ProcessSandbox:
    """Make a sandbox whose processes are forks of one."""
    return ProcessSandbox(warm_programs.interpreter(Path(child.__file__), *IMPORTED, options=OPTIONS))
