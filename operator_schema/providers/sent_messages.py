"""How does a request copy the messages of a history that earlier requests sent?"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING, Any

from .. import rounds
from ..json_copies import Original
from ..json_values import copy_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from .tool_forms import TakesTools

    Changed: TypeAlias = tuple[Mapping[str, str], Mapping[str, str]]

_TOGETHER = 16
"""How many items of a history are copied together; more would save little, and delay the first such copy."""


class SentMessages(Original):
    """The messages of a turn, or of several items that begin with a turn, for one provider.

    Args:
        provider: the provider.
        changed: the tools and properties that have other names on the wire; None if there are none.
        messages: the messages, which nobody else changes.
        following: the items after the turn whose messages these are, too.
    """

    __slots__ = ("_changed", "_following", "_provider")

    def __init__(
        self,
        provider: TakesTools,
        changed: Changed | None,
        messages: list[Any],
        following: Sequence[Any] = (),
    ) -> None:
        super().__init__(messages)
        self._provider = provider
        self._changed = changed
        self._following = following

    def is_for(self, provider: TakesTools, changed: Changed | None, following: Sequence[Any] = ()) -> bool:
        """Return whether these are the messages for a provider, and for the very same items."""
        return (
            (self._provider is provider or self._provider == provider)
            and (self._changed is changed or self._changed == changed)
            and len(self._following) == len(following)
            and all(map(is_, self._following, following))
        )


def sent_messages(
    provider: TakesTools,
    changed: Changed | None,
    items: Sequence[Any],
    messages_of: Callable[[Any], list[Any]],
) -> list[Any]:
    """Return the messages of a history; those of turns and strings are copies.

    A turn caches the messages of itself and of the items after it, so that they are copied together. It
    begins where the last such group ends. So groups stay the same when a history grows, or loses its oldest
    items.

    Args:
        provider: the provider.
        changed: as for `SentMessages`.
        items: the history.
        messages_of: a function that returns the messages of one item; the messages of turns and strings
            belong to the caller, and depend only on the item, the provider and `changed`.
    """
    turn_class, key = rounds.Turn, (provider.name, _TOGETHER)
    found: list[Any] = []
    place = begun = sent = 0  # a group begins at `begun`, with the message at `sent`
    while place < len(items):
        item = items[place]
        is_turn = isinstance(item, turn_class)
        group = item.kept(key) if is_turn else None
        if group is not None and group.is_for(provider, changed, items[place + 1 : place + _TOGETHER]):
            found += group.copy()
            place += _TOGETHER
            begun, sent = place, len(found)
            continue
        found += messages_of(item)
        place += 1
        if not is_turn and (place - begun == 1 or not isinstance(item, str)):
            begun, sent = place, len(found)
        elif place - begun == _TOGETHER:
            together = copy_json(found[sent:])
            # Without the turn itself: a cycle would only be freed by the garbage collector.
            made = SentMessages(provider, changed, together, items[begun + 1 : place])
            items[begun].keep(key, made)
            begun, sent = place, len(found)
    return found
