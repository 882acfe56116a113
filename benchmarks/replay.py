"""Measure `replay` and `decode_lines` beside other readers of JSON lines: one core, and several.

    python -m benchmarks.replay [CALLS]

CPU times are compared with each other, in one run. The ratio of two workers to one means something only on a
machine that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from operator_schema import tool
from operator_schema.recordings import parts_of
from operator_schema.workbench.bulk import decode_lines
from operator_schema.workbench.compare.parallel_engines import Lost, make_engine
from operator_schema.workbench.compare.replay import ReplayWork

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class Line:
    """A line of an order."""

    sku: str
    number: int


@dataclass
class Arguments:
    """The arguments of `refund`, for readers that know no tools."""

    order: int
    amount: float
    lines: list[Line]
    reason: str = ""


@dataclass
class Call:
    """A recorded call, as a whole."""

    id: str
    name: str
    arguments: Arguments


@tool
def refund(order: int, amount: float, lines: list[Line], reason: str = "") -> str:
    """Pay back."""
    return f"{order} {amount} {lines} {reason}"


def tools() -> list[Any]:
    """Return the tools that calls are replayed against."""
    return [refund]


def write_calls(path: Path, number: int) -> None:
    """Write calls that all fit, because not every reader goes on after one that doesn't."""
    draw = random.Random(0)  # noqa: S311  # the same calls each time
    with path.open("w") as stream:
        for each in range(number):
            lines = [{"sku": f"a{each % 50}", "number": each % 7} for _ in range(each % 3)]
            arguments = {"order": each, "amount": draw.random() * 100, "lines": lines, "reason": "late"}
            stream.write(json.dumps({"id": str(each), "name": "refund", "arguments": arguments}) + "\n")


def replayed(path: Path, workers: int) -> int:
    """Replay a log; return the number of calls."""
    work = ReplayWork(tools, None, with_rows=False, run=os.urandom(8).hex())
    whole = work.empty()
    for _, result in make_engine("plain", workers).map(work, parts_of(str(path))):
        if isinstance(result, Lost):
            raise RuntimeError(result.reason)
        whole.merge(result)
    return whole.found.calls


def with_columns(path: Path) -> int:
    """Decode a log into columns; return the number of rows."""
    return sum(batch.rows.num_rows for batch in decode_lines(refund, path))


def with_pydantic(path: Path) -> int:
    """Validate each line with pydantic's TypeAdapter."""
    from pydantic import TypeAdapter

    read = TypeAdapter(Call).validate_json
    with path.open("rb") as stream:
        return sum(1 for line in stream if read(line))


def with_msgspec(path: Path) -> int:
    """Decode each line with msgspec."""
    import msgspec

    read = msgspec.json.Decoder(Call).decode
    with path.open("rb") as stream:
        return sum(1 for line in stream if read(line))


def with_arrow(path: Path) -> int:
    """Read the lines with pyarrow, without a type: the upper bound."""
    import pyarrow as pa
    from pyarrow import json as reader

    options = reader.ReadOptions(use_threads=False)
    pa.set_cpu_count(1)
    count: int = reader.read_json(path, read_options=options).num_rows
    return count


def with_loads(loads: Callable[[bytes], Any], path: Path) -> int:
    """Parse each line and decode its arguments, knowing the form of the line and the tool."""
    decode = refund.codec.compile().decode
    with path.open("rb") as stream:
        return sum(1 for line in stream if decode(loads(line)["arguments"]))


def with_orjson(path: Path) -> int:
    """Parse each line with orjson, and decode its arguments."""
    import orjson

    return with_loads(orjson.loads, path)


ROUNDS = 3
"""Runs with one worker and with two, by turns: a neighbour that is busy for a moment doesn't decide."""

ONE_CORE: dict[str, Callable[[Path], int]] = {
    "replay": lambda path: replayed(path, 1),
    "decode_lines": with_columns,
    "pydantic, TypeAdapter": with_pydantic,
    "msgspec": with_msgspec,
    "pyarrow, JSON reader": with_arrow,
    "json.loads + our decode": lambda path: with_loads(json.loads, path),
    "orjson + our decode": with_orjson,
}

LIMITS = {
    "json.loads + our decode": {"replay": 1.65, "decode_lines": 2.3},
    "orjson + our decode": {"replay": 3.0, "decode_lines": 4.5},
}
"""How many times as long ours may take. With orjson both read as it does, so only its row counts then."""


def main() -> int:
    """Print a table; the exit status is 1 if a limit is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("calls", type=int, nargs="?", default=1_000_000)
    calls: int = parser.parse_args().calls
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "calls.jsonl"
        write_calls(path, calls)
        print(f"{calls:,} calls, {path.stat().st_size / 1e6:.0f} MB")
        times: dict[str, float] = {}
        for name, read in ONE_CORE.items():
            try:
                times[name] = processor_time(read, path, calls)
            except ImportError as error:
                print(f"{name}: left out: {error}")
        base = [name for name in LIMITS if name in times][-1]
        for name, seconds in times.items():
            ratio = seconds / times[base]
            print(f"{name:24} {seconds:8.2f} s of one core, {ratio:5.2f} × {base}")
        walls: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(ROUNDS):
            for workers, measured in walls.items():
                begin = time.perf_counter()
                replayed(path, workers)
                measured.append(time.perf_counter() - begin)
        ratio = min(walls[1]) / min(walls[2])
        print(f"two workers are {ratio:.2f} times as fast as one, by the quickest of {ROUNDS} runs each")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"peak memory of all of these: {peak / 1024:.0f} MB")
    missed = [
        name for name, limit in LIMITS[base].items() if name in times and times[name] > limit * times[base]
    ]
    for name in missed:
        print(f"{name} takes more than {LIMITS[base][name]} times as long as {base}")
    return 1 if missed else 0


def processor_time(read: Callable[[Path], int], path: Path, calls: int) -> float:
    """Return the seconds that reading a log takes, in the quickest of the rounds.

    Raises:
        RuntimeError: not every call was read.
    """
    taken: list[float] = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        if read(path) != calls:
            raise RuntimeError(read.__name__)
        taken.append(time.process_time() - begin)
    return min(taken)


if __name__ == "__main__":
    sys.exit(main())
