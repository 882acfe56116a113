"""How are the modules of a program imported again when their files change?"""

from __future__ import annotations

import importlib
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from .module_loading import file_of, given_files

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
    from types import ModuleType

    from .output import Printer

T = TypeVar("T")


class SourceFiles:
    """The files of the modules of a program, and whether they have changed.

    A module belongs to the program if it is in the same package as the served module; or if its file is below
    the current folder or the folder of a named file, but not in `site-packages`.

    Args:
        module: name of the served module.
    """

    def __init__(self, module: str) -> None:
        self._package = module.partition(".")[0]
        named = [os.path.dirname(file) for file in given_files()]
        self._folders = tuple([os.path.join(folder, "") for folder in (os.getcwd(), *named)])
        # Python considers a cached module current if its source has the same size and was changed in the same
        # second.
        sys.dont_write_bytecode = True
        self._seen = self._times()

    def have_changed(self) -> bool:
        """Return whether a file has changed since the last call, or since the import."""
        before, self._seen = self._seen, self._times()
        return before != self._seen

    def import_again(self, load: Callable[[], T]) -> T:
        """Import everything again; if that fails, restore all modules.

        Args:
            load: imports the modules, and returns the result.

        Raises:
            BaseException: `load` raised it.
        """
        before = dict(self._modules())
        for name in before:
            del sys.modules[name]
        importlib.invalidate_caches()
        try:
            return load()
        except BaseException:  # also for SystemExit and an interrupt: the old modules must work again
            for name, _ in list(self._modules()):
                del sys.modules[name]
            sys.modules.update(before)
            raise
        finally:
            self._seen = self._times()

    def _modules(self) -> Iterator[tuple[str, ModuleType]]:
        for name, module in list(sys.modules.items()):
            if name != "__main__" and any(map(self._is_own, _files_of(module), [name] * 2)):
                yield name, module

    def _is_own(self, file: str, name: str) -> bool:
        if f"{name}.".startswith(f"{self._package}."):
            return True
        return file.startswith(self._folders) and "site-packages" not in file

    def _times(self) -> dict[str, int]:
        files = {file for _, module in self._modules() for file in _files_of(module)}
        return {file: time for file in files if (time := _time_of(file)) is not None}


_SECONDS_BETWEEN_LOOKS = 0.3


@asynccontextmanager
async def following(
    module: str,
    load: Callable[[], T],
    take: Callable[[T], Awaitable[str]],
    err: Printer,
    failed: Callable[[str], object] = str,
) -> AsyncGenerator[None]:
    """While the context lasts, import the modules of a program again whenever their files change.

    If an import fails, standard error shows the reason, and the program continues with the previous modules.

    Args:
        module: the name of the served module.
        load: a function that imports it, and returns the served object.
        take: a function that serves this object from now on, and describes it in words.
        err: standard error.
        failed: a function that also gets the reason of a failed import.
    """
    import asyncio

    async def follow() -> None:
        files = SourceFiles(module)
        while True:
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
            if not files.have_changed():
                continue
            try:
                said = await take(await asyncio.to_thread(files.import_again, load))
            except Exception as error:  # noqa: BLE001  # the program that is being changed
                failed(str(error))
                err.report("", f"not reloaded: {error}")
            else:
                err.line(f"operator-schema: reloaded, {said}", "dim")
            err.flush()

    changes = asyncio.create_task(follow())
    try:
        yield
    finally:
        changes.cancel()


def _files_of(module: ModuleType) -> list[str]:
    """Return the file of a module, and the folder of a package: a new file in it may be a new module."""
    file = file_of(module)
    if file is None:
        return []
    # Asked of all modules several times a second while files are followed: a `Path` takes twice as long.
    # The current folder may be gone, so nobody asks for it without need.
    whole = file if file.startswith(os.sep) else os.path.join(os.getcwd(), file)
    return [whole, os.path.dirname(whole)] if whole.endswith(f"{os.sep}__init__.py") else [whole]


def _time_of(file: str) -> int | None:
    try:
        return Path(file).stat().st_mtime_ns
    except OSError:
        return None
