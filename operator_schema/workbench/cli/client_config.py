"""How does an MCP client find a server: what is printed, or added to a file of its configuration?"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...json_values import is_array, is_object
from ...message_text import escape
from .. import PACKAGE
from .arguments import factory_of, server_name, written_options
from .lookup import ObjectName, in_full
from .module_loading import WrongUse, check_is_there
from .text_files import json_in, replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import click

    from .arguments import Client
    from .output import Printer


class _KnownClient(NamedTuple):
    """A client, as far as it matters for its configuration.

    Attributes:
        place: the destination of the configuration, in words.
        file: the file of a project that the client reads, relative to the project's folder; empty if none.
        instead: how to add a server without such a file.
        variable: the client's syntax for a secret that isn't in the configuration itself.
    """

    place: str
    file: str = ""
    instead: str = ""
    variable: str = ""


_CLIENTS: Final[dict[Client, _KnownClient]] = {
    "claude-desktop": _KnownClient(
        "claude_desktop_config.json (Settings > Developer > Edit Config)",
        instead="it has one file for all projects, which you change in its settings",
    ),
    "claude-code": _KnownClient(".mcp.json in the folder of your project", ".mcp.json", variable="${%s}"),
    "claude-mcp-add": _KnownClient(
        "a shell in the folder of your project",
        instead="run what is printed, or give --print-config claude-code --write",
        variable="${%s}",
    ),
    "vscode": _KnownClient(
        ".vscode/mcp.json in the folder of your project", ".vscode/mcp.json", variable="${input:%s}"
    ),
    "cursor": _KnownClient(
        ".cursor/mcp.json in the folder of your project, or ~/.cursor/mcp.json",
        ".cursor/mcp.json",
        variable="${env:%s}",
    ),
    "codex": _KnownClient("a shell", instead="run what is printed"),
}
"""All clients.

