"""The registry: a toolset whose tools can be added and removed while a program runs."""

from __future__ import annotations

from _thread import RLock
from copy import deepcopy
from types import MethodType
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakMethod

from ..errors import DuplicateToolError
from ..immutable import Value
from ..message_text import received
from ..tools.logs import ERROR, write_log
from ..tools.signature import close_awaitable, is_awaitable, is_coroutine_function, is_generator_function
from ..tools.tool_sources import places_of
from .named_tools import NamedTools, entries_of
from .toolset import Toolset

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

    from ..tools.metadata import Switch
    from ..tools.tool import Tool
    from .named_tools import Member, Selection, Selector, SwitchedTools, ToolEntry

    Listener = Callable[["RegistryChange"], object]
    Reference = Callable[[], "Listener | None"]

AnyMember = TypeVar("AnyMember")


class Registry(NamedTools):
    """Tools that can be added and removed while your program runs, in the order of their registration.

    It holds one `Toolset`, and every change replaces it. Any number of threads may read and change the
    registry at once: a reader sees the state before a change or after it. With a tool of `describe_tools`
    among them, the definitions of the other tools have only their summary, and their errors mention that
    tool.

    For another set of the same tools, make a toolset: `Toolset(registry).prefix("x_")`. To change all tools
    at once, call `registry.update(…)`.

    A copy, deep or not, has the same tools and switches and shares no changes. A tool of `describe_tools`
    in it still describes the tools of the first registry. A registry can be pickled if its tools and
    switches can: as functions are, by their names in a module. Listeners are not copied.

    Args:
        members: the tools, as for `Toolset`.

    Raises:
        DuplicateToolError: two tools have the same name.
        SchemaError: providers refuse a key of a mapping as a name.
        TypeError: something is neither a tool nor a collection of tools.
    """

    __slots__ = ("_listeners", "_lock", "_named", "_toolset", "__dict__", "__weakref__")

    def __init__(self, *members: Member) -> None:
        self._lock = RLock()
        self._listeners = Listeners()
        self._named: dict[str, ToolEntry] = self.admit(entries_of(members))
        # Made by the first read after a change, so that registering tools one by one makes no copy each time.
        self._toolset: Toolset[Any] | None = None

    @property
    def toolset(self) -> Toolset[Any]:
        """The current tools, with their switches."""
        made = self._toolset
        if made is None:
            with self._lock:
                made = self._toolset = Toolset.of_entries(dict(self._named))
        return made

    @property
    def switched_tools(self) -> SwitchedTools:
        """The tools with their switches, for the rest of this package."""
        return self.toolset.switched_tools

    def __entries__(self) -> tuple[ToolEntry, ...]:
        """Return the entries for another set of tools; a tool of `describe_tools` describes this registry."""
        return tuple([entry for entry in [*self._named.values()] if not entry.tool.describes_tools])

    def admit(self, entries: dict[str, ToolEntry]) -> dict[str, ToolEntry]:
        """Return new tools in the form in which the registry stores them, for the rest of this package."""
        return entries

    # --- changes ---------------------------------------------------------------------------------

    def register(self, member: AnyMember, /, *others: Member) -> AnyMember:
        """Add tools, or none if two would have the same name; also as a decorator above `@tool`.

        Args:
            member: a tool, or several in one object, as for the class.
            others: further tools.

        Returns:
            The first argument.

        Raises:
            DuplicateToolError: a name is taken.
            SchemaError: providers refuse a key of a mapping as a name.
            TypeError: something is neither a tool nor a collection of tools.
        """
        added = self.admit(entries_of([member, *others]))
        with self._lock:
            for name, entry in added.items():
                other = self._named.get(name)
                if other is not None:
                    raise DuplicateToolError(name, places_of(other.tool, entry.tool))
            self._named.update(added)
            self._toolset = None
        self._listeners.tell(added=tuple(added))
        return member

    def unregister(self, selector: Selector, /) -> Tool[..., Any]:
        """Remove a tool.

        Args:
            selector: its name, or the tool itself.

        Returns:
            The tool.

        Raises:
            ToolNotFoundError: there is no such tool.
        """
        with self._lock:
            name = self.name_of(selector)
            entry = self._named.pop(name)
            self._toolset = None
        self._listeners.tell(removed=(name,))
        return entry.tool

    def switch(self, *tools: Selection, enabled: Switch | None) -> None:
        """Set whether the model may call tools now; this overrides the switches of the tools themselves.

        Args:
            tools: the tools, as for `only` of a toolset; the registry itself for all its tools.
            enabled: as for `switch` of a toolset.

        Raises:
            ToolNotFoundError: one of the tools doesn't exist.
            TypeError: `enabled` has a wrong type, or no tools are named.
        """
        with self._lock:
            names = self._names_to_switch(tools, enabled)
            for name in names:
                self._named[name] = self._named[name].replace(switch=enabled)
            self._toolset = None if names else self._toolset
        self._listeners.tell(switched=tuple(names))

    def update(self, change: Callable[[Toolset[Any]], Toolset[Any]], /) -> None:
        """Change all tools at once: `registry.update(lambda tools: tools.without("search").prefix("x_"))`.

        Nobody sees a state in between, and other changes wait meanwhile.

        Args:
            change: a plain function that takes the present tools, and returns the new ones.

        Raises:
            TypeError: it returns something other than a `Toolset`; then nothing changes.
            Exception: the function raised it.
        """
        with self._lock:
            before = self.toolset
            after = change(before)
            if not isinstance(after, Toolset):  # pyright: ignore[reportUnnecessaryIsInstance]  # what callers promise, some do not
                message = f"update takes a function that returns a Toolset, not {received(after)}"
                raise TypeError(message)
            named = after.entries_after(before)
            # Tools that were made from earlier tools are stored in the same form as those.
            own = {entry.name for entry in after.entries if _came_from(before, entry)}
            named |= self.admit({name: entry for name, entry in named.items() if name not in own})
            changed = _changes_between(dict(self._named), named)
            self._named, self._toolset = named, None
        self._listeners.tell(**changed)

    def on_change(self, listener: Callable[[RegistryChange], object], /) -> Callable[[], None]:
        """Call a function after each change of the registry.

        It is called once for each call that adds, removes or switches tools, and not for one that changes
        nothing; in the thread of that call, once the change is visible. It may change the registry itself. If
        it raises an exception, the exception is only logged. While several threads change the registry,
        changes may arrive in another order: read the registry to see how it is now.

        A switch that is a function may change its answer at any time, without a change of the registry.

        Args:
            listener: a plain function. The registry keeps a function, but not the instance of a bound
                method: when nothing else refers to the instance, its method isn't called any more.

        Returns:
            A function that ends the subscription. It may be called more than once.

        Raises:
            TypeError: it isn't a plain function.
        """
        return self._listeners.add(listener)

    def __repr__(self) -> str:
        return f"<Registry of {len(self)}>"

    # --- as a value ------------------------------------------------------------------------------

    def __getstate__(self) -> tuple[Any, ...]:
        """Return the state for copies and pickles, without lock and listeners."""
        return tuple(self._named.values()), dict(self.__dict__)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """Restore the state of a copy."""
        entries, attributes = state
        Registry.__init__(self)
        self._named = {entry.tool.name: entry for entry in entries}  # pyright: ignore[reportIncompatibleVariableOverride]  # it changes
        self.__dict__.update(attributes)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # Switches are shared: they describe your program, not one copy of the registry.
        entries, attributes = self.__getstate__()
        copied = object.__new__(type(self))
        memo[id(self)] = copied
        copied.__setstate__((entries, deepcopy(attributes, memo)))
        return copied


