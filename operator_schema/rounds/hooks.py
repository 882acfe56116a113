"""Hooks: functions that decide about calls before they are run, and that describe tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from ..immutable import Value
from ..tools.awaitables import is_awaitable
from ..tools.tool import Tool
from ..wording import clip, escape, received, writable_text
from .named_tools import NamedTools

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import TypeAlias

    from .named_tools import Selection
    from .toolset import Toolset

    _Here: TypeAlias = Mapping[str, tuple[str, ...]] | None


__all__ = ["Hook", "Hooks", "description_hook", "hook"]

F = TypeVar("F", bound="Callable[..., Any]")

_MARKS = "__operator_schema_hooks__"
_NAME_LENGTH = 100

HookKind = Literal["call", "description"]
Marks: TypeAlias = tuple[tuple[HookKind, tuple[Any, ...]], ...]


def hook(*tools: Selection) -> Callable[[F], F]:
    """Say for which tools a function decides: `@hook(search, "fetch")`; for `Hooks`.

    The function takes a `ToolCall`, and returns `RunNormally`, `Complete`, `Reject`, `Defer`, or None to
    go on with the next hook. It may be async. Without this decorator, it decides about every call.

    Args:
        tools: names, tools, or toolsets for all of their tools; at least one.

    Raises:
        TypeError: there are none, or something else.
    """
    return _marker("hook", "call", tools)


def description_hook(*tools: Selection) -> Callable[[F], F]:
    """Say which tools a function describes: `@description_hook(search)`; for `Hooks`.

    The function takes the `ToolDefinition`, and returns the description for one request, or None to leave
    it as it is. It may be async.

    Args:
        tools: names, tools, or toolsets for all of their tools; at least one.

    Raises:
        TypeError: there are none, or something else.
    """
    return _marker("description_hook", "description", tools)


def _marker(decorator: str, kind: HookKind, tools: tuple[Any, ...]) -> Callable[[F], F]:
    for tool in tools:
        if not isinstance(tool, (str, Tool, NamedTools)):
            example = f"@{decorator}(search)"
            message = f"{decorator} takes names, tools or toolsets, as in {example}, not {received(tool)}"
            raise TypeError(message)
    if not tools:
        message = f"{decorator} needs the tools: @{decorator}(search)"
        raise TypeError(message)

    def mark(function: F) -> F:
        try:
            attributes = vars(function)
            attributes[_MARKS] = (*attributes.get(_MARKS, ()), (kind, tools))
        except TypeError:  # a function in C, or a class
            message = f"@{decorator} marks a function of your own, not {received(function)}"
            raise TypeError(message) from None
        return function

    return mark


class Hook(Value):
    """One function of `Hooks`.

    Attributes:
        function: that decides, or describes.
        name: of the function, for messages.
        kind: what it does.
        tools: for which it does so; None for all of the toolset.
        toolset: whose tools these are; None for the one that the hooks are applied to.
    """

    function: Any
    name: str
    kind: HookKind
    tools: tuple[Selection, ...] | None
    toolset: Toolset[Any] | None


class Hooks(Value):
    """Functions that decide about calls before they are run, in their order.

    Args:
        sources: each one of these. A function that `hook` or `description_hook` marks, for its tools. Any
            other function, for every call. An object whose methods they mark. Other `Hooks`.
        toolset: whose tools are meant. The hooks then also apply where it is nested in another toolset,
            to its tools alone and under the names that they have there. None for the toolset that they
            are applied to.

    Raises:
        ToolNotFoundError: a name isn't in the toolset.
        TypeError: something isn't a hook, or takes other arguments.
    """

    hooks: tuple[Hook, ...]

    def __init__(self, *sources: Any, toolset: Toolset[Any] | None = None) -> None:
        if not (toolset is None or isinstance(toolset, NamedTools)):  # pyright: ignore[reportUnnecessaryIsInstance]  # as above
            message = f"toolset is a Toolset, not {received(toolset)}"
            raise TypeError(message)
        found = tuple([found for source in sources for found in _hooks_of(source, toolset)])
        super().__init__(found)
        if toolset is not None:
            self.for_calls(toolset)

    def __or__(self, other: Hooks) -> Hooks:
        """Return the hooks of both, these first."""
        if not isinstance(other, Hooks):  # pyright: ignore[reportUnnecessaryIsInstance]  # what callers promise, some do not
            return NotImplemented
        return Hooks(self, other)

    def __len__(self) -> int:
        return len(self.hooks)

    def __bool__(self) -> bool:
        return bool(self.hooks)

    def __repr__(self) -> str:
        return f"Hooks({', '.join([hook.name for hook in self.hooks])})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, self.hooks

    def for_calls(self, toolset: Toolset[Any], /) -> list[tuple[Hook, frozenset[str] | None]]:
        """Return the hooks that decide about calls, each with the names of its tools in a toolset.

        Args:
            toolset: whose calls are decided on.

        Returns:
            Hook and names, in order; None for all names.

        Raises:
            ToolNotFoundError: a hook is for a tool that isn't there.
            ValueError: the toolset of a hook isn't nested in this one.
        """
        return [(hook, names) for hook, names in _resolved(self.hooks, toolset) if hook.kind == "call"]

    async def descriptions(self, toolset: Toolset[Any], /) -> dict[str, str]:
        """Return the descriptions that the hooks give now, for `toolset.offer(descriptions=…)`.

        Args:
            toolset: whose tools are described.

        Returns:
            Name to description; where two hooks describe one tool, that of the last.

        Raises:
            ToolNotFoundError: a hook is for a tool that isn't there.
            TypeError: a hook returns something other than a string or None.
            ValueError: the toolset of a hook isn't nested in this one.
            Exception: what a hook raises.
        """
        found: dict[str, str] = {}
        for hook, names in _resolved(self.hooks, toolset):
            if hook.kind == "call":
                continue
            for name in [name for name in toolset.names if names is None or name in names]:
                text = hook.function(toolset[name].definition())
                if is_awaitable(text):
                    text = await text
                if text is not None:
                    found[name] = writable_text(f"what the hook {hook.name} returns", text)
        return found


def _unpickled(*hooks: Hook) -> Hooks:
    made = Hooks.__new__(Hooks)
    Value.__init__(made, hooks)
    return made


def _resolved(hooks: Iterable[Hook], toolset: Toolset[Any]) -> list[tuple[Hook, frozenset[str] | None]]:
    """Return hooks with the names of their tools in a toolset; None for all."""
    # Hooks mostly share their toolset, and to find one among many tools takes milliseconds.
    nested: dict[int, _Here] = {}
    found: list[tuple[Hook, frozenset[str] | None]] = []
    for hook in hooks:
        own = hook.toolset
        if own is not None and id(own) not in nested:
            nested[id(own)] = toolset.names_from(own)
        found.append((hook, _names(hook, toolset, nested.get(id(own)))))
    return found


def _names(hook: Hook, toolset: Toolset[Any], here: _Here) -> frozenset[str] | None:
    if hook.toolset is None:
        if hook.tools is None:
            return None
        return frozenset(toolset.names_of(*hook.tools))
    if here is None:
        message = f"the hook {hook.name} is for {hook.toolset!r}, which isn't part of {toolset!r}"
        raise ValueError(clip(escape(message), 500))
    wanted = hook.toolset.names if hook.tools is None else hook.toolset.names_of(*hook.tools)
    return frozenset([name for there in wanted for name in here.get(there, ())])


# --- what may be given as a hook -----------------------------------------------------------------


def _hooks_of(source: Any, toolset: Toolset[Any] | None) -> Iterator[Hook]:
    if isinstance(source, Hooks):
        yield from [hook.replace(toolset=toolset) if hook.toolset is None else hook for hook in source.hooks]
        return
    if isinstance(source, (type, Tool)):
        shown = clip(escape(source.__name__), _NAME_LENGTH) if isinstance(source, type) else source.name
        hint = f"give an instance: {shown}()" if not isinstance(source, Tool) else "a tool isn't a hook"
        message = f"a hook is a function, or an object with methods that @hook marks; {hint}"
        raise TypeError(message)
    marks = _marks_of(source)
    if marks is not None:
        yield from [_checked(source, kind, tools, toolset) for kind, tools in marks]
        return
    methods = _marked_methods(source)
    if methods:
        for method, found in methods:
            yield from [_checked(method, kind, tools, toolset) for kind, tools in found]
        return
    if not callable(source):
        hint = ": write Hooks(*…)" if type(source) in {list, tuple} else ""
        message = (
            f"a hook is a function, or an object with methods that @hook marks, not {received(source)}{hint}"
        )
        raise TypeError(message)
    yield _checked(source, "call", None, toolset)


def _marks_of(function: Any) -> Marks | None:
    # A `staticmethod` has attributes of its own, beside those of its function.
    for holder in (function, getattr(function, "__func__", None)):
        marks: Marks | None = getattr(holder, "__dict__", {}).get(_MARKS)
        if marks is not None:
            return marks
    return None


def _marked_methods(source: Any) -> list[tuple[Any, Marks]]:
    """List the methods of an object that are marked, and how, those of its bases first."""
    found: dict[str, Any] = {}
    for cls in reversed(type(source).__mro__):
        found |= dict(vars(cls))
    marked = [(name, _marks_of(value)) for name, value in found.items()]
    return [(getattr(source, name), marks) for name, marks in marked if marks]


def _checked(
    function: Any, kind: HookKind, tools: tuple[Any, ...] | None, toolset: Toolset[Any] | None
) -> Hook:
    name = _name_of(function)
    if not _takes_one(function):
        takes = "a ToolCall" if kind == "call" else "a ToolDefinition"
        message = f"the hook {name} has to take one argument, {takes}"
        raise TypeError(message)
    return Hook(function, name, kind, tools, toolset)


def _takes_one(function: Any) -> bool:
    from inspect import signature

    try:
        signature(function).bind(None)
    except TypeError:
        return False
    except ValueError:  # a function in C may have no signature
        return True
    return True


def _name_of(function: Any) -> str:
    name = getattr(function, "__qualname__", None)
    return clip(escape(name if isinstance(name, str) else type(function).__qualname__), _NAME_LENGTH)
