"""Which tools are in a list, a module, an object or an installed distribution, and where were they made?"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, cast

from ..json_values import is_object
from ..message_text import as_written, listed, one_line, quote, received
from .binding import unbound_message
from .metadata import AUTO_GENERATED
from .tool import Tool

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


_SHOWN_NAMES = 5


def tools_in(module: ModuleType | str) -> list[Tool[..., Any]]:
    """List the tools of a module, in the order in which it defines them.

    Args:
        module: a module, or its name to import it.

    Returns:
        The tools in `__all__`; without `__all__`, those under a name without a leading underscore that aren't
        merely imported from the module that made them.
    """
    if isinstance(module, str):
        module = import_module(module)
    content = vars(module)
    public = content.get("__all__")
    if public is None:
        found = [value for name, value in content.items() if not name.startswith("_")]
    else:
        found = [getattr(module, name) for name in public if not _is_submodule(module, name)]
    tools: list[Tool[..., Any]] = list(filter(_is_tool, found))
    if public is None:
        # Imported tools belong to the module that made them.
        tools = [tool for tool in tools if not _is_imported(tool, module)]
    return list({id(tool): tool for tool in tools}.values())


def _is_tool(value: object) -> bool:
    try:
        return isinstance(value, Tool)
    except Exception:  # noqa: BLE001  # an object of the module that says itself which class it has
        return False


def own_tools_of(module: ModuleType) -> list[Tool[..., Any]]:
    """List the tools of a module like `tools_in`, for a registry that would be empty without them.

    Raises:
        ValueError: the module is a package without tools and without `__all__`, but its submodules may have
            some.
    """
    tools = tools_in(module)
    if not tools and hasattr(module, "__path__") and not hasattr(module, "__all__"):
        _refuse_package(module, module.__path__)
    return tools


def some_tools_of(module: ModuleType | str) -> list[Tool[..., Any]]:
    """List the tools of a module like `own_tools_of`; it must have at least one, or an empty `__all__`.

    Raises:
        TypeError: it isn't a module; a module may put another object in its place in `sys.modules`.
        ValueError: the module has none.
    """
    if isinstance(module, str):
        module = import_module(module)
    elif not isinstance(module, ModuleType) and all(module is not one for one in list(sys.modules.values())):
        message = f"expected a module, or its name to import it, not {received(module)}"
        raise TypeError(message)
    tools = own_tools_of(module)
    if not tools and getattr(module, "__all__", None) != []:
        message = f"the module {module.__name__} has no tools: {_what_is_in(module)}"
        raise ValueError(message)
    return tools


def _what_is_in(module: ModuleType) -> str:
    """Return a message about a module without own tools: what it has instead, and what to do."""
    public = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    homes = {name: value.home for name, value in public.items() if isinstance(value, Tool)}
    if homes:
        names = listed(list(homes), _SHOWN_NAMES)
        others = [home for home in dict.fromkeys(homes.values()) if home != module.__name__]
        if not others:
            return f"its __all__ leaves out {names}: name them there"
        return f"it merely imports {names}: give {listed(others, _SHOWN_NAMES)}, or name them in __all__"
    functions = [
        name
        for name, value in public.items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__
    ]
    names = f", such as {listed(functions, _SHOWN_NAMES)}" if functions else ""
    return f"decorate its functions with @tool{names}"


def _is_submodule(module: ModuleType, name: str) -> bool:
    """Return whether a name in a package's `__all__` is a submodule that isn't imported yet, as in `xml`."""
    if name in vars(module) or not hasattr(module, "__path__"):
        return False
    from importlib.util import find_spec

    try:
        return find_spec(f"{module.__name__}.{name}") is not None
    except ImportError:  # a finder of the package itself says so
        return False


def _refuse_package(module: ModuleType, path: Iterable[str]) -> None:
    from pkgutil import iter_modules

    names = [f"{module.__name__}.{found.name}" for found in iter_modules(path)]
    if names:
        one = quote(names[0])
        message = (
            f"the package {module.__name__} itself has no tools, and its submodules aren't looked at:"
            f" {listed(names, _SHOWN_NAMES)}. Give one, Toolset.from_module({one}), and the others beside it,"
            f" or import their tools in the package and name them in __all__"
        )
        raise ValueError(message)


def _is_imported(found: Tool[..., Any], module: ModuleType) -> bool:
    """Return whether another module made a tool and still has it under some name."""
    home = found.home
    if home == module.__name__ or home not in sys.modules:
        return False
    # A tool that another module's function made for this module is only in this one.
    return any(value is found for value in [*vars(sys.modules[home]).values()])


def methods_of(instance: object) -> list[Tool[..., Any]]:
    """List the tools among the methods of an object, bound to it; methods of the bases come first.

    Only the classes are searched, so that no code of the object runs. An attribute of the instance hides a
    method of the same name.

    Raises:
        TypeError: the object is a class or a module.
    """
    _refuse_place(instance)
    owner = type(instance)
    own: Mapping[str, Any] = getattr(instance, "__dict__", {})
    # Redefining a method doesn't change its place in the order.
    found = {name: value for cls in reversed(owner.__mro__) for name, value in vars(cls).items()}
    tools: dict[int, Tool[..., Any]] = {}
    for name, value in found.items():
        inside = _tool_inside(value)
        if inside is None or name.startswith("_"):
            continue
        tool = own[name] if name in own else _bound(value, instance, owner)
        if isinstance(tool, Tool):
            tools.setdefault(id(inside), cast("Tool[..., Any]", tool))
    return list(tools.values())


def _tool_inside(attribute: Any) -> Tool[..., Any] | None:
    """Return the tool in a class attribute: itself, or the function of a class or static method."""
    inside: Any = attribute.__func__ if type(attribute) in _WRAPPERS else attribute
    return cast("Tool[..., Any]", inside) if isinstance(inside, Tool) else None


_WRAPPERS = frozenset({classmethod, staticmethod})


def _bound(attribute: Any, instance: Any, owner: type[Any]) -> Any:
    tool = _tool_inside(attribute)
    if tool is None or type(attribute) is staticmethod:
        return tool
    # Until Python 3.12 a class method binds its function itself; since then it is a method around it.
    return tool.__get__(owner if type(attribute) is classmethod else instance, owner)


def _refuse_place(instance: Any) -> None:
    if isinstance(instance, ModuleType):
        message = f"{instance.__name__} is a module: write Toolset.from_module({instance.__name__})"
        raise TypeError(message)
    if isinstance(instance, type):
        name = one_line(instance.__name__, 100)
        message = f"{name} is a class, and its methods need an instance: write Toolset.from_object({name}(…))"
        raise TypeError(message)


def offered_by_distributions(group: str) -> Iterator[tuple[str, Any]]:
    """Load the entry points of installed distributions, sorted by distribution and name.

    Args:
        group: the group of entry points.

    Yields:
        The place of the entry, such as `web of acme-tools`, and its object: a tool, a module, a registry, or
        any other iterable of tools. If loading raises an exception, it has a note with the place.
    """
    from importlib.metadata import entry_points

    points = [("" if point.dist is None else point.dist.name, point) for point in entry_points(group=group)]
    for owner, point in sorted(points, key=lambda entry: (entry[0], entry[1].name, entry[1].value)):
        place = f"{point.name} of {owner}" if owner else point.name
        try:
            found: Any = point.load()
            if isinstance(found, Tool):
                found = (found,)
            elif isinstance(found, ModuleType):
                found = own_tools_of(found)
        except Exception as error:  # it is raised again, with its place
            error.add_note(f"while loading the entry point {place}, group {group}")
            raise
        yield place, found


_WRAPPED_AT_MOST = 100
_FROM_MODULE = "Toolset.from_module(module) takes its tools"


def tools_of(tools: Any) -> list[Tool[..., Any]]:
    """List the tools of an iterable or mapping; a bound `classmethod` over a tool counts as one.

    In a mapping, each tool gets its key as its name.

    Raises:
        SchemaError: providers refuse a key as a name.
        TypeError: something isn't a tool, or is a method without its instance; a key isn't a string; or
            `tools` is a single tool.
    """
    if isinstance(tools, Tool):
        message = f"expected a list of tools, not the tool {tools.name} alone: write [{tools.name}]"
        raise TypeError(message)
    given: Any = tools
    if isinstance(tools, (str, type)) or not isinstance(tools, Iterable):
        message = f"expected a list of tools, not {_given_text(tools)}"
        raise TypeError(message)
    found: list[Tool[..., Any]] = []
    is_mapping = hasattr(given, "items")
    for key, item in given.items() if is_mapping else enumerate(given):
        tool: Any = item
        # Tools are never asked for missing attributes, which would be slow.
        if not issubclass(type(item), Tool) and isinstance(getattr(item, "__func__", None), Tool):
            tool = item.__func__.__get__(item.__self__, item.__self__)
        if not isinstance(tool, Tool):
            raise TypeError(_not_a_tool(item))
        made = cast("Tool[..., Any]", tool)
        if made.is_unbound:
            raise TypeError(unbound_message(getattr(made, "__qualname__", made.name)))
        found.append(_with_key_as_name(made, key) if is_mapping else made)
    return found


def _with_key_as_name(tool: Tool[..., Any], key: object) -> Tool[..., Any]:
    """Return a tool under the name that a mapping gives it."""
    if not isinstance(key, str):
        message = f"the key of the tool {tool.name} is its name and must be a string, not {received(key)}"
        raise TypeError(message)
    return tool if key == tool.name else tool.with_(name=key)


def check_is_tool(what: str, given: object, *, for_several: str = "") -> None:
    """Check that a single tool was given, not a function or a collection of tools.

    Args:
        what: the name of the function that takes it, such as `to_tool`.
        given: the given object.
        for_several: the function that takes several tools, such as `to_tools`.

    Raises:
        TypeError: the object isn't a tool.
    """
    if isinstance(given, Tool):
        return
    remedy = ""
    if isinstance(given, FunctionType):
        remedy = ": decorate it with @tool"
    elif for_several and hasattr(type(given), "__iter__"):
        remedy = f": use {for_several} for several"
    message = f"{what} takes a tool made by @tool or @tool_input, not {received(given)}{remedy}"
    raise TypeError(message)


def _given_text(given: object) -> str:
    if isinstance(given, type):
        return f"the class {one_line(given.__name__, 100)}"
    if isinstance(given, ModuleType):
        return f"the module {one_line(given.__name__, 100)}: {_FROM_MODULE}"
    if isinstance(given, FunctionType):
        name = one_line(given.__name__, 100)
        return f"the function {name}: decorate it with @tool, and write [{name}]"
    if isinstance(given, MethodType):
        name = one_line(given.__name__, 100)
        return f"the method {name}: call it, as in {name}()"
    has_tools = isinstance(getattr(type(given), "registry", None), property)  # an executor does
    return f"{as_written(given)}: its tools are in its registry" if has_tools else as_written(given)


def _not_a_tool(item: object) -> str:
    """Return a message that an object isn't a tool, with a remedy."""
    if isinstance(item, type):
        name = one_line(item.__name__, 100)
        return f"the class {name} isn't a Tool; decorate its methods with @tool, or it with @tool_input"
    if isinstance(item, ModuleType):
        return f"the module {one_line(item.__name__, 100)} isn't a Tool: {_FROM_MODULE}"
    kind = one_line(type(item).__name__, 100)
    what = f"an {kind}" if kind[:1].lower() in set("aeiou") else f"a {kind}"
    inner: Any = item
    for _ in range(_WRAPPED_AT_MOST):
        inner = getattr(inner, "__wrapped__", None)
        if inner is None or isinstance(inner, Tool):
            break
    if isinstance(inner, Tool):
        name = one_line(inner.name, 100)
        return f"{what} around the tool {name} isn't a Tool; put @tool outermost, above other decorators"
    if isinstance(item, FunctionType):
        what = f"the function {one_line(item.__name__, 100)}"
    return f"{what} isn't a Tool; {_remedy(item, kind)}"


