"""What a forked child has of the signal handlers that its parent sets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from patience import LONGEST_WAIT

pytestmark = [
    pytest.mark.slow("forks 96 processes, one after the other"),
    pytest.mark.needs_process,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system doesn't fork"),
]

ROOT = Path(__file__).resolve().parents[1]

ALL_HANDLERS = """
import asyncio, json, os, signal, socket, sys, threading
from contextlib import ExitStack
from itertools import product
from operator_schema.processes import kept_from_children

def own(*_): ...
def later(*_): ...

def seen_in_child(number):
    ours, theirs = os.pipe()
    if (child := os.fork()) == 0:
        is_blocked = number in signal.pthread_sigmask(signal.SIG_BLOCK, [])
        found = [handlers.index(signal.getsignal(number)), signal.set_wakeup_fd(-1), is_blocked]
        os.write(theirs, json.dumps(found).encode())
        os._exit(0)
    os.close(theirs)
    os.waitpid(child, 0)
    with open(ours) as pipe:
        return json.load(pipe)

def in_thread(work, *args):
    found = []
    thread = threading.Thread(target=lambda: found.append(work(*args)))
    thread.start()
    thread.join()
    return found[0]

def set_by_loop(loop, number):
    loop.add_signal_handler(number, later)

def set_plainly(loop, number):
    signal.signal(number, later)

def ignored(loop, number):
    signal.signal(number, signal.SIG_IGN)

def by_default(loop, number):
    signal.signal(number, signal.SIG_DFL)

handlers = [signal.SIG_DFL, signal.SIG_IGN, own]
numbers = [signal.SIGINT, signal.SIGTERM]
ways = [set_by_loop, set_plainly, ignored, by_default]
cases = list(product(numbers, range(3), ways, [1, 2], [lambda work, *args: work(*args), in_thread]))
wrong = []
for number, before, way, depth, where in cases:
    loop = asyncio.new_event_loop()
    signal.signal(number, handlers[before])
    with ExitStack() as scopes:
        for _ in range(depth):
            scopes.enter_context(kept_from_children())
            way(loop, number)
        found = where(seen_in_child, number)
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    if found != [before, -1, False] or mask:
        wrong.append([number, before, way.__name__, depth, found])
    loop.remove_signal_handler(number)
    loop.close()

# Outside, children inherit as ever.
signal.signal(signal.SIGTERM, later)
handlers.append(later)
print(json.dumps([len(cases), wrong, seen_in_child(signal.SIGTERM)]))
"""


def test_a_child_has_the_handlers_from_before_whatever_is_set_meanwhile():
    done = subprocess.run(
        [sys.executable, "-c", ALL_HANDLERS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=LONGEST_WAIT,
        check=True,
    )
    assert json.loads(done.stdout) == [2 * 3 * 4 * 2 * 2, [], [3, -1, False]]
