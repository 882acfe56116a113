"""What a model answered: its calls, and whatever else it said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..immutable import Value
from ..json_values import copy_json

if TYPE_CHECKING:
    from ..tools.calls import RawCall

__all__ = ["Answer", "StopReason"]

StopReason: TypeAlias = Literal["calls", "end", "length", "refused", "filtered", "interrupted", "other"]
"""Why the model stopped: it waits for the results of its calls · it is done · it reached the limit on tokens
· it refused · the provider held the answer back · it didn't stop: the stream ended first ·
something else, which `raw_stop` says."""


class Answer(Value):
    """One answer of a model, read from a provider's response.

    Attributes:
        calls: of tools, in order.
        text: what it said beside them; empty if it said nothing.
        refusal: why it refuses, in its words, or None.
        stop: why it stopped.
        raw_stop: the same in the provider's word, or None.
        message: the message or items that stand for this answer in the next request, before the results,
            exactly as the provider sent them; a copy at each reading.
    """

    calls: tuple[RawCall, ...]
    text: str
    refusal: str | None
    stop: StopReason
    raw_stop: str | None
    _message: tuple[Any, ...]

    @property
    def message(self) -> list[dict[str, Any]]:
        """The message or items that stand for this answer in the next request, as the provider sent them."""
        copied: list[dict[str, Any]] = copy_json(list(self._message))
        return copied

    @property
    def is_cut_off(self) -> bool:
        """Whether it lacks its end: so may the arguments of the last call.

        The limit on tokens ended it, or the stream did.
        """
        return self.stop in {"length", "interrupted"}
