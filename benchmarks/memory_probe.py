"""Register many types in this process, and print the bytes that each takes."""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import sys
from pathlib import Path

from .fresh import module_of_source

KINDS = ("str", "int", "float", "bool", "list[str]", "int | None", "dict[str, int]")
TYPE = """
@dataclass
class Type{number}:
    name: str
    first: {first}
    second: {second}
"""


class _Allocated(ctypes.Structure):
    """The result of glibc's `mallinfo2`."""

    _names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = tuple((name, ctypes.c_size_t) for name in _names.split())


def allocated() -> int:
    """Return the bytes that are in use: Python's own, and those of C and Rust.

    This needs `PYTHONMALLOC=malloc`. Without glibc it is the resident memory, which is less exact:
    memory that was freed before may be used again unnoticed.
    """
    try:
        ask = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError, TypeError):
        return _resident()
    ask.restype = _Allocated
    answer = ask()
    return int(answer.uordblks + answer.hblkhd)


def _resident() -> int:
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def types(number: int, prefix: str = "") -> list[type]:
    """Make distinct types of three fields."""
    count = len(KINDS)
    parts = [
        TYPE.format(number=f"{prefix}{each}", first=KINDS[each % count], second=KINDS[each // count % count])
        for each in range(number)
    ]
    head = "from __future__ import annotations\nfrom dataclasses import dataclass\n"
    module = module_of_source(head + "".join(parts))
    return [value for name, value in vars(module).items() if name.startswith("Type")]


def run(module: str, number: int) -> None:
    """Print how many bytes a type takes after a contestant has registered it."""
    peer = importlib.import_module(f"benchmarks.peers.{module}")
    warm = [registered(peer, cls) for cls in types(20, "Warm")]
    classes = types(number)
    gc.collect()
    before = allocated()
    held = [registered(peer, cls) for cls in classes]
    gc.collect()
    print((allocated() - before) / number)
    del warm, held


def registered(peer: object, cls: type) -> object:
    """Register a type, make its schema once, and return what is kept."""
    kept = peer.register(cls)
    if hasattr(kept, "json_schema"):
        kept.json_schema()
    elif hasattr(kept, "get_json_schema"):
        kept.get_json_schema()
    return kept
