"""Classes of pydantic, attrs and msgspec, recognised by their attributes: nothing is imported."""

from __future__ import annotations

import re
from dataclasses import MISSING
from types import FunctionType, SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, Literal

from ..findings import Finding, UnfitError
from ..message_text import listed, one_line, quote
from .hints import Unresolved, show_value
from .nodes import TAG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from .nodes import ObjectNode


class WrittenField:
    """One field as a class of another library declares it.

    Attributes:
        name: the name of the attribute.
        annotation: as the library stores it; `dataclasses.MISSING` if it is in the class's annotations.
        default: the default, or `dataclasses.MISSING`.
        has_factory: whether a factory makes the default.
        metadata: like the metadata of a dataclass field, or None.
    """

    __slots__ = ("annotation", "default", "has_factory", "metadata", "name")

    def __init__(self, name: str, annotation: Any, default: Any, metadata: Mapping[Any, Any] | None) -> None:
        # Both libraries have a class of this name.
        self.has_factory = type(default).__name__ == "Factory"
        self.name = name
        self.annotation = annotation
        self.default = MISSING if self.has_factory else default
        self.metadata = metadata


def fields_of(cls: Any, *, computed: bool = False) -> Sequence[WrittenField]:
    """Return the fields of an attrs class or a Struct that its constructor takes, and the tag of a Struct.

    Args:
        cls: an attrs class or a Struct.
        computed: for an attrs class, return the fields that its constructor doesn't take instead.
    """
    if not hasattr(cls, "__attrs_attrs__"):
        return _struct_fields(cls)
    return _computed_fields(cls) if computed else _attrs_fields(cls)


def _attrs_fields(cls: Any) -> list[WrittenField]:
    keywords = keywords_of(cls)
    found: list[WrittenField] = []
    for field in cls.__attrs_attrs__:
        if field.init:
            default = MISSING if type(field.default).__name__ == "_Nothing" else field.default
            annotation = _NO_ANNOTATION if field.type is None else field.type
            keyword = keywords[field.name]
            metadata = field.metadata if keyword == field.name else {"alias": keyword, **field.metadata}
            found.append(WrittenField(field.name, annotation, default, metadata))
    return found


def keywords_of(cls: Any) -> dict[str, str]:
    """Return the fields of an attrs class, each with its parameter name in the constructor."""
    return {field.name: field.alias for field in cls.__attrs_attrs__ if field.init}


def constructor_of_foreign(node: ObjectNode) -> Callable[..., Any]:
    """Return a function that makes an instance of an attrs class or a Struct from its fields, by name."""
    cls = node.type
    if node.form == "attrs":
        keywords = keywords_of(cls)
        return cls if all(name == keyword for name, keyword in keywords.items()) else _renaming(cls, keywords)
    return _without_tag(cls) if any(field.name == TAG for field in node.fields) else cls


def _renaming(cls: Callable[..., Any], keywords: Mapping[str, str]) -> Callable[..., Any]:
    def construct(**fields: Any) -> Any:
        return cls(**{keywords[name]: value for name, value in fields.items()})

    return construct


def _without_tag(cls: Callable[..., Any]) -> Callable[..., Any]:
    def construct(**fields: Any) -> Any:
        return cls(**{name: value for name, value in fields.items() if name != TAG})

    return construct


def _computed_fields(cls: Any) -> Sequence[WrittenField]:
    return [
        WrittenField(field.name, Any if field.type is None else field.type, MISSING, field.metadata)
        for field in cls.__attrs_attrs__
        if not field.init
    ]


_NO_ANNOTATION = Unresolved("of the field", "there is none", "Write one: `x: int = attrs.field()`")


def _struct_fields(cls: Any) -> list[WrittenField]:
    config = cls.__struct_config__
    found: list[WrittenField] = []
    if config.tag is not None:
        annotation: Any = Literal[config.tag]
        found.append(WrittenField(TAG, annotation, MISSING, {"alias": config.tag_field}))
    names: tuple[str, ...] = cls.__struct_fields__
    given: tuple[Any, ...] = cls.__struct_defaults__
    defaults = [MISSING] * (len(names) - len(given)) + [_struct_default(default) for default in given]
    for name, key, default in zip(names, cls.__struct_encode_fields__, defaults, strict=True):
        metadata = None if key == name else {"alias": key}
        found.append(WrittenField(name, MISSING, default, metadata))
    return found


def _struct_default(default: Any) -> Any:
    return MISSING if type(default).__name__ == "NoDefaultType" else default


