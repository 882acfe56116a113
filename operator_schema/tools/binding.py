"""From an input to the arguments of the function, with the values that your program injects."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, cast

from ..errors import MissingContextError, SchemaError, ToolError
from ..findings import about_type
from ..introspect.hints import name_of
from ..message_text import clip, escape, listed, nearest, quote
from .context import near_miss, plain_type, value_for
from .metadata import snake_case

if TYPE_CHECKING:
    from collections.abc import MutableMapping, Sequence

    from .calls import DecodedCall
    from .signature import Callee, Parameter

    Context = Mapping[Any, Any]
    Injected = tuple[Parameter, Sequence[Any], Any]

__all__ = [
    "CallPlan",
    "about_instance",
    "bound",
    "call_arguments",
    "check_first_parameter",
    "context_of",
    "injected_type",
    "injected_values",
    "is_unbound",
    "unbound_message",
]


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
        from .injection import Progress

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
    if context is not None and not isinstance(context, Mapping):  # what callers promise, some do not
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


_POSITIONAL = frozenset({"positional_only", "positional"})


def bound(plan: CallPlan | None, function: Any, instance: Any, owner: Any) -> tuple[Any, CallPlan] | None:
    """Bind a function as attribute access does.

    Args:
        plan: how the function is called; None for a tool without a function.
        function: of the tool.
        instance: whose attribute it is, or None.
        owner: the class whose attribute it is, or None.

    Returns:
        The bound function and how it is called; None if there is nothing to bind.
    """
    if plan is None or plan.callee.binds == "nothing":
        return None
    if plan.callee.binds == "class":
        instance = instance.__class__ if owner is None else owner
    bind = getattr(function.__class__, "__get__", None)
    if instance is None or bind is None or plan.callee.is_bound:
        return None
    receiver, first = plan.callee.receiver, plan.callee.parameters[:1]
    injected = [entry for entry in plan.injected if entry[0] is not receiver]
    # `*args` takes the instance too, and is not used up by it.
    taken = 1 if first and first[0].kind in _POSITIONAL else 0
    callee = plan.callee.replace(parameters=plan.callee.parameters[taken:], is_bound=True)
    return bind(function, instance), CallPlan(callee, injected, plan.input_parameter)


def check_first_parameter(tool: str, plan: CallPlan | None, owner: type[Any]) -> None:
    """Refuse a method whose instance the model would have to give.

    Args:
        tool: name of the tool.
        plan: how its function is called.
        owner: the class in which the tool is an attribute.

    Raises:
        SchemaError: the first parameter takes the instance, but is one of the model's.
    """
    callee = None if plan is None else plan.callee
    if callee is None or callee.binds == "nothing" or callee.is_bound or callee.receiver is not None:
        return
    # A class may also hold tools that were made elsewhere.
    is_method = callee.source.__qualname__.rpartition(".")[0] == owner.__qualname__
    first = callee.parameters[0] if callee.parameters else None
    if first is None or not is_method or first.kind not in _POSITIONAL:
        return
    message = f"{quote(first.name)} takes the instance in a method, but its annotation lets the model give it"
    remedy = f"Remove the annotation of {quote(first.name)}, name it self, or use @staticmethod"
    complaint = about_type((first.name,), "unsupported", clip(escape(tool), 100), message, remedy)
    raise SchemaError(tool, [complaint])


def is_unbound(plan: CallPlan | None) -> bool:
    """Return whether the function is a method without its instance, as `Service.find` is."""
    return plan is not None and plan.callee.binds == "instance" and plan.callee.receiver is not None


def about_instance(
    error: MissingContextError, tool: str, qualname: str, plan: CallPlan
) -> MissingContextError:
    """Return an error that says how to bind a method, where the missing value is its instance.

    Args:
        error: that was raised.
        tool: name of the tool.
        qualname: of its function.
        plan: how the function is called.
    """
    receiver = plan.callee.receiver
    if receiver is None or receiver.name not in error.parameters or not is_unbound(plan):
        return error
    return MissingContextError(tool, error.parameters, unbound_message(qualname))


def unbound_message(qualname: str) -> str:
    """Return how to use a method as a tool.

    Args:
        qualname: of the method.
    """
    owner, _, name = qualname.rpartition(".")
    owner = owner.rpartition(".")[2]
    instance = snake_case(owner) or "instance"
    message = f"{owner}.{name} is a method without its instance; give {instance}.{name}"
    return f"{message}, where {instance} is an instance of {owner}"


def context_of(decoded: DecodedCall, context: Mapping[Any, Any] | None) -> Mapping[Any, Any] | None:
    """Return the context of one call: the common context, and the answers for this call."""
    if not decoded.answers:
        return context
    if context is None:
        return decoded.answers
    if not isinstance(context, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  # the tool says so
        return context
    # Not a copy: a mapping may make its values when it is asked for them.
    return ChainMap({**decoded.answers}, cast("MutableMapping[Any, Any]", context))
