"""A person is asked in one process, and answers in another, in which the tool may have changed."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from changed_tools import FIXED, change_of
from turns import Call

CASES = (*FIXED, *[str(number) for number in range(12)])
"""Changes that were chosen, and those that numbers draw."""


class Restart(NamedTuple):
    """What happened to a call over a restart.

    Attributes:
        read: what the person read; empty if nobody was asked.
        told: what the model reads at the end.
        ran: the arguments with which the tool ran, each time.
    """

    read: str
    told: str
    ran: list[Any]


def restart_of(module: Any, folder: Path) -> Mapping[str, Restart]:
    """Have a person asked about each case here, and agree in one other process; return what happened."""
    driver, read, told = module.DRIVER, {}, {}
    for case in CASES:
        change = change_of(case)
        (folder / case).mkdir()
        read[case], told[case] = driver.pause(change.old, Call("delete", change.arguments), folder / case)
        assert change.ran == []
    waiting = [case for case in CASES if read[case]]
    command = [sys.executable, __file__, module.__file__, str(folder), *waiting]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True)
    resumed = json.loads(done.stdout.splitlines()[-1])
    return {case: Restart(read[case], *resumed.get(case, (told[case], []))) for case in CASES}


def main(path: str, folder: str, *cases: str) -> None:
    """Agree to the calls that wait, and print what happens as JSON."""
    spec = importlib.util.spec_from_file_location("resumed", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["resumed"] = module
    spec.loader.exec_module(module)
    happened = {}
    for case in cases:
        change = change_of(case)
        told = module.DRIVER.resume(change.new, Call("delete", change.arguments), Path(folder, case))
        happened[case] = told, change.ran
    sys.stdout.write(json.dumps(happened))


if __name__ == "__main__":
    main(*sys.argv[1:])
