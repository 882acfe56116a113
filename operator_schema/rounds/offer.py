"""Offers: the tools that one request offers to the model, and the round made from its answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, cast

from ..errors import DecodeError
from ..immutable import Keeper, Value
from ..json_values import to_json_text
from ..message_text import as_written, listed, quote, received, writable_text
from ..tools.calls import RawCall, ToolResult, arguments_to_decode, checked_calls
from ..tools.options import style_in
from ..tools.tool import Tool
from .errors import OfferError, RoundError
from .input_copies import shown_arguments
from .named_tools import NamedTools
from .own_json import MESSAGE_DEPTH, NotJSONError, own_json
from .round import Round
from .settlement import Settlement
from .tool_call import FAILURES, Input, ToolCall, call_issue, call_with_input
from .transcript import checked_conversation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias, Unpack

    from ..schema.style import StyleOptions
    from ..tools.tool import ToolDefinition
    from .named_tools import Selection, Selector, SwitchedTools

    Context: TypeAlias = Mapping[Any, Any]
    Selections: TypeAlias = Selection | Iterable[Selection]
    Required: TypeAlias = Selector | None
    Strict: TypeAlias = bool | Literal["auto"]
    Brought: TypeAlias = tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]


class ModelAnswer(Protocol):
    """An answer of a provider: the calls, and the message that contains them."""

    @property
    def calls(self) -> Iterable[RawCall]:
        """The calls, in the order of the turn."""
        ...

    @property
    def message(self) -> Any:
        """The rest of the model's turn, as JSON."""
        ...


class ToolChoice(Value):
    """Whether the model may or has to call tools, in terms that every provider has.

    Attributes:
        mode: `auto`: it may call tools; `required`: it has to call a tool; `named`: it has to call the tool
            `name`; `none`: it may not call any, or there are none.
        name: the name of the tool that it has to call; None in every other mode.
    """

    mode: Literal["auto", "required", "named", "none"]
    name: str | None = None


