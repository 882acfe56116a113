"""Which modules do the aliases in a `tsconfig.json`, `package.json` or `Cargo.toml` mean?"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

from .manifests import table_in
from .npm_exports import dotted_module, files_for, modules_of_file, texts_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .manifests import Manifests

_MOST_CONFIGURATIONS = 20
_DEPENDENCIES = ("dependencies", "dev-dependencies", "build-dependencies")


class _Settings(NamedTuple):
    """The settings of a `tsconfig.json` that give modules other names.

    Attributes:
        folder: to which the targets of `paths` are relative.
        paths: the names, with their targets.
        base: the folder `baseUrl`, whose files need no path; None if there is none.
    """

    folder: str
    paths: Mapping[str, object]
    base: str | None


class ImportAliases:
    """The other names of modules: `paths` for TypeScript, `imports` of npm, and crates renamed by Cargo."""

    def __init__(self, manifests: Manifests) -> None:
        self._manifests = manifests
        self._settings: dict[str, list[_Settings]] = {}
        self._packages: dict[str, dict[str, str]] = {}

    def of_npm(self, name: str, path: str) -> Iterator[str]:
        """Yield the modules that a name may mean in a file of TypeScript or JavaScript.

        Args:
            name: dotted, such as `@.lib.a` for `@/lib/a`, or `#lib.a`.
            path: of the file.

        Sources: https://nodejs.org/api/packages.html#imports, https://www.typescriptlang.org/tsconfig/#paths
        """
        package = next(self._manifests.above(path, "package.json"), None) if name.startswith("#") else None
        if package is not None:
            for target in files_for(table_in(self._manifests.settings(package), "imports"), name):
                yield from modules_of_file(posixpath.dirname(package), target)
        configuration = next(self._manifests.above(path, "tsconfig.json", "jsconfig.json"), None)
        if configuration is None:
            return
        if configuration not in self._settings:
            self._settings[configuration] = list(self._settings_of(configuration))
        for folder, paths, base in self._settings[configuration]:
            for target in files_for(paths, name):
                yield from modules_of_file(folder, target)
            if base is not None:
                yield ".".join(filter(None, [dotted_module(base), name]))

    def _settings_of(self, configuration: str) -> Iterator[_Settings]:
        """Yield the settings of a configuration, and of those that it refers to."""
        waiting = [configuration]
        for one in waiting:  # it grows by what these refer to
            paths: tuple[str, Mapping[str, object]] | None = None
            base: str | None = None
            for each in self._extended(one):
                options = table_in(self._manifests.settings(each), "compilerOptions")
                folder, url = posixpath.dirname(each), options.get("baseUrl")
                base = _join_path(folder, url) if base is None and isinstance(url, str) else base
                if paths is None and "paths" in options:
                    paths = folder, table_in(options, "paths")
            if paths is not None or base is not None:
                folder, table = paths or ("", {})
                yield _Settings(folder if base is None else base, table, base)
            for target in texts_in(self._manifests.settings(one).get("references")):
                file = _join_path(posixpath.dirname(one), target)
                known = [each for each in (file, f"{file}/tsconfig.json") if each in self._manifests]
                waiting += [each for each in known if each not in waiting]

    def _extended(self, configuration: str) -> list[str]:
        """List a configuration and the ones that it extends; settings of earlier ones win."""
        found = [configuration]
        for one in found:  # it grows by what these extend
            for target in reversed(list(texts_in(self._manifests.settings(one).get("extends")))):
                file = _join_path(posixpath.dirname(one), target)
                each = file if file.endswith(".json") else f"{file}.json"
                if target.startswith(".") and each not in found and len(found) < _MOST_CONFIGURATIONS:
                    found.append(each)
        return found

    def package_of(self, name: str, path: str) -> str:
        """Return the package that a name means in a file of Rust, also if the manifest renames it."""
        manifest = next(self._manifests.above(path, "Cargo.toml"), None)
        return name if manifest is None else self.packages(manifest).get(name, name)

    def packages(self, manifest: str) -> Mapping[str, str]:
        """Map the names that a crate uses for its dependencies to the names of the packages.

        Source: https://doc.rust-lang.org/cargo/reference/specifying-dependencies.html
        """
        if manifest not in self._packages:
            self._packages[manifest] = found = {}
            settings = self._manifests.settings(manifest)
            for part in (
                settings,
                *[table_in(settings, "target", each) for each in table_in(settings, "target")],
            ):
                for table in [table_in(part, kind) for kind in _DEPENDENCIES]:
                    for name in table:
                        given = table_in(table, name)
                        if given.get("workspace") is True:
                            given = self._of_workspace(manifest, name)
                        package = given.get("package")
                        known = package if isinstance(package, str) else name
                        found[name.replace("-", "_")] = known.replace("-", "_")
        return self._packages[manifest]

    def _of_workspace(self, manifest: str, name: str) -> Mapping[str, object]:
        """Return the settings of a dependency in the workspace around a crate."""
        above = (self._manifests.settings(each) for each in self._manifests.above(manifest, "Cargo.toml"))
        workspace = next((settings for settings in above if "workspace" in settings), None)
        return {} if workspace is None else table_in(workspace, "workspace", "dependencies", name)


def _join_path(folder: str, path: str) -> str:
    joined = posixpath.normpath(posixpath.join(folder, path))
    return "" if joined == "." else joined
