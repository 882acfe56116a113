"""Which lines of a shell make some calls of a server again?"""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any, Final

from .subject import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .sequences import Step
    from .subject import Server


def _request(number: int, method: str, params: Any) -> str:
    return json.dumps(
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}, separators=(",", ":")
    )


_INITIALIZE: Final = {
    "protocolVersion": VERSION,
    "capabilities": {},
    "clientInfo": {"name": "probe", "version": "1"},
}
_INITIALIZED: Final = '{"jsonrpc":"2.0","method":"notifications/initialized"}'


_SHOWN_VARIABLES: Final = frozenset({"PATH", "PYTHONPATH", "NODE_PATH"})
"""Variables with the places of programs and modules, which aren't secret."""

_ASKED: Final = "give its value"


def repeat_lines(server: Server, steps: Sequence[Step]) -> str:
    """Return lines for a shell that make some calls again; empty for tools in this process.

    Values of variables and headers may be secret: the lines take them from variables of the shell that runs
    them, and end with an error if these aren't set.

    Args:
        server: the called server.
        steps: the calls. Values that come from an earlier answer stand there as they were.
    """
    calls = [{"name": step.call.tool, "arguments": step.call.arguments} for step in steps]
    if server.kind == "url":
        return _as_curl(server, calls)
    if server.kind == "objects":
        return ""
    variables = [_variable(*each) for each in server.env.items()]
    env = f"env {' '.join(variables)} " if variables else ""
    if server.kind == "module":
        mark = "." if ":" in server.target else ":"
        given = [] if server.context is None else ["--context", server.context]
        names = [f"{server.target}{mark}{call['name']}" for call in calls]
        texts = [json.dumps(call["arguments"]) for call in calls]
        words = [[*given, name, text] for name, text in zip(names, texts, strict=True)]
        return "\n".join(env + shlex.join(["operator-schema", "call", *each]) for each in words)
    messages = [_request(0, "initialize", _INITIALIZE), _INITIALIZED]
    messages += [_request(number, "tools/call", call) for number, call in enumerate(calls, 1)]
    command = " ".join(map(_word, server.words))
    folder = ['cd "$(mktemp -d)"']
    if server.setup:
        folder.append(f"{env}sh -c {shlex.quote(server.setup)}" if env else server.setup)
    sent = f"(printf '%s\\n' {' '.join(map(shlex.quote, messages))}; sleep 3) | {env}{command}"
    return " && ".join([*folder, sent])


def _word(text: str) -> str:
    """Quote a word for a shell; the folder of the server is the one in which it works."""
    return shlex.quote(text).replace("{folder}", "'\"$PWD\"'")


def _variable(name: str, value: str) -> str:
    if name in _SHOWN_VARIABLES or value.startswith("{folder}"):
        return _word(f"{name}={value}")
    return f"{shlex.quote(f'{name}=')}{_from_shell(name)}"


def _from_shell(name: str) -> str:
    """Return a value that a shell takes from a variable, whose name has only letters, digits and `_`."""
    variable = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f'"${{{"_" if variable[:1].isdigit() else ""}{variable}:?{_ASKED}}}"'


def _as_curl(server: Server, calls: Sequence[dict[str, Any]]) -> str:
    url = server.target
    head = shlex.join(["curl", "-s", "-H", "Content-Type: application/json",
                       "-H", "Accept: application/json, text/event-stream"])  # fmt: skip
    head += "".join([f" -H {shlex.quote(f'{name}: ')}{_from_shell(name.upper())}" for name in server.headers])
    first = shlex.join(["-D", "-", "-o", "/dev/null", "-d", _request(0, "initialize", _INITIALIZE), url])
    session = f"session=$({head} {first} | tr -d '\\r' | sed -n 's/^mcp-session-id: //Ip')"
    own = '-H "Mcp-Session-Id: $session"'
    bodies = [_INITIALIZED, *[_request(number, "tools/call", call) for number, call in enumerate(calls, 1)]]
    return "\n".join([session, *[f"{head} {own} {shlex.join(['-d', body, url])}" for body in bodies]])
