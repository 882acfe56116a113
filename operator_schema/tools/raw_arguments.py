"""How does a function read its arguments one by one, without types of their own?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from ..codec.codec import codec_of
from ..errors import DecodeError
from ..findings import Finding
from ..immutable import Value
from ..introspect.leaves import SchemaLeaf, described_leaf, trusted_leaf
from ..json_values import MAX_PROBLEMS, copy_json
from ..message_text import excerpt, key_step, one_line, quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

T = TypeVar("T")

_NAME_LENGTH = 100


class RawArguments(Value):
    """The arguments of one call, without types of their own.

    A function whose only visible parameter is annotated with this class gets all arguments as the model sent
    them. Each argument that it reads is decoded as usual, so a tool can become typed one argument at a time.

    Attributes:
        arguments: key to JSON value, a copy of the model's arguments.
        tool: name of the tool, for messages.
        hint: added to the problems in errors, such as how to get the documentation of the tool.
        repair: whether a value that doesn't fit is corrected if only one meaning is possible.

    Raises:
        DecodeError: a key of the arguments isn't a string, or the arguments nest too deeply to be copied.
    """

    arguments: Mapping[str, Any]
    tool: str
    hint: str | None
    repair: bool

    def __init__(
        self,
        arguments: Mapping[str, Any],
        tool: str = "tool",
        hint: str | None = None,
        repair: bool = False,  # noqa: FBT001,FBT002  # `Value.replace` gives every attribute by position
    ) -> None:
        super().__init__(_copied(dict(arguments), tool, hint), tool, hint, repair)

    __hash__ = None  # type: ignore[assignment]  # a dict is in it

    @overload
    def require(self, key: str, annotation: type[T], /) -> T: ...
    @overload
    def require(self, key: str, annotation: Any, /) -> Any: ...
    def require(self, key: str, annotation: Any, /) -> Any:
        """Return the argument with this key as an instance of a type.

        Args:
            key: the key of the argument.
            annotation: a type, or any other supported annotation.

        Raises:
            DecodeError: there is no such argument, or it doesn't fit the type.
            SchemaError: with every complaint about the type.
        """
        if key in self.arguments:
            return self._decode(key, annotation)
        from ..similar_names import nearest

        near = nearest(key, self.arguments)
        tool = one_line(self.tool, _NAME_LENGTH)
        message = f"Missing argument '{one_line(key, _NAME_LENGTH)}' for tool '{tool}'"
        given = None if near is None else f"{quote(key)} instead of {quote(near)}"
        problem = Finding((key,), "missing", message, None, None, given)
        raise DecodeError(self.tool, [problem], hint=self.hint)

    @overload
    def optional(self, key: str, annotation: type[T], /) -> T | None: ...
    @overload
    def optional(self, key: str, annotation: type[T], /, default: T) -> T: ...
    @overload
    def optional(self, key: str, annotation: Any, /, default: Any = None) -> Any: ...
    def optional(self, key: str, annotation: Any, /, default: Any = None) -> Any:
        """Return the argument with this key as an instance of a type, the default if there is none.

        Args:
            key: the key of the argument. Null counts as absent.
            annotation: a type, or any other supported annotation.
            default: the value of an absent argument.

        Raises:
            DecodeError: the argument does not fit the type.
            SchemaError: with every complaint about the type.
        """
        return default if self.arguments.get(key) is None else self._decode(key, annotation)

    def _decode(self, key: str, annotation: Any) -> Any:
        try:
            return codec_of(annotation, repair=self.repair).decode(self.arguments[key])
        except DecodeError as error:
            problems = [problem.replace(path=(key, *problem.path)) for problem in error.findings]
            raise DecodeError(self.tool, problems, None, error.omitted, hint=self.hint) from None

    def __contains__(self, key: object) -> bool:
        return key in self.arguments

    def __iter__(self) -> Iterator[str]:
        return iter(self.arguments)

    def __len__(self) -> int:
        return len(self.arguments)

    @classmethod
    def described_by(cls, json_schema: Mapping[str, Any], /) -> SchemaLeaf[RawArguments]:
        """Return a leaf that gives the model a schema of your own: `Annotated[RawArguments, leaf]`.

        Args:
            json_schema: a JSON Schema document with `"type": "object"`. Arguments are checked against it, as
                in `document_tool`.

        Raises:
            SchemaError: the schema isn't such a document, or has a part that can't be checked, or a default
                that doesn't fit.
        """
        from ..introspect.leaf_checks import misfit  # few tools describe raw arguments

        leaf = described_leaf(cls, json_schema, cls, _arguments_of, cls({}))
        if misfit(leaf.json_schema, {}) is None:
            return leaf
        from ..schema.document import DocumentCodec, SchemaDocument

        try:
            example = DocumentCodec(SchemaDocument("arguments", leaf.json_schema)).example()
        except ValueError:
            return leaf
        return trusted_leaf(cls, leaf.json_schema, cls, _arguments_of, cls(example), leaf.rank)

    @classmethod
    def __schema_leaf__(cls) -> SchemaLeaf[RawArguments]:
        return _LEAF


def _copied(arguments: dict[Any, Any], tool: str, hint: str | None) -> dict[str, Any]:
    """Return a copy of arguments, which may come from a program and not from JSON.

    Raises:
        DecodeError: a key isn't a string, or a value contains itself or nests too deeply.
    """
    others = [key for key in arguments if not isinstance(key, str)]
    if others:
        problems = [
            Finding((key_step(key),), "wrong_type", f"the key {excerpt(key)} isn't a string", "string")
            for key in others[:MAX_PROBLEMS]
        ]
        raise DecodeError(tool, problems, omitted=len(others) - len(problems), hint=hint)
    try:
        copied: dict[str, Any] = copy_json(arguments)
    except RecursionError:
        problem = Finding((), "too_deep", "nested deeper than this process can follow")
        raise DecodeError(tool, [problem], hint=hint) from None
    return copied


def schema_of_raw(hint: Any, leaves: Iterable[SchemaLeaf[Any]]) -> Mapping[str, Any] | None:
    """Return the schema of raw arguments; None if there is none, and for other types.

    Args:
        hint: the annotation of the only parameter.
        leaves: the leaves of the tool.
    """
    is_raw = hint is RawArguments or getattr(hint, "__origin__", None) is RawArguments
    for leaf in (*getattr(hint, "__metadata__", ()), *leaves) if is_raw else ():
        if isinstance(leaf, SchemaLeaf) and leaf.decode is RawArguments:
            schema: Mapping[str, Any] = leaf.json_schema
            return schema
    return None


def _arguments_of(raw: RawArguments) -> Any:
    return raw.arguments


_LEAF: SchemaLeaf[RawArguments] = trusted_leaf(
    RawArguments, {"type": "object", "properties": {}}, RawArguments, _arguments_of, RawArguments({})
)
