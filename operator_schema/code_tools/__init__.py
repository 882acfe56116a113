"""Four tools that read a code base for a model: inspect, search, read_func and check_syntax.

They need the extra `code`: `pip install 'operator-schema[code]'`. Nothing of the code that is read is
run or imported.
"""

from __future__ import annotations

from .code_base import CodeBase
from .tools import CodeTools, code_tools

__all__ = ["CodeBase", "CodeTools", "code_tools"]


def __getattr__(name: str) -> object:
    """Make `here`, the tools of the current directory, when it is first asked for."""
    if name != "here":
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    found = globals()["here"] = code_tools()
    return found
