"""How are the values of a Python type read from JSON and written as JSON? A leaf says it."""

from __future__ import annotations

from abc import abstractmethod
from enum import Enum, EnumType, IntEnum, StrEnum
from typing import TYPE_CHECKING, Any, Final

from ..immutable import Generic, T, Value, content_of
from ..json_values import types_of_schema
from ..message_text import received

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Iterable, Mapping


_MODULE = ".introspect.leaves"
_OWN_PACKAGE = __name__.removesuffix(_MODULE)
IMPORT_OWN: Final = f"Import SchemaLeaf from {_OWN_PACKAGE}"
"""The remedy for a leaf of another copy of this package."""

LAST_RANK: Final = 1000
"""The rank of a leaf that comes after all others."""


class SchemaLeaf(Value, Generic[T]):
    """How the values of one Python type are read from JSON and written as JSON.

    Give it to one annotation (`Annotated[yarl.URL, leaf]`), to a codec (`leaves=[…]`), to the class
    itself (a class attribute or class method `__schema_leaf__`) or to the whole process
    (`register_leaf`). If several apply, the first one in this order wins.

    Attributes:
        type: the Python type.
        json_schema: its JSON Schema 2020-12 document, with a `type`; a `description` in it is
            used where the field has none.
        decode: takes a JSON value that fits the schema, returns an instance; raises ValueError or TypeError
            with a text for the model.
        encode: takes an instance, returns a JSON value that fits the schema; raises the same errors.
        placeholder: a valid instance. Making the leaf tests both functions with it, and errors show it to the
            model as an example of a valid value. It is never a default.
        rank: the order of the leaves in a union that read the same JSON type: the lowest is tried first. 0
            comes before all shipped leaves; two leaves with the same rank can't be distinguished.

    The codec checks values against the whole schema, before `decode` and after `encode`. Only `decode` checks
    a `format`.

    Raises:
        SchemaError: an argument has the wrong type, a function is async, a keyword of the schema is misspelt
            or can't be checked, or the placeholder doesn't fit the schema or doesn't come back from
            `decode(encode(placeholder))`.
    """

    type: builtins.type[T]
    json_schema: Mapping[str, Any]
    decode: Callable[[Any], T]
    encode: Callable[[T], Any]
    placeholder: T
    rank: int

    def __init__(
        self,
        type: builtins.type[T],  # noqa: A002  # the attribute's name
        json_schema: Mapping[str, Any],
        decode: Callable[[Any], T],
        encode: Callable[[T], Any],
        placeholder: T,
        rank: int = 0,
    ) -> None:
        from .leaf_checks import checked_schema  # the leaves of this package need no checks

        shown = checked_schema(type, json_schema, decode, encode, placeholder, rank)
        super().__init__(type, shown, decode, encode, placeholder, rank)

    def __hash__(self) -> int:
        return hash((SchemaLeaf, self.type))

    def __reduce__(self) -> tuple[Any, ...]:
        return trusted_leaf, content_of(self)

    def __repr__(self) -> str:
        return f"SchemaLeaf({self.type.__qualname__})"

    @property
    def json_types(self) -> tuple[str, ...]:
        """The JSON types that `json_schema` names."""
        return types_of_schema(self.json_schema)


class CheckedEncoder(Value):
    """The `encode` of a leaf that refuses some instances of its type, but can write them on demand."""

    @abstractmethod
    def __call__(self, value: Any) -> Any:
        """Return the JSON value of an instance.

        Raises:
            ValueError: the instance doesn't fit its type.
        """

    @abstractmethod
    def write_unchecked(self, value: Any) -> Any:
        """Return the JSON value of an instance that doesn't fit its type."""


def trusted_leaf(
    cls: type,
    json_schema: Mapping[str, Any],
    decode: Callable[[Any], Any],
    encode: Callable[[Any], Any],
    placeholder: object,
    rank: int = LAST_RANK,
) -> SchemaLeaf[Any]:
    """Make a leaf without checking it, for those of this package.

    Checking their placeholders could import modules or read files, which registration must not do.
    The tests check them instead.
    """
    leaf: SchemaLeaf[Any] = SchemaLeaf.__new__(SchemaLeaf)  # pyright: ignore[reportUnknownVariableType]  # of whatever type
    Value.__init__(leaf, cls, json_schema, decode, encode, placeholder, rank)
    return leaf


