"""Finds the modules, types, tools and registries that a command line names."""

from __future__ import annotations

import os
import traceback
from dataclasses import is_dataclass
from pathlib import Path
from types import FunctionType, GenericAlias, UnionType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click

from ..codec.codec import Codec
from ..errors import DecodeError, SchemaError, ToolNotFoundError
from ..execution.executor import Executor
from ..introspect.node_kinds import json_types_of
from ..introspect.nodes import ArrayNode, ObjectNode
from ..json_values import is_array, to_json_text
from ..message_text import escape, listed, nearest
from ..rounds.registry import Registry
from ..rounds.toolset import Toolset
from ..tools.function import tool
from ..tools.tool import Tool
from ..tools.tool_sources import tools_in
from .modules import WrongUse, kind_of, load_module, modules_of, own_output_kept, reason_of
from .output import json_types, value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import ModuleType

    from ..codec.options import UnknownFields
    from ..introspect.nodes import Field
    from .contexts import GivenContext

    Offered = Executor | Registry | Toolset[Any]

__all__ = [
    "Factory",
    "ObjectName",
    "codec_of_name",
    "dataclasses_of",
    "factory_in",
    "find_context",
    "find_factory",
    "find_offered",
    "find_tool",
    "find_tools",
    "offered_by",
]


_OFFERED = "__tools__"
"""The name in a module for the tools that it offers: an executor, registry or toolset, or what makes one."""


class ObjectName(NamedTuple):
    """A name on the command line: `MODULE:NAME`.

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
        Its codec; for a tool, the codec of its input.

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
        if is_class or all(complaint.code != "unresolved" for complaint in error.findings):
            raise
    # Text inside an alias does not know its module. This comes second because the names given here
    # win over names from the modules in which other classes of the alias were written.
    return Codec(annotation, name=name, unknown_fields=unknown_fields, namespace=vars(module))


def _make(factory: Factory) -> Offered:
    """Call a function that makes tools with its defaults."""
    return factory.make({}, show_traceback=False)


def find_tools(target: ObjectName, *, show_traceback: bool) -> tuple[list[Tool[..., Any]], Registry | None]:
    """Import the tools of a module, an executor, a registry or a toolset.

    Args:
        target: a module or package, or one of these in it. The modules below a package are read too.
        show_traceback: as for `load_module`.

    Returns:
        The tools, and the registry where one was named.

    Raises:
        WrongUse: there is no such module, or no registry of that name in it.
    """
    offered = find_offered(target, show_traceback=show_traceback)
    registry = _registry_of(offered)
    return list(offered if registry is None else registry), registry  # type: ignore[arg-type]  # a list, if it isn't one


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
) -> Offered | list[Tool[..., Any]]:
    """Import the tools of a module, an executor, registry or toolset, or call a function that makes one.

    Args:
        target: as for `find_tools`.
        given: arguments of the function, as JSON values by parameter; None for its defaults.
        show_traceback: as for `load_module`.

    Returns:
        The executor, registry or toolset itself; or the tools of a module and of those below it.

    Raises:
        WrongUse: there is no such module, nothing of that kind and name in it, or the function fails.
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
    if not isinstance(found, (Executor, Registry, Toolset)):
        raise WrongUse(_not_offered(found, target))
    return found  # pyright: ignore[reportUnknownVariableType]  # of whatever inputs


def _not_offered(found: object, target: ObjectName) -> str:
    name = escape(target.path or _OFFERED)
    kind, hint = kind_of(found), ""
    if isinstance(found, Tool):
        hint = f": name its module, {escape(target.module)}, or a Registry with it"
    elif isinstance(found, FunctionType):
        hint = "; one that makes tools says so in its annotations: -> Registry"
    return f"{name} is {kind}, not an Executor, a Registry or a Toolset{hint}"


