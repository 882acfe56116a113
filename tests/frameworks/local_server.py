"""A server on this machine that answers as a provider's would."""

from __future__ import annotations

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@contextmanager
def serving(*answers):
    """Give the answers one after another.

    Args:
        answers: JSON values; text is a stream of server-sent events.

    Yields:
        The address, and the list of the requests that have come.
    """
    left, requests = list(answers), []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):  # http.server looks for this name
            requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            answer = left.pop(0)
            is_stream = isinstance(answer, str)
            body = (answer if is_stream else json.dumps(answer)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream" if is_stream else "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", requests
        finally:
            server.shutdown()
            thread.join()
