"""How are histories, turns and results written as the messages of one provider?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from .. import rounds
from ..json_values import is_array, is_object, writable_json
from .answer import CONTAINER, Answer, container_in, renamed_call, without_container
from .history_checks import check_message, not_for_a_history
from .rules import OUTPUT, UNNAMED, given_id
from .sent_messages import SentMessages, sent_messages
from .tool_forms import renames
from .wire_format import form_of, has_id_of, text_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..rounds import Turn
    from ..tools import RawCall, ToolResult
    from .offered_tools import Offered
    from .tool_forms import TakesTools

    Said = TypeVar("Said", RawCall, ToolResult)


class HistoryWriter:
    """Writes messages for one provider.

    Args:
        provider: the provider.
        offered: the tools in the request.
    """

    __slots__ = ("_changed", "_loads_found", "_offered", "_provider", "_wire", "_wire_keys", "_wire_names")

    def __init__(self, provider: TakesTools, offered: Offered) -> None:
        self._provider, self._wire, self._offered = provider, provider.wire, offered
        self._wire_names, own_names, own_keys = renames(provider, offered)
        self._wire_keys = {own: wire for wire, own in own_keys.items()}
        self._changed = (own_names, own_keys) if own_names or own_keys else None
        # Then the messages of turns depend on the request, because searches in them load tools.
        self._loads_found = bool(offered.deferred) and provider.features.loads_found

    def add_to(self, body: dict[str, Any], items: list[Any]) -> None:
        """Put the messages of a history into the body of a request, and the data that they need there."""
        container = self._container_of(items) if self._wire.CONTAINER else None
        if container is not None:
            body[self._wire.CONTAINER] = container
            items = items[:-1] if self._wire.REPEATS else items
        body[self._wire.HISTORY] = self._messages_of(items)
        self._wire.complete(body)

    def _container_of(self, items: Sequence[Any]) -> str | None:
        """Return the sandbox or token of the last answer or turn, which the request needs; or None.

        A token is only used if the history ends with the answer that has it.
        """
        for item in reversed(items):
            if type(item) is not str and hasattr(item, "assistant"):
                is_own = getattr(item, "provider", None) in {None, self._provider.name}
                return container_in(item.assistant) if is_own else None
            if is_object(item) and item.get("role") in {"assistant", "model"}:
                return container_in([item])
            if self._wire.REPEATS:
                return None
        return None

    def _messages_of(self, items: Sequence[Any]) -> list[Any]:
        """Return the messages of a history; the caller may change those of turns and strings."""
        if self._loads_found:
            return [message for item in items for message in self._messages_of_item(item)]
        return sent_messages(self._provider, self._changed, items, self._messages_of_item)

    def _messages_of_item(self, item: Any) -> list[Any]:
        if isinstance(item, rounds.Turn):
            return self.turn(item)
        if isinstance(item, str):
            return sendable([self._wire.text_message("user", item)])
        if is_object(item):  # maybe from `Turn.assistant`
            check_message(item, self._wire, self._provider.name)
            return sendable(without_container([item]) if CONTAINER in item else [item])
        if not isinstance(item, Answer):
            raise not_for_a_history(item)
        unfit = item.unfit_outputs
        if unfit and not item.calls:
            calls, results = tuple([call for _, call, _ in unfit]), tuple([one for _, _, one in unfit])
            return self.turn(rounds.Turn("", calls, results, item.assistant, item.provider))
        return sendable(self._model_messages(item.message, item.calls, item.provider))

    def turn(self, turn: Turn) -> list[dict[str, Any]]:
        """Return the messages of a turn, which the caller may change; the turn caches them."""
        if self._loads_found:
            return sendable(self._new_turn(turn))
        provider = self._provider
        kept = turn.kept(provider.name)
        if kept is None or not kept.is_for(provider, self._changed):
            made = SentMessages(provider, self._changed, sendable(self._new_turn(turn)))
            kept = turn.keep(provider.name, made)
        copied: list[dict[str, Any]] = kept.copy()
        return copied

    def _new_turn(self, turn: Turn) -> list[dict[str, Any]]:
        corrections = self._corrections(turn.results)
        if corrections:
            calls, results = _without_outputs(turn.calls), _without_outputs(turn.results)
            turn = turn.replace(calls=calls, results=results)
        said, calls = turn.assistant, turn.calls
        if self._wrote(said, len(calls), turn.provider):
            messages = self._model_messages(said, calls, turn.provider)
            return [*messages, *self._results(turn.results, calls), *corrections]
        ids = [self._wire_id(call.id, turn.id) for call in calls]
        anew = [call.replace(id=call_id) for call, call_id in zip(calls, ids, strict=True)]
        answered = [
            result.replace(call_id=call_id, parts=result.parts)
            for result, call_id in zip(turn.results, ids, strict=True)
        ]
        return [*self._rewritten(said, anew), *self._results(answered), *corrections]

    def results(self, results: Sequence[ToolResult], calls: Sequence[RawCall]) -> list[dict[str, Any]]:
        """Return the messages or items for the results of an answer's calls; see `Provider.results`."""
        found = self._results(_without_outputs(results), _without_outputs(calls))
        return sendable([*found, *self._corrections(results)])

    def _results(self, results: Sequence[ToolResult], calls: Sequence[RawCall] = ()) -> list[dict[str, Any]]:
        names = self._wire_names
        # The model's own message has the names as the model wrote them.
        sent_names = [call.sent_name or names.get(call.name, call.name) for call in calls] or [
            names.get(result.name, result.name) for result in results
        ]
        sent = [
            result if name == result.name else result.replace(name=name, parts=result.parts)
            for result, name in zip(results, sent_names, strict=True)
        ]
        messages = self._wire.results(sent)
        if self._loads_found:
            from .request_options import load_found

            load_found(self._provider, messages, results, self._offered)
        if any(call.caller is not None for call in calls):
            self._wire.name_callers(messages, calls)
        return messages

    def _corrections(self, results: Iterable[ToolResult]) -> list[dict[str, Any]]:
        """Return messages that tell the model why its text doesn't fit the requested type."""
        wrong = [result.content for result in results if result.call_id.startswith(OUTPUT)]
        return [self._wire.text_message("user", text) for text in wrong]

    def _model_messages(self, said: Any, calls: Sequence[RawCall], by: str | None) -> list[dict[str, Any]]:
        """Return the model's messages; messages of another provider are rewritten."""
        if self._wrote(said, len(calls), by):
            return without_container(said) if any(CONTAINER in message for message in said) else [*said]
        return self._rewritten(said, [call.replace(id=self._wire_id(call.id, "")) for call in calls])

    def _wrote(self, said: Any, calls: int, by: str | None) -> bool:
        """Return whether this provider wrote messages that still have the calls or a text.

        Args:
            said: the messages.
            calls: the number of their calls.
            by: the name of the provider that wrote them; None if it isn't known: then their form decides.
        """
        if not is_array(said) or by not in {None, self._provider.name}:
            return False
        if not calls:
            return all(form_of(message) in self._wire.FORMS for message in said)
        try:
            return sum([self._wire.calls_in(message) for message in said]) >= calls
        except (TypeError, AttributeError):
            return False

    def _rewritten(self, said: Any, calls: Sequence[RawCall]) -> list[dict[str, Any]]:
        """Return messages with the text of another provider's messages, and with the calls."""
        text = text_in(said)
        text = text if text.strip() else ""  # most providers refuse blank text
        if not calls:
            return [self._wire.text_message("assistant", text)] if text else []
        sent = [renamed_call(call, self._wire_names, self._wire_keys) for call in calls]
        return self._wire.with_stand_ins(self._wire.calls_message(sent, text))

    def _wire_id(self, call_id: str, turn: str) -> str:
        """Return an id for a call of another provider; see `IdRule.wire_id`."""
        given = given_id(call_id)
        form = call_id.removesuffix(given) if self._provider.features.custom else ""
        rule = self._provider.rules.ids
        return form + rule.wire_id(given, turn, is_given=not given.startswith(UNNAMED))


def _without_outputs(found: Iterable[Said]) -> tuple[Said, ...]:
    """Return calls or results without those that represent an answer of a wrong type in text."""
    return tuple([one for one in found if not has_id_of(one, OUTPUT)])


def sendable(messages: list[Any]) -> list[Any]:
    """Return messages that can be encoded; otherwise one bad character would block the whole conversation."""
    try:
        found: list[Any] = writable_json(messages)
    except RecursionError:  # nothing else can encode these either
        return messages
    return found
