"""What changed between two versions of tools: for those who call them, and those who read their results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from ..immutable import Value
from ..json_values import is_object, to_json_text
from ..message_text import clip, excerpt, quote
from ..schema.value_check import same_text
from .containment import ABSENT, show_place
from .schemas import NO_VALUE, Judged, narrowings, narrowings_of
from .snapshot import Snapshot, ToolSnapshot, snapshot_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ..tools import Tool
    from .schemas import Narrowing

    Tools: TypeAlias = Snapshot | Iterable[Tool[..., Any]]

__all__ = ["LABELS", "LEVELS", "Change", "Comparison", "Level", "compare"]

Level: TypeAlias = Literal["breaking", "undecided", "meaning", "text", "wider"]
LEVELS: Final[tuple[Level, ...]] = ("breaking", "undecided", "meaning", "text", "wider")
"""How much a change asks of others, the most first.

`breaking`: a call that worked is refused now, or a result may come that wasn't allowed before ·
`undecided`: it may be breaking: it could neither be proven nor ruled out ·
`meaning`: every call still works, but its effect, or what the tool says about it, may differ ·
`text`: only what a model reads is different · `wider`: everything that worked still works, and more does.
"""

LABELS: Final = {
    "added": "a new tool",
    "removed": "the tool is gone",
    "closed": "unknown keys",
    "unknown": "the key",
    "output": "results",
    "min_length": "minimum length",
    "max_length": "maximum length",
    "not_one_of": "choices",
}
"""How a person reads codes whose names don't say it."""

_WITHOUT_SIDES: Final = frozenset({"added", "removed"})
_WITNESS_LENGTH = 300
_TEXT_LENGTH = 80
_LONGEST_ESCAPE = 12
"""Characters of JSON for one that isn't printable: two surrogates."""

_SHOWN_BEFORE = 15


class Change(Value):
    """One thing that is different.

    Attributes:
        tool: its name.
        level: how much it asks of others.
        side: `send`: for those who call the tool · `read`: for those who read its results.
        code: what kind of thing it is, such as `required` or `removed`.
        path: keys and indexes that lead to the place in the arguments, or in the result.
        before: what was said before, in words.
        after: what is said now.
        witness: the smallest arguments, or the smallest result, that show it; `NO_VALUE` if there is none.
    """

    tool: str
    level: Level
    side: Literal["send", "read"]
    code: str
    path: tuple[str | int, ...] = ()
    before: str = ""
    after: str = ""
    witness: Any = NO_VALUE

    def __str__(self) -> str:
        """Write it on one line, without the witness."""
        return f"{self.tool}{self.said}"

    @property
    def said(self) -> str:
        """What is different, on one line, without the name of the tool and the witness."""
        place = show_place(self.path)
        sides = " in results" if self.side == "read" and self.code != "output" else ""
        where = (
            f"{f': {place}' if place else ''}{sides}: {LABELS.get(self.code, self.code.replace('_', ' '))}"
        )
        return where if self.code in _WITHOUT_SIDES else f"{where}: {self.before} → {self.after}"

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        data = {
            "tool": self.tool,
            "level": self.level,
            "side": self.side,
            "code": self.code,
            "path": list(self.path),
            "before": self.before,
            "after": self.after,
        }
        return data if self.witness is NO_VALUE else {**data, "witness": self.witness}

    @property
    def has_witness(self) -> bool:
        """Whether a value is known that shows it."""
        return self.witness is not NO_VALUE

    def shown_witness(self) -> str:
        """Return the witness as JSON text, cut to one line."""
        return clip(to_json_text(self.witness), _WITNESS_LENGTH)


class Comparison(Value):
    """All that changed.

    Attributes:
        changes: those that ask the most of others first, then by tool.
    """

    changes: tuple[Change, ...]

    def of(self, *levels: Level) -> tuple[Change, ...]:
        """Return the changes of some levels."""
        return tuple([change for change in self.changes if change.level in levels])

    @property
    def level(self) -> Level | None:
        """The level of the change that asks the most; None if nothing changed."""
        return self.changes[0].level if self.changes else None


