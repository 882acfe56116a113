"""Which types extend or implement a type, and which methods override a method?"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .budget import join_notes
from .go_interfaces import METHODS
from .language import TYPES
from .misses import languages_note
from .resolution import Resolver
from .results import Implementation, ImplementationsFound
from .source_text import head_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from .budget import Budget
    from .index import FoundDeclaration, Index, SourceFile
    from .language import Span
    from .resolution import Sought
    from .results import Certainty

_MOST_HEIRS = 2000
_MOST_TARGETS = 10
_IMPLEMENTED = frozenset({"class", "interface"})
"""Kinds of what is mostly implemented."""


class _Heir(NamedTuple):
    """A type that extends or implements another one, or a method that overrides another one.

    Attributes:
        found: the type or method.
        certainty: how sure that is.
        by: the qualified name of the type in between; empty if it does so itself.
    """

    found: FoundDeclaration
    certainty: Certainty
    by: str = ""


def describe_implementations(sought: Sought, budget: Budget) -> ImplementationsFound:
    """Describe what extends, implements or overrides the first declaration of a list.

    Raises:
        ChangedError: a file has changed since the index read it.
    """
    index = sought.where
    each = [way.found for way in sought.ways[:_MOST_TARGETS]]
    # What can be implemented comes first: a struct of Go may have the name of an interface.
    each.sort(key=lambda one: one.declaration.kind not in _IMPLEMENTED)
    target, heirs = each[0], list[_Heir]()
    for one in each:
        if heirs := _heirs_of(index, one):
            target = one
            break
    result = ImplementationsFound(
        found=True, name=budget.line(target.declaration.qualified), location=budget.line(target.location)
    )
    kind = target.declaration.kind
    notes = [sought.note]
    if kind not in TYPES and not target.declaration.owner:
        result["reason"] = "of another kind"
        notes.append(f"This is a {kind}: for its uses, call references.")
    elif not heirs:
        result["reason"] = "not declared"
        notes.append("No type that is read extends, implements or replaces it.")
    others = [one.location for one in each if one is not target]
    if others:
        notes.append(f"Other declarations of this name: {', '.join(others[:3])}.")
    _add_heirs(result, index, heirs, notes, budget)
    return result


def describe_implementations_of_outer(index: Index, name: str, budget: Budget) -> ImplementationsFound | None:
    """Describe the types that extend or implement a type outside of the root; None if there are none.

    Raises:
        ChangedError: a file has changed since the index read it.
    """
    heirs = _heirs_of_outer(index, name)
    owner, _, member = name.rpartition(".")
    if not heirs and owner:
        heirs = _overriding_methods(index, _heirs_of_outer(index, owner), member)
    if not heirs:
        return None
    result = ImplementationsFound(found=True, name=budget.line(name), reason="outside of the root")
    note = "It isn't declared below the root: these name it as a base, or have its methods."
    _add_heirs(result, index, heirs, [note], budget)
    return result


def _add_heirs(
    result: ImplementationsFound, index: Index, heirs: list[_Heir], notes: Sequence[str], budget: Budget
) -> None:
    """Add what was found, and notes about it."""
    result["implementations"] = budget.items(map(_describe_heir, heirs), 1, "implementations", of=len(heirs))
    if note := join_notes(*notes, languages_note(index), budget.note):
        result["note"] = note


def _describe_heir(heir: _Heir) -> Implementation:
    shown = Implementation(
        name=heir.found.declaration.qualified, location=heir.found.location, sure=heir.certainty
    )
    if heir.by:
        shown["by"] = heir.by
    return shown


def _heirs_of(index: Index, target: FoundDeclaration) -> list[_Heir]:
    """List the types that inherit from a type, or the methods that override a method, the direct ones first.

    Raises:
        ChangedError: a file has changed since the index read it.
    """
    if target.declaration.kind in TYPES:
        return _types_below(index, target)
    owner = index.owner_of(target)
    return (
        []
        if owner is None
        else _overriding_methods(index, _types_below(index, owner), target.declaration.name)
    )


def _overriding_methods(index: Index, heirs: list[_Heir], name: str) -> list[_Heir]:
    """List the methods of some types that have a name."""
    found: list[_Heir] = []
    for heir in heirs:
        own = [one for one in index.members(heir.found) if one.declaration.name == name]
        found += [_Heir(one, heir.certainty, heir.by) for one in own[:1]]
    return found


def _heirs_of_outer(index: Index, name: str) -> list[_Heir]:
    """List the types that inherit from a type outside of the root, directly or not."""
    resolver = Resolver(index, with_steps=False)
    found: dict[tuple[str, Span], _Heir] = {}
    for owner, file, full in _written_bases(index, resolver, name):
        if f".{full}".endswith(f".{name}"):
            sure: Certainty = "certain"
        elif full == name.rpartition(".")[2] and not file.language.is_own_library(full):
            sure = "likely"  # nothing says where it is from
        else:
            continue
        found.setdefault(owner.key, _Heir(owner, sure))
    for heir in list(found.values()):
        for below in _types_below(index, heir.found):
            by = below.by or heir.found.declaration.qualified
            found.setdefault(below.found.key, below._replace(by=by))
    if methods := METHODS.get(name):
        by_methods = _types_with_methods(index, resolver, methods, _by_base(index), set(found))
        found.update((heir.found.key, heir) for heir in by_methods)
    return list(found.values())


def _written_bases(
    index: Index, resolver: Resolver, name: str
) -> Iterator[tuple[FoundDeclaration, SourceFile, str]]:
    """Yield the types with a base outside of the root that has the same last part as a name.

    Yields:
        The type, the file that names the base, and the full name of the base by the imports of that file.
    """
    last = name.rpartition(".")[2]
    for file in index.files():
        for base in file.parsed.bases:
            head, dot, rest = base.name.partition(".")
            known = next((one for one in file.parsed.imports if one.name == head), None)
            target = head if known is None else file.language.import_target(known.target, file.path)
            full = f"{target}{dot}{rest}"
            is_named = last in {base.name.rpartition(".")[2], full.rpartition(".")[2]}
            if is_named and resolver.meant(file, base.name) is None:
                yield from ((owner, file, full) for owner in _owners_of_base(index, file, base.owner)[:1])


def _types_below(index: Index, target: FoundDeclaration) -> list[_Heir]:
    resolver = Resolver(index, with_steps=False)
    below = _by_base(index)
    found: list[_Heir] = []
    seen = {target.key}
    waiting = [_Heir(target, "certain")]
    for above in waiting:  # it grows by what is found
        names = {above.found.declaration.name, *_other_names(index, above.found)}
        by = "" if above.found is target else above.found.declaration.qualified
        for heir in [one for name in sorted(names) for one in below.get(name, ())]:
            sure = _certainty_of_base(resolver, heir, above) if heir.key not in seen else None
            if sure is not None and len(found) < _MOST_HEIRS:
                seen.add(heir.key)
                found.append(_Heir(heir, sure, by))
                waiting.append(found[-1])
    if target.declaration.kind == "interface" and target.file.path.endswith(".go"):
        found += _types_with_methods(index, resolver, _method_set(index, resolver, target), below, seen)
    return found


def _by_base(index: Index) -> dict[str, list[FoundDeclaration]]:
    """Group all types that have a base by the last part of its name."""
    below: dict[str, list[FoundDeclaration]] = {}
    for file in index.files():
        for base in file.parsed.bases:
            owners = _owners_of_base(index, file, base.owner)
            below.setdefault(base.name.rpartition(".")[2], []).extend(owners[:1])
    return below


def _owners_of_base(index: Index, file: SourceFile, owner: str) -> list[FoundDeclaration]:
    """List the types that may be the owner of a base in a file."""
    owners = index.declared(file, owner)
    if not owners and file.path.endswith(".rs"):  # an `impl` may be in another file than its type
        owners = [one for one in index.named(owner) if one.file.path.endswith(".rs")]
    return owners


def _other_names(index: Index, found: FoundDeclaration) -> set[str]:
    """Return the names under which files import a type by `as`."""
    name = found.declaration.name
    return {
        one.name
        for file in index.with_word(name)
        for one in file.parsed.imports
        if one.name not in {name, "*"} and one.target.endswith((f".{name}", f"/{name}", f":{name}"))
    }


def _certainty_of_base(resolver: Resolver, heir: FoundDeclaration, above: _Heir) -> Certainty | None:
    """Return how certainly one type is the base of another; None if it isn't."""
    bases = resolver.bases(heir)
    if any(base is not None and base.key == above.found.key for base in bases):
        return above.certainty
    return "likely" if None in bases or heir.file.path.endswith(".rs") else None


