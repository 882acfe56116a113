"""A model provider: writes its requests, and reads its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from .. import rounds, tools
from ..immutable import Value
from ..json_values import is_array, is_object, to_json_text, writable_json
from ..message_text import quote, received
from .answer import (
    CONTAINER,
    KEYS_OF_ANSWERS,
    Answer,
    ResponseError,
    answer_without_nulls,
    body_of,
    check_response_depth,
    container_in,
    renamed,
    renamed_call,
    what_came,
    what_is_wrong,
    without_container,
)
from .call_ids import OUTPUT, UNNAMED, given_id
from .partial_response import HeldText, StreamedCalls
from .sent_messages import SentMessages, sent_messages
from .tool_forms import (
    Offered,
    check_required,
    checked_strict,
    dialect_in,
    fits_of,
    own_keys,
    sent_tools,
)
from .tool_names import Features, Rules
from .wire_format import Wanted, form_of, text_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Self, TypeAlias, Unpack

    from ..codec.codec import Codec
    from ..rounds import Offer, Registry, Toolset, Turn
    from ..schema.dialect import Dialect
    from ..tools import RawCall, Tool, ToolResult
    from .output import AskedOutput
    from .report import Report
    from .request_options import RequestOptions
    from .sent_messages import Changed
    from .stream import Stream
    from .tool_forms import Strict
    from .tool_names import NameRule
    from .wire_format import Wire

    Renames: TypeAlias = tuple[Mapping[str, str], Mapping[str, str], Mapping[str, str]]
    Tools: TypeAlias = (
        "Offer[Any] | Toolset[Any] | Registry | Tool[..., Any] | Offered | Iterable[Tool[..., Any]]"
    )

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
            self._add_history(body, _checked_history(history), offered)
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
        """Return the requested type of `output=`, and the offered tools, with one for the answer if needed.

        Args:
            output: as for `request`.
            offered: the offered tools.
            thinks: whether the request lets the model think.
        """
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
        turn_class, changed = rounds.Turn, _changed(self._renames(offered))

        def messages_of(item: Any) -> list[Any]:
            if isinstance(item, turn_class):
                return self._turn(item, offered, changed)
            return _sendable(self._messages_said(item, offered))

        if self._depends_on_tools_found(offered):
            return [message for item in items for message in messages_of(item)]
        return sent_messages(self, self.name, changed, items, messages_of)

    def _messages_said(self, item: Any, offered: Offered) -> list[Any]:
        if isinstance(item, str):
            return [self.wire.text_message("user", item)]
        if is_object(item):  # maybe from `Turn.assistant`
            self._check_form(item)
            return without_container([item]) if CONTAINER in item else [item]
        if isinstance(item, Answer):
            unfit = item.unfit_outputs
            if unfit and not item.calls:
                calls, results = tuple([call for _, call, _ in unfit]), tuple([one for _, _, one in unfit])
                turn = rounds.Turn("", calls, results, item.assistant, item.provider)
                return self._turn(turn, offered, _changed(self._renames(offered)))
            return self._said(item.message, item.calls, offered, item.provider)
        message = f"a history must have only strings, messages, turns and answers, not {received(item)}"
        is_foreign = hasattr(item, "role") or hasattr(item, "choices") or hasattr(item, "candidates")
        way = ": answer(response, offer) makes an answer of a response" if is_foreign else ""
        if isinstance(item, (tools.RawCall, tools.ToolResult)):
            way = ": a call and its result become a turn when their round is committed"
        if isinstance(item, rounds.Round):
            way = ": run it and commit it: executor.run_sync(round).commit(history)"
        raise TypeError(message + way)

    def _check_form(self, message: Mapping[str, Any]) -> None:
        """Check that a message isn't in a form that this provider certainly doesn't take.

        A message for Gemini has `parts` and no `content`; messages for other providers have no `parts`. For
        Gemini and Bedrock, the value is always a list. Source: https://ai.google.dev/api/caching#Content and
        https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html

        Raises:
            TypeError: the message is a whole response; or has `content` where the provider takes `parts`, or
                the reverse; or a string in place of a list; or calls in another form; or the provider doesn't
                know its role.
        """
        _check_is_no_response(message)
        self._check_calls(message)
        own = self.wire.text_message("user", "…")
        wanted, foreign = ("parts", "content") if "parts" in own else ("content", "parts")
        if foreign in message and wanted not in message:
            found = quote(foreign)
        elif "text" not in self.wire.FORMS and isinstance(message.get(wanted), str):
            found = f"a string as {quote(wanted)}"
        else:
            self._check_role(message)
            return
        error = (
            f"a message of a history has {found}, which is another provider's form: "
            f"for {self.name}, write {to_json_text(own)}, or a string for a message of the user"
        )
        raise TypeError(error)

    def _check_calls(self, message: Mapping[str, Any]) -> None:
        """Check that a message has no calls or results in the form of Chat Completions or Responses.

        Raises:
            TypeError: it has some, and the provider takes neither form.
        """
        if message.get("tool_calls"):
            (sent, *_) = self.wire.calls_message([tools.RawCall("call_1", "x", {})])
            found = None if "tool_calls" in sent else '"tool_calls"'
        else:
            is_item = "type" in message and "role" not in message and "item" not in self.wire.FORMS
            found = f"the type {to_json_text(message['type'])} and no role" if is_item else None
        if found is not None:
            error = (
                f"a message of a history has {found}, which is another provider's form: "
                f"put the answer or the committed turn there, which is written anew for {self.name}"
            )
            raise TypeError(error)

    def _check_role(self, message: Mapping[str, Any]) -> None:
        fault = rounds.role_fault(message, self.wire.ROLES, others=self.wire.OTHER_ROLES)
        if fault is not None:
            error = f"a message of a history for {self.name} {fault}"
            raise TypeError(error)

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
        """Return answers that contain their typed outputs.

        Args:
            answers: the answers with the tools' own names.
            asked: the type that the request asked for.
            own: the tools that your program offers.
            offered: the same tools, maybe with one that receives the answer.
        """
        from .output import with_output

        by_tool = offered is not own
        return tuple([with_output(self, answer, asked, own, by_tool=by_tool) for answer in answers])

    def _answers(self, response: Any, offered: Offered, ids: dict[int, list[str]]) -> tuple[Answer, ...]:
        found = self._read(response)
        _, own, keys = self._renames(offered)
        if self.calls_in_text and any(not answer.calls and answer.text for answer in found):
            from .text_calls import with_calls_in_text

            callable_ = _callable(offered, own)
            found = [
                with_calls_in_text(answer, self.wire, self.name, callable_, keys, ids.setdefault(place, []))
                for place, answer in enumerate(found)
            ]
        if own or keys:
            found = [renamed(answer, own, keys) for answer in found]
        if self.features.custom and [
            call for answer in found for call in answer.calls if call.id.startswith(UNNAMED)
        ]:
            from .special_calls import with_own_forms

            found = [with_own_forms(answer, offered.tools) for answer in found]
        nullable = self.with_null_for_left_out(offered)
        return tuple([answer_without_nulls(answer, nullable) for answer in found] if nullable else found)

    def _read(self, response: Any) -> list[Answer]:
        """Read a response, with the names on the wire."""
        body, is_finite = body_of(response)
        if body is None:
            message = f"a response must be a JSON object, not {what_came(response)}"
            raise ResponseError(self.name, message)
        try:
            if not is_finite:
                check_response_depth(body)
            return [self._settled(answer, is_finite=is_finite) for answer in self.wire.answers(body)]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ResponseError(self.name, what_is_wrong(body, error)) from None

    def _settled(self, answer: Answer, *, is_finite: bool) -> Answer:
        found = answer.settled(self.name, is_finite_body=is_finite)
        if not [call for call in found.calls if call.is_cut_off]:
            return found
        return found.replace(_message=tuple(self.wire.with_whole_calls(found.assistant, found.calls)))

    def with_null_for_left_out(self, offered: Offered) -> dict[str, Tool[..., Any]]:
        """Return the tools, by name, for which the model has to send null for omitted arguments."""
        key = (self.name, "nulls")
        kept = offered.kept(key)
        if kept is None or not _is_same(kept[0], self):
            kept = offered.keep(key, (self, self._nullable(offered)))
        found: dict[str, Tool[..., Any]] = kept[1]
        return found

    def _nullable(self, offered: Offered) -> dict[str, Tool[..., Any]]:
        if offered.strict is False and self.always is None:  # like most schemas
            return {}
        strict = checked_strict(offered.strict)
        possible = (self.dialect, self.always) if strict == "auto" else (dialect_in(self, strict=strict),)
        if not [dialect for dialect in possible if dialect is not None and dialect.required != "any"]:
            return {}
        dialects = [dialect_in(self, strict=fit.strict) for fit in fits_of(self, offered.tools, strict)]
        return {
            tool.name: tool
            for tool, dialect in zip(offered.tools, dialects, strict=True)
            if dialect is not None and dialect.required != "any"
        }

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
        calls = self._streamed_calls(offered, codecs)
        ids: dict[int, list[str]] = {}  # calls in a text keep their ids, however often the response is read

        if asked is None:

            def read(response: Mapping[str, Any]) -> tuple[Answer, ...]:
                return self._answers(response, offered, ids)

            return Stream(self.name, self.wire.merger(calls), calls, read)
        from .output import PartialOutput

        def read_outputs(response: Mapping[str, Any]) -> tuple[Answer, ...]:
            return self._with_outputs(self._answers(response, offered, ids), asked, own, offered)

        partial = PartialOutput(self, calls, asked, own, by_tool=offered is not own)
        return Stream(self.name, self.wire.merger(calls), calls, read_outputs, partial)

    def _streamed_calls(self, offered: Offered, codecs: Mapping[str, Codec[Any]]) -> StreamedCalls:
        """Return the object that shows the calls of one stream.

        Args:
            offered: the tools in the request.
            codecs: the codecs of the arguments by the names of the tools.
        """
        own_names = {**self._own_names(offered)}
        if offered.deferred:
            from .openai_shared import SEARCH
            from .special_calls import own_search

            if SEARCH not in codecs:
                own_names[SEARCH] = own_search(offered.tools) or SEARCH
        held = None
        if self.calls_in_text and (names := _callable(offered, own_names)):
            from .text_calls import may_become_calls

            held = HeldText(lambda text: may_become_calls(text, names))
        nullable = self.with_null_for_left_out(offered)
        return StreamedCalls(own_names, codecs, self._own_keys(offered), nullable, held)

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
        offered, checked, given = offered_now(offer), _checked_calls(calls), _checked_results(results)
        if checked and len(checked) != len(given):
            message = f"there are {len(checked)} calls and {len(given)} results: give those of one answer"
            raise TypeError(message)
        found = self._results(_of_real_calls(given), offered, _of_real_calls(checked))
        return _sendable([*found, *self._told(given)])

    def _told(self, results: Iterable[ToolResult]) -> list[dict[str, Any]]:
        """Return messages that tell the model why its text doesn't fit the requested type."""
        wrong = [result.content for result in results if result.call_id.startswith(OUTPUT)]
        return [self.wire.text_message("user", text) for text in wrong]

    def _results(
        self, results: Sequence[ToolResult], offered: Offered, calls: Sequence[RawCall] = ()
    ) -> list[dict[str, Any]]:
        names = self._wire_names(offered)
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
        return self._turn(turn, offered, _changed(self._renames(offered)))

    def _turn(self, turn: Turn, offered: Offered, changed: Changed | None) -> list[dict[str, Any]]:
        """Return the messages of a turn, which the caller may change; the turn caches them for each provider.

        Args:
            turn: a turn of a history.
            offered: the tools in the request.
            changed: the return value of `_changed` for the offer.
        """
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
        told = self._told(turn.results)
        if not told:
            return self._turn_of_calls(turn, offered)
        rest = turn.replace(calls=_of_real_calls(turn.calls), results=_of_real_calls(turn.results))
        return [*self._turn_of_calls(rest, offered), *told]

    def _turn_of_calls(self, turn: Turn, offered: Offered) -> list[dict[str, Any]]:
        said, calls = turn.assistant, turn.calls
        if self._says(said, len(calls), turn.provider):
            results = self._results(turn.results, offered, calls)
            return [*self._said(said, calls, offered, turn.provider), *results]
        ids = [self._wire_id(call.id, turn.id) for call in calls]
        anew = [call.replace(id=call_id) for call, call_id in zip(calls, ids, strict=True)]
        answered = [
            result.replace(call_id=call_id, parts=result.parts)
            for result, call_id in zip(turn.results, ids, strict=True)
        ]
        return [*self._said_anew(said, anew, offered), *self._results(answered, offered)]

    def _wire_id(self, call_id: str, turn: str) -> str:
        """Return an id for a call of another provider; see `IdRule.wire_id`."""
        given = given_id(call_id)
        form = call_id.removesuffix(given) if self.features.custom else ""
        return form + self.rules.ids.wire_id(given, turn, is_given=not given.startswith(UNNAMED))

    def _said(
        self, said: Any, calls: Sequence[RawCall], offered: Offered, by: str | None
    ) -> list[dict[str, Any]]:
        """Return the model's messages; messages of another provider are rewritten."""
        if self._says(said, len(calls), by):
            return without_container(said) if any(CONTAINER in message for message in said) else [*said]
        anew = [call.replace(id=self._wire_id(call.id, "")) for call in calls]
        return self._said_anew(said, anew, offered)

    def _said_anew(self, said: Any, calls: Sequence[RawCall], offered: Offered) -> list[dict[str, Any]]:
        """Return messages with the text of another provider's messages, and with the calls."""
        text = text_in(said)
        text = text if text.strip() else ""  # most providers refuse blank text
        if not calls:
            return [self.wire.text_message("assistant", text)] if text else []
        to_wire = {own: wire for wire, own in self._own_keys(offered).items()}
        wire_names = self._wire_names(offered)
        sent = [renamed_call(call, wire_names, to_wire) for call in calls]
        return self.wire.with_stand_ins(self.wire.calls_message(sent, text))

    def _says(self, said: Any, calls: int, by: str | None) -> bool:
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

    def _wire_names(self, offered: Offered) -> Mapping[str, str]:
        return self._renames(offered)[0]

    def _own_names(self, offered: Offered) -> Mapping[str, str]:
        """Return the tools' own names by the names on the wire, if these differ."""
        return self._renames(offered)[1]

    def _own_keys(self, offered: Offered) -> Mapping[str, str]:
        """Return the own names of properties by those on the wire, if these differ."""
        return self._renames(offered)[2]

    def _renames(self, offered: Offered) -> Renames:
        """Return names on the wire, own names, and own keys; the offer caches them."""
        kept = offered.kept(self.name)
        if kept is None or not _is_same(kept[0], self):
            names = self.names.wire_names([tool.name for tool in offered.tools], self.name)
            own = {wire: own for own, wire in names.items() if wire != own}
            kept = offered.keep(self.name, (self, (names, own, own_keys(self, offered.tools))))
        found: Renames = kept[1]
        return found

    def __repr__(self) -> str:
        return f"<Provider {self.name}>"


