"""A model provider: writes its requests, and reads its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from .. import rounds
from ..immutable import Value
from ..message_text import received
from .answer import (
    Answer,
    ResponseError,
    renamed,
)
from .offered_tools import offered_now
from .response_json import body_of, check_response_depth
from .rules import UNNAMED, Features, Rules
from .sent_tools import check_required, checked_strict, nullable_tools, sent_tools
from .tool_forms import renames
from .wire_format import Wanted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Self, Unpack

    from ..codec.codec import Codec
    from ..rounds import Turn
    from ..schema.dialect import Dialect
    from ..tools import RawCall, Tool, ToolResult
    from .offered_tools import Offered, Strict, Tools
    from .output import AskedOutput
    from .report import Report
    from .request_options import RequestOptions
    from .rules import NameRule
    from .stream import Stream
    from .streamed_calls import StreamedCalls
    from .wire_format import Wire

T = TypeVar("T")


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
            from .history import HistoryWriter
            from .history_checks import checked_history

            HistoryWriter(self, offered).add_to(body, checked_history(history))
        return body

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
        from .typed_answer import with_output

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
        _, own, keys = renames(self, offered)
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

        _, own, keys = renames(self, offered)
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
            from .partial_output import PartialOutput

            partial = PartialOutput(self, calls, asked, own, by_tool=offered is not own)
        ids: dict[int, list[str]] = {}  # calls in a text keep their ids, however often the response is read

        def read(response: Mapping[str, Any]) -> tuple[Answer, ...]:
            found = self._answers(response, offered, ids)
            return found if asked is None else self._with_outputs(found, asked, own, offered)

        return Stream(self.name, self.wire.merger(calls), calls, read, partial)

    def _streamed_calls(self, offered: Offered, codecs: Mapping[str, Codec[Any]]) -> StreamedCalls:
        """Return the object that shows the calls of one stream."""
        from .streamed_calls import StreamedCalls

        _, own_names, own_keys = renames(self, offered)
        if offered.deferred:
            from .openai_shared import SEARCH
            from .special_calls import own_search

            if SEARCH not in codecs:
                own_names = {**own_names, SEARCH: own_search(offered.tools) or SEARCH}
        said = None
        if self.calls_in_text and (names := _callable_tools(offered, own_names)):
            from .held_text import HeldText

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
        from .history import HistoryWriter
        from .history_checks import checked_calls, checked_results

        offered, checked, given = offered_now(offer), checked_calls(calls), checked_results(results)
        if checked and len(checked) != len(given):
            message = f"there are {len(checked)} calls and {len(given)} results: give those of one answer"
            raise TypeError(message)
        return HistoryWriter(self, offered).results(given, checked)

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
        from .history import HistoryWriter

        return HistoryWriter(self, offered_now(offer)).turn(turn)

    def __repr__(self) -> str:
        return f"<Provider {self.name}>"


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
