"""How is a server named that a gateway combines with others, and which of its tools are offered?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from sys import float_info
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from mcp import StdioServerParameters

from ...immutable import Value
from ...message_text import quote, received
from ..mcp_client import check_there
from ..mcp_connection import certificates, over_http

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..mcp_connection import Source

_ONLY = "server"
"""The name of a server that was given without a name."""


class ServerBehind(Value):
    """A server of a gateway, with its own options.

    Attributes:
        source: the server, as for `Gateway`.
        only: the names of its tools that are offered; None for all.
        confirm: whether a person has to agree to calls of all its tools; or the names of such tools.
        seconds: the time limit for connecting and for answers, except those of calls; None for the limit of
            the gateway.

    Raises:
        TypeError: an argument has a wrong type.
        ValueError: the source can't be used, or `seconds` isn't above 0.
    """

    source: Source
    only: Collection[str] | None = None
    confirm: bool | Collection[str] = False
    seconds: float | None = None

    def __init__(
        self,
        source: Source,
        only: Collection[str] | None = None,
        confirm: bool | Collection[str] = False,  # noqa: FBT001,FBT002  # `Value.replace` gives it by position
        seconds: float | None = None,
    ) -> None:
        check_source(source, "the source of a server")
        _check_names("only", only, "a list of names of tools, or None", is_free=only is None)
        is_free = isinstance(confirm, bool)
        _check_names("confirm", confirm, "True, False or a list of names of tools", is_free=is_free)
        check_seconds(seconds, "None for those of the gateway")
        super().__init__(source, only, confirm, seconds)

    def check_tools(self, name: str, there: Collection[str]) -> None:
        """Check that the server has the tools that the options name.

        Args:
            name: the name of the server, for the message.
            there: the names of its tools.

        Raises:
            ToolError: the server lacks one of the tools.
        """
        asked = () if isinstance(self.confirm, bool) else self.confirm
        for option, names in (("only", self.only or ()), ("confirm", asked)):
            whose = f"the server {quote(name)}, whose {option} names it,"
            check_there(names, there, whose)

    def choices(self) -> list[tuple[Callable[[str], bool], dict[str, Any]]]:
        """Return a function that chooses tools by their names on the server, and the options of the tools."""
        only, confirm = self.only, self.confirm

        def is_wanted(name: str) -> bool:
            return only is None or name in only

        def is_asked(name: str) -> bool:
            return confirm if isinstance(confirm, bool) else name in confirm

        if confirm is False:
            return [(is_wanted, {})]
        return [
            (lambda name: is_wanted(name) and not is_asked(name), {}),
            (lambda name: is_wanted(name) and is_asked(name), {"confirm": True}),
        ]


def _check_names(option: str, value: Any, form: str, *, is_free: bool) -> None:
    """Check the names of tools in an option.

    Args:
        option: the name of the option.
        value: the given value.
        form: the expected form, for the message.
        is_free: whether the value is one that needs no names.

    Raises:
        TypeError: the value has a wrong type.
    """
    if is_free:
        return
    hint = f": write {option}=[{value!r}]" if isinstance(value, str) else ""
    if not _is_list(value, Collection) or not all(isinstance(one, str) for one in value):
        message = f"{option} must be {form}, not {received(value)}{hint}"
        raise TypeError(message)


def check_seconds(seconds: Any, otherwise: str) -> None:
    """Check a limit of time.

    Args:
        seconds: the limit.
        otherwise: a value that is also allowed, besides a number.

    Raises:
        ValueError: the limit is neither.
    """
    is_number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    if seconds is not None and not (is_number and 0 < seconds <= float_info.max):
        message = f"seconds must be a number above 0, or {otherwise}, not {received(seconds)}"
        raise ValueError(message)


def check_function(unreachable: Any) -> None:
    """Check the function that is called for an unreachable server.

    Raises:
        TypeError: the argument isn't a function.
    """
    if unreachable is not None and not callable(unreachable):
        message = (
            "unreachable must be a function that takes the name of a server and the reason, or None, not "
            f"{received(unreachable)}"
        )
        raise TypeError(message)


def _is_list(value: object, kind: type) -> bool:
    """Return whether a value is a collection of items of a type, but not a text, bytes or a mapping."""
    return isinstance(value, kind) and not isinstance(value, (str, bytes, bytearray, memoryview, Mapping))


def check_source(source: Any, place: str) -> None:
    """Check that a source describes how to reach a server.

    Args:
        source: the source, as for `Gateway`.
        place: the name of the argument, for the message. The message contains only the kind of the source and
            a URL, since the rest may be secret.

    Raises:
        TypeError: the source has a wrong type.
        ValueError: the source is a text that isn't a URL, or an empty command.
    """
    if isinstance(source, str):
        if not _is_url(source):
            parts = source.split()
            meant = f". A command is a list of its words: {parts}" if len(parts) > 1 else ""
            message = (
                f"{place} must be a URL that begins with http:// or https://, not {received(source)}{meant}"
            )
            raise ValueError(message)
        return
    words: list[Any]
    if isinstance(source, StdioServerParameters):
        words = [source.command]
    elif _is_list(source, Sequence):
        words = list(source)
    elif callable(source) and source is not StdioServerParameters:
        return
    else:
        is_mapping = isinstance(source, Mapping)
        remedy = "a mapping: write StdioServerParameters(command=…, args=[…])"
        shown = remedy if is_mapping else received(cast("object", source))
        message = (
            f"{place} must be a URL, a list with the words of a command, StdioServerParameters or a function "
            f"that makes a transport, not {shown}"
        )
        raise TypeError(message)
    for word in words:
        if not isinstance(word, str):
            message = f"{place}: each word of the command must be a string, not {received(word)}"
            raise TypeError(message)
    if not words or not words[0]:
        message = f"{place} must have a command, such as ['uvx', 'mcp-server-time']"
        raise ValueError(message)


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def servers_behind(servers: Any) -> dict[str, ServerBehind]:
    """Return the servers of a gateway by their names.

    Args:
        servers: the servers, as for `Gateway`.

    Raises:
        TypeError: a server has a wrong type, or its name isn't a text.
        ValueError: there are no servers, or one can't be used.
    """
    is_several = isinstance(servers, Mapping)
    given = cast("dict[Any, Any]", servers if is_several else {_ONLY: servers})
    if not given:
        message = "a gateway needs a server behind it: Gateway({'name': 'https://…'})"
        raise ValueError(message)
    found: dict[str, ServerBehind] = {}
    trusted = certificates()
    for name, one in given.items():
        if not isinstance(name, str) or not name:
            message = f"the name of a server must be a text, not {received(name)}"
            raise TypeError(message)
        if not isinstance(one, ServerBehind):
            check_source(one, f"the server {quote(name)}" if is_several else "a server behind a gateway")
        server = one if isinstance(one, ServerBehind) else ServerBehind(one)
        if isinstance(server.source, str):
            server = server.replace(source=partial(over_http, server.source, trusted))
        found[name] = server
    return found
