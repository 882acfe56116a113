"""Which type, tool, registry or context does a name on the command line mean?"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from functools import partial
from types import FunctionType, GenericAlias, ModuleType, UnionType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ...engine import Codec
from ...errors import DuplicateToolError, SchemaError, ToolNotFoundError
from ...execution import Executor
from ...message_text import escape, listed
from ...rounds import Registry, Toolset
from ...similar_names import nearest
from ...tools import Tool, tools_in
from .contexts import GivenContext
from .factories import Factory, factory_in
from .module_loading import (
    WrongUse,
    attribute_in,
    holds,
    kind_of,
    load_module,
    modules_of,
    near_name,
    reason_of,
    written_in_full,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ...engine import UnknownFields
    from .factories import Offered


_OFFERED = "__tools__"
"""The attribute for a module's tools: an executor, registry or toolset, or a function that makes one."""

_DOCUMENTS = ("resources", "prompts")
"""Further attributes of a module besides tools: the option of a server by the name between `__`."""

_LIKENESS = 0.88
"""The minimum similarity of a misspelt name: `__resource__` is one, `__sources__` isn't."""

_SHOWN = 5
"""How many names of tools or modules one message shows."""


class ObjectName(NamedTuple):
    """A name on the command line: `MODULE:NAME`.

    Attributes:
        module: the name of the module.
        path: the dotted path from the module to the object; empty for the module itself.
    """

    module: str
    path: str

    def __str__(self) -> str:
        return ":".join(filter(None, self))


def in_full(target: ObjectName) -> str:
    """Return a target as a name that also works in another folder."""
    return str(target._replace(module=written_in_full(target.module)))


def find_tools(target: ObjectName, *, show_traceback: bool) -> tuple[list[Tool[..., Any]], Registry | None]:
    """Import all tools of a module, executor, registry or toolset, or one tool.

    Args:
        target: a module, or an executor, registry, toolset or tool in it. A package includes all its modules.
        show_traceback: as for `load_module`.

    Returns:
        The tools, and their registry unless they come from a module.

    Raises:
        WrongUse: the module doesn't exist, or has no such object, or there are no tools.
    """
    found, registry = _offered_tools(target, show_traceback=show_traceback)
    if not found:  # in CI, a command that does nothing would always pass
        raise WrongUse(why_no_tools(target, show_traceback=show_traceback))
    return found, registry


def _offered_tools(
    target: ObjectName, *, show_traceback: bool
) -> tuple[list[Tool[..., Any]], Registry | None]:
    offered = _find_offered(target, show_traceback=show_traceback)
    registry = _registry_of(offered)
    return list(offered if registry is None else registry), registry  # type: ignore[arg-type]  # a list, if it isn't one


def offered_by(name: str, module: ModuleType, *, show_traceback: bool) -> list[Tool[..., Any]] | None:
    """Return the tools that a module offers as `__tools__`; None if it has no such name.

    Args:
        name: the name by which the module was imported: its own `__name__` may differ.
        module: the module.
        show_traceback: as for `load_module`.

    Raises:
        WrongUse: `__tools__` has a wrong type, or the function that makes the tools fails.
    """
    if _OFFERED not in vars(module):
        return None
    return _offered_tools(ObjectName(name, _OFFERED), show_traceback=show_traceback)[0]


def find_tools_to_run(
    target: ObjectName, options: Mapping[str, Any], *, needs_tools: bool = True
) -> tuple[Offered | list[Tool[..., Any]], GivenContext | None]:
    """Import the tools that a command runs for others, and the object for their context.

    Args:
        target: as for `find_tools`.
        options: the options `given`, `context` and `show_traceback` of the command.
        needs_tools: whether to refuse a target without tools; a registry is always allowed, since it may get
            some later.

    Raises:
        WrongUse: the tools can't be imported, or there are none, or two have the same name.
    """
    traceback = options["show_traceback"]
    offered = _find_offered(target, options["given"], show_traceback=traceback)
    if needs_tools and isinstance(offered, (list, Toolset)) and not list(offered):
        raise WrongUse(why_no_tools(target, show_traceback=traceback))
    return offered, find_context(options["context"], show_traceback=traceback)


