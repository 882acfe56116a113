"""Typed answers: how a request asks for one, and how it is read."""

from __future__ import annotations

import re
from functools import lru_cache
from os import urandom
from typing import TYPE_CHECKING, Any, Literal, Protocol

from .. import rounds, tools
from ..codec.codec import Codec, codec_of
from ..codec.growing_json import GrowingJson
from ..codec.interpret import interpret
from ..codec.json_text import read_json as read_json_text
from ..errors import DecodeError
from ..immutable import Value
from ..introspect.nodes import ArrayNode, ObjectNode
from ..json_values import MAX_DEPTH, is_object
from ..message_text import quote
from .nulls import without_nulls
from .offered_tools import Offered
from .property_names import value_with_keys
from .response_json import is_whole
from .rules import OUTPUT
from .streamed_calls import StreamedCalls
from .text_calls import THOUGHT, THOUGHTS
from .tool_forms import TakesTools, fits_of, may_require, nullable_tools, own_keys, sent_tools
from .wire_format import Wanted, Wire, arguments_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Self

    from ..codec.partial import Partial
    from ..tools import RawCall, Tool, ToolDefinition, ToolResult
    from .answer import Answer
    from .growing_text import GrowingText
    from .streamed_calls import StreamedCall

FINAL = "final_answer"
"""The name of an answer, and of the tool that receives it if the provider has no other way."""

_VALUE = "value"
"""The key for an answer that isn't an object with fields."""

_DESCRIPTION = "The final answer, which ends the conversation."
_ALONE = f"{FINAL} ends the conversation: call it once, alone, and after the results of all other calls"