def _is_same(one: Provider, other: Provider) -> bool:
    return one is other or one == other


def _of_real_calls(found: Iterable[Said]) -> tuple[Said, ...]:
    """Return calls or results without those that represent an answer of a wrong type in text."""
    return tuple([one for one in found if not _id_of(one).startswith(OUTPUT)])


def _id_of(one: RawCall | ToolResult) -> str:
    return one.id if isinstance(one, tools.RawCall) else one.call_id


def _changed(renames: Renames) -> Changed | None:
    """Return the tools and properties that have other names on the wire; None if there are none."""
    _, own, keys = renames
    return (own, keys) if own or keys else None


def _callable(offered: Offered, own_names: Mapping[str, str]) -> dict[str, Tool[..., Any]]:
    """Return the tools that the model may call, by their names on the wire.

    Args:
        offered: the tools in the request.
        own_names: the tools' own names by the names on the wire, if these differ.
    """
    if offered.choice.mode == "none":
        return {}
    wire_names = {own: wire for wire, own in own_names.items()}
    return {wire_names.get(tool.name, tool.name): tool for tool in offered.tools}


_NOTHING = Offered((), Wanted("none"))


def offered_now(offer: Any) -> Offered:
    """Return the present offer, which doesn't change during a request."""
    if isinstance(offer, Offered):
        return offer
    if type(offer) in {list, tuple} and not offer:
        return _NOTHING
    if isinstance(offer, (list, tuple)):  # these need no further imports
        return _offered_tools(_tools_of(offer))
    if isinstance(offer, rounds.Toolset):
        return _offered(offer.offer())  # pyright: ignore[reportUnknownMemberType]  # of whatever input
    if isinstance(offer, rounds.Offer):
        return _offered(offer)
    if isinstance(offer, tools.Tool):
        return _offered_tools([offer])
    return _offered_tools(offer.offered() if isinstance(offer, rounds.Registry) else _tools_of(offer))


