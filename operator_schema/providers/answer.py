"""What a model answered: its calls, and whatever else it said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..immutable import Value
from ..json_values import copy_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..tools.calls import RawCall

__all__ = ["Answer", "StopReason", "Usage", "marked_if_cut"]

StopReason: TypeAlias = Literal[
    "calls", "end", "length", "refused", "filtered", "interrupted", "paused", "other"
]
"""Why the model stopped: it waits for the results of its calls · it is done · it reached the limit on tokens
· it refused · the provider held the answer back · it didn't stop: the stream ended first · the provider
paused a long turn, and goes on with the next request · something else, which `raw_stop` says."""

_ENDED = frozenset({"calls", "end", "paused"})
"""Why an answer ends that has all of its calls; any other reason, also one that nobody knows, may end it in
the middle of a call."""


class Usage(Value):
    """What an answer cost, in tokens, as the provider counts them.

    Attributes:
        input_tokens: of the request, or None if the provider doesn't say. Providers differ in whether those
            that were read from a cache count; `raw` says more.
        output_tokens: of the answer, with those of its reasoning where the provider tells them apart; None if
            the provider doesn't say.
        raw: what the provider says; a copy at each reading.
    """

    input_tokens: int | None
    output_tokens: int | None
    _raw: Mapping[str, Any]

    @property
    def raw(self) -> dict[str, Any]:
        """What the provider says of the cost."""
        copied: dict[str, Any] = copy_json(dict(self._raw))
        return copied


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
        reasoning: what it thought, as far as the provider shows it as text; empty if it shows nothing.
        id: of the response, or None if the provider gives none.
        usage: the tokens that the response cost, or None if the provider doesn't say. Where a response has
            several answers, each says the same.
        stop_message: what the provider says of why it stopped, in its words, or None: Gemini's
            `finishMessage`, Groq's message of a call that it refused.
    """

    calls: tuple[RawCall, ...]
    text: str
    refusal: str | None
    stop: StopReason
    raw_stop: str | None
    _message: tuple[Any, ...]
    reasoning: str = ""
    id: str | None = None
    usage: Usage | None = None
    stop_message: str | None = None

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

    def with_cut_marked(self) -> Answer:
        """Return the answer in which a call is marked whose arguments may lack their end.

        That is the last one, unless its arguments are the text of a whole JSON object. What a provider gives
        as an object may be all that had come of it. Of the calls before, only text that isn't whole counts:
        the model had ended them.
        """
        if self.stop in _ENDED or not self.calls:
            return self
        *before, last = self.calls
        marked = [call.replace(is_cut_off=True) if _is_cut(call) else call for call in before]
        return self.replace(calls=(*marked, marked_if_cut(last)))


def marked_if_cut(call: RawCall) -> RawCall:
    """Return a call that may lack its end: marked, unless its arguments are text of a whole JSON object."""
    return call if _is_whole(call.arguments) else call.replace(is_cut_off=True)


def _is_cut(call: RawCall) -> bool:
    arguments = call.arguments
    return isinstance(arguments, str) and bool(arguments.strip()) and not _is_whole(arguments)


def _is_whole(arguments: Any) -> bool:
    """Return whether arguments are the text of a JSON object, which ends where it ends."""
    from json import loads

    if not isinstance(arguments, str):
        return False
    try:
        return isinstance(loads(arguments), dict)
    except (ValueError, RecursionError):
        return False
