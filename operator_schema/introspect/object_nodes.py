"""What does a class with fields mean as a JSON object? Parameters of functions are fields of such a class."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from dataclasses import MISSING
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from ..json_values import has_surrogate, is_array
from ..message_text import escape, exact_text, listed, quote, received
from .classes import (
    DESCRIPTIONS,
    annotations_of,
    dataclass_fields,
    docstring_parser,
    extra_items,
    is_closed,
    lineage,
    own_docstring,
    parameter_source,
)
from .hints import FieldPlace, Place, Scope
from .nodes import NULL, Defaulted, Field, ObjectNode, RefNode, UnionNode, field_draft, is_null, new_object

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from ..findings import TypeCode
    from .classes import Declared
    from .hints import Bindings
    from .nodes import Node, ObjectForm
    from .protocols import Reader

    Report = Callable[..., None]


_COMPUTING = frozenset({"dataclass", "attrs"})
"""Forms of classes with fields that their constructor may not take."""


def make_object(
    reader: Reader, cls: type[Any], form: ObjectForm, bindings: Bindings, place: Place
) -> ObjectNode:
    """Return the node of a class with fields.

    Args:
        reader: reads the annotations of the fields.
        cls: a class of that form.
        form: the form that `form_of` returns.
        bindings: the bindings of its type parameters.
        place: the place that uses it; its owner is the name of the class in messages.
    """
    report = partial(_report, reader, place)
    generic: Any = cls
    self_type = generic[tuple(bindings.values())] if bindings else cls
    declared = declared_fields(cls, form, bindings, self_type, reader.namespace, place.scope)
    if form != "function":
        _report_class(cls, form, declared, report)
    if reader.of_results and form in _COMPUTING:
        from .other_forms import with_computed_fields

        declared = with_computed_fields(cls, declared, place.scope)
    given = None if place.path else reader.descriptions
    text, described, documented = _describe_fields(cls, form, given, declared, report, reader.attribute_docs)
    simple = reader.simple
    fields: list[Field] = []
    has_metadata = False
    for source in declared.values():
        hint = source.hint
        node = simple.get(hint) if type(hint) is type and reader.left > 0 else None
        if node is None:
            inner = FieldPlace((*place.path, source.name), place.owner, source.scope)
            node = reader.node(hint, inner)
            if inner.metadata:
                source = _with_metadata(reader, source, inner.metadata, inner)  # noqa: PLW2901  # the same field
        else:
            reader.left -= 1
        if source.metadata:
            has_metadata = True
        fields.append(_make_field(reader, source, node, described, documented, place, report))
    if has_metadata:
        _report_collisions(fields, report)
    if text and has_surrogate(text):
        report("__doc__", "bad_description", "it has a lone surrogate", "Take it out")
    closed = reader.closed or is_closed(cls, form)
    return new_object(ObjectNode, cls, place.owner, form, tuple(fields), closed, text, None)


def declared_fields(
    cls: type,
    form: ObjectForm,
    bindings: Bindings,
    self_type: Any,
    namespace: Mapping[str, Any],
    outer: Scope,
) -> Mapping[str, Declared]:
    """Return the fields that a class declares by name, inherited ones included, in order.

    Args:
        cls: a class of that form.
        form: the form that `form_of` returns.
        bindings: the bindings of its own type parameters.
        self_type: the meaning of `Self` in it.
        namespace: names that the user adds.
        outer: the scope in which the types of the bindings are written.
    """
    source = parameter_source(cls) if form == "function" else None
    if source is not None:
        # Evaluated already, because the annotations decide which names are fields.
        return {declared.name: declared for declared in source.declared}
    scope = Scope(cls, namespace, bindings, self_type, outer)
    if form == "dataclass":
        return dataclass_fields(cls, scope)
    from .other_forms import READERS  # most classes are dataclasses

    return READERS[form](cls, scope)


def _with_metadata(reader: Reader, source: Declared, metadata: dict[str, Any], place: Place) -> Declared:
    """Return a field together with the metadata in its annotation; the field's own metadata wins."""
    default = metadata.pop("default", None)
    if default is not None and source.default is MISSING and not source.has_factory:
        reader.complain(place, "bad_default", default.message, default.remedy)
    return source.with_metadata(metadata)


