"""What changed between two versions of tools, for their callers and for readers of their results?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from ...engine import KEYWORDS
from ...immutable import Value
from ...json_values import is_array, is_object, to_json_text
from ...message_text import clip, escape, excerpt, quote, show_place
from ...sameness import is_same_json, same_text
from .codes import label_of
from .containment import ABSENT, NEW_KEY, NO_VALUE
from .decoder_marks import format_leaves, marked
from .narrowings import JudgedDocument, narrowings, narrowings_of
from .snapshot import Snapshot, ToolSnapshot, snapshot_of
from .written_differences import differences

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from ...tools import Tool
    from .narrowings import Narrowing
    from .written_differences import Difference

    Tools: TypeAlias = Snapshot | Iterable[Tool[..., Any]]
    Side: TypeAlias = Literal["send", "read"]

Level: TypeAlias = Literal["breaking", "undecided", "meaning", "text", "wider"]
MEANINGS: Final[Mapping[Level, str]] = {
    "breaking": "a call that worked is refused now, or a result is possible that wasn't allowed before",
    "undecided": "it may be breaking: it could neither be proven nor ruled out",
    "meaning": "every call still works, but its effect, or what the tool says about it, may differ",
    "text": "only the text for the model is different",
    "wider": "everything that worked still works, and more calls work now",
}
"""The meaning of each level."""

LEVELS: Final[tuple[Level, ...]] = tuple(MEANINGS)
"""The levels of changes, the most serious first."""

_WITHOUT_SIDES: Final = frozenset({"added", "removed"})
_WITNESS_LENGTH = 300
_TEXT_LENGTH = 80
_SHOWN_BEFORE = 15


class Change(Value):
    """One difference between two versions of a tool.

    Attributes:
        tool: the name of the tool.
        level: how serious the change is for others.
        side: `send`: for those who call the tool · `read`: for those who read its results.
        code: the kind of the changed part, such as `required` or `removed`.
        path: keys and indexes that lead to the place in the arguments, or in the result.
        before: the old state, in words.
        after: the new state, in words.
        witness: the smallest arguments, or the smallest result, that show the change; `NO_VALUE` if there are
            none.
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
        """Write the change on one line, without the witness."""
        return f"{self.tool}{self.said}"

    @property
    def said(self) -> str:
        """The difference on one line, without the name of the tool and the witness."""
        place = show_place(self.path)
        sides = " in results" if self.side == "read" and self.code != "output" else ""
        where = f"{f': {place}' if place else ''}{sides}: {label_of(self.code)}"
        if self.code == "ignored":
            return f"{where}: {self.after}"
        return where if self.code in _WITHOUT_SIDES else f"{where}: {self.before} → {self.after}"

    def as_dict(self) -> dict[str, Any]:
        """Return the change as JSON values."""
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
        """Whether there is a value that shows the change."""
        return self.witness is not NO_VALUE

    def shown_witness(self) -> str:
        """Return the witness as JSON text, cut to one line; empty if there is none."""
        return "" if not self.has_witness else clip(to_json_text(self.witness), _WITNESS_LENGTH)


class Comparison(Value):
    """All changes between two versions.

    Attributes:
        changes: the changes, the most serious first, then by tool.
    """

    changes: tuple[Change, ...]

    def of(self, *levels: Level) -> tuple[Change, ...]:
        """Return the changes of some levels."""
        return tuple([change for change in self.changes if change.level in levels])

    @property
    def level(self) -> Level | None:
        """The level of the most serious change; None if nothing changed."""
        return self.changes[0].level if self.changes else None


def compare(old: Tools, new: Tools, *, on_compared: Callable[[], object] | None = None) -> Comparison:
    """List what changed between two versions of tools.

    Each `breaking` change of a schema has a witness: a call that worked and now fails, or a result that the
    old schema doesn't allow. If no change is `breaking` or `undecided`, it is proven that the new schema
    accepts every call that the old one accepted, if all keys of the call are named in the old one.

    Args:
        old: a snapshot, or tools.
        new: the snapshot, or the tools, that replace them.
        on_compared: a function that is called after each tool in both versions, to show progress.

    Returns:
        The changes.

    Raises:
        SchemaError: a schema can't be read.
    """
    snapshots = [tools if isinstance(tools, Snapshot) else snapshot_of(tools) for tools in (old, new)]
    before, after = (each.by_name() for each in snapshots)
    removed = [before[name] for name in before if name not in after]
    added = [after[name] for name in after if name not in before]
    gone = [*_removed(removed, added)]
    successors = {change.after for change in gone if change.code == "renamed"}
    new_names = [tool.name for tool in added if tool.name not in successors]
    changes = [
        *gone,
        *[Change(each, "wider", "send", "added", (), "not there", "added") for each in new_names],
    ]
    for name in before.keys() & after.keys():
        changes += _changes_of_tool(before[name], after[name])
        if on_compared is not None:
            on_compared()
    changes.sort(key=lambda change: (LEVELS.index(change.level), change.tool, [*map(str, change.path)]))
    return Comparison(tuple(changes))


