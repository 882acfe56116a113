"""Names that fit a pattern with `*` and `?`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["NameList", "Pattern"]


class NameList:
    """Names in one text, where a pattern finds them without looking at each.

    Args:
        names: in their order.
    """

    __slots__ = ("folded", "text")

    def __init__(self, names: Iterable[str]) -> None:
        self.text = "\n".join(["", *[name.replace("\n", " ") for name in names], ""])
        self.folded = self.text.casefold()


class Pattern:
    """A pattern: `*` stands for any characters, `?` for one.

    Args:
        text: the pattern.
        any_case: whether the case of letters makes no difference.
    """

    __slots__ = ("_any_case", "_literal", "_matches")

    def __init__(self, text: str, *, any_case: bool = False) -> None:
        parts = re.sub(r"\*+", "*", text.casefold() if any_case else text).split("*")
        self._any_case = any_case
        self._literal = max(re.split(r"\?|\0", "\0".join(parts)), key=len)
        self._matches = re.compile(
            _expression([re.escape(part).replace(r"\?", ".") for part in parts])
        ).fullmatch

    def may_match(self, names: NameList) -> bool:
        """Return False, at once, if no name can fit."""
        return self._literal in (names.folded if self._any_case else names.text)

    def matches(self, names: NameList) -> Iterator[int]:
        """Yield the place of each name that fits, from 0."""
        text = names.folded if self._any_case else names.text
        literal, matches = self._literal, self._matches
        place, counted, number = text.find(literal, 1), 1, 0
        while 0 <= place < len(text):
            begin, end = text.rfind("\n", 0, place + 1) + 1, text.find("\n", place)
            if end < 0:
                return
            if matches(text, begin, end):
                number += text.count("\n", counted, begin)
                counted = begin
                yield number
            place = text.find(literal, end + 1)


def _expression(parts: list[str]) -> str:
    """Join what stands between stars: each part is taken where it comes first, which is never taken back."""
    if len(parts) == 1:
        return parts[0]
    middle = "".join([f"(?>.*?{part})" for part in parts[1:-1]])
    return f"{parts[0]}{middle}.*{parts[-1]}"