def problems_of_fields(node: ObjectNode, reason: Exception, given: Mapping[Any, Any]) -> Sequence[Finding]:
    """Return the problems of single fields that a constructor of pydantic or attrs raised; none for others.

    Args:
        node: the node of the class.
        reason: the exception that the constructor raised.
        given: JSON key to the given value of each field.
    """
    errors: Any = getattr(reason, "errors", None)
    if type(reason).__module__.startswith("pydantic_core") and callable(errors):
        from .pydantic_models import problems_of

        # If a class takes both, pydantic reports the name and not the key.
        keys = {each.name: each.key for each in node.fields if each.key in given}
        found = problems_of(reason, {**{name: given[key] for name, key in keys.items()}, **given})
        firsts = [problem.path[:1] for problem in found]
        named = [(keys.get(str(first[0]), first[0]),) if first else () for first in firsts]
        return [each.replace(path=(*first, *each.path[1:])) for first, each in zip(named, found, strict=True)]
    # A validator of attrs raises its text, the field, and more.
    said, field = (*reason.args, None, None)[:2]
    name = getattr(field, "name", None)
    key = next((each.key for each in node.fields if each.name == name), None)
    if key is None or not isinstance(said, str):
        return ()
    return [Finding((key,), "rejected", one_line(said, _SAID_LENGTH))]


_SAID_LENGTH: Final = 180


def forbids_extra(cls: Any) -> bool:
    """Return whether the pydantic configuration of a class forbids unknown keys."""
    return _extra(cls) == "forbid"


def _extra(cls: Any) -> object:
    """Return the setting for unknown keys (`extra`) in the pydantic configuration of a class."""
    config: Any = getattr(cls, "__pydantic_config__", None) or {}
    return config.get("extra")


def report_unfollowed(cls: Any, report: Callable[..., None]) -> None:
    """Complain about pydantic settings of a class that change its values, which this package can't follow.

    Args:
        cls: a class with fields, but no model.
        report: called with step, code, message and remedy of each complaint.
    """
    if _extra(cls) == "allow":
        message = "its pydantic configuration keeps unknown keys, which would be lost here"
        remedy = "Derive the class from BaseModel, or give it a field of type dict[str, Any] for them"
        report("__pydantic_config__", "unsupported", message, remedy)
    for name in _aliased_fields(cls):
        message = "pydantic takes it by its alias alone, but it is decoded by name"
        report(name, "unsupported", message, "Add config=ConfigDict(validate_by_name=True)")
    decorated: Any = cls.__dict__.get("__pydantic_decorators__")
    if decorated is not None:
        for name in (*decorated.field_serializers, *decorated.model_serializers):
            message = "it is a serializer of pydantic, which encode doesn't run"
            report(name, "unsupported", message, "Derive the class from BaseModel, or give it a SchemaLeaf")
        return
    bases: tuple[type, ...] = cls.__mro__ if dict not in cls.__mro__ else (cls,)
    for base in bases:
        for name, member in vars(base).items():
            if type(member).__name__ == "PydanticDescriptorProxy":
                message = "it is decorated by pydantic, which has no effect in a class of this kind"
                report(name, "unsupported", message, _DO_IT_ITSELF)
    config: Any = getattr(cls, "__pydantic_config__", None) or {}
    lost = sorted(key for key, value in config.items() if value and key not in _WITHOUT_EFFECT)
    if lost:
        message = f"its pydantic configuration sets {listed(lost)}, which has no effect here"
        report("__pydantic_config__", "unsupported", message, _DO_IT_ITSELF)


_DO_IT_ITSELF: Final = (
    "Decorate the class with pydantic's dataclass, derive it from BaseModel, or do it in __post_init__"
)

_WITHOUT_EFFECT: Final = frozenset(
    {
        "arbitrary_types_allowed",
        "defer_build",
        "extra",
        "from_attributes",
        "frozen",
        "hide_input_in_errors",
        "protected_namespaces",
        "regex_engine",
        "revalidate_instances",
        "strict",
        "title",
        "use_attribute_docstrings",
        "validate_assignment",
        "validate_default",
        "validate_return",
        "validation_error_cause",
    }
)
"""Settings that change nothing about the JSON values that decode takes and encode writes."""


def _aliased_fields(cls: Any) -> Sequence[str]:
    """Return the fields of a pydantic dataclass that its constructor does not take by name."""
    config: Any = cls.__dict__.get("__pydantic_config__") or {}
    if config.get("validate_by_name") or config.get("populate_by_name"):
        return ()
    fields: Mapping[str, Any] = cls.__dict__.get("__pydantic_fields__", {})
    return [name for name, info in fields.items() if info.validation_alias not in {None, name}]


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
    **dict.fromkeys(_LIMITS, _ANYTHING),  # `read_constraints` takes them
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
        message = f"{_show(item)} of {library} can't be expressed in JSON Schema"
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
    shown = one_line(show_value(value), 60)
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


def _show(item: object) -> str:
    return one_line(show_value(item), 100)
