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
    """Reads manifests, each once.

    Args:
        root: absolute path.
        paths: of all manifests below it.
    """

    def __init__(self, root: str, paths: Iterable[str]) -> None:
        self._root = root
        self._paths = sorted(paths, key=lambda path: (path.count("/"), path))
        self._known = frozenset(self._paths)
        self._said: dict[str, Mapping[str, object]] = {}

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

    def said(self, path: str) -> Mapping[str, object]:
        """Return what a manifest of JSON or TOML says; an empty mapping if it can't be read."""
        if path not in self._said:
            text = self.text(path).decode(errors="replace")
            try:
                said = _toml_in(text) if path.endswith(".toml") else _json_in(text)
            except (ValueError, RecursionError):
                said = None
            self._said[path] = _mapping(said)
        return self._said[path]


def _toml_in(text: str) -> object:
    import tomllib  # most code bases have no manifest of Cargo

    return tomllib.loads(text)


def _json_in(text: str) -> object:
    """Read JSON, which may have the comments and trailing commas of a configuration."""
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(as_json_text(text) or "null")


def table_in(said: Mapping[str, object], *keys: str) -> Mapping[str, object]:
    """Return a mapping inside of others; an empty one if it isn't there."""
    for key in keys:
        said = _mapping(said.get(key))
    return said


def _mapping(given: object) -> Mapping[str, object]:
    return cast("dict[str, object]", given) if isinstance(given, dict) else {}
