"""Which modules do the tables of npm and TypeScript mean, such as `exports` and `paths`?"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, cast

from .language import known_language

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_BUILT = [
    re.compile(rf"^{above}(?:build|cjs|dist|esm|lib|out)/(?:(?:cjs|esm)/)?") for above in ("", "(?:[^/]+/)?")
]
"""Folders that a build writes to: their sources are in `src`, or beside them."""


def dotted_module(path: str) -> str:
    """Return the dotted name of the module in a file of TypeScript or JavaScript."""
    return known_language("index.ts").module_of(path)


def files_for(table: Mapping[str, object], name: str) -> Iterator[str]:
    """Yield the files that a table gives for a name, by the longest fitting key first.

    Args:
        table: keys with at most one `*`, with texts, or with lists and objects of texts.
        name: dotted.
    """
    for key in sorted(table, key=lambda each: ("*" in each, -len(each.partition("*")[0]))):
        before, star, after = key.partition("*")
        start, end = dotted_module(before), dotted_module(after) if star else ""
        if not star and start == name:
            yield from texts_in(table[key])
        elif star and name.startswith(start) and name.endswith(end) and len(name) > len(start) + len(end):
            inner = name[len(start) : len(name) - len(end)].replace(".", "/")
            yield from (one.replace("*", inner) for one in texts_in(table[key]))


def modules_of_file(folder: str, path: str) -> Iterator[str]:
    """Yield the modules that a path in a table may mean: a built file stands for its source.

    Args:
        folder: to which the path is relative.
        path: of a file or a folder.
    """
    path = posixpath.normpath(path)
    inner = [built.sub("", path, count=1) for built in _BUILT]
    for each in dict.fromkeys([path, *[f"src/{one}" for one in inner], *inner]):
        joined = posixpath.normpath(posixpath.join(folder, each))
        if not joined.startswith(".."):
            yield dotted_module(joined)


def texts_in(target: object) -> Iterator[str]:
    """Yield the texts in a text, a list or an object of conditions, at any depth."""
    waiting = [target]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += list(cast("dict[str, object]", one).values())[::-1]
        elif isinstance(one, list):
            waiting += cast("list[object]", one)[::-1]
