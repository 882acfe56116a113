"""Toolset: the tools of an application, as one immutable value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar

from ..errors import DuplicateToolError, SchemaError
from ..immutable import Value
from ..message_text import as_written, checked_text, nearest, received
from ..tools.metadata import FLAGS, check_switch
from ..tools.options import are_names
from ..tools.tool import Tool
from ..tools.tool_sources import methods_of, offered_by_distributions, some_tools_of
from .named_tools import NamedTools, SwitchedTools, ToolEntry, ToolOrigin, entries_of, merged

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from types import ModuleType
    from typing import TypeAlias, Unpack

    from ..schema.style import StyleOptions
    from ..tools.metadata import Switch
    from ..tools.options import ToolChanges
    from ..tools.tool import ToolDefinition
    from .hooks import Hooks
    from .named_tools import Member, Selection
    from .offer import Offer, Required, Selections, Strict
    from .round import Round
    from .signatures import Secret

    Context: TypeAlias = Mapping[Any, Any]

__all__ = ["ENTRY_POINTS", "Toolset"]

ENTRY_POINTS = "operator_schema.tools"
"""The group of entry points in which a distribution names its tools."""

Made = TypeVar("Made")
Input = TypeVar("Input", covariant=True)  # noqa: PLC0105  # it reads like the word


class Toolset(NamedTools, Value, Generic[Input]):
    """Tools as one immutable value, in the order in which the model sees them.

    Take a `Registry` where tools come and go while your program runs. Take a `Toolset` where you control
    each turn: what a request offers, what hooks decide, and which calls wait for a person.

    Toolsets inside are flattened, and keep their hooks. Wherever a tool has to be named, give its name or
    the tool itself.
    Two toolsets are equal if they have the same tools in the same order, with the same ones hidden or
    switched, and the same hooks.

    Args:
        members: tools made by `@tool` and `@tool_input`, other toolsets, registries (the tools that they
            have now, with their switches), lists of these, and mappings from names to tools: a tool gets
            its key as its name.
        hooks: `Hooks`, a function, or a list of these, for these tools alone. They apply wherever the tools
            are called, also as part of another toolset and under other names, after those of the executor.

    Raises:
        DuplicateToolError: two tools have the same name; `prefix` helps.
        SchemaError: providers refuse a key of a mapping as a name.
        ToolNotFoundError: a hook is for a tool that isn't there.
        TypeError: something is neither a tool nor a collection of tools, or isn't a hook.
    """

    _named: Mapping[str, ToolEntry]
    switched_tools: SwitchedTools  # pyright: ignore[reportIncompatibleMethodOverride]  # a registry reads it anew
    _own_hooks: Hooks | None
    _kept: dict[str, Any]  # what was asked for before

    def __init__(self: Toolset[Any], *members: Member, hooks: object = None) -> None:
        self._fill(entries_of(members), None)
        if hooks is not None:
            own = _as_hooks(hooks)
            own.bound_to(self)  # which refuses what isn't for these tools
            self._fill(dict(self._named), own)

    def _fill(self, named: dict[str, ToolEntry], hooks: Hooks | None) -> None:
        Value.__init__(self, named, SwitchedTools(named), hooks, {})

    @classmethod
    def of_entries(cls, named: dict[str, ToolEntry], hooks: Hooks | None = None) -> Toolset[Any]:
        """Return a toolset of entries by their names, a dict that nobody else has.

        This is for the rest of this package.
        """
        made: Toolset[Any] = cls.__new__(cls)
        made._fill(named, hooks)  # its own class
        return made

    @property
    def toolset(self) -> Toolset[Input]:
        """The toolset itself."""
        return self

    @property
    def hooks(self) -> Hooks | None:
        """Its own hooks, and then those of the toolsets that its tools came from; None without any."""
        return self._once("hooks", self._found_hooks)

    @property
    def listed_names(self) -> tuple[str, ...]:
        """The names of the tools that a request offers without being asked for them, if they are on."""
        return self._once(
            "listed", lambda: tuple([name for name, entry in self._named.items() if entry.is_listed])
        )

    def _once(self, key: str, make: Callable[[], Made]) -> Made:
        if key not in self._kept:
            self._kept[key] = make()
        found: Made = self._kept[key]
        return found

    def _found_hooks(self) -> Hooks | None:
        every: dict[int, Any] = {id(self): self}  # the outer ones first
        for entry in self._named.values():
            for source in reversed(entry.sources):
                every[id(source.toolset)] = source.toolset
        bound = [one._own_hooks.bound_to(one) for one in every.values() if _has_own_hooks(one)]  # noqa: SLF001  # its own class
        return _as_hooks(bound) if bound else None

    def entries_after(self, before: Toolset[Any]) -> dict[str, ToolEntry]:
        """Return its content for a registry that replaces another content, without the steps in between.

        A registry that changes again and again would keep all of them.
        """
        found: dict[str, ToolEntry] = {}
        for name, entry in self._named.items():
            own = [source for source in entry.sources if source.toolset is before]
            known = entry.sources if not own else before._named[own[0].name].sources  # its own class
            new = [] if not own else [one for one in entry.sources if one not in known]
            steps = [one for one in new if _has_own_hooks(one.toolset)]
            last = [] if self._own_hooks is None else [ToolOrigin(self, name)]
            found[name] = entry.replace(sources=(*known, *steps, *last))
        return found

    # --- where tools come from -------------------------------------------------------------------

    @classmethod
    def from_module(cls, module: ModuleType | str, /) -> Toolset[Any]:
        """Make a toolset of the tools of a module.

        Args:
            module: a module, or its name, by which it is imported.

        Returns:
            The tools that `__all__` names; without `__all__`, those under a name without a leading
            underscore that are not merely imported from the module that made them. In the order of
            their definition.

        Raises:
            DuplicateToolError: two of them have the same name.
            ValueError: it has no tools, such as a package whose tools are all in its submodules; or they
                aren't its own. A module with an empty `__all__` gives an empty toolset.
        """
        return cls(*some_tools_of(module))

    @classmethod
    def from_object(cls, instance: object, /) -> Toolset[Any]:
        """Make a toolset of the methods of an object that are tools.

        Args:
            instance: an instance of a class with methods that `@tool` decorates.

        Returns:
            The tools of its class and of the bases, bound to the instance: methods, class methods and
            static methods, under names without a leading underscore. In the order of their definition,
            methods of the bases come first. Properties are not run.

        Raises:
            DuplicateToolError: two of them have the same name.
            TypeError: it is a class or a module, or a method can't be bound.
        """
        return cls(*methods_of(instance))

    @classmethod
    def from_entry_points(cls, group: str = ENTRY_POINTS, /) -> Toolset[Any]:
        """Make a toolset of the tools that installed distributions offer.

        Args:
            group: group of entry points. Each leads to a tool, a module, or several tools in one object, as
                for the class.

        Returns:
            The tools, ordered by the names of distribution and entry point.

        Raises:
            DuplicateToolError: two of them have the same name; a note says where the second one is.
            SchemaError: providers refuse a key of a mapping as a name; a note says where.
            TypeError: an entry point leads to something else; a note says which.
        """
        made: Toolset[Any] = cls()
        for place, found in offered_by_distributions(group):
            try:
                made = cls(made, found)
            except (DuplicateToolError, SchemaError, TypeError) as error:
                error.add_note(f"in the entry point {place}, group {group}")
                raise
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
        max_tokens: int | None = None,
        deferred: Selections = (),
    ) -> Offer[Input]:
        """Make an offer for one request: all tools that aren't hidden, unless told otherwise.

        Tools that are switched off (`enabled=False`) are never offered.

        Args:
            only: a tool, name or toolset, or several: exactly these are offered, hidden or not.
            also: a tool, name or toolset, or several: hidden ones that are offered too.
            required: None if the model may answer without a call, `"any"` if it has to call a tool, `"none"`
                if it may not call any, a tool or name for this one.
            strict: whether the provider has to make the model follow the schemas; `"auto"` for the tools that
                its strict mode takes.
            descriptions: names of tools to descriptions for this request; what
                `await hooks.descriptions(toolset)` returns, with changes of your own.
            context: for switches that take one.
            max_tokens: tokens that the definitions may take, counted as by `provider.report`, None for no
                limit. The required tool goes first, and then the others in their order, as long as there is
                room: `left_out` of the offer names the rest. Deferred tools take no room.
            deferred: a tool, name or toolset, or several: the model may call these, but sees them only after
                a search of its provider has found them. A provider without one refuses the offer.

        Raises:
            OfferError: the required tool isn't available, exceeds `max_tokens`, or is deferred.
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
            and max_tokens is None
            and deferred == ()
        ):
            return self._kept.get("offer") or self._offer_by_default()
        from .offer import make_offer  # an executor alone needs no offers

        return make_offer(
            self,
            only,
            also,
            required,
            strict=strict,
            descriptions=descriptions,
            context=context,
            max_tokens=max_tokens,
            deferred=deferred,
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
        """Make the offer without options, and keep it unless the switch of a tool is a function."""
        from .offer import make_offer  # as above

        found = make_offer(self)
        if all(isinstance(self.switched_tools.switch_of(name), bool) for name in self.listed_names):
            self._kept["offer"] = found
        return found

    def restore_round(self, data: object, /, *, secret: Secret = None) -> Round[Input]:
        """Make a round from what `round.as_dict` returned, even in another process; nothing is run.

        Args:
            data: JSON values, or JSON text.
            secret: the secret given to `as_dict`. Of a list, any may have signed the data: this way you can
                replace a key, `secret=[new, old]`, while rounds wait.

        Returns:
            A round equal to the saved one. `NeedsInput(answer_type=…)` isn't saved: the answer to a
            question then has the type of its parameter.

        Raises:
            RestoreError: something no longer fits. If the rest can be used, its `round` has it, with the
                calls that no longer fit as issues.
            TypeError: the secret isn't bytes.
            ValueError: it is shorter than 16 bytes.
        """
        from .restore import restore_round

        return restore_round(self, data, secret)

    # --- making others ---------------------------------------------------------------------------

    def __or__(self, other: Toolset[Any]) -> Toolset[Any]:
        """Return the tools of both; a tool in both appears once, as it is in this one.

        Raises:
            DuplicateToolError: two different tools have the same name.
        """
        if not isinstance(other, Toolset):  # what callers promise, some do not
            return NotImplemented
        both = [*self._derived(), *other._derived()]  # its own class
        return self.of_entries(merged(both, same_is_one=True))

    def map(self, change: Callable[[ToolEntry], ToolEntry | None], /) -> Toolset[Any]:
        """Return the tools as a function changes them, such as all that are risky with `confirm=True`.

        All other methods that return a toolset of these tools are made of it. Hooks of this toolset still
        apply.

        Args:
            change: a plain function that takes a `ToolEntry`, and returns it, another one such as
                `entry.replace(tool=entry.tool.with_(confirm=True))`, or None to leave the tool out.

        Raises:
            DuplicateToolError: two tools would have the same name.
            TypeError: it isn't a function, or returns something else.
            Exception: what it raises.
        """
        if not callable(change):
            message = f"map takes a function of a ToolEntry, not {received(change)}"
            raise TypeError(message)
        changed: list[ToolEntry] = []
        for entry in self._derived():
            made: Any = change(entry)
            if made is None:
                continue
            _check_entry(made, entry.switch)
            # The hooks of a tool are found by its sources, so no function loses them.
            changed.append(made if made.sources is entry.sources else made.replace(sources=entry.sources))
        return self.of_entries(merged(changed))

    def only(self, *selections: Selection, **wanted: Unpack[OnlyOptions]) -> Toolset[Any]:
        """Return a toolset of only these tools, in their order here.

        Args:
            selections: names, tools, and toolsets for all of their tools; all tools if there are none, and
                something is wanted.
            wanted: what the tools must state, as in `only(read_only=True)`, and `tags`, of which they must
                have all. What a tool doesn't state is neither True nor False.

        Raises:
            ToolNotFoundError: one isn't there.
            TypeError: something else is wanted.
        """
        names = set(self.names_of(*selections) if selections or not wanted else self.names)
        if wanted:
            names &= {tool.name for tool in _that_state(self, wanted)}
        return self.map(lambda entry: entry if entry.name in names else None)

    def without(self, *selections: Selection) -> Toolset[Any]:
        """Return a toolset of the other tools.

        Args:
            selections: names, tools, and toolsets for all of their tools.

        Raises:
            ToolNotFoundError: one isn't there.
        """
        names = set(self.names_of(*selections))
        return self.map(lambda entry: None if entry.name in names else entry)

    def hide(self, *selections: Selection) -> Toolset[Any]:
        """Return the same tools with these hidden, so that requests offer them only if asked to.

        `offer(also=…)` and `offer(only=…)` ask for them. Hosts that list the tools without an offer, such as
        a framework, don't get them.

        Args:
            selections: names, tools, and toolsets for all of their tools.

        Raises:
            ToolNotFoundError: one isn't there.
        """
        names = set(self.names_of(*selections))
        return self.map(lambda entry: entry.replace(is_hidden=True) if entry.name in names else entry)

    def switch(self, *tools: Selection, enabled: Switch | None) -> Toolset[Any]:
        """Return the same tools with these switched on or off, whatever the tools themselves say.

        Args:
            tools: names, tools, and toolsets for all of their tools.
            enabled: a boolean, or a function that is asked every time. One that needs an argument gets the
                context of the call, or an empty mapping if there is none. None leaves it to the tool.

        Raises:
            ToolNotFoundError: one isn't there.
            TypeError: `enabled` is something else, or no tools are named.
        """
        names = set(self._names_to_switch(tools, enabled))
        return self.map(lambda entry: entry.replace(switch=enabled) if entry.name in names else entry)

    def prefix(self, names: str = "", descriptions: str = "") -> Toolset[Any]:
        """Return the same tools under longer names, or with longer descriptions.

        Args:
            names: goes before each name, such as `files_`.
            descriptions: goes before each summary, such as `Files: `.

        Raises:
            SchemaError: a name is refused by providers.
            TypeError: one of the two isn't a string.
        """
        checked_text("the prefix of names", names)
        checked_text("the prefix of descriptions", descriptions)

        def longer(entry: ToolEntry) -> ToolEntry:
            summary = descriptions + entry.tool.summary if descriptions else None
            return entry.replace(tool=entry.tool.with_(name=names + entry.name, summary=summary))

        return self.map(longer)

    def with_(self, **changes: Unpack[ToolChanges]) -> Toolset[Any]:
        """Return the same tools with other options, such as `with_(repair=True)`.

        Args:
            changes: options that make sense for all of them, as for `Tool.with_`.

        Raises:
            DuplicateToolError: two tools would have the same name.
            SchemaError: an option doesn't fit a tool.
            TypeError: there is no such option.
        """
        return self.map(lambda entry: entry.replace(tool=entry.tool.with_(**changes)))

    def _derived(self) -> list[ToolEntry]:
        """List the tools as members of another toolset, where hooks for this one still apply."""
        return [
            entry.replace(sources=(*entry.sources, ToolOrigin(self, name)))
            for name, entry in self._named.items()
        ]

    # --- as a value ------------------------------------------------------------------------------

    def _key(self) -> tuple[Any, ...]:
        own = [(entry.tool, entry.is_hidden, entry.switch, entry.found) for entry in self._named.values()]
        return (*own, self._own_hooks)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Toolset):
            return NotImplemented
        return self is other or (len(self) == len(other) and self._key() == other._key())  # pyright: ignore[reportUnknownArgumentType]  # of whatever input

    def __hash__(self) -> int:
        return hash(tuple([(entry.tool, entry.is_hidden) for entry in self._named.values()]))

    def __repr__(self) -> str:
        shown = [name if entry.is_listed else f"{name} (hidden)" for name, entry in self._named.items()]
        return f"Toolset({', '.join(shown)})"

    def __copy__(self) -> Toolset[Input]:
        return self

    def __deepcopy__(self, memo: object) -> Toolset[Input]:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Toolset.of_entries, (dict(self._named), self._own_hooks)