def _remedy(item: object, kind: str) -> str:
    if any(_tool_inside(value) is not None for cls in type(item).__mro__ for value in vars(cls).values()):
        return f"Toolset.from_object({kind.lower()}) takes the tools among its methods"
    if callable(item):
        return "decorate it with @tool"
    if is_object(item) and "name" in item:
        return "give the tools themselves, not their definitions"
    if hasattr(type(item), "__iter__") and not issubclass(type(item), (str, dict)):
        return f"give it alone, or its tools one by one: [*{kind.lower()}, …]"
    if isinstance(getattr(item, "name", None), str) and any(
        is_object(getattr(item, k, None)) for k in _SCHEMAS
    ):
        return "make one from its function and schema: document_tool(function, schema, name=…)"
    return "give what @tool or @tool_input makes"


_SCHEMAS = ("input_schema", "inputSchema", "parameters", "schema", "json_schema", "args_schema")
"""The attributes in which tools of other libraries have a JSON Schema."""


def places_of(first: Tool[..., Any], second: Tool[..., Any]) -> tuple[str, str]:
    """Return where two tools were made: module and name, and also the lines if these are the same."""
    one, other = [f"{tool.home}.{getattr(tool, '__qualname__', tool.name)}" for tool in (first, second)]
    if one != other or first == second:
        return one, other
    return f"{one}{_line_of(first)}", f"{other}{_line_of(second)}"


