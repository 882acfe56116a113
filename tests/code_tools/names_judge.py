"""Which names a package has by way of others, as griffe reads them: re-exported and inherited ones."""

from __future__ import annotations

import logging
import re
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import griffe

from operator_schema.code_tools import CodeBase
from operator_schema.code_tools.index import Index

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from pathlib import Path

__all__ = ["Name", "denied", "exported", "inherited", "read_once"]


class Name(NamedTuple):
    """A name as users of a package write it, and where it is declared.

    Attributes:
        name: with dots.
        path: of the file that declares it, below the folder of the package.
        first: line at which the declaration begins.
        last: line at which it ends.
    """

    name: str
    path: str
    first: int
    last: int


class _StillIndex(Index):
    """An index that looks at its files once, since a judge asks for thousands of names."""

    _is_read = False

    def refresh(self, progress: Callable[[int, int], None] | None = None, until: float | None = None) -> int:
        del until
        if self._is_read:
            return 0
        self._is_read = True
        return super().refresh(progress)


class _Still(CodeBase):
    @cached_property
    def _index(self) -> Index:
        return _StillIndex(str(self.root))


@lru_cache(maxsize=4)
def read_once(folder: Path) -> CodeBase:
    """Return the index of a folder whose files stay as they are."""
    code = _Still(folder)
    code.refresh()
    return code


def exported(folder: Path, package: str) -> Iterator[Name]:
    """Yield the public names that packages have from the modules below the same folder.

    Args:
        folder: where the package is.
        package: its name.
    """
    for module in _modules(folder, package):
        for member in module.members.values():
            if member.is_alias and module.is_init_module and not member.name.startswith("_"):
                yield from _place(member, folder)


def inherited(folder: Path, package: str) -> Iterator[Name]:
    """Yield the public methods that public classes of a package have from others of it."""
    for module in _modules(folder, package):
        for member in module.members.values():
            if member.is_alias or not member.is_class or member.name.startswith("_"):
                continue
            for name, one in member.inherited_members.items():
                if not name.startswith("_"):
                    yield from _place(one, folder, kinds={griffe.Kind.FUNCTION})


def _modules(folder: Path, package: str) -> Iterator[griffe.Object]:
    waiting = [_loaded(folder, package)]
    while waiting:
        module = waiting.pop()
        yield module
        waiting += [one for one in module.members.values() if not one.is_alias and one.is_module]  # pyright: ignore[reportArgumentType]


@lru_cache(maxsize=2)
def _loaded(folder: Path, package: str) -> griffe.Object:
    logging.disable(logging.CRITICAL)  # griffe tells what it can't follow
    top = griffe.load(
        package, search_paths=[folder], resolve_aliases=True, resolve_external=False, allow_inspection=False
    )
    logging.disable(logging.NOTSET)
    return top  # pyright: ignore[reportReturnType]  # a package is no alias


def _place(
    member: griffe.Object | griffe.Alias, folder: Path, kinds: Collection[griffe.Kind] = tuple(griffe.Kind)
) -> Iterator[Name]:
    try:
        target = member.final_target if isinstance(member, griffe.Alias) else member
    except (griffe.AliasResolutionError, griffe.CyclicAliasError):
        return
    if target.kind in kinds and not target.is_module and target.lineno is not None:
        path = target.filepath.relative_to(folder).as_posix()  # pyright: ignore[reportAttributeAccessIssue]
        yield Name(member.path, path, target.lineno, target.endlineno or target.lineno)


def denied(folder: Path, names: Iterable[Name]) -> list[tuple[Name, str]]:
    """List the names that `inspect` doesn't find, or finds in another place, with what it says."""
    code = read_once(folder)
    wrong: list[tuple[Name, str]] = []
    for name in names:
        found = code.inspect(name.name)
        places = [found.get("location", ""), *[one["location"] for one in found.get("others", [])]]
        if not any(_is_at(name, place) for place in places):
            wrong.append((name, str(places if found["found"] else (found.get("reason"), found.get("note")))))
    return wrong


def _is_at(name: Name, place: str) -> bool:
    path, _, line = place.rpartition(":")
    # The root may be the package itself.
    return f"/{name.path}".endswith(f"/{path}") and name.first <= int(line) <= name.last


_DIRECTIVE = re.compile(
    r"\s*\.\. (?:py:)?(?P<kind>auto\w+|(?:current)?module|class|function|method|attribute|exception|data)"
    r":: *(?P<name>[A-Za-z_][\w.]*)"
)
_ROLE = re.compile(
    r":(?:py:)?(?:class|func|meth|attr|exc|data|obj|const):`(?:[^`<]*<)?[~!]?(?P<name>[A-Za-z_][\w.]*)"
)
_MEMBERS = frozenset({"method", "attribute", "automethod", "autoattribute"})


def documented(docs: Path, package: str) -> list[str]:
    """List the names of a package that its documentation writes in full, in directives and roles of Sphinx.

    Args:
        docs: the folder with the documentation.
        package: the name that they begin with.
    """
    found: dict[str, None] = {}
    for file in sorted([*docs.rglob("*.rst"), *docs.rglob("*.md"), *docs.rglob("*.txt")]):
        module = ""
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            said = _DIRECTIVE.match(line)
            names = [role["name"] for role in _ROLE.finditer(line)]
            if said is not None and said["kind"].endswith("module"):
                module = said["name"]
            elif said is not None and (said["kind"] not in _MEMBERS or "." in said["name"]):
                is_full = said["name"].startswith(f"{package}.")
                names.append(said["name"] if is_full else f"{module}.{said['name']}")
            found |= dict.fromkeys([name for name in names if name.startswith(f"{package}.")])
    return list(found)


def placed(folder: Path, package: str, names: Iterable[str]) -> Iterator[Name | str]:
    """Yield each name with the place where griffe finds it; the name alone if griffe doesn't."""
    top = next(_modules(folder, package))
    for name in names:
        yield next(_placed(top, folder, name), name)


def _placed(top: griffe.Object, folder: Path, name: str) -> Iterator[Name]:
    member: griffe.Object | griffe.Alias = top
    try:
        for part in name.split(".")[1:]:
            member = member.all_members[part]
    except (KeyError, griffe.AliasResolutionError, griffe.CyclicAliasError):
        return
    for one in _place(member, folder):
        around = (member.final_target if isinstance(member, griffe.Alias) else member).parent
        if member.is_attribute and around is not None and around.is_class:
            # A class says what it has, and a method sets it: both are its place.
            first, last = around.lineno or one.first, around.endlineno or one.last
            yield Name(name, one.path, first, last)
        else:
            yield one._replace(name=name)
