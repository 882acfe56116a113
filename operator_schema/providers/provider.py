"""A model provider: writes its requests, and reads its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from .. import rounds, tools
from ..immutable import Value
from ..json_values import is_array, is_object, writable_json
from ..message_text import received
from .answer import (
    CONTAINER,
    Answer,
    ResponseError,
    container_in,
    renamed,
    renamed_call,
    without_container,
)
from .offered_tools import offered_now
from .response_json import body_of, check_response_depth
from .rules import OUTPUT, UNNAMED, Features, Rules, given_id
from .sent_messages import SentMessages, sent_messages
from .tool_forms import check_required, checked_strict, kept_for, nullable_tools, own_keys, sent_tools
from .wire_format import Wanted, form_of, text_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Self, TypeAlias, Unpack

    from ..codec.codec import Codec
    from ..rounds import Turn
    from ..schema.style import Dialect
    from ..tools import RawCall, Tool, ToolResult
    from .offered_tools import Offered, Strict, Tools
    from .output import AskedOutput
    from .report import Report
    from .request_options import RequestOptions
    from .rules import NameRule
    from .sent_messages import Changed
    from .stream import Stream
    from .streamed_calls import StreamedCalls
    from .wire_format import Wire

    Renames: TypeAlias = tuple[Mapping[str, str], Mapping[str, str], Mapping[str, str]]

T = TypeVar("T")
Said = TypeVar("Said", "RawCall", "ToolResult")


class Provider(Value):
    """The wire form of one provider; all data are plain dicts, and nothing is sent.

    Attributes:
        name: the name of the provider, for messages.
        wire: writes and reads its wire form.
        names: the rule for the names of tools.
        takes_unions: whether the arguments of a tool may be a union. If not, the tool gets the properties of
            all its members, and its description has the rest.
        dialect: the part of JSON Schema that its strict mode takes; None if it has none, or it isn't known.
        always: its dialect in any mode; None for all of JSON Schema.
        rules: its rules in any mode.
        features: further features of its requests, for the options of `request`.
        calls_in_text: whether an answer without calls whose whole text is calls of offered tools makes these
            calls: some servers can't read their model's calls.
    """

    name: str
    wire: Wire
    names: NameRule
    takes_unions: bool
    dialect: Dialect | None = None
    always: Dialect | None = None
    rules: Rules = Rules()  # the class is immutable
    features: Features = Features()  # as above
    calls_in_text: bool = False

    def replace(self, **changes: Any) -> Self:
        """Return a provider with some attributes replaced.

        Raises:
            TypeError: there is no such attribute, or a value has a wrong type.
            ValueError: a value isn't one of its choices.
        """
        from .custom_provider_checks import check_changes

        check_changes(changes)
        return super().replace(**changes)

    def request(
        self,
        offer: Tools,
        /,
        history: Iterable[Any] | None = None,
        *,
        output: Any = None,
        **options: Unpack[RequestOptions],
    ) -> dict[str, Any]:
        """Return the part of a request's body about tools and, with a history, the messages.

        Args:
            offer: the offer from `toolset.offer`; or a tool, a toolset, a registry or a list of tools, for
                their default offer. With `offer(strict=…)`, the provider has to make the model follow the
                schemas: rules that its strict mode can't express are written into the descriptions, and
                checked when the arguments are decoded, as always. `"auto"` means strict only for tools that
                the strict mode accepts; `report` lists them.
            history: the conversation, in order: strings of the user, committed turns and answers, and dicts
                in the provider's own form, which are sent unchanged. For Bedrock and Gemini, consecutive
                messages of one role become one message, because they refuse several. For all providers,
                U+FFFD replaces a lone surrogate: no SDK can send one, whether a model or a user wrote it.
            output: the type of the final answer, or its `Codec`. The request asks for it in the provider's
                own way, in the strict mode if the type fits that. If the provider has no such way, or not
                beside tools, a tool that must be called receives the answer. With None, the answer may be any
                text.
            options: options that only some providers take; `features` lists them. None, False and empty
                values mean no option.
                `listed`: the tools that the request lists, as for `offer`; the offer allows some of them. The
                    list stays the same from request to request, so that a prompt cache works.
                `cache`: True for a cache point after the tools, or how long it lasts, `"5m"` or `"1h"`.
                `parallel`: whether the model may make several calls at once.
                `examples`: whether to send the examples of the tools too.
                `custom`: names or tools with one text parameter that the model writes as plain text; or a
                    dict of these to a `Grammar` of the text, or None.
                `allowed_callers`: a dict of names or tools to lists of callers, in the provider's words. The
                    tool that runs programs is added.
                `search`: the search of the provider that finds deferred tools, such as `"bm25"`, in place of
                    an offered `ToolSearch`.
                `namespaces`: a list of `Namespace`s that group tools.
                `late`: names or tools whose results may come after the next request; see `Answer.late_calls`.
                `thinking`: True if your part of the body lets the model think. Some providers then refuse a
                    choice that requires a call, so this method refuses it too, and a tool that receives the
                    output isn't required.

        Returns:
            A new dict to merge into the body; without tools and history, it is empty.

        Raises:
            SchemaError: the provider can't express a tool, or two tools would have the same name.
            ToolNotFoundError: an option names a tool that isn't offered.
            TypeError: something isn't a tool, or doesn't belong in a history, or an option is unknown or has
                a wrong type.
            ValueError: the offer is strict, and no strict mode of the provider is known; the provider doesn't
                take an option, or deferred tools; or two options exclude each other.
        """
        own = offered_now(offer)
        given: dict[str, Any] = {**options}
        thinks = False
        if "thinking" in given:
            from .request_options import takes_thinking

            thinks = takes_thinking(given)
        if own.choice.mode in {"required", "named"}:
            check_required(self, thinks=thinks)
        asked, offered = self._asked(output, own, thinks=thinks)
        if given or offered.deferred:
            from .request_options import tools_with

            if given.get("listed") is not None:
                listed = offered_now(given["listed"])
                given["listed"] = listed.replace(tools=(*listed.tools, *offered.tools[len(own.tools) :]))
            body, entries = tools_with(self, offered, given)
            offered = offered.replace(entries=entries)
        else:
            body = self._tools(offered)
        if asked is not None:
            from .output import ask

            ask(self, body, asked, own)
        if history is not None:
            from .history_checks import checked_history

            self._add_history(body, checked_history(history), offered)
        return body

    def _add_history(self, body: dict[str, Any], items: list[Any], offered: Offered) -> None:
        """Put the messages of a history into the body of a request, and the data that they need there."""
        container = self._container_of(items) if self.wire.CONTAINER else None
        if container is not None:
            body[self.wire.CONTAINER] = container
            items = items[:-1] if self.wire.REPEATS else items
        body[self.wire.HISTORY] = self._messages_of(items, offered)
        self.wire.complete(body)

    def _asked(
        self, output: Any, offered: Offered, *, thinks: bool = False
    ) -> tuple[AskedOutput | None, Offered]:
        """Return the type that `output=` asks for, and the tools, with one for the answer if needed."""
        if output is None:
            return None, offered
        from .output import asked_for, with_final_tool

        asked = asked_for(output)
        return asked, with_final_tool(self, offered, asked, thinks=thinks)

    def _tools(self, offered: Offered) -> dict[str, Any]:
        sent, is_strict = sent_tools(self, offered)
        if not sent:
            return {}
        choice = offered.choice
        name = None if choice.name is None else self.names.wire_name(choice.name)
        return self.wire.request(sent, Wanted(choice.mode, name, is_strict))

    def _container_of(self, items: Sequence[Any]) -> str | None:
        """Return the sandbox or token of the last answer or turn, which the request needs; or None.

        A token is only used if the history ends with the answer that has it.
        """
        for item in reversed(items):
            if type(item) is not str and hasattr(item, "assistant"):
                is_own = getattr(item, "provider", None) in {None, self.name}
                return container_in(item.assistant) if is_own else None
            if is_object(item) and item.get("role") in {"assistant", "model"}:
                return container_in([item])
            if self.wire.REPEATS:
                return None
        return None

    def _messages_of(self, items: Sequence[Any], offered: Offered) -> list[Any]:
        """Return the messages of a history for sending; the caller may change those of turns and strings."""
        turn_class, changed = rounds.Turn, self._changed(offered)

        def messages_of(item: Any) -> list[Any]:
            if isinstance(item, turn_class):
                return self._turn(item, offered, changed)
            return _sendable(self._messages_of_item(item, offered))

        if self._depends_on_tools_found(offered):
            return [message for item in items for message in messages_of(item)]
        return sent_messages(self, self.name, changed, items, messages_of)

    def _messages_of_item(self, item: Any, offered: Offered) -> list[Any]:
        if isinstance(item, str):
            return [self.wire.text_message("user", item)]
        from .history_checks import check_message, not_for_a_history

        if is_object(item):  # maybe from `Turn.assistant`
            check_message(item, self.wire, self.name)
            return without_container([item]) if CONTAINER in item else [item]
        if isinstance(item, Answer):
            unfit = item.unfit_outputs
            if unfit and not item.calls:
                calls, results = tuple([call for _, call, _ in unfit]), tuple([one for _, _, one in unfit])
                turn = rounds.Turn("", calls, results, item.assistant, item.provider)
                return self._turn(turn, offered, self._changed(offered))
            return self._model_messages(item.message, item.calls, offered, item.provider)
        raise not_for_a_history(item)

    def report(self, offer: Tools, /, *, strict: Strict | None = None) -> Report:
        """Report how each tool changes for this provider: kept, described, weakened, refused or renamed.

        Unlike `request`, it lists refused tools.

        Args:
            offer: as for `request`.
            strict: overrides the offer; None to use the offer's value.

        Raises:
            TypeError: something isn't a tool.
            ValueError: the mode is strict, and no strict mode of the provider is known.
        """
        from .report import report_of

        offered = offered_now(offer)
        return report_of(self, offered, checked_strict(offered.strict if strict is None else strict, self))

    @overload
    def answers(self, response: Any, /, offer: Tools) -> tuple[Answer, ...]: ...
    @overload
    def answers(
        self, response: Any, /, offer: Tools, *, output: type[T] | Codec[T]
    ) -> tuple[Answer[T], ...]: ...
    @overload
    def answers(self, response: Any, /, offer: Tools, *, output: Any) -> tuple[Answer, ...]: ...
    def answers(self, response: Any, /, offer: Tools, *, output: Any = None) -> tuple[Answer, ...]:
        """Read a response: an answer for each choice or candidate in it.

        Args:
            response: a dict, JSON text, or the object of the provider's SDK.
            offer: the offer in the request. With it, calls have the tools' own names even if the provider
                doesn't take these, and no nulls that a strict mode requires for omitted arguments.
            output: as in the request: `Answer.output` is the final answer as an instance of this type.

        Raises:
            ResponseError: the response is an error of the provider, or isn't in the expected form.
            TypeError: something in the offer isn't a tool.
        """
        own = offered_now(offer)
        asked, offered = self._asked(output, own)
        found = self._answers(response, offered, {})
        return found if asked is None else self._with_outputs(found, asked, own, offered)

    def _with_outputs(
        self, answers: Sequence[Answer], asked: AskedOutput, own: Offered, offered: Offered
    ) -> tuple[Answer, ...]:
        """Return answers that contain their typed outputs."""
        from .output import with_output

        by_tool = offered is not own
        return tuple([with_output(self, answer, asked, own, by_tool=by_tool) for answer in answers])

    def _answers(self, response: Any, offered: Offered, ids: dict[int, list[str]]) -> tuple[Answer, ...]:
        """Read a response, with the tools' own names.

        Args:
            response: as for `answers`.
            offered: the tools in the request.
            ids: the ids of calls in a text, by the position of the answer; new ones are added.
        """
        found = self._read(response)
        _, own, keys = self._renames(offered)
        if self.calls_in_text:
            found = self._with_calls_in_text(found, offered, ids)
        if own or keys:
            found = [renamed(answer, own, keys) for answer in found]
        if self.features.custom and _have_own_ids(found):
            from .special_calls import with_own_forms

            found = [with_own_forms(answer, offered.tools) for answer in found]
        nullable = nullable_tools(self, offered)
        if nullable:
            from .nulls import answer_without_nulls

            found = [answer_without_nulls(answer, nullable) for answer in found]
        return tuple(found)

    def _read(self, response: Any) -> list[Answer]:
        """Read a response, with the names on the wire."""
        body, is_finite = body_of(response)
        if body is None:
            from .response_faults import what_came

            message = f"a response must be a JSON object, not {what_came(response)}"
            raise ResponseError(self.name, message)
        try:
            if not is_finite:
                check_response_depth(body)
            return [self._settled(answer, is_finite=is_finite) for answer in self.wire.answers(body)]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            from .response_faults import what_is_wrong

            raise ResponseError(self.name, what_is_wrong(body, error)) from None

    def _settled(self, answer: Answer, *, is_finite: bool) -> Answer:
        found = answer.settled(self.name, is_finite_body=is_finite)
        for call in found.calls:
            if call.is_cut_off:
                return found.replace(_message=tuple(self.wire.with_whole_calls(found.assistant, found.calls)))
        return found

    def _with_calls_in_text(
        self, answers: list[Answer], offered: Offered, ids: dict[int, list[str]]
    ) -> list[Answer]:
        if not any(answer.text and not answer.calls for answer in answers):
            return answers
        from .text_calls import with_calls_in_text

        _, own, keys = self._renames(offered)
        callable_tools = _callable_tools(offered, own)
        return [
            with_calls_in_text(answer, self.wire, self.name, callable_tools, keys, ids.setdefault(place, []))
            for place, answer in enumerate(answers)
        ]

    @overload
    def answer(self, response: Any, /, offer: Tools) -> Answer: ...
    @overload
    def answer(self, response: Any, /, offer: Tools, *, output: type[T] | Codec[T]) -> Answer[T]: ...
    @overload
    def answer(self, response: Any, /, offer: Tools, *, output: Any) -> Answer: ...
    def answer(self, response: Any, /, offer: Tools, *, output: Any = None) -> Answer:
        """Read the first answer of a response; see `answers`."""
        answers = self.answers(response, offer, output=output)
        if not answers:
            raise ResponseError(self.name, "there is no answer in the response")
        return answers[0]

    def calls(self, response: Any, /, offer: Tools) -> list[RawCall]:
        """List the calls in the first answer of a response; `answer` also has its text and why it stopped."""
        return list(self.answer(response, offer).calls)

    @overload
    def stream(self, offer: Tools, /) -> Stream: ...
    @overload
    def stream(self, offer: Tools, /, *, output: type[T] | Codec[T]) -> Stream[T]: ...
    @overload
    def stream(self, offer: Tools, /, *, output: Any) -> Stream: ...
    def stream(self, offer: Tools, /, *, output: Any = None) -> Stream:
        """Return a reader of one streamed response.

        Args:
            offer: as for `answers`; calls show the typed arguments that have arrived so far.
            output: as in the request: `Stream.partial_output` is the part of the final answer so far.
        """
        from .stream import Stream

        own = offered_now(offer)
        asked, offered = self._asked(output, own)
        codecs = {tool.name: tool.codec for tool in offered.tools}
        if asked is not None:
            codecs.setdefault(asked.tool.name, asked.tool.codec)
        calls, partial = self._streamed_calls(offered, codecs), None
        if asked is not None:
            from .output import PartialOutput

            partial = PartialOutput(self, calls, asked, own, by_tool=offered is not own)
        ids: dict[int, list[str]] = {}  # calls in a text keep their ids, however often the response is read

        def read(response: Mapping[str, Any]) -> tuple[Answer, ...]:
            found = self._answers(response, offered, ids)
            return found if asked is None else self._with_outputs(found, asked, own, offered)

        return Stream(self.name, self.wire.merger(calls), calls, read, partial)

    def _streamed_calls(self, offered: Offered, codecs: Mapping[str, Codec[Any]]) -> StreamedCalls:
        """Return the object that shows the calls of one stream."""
        from .streamed_calls import StreamedCalls

        _, own_names, own_keys = self._renames(offered)
        if offered.deferred:
            from .openai_shared import SEARCH
            from .special_calls import own_search

            if SEARCH not in codecs:
                own_names = {**own_names, SEARCH: own_search(offered.tools) or SEARCH}
        said = None
        if self.calls_in_text and (names := _callable_tools(offered, own_names)):
            from .text_calls import HeldText

            said = HeldText(names)
        nullable = nullable_tools(self, offered)
        return StreamedCalls(own_names, codecs, own_keys, nullable, said)

    def results(
        self, results: Sequence[ToolResult], /, offer: Tools = (), calls: Sequence[RawCall] = ()
    ) -> list[dict[str, Any]]:
        """Return the messages or items for results, to be sent after the answer's `message`.

        Args:
            results: the results of all calls of one answer, in their order.
            offer: as for `answers`; required if the provider doesn't take the names of the tools, or if a
                search found deferred tools.
            calls: the calls of the answer. With them, each result has the name that the model wrote, even if
                that is only similar to the name of a tool, and names the program of OpenAI that made its
                call.

        Raises:
            TypeError: an item isn't a `ToolResult` or a `RawCall`, or the numbers of calls and results
                differ.
        """
        from .history_checks import checked_calls, checked_results

        offered, checked, given = offered_now(offer), checked_calls(calls), checked_results(results)
        if checked and len(checked) != len(given):
            message = f"there are {len(checked)} calls and {len(given)} results: give those of one answer"
            raise TypeError(message)
        found = self._results(_without_outputs(given), offered, _without_outputs(checked))
        return _sendable([*found, *self._corrections(given)])

    def _corrections(self, results: Iterable[ToolResult]) -> list[dict[str, Any]]:
        """Return messages that tell the model why its text doesn't fit the requested type."""
        wrong = [result.content for result in results if result.call_id.startswith(OUTPUT)]
        return [self.wire.text_message("user", text) for text in wrong]

    def _results(
        self, results: Sequence[ToolResult], offered: Offered, calls: Sequence[RawCall] = ()
    ) -> list[dict[str, Any]]:
        names, *_ = self._renames(offered)
        # The model's own message has the names as the model wrote them.
        wire_names = [call.sent_name or names.get(call.name, call.name) for call in calls] or [
            names.get(result.name, result.name) for result in results
        ]
        sent = [
            result if name == result.name else result.replace(name=name, parts=result.parts)
            for result, name in zip(results, wire_names, strict=True)
        ]
        messages = self.wire.results(sent)
        if self._depends_on_tools_found(offered):
            from .request_options import load_found

            load_found(self, messages, results, offered)
        if any(call.caller is not None for call in calls):
            self.wire.name_callers(messages, calls)
        return messages

    def turn(self, turn: Turn, /, offer: Tools = ()) -> list[dict[str, Any]]:
        """Return the messages or items of a committed turn: the model's own, then the results.

        Args:
            turn: the turn returned by `commit`. If its round was made from an answer of this provider, the
                message of that answer comes first. Otherwise a message is made from the text and the calls,
                with ids that this provider takes.
            offer: as for `results`.

        Raises:
            TypeError: the object isn't a committed turn.
        """
        if not isinstance(turn, rounds.Turn):  # callers may give a plan
            message = f"turn takes what round.commit(…) returns, a Turn, not {received(turn)}"
            raise TypeError(message)
        offered = offered_now(offer)
        return self._turn(turn, offered, self._changed(offered))

    def _turn(self, turn: Turn, offered: Offered, changed: Changed | None) -> list[dict[str, Any]]:
        """Return the messages of a turn, which the caller may change; the turn caches them."""
        if self._depends_on_tools_found(offered):
            return _sendable(self._made_turn(turn, offered))
        kept = turn.kept(self.name)
        if kept is None or not kept.is_for(self, changed):
            kept = turn.keep(
                self.name, SentMessages(self, changed, _sendable(self._made_turn(turn, offered)))
            )
        copied: list[dict[str, Any]] = kept.copy()
        return copied

    def _depends_on_tools_found(self, offered: Offered) -> bool:
        """Return whether the messages of turns depend on the request, because searches in them load tools."""
        return bool(offered.deferred) and self.features.loads_found

    def _made_turn(self, turn: Turn, offered: Offered) -> list[dict[str, Any]]:
        told = self._corrections(turn.results)
        if not told:
            return self._turn_of_calls(turn, offered)
        rest = turn.replace(calls=_without_outputs(turn.calls), results=_without_outputs(turn.results))
        return [*self._turn_of_calls(rest, offered), *told]

    def _turn_of_calls(self, turn: Turn, offered: Offered) -> list[dict[str, Any]]:
        said, calls = turn.assistant, turn.calls
        if self._wrote(said, len(calls), turn.provider):
            results = self._results(turn.results, offered, calls)
            return [*self._model_messages(said, calls, offered, turn.provider), *results]
        ids = [self._wire_id(call.id, turn.id) for call in calls]
        anew = [call.replace(id=call_id) for call, call_id in zip(calls, ids, strict=True)]
        answered = [
            result.replace(call_id=call_id, parts=result.parts)
            for result, call_id in zip(turn.results, ids, strict=True)
        ]
        return [*self._rewritten(said, anew, offered), *self._results(answered, offered)]

    def _wire_id(self, call_id: str, turn: str) -> str:
        """Return an id for a call of another provider; see `IdRule.wire_id`."""
        given = given_id(call_id)
        form = call_id.removesuffix(given) if self.features.custom else ""
        return form + self.rules.ids.wire_id(given, turn, is_given=not given.startswith(UNNAMED))

    def _model_messages(
        self, said: Any, calls: Sequence[RawCall], offered: Offered, by: str | None
    ) -> list[dict[str, Any]]:
        """Return the model's messages; messages of another provider are rewritten."""
        if self._wrote(said, len(calls), by):
            return without_container(said) if any(CONTAINER in message for message in said) else [*said]
        anew = [call.replace(id=self._wire_id(call.id, "")) for call in calls]
        return self._rewritten(said, anew, offered)

    def _rewritten(self, said: Any, calls: Sequence[RawCall], offered: Offered) -> list[dict[str, Any]]:
        """Return messages with the text of another provider's messages, and with the calls."""
        text = text_in(said)
        text = text if text.strip() else ""  # most providers refuse blank text
        if not calls:
            return [self.wire.text_message("assistant", text)] if text else []
        wire_names, _, own_keys = self._renames(offered)
        to_wire = {own: wire for wire, own in own_keys.items()}
        sent = [renamed_call(call, wire_names, to_wire) for call in calls]
        return self.wire.with_stand_ins(self.wire.calls_message(sent, text))

    def _wrote(self, said: Any, calls: int, by: str | None) -> bool:
        """Return whether this provider wrote messages that still have the calls or a text.

        Args:
            said: the messages.
            calls: the number of their calls.
            by: the name of the provider that wrote them; None if it isn't known: then their form decides.
        """
        if not is_array(said) or by not in {None, self.name}:
            return False
        if not calls:
            return all(form_of(message) in self.wire.FORMS for message in said)
        try:
            return sum([self.wire.calls_in(message) for message in said]) >= calls
        except (TypeError, AttributeError):
            return False

    def _renames(self, offered: Offered) -> Renames:
        """Return names on the wire, own names, and own keys; the offer caches them."""
        return kept_for(self, offered, "renames", lambda: self._new_renames(offered))

    def _new_renames(self, offered: Offered) -> Renames:
        names = self.names.wire_names([tool.name for tool in offered.tools], self.name)
        own = {wire: own for own, wire in names.items() if wire != own}
        return names, own, own_keys(self, offered.tools)

    def _changed(self, offered: Offered) -> Changed | None:
        """Return the tools and properties that have other names on the wire; None if there are none."""
        _, own, keys = self._renames(offered)
        return (own, keys) if own or keys else None

    def __repr__(self) -> str:
        return f"<Provider {self.name}>"


def _without_outputs(found: Iterable[Said]) -> tuple[Said, ...]:
    """Return calls or results without those that represent an answer of a wrong type in text."""
    return tuple([one for one in found if not _id_of(one).startswith(OUTPUT)])


def _id_of(one: RawCall | ToolResult) -> str:
    return one.id if isinstance(one, tools.RawCall) else one.call_id


def _have_own_ids(answers: Iterable[Answer]) -> bool:
    """Return whether any call has an id that this library made, because the call has another form."""
    for answer in answers:
        for call in answer.calls:
            if call.id.startswith(UNNAMED):
                return True
    return False


def _callable_tools(offered: Offered, own_names: Mapping[str, str]) -> dict[str, Tool[..., Any]]:
    """Return the tools that the model may call, by their names on the wire."""
    if offered.choice.mode == "none":
        return {}
    wire_names = {own: wire for wire, own in own_names.items()}
    return {wire_names.get(tool.name, tool.name): tool for tool in offered.tools}


def _sendable(messages: list[Any]) -> list[Any]:
    """Return messages that can be encoded; otherwise one bad character would block the whole conversation."""
    try:
        found: list[Any] = writable_json(messages)
    except RecursionError:  # nothing else can encode these either
        return messages
    return found