def described_leaf(
    cls: type,
    json_schema: Mapping[str, Any],
    decode: Callable[[Any], Any],
    encode: Callable[[Any], Any],
    placeholder: object,
) -> SchemaLeaf[Any]:
    """Make a leaf whose functions take every value that fits its schema.

    Args:
        cls: the Python type.
        json_schema: values are checked against it.
        decode: as for a `SchemaLeaf`.
        encode: as for a `SchemaLeaf`.
        placeholder: an instance; if it doesn't fit the schema, it isn't used as an example.

    Raises:
        SchemaError: the schema can't be used.
    """
    from .leaf_checks import described_schema

    return trusted_leaf(cls, described_schema(cls, json_schema), decode, encode, placeholder, 0)


_registered: dict[type, SchemaLeaf[Any]] = {}
_generation = 0


def register_leaf(leaf: SchemaLeaf[T]) -> SchemaLeaf[T]:
    """Use a leaf for its type in every codec made from now on.

    Args:
        leaf: the leaf; it replaces the registered or shipped one of the same type.

    Returns:
        The same leaf.

    Raises:
        TypeError: leaf isn't a SchemaLeaf.
    """
    if as_leaf(leaf) is None:
        message = f"register_leaf takes a SchemaLeaf, not {received_leaf(leaf)}"
        raise TypeError(message)
    global _generation, _registered  # noqa: PLW0603  # replaced whole: readers see the old or the new
    _registered = {**_registered, leaf.type: leaf}
    _generation += 1
    return leaf


def registered_leaf(cls: type) -> SchemaLeaf[Any] | None:
    """Return the leaf that was registered for a type, or None."""
    return _registered.get(cls)


def leaf_generation() -> int:
    """Return a number that changes whenever a leaf is registered, for caches of walked types."""
    return _generation


def own_leaf(cls: type) -> object:
    """Return the `__schema_leaf__` of a class, called if it is a method; None if there is none."""
    if not has_attribute(cls, "__schema_leaf__"):
        return None
    own: Any = getattr(cls, "__schema_leaf__", None)
    return own() if callable(own) else own


def schema_type(annotation: Any) -> Any:
    """Return the type to read in place of an annotation: its `__schema_type__`, or itself if it has none.

    A class under `@tool_input` has this attribute, because its name now means the tool.
    """
    return getattr(annotation, "__schema_type__", annotation)


def has_attribute(cls: object, name: str) -> bool:
    """Return whether a class has an attribute that Python's own bases don't have.

    This is faster than `hasattr`, which raises an error for a missing attribute and discards it.
    """
    if type(cls) is type or type(cls) is EnumType:  # another metaclass may say anything
        for base in cls.__mro__:  # noqa: SIM110  # faster than a generator
            if base not in _USUAL_BASES and name in base.__dict__:
                return True
        return False
    return hasattr(cls, name)


_USUAL_BASES: Final = frozenset({object, str, int, float, Enum, IntEnum, StrEnum})


def as_leaf(item: Any) -> SchemaLeaf[Any] | None:
    """Return a leaf unchanged, None for anything else."""
    return item if isinstance(item, SchemaLeaf) else None  # pyright: ignore[reportUnknownVariableType]  # of whatever type


def received_leaf(item: Any) -> str:
    """Describe the object that was given in place of a leaf."""
    copy = copy_of_leaf(item)
    return f"a SchemaLeaf of {copy}, another copy of {_OWN_PACKAGE}" if copy else received(item)


def copy_of_leaf(item: object) -> str | None:
    """Return the package of a leaf that comes from another copy of this package; None for anything else."""
    cls: type = type(item)
    if cls.__name__ != "SchemaLeaf" or cls is SchemaLeaf:
        return None
    module = cls.__module__
    return module.removesuffix(_MODULE) if module.endswith(_MODULE) else None


def index_leaves(leaves: Iterable[SchemaLeaf[Any]]) -> dict[type, SchemaLeaf[Any]]:
    """Map types to their leaves; the last leaf of a type counts."""
    return {leaf.type: leaf for leaf in leaves}
