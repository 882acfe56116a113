"""The local variables around a decorated function that its annotations need."""

from __future__ import annotations

import re
from functools import partial
from types import FunctionType, GenericAlias, MethodType, UnionType
from typing import TYPE_CHECKING, Any, ForwardRef, Literal, get_origin

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import FrameType

__all__ = ["class_names", "enclosing_names", "mentioned_names"]

_NAME = r"[^\W\d]\w*"  # compiled when it is needed: only for functions inside others


def enclosing_names(function: Any, frame: FrameType | None) -> dict[str, Any]:
    """Return the local variables of the functions and classes around a function.

    Args:
        function: that is being decorated.
        frame: in which it is decorated.

    Returns:
        Name to value; nothing for a function of the module, and for one that was written elsewhere.
    """
    outside = function.__qualname__.rpartition(".")[0]
    if not outside:
        return {}
    around = [part for part in outside.split(".") if part != "<locals>"]
    frames: list[FrameType] = []
    while frame is not None and len(frames) < len(around):
        frames.append(frame)
        frame = frame.f_back
    # Elsewhere than where it was written, the names around mean something else.
    if [inner.f_code.co_name for inner in reversed(frames)] != around:
        return {}
    return {name: value for inner in reversed(frames) for name, value in inner.f_locals.items()}


def class_names(function: Any, source: Any) -> Mapping[str, Any]:
    """Return the names in the class of a bound method or an object with `__call__`, nothing for a function.

    Args:
        function: what is called.
        source: the function in which its annotations are written.
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
    """Return those of the names that the text in annotations mentions.

    Text may mean text again, as an alias that is written in quotes does; its names count too.
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
    if isinstance(annotation, str):
        yield annotation
    elif isinstance(annotation, ForwardRef):
        yield annotation.__forward_arg__
    elif _has_arguments(annotation):
        for argument in annotation.__args__:
            yield from _texts_in(argument)


def _has_arguments(annotation: Any) -> bool:
    # Any other object may answer to any name.
    is_generic = isinstance(annotation, (GenericAlias, UnionType)) or type(annotation).__module__ == "typing"
    return is_generic and hasattr(annotation, "__args__") and get_origin(annotation) is not Literal
