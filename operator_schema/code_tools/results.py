"""Which keys do the answers of the tools have?"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from .language import Kind  # noqa: TC001  # tools read the annotations

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


class NameAnswer(TypedDict):
    """The keys that the answers about one name share.

    Each has its description beside it, because docstrings of base classes aren't read.
    """

    found: Annotated[bool, "whether there is a declaration of this name."]
    name: Annotated[str, "with its class in front; what was asked for if nothing was found."]
    location: NotRequired[Annotated[str, "file and line; missing if it is outside of the root."]]
    reason: NotRequired[Annotated[Reason, "why nothing was found, or why there is no location."]]
    nearest: NotRequired[Annotated[list[str], "names similar to the one that wasn't found."]]
    note: NotRequired[Annotated[str, "which parts were left out or not read, and how to get them."]]


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


class Inspection(NameAnswer):
    """The answer of `inspect`: a description of a declaration.

    Attributes:
        kind: the kind of the declaration.
        definition: its text; if it is a class with method bodies, only the part before its methods.
        doc: the comment above it, or its docstring if the definition doesn't contain that.
        signature: of a function, method or class.
        value: of a constant or variable.
        fields: of a class or struct.
        methods: of a type.
        via: how the name leads to it by imports, base classes and aliases, if it has another name itself.
        bases: of a type, with their places.
        others: other declarations of the same name; their locations are names as well.
    """

    kind: NotRequired[Kind]
    definition: NotRequired[str]
    doc: NotRequired[str]
    signature: NotRequired[str]
    value: NotRequired[str]
    fields: NotRequired[list[FieldShown]]
    methods: NotRequired[list[MethodShown]]
    via: NotRequired[list[str]]
    bases: NotRequired[list[str]]
    others: NotRequired[list[Match]]


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
    """A line that `search_text` found, with the declaration around it."""

    location: Annotated[str, "file and line."]
    line: Annotated[str, "its text; a long line is cut."]
    inside: NotRequired[Annotated[str, "qualified name of the declaration around it."]]


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


class ReadFunction(NameAnswer):
    """The answer of `read_func`: the text of a function, and what it uses.

    Attributes:
        signature: of the function.
        implementation: its text.
        imports_used: the imports of the file that its text uses.
        calls: what it calls, in the order of the text.
        via: how the name leads to it by imports, base classes and aliases, if it has another name itself.
        others: other functions of the same name; their locations are names as well.
    """

    signature: NotRequired[str]
    implementation: NotRequired[str]
    imports_used: NotRequired[list[str]]
    calls: NotRequired[list[CalledFunction]]
    via: NotRequired[list[str]]
    others: NotRequired[list[Match]]


Certainty: TypeAlias = Literal["certain", "likely", "text"]
"""How sure a use is: by imports, types and `self`; by the same name; in a string or comment."""


class PlaceShown(LineFound):
    """A place where a declaration is used.

    Attributes:
        sure: how sure it is.
    """

    sure: Certainty


class ReferencesFound(NameAnswer):
    """The answer of `references`: the places that use a declaration.

    Attributes:
        certain: number of places that certainly mean it.
        likely: number of places that have its name, and may mean it.
        text: number of places in strings and comments.
        files: with the numbers for each; files with the most certain places come first.
        places: the certain ones first.
    """

    certain: NotRequired[int]
    likely: NotRequired[int]
    text: NotRequired[int]
    files: NotRequired[list[str]]
    places: NotRequired[list[PlaceShown]]


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


class ImplementationsFound(NameAnswer):
    """The answer of `implements` for a class, interface, trait or method.

    Attributes:
        implementations: the direct ones first.
    """

    implementations: NotRequired[list[Implementation]]


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
