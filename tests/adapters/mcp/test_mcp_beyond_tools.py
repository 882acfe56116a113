"""The page on what the server doesn't do: its ways around work over HTTP."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import ModuleType

import anyio
import httpx2
import pytest

PAGE = Path(__file__).parents[3] / "docs" / "mcp-beyond-tools.md"
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
HEADERS = {"Accept": "application/json, text/event-stream"}


@pytest.fixture
def page(monkeypatch):
    """What the page defines."""
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)
    for block in re.findall(
        r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    ):
        if not block.startswith(">>>"):
            exec(block, vars(module))  # noqa: S102  # as a reader does
    return module


def post(app, path, *bodies, **headers):
    """Post to an application, one body after another in one session; return the responses."""

    async def main():
        transport = httpx2.ASGITransport(app=app)
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client,
        ):
            found, own = [], {**HEADERS, **headers}
            for body in bodies:
                found.append(await client.post(path, json=body, headers=own))
                own["mcp-protocol-version"] = "2025-11-25"
                own["mcp-session-id"] = found[-1].headers.get("mcp-session-id", own.get("mcp-session-id", ""))
            return found

    return anyio.run(main)


def test_a_wrong_token_is_refused_and_a_right_one_says_who_calls(page):
    tell = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    ask = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "who_am_i"}}
    *_, answer = post(page.web_app, "/mcp", CALL, tell, ask, Authorization="Bearer right")
    (data,) = re.findall(r"^data: (\{.*)$", answer.text, re.MULTILINE)
    assert json.loads(data)["result"]["content"][0]["text"] == "ann"


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}])
def test_without_a_right_token_there_is_no_answer(page, headers):
    (refused,) = post(page.web_app, "/mcp", CALL, **headers)
    assert refused.status_code == 401


def test_a_mounted_server_answers(page):
    (answer,) = post(page.web, "/tools/", CALL)
    assert answer.status_code == 200
    assert '"operator-schema"' in answer.text
