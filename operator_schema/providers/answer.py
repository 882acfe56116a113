"""The answer of a model, read from a response in any form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..errors import DecodeError
from ..immutable import Value
from ..json_values import copy_json, is_finite, is_object
from ..message_text import one_line
from .response_json import is_whole
from .rules import given_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Generic, Self

    from typing_extensions import TypeVar  # a type checker has it

    from ..tools import RawCall, ToolResult

    T = TypeVar("T", default=Any)
else:
    from ..immutable import Generic, T

StopReason: TypeAlias = Literal[
    "calls", "end", "length", "refused", "filtered", "interrupted", "paused", "other"
]
"""Why the model stopped: it waits for the results of its calls · it is done · it reached the limit on tokens
· it refused · the provider withheld the answer · it didn't stop: the stream ended first · the provider paused
a long turn, and continues with the next request · another reason, which `raw_stop` has."""

_ENDED = frozenset({"calls", "end", "paused"})
"""The reasons for which an answer has all of its calls; with any other reason, also an unknown one, the
answer may end in the middle of a call."""

_MALFORMED = frozenset(
    {
        "MALFORMED_FUNCTION_CALL",
        "MALFORMED_RESPONSE",
        "malformed_model_output",
        "malformed_tool_use",
    }
)
"""The words of Bedrock and Gemini for an answer that ended because a call can't be read."""


CONTAINER = "operator_schema_container"
"""The key in the last message of an answer in a round, for data that the next request must contain: the
sandbox in which a program waits, or the token for continuing the text."""


class Usage(Value):
    """The tokens that an answer cost, as the provider counts them.

    Attributes:
        input_tokens: the tokens of the request, or None if the provider doesn't report them. Providers differ
            in whether they count tokens from a cache; `raw` has more.
        output_tokens: the tokens of the answer, including reasoning if the provider reports it separately;
            None if the provider doesn't report them.
        raw: the provider's own data; each access makes a copy.
    """

    input_tokens: int | None
    output_tokens: int | None
    _raw: Mapping[str, Any]

    @property
    def raw(self) -> dict[str, Any]:
        """The provider's own data about the cost."""
        copied: dict[str, Any] = copy_json(dict(self._raw))
        return copied


