"""What does metadata of pydantic, annotated-types and msgspec mean in `Annotated`? Nothing is imported."""

from __future__ import annotations

import re
from types import FunctionType, SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from ..findings import UnfitError
from ..message_text import quote
from .shown_annotations import show_briefly

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


_LIBRARIES: Final = frozenset({"pydantic", "pydantic_core", "msgspec", "annotated_types", "attr"})

_OPEN_BASES: Final = frozenset({"BaseMetadata", "GroupedMetadata", "BaseModel", "Struct"})
"""Classes of these libraries that are meant to be subclassed: a subclass is the user's own."""

_LIMITS: Final = ("gt", "ge", "lt", "le", "multiple_of", "min_length", "max_length")

_CLASSES: Final[dict[str, tuple[str, ...]]] = {
    # annotated_types
    **dict.fromkeys(("Ge", "Gt", "Le", "Lt", "Interval", "MultipleOf", "MinLen", "MaxLen", "Len"), _LIMITS),
    "DocInfo": ("documentation",),
    # pydantic
    "Strict": ("strict",),
    "AllowInfNan": ("allow_inf_nan",),
    "FailFast": ("fail_fast",),
    "Discriminator": ("discriminator", "custom_error_type", "custom_error_message", "custom_error_context"),
    "StringConstraints": (
        "min_length",
        "max_length",
        "pattern",
        "strict",
        "strip_whitespace",
        "to_upper",
        "to_lower",
        "ascii_only",
    ),
    "FieldInfo": (),  # its slots
    "_PydanticGeneralMetadata": (),  # whatever it was given
    # msgspec
    "Meta": (*_LIMITS, "pattern", "tz", "title", "description", "examples", "extra_json_schema", "extra"),
}
"""The classes that are read, by name, and their attributes."""

_ANYTHING: Final[Any] = object()
_ASSIGN: Final = "Give it after the annotation: `x: Annotated[…] = …`"
_IN_CLASS: Final = "Do it in __post_init__, or give the type a SchemaLeaf"

_HARMLESS: Final[dict[str, Any]] = {
    **dict.fromkeys(_LIMITS, _ANYTHING),  # `constraints` reads them
    "strict": (True,),
    "allow_inf_nan": (False,),
    "union_mode": ("smart",),
    "tz": (True,),
    "coerce_numbers_to_str": (False,),
    "strip_whitespace": (False,),
    "to_upper": (False,),
    "to_lower": (False,),
    "ascii_only": (False,),
    "exclude": (False,),
    "deprecated": (False,),
    "init": (True,),
    "init_var": (False,),
    **dict.fromkeys(("fail_fast", "repr", "frozen", "kw_only", "validate_default"), _ANYTHING),
    **dict.fromkeys(("annotation", "alias_priority", "metadata", "extra"), _ANYTHING),
}
"""Attributes, and their values, that change nothing about the JSON values that are read and written."""

_REMEDIES: Final[dict[str, str]] = {
    "default": _ASSIGN,
    "default_factory": _ASSIGN,
    "title": "Put it into the description",
    "deprecated": "Say so in the description",
    "json_schema_extra": "Take it out, or give the type a SchemaLeaf",
    "extra_json_schema": "Take it out, or give the type a SchemaLeaf",
    "validation_alias": "Give one alias: the same key is read and written",
    "serialization_alias": "Give one alias: the same key is read and written",
    "exclude": "Take the field out of the class, or make it an InitVar",
    "strict": "Take it out; repair=True converts values of another type",
    "allow_inf_nan": "Take it out: JSON has no such numbers",
    "union_mode": "Take it out: members of a union are distinguished by their JSON, not by their order",
    "discriminator": "Name a field that is a Literal in each member",
    "decimal_places": "Give 0 to 15, and less than max_digits",
    "max_digits": "Give up to 15, and decimal_places as well: together they are limits",
    "strip_whitespace": "Strip it in your function, or say a pattern",
    "tz": "Take it out, or use the leaf for local times",
}
"""By attribute, the remedy if it can't be supported; for any other attribute, `_IN_CLASS`."""