def _removed(removed: list[ToolSnapshot], added: list[ToolSnapshot]) -> Iterator[Change]:
    for tool in removed:
        same = [other.name for other in added if _is_renamed(tool, other)]
        if len(same) == 1:
            yield Change(tool.name, "breaking", "send", "renamed", before=tool.name, after=same[0])
        else:
            yield Change(tool.name, "breaking", "send", "removed", before="there", after="removed")


def _is_renamed(old: ToolSnapshot, new: ToolSnapshot) -> bool:
    is_same = is_same_json(old.input_schema, new.input_schema)
    return is_same and (old.description == new.description or bool(old.input_schema.get("properties")))


def _changes_of_tool(old: ToolSnapshot, new: ToolSnapshot) -> Iterator[Change]:
    found = [*_changes_for_callers(old, new), *_changes_for_readers(old, new), *_hints(old, new)]
    if old.description != new.description:
        found.append(_of_description(old.name, "send", (), old.description, new.description))
    is_known = [each.decoder is not None for each in (old, new)]
    if is_known[0] != is_known[1] or (not found and old.decoder != new.decoder):
        before, after = ("known" if each else "not known" for each in is_known)
        found.append(Change(old.name, "text", "send", "decoder", (), before, after))
    yield from found


# --- changes for callers --------------------------------------------------------------------------


def _changes_for_callers(old: ToolSnapshot, new: ToolSnapshot) -> list[Change]:
    renamed = _renamed_keys(old.input_schema, new.input_schema)
    narrower, wider = _both_ways(*_decoded_schemas(old, new))
    found = [_narrower(old.name, "send", place) for place in narrower]
    # the removal is reported as ignored
    found += [
        _change(old.name, "wider", "send", _with_also(_in_every_format(place, new)))
        for place in map(_seen_from_the_other_side, wider)
        if place.verdict != "undecided" and not (place.after == ABSENT or place.code == NEW_KEY)
    ]
    broken = {place.path for place in narrower if place.verdict == "breaking"}
    found += _ignored(old, new, broken)
    required = new.input_schema.get("required")
    for name, former in renamed.items():
        found = _as_renamed(found, name, former, is_required=is_array(required) and name in required)
    more: Level = "wider" if wider else "text"
    written = differences(old.input_schema, new.input_schema)
    return found + _undescribed(
        old.name, "send", written, found, more, {(each,) for each in renamed.values()}
    )


def _decoded_schemas(old: ToolSnapshot, new: ToolSnapshot) -> list[dict[str, Any]]:
    """Return the schemas that two decoders accept; if one decoder isn't known, the published schemas."""
    if old.decoder is None or new.decoder is None:
        return [old.input_schema, new.input_schema]
    return [marked(each.input_schema, each.decoder or {}) for each in (old, new)]


def _both_ways(
    old: Mapping[str, Any], new: Mapping[str, Any]
) -> tuple[tuple[Narrowing, ...], tuple[Narrowing, ...]]:
    """Return the places where the new schema of arguments is narrower, and where the old one is."""
    if is_same_json(old, new):
        return (), ()
    before, after = (JudgedDocument(schema, is_arguments=True) for schema in (old, new))
    return narrowings_of(before, after), narrowings_of(after, before, is_all=False)


def _in_every_format(place: Narrowing, new: ToolSnapshot) -> Narrowing:
    """Return a place, without its witness if a server that checks formats would refuse it."""
    if place.witness is NO_VALUE or new.decoder is not None:
        return place
    strict = JudgedDocument(new.input_schema, is_arguments=True, leaves=format_leaves())
    return place if strict.takes(place.witness) else place.replace(witness=NO_VALUE)


def _with_also(place: Narrowing) -> Narrowing:
    """Return a place with the word "also" if more values fit now than before."""
    is_more = place.code in ("type", "not_one_of") and place.before != "any value" != place.after
    return place.replace(after=f"also {place.after}") if is_more else place