class TakesOutputs(TakesTools, Protocol):
    """The requirements of a provider for answers with a type; see `Provider`."""

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some attributes replaced."""
        ...


class AskedOutput:
    """The type of answer that a request asks for.

    Attributes:
        codec: the codec of the answer.
        tool: a tool whose arguments are the answer; it describes the answer to providers.
        is_wrapped: whether the answer has a key of its own: several providers only take objects.
    """

    __slots__ = ("codec", "is_wrapped", "tool")

    def __init__(self, codec: Codec[Any]) -> None:
        self.codec = codec
        self.is_wrapped = not isinstance(codec.graph.resolve_root(), ObjectNode)
        shown = codec.under(_VALUE) if self.is_wrapped else codec
        self.tool: Tool[..., Any] = tools.output_tool(shown, FINAL, _DESCRIPTION)


def asked_for(output: Any) -> AskedOutput:
    """Return the request for a type of answer; it is stored for each type.

    Raises:
        SchemaError: the type has no codec.
    """
    is_codec = issubclass(type(output), Codec)  # `isinstance` would run code of a class
    return _asked(output if is_codec else codec_of(output))


@lru_cache(maxsize=256)
def _asked(codec: Codec[Any]) -> AskedOutput:
    return AskedOutput(codec)


# --- asking --------------------------------------------------------------------------------------


def ask(provider: TakesOutputs, body: dict[str, Any], asked: AskedOutput, offered: Offered) -> None:
    """Add the request for a typed answer to the body, unless a tool receives the answer.

    Raises:
        SchemaError: the provider can't express the type.
    """
    if way_of(provider, offered, asked) != "format":
        return
    alone = _alone(asked, strict=False if provider.dialect is None else "auto")
    (definition,), is_strict = sent_tools(provider.replace(wire=_DEFINITIONS), alone)
    provider.wire.ask_output(body, definition, strict=is_strict)  # type: ignore[arg-type]  # of `_Definitions`


def with_final_tool(
    provider: TakesOutputs, offered: Offered, asked: AskedOutput, *, thinks: bool = False
) -> Offered:
    """Return the offered tools with a tool that receives the answer, if the provider has no other way.

    The model then has to call some tool, if a request may require that. While another tool is required, there
    is no tool that receives the answer.

    Args:
        provider: the provider that gets the request.
        offered: the offered tools.
        asked: the requested type of the answer.
        thinks: whether the request lets the model think.

    Raises:
        ValueError: another tool has the name of the tool that receives the answer.
    """
    if way_of(provider, offered, asked) != "tool":
        return offered
    if any(tool.name == FINAL for tool in offered.tools):
        message = f"{provider.name} gives an answer with a type by a tool {quote(FINAL)}: rename yours"
        raise ValueError(message)
    may_call = offered.tools and offered.choice.mode == "auto"
    choice = Wanted("required") if may_call else Wanted("named", FINAL)
    if not may_require(provider, thinks=thinks):
        choice = Wanted("auto")
    return offered.replace(tools=(*offered.tools, asked.tool), choice=choice)


def way_of(provider: TakesOutputs, offered: Offered, asked: AskedOutput) -> Literal["format", "tool", "none"]:
    """Return how a request asks for the answer: by an option, by a tool, or not at all."""
    features = provider.features
    has_form = features.outputs and (features.outputs_beside_tools or not offered.tools)
    if has_form and (not provider.wire.STRICT_OUTPUTS or fits_of(provider, [asked.tool], "auto")[0].strict):
        return "format"
    return "none" if offered.choice.mode in {"required", "named"} else "tool"


def _alone(asked: AskedOutput, *, strict: Any) -> Offered:
    return Offered((asked.tool,), Wanted("auto"), strict=strict)


class _Definitions(Wire):
    """A wire form in which the form of a tool is its definition."""

    def tool(self, definition: ToolDefinition, *, strict: bool) -> dict[str, Any]:  # noqa: ARG002  # as the base
        """Return the definition."""
        return {**definition}


_DEFINITIONS = _Definitions()


# --- reading -------------------------------------------------------------------------------------


class Output(Value):
    """A typed answer before it is decoded.

    Attributes:
        codec: the codec of the answer.
        is_wrapped: as in `AskedOutput`.
        sent: the JSON text, or the arguments of the call, that should be the answer.
        keys: the own names of properties by their names in the answer, if these differ.
        nulls_of: the type that may have null for omitted fields; None if no nulls have to be removed.
        calls: the calls of the tool that receives the answer, with their positions among all calls.
    """

    codec: Codec[Any]
    is_wrapped: bool
    sent: Any
    keys: Mapping[str, str]
    nulls_of: Codec[Any] | None
    calls: tuple[tuple[int, RawCall], ...] = ()

    def decode(self) -> Any:
        """Return the instance.

        Raises:
            DecodeError: the answer doesn't fit; the error lists every problem.
        """
        codec, sent = self.codec, self.sent
        if isinstance(sent, str):
            text = _json_in(sent)
            if not (self.is_wrapped or self.keys or self.nulls_of):
                return codec.decode_json(text)
            sent = codec.read_json(text)
        if self.keys:
            sent = value_with_keys(sent, self.keys)
        if self.nulls_of is not None and is_object(sent):
            sent = without_nulls(self.nulls_of.graph, sent)
        if self.is_wrapped and is_object(sent) and _VALUE in sent:
            sent = sent[_VALUE]
        return codec.decode(sent)

    def fault(self) -> Exception | None:
        """Return why the answer doesn't fit: mostly a `DecodeError`; None if it fits."""
        try:
            self.decode()
        except Exception as error:  # noqa: BLE001  # a class's own code runs in it
            return error
        return None

    def unfit(self, *, has_ended: bool, is_cut_off: bool) -> list[tuple[int, RawCall, ToolResult]]:
        """List the requests for corrections in the form of calls: position among the calls, call, result."""
        if not has_ended:
            return [(place, call, _not_final(call, is_cut_off=is_cut_off)) for place, call in self.calls]
        error = self.fault()
        if error is None:
            return []
        call_id = f"{OUTPUT}{urandom(12).hex()}"
        place, call = self.calls[0] if self.calls else (0, tools.RawCall(call_id, FINAL, self.sent))
        if isinstance(error, DecodeError):
            return [(place, call, _result(call, str(error), "invalid_params", error))]
        text = f"{FINAL} could not be used: {type(error).__name__}"
        return [(place, call, _result(call, text, "execution_failed", error))]


def _not_final(call: RawCall, *, is_cut_off: bool) -> ToolResult:
    if is_cut_off or call.is_cut_off:
        return rounds.FAILURES.cut_off(call)
    return _result(call, _ALONE, "invalid_params")


def _result(call: RawCall, text: str, code: Any, error: Exception | None = None) -> ToolResult:
    details = None if error is None else {"exception": error}
    return tools.ToolResult(call.id, call.name, text, is_error=True, code=code, details=details)


def takes_calls(own: Offered) -> bool:
    """Return whether a call of `final_answer` counts as an answer: also if the request asked for a text.

    A model may copy such a call from the history of another provider.
    """
    return all(tool.name != FINAL for tool in own.tools)


