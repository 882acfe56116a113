"""Read the fields of classes that aren't dataclasses: TypedDict, NamedTuple, attrs and Struct."""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from ..message_text import exact_text
from .classes import Declared, Scopes, annotations_of, definer, evaluated, form_of, lineage, of_dataclass
from .hints import evaluate_forward

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .hints import Scope
    from .nodes import ObjectForm


def with_computed_fields(cls: Any, declared: Mapping[str, Declared], outer: Scope) -> Mapping[str, Declared]:
    """Return the declared fields together with those that the constructor doesn't take, in the class's order.

    Args:
        cls: a dataclass or an attrs class.
        declared: the fields that its constructor takes.
        outer: the scope in which the class is used.
    """
    if form_of(cls) == "attrs":
        return {**declared, **_library_fields(cls, outer.of_base(cls, None), computed=True)}
    found: dict[str, Declared] = {}
    for source in cls.__dataclass_fields__.values():
        if source.name in declared:
            found[source.name] = declared[source.name]
        elif source._field_type.name == "_FIELD":  # noqa: SLF001  # dataclasses has no public way to ask
            scope = outer.of_base(definer(source, cls.__mro__[:-1]), None)
            hint = evaluate_forward(evaluate_forward(source.type, scope), scope)
            found.update(of_dataclass([source], [hint], [scope]))
    return found


def _typed_dict_fields(cls: Any, own: Scope) -> dict[str, Declared]:
    scopes = Scopes(cls, own)
    annotations = annotations_of(cls)
    bases = lineage(cls)
    owners = [
        next((base for base in reversed(bases) if annotations_of(base).get(name) == annotation), cls)
        for name, annotation in annotations.items()
    ]
    hints = scopes.evaluate(list(annotations.values()), owners)
    declared: dict[str, Declared] = {}
    for name, hint, owner in zip(annotations, hints, owners, strict=True):
        said = qualifiers(hint)
        # Python 3.11 does not look into annotations written as text (python/cpython#97727).
        required = "Required" in said or (name in cls.__required_keys__ and "NotRequired" not in said)
        key = exact_text(name)
        declared[key] = Declared(key, hint, scopes.of(owner), required=required)
    return declared


def _named_tuple_fields(cls: Any, own: Scope) -> dict[str, Declared]:
    definer = next(base for base in cls.__mro__ if "_fields" in vars(base))
    annotations = annotations_of(definer)
    written = [annotations.get(name, Any) for name in cls._fields]
    scope = Scopes(cls, own).of(definer)
    defaults: Mapping[str, Any] = cls._field_defaults
    return {
        name: Declared(name, hint, scope, defaults.get(name, MISSING))
        for name, hint in zip(cls._fields, evaluated(written, scope), strict=True)
    }


def _library_fields(cls: type, own: Scope, *, computed: bool = False) -> dict[str, Declared]:
    from .foreign_classes import fields_of

    sources = fields_of(cls, computed=computed)
    scopes = Scopes(cls, own)
    owners = [_annotator(source.name, cls) for source in sources]
    found: dict[str, Declared] = {}
    written = [
        annotations_of(owner)[source.name] if source.annotation is MISSING else source.annotation
        for source, owner in zip(sources, owners, strict=True)
    ]
    hints = scopes.evaluate(written, owners)
    for source, hint, owner in zip(sources, hints, owners, strict=True):
        declared = Declared(
            source.name, hint, scopes.of(owner), source.default, has_factory=source.has_factory
        )
        declared.metadata = source.metadata
        found[source.name] = declared
    return found


def _annotator(name: str, cls: type) -> type:
    """Return the class in the MRO that annotates a field; the names in the annotation are its names."""
    return next((base for base in cls.__mro__ if name in annotations_of(base)), cls)


_QUALIFIERS = frozenset({"Required", "NotRequired", "ReadOnly", "Final"})


def qualifiers(hint: Any) -> set[str]:
    """Return the names of the qualifiers around a type, such as `NotRequired`."""
    found: set[str] = set()
    while True:
        origin: Any = get_origin(hint)
        name = getattr(origin, "_name", None) or getattr(origin, "__name__", None)
        if origin is Annotated:
            hint = hint.__origin__
        elif name in _QUALIFIERS:
            found.add(name)
            hint = get_args(hint)[0]
        else:
            return found


READERS: Mapping[ObjectForm, Callable[[type, Scope], Mapping[str, Declared]]] = {
    "typed_dict": _typed_dict_fields,
    "named_tuple": _named_tuple_fields,
    "attrs": _library_fields,
    "struct": _library_fields,
}
"""By form, the function that returns the fields that a class declares, given the scope of the class."""
