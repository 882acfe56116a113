"""Which event loop runs here: that of `asyncio`, or that of trio."""

from __future__ import annotations

from sys import modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .event_loop import Backend

__all__ = ["current_backend", "is_cancellation", "running_backends"]


_loaded: dict[str, Backend] = {}


def current_backend() -> Backend:
    """Return the backend of the event loop that runs here."""
    if "trio" in modules and _runs_trio("in_trio_task"):
        return _trio()
    return _loaded.get("asyncio") or _asyncio()


def running_backends() -> list[Backend]:
    """List the backends whose event loops run in this thread: none, one, or both in trio's guest mode."""
    found: list[Backend] = []
    if "trio" in modules and _runs_trio("in_trio_run"):
        found.append(_trio())
    backend = _loaded.get("asyncio") or _asyncio()
    try:
        backend.home()
    except RuntimeError:
        return found
    return [*found, backend]


def is_cancellation(outcome: object) -> bool:
    """Return whether an outcome says that a function was cancelled."""
    if issubclass(type(outcome), GeneratorExit):
        return True
    for module, name in (("asyncio", "CancelledError"), ("trio", "Cancelled")):
        kind = getattr(modules.get(module), name, None)
        if kind is not None and issubclass(type(outcome), kind):
            return True
    return False


def _runs_trio(question: str) -> bool:
    # Another thread may be importing it at this moment.
    ask = getattr(getattr(modules["trio"], "lowlevel", None), question, None)
    return ask is not None and ask()


def _asyncio() -> Backend:
    from . import on_asyncio

    return _loaded.setdefault("asyncio", on_asyncio.AsyncioBackend())


def _trio() -> Backend:
    if "trio" not in _loaded:
        from . import on_trio

        _loaded["trio"] = on_trio.TrioBackend()
    return _loaded["trio"]
