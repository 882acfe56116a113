"""What does a provider take: names, ids, descriptions, features of requests, and keywords?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..errors import SchemaError
from ..findings import about_type
from ..immutable import Value
from ..message_text import quote

if TYPE_CHECKING:
    from collections.abc import Iterable

SCOPES = ("functions.", "default_api.", "tools.")
"""Prefixes that models write before the names of offered tools."""

_DIGEST = 8


class NameRule(Value):
    """Which names of tools a provider takes.

    Attributes:
        longest: the maximum length.
        others: further characters of a name, besides letters, digits and `_`.
        starts_with_letter: whether a name has to begin with a letter or `_`.
    """

    longest: int = 64
    others: str = "-"
    starts_with_letter: bool = False

    def takes(self, name: str) -> bool:
        """Return whether the provider takes a name unchanged."""
        if name.isascii() and name.isidentifier():  # most names match this
            return len(name) <= self.longest
        start = "[A-Za-z_]" if self.starts_with_letter else f"[A-Za-z0-9_{re.escape(self.others)}]"
        rest = f"[A-Za-z0-9_{re.escape(self.others)}]*"
        return len(name) <= self.longest and re.fullmatch(start + rest, name) is not None

    def wire_names(self, names: Iterable[str], provider: str) -> dict[str, str]:
        """Return the name on the wire of each tool.

        Args:
            names: the names of the tools of one request.
            provider: the name of the provider, for messages.

        Returns:
            The names on the wire by the own names; no two are equal.

        Raises:
            SchemaError: two tools would have the same name.
        """
        found: dict[str, str] = {}
        owners: dict[str, str] = {}
        for name in names:
            wire = found[name] = self.wire_name(name)
            if wire in owners:
                raise _refuse_equal(name, owners[wire], wire, provider)
            owners[wire] = name
        return found

    def wire_name(self, name: str) -> str:
        """Return the name on the wire of a tool: its own name, if the provider takes that."""
        if self.takes(name):
            return name
        from hashlib import sha256

        kept = re.sub(f"[^A-Za-z0-9_{re.escape(self.others)}]", "_", name)
        if self.starts_with_letter and not re.match("[A-Za-z_]", kept):
            kept = f"_{kept}"
        # A changed name might equal another name, so a digest is added.
        digest = sha256(name.encode(errors="surrogatepass")).hexdigest()[:_DIGEST]
        return f"{kept[: self.longest - _DIGEST - 1]}_{digest}"


def _refuse_equal(name: str, other: str, wire: str, provider: str) -> SchemaError:
    message = f"{quote(name)} and {quote(other)} would both be {quote(wire)} for {provider}"
    if name == other:
        message = f"two tools have the name {quote(name)}"
    return SchemaError(name, [about_type((), "bad_name", name, message, "Rename one: tool.with_(name=…)")])


class IdRule(Value):
    """Which ids of calls a provider takes in a history.

    Attributes:
        longest: the maximum length.
        shortest: the minimum length.
        others: characters of an id besides letters and digits; None for any.
        needed: whether each call needs an id.
    """

    longest: int = 40
    shortest: int = 1
    others: str | None = None
    needed: bool = True

    def takes(self, call_id: str) -> bool:
        """Return whether the provider takes an id unchanged."""
        if not self.shortest <= len(call_id) <= self.longest:
            return False
        return (
            self.others is None or re.fullmatch(f"[A-Za-z0-9{re.escape(self.others)}]*", call_id) is not None
        )

    def wire_id(self, call_id: str, turn: str, *, is_given: bool) -> str:
        """Return the id for a call that another provider made.

        Args:
            call_id: the id from that provider, or a random id of this library.
            turn: the id of the turn: some models number the calls of each turn from 0.
            is_given: whether a provider gave the id.

        Returns:
            The id itself, if the provider takes it or needs none; otherwise a new id that is always the same.
        """
        if self.takes(call_id) if is_given else not self.needed:
            return call_id
        from hashlib import sha256

        digest = sha256(f"{turn} {call_id}".encode(errors="surrogatepass")).hexdigest()
        made = f"call_{digest[:_ID_DIGITS]}"
        return made if self.takes(made) else digest[: self.longest]


_ID_DIGITS = 24


UNNAMED = "operator_schema_"
"""The beginning of the ids of calls from a provider that gives no ids; such ids are never sent."""

CUSTOM = f"{UNNAMED}custom_"
"""The beginning of the ids of calls of OpenAI's custom tools: they and their results have another form."""

