"""A client of a page that is served."""

from __future__ import annotations

import http.client
import json

from patience import LONGEST_WAIT


class Client:
    """A client of a page that is served: it has the cookie, unless told otherwise."""

    def __init__(self, address):
        self.address = address
        place, _, query = address.removeprefix("http://").partition("/?")
        self.port = int(place.rpartition(":")[2])
        self.token = query.removeprefix("token=")
        status, headers, _ = self.ask("GET", f"/?token={self.token}", cookie=None)
        assert status == 200
        self.cookie = headers["set-cookie"].partition(";")[0]

    def ask(self, method, path, body=None, *, cookie="own", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LONGEST_WAIT)
        sent = {"Host": f"127.0.0.1:{self.port}"}
        if cookie is not None:
            sent["Cookie"] = self.cookie if cookie == "own" else cookie
        if body is not None:
            sent["Content-Type"] = "application/json"
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, found, answer.read().decode()
        finally:
            connection.close()

    def get(self, path, expected=200):
        status, _, text = self.ask("GET", f"/api/{path}")
        assert status == expected, text
        return json.loads(text)

    def post(self, path, body, expected=200):
        status, _, text = self.ask("POST", f"/api/{path}", json.dumps(body))
        assert status == expected, text
        return json.loads(text)

    def run(self, body):
        status, _, text = self.ask("POST", "/api/run", json.dumps(body))
        assert status == 200, text
        return [json.loads(line) for line in text.split("\n") if line]