def _find_offered(
    target: ObjectName, given: Mapping[str, Any] | None = None, *, show_traceback: bool
) -> Offered | list[Tool[..., Any]]:
    """Import the tools of a module, executor, registry or toolset; call a function that makes one of these.

    Args:
        target: as for `find_tools`.
        given: the arguments of the function, as JSON values by parameter; None for its defaults.
        show_traceback: as for `load_module`.

    Returns:
        The executor, registry or toolset, possibly with only one of its tools; or the tools of a module and
        the modules below it.

    Raises:
        WrongUse: the module doesn't exist, or has no such object, or the function fails, or two tools have
            the same name.
    """
    module = load_module(target.module, show_traceback=show_traceback, path=target.path)
    if not target.path and _OFFERED not in vars(module):
        return _tools_below(target.module, show_traceback=show_traceback)
    make = partial(Factory.make, given=given or {}, show_traceback=show_traceback)
    found, holder = _tool_or_object(module, target.path or _OFFERED, make)
    factory = factory_in(found)
    if factory is not None:
        return make(factory)
    if isinstance(found, Tool):
        tool = cast("Tool[..., Any]", found)
        if holder is None:
            return Toolset(tool)
        if isinstance(holder, Executor):
            return holder.with_tools(holder.registry.toolset.only(tool))
        return holder.toolset.only(tool)
    if not isinstance(found, (Executor, Registry, Toolset)):
        raise WrongUse(_not_offered(found, target))
    return found  # pyright: ignore[reportUnknownVariableType]  # of whatever inputs


def _not_offered(found: object, target: ObjectName) -> str:
    is_named = target.path not in {"", _OFFERED}
    name = escape(target.path) if is_named else f"{_OFFERED} of {escape(target.module)}"
    kind, hint = kind_of(found), ""
    if isinstance(found, FunctionType):
        hint = "; if it makes tools, annotate what it returns: -> Registry"
    return f"{name} is {kind}, not a tool, an Executor, a Registry or a Toolset{hint}"


def _tools_below(name: str, *, show_traceback: bool) -> list[Tool[..., Any]]:
    """Return the tools of a module and the modules below it.

    Raises:
        WrongUse: two tools have the same name.
    """
    names = list(modules_of(name))
    modules = [load_module(name, show_traceback=show_traceback) for name in names]
    return with_own_names([tool for module in modules for tool in tools_in(module)])


def with_own_names(tools: Iterable[Tool[..., Any]]) -> list[Tool[..., Any]]:
    """Return tools, each once, after checking that their names differ.

    Raises:
        WrongUse: two tools have the same name.
    """
    unlike = list({id(tool): tool for tool in tools}.values())
    try:
        Toolset(*unlike)
    except DuplicateToolError as error:
        raise WrongUse(escape(str(error))) from None
    return unlike


def find_tool(
    target: ObjectName, given: Mapping[str, Any] | None = None, *, show_traceback: bool
) -> tuple[Tool[..., Any], Executor | Toolset[Any]]:
    """Import a tool.

    Args:
        target: the variable of the tool or its name in the module; or its name in an executor or registry of
            the module, which a function of the module may make.
        given: the arguments of that function, as JSON values by parameter; None for its defaults.
        show_traceback: as for `load_module`.

    Returns:
        The tool, and its executor; without an executor, a toolset that contains only this tool, switched on.

    Raises:
        WrongUse: the module doesn't exist, or has no such tool.
    """
    module = load_module(target.module, show_traceback=show_traceback, path=target.path)
    known = {tool.name: tool for tool in tools_in(module)}
    is_unknown = target.path not in known and not holds(lambda: hasattr(module, target.path))
    if is_unknown and "." not in target.path and _OFFERED not in vars(module):
        near = near_name(target.path, known)
        there = f"; its tools are {listed(list(known))}" if known else ""
        hint = f"; did you mean {near}?" if near else there
        message = f"the module {escape(module.__name__)} has no {escape(target.path)}{hint}"
        raise WrongUse(message)
    make = partial(Factory.make, given=given or {}, show_traceback=show_traceback)
    found, holder = _tool_or_object(module, target.path, make)
    factory = factory_in(found)
    if factory is not None:
        names = [escape(tool.name) for tool in _registry_of(make(factory)) or ()]
        message = f"{escape(target.path)} makes tools: add a dot and the name of one: {listed(names)}"
        raise WrongUse(message)
    _check_is_one(found, target)
    if not isinstance(found, Tool):
        message = f"{escape(target.path)} isn't a tool; decorate it with @tool or @tool_input"
        raise WrongUse(message)
    tool = cast("Tool[..., Any]", found)
    return tool, holder if isinstance(holder, Executor) else _only_tool(tool, holder)


