"""How is an annotation or a value written in a message? In a bounded text on one line."""

from __future__ import annotations

from itertools import chain
from types import BuiltinFunctionType, FunctionType, ModuleType, NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Union, get_args, get_origin

from ..message_text import class_name, class_name_of, exact_text, excerpt, one_line
from .hints import Unresolved

if TYPE_CHECKING:
    from collections.abc import Sequence


NOT_SUPPORTED: Final = "is not supported"
"""The end of a message about an unsupported annotation; messages about other things end differently."""

_LONGEST_SHOWN = 200
_SHOWN_LEVELS = 4
_SHOWN_ARGUMENTS = 8


def name_of(annotation: object) -> str:
    """Return the short name of a type for messages: `Page[User]`."""
    if type(annotation) is type and annotation is not NoneType:
        name = annotation.__name__
        if type(name) is not str:
            name = exact_text(name)
        if name.isprintable() and len(name) <= _LONGEST_SHOWN:
            return name
    return show_annotation(annotation, with_module=False)


def show_annotation(annotation: object, *, with_module: bool = True) -> str:
    """Write an annotation much as in the source code, bounded and on one line."""
    try:
        return one_line(_show(annotation, _SHOWN_LEVELS, with_module=with_module), _LONGEST_SHOWN)
    except (MemoryError, RecursionError):
        raise
    except Exception:  # noqa: BLE001  # a metaclass may do anything when a class is asked for its name
        return "an annotation that can't be shown"


def _show(annotation: Any, levels: int, *, with_module: bool) -> str:
    # `repr` would write out a type that doubles at each level to its end.
    origin: Any = get_origin(annotation)
    if origin is None:
        return _show_bare(annotation, with_module=with_module, levels=levels)
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


def _show_bare(annotation: object, *, with_module: bool, levels: int = 1) -> str:
    if annotation is NoneType:
        return "None"
    if annotation is Ellipsis:
        return "..."
    if isinstance(annotation, type):
        if not with_module:
            return class_name(annotation)
        module, name = annotation.__module__, class_name(annotation, "__qualname__")
        return name if module in {"builtins", "__main__", "collections.abc"} else f"{module}.{name}"
    if is_annotation(annotation):
        return show_value(annotation).replace("typing.", "")
    return _show_other(annotation, with_module=with_module, levels=levels)


def is_annotation(item: object) -> bool:
    """Return whether an object can be an annotation, supported or not: a type, a form of typing, text."""
    written = isinstance(item, _WRITTEN) or type(item).__module__ in _TYPING
    return written or item is None or is_type(item)


def _show_other(value: Any, *, with_module: bool, levels: int) -> str:
    """Show an object that isn't an annotation, never by its `repr`, which may contain secrets."""
    if isinstance(value, ModuleType):
        return f"the module {value.__name__}"
    if isinstance(value, _FUNCTIONS):
        return f"the function {value.__qualname__}"
    parts, kind = types_in(value), value.__class__
    if not 0 < len(parts) <= _SHOWN_ARGUMENTS:
        return f"an instance of {_show_bare(kind, with_module=with_module)}"
    # The parameters of a `Callable` are a list, which may contain another `Callable`.
    shown = [_show(part, min(levels, 1), with_module=with_module) for part in parts]
    if kind is dict:
        shown = [f"{key}: {item}" for key, item in zip(shown[::2], shown[1::2], strict=True)]
    return _WRITTEN_AS[kind].format(", ".join(shown))


def types_in(value: Any) -> Sequence[Any]:
    """Return the types in a list, a tuple or a dict (keys and values in turn) if it contains only types."""
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


def show_value(value: object) -> str:
    """Write an object as `repr` does, or its class if `repr` raises an error."""
    if value.__class__ is int:
        return excerpt(value)
    if isinstance(value, _FUNCTIONS):
        return f"the function {value.__qualname__}"
    try:
        return repr(value)
    except Exception:  # noqa: BLE001  # an object that can't be shown is still named by its class
        return f"an object of {class_name_of(value)}"


def show_briefly(value: object, most: int = 100) -> str:
    """Write an object like `show_value`, on one line of at most so many characters."""
    return one_line(show_value(value), most)
