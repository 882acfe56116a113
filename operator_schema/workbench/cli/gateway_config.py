"""What does the file of `serve --gateway` say about each MCP server?"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any
from unicodedata import category, normalize

from ...immutable import Value
from ...json_values import is_array, is_object, type_of
from ...message_text import clip, escape, quote, received, show_path
from ...similar_names import fold, nearest
from .module_loading import WrongUse
from .text_files import json_in, read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_MOST_SERVERS = 100
_MOST_SHOWN = 300
_EXAMPLE = '{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}'
_VARIABLE = re.compile(r"\$\{(?:(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\})?")
_RESTRICTING = ("confirm", "only", "seconds", "disabled")
"""Keys of a server that restrict it: beside the servers, or misspelt, they would have no effect."""

_KEYS = (*_RESTRICTING, "command", "args", "env", "cwd", "url", "headers", "type")
"""Keys of a server that are used."""

_LISTS = ("mcpServers", "servers")
"""Keys of the file for its servers, in the spelling of most clients and of VS Code."""

_OF_CLIENTS = (
    "name displayName label title description version icon icons note notes comment comments tags category "
    "author homepage repository documentation docs config configuration settings metadata transport "
    "transportType protocol gallery source registry id key timeout timeouts startupTimeout startupTimeoutSec "
    "startupTimeoutMs toolTimeoutSec initTimeout requestTimeout connectTimeout readTimeout retry retries "
    "maxRetries reconnect autoApprove autoApproval autoApproveTools approveAll alwaysApprove autoAllow "
    "alwaysAllow allowAll alwaysAllowTools trust trusted envFile dev watchPaths debug log logLevel "
    "oauth auth authorization authProviderType bearerTokenEnvVar scopes clientId instructions required "
    "priority autoStart autoConnect scope inputs schema meta bundled fromGalleryId iconPath targetAudience "
    "keepAlive encoding alwaysLoad"
)
"""Keys of a server that clients read, and that restrict nothing: they are ignored."""

_IGNORED = frozenset(map(fold, _OF_CLIENTS.split()))
_EMPTY: tuple[object, ...] = (None, "", [], {})
"""Values with which an unknown key asks for nothing."""

_RESTRICTIONS = '"only" and "confirm" restrict its tools, and "disabled": true leaves it out'

_LIKENESS, _LIKENESS_OF_SHORT, _SHORT = 0.8, 0.75, 5
"""The minimum similarity of a misspelt key; that of a key with few letters; and how many these are."""

_MOST_SECONDS = 86_400
_FORMS = {
    "confirm": "true, false or a list of names of tools",
    "only": "a list of names of tools",
    "seconds": f"a number above 0 and at most {_MOST_SECONDS:,}",
}
_KINDS = {
    "string": "a text",
    "integer": "a number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "array": "a list",
    "object": "an object",
}
"""The words of messages for a value in the file, by its JSON type."""


class GatewayServer(Value):
    """A server in the file.

    Attributes:
        name: the name of the server in the file.
        start: command, arguments, additional environment variables, and working directory, as for
            `StdioServerParameters`; None for a server with a URL.
        url: the URL; None for a server that is started.
        headers: the headers of requests to the URL.
        only: the names of its tools that are offered; None for all.
        confirm: whether a person has to agree to calls of all its tools; or the names of such tools.
        seconds: the time limit for connecting and for answers, except those of calls; None for the usual
            limit.
        filled: the values of the variables in its entry, by their names.
        written: the command as it is written in the file; empty for a server with a URL.
    """

    name: str
    start: Mapping[str, Any] | None
    url: str | None
    headers: Mapping[str, str]
    only: tuple[str, ...] | None
    confirm: bool | tuple[str, ...]
    seconds: float | None
    filled: Mapping[str, str]
    written: str

    @property
    def prefix(self) -> str:
        """The prefix of the names of its tools."""
        return f"{re.sub(r'[^A-Za-z0-9_-]', '_', self.name)}_"


# --- the file --------------------------------------------------------------------------------------


def servers_in(file: str, note: Callable[[str], object] = str) -> list[GatewayServer]:
    """Return the servers in a file that has the form of MCP clients' configuration.

    The file is JSON with `mcpServers` (or `servers`, as in VS Code): names with `command`, `args`, `env` and
    `cwd`, or with `url` and `headers`. `${NAME}` stands for a variable of the environment. Our own keys are
    `only`, a list of names, `confirm`: true, or such a list, and `seconds`, a time limit. A server with an
    unknown key is refused, since the key may be meant to restrict it.

    Args:
        file: the name of the file.
        note: a function that gets a line about the ignored keys of each server, and of the file.

    Raises:
        WrongUse: the file can't be read, or an entry has an unknown key, no command and no URL, or a value of
            a wrong type.
    """
    found = json_in(read_text(file), file)
    given = found if is_object(found) else {}
    if "mcpServers" in given and "servers" in given:
        message = f'{escape(file)} has "mcpServers" and "servers": put all servers into one of them'
        raise WrongUse(message)
    _check_beside(file, given, note)
    servers = given.get("mcpServers", given.get("servers"))
    if not is_object(servers) or not servers:
        message = f"{escape(file)} names no servers: it must be JSON such as {_EXAMPLE}"
        raise WrongUse(message)
    if len(servers) > _MOST_SERVERS:
        message = f"{escape(file)} must name at most {_MOST_SERVERS} servers, not {len(servers)}"
        raise WrongUse(message)
    if "" in servers:
        message = f"{escape(file)}: a server needs a name that isn't empty"
        raise WrongUse(message)
    made = [_ServerEntry(file, name, entry).server(note) for name, entry in servers.items()]
    behind = [one for one in made if one is not None]
    by_prefix: dict[str, str] = {}
    for one in behind:
        other = by_prefix.setdefault(one.prefix, one.name)
        if other != one.name:
            both = f"{quote(other)} and {quote(one.name)}"
            message = (
                f"{escape(file)}: the tools of {both} would begin with the same {one.prefix}: give one "
                "of these servers another name"
            )
            raise WrongUse(message)
    if not behind:
        message = f"all servers of {escape(file)} are disabled: enable one of them"
        raise WrongUse(message)
    return behind


def _check_beside(file: str, given: Mapping[str, Any], note: Callable[[str], object]) -> None:
    """Check the keys beside the servers, which may be all settings of a client, and note the ignored ones.

    Raises:
        WrongUse: a key is probably a misspelt `mcpServers`, belongs into a server, or leaves servers out.
    """
    ignored: list[str] = []
    for key, value in given.items():
        meant = None if key in _LISTS else _near(key, (*_LISTS, *_RESTRICTING))
        place = f"{escape(file)} has {quote(key)}"
        if meant in _LISTS:
            message = f"{place}: did you mean {meant}?"
            raise WrongUse(message)
        if meant is not None:
            message = f"{place} beside its servers: {meant} must be in a server"
            raise WrongUse(message)
        folded = _folded(key)
        if "approv" in folded or "confirm" in folded:
            message = f"{place} beside its servers: confirm must be in a server"
            raise WrongUse(message)
        if value and "disabl" in folded and ("server" in folded or "mcp" in folded):
            remedy = 'write "disabled": true in a server to leave it out'
            message = f"{place} beside its servers, which does nothing here: {remedy}"
            raise WrongUse(message)
        if value and key not in _LISTS:
            ignored.append(quote(key))
    if ignored:
        keys = clip(", ".join(ignored), _MOST_SHOWN)
        note(f"{escape(file)} has keys beside its servers that the gateway ignores: {keys}")


def _folded(key: str) -> str:
    """Return a form of a key that ignores case, width, and everything except letters and digits."""
    return "".join(filter(str.isalnum, fold(normalize("NFKC", key))))


def _near(key: str, keys: Iterable[str]) -> str | None:
    """Return the key that is probably meant by another spelling; None if there is none."""
    folded = _folded(key)
    return nearest(folded, keys, _LIKENESS if len(folded) > _SHORT else _LIKENESS_OF_SHORT)


class _ServerEntry:
    """One entry of the file."""

    def __init__(self, file: str, name: str, entry: Any) -> None:
        self._place = f"{escape(file)}: the server {quote(name)}"
        self._name = name
        if not is_object(entry):
            what = f'must be an object with a "command" or a "url", not {received(entry)}'
            raise self._wrong(what)
        self._entry: Mapping[str, Any] = entry
        self._variables: dict[str, str] = {}

    def server(self, note: Callable[[str], object] = str) -> GatewayServer | None:
        """Return the server; None if it is disabled.

        Args:
            note: a function that gets a line about ignored keys.

        Raises:
            WrongUse: the entry has a fault.
        """
        entry = self._entry
        self._check_keys()
        if entry.get("disabled") is True:
            return None
        ignored = ", ".join([quote(key) for key in entry if key not in _KEYS])
        if ignored:
            note(f"{self._place} has keys that the gateway ignores: {clip(ignored, _MOST_SHOWN)}")
        command, url = self._text("command"), self._text("url")
        if (command is None) == (url is None):
            both = "" if command is None else ", not both"
            what = f'must have a "command" that starts it, or a "url"{both}'
            raise self._wrong(what)
        if entry.get("type") == "sse":
            what = "speaks SSE, which has been replaced: give the URL of its streamable HTTP"
            raise self._wrong(what)
        start = None
        if command is not None:
            start = {
                "command": command,
                "args": [self._with_variables(one) for one in self._texts("args") or ()],
                "env": self._texts_by_name("env"),
                "cwd": self._text("cwd"),
            }
        confirm = entry.get("confirm", False)
        asked = confirm if isinstance(confirm, bool) else (self._texts("confirm", _FORMS["confirm"]) or ())
        headers, only = self._texts_by_name("headers"), self._texts("only", _FORMS["only"])
        written = "" if command is None else entry["command"]
        seconds = self._seconds()
        return GatewayServer(
            self._name, start, url, headers, only, asked, seconds, dict(self._variables), written
        )

    def _check_keys(self) -> None:
        """Check that no misspelt or unknown key leaves tools without the intended protection."""
        for key, value in self._entry.items():
            if key in _KEYS or _folded(key) in _IGNORED:
                continue
            near = _near(key, _KEYS)
            if near is not None:
                what = f"has {quote(key)}: did you mean {near}?"
                raise self._wrong(what)
            if value not in _EMPTY:
                what = f"has {quote(key)}, which the gateway doesn't know: {_RESTRICTIONS}"
                raise self._wrong(what)
        for key, form in _FORMS.items():
            if self._entry.get(key, ()) is None:
                raise self._must_be(key, f"{form}, or left out", None)
        if not isinstance(self._entry.get("disabled", False), (bool, type(None))):
            key = "disabled"
            raise self._must_be(key, "true or false", self._entry[key])

    def _wrong(self, what: str) -> WrongUse:
        return WrongUse(f"{self._place} {what}")

    def _must_be(self, key: str, form: str, value: Any) -> WrongUse:
        """Return the error for a part with a wrong form, with the type of its value, which may be secret."""
        given = "an empty text" if value == "" else _KINDS.get(type_of(value) or "", "something else")
        return WrongUse(f"{self._place}: {key} must be {form}, not {given}")

    def _text(self, key: str) -> str | None:
        value = self._entry.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or not value:
            raise self._must_be(key, "a text", value)
        filled = self._with_variables(value)
        if not filled:
            raise self._must_be(key, "a text", filled)
        return filled

    def _texts(self, key: str, form: str = "a list of texts") -> tuple[str, ...] | None:
        value = self._entry.get(key)
        if value is None:
            return None
        if not is_array(value):
            raise self._must_be(key, form, value)
        for index, one in enumerate(value):
            if not isinstance(one, str):
                raise self._must_be(show_path([key, index]), "a text", one)
        return tuple(value)

    def _seconds(self) -> float | None:
        key, value = "seconds", self._entry.get("seconds")
        if value is None:
            return None
        if type_of(value) not in {"integer", "number"}:
            raise self._must_be(key, _FORMS[key], value)
        if not 0 < value <= _MOST_SECONDS:
            message = f"{self._place}: {key} must be {_FORMS[key]}, not {received(value)}"
            raise WrongUse(message)
        return float(value)

    def _texts_by_name(self, key: str) -> dict[str, str]:
        value = self._entry.get(key, {})
        if not is_object(value):
            raise self._must_be(key, "an object of texts", value)
        for name, one in value.items():
            if not isinstance(one, str):
                raise self._must_be(show_path([key, name]), "a text", one)
        return {name: self._with_variables(one) for name, one in value.items()}

    def _with_variables(self, text: str) -> str:
        return _VARIABLE.sub(self._variable, text)

    def _variable(self, found: re.Match[str]) -> str:
        name: str | None = found[1]
        if name is None:  # the value there isn't shown: a default may be a secret
            what = "a ${ must begin ${NAME} or ${env:NAME}; defaults and inputs of a client aren't supported"
            message = f"{self._place}: {what}"
            raise WrongUse(message)
        value = os.environ.get(name)
        if value is None:
            what = f"needs the variable {name}, which isn't set"
            raise self._wrong(what)
        if any(category(one) in {"Cc", "Cs"} for one in value):
            what = (
                f"needs the variable {name}, whose value must have no control character, such as a line break"
            )
            raise self._wrong(what)
        self._variables[name] = value
        return value