def _only_tool(tool: Tool[..., Any], holder: Registry | Toolset[Any] | None) -> Toolset[Any]:
    """Return a toolset with one tool, which is switched on and keeps the hooks of its toolset."""
    kept = Toolset(tool) if holder is None else holder.toolset.only(tool)
    return kept.map(lambda entry: entry.replace(is_hidden=False, switch=True))


def _check_is_one(found: object, target: ObjectName) -> None:
    """Check that an object isn't a registry, toolset or executor, if a single tool is needed.

    Raises:
        WrongUse: the object is one; the message has the names of its tools.
    """
    registry = _registry_of(found)
    if registry is None:
        return
    names = [escape(tool.name) for tool in registry]
    sample = f", as in {escape(target.module)}:{escape(target.path)}.{names[0]}" if names else ""
    has = f"{escape(target.path)} has {listed(names) or 'no tools'}"
    message = f"{has}: add a dot and the name of one{sample}"
    raise WrongUse(message)


def find_factory(target: ObjectName) -> Factory | None:
    """Return the function that makes the tools of a target; None if there is none.

    Args:
        target: as for `find_tools` or `find_tool`.

    Raises:
        WrongUse: the module doesn't exist.
    """
    found: Any = load_module(target.module, show_traceback=False, path=target.path)
    steps = [step for step in target.path.split(".") if step]
    if not steps or not _defines(found, target.path):
        return factory_in(attribute_in(found, _OFFERED))
    for step in steps:
        found = getattr(found, step, None) if holds(lambda: hasattr(found, step)) else None  # noqa: B023  # called at once
        factory = factory_in(found)
        if factory is not None:
            return factory
    return None


def codec_of_name(target: ObjectName, unknown_fields: UnknownFields, *, show_traceback: bool) -> Codec[Any]:
    """Import a type or a tool, and return the codec of the type or of the tool's input.

    Args:
        target: the type or tool.
        unknown_fields: as for `Codec`; a tool keeps its own setting unless this is `"reject"`.
        show_traceback: as for `load_module`.

    Returns:
        The codec.

    Raises:
        SchemaError: the type has complaints; the error lists all of them.
        WrongUse: the module doesn't exist, or has no such type.
    """
    module = load_module(target.module, show_traceback=show_traceback, path=target.path)
    make = partial(Factory.make, given={}, show_traceback=False)
    annotation = _objects_on(module, target.path, make, is_type=True)[-1]
    if isinstance(annotation, Tool):
        tool = cast("Tool[..., Any]", annotation)
        return (tool.with_(unknown_fields=unknown_fields) if unknown_fields == "reject" else tool).codec
    is_class = isinstance(annotation, type)
    _check_is_one(annotation, target)
    if not is_class and not _is_annotation(annotation):
        # The message doesn't show the value, which may be a secret.
        message = f"{escape(target.path)} is {kind_of(annotation)}, not a type or a tool"
        raise WrongUse(message)
    name = None if is_class else target.path
    try:
        return Codec(annotation, name=name, unknown_fields=unknown_fields)
    except SchemaError as error:
        if is_class or all(complaint.code != "unresolved" for complaint in error.findings):
            raise
    # Names in the text of an alias are looked up in this module only now: earlier, they would hide the names
    # of other modules whose classes are in the alias.
    return Codec(annotation, name=name, unknown_fields=unknown_fields, namespace=vars(module))


def _is_annotation(value: object) -> bool:
    """Return whether an object that isn't a class may be used as a type, such as `list[int] | None`."""
    is_form = type(value).__module__ in {"typing", "typing_extensions"}
    return value is None or is_form or isinstance(value, (GenericAlias, UnionType))


