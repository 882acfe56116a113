"""Typed columns of Arrow for the values of a type, and the conversion of values.

The columns are made from the graph, like the schema and the decoder. Values have the form of the encoder, so
defaults are filled in, and keys are those of JSON. A null stands for null and for an absent key.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...engine import (
    LOCAL_DATETIME,
    LOCAL_TIME,
    AnyNode,
    ArrayNode,
    Codec,
    EnumNode,
    LeafNode,
    LiteralNode,
    MapNode,
    ObjectNode,
    RefNode,
    ScalarNode,
    TupleNode,
    UnionNode,
    choices_of,
    codec_of,
    flat_members,
    is_decimal,
    is_null,
    limits_of,
    shipped_leaf,
    tag_of,
)
from ...findings import Finding
from ...json_values import choice_key, to_json_text, type_of
from ...tools import Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa

    from ...engine import Graph, Node, SchemaLeaf, Tag, Target

    Convert = Callable[[Any], Any]
    Path = tuple[str | int, ...]

VALUE: Final = "value"
"""The name of the only column if a type isn't an object."""

_MOST_DIGITS: Final = 76
_MOST_DIGITS_128: Final = 38
_LARGEST_INT: Final = 2**63 - 1
_LARGEST_UINT: Final = 2**64 - 1


class ColumnError(TypeError):
    """Some parts of a type can't have a column in Arrow.

    Attributes:
        name: the name of the type.
        findings: a finding for each part, with its path and a remedy.
    """

    def __init__(self, name: str, findings: Sequence[Finding]) -> None:
        super().__init__(name, tuple(findings))
        self.name = name
        self.findings = tuple(findings)

    def __str__(self) -> str:
        lines = [f"- {finding}" for finding in self.findings]
        return "\n".join([f"{self.name} has parts that Arrow has no columns for", *lines])


def arrow_schema(
    subject: Any, /, *, json_text: bool = False, decimals: tuple[int, int] | None = None
) -> pa.Schema:
    """Return the columns for the values of a type, or for the arguments of a tool.

    Args:
        subject: a dataclass, any other supported annotation, a `Codec` or a tool. A type that isn't an object
            gets one column named `value`.
        json_text: whether a part without a type in Arrow becomes text: any JSON, unions, recursive types.
        decimals: the number of all digits, and of digits after the point, for each `Decimal` whose limits
            don't set them.

    Returns:
        A pyarrow schema.

    Raises:
        ColumnError: parts of the type have no type in Arrow; the error lists all of them.
        ImportError: pyarrow isn't installed.
        SchemaError: the type has complaints; the error lists all of them.
    """
    return columns_of(subject, json_text=json_text, decimals=decimals).schema


def import_arrow() -> Any:
    """Return the module pyarrow."""
    try:
        import pyarrow as pa
    except ImportError as error:
        message = "for columns, install the extra: pip install 'operator-schema[arrow]'"
        raise ImportError(message) from error
    return pa


def columns_of(subject: Any, *, json_text: bool, decimals: tuple[int, int] | None) -> Columns:
    """Return the columns of a type or a tool; see `arrow_schema`."""
    codec = codec_for(subject)
    pa = import_arrow()
    if decimals is not None and not 0 < decimals[0] <= _MOST_DIGITS:
        message = f"decimals must have 1 to {_MOST_DIGITS} digits, not {decimals[0]}"
        raise ValueError(message)
    walk = _ColumnWalk(pa, codec.graph, decimals, json_text=json_text)
    root = walk.column(codec.graph.root, ())
    if walk.findings:
        raise ColumnError(codec.name, walk.findings)
    return Columns(root)


def codec_for(subject: Any) -> Codec[Any]:
    """Return the codec of a type or of the arguments of a tool; a codec unchanged."""
    if isinstance(subject, Tool):
        return subject.codec  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType]  # of any tool
    return subject if isinstance(subject, Codec) else codec_of(subject)  # pyright: ignore[reportUnknownVariableType]  # of any type


class _Column(NamedTuple):
    """The column of one value.

    Attributes:
        type: the pyarrow type.
        convert: a function that converts a JSON value that isn't null for pyarrow; None if no conversion is
            needed.
        nullable: whether the value may be null.
        is_json: whether the column contains JSON text.
    """

    type: Any
    convert: Convert | None = None
    nullable: bool = False
    is_json: bool = False

    def value(self, value: Any) -> Any:
        """Return a JSON value in the form for pyarrow."""
        return value if value is None or self.convert is None else self.convert(value)


