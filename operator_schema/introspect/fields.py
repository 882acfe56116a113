"""Fields of an object: what they are called, whether they must be there, what stands for None."""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, cast

from ..immutable import set_once
from ..json_values import has_surrogate, is_array
from ..wording import escape, listed, quote, received
from .classes import annotations_of as own_annotations
from .classes import extra_items
from .descriptions import ATTRIBUTE, text_or_report
from .graph import takes_null
from .nodes import NULL, Field, Node, ScalarNode, UnionNode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from .classes import Declared
    from .nodes import ObjectForm

__all__ = ["make_field", "report_class", "report_collisions", "settle_null"]


def make_field(
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
        documented: field name to text in a docstring, which only a leaf's own stands behind.
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
    return Field(name, key, node, required, default, absent_is_none, source.init_only, description, examples)


_NO_METADATA: tuple[None, None, tuple[Any, ...]] = (None, None, ())


def _is_null(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.type == "null" and node == NULL


def _read_metadata(
    metadata: Mapping[Any, Any], name: str, report: Callable[..., None]
) -> tuple[str | None, str | None, tuple[Any, ...]]:
    """Return the alias, the description and the examples in the metadata of a field."""
    description = text_or_report(metadata, "description", name, report)
    alias = text_or_report(metadata, "alias", name, report)
    return alias, description, _examples(metadata, name, report)


def _report_surrogates(
    name: str, alias: str | None, description: str | None, report: Callable[..., None]
) -> None:
    texts = ((description, "bad_description"), (alias, "bad_metadata"), (name, "bad_metadata"))
    for text, code in texts:
        if text and has_surrogate(text):
            message = f"{quote(text)} has half of a surrogate pair, which JSON can't hold"
            report(escape(name), code, message, "Take it out", None)


def settle_null(field: Field, members: Iterable[Node]) -> None:
    """Make a field of the walk that is about to end say what `X | None` says.

    Here null stays in the schema: other places share the node.

    Args:
        field: of a class with no default for it.
        members: of its node, references followed and unions spread out.
    """
    if any(isinstance(member, ScalarNode) and member.type == "null" for member in members):
        set_once(field, "required", False)  # noqa: FBT003  # an attribute's value
        set_once(field, "absent_is_none", True)  # noqa: FBT003  # likewise


def _without_null(source: Declared, node: Node) -> tuple[Node, bool]:
    """Take null out of a node, and say whether None is what the field has when its key is absent.

    Null need not stand in the schema of a field that is None without its key: leaving the key out
    says the same. A TypedDict has no such fields: an absent key is absent.
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
    report(name, "bad_metadata", message, "Give a list of values of the field", None)
    return ()


def report_class(
    cls: Any, form: ObjectForm, names: Mapping[str, object], report: Callable[..., None]
) -> None:
    """Complain about what keeps a class as a whole from being built from its fields.

    Args:
        cls: a class of that form.
        form: as `form_of` says.
        names: of its fields, in order.
        report: takes step, code, message, remedy and suggestion of each complaint.
    """
    if form == "typed_dict" and extra_items(cls) is not None:
        message = "its extra_items (PEP 728) have no place in the schema"
        report("__extra_items__", "unsupported", message, "Leave them out, or use a dict", None)
    if form != "dataclass":
        return
    fields: Mapping[str, Any] = cls.__dataclass_fields__
    if cls.__init__ is object.__init__ and fields:
        message = "it has fields, but no __init__ that takes them"
        report("__init__", "unsupported", message, "Leave out init=False or write an __init__", None)
    if "__dataclass_fields__" not in cls.__dict__ and own_annotations(cls):
        message = "it has annotations of its own, but is no dataclass itself"
        report("__annotations__", "unsupported", message, "Decorate it with @dataclass", None)
    if cls.__flags__ & _IS_ABSTRACT:
        message = "it is abstract and can't be built"
        report("__init__", "unsupported", message, "Register a class that implements all its methods", None)
    if "__pydantic_fields__" in cls.__dict__:
        from .foreign_classes import aliased_fields  # noqa: PLC0415  # few dataclasses are pydantic's

        for name in aliased_fields(cls):
            message = "pydantic takes it by its alias alone, but it is decoded by name"
            report(name, "unsupported", message, "Add config=ConfigDict(validate_by_name=True)", None)
    missing, wanted = _misfits(cls, names)
    if missing:
        message = f"its own __init__ does not take {listed([quote(name) for name in missing])}"
        report("__init__", "unsupported", message, "Let it take every field by name", None)
    elif wanted:
        message = f"its own __init__ wants {listed([quote(name) for name in wanted])}, which is no field"
        report("__init__", "unsupported", message, "Let it take every field by name, and nothing else", None)
    described = fields.get(ATTRIBUTE)
    # dataclasses has no public name for what kind of field this is.
    if described is not None and described._field_type.name == "_FIELD":  # noqa: SLF001
        message = f"{ATTRIBUTE} is declared as a field"
        remedy = f"Assign it without annotation ({ATTRIBUTE} = {{…}}) or annotate it as ClassVar"
        report(ATTRIBUTE, "bad_description", message, remedy, None)


def _misfits(cls: Any, names: Mapping[str, object]) -> tuple[list[str], list[str]]:
    """Compare fields with `__init__`, which may be written by hand here or in a base.

    Returns:
        The fields that it does not take by name, and the parameters that no field is for.
    """
    init = cls.__init__
    code = getattr(init, "__code__", None)
    if code is None:
        return [], []
    last = code.co_argcount + code.co_kwonlyargcount
    # What `dataclass` writes takes them in this order, but for those that are keyword-only.
    if code.co_posonlyargcount <= 1 and tuple(names) == code.co_varnames[1:last]:
        return [], []
    taken = code.co_varnames[code.co_posonlyargcount : last]
    takes_any = code.co_flags & _TAKES_ANY_NAME
    missing = [] if takes_any else [name for name in names if name not in taken]
    positional = code.co_argcount - len(init.__defaults__ or ())
    needed = [*code.co_varnames[1:positional], *code.co_varnames[code.co_argcount : last]]
    optional: Mapping[str, Any] = init.__kwdefaults__ or {}
    return missing, [name for name in needed if name not in names and name not in optional]


_IS_ABSTRACT = 1 << 20  # inspect.TPFLAGS_IS_ABSTRACT
_TAKES_ANY_NAME = 0x08  # inspect.CO_VARKEYWORDS


def report_collisions(fields: Sequence[Field], report: Callable[..., None]) -> None:
    """Complain about each field whose JSON key an earlier one has already."""
    first: dict[str, str] = {}
    for field in fields:
        other = first.setdefault(field.key, field.name)
        if other != field.name:
            message = f"its JSON key {quote(field.key)} is that of field {quote(other)} too"
            report(field.name, "alias_collision", message, "Give one of them another alias", None)