def _report(
    reader: Reader,
    place: Place,
    step: str,
    code: TypeCode,
    message: str,
    remedy: str,
    near: str | None = None,
) -> None:
    """Complain about a field or another attribute of a class."""
    reader.complain(Place((*place.path, step), place.owner, place.scope), code, message, remedy, near)


# --- fields --------------------------------------------------------------------------------------


def _make_field(
    reader: Reader,
    source: Declared,
    node: Node,
    given: Mapping[str, str],
    documented: Mapping[str, str],
    place: Place,
    report: Report,
) -> Field:
    """Make a field from its declaration, and note defaults and examples, which are checked later.

    Args:
        reader: takes the notes.
        source: the declaration.
        node: the node of its annotation.
        given: field name to description; it wins over every other.
        documented: field name to text in a docstring; it only wins over a leaf's own description.
        place: the place of the class.
        report: called with step, code, message, remedy and suggestion of each complaint.
    """
    name, default = source.name, source.default
    absent_is_none = False
    if default is None or node.__class__ is UnionNode:
        node, absent_is_none = _without_null(source, node)
    alias, description, examples = _alias_and_texts(source, node, given, documented, report)
    # What `Field.__new__` does. Calling that with nine arguments takes 3 % of registering a dataclass.
    field = field_draft()
    field.name = name
    field.key = name if alias is None else alias
    field.node = node
    field.default = default
    field.absent_is_none = absent_is_none
    field.init_only = source.init_only
    field.description = description
    field.examples = examples
    field.required = source.required
    if source.required is None:
        field.required = default is MISSING and not (source.has_factory or absent_is_none)
        if field.required and type(node) in _OF_OTHERS and _hides_null(node):
            reader.unsettled.append(field)
    field.__class__ = Field
    if examples or not (default is MISSING or (default is None and absent_is_none)):
        reader.defaulted.append(Defaulted((*place.path, name), place.owner, field))
    made: Field = field
    return made


_OF_OTHERS: Final[frozenset[type]] = frozenset({UnionNode, RefNode})
"""The nodes whose values are those of other nodes."""


def _hides_null(node: Node) -> bool:
    """Return whether a node may still have null: behind a reference, in an inner union, or described."""
    members = node.members if isinstance(node, UnionNode) else (node,)
    return any(type(member) in _OF_OTHERS or is_null(member) for member in members)


_NO_METADATA: tuple[None, None, tuple[Any, ...]] = (None, None, ())


def _alias_and_texts(
    source: Declared,
    node: Node,
    given: Mapping[str, str],
    documented: Mapping[str, str],
    report: Report,
) -> tuple[str | None, str | None, tuple[Any, ...]]:
    """Return the alias, the description and the examples of a field."""
    name, metadata = source.name, source.metadata
    alias, in_metadata, examples = _read_metadata(metadata, name, report) if metadata else _NO_METADATA
    description = given.get(name)
    if description is None:
        description = node.description
        if description is None:
            description = documented.get(name) if in_metadata is None else in_metadata
    if not (name.isascii() and (description is None or description.isascii())) or alias is not None:
        _report_surrogates(name, alias, description, report)
    return alias, description, examples


def _read_metadata(
    metadata: Mapping[Any, Any], name: str, report: Report
) -> tuple[str | None, str | None, tuple[Any, ...]]:
    """Return the alias, the description and the examples in the metadata of a field."""
    description = _text_or_report(metadata, "description", name, report)
    if description is None and "description" not in metadata:
        _report_misspelt_key(metadata, name, report)
    alias = _text_or_report(metadata, "alias", name, report)
    alias = None if alias is None else exact_text(alias)
    return alias, description, _examples(metadata, name, report)


def _text_or_report(metadata: Mapping[Any, Any], key: str, name: str, report: Report) -> str | None:
    """Return the text under a key of a field's metadata, or None; complain about anything else there."""
    text = metadata.get(key)
    if text is None or isinstance(text, str):
        return text
    message = f"metadata[{quote(key)}] is {received(text)}, not a string"
    report(name, "bad_metadata", message, f"Write the {key} as text")
    return None


