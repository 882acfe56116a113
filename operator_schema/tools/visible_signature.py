"""What is the signature of a tool without the parameters that your program injects?"""

from __future__ import annotations

import inspect
from dataclasses import MISSING
from types import NoneType
from typing import TYPE_CHECKING, Any, Unpack, get_args, get_origin, get_type_hints

from ..introspect.classes import form_of, parameter_source
from .binding import copy_of_default
from .parameters import class_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .binding import CallPlan
    from .output import OutputType
    from .signature import Parameter


_KINDS = {
    "positional_only": inspect.Parameter.POSITIONAL_ONLY,
    "positional": inspect.Parameter.POSITIONAL_OR_KEYWORD,
    "keyword_only": inspect.Parameter.KEYWORD_ONLY,
    "rest": inspect.Parameter.VAR_POSITIONAL,
    "extra": inspect.Parameter.VAR_KEYWORD,
}


def visible_signature(plan: CallPlan | None, input_type: Any, output: OutputType) -> inspect.Signature:
    """Return the signature of a tool.

    Args:
        plan: the plan of the call; None for a tool without a function.
        input_type: the input type of the tool.
        output: the declared type of its results.
    """
    parameters = _of_type(input_type) if plan is None else _of_function(plan, input_type)
    annotation: Any = output.type if output.is_declared else inspect.Signature.empty
    if annotation is NoneType:
        annotation = None
    elif annotation is None and plan is not None:
        annotation = plan.callee.returns  # as written, if it can't be evaluated
    return inspect.Signature(parameters, return_annotation=annotation)


def _of_function(plan: CallPlan, input_type: Any) -> Sequence[inspect.Parameter]:
    hosted = {parameter.name for parameter, _, _ in plan.injected}
    source = None if plan.input_parameter is not None else parameter_source(input_type)
    hints = {declared.name: declared.hint for declared in source.declared} if source else {}
    defaults = {own.name: own.default for own in input_type.__parameters__} if source else {}
    return [
        _parameter(own, hints.get(own.name, input_type), defaults.get(own.name, MISSING))
        for own in plan.callee.parameters
        if own.name not in hosted
    ]


def _parameter(own: Parameter, hint: Any, default: Any) -> inspect.Parameter:
    if own.kind == "rest":
        hint = get_args(hint)[0]  # its field is a tuple
    elif own.kind == "extra":
        # Its field is a dict, or a TypedDict (PEP 692).
        hint = get_args(hint)[1] if get_origin(hint) is dict else Unpack[hint]
    given = inspect.Parameter.empty if default is MISSING else copy_of_default(default)
    return inspect.Parameter(own.name, _KINDS[own.kind], annotation=hint, default=given)


def _of_type(input_type: Any) -> Sequence[inspect.Parameter]:
    """Return the parameters that make an input: the fields of a dataclass, or any keywords."""
    cls = class_of(input_type)
    form = form_of(cls)
    if form is None or form == "typed_dict":
        annotation = Any if form is None else Unpack[input_type]
        return [inspect.Parameter("arguments", inspect.Parameter.VAR_KEYWORD, annotation=annotation)]
    try:
        hints = get_type_hints(cls, include_extras=True)
    except Exception:  # noqa: BLE001  # a name in it is for type checkers alone, or its code raises
        hints = {}
    written = inspect.signature(cls).parameters.values()
    return [one.replace(annotation=hints.get(one.name, one.annotation)) for one in written]
