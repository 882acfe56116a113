"""Which packages below a root can other packages import by name, in npm, Cargo and Go?"""

from __future__ import annotations

import json
import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple, cast

from .language import known_language
from .source_files import Content, read_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

__all__ = ["Workspaces"]

_PACKAGE = re.compile(rb'^\[package\][^\[]*?^name\s*=\s*["\']([^"\'\n]+)', re.MULTILINE | re.DOTALL)
_LIBRARY = re.compile(rb"^\[lib\]([^\[]*)", re.MULTILINE)
_LIBRARY_KEY = re.compile(rb'^(name|path)\s*=\s*["\']([^"\'\n]+)', re.MULTILINE)
_RENAMED = re.compile(rb'^([\w-]+)\s*=\s*\{[^}\n]*\bpackage\s*=\s*["\']([^"\'\n]+)', re.MULTILINE)
_GO_MODULE = re.compile(rb"^module\s+\"?([^\s\"]+)", re.MULTILINE)
_GO_REPLACED = re.compile(
    rb"^[ \t]*(?:replace[ \t]+)?(\S+)(?:[ \t]+v\S+)?[ \t]*=>[ \t]*(\.{1,2}(?:/\S*)?)", re.MULTILINE
)
_ENTRIES = ("source", "types", "typings", "module", "main")
_BUILT = re.compile(r"^(?:[^/]+/)?(?:build|cjs|dist|esm|lib|out)/(?:(?:cjs|esm)/)?")
"""Folders that a build writes to: their sources are in `src`, or beside them."""


class _Package(NamedTuple):
    """A package of npm: its folder, and the content of its `package.json`."""

    folder: str
    said: Mapping[str, object]


class Workspaces:
    """The packages below a root, by the names that their manifests give them.

    They are read when somebody first asks for one of their kind.

    Args:
        root: absolute path.
        manifests: paths of all `package.json`, `Cargo.toml`, `go.mod` and `go.work` below it.
        has_module: tests whether a module has files.
    """

    def __init__(self, root: str, manifests: Iterable[str], has_module: Callable[[str], bool]) -> None:
        self._root = root
        self._manifests = sorted(manifests, key=lambda path: (path.count("/"), path))
        self._has_module = has_module
        self._packages: dict[str, _Package] | None = None
        self._crates: dict[str, str] | None = None
        self._go: dict[str, str] | None = None

    def _read(self, *names: str) -> Iterator[tuple[str, bytes]]:
        """Yield the folder and the content of each manifest of some names."""
        for path in self._manifests:
            folder, _, name = path.rpartition("/")
            if name in names:
                content = read_source(self._root, path)
                if isinstance(content, Content):
                    yield folder, content.source

    # --- Rust ----------------------------------------------------------------------------------------

    @property
    def crates(self) -> Mapping[str, str]:
        """The modules of all library crates of Rust, by the names under which they are used."""
        if self._crates is None:
            self._crates = {}
            renamed: dict[str, str] = {}
            for folder, source in self._read("Cargo.toml"):
                self._add_crate(folder, source)
                for name, package in _RENAMED.findall(source):
                    renamed[_crate_name(name)] = _crate_name(package)
            for name, package in renamed.items():
                if package in self._crates:
                    self._crates.setdefault(name, self._crates[package])
        return self._crates

    def _add_crate(self, folder: str, source: bytes) -> None:
        package, library = _PACKAGE.search(source), _LIBRARY.search(source)
        if package is None or self._crates is None:
            return
        keys = (
            {} if library is None else {bytes(key): value for key, value in _LIBRARY_KEY.findall(library[1])}
        )
        for path in [keys[b"path"].decode(errors="replace")] if b"path" in keys else ["src/lib.rs", "lib.rs"]:
            module = known_language("lib.rs").module_of(posixpath.normpath(posixpath.join(folder, path)))
            if self._has_module(module):
                for name in (bytes(package[1]), keys.get(b"name", b"")):
                    self._crates.setdefault(_crate_name(name), module)
                return

    # --- Go ------------------------------------------------------------------------------------------

    def of_go(self, name: str) -> str | None:
        """Return the dotted folder of a package of Go; None if no module below the root contains it."""
        if self._go is None:
            self._go = {}
            for folder, source in self._read("go.mod", "go.work"):
                said = _GO_MODULE.search(source)
                if said is not None:
                    self._go.setdefault(_dotted(said[1].decode(errors="replace")), _dotted(folder))
                for module, path in _GO_REPLACED.findall(source):
                    where = posixpath.normpath(posixpath.join(folder, path.decode(errors="replace")))
                    if not where.startswith(".."):
                        self._go.setdefault(
                            _dotted(module.decode(errors="replace")), _dotted(where.removeprefix("."))
                        )
        parts = name.split(".")
        for place in range(len(parts), 0, -1):
            known = self._go.get(".".join(parts[:place]))
            if known is not None:
                return ".".join(filter(None, [known, *parts[place:]]))
        return None

    @property
    def is_module_of_go(self) -> bool:
        """Whether the root itself is a module of Go or a workspace of them."""
        return any(path in {"go.mod", "go.work"} for path in self._manifests)

    # --- npm -----------------------------------------------------------------------------------------

    def of_npm(self, name: str) -> Iterator[str]:
        """Yield the modules that the name of a package of npm, or of a part of it, may mean.

        Args:
            name: dotted, such as `@acme.core.inner` for `@acme/core/inner`.
        """
        if self._packages is None:
            self._packages = {}
            for folder, source in self._read("package.json"):
                said = _object_in(source)
                known = said.get("name")
                if isinstance(known, str) and known:
                    self._packages.setdefault(_module(known), _Package(folder, said))
        parts = name.split(".")
        for place in range(len(parts), 0, -1):
            package = self._packages.get(".".join(parts[:place]))
            if package is not None:
                yield from filter(self._has_module, _modules_in(package, ".".join(parts[place:])))
                return

    def of_npm_written(self, name: str) -> Iterator[str]:
        """Yield the modules that a package of npm may mean if the caller leaves out the `@`."""
        for each in (name, f"@{name}"):
            yield from self.of_npm(each)


