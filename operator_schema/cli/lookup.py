"""Names on the command line, turned into modules, types, tools and registries."""

from __future__ import annotations

from dataclasses import is_dataclass
from types import FunctionType, GenericAlias, UnionType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ..codec.codec import Codec
from ..errors import SchemaError, ToolNotFoundError
from ..rounds.toolset import Toolset
from ..tools.registry.discovery import tools_in
from ..tools.registry.registry import Registry
from ..tools.tool import Tool
from ..wording import escape, listed, nearest
from .factories import Factory, factory_in
from .modules import WrongUse, kind_of, load_module, modules_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import ModuleType

    from ..codec.options import UnknownFields
    from .contexts import GivenContext

__all__ = [
    "ObjectName",
    "codec_of_name",
    "dataclasses_of",
    "find_context",
    "find_factory",
    "find_offered",
    "find_tool",
    "find_tools",
    "offered_by",
]

_OFFERED = "__tools__"
"""What a module calls the tools that it offers: a registry, a toolset, or a function that makes one."""


class ObjectName(NamedTuple):
    """What `MODULE:NAME` names.

    Attributes:
        module: name of the module.
        path: names that lead from the module to the object, with dots between them; empty for the module.
    """

    module: str
    path: str


def _is_annotation(value: object) -> bool:
    """Return whether an object that isn't a class may be used as a type, such as `list[int] | None`."""
    is_form = type(value).__module__ in {"typing", "typing_extensions"}
    return value is None or is_form or isinstance(value, (GenericAlias, UnionType))


def codec_of_name(target: ObjectName, unknown_fields: UnknownFields, *, show_traceback: bool) -> Codec[Any]:
    """Import a type, or a tool, and return the codec of its values.

    Args:
        target: where the type is.
        unknown_fields: as for `Codec`; a tool keeps its own unless they are rejected.
        show_traceback: as for `load_module`.

    Returns:
        Its codec; that of the input for a tool.

    Raises:
        SchemaError: with every complaint about the type.
        WrongUse: there is no such module, or no such type in it.
    """
    module = load_module(target.module, show_traceback=show_traceback, path=target.path)
    annotation = _find(module, target.path, _make, is_type=True)
    if isinstance(annotation, Tool):
        tool = cast("Tool[..., Any]", annotation)
        return (tool.with_(unknown_fields=unknown_fields) if unknown_fields == "reject" else tool).codec
    is_class = isinstance(annotation, type)
    if not is_class and not _is_annotation(annotation):
        # Without the value: it may be a secret.
        message = f"{escape(target.path)} is {kind_of(annotation)}, not a type or a tool"
        raise WrongUse(message)
    name = None if is_class else target.path
    try:
        return Codec(annotation, name=name, unknown_fields=unknown_fields)
    except SchemaError as error:
        if is_class or all(complaint.code != "unresolved" for complaint in error.complaints):
            raise
    # Text inside an alias does not know its module. This comes second because the names given here
    # win over those of the modules that other classes of the alias were written in.
    return Codec(annotation, name=name, unknown_fields=unknown_fields, namespace=vars(module))


def _make(factory: Factory) -> Registry | Toolset[Any]:
    """Make the tools of a function with its defaults."""
    return factory.make({}, show_traceback=False)


def find_tools(target: ObjectName, *, show_traceback: bool) -> tuple[list[Tool[..., Any]], Registry | None]:
    """Import the tools of a module, of a registry or of a toolset.

    Args:
        target: a module or package, or a registry or toolset in it. The modules below a package are read too.
        show_traceback: as for `load_module`.

    Returns:
        The tools, and the registry where one was named.

    Raises:
        WrongUse: there is no such module, or no registry of that name in it.
    """
    offered = find_offered(target, show_traceback=show_traceback)
    registry = _registry_of(offered)
    return list(offered), registry


