"""Which modules may a name in an import or a question mean?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from .language import known_language
from .workspaces import Workspaces

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Modules:
    """The modules below a root.

    Args:
        root: absolute path.
        paths: of all files, the likeliest first.
        manifests: paths of the files that name packages.
    """

    def __init__(self, root: str, paths: Iterable[str], manifests: Iterable[str] = ()) -> None:
        self._root = root
        self._files: dict[str, list[str]] = {}
        self._by_last: dict[str, list[str]] = {}
        self._tail = root.replace("\\", "/").strip("/").replace("/", ".")
        self._packages: set[str] = set()
        for path in paths:
            name = known_language(path).module_of(path)
            files = self._files.setdefault(name, [])
            if not files:
                self._by_last.setdefault(name.rpartition(".")[2], []).append(name)
            files.append(path)
            if path.endswith("/__init__.py") or path == "__init__.py":
                self._packages.add(name)
        self._workspaces = Workspaces(root, manifests, self._files.__contains__)

    def is_crate(self, name: str) -> bool:
        """Return whether a crate of Rust has this name."""
        return name in self._workspaces.crates

    def files(self, module: str) -> list[str]:
        """Return the paths of a module's files; an empty list if there is no such module."""
        return self._files.get(module, [])

    def ending(self, name: str) -> Iterator[str]:
        """Yield the modules whose names end with a dotted name."""
        crates = self._workspaces.crates
        if name in crates:
            yield crates[name]
        yield from self._workspaces.of_npm_written(name)
        for module in self._by_last.get(name.rpartition(".")[2], ()):
            if module == name or module.endswith(f".{name}"):
                yield module
        yield from self._without_root(name)
        head, _, rest = name.partition(".")
        if head in crates and rest:
            yield f"{crates[head]}.{rest}"
        yield from (module for module, _ in self._of_go(name) if name.count(".") > 1)

    def imported(self, name: str, path: str, *, is_bare: bool = False) -> Iterator[tuple[str, bool]]:
        """Yield the modules that an import in a file may mean, the likeliest first.

        Args:
            name: dotted, as `Language.import_target` returns it.
            path: of the file that imports it.
            is_bare: whether it is the name of a package, which only by chance is also that of a folder.

        Yields:
            Each module, and whether it is certainly the right one if it declares the imported name.
        """
        if is_bare:
            yield from ((module, True) for module in self._workspaces.imported_in(path, name))
        if name in self._files:
            yield name, not is_bare
        if path.endswith(".go"):
            yield from self._of_go(name)
        elif path.endswith((".py", ".pyi")):
            yield from self._of_python(name, path)
        else:
            if path.endswith(".rs"):
                yield from self._of_rust(name, path)
            ending = f".{name}"
            alike = [one for one in self._by_last.get(name.rpartition(".")[2], ()) if one.endswith(ending)]
            first = [self._files[one][0] for one in alike]
            packages = {known_language(each).package_of(each) for each in first}
            for module in sorted(alike, key=lambda one: -_shared(one, path)):
                yield module, len(packages) == 1 and not is_bare

    def _of_rust(self, name: str, path: str) -> Iterator[tuple[str, bool]]:
        """Yield the modules that a path of Rust may mean, in the module of the file or in another crate."""
        here = known_language(path).module_of(path)
        if f"{here}.{name}" in self._files:
            yield f"{here}.{name}", True
        head, dot, rest = name.partition(".")
        crate = self._workspaces.crate_in(path, head)
        if crate is not None:
            yield f"{crate}{dot}{rest}", True

    def _without_root(self, name: str) -> Iterator[str]:
        """Yield the modules that a name means if the root itself is in a package."""
        parts = name.split(".")
        for place in range(1, len(parts) + 1):
            above, inside = ".".join(parts[:place]), ".".join(parts[place:])
            if inside in self._files and f".{self._tail}".endswith(f".{above}"):
                yield inside

    def _of_python(self, name: str, path: str) -> Iterator[tuple[str, bool]]:
        """Yield the modules that an import of Python may mean, also below folders such as `src`."""
        for module in self._without_root(name):
            yield module, True
        if name.partition(".")[0] in sys.stdlib_module_names:
            return
        found: list[str] = []
        for module in self._by_last.get(name.rpartition(".")[2], ()):
            start = module.removesuffix(f".{name}")
            if start != module and start not in self._packages:
                found.append(module)
        for module in sorted(found, key=lambda one: -_shared(one, path)):
            yield module, len(found) == 1
        head, _, rest = name.partition(".")
        while rest and head not in self._packages:
            if rest in self._files:
                yield rest, False  # the root is a package under another name
            step, _, rest = rest.partition(".")
            head = f"{head}.{step}"

    def _of_go(self, name: str) -> Iterator[tuple[str, bool]]:
        package = self._workspaces.of_go(name)
        if package is not None:
            yield package, True
            return
        if self._workspaces.is_module_of_go:
            return
        parts = name.split(".")
        for place in range(2, len(parts)):  # a domain has two parts
            rest = ".".join(parts[place:])
            if rest in self._files:
                yield rest, False
                return


def _shared(module: str, path: str) -> int:
    """Return how many folders a module shares with a file."""
    count = 0
    # Names of folders may have dots in them.
    for one, other in zip(module.split("."), path.replace("/", ".").split("."), strict=False):
        if one != other:
            break
        count += 1
    return count
