"""How are the requests of the inspector's page answered? Only programs on this machine reach it."""

from __future__ import annotations

import asyncio
import json
import secrets
from dataclasses import dataclass, field
from importlib.resources import files
from threading import Lock
from typing import TYPE_CHECKING, Any

try:
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse, Response, StreamingResponse
    from starlette.routing import Route
except ModuleNotFoundError as error:
    if error.name != "starlette":
        raise
    message = "to open the inspector, install the extra: pip install 'operator-schema[inspector]'"
    raise ModuleNotFoundError(message, name=error.name) from None

from ...adapters.http_requests import listen, uvicorn_server
from ...engine import decode_json
from ...errors import DecodeError
from ...json_values import writable_json
from ...message_text import exception_text
from ...providers import provider_names
from ...rounds import StoreError
from .call_logs import read_log, replayed_log
from .catalogue import overview, page_of_tool
from .decode_call import LONGEST_TEXT, read_call, read_in_steps
from .page_guard import PageGuard
from .pasted_answers import UnreadableAnswerError, provider_named, take_apart
from .run_call import Agreements, run_call
from .waiting_calls import (
    Decision,
    DecisionError,
    decide,
    load_round,
    round_as_dict,
    run_round,
    waiting_rounds,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping

    from starlette.requests import Request

    from ...providers import Provider
    from ...rounds import Store
    from .subject import Inspector

    Answer = Callable[[Request], Awaitable[Response]]
    Query = Mapping[str, str]

FILES = {
    "api.js": "text/javascript",
    "calls.js": "text/javascript",
    "catalogue.js": "text/javascript",
    "dom.js": "text/javascript",
    "form.js": "text/javascript",
    "inspector.css": "text/css",
    "main.js": "text/javascript",
    "rounds.js": "text/javascript",
    "tool.js": "text/javascript",
    "try.js": "text/javascript",
}
"""The files of the page beside `index.html`; no others are served."""

_HOST = "127.0.0.1"
_MOST_CONNECTIONS = 100
_GRACE = 2


@dataclass
class Sent:
    """Arguments of a tool, as text."""

    tool: str
    arguments: str
    repair: bool | None = None
    size: int = 5

    def __post_init__(self) -> None:
        """Check the limits."""
        if len(self.arguments) > LONGEST_TEXT or not 1 <= self.size <= LONGEST_TEXT:
            message = f"arguments have at most {LONGEST_TEXT:,} characters, and pieces at least one"
            raise ValueError(message)


@dataclass
class ToRun:
    """A call that is to run, and the person's agreement and answers."""

    tool: str
    arguments: str
    agreement: str | None = None
    answers: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass
class Pasted:
    """A text that may be an answer of a provider."""

    text: str
    provider: str | None = None


@dataclass
class RoundToRun:
    """A round whose approved calls are to run."""

    round_id: str
    agreement: str | None = None


@dataclass
class Position:
    """The position of a tried call."""

    index: int


class _NotFoundError(LookupError):
    """There is nothing under an address."""


def app_of(inspector: Inspector) -> Starlette:
    """Return the application that answers the page; wrap it in a `PageGuard`."""
    own = _PageAnswers(inspector)
    reading: dict[str, Answer] = {
        "/api/state": _computed(own.state),
        "/api/catalogue": _computed(own.catalogue),
        "/api/tool": _computed(own.tool),
        "/api/recorded": _computed(own.recorded),
        "/api/tried": _computed(own.tried),
        "/api/waiting": _computed(own.waiting),
    }
    doing: dict[str, Answer] = {
        "/api/read": _computed(own.read, Sent),
        "/api/stream": _computed(own.stream, Sent),
        "/api/run": own.run,
        "/api/paste": _computed(own.paste, Pasted),
        "/api/tried/keep": _computed(own.keep, Sent),
        "/api/tried/forget": _computed(own.forget, Position),
        "/api/tried/accept": _computed(own.accept),
        "/api/waiting/decide": _computed(own.decide, Decision),
        "/api/waiting/run": own.run_round,
    }
    routes = [
        Route("/", _file("index.html", "text/html"), methods=["GET"]),
        *[Route(f"/page/{name}", _file(name, kind), methods=["GET"]) for name, kind in FILES.items()],
        *[Route(path, _answered(answer), methods=["GET"]) for path, answer in reading.items()],
        *[Route(path, _answered(answer), methods=["POST"]) for path, answer in doing.items()],
    ]
    return Starlette(routes=routes)


def _file(name: str, kind: str) -> Answer:
    content = files(__package__ or "").joinpath("page", name).read_bytes()

    async def answer(_: Request) -> Response:
        return Response(content, media_type=kind)

    return answer


def _answered(answer: Answer) -> Answer:
    """Return a function that answers a request of the page, with errors as JSON."""

    async def answered(request: Request) -> Response:
        try:
            return await answer(request)
        except DecodeError as error:
            return _json({"problem": str(error)}, 400)
        except LookupError as error:
            return _json({"problem": str(error)}, 404)
        except (DecisionError, UnreadableAnswerError) as error:
            return _json({"problem": str(error)}, 409)
        except (OSError, ValueError, StoreError) as error:
            return _json({"problem": f"that can't be done: {error}"}, 409)

    return answered


def _computed(answer: Callable[[Any], Any], kind: type[Any] | None = None) -> Answer:
    """Return an answer that is computed in a thread: a large schema must not delay other requests.

    Args:
        answer: a function that returns JSON values for the body of a request, or for its query.
        kind: the class of the body; None if the function gets the query.
    """

    async def computed(request: Request) -> Response:
        asked = request.query_params if kind is None else decode_json(kind, await request.body())
        return _json(await run_in_threadpool(answer, asked))

    return computed


def _json(value: Any, status: int = 200) -> Response:
    return JSONResponse(_writable(value), status)


def _writable(value: Any) -> Any:
    """Return a JSON value that can be sent: without lone surrogates, and with text in place of infinity."""
    return json.loads(json.dumps(writable_json(value)), parse_constant=str)


class _PageAnswers:
    """The responses to requests of the inspector's page, from the current state of what it inspects."""

    def __init__(self, inspector: Inspector) -> None:
        self._inspector = inspector
        self._agreements = Agreements()
        self._changing_tried = Lock()

    def state(self, _: Query) -> dict[str, Any]:
        own = self._inspector
        waiting = None if own.store is None else _count_waiting(own.store)
        about = {"version": own.version, "problem": own.problem, "name": own.subject.name}
        kept = {"waiting": waiting, "tried": len(own.tried)}
        recorded = None if own.recorded is None else own.recorded.name
        names = {value: provider_named(value).name for value in provider_names()}
        return {**about, **kept, "recorded": recorded, "providers": names}

    def catalogue(self, query: Query) -> dict[str, Any]:
        provider, strict = _provider_asked_for(query)
        return overview(self._inspector.subject, provider, strict=strict)

    def tool(self, query: Query) -> dict[str, Any]:
        provider, strict = _provider_asked_for(query)
        subject = self._inspector.subject
        return page_of_tool(subject, subject.tool(query.get("name", "")), provider, strict=strict)

    def recorded(self, _: Query) -> dict[str, Any]:
        path = self._inspector.recorded
        if path is None:
            message = "no log was given: start with --calls FILE"
            raise _NotFoundError(message)
        return {"file": path.name, **replayed_log(read_log(path), self._inspector.subject.tool)}

    def read(self, sent: Sent) -> dict[str, Any]:
        return read_call(self._tool_for(sent), sent.arguments).as_dict()

    def stream(self, sent: Sent) -> dict[str, Any]:
        return read_in_steps(self._tool_for(sent), sent.arguments, sent.size)

    def _tool_for(self, sent: Sent) -> Any:
        tool = self._inspector.subject.tool(sent.tool)
        return tool if sent.repair is None else tool.with_(repair=sent.repair)

    def paste(self, pasted: Pasted) -> dict[str, Any]:
        return take_apart(self._inspector.subject, pasted.text, pasted.provider)

    # --- tried calls ---------------------------------------------------------------------------------

    def tried(self, _: object) -> dict[str, Any]:
        return self._inspector.tried.replayed(self._inspector.subject.tool)

    def keep(self, sent: Sent) -> dict[str, Any]:
        with self._changing_tried:
            self._inspector.tried.keep(self._inspector.subject.tool(sent.tool), sent.arguments)
        return self.tried(sent)

    def forget(self, position: Position) -> dict[str, Any]:
        with self._changing_tried:
            self._inspector.tried.forget(position.index)
        return self.tried(position)

    def accept(self, query: Query) -> dict[str, Any]:
        with self._changing_tried:
            self._inspector.tried.accept(self._inspector.subject.tool)
        return self.tried(query)

    # --- calls that run ------------------------------------------------------------------------------

    async def run(self, request: Request) -> Response:
        """Run a call, and return a line of JSON for each event, the last one with the result."""
        asked = decode_json(ToRun, await request.body())
        subject, version = self._inspector.subject, self._inspector.version
        tool = subject.tool(asked.tool)
        # After a reload it may be another function: then the agreement isn't valid any more.
        shown = (version, asked.tool, asked.arguments, asked.answers)
        loop, events = asyncio.get_running_loop(), asyncio.Queue[dict[str, Any]]()

        def tell(event: dict[str, Any]) -> None:
            loop.call_soon_threadsafe(events.put_nowait, event)

        def agreed(text: str) -> bool:
            return self._agreements.take(asked.agreement, *shown, text)

        async def run() -> None:
            done = await run_call(
                subject, tool, asked.arguments, agreed=agreed, answers=asked.answers, tell=tell
            )
            if "question" in done:
                done = {**done, "agreement": self._agreements.offer(*shown, done["question"])}
            tell({"done": done})

        return StreamingResponse(_lines(run, events), media_type="application/x-ndjson")

    def waiting(self, query: Query) -> dict[str, Any]:
        """Return a page of the rounds that wait; an empty filter counts for nothing."""
        asked = {name: text for name, text in query.items() if name in _FILTERS and text}
        filters = {name: _FILTERS[name](text) for name, text in asked.items()}
        return waiting_rounds(self._inspector.subject, self._store(), **filters)

    def decide(self, decision: Decision) -> dict[str, Any]:
        own = self._inspector
        return decide(own.subject, self._store(), decision, own.by)

    async def run_round(self, request: Request) -> Response:
        """Run the approved calls of a round, after a person has seen it again."""
        asked = decode_json(RoundToRun, await request.body())
        subject, store = self._inspector.subject, self._store()
        version, round_id = self._inspector.version, asked.round_id
        work = await run_in_threadpool(load_round, subject, store, round_id)
        calls = (await run_in_threadpool(round_as_dict, work))["calls"]
        texts = [call["text"] for call in calls if call["state"] == "pending"]
        if self._agreements.take(asked.agreement, version, round_id, texts):
            return _json(await run_round(subject, store, work))
        if not texts:
            message = "this round has no approved call to run"
            raise DecisionError(message)
        agreement = self._agreements.offer(version, round_id, texts)
        return _json({"question": "\n\n".join(texts), "agreement": agreement})

    def _store(self) -> Store:
        if self._inspector.store is None:
            message = "no store was given: start with --store FILE"
            raise _NotFoundError(message)
        return self._inspector.store


_FILTERS: dict[str, Callable[[str], Any]] = {
    "conversation": str,
    "tool": str,
    "state": str,
    "older_than": float,
    "after": int,
}


def _count_waiting(store: Store) -> int:
    """Return how many rounds of a store wait, no matter what they wait for."""
    counts = store.counts()
    return counts.deferred + counts.pending + counts.complete


def _provider_asked_for(query: Query) -> tuple[Provider, bool]:
    return provider_named(query.get("provider", "openai_chat")), query.get("strict") == "1"


async def _lines(
    run: Callable[[], Awaitable[None]], events: asyncio.Queue[dict[str, Any]]
) -> AsyncGenerator[str]:
    """Yield events as lines until the last one; if the page has been closed, cancel the call."""
    task = asyncio.ensure_future(run())
    task.add_done_callback(lambda done: events.put_nowait({"done": _failure_of(done)}))
    try:
        while True:
            event = await events.get()
            if event.get("done", event) is not None:
                yield f"{json.dumps(_writable(event), ensure_ascii=False)}\n"
            if "done" in event:
                return
    finally:
        task.cancel()


def _failure_of(done: asyncio.Future[None]) -> dict[str, Any] | None:
    """Return why a call ended without a result, which an executor with `pass_through` makes possible."""
    if done.cancelled():
        return {"problem": "the call was cancelled"}
    error = done.exception()
    return None if error is None else {"problem": exception_text(error)}


async def serve_inspector(inspector: Inspector, port: int, announce: Callable[[str], object]) -> None:
    """Serve the page only on this machine, until the caller is cancelled or a signal ends it.

    Args:
        inspector: the content of the page.
        port: the port; 0 for any free one.
        announce: a function that gets the address, with its token, when the page can be opened.

    Raises:
        OSError: the server can't listen on the port.
    """
    with listen(_HOST, port, _MOST_CONNECTIONS) as listening:
        own: int = listening.getsockname()[1]
        token = secrets.token_urlsafe(24)
        guarded = PageGuard(app_of(inspector), own, token)
        server = uvicorn_server(guarded, most=_MOST_CONNECTIONS, grace=_GRACE, has_lifespan=False)
        serving = asyncio.ensure_future(server.serve(sockets=[listening]))
        announce(f"http://{_HOST}:{own}/?token={token}")
        try:
            await asyncio.shield(serving)
        finally:
            server.should_exit = True  # if the caller is cancelled, connections are closed first
            await serving
