"""Which types extend or implement another one, and which methods replace a method."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .declaration_text import location
from .resolution import Resolver
from .results import Implementation, ImplementationsFound

if TYPE_CHECKING:
    from .index import Found, Index
    from .language import Span
    from .lookup import Sought
    from .results import Budget, Certainty

__all__ = ["Heir", "heirs_of", "implementations_shown"]

_MOST = 2000
_TYPES = frozenset({"class", "interface", "protocol", "struct", "type"})


class Heir(NamedTuple):
    """A type that extends or implements another one, or a method that replaces one.

    Attributes:
        found: the type or method.
        certainty: how sure that is.
        by: the qualified name of the type in between; empty if it does so itself.
    """

    found: Found
    certainty: Certainty
    by: str = ""


def implementations_shown(sought: Sought, budget: Budget) -> ImplementationsFound:
    """Describe what extends, implements or replaces the first of some declarations.

    Args:
        sought: the declarations.
        budget: of the result.

    Raises:
        ChangedError: a file has changed since the index read it.
    """
    index, target = sought.where, sought.ways[0].found
    result = ImplementationsFound(
        found=True, name=budget.line(target.declaration.qualified), location=budget.line(location(target))
    )
    kind = target.declaration.kind
    notes = [sought.note]
    heirs = heirs_of(index, target)
    each = (_shown(one) for one in heirs)
    result["implementations"] = budget.items(each, 1, "implementations", of=len(heirs))
    if kind not in _TYPES and not target.declaration.owner:
        result["reason"] = "of another kind"
        notes.append(f"This is a {kind}: for its uses, call references.")
    elif not heirs:
        result["reason"] = "not declared"
        notes.append("Nothing that is read extends, implements or replaces it.")
    if languages := index.tree.unread():
        notes.append(f"Not read: files of {', '.join(list(languages)[:4])}.")
    if note := " ".join(filter(None, [*notes, budget.note])):
        result["note"] = note
    return result


def _shown(heir: Heir) -> Implementation:
    shown = Implementation(
        name=heir.found.declaration.qualified, location=location(heir.found), sure=heir.certainty
    )
    if heir.by:
        shown["by"] = heir.by
    return shown


def heirs_of(index: Index, target: Found) -> list[Heir]:
    """List the types below a type, or the methods that replace a method, the direct ones first.

    Args:
        index: to look in.
        target: the type or method.

    Raises:
        ChangedError: a file has changed since the index read it.
    """
    if target.declaration.kind in _TYPES:
        return _types_below(index, target)
    name, owner = target.declaration.name, target.declaration.owner
    owners = (
        [one for file in index.beside(target.file) for one in index.declared(file, owner)] if owner else []
    )
    found: list[Heir] = []
    for heir in _types_below(index, owners[0]) if owners else ():
        own = [one for one in index.members(heir.found) if one.declaration.name == name]
        found += [Heir(one, heir.certainty, heir.by) for one in own[:1]]
    return found


def _types_below(index: Index, target: Found) -> list[Heir]:
    resolver = Resolver(index, with_steps=False)
    below = _by_base(index)
    found: list[Heir] = []
    seen = {_key(target)}
    waiting = [Heir(target, "certain")]
    for above in waiting:  # it grows by what is found
        names = {above.found.declaration.name, *_other_names(index, above.found)}
        by = "" if above.found is target else above.found.declaration.qualified
        for heir in [one for name in sorted(names) for one in below.get(name, ())]:
            sure = _certainty(resolver, heir, above) if _key(heir) not in seen else None
            if sure is not None and len(found) < _MOST:
                seen.add(_key(heir))
                found.append(Heir(heir, sure, by))
                waiting.append(found[-1])
    if target.declaration.kind == "interface" and target.file.path.endswith(".go"):
        found += _with_methods(index, resolver, target, seen)
    return found


def _key(found: Found) -> tuple[str, Span]:
    return found.file.path, found.declaration.whole


def _by_base(index: Index) -> dict[str, list[Found]]:
    """Return the types of all files by the last parts of the names of their bases."""
    below: dict[str, list[Found]] = {}
    for file in index.files():
        for base in file.parsed.bases:
            owners = index.declared(file, base.owner)
            if not owners and file.path.endswith(".rs"):  # an `impl` may be in another file than its type
                owners = [one for one in index.named(base.owner) if one.file.path.endswith(".rs")]
            below.setdefault(base.name.rpartition(".")[2], []).extend(owners[:1])
    return below


def _other_names(index: Index, found: Found) -> set[str]:
    """Return the names under which other files import a type."""
    name = found.declaration.name
    return {
        one.name
        for file in index.with_word(name)
        for one in file.parsed.imports
        if one.name not in {name, "*"} and one.target.endswith((f".{name}", f"/{name}", f":{name}"))
    }


def _certainty(resolver: Resolver, heir: Found, above: Heir) -> Certainty | None:
    """Return how sure it is that a type has another one as its base; None if its base is another one."""
    bases = resolver.bases(heir)
    if any(base is not None and _key(base) == _key(above.found) for base in bases):
        return above.certainty
    return "likely" if None in bases or heir.file.path.endswith(".rs") else None


def _with_methods(index: Index, resolver: Resolver, target: Found, seen: set[tuple[str, Span]]) -> list[Heir]:
    """List the types of Go that have all methods of an interface, by their names."""
    above = resolver.mro(target)
    wanted = {
        member.declaration.name
        for one in above
        if one is not None
        for member in index.members(one)
        if member.declaration.kind == "method"
    }
    if not wanted or None in above:
        return []
    found: list[Heir] = []
    for method in [one for name in sorted(wanted) for one in index.named(name)[:_MOST]]:
        owners = [
            one
            for file in index.beside(method.file)
            for one in index.declared(file, method.declaration.owner)
        ]
        for owner in owners[:1]:
            if (
                _key(owner) in seen
                or owner.declaration.kind == "interface"
                or not owner.file.path.endswith(".go")
            ):
                continue
            types = [one for one in resolver.mro(owner) if one is not None]
            if wanted <= {member.declaration.name for one in types for member in index.members(one)}:
                seen.add(_key(owner))
                found.append(Heir(owner, "likely"))
    return found
