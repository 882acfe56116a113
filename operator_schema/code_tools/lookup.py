"""Where is a name declared, below the root or outside of it?"""

from __future__ import annotations

import builtins
from itertools import islice
from typing import TYPE_CHECKING

from ..message_text import quote
from .language import FUNCTIONS
from .misses import MOST_NEAREST, MOST_SHOWN, Miss, explain_miss, explain_missing_file
from .resolution import Resolver, Sought, Way
from .source_text import declaring_lines, source_of
from .written_names import read_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .index import FoundDeclaration, Index
    from .installed_packages import Environment
    from .written_names import WrittenName

_MOST_BASES = 30
_MOST_LINES = 400
"""Lines that may declare a name inside of a function, of which each is looked up for one question."""
_ONLY_BELOW = "Only names below the root can be asked for here."


def look_up(
    index: Index, environment: Environment, text: str, *, functions: bool = False, outside: bool = True
) -> Sought | Miss:
    """Find the declarations of a name.

    Args:
        index: of the root.
        environment: the packages that the code below the root uses.
        text: the name, as somebody wrote it.
        functions: whether only functions are wanted.
        outside: whether declarations outside of the root are wanted.

    Raises:
        ChangedError: a file has changed since the index read it.
    """
    written = read_name(text)
    path = text.strip().removeprefix("./")
    if index.file(path) is not None:
        return Miss("a file", f"This is a file: search for {path}:* to list what it declares.", [])
    if written.problem:
        return Miss("not understood", written.problem, [])
    if written.line:
        return _at_line(index, written)
    if written.path and not any(index.at(written.path)):
        module = written.path.replace("/", ".")
        if next(index.modules.ending(module), None) is None:
            return explain_missing_file(index, written)
        written = written._replace(name=f"{module}.{written.name}", path="")
    ways = _ways_below(index, written, functions=functions)
    if not ways:
        found = _found_outside(index, environment, written, outside=outside)
        return found or explain_miss(index, written, environment, functions=functions)
    kind = ways[0].found.declaration.kind
    if functions and kind not in FUNCTIONS:
        return Miss("not a function", f"This name is a {kind}, not a function: call inspect.", [])
    module = "" if written.path else next(iter(index.modules.files(written.name)), "")
    return Sought(ways, index, f"{module} is a module of this name." if module else "")


def _at_line(index: Index, written: WrittenName) -> Sought | Miss:
    """Find the declarations around a line of a file."""
    found = index.at_line(written.path, written.line)
    if found:
        return Sought([Way(one) for one in found], index)
    file = next(index.at(written.path), None)
    if file is None:
        return explain_missing_file(index, written)
    lines = source_of(index, file).count(b"\n") + 1
    note = f"Nothing is declared at this line of {lines}: search for {file.path}:* to list what is."
    return Miss("not declared", note, [])


def _ways_below(index: Index, written: WrittenName, *, functions: bool) -> list[Way]:
    """List the declarations of a name below the root, the likeliest first."""
    ways = [Way(found) for found in index.named(written.name, written.path)]
    if index.modules.is_crate(written.name.partition(".")[0]) and not written.path:
        each = [*Resolver(index).named(written.name), *ways]
        ways = list({way.found.key: way for way in each[::-1]}.values())
        ways.reverse()
    if functions:
        ways = [way for way in ways if way.found.declaration.kind in FUNCTIONS] or ways
    ways = ways or Resolver(index).named(written.name, written.path)
    return ways or list(islice(_inside_functions(index, written), MOST_NEAREST))


def _inside_functions(index: Index, written: WrittenName) -> Iterator[Way]:
    """Yield the declarations of a name that are inside functions."""
    resolver = Resolver(index)
    parsed: dict[tuple[str, int], Mapping[int, FoundDeclaration]] = {}
    lines = declaring_lines(index, written.name.rpartition(".")[2], written.path)
    for file, line in islice(lines, _MOST_LINES):
        for found in index.at_line(file.path, line)[:1]:
            key = file.path, found.declaration.head.start
            if key not in parsed:  # a text may say on each of its lines that it declares the name
                parsed[key] = resolver.inner_by_line(found)
            inner = parsed[key].get(line)
            if inner is not None and f".{inner.declaration.qualified}".endswith(f".{written.name}"):
                yield Way(inner, (f"inside {found.declaration.qualified}",))


def _found_outside(
    index: Index, environment: Environment, written: WrittenName, *, outside: bool
) -> Sought | Miss | None:
    """Find a name that is declared or inherited outside of the root; None if it isn't known there."""
    if found := environment.look_up(index, written.name):
        return found if outside else Miss("outside of the root", f"{found.note} {_ONLY_BELOW}", [])
    return None if written.path else _inherited(index, environment, written.name, outside=outside)


def _inherited(index: Index, environment: Environment, name: str, *, outside: bool) -> Sought | Miss | None:
    """Find a member that a type inherits from a base outside of the root; None if there is none."""
    owner, _, member = name.rpartition(".")
    unknown = ""
    for found, base in islice(Resolver(index).outer_bases(owner) if owner else (), _MOST_BASES):
        step = f"{found.declaration.qualified} inherits from {base}"
        if sought := environment.look_up(index, f"{base}.{member}"):
            if not outside:
                return Miss("outside of the root", f"{step}. {sought.note} {_ONLY_BELOW}", [])
            return sought._replace(ways=[way.after(step) for way in sought.ways])
        builtin = getattr(builtins, base, None)
        if hasattr(builtin, member):
            return Miss("outside of the root", f"{step}, which is built into Python.", [])
        passed_on = found.file.language.passed_on(base)
        if passed_on is not None and member not in passed_on:
            continue
        if builtin is None and environment.look_up(index, base) is None:
            unknown = unknown or f"{step}, whose source isn't here: {quote(member, MOST_SHOWN)} may be there."
    return Miss("outside of the root", unknown, []) if unknown else None
