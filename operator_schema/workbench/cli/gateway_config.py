"""The MCP servers of `serve --gateway`: read them from a file, and connect to them."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from shlex import split
from shutil import which
from typing import TYPE_CHECKING, Any, cast
from unicodedata import category, normalize
from urllib.parse import quote as url_quote

from ...errors import ToolError
from ...immutable import Value
from ...json_values import is_array, is_object, type_of
from ...message_text import clip, escape, quote, received, show_path
from ...similar_names import fold, nearest
from .arguments import json_in, read_text
from .module_loading import WrongUse

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Iterable
    from ssl import SSLContext

    from ...adapters.mcp.gateway import Gateway
    from ...adapters.mcp_connection import Source
    from .output import Printer

_MOST_SERVERS = 100
_MOST_SHOWN = 300
_EXAMPLE = '{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}'
_VARIABLE = re.compile(r"\$\{(?:(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\})?")
_PROTECTING = ("confirm", "only", "seconds", "disabled")
"""Keys of a server that restrict its tools: in a wrong place, or misspelt, they would have no effect."""

_KEYS = (*_PROTECTING, "command", "args", "env", "cwd", "url", "headers", "type")
"""Keys of a server that are used."""

_LISTS = ("mcpServers", "servers")
"""Keys of the file for its servers, in the spelling of most clients and of VS Code."""

_LIKENESS = 0.8
_SHORTEST_LIKE = 5
"""The minimum similarity of keys that differ by more than one letter, and their minimum length."""

_OTHER_WORDS = {
    "sandbox": "sandbox sandboxed sandboxEnabled isolated",
    "disabled": "enable enabled disable active isActive isEnabled isDisabled paused pause isPaused off skip "
    "skipped stopped status suspended inactive isInactive deactivated offline visible isVisible",
    "confirm": "approve approval approvals approvalMode requireApproval requiresApproval needsApproval "
    "manualApproval ask askUser alwaysAsk askFirst askBefore askBeforeUse permission permissions consent "
    "requireUserConsent humanInTheLoop hitl prompt promptUser",
    "only": "tools tool toolNames include includes included includeTools includedTools allow allows allowed "
    "allowTools allowedTools allowList enabledTools exposeTools toolFilter whitelist filter exclude excludes "
    "excluded excludeTools excludedTools disabledTools disableTools deny denied denyList deniedTools block "
    "blocked blockTools blockedTools blocklist blacklist hide hidden hideTools hiddenTools readOnly "
    "forbid forbidden forbiddenTools expose exposed exposedTools restrict restricted visibleTools",
    "url": "uri httpUrl serverUrl endpoint baseUrl",
    "headers": "httpHeaders requestHeaders",
    "command": "cmd program executable",
    "args": "arguments argv params",
    "env": "environment envVars environmentVariables",
    "cwd": "workingDirectory workingDir workdir dir directory folder",
}
"""Words of other programs for something that the gateway does with its own keys."""

_BEYOND = "sandbox"
"""Restrictions that the gateway doesn't support, for keys of `_OTHER_WORDS`."""

_IGNORED = (
    "name title description version icon icons note notes comment comments tags category author homepage "
    "repository documentation docs config configuration settings metadata transport transportType protocol "
    "gallery source registry id key timeout timeouts startupTimeout startupTimeoutSec startupTimeoutMs "
    "toolTimeoutSec initTimeout requestTimeout connectTimeout readTimeout retry retries maxRetries reconnect "
    "autoApprove autoApproval autoApproveTools approveAll alwaysApprove autoAllow alwaysAllow allowAll "
    "alwaysAllowTools trust trusted envFile dev debug "
    "log logLevel oauth auth authorization authProviderType bearerTokenEnvVar scopes clientId instructions "
    "required priority autoStart autoConnect scope inputs"
)
"""Keys of other programs that have no meaning for the gateway, and restrict nothing."""

