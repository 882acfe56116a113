"""A model that follows a script, for tests of conversations without a provider."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from ..immutable import Value
from ..json_values import copy_json
from ..message_text import checked_text, count_of, received
from ..providers.provider import Provider
from ..tools.calls import RawCall
from .response_form import ResponseForm, Said
from .scripted_forms import form_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager


class CutOff(Value):
    """An answer that reached the limit on tokens.

    Args:
        parts: texts and calls, in order. The arguments of the last call may be text that lacks its end.

    Raises:
        TypeError: a part has the wrong type, or there is none.
    """

    parts: tuple[str | RawCall, ...]

    def __init__(self, *parts: str | RawCall) -> None:
        if not parts or not all(isinstance(part, (str, RawCall)) for part in parts):
            message = 'CutOff takes texts and calls: CutOff("I add", RawCall("c1", "add", \'{"a": 1, "b\'))'
            raise TypeError(message)
        super().__init__(parts)


class Refusal(Value):
    """An answer in which the model refuses, in its provider's form.

    If a provider has no form for it, the refusal is a text: with the reason `content_filtered` for Bedrock,
    as `finishMessage` with `SAFETY` for Gemini, as a plain text for Ollama and Cohere.

    Attributes:
        text: the text of the refusal.

    Raises:
        TypeError: the text isn't a string.
    """

    text: str

    def __init__(self, text: str) -> None:
        super().__init__(checked_text("the text of a Refusal", text))


Answer: TypeAlias = "str | RawCall | CutOff | Refusal | list[str | RawCall] | Mapping[str, Any] | Exception"

Line: TypeAlias = "Answer | Callable[[dict[str, Any]], Answer]"
"""One answer of the script: a text, a call, a list of texts and calls, one that was cut off, a refusal, a
whole response as a dict, an exception that is raised instead, or a function that gets the request and returns
one of these."""


class ScriptedModel:
    """A model that gives the answers of a script, in order; called like the `create` of the provider's SDK.

    It writes responses in the provider's form, so the test covers everything: your tools go into a request,
    the response is read, and the next request has the results. Nothing is sent anywhere. The script doesn't
    depend on a provider.

    A call in the script may be wrong: its tool unknown, its arguments of other types, or text that isn't
    JSON. For such text, a whole response with an object for the arguments (Anthropic, Bedrock) contains the
    complete members, and a stream the text unchanged. Gemini answers `MALFORMED_FUNCTION_CALL` instead, and
    Ollama writes the call as text, as the real servers do.

    Args:
        provider: the provider that reads the responses, such as `operator_schema.providers.openai_chat`.
            Without one, the model can only `serve`, where the path of a request decides its form.
        script: the answers. Calls use your own names of tools; responses have the provider's names.

    Attributes:
        requests: the body of each request so far, as a copy.

    Raises:
        TypeError: the provider isn't one, or its form isn't known; the script isn't a list, or an answer in
            it has the wrong type.
    """

    @overload
    def __init__(self, script: Iterable[Line], /) -> None: ...
    @overload
    def __init__(self, provider: Provider, script: Iterable[Line]) -> None: ...
    def __init__(self, provider: Any, script: Any = None) -> None:
        if script is None and not isinstance(provider, Provider):
            provider, script = None, provider
        elif not isinstance(provider, Provider):
            remedy = "from operator_schema.providers import openai_chat"
            message = f"ScriptedModel takes a provider, not {received(provider)}: {remedy}"
            raise TypeError(message)
        self._provider: Provider | None = provider
        self._form = None if provider is None else form_of(provider)
        self._answers = _list_answers(script)
        self._lock = Lock()
        self.requests: list[dict[str, Any]] = []
        for line in self._answers:
            if not callable(line):
                _check_answer(line)

    @property
    def left(self) -> int:
        """Number of answers that haven't been used yet."""
        return len(self._answers) - len(self.requests)

    def __call__(self, *, stream: bool = False, **body: Any) -> Any:
        """Answer one request.

        Args:
            stream: whether to give the events of a stream.
            body: the arguments of the SDK's `create`.

        Returns:
            The response as a dict, or with `stream` an iterator of events, each a dict.

        Raises:
            AssertionError: the script has no more answers.
            TypeError: the model has no provider, or a dict of the script can't be streamed.
            Exception: an exception in the script.
        """
        if self._provider is None or self._form is None:
            message = "this script has no provider: write ScriptedModel(anthropic, script), or serve() it"
            raise TypeError(message)
        return self.answer(self._form, self._provider, body, is_stream=stream)

    async def acall(self, *, stream: bool = False, **body: Any) -> Any:
        """Answer one request as an async SDK does; with `stream`, the events come from an async iterator."""
        found = self(stream=stream, **body)
        return _async_events(found) if stream else found

    def serve(self) -> AbstractContextManager[str]:
        """Serve the script on this machine, for the provider's real SDK: `with model.serve() as address`.

        The SDK gets the address as its `base_url`; for OpenAI's, `/v1` may follow. The path of a request
        decides its form: `/chat/completions`, `/messages`, `/responses`, `:generateContent`, `/converse`,
        `/api/chat` or `/v2/chat`, all plain and streamed. An exception of the script is an error of status
        400, which SDKs don't repeat.

        Yields:
            The address, such as `http://127.0.0.1:40001`.

        Raises:
            AssertionError: at the end: a request came that the script had no answer for.
        """
        from .scripted_server import serving

        return serving(self.answer, self._provider)

    def answer(
        self, form: ResponseForm, provider: Provider, body: dict[str, Any], *, is_stream: bool
    ) -> dict[str, Any] | Iterator[dict[str, Any]]:
        """Answer one request in a form, as `__call__` does.

        Args:
            form: form of the response.
            provider: gives the provider's names of tools.
            body: body of the request.
            is_stream: whether to return events.
        """
        line, number = self._next(body)
        form = form.for_request(body)
        if isinstance(line, dict):
            response: dict[str, Any] = copy_json(line)
        else:
            name = body.get("model")
            model = name if isinstance(name, str) else "scripted"
            response = form.response(_make_said(line, provider, number, model, body))
        if not form.is_answer(response):
            return _stream_of([response]) if is_stream else response
        return _streamed(form, response) if is_stream else form.whole(response)

    def _next(self, body: dict[str, Any]) -> tuple[Any, int]:
        """Return the next line of the script, and its number from 1."""
        with self._lock:
            self.requests.append(copy_json(body))
            number = len(self.requests)
        if number > len(self._answers):
            message = (
                f"the script has {count_of(len(self._answers), 'answers')}, and this is request {number}: "
                "add an answer, or end the loop when the model makes no more calls"
            )
            raise AssertionError(message)
        line: Any = self._answers[number - 1]
        if callable(line) and not isinstance(line, Exception):
            line = line(self.requests[number - 1])
            _check_answer(line)
        if isinstance(line, Exception):
            raise line
        return line, number


