"""How are the results of a tool written for the model and for programs, given their declared type?"""

from __future__ import annotations

import collections.abc
import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import MISSING
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, cast, get_args, get_origin

from ..codec.codec import ResultCodec, codec_of
from ..errors import EncodeError, SchemaError
from ..findings import about_type
from ..immutable import Value
from ..introspect.classes import form_of
from ..introspect.hints import Scope, Unresolved, evaluate_forward
from ..introspect.node_kinds import json_types_of
from ..introspect.nodes import AnyNode, ArrayNode, ScalarNode
from ..introspect.shown_annotations import is_type
from ..json_values import has_surrogate, is_object, to_json_text
from .injection import holds_handed_through, is_union

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType

    from ..codec.codec import Codec
    from ..findings import Finding
    from ..introspect.leaves import SchemaLeaf
    from .content import Part


class WrittenOutput(NamedTuple):
    """A result in all forms.

    Attributes:
        text: the text for the model.
        json: the JSON value that the text represents; for content parts, a description without their data.
        notes: the parts that don't fit the declared type.
        parts: content parts that the function returned, with every text in a form that UTF-8 can encode.
    """

    text: str
    json: Any
    notes: tuple[Finding, ...] = ()
    parts: tuple[Part, ...] = ()


class OutputType:
    """The declared type of a tool's result.

    Args:
        written: the annotation as written, or `dataclasses.MISSING`.
        hint: the evaluated annotation; an `Unresolved` is evaluated again when the type is first needed.
        scope: the meanings of names in it.
        leaves: leaves for this type only.
    """

    __slots__ = ("_codec", "_describes_data", "_leaves", "_scope", "_type", "_written")

    def __init__(self, written: Any, hint: Any, scope: Scope, leaves: Iterable[SchemaLeaf[Any]] = ()) -> None:
        self._leaves = leaves
        self._describes_data = False
        self._written = written
        self._scope: Scope | None = scope
        self._type: Any = hint if isinstance(hint, Unresolved) else _without_awaitable(hint)
        self._codec: Any = MISSING

    @property
    def is_declared(self) -> bool:
        """Whether there is an annotation at all."""
        return self._written is not MISSING

    @property
    def type(self) -> Any:
        """The type; None if none is declared, or a name in it is not known."""
        if isinstance(self._type, Unresolved) and self._scope is not None:
            hint = evaluate_forward(evaluate_forward(self._written, self._scope), self._scope)
            if isinstance(hint, Unresolved):
                return None
            self._type = _without_awaitable(hint)
        return self._type

    def codec(self) -> ResultCodec[Any] | None:
        """Return the codec of the type; None if there is no type, or it has no schema."""
        if self._codec is MISSING:
            self._register()
        codec: Any = self._codec
        return None if codec is MISSING else codec  # a name in it may not be known yet

    def complaints(self, owner: str, where: str) -> list[Finding]:
        """Return the complaints about a type whose values can't be written as JSON.

        A type with an unknown name gets no complaint, because the name may be defined later.

        Args:
            owner: name of the tool.
            where: the place of the declaration: `return` or `output`.
        """
        hint = self._type
        if (type(hint) is type and hint in _WRITABLE) or hint is None:
            return []
        if isinstance(hint, Unresolved):
            found = about_type((where,), "unresolved", owner, hint.message, hint.remedy)
            return [found] if _is_broken(found) else []
        wrong = self._register()
        if wrong and not (any(one.code == "too_deep" for one in wrong) or _is_unwritable(hint)):
            wrong = [complaint for complaint in wrong if _is_broken(complaint)]
        return [_complaint_about_result(complaint, owner, where) for complaint in wrong]

    def _register(self) -> list[Finding]:
        """Create the codec and release the annotation; return the complaints about the type."""
        hint = self.type
        if hint is None:
            return []
        names = {} if self._scope is None else self._scope.names
        try:
            self._codec = self._make_codec(hint, names)
        except SchemaError as error:
            if any(one.code == "unresolved" and not _is_broken(one) for one in error.findings):
                return []
            self._codec, self._scope = None, None
            return list(error.findings)
        self._scope = None
        return []

    def _make_codec(self, hint: Any, names: Mapping[str, Any]) -> Codec[Any]:
        if holds_handed_through(hint):
            hint = _declared_data(hint)
            self._describes_data = hint is not Any
        if not self._leaves:
            try:
                return codec_of(hint, codec=ResultCodec)
            except SchemaError:
                pass
        return ResultCodec(hint, namespace=names, leaves=self._leaves)

    def with_leaves(self, leaves: Iterable[SchemaLeaf[Any]]) -> OutputType:
        """Return the same declared type with its own leaves."""
        return OutputType(self._written, self._type, self._scope or Scope(None, {}), leaves)

    def write(self, value: object, name: str, *, is_lenient: bool) -> WrittenOutput:
        """Write a result.

        Args:
            value: a value of the type.
            name: name of the tool.
            is_lenient: whether a value that doesn't fit the type is written as well as possible.

        Raises:
            EncodeError: a part of it has no JSON form or, unless `is_lenient`, doesn't fit the type.
        """
        text = _plain_text(value)
        if text is not None and self._takes_any_text():
            return WrittenOutput(text, text)
        codec = self._codec_for(value, text)
        if text is None and type(value) not in _NO_PARTS and _is_open(codec) and _holds_parts(value):
            return _write_as_parts(value, name, is_lenient=is_lenient)
        try:
            return _write_as_json(codec, value, text, is_lenient=is_lenient)
        except EncodeError as error:
            # The function has done its work, and there is something to show.
            if is_lenient and _holds_parts(value):
                written = _write_as_parts(value, name, is_lenient=True)
                return written._replace(notes=(*error.findings, *written.notes))
            raise EncodeError(name, error.findings, error.omitted) from None

    def _takes_any_text(self) -> bool:
        hint = self._type
        return hint is None or hint is str or hint is Any

    def _codec_for(self, value: object, text: str | None) -> Codec[Any]:
        if text is None and issubclass(type(value), str):  # it has a lone surrogate
            return codec_of(Any)
        codec = self.codec()
        if codec is None or (self._describes_data and holds_handed_through(type(value))):
            return codec_of(_dataclass_or_any(value), codec=ResultCodec)
        return codec


