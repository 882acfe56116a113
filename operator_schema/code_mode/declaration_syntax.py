"""How are declarations written in Python and in TypeScript?"""

from __future__ import annotations

import builtins
import json
import keyword
import re
from abc import abstractmethod
from dataclasses import MISSING
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from unicodedata import normalize

from ..immutable import Value
from ..json_values import is_array, is_object
from ..message_text import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class DeclaredEntry(Value):
    """A parameter of a function, or a field of an object.

    Attributes:
        key: its JSON name.
        name: its name in the declaration; it differs from the key if the language can't write that.
        type: its type, as an expression.
        required: whether it must be there.
        default: a JSON value that fits the type; `dataclasses.MISSING` if there is none.
        text: its description, on one line; may be empty.
    """

    key: str
    name: str
    type: str
    required: bool
    default: Any
    text: str


def one_line(text: str) -> str:
    """Return a text on one line of printable characters."""
    return escape(" ".join(text.split()))


def _lines(text: str) -> list[str]:
    """Return the lines of a text, with unprintable characters escaped and no repeated blank lines."""
    lines = [escape(line.replace("\t", "    ").rstrip()) for line in text.strip().splitlines()]
    return [line for i, line in enumerate(lines) if line or lines[i - 1]]


# Comments that steer a checker: they need their colon, or their `@`, right where it is.
_STEERS: Final = re.compile(
    r"((?:^|#)\s*(?:type|pyright|mypy|pyre|ruff|flake8|pylint|pytype|pyrefly|ty))(\s*:)"
)
_STEERS_TYPESCRIPT: Final = re.compile(r"@(?=ts-)")


class Syntax:
    """The syntax of types, objects and functions in one language."""

    reserved: frozenset[str]
    """Reserved names, which no declaration may have."""

    any: str
    scalars: Mapping[str, str]

    @abstractmethod
    def comment(self, text: str) -> str:
        """Return a comment for the end of a line; empty for an empty text."""

    @abstractmethod
    def literal(self, values: Sequence[Any]) -> str:
        """Return the type of a few JSON scalars."""

    @abstractmethod
    def union(self, members: Sequence[str]) -> str:
        """Return the type of several alternatives."""

    @abstractmethod
    def array(self, item: str) -> str:
        """Return the type of an array of any length."""

    @abstractmethod
    def tuple(self, items: Sequence[str]) -> str:
        """Return the type of an array of fixed length."""

    @abstractmethod
    def map(self, values: str) -> str:
        """Return the type of an object with free keys."""

    @abstractmethod
    def entry_name(self, key: str) -> str:
        """Return the name of a parameter: its key, if the language can write that."""

    @abstractmethod
    def record(self, name: str, text: str, entries: Sequence[DeclaredEntry]) -> str:
        """Declare an object with named fields."""

    @abstractmethod
    def alias(self, name: str, expression: str) -> str:
        """Declare an alias of a type."""

    @abstractmethod
    def function(self, name: str, text: str, entries: Sequence[DeclaredEntry], result: str) -> str:
        """Declare a function whose parameters are the fields of the arguments."""

    @abstractmethod
    def function_of_input(self, name: str, text: str, input_type: str, result: str) -> str:
        """Declare a function that takes its arguments as one object."""

    @abstractmethod
    def module(self, types: Iterable[str], functions: Iterable[str]) -> str:
        """Return a whole file."""


def _printable(text: str, astral: str) -> str:
    """Return JSON text with unprintable characters escaped in the syntax of the language."""
    if text.isascii() and text.isprintable():
        return text
    return "".join([c if escape(c) == c else _escaped(ord(c), astral) for c in text])


def _escaped(code: int, astral: str) -> str:
    return f"\\u{code:04x}" if code <= 0xFFFF else astral.format(code)  # noqa: PLR2004  # the last one with four digits


# --- Python ----------------------------------------------------------------------------------------

_PYTHON_TYPES = {"Any", "Literal", "NotRequired", "TypeAlias", "TypedDict"}
_NO_CODE: Final = re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*', re.DOTALL)
_WORD: Final = re.compile(r"\w+")
_PYTHON_WORDS = frozenset(
    [*keyword.kwlist, *[name for name in dir(builtins) if name.islower() or name in keyword.kwlist]]
)


