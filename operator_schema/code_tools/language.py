"""What does the index need to know about a programming language?"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

from .grammar_errors import grammar_errors
from .snippets import SnippetReader

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from .snippets import Context, SyntaxProblem, Wrapper


Kind: TypeAlias = Literal[
    "struct", "class", "interface", "protocol", "func", "method", "const", "var", "type"
]

KINDS: tuple[Kind, ...] = get_args(Kind)
TYPES: frozenset[Kind] = frozenset({"class", "interface", "protocol", "struct", "type"})
FUNCTIONS: frozenset[Kind] = frozenset({"func", "method"})

_ALIKE: tuple[frozenset[Kind], ...] = (frozenset({"struct", "class"}), frozenset({"interface", "protocol"}))
"""Kinds that are one thing under the names of different languages."""


def same_kinds(kind: Kind) -> frozenset[Kind]:
    """Return all kinds that mean the same as a kind: a struct of Go is like a class of Python."""
    return next((alike for alike in _ALIKE if kind in alike), frozenset({kind}))


class Span(NamedTuple):
    """A stretch of a file, in bytes; empty if `end` is 0."""

    start: int = 0
    end: int = 0


NOWHERE = Span()
"""The empty span: one for all, as each object of an index takes time and memory."""


class Declaration(NamedTuple):
    """A declaration in a source file.

    A tuple, since an index of a large code base has a hundred thousand of them.

    Attributes:
        name: its last part, such as `decode`.
        qualified: the name within its file or package, such as `Codec.decode`.
        kind: the kind of the declaration.
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
    doc: Span = NOWHERE
    value: Span = NOWHERE

    @property
    def owner(self) -> str:
        """The qualified name of the class that it belongs to, or an empty string."""
        return self.qualified.rpartition(".")[0]


class Import(NamedTuple):
    """A name that an import makes known in a file.

    Attributes:
        name: under which the file knows it.
        target: the imported module or name, with dots or slashes as the language writes it.
        text: an import of this name alone, as a programmer would write it.
    """

    name: str
    target: str
    text: str


class Base(NamedTuple):
    """A type that another one extends, implements or embeds.

    Attributes:
        owner: the qualified name of the type that has the base.
        name: of the base as the file writes it, with dots, without type arguments.
    """

    owner: str
    name: str


class Parsed(NamedTuple):
    """The declarations, imports and bases that were read from a source file.

    Attributes:
        declarations: in the order of the file.
        imports: of the whole file.
        is_broken: whether a part of it couldn't be read.
        bases: of its types, in the order of the file.
        words: all of the file, comments included, in lines; the index adds them.
    """

    declarations: tuple[Declaration, ...]
    imports: tuple[Import, ...]
    is_broken: bool
    bases: tuple[Base, ...] = ()
    words: str = ""


class TypeField(NamedTuple):
    """A field of a class or struct: places in the text of the declaration.

    Attributes:
        name: of the field.
        at: byte at which the name begins.
        type: its type; empty if it has none.
        value: its value; empty if it has none.
    """

    name: str
    at: int
    type: Span = NOWHERE
    value: Span = NOWHERE


