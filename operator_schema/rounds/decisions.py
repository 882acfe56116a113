"""What a hook decides about one call."""

from __future__ import annotations

from dataclasses import MISSING
from typing import Any, TypeAlias

from ..immutable import Value
from ..wording import writable_text

__all__ = ["Complete", "Decision", "Defer", "Reject", "RunNormally"]


class RunNormally(Value):
    """Go on to the next hook; if none decides otherwise, the call is run.

    A hook that returns None says the same, with the input as it was. The input of a call that a person
    has approved or answered doesn't change any more.

    Attributes:
        input: with which to go on; left out to keep it.
        approved: whether the call needs no person any more, although its tool says `confirm=True`.
    """

    input: Any = MISSING
    approved: bool = False


class Complete(Value):
    """Stop here: this is the output of the call, and its function doesn't run.

    Attributes:
        output: as the function would have returned it.
    """

    output: Any


class Reject(Value):
    """Stop here: the call isn't run, and the model reads why.

    Attributes:
        reason: for the model; it may be empty.
    """

    reason: str = ""

    def __init__(self, reason: str = "") -> None:
        super().__init__(writable_text("the reason of Reject", reason))


class Defer(Value):
    """Go on to the next hook; if none completes or rejects the call, a person or another system decides.

    For a call that was approved already, this means to go on, no more.

    Attributes:
        reason: for whoever decides; the model doesn't see it.
    """

    reason: str = ""

    def __init__(self, reason: str = "") -> None:
        super().__init__(writable_text("the reason of Defer", reason))


Decision: TypeAlias = RunNormally | Complete | Reject | Defer | None
"""What a hook may return; None is `RunNormally()`."""
