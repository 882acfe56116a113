"""Which pydantic settings of a class that isn't a model can't be followed? Nothing is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..message_text import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def forbids_extra(cls: Any) -> bool:
    """Return whether the pydantic configuration of a class forbids unknown keys."""
    return _config_of(cls).get("extra") == "forbid"


def _config_of(cls: Any) -> Mapping[str, Any]:
    return getattr(cls, "__pydantic_config__", None) or {}


def report_unfollowed(cls: Any, report: Callable[..., None]) -> None:
    """Complain about pydantic settings of a class that change its values, which this package can't follow.

    Args:
        cls: a class with fields, but no model.
        report: called with step, code, message and remedy of each complaint.
    """
    config = _config_of(cls)
    if config.get("extra") == "allow":
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