def find_factory(target: ObjectName, *, show_traceback: bool) -> Factory | None:
    """Return the function that makes the tools of a target; None if there is no such function.

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
) -> tuple[Tool[..., Any], Executor | Toolset[Any]]:
    """Import a tool.

    Args:
        target: where it is, by its name in the module, by the name of the tool, or by its name in an executor
            or a registry of the module, or of one that a function of the module makes.
        given: arguments of that function, as JSON values by parameter; None for its defaults.
        show_traceback: as for `load_module`.

    Returns:
        The tool, and the executor that has it, or a toolset of it alone, in which it is switched on.

    Raises:
        WrongUse: there is no such module, or no such tool in it.
    """
    module = load_module(target.module, show_traceback=show_traceback, path=target.path)
    known = {tool.name: tool for tool in tools_in(module)}
    if target.path in known and not hasattr(module, target.path):
        return known[target.path], _alone(known[target.path], None)
    if "." not in target.path and not hasattr(module, target.path) and _OFFERED not in vars(module):
        near = nearest(target.path, known)
        there = f"; its tools are {listed(list(known))}" if known else ""
        hint = f"; did you mean {near}?" if near else there
        message = f"the module {escape(module.__name__)} has no {escape(target.path)}{hint}"
        raise WrongUse(message)

    def make(factory: Factory) -> Offered:
        return factory.make(given or {}, show_traceback=show_traceback)

    passed: list[Any] = []
    found = _find(module, target.path, make, passed=passed)
    factory = factory_in(found)
    if factory is not None:
        names = [escape(tool.name) for tool in _registry_of(make(factory)) or ()]
        message = f"{escape(target.path)} makes tools: add the name of one, with a dot: {listed(names)}"
        raise WrongUse(message)
    registry = _registry_of(found)
    if registry is not None:
        names = [escape(tool.name) for tool in registry]
        sample = f", as in {escape(target.module)}:{escape(target.path)}.{names[0]}" if names else ""
        has = f"{escape(target.path)} has {listed(names) or 'no tools'}"
        message = f"{has}: add the name of one, with a dot{sample}"
        raise WrongUse(message)
    if not isinstance(found, Tool):
        message = f"{escape(target.path)} isn't a tool; decorate it with @tool or @tool_input"
        raise WrongUse(message)
    tool = cast("Tool[..., Any]", found)
    holders: list[Any] = [one for one in passed if isinstance(one, (Executor, Registry, Toolset))]
    holder = holders[-1] if holders else None
    return tool, holder if isinstance(holder, Executor) else _alone(tool, holder)


def _alone(tool: Tool[..., Any], holder: Registry | Toolset[Any] | None) -> Toolset[Any]:
    """Return a toolset of one tool, switched on, with the hooks that it has where it comes from."""
    kept = Toolset(tool) if holder is None else holder.toolset.only(tool)
    return Toolset.of_entries([one.replace(is_hidden=False, switch=True) for one in kept.__entries__()])


def find_context(target: ObjectName, *, show_traceback: bool) -> GivenContext:
    """Import a context, or a function that makes one.

    Args:
        target: where it is.
        show_traceback: as for `load_module`.

    Raises:
        WrongUse: there is no such name, or it can't give a mapping.
    """
    from .contexts import GivenContext

    module = load_module(target.module, show_traceback=show_traceback, path=target.path)
    return GivenContext(target.path, _find(module, target.path), show_traceback=show_traceback)


def _find(
    module: ModuleType,
    path: str,
    make: Callable[[Factory], Offered] | None = None,
    *,
    is_type: bool = False,
    passed: list[Any] | None = None,
) -> Any:
    """Return the object at a path.

    Args:
        module: where it begins.
        path: names with dots between them. If the module lacks the first, it is looked up in `__tools__`.
        make: calls a function on the path that makes tools; None to return the function itself.
        is_type: whether the path should lead to a type, for the message.
        passed: gets what is on the way; None for nothing.

    Raises:
        WrongUse: there is no object at the path.
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
        if passed is not None:
            passed.append(found)
        try:
            registry = _registry_of(found)
            found = getattr(found, step) if registry is None else registry[step]
        except (AttributeError, ToolNotFoundError):
            hint = _offer(found, step) or (_offer(module, step) if place.startswith("the module ") else "")
            hint = hint or (_list_types(module) if is_type and found is module else "")
            message = f"{place} has no {escape(step)}{hint}"
            raise WrongUse(message) from None
        place = escape(step) if place.startswith("the module ") else f"{place}.{escape(step)}"
    return found


def _registry_of(found: object) -> Registry | None:
    """Return a registry, that of an executor, or a toolset as a registry; None for anything else."""
    if isinstance(found, Executor):
        return found.registry
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


_MADE = {"Executor", "Registry", "Toolset"}


def factory_in(found: object) -> Factory | None:
    """Return a function that makes tools as a factory; None for anything else.

    Args:
        found: an object of a module. A function makes tools if its annotations say that it returns an
            `Executor`, a `Registry` or a `Toolset`; no other function is ever called.
    """
    if not isinstance(found, FunctionType):
        return None
    result = found.__annotations__.get("return")
    name = result if isinstance(result, str) else getattr(result, "__name__", "")
    return Factory(found) if name.partition("[")[0].rpartition(".")[2].strip("'\"") in _MADE else None