class Offer(Value, Keeper, Generic[Input]):
    """The tools that one request offers to the model; made by `toolset.offer`.

    Attributes:
        toolset: the toolset that made the offer.
        names: the names of the tools, in order.
        choice: whether the model may or must call them.
        strict: whether the provider has to make the model follow the schemas: False, True or `"auto"`.
        left_out: the names of the tools that exceeded `max_tokens`, in order.
        deferred: the names of the tools that the model finds by a search of its provider, in order.
    """

    toolset: NamedTools
    names: tuple[str, ...]
    choice: ToolChoice
    strict: Strict
    _descriptions: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...]
    deferred: tuple[str, ...]
    _brought: Brought
    _snapshot: SwitchedTools
    _shown: Mapping[str, Tool[..., Any]]

    def __init__(
        self,
        toolset: NamedTools,
        names: tuple[str, ...],
        choice: ToolChoice,
        strict: Strict,
        descriptions: tuple[tuple[str, str], ...],
        left_out: tuple[str, ...] = (),
        deferred: tuple[str, ...] = (),
        brought: Brought = (),
    ) -> None:
        snapshot = toolset.switched_tools
        describer = snapshot.describer if snapshot.describer in names else None
        shown = {name: snapshot.shown(name, describer) for name in names}
        options = (toolset, names, choice, strict, descriptions, left_out, deferred, brought)
        super().__init__(*options, snapshot, shown)

    @property
    def descriptions(self) -> dict[str, str]:
        """The descriptions for this request only, by the names of the tools."""
        return dict(self._descriptions)

    @property
    def tools(self) -> tuple[Tool[..., Any], ...]:
        """The tools, as the model sees them."""
        return tuple(self._shown.values())

    def get(self, name: str, /) -> Tool[..., Any] | None:
        """Return a tool as the model sees it; None if this request doesn't offer it."""
        return self._shown.get(name)

    def definitions(self, **options: Unpack[StyleOptions]) -> list[ToolDefinition]:
        """List name, description and input schema of the tools, with the descriptions of this request.

        Args:
            inline, boolean_schemas, empty_schemas: as for `json_schema`.

        Returns:
            A new dict for each tool, as `Tool.definition` returns it.
        """
        style = style_in(options)
        described, describer = self.descriptions, self._snapshot.describer
        if describer not in self._shown:
            describer = None
        found = [self._snapshot.definition(name, describer, style) for name in self.names]
        for definition in found:
            definition["description"] = described.get(definition["name"], definition["description"])
        return found

    def round(
        self,
        answer: Iterable[RawCall] | ModelAnswer,
        /,
        *,
        assistant: Any = None,
        about: Any = None,
        conversation: str | None = None,
    ) -> Round[Input]:
        """Decode the calls of the answer to this request; nothing is run.

        Args:
            answer: an answer of a provider, with its message; or only the calls as the model sent them. Their
                ids may repeat. A turn without calls is a round too.
            assistant: if only calls are given, the rest of the model's turn as JSON: its text, or the
                provider's own message. `Turn.assistant` returns it. The library doesn't know then which
                provider the message comes from, so each provider treats a message in its own form as its own.
            about: notes of your program about the round as JSON, for when it loads the round again: who asked
                for it, or an id of a trace. They are saved with the round, and the model never sees them.
            conversation: the name of the conversation that the round belongs to; with None,
                `executor.run(work, history)` uses the name of a stored transcript.

        Raises:
            RoundError: `assistant` nests deeper than 200 levels, or has a number that isn't JSON.
            TypeError: a call isn't a `RawCall`, `assistant` or `about` isn't JSON, or `conversation` isn't a
                string.
            ValueError: `about` is longer than 10,000 characters or nests too deeply, or `conversation` is
                empty or has a lone surrogate.
        """
        calls: Any = answer
        provider: str | None = None
        unfit: Any = ()
        if type(calls) is not list and type(calls) is not tuple:
            unfit = getattr(calls, "unfit_outputs", ())
            calls, assistant, provider = _parts_of(calls, assistant)
        own = assistant if assistant is None else _own_message(assistant)
        given_calls = checked_calls(calls)
        if unfit:
            decoded = self._decoded_with(given_calls, unfit)
        else:
            decoded = tuple([self._decode_call(index, raw) for index, raw in enumerate(given_calls)])
        brought = dict(self._brought)
        if brought:
            decoded = tuple([_with_answers(call, brought.get(call.name)) for call in decoded])
        noted = about if about is None else _own_note(about)
        name = conversation if conversation is None else checked_conversation("conversation", conversation)
        return Round(self.toolset, self.names, decoded, own, Settlement(), provider, name, noted)

    def _decoded_with(
        self, calls: Iterable[RawCall], unfit: Iterable[tuple[int, RawCall, ToolResult]]
    ) -> tuple[ToolCall[Any], ...]:
        """Decode calls, and insert the answers of a wrong type at their positions."""
        found: list[tuple[RawCall, ToolResult | None]] = [(raw, None) for raw in calls]
        for place, raw, result in unfit:
            found.insert(place, (raw, result))
        return tuple(
            [
                self._decode_call(index, raw) if result is None else _issue(index, raw, result)
                for index, (raw, result) in enumerate(found)
            ]
        )

    def _decode_call(self, index: int, raw: RawCall) -> ToolCall[Any]:
        tool = self._shown.get(raw.name)
        if tool is None:
            return self._unavailable_call(index, raw)
        if raw.is_cut_off:
            return _issue(index, raw, FAILURES.cut_off(raw))
        try:
            given = arguments_to_decode(raw)
            report = tool.decode_report(given)
            if report.findings:
                tool.check_to_run(report, given)
            # Use the tool of the toolset itself, without the changes of an offered `describe_tools`.
            return call_with_input(
                index, raw, self._snapshot.tools[raw.name], report.instance, report.as_details()
            )
        except DecodeError as error:
            return _issue(index, raw, FAILURES.invalid(raw, error))
        except Exception as error:  # noqa: BLE001  # a class's own code runs in it
            return _issue(index, raw, FAILURES.failed(raw, error))

    def _unavailable_call(self, index: int, raw: RawCall) -> ToolCall[Any]:
        if raw.name not in self.toolset:
            return self._read_unknown_name(index, raw)
        known = listed([quote(name) for name in self.names]) or "none"
        content = f"tool {quote(raw.name)} is not available in this turn; the tools are {known}"
        return _issue(index, raw, ToolResult(raw.id, raw.name, content, is_error=True, code="not_available"))

    def _read_unknown_name(self, index: int, raw: RawCall) -> ToolCall[Any]:
        """Return a call of an unknown tool as a call of the tool that it means, or else as an issue."""
        from .near_tools import read_call, unknown_tool, with_name_note  # most calls name a tool

        read = read_call(raw, self._shown, self.toolset)
        if read is None:
            error = unknown_tool(raw, self._shown, self.toolset)
            return _issue(index, raw, FAILURES.not_found(raw, error, self.names))
        decoded = self._decode_call(index, read)
        return decoded.replace(_notes=with_name_note(read, decoded.details))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Offer):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        more = (self._descriptions, self.left_out, self.deferred, self._brought)
        return self.toolset, self.names, self.choice, self.strict, *more

    def __repr__(self) -> str:
        choice = self.choice.name or self.choice.mode
        return f"Offer({', '.join(self.names)}; {choice})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Offer, self._key()


