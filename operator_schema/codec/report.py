"""What a decode did besides decoding: the repairs that it made, the keys that it ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from ..immutable import Value

__all__ = ["DecodeReport", "IgnoredKey", "Repair", "RepairKind"]

T = TypeVar("T")

RepairKind = Literal["json_text", "scalar", "default", "choice", "key", "array", "syntax"]
"""What was done: a string that contained JSON was parsed · a number, boolean or null was taken out of its
quotes · the field's default took the place of a null · the choice that was meant was found · a key
was written as the field's own · one value became an array of it · the text was made JSON."""


class Repair(Value):
    """One thing that was put right before the value was decoded.

    Attributes:
        path: keys and indexes that lead from the root to the value, as they are after the repair.
        kind: what was done; a closed vocabulary.
        before: what came, as an excerpt of at most 60 characters.
        after: what was read instead, as short; `default` for the default of the field.
    """

    path: tuple[str | int, ...]
    kind: RepairKind
    before: str
    after: str

    def __str__(self) -> str:
        """Write path, what came and what was read on one line of bounded length."""
        from ..wording import clip, show_path

        where = clip(show_path(self.path), 150)
        return f"{f'{where}: ' if where else ''}{self.before} read as {self.after} ({self.kind})"


class IgnoredKey(Value):
    """A key that names no field, and was left out.

    Attributes:
        path: keys and indexes that lead from the root to it, the key itself being the last.
        suggestion: the nearest key that names a field, or None.
    """

    path: tuple[str | int, ...]
    suggestion: str | None

    def __str__(self) -> str:
        """Write the path, and the key that was probably meant, on one line of bounded length."""
        from ..wording import clip, quote, show_path

        where = clip(show_path(self.path), 150)
        return where if self.suggestion is None else f"{where} (did you mean {quote(self.suggestion)}?)"


class DecodeReport(Value, Generic[T]):
    """An instance, and what was done to the arguments on the way to it.

    Attributes:
        instance: what `decode` returns.
        repairs: what was put right, in the order of the fields; empty without `repair=True`.
        ignored: the keys that name no field, at most 100 of them.
    """

    instance: T
    repairs: tuple[Repair, ...]
    ignored: tuple[IgnoredKey, ...]

    if not TYPE_CHECKING:  # for speed alone, as in `introspect/nodes.py`: every call makes one

        def __new__(
            cls, instance: T, repairs: tuple[Repair, ...], ignored: tuple[IgnoredKey, ...]
        ) -> DecodeReport[T]:
            """Make a report."""
            self = cls._draft()
            self.instance = instance
            self.repairs = repairs
            self.ignored = ignored
            self.__class__ = cls
            return self
