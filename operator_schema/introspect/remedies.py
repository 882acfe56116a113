"""What to write instead of an annotation that isn't supported."""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable
from itertools import chain
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, get_origin

from .classes import annotations_of
from .leaves import has_attribute
from .names import name_of, show_annotation

__all__ = ["PAGE", "remedy_for"]

PAGE = "docs/annotations.md"
"""The page that lists what is supported."""

_OTHER_LIBRARIES = PAGE.replace("annotations.md", "other-libraries.md")
_LIBRARIES = frozenset({"pydantic", "pydantic_core", "msgspec", "attr", "attrs"})

_CALLABLE = (
    "A function has no JSON form: leave it out, or let the host give it (Annotated[…, skip] in a tool)"
)
_SPELLINGS: dict[object, str] = {
    any: "Write Any (from typing import Any)",
    callable: _CALLABLE,
    Callable: _CALLABLE,
    typing.Optional: "Write X | None with the type in place of X, such as str | None",
    typing.Union: "Write X | Y with the types in place of X and Y, such as int | str",
}
"""What is often written, and what to do about it."""


def remedy_for(annotation: Any, *, is_root: bool) -> str:
    """Return what to do about an annotation that isn't supported.

    Args:
        annotation: what it is.
        is_root: whether it is the whole type, for which a value may be given by mistake.
    """
    spelling = _spelling(annotation)
    if spelling is not None:
        return spelling
    kind: type = annotation.__class__
    if is_root and not isinstance(annotation, type):
        if has_attribute(kind, "__dataclass_fields__"):
            name = name_of(kind)
            return f"It is an instance; the annotation comes first: Codec({name}), decode({name}, value)"
        if isinstance(annotation, (dict, list, bytes, int, float)):
            return "It is a value, not an annotation; the annotation comes first: decode(annotation, value)"
    if not isinstance(annotation, type) and hasattr(kind, "input_type"):
        return "It is a tool; give its input_type"
    if kind is type and annotation.__module__.partition(".")[0] in _LIBRARIES:
        return f"See {_OTHER_LIBRARIES} for what is, or give a SchemaLeaf for it"
    if kind is type and _is_of_user(annotation):
        return "Make it a dataclass, with @dataclass next to the class, or give a SchemaLeaf for it"
    return f"See {PAGE} for what is, or give a SchemaLeaf for it"


def _is_of_user(cls: type) -> bool:
    """Return whether a class was written by somebody who could also write a dataclass."""
    if cls.__module__.partition(".")[0] in sys.stdlib_module_names - {"__main__"}:
        return False
    return bool(annotations_of(cls)) or isinstance(cls.__dict__.get("__init__"), FunctionType)


def _spelling(annotation: Any) -> str | None:
    """Return what is meant by what looks like an annotation."""
    known = [_SPELLINGS[what] for what in (annotation, get_origin(annotation)) if _is_spelled(what)]
    if known:
        return known[0]
    if isinstance(annotation, (list, tuple, dict)):
        return _spelling_of_container(annotation)
    if isinstance(annotation, ModuleType):
        name = annotation.__name__.rpartition(".")[2]
        return (
            f"It is a module: write the class in it, such as {name}.{name}"
            if hasattr(annotation, name)
            else None
        )
    if isinstance(annotation, (FunctionType, BuiltinFunctionType)):
        return "It is a function: give a type"
    return None


def _spelling_of_container(annotation: Any) -> str | None:
    kind: type = annotation.__class__
    is_map = issubclass(kind, dict)
    items = list(chain.from_iterable(annotation.items()) if is_map else annotation)
    if not items or not all(map(_is_type, items)):
        return None
    texts = list(map(show_annotation, items))
    if is_map:
        return f"Write dict[{texts[0]}, {texts[1]}]" if len(texts) == 2 else None  # noqa: PLR2004  # key, value
    if issubclass(kind, list) and len(texts) == 1:
        return f"Write list[{texts[0]}]"
    return f"Write tuple[{', '.join(texts)}] for one of each, or list[{' | '.join(texts)}]"


def _is_spelled(annotation: object) -> bool:
    return getattr(type(annotation), "__hash__", None) is not None and annotation in _SPELLINGS


def _is_type(item: object) -> bool:
    return isinstance(item, type) or get_origin(item) is not None
