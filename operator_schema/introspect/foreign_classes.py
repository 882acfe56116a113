"""Classes of pydantic, attrs and msgspec, recognised by their attributes: nothing is imported."""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Annotated, Any

from .hints import Unresolved

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .classes import Declared

__all__ = ["aliased_fields", "read_pydantic_defaults"]


def read_pydantic_defaults(fields: Iterable[Declared]) -> None:
    """Read each `x: int = Field(3, ge=1)` of a pydantic dataclass as `x: Annotated[int, Field(ge=1)] = 3`."""
    for field in fields:
        info: Any = field.default
        if type(info).__name__ == "FieldInfo" and not isinstance(field.hint, Unresolved):
            field.hint = Annotated[field.hint, info]
            field.default = (
                MISSING if type(info.default).__name__ == "PydanticUndefinedType" else info.default
            )
            field.has_factory = info.default_factory is not None


def aliased_fields(cls: Any) -> Sequence[str]:
    """Return the fields of a pydantic dataclass that its constructor does not take by name."""
    config: Any = cls.__dict__.get("__pydantic_config__") or {}
    if config.get("validate_by_name") or config.get("populate_by_name"):
        return ()
    return [
        name for name, info in cls.__pydantic_fields__.items() if info.validation_alias not in {None, name}
    ]
