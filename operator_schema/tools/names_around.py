"""Which local names around a function may its annotations use, and which do they mention?"""

from __future__ import annotations

import inspect
import re
from functools import partial
from types import FunctionType, GenericAlias, MethodType, UnionType
from typing import TYPE_CHECKING, Any, ForwardRef, Literal, get_origin

from ..introspect.hints import BUILTINS
from ..introspect.shown_annotations import is_annotation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import FrameType

    from .signature import Callee


def names_around(callee: Callee, frame: FrameType | None) -> dict[str, Any]:
    """Return the names in the functions and classes around a function, or those of a method's class.

    Args:
        callee: the function.
        frame: the frame in which it is decorated.
    """
    source = callee.source
    return _enclosing_names(source, frame) or _names_beside(_class_names(callee.function, source), source)


_NAME = r"[^\W\d]\w*"


def _enclosing_names(function: Any, frame: FrameType | None) -> dict[str, Any]:
    """Return the local variables of the functions and classes around a function.

    Args:
        function: the function to decorate.
        frame: the frame in which it is decorated.

    Returns:
        Name to value; empty for a function that was written elsewhere.
    """
    outside = function.__qualname__.rpartition(".")[0]
    around = [part for part in outside.split(".") if part != "<locals>"]
    frames: list[FrameType] = []
    while frame is not None and len(frames) < len(around):
        frames.append(frame)
        frame = frame.f_back
    # Away from the place where it was written, the names around it mean something else.
    if [inner.f_code.co_name for inner in reversed(frames)] != around:
        return {}
    names: dict[str, Any] = {}
    for inner in reversed(frames):
        is_class = not inner.f_code.co_flags & inspect.CO_OPTIMIZED
        names |= _names_beside(inner.f_locals, function, is_class=is_class)
    return names


def _names_beside(names: Mapping[str, Any], function: Any, *, is_class: bool = True) -> dict[str, Any]:
    """Return the names in a class or function that annotations inside it can use.

    A toolkit often has a method `list` or `date`, and another of its methods takes `list[str]` or a `date`.
    So the names of the module and the builtins come before those of a class, and before the functions
    in a function.

    Args:
        names: names of the class, or the local variables.
        function: the function with the annotation.
        is_class: whether they are names of a class.
    """
    module: Mapping[str, Any] = getattr(function, "__globals__", {})
    return {
        name: value
        for name, value in names.items()
        if (name not in module and name not in BUILTINS) or not (is_class or _is_called(value))
    }


def _is_called(value: Any) -> bool:
    return callable(value) and not is_annotation(value)


def _class_names(function: Any, source: Any) -> Mapping[str, Any]:
    """Return the names in the class of a bound method or a callable object; none for a function.

    Args:
        function: the callable.
        source: the function with its annotations.
    """
    if type(function) is FunctionType:
        return {}
    of: Any = function
    while issubclass(type(of), partial):
        of = of.func
    if type(of) is MethodType:
        of = of.__self__
    home = source.__qualname__.rpartition(".")[0]
    classes: tuple[type, ...] = (of if isinstance(of, type) else type(of)).__mro__
    found = [vars(cls) for cls in classes if cls.__qualname__ == home]
    return found[0] if found else {}


def mentioned_names(annotations: Iterable[Any], names: Mapping[str, Any]) -> dict[str, Any]:
    """Return the names that the text in annotations mentions.

    Text may evaluate to text again, as a quoted alias does; the names in it count too.
    """
    found: dict[str, Any] = {}
    pending = list(annotations)
    while pending:
        for text in _texts_in(pending.pop()):
            new = [name for name in re.findall(_NAME, text) if name in names and name not in found]
            found.update({name: names[name] for name in new})
            pending += [names[name] for name in new]
    return found


def _texts_in(annotation: Any) -> Iterator[str]:
    """Find the forward references in an annotation."""
    waiting = [annotation]  # it may nest deeper than the stack of Python
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, ForwardRef):
            yield one.__forward_arg__
        elif _has_arguments(one):
            waiting += reversed(one.__args__)


def _has_arguments(annotation: Any) -> bool:
    # Any other object may answer to any name.
    is_generic = isinstance(annotation, (GenericAlias, UnionType)) or type(annotation).__module__ == "typing"
    return is_generic and hasattr(annotation, "__args__") and get_origin(annotation) is not Literal
