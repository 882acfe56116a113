"""The changes between two versions of tools: for those who call them, and those who read their results."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from ...engine import KEYWORDS, DocumentCodec, SchemaDocument
from ...immutable import Value
from ...json_values import is_array, is_object, to_json_text
from ...message_text import clip, excerpt, quote, show_place
from ...sameness import is_same_json, same_text
from .codes import label_of
from .containment import ABSENT, NEW_KEY, NO_VALUE, escapes
from .decoder_marks import format_leaves, is_leaf_format, marked, text_leaves
from .sampling import drawn_values
from .snapshot import Snapshot, ToolSnapshot, snapshot_of
from .unread_keywords import unkept
from .written_differences import differences

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from ...engine import SchemaLeaf
    from ...tools import Tool

    Tools: TypeAlias = Snapshot | Iterable[Tool[..., Any]]
    from ...findings import Finding
    from .containment import Escape
    from .unread_keywords import Unkept
    from .written_differences import Difference

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
_LONGEST_ESCAPE = 12
"""The number of characters of JSON for a character that isn't printable: two surrogates."""

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
        """Return the witness as JSON text, cut to one line."""
        return clip(to_json_text(self.witness), _WITNESS_LENGTH)


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
    is_same = is_same_json(old.input_schema, new.input_schema)
    return is_same and (old.description == new.description or bool(old.input_schema.get("properties")))


def _added(added: list[ToolSnapshot]) -> Iterator[Change]:
    for tool in added:
        yield Change(tool.name, "wider", "send", "added", before="not there", after="added")


def _of_tool(old: ToolSnapshot, new: ToolSnapshot) -> Iterator[Change]:
    found = [*_sent(old, new), *_read(old, new), *_hints(old, new)]
    if old.description != new.description:
        found.append(_text(old.name, "send", (), old.description, new.description))
    is_known = [each.decoder is not None for each in (old, new)]
    if is_known[0] != is_known[1] or (not found and old.decoder != new.decoder):
        before, after = ("known" if each else "not known" for each in is_known)
        found.append(Change(old.name, "text", "send", "decoder", (), before, after))
    yield from found


# --- changes for callers --------------------------------------------------------------------------


def _sent(old: ToolSnapshot, new: ToolSnapshot) -> list[Change]:
    renamed = _renamed_keys(old.input_schema, new.input_schema)
    narrower, wider = _both_ways(*_taken(old, new))
    found = [_narrower(old.name, "send", place) for place in narrower]
    # the removal is reported as ignored
    found += [
        Change(old.name, "wider", "send", *_facts(_told_as_wider(_in_every_format(place, new))))
        for place in map(_turned, wider)
        if place.verdict != "undecided" and not (place.after == ABSENT or place.code == NEW_KEY)
    ]
    broken = {place.path for place in narrower if place.verdict == "breaking"}
    found += _ignored(old, new, broken)
    required = new.input_schema.get("required")
    for name, former in renamed.items():
        found = _as_renamed(found, name, former, is_required=is_array(required) and name in required)
    more: Level = "wider" if wider else "text"
    written = differences(old.input_schema, new.input_schema)
    return found + _unsaid(old.name, "send", written, found, more, {(name,) for name in renamed.values()})


def _taken(old: ToolSnapshot, new: ToolSnapshot) -> list[dict[str, Any]]:
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


def _told_as_wider(place: Narrowing) -> Narrowing:
    """Return a place with the word "also" if more values fit now than before."""
    is_more = place.code in ("type", "not_one_of") and place.before != "any value" != place.after
    return place.replace(after=f"also {place.after}") if is_more else place


def _narrower(tool: str, side: Side, place: Narrowing) -> Change:
    levels: Mapping[str, Level] = {"breaking": "breaking", "undecided": "undecided", "unasked": "wider"}
    return Change(tool, levels[place.verdict], side, *_facts(place))


def _facts(place: Narrowing) -> tuple[str, tuple[str | int, ...], str, str, Any]:
    return place.code, place.path, place.before, place.after, place.witness


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


def _read(old: ToolSnapshot, new: ToolSnapshot) -> Iterator[Change]:
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
            _narrower(old.name, "read", _told_as_wider(_turned(place)))
            for place in narrowings(*_written(new, old), is_arguments=False)
            if place.verdict != "unasked"
        ]
        yield from found
        yield from _unsaid(old.name, "read", differences(before, after), found, "meaning")


def _written(*tools: ToolSnapshot) -> list[dict[str, Any]]:
    """Return the schemas that tools send; if one encoder isn't known, the published schemas."""
    if any(each.encoder is None for each in tools):
        return [each.output_schema or {} for each in tools]
    return [marked(each.output_schema or {}, each.encoder or {}) for each in tools]


def _turned(place: Narrowing) -> Narrowing:
    return place.replace(before=place.after, after=place.before)


