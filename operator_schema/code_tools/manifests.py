"""What do the manifests below a root say, such as `package.json` and `Cargo.toml`?"""

from __future__ import annotations

import json
import posixpath
from typing import TYPE_CHECKING, cast

from ..codec.nearly_json import as_json_text
from .source_files import Content, read_source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


class Manifests:
    """Reads manifests, each once."""

    def __init__(self, root: str, paths: Iterable[str]) -> None:
        self._root = root
        self._paths = sorted(paths, key=lambda path: (path.count("/"), path))
        self._known = frozenset(self._paths)
        self._settings: dict[str, Mapping[str, object]] = {}

    def __contains__(self, path: str) -> bool:
        """Return whether there is a manifest at a path."""
        return path in self._known

    def named(self, *names: str) -> Iterator[str]:
        """Yield the paths of the manifests with some names, those nearest to the root first."""
        return (path for path in self._paths if path.rpartition("/")[2] in names)

    def above(self, path: str, *names: str) -> Iterator[str]:
        """Yield the manifests with some names in the folders above a file, the nearest first."""
        while path:
            path = posixpath.dirname(path)
            yield from (each for name in names if (each := posixpath.join(path, name)) in self._known)

    def text(self, path: str) -> bytes:
        """Return the content of a manifest; empty if it can't be read."""
        content = read_source(self._root, path)
        return content.source if isinstance(content, Content) else b""

    def settings(self, path: str) -> Mapping[str, object]:
        """Return the settings in a manifest of JSON or TOML; an empty mapping if it can't be read."""
        if path not in self._settings:
            text = self.text(path).decode(errors="replace")
            try:
                settings = _toml_in(text) if path.endswith(".toml") else _json_in(text)
            except (ValueError, RecursionError):
                settings = None
            self._settings[path] = _mapping(settings)
        return self._settings[path]


def _toml_in(text: str) -> object:
    import tomllib  # most code bases have no manifest of Cargo

    return tomllib.loads(text)


def _json_in(text: str) -> object:
    """Read JSON, which may have the comments and trailing commas of a configuration."""
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(as_json_text(text) or "null")


def table_in(settings: Mapping[str, object], *keys: str) -> Mapping[str, object]:
    """Return a mapping inside of others; an empty one if it isn't there."""
    for key in keys:
        settings = _mapping(settings.get(key))
    return settings


def _mapping(given: object) -> Mapping[str, object]:
    return cast("dict[str, object]", given) if isinstance(given, dict) else {}
