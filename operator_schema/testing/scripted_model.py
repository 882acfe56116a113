"""A model that follows a script, so that a conversation can be tested without a provider."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from ..json_values import copy_json, to_json_text
from ..message_text import received
from ..providers.answer import ResponseError
from ..tools.calls import RawCall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ..providers.provider import Provider

__all__ = ["Line", "ScriptedModel"]

Answer: TypeAlias = "str | RawCall | list[str | RawCall] | Mapping[str, Any] | Exception"

Line: TypeAlias = "Answer | Callable[[dict[str, Any]], Answer]"
"""One answer of the script: a text, a call, a list of texts and calls, a whole response as a dict, an
exception that is raised instead, or a function that gets the request and returns one of these."""

_PIECE = 8
"""Characters of a text, or of the JSON of arguments, that one event of a stream brings."""


class ScriptedModel:
    """A model that gives the answers of a script, in order; called like the `create` of the provider's SDK.

    It writes what the provider would send, so the test covers the whole way: your tools go into a request,
    the response is read, and the next request has the results. Nothing is sent anywhere.

    So far it writes OpenAI's Chat Completions, for `openai_chat` and every provider that reads them.

    Args:
        provider: reads the responses, such as `operator_schema.providers.openai_chat`.
        script: the answers. Calls have your own names of tools; on the wire they have the provider's.

    Attributes:
        requests: the body of each request so far, as a copy.

    Raises:
        TypeError: the provider doesn't read Chat Completions, or a line of the script is something else.
    """

    def __init__(self, provider: Provider, script: Iterable[Line]) -> None:
        self._provider = provider
        self._lines = list(script)
        self.requests: list[dict[str, Any]] = []
        for line in self._lines:
            if not callable(line):
                _check(line)
        if not _reads_chat(provider):
            message = f"ScriptedModel writes Chat Completions so far, and {provider.name} doesn't read them"
            raise TypeError(message)

    @property
    def left(self) -> int:
        """Number of answers that weren't asked for yet."""
        return len(self._lines) - len(self.requests)

    def __call__(self, *, stream: bool = False, **body: Any) -> Any:
        """Answer one request.

        Args:
            stream: whether to give the events of a stream.
            body: what `client.chat.completions.create` gets.

        Returns:
            The response as a dict, or with `stream` an iterator of events, each a dict.

        Raises:
            AssertionError: the script has no more answers.
            Exception: the script says so.
        """
        response = self._next(body)
        return _events(response) if stream else response

    async def acall(self, *, stream: bool = False, **body: Any) -> Any:
        """Answer one request as an async SDK does; with `stream`, the events come from an async iterator."""
        response = self._next(body)
        return _async_events(response) if stream else response

    def _next(self, body: dict[str, Any]) -> dict[str, Any]:
        number = len(self.requests)
        self.requests.append(copy_json(body))
        if number >= len(self._lines):
            message = (
                f"the script has {len(self._lines)} answers, and this is request {number + 1}: "
                "add an answer, or end the loop when the model makes no more calls"
            )
            raise AssertionError(message)
        line: Any = self._lines[number]
        if callable(line) and not isinstance(line, Exception):
            line = line(self.requests[-1])
            _check(line)
        if isinstance(line, Exception):
            raise line
        if isinstance(line, dict):
            whole: dict[str, Any] = copy_json(line)
            return whole
        return self._response(_parts(line), number, body.get("model"))

    def _response(self, said: list[str | RawCall], number: int, model: object) -> dict[str, Any]:
        text = "".join([part for part in said if isinstance(part, str)])
        calls = [part for part in said if isinstance(part, RawCall)]
        wire = self._provider.names.wire_names(
            dict.fromkeys([call.name for call in calls]), self._provider.name
        )
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": wire[call.name], "arguments": _text(call.arguments)},
                }
                for call in calls
            ]
        reason = "tool_calls" if calls else "stop"
        return {
            "id": f"scripted-{number + 1}",
            "object": "chat.completion",
            "created": 0,
            "model": model if isinstance(model, str) else "scripted",
            "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}],
            "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        }


def _check(line: object) -> None:
    if isinstance(line, (dict, Exception)):
        return
    parts = _parts(line)
    if parts and all(isinstance(part, (str, RawCall)) for part in parts):
        return
    message = (
        "an answer of a script is a text, a RawCall, a list of these, a response as a dict, an exception, "
        f"or a function that returns one of them, not {received(line)}"
    )
    raise TypeError(message)


def _parts(line: object) -> list[Any]:
    if not isinstance(line, list):
        return [line]
    parts: list[Any] = line  # pyright: ignore[reportUnknownVariableType]  # of anything, until it is checked
    return parts


def _reads_chat(provider: Provider) -> bool:
    message = {"role": "assistant", "content": "yes"}
    try:
        return provider.answer({"choices": [{"message": message, "finish_reason": "stop"}]}, []).text == "yes"
    except ResponseError:
        return False


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else to_json_text(arguments)


def _events(response: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a response as the events of a stream."""
    about = {key: value for key, value in response.items() if key not in {"choices", "usage"}}
    about["object"] = "chat.completion.chunk"

    def event(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        return {**about, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    for choice in response["choices"]:
        message = choice["message"]
        yield event({"role": "assistant", "content": ""})
        for piece in _pieces(message.get("content") or ""):
            yield event({"content": piece})
        for index, call in enumerate(message.get("tool_calls") or ()):
            function = call["function"]
            begun: dict[str, Any] = {**call, "index": index, "function": {**function, "arguments": ""}}
            yield event({"tool_calls": [begun]})
            for piece in _pieces(function["arguments"]):
                yield event({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
        yield event({}, choice["finish_reason"])
    yield {**about, "choices": [], "usage": response.get("usage")}


async def _async_events(response: Mapping[str, Any]) -> Any:
    for event in _events(response):
        yield event


def _pieces(text: str) -> list[str]:
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
