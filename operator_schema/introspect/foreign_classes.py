"""Classes of pydantic, attrs and msgspec, recognised by their attributes: nothing is imported."""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, Final, Literal

from ..message_text import clip, escape, listed
from .hints import Unresolved
from .nodes import TAG

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..findings import Finding
    from .nodes import ObjectNode

__all__ = [
    "WrittenField",
    "aliased_fields",
    "computed_fields",
    "fields_of",
    "forbids_extra",
    "keywords_of",
    "problems_of_fields",
    "report_unfollowed",
]


class WrittenField:
    """One field as a class of another library has it.

    Attributes:
        name: of the attribute.
        annotation: as the library has it; `dataclasses.MISSING` where the class has it.
        default: the default, or `dataclasses.MISSING`.
        has_factory: whether a factory makes the default.
        metadata: as that of a dataclass field, or None.
    """

    __slots__ = ("annotation", "default", "has_factory", "metadata", "name")

    def __init__(self, name: str, annotation: Any, default: Any, metadata: Mapping[Any, Any] | None) -> None:
        # Both libraries have a class of this name.
        self.has_factory = type(default).__name__ == "Factory"
        self.name = name
        self.annotation = annotation
        self.default = MISSING if self.has_factory else default
        self.metadata = metadata


def fields_of(cls: Any) -> Sequence[WrittenField]:
    """Return the fields of an attrs class or a Struct that its constructor takes, and the tag of a Struct."""
    return _attrs_fields(cls) if hasattr(cls, "__attrs_attrs__") else _struct_fields(cls)


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
    """Return the fields of an attrs class, each with the name by which the constructor takes it."""
    return {field.name: field.alias for field in cls.__attrs_attrs__ if field.init}


def computed_fields(cls: Any) -> Sequence[WrittenField]:
    """Return the fields of an attrs class that its constructor doesn't take."""
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
    """Return what a constructor of pydantic or attrs says of single fields; nothing if it says no field.

    Args:
        node: of the class.
        reason: what the constructor raised.
        given: key to what each field was given.
    """
    from ..findings import Finding

    errors: Any = getattr(reason, "errors", None)
    if type(reason).__module__.startswith("pydantic_core") and callable(errors):
        from .pydantic_models import problems_of

        # Where a class takes both, pydantic says the name and not the key.
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
    return [Finding((key,), "rejected", clip(escape(said[: _SAID_LENGTH + 1]), _SAID_LENGTH))]


_SAID_LENGTH: Final = 180


def forbids_extra(cls: Any) -> bool:
    """Return whether the configuration of pydantic in a class refuses keys that it doesn't name."""
    return _extra(cls) == "forbid"


def _extra(cls: Any) -> object:
    """Return what the configuration of pydantic in a class says of keys that it doesn't name."""
    config: Any = getattr(cls, "__pydantic_config__", None) or {}
    return config.get("extra")


def report_unfollowed(cls: Any, report: Callable[..., None]) -> None:
    """Complain about what pydantic would do with the values of a class, and nobody else does.

    Args:
        cls: a class with fields, but no model.
        report: takes step, code, message and remedy of each complaint.
    """
    if _extra(cls) == "allow":
        message = "its pydantic configuration keeps unknown keys, which would be lost here"
        remedy = "Derive the class from BaseModel, or give it a field of type dict[str, Any] for them"
        report("__pydantic_config__", "unsupported", message, remedy)
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


def aliased_fields(cls: Any) -> Sequence[str]:
    """Return the fields of a pydantic dataclass that its constructor does not take by name."""
    config: Any = cls.__dict__.get("__pydantic_config__") or {}
    if config.get("validate_by_name") or config.get("populate_by_name"):
        return ()
    return [
        name for name, info in cls.__pydantic_fields__.items() if info.validation_alias not in {None, name}
    ]
