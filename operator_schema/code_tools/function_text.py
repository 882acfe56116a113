"""What `read_func` tells about a function."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from .index import Found, full_name
from .language import language_of
from .results import CalledFunction, ReadFunction
from .source_text import (
    head_of,
    implementation_first,
    location,
    others_shown,
    source_of,
    span_text,
    whole_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .budget import Budget
    from .declarations import Import
    from .index import Index, SourceFile
    from .language import Language

__all__ = ["FUNCTIONS", "read_function"]

FUNCTIONS = frozenset({"func", "method"})
_MOST_BASES = 20
_MOST_EXPORTS = 50
_SUPER = "super()"


def read_function(
    index: Index, all_found: list[Found], budget: Budget, *, line_numbers: bool, first_line: int | None
) -> ReadFunction:
    """Describe the first of some functions, and name the others.

    Args:
        index: that they are from.
        all_found: at least one.
        budget: of the result.
        line_numbers: whether each line of the text gets its number in the file.
        first_line: of the file, from which the text is wanted; None for all of it.

    Raises:
        ChangedError: a file has changed since the index read it.
    """
    found, *others = implementation_first(index, all_found)
    declaration, source = found.declaration, source_of(index, found)
    result = ReadFunction(
        found=True,
        name=budget.line(declaration.qualified),
        location=budget.line(location(found)),
        signature=budget.line(head_of(index, found)),
    )
    if others:
        result["others"] = others_shown(index, others, budget, "functions")
    start = source.count(b"\n", 0, declaration.whole.start) + 1
    lines = whole_text(source, declaration).split("\n")
    skipped = min(max((first_line or start) - start, 0), len(lines))
    if line_numbers:
        lines = [f"{start + place}: {line}" for place, line in enumerate(lines)]
    hint = "call read_func again with first_line"
    result["implementation"] = budget.text(
        "\n".join(lines[skipped:]), 0.7, f"{hint} = {start + skipped} + {{line}}"
    )
    _add_uses(result, index, found, source, budget)
    if budget.note:
        result["note"] = re.sub(r"(\d+) \+ (\d+)", lambda sums: str(int(sums[1]) + int(sums[2])), budget.note)
    return result


def _short(name: str) -> str:
    """Return what is called without the expression that it is called on, where that is more than names."""
    last = re.split(r"""['"\])}>]""", name.removeprefix(_SUPER))[-1]
    return name if name in {last, f"{_SUPER}{last}"} else f"…{last}"


def _add_uses(result: ReadFunction, index: Index, found: Found, source: bytes, budget: Budget) -> None:
    """Add the imports that a function uses, and what it calls."""
    declaration, language = found.declaration, language_of(found.file.path)
    assert language is not None  # noqa: S101  # the index holds nothing else
    # The head without its decorators: these stand outside of the function.
    text = source[declaration.head.start : declaration.whole.end]
    used = list(language.called(text))
    imports = [*found.file.parsed.imports, *language.imports(text)]
    names = {name for _, name in used}
    imported = [one for one in imports if one.name in names]
    if imported:
        texts = list(dict.fromkeys([budget.line(one.text) for one in imported]))
        result["imports_used"] = budget.items(texts, 0.4, "imports", of=len(texts))
    calls = list(dict.fromkeys([_short(name) for how, name in used if how == "call"]))
    if calls:
        resolver = _Resolver(index, found, language, {one.name: one for one in imports})
        each = (_called(index, name, resolver.declared(name)) for name in calls)
        result["calls"] = budget.items(each, 1, "calls", of=len(calls))


def _called(index: Index, name: str, found: Found | None) -> CalledFunction:
    if found is None:
        return CalledFunction(name=name)
    shown = CalledFunction(name=name, location=location(found))
    if found.declaration.head.end:
        shown["signature"] = head_of(index, found)
    return shown


def _bases(head: str) -> list[str]:
    """Return the names of the bases in the signature of a class: not those of type arguments and keywords."""
    arguments: list[list[str]] = [[]]
    level = 0
    for part in re.findall(r"[\w.]+|[\[\],=]", head.partition("(")[2]):
        if part in {"[", "]"}:
            level = max(level + (1 if part == "[" else -1), 0)
        elif level == 0 and part == ",":
            arguments.append([])
        elif level == 0:
            arguments[-1].append(part)
    return [name for argument in arguments if "=" not in argument for name in argument]


class _Namesakes:
    """The declarations that share the last part of their names.

    Args:
        index: that they are from.
        every: the likeliest first.
    """

    def __init__(self, index: Index, every: list[Found]) -> None:
        self._index = index
        self._alike: dict[tuple[str, str], list[Found]] = {}
        for one in every:
            self._alike.setdefault((one.file.path, one.declaration.qualified), []).append(one)
        self._groups = list(self._alike.values())
        # Full names, and what they end with after a dot; each to the first group that has it.
        self._whole: dict[str, int] = {}
        self._ends: dict[str, int] = {}
        for place, (first, *_) in enumerate(self._groups):
            full = full_name(first.file.path, first.declaration)
            self._whole.setdefault(full, place)
            for end in _ends(full):
                self._ends.setdefault(end, place)

    def called(self, full: str) -> Found | None:
        """Return the likeliest that has a full name; the root may be above or below its package."""
        places = [self._whole.get(full), self._ends.get(full) if "." in full else None]
        places += [self._whole.get(end) for end in _ends(full) if not self._is_package(full, end)]
        known = [place for place in places if place is not None]
        return implementation_first(self._index, self._groups[min(known)])[0] if known else None

    def _is_package(self, full: str, end: str) -> bool:
        """Return whether what stands before an end is a package; else it is a folder such as src."""
        above = full.removesuffix(f".{end}").replace(".", "/")
        return self._index.file(f"{above}/__init__.py") is not None


def _ends(name: str) -> list[str]:
    """Return what comes after each dot of a name, the longest first."""
    return [name[place + 1 :] for place, letter in enumerate(name) if letter == "."]


class _Resolver:
    """Finds the declarations of what a function calls.

    What it has looked up it keeps, since a function may call thousands.

    Args:
        index: to look in.
        found: the function.
        language: of it.
        imports: by the names that its file knows.
    """

    def __init__(self, index: Index, found: Found, language: Language, imports: Mapping[str, Import]) -> None:
        self._index = index
        self._found = found
        self._language = language
        self._imports = imports
        receiver = re.match(r"func\s*\(\s*(\w+)", span_text(source_of(index, found), found.declaration.head))
        self._own_names = language.self_names | (set[str]() if receiver is None else {str(receiver[1])})
        self._namesakes: dict[str, _Namesakes] = {}
        self._bases: dict[tuple[str, str], list[tuple[str, str]]] = {}
        self._imports_of: dict[str, dict[str, list[Import]]] = {}

    def declared(self, name: str) -> Found | None:
        """Return the declaration of a called name; None where it can't be told."""
        head, _, rest = name.partition(".")
        owner = self._found.declaration.owner
        if head == _SUPER:
            path = self._found.file.path
            return None if "." in rest else self._inherited(path, owner, rest, set())
        if rest and head in self._own_names:
            return None if "." in rest else self._method(self._found.file.path, owner, rest, set())
        if head in self._imports:
            target = self._language.import_target(self._imports[head].target, self._found.file.path)
            return self._only(f"{target}.{rest}" if rest else target)
        if self._language.package_is_folder and rest:
            return None
        module = self._language.module_of(self._found.file.path)
        return self._only(f"{module}.{name}" if module else name)

    def _method(self, path: str, owner: str, name: str, seen: set[tuple[str, str]]) -> Found | None:
        """Return a method of a class, or of the first of its bases that has it."""
        module = self._language.module_of(path)
        found = self._only(f"{module}.{owner}.{name}" if module else f"{owner}.{name}")
        return self._inherited(path, owner, name, seen) if found is None else found

    def _inherited(self, path: str, owner: str, name: str, seen: set[tuple[str, str]]) -> Found | None:
        """Return a method of the first base of a class that has it."""
        if len(seen) > _MOST_BASES:
            return None
        seen.add((path, owner))
        for base in self._bases_of(path, owner):
            if base not in seen:
                found = self._method(*base, name, seen)
                if found is not None:
                    return found
        return None

    def _bases_of(self, path: str, owner: str) -> list[tuple[str, str]]:
        """Return the bases of a class, each as its file and its name there."""
        if (path, owner) not in self._bases:
            here = [
                one for one in self._index.named(owner) if one.file.path == path and one.declaration.head.end
            ]
            names = [
                (one.file, name) for one in here[:_MOST_BASES] for name in _bases(head_of(self._index, one))
            ]
            bases = [self._base(file, name) for file, name in names[:_MOST_BASES]]
            self._bases[path, owner] = [
                (base.file.path, base.declaration.qualified) for base in bases if base is not None
            ]
        return self._bases[path, owner]

    def _base(self, file: SourceFile, name: str) -> Found | None:
        """Return the declaration of a class by the name that a file knows."""
        head, dot, rest = name.partition(".")
        for one in self._imported(file).get(head, [])[:1]:
            return self._only(f"{self._language.import_target(one.target, file.path)}{dot}{rest}")
        module = self._language.module_of(file.path)
        return self._only(f"{module}.{name}" if module else name)

    def _imported(self, file: SourceFile) -> dict[str, list[Import]]:
        """Return the imports of a file by the names that it knows them by."""
        if file.path not in self._imports_of:
            known = self._imports_of[file.path] = {}
            for one in file.parsed.imports:
                known.setdefault(one.name, []).append(one)
        return self._imports_of[file.path]

    def _only(self, name: str) -> Found | None:
        """Return the declaration of a full name, as far as the root shows all of it."""
        waiting = [name]
        for full in waiting:  # it grows by what a name may be as well
            last = full.rpartition(".")[2]
            if last not in self._namesakes:
                self._namesakes[last] = _Namesakes(self._index, self._index.named(last))
            found = self._namesakes[last].called(full)
            if found is not None:
                return found
            more = islice(self._exported(full), max(_MOST_EXPORTS - len(waiting), 0))
            waiting += [other for other in more if other not in waiting]
        return None

    def _exported(self, name: str) -> Iterator[str]:
        """Yield what a name may be that a module has by an import."""
        parts = name.split(".")
        for place in range(len(parts) - 1, -1, -1):
            folder = "/".join(parts[:place])
            own = (f"{folder}/__init__.py", f"{folder}.py") if folder else ("__init__.py",)
            for path in own:
                file = self._index.file(path)
                known = {} if file is None else self._imported(file)
                for one in [*known.get(parts[place], []), *known.get("*", [])]:
                    target = self._language.import_target(one.target, path)
                    rest = parts[place:] if one.name == "*" else parts[place + 1 :]
                    yield ".".join([target, *rest])
