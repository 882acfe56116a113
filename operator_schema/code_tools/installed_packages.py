"""Where is a name declared in the packages and libraries that code below the root imports?"""

from __future__ import annotations

import builtins
import os
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from .index import Index
from .module_names import Modules
from .resolution import Resolver, Sought

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .index import SourceFile
    from .resolution import Way

_MOST_FILES_READ = 400
"""Files that are parsed for one question."""
_ENVIRONMENTS = (".venv", "venv", "env")


class Environment:
    """The installed packages that the code imports; only files that a name leads to are read."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._libraries: list[_Library] | None = None

    def look_up(self, index: Index, name: str) -> Sought | None:
        """Find the declaration of a name outside of the root; None if it isn't there."""
        for full in self._full_names(index, name):
            for library in self._current_libraries():
                way = library.find(full)
                if way is not None:
                    return Sought([way], library, f"Outside of the root, in {library.root}.")
        return None

    def outside(self, index: Index, name: str) -> str:
        """Describe a name that comes from outside of the root and has no source here; empty if unknown."""
        head = name.partition(".")[0]
        if "." not in name and hasattr(builtins, name) and self._has_python(index):
            return f"{name} is built into Python."
        for full in self._full_names(index, name):
            head = full.partition(".")[0]
            if any(True for _ in index.modules.ending(head)) or not self._has_python(index):
                continue
            if head in sys.stdlib_module_names and "." in full:
                return f"{full} may be of Python's standard library; there is no source of it here."
            if full != name or any(
                head in _first_parts_of_imports(file) for file in index.importers(head)[:5]
            ):
                return f"{full} is imported from outside of the root, and its source isn't here."
        return next(_imported_from_outside(index, name), "")

    def _full_names(self, index: Index, name: str) -> Iterator[str]:
        """Yield the full names that a name may stand for, by the files that import its first part."""
        yield name
        head, dot, rest = name.partition(".")
        seen = {name}
        for file in index.importers(head)[:4]:
            language = file.language
            for one in file.parsed.imports:
                if one.name == head:
                    full = f"{language.import_target(one.target, file.path)}{dot}{rest}"
                    if full not in seen:
                        seen.add(full)
                        yield full

    @staticmethod
    def _has_python(index: Index) -> bool:
        return any(file.path.endswith((".py", ".pyi")) for file in index.files())

    def _current_libraries(self) -> list[_Library]:
        if self._libraries is None:
            folders = [
                folder
                for folder in dict.fromkeys(_package_folders(self._root))
                if not _is_indexed(folder, self._root)
            ]
            self._libraries = [_Library(folder) for folder in folders]
        for library in self._libraries:
            library.look_again()
        return self._libraries


_FROM_HERE = (".", "crate::", "self::", "super::")
"""How the target of an import begins that is below the root, even if nothing there declares it."""


def _imported_from_outside(index: Index, name: str) -> Iterator[str]:
    """Yield a sentence for each import that brings a name from outside of the root."""
    head, dot, rest = name.partition(".")
    for file in index.files():
        language = file.language
        for one in file.parsed.imports:
            target = language.import_target(one.target, file.path)
            # All names of a header or module don't make its own name known.
            is_named = head == one.name or (one.name != "*" and head == target.rpartition(".")[2])
            if not is_named and not f"{name}.".startswith(f"{target}."):
                continue
            full = f"{target}{dot}{rest}" if is_named else name
            if one.target.startswith(_FROM_HERE) or index.modules.is_crate(full.partition(".")[0]):
                continue
            modules = (target, target.rpartition(".")[0])
            is_bare = language.is_bare(one.target)
            if any(
                next(index.modules.imported(each, file.path, is_bare=is_bare), None)
                for each in modules
                if each
            ):
                continue
            if language.is_own_library(one.target):
                yield f"{full} may be of {language.name}'s own library; there is no source of it here."
            else:
                yield f"{full} is imported from outside of the root, and its source isn't here."


def _first_parts_of_imports(file: SourceFile) -> set[str]:
    return {one.target.partition(".")[0] for one in file.parsed.imports}


def _is_indexed(folder: str, root: str) -> bool:
    """Return whether the index of the root contains a folder."""
    return folder == root or (
        folder.startswith(f"{root}{os.sep}")
        and not any(f"{os.sep}{one}{os.sep}" in folder for one in _ENVIRONMENTS)
    )


def _package_folders(root: str) -> Iterator[str]:
    """Yield the folders with installed packages: the project's own, Python's, and Go's."""
    for name in _ENVIRONMENTS:
        for pattern in ("lib/python3*/site-packages", "Lib/site-packages"):
            yield from map(str, sorted(Path(root, name).glob(pattern)))
    paths = sysconfig.get_paths()
    yield from (paths["stdlib"], paths["purelib"], paths["platlib"])
    for go in (os.environ.get("GOROOT"), "/usr/local/go", "/usr/lib/go"):
        if go and Path(go, "src").is_dir():
            yield str(Path(go, "src").resolve())


class _Library(Index):
    """An index of a folder with packages, which reads a file when its module is first needed."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self._left = _MOST_FILES_READ

    def look_again(self) -> None:
        """Drop files that have changed, before a new question."""
        self._left = _MOST_FILES_READ
        young = [path for path, file in self._files.items() if file.is_young]
        for path in {*young, *self._changed()}:
            self._replace_file(path, None)

    def find(self, name: str) -> Way | None:
        """Find the declaration of a full name; None if this library doesn't have it."""
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
            self._read_file(path, None, [])
            self._order = list(self._files)
        return self._files.get(path)

    def beside(self, file: SourceFile) -> list[SourceFile]:
        if not file.path.endswith(".go"):
            return [file]
        others = self.of_module(file.path.rpartition("/")[0].replace("/", "."))
        return [file, *[one for one in others if one is not file]]


class _OnDisk(Modules):
    """The modules of a folder, which are looked up on disk when they are needed."""

    def __init__(self, root: str) -> None:
        super().__init__(root, ())

    def files(self, module: str) -> list[str]:
        if not module or not all(part.isidentifier() or part.isalnum() for part in module.split(".")):
            return []
        try:
            return self._find_files(module.replace(".", "/"))
        except OSError:  # no file can have a name that long
            return []

    def _find_files(self, path: str) -> list[str]:
        where = f"{self._root}/{path}"
        for ending in ("/__init__.py", ".py", "/__init__.pyi", ".pyi"):
            if os.path.isfile(f"{where}{ending}"):  # noqa: PTH113  # several times as fast, and mostly it isn't there
                return [f"{path}{ending}"]
        if not os.path.isdir(where):  # noqa: PTH112
            return []
        names = [one.name for one in Path(where).glob("*.go")]
        return sorted(f"{path}/{name}" for name in names if not name.endswith("_test.go"))

    def ending(self, name: str) -> Iterator[str]:
        if self.files(name):
            yield name

    def imported(self, name: str, path: str, *, is_bare: bool = False) -> Iterator[tuple[str, bool]]:
        del path, is_bare
        if self.files(name):
            yield name, True