class Columns:
    """The columns of a type.

    Args:
        root: the column of a whole value.

    Attributes:
        schema: the pyarrow schema.
        row: returns a value of the encoder in the form for pyarrow.
    """

    def __init__(self, root: _Column) -> None:
        pa = import_arrow()
        self._is_object = pa.types.is_struct(root.type) and not root.nullable
        self._root = root
        fields = list(root.type) if self._is_object else [pa.field(VALUE, root.type, root.nullable)]
        self.schema: Any = pa.schema(fields)
        self._type = pa.struct(fields)
        self._stored = _storage_of(self._type, pa)
        has_its_form = self._is_object and root.convert is None
        self.row: Callable[[Any], dict[str, Any]] = _same_row if has_its_form else self._converted

    def _converted(self, value: Any) -> dict[str, Any]:
        found = self._root.value(value)
        row: dict[str, Any] = found if self._is_object else {VALUE: found}
        return row

    def stored(self, rows: Sequence[dict[str, Any]]) -> Any:
        """Return rows as an array of structs, of which `batch` makes columns.

        Raises:
            ValueError: a value is out of the range of its column.
            OverflowError: a value is out of the range of its column.
            TypeError: a value doesn't fit its column.
        """
        return import_arrow().array(rows, type=self._stored)

    def batch(self, stored: Sequence[Any]) -> pa.RecordBatch:
        """Return the columns of stored rows."""
        pa = import_arrow()
        joined = pa.concat_arrays(stored) if stored else self.stored([])
        whole = joined if self._stored is self._type else _with_types(joined, self._type, pa)
        columns = [whole.field(number) for number in range(self._type.num_fields)]
        if not columns:
            return pa.RecordBatch.from_struct_array(whole)
        return pa.record_batch(columns, schema=self.schema)

    def fault(self, row: dict[str, Any]) -> tuple[Path, str] | None:
        """Return the path of a value that doesn't fit its column, and the reason; None if the row fits."""
        return _fault(row, self._stored, (), import_arrow())


def _same_row(value: Any) -> Any:
    return value


NOT_HELD: Final = (ValueError, OverflowError, TypeError)
"""The exceptions of pyarrow for a value that doesn't fit its column."""


def _fault(value: Any, kind: Any, path: Path, pa: Any) -> tuple[Path, str] | None:
    """Return the innermost value that doesn't fit its column."""
    try:
        pa.array([value], type=kind)
    except NOT_HELD as error:
        reason = str(error)
    else:
        return None
    inner: list[tuple[str | int, Any, Any]] = []
    if pa.types.is_struct(kind):
        inner = [(field.name, value.get(field.name), field.type) for field in kind]
    elif pa.types.is_list(kind):
        inner = [(number, each, kind.value_type) for number, each in enumerate(value)]
    elif pa.types.is_map(kind):
        inner = [(str(key), each, kind.item_type) for key, each in value]
    for step, each, its_type in inner:
        found = _fault(each, its_type, (*path, step), pa)
        if found is not None:
            return found
    return path, f"the column of {kind} can't hold it: {reason}"


# --- types that are stored as other types ---------------------------------------------------------
# pyarrow can't create UUIDs inside a struct or list from Python values, only from stored bytes. In a struct
# that is null, it refers to an entry of an empty dictionary.


def _storage_of(kind: Any, pa: Any) -> Any:
    """Return the type in which values are stored first; the same object if this is the type itself."""
    if isinstance(kind, pa.BaseExtensionType):
        return kind.storage_type
    if pa.types.is_dictionary(kind):
        return kind.value_type
    if pa.types.is_struct(kind):
        inner = [field.with_type(_storage_of(field.type, pa)) for field in kind]
        changed = any(one.type is not other.type for one, other in zip(inner, kind, strict=True))
        return pa.struct(inner) if changed and pa.struct(inner) != kind else kind
    if pa.types.is_list(kind):
        items = _storage_of(kind.value_type, pa)
        return kind if items == kind.value_type else pa.list_(kind.value_field.with_type(items))
    if pa.types.is_map(kind):
        keys, items = _storage_of(kind.key_type, pa), _storage_of(kind.item_type, pa)
        same = keys == kind.key_type and items == kind.item_type
        return kind if same else pa.map_(keys, kind.item_field.with_type(items))
    return kind


