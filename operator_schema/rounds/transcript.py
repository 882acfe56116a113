"""Transcripts: conversations in memory, and the turns in them."""

from __future__ import annotations

from _thread import RLock  # `threading` itself is not needed
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, cast

from ..immutable import Keeper, Value
from ..json_values import copy_json, has_surrogate, is_array, is_object, writable_json
from ..message_text import as_written, checked_text, listed, one_line, quote, received
from ..similar_names import nearest
from ..tools.calls import RawCall, ToolResult
from ..tools.signature import close_awaitable, is_awaitable
from .errors import RoundError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from collections.abc import Set as AbstractSet
    from types import ModuleType

    from ..tools.decision_records import DecisionRecord


_NAME_LENGTH = 100

_ROLES = frozenset({"user", "assistant", "system", "developer", "tool", "function", "model"})
"""The roles of messages in the forms of all providers."""

_OF_THE_MODEL = frozenset({"assistant", "model"})


class Turn(Value, Keeper):
    """A turn of the model with calls of tools, and a result for each call.

    A turn doesn't depend on a provider: each provider converts it to its own messages.

    Attributes:
        id: the id of the round; two turns never share it.
        calls: the calls as the model sent them, in order.
        results: a result for each call, in the order of the calls.
        assistant: the rest of the model's turn as JSON, as given to `offer.round`.
        provider: the name of the provider that gave the answer; None if only calls were given.
        about: the notes of your program about the round, as JSON (`offer.round(answer, about=…)`).
        decisions: for each call, the decisions of hooks and people; empty if there are none.
    """

    id: str
    calls: tuple[RawCall, ...]
    results: tuple[ToolResult, ...]
    assistant: Any = None
    provider: str | None = None
    about: Any = None
    decisions: tuple[tuple[DecisionRecord, ...], ...] = ()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], /) -> Turn:
        """Return the turn that `as_dict` wrote; the data may come from a database.

        Args:
            data: the turn as JSON values.

        Raises:
            DecodeError: the data have another form.
        """
        return cls(*saving().read_turn(data))

    def as_dict(self) -> dict[str, Any]:
        """Return the turn as JSON values, with the data of all parts.

        A lone surrogate, which no encoding can write, becomes U+FFFD.
        """
        forms = saving()
        data: dict[str, Any] = {
            "id": self.id,
            "assistant": self.assistant,
            "provider": self.provider,
            "calls": [forms.save_call(call) for call in self.calls],
            "results": [
                {"call_id": result.call_id, "name": result.name, **forms.save_result(result)}
                for result in self.results
            ],
        }
        if self.about is not None:
            data["about"] = self.about
        if self.decisions:
            data["decisions"] = [[one.as_dict() for one in found] for found in self.decisions]
        return cast("dict[str, Any]", copy_json(writable_json(data)))


@cache
def saving() -> ModuleType:
    """Return the module that writes calls and results as data: most rounds are never saved."""
    from . import serialization

    return serialization


class History(Protocol):
    """A destination of committed turns; a `list` is one too."""

    def append(self, turn: Turn, /) -> None:
        """Add a turn as a whole, or raise an exception and add nothing."""
        ...


def checked_conversation(what: str, name: object) -> str:
    """Check and return the name of a conversation."""
    checked = checked_name(what, name)
    if not checked.strip():
        message = f"{what} is empty: give a name such as the id of a customer"
        raise ValueError(message)
    return checked


def checked_name(what: str, name: object) -> str:
    """Check and return a name that every database must be able to store.

    Raises:
        TypeError: the name isn't a string.
        ValueError: the name has a lone surrogate, or the character U+0000.
    """
    checked = checked_text(what, name)
    if has_surrogate(checked) or "\0" in checked:  # with U+FFFD instead, two names could become one
        message = f"{what} must be text that can be written, not {quote(checked)}"
        raise ValueError(message)
    return checked


def conversation_of(history: object, known: str | None) -> str | None:
    """Return the name of the conversation that a round belongs to when its turn is appended to a history.

    Args:
        history: the history; a stored one has a `name`.
        known: the conversation of the round so far.

    Raises:
        RoundError: the round belongs to another conversation.
        ValueError: the name of the history is empty, or no database can store it.
    """
    name = getattr(history, "name", None)
    if not isinstance(name, str):
        return known
    checked_conversation("the name of a transcript", name)
    if known is not None and name != known:
        message = (
            f"this round belongs to the conversation {quote(known, _NAME_LENGTH)}, "
            f"and the transcript is that of {quote(name, _NAME_LENGTH)}: give the transcript of the round"
        )
        raise RoundError(message)
    return name