class Answer(Value, Generic[T]):
    """One answer of a model, read from a provider's response.

    With `output=Booking`, it is an `Answer[Booking]`.

    Attributes:
        calls: the calls of tools, in order.
        text: the text besides the calls; empty if there is none.
        refusal: why the model refuses, in its own words, or None.
        stop: why the model stopped.
        raw_stop: the provider's own word for that, or None.
        message: the message or items that represent this answer in the next request, before the results,
            exactly as the provider sent it; a text that consists of calls is replaced by them. Each access
            makes a copy.
        reasoning: the model's thinking, as far as the provider shows it as text; empty if it shows nothing.
        id: the id of the response, or None if the provider gives none.
        usage: the tokens that the response cost, or None if the provider doesn't report them. If a response
            has several answers, each has the same usage.
        stop_message: the provider's explanation of why it stopped, or None: Gemini's `finishMessage`, Groq's
            message about a call that it refused.
        provider: the name of the provider that gave it.
        notes: the changes that the provider made to the request, one sentence each: for example, it removed
            thinking of earlier answers (Anthropic, OpenAI Responses).
    """

    calls: tuple[RawCall, ...]
    text: str
    refusal: str | None
    stop: StopReason
    raw_stop: str | None
    _message: tuple[Any, ...]
    reasoning: str = ""
    id: str | None = None
    usage: Usage | None = None
    stop_message: str | None = None
    provider: str | None = None
    notes: tuple[str, ...] = ()
    _output: Any = None  # an `Output` of output.py, if a type was asked for

    if not TYPE_CHECKING:  # Only for speed, as in `introspect/nodes.py`: every response makes an answer.

        def __new__(
            cls,
            calls: tuple[RawCall, ...],
            text: str,
            refusal: str | None,
            stop: StopReason,
            raw_stop: str | None,
            _message: tuple[Any, ...],
            reasoning: str,
            id: str | None,  # noqa: A002  # the attribute's name
            usage: Usage | None,
            stop_message: str | None,
            provider: str | None,
            notes: tuple[str, ...],
            _output: Any,
        ) -> Self:
            """Make an answer."""
            self = cls._draft()
            self.calls = tuple(calls) if calls.__class__ is list else calls
            self.text = text
            self.refusal = refusal
            self.stop = stop
            self.raw_stop = raw_stop
            self._message = _message
            self.reasoning = reasoning
            self.id = id
            self.usage = usage
            self.stop_message = stop_message
            self.provider = provider
            self.notes = tuple(notes) if notes.__class__ is list else notes
            self._output = _output
            self.__class__ = cls
            return self

    @property
    def output(self) -> T:
        """The answer as an instance of the type requested by `output=`; decoded at each access.

        Raises:
            AnswerError: this isn't a final answer: `stop` isn't `end`.
            DecodeError: the answer doesn't fit. The text of the error is for the model.
            ValueError: no output was requested.
        """
        found = self._output
        if found is None:
            message = "no output was asked for: write answer(response, offer, output=…), as for the request"
            raise ValueError(message)
        if self.stop != "end":
            raise AnswerError(self)
        decoded: T = found.decode()
        return decoded

    @property
    def output_error(self) -> DecodeError | None:
        """Why the answer doesn't fit the requested type; None if it fits, or isn't a final answer.

        Raises:
            ValueError: no output was requested.
        """
        try:
            _ = self.output
        except DecodeError as error:
            return error
        except AnswerError:
            return None
        return None

    @property
    def unfit_outputs(self) -> list[tuple[int, RawCall, ToolResult]]:
        """The answers of a wrong type, in the form in which a round stores them: for this package only.

        Each is like a call, with its position among the calls, and a result with the error for the model.
        """
        found = self._output
        if found is None or (self.stop != "end" and not found.calls):
            return []
        unfit: list[tuple[int, RawCall, ToolResult]] = found.unfit(
            has_ended=self.stop == "end", is_cut_off=self.is_cut_off
        )
        return unfit

    @property
    def all_calls(self) -> list[RawCall]:
        """The calls, including those of a tool whose arguments are the answer: for this package only."""
        found = [*self.calls]
        for place, call in () if self._output is None else self._output.calls:
            found.insert(place, call)
        return found

    @property
    def message(self) -> list[dict[str, Any]]:
        """The message or items that represent this answer in the next request, as the provider sent them."""
        kept = self.assistant
        return without_container(kept) if kept and CONTAINER in kept[-1] else kept

    @property
    def assistant(self) -> list[dict[str, Any]]:
        """The message as a round stores it: with the sandbox in which a program waits, if any."""
        copied: list[dict[str, Any]] = copy_json(list(self._message))
        return copied

    @property
    def container(self) -> str | None:
        """The value that the next request must contain so that the answer continues, or None.

        It is the id of Anthropic's sandbox in which a program waits or a turn continues, or Gemini's
        continuation token. A request contains it if its history has this answer, or the turn of this answer.
        """
        return container_in(self._message)

    @property
    def late_calls(self) -> tuple[RawCall, ...]:
        """The calls whose results may come after the next request (OpenAI, with `request(…, late=…)`)."""
        late = {item.get("call_id") for item in self._message if item.get("async") is True}
        if not late:
            return ()
        return tuple([call for call in self.calls if given_id(call.id) in late])

    def without_late_calls(self) -> Self:
        """Return the answer for a round that doesn't wait for the late calls; its message still has them.

        If it has text and no other calls, it is final: its `stop` is `end`.
        """
        late = self.late_calls
        if not late:
            return self
        calls = tuple([call for call in self.calls if call not in late])
        is_final = self.stop == "calls" and not calls and self.text.strip()
        return self.replace(calls=calls, stop="end" if is_final else self.stop)

    @property
    def is_cut_off(self) -> bool:
        """Whether the end of the answer is missing, and maybe the end of the last call's arguments.

        This is so if it reached the token limit, or the stream was interrupted.
        """
        return self.stop in {"length", "interrupted"}

    def raise_for_stop(self) -> Self:
        """Return the answer if the model finished it, that is, if `stop` is `end`.

        Raises:
            AnswerError: the model didn't finish its answer.
        """
        if self.stop != "end":
            raise AnswerError(self)
        return self

    def settled(self, provider: str, *, is_finite_body: bool) -> Answer:
        """Return the answer with a corrected `stop`, and with marks on calls that are cut off.

        The server may report the end of the answer although it waits for results.

        Args:
            provider: the name of the provider.
            is_finite_body: whether all numbers in the response are known to be finite.

        Raises:
            TypeError: a text in the answer isn't a text, since the data come from outside.
            ValueError: a number in the message isn't finite, so that JSON can't represent it.
        """
        if not (is_finite_body or is_finite(list(self._message))):
            message = "a number in it isn't finite"
            raise ValueError(message)
        for text in (self.text, self.refusal, self.raw_stop, self.reasoning, self.stop_message):
            if not (text is None or isinstance(text, str)):
                message = "expected text"
                raise TypeError(message)
        stop = "calls" if self.calls and self.stop == "end" else self.stop
        calls = self.calls if self.stop in _ENDED else self._calls_marked()
        # `replace` would take a tenth of the time of reading an answer.
        return Answer(
            *(calls, self.text, self.refusal, stop, self.raw_stop, self._message, self.reasoning),
            *(self.id, self.usage, self.stop_message, provider, self.notes, self._output),
        )

    def with_cut_marked(self) -> Answer:
        """Return the answer with marks on the calls whose arguments may lack their end."""
        return self.replace(calls=self._calls_marked())

    def _calls_marked(self) -> tuple[RawCall, ...]:
        """Return the calls, with marks on those whose arguments may lack their end.

        The last call is marked, unless its arguments are the text of a whole JSON object. If a provider gives
        the arguments as an object, it may contain only what had arrived. Earlier calls had ended, so they are
        only marked if their text isn't whole.
        """
        if self.stop in _ENDED or not self.calls:
            return self.calls
        *before, last = self.calls
        marked = [call.replace(is_cut_off=True) if _is_cut(call) else call for call in before]
        marked.append(marked_if_cut(last))
        if self.raw_stop in _MALFORMED:
            marked = [call.replace(is_malformed=True) if call.is_cut_off else call for call in marked]
        return tuple(marked)


