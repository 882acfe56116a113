"""How are modules imported anew when their files change?"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

__all__ = ["SourceFiles"]

T = TypeVar("T")


class SourceFiles:
    """The files of the modules of a program, and whether they have changed.

    A module belongs to the program if its file is below the current folder, outside of `site-packages`, or
    if it is in the same package as the module that is served.

    Args:
        module: name of the module that is served.
    """

    def __init__(self, module: str) -> None:
        self._package = module.partition(".")[0]
        self._folder = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118  # only text is compared
        # A cached module counts as new if its source has the same size and second.
        sys.dont_write_bytecode = True
        self._seen = self._times()

    def have_changed(self) -> bool:
        """Return whether a file has changed since it was asked last, or imported."""
        before, self._seen = self._seen, self._times()
        return before != self._seen

    def import_again(self, load: Callable[[], T]) -> T:
        """Import everything anew; if that fails, all modules are as they were.

        Args:
            load: imports the modules, and returns the result.

        Raises:
            BaseException: what it raises.
        """
        before = dict(self._modules())
        for name in before:
            del sys.modules[name]
        importlib.invalidate_caches()
        try:
            return load()
        except BaseException:
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
        return file.startswith(self._folder) and "site-packages" not in file

    def _times(self) -> dict[str, int]:
        files = {file for _, module in self._modules() for file in _files_of(module)}
        return {file: time for file in files if (time := _time_of(file)) is not None}


def _files_of(module: ModuleType) -> list[str]:
    """Return the file of a module, and the folder of a package: a new file in it may be a new module."""
    file = getattr(module, "__file__", None)
    if not isinstance(file, str):
        return []
    path = Path(file)
    return [str(path.absolute()), *([str(path.parent.absolute())] if path.name == "__init__.py" else [])]


def _time_of(file: str) -> int | None:
    try:
        return Path(file).stat().st_mtime_ns
    except OSError:
        return None
