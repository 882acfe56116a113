"""The inspector's web application: it answers the page, and only programs on this machine reach it."""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
from dataclasses import dataclass, field
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qs

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

from ...adapters.http_requests import (
    body_of,
    headers_of,
    listen,
    refuse,
    replayed,
    status_of_sender,
    uvicorn_server,
)
from ...engine import decode_json
from ...errors import DecodeError
from ...json_values import without_surrogates
from ...message_text import exception_text
from ...providers import provider_names
from ...rounds import StoreError
from .call_logs import read_log, replayed_log
from .catalogue import overview, page_of_tool
from .decode_call import LONGEST_TEXT, read_call, read_in_steps
from .pasted_answers import UnreadableAnswerError, provider_named, take_apart
from .run_call import (
    Agreements,
    Decision,
    DecisionError,
    decide,
    load_round,
    round_as_dict,
    run_call,
    run_round,
    waiting_rounds,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable
    from pathlib import Path

    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ...rounds import Store
    from .subject import Inspector

    Answer = Callable[[Request], Awaitable[Response]]

T = TypeVar("T")

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

LARGEST_BODY = 4 * 2**20
"""The maximum size of a request, in bytes."""

_SECONDS_FOR_BODY = 10.0
_LONGEST_QUERY = 8_192

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)

HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of every answer: only the page's own files may be run or loaded, and no page may frame this one."""

