"""What does the index need to know about a programming language?"""

from __future__ import annotations

import re
import time  # `thread_time` is asked for where it is used: WebAssembly has none
from functools import cache, partial
from importlib import import_module
from threading import Lock, Thread, stack_size
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias, get_args

from .. import CallError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from tree_sitter import Node, Parser


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


class SlowParseError(CallError):
    """A text takes too long to parse; the message is written for the model."""

    def __init__(self) -> None:
        super().__init__("it takes too long to parse")


def missing_package(error: ModuleNotFoundError, package: str) -> ImportError:
    """Return the error that says how to install what is missing."""
    name = (error.name or package).replace("_", "-")
    return ModuleNotFoundError(
        f"the code tools need {name}: pip install 'operator-schema[code]'", name=error.name
    )


Context: TypeAlias = Literal["file", "function_body", "expression", "statements"]

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


BRACKETS = r"[\[\](){}]"

_SECONDS = 0.5
_SECONDS_A_BYTE = 5e-7
"""Time of a processor that parsing may take: at least five times what ordinary code takes."""

_SECONDS_BETWEEN = 0.002
"""Time of the clock between two looks at the time of the processor, which takes ten times as long to tell."""

_PART = 64
"""Bytes of a text that a node reads at once."""

_SMALL = 1 << 12
"""Bytes of a text that never takes long: the parser gets it without a time limit."""

_FITS_ANY_STACK = 1 << 15
"""Bytes of a text that is parsed on the stack of the caller, which has 2 MB on Windows and more elsewhere.

A thread for each of these, too, would take a fifth of the time of parsing.
"""

_STACK_A_BYTE = 128
"""Stack for each byte of a longer text, three times what was found: `{[` again and again takes 40 in Go."""

_PAGE = 1 << 16
"""A stack is a whole number of these, which are pages on every system."""

_STACKS = Lock()

_MOST_READ, _BYTES_A_READ = 1000, 1000
"""How often the parser may ask for a text, and for how many bytes once more.

It asks again where it has looked behind the end of the text, as for a string that is never closed: at most
13 times for any file of CPython, of Go's library and of Debian's headers of C.
"""

LONGEST_NAME = 300
"""Bytes of a dotted name that matter: without an end, the calls of a chain take the square of its text."""


class TypeField(NamedTuple):
    """A field of a class or struct: places in the text of the declaration."""

    name: str
    type: Span
    value: Span


class SyntaxProblem(NamedTuple):
    """A syntax error, or a note about the syntax of a snippet.

    Attributes:
        line: in the snippet, from 1.
        column: in characters, from 1.
        message: a description of the error.
        suggestion: how to correct it, if that is known.
        severity: an error, or a note about something that is valid only in some places.
    """

    line: int
    column: int
    message: str
    suggestion: str | None = None
    severity: Literal["error", "note"] = "error"


class Language(Protocol):
    """Reads declarations from files of a language.

    Attributes:
        name: of the language.
        grammar: package of its grammar, as `parse_tree` takes it.
        bodies_inside: whether the text of a class contains the bodies of its methods; then only an outline is
            shown of it.
        package_is_folder: whether the files of a folder share their declarations.
        self_names: under which a method knows its own object, where the language fixes them.
        hidden: matches strings, characters and comments as a whole.
        tokens: matches the same, and single brackets.
        spanning: texts of which each string or comment of several lines contains at least one.
    """

    name: str
    grammar: str
    bodies_inside: bool
    package_is_folder: bool
    self_names: frozenset[str]
    hidden: re.Pattern[str]
    tokens: re.Pattern[str]
    spanning: tuple[bytes, ...]

    def parse(self, source: bytes) -> Parsed:
        """Read the declarations and imports of a file; parts with syntax errors are left out."""
        ...

    def fields(self, source: bytes) -> list[TypeField]:
        """Read the fields from the text of one class or struct."""
        ...

    def may_have_field(self, source: bytes, name: str) -> bool:
        """Return quickly, without parsing, whether `fields` may find a name."""
        return next(places_of(name.encode(), source), None) is not None

    def called(self, source: bytes) -> Sequence[tuple[str, str]]:
        """List the calls in the text of one function, and the names that it uses.

        Returns:
            Pairs of `call` and a dotted text, or `name` and a name, in the order of the text.
        """
        ...

    def imports(self, source: bytes) -> tuple[Import, ...]:
        """List the imports inside the text of one function."""
        ...

    def module_of(self, path: str) -> str:
        """Return the dotted name of the module or package that a file belongs to."""
        ...

    def import_target(self, target: str, path: str) -> str:
        """Return the dotted name of the module that an import means; relative imports are resolved."""
        ...

    @property
    def family(self) -> str:
        """The name that all languages share whose files can use each other."""
        return self.name

    @property
    def has_plain_members(self) -> bool:
        """Whether methods use members of their own object without a prefix such as `self.`."""
        return False

    @property
    def heads_name_members(self) -> bool:
        """Whether the signature of a method uses members without a prefix, as in the body of its class."""
        return self.has_plain_members

    def is_bare(self, target: str) -> bool:
        """Return whether an import names a package, and not a path."""
        del target
        return False

    @property
    def module_is_namespace(self) -> bool:
        """Whether a name may begin with the name of its module, which headers of C don't allow."""
        return True

    @property
    def names_packages_inside(self) -> bool:
        """Whether the package itself, and not its path, determines the name under which it is imported."""
        return False

    def is_own_library(self, target: str) -> bool:
        """Return whether an import names a part of the language's own library."""
        del target
        return False

    def passed_on(self, base: str) -> Collection[str] | None:
        """Return the members that a type of the language's own library gives to others; None if unknown.

        Args:
            base: full name of the type, with dots.
        """
        del base
        unknown: Collection[str] | None = None
        return unknown

    def package_of(self, path: str) -> str:
        """Return the key of the package of a file; files with the same key share their declarations."""
        return path.rpartition("/")[0]

    def problems(self, code: str, context: Context) -> list[SyntaxProblem]:
        """List the syntax errors of a snippet without running it."""
        ...

    def inner(self, source: bytes) -> Sequence[Declaration]:
        """List the declarations inside the text of one function; their qualified names begin with its name.

        Nothing, unless the language says more: functions inside of functions are rare in most.
        """
        del source
        return ()

    def value(self, source: bytes, declaration: Declaration) -> str:
        """Return the value of a constant or variable; empty if it has none."""
        return source[declaration.value.start : declaration.value.end].decode(errors="replace")

    def type_of(self, source: bytes, name: str) -> str:
        """Return the type of a parameter or variable of a function; empty if it isn't the same everywhere.

        Args:
            source: the text.
            name: of a parameter or variable.

        Returns:
            The type's name as the file knows it, with dots, without type arguments.
        """
        del source, name
        return ""


