"""Hooks: which functions decide about which calls, look at their results, or describe tools?"""

from __future__ import annotations

from dataclasses import MISSING
from dis import Instruction, get_instructions
from functools import cache
from inspect import Parameter, signature
from itertools import pairwise
from types import CodeType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from ..errors import ToolNotFoundError
from ..immutable import Value
from ..json_values import is_object
from ..message_text import one_line, received, writable_text
from ..tools.binding import why_not_asked
from ..tools.signature import is_coroutine_function, outcome_of
from ..tools.tool import Tool
from .named_tools import NamedTools

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from .named_tools import Selection

    _Here: TypeAlias = Mapping[str, tuple[str, ...]] | None
    ForTools: TypeAlias = "Sequence[tuple[Hook, frozenset[str] | None]]"

_NAME_LENGTH = 100

F = TypeVar("F", bound="Callable[..., Any]")

_MARKS = "__operator_schema_hooks__"

HookKind = Literal["call", "after", "around", "description"]
Marks: TypeAlias = tuple[tuple[HookKind, tuple[Any, ...] | None], ...]


class HookDecorator:
    """Choose the tools for which a function in `Hooks` decides about calls: `@hook(search, "fetch")`.

    The function takes a `ToolCall`, and returns `RunNormally`, `Complete`, `Reject`, `Defer`, or None to
    go on with the next hook. It may be async. Without this decorator, it decides about every call.
    """

    __slots__ = ()

    def __call__(self, *tools: Selection) -> Callable[[F], F]:
        """Mark a function that decides about calls before they run.

        Args:
            tools: names, tools, or toolsets for all of their tools; at least one.

        Raises:
            TypeError: no tools are given, or something else is.
        """
        return _mark_for("hook", "call", tools)

    def after(self, *tools: Selection) -> Callable[[F], F]:
        """Mark a function that sees the results of calls: `@hook.after(search)`.

        It takes the `ToolCall` after the executor ran it: `call.result` is the result that the model would
        read, and `call.error` the exception of the function, if there was one. It returns None to leave the
        result, another result such as `call.complete(…)`, `call.fail(…)` or `call.result.replace(content=…)`,
        or `RunAgain()`. It may be async. If it fails, the model reads that the result can't be shown.

        Args:
            tools: as for `hook`.

        Raises:
            TypeError: no tools are given, or something else is.
        """
        return _mark_for("hook.after", "after", tools)

    def around(self, *tools: Selection) -> Callable[[F], F]:
        """Mark a function that sees calls from outside: `@hook.around()`; for spans, timers and the like.

        It takes the `Execution` of a call before its arguments are decoded, and returns a context manager
        that ends when the call has its result, or None to leave the call alone. An exception that passes
        through reaches the context manager, as in a `with` statement. Context variables that the context
        manager sets also hold in the function of the tool, even in a thread. The hook isn't async, and
        changes nothing: if it fails, the log has an error and the call goes on.

        Args:
            tools: as for `hook`. None for every call, and for every round as a whole.

        Raises:
            TypeError: something else is given.
        """
        return _mark_for("hook.around", "around", tools, needs_tools=False)

    def describe(self, *tools: Selection) -> Callable[[F], F]:
        """Mark a function that describes tools: `@hook.describe(search)`.

        It takes the `ToolDefinition`, and returns the description for one request, or None to leave it as it
        is. It may be async.

        Args:
            tools: as for `hook`.

        Raises:
            TypeError: no tools are given, or something else is.
        """
        return _mark_for("hook.describe", "description", tools)

    def __repr__(self) -> str:
        return "operator_schema.hook"


hook = HookDecorator()


def _mark_for(
    decorator: str, kind: HookKind, tools: tuple[Any, ...], *, needs_tools: bool = True
) -> Callable[[F], F]:
    for tool in tools:
        if not isinstance(tool, (str, Tool, NamedTools)):
            example = f"@{decorator}(search)"
            message = f"{decorator} takes names, tools or toolsets, as in {example}, not {received(tool)}"
            raise TypeError(message + _hint_of_bare(decorator, kind, tool))
    if needs_tools and not tools:
        message = f"{decorator} needs the tools: @{decorator}(search)"
        raise TypeError(message)

    def mark(function: F) -> F:
        try:
            attributes = vars(function)
            attributes[_MARKS] = (*attributes.get(_MARKS, ()), (kind, tools or None))
        except TypeError:  # a function in C, or a class
            message = f"@{decorator} marks a function of your own, not {received(function)}"
            raise TypeError(message) from None
        return function

    return mark