def _check_entry(made: Any, switch: Switch | None) -> None:
    """Check what a function given to `map` returned.

    Args:
        made: what it returned.
        switch: the switch of the entry before.

    Raises:
        TypeError: it isn't an entry, or has something else as its tool, its switch or `is_hidden`.
    """
    expected = "map takes a function that returns a ToolEntry or None, not"
    if not isinstance(made, ToolEntry):
        remedy = ": write entry.replace(tool=…)" if isinstance(made, Tool) else ""
        message = f"{expected} {received(made)}{remedy}"  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]  # of any tool
        raise TypeError(message)
    if not isinstance(made.tool, Tool):  # pyright: ignore[reportUnnecessaryIsInstance]  # what callers promise, some do not
        message = f"{expected} one whose tool is {received(made.tool)}"
        raise TypeError(message)
    if not isinstance(made.is_hidden, bool):  # pyright: ignore[reportUnnecessaryIsInstance]  # the same
        message = f"is_hidden must be True or False, not {received(made.is_hidden)}"
        raise TypeError(message)
    if made.switch is not None and made.switch is not switch:
        check_switch(made.switch)


def _has_own_hooks(toolset: Any) -> bool:
    return toolset._own_hooks is not None  # noqa: SLF001  # its own class


# --- tools that state something ------------------------------------------------------------------