_CLASS_REMEDIES: Final[dict[str, str]] = {
    "Tag": "Give each member of the union a field that is a Literal",
    "Predicate": "Check it in __post_init__",
    "Not": "Check it in __post_init__",
    "WithJsonSchema": "Give the type a SchemaLeaf with that schema",
    "PlainSerializer": "Give the type a SchemaLeaf with its own encode",
    "WrapSerializer": "Give the type a SchemaLeaf with its own encode",
    "SkipValidation": "Annotate it as Any",
    "Unit": "Say it in the description",
    "UuidVersion": "Write UUID, and check its version in __post_init__",
    "PathType": "Write Path, and look for the file in your function",
    "EncodedBytes": "Write bytes, which is base64 in JSON",
    "EncodedStr": "Write str, and decode it in your function",
    "Json": "Write the type that is inside: arguments are JSON already",
}
"""By class, the remedy for metadata that can't be read; for any other class, `_IN_CLASS`."""


def is_foreign(item: object) -> bool:
    """Return whether an object belongs to one of the libraries whose metadata this package reads."""
    return _foreign_class(item) is not None or _is_foreign_function(item)


def _name_of(item: object) -> str | None:
    """Return the name of an object of these libraries in source code, such as `pydantic.Field`."""
    cls = _foreign_class(item)
    if cls is None:
        return None
    name = _PUBLIC_NAMES.get(cls.__name__)
    return name or f"{cls.__module__.partition('.')[0]}.{cls.__name__}"


_PUBLIC_NAMES: Final = {
    "FieldInfo": "pydantic.Field",
    "_PydanticGeneralMetadata": "pydantic.Field",
    "Field": "msgspec.field",
    "_CountingAttr": "attrs.field",
}


def fault_of_default(value: object) -> tuple[str, str] | None:
    """Return message and remedy for a default that only another library can read.

    Args:
        value: a default that does not fit its field.

    Returns:
        Message and remedy; None for any other value.
    """
    name = _name_of(value)
    if name is None or isinstance(value, type):
        return None
    if name not in _PUBLIC_NAMES.values():
        called = name.rpartition(".")[2]
        return f"its default is {name}(…), which belongs to the annotation", (
            f"Write it inside the annotation: `x: Annotated[int, {called}(…)] = 3`"
        )
    message = f"its default is {name}(…), which only {name.partition('.')[0]} reads"
    if name == "pydantic.Field":
        return message, "Write it inside the annotation: `x: Annotated[int, Field(…)] = 3`"
    return message, "Use dataclasses.field, or Annotated[…] and a plain default"


def _foreign_class(item: object) -> type | None:
    """Return the first class in an object's MRO that one of the libraries defines."""
    cls: type = item if isinstance(item, type) else type(item)
    for base in type.mro(cls) if cls is type else cls.__mro__:
        if _library_of(base.__module__) is not None:
            return None if base.__name__ in _OPEN_BASES else base
    return None


def _is_foreign_function(item: object) -> bool:
    return isinstance(item, FunctionType) and _library_of(item.__module__) is not None


def _library_of(module: object) -> str | None:
    """Return the library that a module belongs to, if this package reads its metadata."""
    library = module.partition(".")[0] if isinstance(module, str) else ""
    return library if library in _LIBRARIES else None


class Translation:
    """The metadata of one `Annotated` in the vocabulary of this package.

    Attributes:
        metadata: descriptions as `str`, patterns as `re.Pattern`, limits as objects with an
            attribute such as `ge`.
        of_field: the part of the metadata about the annotated field itself: `alias`, `examples`.
        default: the complaint about a default that is given inside `Annotated`, or None.
        discriminator: the field that distinguishes the members of the union, or None.
    """

    __slots__ = ("default", "discriminator", "metadata", "of_field")

    def __init__(self) -> None:
        self.metadata: list[object] = []
        self.of_field: dict[str, Any] = {}
        self.default: UnfitError | None = None
        self.discriminator: str | None = None


def translate(metadata: Iterable[object]) -> Translation:
    """Turn metadata of pydantic, attrs and msgspec into the vocabulary of this package.

    Args:
        metadata: the metadata of one `Annotated`, in order.

    Raises:
        UnfitError: something in it would be lost.
    """
    translation = Translation()
    for item in metadata:
        _add(item, translation)
    return translation


def _add(item: object, to: Translation) -> None:
    cls = _foreign_class(item)
    if _is_foreign_function(item) or (cls is not None and item is cls and cls.__name__ in _CLASSES):
        name = getattr(item, "__name__", "")
        message = f"{_library_of(item.__module__)}.{name} lacks its parentheses, so it has no effect"
        raise UnfitError(message, f"Call it: `{name}(…)`")
    if cls is None:
        to.metadata.append(item)
        return
    if isinstance(item, type) or cls.__name__ not in _CLASSES:
        if cls.__name__ == "Predicate" and _holds_for_all_numbers(item):
            return
        library = cls.__module__.partition(".")[0]
        message = f"{show_briefly(item)} of {library} can't be expressed in JSON Schema"
        raise UnfitError(message, _CLASS_REMEDIES.get(cls.__name__, _IN_CLASS))
    for inner in getattr(item, "metadata", None) or ():
        _add(inner, to)
    to.metadata.append(item)  # its limits are read as they are
    for attribute in _attributes(item, cls):
        value = getattr(item, attribute, None)
        if _is_given(attribute, value):
            _READERS.get(attribute, _check_harmless)(attribute, value, item, to)


