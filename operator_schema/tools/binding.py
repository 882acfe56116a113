"""From an input and injected values to the arguments of the function, also as a method."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, cast

from ..errors import SchemaError
from ..findings import about_type
from ..message_text import clip, escape, quote
from .metadata import snake_case

if TYPE_CHECKING:
    from collections.abc import MutableMapping, Sequence

    from .calls import DecodedCall
    from .signature import Callee, Parameter

    Context = Mapping[Any, Any]
    Injected = tuple[Parameter, Sequence[Any], Any]

__all__ = [
    "CallPlan",
    "bound",
    "call_arguments",
    "check_first_parameter",
    "context_of",
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