def language_of(path: str) -> Language | None:
    """Return the language of a file by its ending; None if it isn't known."""
    name = _BY_SUFFIX.get(path[path.rfind(".") :])
    return None if name is None else language_named(name)


def known_language(path: str) -> Language:
    """Return the language of a file that is in an index, so that it is known to have one."""
    language = language_of(path)
    assert language is not None  # noqa: S101  # as said
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


@cache
def _parser_of(package: str) -> Callable[[], Parser]:
    """Return a function that makes parsers for a grammar, because each thread needs a parser of its own."""
    try:
        from tree_sitter import Language as Grammar
        from tree_sitter import Parser

        module, _, dialect = package.partition(":")
        capsule: object = getattr(import_module(module), dialect or "language")()
        return partial(Parser, Grammar(capsule))
    except ModuleNotFoundError as error:
        raise missing_package(error, package) from None


def parse_tree(package: str, source: bytes) -> Node:
    """Parse a text, also if it has errors or isn't a program at all.

    Args:
        package: of the grammar, such as `tree_sitter_go`, with the name of the function after a colon where
            it has several.
        source: UTF-8; other bytes are errors at their place.

    Returns:
        The root of its tree.

    Raises:
        ImportError: the grammar isn't installed.
        TooHardError: it takes too long. The parser is quadratic for some texts, and holds the lock of the
            interpreter between two questions whether to go on, which are milliseconds apart.
    """
    make = _parser_of(package)
    if len(source) <= _SMALL:
        return make().parse(source).root_node
    if len(source) <= _FITS_ANY_STACK:
        return _parsed_in_time(make, source)
    return _with_stack(len(source) * _STACK_A_BYTE, lambda: _parsed_in_time(make, source))


