"""Talk to a server of this folder in plain JSON-RPC."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from planted import Answer, Call, Fault

FOLDER = Path(__file__).parent
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def messages(calls: Iterable[Call]) -> list[dict[str, Any]]:
    """Return the messages of a session.

    The ids of the calls are their numbers, from 0. A name with a slash is a notification.
    """
    found: list[dict[str, Any]] = [
        {"id": "hello", "method": "initialize", "params": HELLO},
        {"method": "notifications/initialized"},
        {"id": "tools", "method": "tools/list", "params": {}},
    ]
    for number, (name, arguments) in enumerate(calls):
        if "/" in name:
            found.append({"method": name, "params": arguments})
        else:
            found.append(
                {"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
            )
    return [{"jsonrpc": "2.0", **each} for each in found]


def written_by(server: str, faults: Iterable[Fault], sent: list[dict[str, Any]]) -> list[str]:
    """Start a server with faults, send it messages, and return the lines that it writes.

    The server of the SDK gives up its work when its input ends: so the input ends after the last answer.
    """
    command = [sys.executable, FOLDER / f"{server}_server.py"]
    text = "".join(json.dumps(each) + "\n" for each in sent)
    env = {**os.environ, "FAULT": ",".join(each.name for each in faults)}
    if server != "lab":
        done = subprocess.run(command, input=text, capture_output=True, text=True, env=env, check=False)
        return done.stdout.splitlines()
    found: list[str] = []
    waiting = sum("id" in each for each in sent)
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, text=True, env=env) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(text)
        process.stdin.flush()
        for line in process.stdout:
            found.append(line)
            waiting -= line.startswith("{")
            if not waiting:
                break
        process.stdin.close()
    return found


def tools_and_answers(
    server: str, faults: Iterable[Fault], calls: list[Call]
) -> tuple[dict[str, dict[str, Any]], list[Answer]]:
    """Start a server with faults, and send all calls.

    Returns:
        Its tools by name, and the answers to the calls in the same order. An answer gets `times`, how often
        it came, and `noise`, the lines that aren't JSON.
    """
    found: dict[Any, dict[str, Any]] = {}
    noise = []
    for line in written_by(server, faults, messages(calls)):
        try:
            message = json.loads(line)
        except ValueError:
            noise.append(line)
            continue
        times = found.get(message["id"], {}).get("times", 0)
        found[message["id"]] = {**message, "times": times + 1, "noise": noise}
    tools = {each["name"]: each for each in found["tools"]["result"]["tools"]}
    return tools, [found.get(number) for number in range(len(calls))]


def answers_of(server: str, faults: Iterable[Fault], calls: list[Call]) -> list[Answer]:
    """Start a server with faults, send all calls, and return the answers to them in the same order."""
    return tools_and_answers(server, faults, calls)[1]
