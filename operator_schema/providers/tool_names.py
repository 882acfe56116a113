"""Turns names of tools into names that providers take, and back; checks and features of requests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..errors import SchemaError
from ..findings import about_type
from ..immutable import Value
from ..message_text import quote

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["SCOPES", "Features", "HostedTool", "IdRule", "NameRule", "Rules"]

SCOPES = ("functions.", "default_api.", "tools.")
"""What models write before the names of offered tools."""

_DIGEST = 8


class NameRule(Value):
    """Which names of tools a provider takes.

    Attributes:
        longest: characters that it may have.
        others: further characters of a name, besides letters, digits and `_`.
        starts_with_letter: whether it has to begin with a letter or `_`.
    """

    longest: int = 64
    others: str = "-"
    starts_with_letter: bool = False

    def takes(self, name: str) -> bool:
        """Return whether the provider takes a name as it is."""
        if name.isascii() and name.isidentifier():  # what most names are
            return len(name) <= self.longest
        start = "[A-Za-z_]" if self.starts_with_letter else f"[A-Za-z0-9_{re.escape(self.others)}]"
        rest = f"[A-Za-z0-9_{re.escape(self.others)}]*"
        return len(name) <= self.longest and re.fullmatch(start + rest, name) is not None

    def wire_names(self, names: Iterable[str], provider: str) -> dict[str, str]:
        """Return the name on the wire of each tool.

        Args:
            names: of the tools of one request.
            provider: its name, for messages.

        Returns:
            Own name to name on the wire, no two of which are equal.

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
        """Return the name on the wire of one tool: its own, where the provider takes that."""
        if self.takes(name):
            return name
        from hashlib import sha256

        kept = re.sub(f"[^A-Za-z0-9_{re.escape(self.others)}]", "_", name)
        if self.starts_with_letter and not re.match("[A-Za-z_]", kept):
            kept = f"_{kept}"
        # What was changed might be equal to another name: the digest tells them apart.
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
        longest: characters that it may have.
        shortest: characters that it must have.
        others: characters of an id besides letters and digits; None for any.
        needed: whether each call needs one.
    """

    longest: int = 40
    shortest: int = 1
    others: str | None = None
    needed: bool = True

    def takes(self, call_id: str) -> bool:
        """Return whether the provider takes an id as it is."""
        if not self.shortest <= len(call_id) <= self.longest:
            return False
        return (
            self.others is None or re.fullmatch(f"[A-Za-z0-9{re.escape(self.others)}]*", call_id) is not None
        )

    def wire_id(self, call_id: str, turn: str, *, is_given: bool) -> str:
        """Return the id of a call that another provider made.

        Args:
            call_id: as that provider gave it, or as the library drew it.
            turn: the id of its turn: some models number the calls of each turn from 0.
            is_given: whether a provider gave it.

        Returns:
            The id itself, where the provider takes it or needs none; otherwise one that is always the same.
        """
        if self.takes(call_id) if is_given else not self.needed:
            return call_id
        from hashlib import sha256

        digest = sha256(f"{turn} {call_id}".encode(errors="surrogatepass")).hexdigest()
        made = f"call_{digest[:_ID_DIGITS]}"
        return made if self.takes(made) else digest[: self.longest]


_ID_DIGITS = 24


class Rules(Value):
    """Rules of a provider for every request, strict or not. One tool that breaks a rule fails the request.

    Attributes:
        keys: which names of properties it takes; None for any. The others are renamed on the wire.
        longest_description: characters that the description of a tool may have; None for no limit.
        most_tools: in a request; None for no limit.
        ids: which ids of calls it takes. In a turn of another provider, the others are replaced.
    """

    keys: NameRule | None = None
    longest_description: int | None = None
    most_tools: int | None = None
    ids: IdRule = IdRule()  # it is immutable


class HostedTool(Value):
    """A tool that the provider runs itself, as a request lists it.

    Attributes:
        type: the provider's name for it.
        name: the name that the model calls; None if the type says it.
    """

    type: str
    name: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return it as it is in the list of tools."""
        return {"type": self.type} if self.name is None else {"type": self.type, "name": self.name}


class Features(Value):
    """What a provider takes in a request besides tools and a choice of one, some or none of them.

    Each is for an option of `Provider.request`, which refuses what a provider doesn't take.

    Attributes:
        searches: the searches that the provider runs over deferred tools, by their names in `search`; the
            first one is used if none is named. Without one, it takes no deferred tools.
        loads_found: whether the result of a search of your own loads the deferred tools that it found.
        namespaces: whether tools may be grouped under a name and a description.
        cache: whether a cache point may follow the tools.
        allowed: whether the choice may allow only some of the tools that are listed.
        allowed_if_strict: whether it may do so only in the strict mode, or where it requires a call.
        parallel: whether a request says if the model may make several calls at once.
        examples: whether a tool may have examples of its input.
        callers: who may be allowed to call a tool: the name, and the tool of the provider that runs
            programs; None for the model itself.
        programs_alone: whether a tool that programs may call can be neither strict nor required, nor in a
            request with `parallel=False`.
        custom: whether a tool may take text, maybe by a grammar, in place of arguments.
        outputs: whether a request may say which JSON Schema the model's answer has to fit. Without it, and
            where tools exclude it, a tool that has to be called takes the answer.
        outputs_beside_tools: whether it may say so beside tools.
        required: whether a request may require a call. Without it, a tool that takes the answer is offered,
            and the model decides whether it calls it.
        required_while_thinking: whether it may do so while the model thinks: with `thinking=True`.
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
