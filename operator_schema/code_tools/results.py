"""Which keys do the answers of the tools have, and how are they kept short?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypeAlias, TypedDict, TypeVar

from .language import Kind  # noqa: TC001  # tools read the annotations

if TYPE_CHECKING:
    from collections.abc import Iterable


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
    """A declaration that `search` found, or one of several with a name.

    Attributes:
        name: with its class in front, such as `Codec.decode`.
        kind: the kind of the declaration.
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
    """The answer of `inspect`: a description of a declaration.

    Attributes:
        found: whether there is a declaration of this name.
        name: with its class in front; what was asked for if nothing was found.
        kind: the kind of the declaration.
        location: file and line.
        definition: its text; if it is a class with method bodies, only the part before its methods.
        doc: the comment above it, or its docstring if the definition doesn't contain that.
        signature: of a function, method or class.
        value: of a constant or variable.
        fields: of a class or struct.
        methods: of a type.
        via: how the name leads to it by imports, base classes and aliases, if it has another name itself.
        bases: of a type, with their places.
        others: other declarations of the same name; their locations are names as well.
        reason: why nothing was found.
        nearest: names similar to the one that wasn't found.
        note: which parts were left out, and how to get them.
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
    """The answer of `search`: declarations whose names match a pattern.

    Attributes:
        results: the best first.
        more: how many others fit; left out if there are none.
        reason: why nothing was found.
        note: which parts were left out, and how to get them.
    """

    results: list[Match]
    more: NotRequired[int]
    reason: NotRequired[Reason]
    note: NotRequired[str]


class LineFound(TypedDict):
    """A line that `search_text` found, with the declaration around it.

    Attributes:
        location: file and line.
        line: its text; a long line is cut.
        inside: qualified name of the declaration around it.
    """

    location: str
    line: str
    inside: NotRequired[str]


class TextFound(TypedDict):
    """The answer of `search_text`: lines that match an expression.

    Attributes:
        lines: by the paths of their files.
        more: how many others match; left out if there are none.
        note: how the pattern was understood, and which parts were left out.
    """

    lines: list[LineFound]
    more: NotRequired[int]
    note: NotRequired[str]


class CalledFunction(TypedDict):
    """A call in the text of a function.

    Attributes:
        name: as the code writes it.
        location: of its declaration, where it is known.
        signature: of its declaration.
    """

    name: str
    location: NotRequired[str]
    signature: NotRequired[str]


class ReadFunction(TypedDict):
    """The answer of `read_func`: the text of a function, and what it uses.

    Attributes:
        found: whether there is a function of this name.
        name: with its class in front; what was asked for if nothing was found.
        location: file and line.
        signature: of the function.
        implementation: its text.
        imports_used: the imports of the file that its text uses.
        calls: what it calls, in the order of the text.
        via: how the name leads to it by imports, base classes and aliases, if it has another name itself.
        others: other functions of the same name; their locations are names as well.
        reason: why nothing was found.
        nearest: names similar to the one that wasn't found.
        note: which parts were left out, and how to get them.
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
    """The answer of `references`: the places that use a declaration.

    Attributes:
        found: whether there is a declaration of this name.
        name: with its class in front; what was asked for if nothing was found.
        location: file and line.
        certain: number of places that certainly mean it.
        likely: number of places that have its name, and may mean it.
        text: number of places in strings and comments.
        files: with the numbers for each; files with the most certain places come first.
        places: the certain ones first.
        reason: why nothing was found.
        nearest: names similar to the one that wasn't found.
        note: which parts were left out or not read.
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
    """A type that extends or implements another one, or a method that overrides another one.

    Attributes:
        name: with its class in front.
        location: file and line.
        sure: certain by its bases; likely by names.
        by: the type in between, if the relation isn't direct.
    """

    name: str
    location: str
    sure: Certainty
    by: NotRequired[str]


class ImplementationsFound(TypedDict):
    """The answer of `implements` for a class, interface, trait or method.

    Attributes:
        found: whether there is a declaration of this name, or a type that names it as its base.
        name: with its class in front; what was asked for if nothing was found.
        location: file and line; missing if it is outside of the root.
        implementations: the direct ones first.
        reason: why nothing was found, or why there is no location.
        nearest: names similar to the one that wasn't found.
        note: which parts were left out or not read.
    """

    found: bool
    name: str
    location: NotRequired[str]
    implementations: NotRequired[list[Implementation]]
    reason: NotRequired[Reason]
    nearest: NotRequired[list[str]]
    note: NotRequired[str]


class Overview(TypedDict):
    """The answer of `overview`: a map of a folder.

    Attributes:
        files: how many are read there.
        map: folders, files and their most used declarations, as text.
        reason: why there is no map.
        note: which parts were left out.
    """

    files: int
    map: str
    reason: NotRequired[Reason]
    note: NotRequired[str]


class SyntaxErrorShown(TypedDict):
    """An error in a snippet.

    Attributes:
        position: line and column in the snippet, both from 1, such as `2:5`.
        message: a description of the error.
    """

    position: str
    message: str


class SyntaxCheck(TypedDict):
    """The answer of `check_syntax`: whether a snippet is valid.

    Attributes:
        valid: whether it has no errors.
        errors: in the order of the text.
        suggestions: how to correct the errors.
        checked_as: language and version that it was checked as; left out if it wasn't checked.
        checked_with: the type checker that was run, or why none was.
        note: syntax that is valid only in some versions; what wasn't checked or was left out.
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
        path: of the file; its old path if it is deleted.
        status: `changed`, `new`, `deleted`, `renamed`, `copied` or `moved away`.
        old_path: of a file that is renamed or copied.
        errors: its syntax errors; left out if there are none.
        note: about it.
    """

    path: str
    status: str
    old_path: NotRequired[str]
    errors: NotRequired[list[SyntaxErrorShown]]
    note: NotRequired[str]


class Vanished(TypedDict):
    """A declaration that a patch removes.

    Attributes:
        name: with its class in front.
        kind: the kind of the declaration.
        location: its file and line before the patch.
        remaining: places in code that still have its name after the patch: first those in changed files,
            then uses elsewhere, with their certainty.
        more: how many others there are.
    """

    name: str
    kind: Kind
    location: str
    remaining: NotRequired[list[str]]
    more: NotRequired[int]


class PatchCheck(TypedDict):
    """The answer of `check_patch`: whether a patch applies, and what it changes.

    Attributes:
        applies: whether it applies to the current files.
        valid: whether it applies, and adds no syntax errors to a file.
        error: why it doesn't apply.
        files: the changed files, described as they are afterwards.
        vanished: the declarations that it removes.
        note: which parts were left out.
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
    """Limits the characters of a result as JSON, and remembers what was cut.

    Args:
        characters: that the whole result may have.
    """

    def __init__(self, characters: int) -> None:
        self._left = characters - _FOR_NOTES
        self._notes: list[str] = []

    @property
    def note(self) -> str | None:
        """A sentence about what was cut, and how to get it."""
        return " ".join(self._notes)[: _FOR_NOTES - 50] or None

    def line(self, text: str) -> str:
        """Return a text for one line, cut if it is long."""
        cut = text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]}…"
        self._left -= _size(cut)
        return cut

    def text(self, text: str, share: float, hint: str) -> str:
        """Return as many lines of a text as fit.

        Args:
            text: of any length.
            share: the part of the remaining characters that the text may take.
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
            items: JSON values; the iterator is read only as long as they fit.
            share: the part of the remaining characters that the items may take.
            what: the word for the items in the note.
            hint: how to get the rest.
            of: the number of all items, which may be larger than that of `items`.
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