def _report_misspelt_key(metadata: Mapping[Any, Any], name: str, report: Report) -> None:
    """Complain about a metadata key that is surely a misspelt `description`; others may be foreign."""
    from ..similar_names import nearest  # few fields have other metadata

    for key in metadata:
        if isinstance(key, str) and nearest(key, ("description",), _SURELY_MEANT) is not None:
            message = f"metadata[{quote(key)}] has no effect"
            report(name, "bad_metadata", message, 'Write metadata={"description": …}', quote("description"))
            return


_SURELY_MEANT: Final = 0.9
"""How similar a key must be to count as misspelt: "descripton" is, "descriptor" isn't."""


def _report_surrogates(name: str, alias: str | None, description: str | None, report: Report) -> None:
    texts = ((description, "bad_description"), (alias, "bad_metadata"), (name, "bad_metadata"))
    for text, code in texts:
        if text and has_surrogate(text):
            message = f"{quote(text)} has a lone surrogate, which JSON can't hold"
            report(escape(name), code, message, "Take it out")


def _without_null(source: Declared, node: Node) -> tuple[Node, bool]:
    """Take null out of a node, and return whether the field is None when its key is absent.

    If a field is None when its key is absent, its schema needs no null, because leaving the key out means the
    same. A TypedDict has no such fields: there, an absent key is absent.
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
            if member is not NULL and not (is_null(member) and member == NULL):
                rest.append(member)  # noqa: PERF401  # a comprehension costs more here
        if len(rest) < len(node.members):
            bare: Node = rest[0] if len(rest) == 1 else node.replace(members=tuple(rest))
            return (bare if node.description is None else bare.replace(description=node.description)), True
    if not none_by_default:
        return node, False
    from .node_kinds import takes_null

    # `x: int = None` is read as `int | None = None`; where the type takes null by itself, nothing
    # needs to be added.
    return node, not takes_null(node)


def _examples(metadata: Mapping[Any, Any], name: str, report: Report) -> tuple[Any, ...]:
    examples: Any = metadata.get("examples", ())
    if is_array(examples) or isinstance(examples, tuple):
        return (*cast("Iterable[Any]", examples),)  # no other field has the same object
    message = f'metadata["examples"] is {received(examples)}, not a list'
    report(name, "bad_metadata", message, "Give a list of values of the field")
    return ()


def _report_collisions(fields: Sequence[Field], report: Report) -> None:
    """Complain about each field that has the same JSON key as an earlier one."""
    first: dict[str, str] = {}
    for field in fields:
        other = first.setdefault(field.key, field.name)
        if other != field.name:
            message = f"its JSON key {quote(field.key)} is that of field {quote(other)} too"
            report(field.name, "alias_collision", message, "Give one of them another alias")


# --- descriptions --------------------------------------------------------------------------------


def _describe_fields(
    cls: type,
    form: ObjectForm,
    given: Mapping[str, str] | None,
    names: Mapping[str, Declared],
    report: Report,
    attribute_docs: bool,
) -> tuple[str | None, Mapping[str, str], Mapping[str, str]]:
    """Collect the descriptions of a class and its fields along its MRO, the nearest class first.

    Args:
        cls: a class of that form.
        form: the form that `form_of` returns.
        given: descriptions from elsewhere, which win over the class's own; or None.
        names: its fields by name.
        report: called with step, code, message, remedy and suggestion of each complaint.
        attribute_docs: whether to read the docstrings below attributes, which needs the source.

    Returns:
        The text of the class itself, or None; field name to text in `param_descriptions`, which wins over
        every other; field name to text in a docstring, which only wins over a leaf's own description.
    """
    docstrings = _docstrings(cls, form)
    text: str | None = None
    documented: Mapping[str, str] = {}
    if docstrings:
        text, documented = _from_docstrings(cls, docstrings, names, report)
    if attribute_docs:
        from .source_code import attribute_docstrings

        documented = {**attribute_docstrings(cls, names), **documented}
    return text, _param_descriptions(cls, given, names, report), documented


def _param_descriptions(
    cls: type, given: Mapping[str, str] | None, names: Mapping[str, Declared], report: Report
) -> Mapping[str, str]:
    sources: list[object] = [] if given is None else [given]
    for base in cls.__mro__[:-1]:
        members = base.__dict__
        if DESCRIPTIONS in members:
            sources.append(members[DESCRIPTIONS])
            continue
        for name in sorted(set(members).difference(_OF_EVERY_CLASS, names)):
            if not name.startswith("__") and _is_mapping(members[name]):
                from .description_checks import report_misspelt  # few classes have one that isn't a field

                report_misspelt(name, members[name], names, report)
    if not sources or DESCRIPTIONS in names:
        return {}
    if len(sources) == 1:
        return _checked_descriptions(cls, sources[0], names, report)
    merged: dict[str, str] = {}
    for source in reversed(sources):
        merged.update(_checked_descriptions(cls, source, names, report))
    return merged


def _is_mapping(value: object) -> bool:
    kind = type(value)  # asking the value for its `__class__` may run any code
    return hasattr(kind, "items") and issubclass(kind, Mapping)


_OF_EVERY_CLASS: Final = frozenset(
    {
        "__dict__",
        "__weakref__",
        "__module__",
        "__annotations__",
        "__dataclass_fields__",
        "__dataclass_params__",
    }
    | {"__match_args__", "__firstlineno__", "__static_attributes__", "__annotate_func__", *dir(object)}
)
"""Names to skip at once: nearly everything that a class has besides its fields."""


def _checked_descriptions(
    cls: type, source: Any, names: Mapping[str, Declared], report: Report
) -> Mapping[str, str]:
    """Return the valid descriptions in a source; complain about the others."""
    given: dict[str, str] = source
    if (
        type(source) is dict
        and _TEXT.issuperset(map(type, given))
        and _TEXT.issuperset(map(type, given.values()))
        and given.keys() <= names.keys()
    ):
        return given  # usually everything is valid, so no copy is needed
    from .description_checks import valid_descriptions

    return valid_descriptions(cls, given, names, report)


_TEXT: Final = frozenset({str})


def _from_docstrings(
    cls: type, docstrings: Sequence[tuple[type, str]], names: Collection[str], report: Report
) -> tuple[str | None, Mapping[str, str]]:
    parse = docstring_parser()
    text: str | None = None
    documented: dict[str, str] = {}
    for base, doc in docstrings:
        parsed = parse(doc)
        unknown: list[str] = []
        if base is cls:
            text = parsed.text or None
        for name, description in parsed.parameters.items():
            if name in names:
                if description:
                    documented.setdefault(name, description)
            elif not _may_be_described(base, name):
                unknown.append(name)
        if unknown:
            from .description_checks import report_unknown

            report_unknown(cls, "__doc__", unknown, names, report)
    return text, documented


def _docstrings(cls: type, form: ObjectForm) -> list[tuple[type, str]]:
    source = parameter_source(cls) if form == "function" else None
    if source is not None:
        return [(cls, source.doc)] if source.doc else []
    found: list[tuple[type, str]] = []
    for base in lineage(cls) if form == "typed_dict" else cls.__mro__[:-1]:
        if form == "struct" and base.__module__.partition(".")[0] == "msgspec":
            continue  # it describes how to write a Struct
        doc = own_docstring(base)
        if doc:
            found.append((base, doc))
    return found


def _may_be_described(cls: type, name: str) -> bool:
    source = parameter_source(cls)
    if source is not None:
        return name in source.others
    # Docstrings also describe properties, class variables and what __post_init__ sets.
    if hasattr(cls, name):
        return True
    return any(name in vars(base).get("__annotations__", ()) for base in cls.__mro__)


# --- classes that can't be built from their fields ------------------------------------------------


def _report_class(cls: Any, form: ObjectForm, names: Mapping[str, object], report: Report) -> None:
    """Complain if a class as a whole can't be built from its fields.

    Args:
        cls: a class of that form.
        form: the form that `form_of` returns.
        names: the names of its fields, in order.
        report: called with step, code, message, remedy and suggestion of each complaint.
    """
    if "pydantic" in sys.modules:
        from .pydantic_settings import report_unfollowed

        report_unfollowed(cls, report)
    if form in _DECORATED:
        _report_decorated(cls, form, names, report)
    elif form == "named_tuple":
        for name in names:
            _report_normalized(name, report)
    elif form == "typed_dict" and extra_items(cls) is not None:
        message = "its extra_items (PEP 728) can't be described in the schema"
        report("__extra_items__", "unsupported", message, "Leave them out, or use a dict")
    elif form == "struct" and cls.__struct_config__.array_like:
        message = "it is array_like, so its JSON has no keys"
        report("__struct_config__", "unsupported", message, "Take array_like=True out")


_DECORATED: dict[ObjectForm, tuple[str, str, str]] = {
    "dataclass": ("__dataclass_fields__", "a dataclass", "dataclass"),
    "attrs": ("__attrs_attrs__", "an attrs class", "attrs.define"),
}
"""The forms of classes that a decorator makes: attribute that marks such a class, noun, decorator."""


def _report_decorated(cls: Any, form: ObjectForm, names: Mapping[str, object], report: Report) -> None:
    members = cls.__dict__
    if form == "dataclass":
        _report_dataclass(cls, members, report)
    attribute, noun, decorator = _DECORATED[form]
    if attribute not in members and annotations_of(cls):
        message = f"it has annotations of its own, but it isn't {noun} itself"
        report("__annotations__", "unsupported", message, f"Decorate it with @{decorator}")
    if cls.__flags__ & inspect.TPFLAGS_IS_ABSTRACT:
        message = "it is abstract and can't be built"
        report("__init__", "unsupported", message, "Register a class that implements all its methods")
    if form == "attrs":
        from .foreign_classes import keywords_of

        names = dict.fromkeys(keywords_of(cls).values())
    missing, wanted = _compare_with_init(cls, names)
    if missing:
        message = f"its own __init__ doesn't take {listed([quote(name) for name in missing])}"
        report("__init__", "unsupported", message, "Let it take every field by name")
    elif wanted:
        message = f"its own __init__ requires {listed([quote(name) for name in wanted])}, which isn't a field"
        report("__init__", "unsupported", message, "Let it take every field by name, and nothing else")


def _report_dataclass(cls: Any, members: Mapping[str, object], report: Report) -> None:
    fields = cls.__dataclass_fields__
    if "__init__" not in members and cls.__init__ is object.__init__ and fields:
        message = "it has fields, but no __init__ that takes them"
        report("__init__", "unsupported", message, "Leave out init=False or write an __init__")
    if DESCRIPTIONS in fields and fields[DESCRIPTIONS]._field_type.name == "_FIELD":  # noqa: SLF001  # dataclasses has no public way to ask
        message = f"{DESCRIPTIONS} is declared as a field"
        remedy = f"Assign it without annotation ({DESCRIPTIONS} = {{…}}) or annotate it as ClassVar"
        report(DESCRIPTIONS, "bad_description", message, remedy)


def _report_normalized(name: str, report: Callable[..., None]) -> None:
    """Complain about a field whose name no call can give: Python normalizes identifiers (PEP 3131)."""
    if name.isascii():
        return
    from unicodedata import normalize

    read = normalize("NFKC", name)
    if read != name:
        message = f"Python reads the field name {quote(name)} as {quote(read)}"
        report(name, "bad_metadata", message, f"Name the field {quote(read)}")


def _compare_with_init(cls: Any, names: Mapping[str, object]) -> tuple[list[str], list[str]]:
    """Compare fields with `__init__`, which may be written by hand here or in a base.

    Returns:
        The fields that `__init__` doesn't take by name, and its parameters that have no field.
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
    takes_any = code.co_flags & inspect.CO_VARKEYWORDS
    missing = [] if takes_any else [name for name in names if name not in taken]
    positional = code.co_argcount - len(init.__defaults__ or ())
    needed = [*code.co_varnames[1:positional], *code.co_varnames[code.co_argcount : last]]
    optional: Mapping[str, Any] = init.__kwdefaults__ or {}
    return missing, [name for name in needed if name not in names and name not in optional]