def _line_of(tool: Tool[..., Any]) -> str:
    code = getattr(getattr(tool, "__wrapped__", None), "__code__", None)
    return "" if code is None else f" (line {code.co_firstlineno})"


def place_of_tool(tool: Tool[..., Any]) -> str | None:
    """Return file and line of the function of a tool, or of the class of its input."""
    from inspect import unwrap  # only a tool that something is said about pays for it

    code = getattr(unwrap(tool), "__code__", None)
    if code is not None:
        return f"{code.co_filename}:{code.co_firstlineno}"
    from ..introspect.source_code import place_of

    return place_of(tool.input_type) if isinstance(tool.input_type, type) else None


def is_undescribed(tool: Tool[..., Any]) -> bool:
    """Return whether a tool has no description, so that the model only gets its name."""
    return tool.summary.endswith(AUTO_GENERATED)


_OWN_MODULES = f"{__name__.rpartition('.tools.')[0]}."

_warned_places: set[str] = set()
"""The places of tools without a description that have been logged."""


def warn_if_undescribed(tool: Tool[..., Any]) -> None:
    """Log that a tool has no description, once for each function; tools of servers aren't logged."""
    if not is_undescribed(tool) or tool.home.startswith(_OWN_MODULES):
        return
    place = place_of_tool(tool) or f"{tool.home}.{tool.name}"
    if place not in _warned_places:
        _warned_places.add(place)
        what = "has no docstring, so a model knows only its name: write what it does, and when to use it"
        from .logs import WARNING, write_log  # few tools are undescribed

        write_log(WARNING, "%s (%s) %s", tool.name, place, what)
