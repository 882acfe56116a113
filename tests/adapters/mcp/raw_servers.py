"""Servers in this process that answer with whatever text they are given."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager

import anyio
from mcp import types
from mcp.shared.message import SessionMessage

MODERN = "2026-07-28"
CACHED = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


def answer_to(message, result, *, key="result"):
    """Return the text of the answer to a request."""
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], key: result})


def raw(answers, *, mode="legacy"):
    """Return a source for `Gateway` and `Client`: a server that answers by texts, as over standard output.

    Args:
        answers: method to a function of the request that returns the text of the answer, or several.
        mode: the generation that the server speaks.
    """

    @asynccontextmanager
    async def connect():
        to_client, read = anyio.create_memory_object_stream(1000)
        async with to_client:
            yield read, _Writer(to_client, {**first(mode), **answers})

    return connect


def first(mode):
    """Return what answers the first request of a client, by its method."""
    if mode == MODERN:
        found = {**CACHED, "supportedVersions": [MODERN], "capabilities": {"tools": {}}}
        return {"server/discover": lambda message: answer_to(message, found)}
    return {
        "initialize": lambda message: answer_to(
            message,
            {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "raw", "version": "1"},
            },
        )
    }


class _Writer:
    """What a client writes."""

    def __init__(self, back, answers):
        self.back, self.answers = back, answers

    async def send(self, item):
        message = item.message.model_dump(by_alias=True, mode="json", exclude_none=True)
        if "id" not in message or "method" not in message:
            return
        answer = self.answers.get(message["method"])
        unknown = {"code": types.METHOD_NOT_FOUND, "message": "Method not found"}
        found = answer_to(message, unknown, key="error") if answer is None else answer(message)
        for line in [found] if isinstance(found, str) else found:
            await self.back.send(_parsed(line))

    async def aclose(self):
        self.back.close()

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self.back.close()


def _parsed(line):
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:  # as the SDK's transport hands it on
        return error