def _hint_of_bare(decorator: str, kind: HookKind, given: Any) -> str:
    """Return a hint for a decorator without parentheses, or on a function that isn't a tool yet."""
    if not callable(given) or isinstance(given, type):
        return ""
    if kind == "call":
        hook = "it is asked about every call without @hook, and about one tool with its name in parentheses"
    elif kind == "around":
        hook = f"write @{decorator}() for every call"
    else:
        hook = "name its tools"
    return f". If {_name_of(given)} is the hook, {hook}; if it is a tool, decorate it with @tool"


class Hook(Value):
    """One function of `Hooks`.

    Attributes:
        function: the function that decides, looks at results, or describes tools.
        name: the name of the function, for messages.
        kind: the task of the hook.
        tools: the names of its tools; None for all tools of the toolset.
        toolset: the toolset of these tools; None for the one that the hooks are applied to.
    """

    function: Any
    name: str
    kind: HookKind
    tools: tuple[Selection, ...] | None
    toolset: NamedTools | None


class Hooks(Value):
    """Functions that decide about calls, in their order.

    Args:
        sources: functions and objects with hooks. A function marked by `hook`, `hook.after` or
            `hook.describe` applies to its tools; any other function applies to every call. An object
            contributes its methods with these marks. Other `Hooks` contribute all their hooks.
        toolset: the toolset of the tools. The hooks then also apply where it is nested in another toolset,
            but only to its tools, under the names that they have there. None for the toolset that they
            are applied to.

    Raises:
        ToolNotFoundError: a name isn't in the toolset.
        TypeError: something isn't a hook, or takes other arguments. Also raised for a function whose first
            argument has a default, since it was probably meant to be called first.
    """

    hooks: tuple[Hook, ...]

    def __init__(self, *sources: Any, toolset: NamedTools | None = None) -> None:
        if not (toolset is None or isinstance(toolset, NamedTools)):
            message = f"toolset must be a Toolset, not {received(toolset)}"
            raise TypeError(message)
        toolset = None if toolset is None else toolset.toolset
        found = tuple([found for source in sources for found in _hooks_of(source, toolset)])
        super().__init__(found)
        if toolset is not None:
            self.for_calls(toolset)

    def __or__(self, other: Hooks) -> Hooks:
        """Return both hooks, with these first."""
        if not isinstance(other, Hooks):  # some callers ignore the annotations
            return NotImplemented
        return Hooks(self, other)

    def __len__(self) -> int:
        return len(self.hooks)

    def __bool__(self) -> bool:
        return bool(self.hooks)

    @property
    def may_decide(self) -> bool:
        """Whether any of the hooks may change the result of a call."""
        return any(hook.kind != "around" for hook in self.hooks)

    def __repr__(self) -> str:
        return f"Hooks({', '.join([hook.name for hook in self.hooks])})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, self.hooks

    def for_every_call(self) -> Hooks:
        """Return only the hooks that apply to the calls of every tool."""
        return _unpickled(*[hook for hook in self.hooks if hook.tools is None and hook.toolset is None])

    def bound_to(self, toolset: NamedTools, /) -> Hooks:
        """Return the hooks for the tools of a toolset, as `Hooks(…, toolset=toolset)` does."""
        return Hooks(self, toolset=toolset)

    def for_calls(self, toolset: NamedTools, /) -> CallHooks:
        """Return the hooks for calls of a toolset: before, after or around them.

        Args:
            toolset: the toolset of the calls.

        Raises:
            ToolNotFoundError: a hook is for a tool that isn't in the toolset.
            ValueError: the toolset of a hook isn't nested in this one.
        """
        found = _with_names(self.hooks, toolset)
        kinds: tuple[HookKind, ...] = ("call", "after", "around")
        return CallHooks(*[tuple([one for one in found if one[0].kind == kind]) for kind in kinds])

    async def descriptions(self, toolset: NamedTools, /) -> dict[str, str]:
        """Return the descriptions that the hooks give now, for `toolset.offer(descriptions=…)`.

        Args:
            toolset: the toolset of the described tools.

        Returns:
            The descriptions by the names of the tools; if two hooks describe a tool, the last one counts.

        Raises:
            ToolNotFoundError: a hook is for a tool that isn't in the toolset.
            TypeError: a hook returns something other than a string or None.
            ValueError: the toolset of a hook isn't nested in this one.
            Exception: a hook raised it.
        """
        found: dict[str, str] = {}
        for hook, names in _with_names(self.hooks, toolset):
            if hook.kind != "description":
                continue
            for name in [name for name in toolset.names if names is None or name in names]:
                text = await outcome_of(hook.function, toolset[name].definition())
                if text is not None:
                    found[name] = writable_text(f"what the hook {hook.name} returns", text)
        return found


