"""Which declarations have names that match a pattern, and if none do, why?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..message_text import quote
from .budget import Budget
from .descriptions import match
from .index import MOST_COUNTED
from .misses import path_problem, unread_note
from .results import SearchResult
from .written_names import pattern_hint, read_pattern

if TYPE_CHECKING:
    from .index import FoundDeclaration, Index
    from .language import Kind
    from .results import Reason

_MOST_SHOWN = 5
_LONGEST_NOTE = 350
_LINE = 10_000
"""Characters for one result alone: what fits is counted later."""


def search_names(index: Index, pattern: str, kind: Kind | None, limit: int, budget: Budget) -> SearchResult:
    """Answer with the declarations whose names match a pattern, or explain why there are none."""
    path, names = read_pattern(pattern)
    found, more = index.search(path, names, kind, limit)
    if not found:
        path, names = _split_at_module(index, path, names) or (path, names)
        found, more = index.search(path, names, kind, limit)
    if not found:
        return _answer_nothing(index, pattern, path, names, kind)
    shown = budget.items((match(index, one, Budget(_LINE)) for one in found), 1, "results", of=len(found))
    result = SearchResult(results=shown)
    if left := more + len(found) - len(shown):
        result["more"] = left
        at_least = " at least" if more >= MOST_COUNTED else ""
        result["note"] = (
            f"There are{at_least} {left:,} more: make the pattern longer, give a kind, or raise the limit."
        )
    elif others := index.in_another_case(path, names, kind, found):
        named = ", ".join([quote(name) for name in others[:_MOST_SHOWN]])
        result["note"] = f"In other upper or lower case there are also {named}."
    return result


def _split_at_module(index: Index, path: str, names: str) -> tuple[str, str] | None:
    """Split a pattern that begins with a module, such as `json:*` or `pkg.*`, into path and names."""
    if path:
        modules = [path.replace("/", ".")]
    else:
        parts = names.split(".")
        modules = [".".join(parts[:place]) for place in range(len(parts) - 1, 0, -1)]
    for module in modules:
        for known in () if "*" in module or "?" in module else index.modules.ending(module):
            files = index.modules.files(known)
            rest = names if path else names[len(module) + 1 :]
            if files:
                is_package = len(files) > 1 or files[0].rpartition("/")[2].startswith("__init__.")
                where = files[0].rpartition("/")[0] if is_package else files[0]
                return (where or files[0]), rest or "*"
    return None


def _answer_nothing(index: Index, pattern: str, path: str, names: str, kind: Kind | None) -> SearchResult:
    """Explain why no declaration matches a pattern."""
    reason, note = _reason_for_nothing(index, pattern, path, names, kind)
    return SearchResult(results=[], reason=reason, note=note[:_LONGEST_NOTE])


def _reason_for_nothing(
    index: Index, pattern: str, path: str, names: str, kind: Kind | None
) -> tuple[Reason, str]:
    if not names:
        return "not understood", "No pattern was given: write one such as *Repository, or users/service.go:*."
    if kind is not None and (others := index.search(path, names, None, 1)[0]):
        return (
            "of another kind",
            f"Nothing of this kind fits, but {_show_with_kind(others[0])} does: leave the kind out.",
        )
    if hint := pattern_hint(pattern):
        return "not understood", hint
    if path and not any(True for _ in index.at(path)):
        return path_problem(index, path)
    note = f"No declared name matches: a pattern must match the whole name, so try *{names.strip('*')}*."
    return "not declared", f"{note} {unread_note(index)}".strip()


def _show_with_kind(found: FoundDeclaration) -> str:
    return f"the {found.declaration.kind} {found.declaration.qualified}"
