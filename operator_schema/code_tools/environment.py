"""Sources of what a code base uses: its installed packages, and the standard library."""

from __future__ import annotations

import builtins
import os
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from .index import Index
from .language import language_of
from .modules import Modules
from .resolution import Resolver, Way

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .index import SourceFile

__all__ = ["Environment"]

_MOST_FILES = 400
"""Files that are parsed for one question."""
_ENVIRONMENTS = (".venv", "venv", "env")


class Environment:
    """Folders outside of a root that its code imports from; only files that a name leads to are read.

    Args:
        root: absolute path of the code base.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._libraries: list[_Library] | None = None

    def look_up(self, index: Index, name: str) -> tuple[list[Way], Index, str] | None:
        """Find the declaration of a name outside of the root.

        Args:
            index: of the root.
            name: with dots.

        Returns:
            The ways, the index that they are from, and where that is; None if it isn't there.
        """
        for full in self._full_names(index, name):
            for library in self._all():
                way = library.find(full)
                if way is not None:
                    return [way], library, f"Outside of the root, in {library.root}."
        return None

    def outside(self, index: Index, name: str) -> str:
        """Say what is known of a name outside of the root whose source isn't there; empty for nothing."""
        head = name.partition(".")[0]
        if "." not in name and hasattr(builtins, name) and self._has_python(index):
            return f"{name} is built into Python."
        for full in self._full_names(index, name):
            head = full.partition(".")[0]
            if any(True for _ in index.modules.ending(head)) or not self._has_python(index):
                continue
            if head in sys.stdlib_module_names and "." in full:
                return f"{full} may be of Python's standard library; there is no source of it here."
            if full != name or any(head in _heads(file) for file in index.importers(head)[:5]):
                return f"{full} is imported from outside of the root, and its source isn't here."
        return ""

    def _full_names(self, index: Index, name: str) -> Iterator[str]:
        """Yield what a name may be in full: files may know its head by an import."""
        yield name
        head, dot, rest = name.partition(".")
        seen = {name}
        for file in index.importers(head)[:4]:
            language = language_of(file.path)
            assert language is not None  # noqa: S101  # the index holds nothing else
            for one in file.parsed.imports:
                if one.name == head:
                    full = f"{language.import_target(one.target, file.path)}{dot}{rest}"
                    if full not in seen:
                        seen.add(full)
                        yield full

    @staticmethod
    def _has_python(index: Index) -> bool:
        return any(file.path.endswith((".py", ".pyi")) for file in index.files())

    def _all(self) -> list[_Library]:
        if self._libraries is None:
            folders = [
                folder for folder in dict.fromkeys(_folders(self._root)) if not _is_in(folder, self._root)
            ]
            self._libraries = [_Library(folder) for folder in folders]
        for library in self._libraries:
            library.look_again()
        return self._libraries


def _heads(file: SourceFile) -> set[str]:
    return {one.target.partition(".")[0] for one in file.parsed.imports}


def _is_in(folder: str, root: str) -> bool:
    """Return whether the index of the root has what is in a folder."""
    return folder == root or (
        folder.startswith(f"{root}{os.sep}")
        and not any(f"{os.sep}{one}{os.sep}" in folder for one in _ENVIRONMENTS)
    )


def _folders(root: str) -> Iterator[str]:
    """Yield the folders that hold packages: the project's own, Python's, and Go's."""
    for name in _ENVIRONMENTS:
        for pattern in ("lib/python3*/site-packages", "Lib/site-packages"):
            yield from map(str, sorted(Path(root, name).glob(pattern)))
    paths = sysconfig.get_paths()
    yield from (paths["stdlib"], paths["purelib"], paths["platlib"])
    for go in (os.environ.get("GOROOT"), "/usr/local/go", "/usr/lib/go"):
        if go and Path(go, "src").is_dir():
            yield str(Path(go, "src").resolve())


class _Library(Index):
    """An index that reads a file when somebody asks for its module."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self._left = _MOST_FILES

    def look_again(self) -> None:
        """Forget files that have changed, before a new question."""
        self._left = _MOST_FILES
        young = [path for path, file in self._files.items() if file.is_young]
        for path in {*young, *self._changed()}:
            self._replace(path, None)

    def find(self, name: str) -> Way | None:
        """Return what a full name means; None if it isn't here."""
        parts = name.split(".")
        for place in range(min(len(parts) - 1, 8), 0, -1):
            files = self.of_module(".".join(parts[:place]))
            if files:
                return Resolver(self).in_module(files, parts[place:])
        return None

    @property
    def modules(self) -> Modules:
        return _OnDisk(self.root)

    def of_module(self, module: str) -> list[SourceFile]:
        return [file for path in self.modules.files(module) if (file := self.file(path))]

    def file(self, path: str) -> SourceFile | None:
        if path not in self._files and path not in self.skipped and self._left:
            self._left -= 1
            self._read(path, None, [])
            self._order = list(self._files)
        return self._files.get(path)

    def beside(self, file: SourceFile) -> list[SourceFile]:
        if not file.path.endswith(".go"):
            return [file]
        others = self.of_module(file.path.rpartition("/")[0].replace("/", "."))
        return [file, *[one for one in others if one is not file]]


class _OnDisk(Modules):
    """The modules of a folder, looked for when somebody asks."""

    def __init__(self, root: str) -> None:
        super().__init__(root, ())

    def files(self, module: str) -> list[str]:
        if not module or not all(part.isidentifier() or part.isalnum() for part in module.split(".")):
            return []
        path = module.replace(".", "/")
        where = Path(self._root, path)
        for ending in ("/__init__.py", ".py", "/__init__.pyi", ".pyi"):
            if Path(f"{where}{ending}").is_file():
                return [f"{path}{ending}"]
        if not where.is_dir():
            return []
        return sorted(f"{path}/{one.name}" for one in where.glob("*.go") if not one.name.endswith("_test.go"))

    def ending(self, name: str) -> Iterator[str]:
        if self.files(name):
            yield name

    def imported(self, name: str, path: str) -> Iterator[tuple[str, bool]]:
        del path
        if self.files(name):
            yield name, True