class CallHooks(Value):
    """Hooks for the calls of one toolset, in their order.

    Attributes:
        before: hooks that decide before a call runs, each with the names of its tools; None for all names.
        after: hooks that look at results, in the same form.
        around: hooks that see calls from outside, in the same form.
    """

    before: ForTools = ()
    after: ForTools = ()
    around: ForTools = ()

    def joined(self, other: CallHooks) -> CallHooks:
        """Return both hooks, with these first; a hook that is in both is asked once."""
        known = {(hook.kind, hook.function) for hook, _ in (*self.before, *self.after, *self.around)}

        def new(hooks: ForTools) -> ForTools:
            return tuple([one for one in hooks if (one[0].kind, one[0].function) not in known])

        return CallHooks(
            (*self.before, *new(other.before)),
            (*self.after, *new(other.after)),
            (*self.around, *new(other.around)),
        )

    def concern(self, name: str) -> bool:
        """Return whether any hook may decide about calls of a tool, or look at their results."""
        return bool(hooks_for(name, self.before) or hooks_for(name, self.after))

    def may_defer(self, name: str) -> bool:
        """Return whether any hook may defer calls of a tool to a person."""
        return not all(_only_looks(hook) for hook in hooks_for(name, self.before))


def hooks_for(name: str, hooks: ForTools) -> list[Hook]:
    """Return the hooks for the calls of one tool."""
    return [hook for hook, names in hooks if names is None or name in names]


def _only_looks(hook: Hook) -> bool:
    """Return whether a hook never decides: by its annotation or its code, it always returns None."""
    try:
        annotation = hook.function.__annotations__.get("return", MISSING)
    except Exception:  # noqa: BLE001  # an object that can be called has none, and others may not be there yet
        annotation = MISSING
    code = getattr(hook.function, "__code__", None)
    return annotation is None or annotation == "None" or (isinstance(code, CodeType) and _returns_none(code))


@cache
def _returns_none(code: CodeType) -> bool:
    """Return whether every path through a function ends with `return None`."""
    steps = pairwise(list(get_instructions(code)))
    return all(_is_none(end, before) for before, end in steps if end.opname in {"RETURN_VALUE", _FROM_3_12})


_FROM_3_12 = "RETURN_CONST"


def _is_none(end: Instruction, before: Instruction) -> bool:
    constant = end if end.opname == _FROM_3_12 else before
    is_jumped_over = constant is before and end.is_jump_target
    return constant.opname in {"LOAD_CONST", _FROM_3_12} and constant.argval is None and not is_jumped_over


NO_HOOKS = CallHooks()
"""Hooks for calls about which only the tools themselves decide."""


def hooks_of(given: object) -> Hooks:
    """Convert the `hooks=` argument of an executor or a toolset to `Hooks`."""
    return Hooks(*given) if isinstance(given, (list, tuple)) else Hooks(given)


def hooks_for_calls(given: Any) -> Hooks:
    """Convert the `hooks=` argument for calls to `Hooks`."""
    sources: list[Any] = [*given] if type(given) in {list, tuple} else [given]
    for source in sources:
        marks = _marks_of(source) or ()
        if marks and all(kind == "description" for kind, _ in marks):
            name = _name_of(source)
            message = (
                f"the hook {name} describes tools, which has no effect on calls: write "
                f"toolset.offer(descriptions=await Hooks({name}).descriptions(toolset))"
            )
            raise TypeError(message)
    return hooks_of(given)


def call_hooks_of(hooks: Any, toolset: NamedTools) -> CallHooks:
    """Return the hooks for the calls of a toolset: the given hooks, and those of the toolset.

    Args:
        hooks: `Hooks` or a function, or None for no further hooks; or all hooks that apply, from an executor.
        toolset: the toolset of the called tools.
    """
    if isinstance(hooks, CallHooks):
        return hooks
    own = toolset.hooks
    found: CallHooks = NO_HOOKS if own is None else own.for_calls(toolset)
    if hooks is None:
        return found
    return (hooks if isinstance(hooks, Hooks) else hooks_for_calls(hooks)).for_calls(toolset).joined(found)


def _unpickled(*hooks: Hook) -> Hooks:
    made = Hooks.__new__(Hooks)
    Value.__init__(made, hooks)
    return made


