"""Lists of tools, as users give them: everything that takes several tools reads them here."""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType, ModuleType
from typing import Any, cast

from ..json_values import is_object
from ..wording import as_written, clip, escape, received
from .tool import Tool, unbound_message

__all__ = ["check_one_list", "places_of", "tools_of"]

_WRAPPED_AT_MOST = 100
_FROM_MODULE = "Registry.from_module(module) takes its tools"


def check_one_list(door: str, first: object, others: tuple[Any, ...]) -> None:
    """Check that tools came in one list, where a class takes no more than that.

    Raises:
        TypeError: they came one by one.
    """
    if others:
        names = [
            clip(escape(tool.name), 100) if isinstance(tool, Tool) else "…" for tool in (first, *others[:2])
        ]
        more = ", …" if len(others) > len(names) - 1 else ""
        message = f"{door} takes one list of tools: write {door}([{', '.join(names)}{more}])"
        raise TypeError(message)


def tools_of(tools: Any) -> list[Tool[..., Any]]:
    """List the tools of an iterable or mapping; a bound `classmethod` over a tool counts as one.

    In a mapping, each tool gets its key as its name.

    Raises:
        SchemaError: providers refuse a key as a name.
        TypeError: something else is among them, or a method without its instance; a key isn't a string;
            or `tools` is one tool.
    """
    if isinstance(tools, Tool):
        message = f"expected a list of tools, not the tool {tools.name} alone: write [{tools.name}]"
        raise TypeError(message)
    given: Any = tools
    if isinstance(tools, (str, type)) or not isinstance(tools, Iterable):
        message = f"expected a list of tools, not {_what_came(tools)}"
        raise TypeError(message)
    found: list[Tool[..., Any]] = []
    is_mapping = hasattr(given, "items")
    for key, item in given.items() if is_mapping else enumerate(given):
        tool: Any = item
        # A tool is asked for no attribute that it lacks: that takes long.
        if not issubclass(type(item), Tool) and isinstance(getattr(item, "__func__", None), Tool):
            tool = item.__func__.__get__(item.__self__, item.__self__)
        if not isinstance(tool, Tool):
            raise TypeError(_not_a_tool(item))
        if tool.is_unbound:
            raise TypeError(unbound_message(cast("Tool[..., Any]", tool)))
        made = cast("Tool[..., Any]", tool)
        found.append(_named(made, key) if is_mapping else made)
    return found


def _named(tool: Tool[..., Any], key: object) -> Tool[..., Any]:
    """Return a tool under the name that a mapping gives it."""
    if not isinstance(key, str):
        message = f"the key of the tool {tool.name} is its name, a string, not {received(key)}"
        raise TypeError(message)
    return tool if key == tool.name else tool.with_(name=key)


def _what_came(given: object) -> str:
    if isinstance(given, type):
        return f"the class {clip(escape(given.__name__), 100)}"
    if isinstance(given, ModuleType):
        return f"the module {clip(escape(given.__name__), 100)}: {_FROM_MODULE}"
    if isinstance(given, FunctionType):
        name = clip(escape(given.__name__), 100)
        return f"the function {name}: decorate it with @tool, and write [{name}]"
    return as_written(given)


def _not_a_tool(item: object) -> str:
    """Return what is wrong with something that should be a tool, and how to fix it."""
    if isinstance(item, type):
        name = clip(escape(item.__name__), 100)
        return f"the class {name} isn't a Tool; decorate its methods with @tool, or it with @tool_input"
    if isinstance(item, ModuleType):
        return f"the module {clip(escape(item.__name__), 100)} isn't a Tool: {_FROM_MODULE}"
    kind = clip(escape(type(item).__name__), 100)
    what = f"an {kind}" if kind[:1].lower() in set("aeiou") else f"a {kind}"
    inner: Any = item
    for _ in range(_WRAPPED_AT_MOST):
        inner = getattr(inner, "__wrapped__", None)
        if inner is None or isinstance(inner, Tool):
            break
    if isinstance(inner, Tool):
        name = clip(escape(inner.name), 100)
        return f"{what} around the tool {name} isn't a Tool; put @tool outermost, above other decorators"
    if isinstance(item, FunctionType):
        what = f"the function {clip(escape(item.__name__), 100)}"
    return f"{what} isn't a Tool; {_remedy(item, kind)}"


def _remedy(item: object, kind: str) -> str:
    if callable(item):
        return "decorate it with @tool"
    if is_object(item) and "name" in item:
        return "give the tools themselves, not their definitions"
    if hasattr(type(item), "__iter__") and not issubclass(type(item), (str, dict)):
        return f"give it alone, or its tools one by one: [*{kind.lower()}, …]"
    if isinstance(getattr(item, "name", None), str) and any(
        is_object(getattr(item, k, None)) for k in _SCHEMAS
    ):
        return "make one of its function and schema: document_tool(function, schema, name=…)"
    return "give what @tool or @tool_input makes"


_SCHEMAS = ("input_schema", "inputSchema", "parameters", "schema", "json_schema", "args_schema")
"""Where the tools of other programs have a JSON Schema."""


def places_of(first: Tool[..., Any], second: Tool[..., Any]) -> tuple[str, str]:
    """Return where two tools were made: module and name, with the line where that is the same."""
    one, other = [f"{tool.home}.{getattr(tool, '__qualname__', tool.name)}" for tool in (first, second)]
    if one != other or first == second:
        return one, other
    return f"{one}{_line_of(first)}", f"{other}{_line_of(second)}"


def _line_of(tool: Tool[..., Any]) -> str:
    code = getattr(getattr(tool, "__wrapped__", None), "__code__", None)
    return "" if code is None else f" (line {code.co_firstlineno})"