def _came_from(toolset: Toolset[Any], entry: ToolEntry) -> bool:
    return any(source.toolset is toolset for source in entry.sources)


def _changes_between(before: dict[str, ToolEntry], after: dict[str, ToolEntry]) -> dict[str, tuple[str, ...]]:
    """Return the attributes of the `RegistryChange` between two states."""
    kept = [name for name in after if name in before and after[name].tool == before[name].tool]

    def switch(entry: ToolEntry) -> tuple[Any, ...]:
        return entry.switch, entry.is_hidden, entry.found

    return {
        "added": tuple([name for name in after if name not in kept]),
        "removed": tuple([name for name in before if name not in kept]),
        "switched": tuple([name for name in kept if switch(before[name]) != switch(after[name])]),
    }


class RegistryChange(Value):
    """The tools that one change of a registry added, removed or switched.

    Attributes:
        added: names of the tools that were added, in their order.
        removed: names of the tools that were removed.
        switched: names of the tools that have another switch now, even if the model may or may not call them
            as before.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    switched: tuple[str, ...] = ()


class Listeners:
    """Functions that are called after each change.

    A bound method is only referenced weakly, if its instance allows that.
    """

    __slots__ = ("_lock", "_subscribed")

    def __init__(self) -> None:
        self._lock = RLock()  # an instance that is freed meanwhile may unsubscribe in this thread
        self._subscribed: Mapping[object, Reference] = {}

    def add(self, listener: Listener) -> Callable[[], None]:
        """Add a plain function, and return a function that removes it."""
        _check_listener(listener)
        own = object()
        with self._lock:
            alive = {key: one for key, one in self._subscribed.items() if one() is not None}
            self._subscribed = {**alive, own: _reference_to(listener)}

        def unsubscribe() -> None:
            with self._lock:
                self._subscribed = {key: one for key, one in self._subscribed.items() if key is not own}

        return unsubscribe

    def tell(self, **names: tuple[str, ...]) -> None:
        """Call each listener; an exception is logged, and the other listeners are still called.

        Args:
            names: the attributes of `RegistryChange`; nobody is called if all are empty.
        """
        if not self._subscribed or not any(names.values()):
            return
        change = RegistryChange(**names)
        for key, reference in self._subscribed.items():
            listener = reference()
            if listener is not None and key in self._subscribed:  # another listener may have removed it
                _call_listener(listener, change)


def _reference_to(listener: Listener) -> Reference:
    if isinstance(listener, MethodType):
        try:
            return WeakMethod(listener)
        except TypeError:
            pass  # its instance doesn't allow weak references
    return lambda: listener


def _check_listener(listener: object) -> None:
    what = received(listener)
    if callable(listener):
        if not is_coroutine_function(listener) and not is_generator_function(listener):
            return
        what = "one that is async or a generator"
    message = f"a listener must be a plain function (def) that takes the change, not {what}"
    raise TypeError(message)


def _call_listener(listener: Listener, change: RegistryChange) -> None:
    try:
        answer: Any = listener(change)
        if is_awaitable(answer):
            close_awaitable(answer)
            message = "a listener is a plain function: what it returns isn't awaited"
            raise TypeError(message)  # noqa: TRY301  # logged like every other failure
    except Exception as error:  # noqa: BLE001  # a listener is your program's own code
        write_log(ERROR, "a listener of the registry failed", error=error)