def _types_with_methods(
    index: Index,
    resolver: Resolver,
    wanted: Mapping[str, tuple[int, int]],
    below: dict[str, list[FoundDeclaration]],
    seen: set[tuple[str, Span]],
) -> list[_Heir]:
    """List the types of Go that have all methods of an interface, with as many parameters and results."""
    found: list[_Heir] = []
    waiting = [
        owner
        for name in sorted(wanted)
        for method in index.named(name)[:_MOST_HEIRS]
        if method.file.path.endswith(".go") and (owner := index.owner_of(method))
    ]
    looked_at: set[tuple[str, Span]] = set()
    for owner in waiting:  # it grows by what embeds these
        if owner.key in looked_at or len(looked_at) > _MOST_HEIRS:
            continue
        looked_at.add(owner.key)
        waiting += [one for one in below.get(owner.declaration.name, ()) if one.file.path.endswith(".go")]
        if owner.key in seen or owner.declaration.kind == "interface":
            continue
        own = _method_set(index, resolver, owner, wanted)
        if all(own.get(name) == shape for name, shape in wanted.items()):
            seen.add(owner.key)
            found.append(_Heir(owner, "likely"))
    return found


def _method_set(
    index: Index, resolver: Resolver, found: FoundDeclaration, names: Collection[str] | None = None
) -> dict[str, tuple[int, int]]:
    """Count the parameters and results of each method that a type of Go has or embeds."""
    each = [member for one in resolver.mro(found) if one is not None for member in index.members(one)]
    methods: dict[str, tuple[int, int]] = {}
    for member in each:
        name = member.declaration.name
        if member.declaration.kind == "method" and name not in methods and (names is None or name in names):
            methods[name] = _shape_of(head_of(index, member), name)
    return methods


def _shape_of(head: str, name: str) -> tuple[int, int]:
    """Return the numbers of parameters and results in the signature of a method of Go."""
    behind = head.partition(f"{name}(")[2]
    parameters, rest = _count_items(behind)
    rest = rest.strip()
    return parameters, _count_items(rest[1:])[0] if rest.startswith("(") else int(bool(rest))


def _count_items(text: str) -> tuple[int, str]:
    """Count the items behind an opening bracket, and return the text behind the closing one."""
    level, commas = 1, 0
    for place, sign in enumerate(text):
        level += (sign in "([{") - (sign in ")]}")
        commas += sign == "," and level == 1
        if level == 0:
            inner = text[:place].strip().removesuffix(",")
            commas -= text[:place].rstrip().endswith(",")
            return commas + 1 if inner else 0, text[place + 1 :]
    return commas, ""