Source: https://code.claude.com/docs/en/mcp,
https://code.visualstudio.com/docs/copilot/reference/mcp-configuration,
https://cursor.com/docs/mcp, https://developers.openai.com/codex/mcp
"""

_IS_WINDOWS: Final = os.name == "nt"
_MAX_FILE: Final = 10_000_000


def print_config(outputs: tuple[Printer, Printer], ctx: click.Context) -> int:
    """Print the configuration by which a client finds the server of a command line, or write it into a file.

    Args:
        outputs: standard output and standard error.
        ctx: the context of the command `serve`.

    Raises:
        WrongUse: this client can't find the server in that way, or the file can't be changed.
    """
    given, target = ctx.params, ctx.params["target"]
    if target is not None and not given["http"]:  # a URL may be that of another machine
        check_is_there(target.module)
    client: Client = given["client"]
    name = server_name(target, given)
    url = secret = None
    if given["http"]:
        host = next(iter(given["allow_host"]), given["host"])
        url = f"http://{host}{'' if given['allow_host'] else ':' + str(given['port'])}/mcp"
        secret = given["token_env"] or ("MCP_TOKEN" if given["token_file"] else None)
    config = config_of(client, name, _serving_words(ctx, target), url=url, secret=secret)
    if config is None:
        message = f"{client} takes no URL from a file: leave out --http, or add {url} under its connectors"
        raise WrongUse(message)
    if given["write"]:
        _check_not_its_own(_project_file(client), given["gateway"])
        return _write_config(outputs, client, config, force=given["force"])
    if client in _COMMANDS:
        outputs[0].text(command_of(client, config))
    else:
        outputs[0].json(config, 2)
    outputs[0].flush()
    outputs[1].line(f"for {_CLIENTS[client].place}", "dim")
    return 0


def _check_not_its_own(file: str, servers: str | None) -> None:
    """Check that a gateway isn't added to the list of the servers that it combines.

    Raises:
        WrongUse: the gateway would be in its own list.
    """
    if servers is None or os.path.realpath(file) != os.path.realpath(servers):
        return
    message = (
        f"{escape(file)} names the servers of this gateway, which would start itself: move these to another "
        "file, such as servers.json, and give that to --gateway"
    )
    raise WrongUse(message)


def _write_config(
    outputs: tuple[Printer, Printer], client: Client, config: Mapping[str, Any], *, force: bool
) -> int:
    """Add the server to the file of the project in the current folder, and show what changes."""
    file = _project_file(client)
    before = _read_file(file)
    after = merged(file, before, config, force=force)
    if after == before:
        outputs[1].line(f"{file} has it already", "dim")
        return 0
    try:
        Path(file).parent.mkdir(exist_ok=True)
    except OSError as error:
        message = f"can't make the folder of {file}: {error.strerror}"
        raise WrongUse(message) from None
    replace_file(file, after)
    outputs[0].changes(before, after)
    outputs[0].flush()
    outputs[1].line(f"{file} is written", "dim")
    return 0


def _serving_words(ctx: click.Context, target: ObjectName | None) -> list[str]:
    """Return the command line that starts the same server, without options that print a configuration."""
    words = ["serve"]
    for option in written_options(ctx):
        if option.name in {"client", "write", "force", "show_traceback"}:
            continue
        value = ctx.params[option.name or ""]
        for one in value if option.multiple else [value]:
            text = in_full(one) if isinstance(one, ObjectName) else str(one)
            if not option.is_flag:
                words += [option.opts[0], text]
            else:
                words += option.opts[:1] if one else option.secondary_opts[:1]
    words += [] if target is None else [in_full(target)]
    factory = factory_of(ctx)
    return words if factory is None else [*words, *factory.written(factory.given(ctx))]


# --- the configuration ---------------------------------------------------------------------------


def _project_file(client: Client) -> str:
    """Return the file of a project that a client reads, relative to the project's folder.

    Raises:
        WrongUse: the client reads no such file.
    """
    found = _CLIENTS[client]
    if found.file:
        return found.file
    message = f"--write writes a project's file, and {client} reads none: {found.instead}"
    raise WrongUse(message)


def config_of(
    client: Client, name: str, words: Sequence[str], *, url: str | None = None, secret: str | None = None
) -> dict[str, Any] | None:
    """Return the configuration as JSON values; it contains no secret.

    Args:
        client: the client that is to use the server.
        name: the name of the server there.
        words: the words after `operator-schema` in the command line that starts it.
        url: the URL of a running server; None if the client starts the server.
        secret: the name of the variable with the bearer token; None if the server needs none.

    Returns:
        None if this client reads no URL from a file.
    """
    entry = _entry_of_command(words) if url is None else _entry_of_url(client, url, secret)
    if entry is None:
        return None
    if client in {"claude-desktop", "codex"}:
        entry.pop("type", None)
    if client != "vscode":
        return {"mcpServers": {name: entry}}
    if url is None or secret is None:
        return {"servers": {name: entry}}
    asked = {"type": "promptString", "id": secret, "description": f"Bearer token of {name}", "password": True}
    return {"inputs": [asked], "servers": {name: entry}}


def _entry_of_command(words: Sequence[str]) -> dict[str, Any]:
    # Programs with windows have neither the PATH nor the folder of a shell.
    return {
        "type": "stdio",
        "command": sys.executable,
        "args": ["-m", PACKAGE, *words],
        "env": {"PYTHONPATH": os.getcwd()},
    }


def _entry_of_url(client: Client, url: str, secret: str | None) -> dict[str, Any] | None:
    if client == "claude-desktop":
        return None
    entry: dict[str, Any] = {"url": url} if client in {"cursor", "codex"} else {"type": "http", "url": url}
    if secret is not None and client == "codex":
        entry["bearer_token_env_var"] = secret
    elif secret is not None:
        entry["headers"] = {"Authorization": f"Bearer {_CLIENTS[client].variable % secret}"}
    return entry


def command_of(client: Client, config: Mapping[str, Any]) -> str:
    """Write the command that adds the server, for a shell.

    Args:
        client: a client that has such a command.
        config: the return value of `config_of`.
    """
    ((name, entry),) = config["mcpServers"].items()
    words = _COMMANDS[client](name, entry)
    return f"{subprocess.list2cmdline(words) if _IS_WINDOWS else shlex.join(words)}\n"


def _claude_mcp_add(name: str, entry: Mapping[str, Any]) -> list[str]:
    # The options --env and --header take any number of values, so they must come after the name.
    if "url" not in entry:
        return ["claude", "mcp", "add", name, *_command_words(entry)]
    headers = [word for pair in entry.get("headers", {}).items() for word in ("--header", ": ".join(pair))]
    return ["claude", "mcp", "add", "--transport", "http", name, entry["url"], *headers]


def _codex_mcp_add(name: str, entry: Mapping[str, Any]) -> list[str]:
    if "url" not in entry:
        return ["codex", "mcp", "add", name, *_command_words(entry)]
    secret = entry.get("bearer_token_env_var")
    token = [] if secret is None else ["--bearer-token-env-var", secret]
    return ["codex", "mcp", "add", name, "--url", entry["url"], *token]


def _command_words(entry: Mapping[str, Any]) -> list[str]:
    variables = [word for pair in entry["env"].items() for word in ("--env", "=".join(pair))]
    return [*variables, "--", entry["command"], *entry["args"]]


_COMMANDS: Final[dict[Client, Callable[[str, Mapping[str, Any]], list[str]]]] = {
    "claude-mcp-add": _claude_mcp_add,
    "codex": _codex_mcp_add,
}
"""The words of the command by which a client adds a server."""


def _read_file(file: str) -> str:
    """Read an existing configuration; return an empty text if there is none.

    Raises:
        WrongUse: the file can't be read, or isn't text.
    """
    path = Path(file)
    try:
        if not path.exists():
            return ""
        if path.stat().st_size > _MAX_FILE:
            message = f"{escape(file)} is too large for a configuration: {path.stat().st_size:,} bytes"
            raise WrongUse(message)
        return path.read_bytes().decode()
    except OSError as error:
        message = f"can't read {escape(file)}: {error.strerror}"
        raise WrongUse(message) from None
    except UnicodeDecodeError:
        message = f"{escape(file)} isn't UTF-8, so it wasn't changed"
        raise WrongUse(message) from None


# --- adding a server to a file -------------------------------------------------------------------


def merged(file: str, text: str, config: Mapping[str, Any], *, force: bool) -> str:
    """Return the text of a file after adding a server; everything else is unchanged.

    Args:
        file: the name of the file, for messages.
        text: the content of the file; empty if it doesn't exist.
        config: the return value of `config_of`.
        force: whether to replace a server with the same name.

    Raises:
        WrongUse: the text isn't JSON, has another value in place of the servers, or has another server with
            this name.
    """
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    text = text.removeprefix(mark)
    if not text.strip():
        return f"{mark}{json.dumps(config, indent=2, ensure_ascii=False)}\n"
    for key, members in config.items():
        named = members if is_object(members) else {one["id"]: one for one in members}
        for name, member in named.items():
            known = _known_in(file, text, key, is_object(members))
            at = next((at for at, (found, _) in enumerate(known) if found == name), None)
            if at is not None and known[at][1] == member:
                continue
            if at is not None and not force:
                message = (
                    f"{escape(file)} has another {escape(name)!r} already: give --force to replace it, or "
                    "another --name"
                )
                raise WrongUse(message)
            text = _with_member(text, key, name if is_object(members) else None, at, member)
    return mark + text


def _known_in(file: str, text: str, key: str, are_named: bool) -> list[tuple[Any, Any]]:  # noqa: FBT001  # one of two forms
    """Return the present members of a key of a configuration, each with its name or its id.

    Raises:
        WrongUse: the text isn't a JSON object, or its key has another value.
    """
    try:
        document = json_in(text, file)
    except WrongUse as error:
        remedy = "Correct it (comments aren't JSON), or paste what --print-config prints without --write"
        message = f"{error}; it wasn't changed. {remedy}"
        raise WrongUse(message) from None
    if not is_object(document):
        message = f"{escape(file)} isn't a JSON object, so it wasn't changed"
        raise WrongUse(message)
    known = document.get(key, {} if are_named else [])
    if are_named and is_object(known):
        return list(known.items())
    if not are_named and is_array(known):
        return [(one.get("id") if is_object(one) else None, one) for one in known]
    expected = "an object" if are_named else "an array"
    message = f"{escape(file)} isn't a configuration of this client: its {key!r} must be {expected}"
    raise WrongUse(message)


def _with_member(text: str, key: str, name: str | None, at: int | None, member: Any) -> str:
    """Write a member into the object or array of a key: replace the one at a position, or add it at the end.

    Args:
        text: the text of a JSON object.
        key: the key of the object or array, which is added if it is missing.
        name: the key of the member; None in an array.
        at: the position of the member to replace; None to add one.
        member: the JSON value.
    """
    start = _after_space(text, 0)
    outer = {found: place for found, *place in _members(text, start)}
    if key not in outer:
        return _inserted(text, start, 1, key, {name: member} if name is not None else [member])
    inner = outer[key][0]
    if at is None:
        return _inserted(text, inner, 2, name, member)
    _, first, last = _members(text, inner)[at]
    return text[:first] + _indented(text, 2, member) + text[last:]


def _members(text: str, start: int) -> list[tuple[str | None, int, int]]:
    """List the members of an object or array of valid JSON: key, start and end of the value."""
    decoder, found = json.JSONDecoder(), list[tuple[str | None, int, int]]()
    at, has_keys = _after_space(text, start + 1), text[start] == "{"
    while text[at] not in "}]":
        key = None
        if has_keys:
            key, at = decoder.raw_decode(text, at)
            at = _after_space(text, _after_space(text, at) + 1)
        _, end = decoder.raw_decode(text, at)
        found.append((key, at, end))
        at = _after_space(text, end)
        if text[at] == ",":
            at = _after_space(text, at + 1)
    return found


def _inserted(text: str, start: int, depth: int, key: str | None, value: Any) -> str:
    """Write a member after the last one of an object or array."""
    newline, indent = _layout(text)
    before = f"{newline}{indent * depth}"
    name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    member = f"{before}{name}{_indented(text, depth, value)}"
    known = _members(text, start)
    if known:
        end = known[-1][2]
        return f"{text[:end]},{member}{text[end:]}"
    end = _after_space(text, start + 1)
    return f"{text[: start + 1]}{member}{newline}{indent * (depth - 1)}{text[end:]}"


def _indented(text: str, depth: int, value: Any) -> str:
    newline, indent = _layout(text)
    lines = json.dumps(value, indent=indent, ensure_ascii=False).split("\n")
    return f"{newline}{indent * depth}".join(lines)


def _layout(text: str) -> tuple[str, str]:
    """Return the line ends and the indentation of a file."""
    indented = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return "\r\n" if "\r\n" in text else "\n", indented[1] if indented else "  "


_SPACE = re.compile(r"[ \t\r\n]*")


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()