class PythonSyntax(Syntax):
    """Python, as a stub file (PEP 484, PEP 589, PEP 655)."""

    reserved = _PYTHON_WORDS | _PYTHON_TYPES
    any = "Any"
    scalars = MappingProxyType(
        {
            "string": "str",
            "integer": "int",
            "number": "float",
            "boolean": "bool",
            "null": "None",
        }
    )

    def comment(self, text: str) -> str:
        harmless = _STEERS.sub(r"\1 \2", text)
        return f" #{harmless}" if text else ""

    def literal(self, values: Sequence[Any]) -> str:
        null = " | None" if None in values else ""
        if any(type(value) is float for value in values):
            return self.union(list(dict.fromkeys([_class_of(value) for value in values])))
        written = ",".join([self.value(value) for value in values if value is not None])
        return f"Literal[{written}]{null}" if written else "None"

    def union(self, members: Sequence[str]) -> str:
        return self.any if self.any in members else " | ".join(members)

    def array(self, item: str) -> str:
        return f"list[{item}]"

    def tuple(self, items: Sequence[str]) -> str:
        return f"tuple[{', '.join(items) or '()'}]"

    def map(self, values: str) -> str:
        return f"dict[str, {values}]"

    def entry_name(self, key: str) -> str:
        name = key if _is_python_name(key) else re.sub(r"\W", "_", key, flags=re.ASCII)
        # Two underscores would make a parameter positional.
        name = re.sub("^__+", "_", name if name.isidentifier() else f"_{name}")
        name = "value" if name == "_" else name
        is_taken = name in keyword.kwlist or name in _PYTHON_TYPES
        return f"{name}_" if is_taken else name

    def record(self, name: str, text: str, entries: Sequence[DeclaredEntry]) -> str:
        partial = bool(entries) and not any(entry.required for entry in entries)
        end = ", total=False" if partial else ""
        optional = "{}" if partial else "NotRequired[{}]"
        types = [entry.type if entry.required else optional.format(entry.type) for entry in entries]
        used = set(_WORD.findall(" ".join([*types, "NotRequired"])))
        if all(_is_field_name(entry.key) and entry.key not in used for entry in entries):
            head = f"class {name}(TypedDict{end}):{self.comment(text)}"
            rows = [
                f" {entry.key}: {written}{self.comment(_with_default(entry))}"
                for entry, written in zip(entries, types, strict=True)
            ]
            return "\n".join([head, *rows])

        def mark(entry: DeclaredEntry) -> str:
            return "" if entry.key else "# "  # checkers refuse the empty key

        rows = [
            f" {mark(entry)}{self.value(entry.key)}: {written},{self.comment(_with_default(entry))}"
            for entry, written in zip(entries, types, strict=True)
        ]
        head = f"{name} = TypedDict({self.value(name)}, {{{self.comment(text)}"
        return "\n".join([head, *rows, f"}}{end})"])

    def alias(self, name: str, expression: str) -> str:
        return f"{name}: TypeAlias = {expression}"

    def function(self, name: str, text: str, entries: Sequence[DeclaredEntry], result: str) -> str:
        written = [
            (f"{entry.name}: {entry.type}{self._default(entry)}", self._text(entry)) for entry in entries
        ]
        if not any(said for _, said in written):
            return self._function(name, ", ".join([part for part, _ in written]), text, result)
        rows = [f"{part},{self.comment(said)}" for part, said in written]
        return self._function(name, "\n ".join(rows) + "\n", text, result)

    def function_of_input(self, name: str, text: str, input_type: str, result: str) -> str:
        return self._function(name, f"input: {input_type}", text, result)

    def _function(self, name: str, parameters: str, text: str, result: str) -> str:
        head = f"def {name}({parameters})->{result}:"
        lines = [line.replace("\\", "\\\\") for line in _lines(text)]
        if len(lines) == 1 and '"' not in lines[0]:
            return f'{head}"{lines[0]}"'
        said = re.sub(r'"(?="|$)', r'\\"', "\n".join(lines))
        return f'{head}"""{said}"""' if lines else f"{head}..."

    def _default(self, entry: DeclaredEntry) -> str:
        if entry.required:
            return ""
        return f"={self.value(entry.default)}" if _is_short(entry.default) else "=..."

    def _text(self, entry: DeclaredEntry) -> str:
        return entry.text if _is_short(entry.default) else _with_default(entry)

    def value(self, value: Any) -> str:
        """Return a JSON scalar, or an empty array or object, as an expression."""
        if value is None or isinstance(value, (bool, float)):
            return repr(value)
        return _printable(json.dumps(value, ensure_ascii=False), "\\U{:08x}")

    def module(self, types: Iterable[str], functions: Iterable[str]) -> str:
        text = "\n".join([*types, *functions])
        names = ", ".join(sorted(_PYTHON_TYPES.intersection(_WORD.findall(_NO_CODE.sub("", text)))))
        return f"from typing import {names}\n{text}\n" if names else f"{text}\n"


def _class_of(value: Any) -> str:
    if value is None:
        return "None"
    return {bool: "bool", int: "int", float: "float", str: "str"}[type(value)]


def _is_python_name(key: str) -> bool:
    return key.isidentifier() and normalize("NFKC", key) == key and escape(key) == key


def _is_field_name(key: str) -> bool:
    """Return whether a key can be a field in a class body without affecting the next fields."""
    is_plain = _is_python_name(key) and not key.startswith("__")
    return is_plain and key not in keyword.kwlist and key != "_"


_MOST_DEFAULT = 60


def _is_short(default: Any) -> bool:
    """Return whether a default is short enough for the declaration; without a default, False."""
    if default is MISSING or (is_array(default) and default) or (is_object(default) and default):
        return False
    return len(json.dumps(default, ensure_ascii=False)) <= _MOST_DEFAULT


