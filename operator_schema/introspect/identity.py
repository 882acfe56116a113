"""What an annotation is called in messages, and when two annotations mean the same."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from ..wording import clip, escape

__all__ = ["annotation_key", "name_of", "show_annotation"]

_SHOWN_LENGTH = 200


def name_of(annotation: object) -> str:
    """Return the short name by which messages call a type."""
    if isinstance(annotation, type):
        return annotation.__name__
    return show_annotation(annotation)


def show_annotation(annotation: object) -> str:
    """Write an annotation as it would stand in the source, bounded and on one line."""
    if isinstance(annotation, type) and get_origin(annotation) is None:
        module, name = annotation.__module__, annotation.__qualname__
        return name if module in {"builtins", "__main__"} else f"{module}.{name}"
    try:
        text = repr(annotation)
    except Exception:  # noqa: BLE001  # an object that can't be shown is still named by its class
        text = f"an object of {type(annotation).__qualname__}"
    return clip(escape(text.replace("typing.", "")), _SHOWN_LENGTH)


def annotation_key(annotation: Any) -> Any:
    """Return what only annotations of the same meaning share.

    Equality of annotations is not enough: `Annotated[int, Ge(1)] == Annotated[int, Ge(1.0)]`, and
    `list[Literal[0]]` may be the same object as `list[Literal[False]]`. Metadata counts by
    identity, so the key holds only as long as the annotation lives.

    Raises:
        TypeError: something in the annotation has no hash (on hashing the key).
        RecursionError: the annotation nests too deep.
    """
    origin: Any = get_origin(annotation)
    if origin is None:
        return annotation if isinstance(annotation, type) else (annotation.__class__, annotation)
    if origin is Literal:
        return (origin, tuple([(value.__class__, value) for value in get_args(annotation)]))
    metadata: tuple[Any, ...] = getattr(annotation, "__metadata__", ())
    args: tuple[Any, ...] = (annotation.__origin__,) if metadata else get_args(annotation)
    return (origin, tuple(map(annotation_key, args)), tuple(map(id, metadata)))
