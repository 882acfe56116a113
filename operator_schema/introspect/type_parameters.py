"""Which types are given for the type parameters of a generic class or alias? PEP 484, PEP 695, PEP 696."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args, get_origin

from .hints import evaluate_forward

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .hints import Bindings, Scope


def parameters_of(generic: Any) -> tuple[Any, ...]:
    """Return the type parameters of a generic class or alias."""
    return getattr(generic, "__type_params__", ()) or getattr(generic, "__parameters__", ())


def declares(scope: Scope, parameter: Any) -> bool:
    """Return whether a type parameter belongs to the scope's owner, or the owner isn't known."""
    # Before PEP 695 a function declares those that it uses.
    is_open = scope.owner is None or hasattr(scope.owner, "__globals__")
    return is_open or _declares(scope.owner, parameter)


def _declares(generic: Any, parameter: Any) -> bool:
    if parameter in parameters_of(generic):
        return True
    # The parameters of a base that is given nothing are left open in its subclass.
    bases = getattr(generic, "__dict__", {}).get("__orig_bases__", ()) or getattr(generic, "__bases__", ())
    return any(get_origin(base) is None and _declares(base, parameter) for base in bases)


def substitute(annotation: Any, bindings: Bindings) -> Any:
    """Replace the type parameters in an annotation by their arguments; those without an argument stay."""
    if not bindings:
        return annotation
    if _is_parameter(annotation):
        return bindings.get(annotation, annotation)
    parameters: tuple[Any, ...] = getattr(annotation, "__parameters__", ())
    if isinstance(annotation, type) or not any(parameter in bindings for parameter in parameters):
        return annotation
    return annotation[tuple([bindings.get(parameter, parameter) for parameter in parameters])]


def _is_parameter(annotation: Any) -> bool:
    return type(annotation).__name__ == "TypeVar"


def bind(generic: Any, args: Sequence[Any], scope: Scope) -> dict[Any, Any]:
    """Return the argument of each type parameter in `generic[args]`.

    Args:
        generic: class or alias with type parameters.
        args: as written; they may name the parameters of the scope.
        scope: the scope in which they are written.

    Returns:
        A map from parameter to type, without the parameters that are left open.
    """
    bindings: dict[Any, Any] = {}
    if not args:
        return bindings
    for parameter, arg in _pairs(parameters_of(generic), args):
        # PEP 696: a default may name the parameters before it, and is filled in by Python.
        is_default = getattr(parameter, "__default__", None) == arg and arg is not None
        known = bindings if is_default else scope.bindings
        bindings[parameter] = substitute(evaluate_forward(arg, scope), known)
    return bindings


def _pairs(parameters: Sequence[Any], args: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Pair each type parameter with its argument; a `TypeVarTuple` stays open."""
    before = next((i for i, p in enumerate(parameters) if type(p).__name__ == "TypeVarTuple"), None)
    if before is None:
        return list(zip(parameters, args, strict=False))
    after = len(parameters) - before - 1
    return [
        *zip(parameters[:before], args, strict=False),
        *zip(parameters[before + 1 :], args[len(args) - after :], strict=False),
    ]


def inherited_bindings(cls: type, bindings: Bindings, scope: Scope) -> dict[type, Bindings]:
    """Return the arguments of the type parameters in each base of a class.

    Args:
        cls: any class.
        bindings: the bindings of its own parameters.
        scope: the scope of the class, for arguments that are text.

    Returns:
        A map from the class and each of its generic bases to the bindings that count in it.
    """
    found: dict[type, Bindings] = {cls: bindings}
    for base in vars(cls).get("__orig_bases__", ()) or cls.__bases__:
        origin: Any = get_origin(base) or base
        if isinstance(origin, type) and origin is not object:
            inner = {p: substitute(a, bindings) for p, a in bind(origin, get_args(base), scope).items()}
            if _is_made_anew(cls, origin):
                inner = dict(bindings)
            found.update(inherited_bindings(origin, inner, scope))
    return found


def _is_made_anew(cls: type, base: type) -> bool:
    """Return whether pydantic made a class from a dataclass, so that their type parameters are the same."""
    return "__is_pydantic_dataclass__" in vars(cls) and base.__qualname__ == cls.__qualname__
