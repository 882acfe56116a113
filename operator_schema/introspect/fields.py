"""Fields of a dataclass: what they are called, whether they must be there, what stands for None."""

from __future__ import annotations

import dataclasses
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, cast

from ..json_values import is_array
from ..wording import quote, received
from .descriptions import ATTRIBUTE, text_or_report
from .nodes import NULL, Field, Node, UnionNode, takes_null

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = ["make_field", "report_class", "report_collisions"]


def make_field(
    source: dataclasses.Field[Any],
    node: Node,
    described: str | None,
    report: Callable[..., None],
) -> Field:
    """Make a field of what its class says.

    Args:
        source: the dataclass's own field.
        node: of its annotation.
        described: its text in `param_descriptions`, which wins over every other, or None.
        report: takes step, code, message, remedy and suggestion of each complaint.
    """
    has_factory = source.default_factory is not MISSING
    may_be_absent = has_factory or source.default is not MISSING
    absent_is_none = False
    if not has_factory and (source.default is None or source.default is MISSING):
        node, absent_is_none = _without_null(node, none_by_default=source.default is None)
    metadata = source.metadata
    description, key, examples = node.description, source.name, ()
    if metadata:
        in_metadata = text_or_report(metadata, "description", source.name, report)
        description = description if description is not None else in_metadata
        alias = text_or_report(metadata, "alias", source.name, report)
        key = source.name if alias is None else alias
        examples = _examples(metadata, source.name, report)
    return Field(
        source.name,
        key,
        node,
        not (may_be_absent or absent_is_none),
        source.default,
        absent_is_none,
        description if described is None else described,
        examples,
    )


def _without_null(node: Node, *, none_by_default: bool) -> tuple[Node, bool]:
    """Take null out of a node, and say whether None is what the field has when its key is absent.

    Null need not stand in the schema of a field that is None without its key: leaving the key out
    says the same.
    """
    if isinstance(node, UnionNode) and NULL in node.members:
        rest = tuple([member for member in node.members if member != NULL])
        bare = rest[0] if len(rest) == 1 else UnionNode(rest)
        described = bare if node.description is None else bare.replace(description=node.description)
        return described, True
    # `x: int = None` is read as `int | None = None`; where the type takes null by itself, nothing
    # needs to be added.
    return node, none_by_default and not takes_null(node)


def _examples(metadata: Mapping[Any, Any], name: str, report: Callable[..., None]) -> tuple[Any, ...]:
    examples: Any = metadata.get("examples", ())
    if is_array(examples) or isinstance(examples, tuple):
        return tuple(cast("Iterable[Any]", examples))
    message = f'metadata["examples"] is {received(examples)}, not a list'
    report(name, "bad_metadata", message, "Give a list of values of the field", None)
    return ()


def report_class(cls: Any, report: Callable[..., None]) -> None:
    """Complain about what keeps a dataclass as a whole from being built from its fields."""
    if getattr(cls, "__init__", None) is object.__init__ and dataclasses.fields(cls):
        message = "it has fields, but no __init__ that takes them"
        report("__init__", "unsupported", message, "Leave out init=False or write an __init__", None)
    declared: dict[str, Any] = cls.__dataclass_fields__
    for name, field in declared.items():
        kind_of_field: str = field._field_type.name  # noqa: SLF001  # dataclasses has no public name for it
        if kind_of_field == "_FIELD_INITVAR":
            message = "InitVar is not supported"
            report(name, "unsupported", message, "Make it a field, or compute it in __post_init__", None)
        if name == ATTRIBUTE and kind_of_field == "_FIELD":
            message = f"{ATTRIBUTE} is declared as a field"
            remedy = f"Assign it without annotation ({ATTRIBUTE} = {{…}}) or annotate it as ClassVar"
            report(name, "bad_description", message, remedy, None)


def report_collisions(fields: Sequence[Field], report: Callable[..., None]) -> None:
    """Complain about each field whose JSON key an earlier one has already."""
    first: dict[str, str] = {}
    for field in fields:
        other = first.setdefault(field.key, field.name)
        if other != field.name:
            message = f"its JSON key {quote(field.key)} is that of field {quote(other)} too"
            report(field.name, "alias_collision", message, "Give one of them another alias", None)