def offered_by(module: ModuleType, *, show_traceback: bool) -> list[Tool[..., Any]]:
    """Return the tools that a module offers as `__tools__`; none if it has no such name.

    Raises:
        WrongUse: it is something else, or the function fails that makes them.
    """
    if _OFFERED not in vars(module):
        return []
    return find_tools(ObjectName(module.__name__, _OFFERED), show_traceback=show_traceback)[0]


def find_offered(
    target: ObjectName, given: Mapping[str, Any] | None = None, *, show_traceback: bool
) -> Registry | Toolset[Any] | list[Tool[..., Any]]:
    """Import the tools of a module, or a registry or toolset, or make one by a function.

    Args:
        target: as for `find_tools`.
        given: what the function gets, as JSON values by parameter; None for its defaults.
        show_traceback: as for `load_module`.

    Returns:
        The registry or toolset itself; or the tools of a module and of those below it.

    Raises:
        WrongUse: there is no such module, no registry of that name in it, or the function fails.
    """
    module = load_module(target.module, show_traceback=show_traceback, path=target.path)
    if not target.path and _OFFERED not in vars(module):
        names = list(modules_of(target.module, show_traceback=show_traceback))
        modules = [load_module(name, show_traceback=show_traceback) for name in names]
        tools = {id(tool): tool for module in modules for tool in tools_in(module)}
        return list(tools.values())
    found: Any = _find(module, target.path or _OFFERED)
    factory = factory_in(found)
    if factory is not None:
        return factory.make(given or {}, show_traceback=show_traceback)
    if not isinstance(found, (Registry, Toolset)):
        raise WrongUse(_not_offered(found, target))
    return found  # pyright: ignore[reportUnknownVariableType]  # of whatever inputs


def _not_offered(found: object, target: ObjectName) -> str:
    name = escape(target.path or _OFFERED)
    kind, hint = kind_of(found), ""
    if isinstance(found, Tool):
        hint = f": name its module, {escape(target.module)}, or a Registry with it"
    elif isinstance(found, FunctionType):
        hint = "; one that makes tools says so in its annotations: -> Registry"
    return f"{name} is {kind}, not a Registry or a Toolset{hint}"


def find_factory(target: ObjectName, *, show_traceback: bool) -> Factory | None:
    """Return the function that makes the tools of a target; None if they are there without one.

    Args:
        target: as for `find_tools` or `find_tool`.
        show_traceback: as for `load_module`.

    Raises:
        WrongUse: there is no such module.
    """
    found: Any = load_module(target.module, show_traceback=show_traceback, path=target.path)
    steps = [step for step in target.path.split(".") if step]
    if not steps or not hasattr(found, steps[0]):
        return factory_in(getattr(found, _OFFERED, None))
    for step in steps:
        found = getattr(found, step, None)
        factory = factory_in(found)
        if factory is not None:
            return factory
    return None


def find_tool(
    target: ObjectName, given: Mapping[str, Any] | None = None, *, show_traceback: bool
) -> Tool[..., Any]:
    """Import a tool.

    Args:
        target: where it is, by its name in the module, by the name of the tool, or by its name in a
            registry of the module, or in what a function of the module makes.
        given: what that function gets, as JSON values by parameter; None for its defaults.
        show_traceback: as for `load_module`.

    Returns:
        The tool.

    Raises:
        WrongUse: there is no such module, or no such tool in it.
    """
    module = load_module(target.module, show_traceback=show_traceback, path=target.path)
    known = {tool.name: tool for tool in tools_in(module)}
    if target.path in known and not hasattr(module, target.path):
        return known[target.path]
    if "." not in target.path and not hasattr(module, target.path) and _OFFERED not in vars(module):
        near = nearest(target.path, known)
        there = f"; its tools are {listed(list(known))}" if known else ""
        hint = f"; did you mean {near}?" if near else there
        message = f"the module {escape(module.__name__)} has no {escape(target.path)}{hint}"
        raise WrongUse(message)

    def make(factory: Factory) -> Registry | Toolset[Any]:
        return factory.make(given or {}, show_traceback=show_traceback)

    found = _find(module, target.path, make)
    factory = factory_in(found)
    if factory is not None:
        names = [escape(tool.name) for tool in make(factory)]
        message = f"{escape(target.path)} makes tools: name one of them behind it, {listed(names)}"
        raise WrongUse(message)
    registry = _registry_of(found)
    if registry is not None:
        names = [escape(tool.name) for tool in registry]
        sample = f", as in {escape(target.module)}:{escape(target.path)}.{names[0]}" if names else ""
        has = f"{escape(target.path)} has {listed(names) or 'no tools'}"
        message = f"{has}: name one of them behind it{sample}"
        raise WrongUse(message)
    if not isinstance(found, Tool):
        message = f"{escape(target.path)} isn't a tool; decorate it with @tool or @tool_input"
        raise WrongUse(message)
    return cast("Tool[..., Any]", found)


