"""Which fields does a TypedDict, a NamedTuple, an attrs class or a Struct declare?"""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from ..message_text import exact_text
from .classes import Declared, Scopes, annotations_of, definer, evaluated, form_of, lineage, of_dataclass
from .foreign_classes import keywords_of
from .hints import Unresolved, evaluate_forward
from .nodes import TAG

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


def _library_fields(cls: Any, own: Scope, *, computed: bool = False) -> dict[str, Declared]:
    """Return the fields of an attrs class or a Struct that its constructor takes, and the tag of a Struct.

    Args:
        cls: an attrs class or a Struct.
        own: the scope of the class.
        computed: for an attrs class, return the fields that its constructor doesn't take instead.
    """
    if not hasattr(cls, "__attrs_attrs__"):
        fields = _struct_fields(cls, own)
    else:
        fields = _computed_fields(cls, own) if computed else _attrs_fields(cls, own)
    scopes = Scopes(cls, own)
    owners = [_annotator(field.name, cls) for field in fields]
    written = [
        annotations_of(owner)[field.name] if field.hint is MISSING else field.hint
        for field, owner in zip(fields, owners, strict=True)
    ]
    for field, hint, owner in zip(fields, scopes.evaluate(written, owners), owners, strict=True):
        field.hint, field.scope = hint, scopes.of(owner)
    return {field.name: field for field in fields}


def _attrs_fields(cls: Any, own: Scope) -> list[Declared]:
    keywords = keywords_of(cls)
    found: list[Declared] = []
    for field in cls.__attrs_attrs__:
        if field.init:
            hint = _NO_ANNOTATION if field.type is None else field.type
            keyword = keywords[field.name]
            alias = {} if keyword == field.name else {"alias": keyword}
            found.append(_of_library(field.name, hint, own, field.default, {**alias, **field.metadata}))
    return found


_NO_ANNOTATION = Unresolved("of the field", "there is none", "Write one: `x: int = attrs.field()`")


def _computed_fields(cls: Any, own: Scope) -> list[Declared]:
    return [
        _of_library(field.name, Any if field.type is None else field.type, own, MISSING, field.metadata)
        for field in cls.__attrs_attrs__
        if not field.init
    ]


def _struct_fields(cls: Any, own: Scope) -> list[Declared]:
    config = cls.__struct_config__
    found: list[Declared] = []
    if config.tag is not None:
        found.append(_of_library(TAG, Literal[config.tag], own, MISSING, {"alias": config.tag_field}))
    names: tuple[str, ...] = cls.__struct_fields__
    given: tuple[Any, ...] = cls.__struct_defaults__
    defaults = (*[MISSING] * (len(names) - len(given)), *given)
    for name, key, default in zip(names, cls.__struct_encode_fields__, defaults, strict=True):
        found.append(_of_library(name, MISSING, own, default, {} if key == name else {"alias": key}))
    return found


def _of_library(name: str, hint: Any, scope: Scope, default: Any, metadata: Mapping[Any, Any]) -> Declared:
    """Return a field of attrs or msgspec, whose special values for defaults have these class names."""
    kind = type(default).__name__
    has_factory = kind == "Factory"
    is_none = has_factory or kind in {"_Nothing", "NoDefaultType"}
    declared = Declared(name, hint, scope, MISSING if is_none else default, has_factory=has_factory)
    declared.metadata = metadata
    return declared


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
