"""A model provider: what it gets of tools and results, and what is read from its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..immutable import Value
from ..json_values import is_array
from ..wording import quote, received
from .answer import (
    ResponseError,
    answer_without_nulls,
    check_response_depth,
    checked_answer,
    json_of,
    renamed,
    renamed_call,
    what_came,
    what_is_wrong,
)
from .dialect import Rules
from .tool_forms import (
    Offered,
    check,
    check_size,
    checked_strict,
    dialect_in,
    fits_of,
    forms_of,
    made_forms,
    own_keys,
    too_long,
    too_many,
)
from .wire import Wanted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeAlias

    from ..rounds.offer import Offer, ToolChoice
    from ..rounds.toolset import Toolset
    from ..rounds.transcript import Turn
    from ..tools.calls import RawCall, ToolResult
    from ..tools.registry.registry import Registry
    from ..tools.tool import Tool
    from .answer import Answer
    from .dialect import Dialect
    from .names import NameRule
    from .report import Report
    from .stream import Stream
    from .tool_forms import Strict
    from .wire import Wire

    Tools: TypeAlias = "Offer[Any] | Toolset[Any] | Registry | Iterable[Tool[..., Any]]"

__all__ = ["Provider"]


class Provider(Value):
    """The wire form of one provider; everything is plain dicts, and nothing is sent.

    Attributes:
        name: for messages.
        wire: makes and reads its form.
        names: which names of tools it takes.
        takes_unions: whether the arguments of a tool may be a union.
        dialect: what its strict mode takes of JSON Schema; None where it has none, or it isn't known.
        always: what it takes in any mode; None for all of JSON Schema, in the style.
        rules: what it checks beside the schemas, in any mode.
    """

    name: str
    wire: Wire
    names: NameRule
    takes_unions: bool
    dialect: Dialect | None = None
    always: Dialect | None = None
    rules: Rules = Rules()  # it is immutable

    def request(
        self, tools: Tools, /, choice: ToolChoice | None = None, *, strict: Strict = False
    ) -> dict[str, Any]:
        """Return the part of a request's body that offers tools.

        Args:
            tools: what `toolset.offer` returns, a toolset or registry (what it offers by default), or a
                list of tools.
            choice: what the model has to do with them; None for the choice of the offer, or for any.
            strict: whether the provider has to hold the model to the schemas. What its strict mode can't say
                is told in the descriptions, and checked when the arguments are decoded, as always. With
                `"auto"` it holds it to those that its strict mode takes; `report` says which.

        Returns:
            A fresh dict, to be merged into the body; empty without tools.

        Raises:
            SchemaError: the provider can't take a tool, or two tools would have the same name.
            TypeError: something isn't a tool, or the choice isn't a `ToolChoice`.
            ValueError: `strict=True`, where no strict mode of the provider is known.
        """
        strict = checked_strict(strict, self)
        offered = _offered_now(tools)
        wanted = offered.choice if choice is None else _checked_choice(choice, offered)
        shown = offered.tools
        modes = [fit.strict for fit in fits_of(self, shown, strict)]
        forms = forms_of(self, shown, modes)
        if len({form.name for form in forms}) < len(forms):
            self._wire_names(offered)  # raises an error that says which
        check_size(self, [form.size for form in forms if form.size is not None])
        described = offered.descriptions
        texts = [described.get(tool.name, form.description) for tool, form in zip(shown, forms, strict=True)]
        check([*too_many(self, shown), *too_long(self, shown, texts)], self.name)
        if not forms:
            return {}
        if described:
            forms = [
                made_forms(self, [tool], [mode], text)[0] if tool.name in described else form
                for tool, mode, text, form in zip(shown, modes, texts, forms, strict=True)
            ]
        name = None if wanted.name is None else self.names.wire_name(wanted.name)
        sent = [form.original.copy() for form in forms]
        return self.wire.request(sent, Wanted(wanted.mode, name, any(modes)))

    def report(self, tools: Tools, /, *, strict: Strict = False) -> Report:
        """Tell what the provider gets of tools: what is kept, told in words, weakened, refused or renamed.

        Unlike `request`, it lists what is refused.

        Args:
            tools: as for `request`.
            strict: as for `request`.

        Raises:
            TypeError: something isn't a tool.
            ValueError: `strict=True`, where no strict mode of the provider is known.
        """
        from .report import report_of

        return report_of(self, _offered_now(tools), checked_strict(strict, self))

    def answers(
        self, response: Any, /, tools: Tools | None = None, *, strict: Strict = False
    ) -> tuple[Answer, ...]:
        """Read a response: an answer for each choice or candidate in it.

        Args:
            response: a dict, JSON text, or the object of the provider's SDK.
            tools: that the request offered, so that calls get the tools' own names where the provider
                doesn't take these.
            strict: as for `request`. In a strict mode, the model may have to send null where it leaves out a
                property; with the tools given, such a null is left out of the arguments.

        Raises:
            ResponseError: it is an error of the provider, or has another form.
            ValueError: `strict` without the tools.
        """
        if checked_strict(strict) and tools is None:
            message = f"strict={strict!r} takes back the nulls of tools: give the tools of the request too"
            raise ValueError(message)
        return self._own(self._read(response), None if tools is None else _offered_now(tools), strict)

    def _read(self, response: Any) -> list[Answer]:
        """Read a response, with the names that are on the wire."""
        body = json_of(response)
        if body is None:
            message = f"a response is a JSON object, not {what_came(response)}"
            raise ResponseError(self.name, message)
        try:
            check_response_depth(body)
            return [checked_answer(answer).with_cut_marked() for answer in self.wire.answers(body)]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ResponseError(self.name, what_is_wrong(body, error)) from None

    def _own(self, found: list[Answer], offered: Offered | None, strict: Strict) -> tuple[Answer, ...]:
        """Return answers with the tools' own names, without nulls for what was left out."""
        if offered is None:
            return tuple(found)
        own, keys = self._own_names(offered), own_keys(self, offered.tools)
        if own or keys:
            found = [renamed(answer, own, keys) for answer in found]
        nullable = self._with_null_for_left_out(offered, strict)
        return tuple([answer_without_nulls(answer, nullable) for answer in found] if nullable else found)

    def _with_null_for_left_out(self, offered: Offered, strict: Strict) -> dict[str, Tool[..., Any]]:
        """Return the tools, by name, for which the model has to send null where it leaves something out."""
        possible = (self.dialect, self.always) if strict == "auto" else (dialect_in(self, strict=strict),)
        if all(dialect is None or dialect.required == "any" for dialect in possible):
            return {}
        dialects = [dialect_in(self, strict=fit.strict) for fit in fits_of(self, offered.tools, strict)]
        return {
            tool.name: tool
            for tool, dialect in zip(offered.tools, dialects, strict=True)
            if dialect is not None and dialect.required != "any"
        }

    def answer(self, response: Any, /, tools: Tools | None = None, *, strict: Strict = False) -> Answer:
        """Read the first answer of a response; see `answers`."""
        answers = self.answers(response, tools, strict=strict)
        if not answers:
            raise ResponseError(self.name, "there is no answer in the response")
        return answers[0]

    def calls(self, response: Any, /, tools: Tools | None = None, *, strict: Strict = False) -> list[RawCall]:
        """List the calls in the first answer of a response; `answer` has its text and why it stopped."""
        return list(self.answer(response, tools, strict=strict).calls)

    def stream(self, tools: Tools | None = None, /, *, strict: Strict = False) -> Stream:
        """Return what reads one streamed response.

        Args:
            tools: as for `answers`; with them, calls show what is known of their arguments so far, typed.
            strict: as for `answers`.
        """
        from .growing import StreamedCalls
        from .stream import Stream

        offered = None if tools is None else _offered_now(tools)
        shown = () if offered is None else offered.tools
        calls = StreamedCalls(
            {} if offered is None else self._own_names(offered),
            {tool.name: tool.codec for tool in shown},
            own_keys(self, shown),
        )

        def read(response: Mapping[str, Any]) -> tuple[Answer, ...]:
            return self._own(self._read(response), offered, strict)

        return Stream(self.name, self.wire.merger(calls), calls, read)

    def results(self, results: Sequence[ToolResult], /, tools: Tools | None = None) -> list[dict[str, Any]]:
        """Return the messages or items that hold results, to be sent after the answer's `message`.

        Args:
            results: of all calls of one answer, in their order.
            tools: as for `answers`.

        Raises:
            TypeError: one isn't a `ToolResult`.
        """
        return self._results(results, None if tools is None else _offered_now(tools))

    def _results(self, results: Sequence[ToolResult], offered: Offered | None) -> list[dict[str, Any]]:
        wire_names = {} if offered is None else self._wire_names(offered)
        sent = [
            result.replace(name=wire_names[result.name], parts=result.parts)
            if wire_names.get(result.name, result.name) != result.name
            else result
            for result in _checked_results(results)
        ]
        return self.wire.results(sent)

    def turn(self, turn: Turn, /, tools: Tools | None = None) -> list[dict[str, Any]]:
        """Return the messages or items of a committed turn: the calls, then the results.

        Args:
            turn: what `commit` returned. If its round was made of this provider's answer, or with
                `assistant=answer.message`, that message goes first; otherwise one is made of the calls, also
                where another provider's message would be there.
            tools: as for `answers`.

        Raises:
            TypeError: it isn't a committed turn.
        """
        from ..rounds.transcript import Turn

        if not isinstance(turn, Turn):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may give a plan
            message = f"turn takes what plan.commit(…) returns, a Turn, not {received(turn)}"
            raise TypeError(message)
        said, offered = turn.assistant, None if tools is None else _offered_now(tools)
        if not self._says(said, len(turn.calls)):
            wire_names = {} if offered is None else self._wire_names(offered)
            keys = {} if offered is None else own_keys(self, offered.tools)
            to_wire = {own: wire for wire, own in keys.items()}
            said = self.wire.calls_message([renamed_call(call, wire_names, to_wire) for call in turn.calls])
        return [*said, *self._results(turn.results, offered)]

    def _says(self, said: Any, calls: int) -> bool:
        """Return whether messages are of this provider's form: whether they have so many calls."""
        if not is_array(said):
            return False
        try:
            return sum([self.wire.calls_in(message) for message in said]) >= calls
        except (TypeError, AttributeError):
            return False

    def _wire_names(self, offered: Offered) -> dict[str, str]:
        return self.names.wire_names([tool.name for tool in offered.tools], self.name)

    def _own_names(self, offered: Offered) -> dict[str, str]:
        return {wire: own for own, wire in self._wire_names(offered).items() if wire != own}

    def __repr__(self) -> str:
        return f"<Provider {self.name}>"