def _make_said(line: Any, provider: Provider, number: int, model: str, request: Mapping[str, Any]) -> Said:
    if isinstance(line, Refusal):
        return Said((), "refused", line.text, number, model, request)
    parts = _parts_of(line)
    calls = [part for part in parts if isinstance(part, RawCall)]
    names = provider.names.wire_names(dict.fromkeys([call.name for call in calls]), provider.name)
    named = tuple(
        [part.replace(name=names[part.name]) if isinstance(part, RawCall) else part for part in parts]
    )
    is_cut = isinstance(line, CutOff) or any(call.is_cut_off for call in calls)
    return Said(named, "length" if is_cut else "calls" if calls else "end", None, number, model, request)


def _streamed(form: ResponseForm, response: dict[str, Any]) -> Iterator[dict[str, Any]]:
    try:
        return _stream_of(list(form.events(response)))
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        message = f"a response of the script can't be streamed: it has another form ({error!r})"
        raise TypeError(message) from None


def _stream_of(events: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield events; the generator has `close`, like a stream of an SDK."""
    yield from events


async def _async_events(events: Iterator[dict[str, Any]]) -> Any:
    for event in events:
        yield event


def _list_answers(script: Any) -> list[Any]:
    """Return the answers of a script.

    Raises:
        TypeError: the script is a single answer, or isn't a list.
    """
    if issubclass(type(script), (str, bytes, dict)) or not issubclass(type(script), Iterable):
        message = (
            f"a script must be a list of answers, not {received(script)}: write [answer] for a single one"
        )
        raise TypeError(message)
    return list(script)


def _check_answer(line: object) -> None:
    if isinstance(line, (dict, Exception, CutOff, Refusal)):
        return
    parts = _parts_of(line)
    if parts and all(isinstance(part, (str, RawCall)) for part in parts):
        return
    message = (
        "an answer of a script must be a string, a RawCall, a list of these, CutOff(…), Refusal(…), a whole "
        f"response as a dict, an exception, or a function that returns one of them, not {received(line)}"
    )
    raise TypeError(message)


def _parts_of(line: Any) -> list[Any]:
    if isinstance(line, CutOff):
        return list(line.parts)
    return list(line) if isinstance(line, list) else [line]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # of anything, until it is checked