def compare(old: Tools, new: Tools, *, on_compared: Callable[[], object] | None = None) -> Comparison:
    """List what changed between two versions of tools.

    Each `breaking` change of a schema has a witness: a call that worked and fails now, or a result that
    the old schema doesn't allow. Where nothing is `breaking` or `undecided`, it is proven that the new schema
    takes every call that the old one took, as far as it has only keys that the old one names.

    Args:
        old: a snapshot, or tools.
        new: what takes their place.
        on_compared: is called after each tool that both have, to show how far it is.

    Returns:
        The changes.

    Raises:
        SchemaError: a schema can't be read.
    """
    before, after = (_as_snapshot(tools).by_name() for tools in (old, new))
    removed = [before[name] for name in before if name not in after]
    added = [after[name] for name in after if name not in before]
    gone = [*_removed(removed, added)]
    successors = {change.after for change in gone if change.code == "renamed"}
    changes = [*gone, *_added([tool for tool in added if tool.name not in successors])]
    for name in before.keys() & after.keys():
        changes += _of_tool(before[name], after[name])
        if on_compared is not None:
            on_compared()
    changes.sort(key=lambda change: (LEVELS.index(change.level), change.tool, [*map(str, change.path)]))
    return Comparison(tuple(changes))


def _as_snapshot(tools: Tools) -> Snapshot:
    return tools if isinstance(tools, Snapshot) else snapshot_of(tools)


def _removed(removed: list[ToolSnapshot], added: list[ToolSnapshot]) -> Iterator[Change]:
    for tool in removed:
        same = [other.name for other in added if _is_renamed(tool, other)]
        if len(same) == 1:
            yield Change(tool.name, "breaking", "send", "renamed", before=tool.name, after=same[0])
        else:
            yield Change(tool.name, "breaking", "send", "removed", before="there", after="removed")


def _is_renamed(old: ToolSnapshot, new: ToolSnapshot) -> bool:
    is_same = same_text(old.input_schema) == same_text(new.input_schema)
    return is_same and (old.description == new.description or bool(old.input_schema.get("properties")))


def _added(added: list[ToolSnapshot]) -> Iterator[Change]:
    for tool in added:
        yield Change(tool.name, "wider", "send", "added", before="not there", after="added")


def _of_tool(old: ToolSnapshot, new: ToolSnapshot) -> Iterator[Change]:
    yield from _sent(old, new)
    yield from _read(old, new)
    yield from _hints(old, new)
    if old.description != new.description:
        yield _text(old.name, (), old.description, new.description)
    yield from _described(old.name, old.input_schema, new.input_schema, ())


# --- those who send ------------------------------------------------------------------------------


def _sent(old: ToolSnapshot, new: ToolSnapshot) -> Iterator[Change]:
    renamed = _renamed_keys(old.input_schema, new.input_schema)
    narrower, wider = _both_ways(old.input_schema, new.input_schema)
    for place in narrower:
        yield _narrower(old.name, "send", place, renamed)
    for place in map(_turned, wider):
        # What went altogether is told of as ignored.
        if place.verdict != "undecided" and not (place.code == "required" and place.after == ABSENT):
            yield Change(old.name, "wider", "send", *_facts(_told_as_wider(place)))
    broken = {place.path for place in narrower if place.verdict == "breaking"}
    yield from _ignored(old, new, renamed, broken)
    yield from _defaults(old.name, old.input_schema, new.input_schema, ())


def _both_ways(
    old: Mapping[str, Any], new: Mapping[str, Any]
) -> tuple[tuple[Narrowing, ...], tuple[Narrowing, ...]]:
    """Return what is narrower in the new schema of arguments, and what is narrower in the old one."""
    if same_text(old) == same_text(new):
        return (), ()
    before, after = (Judged(schema, is_arguments=True) for schema in (old, new))
    return narrowings_of(before, after), narrowings_of(after, before, is_all=False)


def _told_as_wider(place: Narrowing) -> Narrowing:
    """Return a place with words for what fits now beside what did before."""
    is_more = place.code in ("type", "not_one_of") and place.before != "any value" != place.after
    return place.replace(after=f"also {place.after}") if is_more else place


def _narrower(
    tool: str, side: Literal["send", "read"], place: Narrowing, renamed: Mapping[str, str]
) -> Change:
    levels: Mapping[str, Level] = {"breaking": "breaking", "undecided": "undecided", "unasked": "wider"}
    former = renamed.get(str(place.path[-1])) if place.path and place.code == "required" else None
    before = place.before if former is None else f"called {quote(former)}"
    code = place.code if former is None else "renamed"
    level = levels[place.verdict]
    return Change(tool, level, side, *_facts(place.replace(code=code, before=before)))


def _facts(place: Narrowing) -> tuple[str, tuple[str | int, ...], str, str, Any]:
    return place.code, place.path, place.before, place.after, place.witness


def _properties(schema: Any) -> dict[str, Any]:
    found = schema.get("properties") if is_object(schema) else None
    return found if is_object(found) else {}


