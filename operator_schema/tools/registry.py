"""Tools by name: which of them a model may call, and the definitions that it gets."""

from __future__ import annotations

from _thread import RLock
from collections.abc import Collection
from types import MethodType
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from ..errors import DuplicateToolError, SchemaError, ToolNotFoundError
from ..immutable import Value
from ..message_text import as_written, nearest, nearest_names, received
from .failures import ERROR, write_log
from .metadata import FLAGS, check_switch
from .signature import close_awaitable, is_awaitable, is_coroutine_function, is_generator_function
from .snapshot import Snapshot, snapshot_of
from .tool_sources import (
    check_one_list,
    methods_of,
    offered_by_distributions,
    own_tools_of,
    places_of,
    tools_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import ModuleType
    from typing import Never, Self, Unpack

    from ..schema.style import StyleOptions
    from .metadata import Switch
    from .options import ToolChanges
    from .tool import Tool, ToolDefinition

    Context = Mapping[Any, Any]
    Listener = Callable[["RegistryChange"], object]

__all__ = ["Listeners", "Registry", "RegistryChange", "Wanted", "selected"]


AnyTool = TypeVar("AnyTool", bound="Tool[..., Any]")

_SUGGESTED = 3

ENTRY_POINTS = "operator_schema.tools"
"""The group of entry points in which a distribution names its tools."""


class Registry:
    """Tools by name, in the order of their registration.

    A registry may be read and changed by any number of threads at once: a reader sees it before a
    change or after it. With a tool of `describe_tools` among them, the definitions of the others have
    their summary alone, and their errors mention that tool.

    A copy, deep or not, has the same tools and switches and shares no changes. A tool of `describe_tools`
    in it still describes the tools of the first registry. A registry can be pickled if its tools and
    switches can: as functions are, by their names in a module. Listeners are not copied.

    Args:
        tools: the first tools, or a mapping from names to tools: a tool gets its key as its name.
        enabled: whether the model may call the tools without a switch of their own: a boolean, or a
            function that is called every time. One that needs an argument gets the context of the call,
            or an empty mapping if there is none.

    Raises:
        DuplicateToolError: two tools have the same name.
        SchemaError: providers refuse a key of the mapping as a name.
        TypeError: something isn't a tool, a key isn't a string, or `enabled` is neither.
    """

    __slots__ = (
        *("_describers", "_enabled", "_listeners", "_lock", "_snapshot", "_switches", "_tools"),
        "__weakref__",
    )

    def __init__(
        self,
        tools: Iterable[Tool[..., Any]] | Mapping[str, Tool[..., Any]] = (),
        /,
        *others: Never,
        enabled: Switch = True,
    ) -> None:
        check_one_list("Registry", tools, others)
        self._lock = RLock()
        self._listeners = Listeners()
        self._tools: dict[str, Tool[..., Any]] = {}
        self._switches: dict[str, Switch] = {}
        self._describers: list[str] = []
        self._enabled = check_switch(enabled)
        # Made at the first read after a change, so that registering one by one takes no copy each.
        self._snapshot: Snapshot | None = None
        self.merge(tools)

    @property
    def _entries(self) -> Snapshot:
        entries = self._snapshot
        if entries is None:
            with self._lock:
                describer = self._describers[0] if self._describers else None
                entries = Snapshot(dict(self._tools), dict(self._switches), self._enabled, describer)
                self._snapshot = entries
        return entries

    # --- changes ---------------------------------------------------------------------------------

    def register(self, tool: AnyTool, /) -> AnyTool:
        """Add a tool; also as a decorator above `@tool`.

        Returns:
            The tool.

        Raises:
            DuplicateToolError: its name is taken.
            TypeError: it isn't a tool.
        """
        self._add(tools_of([tool]), {})
        return tool

    def unregister(self, name: str, /) -> Tool[..., Any]:
        """Remove a tool.

        Returns:
            The tool.

        Raises:
            ToolNotFoundError: there is none of this name.
        """
        with self._lock:
            tool = self.get(name)
            del self._tools[name]
            self._switches.pop(name, None)
            if name in self._describers:
                self._describers.remove(name)
            self._snapshot = None
        self._listeners.tell(removed=(name,))
        return tool

    def merge(self, *others: Registry | Iterable[Tool[..., Any]] | Mapping[str, Tool[..., Any]]) -> Self:
        """Add all tools of others, or none if two would have the same name.

        The switches of another registry go with its tools. A tool of `describe_tools` describes
        its own registry, so it isn't added.

        Args:
            others: registries, lists of tools, or mappings, as for the class.

        Returns:
            This registry.

        Raises:
            DuplicateToolError: two tools have the same name.
            SchemaError: providers refuse a key of a mapping as a name.
            TypeError: something isn't a tool, or a key isn't a string.
        """
        added: list[Tool[..., Any]] = []
        switches: dict[str, Switch] = {}
        for other in others:
            entries = snapshot_of(other)
            if entries is None:
                added += tools_of(other)
                continue
            tools, own = other._content() if isinstance(other, Registry) else entries.content()  # noqa: SLF001  # its own class
            switches.update(own)
            added += tools
        self._add(added, switches)
        return self

    def switch(self, name: str, /, *, enabled: Switch | None) -> None:
        """Set whether the model may call one tool, whatever the tool itself says.

        Args:
            name: of the tool.
            enabled: a boolean, or a function that is called every time, as for the class; None leaves it
                to the tool and then to the registry, as before.

        Raises:
            ToolNotFoundError: there is none of this name.
            TypeError: `enabled` is neither.
        """
        if enabled is not None:
            check_switch(enabled)
        with self._lock:
            self.get(name)
            if self._switches.get(name) is enabled:
                return
            if enabled is None:
                del self._switches[name]
            else:
                self._switches[name] = enabled
            self._snapshot = None
        self._listeners.tell(switched=(name,))

    @property
    def enabled(self) -> Switch:
        """Whether the model may call the tools without a switch of their own."""
        return self._enabled

    @enabled.setter
    def enabled(self, enabled: Switch) -> None:
        check_switch(enabled)
        with self._lock:
            if enabled is self._enabled:
                return
            self._enabled = enabled
            self._snapshot = None
            entries = self._entries
        self._listeners.tell(
            switched=tuple([name for name in entries.tools if not entries.has_own_switch(name)])
        )

    def on_change(self, listener: Callable[[RegistryChange], object], /) -> Callable[[], None]:
        """Call a function after each change of the registry.

        It is called once for each call that adds, removes or switches tools, and not for one that changes
        nothing; in the thread of that call, when everybody can see the change. It may change the registry
        itself. If it raises an exception, that is logged, and nobody else notices. While several threads
        change the registry, changes may arrive in another order: read the registry to see how it is now.

        What a switch answers may change at any time, without a change of the registry.

        Args:
            listener: a plain function. The registry keeps a function, but not the instance of a bound
                method: when nothing else refers to the instance, its method isn't called any more.

        Returns:
            A function that ends this. It may be called more than once.

        Raises:
            TypeError: it isn't a plain function.
        """
        return self._listeners.add(listener)

    def _add(self, added: list[Tool[..., Any]], switches: Mapping[str, Switch]) -> None:
        with self._lock:
            named: dict[str, Tool[..., Any]] = {}
            for tool in added:
                other = self._tools.get(tool.name) or named.get(tool.name)
                if other is not None:
                    raise DuplicateToolError(tool.name, places_of(other, tool))
                named[tool.name] = tool
            self._tools.update(named)
            self._switches.update(switches)
            self._describers += [name for name, tool in named.items() if tool.describes_tools]
            self._snapshot = None
        self._listeners.tell(added=tuple(named))

    def _content(self) -> tuple[list[Tool[..., Any]], dict[str, Switch]]:
        """Return the tools that another registry may take over, and their switches."""
        found, switches = self._entries.content()
        tools = [tool for tool in found if not tool.describes_tools]
        return tools, {tool.name: switches[tool.name] for tool in tools if tool.name in switches}

    # --- reading ---------------------------------------------------------------------------------

    def get(self, name: str, /) -> Tool[..., Any]:
        """Return a tool, as it was registered.

        Raises:
            ToolNotFoundError: there is none of this name.
        """
        tool = self._tools.get(name)
        if tool is None:
            raise ToolNotFoundError(name, nearest_names(name, list(self._tools), _SUGGESTED))
        return tool

    def __getitem__(self, name: str, /) -> Tool[..., Any]:
        """Return a tool, as `get` does."""
        return self.get(name)

    def shown(self, name: str, /, *, context: Context | None = None) -> Tool[..., Any]:
        """Return a tool as the model sees it: with the name of the tool that describes it, if any.

        Args:
            name: of the tool.
            context: as for `offered`.

        Raises:
            ToolNotFoundError: there is none of this name; tools that are switched off aren't suggested.
        """
        entries = self._entries
        if name not in entries.tools:
            raise ToolNotFoundError(name, nearest_names(name, entries.offered(context), _SUGGESTED))
        return entries.shown(name, entries.described_by(context))

    def is_enabled(self, name: str, /, *, context: Context | None = None) -> bool:
        """Return whether the model may call a tool now.

        Args:
            name: of the tool.
            context: as for `offered`.

        Raises:
            ToolNotFoundError: there is none of this name.
            Exception: what its switch raises.
        """
        entries = self._entries
        if name not in entries.tools:
            self.get(name)
        return entries.is_enabled(name, context)

    def offered(self, *, context: Context | None = None) -> list[Tool[..., Any]]:
        """List the tools that the model may call now, as it sees them.

        Args:
            context: for switches that take one: what the executor gets for the calls.
        """
        entries = self._entries
        describer = entries.described_by(context)
        return [entries.shown(name, describer) for name in entries.offered(context)]

    def definitions(
        self, *, context: Context | None = None, **options: Unpack[StyleOptions]
    ) -> list[ToolDefinition]:
        """List name, description and input schema of the tools that the model may call now.

        Schemas are made once; switches are checked every time. A tool whose switch raises
        something is left out, with a warning of the logger `operator_schema`.

        Args:
            context: as for `offered`.
            inline, boolean_schemas, empty_schemas: as `json_schema` takes them.

        Returns:
            A fresh dict each, as `Tool.definition` returns it, in the order of registration.
        """
        style = None
        if options:
            from ..schema.style import style_of

            style = style_of(options)
        entries = self._entries
        describer = entries.described_by(context)
        return [entries.definition(name, describer, style) for name in entries.offered(context)]

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[Tool[..., Any]]:
        return iter(tuple(self._tools.values()))

    def __len__(self) -> int:
        return len(self._tools)

    def __repr__(self) -> str:
        return f"<Registry of {len(self)}>"

    # --- as a value ------------------------------------------------------------------------------

    def __getstate__(self) -> tuple[Any, ...]:
        """Return what copies and pickles consist of: no lock, no listeners."""
        with self._lock:
            content = list(self._tools.values()), dict(self._switches), self._enabled
        return *content, dict(getattr(self, "__dict__", {}))

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """Fill a copy."""
        tools, switches, enabled, attributes = state
        Registry.__init__(self, tools, enabled=enabled)
        self._switches.update(switches)
        if attributes:
            self.__dict__.update(attributes)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # Switches are shared: they are asked for what holds in your program, not in a copy of it.
        *content, attributes = self.__getstate__()
        copied = object.__new__(type(self))
        memo[id(self)] = copied
        copied.__setstate__((*content, _deepcopy(attributes, memo)))
        return copied

    # --- making others ---------------------------------------------------------------------------

    def prefix(self, names: str = "", descriptions: str = "") -> Registry:
        """Make a registry of the same tools under longer names, or with longer descriptions.

        Args:
            names: goes before each name, such as `files_`.
            descriptions: goes before each summary, such as `Files: `.

        Returns:
            A new registry. A tool of `describe_tools` is not in it: it describes this one.

        Raises:
            SchemaError: a name is refused by providers.
        """
        tools, switches = self._content()
        made = Registry()
        longer = [
            tool.with_(name=names + tool.name, summary=descriptions + tool.summary if descriptions else None)
            for tool in tools
        ]
        made._add(longer, {names + name: switch for name, switch in switches.items()})
        return made

    def with_(self, **changes: Unpack[ToolChanges]) -> Registry:
        """Make a registry of the same tools with other options, such as `with_(repair=True)`.

        Args:
            changes: options that make sense for all of them, as for `Tool.with_`.

        Returns:
            A new registry of the tools that are there now, with their switches. A tool of
            `describe_tools` is not in it: it describes this one.

        Raises:
            SchemaError: an option doesn't fit a tool.
            TypeError: there is no such option.
        """
        tools, switches = self._content()
        made = Registry()
        made._add([tool.with_(**changes) for tool in tools], switches)
        return made

    def select(self, **wanted: Unpack[Wanted]) -> Registry:
        """Make a registry of the tools that state what is wanted, such as `select(read_only=True)`.

        Args:
            tags: labels; a tool must have them all.
            read_only, destructive, idempotent, open_world, confirm: what a tool must state. What it
                doesn't state is neither True nor False.

        Returns:
            A new registry of the tools that are there now, with their switches. A tool of
            `describe_tools` is not in it: it describes this one.

        Raises:
            TypeError: something else is asked for.
        """
        tools, switches = self._content()
        found = selected(tools, wanted)
        made = Registry()
        made._add(found, {tool.name: switches[tool.name] for tool in found if tool.name in switches})
        return made

    @classmethod
    def from_module(cls, module: ModuleType | str, /, *, enabled: Switch = True) -> Self:
        """Make a registry of the tools of a module.

        Args:
            module: a module, or its name, by which it is imported.
            enabled: as for the class.

        Returns:
            The tools that `__all__` names; without `__all__`, those under a name without a leading
            underscore that are not merely imported from the module that made them. In the order of
            their definition.

        Raises:
            DuplicateToolError: two of them have the same name.
            ValueError: it is a package whose tools are all in its submodules.
        """
        return cls(own_tools_of(module), enabled=enabled)

    @classmethod
    def from_object(cls, instance: object, /, *, enabled: Switch = True) -> Self:
        """Make a registry of the methods of an object that are tools.

        Args:
            instance: an instance of a class with methods that `@tool` decorates.
            enabled: as for the class.

        Returns:
            The tools of its class and of the bases, bound to the instance: methods, class methods and
            static methods, under names without a leading underscore. In the order of their definition,
            methods of the bases come first. Properties are not run.

        Raises:
            DuplicateToolError: two of them have the same name.
            TypeError: it is a class or a module, or a method can't be bound.
        """
        return cls(methods_of(instance), enabled=enabled)

    @classmethod
    def from_entry_points(cls, group: str = ENTRY_POINTS, *, enabled: Switch = True) -> Self:
        """Make a registry of the tools that installed distributions offer.

        Args:
            group: of entry points. Each leads to a tool, a module, a registry, any other iterable of
                tools, or a mapping, as for the class.
            enabled: as for the class.

        Returns:
            The tools, ordered by the names of distribution and entry point.

        Raises:
            DuplicateToolError: two of them have the same name; a note says where the second one is.
            SchemaError: providers refuse a key of a mapping as a name; a note says where.
            TypeError: an entry point leads to something else; a note says which.
        """
        registry = cls(enabled=enabled)
        for place, found in offered_by_distributions(group):
            try:
                registry.merge(found)
            except (DuplicateToolError, SchemaError, TypeError) as error:
                error.add_note(f"in the entry point {place}, group {group}")
                raise
        return registry


def _deepcopy(value: Any, memo: dict[int, Any]) -> Any:
    from copy import deepcopy

    return deepcopy(value, memo)


class RegistryChange(Value):
    """What has changed in a registry.

    Attributes:
        added: names of the tools that were added, in their order.
        removed: names of the tools that were removed.
        switched: names of the tools that another switch decides about now; whether the model may call
            them may be the same as before.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    switched: tuple[str, ...] = ()


class Listeners:
    """Functions that are called with each change.

    A bound method is referred to weakly, if its instance allows that.
    """

    __slots__ = ("_lock", "_subscriptions")

    def __init__(self) -> None:
        self._lock = RLock()  # an instance that goes meanwhile may unsubscribe, in this thread
        self._subscriptions: tuple[_Subscription, ...] = ()

    def add(self, listener: Listener) -> Callable[[], None]:
        """Add a plain function.

        Returns:
            A function that removes it.

        Raises:
            TypeError: it isn't a plain function.
        """
        _check_listener(listener)
        subscription = _Subscription(listener)
        with self._lock:
            alive = [one for one in self._subscriptions if one.listener() is not None]
            self._subscriptions = (*alive, subscription)

        def unsubscribe() -> None:
            subscription.listener = _nobody
            with self._lock:
                self._subscriptions = tuple([one for one in self._subscriptions if one is not subscription])

        return unsubscribe

    def tell(self, **names: tuple[str, ...]) -> None:
        """Call each listener; one that fails is logged, and the others are called all the same.

        Args:
            names: the attributes of `RegistryChange`; nobody is called if all are empty.
        """
        if not self._subscriptions or not any(names.values()):
            return
        change = RegistryChange(**names)
        for subscription in self._subscriptions:
            listener = subscription.listener()
            if listener is not None:
                _call(listener, change)


class _Subscription:
    """A listener until it is unsubscribed, or until the instance whose method it is, is gone."""

    __slots__ = ("listener",)

    def __init__(self, listener: Listener) -> None:
        self.listener: Callable[[], Listener | None] = _reference(listener)


def _nobody() -> None:
    return None


def _reference(listener: Listener) -> Callable[[], Listener | None]:
    if isinstance(listener, MethodType):
        from weakref import WeakMethod

        try:
            return WeakMethod(listener)
        except TypeError:
            pass  # its instance has no room for weak references
    return lambda: listener


def _check_listener(listener: object) -> None:
    what = received(listener)
    if callable(listener):
        if not is_coroutine_function(listener) and not is_generator_function(listener):
            return
        what = "one that is async or a generator"
    message = f"a listener is a plain function (def) that takes the change, not {what}"
    raise TypeError(message)


def _call(listener: Listener, change: RegistryChange) -> None:
    try:
        answer: Any = listener(change)
        if is_awaitable(answer):
            close_awaitable(answer)
            message = "a listener is a plain function: what it returns isn't awaited"
            raise TypeError(message)  # noqa: TRY301  # logged like every other failure
    except Exception as error:  # noqa: BLE001  # a listener is your program's own code
        write_log(ERROR, "a listener of the registry failed", error=error)


class Wanted(TypedDict, total=False):
    """What `Registry.select` takes."""

    tags: Collection[str]
    read_only: bool | None
    destructive: bool | None
    idempotent: bool | None
    open_world: bool | None
    confirm: bool | None


def selected(tools: Iterable[Tool[..., Any]], wanted: Mapping[str, Any]) -> list[Tool[..., Any]]:
    """List the tools that have all tags and state all of this; what isn't stated isn't False.

    Raises:
        TypeError: something is asked for that tools don't state, or not with True or False.
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
        if not _are_tags(value):
            message = f'select() takes tags=("files",), not {as_written(value)}'
            raise TypeError(message)
        return
    if name not in FLAGS:
        near = nearest(name, ["tags", *FLAGS])
        hint = f"did you mean {near}?" if near else f"it takes tags, {', '.join(FLAGS)}"
        message = f"select() got an unexpected option {name!r}; {hint}"
        raise TypeError(message)
    if value is not None and not isinstance(value, bool):
        message = f"select() takes True or False for {name}, not {as_written(value)}"
        raise TypeError(message)


def _are_tags(value: Any) -> bool:
    if not isinstance(value, Collection) or isinstance(value, (str, bytes)):
        return False
    return all(isinstance(tag, str) for tag in value)  # pyright: ignore[reportUnknownVariableType]  # of whatever items
