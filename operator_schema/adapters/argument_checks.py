"""Is what an adapter is given of the right kind?"""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any

from ..execution import Executor
from ..message_text import nearest, quote, received
from ..tools import Tool

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..rounds import Registry

__all__ = [
    "check_context",
    "check_executor",
    "check_has",
    "check_options",
    "check_parameters",
    "check_tool",
    "only_executor",
]


def check_parameters(tool: Tool[..., Any], framework: str, taken: Iterable[str]) -> None:
    """Check that a framework can call a tool by the names of its parameters.

    Args:
        tool: as the model sees it.
        framework: its name, for the message.
        taken: names that its own way of calling tools needs.

    Raises:
        ValueError: a parameter has such a name.
    """
    properties = tool.input_schema().get("properties", {})
    for name in taken:
        if name in properties:
            message = (
                f"{framework} can't call {tool.name}: it needs the name {name} itself. "
                "Rename the parameter, or give it an alias"
            )
            raise ValueError(message)


def check_tool(tool: Any) -> None:
    """Check what is given as a tool.

    Raises:
        TypeError: it isn't one.
    """
    if not isinstance(tool, Tool):
        message = f"to_tool takes a tool made by @tool or @tool_input, not {received(tool)}{_remedy(tool)}"
        raise TypeError(message)


def _remedy(given: object) -> str:
    if isinstance(given, FunctionType):
        return ": decorate it with @tool"
    return ": take to_tools for several" if hasattr(type(given), "__iter__") else ""


def only_executor(executor: Executor, other: Executor | None) -> Executor:
    """Return the executor that is given in place of tools.

    Raises:
        TypeError: there is another one.
    """
    if other is not None:
        message = "an executor in place of the tools has them already: leave out executor="
        raise TypeError(message)
    return executor


def check_executor(executor: Executor, registry: Registry) -> None:
    """Check what is given as the executor of the tools of a registry.

    Raises:
        TypeError: it isn't one.
        ValueError: it has other tools.
    """
    _check_is_executor(executor)
    if executor.registry is not registry and list(executor.registry) != list(registry):
        message = "the executor has other tools: give the same registry to both, Executor(registry, …)"
        raise ValueError(message)


def check_options(native: Mapping[str, Any], known: Iterable[str], owner: str) -> None:
    """Check options that go to a class of the framework which takes whatever it gets.

    Args:
        native: as the user gave them.
        known: names of the options that it has.
        owner: its name, for the message.

    Raises:
        TypeError: one is unknown.
    """
    names = list(known)
    for name in native:
        if name not in names:
            near = nearest(name, names)
            hint = "" if near is None else f"; did you mean {near}?"
            message = f"unknown option {quote(name)}: neither an adapter nor {owner} has it{hint}"
            raise TypeError(message)


def check_context(context: Any) -> None:
    """Check what is given as the context.

    Raises:
        TypeError: it is neither a mapping nor a function.
    """
    if context is not None and not isinstance(context, Mapping) and not callable(context):
        message = f"context is a mapping, or a function that returns one, not {received(context)}"
        raise TypeError(message)


def _check_is_executor(executor: Any) -> None:
    if not isinstance(executor, Executor):
        message = f"executor is an Executor, not {received(executor)}"
        raise TypeError(message)


def check_has(executor: Executor, tool: Tool[..., Any]) -> None:
    """Check what is given as the executor of one tool; it may have more.

    Raises:
        TypeError: it isn't one.
        ValueError: it has another tool of this name, or none.
    """
    _check_is_executor(executor)
    if tool.name not in executor.registry or executor.registry[tool.name] != tool:
        message = f"the executor has no such tool {tool.name}: give both the same, Executor([{tool.name}], …)"
        raise ValueError(message)