def _seen_from_the_other_side(place: Narrowing) -> Narrowing:
    """Return a place where the old schema is narrower as one where the new schema is wider."""
    return place.replace(before=place.after, after=place.before)


def _narrower(tool: str, side: Side, place: Narrowing) -> Change:
    levels: Mapping[str, Level] = {"breaking": "breaking", "undecided": "undecided", "unasked": "wider"}
    return _change(tool, levels[place.verdict], side, place)


def _change(tool: str, level: Level, side: Side, place: Narrowing) -> Change:
    return Change(tool, level, side, place.code, place.path, place.before, place.after, place.witness)


def _properties(schema: Any) -> dict[str, Any]:
    found = schema.get("properties") if is_object(schema) else None
    return found if is_object(found) else {}


def _renamed_keys(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """Return the new names of renamed properties, by comparing schemas, with the old names."""
    before, after = _properties(old), _properties(new)
    gone = {name: same_text(before[name]) for name in before if name not in after}
    come = {name: same_text(after[name]) for name in after if name not in before}
    pairs = {name: [former for former in gone if gone[former] == text] for name, text in come.items()}
    return {name: found[0] for name, found in pairs.items() if len(found) == 1}


def _ignored(old: ToolSnapshot, new: ToolSnapshot, broken: set[tuple[str | int, ...]]) -> Iterator[Change]:
    """Yield the arguments that are ignored now, although calls with them aren't refused."""
    for name in _properties(old.input_schema):
        if name not in _properties(new.input_schema) and (name,) not in broken:
            yield Change(old.name, "meaning", "send", "ignored", (name,), "an argument", _IGNORED)


def _as_renamed(found: list[Change], name: str, former: str, *, is_required: bool) -> list[Change]:
    """Return changes, with one renaming in place of the changes for a removed and an added argument."""
    places = ((name,), (former,))
    about = [change for change in found if change.path in places and change.code in _OF_WHOLE_KEYS]
    if not about:
        return found
    worst = min(about, key=lambda change: LEVELS.index(change.level))
    now = "required" if is_required else "optional"
    one = worst.replace(code="renamed", path=(name,), before=f"called {quote(former)}", after=now)
    return [*[change for change in found if change not in about], one]


_OF_WHOLE_KEYS: Final = frozenset({"required", NEW_KEY, "ignored", "unknown"})


# --- changes for readers of results ---------------------------------------------------------------


def _changes_for_readers(old: ToolSnapshot, new: ToolSnapshot) -> Iterator[Change]:
    before, after = old.output_schema, new.output_schema
    if before is None and after is not None:
        yield Change(old.name, "wider", "read", "output", (), "not described", "described")
    elif before is not None and after is None:
        # Of the same tools, a server lists less than their snapshot: MCP describes results that are objects.
        is_module_asked_as_server = old.decoder is not None and new.decoder is None
        if is_module_asked_as_server and before.get("type") != "object":
            told = "not described: a server describes only objects"
            yield Change(old.name, "meaning", "read", "output", (), "described", told)
        else:
            yield Change(old.name, "breaking", "read", "output", (), "described", "not described")
    elif before is not None and after is not None:
        # The tool sends results, so everything that it may send now has to be allowed by the old description.
        found = [
            _narrower(old.name, "read", _with_also(_seen_from_the_other_side(place)))
            for place in narrowings(*_encoded_schemas(new, old), is_arguments=False)
            if place.verdict != "unasked"
        ]
        yield from found
        yield from _undescribed(old.name, "read", differences(before, after), found, "meaning")


def _encoded_schemas(*tools: ToolSnapshot) -> list[dict[str, Any]]:
    """Return the schemas that tools send; if one encoder isn't known, the published schemas."""
    if any(each.encoder is None for each in tools):
        return [each.output_schema or {} for each in tools]
    return [marked(each.output_schema or {}, each.encoder or {}) for each in tools]


# --- descriptions and hints -----------------------------------------------------------------------


def _hints(old: ToolSnapshot, new: ToolSnapshot) -> Iterator[Change]:
    for name in sorted(old.hints.keys() | new.hints.keys()):
        values = [tool.hints.get(name) for tool in (old, new)]
        if values[0] != values[1]:
            texts = ["not stated" if value is None else excerpt(value) for value in values]
            level: Level = "text" if name == "title" else "meaning"
            yield Change(old.name, level, "send", name, (), texts[0], texts[1])


def _of_description(tool: str, side: Side, path: tuple[str | int, ...], before: str, after: str) -> Change:
    start = _start_of_difference(before, after) if before and after else 0
    texts = [
        _quoted(clip(f"{'…' if start else ''}{text[start:]}", _TEXT_LENGTH)) if text else "none"
        for text in (before, after)
    ]
    return Change(tool, "text", side, "description", path, texts[0], texts[1])


def _quoted(text: str) -> str:
    """Return all of a text as a JSON string, with the short form of a line break."""
    lines = [escape(line.replace("\\", "\\\\").replace('"', '\\"')) for line in text.split("\n")]
    return '"' + "\\n".join(lines) + '"'


def _start_of_difference(before: str, after: str) -> int:
    """Return the position of a word before the first difference of two texts, to show both from there."""
    pairs = enumerate(zip(before, after, strict=False))
    same = next((index for index, (one, other) in pairs if one != other), min(len(before), len(after)))
    if max(len(before), len(after)) <= _TEXT_LENGTH or same < _SHOWN_BEFORE:
        return 0
    return before.rfind(" ", 0, max(same - _SHOWN_BEFORE, 1)) + 1


def _undescribed(
    tool: str,
    side: Side,
    written: Iterable[Difference],
    said: Iterable[Change],
    more: Level,
    known: Collection[tuple[str | int, ...]] = (),
) -> list[Change]:
    """Return a change for each difference in the written schemas that no other change describes.

    Args:
        tool: the name of the tool.
        side: whose schema it is.
        written: the differences of the written schemas.
        said: the changes in which values fit.
        more: the level of a change in a keyword that decides which values fit.
        known: the places whose differences are all described.
    """
    places = [_with_stars(change.path) for change in said]
    found: list[Change] = []
    for each in written:
        if each.keyword in KEYWORDS and KEYWORDS[each.keyword].says == "note":
            found.append(_of_note(tool, side, each))
        elif each.path not in known and not _is_described(_with_stars(each.path), each.keyword, places):
            found.append(_of_keyword(tool, side, each, more))
    return found


def _with_stars(path: tuple[str | int, ...]) -> tuple[str, ...]:
    return tuple(["*" if isinstance(step, int) else step for step in path])


def _is_described(path: tuple[str, ...], keyword: str, places: Iterable[tuple[str, ...]]) -> bool:
    """Return whether a change describes a place, or one inside or around it."""
    if not path:
        # Every place is inside the root: only keywords that combine schemas describe all of them.
        return any(not place or keyword in _COMPOSING for place in places)
    return any(place and (place[: len(path)] == path or path[: len(place)] == place) for place in places)


def _of_note(tool: str, side: Side, each: Difference) -> Change:
    if each.keyword == "description":
        texts = ["" if value is NO_VALUE else str(value) for value in (each.before, each.after)]
        if texts[0] != texts[1]:
            return _of_description(tool, side, each.path, texts[0], texts[1])
    level: Level = "meaning" if each.keyword == "default" else "text"
    return Change(tool, level, side, each.keyword, each.path, _excerpt(each.before), _excerpt(each.after))


def _excerpt(value: Any) -> str:
    return "none" if value is NO_VALUE else excerpt(value)


def _of_keyword(tool: str, side: Side, each: Difference, more: Level) -> Change:
    if each.keyword == "properties" and NO_VALUE in (each.before, each.after):
        if each.after is NO_VALUE:
            return Change(tool, "meaning", side, "ignored", each.path, "there", _GONE[side])
        return Change(tool, "wider", side, NEW_KEY, each.path, *_NEW[side])
    code = each.keyword if each.keyword in KEYWORDS else "schema"
    if each.is_order:
        return Change(tool, "text", side, code, each.path, _excerpt(each.before), "in another order")
    before, after = _excerpt(each.before), _excerpt(each.after)
    if not each.keyword:
        return Change(tool, "text", side, code, each.path, before, "written in another way")
    level: Level = more if each.keyword in KEYWORDS else "text"
    if code == "schema":
        before, after = f"{each.keyword} {before}", f"{each.keyword} {after}"
    return Change(tool, level, side, code, each.path, before, after)


_COMPOSING: Final = frozenset({"$ref", "anyOf", "oneOf", "allOf", "not", "if", "then", "else"})
_IGNORED: Final = "calls that give it still work, and it is ignored"
_GONE: Final[Mapping[str, str]] = {"send": _IGNORED, "read": "results may still have it, and nothing says so"}
_NEW: Final[Mapping[str, tuple[str, str]]] = {
    "send": ("ignored as unknown", "may be given"),
    "read": ("not described", "described"),
}
