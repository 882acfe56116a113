"""The mark of parameters that your program injects, so that the model does not see them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Skip", "skip"]


@final
class Skip:
    """The class of `skip`, of which there is one."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "skip"

    def __reduce__(self) -> str:
        return "skip"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self


skip: Final = Skip()
"""Marks a parameter that your program injects at the call: `db: Annotated[Db, skip]`."""
