"""The toolset: the tools of an application, as one immutable value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar

from ..errors import DuplicateToolError, SchemaError
from ..immutable import Value
from ..message_text import as_written, checked_switch, checked_text, received
from ..tools.metadata import FLAGS, check_switch
from ..tools.options import are_names
from ..tools.tool import Tool
from ..tools.tool_sources import methods_of, offered_by_distributions, some_tools_of
from .named_tools import NamedTools, SwitchedTools, ToolEntry, ToolOrigin, by_name, entries_of, nested

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from types import ModuleType
    from typing import TypeAlias, Unpack

    import typing_extensions  # a type checker has it

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

    Input = typing_extensions.TypeVar("Input", covariant=True, default=Any)  # noqa: PLC0105  # it reads like the word

ENTRY_POINTS = "operator_schema.tools"
"""The group of entry points in which an installed package names its tools."""

Made = TypeVar("Made")
if not TYPE_CHECKING:
    Input = TypeVar("Input", covariant=True)  # noqa: PLC0105  # it reads like the word


class Toolset(NamedTools, Value, Generic[Input]):
    """Tools as one immutable value, in the order in which the model sees them.

    Use a `Registry` if tools are added and removed while your program runs. Use a `Toolset` to control each
    turn: the tools that a request offers, the decisions of hooks, and the calls that wait for a person.

    Nested toolsets are flattened, and keep their hooks. To name a tool, give its name or the tool itself. Two
    toolsets are equal if they have the same tools in the same order, with the same ones hidden or switched,
    and the same hooks.

    Args:
        members: tools made by `@tool` and `@tool_input`, other toolsets, registries (their present tools,
            with the switches), lists of these, and mappings from names to tools: each tool gets its key as
            its name.
        hooks: `Hooks`, a function, or a list of these, for these tools alone. They apply whenever the tools
            are called, also as part of another toolset and under other names, after the hooks of the
            executor.

    Raises:
        DuplicateToolError: two tools have the same name; `prefix` helps.
        SchemaError: providers refuse a key of a mapping as a name.
        ToolNotFoundError: a hook is for a tool that isn't there.
        TypeError: something is neither a tool nor a collection of tools, or isn't a hook.
    """

    _named: Mapping[str, ToolEntry]
    switched_tools: SwitchedTools  # pyright: ignore[reportIncompatibleMethodOverride]  # a registry reads it anew
    _own_hooks: Hooks | None
    _kept: dict[str, Any]  # the results of earlier reads

    def __init__(self: Toolset[Any], *members: Member, hooks: object = None) -> None:
        self._fill(entries_of(members), None)
        if hooks is not None:
            own = _as_hooks(hooks)
            own.bound_to(self)  # `Hooks` refuses hooks for other tools
            self._fill(dict(self._named), own)

    def _fill(self, named: dict[str, ToolEntry], hooks: Hooks | None) -> None:
        Value.__init__(self, named, SwitchedTools(named), hooks, {})

    @classmethod
    def of_entries(cls, named: dict[str, ToolEntry], hooks: Hooks | None = None) -> Toolset[Any]:
        """Return a toolset of entries by their names; nobody else may have a reference to the dict.

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
        """The hooks of the toolset, then those of the toolsets that its tools came from; None without any."""
        return self._once("hooks", self._all_hooks)

    @property
    def listed_names(self) -> tuple[str, ...]:
        """The names of the tools that a request offers without asking for them, if they are switched on."""
        return self._once("listed", lambda: tuple([entry.name for entry in self.entries if entry.is_listed]))

    def _once(self, key: str, make: Callable[[], Made]) -> Made:
        if key not in self._kept:
            self._kept[key] = make()
        found: Made = self._kept[key]
        return found

    def _all_hooks(self) -> Hooks | None:
        every: dict[int, Any] = {id(self): self}  # the outer ones first
        for entry in self._named.values():
            for source in reversed(entry.sources):
                every[id(source.toolset)] = source.toolset
        bound = [one._own_hooks.bound_to(one) for one in every.values() if _has_own_hooks(one)]  # noqa: SLF001  # its own class
        return _as_hooks(bound) if bound else None

    def entries_after(self, before: Toolset[Any]) -> dict[str, ToolEntry]:
        """Return the content for a registry that replaces other content, without the steps in between.

        A registry that changes again and again would otherwise keep all of these steps.
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

    # --- sources of tools ----------------------------------------------------------------------------

    @classmethod
    def from_module(cls, module: ModuleType | str, /) -> Toolset[Any]:
        """Make a toolset from the tools of a module.

        Args:
            module: a module, or its name, which is imported.

        Returns:
            The tools that `__all__` names. Without `__all__`, the tools under a name without a leading
            underscore that the module didn't merely import. They are in the order of their definition.

        Raises:
            DuplicateToolError: two of them have the same name.
            ValueError: the module has no tools, such as a package whose tools are all in its submodules; or
                all of its tools are imported. A module with an empty `__all__` gives an empty toolset.
        """
        return cls(*some_tools_of(module))

    @classmethod
    def from_object(cls, instance: object, /) -> Toolset[Any]:
        """Make a toolset from the methods of an object that are tools.

        Args:
            instance: an instance of a class with methods that `@tool` decorates.

        Returns:
            The tools of its class and of the bases, bound to the instance: methods, class methods and
            static methods, under names without a leading underscore. In the order of their definition,
            methods of the bases come first. Properties are not run.

        Raises:
            DuplicateToolError: two of them have the same name.
            TypeError: the object is a class or a module, or a method can't be bound.
        """
        return cls(*methods_of(instance))

    @classmethod
    def from_entry_points(cls, group: str = ENTRY_POINTS, /) -> Toolset[Any]:
        """Make a toolset of the tools that installed distributions offer.

        Args:
            group: the group of entry points. Each entry point refers to a tool, a module, or an object with
                several tools, as for the class.

        Returns:
            The tools, ordered by the names of the installed packages and entry points.

        Raises:
            DuplicateToolError: two of the tools have the same name; a note says where the second one is.
            SchemaError: providers refuse a key of a mapping as a name; a note says where.
            TypeError: an entry point refers to something else; a note says which one.
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
        """Make an offer for one request: by default, of all tools that aren't hidden.

        Tools that are switched off (`enabled=False`) are never offered.

        Args:
            only: a tool, name or toolset, or several: the offer contains exactly these tools, hidden or not.
            also: a tool, name or toolset, or several: hidden tools that are offered too.
            required: None if the model may answer without a call, `"any"` if it has to call a tool, `"none"`
                if it may not call any; a tool or name if it has to call this tool.
            strict: whether the provider has to make the model follow the schemas; with `"auto"`, only for the
                tools that its strict mode accepts.
            descriptions: the descriptions for this request by the names of the tools, such as the return
                value of `await hooks.descriptions(toolset)`, with your own changes.
            context: the context for switches that take one.
            max_tokens: the number of tokens that the definitions may take, counted as by `provider.report`;
                None for no limit. The required tool is included first, and then the others in order while
                there is room: `left_out` of the offer names the rest. Deferred tools don't count.
            deferred: a tool, name or toolset, or several: the model may call these, but sees them only after
                a search of its provider has found them. A provider without such a search refuses the offer.

        Raises:
            OfferError: the required tool isn't available, exceeds `max_tokens`, or is deferred.
            ToolNotFoundError: there is no tool of a name.
            TypeError: an argument has a wrong type, or both `only` and `also` are given.
        """
        options = (only, also, required, strict, descriptions, context, max_tokens, deferred)
        if options == _DEFAULT_OFFER and strict is False:  # 0 equals False, and is refused
            return self._kept.get("offer") or self._offer_by_default()
        from .offer import make_offer  # an executor alone needs no offers

        return make_offer(self, *options)

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
            context: the context for switches that take one.
            inline, boolean_schemas, empty_schemas: as for `json_schema`.
        """
        return self.offer(only=only, also=also, context=context).definitions(**options)

    def _offer_by_default(self) -> Offer[Any]:
        """Make the offer without options, and keep it unless the switch of a tool is a function."""
        from .offer import make_offer  # as above

        found = make_offer(self, *_DEFAULT_OFFER)
        if all(isinstance(self.switched_tools.switch_of(name), bool) for name in self.listed_names):
            self._kept["offer"] = found
        return found

    def restore_round(self, data: object, /, *, secret: Secret = None) -> Round[Input]:
        """Restore a round from the data of `round.as_dict`, even in another process; nothing is run.

        Args:
            data: JSON values, or JSON text.
            secret: the secret given to `as_dict`. With a list, any of the keys may have signed the data: so
                you can replace a key while rounds wait: `secret=[new, old]`.

        Returns:
            A round equal to the saved one. `NeedsInput(answer_type=…)` isn't saved: after that, the answer to
            a question has the type of its parameter.

        Raises:
            RestoreError: some data no longer fit. If the rest is usable, `round` of the error contains it,
                and the calls that no longer fit are issues.
            TypeError: the secret isn't bytes.
            ValueError: the secret is shorter than 16 bytes.
        """
        from .restore import restore_round

        return restore_round(self, data, secret)

    # --- changed copies ------------------------------------------------------------------------------

    def __or__(self, other: Toolset[Any]) -> Toolset[Any]:
        """Return the tools of both toolsets; a tool that is in both appears once, in its form from here.

        Raises:
            DuplicateToolError: two different tools have the same name.
        """
        if not isinstance(other, Toolset):  # some callers ignore the annotations
            return NotImplemented
        both = [*nested(self.entries, self), *nested(other.entries, other)]
        return self.of_entries(by_name(both, same_is_one=True))

    def map(self, change: Callable[[ToolEntry], ToolEntry | None], /) -> Toolset[Any]:
        """Return a toolset of these tools after a function has changed, kept or left out each of them.

        All other methods that return a toolset of these tools use this one. Hooks of this toolset still
        apply.

        Args:
            change: a plain function that takes a `ToolEntry`, and returns it, another one such as
                `entry.replace(tool=entry.tool.with_(confirm=True))`, or None to leave the tool out.

        Raises:
            DuplicateToolError: two tools would have the same name.
            TypeError: `function` isn't a function, or returns something else.
            Exception: the function raised it.
        """
        if not callable(change):
            message = f"map takes a function of a ToolEntry, not {received(change)}"
            raise TypeError(message)
        changed: list[ToolEntry] = []
        for entry in nested(self.entries, self):
            made: Any = change(entry)
            if made is None:
                continue
            _check_entry(made, entry.switch)
            # The hooks of a tool are found by its sources, so they still apply after any change.
            changed.append(made if made.sources is entry.sources else made.replace(sources=entry.sources))
        return self.of_entries(by_name(changed))

    def only(self, *selections: Selection, **wanted: Unpack[OnlyOptions]) -> Toolset[Any]:
        """Return a toolset of only these tools, in their order here.

        Args:
            selections: names, tools, and toolsets for all of their tools; without any, all tools, if `wanted`
                is given.
            wanted: the properties that the tools must state, as in `only(read_only=True)`, and `tags`, of
                which they must have all. If a tool doesn't state a property, it matches neither True nor
                False.

        Raises:
            ToolNotFoundError: one of the tools doesn't exist.
            TypeError: an option is unknown or has a wrong type.
        """
        names = set(self.names_of(*selections) if selections or not wanted else self.names)
        if wanted:
            names &= {tool.name for tool in _with_properties(self, wanted)}
        return self.map(lambda entry: entry if entry.name in names else None)

    def without(self, *selections: Selection) -> Toolset[Any]:
        """Return a toolset of the other tools.

        Args:
            selections: names, tools, and toolsets for all of their tools.

        Raises:
            ToolNotFoundError: one of the tools doesn't exist.
        """
        names = set(self.names_of(*selections))
        return self.map(lambda entry: None if entry.name in names else entry)

    def hide(self, *selections: Selection) -> Toolset[Any]:
        """Return the same tools with these hidden, so that requests offer them only if they ask for them.

        `offer(also=…)` and `offer(only=…)` ask for them. Hosts that list the tools without an offer, such as
        frameworks, don't get hidden tools.

        Args:
            selections: names, tools, and toolsets for all of their tools.

        Raises:
            ToolNotFoundError: one of the tools doesn't exist.
        """
        names = set(self.names_of(*selections))
        return self.map(lambda entry: entry.replace(is_hidden=True) if entry.name in names else entry)

    def switch(self, *tools: Selection, enabled: Switch | None) -> Toolset[Any]:
        """Return the same tools with these switched on or off, which overrides their own switches.

        Args:
            tools: names, tools, and toolsets for all of their tools.
            enabled: a boolean, or a function that is called every time. A function with a parameter gets the
                context of the call, or an empty mapping if there is none. None leaves the decision to the
                tool.

        Raises:
            ToolNotFoundError: one of the tools doesn't exist.
            TypeError: `enabled` has a wrong type, or no tools are named.
        """
        names = set(self._names_to_switch(tools, enabled))
        return self.map(lambda entry: entry.replace(switch=enabled) if entry.name in names else entry)

    def prefix(self, names: str = "", descriptions: str = "") -> Toolset[Any]:
        """Return the same tools under longer names, or with longer descriptions.

        Args:
            names: the prefix for each name, such as `files_`.
            descriptions: the prefix for each summary, such as `Files: `.

        Raises:
            SchemaError: providers refuse a name.
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
            changes: options that all of the tools have, as for `Tool.with_`.

        Raises:
            DuplicateToolError: two tools would have the same name.
            SchemaError: an option doesn't fit a tool.
            TypeError: there is no such option.
        """
        return self.map(lambda entry: entry.replace(tool=entry.tool.with_(**changes)))

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


_DEFAULT_OFFER: Any = (None, (), None, False, None, None, None, ())
"""The options of `Toolset.offer` if none is given."""


def _check_entry(made: Any, switch: Switch | None) -> None:
    """Check what a function given to `map` returned."""
    expected = "map takes a function that returns a ToolEntry or None, not"
    if not isinstance(made, ToolEntry):
        remedy = ": write entry.replace(tool=…)" if isinstance(made, Tool) else ""
        message = f"{expected} {received(made)}{remedy}"  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]  # of any tool
        raise TypeError(message)
    if not isinstance(made.tool, Tool):  # pyright: ignore[reportUnnecessaryIsInstance]  # what callers promise, some do not
        message = f"{expected} one whose tool is {received(made.tool)}"
        raise TypeError(message)
    checked_switch("is_hidden", made.is_hidden)
    if made.switch is not None and made.switch is not switch:
        check_switch(made.switch)


def _has_own_hooks(toolset: Any) -> bool:
    return toolset._own_hooks is not None  # noqa: SLF001  # its own class


# --- selecting tools by their properties ---------------------------------------------------------


class OnlyOptions(TypedDict, total=False):
    """Options of `Toolset.only`."""

    tags: Collection[str]
    read_only: bool | None
    destructive: bool | None
    idempotent: bool | None
    open_world: bool | None
    confirm: bool | None


def _with_properties(tools: Iterable[Tool[..., Any]], wanted: Mapping[str, Any]) -> list[Tool[..., Any]]:
    """List the tools with all these tags and properties; a property that a tool doesn't state isn't False."""
    for name, value in wanted.items():
        _check_property(name, value)
    tags = frozenset(wanted.get("tags", ()))
    flags = [(name, wanted[name]) for name in FLAGS if wanted.get(name) is not None]
    return [
        tool
        for tool in tools
        if tags.issubset(tool.tags) and all(getattr(tool.annotations, name) is value for name, value in flags)
    ]


def _check_property(name: str, value: Any) -> None:
    if name == "tags":
        if not are_names(value):
            message = f'only() takes tags=("files",), not {as_written(value)}'
            raise TypeError(message)
        return
    if name not in FLAGS:
        from ..similar_names import nearest

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