def _offered_now(tools: Any) -> Offered:
    """Return what is offered now, which stays the same while a request is made."""
    if isinstance(tools, (list, tuple)):  # the rest isn't loaded for these
        return _offered_tools(_tools_of(tools))
    from ..rounds.offer import Offer
    from ..rounds.toolset import Toolset
    from ..tools.registry.registry import Registry

    if isinstance(tools, Toolset):
        tools = tools.offer()  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType]  # of whatever input
    if isinstance(tools, Offer):
        choice = tools.tool_choice
        return Offered(tools.tools, Wanted(choice.mode, choice.name), tools.descriptions)
    return _offered_tools(tools.offered() if isinstance(tools, Registry) else _tools_of(tools))


def _tools_of(tools: Any) -> list[Tool[..., Any]]:
    from ..tools.tool_lists import tools_of

    return tools_of(tools)


def _offered_tools(tools: Sequence[Tool[..., Any]]) -> Offered:
    return Offered(tuple(tools), Wanted("auto" if tools else "none"))


def _checked_choice(choice: object, offered: Offered) -> Wanted:
    """Check what is given as the choice of a request.

    Raises:
        TypeError: it isn't a choice.
        ValueError: it names a tool that isn't there.
    """
    from ..rounds.offer import ToolChoice

    if not isinstance(choice, ToolChoice):
        message = f"choice is a ToolChoice, such as toolset.offer(…).tool_choice, not {received(choice)}"
        raise TypeError(message)
    if choice.mode == "named" and choice.name not in [tool.name for tool in offered.tools]:
        message = f"the choice names {quote(str(choice.name))}, which isn't among the tools"
        raise ValueError(message)
    return Wanted(choice.mode, choice.name if choice.mode == "named" else None)


def _checked_results(results: Any) -> list[ToolResult]:
    """List results, as they were given.

    Raises:
        TypeError: one isn't a `ToolResult`.
    """
    from ..tools.calls import ToolResult

    if isinstance(results, ToolResult):
        message = "results takes a list: write [result]"
        raise TypeError(message)
    given: Any = results
    found: list[Any] = list(given) if hasattr(given, "__iter__") else [given]
    for result in found:
        if not isinstance(result, ToolResult):
            message = f"results takes what an executor returns, ToolResults, not {received(result)}"
            raise TypeError(message + _way_from(result))
    return found


def _way_from(given: object) -> str:
    """Return what to write for something of a round that stands where its results are expected."""
    from ..rounds.plan import ToolRoundPlan
    from ..rounds.tool_call import HandledCall
    from ..rounds.transcript import Turn

    if isinstance(given, ToolRoundPlan):
        return ": turn(plan.commit(…)) writes a round"
    if isinstance(given, Turn):
        return ": turn(…) writes it"
    if isinstance(given, HandledCall):
        return ": give its result"
    return ""
