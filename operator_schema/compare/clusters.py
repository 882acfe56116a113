"""Engines on a cluster of dask or ray: one that they start on this machine, or one that runs already."""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ..lazy import names_meant
from ..message_text import clip, received
from .engines import AHEAD, TRIES, Engine, EngineError, Lost, Processes, cores, in_order, lost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    P = TypeVar("P")
    R = TypeVar("R")

__all__ = ["ENGINES", "MOST_WORKERS", "DaskCluster", "RayCluster", "make_engine"]

ENGINES: Final = ("plain", "dask", "ray")
MOST_WORKERS: Final = 10_000

_PATIENCE = 30.0
"""Seconds after which is looked whether there are workers still; they may be starting again."""


def make_engine(name: str, workers: int | None = None, scheduler: str | None = None) -> Engine:
    """Return an engine.

    Args:
        name: one of `ENGINES`.
        workers: processes, 1 to `MOST_WORKERS`; by default one a core.
        scheduler: the address of a running cluster; by default the engine starts one on this machine.

    Raises:
        EngineError: there is no such engine or number of workers, it isn't installed, or has no scheduler.
    """
    _check(name, workers)
    if scheduler is not None and name == "plain":
        message = "a scheduler belongs to an engine: choose dask or ray"
        raise EngineError(message)
    if name == "plain":
        return Processes(workers or cores())
    engine = DaskCluster(workers, scheduler) if name == "dask" else RayCluster(workers, scheduler)
    try:
        engine.check()
    except ImportError:
        message = f"to use {name}, install the extra: pip install 'operator-schema[{name}]'"
        raise EngineError(message) from None
    return engine


def _check(name: Any, workers: Any) -> None:
    if name not in ENGINES:
        meant = names_meant(name, ENGINES) if isinstance(name, str) else []
        hint = f"; did you mean {' or '.join(meant)}?" if meant else ""
        message = f"engine must be one of {', '.join(ENGINES)}, not {received(name)}{hint}"
        raise EngineError(message)
    if workers is not None and (type(workers) is not int or not 1 <= workers <= MOST_WORKERS):
        message = f"workers must be a whole number from 1 to {MOST_WORKERS:,}, not {received(workers)}"
        raise EngineError(message)


# --- dask ----------------------------------------------------------------------------------------


class _Cluster:
    """A cluster, on this machine or one that runs already.

    Args:
        workers: processes, or cores, of a cluster on this machine.
        scheduler: the address of a cluster that runs already.
    """

    def __init__(self, workers: int | None, scheduler: str | None) -> None:
        self._workers = workers
        self._scheduler = scheduler


class DaskCluster(_Cluster):
    """A cluster of dask."""

    def check(self) -> None:
        """Raise ImportError if dask isn't there."""
        import distributed  # noqa: F401  # only whether it is there

    def map(self, work: Callable[[P], R], parts: Iterable[P], /) -> Iterator[tuple[P, R | Lost]]:
        """Yield each part with its result."""
        import dask
        from distributed import Client, KilledWorker, LocalCluster

        if self._scheduler is None:
            workers = self._workers or cores()
            with dask.config.set({"distributed.scheduler.allowed-failures": TRIES - 1}):
                given: Any = LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    dashboard_address=None,
                    silence_logs=logging.CRITICAL,
                )
        else:
            given = self._scheduler
        try:
            client = Client(given, set_as_default=False)
        except (OSError, ValueError) as error:
            message = f"no scheduler of dask answers at {self._scheduler}: {clip(str(error), 300)}"
            raise EngineError(message) from None

        def submit(part: P) -> Any:
            # Not pure: two parts may have equal content, and each of them counts.
            return client.submit(work, part, pure=False)

        def result(future: Any) -> Any:
            try:
                return _waited(future, client)
            except KilledWorker:
                return lost()
            finally:
                future.release()

        try:
            threads = max(1, sum(client.nthreads().values()))
            yield from in_order(parts, AHEAD * threads, submit, result)
        finally:
            client.close()
            if self._scheduler is None:
                given.close()


def _waited(future: Any, client: Any) -> Any:
    """Return the result of a future.

    Raises:
        EngineError: no worker is left, so that it would never come.
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


class RayCluster(_Cluster):
    """A cluster of ray; one that this program has started or joined already is used as it is."""

    def check(self) -> None:
        """Raise ImportError if ray isn't there."""
        import ray  # noqa: F401  # only whether it is there

    def map(self, work: Callable[[P], R], parts: Iterable[P], /) -> Iterator[tuple[P, R | Lost]]:
        """Yield each part with its result."""
        import ray
        from ray.exceptions import OutOfMemoryError, RayTaskError, WorkerCrashedError

        is_ours = not ray.is_initialized()
        if is_ours:
            self._start(ray)
        remote = ray.remote(max_retries=TRIES - 1)(_run)
        shared = ray.put(work)

        def result(handle: Any) -> Any:
            try:
                return ray.get(handle)
            except RayTaskError as error:
                raise (error.cause or error) from None
            except (WorkerCrashedError, OutOfMemoryError):
                return lost()

        try:
            threads = int(ray.cluster_resources().get("CPU", 1))
            yield from in_order(parts, AHEAD * threads, lambda part: remote.remote(shared, part), result)
        finally:
            if is_ours:
                ray.shutdown()

    def _start(self, ray: Any) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        # Workers on this machine find modules where this process finds them.
        paths = os.pathsep.join([os.path.abspath(path) for path in sys.path])  # noqa: PTH100  # "" is this folder
        here: dict[str, Any] = {
            "num_cpus": self._workers or cores(),
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
    """Do the work: what ray runs in another process."""
    return work(part)
