"""Names of annotations, classes and values for messages."""

from __future__ import annotations

from itertools import chain
from types import BuiltinFunctionType, FunctionType, GenericAlias, ModuleType, NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Union, get_args, get_origin

from ..message_text import clip, escape, excerpt
from .hints import Unresolved

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "NOT_SUPPORTED",
    "class_name",
    "exact_text",
    "is_annotation",
    "is_type",
    "name_of",
    "show_annotation",
    "show_error",
    "show_value",
    "take_apart",
    "types_in",
]

NOT_SUPPORTED: Final = "is not supported"
"""What a message ends with that is about an annotation, and not about what isn't one."""

_SHOWN_LENGTH = 200
_SHOWN_LEVELS = 4
_SHOWN_ARGUMENTS = 8


def take_apart(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return what `typing.get_origin` and `typing.get_args` do, faster for the usual kinds of annotation."""
    cls = type(annotation)  # pyright: ignore[reportUnknownVariableType]  # of whatever type
    if cls is GenericAlias or cls is _LiteralAlias:
        return annotation.__origin__, annotation.__args__
    if cls is UnionType:
        return cls, annotation.__args__
    origin = get_origin(annotation)
    return origin, get_args(annotation) if origin is not None else ()


_LiteralAlias: Final = type(Literal[0])


def name_of(annotation: object) -> str:
    """Return the short name of a type for messages: `Page[User]`."""
    if type(annotation) is type and annotation is not NoneType:
        name = annotation.__name__
        if type(name) is not str:
            name = exact_text(name)
        if name.isprintable() and len(name) <= _SHOWN_LENGTH:
            return name
    return clip(escape(_show(annotation, _SHOWN_LEVELS, with_module=False)), _SHOWN_LENGTH)


def show_annotation(annotation: object) -> str:
    """Write an annotation much as in the source, bounded and on one line."""
    return clip(escape(_show(annotation, _SHOWN_LEVELS, with_module=True)), _SHOWN_LENGTH)


def _show(annotation: Any, levels: int, *, with_module: bool) -> str:
    # `repr` would write out a type that doubles at each level to its end.
    origin: Any = get_origin(annotation)
    if origin is None:
        return _show_bare(annotation, with_module=with_module)
    if levels == 0:
        return "…"
    shown = [
        _show(arg, levels - 1, with_module=with_module) for arg in get_args(annotation)[:_SHOWN_ARGUMENTS]
    ]
    if origin in {Union, UnionType}:
        return " | ".join(shown)
    if origin is Annotated:
        return f"Annotated[{_show(annotation.__origin__, levels - 1, with_module=with_module)}, …]"
    if origin is Literal:
        shown = [show_value(arg) for arg in get_args(annotation)[:_SHOWN_ARGUMENTS]]
    star = "*" if getattr(annotation, "__unpacked__", False) else ""
    name = (
        getattr(origin, "__name__", None)
        or getattr(origin, "_name", None)
        or _show_bare(origin, with_module=with_module)
    )
    if isinstance(origin, type):
        name = _show_bare(origin, with_module=with_module)
    return f"{star}{name}[{', '.join(shown)}]"


def _show_bare(annotation: object, *, with_module: bool) -> str:
    if annotation is NoneType:
        return "None"
    if annotation is Ellipsis:
        return "..."
    if isinstance(annotation, type):
        if not with_module:
            return class_name(annotation)
        module, name = annotation.__module__, _NAMES["__qualname__"](annotation)
        return name if module in {"builtins", "__main__", "collections.abc"} else f"{module}.{name}"
    if is_annotation(annotation):
        return show_value(annotation).replace("typing.", "")
    return _show_other(annotation, with_module=with_module)


def is_annotation(item: object) -> bool:
    """Return whether an object can be an annotation, supported or not: a type, a form of typing, text."""
    written = isinstance(item, _WRITTEN) or type(item).__module__ in _TYPING
    return written or item is None or is_type(item)


def _show_other(value: Any, *, with_module: bool) -> str:
    """Show what isn't an annotation: never by its `repr`, which may hold what is secret."""
    if isinstance(value, ModuleType):
        return f"the module {value.__name__}"
    if isinstance(value, _FUNCTIONS):
        return f"the function {value.__qualname__}"
    parts, kind = types_in(value), value.__class__
    if not 0 < len(parts) <= _SHOWN_ARGUMENTS:
        return f"an instance of {_show_bare(kind, with_module=with_module)}"
    shown = [_show(part, 1, with_module=with_module) for part in parts]
    if kind is dict:
        shown = [f"{key}: {item}" for key, item in zip(shown[::2], shown[1::2], strict=True)]
    return _WRITTEN_AS[kind].format(", ".join(shown))


def types_in(value: Any) -> Sequence[Any]:
    """Return the types in a list, a tuple or a dict (each key and value in turn) that has nothing else."""
    kind: type = value.__class__
    if kind not in _WRITTEN_AS:
        return ()
    parts: list[Any] = [*chain.from_iterable(value.items())] if kind is dict else [*value]
    return parts if all(map(is_type, parts)) else ()


def is_type(item: object) -> bool:
    """Return whether an object is a class, or a form such as `list[int]` or `int | str`."""
    return isinstance(item, type) or get_origin(item) is not None


_WRITTEN: Final = (str, Unresolved)
_FUNCTIONS: Final = (FunctionType, BuiltinFunctionType)
_TYPING: Final = frozenset({"typing", "typing_extensions", "annotationlib"})
_WRITTEN_AS: Final[dict[type, str]] = {list: "[{}]", tuple: "({})", dict: "{{{}}}"}


# What a metaclass says instead need not even be a text.
_NAMES: Final = {name: vars(type)[name].__get__ for name in ("__name__", "__qualname__")}


def class_name(cls: type) -> str:
    """Return the name of a class, whatever its metaclass makes of that."""
    name = cls.__name__ if type(cls) is type else _NAMES["__name__"](cls)
    return name if type(name) is str else exact_text(name)


def exact_text(text: str) -> str:
    """Return a text as a `str` itself, which no method of a subclass or a `StrEnum` can change."""
    return text if type(text) is str else str.__str__(text)


def show_value(value: object) -> str:
    """Write an object as `repr` does, whatever that raises."""
    if value.__class__ is int:
        return excerpt(value)
    if isinstance(value, _FUNCTIONS):
        return f"the function {value.__qualname__}"
    try:
        return repr(value)
    except Exception:  # noqa: BLE001  # an object that can't be shown is still named by its class
        return f"an object of {class_name(type(value))}"


def show_error(error: Exception) -> str:
    """Write what an exception says, bounded and on one line, whatever that raises.

    After an empty line pydantic only links to its documentation, which would fill the line.
    """
    try:
        said = clip(escape(str(error).strip().partition("\n\n")[0]), _SHOWN_LENGTH)
    except Exception:  # noqa: BLE001  # its own `__str__` may raise too
        said = "an error that can't be shown"
    return f"{class_name(type(error))}: {said}"