def append_turn(history: History, turn: Turn, revision: int | None = None) -> None:
    """Append a turn."""
    stored: Any = getattr(type(history), "commit_turn", None)
    if stored is not None:
        stored(history, turn, revision)
        return
    if not callable(getattr(history, "append", None)):
        known = "a Transcript, a list, or anything else with append"
        message = f"a transcript must be {known}, not {received(history)}"
        raise TypeError(message)
    returned: object = history.append(turn)  # type: ignore[func-returns-value]  # what callers promise, some do not
    if is_awaitable(returned):
        close_awaitable(returned)
        name = one_line(type(history).__name__, _NAME_LENGTH)
        message = (
            f"{name}.append is async, and commit doesn't wait for it: commit to a Transcript or a list, "
            "and store the turn yourself with await"
        )
        raise TypeError(message)


def role_fault(
    message: Mapping[Any, Any], own: AbstractSet[str] = _ROLES, *, others: bool = True
) -> str | None:
    """Return the fault in the role of a message, as a text that begins with `has`; None if there is no fault.

    Args:
        message: a message in the form of a provider.
        own: the roles that it may have.
        others: whether it may also have an unknown role, unless that is a misspelling of a known one.
    """
    if "role" not in message:
        key = nearest("role", [key for key in message if isinstance(key, str)], _ALMOST_THE_SAME)
        if key is not None:
            return f'has {quote(key)}: did you mean "role"?'
        # Gemini takes `parts` without a role, and items that aren't messages (OpenAI's Responses) have a
        # type.
        is_message = "content" in message and message.keys().isdisjoint(("parts", "type"))
        return 'has no role: add one, such as "role": "user"' if is_message else None
    role = message["role"]
    if role is None or role in own:
        return None
    if not isinstance(role, str):
        return f"has {as_written(role)} as its role, which must be a string"
    of_the_model = own & _OF_THE_MODEL if role in _OF_THE_MODEL else ()
    near = next(iter(of_the_model), None) or nearest(role, sorted(own))
    if near is None and others and role not in _ROLES:
        return None
    hint = (
        f"did you mean {quote(near)}?" if near else f"it may be {listed([quote(one) for one in sorted(own)])}"
    )
    return f"has the role {quote(role)}: {hint}"


_ALMOST_THE_SAME = 0.7


_NO_ITEMS = (int, float, bytes, RawCall, ToolResult)


def check_item(item: object) -> None:
    """Refuse an item that certainly doesn't belong in a conversation.

    Raises:
        TypeError: the item is a number, null, a list, bytes, a call, a result, or a message with a misspelt
            role.
    """
    if isinstance(item, (str, Turn)):
        return
    if is_object(item):
        fault = role_fault(item)
        if fault is not None:
            message = f"a message of a transcript {fault}"
            raise TypeError(message)
    elif item is None or isinstance(item, _NO_ITEMS) or is_array(item):
        way = ": append its items one by one" if is_array(item) else ""
        if isinstance(item, (RawCall, ToolResult)):
            way = ": a call and its result become a turn when their round is committed"
        message = f"a transcript has messages, turns and answers, not {received(item)}{way}"
        raise TypeError(message)


class Transcript:
    """A conversation in memory: messages of the user, committed turns, and other items of your program.

    A string is a message of the user, a dict a message in the form of a provider.

    Any number of threads may append at once. Each turn is added once: a second commit of the same round is
    refused, even if the round was restored twice. A copy, also a pickled one, is another conversation with
    the same items.

    Args:
        items: the conversation so far, such as messages of the user.

    Raises:
        TypeError: `items` is a string, or `append` refuses one of them.
    """

    __slots__ = ("_items", "_lock", "_turns")

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._lock = RLock()
        self._items: list[Any] = []
        self._turns: set[str] = set()
        if isinstance(items, str):
            message = f"a transcript takes a list of messages: Transcript([{quote(items, _NAME_LENGTH)}])"
            raise TypeError(message)
        for item in items:
            self.append(item)

    def append(self, item: Any, /) -> None:
        """Add a turn, or anything else.

        Raises:
            RoundError: the turn was added before.
            TypeError: the item doesn't belong in a conversation, such as a number, or its role is misspelt.
        """
        check_item(item)
        with self._lock:
            if isinstance(item, Turn):
                if item.id in self._turns:
                    message = "this turn is in the transcript already: it was committed before"
                    raise RoundError(message)
                self._turns.add(item.id)
            self._items.append(item)

    def __iter__(self) -> Iterator[Any]:
        with self._lock:
            return iter(tuple(self._items))

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: int) -> Any:
        """Return one item."""
        return self._items[index]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (list(self),)

    def __repr__(self) -> str:
        return f"<Transcript of {len(self)}>"
