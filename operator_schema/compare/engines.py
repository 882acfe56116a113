"""Run work on the parts of a log: in this process, on all cores, or on machines that dask or ray knows.

Every engine gives the results in the order of the parts, each of them once. The work can be pickled, and
depends on its part alone, so a part whose process died is simply done again. If that happens again and again
the part is lost, which the caller is told.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future, ProcessPoolExecutor

    P = TypeVar("P")
    R = TypeVar("R")

__all__ = ["AHEAD", "TRIES", "Engine", "EngineError", "Lost", "Processes", "cores", "in_order", "lost"]

TRIES: Final = 3
"""How often a part is done whose process dies."""

AHEAD: Final = 4
"""Parts a worker that are handed out before the first of them is done."""

_FEW: Final = 4
"""So few parts are done before processes have started."""


class EngineError(Exception):
    """Says why an engine can't run, and what to do."""


class Lost(NamedTuple):
    """Stands for the result of a part whose process died each time.

    Attributes:
        reason: in words.
    """

    reason: str


class Engine(Protocol):
    """Runs work on parts."""

    def map(self, work: Callable[[P], R], parts: Iterable[P], /) -> Iterator[tuple[P, R | Lost]]:
        """Yield each part with what the work returns for it, in order.

        Raises:
            EngineError: the engine can't run.
            Exception: what the work raises.
        """
        ...


def cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def in_order(
    parts: Iterable[P], ahead: int, submit: Callable[[P], Any], result: Callable[[Any], R | Lost]
) -> Iterator[tuple[P, R | Lost]]:
    """Yield results in order, with a limited number of parts under way."""
    under_way: deque[tuple[P, Any]] = deque()
    for part in parts:
        under_way.append((part, submit(part)))
        if len(under_way) >= ahead:
            done, handle = under_way.popleft()
            yield done, result(handle)
    for done, handle in under_way:
        yield done, result(handle)


# --- processes -----------------------------------------------------------------------------------


class Processes:
    """All cores of this machine.

    Args:
        workers: processes; with one, everything happens in this process.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers

    def map(self, work: Callable[[P], R], parts: Iterable[P], /) -> Iterator[tuple[P, R | Lost]]:
        """Yield each part with its result."""
        rest = iter(parts)
        first = list(islice(rest, _FEW))
        if self._workers == 1 or len(first) < _FEW:
            for part in chain(first, rest):
                yield part, work(part)
            return
        pool = _Pool(work, self._workers)
        try:
            pool.start()
            yield from in_order(chain(first, rest), AHEAD * self._workers, pool.submit, pool.result)
        finally:
            pool.stop()


class _Pool:
    """Processes, any of which may die.

    Args:
        work: what they do with a part.
        workers: how many there are.
    """

    def __init__(self, work: Callable[[Any], Any], workers: int) -> None:
        self._work = work
        self._workers = workers
        self._executor: ProcessPoolExecutor | None = None

    def start(self) -> None:
        """Start the processes.

        Raises:
            EngineError: they end at once.
        """
        from concurrent.futures import BrokenExecutor

        self._executor = _executor(self._workers)
        try:
            self._executor.submit(os.getpid).result()
        except (BrokenExecutor, RuntimeError):
            self.stop()
            message = (
                "the processes end as soon as they start: a script that asks for more than one worker has to "
                'do that below `if __name__ == "__main__":`'
            )
            raise EngineError(message) from None

    def submit(self, part: Any) -> tuple[Any, ProcessPoolExecutor, Future[Any]]:
        """Hand a part out; return its handle."""
        from concurrent.futures import BrokenExecutor

        executor = self._executor = self._executor or _executor(self._workers)
        try:
            return part, executor, executor.submit(self._work, part)
        except BrokenExecutor:
            self.stop()
            return self.submit(part)

    def result(self, handle: tuple[Any, ProcessPoolExecutor, Future[Any]]) -> Any:
        """Return the result for a handle, after having done the part again if a process died."""
        from concurrent.futures import BrokenExecutor, CancelledError

        part, executor, future = handle
        try:
            return future.result()
        except (BrokenExecutor, CancelledError):
            if executor is not self._executor:  # it broke for an earlier part
                return self.result(self.submit(part))
        # Any of the parts under way may have been the reason. Alone it can't harm the others.
        self.stop()
        return self._alone(part)

    def _alone(self, part: Any) -> Any:
        from concurrent.futures import BrokenExecutor

        for _ in range(TRIES - 1):
            with _executor(1) as executor, suppress(BrokenExecutor):
                return executor.submit(self._work, part).result()
        return lost()

    def stop(self) -> None:
        """End the processes."""
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)
            self._executor = None


def lost() -> Lost:
    """Return the mark for a part that was tried often enough."""
    return Lost(f"the process that read it died {TRIES} times: it may need more memory than there is")


def _executor(workers: int) -> ProcessPoolExecutor:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # A fork of a process with threads may hang, so each of them begins anew.
    return ProcessPoolExecutor(workers, get_context("spawn"), _begin, (str(Path.cwd()), sys.path))


def _begin(folder: str, paths: list[str]) -> None:
    os.chdir(folder)  # it would begin in the folder where the first process did
    sys.path[:] = paths
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process ends the others
