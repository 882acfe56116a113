"""What the tools return; a key is left out where there is nothing to say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypeAlias, TypedDict, TypeVar

from .language import Kind  # noqa: TC001  # tools read the annotations

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "Budget",
    "CalledFunction",
    "Certainty",
    "FieldShown",
    "FileAfter",
    "Implementation",
    "ImplementationsFound",
    "Inspection",
    "LineFound",
    "Match",
    "MethodShown",
    "Overview",
    "PatchCheck",
    "PlaceShown",
    "ReadFunction",
    "Reason",
    "ReferencesFound",
    "SMALLEST",
    "SearchResult",
    "SyntaxCheck",
    "SyntaxErrorShown",
    "TextFound",
    "Vanished",
]


Reason: TypeAlias = Literal[
    "not declared",
    "not understood",
    "not a function",
    "a file",
    "a module",
    "no such file",
    "ignored",
    "file not read",
    "language not read",
    "outside of the root",
    "of another kind",
]
"""Why nothing was found; `note` says the same in words."""


class Match(TypedDict):
    """A declaration that was found.

    Attributes:
        name: with its class in front, such as `Codec.decode`.
        kind: what it is.
        location: file and line, such as `codec/codec.py:12`.
        signature: of a function or class.
    """

    name: str
    kind: Kind
    location: str
    signature: NotRequired[str]


class FieldShown(TypedDict):
    """A field of a class or struct."""

    name: str
    type: NotRequired[str]
    value: NotRequired[str]


class MethodShown(TypedDict):
    """A method of a type; without its signature where the definition of the type has it."""

    name: str
    location: str
    signature: NotRequired[str]


class Inspection(TypedDict):
    """What `inspect` says about a declaration.

    Attributes:
        found: whether there is a declaration of this name.
        name: with its class in front; what was asked for if nothing was found.
        kind: what it is.
        location: file and line.
        definition: its text; of a class with method bodies only what is before its methods.
        doc: the comment above it, or its docstring where the definition doesn't hold that.
        signature: of a function, method or class.
        value: of a constant or variable.
        fields: of a class or struct.
        methods: of a type.
        via: how the name leads to it, if it isn't its own: imports, base classes, aliases.
        bases: of a type, with their places.
        others: other declarations of the same name; their locations are names as well.
        reason: why nothing was found.
        nearest: names that are like the one that wasn't found.
        note: what was left out, and how to get it.
    """

    found: bool
    name: str
    kind: NotRequired[Kind]
    location: NotRequired[str]
    definition: NotRequired[str]
    doc: NotRequired[str]
    signature: NotRequired[str]
    value: NotRequired[str]
    fields: NotRequired[list[FieldShown]]
    methods: NotRequired[list[MethodShown]]
    via: NotRequired[list[str]]
    bases: NotRequired[list[str]]
    others: NotRequired[list[Match]]
    reason: NotRequired[Reason]
    nearest: NotRequired[list[str]]
    note: NotRequired[str]


class SearchResult(TypedDict):
    """What `search` found.

    Attributes:
        results: the best first.
        more: how many others fit; left out if there are none.
        reason: why nothing was found.
        note: what was left out, and how to get it.
    """

    results: list[Match]
    more: NotRequired[int]
    reason: NotRequired[Reason]
    note: NotRequired[str]


class LineFound(TypedDict):
    """A line of a file, and the declaration that it is in.

    Attributes:
        location: file and line.
        line: its text; of a long one the beginning.
        inside: qualified name of the declaration around it.
    """

    location: str
    line: str
    inside: NotRequired[str]


class TextFound(TypedDict):
    """What `search_text` found.

    Attributes:
        lines: by the paths of their files.
        more: how many others match; left out if there are none.
        note: how the pattern was understood, and what was left out.
    """

    lines: list[LineFound]
    more: NotRequired[int]
    note: NotRequired[str]


class CalledFunction(TypedDict):
    """A function that another one calls.

    Attributes:
        name: as the code writes it.
        location: of its declaration, where it is known.
        signature: of its declaration.
    """

    name: str
    location: NotRequired[str]
    signature: NotRequired[str]


class ReadFunction(TypedDict):
    """What `read_func` says about a function or method.

    Attributes:
        found: whether there is a function of this name.
        name: with its class in front; what was asked for if nothing was found.
        location: file and line.
        signature: of the function.
        implementation: its text.
        imports_used: the imports of the file that its text uses.
        calls: what it calls, in the order of the text.
        via: how the name leads to it, if it isn't its own: imports, base classes, aliases.
        others: other functions of the same name; their locations are names as well.
        reason: why nothing was found.
        nearest: names that are like the one that wasn't found.
        note: what was left out, and how to get it.
    """

    found: bool
    name: str
    location: NotRequired[str]
    signature: NotRequired[str]
    implementation: NotRequired[str]
    imports_used: NotRequired[list[str]]
    calls: NotRequired[list[CalledFunction]]
    via: NotRequired[list[str]]
    others: NotRequired[list[Match]]
    reason: NotRequired[Reason]
    nearest: NotRequired[list[str]]
    note: NotRequired[str]


Certainty: TypeAlias = Literal["certain", "likely", "text"]
"""How sure a use is: by imports, types and `self`; by the same name; in a string or comment."""


class PlaceShown(TypedDict):
    """A place where a declaration is used.

    Attributes:
        location: file and line.
        sure: how sure it is.
        line: its text.
        inside: the declaration that it is in.
    """

    location: str
    sure: Certainty
    line: str
    inside: NotRequired[str]


class ReferencesFound(TypedDict):
    """What `references` says about a declaration.

    Attributes:
        found: whether there is a declaration of this name.
        name: with its class in front; what was asked for if nothing was found.
        location: file and line.
        certain: how many places certainly mean it.
        likely: how many have its name, and may mean it.
        text: how many are in strings and comments.
        files: with the numbers of each, most certain places first.
        places: the certain ones first.
        reason: why nothing was found.
        nearest: names that are like the one that wasn't found.
        note: what was left out or not read.
    """

    found: bool
    name: str
    location: NotRequired[str]
    certain: NotRequired[int]
    likely: NotRequired[int]
    text: NotRequired[int]
    files: NotRequired[list[str]]
    places: NotRequired[list[PlaceShown]]
    reason: NotRequired[Reason]
    nearest: NotRequired[list[str]]
    note: NotRequired[str]


class Implementation(TypedDict):
    """A type that extends or implements another one, or a method that replaces one.

    Attributes:
        name: with its class in front.
        location: file and line.
        sure: certain by its bases; likely by names.
        by: the type in between, if it isn't direct.
    """

    name: str
    location: str
    sure: Certainty
    by: NotRequired[str]


class ImplementationsFound(TypedDict):
    """What `implements` says about a class, interface, trait or method.

    Attributes:
        found: whether there is a declaration of this name, or a type that names it as its base.
        name: with its class in front; what was asked for if nothing was found.
        location: file and line; missing if it is outside of the root.
        implementations: the direct ones first.
        reason: why nothing was found, or why there is no location.
        nearest: names that are like the one that wasn't found.
        note: what was left out or not read.
    """

    found: bool
    name: str
    location: NotRequired[str]
    implementations: NotRequired[list[Implementation]]
    reason: NotRequired[Reason]
    nearest: NotRequired[list[str]]
    note: NotRequired[str]


class Overview(TypedDict):
    """What `overview` says about a folder.

    Attributes:
        files: how many are read there.
        map: folders, files and their declarations that others use most, as text.
        reason: why there is none.
        note: what was left out.
    """

    files: int
    map: str
    reason: NotRequired[Reason]
    note: NotRequired[str]


class SyntaxErrorShown(TypedDict):
    """An error in a snippet.

    Attributes:
        position: line and column in the snippet, both from 1, such as `2:5`.
        message: what is wrong.
    """

    position: str
    message: str


class SyntaxCheck(TypedDict):
    """What `check_syntax` says about a snippet.

    Attributes:
        valid: whether it has no errors.
        errors: in the order of the text.
        suggestions: what to do about them.
        checked_as: language and version that it was judged as; left out where it wasn't judged.
        checked_with: the type checker that was run, or why none was.
        note: what is right, but not everywhere; what wasn't checked; what was left out.
    """

    valid: bool
    errors: list[SyntaxErrorShown]
    suggestions: NotRequired[list[str]]
    checked_as: NotRequired[str]
    checked_with: NotRequired[str]
    note: NotRequired[str]


class FileAfter(TypedDict):
    """A file after a patch.

    Attributes:
        path: of it; of a file that is deleted, as it was.
        status: `changed`, `new`, `deleted`, `renamed`, `copied` or `moved away`.
        old_path: of a file that is renamed or copied.
        errors: of its syntax; left out where there are none.
        note: about it.
    """

    path: str
    status: str
    old_path: NotRequired[str]
    errors: NotRequired[list[SyntaxErrorShown]]
    note: NotRequired[str]


class Vanished(TypedDict):
    """A declaration that is gone after a patch.

    Attributes:
        name: with its class in front.
        kind: what it was.
        location: where it was.
        remaining: places after the patch where its name still stands in code: first those in changed files,
            then uses elsewhere, with how sure they are.
        more: how many others there are.
    """

    name: str
    kind: Kind
    location: str
    remaining: NotRequired[list[str]]
    more: NotRequired[int]


class PatchCheck(TypedDict):
    """What `check_patch` says about a patch.

    Attributes:
        applies: whether it fits the files as they are.
        valid: whether it applies, and leaves no file with errors of syntax that weren't there before.
        error: why it doesn't apply.
        files: that it changes, as they are afterwards.
        vanished: declarations that are gone afterwards.
        note: what was left out.
    """

    applies: bool
    valid: bool
    error: NotRequired[str]
    files: NotRequired[list[FileAfter]]
    vanished: NotRequired[list[Vanished]]
    note: NotRequired[str]


Item = TypeVar("Item")

SMALLEST = 1000
"""Characters that a budget must have: names, places and notes need some."""

_FOR_NOTES = 400
_LONGEST_LINE = 300


class Budget:
    """Counts the characters of a result as JSON, and notes what was cut.

    Args:
        characters: that the whole result may have.
    """

    def __init__(self, characters: int) -> None:
        self._left = characters - _FOR_NOTES
        self._notes: list[str] = []

    @property
    def note(self) -> str | None:
        """What was cut, and how to get it."""
        return " ".join(self._notes)[: _FOR_NOTES - 50] or None

    def line(self, text: str) -> str:
        """Return a text that belongs on one line, cut if it is long."""
        cut = text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]}…"
        self._left -= _size(cut)
        return cut

    def text(self, text: str, share: float, hint: str) -> str:
        """Return as many lines of a text as fit.

        Args:
            text: of any length.
            share: of what is left that it may take.
            hint: how to get the rest; `{line}` is the number of the first line that is missing, from 0.
        """
        room = max(int(self._left * share), 0)
        if _size(text) > room:
            lines = text.split("\n")
            kept: list[str] = []
            used = 2
            for line in lines:
                used += _size(line)
                if used > room:
                    break
                kept.append(line)
            self._notes.append(
                f"{len(lines) - len(kept)} of {len(lines)} lines are left out: {hint.format(line=len(kept))}."
            )
            text = "\n".join(kept)
        self._left -= _size(text)
        return text

    def items(self, items: Iterable[Item], share: float, what: str, hint: str = "", *, of: int) -> list[Item]:
        """Return as many items as fit.

        Args:
            items: JSON values; no more are made than fit.
            share: of what is left that they may take.
            what: what they are.
            hint: how to get the rest.
            of: how many there are of them, which may be more than `items`.
        """
        room = max(int(self._left * share), 0)
        kept: list[Item] = []
        for item in items:
            room -= _size(item) + 2
            if room < 0:
                break
            kept.append(item)
        if len(kept) < of:
            rest = f": {hint}." if hint else "."
            self._notes.append(f"{of - len(kept)} of {of} {what} are left out{rest}")
        self._left -= _size(kept)
        return kept


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False))
