"""Errors of offers, rounds and commits, with the data by which a program can react."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..message_text import fault_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..findings import Finding


class OfferError(ValueError):
    """A request can't be made, because a required tool isn't available.

    Attributes:
        tool: name of the required tool, or None if any tool would do.
        message: what is wrong and what to do about it.
    """

    def __init__(self, tool: str | None, message: str) -> None:
        super().__init__(tool, message)
        self.tool = tool
        self.message = message

    def __str__(self) -> str:
        """Write the message."""
        return self.message


class RoundError(RuntimeError):
    """A round can't do this in its present state; the round stays as it was.

    Attributes:
        message: what is wrong and what to do about it.
        count: number of calls that the message is about, or None.
    """

    def __init__(self, message: str, count: int | None = None) -> None:
        super().__init__(message, count)
        self.message = message
        self.count = count

    def __str__(self) -> str:
        """Write the message."""
        return self.message


FaultCode = Literal[
    "missing", "duplicate", "unknown_call", "already_decided", "wrong_name", "changed_arguments", "deferred"
]
"""What is wrong with the results of a commit: a pending call has no result · a call has two · no call has
this id · the round has a result of its own · the result names another tool · it belongs to a call with other
arguments · the call still waits for a decision."""


class CommitError(RoundError):
    """The results don't fit the calls; nothing was committed.

    Attributes:
        findings: all faults, in the order of the calls.
    """

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__(fault_list("the results don't fit the calls of this turn", findings), len(findings))
        self.findings: tuple[Finding, ...] = tuple(findings)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.findings,)


StoreErrorCode: TypeAlias = Literal[
    "done", "running", "changed", "taken_back", "unsaved", "unavailable", "damaged"
]
"""The reason why a store refuses something.

The round or program has ended, or never existed · a process is running it, or died · somebody changed it
after it was read · somebody took it back while it ran · it ran, but can't be saved · the database can't be
used · another program wrote into the database.
"""


class StoreError(RoundError):
    """A round can't be taken from a store: it has ended, is running, or was changed in the meantime.

    Also raised if the database of the store can't be used.

    Attributes:
        round_id: id of the round; None if the database is the problem.
        round: the `Round` with its results, if it ran and can't be saved; None otherwise.
        code: the reason, for programs; see `StoreErrorCode`.
    """

    def __init__(
        self,
        message: str,
        round_id: str | None = None,
        so_far: Any = None,
        *,
        code: StoreErrorCode = "unavailable",
    ) -> None:
        super().__init__(message)
        self.round_id = round_id
        self.round = so_far
        self.code: StoreErrorCode = code

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), code=self.code), (self.message, self.round_id, self.round)
