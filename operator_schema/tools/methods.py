"""Tools in classes: a tool binds to an instance or a class just as its function does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import Complaint, MissingContextError, SchemaError
from ..wording import clip, escape, quote
from .binding import CallPlan
from .metadata import snake_case

if TYPE_CHECKING:
    from .tool import Tool

__all__ = ["about_instance", "bound", "check_first_parameter", "is_unbound", "unbound_message"]

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
    complaint = Complaint((first.name,), "unsupported", clip(escape(tool), 100), message, remedy)
    raise SchemaError(tool, [complaint])


def is_unbound(plan: CallPlan | None) -> bool:
    """Return whether the function is a method without its instance, as `Service.find` is."""
    return plan is not None and plan.callee.binds == "instance" and plan.callee.receiver is not None


def about_instance(method: Tool[..., Any], plan: CallPlan, error: MissingContextError) -> MissingContextError:
    """Return an error that says how to bind a method, where the missing value is its instance."""
    receiver = plan.callee.receiver
    if receiver is None or receiver.name not in error.parameters or not is_unbound(plan):
        return error
    return MissingContextError(method.name, error.parameters, unbound_message(method))


def unbound_message(method: Tool[..., Any]) -> str:
    """Return how to use a method as a tool."""
    place: str = getattr(method, "__qualname__", method.name)
    owner, _, name = place.rpartition(".")
    owner = owner.rpartition(".")[2]
    instance = snake_case(owner) or "instance"
    message = f"{owner}.{name} is a method without its instance; give {instance}.{name}"
    return f"{message}, where {instance} is an instance of {owner}"
