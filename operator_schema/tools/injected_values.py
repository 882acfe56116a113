"""Which value of a context does an injected parameter get, by its name or its type?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, ForwardRef, Literal, TypeVar, Union, get_args, get_origin

from ..errors import MissingContextError, ToolError
from ..immutable import Value
from ..introspect.hints import Unresolved
from ..introspect.shown_annotations import name_of
from ..message_text import class_name, listed, one_line, quote
from ..similar_names import nearest
from .binding import is_unbound, unbound_message
from .injection import AnnotatedAlias, is_union, skip

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from .binding import CallPlan, Injected
    from .signature import Parameter

    Context = Mapping[Any, Any]


_BASES_AT_MOST = 100
_EXACT, _OPEN, _DERIVED = range(3)  # how well a key fits, the best first


class WholeContext:
    """The annotation of an injected parameter that gets the context itself."""


class _Shape(Value):
    """A type without its arguments, and its arguments."""

    origin: Any
    args: tuple[Any, ...]


def injected_values(
    tool: str,
    qualname: str,
    plan: CallPlan,
    injected: Sequence[Injected],
    given: Mapping[str, Any],
    context: Context | None,
) -> dict[str, Any]:
    """Find a value for each injected parameter.

    Args:
        tool: name of the tool, for messages.
        qualname: qualified name of its function, for the message about a method without its instance.
        plan: the plan of the call.
        injected: the parameters, as in the plan; without `Progress` if none is given yet.
        given: parameter name to value; wins over the context.
        context: type or parameter name to value.

    Returns:
        Parameter name to value.

    Raises:
        MissingContextError: some parameters have neither a value nor a default.
        ToolError: a name isn't one of the injected parameters, two types in the context fit one parameter, a
            type nearly fits a parameter with a default, or the context isn't a mapping.
    """
    if context is not None and not isinstance(context, Mapping):  # callers may break the annotation
        what = name_of(type(context))
        message = f"a context must map types and names to values, as in {{Db: db}}, not {what}"
        raise ToolError(tool, message)
    names = [parameter.name for parameter, _, _ in injected]
    for name in given:
        if name not in names:
            remedy = f"what a model gives belongs into the arguments: {{{quote(name)}: …}}"
            raise ToolError(tool, _not_injected(name, names, remedy))
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
        raise _missing_error(tool, qualname, plan, missing, context)
    return found


def _missing_error(
    tool: str,
    qualname: str,
    plan: CallPlan,
    missing: Sequence[tuple[Parameter, Sequence[Any]]],
    context: Context | None,
) -> MissingContextError:
    """Return an error that explains how to give the values, or how to bind a method."""
    names, receiver = [parameter.name for parameter, _ in missing], plan.callee.receiver
    if receiver is not None and receiver.name in names and is_unbound(plan):
        return MissingContextError(tool, names, unbound_message(qualname))
    known = {parameter.name for parameter, _, _ in plan.injected}
    return MissingContextError(tool, names, _how_to_inject(missing) + _hint_of(missing, context, known))


def injected_type(tool: str, plan: CallPlan | None, name: str) -> Any:
    """Return the annotation of an injected parameter without `skip`; `Any` if it has none.

    Args:
        tool: name of the tool, for messages.
        plan: how its function is called; None for a tool without a function.
        name: the name of the parameter.

    Raises:
        ToolError: the parameter isn't one of the injected ones.
    """
    injected = () if plan is None else plan.injected
    for parameter, kinds, hint in injected:
        if parameter.name == name:
            return plain_type(parameter, kinds, hint)
    remedy = f"add it to the function: {name}: Annotated[T | None, skip] = None"
    raise ToolError(tool, _not_injected(name, [parameter.name for parameter, _, _ in injected], remedy))


def _not_injected(name: str, names: Sequence[str], remedy: str) -> str:
    near = nearest(name, names)
    hint = f"; did you mean {quote(near)}?" if near else f"; {remedy}"
    if not names:
        return f"it has no injected parameter {quote(name)}{hint}"
    known = listed([quote(known) for known in names])
    return f"{quote(name)} isn't one of its injected parameters ({known}){hint}"


def _how_to_inject(missing: Sequence[tuple[Parameter, Sequence[Any]]]) -> str:
    """Return an example of how to give the first missing value."""
    parameter, kinds = missing[0]
    by_name = f'by name ({parameter.name}=… or context={{"{parameter.name}": …}})'
    return f"{by_name} or by type (context={{{name_of(kinds[0])}: …}})" if kinds else by_name


def _hint_of(
    missing: Sequence[tuple[Parameter, Sequence[Any]]], context: Context | None, known: Collection[str]
) -> str:
    """Return a hint about an entry of the context that was probably meant for a missing value."""
    found = (near_miss(kinds, context or {}) for _, kinds in missing)
    by_type = next((f"; {near}" for near in found if near), "")
    return by_type or _near_name(missing, [key for key in context or () if key not in known])


def _near_name(missing: Sequence[tuple[Parameter, Sequence[Any]]], keys: Sequence[Any]) -> str:
    names = [key for key in keys if isinstance(key, str)]
    for parameter, _ in missing:
        near = nearest(parameter.name, names)
        if near:
            return f"; the context has {quote(near)}: did you mean {quote(parameter.name)}?"
    return ""


def _refuse_near_miss(tool: str, parameter: Parameter, kinds: Sequence[Any], context: Context) -> None:
    """Refuse a context whose value nearly fits a parameter, because the default would silently replace it."""
    near = near_miss(kinds, context)
    if near:
        message = f"{quote(parameter.name)} would get its default, but {near}; give it by name or by its type"
        raise ToolError(tool, message)


def value_for(tool: str, parameter: Parameter, kinds: Sequence[Any], context: Context) -> Any:
    """Return the value of a context for a parameter, or `dataclasses.MISSING`.

    Among types, the best key wins: first the same type with the same arguments, then the same type if one of
    the two has no arguments or `Any`, then a subclass. Other arguments never fit.

    Args:
        tool: name of the tool, for messages.
        parameter: a parameter that your program injects.
        kinds: the types that it may have.
        context: type or parameter name to value.

    Raises:
        ToolError: two keys fit equally well.
    """
    if parameter.name in context:
        return context[parameter.name]
    for wanted in kinds:
        if type(wanted) is type and wanted in context:
            return context[wanted]
        if wanted is WholeContext:
            return context
        fitting = _best_keys(wanted, context)
        if len(fitting) > 1:
            names = listed([name_of(key) for key in fitting])
            message = f"for parameter {quote(parameter.name)} the context has {names}; give it by name"
            raise ToolError(tool, message)
        if fitting:
            return context[fitting[0]]
    return MISSING


def _best_keys(wanted: Any, context: Context) -> Sequence[Any]:
    """Return the keys that fit a type best, or the key that is the type itself."""
    shape = _shape(wanted)
    found: dict[int, list[Any]] = {}
    for key in context:
        if key is wanted:
            return [key]
        if isinstance(key, str):
            continue
        fit = _fit(_shape(key), shape)
        if fit == _EXACT:
            return [key]
        if fit is not None:
            found.setdefault(fit, []).append(key)
    return found[min(found)] if found else ()


def _shape(annotation: Any) -> _Shape:
    if isinstance(annotation, AnnotatedAlias):
        annotation = annotation.__origin__
    if isinstance(annotation, type) and type(annotation) is not type:
        # A generic model of pydantic makes a class of `Page[int]`.
        metadata = _own(annotation, "__pydantic_generic_metadata__")
        if metadata is not None and metadata["origin"] is not None:
            return _Shape(metadata["origin"], metadata["args"])
    origin: Any = None if type(annotation) is type else get_origin(annotation)
    return _Shape(annotation, ()) if origin is None else _Shape(origin, get_args(annotation))


def _own(cls: Any, name: str) -> Any:
    """Return the attribute of a class itself, not an inherited one, or None."""
    return cls.__dict__.get(name)


def _fit(key: _Shape, wanted: _Shape) -> int | None:
    """Return how well a key fits, None if it does not."""
    if _is_same_type(key.origin, wanted.origin):
        if len(key.args) == len(wanted.args) and all(map(_is_same_type, key.args, wanted.args)):
            return _EXACT
        return _OPEN if _agree(key.args, wanted.args) else None
    if not _is_derived(key, wanted):
        return None
    is_fit = not wanted.args or _agree(_arguments_in(key, wanted.origin), wanted.args)
    return _DERIVED if is_fit else None


def _is_same_type(one: Any, other: Any) -> bool:
    one, other = (NoneType if each is None else each for each in (one, other))
    if one is other or isinstance(one, type) or isinstance(other, type):
        return one is other  # a metaclass may call two classes equal
    try:
        return bool(one == other)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  # whatever the key of a context is
        return False


def _agree(some: Sequence[Any], others: Sequence[Any]) -> bool:
    """Return whether two lists of type arguments are compatible; a missing list fits any other."""
    if not some or not others:
        return True
    pairs = zip(some, others, strict=False)
    same = [_is_open(one) or _is_open(other) or _is_same_type(one, other) for one, other in pairs]
    return len(some) == len(others) and all(same)


def _is_open(argument: Any) -> bool:
    """Return whether a type argument is open: `Any`, a type parameter, or a generic type with one."""
    if argument is Any or isinstance(argument, TypeVar):
        return True
    return not isinstance(argument, type) and bool(getattr(argument, "__parameters__", ()))


def _is_derived(key: _Shape, wanted: _Shape) -> bool:
    cls, base = key.origin, wanted.origin
    if not isinstance(cls, type) or not isinstance(base, type) or base is object:
        return False
    if wanted.args:  # a class that only fits a protocol says nothing about its arguments
        return base in cls.__mro__
    try:
        return issubclass(cls, base)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  # a protocol with attributes can't be asked, another class's own code runs
        return base in cls.__mro__


def _arguments_in(shape: _Shape, base: type) -> tuple[Any, ...]:
    """Return the arguments that a class gives to one of its bases, as far as they are known."""
    for _ in range(_BASES_AT_MOST):
        if shape.origin is base:
            return shape.args
        given = dict(zip(getattr(shape.origin, "__parameters__", ()), shape.args, strict=False))
        written = map(_shape, _own(shape.origin, "__orig_bases__") or shape.origin.__bases__)
        inner = next((one for one in written if base in getattr(one.origin, "__mro__", ())), None)
        if inner is None:
            break
        shape = _Shape(inner.origin, tuple([_with_arguments(arg, given) for arg in inner.args]))
    return ()


def _with_arguments(argument: Any, given: Mapping[Any, Any]) -> Any:
    """Return an argument with its type parameters replaced."""
    if isinstance(argument, TypeVar):
        return given.get(argument, argument)
    if isinstance(argument, type):
        return argument  # pyright: ignore[reportUnknownVariableType]  # of whatever type
    parameters = getattr(argument, "__parameters__", ())
    try:
        return argument[tuple([given.get(one, one) for one in parameters])] if parameters else argument
    except TypeError:  # not all forms take all kinds of arguments; then it stays open
        return argument


def near_miss(kinds: Sequence[Any], context: Context) -> str | None:
    """Return a message about a value that was probably meant for a parameter but doesn't fit, or None.

    Args:
        kinds: the types that the parameter may have.
        context: a context without a value for the parameter.
    """
    for wanted in kinds:
        shape = _shape(wanted)
        cls = shape.origin
        if not isinstance(cls, type) or cls.__module__ == "builtins":
            continue
        name = class_name(cls)
        for key in context:
            if isinstance(key, str):
                found = _near_text(key, cls) if name in key else None
            elif not shape.args and type(key) is type and key.__name__ != name:
                continue
            else:
                found = _near_type(key, wanted, shape)
            if found:
                return f"the context has {found}"
    return None


def _near_text(key: str, cls: type) -> str | None:
    texts = {class_name(cls), cls.__qualname__, f"{cls.__module__}.{cls.__qualname__}"}
    return f"the text {quote(key)} as a key, not the class" if key in texts else None


def _near_type(key: Any, wanted: Any, shape: _Shape) -> str | None:
    cls: type = shape.origin
    other = _shape(key)
    if not isinstance(other.origin, type):
        return None
    if other.origin is cls or _is_derived(other, shape):
        return f"{name_of(key)}, not {name_of(wanted)}"
    if (other.origin.__module__, other.origin.__qualname__) != (cls.__module__, cls.__qualname__):
        return None
    full = one_line(f"{cls.__module__}.{cls.__qualname__}", 100)
    return f"another class named {full}, perhaps from before its module was reloaded"


_UNION: Any = Union  # its members are known only now, and some have no `|`


def plain_type(parameter: Parameter, kinds: Sequence[Any], hint: Any) -> Any:
    """Return the annotation of an injected parameter without `skip`.

    Args:
        parameter: the parameter.
        kinds: the types that it may have, as far as they are known.
        hint: its evaluated annotation, or `dataclasses.MISSING`.

    Returns:
        The annotation; if it has forward references, the union of the types. `Any` if nothing is known.
    """
    if parameter.kind in {"rest", "extra"} or hint is MISSING or isinstance(hint, Unresolved):
        return Any
    if not _has_forward_references(hint):
        return _without_skip(hint)
    if not kinds:
        return Any
    return _UNION[(*kinds, None)] if parameter.default is None else _UNION[tuple(kinds)]


def _has_forward_references(hint: Any) -> bool:
    waiting = [hint]
    while waiting:
        current = waiting.pop()
        if isinstance(current, (str, ForwardRef)):
            return True
        if not isinstance(current, type) and get_origin(current) is not Literal:
            waiting += getattr(current, "__args__", ())
    return False


def _without_skip(hint: Any) -> Any:
    if is_union(hint):
        return _UNION[tuple([_without_skip(member) for member in hint.__args__])]
    if not isinstance(hint, AnnotatedAlias):
        return hint
    kept = [item for item in hint.__metadata__ if item is not skip]
    return Annotated[(hint.__origin__, *kept)] if kept else hint.__origin__