def _offered(offer: Any) -> Offered:
    kept = offer.kept("offered")
    if kept is None:
        wanted = Wanted(offer.choice.mode, offer.choice.name)
        made = Offered(offer.tools, wanted, offer.descriptions, offer.strict, offer.deferred)
        kept = offer.keep("offered", made)
    found: Offered = kept
    return found


def _tools_of(given: Any) -> list[tools.Tool[..., Any]]:
    try:
        return tools.tools_of(given)
    except TypeError:
        order = _order_meant(given)
        if order is None:
            raise
        message = f"an offer has tools, and this is {received(given)}: {order}"
        raise TypeError(message) from None


def _order_meant(given: Any) -> str | None:
    """Return the right order of arguments, if they were probably given in the wrong one; otherwise None."""
    if is_object(given) and _key_of_response(given) is not None:
        return "the response comes first: answer(response, offer)"
    first: Any = next(iter(given), None) if issubclass(type(given), list) else None
    if isinstance(given, tools.ToolResult) or isinstance(first, tools.ToolResult):
        return "the results come first: results(results, offer)"
    is_message = any(is_object(one) and "role" in one for one in (given, first))
    if (
        is_message
        or isinstance(given, (str, rounds.Transcript))
        or isinstance(first, (str, rounds.Turn, Answer))
    ):
        return "the offer comes first: request(offer, history)"
    return None


