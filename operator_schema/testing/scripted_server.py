"""A server on this machine that sends the answers of a script to the SDKs of providers."""

from __future__ import annotations

from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

from ..json_values import is_object, to_json_text
from ..message_text import one_line, show_error
from ..providers import read_json
from .scripted_forms import FORMS, form_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from ..providers.provider import Provider
    from .response_form import ResponseForm

_MOST_BYTES: Final = 64_000_000
"""The most bytes in the body of a request."""
_SECONDS: Final = 30
"""How many seconds a connection may send nothing."""


class _RequestError(Exception):
    """A request can't be answered.

    Attributes:
        status: status of the answer.
        message: text of the error.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@contextmanager
def serving(answer: Callable[..., Any], provider: Provider | None) -> Generator[str]:
    """Serve a script.

    Args:
        answer: the `answer` of the `ScriptedModel`.
        provider: the provider whose form the requests have; None to find the form by their paths.

    Yields:
        The address.

    Raises:
        AssertionError: at the end: a request came that the script had no answer for.
    """
    unanswered: list[AssertionError] = []

    class Handler(_RequestHandler):
        def respond(self) -> tuple[int, str, Iterator[bytes]]:
            return _respond(answer, provider, self.path, self.body(), unanswered)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
    if unanswered:
        raise unanswered[0]


class _RequestHandler(BaseHTTPRequestHandler):
    """Handles one request, and then closes the connection."""

    protocol_version = "HTTP/1.1"
    timeout = _SECONDS

    def respond(self) -> tuple[int, str, Iterator[bytes]]:
        raise NotImplementedError

    def body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or len(length) > len(str(_MOST_BYTES)) or int(length) > _MOST_BYTES:
            raise _RequestError(413, f"a request has a Content-Length of at most {_MOST_BYTES:,} bytes")
        return self.rfile.read(int(length))

    def do_POST(self) -> None:  # http.server looks for this name
        try:
            status, content_type, pieces = self.respond()
        except _RequestError as error:
            status, content_type = error.status, "application/json"
            pieces = iter([to_json_text({"error": {"message": error.message}}).encode()])
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Connection", "close")
        if status >= 400:  # noqa: PLR2004  # an error
            self.send_header("x-should-retry", "false")  # a header that SDKs of OpenAI and Anthropic follow
        self.end_headers()
        try:
            for piece in pieces:
                self.wfile.write(piece)
                self.wfile.flush()
        except ConnectionError:
            pass  # the program has read enough of a stream

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name that http.server gives it
        """Write nothing, because a test has its own output."""


def _respond(
    answer: Callable[..., Any],
    provider: Provider | None,
    path: str,
    body: bytes,
    unanswered: list[AssertionError],
) -> tuple[int, str, Iterator[bytes]]:
    """Return status, content type and the pieces of the answer to a request."""
    address = urlsplit(path)
    form, is_stream = _form_at(unquote(address.path), provider)
    request: Any = read_json(body)
    if not is_object(request):
        raise _RequestError(400, "the body of a request is a JSON object")
    streams = is_stream or request.get("stream", form.streams) is True
    try:
        found = answer(form, provider or form.default, request, is_stream=streams)
    except Exception as error:  # noqa: BLE001  # the script may raise anything
        if isinstance(error, AssertionError):
            unanswered.append(error)
        message = show_error(error, 1000)
        return 400, "application/json", iter([to_json_text(form.error(message)).encode()])
    if is_object(found):
        status = 200 if form.is_answer(found) else 400
        return status, "application/json", iter([to_json_text(found).encode()])
    events: list[Any] = list(found)
    if len(events) == 1 and "error" in events[0]:
        return 400, "application/json", iter([to_json_text(events[0]).encode()])
    if (
        is_stream
        and form.content_type == "text/event-stream"
        and parse_qs(address.query).get("alt") != ["sse"]
    ):
        return 200, "application/json", iter([to_json_text(events).encode()])  # Gemini's list of responses
    return 200, form.content_type, iter([*[form.written(event) for event in events], form.end()])


def _form_at(path: str, provider: Provider | None) -> tuple[ResponseForm, bool]:
    """Return the form of a request, and whether its path asks for a stream.

    Raises:
        _RequestError: nothing is served there.
    """
    forms = list(FORMS.values()) if provider is None else [form_of(provider)]
    for form in forms:
        found = form.paths.search(path)
        if found is not None:
            return form, bool(found.groupdict().get("stream"))
    known = ", ".join([form.default.name for form in forms])
    raise _RequestError(404, f"the script isn't served at {one_line(path, 200)}, but as {known}")