# --- the declared type ---------------------------------------------------------------------------


def _without_awaitable(hint: Any) -> Any:
    """Return the type of the result, without the `Awaitable` around it."""
    if hint is MISSING:
        return None
    if get_origin(hint) in _AWAITABLE:
        hint = get_args(hint)[-1]
    return NoneType if hint is None else hint


_AWAITABLE = frozenset({collections.abc.Awaitable, collections.abc.Coroutine})


def _declared_data(hint: Any) -> Any:
    """Return the type of the data that `Annotated[CallToolResult, T]` declares, or Any."""
    types = [item for item in getattr(hint, "__metadata__", ()) if is_type(item)]
    return types[0] if types else Any


_WRITABLE = frozenset({str, int, float, bool, dict, list, NoneType})
"""Types that need no check."""


def _is_broken(complaint: Finding) -> bool:
    from ..introspect.unresolved_names import BROKEN  # only a wrong annotation needs it

    return complaint.code == "unresolved" and complaint.remedy in BROKEN


def _complaint_about_result(complaint: Finding, owner: str, where: str) -> Finding:
    path, remedy = (where, *complaint.path), complaint.remedy
    if _is_broken(complaint):
        return complaint.replace(path=path, type=owner)
    if remedy != content_parts().INSTEAD:
        remedy = f"{remedy}, or declare Any, as for the classes of native_results"
    message = f"the result can't be written as JSON: {complaint.message}"
    return complaint.replace(path=path, type=owner, message=message, remedy=remedy)


