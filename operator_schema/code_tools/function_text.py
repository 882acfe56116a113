"""What is a name in the text of a function: an import, a parameter or a variable?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .words import has_word, lines_with

if TYPE_CHECKING:
    from .language import Declaration, Import, Language

IMPORT = re.compile(
    rb"(?:^|[;:{])[ \t]*(?:pub(?:\([^()\n]*\))?[ \t]+)?(?:export|from|import|use)\b", re.MULTILINE
)
_REQUIRED = re.compile(rb"=\s*(?:require|await[ \t]+import)[ \t]*\(")
_LONGEST_CODE = 2000
_BINDING = re.compile(
    rb"^[ \t]*(?:(?:let|var|const|mut)[ \t]+)*(\(?[^=\n#'\"\[{(:]*)(?::[^=\n]*)?(?<![!<>])=(?!=)"
    rb"|\bfor\b([^:\n{]*?)\b(?:in|range)\b|\bas[ \t]+(\w+)|\b(?:def|class)[ \t]+(\w+)"
    rb"|\b(\w+)[ \t]*:=|\blambda\b([^:\n]*):|[(,|][ \t\n]*(\w+)[ \t]*:(?!:)[^=]",
    re.MULTILINE,
)
"""Where a text binds names: in one of its groups."""
_ALL = b"::*"
"""How `use` of Rust takes all names of a module or enum."""
_STRING = re.compile(rb'"(?:[^"\\\n]++|\\.)*+"')
_PARAMETER = re.compile(rb"[(,|][ \t\n]*[*&]*(?:mut )?(\w+)(?=[ \t]*[:,)=| ])")
_NAME = re.compile(rb"(?<![\w.])[A-Za-z_]\w*(?![\w.(])")


_IMPORTED = re.compile(rb"[^#\n]*?\bimport\b[ \t]*(?:\([^)]*\)?|[^\n]*(?:\\\n[^\n]*)*)")
"""From the beginning of its line on, what seems to be an import of Python, with the names in it."""


class FunctionText:
    """The text of one function, with its imports and variables.

    Args:
        declaration: of the function.
        language: of its file.
        text: from its head to its end.
    """

    def __init__(self, declaration: Declaration, language: Language, text: bytes) -> None:
        self.declaration = declaration
        self._language = language
        self._text = text
        self._imports: tuple[Import, ...] | None = None
        self._parameters: set[bytes] | None = None
        self._bound: dict[str, bool] = {}
        self._types: dict[str, str] = {}
        self._taken: dict[str, bool] = {}
        self._imported: bytes | None = None

    def imports(self, name: str) -> list[Import]:
        """List the imports inside the function that bind a name, or all names of a module."""
        if self._imports is None:
            if self._imported is None:
                self._imported = self._texts_of_imports()
            if _ALL not in self._imported and not has_word(name.encode(), self._imported):
                return []
            self._imports = self._language.imports(self._text)  # parses all of it
        return [one for one in self._imports if one.name in {name, "*"}]

    def _texts_of_imports(self) -> bytes:
        """Return the parts of the text with imported names; empty if there are no imports."""
        text = self._text
        if self._language.name != "python":
            return text if IMPORT.search(text) or _REQUIRED.search(text) else b""
        found: list[bytes] = []
        at = text.find(b"import")
        while at >= 0:
            start = text.rfind(b"\n", 0, at) + 1
            whole = _IMPORTED.match(text, start)
            end = whole.end() if whole is not None else at + len(b"import")
            found.append(text[start:end])
            at = text.find(b"import", max(end, at + 1))
        return b"\n".join(found)

    def binds(self, name: str) -> bool:
        """Return whether the function seems to bind a name, other than by an import."""
        if name not in self._bound:
            is_imported = any(one.name == name for one in self.imports(name))
            self._bound[name] = not is_imported and self._is_bound(name.encode())
        return self._bound[name]

    def _is_bound(self, name: bytes) -> bool:
        """Return whether the function seems to bind a name as a parameter or variable."""
        if self._parameters is None:
            self._parameters = set(_PARAMETER.findall(self._text[: end_of_head(self._text)]))
        if name in self._parameters:
            return True
        lines = _STRING.sub(b'""', lines_with(self._text, name))
        if any(len(line) > _LONGEST_CODE for line in lines.split(b"\n")):
            return True  # nobody wrote this by hand
        return any(
            group is not None and name in _NAME.findall(group)
            for place in _BINDING.finditer(lines)
            for group in place.groups()
        )

    def type_of(self, name: str) -> str:
        """Return the type of a name in the function; empty if it isn't the same everywhere."""
        if name not in self._types:
            self._types[name] = self._language.type_of(self._text, name)
        return self._types[name]

    def destructures(self, name: str) -> bool:
        """Return whether the function destructures an object into a name: `const { name } = made()`."""
        if self._language.family != "typescript":
            return False
        taken = rb"\{[^{}()=;]*\b%b\b[^{}()=;]*\}[ \t]*=(?![=>])" % re.escape(name.encode())
        return re.search(taken, self._text) is not None

    def is_parameter_twice(self, name: str) -> bool:
        """Return whether several functions in the text seem to have a parameter of this name."""
        if name not in self._taken:
            places = re.findall(rb"[(,]\s*%b\s*[,)]" % re.escape(name.encode()), self._text)
            self._taken[name] = len(places) > 1
        return self._taken[name]


def end_of_head(text: bytes) -> int:
    """Return where the parameters of a function end: at the bracket that closes the first one."""
    level = 0
    for place in re.finditer(rb"[()]", text):
        level += 1 if place[0] == b"(" else -1
        if level == 0:
            return place.end()
    return len(text)
