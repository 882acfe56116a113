"""Toolset: the tools of an application, as one immutable value."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..immutable import Value
from ..tools.snapshot import Snapshot
from .entries import Entry, Source, entries_of, merged, switches_of
from .named_tools import NamedTools

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import TypeAlias, Unpack

    from ..schema.style import StyleOptions
    from ..tools.calls import RawCall
    from ..tools.options import ToolChanges
    from ..tools.tool import ToolDefinition
    from .entries import Member
    from .named_tools import Selection
    from .offer import Available, Offer, Required
    from .plan import ToolRoundPlan
    from .round import ModelAnswer, ToolRound

    Context: TypeAlias = Mapping[Any, Any]

__all__ = ["Toolset"]

Input = TypeVar("Input", covariant=True)  # noqa: PLC0105  # it reads like the word


class Toolset(NamedTools, Value, Generic[Input]):
    """Tools as one immutable value, in the order in which the model sees them.

    Take a `Registry` where tools come and go while your program runs. Take a `Toolset` where you control
    each turn: what a request offers, what hooks decide, and which calls wait for a person.

    Toolsets inside are flattened. Wherever a tool has to be named, give its name or the tool itself.
    Two toolsets are equal if they have the same tools in the same order, with the same ones off.

    Args:
        members: tools made by `@tool` and `@tool_input`, other toolsets, registries (the tools that they
            have now, with their switches), and any of these in `off(…)`.

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
        available: Available = "default",
        required: Required = "optional",
        *,
        descriptions: Mapping[str, str] | None = None,
        context: Context | None = None,
    ) -> Offer[Input]:
        """Resolve what one request offers to the model.

        Args:
            available: `"default"` for the tools that aren't off, `"all"`, `Only([…])` for exactly these,
                or `DefaultPlus([…])` for these beside the default ones. Tools that are switched off
                (`enabled=False`) are never offered.
            required: `"optional"` if the model may answer without a call, `"at_least_one"` if it has to
                call a tool, `Specific(tool)` for this one.
            descriptions: names of tools to descriptions for this request; what
                `await hooks.descriptions(toolset)` returns, with changes of your own.
            context: for switches that take one.

        Raises:
            OfferError: what is required isn't available.
            ToolNotFoundError: there is no tool of a name.
            TypeError: an argument is of another kind.
        """
        if available == "default" and required == "optional" and not descriptions and context is None:
            return self._default_offer.get(None) or self._offer_by_default()
        from .offer import offer

        return offer(self, self._entries, available, required, descriptions or {}, context)

    def definitions(
        self,
        available: Available = "default",
        *,
        context: Context | None = None,
        **options: Unpack[StyleOptions],
    ) -> list[ToolDefinition]:
        """List name, description and input schema of the tools that a request offers.

        Args:
            available: as for `offer`.
            context: for switches that take one.
            inline, boolean_schemas, empty_schemas: as `json_schema` takes them.
        """
        return self.offer(available, context=context).definitions(**options)

    def round(
        self,
        calls: Iterable[RawCall] | ModelAnswer,
        /,
        offer: Offer[Any] | None = None,
        *,
        assistant: Any = None,
    ) -> ToolRound[Input]:
        """Decode the calls of one turn of the model; nothing is run.

        Args:
            calls: the answer of a provider, with its message; or calls as the model sent them, whose ids may
                repeat.
            offer: what the request offered; None for what `self.offer()` says now.
            assistant: beside calls alone, the rest of the model's turn, as JSON: its text, or the provider's
                own message. It is kept, and comes back in `Turn.assistant`.

        Raises:
            RoundError: `assistant` nests deeper than 200 levels, or has a number that isn't JSON.
            TypeError: one isn't a `RawCall`, `assistant` isn't JSON, or the offer isn't one.
            ValueError: the offer is that of another toolset.
        """
        if offer is None:
            offer = self.offer()
        made: ToolRound[Input] = _make_round()(self, calls, offer, assistant)
        return made

    def _offer_by_default(self) -> Offer[Any]:
        """Return what `offer()` says, and keep it if no switch is a function that may say otherwise later."""
        from .offer import offer

        found = offer(self, self._entries, "default", "optional", {}, None)
        shown = [name for name in self.names if not self.is_off(name)]
        if all(isinstance(self._entries.switch_of(name), bool) for name in shown):
            self._default_offer[None] = found
        return found

    def restore_plan(self, data: object, /, *, secret: bytes | None = None) -> ToolRoundPlan[Input]:
        """Make a plan of what `plan.as_dict` returned, also in another process; nothing is run.

        Args:
            data: JSON values, or the text of them.
            secret: that was given to `as_dict`.

        Returns:
            A plan equal to the saved one. `NeedsInput(answer_type=…)` isn't saved: the answer to a
            question then has the type of its parameter.

        Raises:
            RestoreError: something no longer fits. Its `plan` is the plan in which the calls that no
                longer fit are issues, if the rest can be used.
            TypeError: the secret isn't bytes.
            ValueError: it is shorter than 16 bytes.
        """
        from .restore import restore_plan

        return restore_plan(self, data, secret)

    # --- making others ---------------------------------------------------------------------------

    def __or__(self, other: Toolset[Any]) -> Toolset[Any]:
        """Return the tools of both; a tool that both have is there once, as it is in this one.

        Raises:
            DuplicateToolError: two different tools have the same name.
        """
        if not isinstance(other, Toolset):  # pyright: ignore[reportUnnecessaryIsInstance]  # what callers promise, some do not
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


@cache  # asking for the import each time takes a fifth of a round with one call
def _make_round() -> Any:
    from .round import make_round

    return make_round


def _restored(entries: tuple[Entry, ...]) -> Toolset[Any]:
    """Return a toolset from its pickle."""
    return Toolset._made(entries)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # its own class
