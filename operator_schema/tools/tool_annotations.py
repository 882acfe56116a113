"""What a tool says about itself to the program that offers it: nothing that is guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..immutable import Value
from ..json_values import copy_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self, TypedDict

    class Statements(TypedDict, total=False):
        """The options of `tool`, `tool_input` and `with_` that `ToolAnnotations` keeps."""

        title: str | None
        read_only: bool | None
        destructive: bool | None
        idempotent: bool | None
        open_world: bool | None
        confirm: bool | None
        meta: Mapping[str, Any] | None


__all__ = [
    "FLAGS",
    "NOTHING_STATED",
    "STATEMENTS",
    "ToolAnnotations",
    "as_json_object",
    "contradiction",
]

FLAGS = ("read_only", "destructive", "idempotent", "open_world", "confirm")
"""The statements that are yes or no."""

STATEMENTS = frozenset({"title", *FLAGS, "meta"})
"""All of them, by the names that the options have."""


class ToolAnnotations(Value):
    """What a tool says about itself to the program that offers it; the model does not see it.

    Names and meanings are those of `ToolAnnotations` in MCP (schema 2025-06-18 and later), where
    they are `title`, `readOnlyHint`, `destructiveHint`, `idempotentHint` and `openWorldHint`. What
    isn't stated is None: what a client then assumes is its own matter. All are what the author says,
    and nothing here enforces them.

    Attributes:
        title: name for people.
        read_only: whether it leaves everything as it was.
        destructive: whether it may delete or overwrite something, rather than only add.
        idempotent: whether a second call with the same arguments changes nothing more.
        open_world: whether it deals with an open set of outside things, such as the web.
        confirm: whether a person has to agree before it is called.
        meta: data for the program that offers the tool, as a JSON object; a copy at each reading.
    """

    title: str | None
    read_only: bool | None
    destructive: bool | None
    idempotent: bool | None
    open_world: bool | None
    confirm: bool | None
    meta: dict[str, Any]

    def __init__(
        self,
        title: str | None = None,
        read_only: bool | None = None,  # noqa: FBT001  # a value is made by position when it is unpickled
        destructive: bool | None = None,  # noqa: FBT001  # as above
        idempotent: bool | None = None,  # noqa: FBT001  # as above
        open_world: bool | None = None,  # noqa: FBT001  # as above
        confirm: bool | None = None,  # noqa: FBT001  # as above
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Keep what is given as it is, with a copy of `meta`; `tool` checks its options."""
        copied: dict[str, Any] = copy_json(dict(meta)) if meta else {}
        super().__init__(title, read_only, destructive, idempotent, open_world, confirm, copied)

    def as_dict(self) -> dict[str, Any]:
        """Return what was stated, by its name, as JSON values that the caller owns."""
        stated = {name: getattr(self, name) for name in ("title", *FLAGS)}
        found = {name: value for name, value in stated.items() if value is not None}
        meta = self.meta
        return {**found, "meta": meta} if meta else found

    def replace(self, **changes: Any) -> Self:
        """Return a copy in which the named attributes have other values."""
        return type(self)(**{**self.as_dict(), **changes})

    def __hash__(self) -> int:
        return hash((self.title, *[getattr(self, name) for name in FLAGS], len(self.meta)))

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other)

    def __repr__(self) -> str:
        stated = ", ".join([f"{name}={value!r}" for name, value in self.as_dict().items()])
        return f"ToolAnnotations({stated})"


_kept: Any = vars(ToolAnnotations)["meta"]
# Nobody who reads it can change what the tool has.
type.__setattr__(ToolAnnotations, "meta", property(lambda self: copy_json(_kept.__get__(self))))


NOTHING_STATED = ToolAnnotations()
"""Of every tool that states nothing."""


def as_json_object(given: Any) -> dict[str, Any] | None:
    """Return a mapping as a JSON object of its own; None if it is something else."""
    from ..codec.codec import codec_of

    try:
        encoded: dict[str, Any] = codec_of(dict[str, object]).encode(dict(given))
    except Exception:  # noqa: BLE001  # a mapping may be of any class, whose code may fail
        return None
    return encoded


def contradiction(annotations: ToolAnnotations) -> tuple[str, str] | None:
    """Return message and remedy for statements that can't both be true, None where all can."""
    if annotations.read_only and annotations.destructive:
        return "it says that it is read_only and destructive", "Say one of the two"
    return None
