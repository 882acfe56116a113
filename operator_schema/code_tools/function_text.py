"""What `read_func` tells about a function."""

from __future__ import annotations

import re
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
    from collections.abc import Mapping

    from .budget import Budget
    from .declarations import Import
    from .index import Index
    from .language import Language

__all__ = ["FUNCTIONS", "read_function"]

FUNCTIONS = frozenset({"func", "method"})
_MOST_BASES = 8


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
    language = language_of(found.file.path)
    assert language is not None  # noqa: S101  # the index holds nothing else
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
    # The head without its decorators: these stand outside of the function.
    text = source[declaration.head.start : declaration.whole.end]
    used = list(language.called(text))
    imports = [*found.file.parsed.imports, *language.imports(text)]
    names = {name for _, name in used}
    imported = [one for one in imports if one.name in names]
    if imported:
        texts = list(dict.fromkeys([budget.line(one.text) for one in imported]))
        result["imports_used"] = budget.items(texts, 0.4, "imports")
    calls = list(dict.fromkeys([_short(name) for how, name in used if how == "call"]))
    if calls:
        resolver = _Resolver(index, found, language, {one.name: one for one in imports})
        each = [_called(index, name, resolver.declared(name)) for name in calls]
        result["calls"] = budget.items(each, 1, "calls")
    if budget.note:
        result["note"] = re.sub(r"(\d+) \+ (\d+)", lambda sums: str(int(sums[1]) + int(sums[2])), budget.note)
    return result


def _short(name: str) -> str:
    """Return what is called without the expression that it is called on, where that is more than names."""
    last = re.split(r"""['"\])}>]""", name)[-1]
    return name if last == name else f"…{last}"


def _called(index: Index, name: str, found: Found | None) -> CalledFunction:
    if found is None:
        return CalledFunction(name=name)
    shown = CalledFunction(name=name, location=location(found))
    if found.declaration.head.end:
        shown["signature"] = head_of(index, found)
    return shown


class _Resolver:
    """Finds the declarations of what a function calls.

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

    def declared(self, name: str) -> Found | None:
        """Return the declaration of a called name; None where it can't be told."""
        head, _, rest = name.partition(".")
        owner = self._found.declaration.owner
        if rest and self._is_self(head):
            return None if "." in rest else self._method(owner, rest, _MOST_BASES)
        if head in self._imports:
            target = self._language.import_target(self._imports[head].target, self._found.file.path)
            return self._only(f"{target}.{rest}" if rest else target)
        if self._language.package_is_folder and rest:
            return None
        module = self._language.module_of(self._found.file.path)
        return self._only(f"{module}.{name}" if module else name)

    def _is_self(self, name: str) -> bool:
        if name in self._language.self_names:
            return True
        receiver = re.match(rf"func\s*\(\s*{re.escape(name)}\b", self._head())
        return receiver is not None

    def _head(self) -> str:
        return span_text(source_of(self._index, self._found), self._found.declaration.head)

    def _method(self, owner: str, name: str, levels: int) -> Found | None:
        module = self._language.module_of(self._found.file.path)
        found = self._only(f"{module}.{owner}.{name}" if module else f"{owner}.{name}")
        if found is not None or levels == 0:
            return found
        for one in self._index.named(owner):
            if one.file.path == self._found.file.path and one.declaration.head.end:
                bases = re.findall(
                    r"[\w.]+", span_text(source_of(self._index, one), one.declaration.head).partition("(")[2]
                )
                for base in bases:
                    inherited = self._inherited(base, name)
                    if inherited is not None:
                        return inherited
        return None

    def _inherited(self, base: str, name: str) -> Found | None:
        head, _, rest = base.partition(".")
        if head in self._imports:
            target = self._language.import_target(self._imports[head].target, self._found.file.path)
            return self._only(f"{target}.{rest}.{name}" if rest else f"{target}.{name}")
        module = self._language.module_of(self._found.file.path)
        return self._only(f"{module}.{base}.{name}" if module else f"{base}.{name}")

    def _only(self, name: str, levels: int = _MOST_BASES) -> Found | None:
        """Return the declaration of a full name, as far as the root shows all of it."""
        found = [one for one in self._index.named(name.rpartition(".")[2]) if self._is_called(one, name)]
        if found:
            return implementation_first(self._index, found)[0]
        return self._exported(name, levels) if levels else None

    def _exported(self, name: str, levels: int) -> Found | None:
        """Return the declaration of a name that a module has by an import."""
        parts = name.split(".")
        for place in range(len(parts) - 1, -1, -1):
            folder = "/".join(parts[:place])
            own = (f"{folder}/__init__.py", f"{folder}.py") if folder else ("__init__.py",)
            for path in own:
                file = self._index.file(path)
                for one in () if file is None else file.parsed.imports:
                    if one.name == parts[place]:
                        target = self._language.import_target(one.target, path)
                        return self._only(".".join([target, *parts[place + 1 :]]), levels - 1)
        return None

    def _is_called(self, found: Found, name: str) -> bool:
        """Say whether a declaration is the one of a full name: the root may be above or below its package."""
        full = full_name(found.file.path, found.declaration)
        if full == name or ("." in full and name.endswith(f".{full}")):
            return True
        if not full.endswith(f".{name}"):
            return False
        above = full.removesuffix(f".{name}").replace(".", "/")
        return self._index.file(f"{above}/__init__.py") is None  # a folder such as src
