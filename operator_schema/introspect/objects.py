"""Classes with fields, and parameters of functions, as nodes of JSON objects."""

from __future__ import annotations

from dataclasses import MISSING
from functools import partial
from typing import TYPE_CHECKING, Any

from ..json_values import has_surrogate
from .classes import declared_fields, is_closed, with_computed_fields
from .constructors import report_class
from .descriptions import describe_fields
from .fields import make_field, report_collisions
from .hints import FieldPlace, Place
from .nodes import Field, ObjectNode, RefNode, UnionNode, new_object
from .reader import Defaulted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..complaints import ComplaintCode
    from .classes import Declared
    from .hints import Bindings
    from .nodes import ObjectForm
    from .reader import Reader

__all__ = ["make_object"]

_MAY_BE_NULL = frozenset({UnionNode, RefNode})


def make_object(
    reader: Reader, cls: type[Any], form: ObjectForm, bindings: Bindings, place: Place
) -> ObjectNode:
    """Return the node of a class with fields.

    Args:
        reader: reads the annotations of the fields.
        cls: a class of that form.
        form: as `form_of` says.
        bindings: of its type parameters.
        place: where it is used; the owner is what messages call the class itself.
    """
    report = partial(_report, reader, place)
    generic: Any = cls
    self_type = generic[tuple(bindings.values())] if bindings else cls
    declared = declared_fields(cls, form, bindings, self_type, reader.namespace, place.scope)
    report_class(cls, form, declared, report)
    if reader.of_results and form == "dataclass":
        declared = with_computed_fields(cls, declared, place.scope)
    given = None if place.path else reader.descriptions
    text, described, documented = describe_fields(cls, form, given, declared, report, reader.attribute_docs)
    fields: list[Field] = []
    for source in declared.values():
        fields.append(_field(reader, source, described, documented, place, report))  # noqa: PERF401  # a comprehension would make closure cells of five variables
    report_collisions(fields, report)
    if text and has_surrogate(text):
        report("__doc__", "bad_description", "it has a lone surrogate", "Take it out")
    closed = reader.closed or is_closed(cls, form)
    return new_object(ObjectNode, cls, place.owner, form, tuple(fields), closed, text, None)


def _field(
    reader: Reader,
    source: Declared,
    given: Mapping[str, str],
    documented: Mapping[str, str],
    place: Place,
    report: Any,
) -> Field:
    hint = source.hint
    node = reader.simple.get(hint) if type(hint) is type and reader.left > 0 else None
    if node is None:
        inner = FieldPlace((*place.path, source.name), place.owner, source.scope)
        node = reader.node(hint, inner)
        if inner.metadata:
            source = _with_metadata(reader, source, inner.metadata, inner)
    else:
        reader.left -= 1
    field = make_field(source, node, given, documented, report)
    if field.required and field.node.__class__ in _MAY_BE_NULL and source.required is None:
        reader.unsettled.append(field)
    if field.default is not MISSING or field.examples:
        is_absent = field.default is MISSING or (field.default is None and field.absent_is_none)
        if field.examples or not is_absent:
            reader.defaulted.append(Defaulted((*place.path, field.name), place.owner, field))
    return field


def _with_metadata(reader: Reader, source: Declared, metadata: dict[str, Any], place: Place) -> Declared:
    """Return a field with the metadata in its annotation; the metadata of the field itself wins."""
    default = metadata.pop("default", None)
    if default is not None and source.default is MISSING and not source.has_factory:
        reader.complain(place, "bad_default", default.message, default.remedy)
    return source.with_metadata(metadata)


def _report(
    reader: Reader,
    place: Place,
    step: str,
    code: ComplaintCode,
    message: str,
    remedy: str,
    near: str | None = None,
) -> None:
    """Complain about a field, or another attribute, of the class at a place."""
    reader.complain(Place((*place.path, step), place.owner, place.scope), code, message, remedy, near)
