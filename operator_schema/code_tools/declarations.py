"""What a source file declares, as places in its bytes."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from .. import CallError

__all__ = [
    "Declaration",
    "Import",
    "KINDS",
    "Kind",
    "Parsed",
    "Span",
    "TooHardError",
    "missing_package",
    "same_kinds",
]


Kind: TypeAlias = Literal[
    "struct", "class", "interface", "protocol", "func", "method", "const", "var", "type"
]

KINDS: tuple[Kind, ...] = (
    "struct",
    "class",
    "interface",
    "protocol",
    "func",
    "method",
    "const",
    "var",
    "type",
)

_ALIKE: tuple[frozenset[Kind], ...] = (frozenset({"struct", "class"}), frozenset({"interface", "protocol"}))
"""Kinds that are one thing under the names of different languages."""


def same_kinds(kind: Kind) -> frozenset[Kind]:
    """Return the kinds that are asked for by a kind: a struct of Go is a class of Python."""
    return next((alike for alike in _ALIKE if kind in alike), frozenset({kind}))


class Span(NamedTuple):
    """A stretch of a file, in bytes; empty if `end` is 0."""

    start: int = 0
    end: int = 0


class Declaration(NamedTuple):
    """A declaration in a source file.

    A tuple, since an index of a large code base has a hundred thousand of them.

    Attributes:
        name: its last part, such as `decode`.
        qualified: the name within its file or package, such as `Codec.decode`.
        kind: what it is.
        line: of its name, from 1.
        last_line: where it ends.
        whole: all of it, decorators included.
        head: its signature: everything before the body.
        doc: the text of its docstring, or of the comment above it.
        value: what a constant or variable is set to.
    """

    name: str
    qualified: str
    kind: Kind
    line: int
    last_line: int
    whole: Span
    head: Span
    doc: Span = Span()
    value: Span = Span()

    @property
    def owner(self) -> str:
        """The qualified name of the class that it belongs to, or an empty string."""
        return self.qualified.rpartition(".")[0]


class Import(NamedTuple):
    """A name that an import brings into a file.

    Attributes:
        name: under which the file knows it.
        target: what it is, with dots or slashes as the language writes it.
        text: the import of this name alone, as one would write it.
    """

    name: str
    target: str
    text: str


class Parsed(NamedTuple):
    """What was read from a source file.

    Attributes:
        declarations: in the order of the file.
        imports: of the whole file.
        is_broken: whether a part of it couldn't be read.
    """

    declarations: tuple[Declaration, ...]
    imports: tuple[Import, ...]
    is_broken: bool


class TooHardError(CallError):
    """A text takes too long to parse; the message is for the model."""

    def __init__(self) -> None:
        super().__init__("it takes too long to parse")


def missing_package(error: ModuleNotFoundError, package: str) -> ImportError:
    """Return the error that says how to install what is missing."""
    name = (error.name or package).replace("_", "-")
    return ModuleNotFoundError(
        f"the code tools need {name}: pip install 'operator-schema[code]'", name=error.name
    )
