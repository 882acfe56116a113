"""How many instructions does it take until the first Event is decoded?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from ..contestants import Cant, chosen, load
from ..measure import ROOT, Entry, Plan, process, race, samplers

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..contestants import Contestant

TITLE = "Start-up to the first decoded Event, in instructions"
HOW = (
    "import, registration and first decode in a new interpreter, as cachegrind of valgrind counts "
    "instructions, less those of an interpreter that imports the types alone. Other work on the machine "
    "doesn't change the number"
)
UNIT = "instructions"

ROUNDS = 1  # the same process takes the same instructions, but for a few thousand

TYPES_ALONE = """
import benchmarks.peers
from benchmarks.samples import EVENT
from benchmarks.types_ import Event
"""
CODE = f"""{TYPES_ALONE}
from benchmarks.peers import {{0}} as peer
peer.decoder(Event)(EVENT)
"""


def run(plan: Plan) -> dict[str, dict[str, Entry]]:
    """Count the instructions of every contestant; of none where there is no valgrind."""
    if shutil.which("valgrind") is None:
        return {}
    _compile(TYPES_ALONE)
    alone = instructions_of(TYPES_ALONE)
    entrants = samplers(chosen(quick=plan.quick), lambda each: _sampler(each, alone))
    return {"Event": race("start-up, instructions", entrants, plan, ROUNDS)}


def _sampler(contestant: Contestant, alone: float) -> Callable[[], float]:
    load(contestant)
    code = CODE.format(contestant.module)
    _compile(code)
    return lambda: instructions_of(code) - alone


def _compile(code: str) -> None:
    """Run code once, so that the byte code of what it imports is written."""
    process(f"{code}\nprint(0)")()


def instructions_of(code: str) -> float:
    """Return the number of instructions that a new interpreter takes to run code.

    Raises:
        Cant: it fails.
    """
    counter = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [*counter, sys.executable, "-c", code],
        cwd=ROOT,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    found = re.search(r"I\s+refs:\s+([0-9,]+)", done.stderr)
    if done.returncode or found is None:
        message = f"can't: {done.stderr.strip().splitlines()[-1][:100]}"
        raise Cant(message)
    return float(found[1].replace(",", ""))
