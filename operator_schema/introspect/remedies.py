"""What can be written in place of an annotation that isn't supported?"""

from __future__ import annotations

import re
import sys
import typing
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Final, get_origin

from ..immutable import instead_of
from .classes import annotations_of, form_of
from .foreign_metadata import is_foreign
from .leaves import as_leaf, has_attribute
from .shown_annotations import is_annotation, is_type, name_of, show_annotation, types_in

if TYPE_CHECKING:
    from .hints import Scope
    from .nodes import ObjectForm

_PAGE = "docs/{}.md in operator_schema's repository for what is supported, or give a SchemaLeaf for it"
_LIBRARIES = frozenset({"pydantic", "pydantic_core", "msgspec", "attr", "attrs"})

_CALLABLE: Final = "A function has no JSON form: leave it out"
_SPELLINGS: Final[dict[Any, str]] = {
    any: "Write Any (from typing import Any)",
    callable: _CALLABLE,
    Callable: _CALLABLE,
    **dict.fromkeys((Iterator, Generator), "Write list[…], or Iterable[…]"),
    bytearray: "Write bytes",
    Counter: "Write dict[…, int]",
    typing.Optional: "Write X | None with the type in place of X, such as str | None",
    typing.TypedDict: "Write a class that derives from it: class Name(TypedDict): …",
    typing.NamedTuple: "Write a class that derives from it: class Name(NamedTuple): …",
    typing.Union: "Write X | Y with the types in place of X and Y, such as int | str",
}
"""Frequent mistakes and their remedies."""


_OWN_CHECKS: Final[dict[ObjectForm, str]] = {
    "dataclass": "in __post_init__",
    "struct": "in __post_init__",
    "attrs": "in __attrs_post_init__",
    "function": "in the function, which can raise CallError",
}
"""By form of class: where its own code can check values, for forms that have code."""


def remedy_in(scope: Scope, remedy: str) -> str:
    """Adapt a remedy to a scope: replace `in __post_init__` by the place where its owner checks values.

    Args:
        scope: the scope of the annotation.
        remedy: the remedy for an annotation in a dataclass.
    """
    while type(scope.owner).__name__ == "TypeAliasType":  # of typing, or of typing_extensions
        scope = scope.outside()
    form = "function" if isinstance(scope.owner, FunctionType) else form_of(scope.owner)
    own = _OWN_CHECKS.get(form) if form else None
    return remedy.replace("in __post_init__", own or "in the __post_init__ of a dataclass")


def remedy_for(annotation: Any, *, is_root: bool) -> str:
    """Return the remedy for an annotation that isn't supported.

    Args:
        annotation: the annotation.
        is_root: whether it is the whole type; somebody may have given a value instead by mistake.
    """
    if is_root and isinstance(annotation, FunctionType):
        name = annotation.__name__
        made = f"tool({name})" if name.isidentifier() else "tool(…)"
        return f"{_NO_FUNCTION}; to make a tool of it, write {made}"
    spelling = _spelling(annotation)
    if spelling is not None:
        return spelling
    instead = instead_of(annotation)
    if instead is not None:
        return instead
    kind: type[Any] = annotation.__class__
    if is_root and not isinstance(annotation, type):
        if has_attribute(kind, "__dataclass_fields__"):
            name = name_of(kind)
            return f"Give the annotation first: Codec({name}), decode({name}, value)"
        if isinstance(annotation, (dict, list, bytes, int, float)):
            return "Give the annotation first: Codec(annotation), decode(annotation, value)"
    if not isinstance(annotation, type) and hasattr(kind, "input_type"):
        own = ", or ask the tool itself: tool.decode(…), tool.input_schema(), tool.codec"
        return f"Give the input_type of the tool{own if is_root else ''}"
    if not is_annotation(annotation):
        return _inside_annotated(annotation, kind) or _as_literal(annotation, kind) or _GIVE_A_TYPE
    if kind is type and annotation.__module__.partition(".")[0] in _LIBRARIES:
        return f"See {_PAGE.format('other-libraries')}"
    if kind is type and _is_of_user(annotation):
        return "Make it a dataclass, with @dataclass next to the class, or give a SchemaLeaf for it"
    return f"See {_PAGE.format('annotations')}"


def _inside_annotated(value: Any, kind: type) -> str | None:
    """Return what to write instead of metadata that stands in place of its type."""
    if is_foreign(value):
        name = kind.__name__
        return f"Write it after the type: Annotated[…, {_CALLED.get(name, name)}(…)]"
    leaf = as_leaf(value)
    if leaf is not None:
        return f"Write it after the type: Annotated[{name_of(leaf.type)}, …], with the leaf"
    return "Write it after the type: Annotated[str, …]" if isinstance(value, re.Pattern) else None


_CALLED: Final = {"FieldInfo": "Field"}


def _as_literal(value: Any, kind: type) -> str | None:
    """Return what to write instead of a list of choices, such as `Literal[…]`."""
    if kind not in {list, tuple, set, frozenset} or not value or {type(each) for each in value} - _CHOICES:
        return None
    return 'If these are the values to choose from, write Literal[…], such as Literal["low", "high"]'


_CHOICES: Final = frozenset({str, int, bool, type(None)})
_NO_FUNCTION = "Give a type in place of the function"
_GIVE_A_TYPE: Final = "Give a type, such as str, list[int] or a dataclass"


def _is_of_user(cls: type) -> bool:
    """Return whether a class is the user's own, so that a dataclass could replace it."""
    if cls.__module__.partition(".")[0] in sys.stdlib_module_names - {"__main__"}:
        return False
    return bool(annotations_of(cls)) or isinstance(cls.__dict__.get("__init__"), FunctionType)


def _spelling(annotation: Any) -> str | None:
    """Return the remedy for a common misspelling of an annotation, or None."""
    known = [_SPELLINGS[what] for what in (annotation, get_origin(annotation)) if _is_spelled(what)]
    if known:
        return known[0]
    parts = [show_annotation(part) for part in types_in(annotation)]
    if isinstance(annotation, dict) and len(parts) == 2:  # noqa: PLR2004  # a key and its value
        return f"Write dict[{parts[0]}, {parts[1]}]"
    if isinstance(annotation, list) and len(parts) == 1:
        return f"Write list[{parts[0]}]"
    if isinstance(annotation, (list, tuple)) and parts:
        return f"Write tuple[{', '.join(parts)}] for one of each, or list[{' | '.join(parts)}]"
    if _has_types_as_fields(annotation):
        return "Write a dataclass, or a TypedDict, with these fields"
    if isinstance(annotation, ModuleType):
        name = annotation.__name__.rpartition(".")[2]
        has_namesake = hasattr(annotation, name)
        return f"Write the class that is in the module, such as {name}.{name}" if has_namesake else None
    if isinstance(annotation, (FunctionType, BuiltinFunctionType)):
        return _NO_FUNCTION
    return None


def _has_types_as_fields(annotation: Any) -> bool:
    """Return whether a dict maps names to types: `{"x": int}`."""
    if annotation.__class__ is not dict or not annotation:
        return False
    return all(isinstance(key, str) and is_type(value) for key, value in annotation.items())


def _is_spelled(annotation: Any) -> bool:
    return annotation.__class__.__hash__ is not None and annotation in _SPELLINGS
