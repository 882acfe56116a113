"""How is a server started, stopped and called, and which tools does it have?"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Literal

from ...json_values import is_array, is_object
from ...message_text import one_line
from .channel import HttpChannel, ProcessChannel
from .probe_error import ProbeError, in_empty_folder
from .probe_options import MEMORY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .channel import Channel
    from .folders import ServerFolders
    from .outcomes import ProbedOutcome

VERSION: Final = "2025-11-25"
"""The version of the protocol."""

_SECONDS_TO_START: Final = 30.0
_MOST_PAGES: Final = 100
_MOST_TOOLS: Final = 1000
_SERVING: Final = "operator-schema: serving "


@dataclass
class Server:
    """A server that is probed.

    Attributes:
        target: the target, as the user wrote it.
        kind: the way to reach it.
        open: a function that connects to it, with its folders and environment variables.
        place: its folders; None if the probe doesn't start it.
        setup: a command line that prepares the working directory.
        timeout: the time limit of a call, in seconds.
        words: the words of the command that starts it; empty for other kinds.
        env: environment variables of the server, beside those that it needs.
        headers: headers of HTTP requests.
        modules: a folder whose modules it imports; empty for none.
        tools: the definitions of its tools.
        restarts: the number of times that it was started again.
        succeeded: name and arguments of each successful call since it was started.
        errors: the end of its last standard error.
        seconds_to_start: the time of the last start, in seconds.
        context: the name of the objects that `serve` injects, as `MODULE:NAME`; None for none.
        memory: the limit for each of its processes, in megabytes.
    """

    target: str
    kind: Literal["command", "url", "module", "objects"]
    open: Callable[[ServerFolders | None, Mapping[str, str]], Channel]
    place: ServerFolders | None
    setup: str | None = None
    timeout: float = 10.0
    words: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    modules: str = ""
    tools: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    restarts: int = -1
    succeeded: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    errors: str = ""
    seconds_to_start: float = 0.0
    context: str | None = None
    memory: int = MEMORY
    _channel: Channel | None = None

    @property
    def channel(self) -> Channel:
        """The connection.

        Raises:
            ProbeError: there is none.
        """
        if self._channel is None:
            message = "it isn't running"
            raise ProbeError(message)
        return self._channel

    def start(self) -> None:
        """Start the server, or start it again, in an empty folder; do the handshake.

        Raises:
            ProbeError: it can't be started, or doesn't answer.
        """
        begin = monotonic()
        self.stop()
        self.restarts += 1
        self.succeeded.clear()
        env: dict[str, str] = {}
        if self.place is not None:
            env = self.place.environment(self.env)
            if self.modules:
                env["PYTHONPATH"] = os.pathsep.join(filter(None, [self.modules, env.get("PYTHONPATH")]))
            self.place.fill(self.setup, env)
        try:
            self._channel = self.open(self.place, env)
        except (OSError, ValueError) as error:
            message = f"it can't be started: {error}"
            raise self._failed(message) from None
        params = {
            "protocolVersion": VERSION,
            "capabilities": {},
            "clientInfo": {"name": "operator-schema probe", "version": "1"},
        }
        result = self._ask("initialize", params)
        if isinstance(self._channel, HttpChannel):
            self._channel.version = str(result.get("protocolVersion", ""))
        self._channel.notify("notifications/initialized", None)
        self.seconds_to_start = monotonic() - begin

    def stop(self) -> None:
        """End the connection, and the process."""
        if self._channel is not None:
            channel, self._channel = self._channel, None
            self.errors = channel.close() or self.errors

    def close(self) -> None:
        """End everything, and remove the folders."""
        self.stop()
        if self.place is not None:
            self.place.remove()

    def list_tools(self) -> list[dict[str, Any]]:
        """Ask for the tools, page by page.

        Raises:
            ProbeError: there are none, or the answer isn't a list of tools.
        """
        found: list[dict[str, Any]] = []
        cursor: Any = None
        for _ in range(_MOST_PAGES):
            result = self._ask("tools/list", {} if cursor is None else {"cursor": cursor})
            page = result.get("tools")
            if not is_array(page):
                message = "its answer to tools/list has no list of tools"
                raise ProbeError(message)
            found += [each for each in page if is_object(each) and isinstance(each.get("name"), str)]
            cursor = result.get("nextCursor")
            if not cursor or len(found) > _MOST_TOOLS:
                break
        if not found:
            message = "it has no tools"
            raise ProbeError(message)
        self.tools = found
        return found

    def call(self, tool: str, arguments: Any, seconds: float | None = None) -> ProbedOutcome:
        """Call a tool, and wait for the answer."""
        outcome = self.wait(self.send(tool, arguments), seconds)
        if not (outcome.is_lost or outcome.is_flagged):
            self.succeeded.append((tool, arguments))
        return outcome

    def send(self, tool: str, arguments: Any) -> int:
        """Send a call."""
        return self.channel.send("tools/call", {"name": tool, "arguments": arguments})

    def wait(self, request: int, seconds: float | None = None) -> ProbedOutcome:
        """Wait for the answer to a call."""
        return self.channel.wait(request, self.timeout if seconds is None else seconds)

    def answers(self) -> bool:
        """Return whether it answers a ping."""
        return not self.ping().is_lost

    def ping(self) -> ProbedOutcome:
        """Send a ping, and wait for the answer."""
        return self.wait(self.channel.send("ping", None))

    def noise(self) -> list[str]:
        """Return the lines since the last time that aren't messages."""
        if self._channel is None:
            return []
        found = list(self._channel.noise)
        del self._channel.noise[: len(found)]
        return found

    def notes(self) -> list[str]:
        """Return the warnings of `serve` about the tools of a module, such as missing context."""
        if self.kind != "module" or not isinstance(self._channel, ProcessChannel):
            return []
        before, mark, _ = self._channel.errors().partition(_SERVING)
        return [one_line(line, 300) for line in before.splitlines() if line.strip()] if mark else []

    def files(self) -> dict[str, str]:
        """Return the files of its working directory, as far as they are known here."""
        return {} if self.place is None else self.place.files()

    def _ask(self, method: str, params: Any) -> dict[str, Any]:
        reply = self.channel.wait(self.channel.send(method, params), max(self.timeout, _SECONDS_TO_START))
        if reply.kind == "result" and is_object(reply.value):
            return reply.value
        noise = "; ".join(self.channel.noise[:2])
        self.stop()
        hints = [str(reply.value)]
        if noise:
            hints.append(f"it wrote {noise!r}")
        if self.errors.strip():
            hints.append(f"standard error ends with {self.errors.strip()[-300:]!r}")
        message = f"{method} failed: {one_line('; '.join(hints), 700)}"
        raise self._failed(message) if method == "initialize" else ProbeError(message)

    def _failed(self, said: str) -> ProbeError:
        """Return the error of a server that doesn't start."""
        return in_empty_folder(said) if self.kind == "command" else ProbeError(said)
