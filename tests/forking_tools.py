"""Tools that start processes and end them, each in its own way."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time

from operator_schema import Registry, tool

registry = Registry()
FORKED = multiprocessing.get_context("fork")
ENDINGS = (signal.SIGTERM, signal.SIGINT)
RAISES = sys.version_info < (3, 13)
"""Whether an interrupt is raised in a process that a thread has forked: Python 3.13 runs no handler there."""


@registry.register
@tool
def pool(size: int) -> list[str]:
    """Work in processes, which the pool ends by SIGTERM before they have done anything else."""
    with FORKED.Pool(size) as workers:
        return workers.map(str, range(size))


@registry.register
@tool
def at_once() -> str:
    """End a process that has hardly begun."""
    worker = FORKED.Process(target=time.sleep, args=(1000,))
    worker.start()
    worker.terminate()
    worker.join()
    return f"ended by {-worker.exitcode}"


@registry.register
@tool
def forked() -> list[str]:
    """End processes that are at work by each signal."""
    return [how_it_ends(number) for number in ENDINGS if number is not signal.SIGINT or RAISES]


def how_it_ends(number: int) -> str:
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(theirs, b"ready")
            while True:  # a wait that begins after the signal has come would be no end
                pass
        except KeyboardInterrupt:
            os._exit(7)
        finally:
            os._exit(8)
    os.read(ours, 5)
    os.close(ours)
    os.close(theirs)
    os.kill(child, number)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return "interrupted" if status == 7 else f"ended by {-status}"


@registry.register
@tool
def program() -> list[str]:
    """End programs by each signal, of which the first has a function that runs before it."""
    code = "import signal; signal.signal(signal.SIGINT, signal.SIG_DFL); print(flush=True); signal.pause()"
    statuses = []
    for number, prepare in zip(ENDINGS, (os.getpid, None), strict=True):
        with subprocess.Popen(
            [sys.executable, "-S", "-c", code],
            stdout=subprocess.PIPE,
            preexec_fn=prepare,  # noqa: PLW1509  # what tools do, whether they should or not
        ) as started:
            started.stdout.read(1)
            started.send_signal(number)
        statuses.append(f"ended by {-started.returncode}")
    return statuses


CALLS = [*[("pool", {"size": 3})] * 4, *[("at_once", {})] * 8, ("forked", {}), ("program", {})]
"""Those that depend on who is faster, several times."""
EXPECTED = {
    "pool": ["0", "1", "2"],
    "at_once": "ended by 15",
    "forked": ["ended by 15", "interrupted"][: 1 + RAISES],
    "program": ["ended by 15", "ended by 2"],
}
ANSWERS = [EXPECTED[name] for name, _ in CALLS]