_WORDS = {
    **dict.fromkeys(map(fold, _IGNORED.split()), ""),
    **{fold(word): ours for ours, words in _OTHER_WORDS.items() for word in words.split()},
}
"""For keys of other programs, in the form of `fold`: the key with the same meaning here; empty for none."""

_STEMS = {
    "confirm": "confirm",
    "approv": "confirm",
    "consent": "confirm",
    "permission": "confirm",
    "askbefore": "confirm",
    "only": "only",
    "allowlist": "only",
    "forbid": "only",
    "restrict": "only",
    "disabl": "disabled",
    "paus": "disabled",
}
"""Parts of keys by which other programs restrict tools, in the form of `fold`, with the key here."""

_OF_SERVER = {**{word: word for word in _WORDS}, **{fold(key): key for key in _KEYS}}
_OF_FILE = {fold(key): key for key in (*_LISTS, *_PROTECTING)}
"""Keys that a misspelt key of a server, or beside the servers, may stand for, in the form of `fold`."""

_LONGEST_KEY = 64

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

_SHORTEST_HIDDEN = 4
"""The shortest value that messages hide: shorter values aren't secrets, and occur in many words."""


class Behind(Value):
    """A server behind the gateway.

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


def servers_in(file: str, note: Callable[[str], object] = str) -> list[Behind]:
    """Return the servers in a file that has the form of MCP clients' configuration.

    The file is JSON with `mcpServers` (or `servers`, as in VS Code): names with `command`, `args`, `env` and
    `cwd`, or with `url` and `headers`. `${NAME}` stands for a variable of the environment. Our own keys are
    `only`, a list of names, `confirm`: true, or such a list, and `seconds`, a time limit. A key that is
    similar to one of these is refused, and so is a key by which another program restricts tools.

    Args:
        file: the name of the file.
        note: a function that gets a line about each server with ignored keys, and about keys beside the
            servers that restrict tools in other programs.

    Raises:
        WrongUse: the file can't be read, or an entry has no command and no URL, or a value of a wrong type.
    """
    found = json_in(read_text(file), file)
    given = found if is_object(found) else {}
    if "mcpServers" in given and "servers" in given:
        message = f'{escape(file)} has "mcpServers" and "servers": put all servers into one of them'
        raise WrongUse(message)
    for key in given:
        _check_beside(file, key)
    _check_left_out(file, given, note)
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


def _check_beside(file: str, key: str) -> None:
    """Check a key of the file itself, which may contain all settings of a client.

    Raises:
        WrongUse: the key is probably meant to be the key of the servers, or a key of one server.
    """
    meant = _meant(key, _OF_FILE)
    if key in _LISTS or meant is None:
        return
    place = f"{escape(file)} has {quote(key)}"
    if meant in _LISTS:
        message = f"{place}: did you mean {meant}?"
        raise WrongUse(message)
    message = f"{place} beside its servers: {meant} must be in a server"
    raise WrongUse(message)


def _check_left_out(file: str, given: Mapping[str, Any], note: Callable[[str], object]) -> None:
    """Check that no key beside the servers excludes some of them; note keys that restrict tools.

    Raises:
        WrongUse: another program wouldn't start all of these servers.
    """
    held = [key for key, value in given.items() if value and key not in _LISTS and _holds_back(key)]
    for key in held:
        folded = _folded(key)
        if "disabl" in folded and ("server" in folded or "mcp" in folded):
            remedy = 'write "disabled": true in a server to leave it out'
            message = f"{escape(file)} has {quote(key)} beside its servers, which does nothing here: {remedy}"
            raise WrongUse(message)
    if held:
        ignored = clip(", ".join(map(quote, held)), _MOST_SHOWN)
        note(f"{escape(file)} has keys beside its servers that the gateway ignores: {ignored}")


def _holds_back(key: str) -> bool:
    """Return whether other programs restrict tools, or servers, by this key."""
    folded = _folded(key)
    word = _WORDS.get(folded)
    is_choice = "enabled" in folded and "server" in folded
    return is_choice or (_stem_of(folded) if word is None else word) in _PROTECTING


def _folded(key: str) -> str:
    """Return a form of a key that ignores case, width, and everything except letters and digits."""
    return "".join(filter(str.isalnum, fold(normalize("NFKC", key))))


def _stem_of(folded: str) -> str | None:
    """Return the key here whose name is contained in a longer key; None if there is none."""
    if len(folded) > _LONGEST_KEY:
        return None
    return next((ours for stem, ours in _STEMS.items() if stem in folded), None)


def _meant(key: str, by_fold: Mapping[str, str]) -> str | None:
    """Return the key among several that a key means, even if it is misspelt; None if there is none."""
    if len(key) > _LONGEST_KEY:
        return None
    folded = _folded(key)
    if folded in by_fold:
        return by_fold[folded]
    near = next((one for one in by_fold if _is_one_edit(folded, one)), None)
    if near is None and len(folded) >= _SHORTEST_LIKE:
        alike = [one for one in by_fold if len(one) >= _SHORTEST_LIKE]
        stem = _stem_of(folded)
        is_of_person = "confirm" in folded or "approv" in folded
        near = stem if is_of_person or by_fold is _OF_SERVER else None
        near = near or nearest(folded, alike, _LIKENESS)
    return None if near is None else by_fold[near]


def _is_one_edit(one: str, other: str) -> bool:
    """Return whether two words differ by one letter, or by two that are swapped."""
    if abs(len(one) - len(other)) > 1:
        return False
    pairs = enumerate(zip(one, other, strict=False))
    same = next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))
    one, other = one[same:], other[same:]
    is_swapped = one[:2] == other[1::-1] and one[2:] == other[2:]
    return one[1:] == other[1:] or one[1:] == other or one == other[1:] or is_swapped


def _fault_of(key: str, value: object) -> str | None:
    """Return the fault of an unknown key of a server; None if the key can be ignored.

    Args:
        key: a key that isn't in `_KEYS`.
        value: its value.
    """
    folded = _folded(key)
    word = _WORDS.get(folded)
    if word is None:
        meant = _meant(key, _OF_SERVER)
        word = None if meant is None else _WORDS.get(meant) or meant
    elif not value and word != "disabled":  # the value requests nothing
        return None
    if not word:
        return None
    if word == _BEYOND:
        return f"has {quote(key)}, and the gateway can't do that: remove it"
    if word == "disabled" and "disable" not in folded and folded in _WORDS:  # it means the opposite
        return f'has {quote(key)}: write "disabled": true to leave a server out, and nothing to start it'
    return f"has {quote(key)}: did you mean {word}?"


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

    def server(self, note: Callable[[str], object] = str) -> Behind | None:
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
                "args": [self._filled(one) for one in self._texts("args") or ()],
                "env": self._named("env"),
                "cwd": self._text("cwd"),
            }
        confirm = entry.get("confirm", False)
        asked = confirm if isinstance(confirm, bool) else (self._texts("confirm", _FORMS["confirm"]) or ())
        headers, only = self._named("headers"), self._texts("only", _FORMS["only"])
        written = "" if command is None else entry["command"]
        seconds = self._seconds()
        return Behind(self._name, start, url, headers, only, asked, seconds, dict(self._variables), written)

    def _check_keys(self) -> None:
        """Check that no misspelt key leaves tools without the intended protection."""
        for key, value in self._entry.items():
            what = None if key in _KEYS else _fault_of(key, value)
            if what is not None:
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
        filled = self._filled(value)
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

    def _named(self, key: str) -> dict[str, str]:
        value = self._entry.get(key, {})
        if not is_object(value):
            raise self._must_be(key, "an object of texts", value)
        for name, one in value.items():
            if not isinstance(one, str):
                raise self._must_be(show_path([key, name]), "a text", one)
        return {name: self._filled(one) for name, one in value.items()}

    def _filled(self, text: str) -> str:
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


# --- the servers -----------------------------------------------------------------------------------


@asynccontextmanager
async def open_servers(servers: list[Behind], err: Printer, file: str = "") -> AsyncGenerator[Gateway]:
    """Connect to servers while the context lasts.

    If a server can't be reached, or doesn't list its tools, standard error names it; the others continue.

    Args:
        servers: the servers of the file.
        err: standard error.
        file: the absolute path of the file; empty for none.

    Yields:
        The gateway, whose registry has the tools. Their names begin with the name of their server and `_`.

    Raises:
        WrongUse: no server can be reached, one lacks a tool that the file names, or a gateway with the same
            file has started this process.
    """
    from ...adapters.mcp.gateway import Gateway, ServerBehind
    from ...adapters.mcp_connection import certificates

    _check_not_below_itself(file)
    by_prefix = {one.prefix.removesuffix("_"): one for one in servers}

    def unreachable(name: str, error: ConnectionError) -> None:
        server = by_prefix[name]
        said = str(error).removeprefix(f"the server {name} can't be reached: ")
        reason = f"{_reason(said, servers)}{_reason(_hint(server), servers)}"
        err.report("", f"the server {quote(server.name)} can't be reached: {reason}")
        err.flush()

    trusted = certificates()
    behind = {
        name: ServerBehind(_source_of(one, file, trusted), one.only, one.confirm, one.seconds)
        for name, one in by_prefix.items()
    }
    with hidden_in_logs(servers):
        gateway = Gateway(behind, unreachable=unreachable)
        try:
            await gateway.__aenter__()
        except (ConnectionError, ToolError) as error:
            raise WrongUse(_reason(str(error), servers)) from None
        try:
            yield gateway
        finally:
            await gateway.__aexit__()


def _hint(server: Behind) -> str:
    """Return the right way to write a command that contains its arguments; empty for any other command."""
    words = server.written.split()
    if len(words) < 2 or server.start is None or server.start["args"]:  # noqa: PLR2004  # several
        return ""
    command = server.start["command"]
    if which(command) or Path(command).exists():
        return ""
    with suppress(ValueError):  # a missing closing quote
        words = split(server.written)
    first, rest = (json.dumps(part, ensure_ascii=False) for part in (words[0], words[1:]))
    return f'; "command" must be the program alone: write "command": {first}, "args": {rest}'


def _check_not_below_itself(file: str) -> None:
    from ...adapters.mcp import gateways_above

    above = gateways_above()
    if not file or file not in above:
        return
    way = " → ".join([escape(one or "a program") for one in [*above[above.index(file) :], file]])
    remedy = "Remove the server from it that is a gateway of this file"
    message = f"{escape(file)} starts itself endlessly: {clip(way, _MOST_SHOWN)}. {remedy}"
    raise WrongUse(message)


def _source_of(server: Behind, file: str, trusted: Callable[[], SSLContext]) -> Source:
    """Return the server in the form for a gateway; `file` is the file of the gateway."""
    from mcp import StdioServerParameters

    from ...adapters.mcp import started_below
    from ...adapters.mcp_connection import over_http

    if server.start is not None:
        return started_below(StdioServerParameters(**server.start), file)
    return partial(over_http, server.url or "", trusted, dict(server.headers))


# --- messages about servers ----------------------------------------------------------------------


def _reason(said: str, servers: Iterable[Behind]) -> str:
    """Return the text of an error on one line, with names of variables instead of their values."""
    return clip(_hidden(escape(said), _names_by_value(servers)), _MOST_SHOWN)


@contextmanager
def hidden_in_logs(servers: Iterable[Behind]) -> Generator[None]:
    """While the context lasts, replace values of variables by their names in logs, also in tracebacks.

    The values are replaced when a record is created: its text may be an error of the SDK, of HTTP or of the
    system, and any handler may get it, even one that sends it to a client. Arguments are kept as texts or
    numbers. Of an exception, its name, its message and the text of its traceback are kept.
    """
    names = _names_by_value(servers)
    before = logging.getLogRecordFactory()

    def made(*args: Any, **more: Any) -> logging.LogRecord:
        record = before(*args, **more)
        try:
            _hide(record, names)
        except Exception:  # noqa: BLE001  # what is logged may have code of its own
            record.msg, record.args = f"a record of {record.name} that can't be written", None
            record.exc_info = record.exc_text = record.stack_info = None
        return record

    if names:
        logging.setLogRecordFactory(made)
    try:
        yield
    finally:
        logging.setLogRecordFactory(before)


def _hide(record: logging.LogRecord, names: Mapping[str, str]) -> None:
    """Replace values of variables by their names in all parts of a record that a handler may use."""
    record.msg, record.args = _template(record, names)
    if record.exc_info is not None and record.exc_info[1] is not None:
        record.exc_text = _hidden(logging.Formatter().formatException(record.exc_info), names)
        error = record.exc_info[1]
        kind = type(type(error).__name__, (Exception,), {"__module__": type(error).__module__})
        # its frames and causes may contain values
        record.exc_info = kind, kind(_hidden(str(error), names)), None
    if record.stack_info is not None:
        record.stack_info = _hidden(record.stack_info, names)


def _template(record: logging.LogRecord, names: Mapping[str, str]) -> tuple[str, Any]:
    """Return the text and arguments of a record; the whole message if a value is spread over several."""
    message = _hidden(record.getMessage(), names)
    text, given = _hidden(str(record.msg), names), record.args
    if not given:
        return message, None
    if isinstance(given, Mapping):
        args: Any = {_plain(key, names): _plain(value, names) for key, value in given.items()}
    else:
        args = tuple(_plain(value, names) for value in given)
    with suppress(TypeError, ValueError, KeyError):  # it needs another type, or contains a value
        if text % args == message:
            return text, args
    return message, None


def _plain(value: object, names: Mapping[str, str]) -> str | int | float | None:
    """Return an argument of a record if it is a number or None, otherwise its text without values."""
    shown = _hidden(str(value), names)
    is_kept = value is None or type(value) in {bool, int, float}
    return cast("int | float | None", value) if is_kept and shown == str(value) else shown


def _names_by_value(servers: Iterable[Behind]) -> dict[str, str]:
    """Return all forms in which a message may contain the value of a variable, with their replacements."""
    names: dict[str, str] = {}
    for server in servers:
        for name, value in server.filled.items():
            if len(value) >= _SHORTEST_HIDDEN:
                names.update(dict.fromkeys(_written(value), f"${{{name}}}"))
    return names


def _hidden(text: str, names: Mapping[str, str]) -> str:
    if not names:
        return text
    either = "|".join(re.escape(shown) for shown in sorted(names, key=len, reverse=True))
    text = re.sub(either, lambda found: names.get(found[0].lower(), "…"), text, flags=re.IGNORECASE)
    *cut, last = text.split("…")
    return "…".join([*[_without_start(part, names) for part in cut], last])


def _written(value: str) -> set[str]:
    """Return the forms in which a message may contain a value, in lower case."""
    forms = {value, repr(value)[1:-1], json.dumps(value)[1:-1], url_quote(value), url_quote(value, safe="")}
    return {form.lower() for one in forms for form in (one, escape(one))}


def _without_start(text: str, names: Mapping[str, str]) -> str:
    """Replace the beginning of a value at the end of a text that was cut within it."""
    for shown, name in names.items():
        for size in range(min(len(shown), len(text)), _SHORTEST_HIDDEN - 1, -1):
            if text[-size:].lower() == shown[:size]:
                return f"{text[:-size]}{name}"
    return text
