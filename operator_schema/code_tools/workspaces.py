"""Which packages below a root can other packages import by name, in npm, Cargo and Go?"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from .import_aliases import ImportAliases
from .language import known_language
from .manifests import Manifests, table_in
from .npm_exports import dotted_module, files_for, modules_of_file, texts_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_GO_MODULE = re.compile(rb"^module\s+\"?([^\s\"]+)", re.MULTILINE)
_GO_REPLACED = re.compile(
    rb"^[ \t]*(?:replace[ \t]+)?(\S+)(?:[ \t]+v\S+)?[ \t]*=>[ \t]*(\.{1,2}(?:/\S*)?)", re.MULTILINE
)
_ENTRIES = ("source", "types", "typings", "module", "main")


class Workspaces:
    """The packages below a root, by the names that their manifests give them.

    Manifests are read when somebody first asks for a package of their kind.

    Args:
        root: absolute path.
        manifests: paths of all files below it that name packages or modules.
        has_module: tests whether a module has files.
    """

    def __init__(self, root: str, manifests: Iterable[str], has_module: Callable[[str], bool]) -> None:
        self._manifests = Manifests(root, manifests)
        self._aliases = ImportAliases(self._manifests)
        self._has_module = has_module
        self._packages: dict[str, str] | None = None
        self._crates: dict[str, str] | None = None
        self._known_crates: dict[str, str] | None = None
        self._go: dict[str, str] | None = None

    # --- Rust ----------------------------------------------------------------------------------------

    @property
    def crates(self) -> Mapping[str, str]:
        """The modules of all library crates of Rust, by the names under which they are used anywhere."""
        if self._known_crates is None:
            own = self._own_crates()
            renamed = {
                name: own[package]
                for manifest in self._manifests.named("Cargo.toml")
                for name, package in self._aliases.packages(manifest).items()
                if package in own
            }
            self._known_crates = {**renamed, **own}
        return self._known_crates

    def crate_in(self, path: str, name: str) -> str | None:
        """Return the module of a crate by its name in a file; None if it isn't below the root."""
        own = self._own_crates()
        return own.get(self._aliases.package_of(name, path)) if own else None

    def _own_crates(self) -> Mapping[str, str]:
        if self._crates is None:
            self._crates = {}
            for manifest in self._manifests.named("Cargo.toml"):
                module = self._library(manifest)
                settings = self._manifests.settings(manifest)
                for name in (
                    table_in(settings, "package").get("name"),
                    table_in(settings, "lib").get("name"),
                ):
                    if module is not None and isinstance(name, str):
                        self._crates.setdefault(_crate_name(name), module)
        return self._crates

    def _library(self, manifest: str) -> str | None:
        """Return the module of the library of a crate; None if it has none."""
        given = table_in(self._manifests.settings(manifest), "lib").get("path")
        for path in [given] if isinstance(given, str) else ["src/lib.rs", "lib.rs"]:
            where = posixpath.normpath(posixpath.join(posixpath.dirname(manifest), path))
            module = known_language("lib.rs").module_of(where)
            if self._has_module(module):
                return module
        return None

    # --- Go ------------------------------------------------------------------------------------------

    def of_go(self, name: str) -> str | None:
        """Return the dotted folder of a package of Go; None if no module below the root contains it."""
        if self._go is None:
            self._go = {}
            for manifest in self._manifests.named("go.mod", "go.work"):
                folder, source = posixpath.dirname(manifest), self._manifests.text(manifest)
                module_line = _GO_MODULE.search(source)
                if module_line is not None:
                    self._go.setdefault(_dotted(module_line[1].decode(errors="replace")), _dotted(folder))
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
        return "go.mod" in self._manifests or "go.work" in self._manifests

    # --- npm -----------------------------------------------------------------------------------------

    def imported_in(self, path: str, name: str) -> Iterator[str]:
        """Yield the modules that a file of TypeScript or JavaScript means by the name of a package."""
        yield from filter(self._has_module, self._aliases.of_npm(name, path))
        yield from self.of_npm(name)

    def of_npm(self, name: str) -> Iterator[str]:
        """Yield the modules that the name of a package of npm, or of a part of it, may mean.

        Args:
            name: dotted, such as `@acme.core.inner` for `@acme/core/inner`.
        """
        if self._packages is None:
            self._packages = {}
            for manifest in self._manifests.named("package.json"):
                known = self._manifests.settings(manifest).get("name")
                if isinstance(known, str) and known:
                    self._packages.setdefault(dotted_module(known), manifest)
        parts = name.split(".")
        for place in range(len(parts), 0, -1):
            package = self._packages.get(".".join(parts[:place]))
            if package is not None:
                yield from filter(self._has_module, self._modules_in(package, ".".join(parts[place:])))
                return

    def of_npm_written(self, name: str) -> Iterator[str]:
        """Yield the modules that a package of npm may mean if the caller leaves out the `@`."""
        for each in (name, f"@{name}"):
            yield from self.of_npm(each)

    def _modules_in(self, manifest: str, part: str) -> Iterator[str]:
        """Yield the modules that a part of a package may mean; an empty part is the whole package."""
        settings = self._manifests.settings(manifest)
        targets = list(files_for(_exports_by_part(settings.get("exports")), part))
        if not part:
            targets += [target for key in _ENTRIES if isinstance(target := settings.get(key), str)]
        inside = part.replace(".", "/")
        plain = [posixpath.join(folder, inside) for folder in ("src", "", "lib")]
        found = (
            module
            for target in [*targets, *plain]
            for module in modules_of_file(posixpath.dirname(manifest), target)
        )
        yield from dict.fromkeys(found)


def _crate_name(name: str) -> str:
    return name.replace("-", "_")


def _dotted(path: str) -> str:
    return path.strip("/").replace("/", ".")


def _exports_by_part(given: object) -> Mapping[str, object]:
    """Return the `exports` of a package by parts of it, where an empty one is the whole package.

    Source: https://nodejs.org/api/packages.html#exports
    """
    parts = table_in({"exports": given}, "exports")
    if not any(key.startswith(".") for key in parts):
        return {"": list(texts_in(given))}
    return {key.removeprefix(".").removeprefix("/"): target for key, target in parts.items()}