def _renamed_keys(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """Return new names of properties whose schema is that of one that went, with the name it had."""
    before, after = _properties(old), _properties(new)
    gone = {name: same_text(before[name]) for name in before if name not in after}
    come = {name: same_text(after[name]) for name in after if name not in before}
    pairs = {name: [former for former in gone if gone[former] == text] for name, text in come.items()}
    return {name: found[0] for name, found in pairs.items() if len(found) == 1}


def _ignored(
    old: ToolSnapshot, new: ToolSnapshot, renamed: Mapping[str, str], broken: set[tuple[str | int, ...]]
) -> Iterator[Change]:
    """Yield the arguments that no call can give any more, though it isn't refused for them."""
    for name in _properties(old.input_schema):
        if name not in _properties(new.input_schema) and (name,) not in broken:
            successor = next((after for after, before in renamed.items() if before == name), None)
            after = "ignored" if successor is None else f"ignored, in favour of {quote(successor)}"
            yield Change(old.name, "meaning", "send", "ignored", (name,), "an argument", after)


def _pairs(
    old: Any, new: Any, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], Any, Any]]:
    """Yield the schemas of the same property in both documents, at every depth that can be followed."""
    after = _properties(new)
    for name, schema in _properties(old).items():
        if is_object(schema) and is_object(after.get(name)):
            yield (*path, name), schema, after[name]
            yield from _pairs(schema, after[name], (*path, name))
    for items in ("items", "additionalProperties"):
        inside = [document.get(items) if is_object(document) else None for document in (old, new)]
        if all(map(is_object, inside)):
            yield from _pairs(inside[0], inside[1], (*path, "*"))


def _defaults(tool: str, old: Any, new: Any, path: tuple[str | int, ...]) -> Iterator[Change]:
    for place, before, after in _pairs(old, new, path):
        values = [schema.get("default", NO_VALUE) for schema in (before, after)]
        texts = ["none" if value is NO_VALUE else excerpt(value) for value in values]
        if texts[0] != texts[1]:
            yield Change(tool, "meaning", "send", "default", place, texts[0], texts[1])


# --- those who read ------------------------------------------------------------------------------


def _read(old: ToolSnapshot, new: ToolSnapshot) -> Iterator[Change]:
    before, after = old.output_schema, new.output_schema
    if before is None and after is not None:
        yield Change(old.name, "wider", "read", "output", (), "not described", "described")
    elif before is not None and after is None:
        yield Change(old.name, "breaking", "read", "output", (), "described", "not described")
    elif before is not None and after is not None:
        # A result is sent by the tool: what it may send now has to be what readers were told of.
        for place in narrowings(after, before, is_arguments=False):
            if place.verdict != "unasked":
                yield _narrower(old.name, "read", _told_as_wider(_turned(place)), {})


def _turned(place: Narrowing) -> Narrowing:
    return place.replace(before=place.after, after=place.before)


# --- what a model and a program read of a tool ---------------------------------------------------


def _hints(old: ToolSnapshot, new: ToolSnapshot) -> Iterator[Change]:
    for name in sorted(old.hints.keys() | new.hints.keys()):
        values = [tool.hints.get(name) for tool in (old, new)]
        if values[0] != values[1]:
            texts = ["not stated" if value is None else excerpt(value) for value in values]
            level: Level = "text" if name == "title" else "meaning"
            yield Change(old.name, level, "send", name, (), texts[0], texts[1])


def _text(tool: str, path: tuple[str | int, ...], before: str, after: str) -> Change:
    start = _difference(before, after) if before and after else 0
    texts = [
        _quoted(clip(f"{'…' if start else ''}{text[start:]}", _TEXT_LENGTH)) if text else "none"
        for text in (before, after)
    ]
    return Change(tool, "text", "send", "description", path, texts[0], texts[1])


def _quoted(text: str) -> str:
    """Return all of a text as a JSON string, with the short form of a line break."""
    lines = [quote(line, len(line) * _LONGEST_ESCAPE + 2)[1:-1] for line in text.split("\n")]
    return '"' + "\\n".join(lines) + '"'


def _difference(before: str, after: str) -> int:
    """Return where to begin so that both texts show where they differ: at a word before that."""
    pairs = enumerate(zip(before, after, strict=False))
    same = next((index for index, (one, other) in pairs if one != other), min(len(before), len(after)))
    if max(len(before), len(after)) <= _TEXT_LENGTH or same < _SHOWN_BEFORE:
        return 0
    return before.rfind(" ", 0, max(same - _SHOWN_BEFORE, 1)) + 1


def _described(tool: str, old: Any, new: Any, path: tuple[str | int, ...]) -> Iterator[Change]:
    for place, before, after in _pairs(old, new, path):
        texts = [str(schema.get("description") or "") for schema in (before, after)]
        if texts[0] != texts[1]:
            yield _text(tool, place, texts[0], texts[1])