def _with_types(stored: Any, kind: Any, pa: Any) -> Any:
    """Return an array of a type whose values were stored as another type."""
    if stored.type == kind:
        return stored
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, stored)
    if pa.types.is_dictionary(kind):
        return stored.dictionary_encode()
    if pa.types.is_struct(kind):
        inner = [_with_types(stored.field(number), field.type, pa) for number, field in enumerate(kind)]
        return pa.StructArray.from_arrays(inner, fields=list(kind), mask=stored.is_null())
    if pa.types.is_map(kind):
        keys, items = (
            _with_types(stored.keys, kind.key_type, pa),
            _with_types(stored.items, kind.item_type, pa),
        )
        return pa.MapArray.from_arrays(stored.offsets, keys, items, type=kind, mask=stored.is_null())
    items = _with_types(stored.values, kind.value_type, pa)
    return pa.ListArray.from_arrays(stored.offsets, items, type=kind, mask=stored.is_null())


# --- from the graph ------------------------------------------------------------------------------


class _ColumnWalk:
    """Goes through a graph and finds a column, or a complaint, for each part."""

    def __init__(self, pa: Any, graph: Graph, decimals: tuple[int, int] | None, *, json_text: bool) -> None:
        self._pa = pa
        self._definitions: Mapping[Target, Node] = graph.definitions
        self._json_text = json_text
        self._decimals = decimals
        self._inside: list[Target] = []
        self.findings: list[Finding] = []

    def column(self, node: Node, path: Path) -> _Column:
        """Return the column for the values of a node."""
        match node:
            case RefNode(target=target):
                return self._of_reference(target, path)
            case ScalarNode():
                return self._of_scalar(node)
            case LiteralNode() | EnumNode():
                return self._of_choices(node.values, path)
            case ArrayNode(items=items):
                item = self.column(items, (*path, "*"))
                return self._of_list(item)
            case TupleNode(items=items):
                return self._of_tuple(items, path)
            case MapNode(keys=keys, values=values):
                return self._of_map(keys, values, path)
            case ObjectNode():
                return self._of_object(node, path)
            case LeafNode(leaf=leaf):
                return self._of_leaf(leaf, path)
            case UnionNode():
                return self._of_union(node, path)
            case AnyNode():
                return self._json_or_complaint("it may be any JSON value", path)

    def _json_or_complaint(self, what: str, path: Path, remedy: str = "") -> _Column:
        """Return a column of JSON text if `json_text` allows it; otherwise add a complaint."""
        pa = self._pa
        if self._json_text:
            return _Column(pa.string(), to_json_text, nullable=True, is_json=True)
        todo = remedy or "Change the type, or ask for JSON text with json_text=True"
        self.findings.append(_complaint(path, what, todo))
        return _Column(pa.null(), nullable=True)

    def _of_reference(self, target: Target, path: Path) -> _Column:
        if target in self._inside:
            return self._json_or_complaint(f"{target.name} contains itself, to any depth", path)
        self._inside.append(target)
        found = self.column(self._definitions[target], path)
        self._inside.pop()
        return found

    def _of_scalar(self, node: ScalarNode) -> _Column:
        pa, limits = self._pa, node.constraints
        if node.type == "integer":
            least = None if limits is None else _bound(limits.minimum, limits.exclusive_minimum)
            most = None if limits is None else _bound(limits.maximum, limits.exclusive_maximum)
            is_natural = least is not None and least >= 0
            is_large = most is not None and _LARGEST_INT < most <= _LARGEST_UINT
            return _Column(pa.uint64() if is_natural and is_large else pa.int64())
        kinds = {"string": pa.string, "number": pa.float64, "boolean": pa.bool_, "null": pa.null}
        return _Column(kinds[node.type](), nullable=node.type == "null")

    def _of_choices(self, values: Sequence[Any], path: Path) -> _Column:
        pa = self._pa
        types = {type_of(value) for value in values if value is not None}
        nullable = None in values
        if types == {"string"}:
            return _Column(pa.dictionary(pa.int32(), pa.string()), nullable=nullable)
        if types == {"integer"} and all(abs(value) <= _LARGEST_INT for value in values if value is not None):
            return _Column(pa.int64(), nullable=nullable)
        if types == {"boolean"}:
            return _Column(pa.bool_(), nullable=nullable)
        if types and types <= {"integer", "number"}:
            return _Column(pa.float64(), nullable=nullable)
        if not types:
            return _Column(pa.null(), nullable=True)
        return self._json_or_complaint("its values are of several types", path)

    def _of_list(self, item: _Column) -> _Column:
        pa = self._pa
        kind = pa.list_(pa.field("item", item.type, item.nullable))
        if item.convert is None:
            return _Column(kind)
        return _Column(kind, lambda values: [item.value(value) for value in values])

    def _of_tuple(self, items: Sequence[Node], path: Path) -> _Column:
        columns = [self.column(item, (*path, number)) for number, item in enumerate(items)]
        if not columns:
            return self._json_or_complaint("it is always empty", path)
        if len({(column.type, column.is_json) for column in columns}) == 1:
            return self._of_list(columns[0]._replace(nullable=any(column.nullable for column in columns)))
        names = [str(number) for number in range(len(columns))]
        struct = self._struct(dict(zip(names, columns, strict=True)))
        return _Column(struct.type, lambda values: struct.value(dict(zip(names, values, strict=True))))

    def _of_map(self, keys: Node, values: Node, path: Path) -> _Column:
        pa = self._pa
        value = self.column(values, (*path, "*"))
        is_integer = isinstance(keys, ScalarNode) and keys.type == "integer"
        key = pa.int64() if is_integer else pa.string()
        read: Convert = int if is_integer else str
        kind = pa.map_(key, pa.field("value", value.type, value.nullable))
        return _Column(kind, lambda entries: [(read(k), value.value(v)) for k, v in entries.items()])

    def _of_object(self, node: ObjectNode, path: Path) -> _Column:
        columns = self._fields(node, path)
        if path and not columns:
            return self._json_or_complaint("it has no fields, and a Parquet file can't hold that", path)
        return self._struct(columns)

    def _fields(self, node: ObjectNode, path: Path) -> dict[str, _Column]:
        columns: dict[str, _Column] = {}
        for field in node.fields:
            inside = (*path, field.key)
            if field.init_only:
                what = "an InitVar, which the instance doesn't keep"
                self.findings.append(_complaint(inside, what, "Make it a field"))
                continue
            column = self.column(field.node, inside)
            columns[field.key] = column._replace(nullable=column.nullable or not field.required)
        return columns

    def _struct(self, columns: Mapping[str, _Column]) -> _Column:
        pa = self._pa
        kind = pa.struct([pa.field(key, column.type, column.nullable) for key, column in columns.items()])
        converted = {key: column for key, column in columns.items() if column.convert is not None}
        if not converted:
            return _Column(kind)

        def convert(value: dict[str, Any]) -> dict[str, Any]:
            inner = {key: column.value(value.get(key)) for key, column in converted.items()}
            return {**value, **inner}

        return _Column(kind, convert)

    # --- leaves ----------------------------------------------------------------------------------

    def _of_leaf(self, leaf: SchemaLeaf[Any], path: Path) -> _Column:
        pa = self._pa
        if leaf is LOCAL_DATETIME:
            return _Column(pa.timestamp("us"), leaf.decode)
        if leaf is LOCAL_TIME:
            return _Column(pa.time64("us"), leaf.decode)
        if is_decimal(leaf) and (leaf is shipped_leaf(leaf.type) or limits_of(leaf) is not None):
            return self._of_decimal(leaf, path)
        if leaf is shipped_leaf(leaf.type):
            match leaf.type.__name__:
                case "datetime":
                    return _Column(pa.timestamp("us", "UTC"), leaf.decode)
                case "date":
                    return _Column(pa.date32(), leaf.decode)
                case "timedelta":
                    return _Column(pa.duration("us"), leaf.decode)
                case "bytes":
                    return _Column(pa.binary(), leaf.decode)
                case "UUID":
                    return _Column(pa.uuid(), lambda text: leaf.decode(text).bytes)
        return self._of_foreign(leaf, path)

    def _of_foreign(self, leaf: SchemaLeaf[Any], path: Path) -> _Column:
        """Return the column of a leaf without a type in Arrow, chosen by its JSON type."""
        pa = self._pa
        kinds = {"string": pa.string, "integer": pa.int64, "number": pa.float64, "boolean": pa.bool_}
        given: Any = leaf.json_schema.get("type")
        if isinstance(given, str) and given in kinds:
            return _Column(kinds[given]())
        return self._json_or_complaint(f"nothing is known about the parts of {leaf.type.__name__}", path)

    def _of_decimal(self, leaf: SchemaLeaf[Any], path: Path) -> _Column:
        pa = self._pa
        digits = _digits_of(leaf) or self._decimals
        if digits is None:
            remedy = (
                "Give decimals=(38, 9), or limits that say it: "
                "Annotated[Decimal, Ge(0), Le(9999), MultipleOf(0.01)]"
            )
            return self._json_or_complaint("a Decimal of any number of digits", path, remedy)
        make = pa.decimal128 if digits[0] <= _MOST_DIGITS_128 else pa.decimal256
        return _Column(make(*digits), leaf.decode)

    # --- unions ----------------------------------------------------------------------------------

    def _of_union(self, node: UnionNode, path: Path) -> _Column:
        choices = choices_of(node)
        if choices:
            return self._of_choices(choices, path)
        members = flat_members(node, self._definitions)
        others = [each for each in members if not is_null(each)]
        nullable = len(others) < len(members)
        found = self._of_members(others, path)
        return found._replace(nullable=nullable or found.nullable)

    def _of_members(self, members: Sequence[Node], path: Path) -> _Column:
        if len(members) == 1:
            recursive = self._target_of(members[0])
            return self.column(members[0], path) if recursive is None else self._of_reference(recursive, path)
        if all(isinstance(each, ScalarNode) and each.type in {"integer", "number"} for each in members):
            return _Column(self._pa.float64())
        tag = tag_of(members)
        if tag is None or not tag.required or not all(isinstance(each, ObjectNode) for each in members):
            return self._json_or_complaint("it is one of several types, and no required key says which", path)
        return self._of_tagged(tag, path)

    def _target_of(self, node: Node) -> Target | None:
        """Return the target that a node defines."""
        return next((target for target, known in self._definitions.items() if known is node), None)

    def _of_tagged(self, tag: Tag, path: Path) -> _Column:
        """Return one struct with the fields of all members; the tag says which fields are used."""
        members: dict[int, dict[str, _Column]] = {}
        for member in tag.members.values():
            target = self._target_of(member)
            if target in self._inside:
                return self._json_or_complaint(f"{member.name} contains itself, to any depth", path)  # type: ignore[union-attr]  # an object
            if id(member) not in members:
                self._inside += [] if target is None else [target]
                members[id(member)] = self._fields(member, path)  # type: ignore[arg-type]  # an object
                self._inside = self._inside if target is None else self._inside[:-1]
        merged: dict[str, _Column] = {tag.key: self._of_choices(tag.choices.values, (*path, tag.key))}
        for key in dict.fromkeys(key for columns in members.values() for key in columns if key != tag.key):
            known = [columns.get(key) for columns in members.values()]
            column = _common_column(known)
            if column is None:
                return self._json_or_complaint(f"its key {key} has several types", path)
            merged[key] = column
        kind = self._struct(merged).type
        structs = {key: self._struct(members[id(member)]) for key, member in tag.members.items()}
        return _Column(kind, lambda value: structs[choice_key(value[tag.key])].value(value))


