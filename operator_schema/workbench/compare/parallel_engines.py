"""How is work on the parts of a log run: in this process, on all cores, or on a cluster of dask or ray?

Every engine returns the results in the order of the parts, each of them once. The work can be pickled, and
depends only on its part, so if a process dies, its part is simply repeated. If that happens several times,
the part is lost, and the caller gets a result that says so.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from contextlib import suppress
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar

from ...lazy import names_meant
from ...message_text import clip, received

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future, ProcessPoolExecutor

    P = TypeVar("P")
    R = TypeVar("R")

ENGINES: Final = ("plain", "dask", "ray")
MOST_WORKERS: Final = 10_000

_TRIES: Final = 3
"""How many times a part is tried if its process dies."""

_AHEAD: Final = 4
"""How many parts per worker are submitted before the first of them is done."""

_FEW: Final = 4
"""The maximum number of parts that are done without starting processes."""


class EngineError(Exception):
    """An engine can't run; the message says why, and gives a remedy."""


class Lost(NamedTuple):
    """Stands for the result of a part whose process died each time.

    Attributes:
        reason: the reason in words.
    """

    reason: str


class Engine(Protocol):
    """Runs work on parts."""

    def map(self, work: Callable[[P], R], parts: Iterable[P], /) -> Iterator[tuple[P, R | Lost]]:
        """Yield each part with the result of the work for it, in order.

        Raises:
            EngineError: the engine can't run.
            Exception: the work raised it.
        """
        ...


def make_engine(name: str, workers: int | None = None, scheduler: str | None = None) -> Engine:
    """Return the engine of a name: processes on this machine, or a cluster of dask or ray.

    Args:
        name: a name from `ENGINES`.
        workers: the number of processes, 1 to `MOST_WORKERS`; by default one per core.
        scheduler: the address of a running cluster; by default the engine starts one on this machine.

    Raises:
        EngineError: there is no such engine or number of workers, it isn't installed, or has no scheduler.
    """
    _check(name, workers)
    if scheduler is not None and name == "plain":
        message = "a scheduler belongs to an engine: choose dask or ray"
        raise EngineError(message)
    if name == "plain":
        return Processes(workers or _cores())
    try:
        import_module("distributed" if name == "dask" else "ray")
    except ImportError:
        message = f"to use {name}, install the extra: pip install 'operator-schema[{name}]'"
        raise EngineError(message) from None
    return _DaskCluster(workers, scheduler) if name == "dask" else _RayCluster(workers, scheduler)


def _check(name: Any, workers: Any) -> None:
    if name not in ENGINES:
        meant = names_meant(name, ENGINES) if isinstance(name, str) else []
        hint = f"; did you mean {' or '.join(meant)}?" if meant else ""
        message = f"engine must be one of {', '.join(ENGINES)}, not {received(name)}{hint}"
        raise EngineError(message)
    if workers is not None and (type(workers) is not int or not 1 <= workers <= MOST_WORKERS):
        message = f"workers must be a whole number from 1 to {MOST_WORKERS:,}, not {received(workers)}"
        raise EngineError(message)


