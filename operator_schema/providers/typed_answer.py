"""How is a typed answer read from a model's answer?"""

from __future__ import annotations

from os import urandom
from typing import TYPE_CHECKING, Any

from .. import rounds, tools
from ..errors import DecodeError
from ..immutable import Value
from ..json_values import is_object
from .json_in_text import json_in
from .nulls import without_nulls
from .output import FINAL, VALUE, alone
from .property_names import value_with_keys
from .rules import OUTPUT
from .sent_tools import nullable_tools
from .tool_forms import own_keys
from .wire_format import arguments_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ..codec.codec import Codec
    from ..tools import RawCall, ToolResult
    from .answer import Answer
    from .offered_tools import Offered
    from .output import AskedOutput, TakesOutputs

_ALONE = f"{FINAL} ends the conversation: call it once, alone, and after the results of all other calls"


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
            text = json_in(sent)
            if not (self.is_wrapped or self.keys or self.nulls_of):
                return codec.decode_json(text)
            sent = codec.read_json(text)
        if self.keys:
            sent = value_with_keys(sent, self.keys)
        if self.nulls_of is not None and is_object(sent):
            sent = without_nulls(self.nulls_of.graph, sent)
        if self.is_wrapped and is_object(sent) and VALUE in sent:
            sent = sent[VALUE]
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
        found = output_in_text(asked, answer.text)
        if not by_tool:
            nulls_of = asked.tool.codec if nullable_output(provider, asked) else None
            found = found.replace(keys=own_keys(provider, [asked.tool]), nulls_of=nulls_of)
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


def output_in_text(asked: AskedOutput, text: str) -> Output:
    """Return the typed answer in a text."""
    return Output(asked.codec, asked.is_wrapped, text, {}, None)


def nullable_output(provider: TakesOutputs, asked: AskedOutput) -> Collection[str]:
    """Return the name of the answer, if the model has to send null for omitted fields."""
    return nullable_tools(provider, alone(provider, asked))