class Language:
    """Reads declarations from files of a language; each language is a subclass.

    Attributes:
        name: of the language.
        family: the name that all languages share whose files can use each other.
        grammar: package of its grammar, as `parse_tree` takes it.
        wrappers: for each kind of snippet, the text to put around it.
        hidden: matches strings, characters and comments as a whole.
        tokens: matches the same, and single brackets.
        bodies_inside: whether the text of a class contains the bodies of its methods; then only an outline is
            shown of it.
        package_is_folder: whether the files of a folder share their declarations.
        self_names: under which a method knows its own object, where the language fixes them.
        has_plain_members: whether methods use members of their own object without a prefix such as `self.`.
        heads_name_members: whether the signature of a method uses members without a prefix.
        module_is_namespace: whether a name may begin with the name of its module.
        names_packages_inside: whether a package itself, and not its path, determines the name under which it
            is imported.
    """

    name: str
    family: str
    grammar: str
    wrappers: Mapping[Context, Wrapper]
    hidden: re.Pattern[str]
    tokens: re.Pattern[str]
    bodies_inside = False
    package_is_folder = False
    self_names: frozenset[str] = frozenset()
    has_plain_members = False
    heads_name_members = False
    module_is_namespace = True
    names_packages_inside = False

    # --- a file --------------------------------------------------------------------------------------

    def parse(self, source: bytes) -> Parsed:
        """Read the declarations and imports of a file; parts with syntax errors are left out."""
        raise NotImplementedError

    def module_of(self, path: str) -> str:
        """Return the dotted name of the module or package that a file belongs to."""
        raise NotImplementedError

    def package_of(self, path: str) -> str:
        """Return the key of the package of a file; files with the same key share their declarations."""
        return path.rpartition("/")[0]

    # --- a declaration -------------------------------------------------------------------------------

    def fields(self, source: bytes) -> list[TypeField]:
        """Read the fields from the text of one class or struct."""
        raise NotImplementedError

    def value(self, source: bytes, declaration: Declaration) -> str:
        """Return the value of a constant or variable; empty if it has none."""
        return source[declaration.value.start : declaration.value.end].decode(errors="replace")

    def called(self, source: bytes) -> Sequence[tuple[str, str]]:
        """List the calls in the text of one function, and the names that it uses.

        Returns:
            Pairs of `call` and a dotted text, or `name` and a name, in the order of the text.
        """
        raise NotImplementedError

    def imports(self, source: bytes) -> tuple[Import, ...]:
        """List the imports inside the text of one function; nothing in a language that has none there."""
        del source
        return ()

    def inner(self, source: bytes) -> Sequence[Declaration]:
        """List the declarations inside the text of one function; their qualified names begin with its name.

        Nothing, unless the language says more: functions inside of functions are rare in most.
        """
        del source
        return ()

    def type_of(self, source: bytes, name: str) -> str:
        """Return the type of a parameter or variable of a function; empty if it isn't the same everywhere.

        Returns:
            The type's name as the file knows it, with dots, without type arguments.
        """
        del source, name
        return ""

    # --- an import -----------------------------------------------------------------------------------

    def import_target(self, target: str, path: str) -> str:
        """Return the dotted name of the module that an import means; relative imports are resolved."""
        raise NotImplementedError

    def is_bare(self, target: str) -> bool:
        """Return whether an import names a package, and not a path."""
        del target
        return False

    def is_own_library(self, target: str) -> bool:
        """Return whether an import names a part of the language's own library."""
        del target
        return False

    def passed_on(self, base: str) -> Collection[str] | None:
        """Return the members that subtypes get from a type of the language's own library; None if unknown.

        Args:
            base: full name of the type, with dots.
        """
        del base
        return None

    # --- a snippet -----------------------------------------------------------------------------------

    def problems(self, code: str, context: Context) -> list[SyntaxProblem]:
        """List the syntax errors of a snippet without running it."""
        reader = SnippetReader(self.grammar, self.tokens, self.wrappers[context])
        return grammar_errors(code, reader, context)


BRACKETS = r"[\[\](){}]"


def lexer(hidden: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Compile an expression for strings and comments into the patterns `hidden` and `tokens`."""
    flags = re.DOTALL | re.VERBOSE
    return re.compile(hidden, flags), re.compile(f"{hidden} | {BRACKETS}", flags)


LANGUAGES: Mapping[str, tuple[str, ...]] = {
    "python": (".py", ".pyi"),
    "go": (".go",),
    "rust": (".rs",),
    "typescript": (".ts", ".mts", ".cts"),
    "tsx": (".tsx",),
    "javascript": (".js", ".jsx", ".mjs", ".cjs"),
    "java": (".java",),
    "c": (".c", ".h"),
    "cpp": (".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx"),
}
"""Name of each language to the endings of its files; `NAME_language.py` next to this file reads it."""

_DIALECTS = {"tsx": ("typescript", "TSX"), "javascript": ("typescript", "JAVASCRIPT"), "cpp": ("c", "CPP")}
"""Languages that the module of another one reads: that one, and the name there."""

_BY_SUFFIX = {suffix: name for name, suffixes in LANGUAGES.items() for suffix in suffixes}


def language_of(path: str) -> Language | None:
    """Return the language of a file by its ending; None if it isn't known."""
    name = _BY_SUFFIX.get(path[path.rfind(".") :])
    return None if name is None else language_named(name)


def known_language(path: str) -> Language:
    """Return the language of a file in an index."""
    language = language_of(path)
    assert language is not None  # noqa: S101  # only such files are read
    return language


@cache
def language_named(name: str) -> Language:
    """Return a language of `LANGUAGES`.

    Raises:
        ImportError: its grammar isn't installed.
    """
    module, attribute = _DIALECTS.get(name, (name, "LANGUAGE"))
    language: Language = getattr(import_module(f".{module}_language", __package__), attribute)
    return language