_MOST_DEPTH: Final = 100


def _is_unwritable(hint: Any, depth: int = 0) -> bool:
    """Return whether a type without a schema has values without a JSON form.

    Some types, such as unions of indistinguishable members, are only impossible for arguments; they can be
    written.

    Args:
        hint: the type.
        depth: 0 for the whole result, 1 for the items of a list, more for other parts of it.
    """
    if depth > _MOST_DEPTH:  # such a type may nest deeper than the stack of Python
        return True
    while get_origin(hint) is Annotated:
        hint = hint.__origin__
    if is_union(hint):
        return any(_is_unwritable(member, depth) for member in hint.__args__)
    found = get_origin(hint) or hint
    if not isinstance(found, type) or _has_schema(hint) or (depth <= 1 and found in content_parts().PARTS):
        return False
    inner = depth + 1 if found in _LISTS else depth + 2
    if any(_is_unwritable(argument, inner) for argument in get_args(hint)):
        return True
    cls: type[Any] = found
    if form_of(cls) is not None or found is _CALLABLE or issubclass(cls, (Iterator, AsyncIterator)):
        return True
    is_open = cls.__flags__ & inspect.TPFLAGS_IS_ABSTRACT or getattr(cls, "_is_protocol", False)
    return not (is_open or issubclass(cls, _PLAIN))


_CALLABLE: Any = Callable
_LISTS: frozenset[Any] = frozenset({list, tuple, collections.abc.Sequence})
"""Declarations of a list of content parts."""

_PLAIN = (str, int, float, list, tuple, set, frozenset, Mapping)
"""Classes whose instances, including those of subclasses, have a JSON form."""


def _has_schema(hint: Any) -> bool:
    try:
        codec_of(hint, codec=ResultCodec)
    except SchemaError:
        return False
    return True


NO_OUTPUT = OutputType(MISSING, MISSING, Scope(None, {}))


# --- values --------------------------------------------------------------------------------------


_NO_PARTS = frozenset({int, float, bool, dict, NoneType})
"""Classes of values that neither are nor contain content parts."""


def _plain_text(value: object) -> str | None:
    """Return a string that is written unchanged; None for other values, and for lone surrogates."""
    if not issubclass(type(value), str):  # unlike `isinstance`, this runs no code of the value
        return None
    text = str.__str__(cast("str", value))
    return text if text.isascii() or not has_surrogate(text) else None


def _dataclass_or_any(value: object) -> Any:
    cls = type(value)
    return cls if hasattr(cls, "__dataclass_fields__") else Any


def _is_open(codec: Codec[Any]) -> bool:
    """Return whether a type doesn't describe the content of a value, or of a list of values."""
    root = codec.graph.root
    return isinstance(root.items if isinstance(root, ArrayNode) else root, AnyNode)


def _write_as_json(codec: Codec[Any], value: object, text: str | None, *, is_lenient: bool) -> WrittenOutput:
    json, notes = codec.encode_leniently(value) if is_lenient else (codec.encode(value), ())
    if text is None:
        is_text = issubclass(type(json), str)  # as that of a date
        text = cast("str", json) if is_text else to_json_text(json)
    return WrittenOutput(text, json, notes)


# --- content parts -------------------------------------------------------------------------------


@cache
def content_parts() -> ModuleType:
    """Import and return the module of content parts; results that are JSON values don't need it."""
    # An import takes longer than writing most results, even where the module is there already.
    from . import content

    return content


def items_of(value: object) -> Sequence[object]:
    """Return the items of a list or tuple; none for any other value, such as a named tuple."""
    is_several = type(value) is list or type(value) is tuple
    return cast("Sequence[object]", value) if is_several else ()


def _holds_parts(value: object) -> bool:
    """Return whether a value is a content part, or a list or tuple with one."""
    parts: frozenset[type] = content_parts().PARTS
    try:
        return type(value) in parts or not parts.isdisjoint(map(type, items_of(value)))
    except Exception:  # noqa: BLE001  # the code of a metaclass
        return False


