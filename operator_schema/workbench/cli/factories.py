"""How does a function that makes tools become options of a command?"""

from __future__ import annotations

import os
import traceback
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

import click

from ... import tool
from ...engine import ArrayNode, ObjectNode, json_types_of
from ...errors import DecodeError
from ...execution import Executor
from ...json_values import is_array, to_json_text
from ...message_text import escape
from ...rounds import Registry, Toolset
from .module_loading import WrongUse, own_output_kept, reason_of
from .typed_values import json_types, value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ...engine import Field
    from ...tools import Tool

    Offered = Executor | Registry | Toolset[Any]

_MADE = {"Executor", "Registry", "Toolset"}


def factory_in(found: object) -> Factory | None:
    """Return a function that makes tools as a factory; None for any other object.

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
        function: a function whose parameters are the options; it returns an `Executor`, a `Registry` or a
            `Toolset`.

    Raises:
        SchemaError: a parameter has a type that can't be read.
    """

    def __init__(self, function: FunctionType) -> None:
        self.name = function.__name__
        make: Callable[..., Any] = _without_result(function)
        self._tool: Tool[..., Any] = tool(unknown_fields="reject", flatten=False)(make)
        self._types = json_types(self._tool)

    def options(self) -> list[click.Option]:
        """Make an option for each parameter; `given` reads the values."""
        return [self._option(field) for field in self._fields]

    def given(self, ctx: click.Context) -> dict[str, Any]:
        """Return the values of the options on a command line: the JSON value of each parameter.

        Args:
            ctx: the context of the command with the options.
        """
        found: dict[str, Any] = {}
        for field in self._fields:
            value: Any = ctx.meta.get(_meta_key(field))
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
            given: the return value of `given`.
            show_traceback: whether to print the whole traceback if the function fails.

        Raises:
            WrongUse: an option doesn't fit, or the function raises an exception or returns something else.
        """
        decoded = self._decode(given)
        try:
            with own_output_kept():
                made: Any = self._tool.call(decoded)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  # the program's own code
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
        """Return the options with their defaults, and with absolute paths that work in another folder too.

        Args:
            given: the return value of `given`.

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
                words += _option_words(_option_name(field), one)
        return words

    @property
    def _fields(self) -> Iterable[Field]:
        root = self._tool.codec.graph.resolve_root()
        return root.fields if isinstance(root, ObjectNode) else ()

    def _option(self, field: Field) -> click.Option:
        types = self._types[field.key]
        words = [_option_name(field)]
        is_flag = "boolean" in types and "string" not in types
        if is_flag:
            words = [f"{words[0]}/--no-{words[0].removeprefix('--')}"]

        def keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
            if ctx.get_parameter_source(param.name or "") is click.core.ParameterSource.COMMANDLINE:
                ctx.meta[_meta_key(field)] = value

        return click.Option(
            [f"factory_{field.key}", *words],
            type=None if is_flag else str,
            is_flag=is_flag,
            default=None,
            multiple="array" in types,
            metavar=None if is_flag else "PATH" if isinstance(field.default, Path) else "VALUE",
            help=_help_of(field),
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


def _meta_key(field: Field) -> str:
    return f"{__name__}.{field.key}"


def _option_name(field: Field) -> str:
    return f"--{field.key.replace('_', '-')}"


def _are_paths(value: Any) -> bool:
    return is_array(value) and bool(value) and all(isinstance(one, Path) for one in value)


def _option_words(option: str, value: Any) -> list[str]:
    if isinstance(value, Path):
        return [option, os.path.abspath(value)]  # links are kept as they are written
    if isinstance(value, bool):
        return [option if value else f"--no-{option.removeprefix('--')}"]
    return [option, value if isinstance(value, str) else to_json_text(value)]


def _help_of(field: Field) -> str:
    about = (field.description or "").strip().replace("\n", " ")
    if field.required:
        return f"{about} [required]".strip()
    default = field.default
    is_shown = isinstance(default, (str, int, float, Path)) and not isinstance(default, bool)
    return f"{about} [default: {default}]".strip() if is_shown else about
