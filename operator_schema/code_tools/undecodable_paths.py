"""How are paths shown that aren't UTF-8, and which path does a shown one mean?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..json_values import has_surrogate, without_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

REPLACED = "\ufffd"
"""Stands for a byte of a name that isn't UTF-8, which no text can hold."""


def paths_shown_as(paths: Iterable[str]) -> dict[str, str | None]:
    """Map the shown forms of paths that aren't UTF-8, and of their folders, to the real paths.

    Of two that are shown as the same, neither can be asked for: these have None. But a path that is really
    written like that is meant itself.
    """
    found: dict[str, str | None] = {}
    real: set[str] = set()
    for path in paths:
        if not has_surrogate(path) and REPLACED not in path:
            continue
        parts = path.split("/")
        for whole in ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]:
            shown = without_surrogates(whole)
            if shown != whole:
                found[shown] = whole if found.get(shown, whole) == whole else None
            elif REPLACED in whole:
                real.add(whole)
    return {shown: None if shown in real else whole for shown, whole in found.items()}


def path_meant(asked: str, shown_as: Mapping[str, str | None], *, is_path: bool = False) -> str:
    """Replace a shown path at the beginning of a text by the real path.

    Args:
        asked: a path, and maybe the name of a declaration behind a colon.
        shown_as: of `paths_shown_as`.
        is_path: whether it is a path and nothing else, so that blanks and colons belong to it.
    """
    if REPLACED not in asked:
        return asked
    begins = asked if is_path else asked.lstrip().removeprefix("./")
    ends = {"", "/"} if is_path else {"", "/", ":"}
    for shown in sorted(shown_as, key=len, reverse=True):
        if begins.startswith(shown) and begins[len(shown) :][:1] in ends:
            meant = shown_as[shown]
            return asked if meant is None else meant + begins[len(shown) :]
    return asked
