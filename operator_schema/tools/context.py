"""What a context holds for a parameter: its value by name or by type, generic types included."""

from __future__ import annotations

from dataclasses import MISSING
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, ForwardRef, Literal, TypeVar, Union, get_args, get_origin

from ..errors import ToolError
from ..introspect.hints import Unresolved, class_name, name_of
from ..message_text import clip, escape, listed, quote
from .injection import AnnotatedAlias, is_union, skip

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .signature import Parameter

    Context = Mapping[Any, Any]

__all__ = ["WholeContext", "near_miss", "plain_type", "value_for"]


_BASES_AT_MOST = 100
_EXACT, _OPEN, _DERIVED = range(3)  # how well a key fits, the best first


class WholeContext:
    """Annotates an injected parameter that gets the context itself."""


class _Shape:
    """A type without its arguments, and these."""

    __slots__ = ("args", "origin")

    def __init__(self, origin: Any, args: tuple[Any, ...]) -> None:
        self.origin = origin
        self.args = args


def value_for(tool: str, parameter: Parameter, kinds: Sequence[Any], context: Context) -> Any:
    """Return what a context holds for a parameter, or `dataclasses.MISSING`.

    By type, the best key counts: the same type with the same arguments; the same type where one of
    the two has no arguments, or `Any`; a subclass. Other arguments never fit.

    Args:
        tool: name of the tool, for messages.
        parameter: that your program injects.
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
    """Return the keys that fit a type best, or the one that is that type."""
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
    """Return an attribute that isn't inherited, or None."""
    return cls.__dict__.get(name)


def _fit(key: _Shape, wanted: _Shape) -> int | None:
    """Return how well a key fits, None if it does not."""
    if _is_same(key.origin, wanted.origin):
        if len(key.args) == len(wanted.args) and all(map(_is_same, key.args, wanted.args)):
            return _EXACT
        return _OPEN if _agree(key.args, wanted.args) else None
    if not _is_derived(key, wanted):
        return None
    is_fit = not wanted.args or _agree(_arguments_in(key, wanted.origin), wanted.args)
    return _DERIVED if is_fit else None


def _is_same(one: Any, other: Any) -> bool:
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
    """Return whether two lists of arguments can mean the same; without arguments, anything is meant."""
    if not some or not others:
        return True
    pairs = zip(some, others, strict=False)
    same = [_is_open(one) or _is_open(other) or _is_same(one, other) for one, other in pairs]
    return len(some) == len(others) and all(same)


def _is_open(argument: Any) -> bool:
    """Return whether an argument may be anything: `Any`, a type parameter, or one in a generic type."""
    if argument is Any or isinstance(argument, TypeVar):
        return True
    return not isinstance(argument, type) and bool(getattr(argument, "__parameters__", ()))


def _is_derived(key: _Shape, wanted: _Shape) -> bool:
    cls, base = key.origin, wanted.origin
    if not isinstance(cls, type) or not isinstance(base, type) or base is object:
        return False
    if wanted.args:  # what only looks like a subclass, as of a protocol, says nothing about arguments
        return base in cls.__mro__
    try:
        return issubclass(cls, base)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  # a protocol with attributes can't be asked, another class's own code runs
        return base in cls.__mro__


def _arguments_in(shape: _Shape, base: type) -> tuple[Any, ...]:
    """Return the arguments that a class gives to a base, as far as they are known."""
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
    """Return an argument with what is given for the type parameters in it."""
    if isinstance(argument, TypeVar):
        return given.get(argument, argument)
    if isinstance(argument, type):
        return argument  # pyright: ignore[reportUnknownVariableType]  # of whatever type
    parameters = getattr(argument, "__parameters__", ())
    try:
        return argument[tuple([given.get(one, one) for one in parameters])] if parameters else argument
    except TypeError:  # not all forms take all kinds of arguments; it stays open then
        return argument


def near_miss(kinds: Sequence[Any], context: Context) -> str | None:
    """Return what in a context was probably meant for a parameter, and why it does not fit; None if nothing.

    Args:
        kinds: the types that the parameter may have.
        context: without a value for it.
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
    full = clip(escape(f"{cls.__module__}.{cls.__qualname__}"), 100)
    return f"another class named {full}, as after its module was loaded again"


_UNION: Any = Union  # of members that are known only now, some of which have no `|`


def plain_type(parameter: Parameter, kinds: Sequence[Any], hint: Any) -> Any:
    """Return the annotation of an injected parameter without `skip`.

    Args:
        parameter: the parameter.
        kinds: the types that it may have, as far as they are known.
        hint: its evaluated annotation, or `dataclasses.MISSING`.

    Returns:
        The annotation; of one with forward references in it, the union of the types. `Any` where
        nothing is known.
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