def _with_answers(call: ToolCall[Any], answers: Any) -> ToolCall[Any]:
    return call.replace(_answers=answers) if answers is not None and call.has_input else call


def _parts_of(answer: Any, assistant: Any) -> tuple[Any, Any, str | None]:
    """Return the calls, the message and the provider of an answer; anything else unchanged."""
    kind: Any = cast("Any", type(answer))
    if not (hasattr(kind, "calls") and hasattr(kind, "message")):
        return answer, assistant, None
    if assistant is not None:
        message = "an answer includes its message: leave assistant out, or give answer.calls"
        raise TypeError(message)
    # Some answers have, besides the message, data that only the next request needs.
    message = answer.assistant if hasattr(kind, "assistant") else answer.message
    return answer.calls, message, getattr(answer, "provider", None)


def _own_message(assistant: Any) -> Any:
    try:
        return own_json(assistant, MESSAGE_DEPTH)
    except NotJSONError as error:
        message = f"assistant has to be JSON: {error}"
        raise TypeError(message) from None
    except ValueError as error:
        message = f"the message of the model (assistant) can't be kept: {error}"
        raise RoundError(message) from None


_NOTE_LENGTH = 10_000
"""The maximum length of a program's notes about a round: lists of waiting rounds contain them too."""


def _own_note(about: Any) -> Any:
    """Return a copy of a program's notes about a round."""
    try:
        own = own_json(about)
    except NotJSONError as error:
        message = f"about has to be JSON: {error}"
        raise TypeError(message) from None
    except ValueError as error:
        message = f"about has to be JSON that can be kept: {error}"
        raise ValueError(message) from None
    length = len(to_json_text(own))
    if length > _NOTE_LENGTH:
        message = (
            f"about has {length:,} characters as JSON, and may have {_NOTE_LENGTH:,}: "
            "keep the rest elsewhere, and give its id"
        )
        raise ValueError(message)
    return own


def _issue(index: int, raw: RawCall, result: Any) -> ToolCall[Any]:
    return call_issue(index, raw, shown_arguments(raw), result)


# --- making offers -------------------------------------------------------------------------------


def make_offer(
    toolset: NamedTools,
    only: Selections | None,
    also: Selections,
    required: Required,
    strict: Strict,
    descriptions: Mapping[str, str] | None,
    context: Context | None,
    max_tokens: int | None,
    deferred: Selections,
    *,
    shown: Sequence[str] | None = None,
    found: Sequence[str] = (),
    brought: Brought = (),
) -> Offer[Any]:
    """Make an offer; see `Toolset.offer`.

    A search says which tools are `shown` without asking for them, and which ones come last, in this order,
    because they were `found`. `brought` has JSON values for the injected parameters of some tools; a round
    passes them to the calls.
    """
    snapshot = toolset.switched_tools
    candidates, last = _names_asked_for(toolset, only, also, shown, found), found
    names = tuple([name for name in candidates if snapshot.is_offered(name, context, asked_for=True)])
    described = _checked_descriptions(toolset, descriptions or {})
    put_off: tuple[str, ...] = ()
    if deferred != ():
        among = frozenset(toolset.names_of(*_selections("deferred", deferred)))
        put_off = tuple([name for name in names if name in among])
    left_out: tuple[str, ...] = ()
    if max_tokens is not None:
        is_any = required is None or (isinstance(required, str) and required in {"any", "none"})
        first = [] if is_any else [toolset.name_of(cast("Any", required))]
        order = [*first, *[name for name in names if name not in last], *reversed(last)]
        seen = tuple([name for name in names if name not in put_off])
        kept, left_out = _fitting_into(max_tokens, snapshot, seen, order, dict(described))
        names = tuple([name for name in names if name in kept or name in put_off])
    choice = _choice(toolset, names, required, candidates, left_out)
    if choice.name is not None and choice.name in put_off:
        message = f"the required tool {quote(choice.name)} is deferred, so the model doesn't see it"
        raise OfferError(choice.name, f"{message}: take it out of deferred")
    if type(strict) is not bool and strict != "auto":
        message = f'strict must be True, False or "auto", not {as_written(strict)}'
        raise TypeError(message)
    return Offer(toolset, names, choice, strict, described, left_out, put_off, brought)