OUTPUT = f"{UNNAMED}output_"
"""The beginning of the ids of answers of a wrong type, which rounds store like calls; they are never sent."""

SEARCHED = f"{UNNAMED}search_"
"""The beginning of the ids of tool searches that OpenAI leaves to your program."""


def given_id(call_id: str) -> str:
    """Return the provider's id of a call, without our prefix."""
    return call_id.removeprefix(CUSTOM).removeprefix(SEARCHED)


class Rules(Value):
    """Rules of a provider for all requests, strict or not. A tool that breaks a rule fails the whole request.

    Attributes:
        keys: the rule for names of properties; None for any name. Other names are replaced on the wire.
        longest_description: the maximum length of the description of a tool; None for no limit.
        most_tools: the maximum number of tools in a request; None for no limit.
        ids: the rule for ids of calls. Other ids, from turns of another provider, are replaced.
    """

    keys: NameRule | None = None
    longest_description: int | None = None
    most_tools: int | None = None
    ids: IdRule = IdRule()  # the class is immutable


class HostedTool(Value):
    """A tool that the provider runs itself, as a request lists it.

    Attributes:
        type: the provider's name for it.
        name: the name for calls of the model; None if the type contains it.
    """

    type: str
    name: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the tool in the form of the list of tools."""
        return {"type": self.type} if self.name is None else {"type": self.type, "name": self.name}


class Features(Value):
    """Further features of a provider's requests, besides tools and a choice of one, some or none of them.

    Each is for an option of `Provider.request`, which refuses options that a provider doesn't take.

    Attributes:
        searches: the provider's own searches of deferred tools, by their names for the option `search`;
            without that option, the first one is used. If there are none, the provider takes no deferred
            tools.
        loads_found: whether the result of your own search loads the deferred tools that it found.
        namespaces: whether tools may be grouped under a name and a description.
        cache: whether a cache point may follow the tools.
        allowed: whether the choice may allow only some of the listed tools.
        allowed_if_strict: whether it may do so only in the strict mode, or if it requires a call.
        parallel: whether a request can set if the model may make several calls at once.
        examples: whether a tool may have examples of its input.
        callers: the possible callers of a tool: the name, and the tool of the provider that runs programs;
            None for the model itself.
        programs_alone: whether a tool that programs may call can't be strict or required, or in a request
            with `parallel=False`.
        custom: whether a tool may take text, optionally with a grammar, in place of arguments.
        outputs: whether a request may contain the JSON Schema of the model's answer. Without this feature, or
            if tools exclude it, a tool that must be called receives the answer.
        outputs_beside_tools: whether the request may contain this schema and tools.
        required: whether a request may require a call. Without this feature, the model decides whether it
            calls the tool that receives the answer.
        required_while_thinking: whether it may require a call while the model thinks: with `thinking=True`.
        late: whether the result of a call may come after the next request.
    """

    searches: tuple[tuple[str, HostedTool], ...] = ()
    loads_found: bool = False
    namespaces: bool = False
    cache: bool = False
    allowed: bool = False
    allowed_if_strict: bool = False
    parallel: bool = False
    examples: bool = False
    callers: tuple[tuple[str, HostedTool | None], ...] = ()
    programs_alone: bool = False
    custom: bool = False
    outputs: bool = True
    outputs_beside_tools: bool = False
    required: bool = True
    required_while_thinking: bool = True
    late: bool = False


# Keywords and formats that the dialects of several providers have.
BOUNDS = frozenset({"minimum", "maximum"})
NUMBERS = BOUNDS | {"exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
ITEMS = frozenset({"minItems", "maxItems"})
LENGTHS = frozenset({"minLength", "maxLength"})
COMMON_FORMATS = frozenset({"email", "hostname", "ipv4", "ipv6", "uuid"})
DATES = frozenset({"date-time", "time", "date"})
DATED_FORMATS = COMMON_FORMATS | DATES | {"duration"}