def _with_default(entry: DeclaredEntry) -> str:
    if entry.default is MISSING or entry.default is None:
        return entry.text
    written = one_line(json.dumps(entry.default, ensure_ascii=False))
    bare = re.escape(written.strip('"'))
    said = rf"default(?:s|ed)?\b.{{0,20}}(?<![\w.]){bare}(?!\w|\.\d)"
    if bare and re.search(said, entry.text, re.IGNORECASE):
        return entry.text  # somebody has written it already
    return f"{entry.text} ={written}" if entry.text else f"={written}"


# --- TypeScript ------------------------------------------------------------------------------------

_TYPESCRIPT_WORDS = frozenset(
    """any arguments as async await bigint boolean break case catch class const continue debugger declare
    default delete do else enum eval export exports extends false finally for from function get global
    globalThis if implements import in infer instanceof interface intrinsic is keyof let module
    namespace never new null number object of package private protected public readonly require return
    satisfies set static string super switch symbol this throw true try type typeof undefined unique
    unknown using var void while with yield Array Object Promise ReadonlyArray Record String Number
    Boolean Symbol Function IArguments RegExp CallableFunction NewableFunction""".split()  # noqa: SIM905  # a list of words
)
_TYPESCRIPT_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_PROMISE = "P"
"""A short alias for the result of each tool; writing `Promise<…>` each time takes a twentieth of a file."""

_COMPOUND = re.compile(r'^"(?:[^"\\]|\\.)*"$')


class TypeScriptSyntax(Syntax):
    """TypeScript, as a module with one object `tools`; each of its methods returns a promise."""

    reserved = _TYPESCRIPT_WORDS | {_PROMISE}
    any = "any"
    scalars = MappingProxyType(
        {
            "string": "string",
            "integer": "number",
            "number": "number",
            "boolean": "boolean",
            "null": "null",
        }
    )

    def comment(self, text: str) -> str:
        harmless = _STEERS_TYPESCRIPT.sub("@ ", text)
        return f" //{' ' if text.startswith('/') else ''}{harmless}" if text else ""

    def literal(self, values: Sequence[Any]) -> str:
        return "|".join([self.value(value) for value in values])

    def union(self, members: Sequence[str]) -> str:
        return self.any if self.any in members else "|".join(members)

    def array(self, item: str) -> str:
        is_compound = "|" in item and _COMPOUND.match(item) is None
        return f"({item})[]" if is_compound else f"{item}[]"

    def tuple(self, items: Sequence[str]) -> str:
        return f"[{', '.join(items)}]"

    def map(self, values: str) -> str:
        return f"{{[key:string]:{values}}}"

    def entry_name(self, key: str) -> str:
        return key if _TYPESCRIPT_NAME.fullmatch(key) else self.value(key)

    def record(self, name: str, text: str, entries: Sequence[DeclaredEntry]) -> str:
        return f"interface {name} {{{self.comment(text)}\n{self._rows(entries)}\n}}"

    def alias(self, name: str, expression: str) -> str:
        return f"type {name} = {expression};"

    def function(self, name: str, text: str, entries: Sequence[DeclaredEntry], result: str) -> str:
        if not entries:
            return self._function(name, text, "", result)
        mark = "" if any(entry.required for entry in entries) else "?"
        if any(self._text(entry) for entry in entries):
            fields = f"{self._rows(entries)}\n"
        else:
            fields = "; ".join([self._row(entry) for entry in entries])
        return self._function(name, text, f"arg{mark}:{{{fields}}}", result)

    def function_of_input(self, name: str, text: str, input_type: str, result: str) -> str:
        return self._function(name, text, f"arg:{input_type}", result)

    def _function(self, name: str, text: str, parameters: str, result: str) -> str:
        lines = [_STEERS_TYPESCRIPT.sub("@ ", line.replace("*/", "*\\/")) for line in _lines(text)]
        text = "\n".join(lines)
        text = f" {text}" if text.startswith("/") else text  # which would end the comment
        about = f"/**{text}*/\n" if lines else ""
        promised = _PROMISE if result == self.any else f"{_PROMISE}<{result}>"
        return f"{about}{name}({parameters}):{promised}"

    def _rows(self, entries: Sequence[DeclaredEntry]) -> str:
        return "\n".join([f"{self._row(entry)}{self.comment(self._text(entry))}" for entry in entries])

    def _row(self, entry: DeclaredEntry) -> str:
        return f"{self.entry_name(entry.key)}{'' if entry.required else '?'}:{entry.type}"

    def _text(self, entry: DeclaredEntry) -> str:
        return _with_default(entry)

    def value(self, value: Any) -> str:
        """Return a JSON scalar as an expression."""
        return _printable(json.dumps(value, ensure_ascii=False), "\\u{{{:x}}}")

    def module(self, types: Iterable[str], functions: Iterable[str]) -> str:
        # A module of its own: otherwise `Event` would be merged with that of a browser.
        head = f"type {_PROMISE}<T=any> = Promise<T>;"
        return "\n".join([head, *types, "export declare const tools: {", *functions, "};\n"])


LANGUAGES: Final[dict[str, Syntax]] = {"python": PythonSyntax(), "typescript": TypeScriptSyntax()}
