"""Who changed which arguments of a call before it ran?

Most programs never change a call, so this module is imported with the first change.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..json_values import copy_json, to_json_text

if TYPE_CHECKING:
    from collections.abc import Mapping

ChangedBy: TypeAlias = Literal["hook", "person", "host"]
"""The possible authors of changes: a hook; a person who was asked; your program, with `call.with_input`."""


@dataclass(frozen=True)
class ArgumentChange:
    """One change of the arguments of a call before it ran.

    Attributes:
        by: who made it: `hook`, `person` or `host` (your program).
        hook: the name of the hook; None for others.
        names: names of the changed, added and removed arguments.
        at: the time; it takes no part in equality.
    """

    by: ChangedBy
    hook: str | None
    names: tuple[str, ...]
    at: datetime = field(compare=False)


@dataclass(frozen=True)
class ChangedArguments:
    """The arguments of a call after changes to those of the model; the call runs with these.

    Attributes:
        arguments: after the changes, as JSON values, with defaults.
        before: the model's own arguments, in the same form.
        changes: who changed them and when, in order.
    """

    arguments: dict[str, Any]
    before: dict[str, Any]
    changes: tuple[ArgumentChange, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the arguments that differ in the end."""
        return _differing(self.before, self.arguments)

    def as_dict(self) -> dict[str, Any]:
        """Return the record as JSON values."""
        return {"arguments": copy_json(self.arguments), "before": copy_json(self.before), **self.who()}

    def who(self) -> dict[str, Any]:
        """Return who changed which arguments, and when, as JSON values."""
        changes = [
            {"by": change.by, "hook": change.hook, "names": [*change.names], "at": change.at.isoformat()}
            for change in self.changes
        ]
        return {"changes": changes}


def changed_by(
    so_far: ChangedArguments | None,
    before: dict[str, Any],
    now: dict[str, Any],
    by: ChangedBy,
    hook: str | None,
) -> ChangedArguments | None:
    """Add a change to the record of changes; return None if the arguments are the original ones again.

    Args:
        so_far: the record before the change.
        before: the arguments before the change.
        now: the arguments after it.
        by: who made it.
        hook: the name of the hook that made it, or None.
    """
    names, first = _differing(before, now), before if so_far is None else so_far.before
    if not names:
        return so_far
    changes = (
        *(() if so_far is None else so_far.changes),
        ArgumentChange(by, hook, names, datetime.now(UTC)),
    )
    return ChangedArguments(now, first, changes) if _differing(first, now) else None


def _differing(before: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[str, ...]:
    names = [*before, *[name for name in now if name not in before]]
    return tuple([name for name in names if _text_at(before, name) != _text_at(now, name)])


def _text_at(arguments: Mapping[str, Any], name: str) -> str:
    return to_json_text(arguments[name]) if name in arguments else ""
