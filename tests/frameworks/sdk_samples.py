"""Instances of the types of SDKs, made from the types alone, as they stand in JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, RootModel

_LEAVES = {str: "x", int: 1, float: 1.5, bool: True, bytes: "eA==", datetime: "2026-01-01T00:00:00Z"}
_LEAVES[date] = "2026-01-01"
_DEPTH = 5


def members_of(annotation):
    """Return the types of a union, however it is nested and annotated."""
    if get_origin(annotation) is Annotated:
        return members_of(get_args(annotation)[0])
    if hasattr(annotation, "__value__"):
        return members_of(annotation.__value__)
    if get_origin(annotation) in {Union, UnionType}:
        return [found for part in get_args(annotation) for found in members_of(part)]
    return [annotation]


def models_of(annotation):
    """Return the models in a union; Mistral's has one for what it doesn't know, too."""
    found = [
        kind for kind in members_of(annotation) if isinstance(kind, type) and issubclass(kind, BaseModel)
    ]
    return [kind for kind in found if not kind.__name__.startswith("Unknown")]


def sample(annotation, *, full, depth=_DEPTH):
    """Return an instance of a type.

    Args:
        annotation: the type, or a model.
        full: whether what may be left out is there, too, down to a depth.
        depth: levels that are left.
    """
    kind = next(found for found in members_of(annotation) if found is not NoneType)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return "completed" if "completed" in inner else inner[0]
    if origin in {list, Iterable, Sequence}:
        return [sample(inner[0], full=full, depth=depth - 1)]
    if origin in {dict, Mapping}:
        return {"k": sample(inner[1], full=full, depth=depth - 1)}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind)).value
    if isinstance(kind, type) and issubclass(kind, RootModel):
        return sample(kind.model_fields["root"].annotation, full=full, depth=depth)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return sample_of_model(kind, full=full, depth=depth)
    return _LEAVES.get(kind, {})


def sample_of_model(model, *, full, depth=_DEPTH):
    """Return an object that is an instance of a pydantic model."""
    found = {}
    for name, field in model.model_fields.items():
        is_kind = name in {"type", "role"} and get_origin(members_of(field.annotation)[0]) is Literal
        if is_kind or field.is_required() or (full and depth > 0):
            found[field.alias or name] = sample(field.annotation, full=full, depth=depth - 1)
    return found


def sample_of_shape(shape: Any, *, full, depth=_DEPTH):
    """Return an instance of a shape of botocore's model; a union has its first member."""
    if shape.type_name == "structure":
        names = list(shape.members)
        if getattr(shape, "is_tagged_union", False):
            names = names[:1]
        elif not (full and depth > 0):
            names = [name for name in names if name in shape.required_members]
        return {name: sample_of_shape(shape.members[name], full=full, depth=depth - 1) for name in names}
    if shape.type_name == "list":
        return [sample_of_shape(shape.member, full=full, depth=depth - 1)]
    if shape.type_name == "map":
        return {"k": sample_of_shape(shape.value, full=full, depth=depth - 1)}
    if shape.type_name == "string":
        return shape.enum[0] if shape.enum else "x"
    leaves = {"integer": 1, "long": 1, "float": 1.5, "double": 1.5, "boolean": True, "blob": b"x"}
    return leaves[shape.type_name]