def container_in(said: Any) -> str | None:
    """Return the sandbox or token for the next request from the stored messages of an answer; or None."""
    last: Any = said[-1] if type(said) in {list, tuple} and said else None
    found = last.get(CONTAINER) if is_object(last) else None
    return found if isinstance(found, str) else None


def without_container(said: Sequence[Any]) -> list[Any]:
    """Return the model's messages without the data that a round stores with them: the form for a request."""
    return [
        {key: value for key, value in message.items() if key != CONTAINER} if is_object(message) else message
        for message in said
    ]


def marked_if_cut(call: RawCall) -> RawCall:
    """Return a call that may lack its end with a mark; unchanged if its arguments are a whole JSON text."""
    return call if is_whole(call.arguments) else call.replace(is_cut_off=True)


def _is_cut(call: RawCall) -> bool:
    arguments = call.arguments
    return isinstance(arguments, str) and bool(arguments.strip()) and not is_whole(arguments)


_WHY = {
    "calls": "it waits for the results of its calls",
    "length": "it reached the limit on tokens",
    "refused": "it refused",
    "filtered": "the provider held the answer back",
    "interrupted": "the stream ended first",
    "paused": "the provider paused the turn; a request that ends with the answer's message continues it",
    "other": "it stopped for another reason",
}
"""The explanation why a model didn't finish, for each `stop` but `end`."""


class AnswerError(ValueError):
    """A model didn't finish its answer; `Answer.raise_for_stop` raises it.

    Attributes:
        answer: the unfinished answer.
    """

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer)
        self.answer = answer

    def __str__(self) -> str:
        """Write why the model stopped, in plain words and in the provider's words."""
        answer = self.answer
        raw = f" ({one_line(answer.raw_stop, 100)})" if answer.raw_stop else ""
        told = answer.refusal or answer.stop_message
        more = f": {one_line(told, 300)}" if told else ""
        return f"the model didn't finish its answer: {_WHY[answer.stop]}{raw}{more}"


class ResponseError(ValueError):
    """A response can't be read: it is an error of the provider, or isn't in the expected form.

    Attributes:
        provider: the name of the provider.
        message: a description of the problem.
    """

    def __init__(self, provider: str, message: str) -> None:
        super().__init__(provider, message)
        self.provider = provider
        self.message = message

    def __str__(self) -> str:
        """Write the provider and the message."""
        return f"{self.provider}: {self.message}"


def renamed(answer: Answer, own: Mapping[str, str], keys: Mapping[str, str]) -> Answer:
    """Return an answer in which calls and their arguments have the tools' own names and keys."""
    return answer.replace(calls=tuple([renamed_call(call, own, keys) for call in answer.calls]))


def renamed_call(call: RawCall, names: Mapping[str, str], keys: Mapping[str, str]) -> RawCall:
    """Return a call with other names of the tool and of the properties in its arguments."""
    arguments = call.arguments
    if keys:
        from .property_names import text_with_keys, value_with_keys

        is_text = isinstance(arguments, str)
        arguments = text_with_keys(arguments, keys) if is_text else value_with_keys(arguments, keys)
    return call.replace(name=names.get(call.name, call.name), arguments=arguments)


KEYS_OF_ANSWERS = {
    "choices": "OpenAI Chat Completions",
    "candidates": "Gemini",
    "stop_reason": "Anthropic",
    "stopReason": "Bedrock Converse",
    "output": "OpenAI Responses",
    "finish_reason": "Cohere",
    "done": "Ollama",
}
"""Keys at the top of an answer that only one provider uses."""