_REASONS = {
    401: "open the address that the inspector printed: it has a token",
    403: "this page may not ask the inspector",
    408: "the request took too long to arrive",
    413: "the request is too large",
    415: "a request that changes something has to be JSON",
    421: "this Host isn't served here",
}

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
        "/api/state": own.state,
        "/api/catalogue": own.catalogue,
        "/api/tool": own.tool,
        "/api/recorded": own.recorded,
        "/api/tried": own.tried,
        "/api/waiting": own.waiting,
    }
    doing: dict[str, Answer] = {
        "/api/read": own.read,
        "/api/stream": own.stream,
        "/api/run": own.run,
        "/api/paste": own.paste,
        "/api/tried/keep": own.keep,
        "/api/tried/forget": own.forget,
        "/api/tried/accept": own.accept,
        "/api/waiting/decide": own.decide,
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


def _json(value: Any, status: int = 200) -> Response:
    return JSONResponse(_writable(value), status)


def _writable(value: Any) -> Any:
    """Return a JSON value that can be sent: without lone surrogates, and without numbers that aren't JSON."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        text = json.dumps(json.loads(json.dumps(value), parse_constant=str), ensure_ascii=False)
    return json.loads(without_surrogates(text))


async def _body(request: Request, kind: type[T]) -> T:
    return decode_json(kind, await request.body())


class _PageAnswers:
    """The answers to the page, each from the present state of the subject.

    Answers that only read are computed in a thread: a large schema must not delay other requests.
    """

    def __init__(self, inspector: Inspector) -> None:
        self._inspector = inspector
        self._agreements = Agreements()

    async def state(self, _: Request) -> Response:
        own = self._inspector
        waiting = None if own.store is None else await run_in_threadpool(_waiting_in, own.store)
        about = {"version": own.version, "problem": own.problem, "name": own.subject.name}
        kept = {"waiting": waiting, "tried": len(own.tried)}
        recorded = None if own.recorded is None else own.recorded.name
        names = {value: provider_named(value).name for value in provider_names()}
        return _json({**about, **kept, "recorded": recorded, "providers": names})

    async def catalogue(self, request: Request) -> Response:
        provider, strict = _asked(request)
        return _json(
            await run_in_threadpool(
                overview, self._inspector.subject, provider_named(provider), strict=strict
            )
        )

    async def tool(self, request: Request) -> Response:
        name, strict = _asked(request)
        subject, provider = self._inspector.subject, provider_named(name)
        tool = subject.tool(request.query_params.get("name", ""))
        return _json(await run_in_threadpool(page_of_tool, subject, tool, provider, strict=strict))

    async def recorded(self, _: Request) -> Response:
        path, subject = self._inspector.recorded, self._inspector.subject
        if path is None:
            message = "no log was given: start with --calls FILE"
            raise _NotFoundError(message)

        def read(path: Path) -> dict[str, Any]:
            return {"file": path.name, **replayed_log(read_log(path), subject.tool)}

        return _json(await run_in_threadpool(read, path))

    async def tried(self, _: Request) -> Response:
        own = self._inspector
        return _json(await run_in_threadpool(own.tried.replayed, own.subject.tool))

    async def read(self, request: Request) -> Response:
        sent = await _body(request, Sent)
        tool = self._tool_for(sent)
        return _json((await run_in_threadpool(read_call, tool, sent.arguments)).as_dict())

    async def stream(self, request: Request) -> Response:
        sent = await _body(request, Sent)
        tool = self._tool_for(sent)
        return _json(await run_in_threadpool(read_in_steps, tool, sent.arguments, sent.size))

    def _tool_for(self, sent: Sent) -> Any:
        tool = self._inspector.subject.tool(sent.tool)
        return tool if sent.repair is None else tool.with_(repair=sent.repair)

    async def paste(self, request: Request) -> Response:
        pasted = await _body(request, Pasted)
        subject = self._inspector.subject
        return _json(await run_in_threadpool(take_apart, subject, pasted.text, pasted.provider))

    async def run(self, request: Request) -> Response:
        """Run a call, and return a line of JSON for each event, the last one with the result."""
        asked = await _body(request, ToRun)
        subject, version = self._inspector.subject, self._inspector.version
        tool = subject.tool(asked.tool)
        # After a reload it may be another function: then the agreement isn't valid any more.
        shown = (version, asked.tool, asked.arguments, asked.answers)
        loop, events = asyncio.get_running_loop(), asyncio.Queue[dict[str, Any]]()

        def tell(event: dict[str, Any]) -> None:
            loop.call_soon_threadsafe(events.put_nowait, event)

        def agreed(text: str) -> bool:
            return asked.agreement is not None and self._agreements.take(asked.agreement, *shown, text)

        async def run() -> None:
            done = await run_call(
                subject, tool, asked.arguments, agreed=agreed, answers=asked.answers, tell=tell
            )
            if "question" in done:
                done = {**done, "agreement": self._agreements.offer(*shown, done["question"])}
            tell({"done": done})

        return StreamingResponse(_lines(run, events), media_type="application/x-ndjson")

    async def keep(self, request: Request) -> Response:
        sent = await _body(request, Sent)
        own = self._inspector
        own.tried.keep(own.subject.tool(sent.tool), sent.arguments)
        return await self.tried(request)

    async def forget(self, request: Request) -> Response:
        self._inspector.tried.forget((await _body(request, Position)).index)
        return await self.tried(request)

    async def accept(self, request: Request) -> Response:
        own = self._inspector
        await run_in_threadpool(own.tried.accept, own.subject.tool)
        return await self.tried(request)

    async def waiting(self, request: Request) -> Response:
        """Return a page of the rounds that wait; an empty filter counts for nothing."""
        asked = {name: text for name, text in request.query_params.items() if name in _FILTERS and text}
        filters = {name: _FILTERS[name](text) for name, text in asked.items()}
        subject, store = self._inspector.subject, self._store()
        return _json(await run_in_threadpool(waiting_rounds, subject, store, **filters))

    async def decide(self, request: Request) -> Response:
        decision = await _body(request, Decision)
        subject, store = self._inspector.subject, self._store()
        return _json(await run_in_threadpool(decide, subject, store, decision, self._inspector.by))

    async def run_round(self, request: Request) -> Response:
        """Run the approved calls of a round, after a person has seen it again."""
        asked = await _body(request, RoundToRun)
        subject, store = self._inspector.subject, self._store()
        version, round_id = self._inspector.version, asked.round_id
        work = await run_in_threadpool(load_round, subject, store, round_id)
        calls = (await run_in_threadpool(round_as_dict, work))["calls"]
        texts = [call["text"] for call in calls if call["state"] == "pending"]
        if asked.agreement is not None and self._agreements.take(asked.agreement, version, round_id, texts):
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


def _waiting_in(store: Store) -> int:
    """Return how many rounds wait, whatever for."""
    counts = store.counts()
    return counts.deferred + counts.pending + counts.complete


def _asked(request: Request) -> tuple[str, bool]:
    found = request.query_params
    return found.get("provider", "openai_chat"), found.get("strict") == "1"


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


class PageGuard:
    """An ASGI application that passes on only the requests of the page itself.

    Another page in the same browser can send requests here: `Origin` shows its address, and `Host` shows a
    name of its own that resolves to this machine. A browser that opens the address with the token gets a
    cookie, which it sends only with requests of the page. Refusals are logged without the data that were
    sent.

    Args:
        app: the application behind the guard.
        port: the port of the server.
        token: the token in the address.
    """

    def __init__(self, app: ASGIApp, port: int, token: str) -> None:
        self._app = app
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._origins = {f"http://{host}" for host in self._hosts}
        self._digest = _digest(token)
        # A cookie is sent to all ports of a machine, so it doesn't have the token itself.
        self._session = _digest(f"session of {token}").hex()
        self._cookie = f"inspector_{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = headers_of(scope["headers"], _LOOKED_AT)
        is_new = self._has_token(scope)
        status = self._status_of(scope["method"], headers, is_new=is_new)
        body = b""
        if status is None:
            status, body = await body_of(receive, LARGEST_BODY, _SECONDS_FOR_BODY)
        answer = self._with_headers(send, is_new=is_new and status is None)
        if status is not None:
            await refuse(scope, answer, status, _REASONS[status])
            return
        await self._app(scope, replayed(receive, body), answer)

    def _status_of(self, method: str, headers: dict[bytes, list[str]], *, is_new: bool) -> int | None:
        """Return the status for a refused request; None if it is allowed."""
        origins = {f"http://{host.lower()}" for host in headers[b"host"]} & self._origins
        status = status_of_sender(headers, self._hosts, origins)
        if status is not None:
            return status
        if any(site not in {"same-origin", "none"} for site in headers[b"sec-fetch-site"]) and not is_new:
            return 403
        if not is_new and not self._has_cookie(headers[b"cookie"]):
            return 401
        if method in {"GET", "HEAD"}:
            return None
        kinds = [kind.partition(";")[0].strip().lower() for kind in headers[b"content-type"]]
        return None if kinds == ["application/json"] and not is_new else 415

    def _has_token(self, scope: Scope) -> bool:
        query = scope["query_string"]
        if scope["method"] != "GET" or scope["path"] != "/" or not 0 < len(query) <= _LONGEST_QUERY:
            return False
        given = parse_qs(query.decode("latin-1"), max_num_fields=10).get("token", [])
        return len(given) == 1 and hmac.compare_digest(_digest(given[0]), self._digest)

    def _has_cookie(self, cookies: list[str]) -> bool:
        for text in cookies:
            try:
                found = SimpleCookie(text).get(self._cookie)
            except CookieError:
                continue
            if found is not None and hmac.compare_digest(_digest(found.value), _digest(self._session)):
                return True
        return False

    def _with_headers(self, send: Send, *, is_new: bool) -> Send:
        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                if is_new:
                    cookie = f"{self._cookie}={self._session}; Path=/; HttpOnly; SameSite=Strict"
                    own.append((b"set-cookie", cookie.encode()))
                names = {name for name, _ in own}
                kept = [(name, value) for name, value in message.get("headers", ()) if name not in names]
                message = {**message, "headers": [*kept, *own]}
            await send(message)

        return answer


_LOOKED_AT = (b"host", b"origin", b"cookie", b"content-type", b"sec-fetch-site")


def _digest(text: str) -> bytes:
    # All digests have the same length, so the time of a comparison doesn't reveal the length of the text.
    return sha256(text.encode(errors="replace")).digest()


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