def _offered_tools(given: Sequence[Any]) -> Offered:
    return Offered(tuple(given), Wanted("auto" if given else "none"))


def _sendable(messages: list[Any]) -> list[Any]:
    """Return messages that can be encoded; otherwise one bad character would block the whole conversation."""
    try:
        found: list[Any] = writable_json(messages)
    except RecursionError:  # nothing else can encode these either
        return messages
    return found


def _key_of_response(given: Mapping[str, Any]) -> str | None:
    """Return a key that only a response has; None for anything else, such as a message."""
    key = next((key for key in KEYS_OF_ANSWERS if key in given), None)
    return None if key == "output" and "type" in given else key  # the result of a call has this key, too


def _check_is_no_response(message: Mapping[str, Any]) -> None:
    """Check that a message isn't a whole response of a provider, which contains the message.

    Raises:
        TypeError: it is a response.
    """
    key = _key_of_response(message)
    if key is not None:
        error = f"a history has a whole response, with {quote(key)}: put answer(response, offer) there"
        raise TypeError(error)


def _checked_history(history: Any) -> list[Any]:
    """List the items of a history.

    Raises:
        TypeError: the argument has another type.
    """
    if type(history) in {str, dict} or not hasattr(history, "__iter__"):
        message = f"a history must be a list of strings, messages, turns and answers, not {received(history)}"
        is_one = type(history) is str or is_object(history)
        raise TypeError(f"{message}: write [message]" if is_one else message)
    return [*history]