class Factory:
    """A function that makes tools.

    Args:
        function: its parameters are the options; it returns an `Executor`, a `Registry` or a `Toolset`.

    Raises:
        SchemaError: a parameter has a type that can't be read.
    """

    def __init__(self, function: FunctionType) -> None:
        self.name = function.__name__
        make: Callable[..., Any] = _without_result(function)
        self._tool: Tool[..., Any] = tool(unknown_fields="reject", flatten=False)(make)
        self._types = json_types(self._tool)

    def options(self) -> list[click.Option]:
        """Make an option for each parameter; `given` reads their values."""
        return [self._option(field) for field in self._fields]

    def given(self, ctx: click.Context) -> dict[str, Any]:
        """Return the values of the options on a command line: parameter to JSON value.

        Args:
            ctx: of the command that took them.
        """
        found: dict[str, Any] = {}
        for field in self._fields:
            value: Any = ctx.meta.get(_meta(field))
            if value is None:
                continue
            types = self._types[field.key]
            if isinstance(value, tuple):
                found[field.key] = self._items(field, list(value))  # pyright: ignore[reportUnknownArgumentType]  # it was given several times
            else:
                found[field.key] = value if isinstance(value, bool) else value_of(value, types)
        return found

    def _items(self, field: Field, texts: list[str]) -> Any:
        """Read an option that was given several times, or once with a JSON array."""
        whole = value_of(texts[0], self._types[field.key])
        if len(texts) == 1 and isinstance(whole, list):
            return whole  # pyright: ignore[reportUnknownVariableType]  # JSON
        graph = self._tool.codec.graph
        node = graph.resolve(field.node)
        types = json_types_of(node.items, graph.definitions) if isinstance(node, ArrayNode) else ("string",)
        return [value_of(text, types) for text in texts]

    def make(self, given: Mapping[str, Any], *, show_traceback: bool) -> Offered:
        """Call the function.

        Args:
            given: as `given` returns it.
            show_traceback: whether to print the whole traceback if it fails.

        Raises:
            WrongUse: an option doesn't fit, it raises an exception, or it returns something else.
        """
        decoded = self._decode(given)
        try:
            with own_output_kept():
                made: Any = self._tool.call(decoded)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # the program's own code
            if show_traceback:
                traceback.print_exception(error)
            reason = reason_of(error, show_traceback=show_traceback)
            message = f"{escape(self.name)}() failed: {reason}"
            raise WrongUse(message) from None
        if not isinstance(made, (Executor, Registry, Toolset)):
            kind = escape(type(made).__name__)
            message = f"{escape(self.name)}() returned {kind}, not an Executor, a Registry or a Toolset"
            raise WrongUse(message)
        return made  # pyright: ignore[reportUnknownVariableType]  # of whatever inputs

    def written(self, given: Mapping[str, Any]) -> list[str]:
        """Return options for another folder: the same values, with absolute paths, defaults included.

        Args:
            given: as `given` returns it.

        Raises:
            WrongUse: an option doesn't fit.
        """
        decoded = self._decode(given)
        words: list[str] = []
        for field in self._fields:
            value: Any = getattr(decoded, field.name)
            if not isinstance(value, Path) and not _are_paths(value):
                if field.key not in given:
                    continue
                value = given[field.key]
            values: list[Any] = value if is_array(value) else [value]
            for one in values:
                words += _words(_written(field), one)
        return words

    @property
    def _fields(self) -> Iterable[Field]:
        root = self._tool.codec.graph.resolve_root()
        return root.fields if isinstance(root, ObjectNode) else ()

    def _option(self, field: Field) -> click.Option:
        types = self._types[field.key]
        words = [_written(field)]
        is_flag = "boolean" in types and "string" not in types
        if is_flag:
            words = [f"{words[0]}/--no-{words[0].removeprefix('--')}"]

        def keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
            if ctx.get_parameter_source(param.name or "") is click.core.ParameterSource.COMMANDLINE:
                ctx.meta[_meta(field)] = value

        return click.Option(
            [f"factory_{field.key}", *words],
            type=None if is_flag else str,
            is_flag=is_flag,
            default=None,
            multiple="array" in types,
            metavar=None if is_flag else "PATH" if isinstance(field.default, Path) else "VALUE",
            help=_about(field),
            callback=keep,
            expose_value=False,
        )

    def _decode(self, given: Mapping[str, Any]) -> Any:
        try:
            return self._tool.codec.decode(given)
        except DecodeError as error:
            problem = error.findings[0]
            option = f"--{problem.path[0]}".replace("_", "-") if problem.path else escape(self.name)
            message = f"{escape(option)}: {escape(problem.message)}"
            raise WrongUse(message) from None


def _without_result(function: FunctionType) -> Any:
    """Return a copy of a function with `Any` as its result: tools have no JSON form."""
    copy = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__doc__, copy.__module__, copy.__qualname__ = (
        function.__doc__,
        function.__module__,
        function.__qualname__,
    )
    copy.__annotations__ = {**function.__annotations__, "return": Any}
    return copy


def _meta(field: Field) -> str:
    return f"{__name__}.{field.key}"


def _written(field: Field) -> str:
    return f"--{field.key.replace('_', '-')}"


def _are_paths(value: Any) -> bool:
    return is_array(value) and bool(value) and all(isinstance(one, Path) for one in value)


def _words(option: str, value: Any) -> list[str]:
    if isinstance(value, Path):
        return [option, os.path.abspath(value)]  # links stay as they are written
    if isinstance(value, bool):
        return [option if value else f"--no-{option.removeprefix('--')}"]
    return [option, value if isinstance(value, str) else to_json_text(value)]


def _about(field: Field) -> str:
    about = (field.description or "").strip().replace("\n", " ")
    if field.required:
        return f"{about} [required]".strip()
    default = field.default
    is_shown = isinstance(default, (str, int, float, Path)) and not isinstance(default, bool)
    return f"{about} [default: {default}]".strip() if is_shown else about