def _common_column(columns: Sequence[_Column | None]) -> _Column | None:
    """Return the column of a key that several objects have; None if the types differ."""
    known = [column for column in columns if column is not None]
    if len({(column.type, column.is_json) for column in known}) > 1:
        return None
    return known[0]._replace(nullable=len(known) < len(columns) or any(column.nullable for column in known))


def _complaint(path: Path, what: str, remedy: str) -> Finding:
    return Finding(path, "no_column", what, remedy=remedy, type=None)


def _bound(inclusive: float | None, exclusive: float | None) -> float | None:
    return exclusive if inclusive is None else inclusive


def _digits_of(leaf: SchemaLeaf[Any]) -> tuple[int, int] | None:
    """Return how many digits a decimal's limits allow, in total and after the point; None for any number."""
    limits = limits_of(leaf)
    if limits is None or limits.multiple_of is None:
        return None
    bounds = (
        _bound(limits.minimum, limits.exclusive_minimum),
        _bound(limits.maximum, limits.exclusive_maximum),
    )
    if None in bounds:
        return None
    exponent = Decimal(repr(limits.multiple_of)).normalize().as_tuple().exponent
    scale = max(0, -exponent) if isinstance(exponent, int) else 0
    whole = max(len(str(abs(int(bound or 0)))) for bound in bounds)
    return (whole + scale, scale) if whole + scale <= _MOST_DIGITS else None