def find_context(target: ObjectName, *, show_traceback: bool) -> GivenContext:
    """Import what gives a context.

    Args:
        target: where it is.
        show_traceback: as for `load_module`.

    Raises:
        WrongUse: there is no such name, or no mapping can come of it.
    """
    from .contexts import GivenContext

    module = load_module(target.module, show_traceback=show_traceback, path=target.path)
    return GivenContext(target.path, _find(module, target.path), show_traceback=show_traceback)


def _find(
    module: ModuleType,
    path: str,
    make: Callable[[Factory], Registry | Toolset[Any]] | None = None,
    *,
    is_type: bool = False,
) -> Any:
    """Return what a path leads to.

    Args:
        module: where it begins.
        path: names with dots between them; what the module doesn't have is looked up in what it offers.
        make: makes the tools of a function on the way; None if that is the function itself.
        is_type: whether a type is wanted, for the message.

    Raises:
        WrongUse: it leads nowhere.
    """
    found: Any = module
    place = f"the module {escape(module.__name__)}"
    steps = path.split(".")
    if not hasattr(module, steps[0]) and _OFFERED in vars(module):
        found = vars(module)[_OFFERED]
    for step in steps:
        factory = None if make is None else factory_in(found)
        if factory is not None and make is not None:
            found = make(factory)
        try:
            registry = _registry_of(found)
            found = getattr(found, step) if registry is None else registry.get(step)
        except (AttributeError, ToolNotFoundError):
            hint = _offer(found, step) or (_offer(module, step) if place.startswith("the module ") else "")
            hint = hint or (_list_types(module) if is_type and found is module else "")
            message = f"{place} has no {escape(step)}{hint}"
            raise WrongUse(message) from None
        place = escape(step) if place.startswith("the module ") else f"{place}.{escape(step)}"
    return found


def _registry_of(found: object) -> Registry | None:
    """Return a registry as it is, a toolset as a registry, and None for anything else."""
    if isinstance(found, Toolset):
        return Registry(found)  # pyright: ignore[reportUnknownArgumentType]  # of whatever inputs
    return found if isinstance(found, Registry) else None


def _offer(owner: object, name: str) -> str:
    registry = _registry_of(owner)
    names = dir(owner) if registry is None else [tool.name for tool in registry]
    near = nearest(name, [other for other in names if not other.startswith("_")])
    return "" if near is None else f"; did you mean {escape(near)}?"


def _list_types(module: ModuleType) -> str:
    tools = tools_in(module)
    inputs = {tool.input_type for tool in tools}
    known = [escape(cls.__qualname__) for cls in dataclasses_of(module) if cls not in inputs]
    if not known:
        return f"; its tools are {listed([escape(tool.name) for tool in tools])}" if tools else ""
    return f"; its dataclasses are {listed(known)}"


def dataclasses_of(module: ModuleType) -> list[type]:
    """Return the dataclasses that a module defines, nested ones included, in their order."""
    return [cls for cls in _classes(module, module.__name__, set()) if is_dataclass(cls)]


def _classes(owner: object, module: str, seen: set[int]) -> Iterator[type]:
    for value in list(vars(owner).values()):
        if isinstance(value, type) and value.__module__ == module and id(value) not in seen:
            seen.add(id(value))
            yield value
            yield from _classes(value, module, seen)