def with_output(
    provider: TakesOutputs, answer: Answer[Any], asked: AskedOutput, own: Offered, *, by_tool: bool
) -> Answer[Any]:
    """Return an answer that contains its typed output."""
    calls = answer.calls if takes_calls(own) else ()
    mine = tuple([(place, call) for place, call in enumerate(calls) if call.name == FINAL])
    if not mine:
        found = _in_text(asked, answer.text) if by_tool else _said(provider, answer.text, asked)
        return answer.replace(_output=found)
    others = tuple([call for call in answer.calls if call.name != FINAL])
    call = mine[0][1]
    is_blank = call.arguments is None or (isinstance(call.arguments, str) and not call.arguments.strip())
    found = Output(asked.codec, asked.is_wrapped, {} if is_blank else call.arguments, {}, None, mine)
    answer = answer.replace(calls=others, _output=found)
    if others or len(mine) > 1 or answer.stop != "calls":
        return answer
    answer = answer.replace(stop="end")
    if found.fault() is not None:
        return answer
    # A call without a result can't be sent, so an answer that fits becomes text of the model.
    said = provider.wire.text_message("assistant", arguments_text(call))
    return answer.replace(_message=(said,))


def _in_text(asked: AskedOutput, text: str) -> Output:
    return Output(asked.codec, asked.is_wrapped, text, {}, None)


def _said(provider: TakesOutputs, text: str, asked: AskedOutput) -> Output:
    nulls_of = asked.tool.codec if _nullable(provider, asked) else None
    return Output(asked.codec, asked.is_wrapped, text, own_keys(provider, [asked.tool]), nulls_of)


def _nullable(provider: TakesOutputs, asked: AskedOutput) -> Collection[str]:
    """Return the name of the answer, if the model has to send null for omitted fields."""
    alone = _alone(asked, strict=False if provider.dialect is None else "auto")
    return nullable_tools(provider, alone)


class _ArrivingItems:
    """The items of a list that is arriving as an answer.

    Attributes:
        fitting: the items that have ended and fit.
    """

    __slots__ = ("_fed", "_graph", "_is_nullable", "_text", "_waiting", "fitting")

    def __init__(self, asked: AskedOutput, *, is_nullable: bool) -> None:
        root = asked.codec.graph.resolve_root()
        self._graph = asked.codec.graph.replace(root=root.items) if isinstance(root, ArrayNode) else None
        self._is_nullable = is_nullable
        self._text = GrowingJson("{[")
        self._fed = 0
        self._waiting: list[str] = []
        self.fitting: list[Any] = []

    def take(self, text: StreamedCall) -> None:
        """Take the new part of the answer's text."""
        if self._graph is None:
            return
        self._fed, new = text.since(self._fed)
        # An exception of your own code is passed on; the next reading continues with the next item.
        self._waiting += [found for _, found in self._text.read(new)]
        while self._waiting:
            value, problems = read_json_text(self._waiting.pop(0))
            if problems.found:
                continue
            value = without_nulls(self._graph, value) if self._is_nullable else value
            item, problems = interpret(self._graph, value, MAX_DEPTH)
            if not problems.found:
                self.fitting.append(item)


class PartialOutput:
    """The typed answer of one stream so far.

    Args:
        provider: the provider of the stream.
        calls: the content of the stream.
        asked: the type that the request asked for.
        own: the tools that your program offers.
        by_tool: whether a tool receives the answer.
    """

    __slots__ = (
        *("_asked", "_calls", "_keys", "_nullable", "_takes_calls"),
        *("_fed", "_items", "_items_of", "_looked", "_said", "_text"),
    )

    def __init__(
        self, provider: TakesOutputs, calls: StreamedCalls, asked: AskedOutput, own: Offered, *, by_tool: bool
    ) -> None:
        self._calls = calls
        self._asked = asked
        self._takes_calls = takes_calls(own)
        self._keys = {} if by_tool else own_keys(provider, [asked.tool])
        self._nullable = () if by_tool else _nullable(provider, asked)
        self._items_of: StreamedCall | None = None
        self._begin(None)

    def _begin(self, said: GrowingText | None) -> None:
        self._said = said
        self._fed = self._looked = 0
        self._text: StreamedCall | None = None

    def given(self, answer: Answer[Any]) -> Answer[Any]:
        """Return an empty answer with the requested type."""
        return answer.replace(_output=_in_text(self._asked, ""))

    def without(self, calls: Iterable[StreamedCall]) -> list[StreamedCall]:
        """Return the calls without those of the tool that receives the answer."""
        return [call for call in calls if not self._takes_calls or call.name != FINAL]

    @property
    def partial(self) -> Partial | None:
        """The answer so far; None if nothing has come."""
        mine = next((call for call in self._calls.all() if call.name == FINAL), None)
        if self._takes_calls and mine is not None:
            return self._with_items(mine, mine.partial, is_nullable=FINAL in self._calls.nullable)
        said = self._calls.said
        if said is not self._said:  # the provider may start its answer again
            self._begin(said)
        if self._text is None:
            text = said.text
            start = _start_in(text, self._looked)
            self._looked = len(text)
            if start is None:
                return None
            known = StreamedCalls({}, {FINAL: self._asked.tool.codec}, self._keys, self._nullable)
            self._text = known.begin(None, FINAL, "")
            self._fed, new = said.since(0)[0], text[start:]
        else:
            self._fed, new = said.since(self._fed)
        return self._with_items(self._text, _grown(self._text, new), is_nullable=bool(self._nullable))

    def _with_items(self, text: StreamedCall, found: Partial | None, *, is_nullable: bool) -> Partial | None:
        """Return the answer so far; an unfinished list has only its items so far."""
        if not self._asked.is_wrapped or found is None:
            return found
        if text is not self._items_of:
            self._items, self._items_of = _ArrivingItems(self._asked, is_nullable=is_nullable), text
        self._items.take(text)
        is_list = found.receiving == _VALUE and not found.findings and _LIST.match(text.arguments)
        items = self._items.fitting if is_list else []
        return found.replace(fields={_VALUE: [*items]}) if items else found