def _parsed_in_time(make: Callable[[], Parser], source: bytes) -> Node:
    """Parse a text within its time; the parser is freed here, because that takes stack."""
    end = time.thread_time() + _SECONDS + len(source) * _SECONDS_A_BYTE
    look = time.monotonic()
    reader = _TextReader(source, _MOST_READ + len(source) // _BYTES_A_READ)

    def is_over(*_: object) -> bool:
        nonlocal look
        now = time.monotonic()
        if now < look:
            return False
        look = now + _SECONDS_BETWEEN
        return reader.is_empty or time.thread_time() > end

    try:
        root = make().parse(reader, progress_callback=is_over).root_node
    except ValueError:  # what the package makes of a parse that was stopped
        raise SlowParseError from None
    finally:
        reader.close()
    if reader.is_empty:
        raise SlowParseError
    return root


def _with_stack(size: int, work: Callable[[], Node]) -> Node:
    """Run a function that recurses in C, in a thread whose stack is large enough.

    Args:
        size: of the stack, in bytes. Only the used part takes memory.
        work: the function.

    Raises:
        TooHardError: the system gives no such stack.
    """
    found: list[Node] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:  # noqa: BLE001  # it is raised where it is waited for
            failed.append(error)

    worker = Thread(target=run, name="operator_schema parser", daemon=True)
    with _STACKS:  # the size is one for all threads that begin
        before = stack_size()
        try:
            stack_size(-(-size // _PAGE) * _PAGE)
            worker.start()
        except (MemoryError, RuntimeError, ValueError):
            raise SlowParseError from None
        finally:
            stack_size(before)
    worker.join()
    if failed:
        raise failed[0]
    return found[0]


class _TextReader:
    """Lets the parser read a text, and later returns the texts of nodes.

    tree_sitter 0.26 never frees what it is given: a reference to it is left over. A view that was released
    has a few words of memory, and the text is no longer behind it.

    Args:
        source: the text.
        most: how often the parser may ask.
    """

    def __init__(self, source: bytes, most: int) -> None:
        self._source = source
        self._views: list[memoryview] | None = []
        self._most = most
        self.is_empty = False
        """Whether the parser asked too often, and got nothing."""

    def __call__(self, start: int, _: object) -> bytes | memoryview:
        """Return the text from a byte on: all of it for the parser, a part for a node."""
        if self._views is None or start >= len(self._source):
            return self._source[start : start + _PART]
        self.is_empty = len(self._views) >= self._most
        if self.is_empty:
            return b""
        self._views.append(memoryview(self._source)[start:])
        return self._views[-1]

    def close(self) -> None:
        """Release the text that the parser has read; from then on, only nodes read."""
        for view in self._views or ():
            view.release()
        self._views = None


def nodes_in(package: str, source: bytes) -> Iterator[Node]:
    """Yield all named nodes of a text, each before those inside it; see `parse_tree`."""
    waiting = [parse_tree(package, source)]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.named_children)


def text_of(node: Node) -> str:
    """Return the text of a node."""
    return (node.text or b"").decode(errors="replace")


def text_in(source: bytes, node: Node) -> str:
    """Return the text of a node from its source, which is several times faster than `text_of`."""
    return source[node.start_byte : node.end_byte].decode(errors="replace")


def span_of(node: Node | None) -> Span:
    """Return the place of a node; an empty one if there is none."""
    return NOWHERE if node is None else Span(node.start_byte, node.end_byte)


def name_of(node: Node) -> str:
    """Return the name in the field `name` of a node; empty if there is none."""
    name = node.child_by_field_name("name")
    return "" if name is None else text_of(name)


def qualified(owner: str, name: str) -> str:
    """Return the name of a member, with the name of its owner if it has one."""
    return f"{owner}.{name}" if owner else name


def called_name(source: bytes, function: Node, last: Node | None = None) -> str:
    """Return the name of a called function without white space; the beginning of a long name is cut off.

    Args:
        source: the text.
        function: the node of what is called.
        last: where its name ends; the end of the node unless given.
    """
    end = (last or function).end_byte
    start = max(function.start_byte, end - LONGEST_NAME)
    text = "".join(source[start:end].decode(errors="replace").split())
    return text if start == function.start_byte else f"…{text}"


def calls_in(
    package: str, source: bytes, called: Collection[str], names: Collection[str]
) -> list[tuple[str, str]]:
    """List the calls and names in the text of one function, as `Language.called` does.

    Args:
        package: of the grammar.
        source: the text.
        called: types of nodes that can stand for the called function; calls of others have no name.
        names: types of the nodes that are names.
    """
    found: list[tuple[str, str]] = []
    for node in nodes_in(package, source):
        function = node.child_by_field_name("function") if node.type == "call_expression" else None
        if function is not None and function.type in called:
            found.append(("call", called_name(source, function).replace("::", ".")))
        elif node.type in names:
            found.append(("name", text_of(node)))
    return found


def lines_with(text: bytes, word: bytes) -> bytes:
    """Return the lines of a text that contain a word, also as a part of another word."""
    lines: list[bytes] = []
    at = text.find(word)
    while at >= 0:
        end = text.find(b"\n", at)
        end = len(text) if end < 0 else end
        lines.append(text[text.rfind(b"\n", 0, at) + 1 : end])
        at = text.find(word, end)
    return b"\n".join(lines)


def end_of_head(text: bytes) -> int:
    """Return where the parameters of a function end: at the bracket that closes the first one."""
    level = 0
    for place in re.finditer(rb"[()]", text):
        level += 1 if place[0] == b"(" else -1
        if level == 0:
            return place.end()
    return len(text)


_NOT_ASCII = 0x80
IN_WORDS = bytes([byte >= _NOT_ASCII or chr(byte).isalnum() or byte == ord("_") for byte in range(256)])
"""For each byte, whether it may be a part of a word."""


def places_of(word: bytes, source: bytes) -> Iterator[int]:
    """Yield each position of a word; this search is many times faster than a regular expression."""
    at, size, last = source.find(word), len(word), len(source)
    while at >= 0:
        end = at + size
        if not ((at and IN_WORDS[source[at - 1]]) or (end < last and IN_WORDS[source[end]])):
            yield at
        at = source.find(word, at + 1)