def _crate_name(name: bytes) -> str:
    return name.decode(errors="replace").replace("-", "_")


def _dotted(path: str) -> str:
    return path.strip("/").replace("/", ".")


def _module(path: str) -> str:
    return known_language("index.ts").module_of(path)


def _object_in(source: bytes) -> Mapping[str, object]:
    try:
        said = json.loads(source)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, object]", said) if isinstance(said, dict) else {}


def _modules_in(package: _Package, part: str) -> Iterator[str]:
    """Yield the modules that a part of a package may mean; an empty part is the whole package."""
    targets = list(_exported(package.said.get("exports"), part))
    if not part:
        targets += [said for key in _ENTRIES if isinstance(said := package.said.get(key), str)]
    inside = part.replace(".", "/")
    plain = [posixpath.join(folder, inside) for folder in ("src", "", "lib")]
    seen: set[str] = set()
    for target in [*targets, *plain]:
        path = posixpath.normpath(target)
        inner = _BUILT.sub("", path, count=1)
        for each in (path, f"src/{inner}", inner):
            module = _module(posixpath.normpath(posixpath.join(package.folder, each)))
            if module not in seen and not each.startswith(".."):
                seen.add(module)
                yield module


def _exported(exports: object, part: str) -> Iterator[str]:
    """Yield the files that the `exports` of a package give for a part of it.

    Source: https://nodejs.org/api/packages.html#exports
    """
    given: object = exports
    parts = cast("dict[str, object]", given) if isinstance(given, dict) else {}
    if not any(key.startswith(".") for key in parts):
        yield from _leaves(exports) if not part else ()
        return
    for key, target in parts.items():
        before, star, after = key.removeprefix(".").removeprefix("/").partition("*")
        start, end = _module(before) if star else "", _module(after) if star else ""
        if not star and _module(before) == part:
            yield from _leaves(target)
        elif star and part.startswith(start) and part.endswith(end) and len(part) > len(start) + len(end):
            inner = part[len(start) : len(part) - len(end)].replace(".", "/")
            yield from (one.replace("*", inner) for one in _leaves(target))


def _leaves(target: object) -> Iterator[str]:
    """Yield the texts in an object of conditions, at any depth."""
    waiting = [target]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += list(cast("dict[str, object]", one).values())[::-1]
        elif isinstance(one, list):
            waiting += cast("list[object]", one)[::-1]
