"""From an input to the arguments of the function, with the values that your program injects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, Union

from ..errors import MissingContextError, ToolError
from ..introspect.names import name_of
from ..wording import listed, nearest, quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .signature import Callee, Parameter

    Context = Mapping[Any, Any]

__all__ = [
    "AnnotatedAlias",
    "CallPlan",
    "alternatives_of",
    "call_arguments",
    "injected_values",
    "is_union",
    "members_of",
]


class CallPlan:
    """How the function of a tool is called.

    Attributes:
        callee: the function and its parameters.
        injected: the parameters that your program injects, each with its evaluated annotation or None.
        input_parameter: name of the parameter that takes the input itself; None if each field of the
            input has a parameter of its own.
    """

    __slots__ = ("_takes_progress", "callee", "injected", "input_parameter")

    def __init__(
        self, callee: Callee, injected: Sequence[tuple[Parameter, Any]], input_parameter: str | None
    ) -> None:
        self.callee = callee
        self.injected = injected
        self.input_parameter = input_parameter
        self._takes_progress: bool | None = None

    @property
    def takes_progress(self) -> bool:
        """Whether your program injects a `Progress`."""
        if self._takes_progress is None:
            from .progress import Progress

            kinds = [kind for _, hint in self.injected for kind in alternatives_of(hint)]
            self._takes_progress = any(kind is Progress for kind in kinds)
        return self._takes_progress


def injected_values(
    tool: str,
    injected: Sequence[tuple[Parameter, Any]],
    given: Mapping[str, Any],
    context: Context | None,
) -> dict[str, Any]:
    """Find a value for each injected parameter.

    Args:
        tool: name of the tool, for messages.
        injected: each of them, with its evaluated annotation, or None.
        given: parameter name to value; wins.
        context: type or parameter name to value.

    Returns:
        Parameter name to value.

    Raises:
        MissingContextError: some are not given and have no default.
        ToolError: a name isn't one of the injected parameters, two types of the context fit one
            parameter, or the context isn't a mapping.
    """
    if context is not None and not isinstance(context, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  # what callers promise, some do not
        what = name_of(type(context))
        message = f"a context maps types and names to values, as in {{Db: db}}; this is a {what}"
        raise ToolError(tool, message)
    names = [parameter.name for parameter, _ in injected]
    for name in given:
        if name not in names:
            near = nearest(name, names)
            hint = f"; did you mean {quote(near)}?" if near else ""
            known = listed([quote(known) for known in names]) or "none"
            message = f"{quote(name)} isn't one of its injected parameters: {known}{hint}"
            raise ToolError(tool, message)
    found: dict[str, Any] = {}
    missing: list[tuple[Parameter, Any]] = []
    for parameter, hint in injected:
        value = given.get(parameter.name, MISSING)
        if value is MISSING and context:
            value = _from_context(tool, parameter, hint, context)
        if value is MISSING:
            value = parameter.default
        if value is not MISSING:
            found[parameter.name] = value
        elif parameter.kind not in {"rest", "extra"}:
            missing.append((parameter, hint))
    if missing:
        names = [parameter.name for parameter, _ in missing]
        raise MissingContextError(tool, names, _how_to_inject(missing) + _hint_of(missing, context))
    return found


def _how_to_inject(missing: Sequence[tuple[Parameter, Any]]) -> str:
    """Return how the first of the missing values is given."""
    parameter, hint = missing[0]
    by_name = f'by name ({parameter.name}=… or context={{"{parameter.name}": …}})'
    types = alternatives_of(hint)
    return f"{by_name} or by type (context={{{name_of(types[0])}: …}})" if types else by_name


def _hint_of(missing: Sequence[tuple[Parameter, Any]], context: Context | None) -> str:
    """Return what may be wrong: a key of the context is the name of a class instead of the class."""
    for _, hint in missing:
        for cls in alternatives_of(hint):
            name = getattr(cls, "__name__", None)
            if name is not None and name in (context or ()):
                return f"; the context has the text {quote(name)} as a key, not the class"
    return ""


def _from_context(tool: str, parameter: Parameter, hint: Any, context: Context) -> Any:
    if parameter.name in context:
        return context[parameter.name]
    for wanted in alternatives_of(hint):
        value = _by_type(tool, parameter, wanted, context)
        if value is not MISSING:
            return value
    return MISSING


def _by_type(tool: str, parameter: Parameter, wanted: Any, context: Context) -> Any:
    for key, value in context.items():
        if key is wanted or (not isinstance(key, (type, str)) and key == wanted):
            return value
    if not isinstance(wanted, type) or wanted is object:
        return MISSING
    fitting = [key for key in context if isinstance(key, type) and issubclass(key, wanted)]
    if len(fitting) > 1:
        names = listed([name_of(key) for key in fitting])
        message = f"for parameter {quote(parameter.name)} the context has {names}; give it by name"
        raise ToolError(tool, message)
    return context[fitting[0]] if fitting else MISSING


AnnotatedAlias: Final[Any] = type(Annotated[int, None])
"""The class of `Annotated[…]`; `get_origin` says the same in five times the time."""


def alternatives_of(hint: Any) -> Sequence[Any]:
    """Return the types that a parameter takes: those of a union, without None."""
    while isinstance(hint, AnnotatedAlias):
        hint = hint.__origin__
    members = members_of(hint)
    if members[0] is hint:
        return () if hint is None else members
    return [part for arg in members if arg is not NoneType for part in alternatives_of(arg)]


def members_of(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union; of anything else, itself alone."""
    return hint.__args__ if is_union(hint) else (hint,)


def is_union(hint: Any) -> bool:
    """Return whether an annotation is a union, however it is written."""
    return isinstance(hint, UnionType) or getattr(hint, "__origin__", None) is Union


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
