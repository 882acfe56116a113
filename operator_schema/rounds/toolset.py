"""Toolset: the tools of an application, as one immutable value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..immutable import Value
from ..tools.snapshot import Snapshot
from .named_tools import Entry, NamedTools, Source, entries_of, merged, switches_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import TypeAlias, Unpack

    from ..schema.style import StyleOptions
    from ..tools.options import ToolChanges
    from ..tools.tool import ToolDefinition
    from .named_tools import Member, Selection
    from .offer import Offer, Required, Selections, Strict
    from .round import Round

    Context: TypeAlias = Mapping[Any, Any]

__all__ = ["Toolset"]

Input = TypeVar("Input", covariant=True)  # noqa: PLC0105  # it reads like the word


class Toolset(NamedTools, Value, Generic[Input]):
    """Tools as one immutable value, in the order in which the model sees them.

    Take a `Registry` where tools come and go while your program runs. Take a `Toolset` where you control
    each turn: what a request offers, what hooks decide, and which calls wait for a person.

    Toolsets inside are flattened. Wherever a tool has to be named, give its name or the tool itself.
    Two toolsets are equal if they have the same tools in the same order, with the same ones hidden.

    Args:
        members: tools made by `@tool` and `@tool_input`, other toolsets, registries (the tools that they
            have now, with their switches), and lists of these.

    Raises:
        DuplicateToolError: two tools have the same name; `prefix` helps.
        TypeError: something is neither a tool nor a collection of tools.
    """

    _named: Mapping[str, Entry]
    _entries: Snapshot
    _default_offer: dict[None, Offer[Any]]

    def __init__(self: Toolset[Any], *members: Member) -> None:
        self._fill(entries_of(members))

    def _fill(self, entries: Iterable[Entry]) -> None:
        named = {entry.tool.name: entry for entry in entries}
        tools = {name: entry.tool for name, entry in named.items()}
        describer = next((name for name, tool in tools.items() if tool.describes_tools), None)
        Value.__init__(
            self, named, Snapshot(tools, switches_of(named), enabled=True, describer=describer), {}
        )

    @classmethod
    def _made(cls, entries: Iterable[Entry]) -> Toolset[Any]:
        made: Toolset[Any] = cls.__new__(cls)
        made._fill(entries)  # its own class
        return made

    # --- one request -----------------------------------------------------------------------------

    def offer(
        self,
        *,
        only: Selections | None = None,
        also: Selections = (),
        required: Required = None,
        strict: Strict = False,
        descriptions: Mapping[str, str] | None = None,
        context: Context | None = None,
    ) -> Offer[Input]:
        """Say what one request offers to the model: all tools that aren't hidden, unless told otherwise.

        Tools that are switched off (`enabled=False`) are never offered.

        Args:
            only: a tool, name or toolset, or several: exactly these are offered, hidden or not.
            also: a tool, name or toolset, or several: hidden ones that are offered too.
            required: None if the model may answer without a call, `"any"` if it has to call a tool, `"none"`
                if it may not call any, a tool or name for this one.
            strict: whether the provider has to hold the model to the schemas; `"auto"` for the tools that its
                strict mode takes.
            descriptions: names of tools to descriptions for this request; what
                `await hooks.descriptions(toolset)` returns, with changes of your own.
            context: for switches that take one.

        Raises:
            OfferError: what is required isn't available.
            ToolNotFoundError: there is no tool of a name.
            TypeError: an argument is of another kind, or both `only` and `also` are given.
        """
        if (
            only is None
            and also == ()
            and required is None
            and strict is False
            and not descriptions
            and context is None
        ):
            return self._default_offer.get(None) or self._offer_by_default()
        from .offer import make_offer

        return make_offer(
            self, only, also, required, strict=strict, descriptions=descriptions, context=context
        )

    def definitions(
        self,
        *,
        only: Selections | None = None,
        also: Selections = (),
        context: Context | None = None,
        **options: Unpack[StyleOptions],
    ) -> list[ToolDefinition]:
        """List name, description and input schema of the tools that a request offers.

        Args:
            only: as for `offer`.
            also: as for `offer`.
            context: for switches that take one.
            inline, boolean_schemas, empty_schemas: as `json_schema` takes them.
        """
        return self.offer(only=only, also=also, context=context).definitions(**options)

    def _offer_by_default(self) -> Offer[Any]:
        """Return what `offer()` says, and keep it if no switch is a function that may say otherwise later."""
        from .offer import make_offer

        found = make_offer(self)
        shown = [name for name in self.names if not self.is_hidden(name)]
        if all(isinstance(self._entries.switch_of(name), bool) for name in shown):
            self._default_offer[None] = found
        return found

    def restore_round(self, data: object, /, *, secret: bytes | None = None) -> Round[Input]:
        """Make a round of what `round.as_dict` returned, also in another process; nothing is run.

        Args:
            data: JSON values, or the text of them.
            secret: that was given to `as_dict`.

        Returns:
            A round equal to the saved one. `NeedsInput(answer_type=…)` isn't saved: the answer to a
            question then has the type of its parameter.

        Raises:
            RestoreError: something no longer fits. Its `round` is the round in which the calls that no
                longer fit are issues, if the rest can be used.
            TypeError: the secret isn't bytes.
            ValueError: it is shorter than 16 bytes.
        """
        from .restore import restore_round

        return restore_round(self, data, secret)

    # --- making others ---------------------------------------------------------------------------

    def __or__(self, other: Toolset[Any]) -> Toolset[Any]:
        """Return the tools of both; a tool that both have is there once, as it is in this one.

        Raises:
            DuplicateToolError: two different tools have the same name.
        """
        if not isinstance(other, Toolset):  # what callers promise, some do not
            return NotImplemented
        both = [*self._derived(), *other._derived()]  # its own class
        return self._made(merged(both, same_is_one=True).values())

    def only(self, *selections: Selection) -> Toolset[Any]:
        """Return a toolset of these tools alone, in the order that they have here.

        Args:
            selections: names, tools, and toolsets for all of their tools.

        Raises:
            ToolNotFoundError: one isn't there.
        """
        names = set(self.names_of(*selections))
        return self._made([entry for entry in self._derived() if entry.tool.name in names])

    def without(self, *selections: Selection) -> Toolset[Any]:
        """Return a toolset of the other tools.

        Args:
            selections: names, tools, and toolsets for all of their tools.

        Raises:
            ToolNotFoundError: one isn't there.
        """
        names = set(self.names_of(*selections))
        return self._made([entry for entry in self._derived() if entry.tool.name not in names])

    def hide(self, *selections: Selection) -> Toolset[Any]:
        """Return the same tools with these hidden: requests offer them only if they are asked to.

        `offer(also=…)` and `offer(only=…)` ask for them. Whoever lists the tools without an offer, such as a
        framework, doesn't get them.

        Args:
            selections: names, tools, and toolsets for all of their tools.

        Raises:
            ToolNotFoundError: one isn't there.
        """
        names = set(self.names_of(*selections))
        return self._made(
            [
                entry.replace(is_hidden=True) if entry.tool.name in names else entry
                for entry in self._derived()
            ]
        )

    def prefix(self, names: str = "", descriptions: str = "") -> Toolset[Any]:
        """Return the same tools under longer names, or with longer descriptions.

        Args:
            names: goes before each name, such as `files_`.
            descriptions: goes before each summary, such as `Files: `.

        Raises:
            SchemaError: a name is refused by providers.
        """
        longer: list[Entry] = []
        for entry in self._derived():
            tool = entry.tool
            summary = descriptions + tool.summary if descriptions else None
            longer.append(entry.replace(tool=tool.with_(name=names + tool.name, summary=summary)))
        return self._made(longer)

    def with_(self, **changes: Unpack[ToolChanges]) -> Toolset[Any]:
        """Return the same tools with other options, such as `with_(repair=True)`.

        Args:
            changes: options that make sense for all of them, as for `Tool.with_`.

        Raises:
            DuplicateToolError: two tools would have the same name.
            SchemaError: an option doesn't fit a tool.
            TypeError: there is no such option.
        """
        changed = [entry.replace(tool=entry.tool.with_(**changes)) for entry in self._derived()]
        return self._made(merged(changed).values())

    def _derived(self) -> list[Entry]:
        """List the tools as those of another toolset, where hooks for this one still apply."""
        return [
            entry.replace(sources=(*entry.sources, Source(self, name))) for name, entry in self._named.items()
        ]

    # --- as a value ------------------------------------------------------------------------------

    def __copy__(self) -> Toolset[Input]:
        return self

    def __deepcopy__(self, memo: object) -> Toolset[Input]:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (tuple(self._named.values()),)


def _restored(entries: tuple[Entry, ...]) -> Toolset[Any]:
    """Return a toolset from its pickle."""
    return Toolset._made(entries)  # noqa: SLF001  # its own class
