"""What has to be pasted where, so that a client starts or finds a server?"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CLIENTS", "Client", "config_of", "place_of"]

Client = Literal["claude-desktop", "claude-code", "vscode", "cursor"]
CLIENTS: tuple[Client, ...] = get_args(Client)

_PLACES: dict[Client, str] = {
    "claude-desktop": "claude_desktop_config.json (Settings > Developer > Edit Config)",
    "claude-code": ".mcp.json in the folder of your project",
    "vscode": ".vscode/mcp.json in the folder of your project",
    "cursor": ".cursor/mcp.json in the folder of your project, or ~/.cursor/mcp.json",
}

_TOKENS: dict[Client, str] = {
    "claude-code": "${%s}",
    "vscode": "${input:%s}",
    "cursor": "${env:%s}",
}
"""How each writes a secret that isn't in the file itself."""

_PACKAGE = __name__.partition(".cli.")[0]
"""The name of this package, which somebody may have vendored."""


def place_of(client: Client) -> str:
    """Return the name of the file into which the configuration goes."""
    return _PLACES[client]


def config_of(
    client: Client, name: str, words: Sequence[str], *, url: str | None = None, secret: str | None = None
) -> dict[str, Any] | None:
    """Return the configuration as JSON values; it holds no secret.

    Args:
        client: that is to use the server.
        name: that the server has there.
        words: of the command line after `operator-schema`, by which the client starts it.
        url: of a server that runs already; None if the client starts it.
        secret: name of the variable with the bearer token; None if the server wants none.

    Returns:
        None if this client takes no URL from a file.
    """
    entry = _started(words) if url is None else _found(client, url, secret)
    if entry is None:
        return None
    if client == "claude-desktop":
        del entry["type"]
    if client != "vscode":
        return {"mcpServers": {name: entry}}
    if url is None or secret is None:
        return {"servers": {name: entry}}
    asked = {"type": "promptString", "id": secret, "description": f"Bearer token of {name}", "password": True}
    return {"inputs": [asked], "servers": {name: entry}}


def _started(words: Sequence[str]) -> dict[str, Any]:
    # Programs with windows have neither the PATH of a shell nor its folder.
    return {
        "type": "stdio",
        "command": sys.executable,
        "args": ["-m", _PACKAGE, *words],
        "env": {"PYTHONPATH": os.getcwd()},  # noqa: PTH109  # only text
    }


def _found(client: Client, url: str, secret: str | None) -> dict[str, Any] | None:
    if client == "claude-desktop":
        return None
    entry: dict[str, Any] = {"type": "http", "url": url} if client != "cursor" else {"url": url}
    if secret is not None:
        entry["headers"] = {"Authorization": f"Bearer {_TOKENS[client] % secret}"}
    return entry