def _write_as_parts(value: object, name: str, *, is_lenient: bool) -> WrittenOutput:
    """Write a content part, or a list of parts, strings and other values, each of which becomes a `Text`.

    Raises:
        EncodeError: an item has no JSON form, such as a list with another part in it.
    """
    try:
        if type(value) in content_parts().PARTS:
            return _write_part(value, (), is_lenient=is_lenient)
        items = enumerate(items_of(value))
        found = [_write_part(item, (index,), is_lenient=is_lenient) for index, item in items]
    except EncodeError as error:
        raise EncodeError(name, error.findings, error.omitted) from None
    return WrittenOutput(
        "\n".join([part.text for part in found]),
        [part.json for part in found],
        tuple([note for part in found for note in part.notes]),
        tuple([part for written in found for part in written.parts]),
    )


def _write_part(item: Any, place: tuple[int, ...], *, is_lenient: bool) -> WrittenOutput:
    """Write a content part, or another value as a `Text`."""
    known = content_parts()
    is_resource = type(item) is known.Resource
    holds_text = type(item) is known.Text or (is_resource and item.text is not None)
    if type(item) in known.PARTS and not holds_text:
        return WrittenOutput(item.as_text(), item.as_dict(), (), (item,))
    value = item.text if holds_text else item
    codec = codec_of(_dataclass_or_any(value), codec=ResultCodec)
    try:
        written = _write_as_json(codec, value, _plain_text(value), is_lenient=is_lenient)
    except EncodeError as error:
        raise EncodeError(error.name, _at_place(place, error.findings), error.omitted) from None
    text, notes = written.text, _at_place(place, written.notes)
    if not is_resource:
        return WrittenOutput(text, written.json, notes, (known.Text(text),))
    part = item.replace(text=text)
    return WrittenOutput(part.as_text(), {**part.as_dict(), "text": text}, notes, (part,))


def _at_place(place: tuple[int, ...], problems: Sequence[Finding]) -> tuple[Finding, ...]:
    return tuple([problem.replace(path=(*place, *problem.path)) for problem in problems])


# --- results as objects --------------------------------------------------------------------------

RESULT_KEY = "result"
"""The key that holds a result that isn't an object."""


class StructuredOutput(Value):
    """The declared result of a tool as a JSON object, as the Model Context Protocol and others require it.

    Attributes:
        codec: the codec of the declared type.
        is_wrapped: whether the result is wrapped under the key `result`, because it may be something other
            than an object.
    """

    codec: ResultCodec[Any]
    is_wrapped: bool

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the object, a fresh dict: `"type": "object"` and definitions are at the root."""
        document = self.codec.json_schema_under(RESULT_KEY) if self.is_wrapped else self.codec.json_schema()
        return {"type": "object", **document}  # a union of objects doesn't say it

    def of(self, json: Any) -> dict[str, Any] | None:
        """Return a result as the object that the schema describes.

        Args:
            json: the JSON value of the result, as in `ToolResult.json`. It is not copied.

        Returns:
            The object; None if there is none, because the function returned something else than it declares.
            For a wrapped result, `ToolResult.details["mismatches"]` shows that.
        """
        if self.is_wrapped:
            return {RESULT_KEY: json}
        return json if is_object(json) else None


def structured_output_of(codec: ResultCodec[Any] | None) -> StructuredOutput | None:
    """Return the converter of results into objects; None if an object would tell no more than the text.

    Args:
        codec: the codec of the type; None if it has no schema.
    """
    root = None if codec is None else codec.graph.resolve_root()
    if codec is None or root is None or isinstance(root, AnyNode):
        return None
    if isinstance(root, ScalarNode) and root.type == "string":
        return None

    types = json_types_of(root, codec.graph.definitions)
    return StructuredOutput(codec, types != _OBJECT)


_OBJECT = frozenset({"object"})