def _attributes(item: object, cls: Any) -> Iterable[str]:
    if cls.__name__ == "FieldInfo":
        return [slot for slot in cls.__slots__ if not slot.startswith("_")]
    return _CLASSES[cls.__name__] or vars(item)


def _is_given(attribute: str, value: object) -> bool:
    if value is None:
        return attribute == "default"  # its attributes have a special value for "not given"
    return type(value).__name__ not in {"PydanticUndefinedType", "ellipsis"}


def _check_harmless(attribute: str, value: object, item: object, _to: Translation) -> None:
    harmless = _HARMLESS.get(attribute, ())
    if harmless is not _ANYTHING and value not in harmless:
        raise _unsupported(attribute, value, item)


def _unsupported(attribute: str, value: object, item: object) -> UnfitError:
    shown = show_briefly(value, 60)
    message = f"{attribute}={shown} of {_name_of(item)} has no meaning here"
    return UnfitError(message, _REMEDIES.get(attribute, _IN_CLASS))


def _take_text(_attribute: str, value: object, _item: object, to: Translation) -> None:
    to.metadata.append(value)


def _take_pattern(_attribute: str, value: Any, item: object, to: Translation) -> None:
    try:
        to.metadata.append(re.compile(value))
    except (re.error, TypeError) as error:
        message = f"the pattern {quote(str(value))} of {_name_of(item)} can't be compiled: {error}"
        raise UnfitError(message, "Write it so that Python's re module can read it") from None


def _take_decimals(attribute: str, value: Any, item: Any, to: Translation) -> None:
    """Translate pydantic's limits on the digits of a `Decimal` into a step and bounds."""
    places, digits = getattr(item, "decimal_places", None), getattr(item, "max_digits", None)
    most = _MOST_PLACES if digits is None else digits
    is_within = type(places) is int and type(most) is int and 0 <= places <= most <= _MOST_PLACES
    if not is_within or places == digits:  # without a digit before the point, pydantic refuses even 0
        raise _unsupported(attribute, value, item)
    limits: dict[str, Any] = {"multiple_of": float(f"1e-{places}")}
    if digits is not None:
        limits |= {"gt": -(10 ** (digits - places)), "lt": 10 ** (digits - places)}
    to.metadata.append(SimpleNamespace(**limits))


_MOST_PLACES: Final = 15
"""How many digits of a JSON number are exact when it is read as a float."""


def _take_alias(attribute: str, value: object, item: Any, to: Translation) -> None:
    if any(other != value for other in (item.alias, item.validation_alias, item.serialization_alias)):
        raise _unsupported(attribute, value, item)
    to.of_field["alias"] = value


def _take_examples(_attribute: str, value: object, _item: object, to: Translation) -> None:
    to.of_field["examples"] = value


def _take_default(attribute: str, value: object, item: object, to: Translation) -> None:
    to.default = _unsupported(attribute, value, item)


def _take_discriminator(attribute: str, value: object, item: object, to: Translation) -> None:
    if not isinstance(value, str):  # a function has no JSON Schema
        raise _unsupported(attribute, value, item)
    to.discriminator = value


_READERS: Final[dict[str, Callable[[str, Any, Any, Translation], None]]] = {
    "description": _take_text,
    "documentation": _take_text,
    "pattern": _take_pattern,
    "alias": _take_alias,
    "validation_alias": _take_alias,
    "serialization_alias": _take_alias,
    "examples": _take_examples,
    "default": _take_default,
    "default_factory": _take_default,
    "discriminator": _take_discriminator,
    "decimal_places": _take_decimals,
    "max_digits": _take_decimals,
}
"""By attribute, the function that translates it."""


def _holds_for_all_numbers(item: Any) -> bool:
    """Return whether a predicate holds for every number that JSON has, as `IsFinite` does."""
    inner = getattr(item.func, "func", None)  # of a `Not`
    test = getattr(inner or item.func, "__name__", None)
    return test in {"isnan", "isinf"} if inner is not None else test == "isfinite"