def _grown(text: StreamedCall, new: str) -> Partial | None:
    """Add text to an answer until its JSON is complete; a code block or other text may follow it."""
    for piece in _AFTER_AN_OBJECT.split(new):
        found = text.partial
        if found is not None and found.is_complete:
            return found
        text.grow(piece)
    return text.partial


_LIST = re.compile(rf'\s*\{{\s*"{_VALUE}"\s*:\s*\[')
"""The beginning of an answer that is a list."""

_AFTER_AN_OBJECT = re.compile(r"(?<=\})(?=\s*[^\s,\]}])")
"""The positions where the JSON may have ended before other text."""

# A string in JSON has no line breaks, so a fence after a line break isn't in a string.
_FENCE = re.compile(r"```[\w+-]*[ \t]*\r?\n(?=\s*[{\[])")
_FENCED = re.compile(r"```[\w+-]*[ \t]*\r?\n(?=\s*[{\[])(.*?)```[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_AFTER_THOUGHT = re.compile(
    rf"(?:{'|'.join(map(re.escape, {*THOUGHTS.values()}))})\s*(?:```[\w+-]*[ \t]*\r?\n\s*)?(?=[{{\[])"
)
_LONGEST_MARK = 64


def _is_plain(text: str) -> bool:
    """Return whether a text begins with JSON, if the JSON is an object or a list."""
    return text.lstrip().startswith(("{", "[")) and not _may_think(text)


def _may_think(text: str) -> bool:
    """Return whether a text may begin with a thought."""
    begin = text[:_LONGEST_MARK].lstrip()
    return any(begin.startswith(start) or start.startswith(begin) for start in THOUGHTS)


def _start_in(text: str, looked: int) -> int | None:
    """Return where the JSON begins in a text that grows; None if it hasn't begun.

    Args:
        text: so far.
        looked: the length of the text at the last call, so that all calls together take linear time.
    """
    if looked < _LONGEST_MARK and _is_plain(text):
        return 0
    marks = [_AFTER_THOUGHT] if _may_think(text) else [_AFTER_THOUGHT, _FENCE]
    found = [mark.search(text, max(looked - _LONGEST_MARK, 0)) for mark in marks]
    return min([match.end() for match in found if match is not None], default=None)


def _json_in(text: str) -> str:
    """Return the JSON in a text, without a thought before it and text around its only code block or object.

    Line breaks stay, so that errors have the right line numbers.
    """
    if _is_plain(text):
        return text
    thought = THOUGHT.match(text)
    starts = (0,) if thought is None else (thought.end(), 0)
    for start in starts:
        if _is_plain(text[start:]):
            return _from(text, start, len(text))
        blocks = list(_FENCED.finditer(text, start))
        if len(blocks) == 1:
            return _from(text, *blocks[0].span(1))
    end = text.rfind("}") + 1
    for begin in [text.find("{", start) for start in starts]:
        if is_whole(text[max(begin, 0) : end]):
            return _from(text, begin, end)
    return text


def _from(text: str, start: int, end: int) -> str:
    return "\n" * text.count("\n", 0, start) + text[start:end]