def _names_asked_for(
    toolset: NamedTools,
    only: Selections | None,
    also: Selections,
    shown: Sequence[str] | None,
    found: Sequence[str],
) -> list[str]:
    """List the names of the tools that a request asks for, in order, even if they are switched off."""
    if only is not None and (isinstance(also, (NamedTools, str)) or also != ()):
        message = "only= and also= exclude each other: name all tools in only=, or leave it out"
        raise TypeError(message)
    if only is not None:
        asked, shown = frozenset(toolset.names_of(*_selections("only", only))), ()
    else:
        asked = frozenset(toolset.names_of(*_selections("also", also)))
        shown = toolset.listed_names if shown is None else shown
    if asked.difference(shown):
        asked = asked.union(shown)
        shown = [name for name in toolset.names if name in asked]
    last = {*found}
    return [*[name for name in shown if name not in last], *found]


def _choice(
    toolset: NamedTools,
    names: tuple[str, ...],
    required: Required,
    wanted: Sequence[str],
    left_out: tuple[str, ...],
) -> ToolChoice:
    if required is None:
        return ToolChoice("auto" if names else "none")
    if isinstance(required, str) and required == "none":
        return ToolChoice("none")
    if isinstance(required, str) and required == "any":
        if not names:
            room = "max_tokens has room for none" if left_out else "none is available"
            message = f"a tool is required, but {room}: make one available, or don't require one"
            raise OfferError(None, message)
        return ToolChoice("required")
    name = toolset.name_of(required)
    if name not in names:
        if name in left_out:
            raise OfferError(name, f"the required tool {quote(name)} alone takes more than max_tokens")
        raise OfferError(name, _why_not(toolset, name, names, wanted))
    return ToolChoice("named", name)


def _why_not(toolset: NamedTools, name: str, names: tuple[str, ...], wanted: Sequence[str]) -> str:
    """Return why a required tool isn't available, and how to fix that."""
    there = f"available are {listed([quote(other) for other in names]) or 'none'}"
    if name in wanted:
        return f"the required tool {quote(name)} is switched off (enabled); {there}"
    if toolset.is_hidden(name):
        remedy = f"also=[{quote(name)}] offers it"
        return f"the required tool {quote(name)} is hidden: {remedy}; {there}"
    return f"the required tool {quote(name)} isn't among those that this request makes available; {there}"


def _fitting_into(
    most: Any,
    snapshot: SwitchedTools,
    names: tuple[str, ...],
    order: Iterable[str],
    descriptions: Mapping[str, str],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tools that fit into a number of tokens, and the remaining tools, both in order."""
    if type(most) is not int or most < 1:
        message = f"max_tokens must be a positive integer or None, not {as_written(most)}"
        raise ValueError(message)
    describer = snapshot.describer if snapshot.describer in names else None
    room, kept = most, set[str]()
    for name in dict.fromkeys([name for name in order if name in names]):
        cost = _tokens_of(snapshot, name, describer, descriptions.get(name))
        if cost <= room:
            room -= cost
            kept.add(name)
    left_out = tuple([name for name in names if name not in kept])
    return tuple([name for name in names if name in kept]), left_out


def _tokens_of(snapshot: SwitchedTools, name: str, describer: str | None, description: str | None) -> int:
    from ..token_counts import count_tokens, is_estimate

    tool, key = snapshot.shown(name, describer), ("tokens", description, is_estimate())
    known: int | None = tool.kept_form(key)
    if known is None:
        definition = snapshot.definition(name, describer, None)
        if description is not None:
            definition["description"] = description
        known = tool.keep_form(key, count_tokens(to_json_text(definition)))
    return known


def _checked_descriptions(
    toolset: NamedTools, descriptions: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    if not isinstance(descriptions, Mapping):  # some callers ignore the annotations
        message = f"descriptions must map names of tools to strings, not {received(descriptions)}"
        raise TypeError(message)
    found: list[tuple[str, str]] = []
    for name, text in descriptions.items():
        known = toolset.name_of(name)
        found.append((known, writable_text(f"the description of {known}", text)))
    return tuple(found)


def _selections(option: str, tools: Any) -> tuple[Any, ...]:
    """Return the value of an option as a list of tools, names and toolsets."""
    given: Any = tools
    if isinstance(tools, (NamedTools, str, Tool)):
        return (given,)
    try:
        return tuple(given)
    except TypeError:
        message = f"{option} takes tools, names or toolsets: {option}=[…], not {as_written(tools)}"
        raise TypeError(message) from None
