"""Classes with fields, and parameters of functions, as nodes of JSON objects."""

from __future__ import annotations

from dataclasses import MISSING
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from ..json_values import has_surrogate, is_array
from ..wording import escape, quote, received
from .classes import declared_fields, is_closed, with_computed_fields
from .constructors import report_class
from .descriptions import describe_fields, text_or_report
from .hints import FieldPlace, Place
from .names import exact_text
from .nodes import NULL, Field, ObjectNode, RefNode, ScalarNode, UnionNode, new_field, new_object
from .reader import Defaulted
from .traits import takes_null

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ..complaints import ComplaintCode
    from .classes import Declared
    from .hints import Bindings
    from .nodes import Node, ObjectForm
    from .reader import Reader

__all__ = ["make_object"]

_COMPUTING = frozenset({"dataclass", "attrs"})
"""Classes with fields that their constructor may not take."""

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
    if reader.of_results and form in _COMPUTING:
        declared = with_computed_fields(cls, declared, place.scope)
    given = None if place.path else reader.descriptions
    text, described, documented = describe_fields(cls, form, given, declared, report, reader.attribute_docs)
    fields: list[Field] = []
    for source in declared.values():
        fields.append(_field(reader, source, described, documented, place, report))  # noqa: PERF401  # a comprehension would make closure cells of five variables
    _report_collisions(fields, report)
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
    field = _make_field(source, node, given, documented, report)
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


# --- fields --------------------------------------------------------------------------------------


def _make_field(
    source: Declared,
    node: Node,
    given: Mapping[str, str],
    documented: Mapping[str, str],
    report: Callable[..., None],
) -> Field:
    """Make a field of what its class declares.

    Args:
        source: as declared.
        node: of its annotation.
        given: field name to description, which wins over every other.
        documented: field name to text in a docstring, which wins over a leaf's own alone.
        report: takes step, code, message, remedy and suggestion of each complaint.
    """
    name, default, metadata = source.name, source.default, source.metadata
    required = source.required
    absent_is_none = False
    if default is None or node.__class__ is UnionNode:
        node, absent_is_none = _without_null(source, node)
    alias, in_metadata, examples = _read_metadata(metadata, name, report) if metadata else _NO_METADATA
    description = given.get(name)
    if description is None:
        description = node.description
        if description is None:
            description = documented.get(name) if in_metadata is None else in_metadata
    if not (name.isascii() and (description is None or description.isascii())) or alias is not None:
        _report_surrogates(name, alias, description, report)
    if required is None:
        required = default is MISSING and not (source.has_factory or absent_is_none)
    key = name if alias is None else alias
    init_only = source.init_only
    return new_field(
        Field, name, key, node, required, default, absent_is_none, init_only, description, examples
    )


_NO_METADATA: tuple[None, None, tuple[Any, ...]] = (None, None, ())


def _is_null(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.type == "null" and node == NULL


def _read_metadata(
    metadata: Mapping[Any, Any], name: str, report: Callable[..., None]
) -> tuple[str | None, str | None, tuple[Any, ...]]:
    """Return the alias, the description and the examples in the metadata of a field."""
    description = text_or_report(metadata, "description", name, report)
    alias = text_or_report(metadata, "alias", name, report)
    alias = None if alias is None else exact_text(alias)
    return alias, description, _examples(metadata, name, report)


def _report_surrogates(
    name: str, alias: str | None, description: str | None, report: Callable[..., None]
) -> None:
    texts = ((description, "bad_description"), (alias, "bad_metadata"), (name, "bad_metadata"))
    for text, code in texts:
        if text and has_surrogate(text):
            message = f"{quote(text)} has a lone surrogate, which JSON can't hold"
            report(escape(name), code, message, "Take it out")


def _without_null(source: Declared, node: Node) -> tuple[Node, bool]:
    """Take null out of a node; return also whether the field is None when its key is absent.

    The schema of a field that is None without its key needs no null: leaving the key out means the
    same. A TypedDict has no such fields: an absent key is absent.
    """
    none_by_default = source.default is None
    if (
        source.required is not None
        or source.has_factory
        or not (none_by_default or source.default is MISSING)
    ):
        return node, False
    if isinstance(node, UnionNode):
        rest: list[Node] = []
        for member in node.members:
            if member is not NULL and not _is_null(member):
                rest.append(member)  # noqa: PERF401  # a comprehension costs more here
        if len(rest) < len(node.members):
            bare: Node = rest[0] if len(rest) == 1 else UnionNode(tuple(rest))
            return (bare if node.description is None else bare.replace(description=node.description)), True
    # `x: int = None` is read as `int | None = None`; where the type takes null by itself, nothing
    # needs to be added.
    return node, none_by_default and not takes_null(node)


def _examples(metadata: Mapping[Any, Any], name: str, report: Callable[..., None]) -> tuple[Any, ...]:
    examples: Any = metadata.get("examples", ())
    if is_array(examples) or isinstance(examples, tuple):
        return tuple(cast("Iterable[Any]", examples))
    message = f'metadata["examples"] is {received(examples)}, not a list'
    report(name, "bad_metadata", message, "Give a list of values of the field")
    return ()


def _report_collisions(fields: Sequence[Field], report: Callable[..., None]) -> None:
    """Complain about each field whose JSON key an earlier one has already."""
    first: dict[str, str] = {}
    for field in fields:
        other = first.setdefault(field.key, field.name)
        if other != field.name:
            message = f"its JSON key {quote(field.key)} is that of field {quote(other)} too"
            report(field.name, "alias_collision", message, "Give one of them another alias")
