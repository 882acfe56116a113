"""From an input to the arguments of the function, with the values that your program injects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any

from ..errors import MissingContextError, ToolError
from ..introspect.names import name_of
from ..wording import listed, nearest, quote
from .injection.context import near_miss, value_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .signature import Callee, Parameter

    Context = Mapping[Any, Any]
    Injected = tuple[Parameter, Sequence[Any], Any]

__all__ = ["CallPlan", "call_arguments", "injected_type", "injected_values"]


class CallPlan:
    """How the function of a tool is called.

    Attributes:
        callee: the function and its parameters.
        injected: the parameters that your program injects, each with the types that it may have, as far
            as they are known, and its evaluated annotation.
        input_parameter: name of the parameter that takes the input itself; None if each field of the
            input has a parameter of its own.
    """

    __slots__ = ("_takes_progress", "callee", "injected", "input_parameter")

    def __init__(self, callee: Callee, injected: Sequence[Injected], input_parameter: str | None) -> None:
        self.callee = callee
        self.injected = injected
        self.input_parameter = input_parameter
        self._takes_progress: bool | None = None

    @property
    def takes_progress(self) -> bool:
        """Whether your program injects a `Progress`."""
        if self._takes_progress is None:
            self._takes_progress = len(self.without_progress()) < len(self.injected)
        return self._takes_progress

    def without_progress(self) -> Sequence[Injected]:
        """Return the parameters that your program injects but for a `Progress`."""
        from .progress import Progress

        return [each for each in self.injected if all(kind is not Progress for kind in each[1])]


def injected_values(
    tool: str,
    injected: Sequence[Injected],
    given: Mapping[str, Any],
    context: Context | None,
) -> dict[str, Any]:
    """Find a value for each injected parameter.

    Args:
        tool: name of the tool, for messages.
        injected: each of them, as in a `CallPlan`.
        given: parameter name to value; wins.
        context: type or parameter name to value.

    Returns:
        Parameter name to value.

    Raises:
        MissingContextError: some are not given and have no default.
        ToolError: a name isn't one of the injected parameters, two types of the context fit one
            parameter, one nearly fits a parameter that has a default, or the context isn't a mapping.
    """
    if context is not None and not isinstance(context, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  # what callers promise, some do not
        what = name_of(type(context))
        message = f"a context maps types and names to values, as in {{Db: db}}, not {what}"
        raise ToolError(tool, message)
    names = [parameter.name for parameter, _, _ in injected]
    for name in given:
        if name not in names:
            raise ToolError(tool, _not_injected(name, names))
    found: dict[str, Any] = {}
    missing: list[tuple[Parameter, Sequence[Any]]] = []
    for parameter, kinds, _ in injected:
        value = given.get(parameter.name, MISSING)
        if value is MISSING and context:
            value = value_for(tool, parameter, kinds, context)
            if value is MISSING and parameter.default is not MISSING:
                _refuse_near_miss(tool, parameter, kinds, context)
        if value is MISSING:
            value = parameter.default
        if value is not MISSING:
            found[parameter.name] = value
        elif parameter.kind not in {"rest", "extra"}:
            missing.append((parameter, kinds))
    if missing:
        names = [parameter.name for parameter, _ in missing]
        raise MissingContextError(tool, names, _how_to_inject(missing) + _hint_of(missing, context))
    return found


def injected_type(tool: str, plan: CallPlan | None, name: str) -> Any:
    """Return the annotation of an injected parameter, without its mark; `Any` where it has none.

    Args:
        tool: name of the tool, for messages.
        plan: how its function is called; None for a tool without a function.
        name: of the parameter.

    Raises:
        ToolError: it isn't one of the injected parameters.
    """
    from .injection.plain_types import plain_type

    injected = () if plan is None else plan.injected
    for parameter, kinds, hint in injected:
        if parameter.name == name:
            return plain_type(parameter, kinds, hint)
    raise ToolError(tool, _not_injected(name, [parameter.name for parameter, _, _ in injected]))


def _not_injected(name: str, names: Sequence[str]) -> str:
    near = nearest(name, names)
    hint = f"; did you mean {quote(near)}?" if near else ""
    known = listed([quote(known) for known in names]) or "none"
    return f"{quote(name)} isn't one of its injected parameters: {known}{hint}"


def _how_to_inject(missing: Sequence[tuple[Parameter, Sequence[Any]]]) -> str:
    """Return how the first of the missing values is given."""
    parameter, kinds = missing[0]
    by_name = f'by name ({parameter.name}=… or context={{"{parameter.name}": …}})'
    return f"{by_name} or by type (context={{{name_of(kinds[0])}: …}})" if kinds else by_name


def _hint_of(missing: Sequence[tuple[Parameter, Sequence[Any]]], context: Context | None) -> str:
    """Return what may be wrong: what in the context was probably meant."""
    found = (near_miss(kinds, context or {}) for _, kinds in missing)
    return next((f"; {near}" for near in found if near), "")


def _refuse_near_miss(tool: str, parameter: Parameter, kinds: Sequence[Any], context: Context) -> None:
    """Refuse a context that nearly has a value, where the default would silently take its place."""
    near = near_miss(kinds, context)
    if near:
        message = f"{quote(parameter.name)} would be its default, but {near}; give it by name or by its type"
        raise ToolError(tool, message)


def call_arguments(
    parameters: Sequence[Parameter], injected: Mapping[str, Any], input_parameter: str | None, given: Any
) -> tuple[list[Any], dict[str, Any], dict[str, Any]]:
    """Arrange an input and the injected values as a call takes them.

    Args:
        parameters: of the function.
        injected: parameter name to value.
        input_parameter: name of the parameter that takes the input itself, or None.
        given: the input.

    Returns:
        The arguments by position, those by name, and the extra ones by name, which may not repeat any.
    """
    positional: list[Any] = []
    named: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for parameter in parameters:
        name, kind = parameter.name, parameter.kind
        if name in injected:
            value = injected[name]
        elif name == input_parameter:
            value = given
        else:
            value = getattr(given, name, MISSING)
        if value is MISSING:
            continue  # injected `*args` and `**kwargs` that are not given
        if kind == "rest":
            positional.extend(value)
        elif kind == "extra":
            extra = dict(value)
        elif kind == "keyword_only":
            named[name] = value
        else:
            positional.append(value)
    return positional, named, extra