def dataclasses_of(module: ModuleType) -> list[type]:
    """Return the dataclasses that a module defines, nested ones included, in order."""
    return [cls for cls in _classes(module, module.__name__, set()) if holds(lambda: is_dataclass(cls))]  # noqa: B023  # called at once


def _classes(owner: object, module: str, seen: set[int]) -> Iterator[type]:
    for value in list(vars(owner).values()):
        # not `isinstance`, which runs code of the object's `__class__`
        if not issubclass(type(value), type) or id(value) in seen:
            continue
        if holds(lambda: value.__module__ == module):  # noqa: B023  # called at once
            seen.add(id(value))
            yield value
            yield from _classes(value, module, seen)


def find_context(target: ObjectName | None, *, show_traceback: bool) -> GivenContext | None:
    """Import a context, or a function that makes one.

    Args:
        target: the context or the function; None for no context.
        show_traceback: as for `load_module`.

    Raises:
        WrongUse: there is no such object, or it can't give a mapping.
    """
    if target is None:
        return None
    module = load_module(target.module, show_traceback=show_traceback, path=target.path)
    return GivenContext(target.path, _objects_on(module, target.path)[-1], show_traceback=show_traceback)


def find_documents(target: ObjectName, *, show_traceback: bool) -> dict[str, Any]:
    """Return the resources and prompts in the module of a target, as options of a server.

    Args:
        target: as for `find_tools`.
        show_traceback: as for `load_module`.

    Raises:
        WrongUse: the module doesn't exist, its resources or prompts can't be read, or their name is misspelt.
    """
    members = vars(load_module(target.module, show_traceback=show_traceback, path=target.path))
    _check_spelling(target.module, members)
    names = [name for name in _DOCUMENTS if f"__{name}__" in members]
    try:
        return {name: _read_once(members[f"__{name}__"]) for name in names}
    except Exception as error:  # noqa: BLE001  # the program's own code
        if show_traceback:
            traceback.print_exception(error)
        reason = reason_of(error, show_traceback=show_traceback)
        message = f"the resources and prompts of {escape(target.module)} can't be read: {reason}"
        raise WrongUse(message) from None


def _check_spelling(module: str, members: Mapping[str, Any]) -> None:
    known = [f"__{name}__" for name in _DOCUMENTS]
    for name in list(members):
        near = nearest(name, known, _LIKENESS) if name.startswith("__") and name not in known else None
        if near is not None:
            message = f"{escape(module)} has {escape(name)}, which isn't served: the name is {near}"
            raise WrongUse(message)


def _read_once(given: Any) -> Any:
    """Return a plain copy of a mapping or a list of any class, since the server reads it more than once."""
    if isinstance(given, Mapping):
        return dict(cast("Mapping[object, object]", given))
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes)):
        return list(cast("Iterable[object]", given))
    return given


# --- the way to an object ------------------------------------------------------------------------


def _tool_or_object(
    module: ModuleType, path: str, make: Callable[[Factory], Offered]
) -> tuple[Any, Offered | None]:
    """Return the object at a path or the tool of that name, with its executor, registry or toolset.

    Raises:
        WrongUse: the module has no object or tool of that name.
    """
    known = {tool.name: tool for tool in tools_in(module)}
    if path in known and not _defines(module, path):
        return known[path], None
    *passed, found = _objects_on(module, path, make)
    holders: list[Any] = [one for one in passed if isinstance(one, (Executor, Registry, Toolset))]
    return found, holders[-1] if holders else None


def _defines(module: ModuleType, path: str) -> bool:
    """Return whether a module has the first name of a path; a submodule counts only if more names follow."""
    first, _, rest = path.partition(".")
    return holds(
        lambda: hasattr(module, first) and (rest != "" or not isinstance(getattr(module, first), ModuleType))
    )


