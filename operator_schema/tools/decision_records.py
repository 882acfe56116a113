"""Who decided what about a call, when, and with which words?

Most calls run without any decision, so this module is imported with the first one.
"""

from __future__ import annotations

from time import time
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..immutable import Value
from ..json_values import copy_json
from ..message_text import writable_text

if TYPE_CHECKING:
    from collections.abc import Mapping

DecisionKind: TypeAlias = Literal["approve", "reject", "answer", "complete", "change", "expire"]
"""What was decided: to run the call · not to run it · the answer to its question · its output, without
running it · other arguments · nothing, in the time that there was."""

Decider: TypeAlias = Literal["person", "hook", "host"]
"""Who decided: a person; a hook; your program, or the clock."""


class DecisionRecord(Value):
    """One decision about a call.

    Attributes:
        kind: `approve`, `reject`, `answer`, `complete`, `change`, or `expire`.
        decider: `person`, `hook` or `host`.
        by: the name of the person, as given to `round.approve` and the like, or of the hook; None if nobody
            said it.
        words: what the person said of it; may be empty. The model doesn't see it.
        when: in seconds since 1970, to the millisecond; it takes no part in equality.
        before: the arguments before the decision, if it changed them; None otherwise.
        arguments: the arguments after the decision, if it changed them; None otherwise.
    """

    kind: DecisionKind
    decider: Decider
    by: str | None
    words: str
    when: float
    before: Mapping[str, Any] | None = None
    arguments: Mapping[str, Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the record as JSON values, with `when` as an integer of milliseconds."""
        saved: dict[str, Any] = {"kind": self.kind, "decider": self.decider, "when": round(self.when * 1_000)}
        if self.by is not None:
            saved["by"] = self.by
        if self.words:
            saved["words"] = self.words
        if self.arguments is not None:
            saved |= {"before": copy_json(self.before), "arguments": copy_json(self.arguments)}
        return saved

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DecisionRecord):
            return NotImplemented
        return self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash((self.kind, self.decider, self.by, self.words))

    def _compared(self) -> tuple[Any, ...]:
        return self.kind, self.decider, self.by, self.words, self.before, self.arguments


def checked_by(by: object) -> str | None:
    """Return the name of a person who decides; None if it isn't said.

    Raises:
        TypeError: it isn't a string.
        ValueError: it is empty.
    """
    if by is None:
        return None
    name = writable_text("by", by)
    if not compared_name(name):
        message = "by, the name of who decides, is empty: leave it out if nobody knows it"
        raise ValueError(message)
    return name


def compared_name(name: str) -> str:
    """Return the name of a person in the form in which names are compared.

    Two spellings of a name are the same person if they differ only in case, spaces, invisible characters and
    the width or composition of characters (NFKC; https://www.unicode.org/reports/tr15/).
    """
    from unicodedata import category, normalize  # most decisions name nobody

    visible = "".join([one for one in name if one.isspace() or category(one) not in _INVISIBLE])
    folded = normalize("NFKC", normalize("NFKC", visible.translate(_EMPTY)).casefold())
    return " ".join(folded.split())


_INVISIBLE = frozenset({"Cc", "Cf"})
"""The categories of characters without a shape: controls and formats, such as a zero-width space."""

_EMPTY = dict.fromkeys(
    [
        *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2065, 0x3164, 0xFFA0),
        *range(0xFE00, 0xFE10),
        *range(0xFFF0, 0xFFF9),
        *range(0xE0100, 0xE01F0),
    ]
)
"""Characters of other categories without a shape (Default_Ignorable_Code_Point in
https://www.unicode.org/Public/UCD/latest/ucd/DerivedCoreProperties.txt)."""


def recorded(
    before: Any,
    after: Any,
    kind: DecisionKind,
    decider: Decider,
    by: str | None = None,
    words: str = "",
) -> Any:
    """Return the `ToolCall` after a decision, with the record of it.

    Args:
        before: the call before the decision.
        after: the call after it.
        kind: what was decided.
        decider: who decided.
        by: the name of the person or the hook.
        words: what the person said.
    """
    record = DecisionRecord(kind, decider, by, words, round(time(), 3), *_change(before, after))
    return after.replace(decisions=(*before.decisions, record))


def _change(before: Any, after: Any) -> tuple[Any, Any]:
    """Return the arguments before and after a decision that changed them; None for both otherwise."""
    old, new = before.changed, after.changed
    if old is new:
        return None, None
    if old is None:
        return (None, None) if new is None else (new.before, new.arguments)
    return old.arguments, old.before if new is None else new.arguments