# --- descriptions and hints -----------------------------------------------------------------------


def _hints(old: ToolSnapshot, new: ToolSnapshot) -> Iterator[Change]:
    for name in sorted(old.hints.keys() | new.hints.keys()):
        values = [tool.hints.get(name) for tool in (old, new)]
        if values[0] != values[1]:
            texts = ["not stated" if value is None else excerpt(value) for value in values]
            level: Level = "text" if name == "title" else "meaning"
            yield Change(old.name, level, "send", name, (), texts[0], texts[1])


def _text(tool: str, side: Side, path: tuple[str | int, ...], before: str, after: str) -> Change:
    start = _difference(before, after) if before and after else 0
    texts = [
        _quoted(clip(f"{'…' if start else ''}{text[start:]}", _TEXT_LENGTH)) if text else "none"
        for text in (before, after)
    ]
    return Change(tool, "text", side, "description", path, texts[0], texts[1])


def _quoted(text: str) -> str:
    """Return all of a text as a JSON string, with the short form of a line break."""
    lines = [quote(line, len(line) * _LONGEST_ESCAPE + 2)[1:-1] for line in text.split("\n")]
    return '"' + "\\n".join(lines) + '"'


def _difference(before: str, after: str) -> int:
    """Return the position of a word before the first difference of two texts, to show both from there."""
    pairs = enumerate(zip(before, after, strict=False))
    same = next((index for index, (one, other) in pairs if one != other), min(len(before), len(after)))
    if max(len(before), len(after)) <= _TEXT_LENGTH or same < _SHOWN_BEFORE:
        return 0
    return before.rfind(" ", 0, max(same - _SHOWN_BEFORE, 1)) + 1