def _objects_on(
    module: ModuleType,
    path: str,
    make: Callable[[Factory], Offered] | None = None,
    *,
    is_type: bool = False,
) -> list[Any]:
    """Return the objects on a path, from the one in which it begins to the one at its end.

    Args:
        module: the module where the path begins.
        path: the dotted path. If the module lacks the first name, it is looked up in `__tools__`.
        make: a function that calls a function on the path that makes tools; None to return such a function.
        is_type: whether the path should lead to a type, for the message.

    Raises:
        WrongUse: there is no object at the path.
    """
    found: Any = module
    place = f"the module {escape(module.__name__)}"
    if not _defines(module, path) and _OFFERED in vars(module):
        found = vars(module)[_OFFERED]
    passed: list[Any] = []
    for step in path.split("."):
        factory = None if make is None else factory_in(found)
        if factory is not None and make is not None:
            found = make(factory)
        passed.append(found)
        try:
            registry = _registry_of(found)
            found = getattr(found, step) if registry is None else registry[step]
        except (AttributeError, ToolNotFoundError):
            hint = _suggestion(found, step) or (_suggestion(module, step) if len(passed) == 1 else "")
            hint = hint or (_list_types(module) if is_type and found is module else "")
            message = f"{place} has no {escape(step)}{hint}"
            raise WrongUse(message) from None
        except Exception as error:  # noqa: BLE001  # the program's own code
            message = f"{escape(step)} of {place} can't be read: {reason_of(error, show_traceback=True)}"
            raise WrongUse(message) from None
        place = escape(step) if len(passed) == 1 else f"{place}.{escape(step)}"
    return [*passed, found]


def _registry_of(found: object) -> Registry | None:
    """Return a registry itself, that of an executor, or a new one for a toolset; None for other objects."""
    if isinstance(found, Executor):
        return found.registry
    if isinstance(found, Toolset):
        return Registry(found)  # pyright: ignore[reportUnknownArgumentType]  # of whatever inputs
    return found if isinstance(found, Registry) else None


def _suggestion(owner: object, name: str) -> str:
    registry = _registry_of(owner)
    names = dir(owner) if registry is None else [tool.name for tool in registry]
    near = near_name(name, [other for other in names if not other.startswith("_")])
    return "" if near is None else f"; did you mean {escape(near)}?"


def _list_types(module: ModuleType) -> str:
    tools = tools_in(module)
    inputs = {tool.input_type for tool in tools}
    known = [escape(cls.__qualname__) for cls in dataclasses_of(module) if cls not in inputs]
    if not known:
        return f"; its tools are {listed([escape(tool.name) for tool in tools])}" if tools else ""
    return f"; its dataclasses are {listed(known)}"


# --- messages ------------------------------------------------------------------------------------


def why_no_tools(
    target: ObjectName,
    what: str = "tools",
    how: str = "decorate functions with @tool",
    *,
    show_traceback: bool,
) -> str:
    """Return the message for a target without tools.

    Args:
        target: the imported target.
        what: a word for the missing objects, such as `tools`.
        how: how to add some to the module.
        show_traceback: as for `load_module`.
    """
    if target.path:
        return f"there are no tools in {escape(str(target))}: add some, as in Registry([search])"
    remedy = _imported_tools(target, show_traceback=show_traceback) or how
    return f"there are no {what} in {escape(target.module)}: {remedy}"


def _imported_tools(target: ObjectName, *, show_traceback: bool) -> str:
    """Return which tools a module only imports, from where, and the right target; empty if there are none."""
    homes: dict[str, list[str]] = {}
    for module_name in modules_of(target.module):
        module = load_module(module_name, show_traceback=show_traceback)
        for name, value in vars(module).items():
            if issubclass(type(value), Tool) and value.home != module.__name__:
                homes.setdefault(value.home, []).append(escape(name))
    shown = [_imported_from(home, names) for home, names in list(homes.items())[:_SHOWN]]
    them = "it" if sum(map(len, homes.values())) == 1 else "them"
    there = "that module" if len(homes) == 1 else "one of those modules"
    return f"{'; '.join(shown)}: name {there}, or a Toolset of {them}" if shown else ""


def _imported_from(home: str, names: list[str]) -> str:
    both = " and " if len(names) == 2 else ", "  # noqa: PLR2004  # more are a list
    return f"{listed(names, _SHOWN, both)} {'is' if len(names) == 1 else 'are'} imported from {escape(home)}"
