"""What does it cost to read a model's answer, and to send a history again?"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from operator_schema import Executor, RawCall, Toolset, Transcript, tool
from operator_schema.providers import openai_chat

from ..contestants import OURS, Cant
from ..measure import Entry, Plan, check, hot, race

if TYPE_CHECKING:
    from collections.abc import Callable

TITLE = "An answer, a stream, and a history"
HOW = (
    "Chat Completions with ten tools. A whole answer with two calls, and chunks of a stream with one, are "
    "read from their JSON text, beside what OpenAI's SDK makes of the same text: as its clients do "
    "(`construct_type`), and checked by pydantic (`model_validate_json`), which knows neither the tools nor "
    "what is cut off. A history of 100 turns is sent again, beside `json.dumps` of the body"
)
UNIT = "s"

PEERS = ("construct_type", "model_validate_json", "json.loads", "json.dumps")
CASES = ("whole answer", "chunk of a stream", "history of 100 turns")
TOOLS, TURNS, CHUNKS = 10, 100, 200
WARM = 30
"""Requests before the measurement: what copies the messages of a turn is compiled by then."""


def run(plan: Plan) -> dict[str, dict[str, Entry]]:
    """Measure reading one answer, one chunk, and writing one request with a history."""
    offer = Toolset(*[tool(_search, name=f"tool_{number}") for number in range(TOOLS)]).offer()
    whole, chunk, history = CASES
    found = {
        whole: race(whole, _of_answer(offer, plan), plan),
        chunk: race(chunk, _of_stream(offer, plan), plan),
        history: race(history, _of_history(offer, plan), plan),
    }
    for entry in found[chunk].values():  # of all chunks together
        entry.update({key: entry[key] / CHUNKS for key in ("median", "low", "high") if key in entry})
    return found


def _search(query: str) -> str:
    """Search the web."""
    return query


def _call(number: int, arguments: str) -> dict[str, Any]:
    function = {"name": "tool_0", "arguments": arguments}
    return {"id": f"call_{number}", "type": "function", "function": function}


def _answer_text() -> str:
    calls = [_call(number, '{"query": "Oslo, Norway"}') for number in range(2)]
    message = {"role": "assistant", "content": None, "refusal": None, "annotations": [], "tool_calls": calls}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls"}
    usage = {"prompt_tokens": 120, "completion_tokens": 34, "total_tokens": 154}
    about = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1735689600, "model": "gpt-5"}
    return json.dumps({**about, "choices": [choice], "usage": usage, "service_tier": "default"})


def _chunk_texts() -> list[str]:
    about = {"id": "c", "object": "chat.completion.chunk", "created": 1735689600, "model": "gpt-5"}
    begin = {"role": "assistant", "content": None, "tool_calls": [{"index": 0, **_call(1, "")}]}
    pieces = ['{"query": "', *["word "] * (CHUNKS - 4), '"}']
    deltas = [begin, *[{"tool_calls": [{"index": 0, "function": {"arguments": one}}]} for one in pieces], {}]
    return [
        json.dumps({**about, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
        for delta, reason in zip(deltas, [*[None] * (len(deltas) - 1), "tool_calls"], strict=True)
    ]


def _sdk() -> tuple[Any, Any, Any]:
    """Return what OpenAI's SDK makes its objects with, and the classes of an answer and a chunk.

    Raises:
        Cant: it isn't installed.
    """
    try:
        from openai._models import construct_type
        from openai.types.chat import ChatCompletion, ChatCompletionChunk
    except ImportError as error:
        message = "can't: openai isn't installed"
        raise Cant(message) from error
    return construct_type, ChatCompletion, ChatCompletionChunk


def _of_answer(offer: Any, plan: Plan) -> dict[str, Callable[[], float] | Cant]:
    text = _answer_text()
    check(lambda: openai_chat.answer(text, offer), lambda answer: len(answer.calls) == 2)  # noqa: PLR2004  # as above
    return _beside_sdk(lambda: openai_chat.answer(text, offer), [text], 1, plan)


def _of_stream(offer: Any, plan: Plan) -> dict[str, Callable[[], float] | Cant]:
    texts = _chunk_texts()
    events = [f"data: {text}\n\n".encode() for text in texts]

    def read() -> Any:
        stream = openai_chat.stream(offer)
        for event in events:
            stream.feed(event)
        return stream

    check(read, lambda stream: stream.close().calls[0].arguments.endswith('word "}'))
    return _beside_sdk(read, texts, 2, plan)


def _beside_sdk(
    ours: Callable[[], Any], texts: list[str], kind: int, plan: Plan
) -> dict[str, Callable[[], float] | Cant]:
    """Return the samplers of texts that this package and OpenAI's SDK read.

    Args:
        ours: reads all of them.
        texts: of JSON.
        kind: the place of the SDK's class for them in what `_sdk` returns.
        plan: how much to measure.
    """
    ways: dict[str, Callable[[], Any] | Cant] = {OURS: ours}
    try:
        found = _sdk()
    except Cant as cant:
        ways |= dict.fromkeys(PEERS[:2], cant)
    else:
        construct, cls = found[0], found[kind]
        ways[PEERS[0]] = lambda: [construct(type_=cls, value=json.loads(text)) for text in texts]
        ways[PEERS[1]] = lambda: [cls.model_validate_json(text) for text in texts]
    ways[PEERS[2]] = lambda: [json.loads(text) for text in texts]
    return {name: way if isinstance(way, Cant) else _sampler(way, plan) for name, way in ways.items()}


def _of_history(offer: Any, plan: Plan) -> dict[str, Callable[[], float] | Cant]:
    history, executor = Transcript(), Executor(offer.toolset)
    for number in range(TURNS):
        call = RawCall(str(number), "tool_0", '{"query": "Oslo"}')
        executor.run_sync(offer.round([call])).commit(history)
    request = partial(openai_chat.request, offer, history)
    body = request()
    for _ in range(WARM):
        check(request, lambda sent: sent == body)
    return {OURS: _sampler(request, plan), PEERS[3]: _sampler(lambda: json.dumps(body), plan)}


def _sampler(work: Callable[[], Any], plan: Plan) -> Callable[[], float]:
    return hot(lambda _: work(), None, plan.seconds)