def _with_names(hooks: Iterable[Hook], toolset: NamedTools) -> list[tuple[Hook, frozenset[str] | None]]:
    """Return hooks with the names of their tools in a toolset; None for all tools."""
    # Hooks mostly share their toolset, and finding it among many tools takes milliseconds.
    nested: dict[int, _Here] = {}
    found: list[tuple[Hook, frozenset[str] | None]] = []
    for hook in hooks:
        own = hook.toolset
        if own is not None and id(own) not in nested:
            nested[id(own)] = toolset.names_from(own)
        try:
            names = _names_of_tools(hook, toolset, nested.get(id(own)))
        except ToolNotFoundError as error:
            error.add_note(f"the hook {hook.name} is for it")
            raise
        found.append((hook, names))
    return found


def _names_of_tools(hook: Hook, toolset: NamedTools, here: _Here) -> frozenset[str] | None:
    if hook.toolset is None:
        if hook.tools is None:
            return None
        return frozenset(toolset.names_of(*hook.tools))
    if here is None:
        message = f"the hook {hook.name} is for {hook.toolset!r}, which isn't part of {toolset!r}"
        raise ValueError(one_line(message, 500))
    wanted = hook.toolset.names if hook.tools is None else hook.toolset.names_of(*hook.tools)
    return frozenset([name for there in wanted for name in here.get(there, ())])


# --- arguments for hooks ------------------------------------------------------------------------


def _hooks_of(source: Any, toolset: NamedTools | None) -> Iterator[Hook]:
    if isinstance(source, Hooks):
        yield from [hook.replace(toolset=toolset) if hook.toolset is None else hook for hook in source.hooks]
        return
    if isinstance(source, (type, Tool)):
        shown = one_line(source.__name__, _NAME_LENGTH) if isinstance(source, type) else source.name
        hint = f"give an instance: {shown}()" if not isinstance(source, Tool) else "a tool isn't a hook"
        message = f"a hook is a function, or an object with methods that @hook marks; {hint}"
        raise TypeError(message)
    marks = _marks_of(source)
    if marks is not None:
        yield from [_checked_hook(source, kind, tools, toolset) for kind, tools in marks]
        return
    methods = _marked_methods(source)
    if methods:
        for method, found in methods:
            yield from [_checked_hook(method, kind, tools, toolset) for kind, tools in found]
        return
    if not callable(source):
        hint = ": write Hooks(*…)" if type(source) in {list, tuple} else ""
        if is_object(source):
            hint = ": write @hook(tool) above a function that is for one tool alone"
        wanted = "a function, or an object with methods marked by @hook"
        message = f"a hook must be {wanted}, not {received(source)}{hint}"
        raise TypeError(message)
    if _is_called_without(source):
        name = _name_of(source)
        message = f"the hook {name} needs no ToolCall, so it seems to make hooks: write hooks={name}()"
        raise TypeError(message)
    yield _checked_hook(source, "call", None, toolset)


def _marks_of(function: Any) -> Marks | None:
    # A `staticmethod` has attributes of its own, beside those of its function.
    for holder in (function, getattr(function, "__func__", None)):
        marks: Marks | None = getattr(holder, "__dict__", {}).get(_MARKS)
        if marks is not None:
            return marks
    return None


def _marked_methods(source: Any) -> list[tuple[Any, Marks]]:
    """List the marked methods of an object and their marks, methods of the bases first."""
    found: dict[str, Any] = {}
    for cls in reversed(type(source).__mro__):
        found |= dict(vars(cls))
    marked = [(name, _marks_of(value)) for name, value in found.items()]
    return [(getattr(source, name), marks) for name, marks in marked if marks]


def _checked_hook(
    function: Any, kind: HookKind, tools: tuple[Any, ...] | None, toolset: NamedTools | None
) -> Hook:
    name = _name_of(function)
    instead = "write @contextmanager above it" if kind == "around" else "return the decision"
    misfit = why_not_asked(function, _TAKEN.get(kind, "a ToolCall"), instead)
    if misfit is None and kind == "around" and is_coroutine_function(function):
        misfit = "is async, and a hook around calls isn't: write def in place of async def"
    if misfit is not None:
        message = f"the hook {name} {misfit}"
        raise TypeError(message)
    return Hook(function, name, kind, tools, toolset)


_TAKEN: Mapping[HookKind, str] = {"description": "a ToolDefinition", "around": "an Execution"}


def _is_called_without(function: Any) -> bool:
    """Return whether the first argument of a function has a default, as in a function that makes hooks."""
    try:
        first = next(iter(signature(function).parameters.values()), None)
    except (TypeError, ValueError):  # a function in C may have no signature
        return False
    return first is not None and first.default is not Parameter.empty and first.kind is not first.KEYWORD_ONLY


def _name_of(function: Any) -> str:
    name = getattr(function, "__qualname__", None)
    return one_line(name if isinstance(name, str) else type(function).__qualname__, _NAME_LENGTH)