def _checked_results(results: Any) -> list[ToolResult]:
    """Return results as a list.

    Raises:
        TypeError: an item isn't a `ToolResult`.
    """
    if isinstance(results, tools.ToolResult):
        message = "results takes a list: write [result]"
        raise TypeError(message)
    given: Any = results
    found: list[Any] = list(given) if hasattr(given, "__iter__") and not isinstance(given, str) else [given]
    for result in found:
        if not isinstance(result, tools.ToolResult):
            message = f"results takes what an executor returns, ToolResults, not {received(result)}"
            raise TypeError(message + _way_from(result))
    return found


def _checked_calls(calls: Any) -> list[RawCall]:
    """Return the calls beside results as a list.

    Raises:
        TypeError: an item isn't a `RawCall`.
    """
    found: list[Any] = list(calls) if hasattr(calls, "__iter__") else [calls]
    for call in found:
        if not isinstance(call, tools.RawCall):
            message = f"calls must be a list of RawCalls, such as answer.calls, not {received(call)}"
            raise TypeError(message)
    return found


def _way_from(given: object) -> str:
    """Return the remedy if part of a round was given in place of its results."""
    if isinstance(given, rounds.Round):
        return ": turn(round.commit(…)) writes a round"
    if isinstance(given, rounds.Turn):
        return ": turn(…) writes it"
    if isinstance(given, rounds.ToolCall) and given.state == "handled":
        return ": give its result"
    return ""