def _unsaid(
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
    places = [_plain(change.path) for change in said]
    found: list[Change] = []
    for each in written:
        if _is_note(each.keyword):
            found.append(_of_note(tool, side, each))
        elif each.path not in known and not _is_said(_plain(each.path), each.keyword, places):
            found.append(_of_keyword(tool, side, each, more))
    return found


def _is_note(keyword: str) -> bool:
    return keyword in KEYWORDS and KEYWORDS[keyword].says == "note"


def _plain(path: tuple[str | int, ...]) -> tuple[str, ...]:
    return tuple(["*" if isinstance(step, int) else step for step in path])


def _is_said(path: tuple[str, ...], keyword: str, places: Iterable[tuple[str, ...]]) -> bool:
    """Return whether a change describes a place, or one inside or around it."""
    if not path:
        # Every place is inside the root: only keywords that combine schemas describe all of them.
        return any(not place or keyword in _COMPOSING for place in places)
    return any(place and (place[: len(path)] == path or path[: len(place)] == place) for place in places)


def _of_note(tool: str, side: Side, each: Difference) -> Change:
    if each.keyword == "description":
        texts = ["" if value is NO_VALUE else str(value) for value in (each.before, each.after)]
        if texts[0] != texts[1]:
            return _text(tool, side, each.path, texts[0], texts[1])
    level: Level = "meaning" if each.keyword == "default" else "text"
    return Change(tool, level, side, each.keyword, each.path, _shown(each.before), _shown(each.after))


def _shown(value: Any) -> str:
    return "none" if value is NO_VALUE else excerpt(value)


def _of_keyword(tool: str, side: Side, each: Difference, more: Level) -> Change:
    if each.keyword == "properties" and NO_VALUE in (each.before, each.after):
        if each.after is NO_VALUE:
            return Change(tool, "meaning", side, "ignored", each.path, "there", _GONE[side])
        return Change(tool, "wider", side, NEW_KEY, each.path, *_NEW[side])
    code = each.keyword if each.keyword in KEYWORDS else "schema"
    if each.is_order:
        return Change(tool, "text", side, code, each.path, _shown(each.before), "in another order")
    before, after = _shown(each.before), _shown(each.after)
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


# --- two schemas ---------------------------------------------------------------------------------


Verdict: TypeAlias = Literal["breaking", "undecided", "unasked"]

_MOST_PARTS = 30
"""The maximum number of parts of a document that are compared separately."""

_MOST_DRAWN = 100
"""The maximum number of random values that are tried if there is no proof."""

_MOST_TRIED = 500
"""The maximum number of smaller values that are tried for one witness."""


class Narrowing(Value):
    """A place where the new schema may refuse a value that the old one accepts.

    Attributes:
        path: keys and indexes that lead to the place.
        code: the kind of difference, such as `required` or `minimum`.
        before: the old schema there, in words.
        after: the new schema there, in words.
        verdict: `breaking` if there is a witness · `unasked` if every witness has a key that the old schema
            doesn't name, and ignores · otherwise `undecided`.
        witness: a smallest value that the old schema accepts and the new one refuses, or `NO_VALUE`.
    """

    path: tuple[str | int, ...]
    code: str
    before: str
    after: str
    verdict: Verdict
    witness: Any


class JudgedDocument:
    """A parsed document, with a judge of values.

    Args:
        schema: the document.
        is_arguments: whether it describes the arguments of a tool.
        leaves: the types that read texts, by format; None for the types of marked schemas.

    Attributes:
        schema: the document.
        is_arguments: the given value.
        codec: decides whether a value fits.
    """

    __slots__ = ("codec", "is_arguments", "schema")

    def __init__(
        self,
        schema: Mapping[str, Any],
        *,
        is_arguments: bool,
        leaves: Mapping[str, SchemaLeaf[Any]] | None = None,
    ) -> None:
        self.schema = schema
        self.is_arguments = is_arguments
        self.codec = DocumentCodec(SchemaDocument("schema", schema, is_arguments, leaves or text_leaves()))

    def takes(self, value: Any) -> bool:
        """Return whether a value fits the document."""
        return not self.codec.report(value)


def narrowings(
    old: Mapping[str, Any], new: Mapping[str, Any], *, is_arguments: bool = True
) -> tuple[Narrowing, ...]:
    """List the places where the new schema may refuse a value that the old one accepts.

    Args:
        old: a JSON Schema document.
        new: the document that replaces it.
        is_arguments: whether they describe the arguments of a tool, which are objects.

    Returns:
        An empty list if it is proven that the new schema accepts every value of the old one. Each `breaking`
        place has a witness: a value that the old document accepts and the new one refuses. A place is
        `undecided` if there is neither a witness nor a proof.

    Raises:
        SchemaError: one of the documents can't be read.
    """
    if is_same_json(old, new):
        return ()
    before, after = (JudgedDocument(schema, is_arguments=is_arguments) for schema in (old, new))
    return narrowings_of(before, after)


def narrowings_of(
    before: JudgedDocument, after: JudgedDocument, *, is_all: bool = True
) -> tuple[Narrowing, ...]:
    """List the places as `narrowings` does, for parsed documents.

    Args:
        before: the old document.
        after: the new one.
        is_all: whether each place matters. If not, fewer values are tried once one place is breaking, and
            none if there seem to be no places.
    """
    found = _narrowings(before, after)
    # Keywords that no graph contains are checked in two ways, so that nothing is proven wrongly.
    is_open = is_all and bool(after.codec.beyond) and not found
    is_undecided = [each.verdict == "undecided" for each in found]
    if not is_open and not (any(is_undecided) if is_all else found and all(is_undecided)):
        return found
    shown: list[Any] = []
    if all(is_undecided):
        from .case_values import NO_VALUE_EXISTS, UNDECIDED
        from .counterexamples import difference

        value = difference(before.schema, after.schema, is_object_only=before.is_arguments)
        if value is NO_VALUE_EXISTS:
            return ()
        shown += [] if value is UNDECIDED else [value]
    if shown and all(each.code == "format" for each in found):
        found = (*found, Narrowing((), "schema", "a value fits", "it doesn't fit", "undecided", NO_VALUE))
    if all(each.verdict != "undecided" or each.code == "format" for each in found):
        return found
    return tuple(_refuted(found, before, after, shown))


def _refuted(
    found: tuple[Narrowing, ...], before: JudgedDocument, after: JudgedDocument, shown: list[Any]
) -> list[Narrowing]:
    """Return the places, with witnesses for undecided ones if a value shows the difference.

    Args:
        found: the places.
        before: the old document.
        after: the new one.
        shown: values that are tried before random ones.
    """
    places = list(found)
    kept = {str(name) for each in places if each.verdict == "undecided" for name in each.path}
    for value in chain(shown, drawn_values(before.schema, after.schema, _MOST_DRAWN, kept)):
        open_ = [i for i, each in enumerate(places) if each.verdict == "undecided" and each.code != "format"]
        if not open_:
            break
        if not before.takes(value):
            continue
        findings = after.codec.report(value)
        if not findings:
            continue
        place = next((i for i in open_ if _is_at(findings, places[i])), None)
        if place is None and all(each.verdict == "undecided" for each in places):
            # A judge's verdict about an outer place has no meaning for the others.
            place = open_[0]
        if place is not None:
            places[place] = _with_witness(places[place], value, before, after)
    return places


def _is_at(findings: Iterable[Finding], place: Narrowing) -> bool:
    return any(_starts_with(finding.path, place.path) for finding in findings)


def _with_witness(place: Narrowing, witness: Any, before: JudgedDocument, after: JudgedDocument) -> Narrowing:
    def is_shown(value: Any) -> bool:
        if not before.takes(value):
            return False
        findings = after.codec.report(value)
        return bool(findings) and (not is_exact or _is_at(findings, place))

    is_exact = _is_at(after.codec.report(witness), place)
    return place.replace(verdict="breaking", witness=_smallest(witness, is_shown))


def _narrowings(before: JudgedDocument, after: JudgedDocument) -> tuple[Narrowing, ...]:
    """List the places as far as both documents can be followed together."""
    found = [_narrowing(escape, before, after) for escape in escapes(before.codec.graph, after.codec.graph)]
    known = {each.path for each in found if each.code == "format"}
    parts = 0

    def prove(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        nonlocal parts
        from .case_values import NO_VALUE_EXISTS
        from .counterexamples import difference

        parts += 1
        return parts <= _MOST_PARTS and difference(one, other) is NO_VALUE_EXISTS

    def fit(values: list[Any], document: Mapping[str, Any]) -> bool:
        judged = JudgedDocument(document, is_arguments=False)
        return not judged.codec.left and all(map(judged.takes, values))

    more = map(_not_kept, unkept(before.schema, after.schema, after.codec.beyond, prove, fit))
    # The graph contains the types that read texts.
    found += [
        each
        for each in more
        if each.code != "format" or not (each.path in known or is_leaf_format(each.after))
    ]
    return tuple(found)


def _narrowing(escape: Escape, before: JudgedDocument, after: JudgedDocument) -> Narrowing:
    witness = escape.value
    if witness is NO_VALUE or not _flips(witness, before, after):
        return Narrowing(escape.path, escape.code, escape.before, escape.after, "undecided", NO_VALUE)
    is_shown = _shower(escape, witness, before, after)
    smallest = _smallest(witness, is_shown)
    is_unasked = escape.code == NEW_KEY and not _says_of_other_keys(before, escape.path[:-1])
    verdict: Verdict = "unasked" if is_unasked else "breaking"
    return Narrowing(escape.path, escape.code, escape.before, escape.after, verdict, smallest)


def _says_of_other_keys(judged: JudgedDocument, path: tuple[str | int, ...]) -> bool:
    """Return whether a document restricts the keys of an object that it doesn't name."""
    place = tuple("*" if isinstance(step, int) else step for step in path)
    return any(note.keyword in _OTHER_KEYS and note.path == place for note in judged.codec.beyond)


_OTHER_KEYS: Final = frozenset({"additionalProperties", "patternProperties", "unevaluatedProperties"})


def _flips(value: Any, before: JudgedDocument, after: JudgedDocument) -> bool:
    return before.takes(value) and not after.takes(value)


def _shower(
    escape: Escape, witness: Any, before: JudgedDocument, after: JudgedDocument
) -> Callable[[Any], bool]:
    """Return a function that decides whether a value shows this escape and not another one."""

    def is_shown(value: Any) -> bool:
        if not before.takes(value):
            return False
        return any(_is_about(finding, escape) for finding in after.codec.report(value))

    # A judge of the whole document may find the fault at an outer place.
    return is_shown if is_shown(witness) else lambda value: _flips(value, before, after)


def _is_about(finding: Finding, escape: Escape) -> bool:
    if escape.code in _UNKNOWN:
        return finding.code == "unknown" and (not escape.path or finding.path == escape.path)
    return _starts_with(finding.path, escape.path)


def _starts_with(path: tuple[str | int, ...], start: tuple[str | int, ...]) -> bool:
    steps = path[: len(start)]
    return len(steps) == len(start) and all(
        wanted in ("*", step) for wanted, step in zip(start, steps, strict=True)
    )


_UNKNOWN: Final = frozenset({"closed", "unknown"})


def _smallest(witness: Any, is_shown: Callable[[Any], bool]) -> Any:
    """Remove everything from a witness that isn't needed."""
    tried = 0
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for candidate in _without_one(witness):
            tried += 1
            if tried > _MOST_TRIED:
                return witness
            if is_shown(candidate):
                witness, is_smaller = candidate, True
                break
    return witness


def _without_one(value: Any) -> Iterator[Any]:
    """Yield a value without one of the keys and items in it."""
    if is_object(value):
        for key, inner in value.items():
            rest = {other: each for other, each in value.items() if other != key}
            yield rest
            yield from ({**value, key: smaller} for smaller in _without_one(inner))
    elif is_array(value):
        for index, inner in enumerate(value):
            yield [*value[:index], *value[index + 1 :]]
            yield from ([*value[:index], smaller, *value[index + 1 :]] for smaller in _without_one(inner))


def _not_kept(each: Unkept) -> Narrowing:
    if each.keyword == "format":
        before = "none" if each.before is None else str(each.before)
        return Narrowing(each.path, "format", before, str(each.after), "undecided", NO_VALUE)
    code = each.keyword or "schema"
    return Narrowing(each.path, code, "not the same", str(each.after), "undecided", NO_VALUE)