def _cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def _in_order(
    parts: Iterable[P], ahead: int, submit: Callable[[P], Any], result: Callable[[Any], R | Lost]
) -> Iterator[tuple[P, R | Lost]]:
    """Yield results in order, with a limited number of submitted parts."""
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
    """An engine with processes on all cores of this machine.

    Args:
        workers: the number of processes; with 1, everything happens in this process.
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
            yield from _in_order(chain(first, rest), _AHEAD * self._workers, pool.submit, pool.result)
        finally:
            pool.stop()


class _Pool:
    """Processes that may die.

    Args:
        work: the work for each part.
        workers: the number of processes.
    """

    def __init__(self, work: Callable[[Any], Any], workers: int) -> None:
        self._work = work
        self._workers = workers
        self._executor: ProcessPoolExecutor | None = None
        # Most work needs no process.
        self._futures: Any = import_module("concurrent.futures")

    def start(self) -> None:
        """Start the processes.

        Raises:
            EngineError: the processes end immediately.
        """
        self._executor = self._start_processes(self._workers)
        try:
            self._executor.submit(os.getpid).result()
        except (self._futures.BrokenExecutor, RuntimeError):
            self.stop()
            message = (
                "the processes end as soon as they start: a script that uses more than one worker has to "
                'start them below `if __name__ == "__main__":`'
            )
            raise EngineError(message) from None

    def submit(self, part: Any) -> tuple[Any, ProcessPoolExecutor, Future[Any]]:
        """Submit a part; return its handle."""
        executor = self._executor = self._executor or self._start_processes(self._workers)
        try:
            return part, executor, executor.submit(self._work, part)
        except self._futures.BrokenExecutor:
            self.stop()
            return self.submit(part)

    def result(self, handle: tuple[Any, ProcessPoolExecutor, Future[Any]]) -> Any:
        """Return the result for a handle; if a process died, repeat the part."""
        part, executor, future = handle
        try:
            return future.result()
        except (self._futures.BrokenExecutor, self._futures.CancelledError):
            if executor is not self._executor:  # the pool broke because of an earlier part
                return self.result(self.submit(part))
        # Any of the submitted parts may have been the reason. Alone it can't harm the others.
        self.stop()
        return self._alone(part)

    def _alone(self, part: Any) -> Any:
        for _ in range(_TRIES - 1):
            with self._start_processes(1) as executor, suppress(self._futures.BrokenExecutor):
                return executor.submit(self._work, part).result()
        return _lost()

    def _start_processes(self, workers: int) -> ProcessPoolExecutor:
        """Start new processes instead of forks, since a fork of a process with threads may hang."""
        context: Any = import_module("multiprocessing").get_context("spawn")
        begin = (_begin, (str(Path.cwd()), sys.path))
        made: ProcessPoolExecutor = self._futures.ProcessPoolExecutor(workers, context, *begin)
        return made

    def stop(self) -> None:
        """End the processes."""
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)
            self._executor = None


def _lost() -> Lost:
    """Return the placeholder for a part that was tried often enough."""
    return Lost(f"the process that read it died {_TRIES} times: it may need more memory than there is")


def _begin(folder: str, paths: list[str]) -> None:
    os.chdir(folder)  # it would start in the folder in which the first process started
    sys.path[:] = paths
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process ends the others


# --- dask ----------------------------------------------------------------------------------------


_PATIENCE = 30.0
"""How many seconds pass before checking whether workers still exist; they may be restarting."""


class _Cluster:
    """A cluster on this machine, or one that is already running.

    Args:
        workers: the number of processes, or cores, for a cluster on this machine.
        scheduler: the address of a running cluster.
    """

    def __init__(self, workers: int | None, scheduler: str | None) -> None:
        self._workers = workers
        self._scheduler = scheduler


class _DaskCluster(_Cluster):
    """A cluster of dask."""

    def map(self, work: Callable[[P], R], parts: Iterable[P], /) -> Iterator[tuple[P, R | Lost]]:
        """Yield each part with its result."""
        distributed: Any = import_module("distributed")
        given: Any = self._here(distributed) if self._scheduler is None else self._scheduler
        try:
            client = distributed.Client(given, set_as_default=False)
        except (OSError, ValueError) as error:
            message = f"no scheduler of dask answers at {self._scheduler}: {clip(str(error), 300)}"
            raise EngineError(message) from None

        def submit(part: P) -> Any:
            # The work isn't marked as pure: two parts may have equal content, and both count.
            return client.submit(work, part, pure=False)

        def result(future: Any) -> Any:
            try:
                return _wait_for(future, client)
            except distributed.KilledWorker:
                return _lost()
            finally:
                future.release()

        try:
            threads = max(1, sum(client.nthreads().values()))
            yield from _in_order(parts, _AHEAD * threads, submit, result)
        finally:
            client.close()
            if self._scheduler is None:
                given.close()

    def _here(self, distributed: Any) -> Any:
        """Start a cluster on this machine."""
        import logging

        dask: Any = import_module("dask")
        with dask.config.set({"distributed.scheduler.allowed-failures": _TRIES - 1}):
            return distributed.LocalCluster(
                n_workers=self._workers or _cores(),
                threads_per_worker=1,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
            )


def _wait_for(future: Any, client: Any) -> Any:
    """Return the result of a future.

    Raises:
        EngineError: no worker is left, so the result would never come.
    """
    missing = 0
    while True:
        try:
            return future.result(timeout=_PATIENCE)
        except TimeoutError:
            if future.done():  # just now, or it is an error of the work itself
                return future.result()
            missing = 0 if client.nthreads() else missing + 1
            if missing > 1:
                message = "all workers of dask have ended: they may need more memory than there is"
                raise EngineError(message) from None


# --- ray -----------------------------------------------------------------------------------------


class _RayCluster(_Cluster):
    """A cluster of ray; if this program has started or joined one already, that one is used."""

    def map(self, work: Callable[[P], R], parts: Iterable[P], /) -> Iterator[tuple[P, R | Lost]]:
        """Yield each part with its result."""
        ray: Any = import_module("ray")
        exceptions: Any = import_module("ray.exceptions")

        is_ours = not ray.is_initialized()
        if is_ours:
            self._start(ray)
        remote = ray.remote(max_retries=_TRIES - 1)(_run)
        shared = ray.put(work)

        def result(handle: Any) -> Any:
            try:
                return ray.get(handle)
            except exceptions.RayTaskError as error:
                raise (error.cause or error) from None
            except (exceptions.WorkerCrashedError, exceptions.OutOfMemoryError):
                return _lost()

        try:
            threads = int(ray.cluster_resources().get("CPU", 1))
            yield from _in_order(parts, _AHEAD * threads, lambda part: remote.remote(shared, part), result)
        finally:
            if is_ours:
                ray.shutdown()

    def _start(self, ray: Any) -> None:
        import logging

        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        # Workers on this machine find modules where this process finds them.
        paths = os.pathsep.join([os.path.abspath(path) for path in sys.path])  # noqa: PTH100  # "" is this folder
        here: dict[str, Any] = {
            "num_cpus": self._workers or _cores(),
            "include_dashboard": False,
            "runtime_env": {"env_vars": {"PYTHONPATH": paths}},
        }
        options = here if self._scheduler is None else {"address": self._scheduler}
        try:
            ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
        except Exception as error:  # noqa: BLE001  # ray raises that class itself
            message = f"ray can't be started or reached: {clip(str(error), 300)}"
            raise EngineError(message) from None


def _run(work: Callable[[Any], Any], part: Any) -> Any:
    """Do the work in another process of ray."""
    return work(part)