class OnlyOptions(TypedDict, total=False):
    """Options of `Toolset.only`."""

    tags: Collection[str]
    read_only: bool | None
    destructive: bool | None
    idempotent: bool | None
    open_world: bool | None
    confirm: bool | None


def _that_state(tools: Iterable[Tool[..., Any]], wanted: Mapping[str, Any]) -> list[Tool[..., Any]]:
    """List the tools that have all tags and state all of this; what isn't stated isn't False.

    Raises:
        TypeError: something is asked for that tools don't state, or with a value other than True or False.
    """
    for name, value in wanted.items():
        _check(name, value)
    tags = frozenset(wanted.get("tags", ()))
    flags = [(name, wanted[name]) for name in FLAGS if wanted.get(name) is not None]
    return [tool for tool in tools if tags.issubset(tool.tags) and _states(tool, flags)]


def _states(tool: Tool[..., Any], flags: list[tuple[str, bool]]) -> bool:
    return all(getattr(tool.annotations, name) is value for name, value in flags)


def _check(name: str, value: Any) -> None:
    if name == "tags":
        if not are_names(value):
            message = f'only() takes tags=("files",), not {as_written(value)}'
            raise TypeError(message)
        return
    if name not in FLAGS:
        near = nearest(name, ["tags", *FLAGS])
        hint = f"did you mean {near}?" if near else f"it takes tags, {', '.join(FLAGS)}"
        message = f"only() got an unexpected option {name!r}; {hint}"
        raise TypeError(message)
    if value is not None and not isinstance(value, bool):
        message = f"only() takes True or False for {name}, not {as_written(value)}"
        raise TypeError(message)


def _as_hooks(given: object) -> Hooks:
    from .hooks import hooks_of  # most tools have none

    return hooks_of(given)
