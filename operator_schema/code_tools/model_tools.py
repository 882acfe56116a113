"""Which tools does a model get, to ask about a folder of source files?"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from .. import Registry, Toolset, tool
from .code_base import (
    LEAST_TOKENS,
    LONGEST_NAME,
    LONGEST_PATCH,
    LONGEST_SNIPPET,
    MOST_PATTERN,
    MOST_RESULTS,
    MOST_TOKENS,
    CodeBase,
)
from .language import Kind  # noqa: TC001  # the tools read them
from .parsing import missing_package
from .results import (  # noqa: TC001  # the tools read them
    ImplementationsFound,
    Inspection,
    Overview,
    PatchCheck,
    ReadFunction,
    ReferencesFound,
    SearchResult,
    SyntaxCheck,
    TextFound,
)
from .snippets import Context  # noqa: TC001  # the tools read them

try:
    from annotated_types import Ge, Le, MaxLen, MinLen
except ModuleNotFoundError as error:
    raise missing_package(error, "annotated-types") from None

if TYPE_CHECKING:
    import os

_FEW, _LINES, _TOKENS = 10, 50, 1000
"""What a model gets that doesn't say how much it wants."""
_TIME_FOR_AN_ANSWER = 10.0
"""Seconds that a call may take besides the type checker."""
_Name: TypeAlias = Annotated[str, MaxLen(LONGEST_NAME)]
_Code: TypeAlias = Annotated[str, MaxLen(LONGEST_SNIPPET)]
_Limit: TypeAlias = Annotated[int, Ge(1), Le(MOST_RESULTS)]
_LanguageName: TypeAlias = Literal[
    "python", "go", "rust", "typescript", "tsx", "javascript", "java", "c", "cpp"
]


class CodeTools:
    """The tools of one code base.

    Args:
        code_base: that they read.
    """

    def __init__(self, code_base: CodeBase) -> None:
        self.code_base = code_base

    @tool(read_only=True)
    def inspect(self, name: _Name, detail: Literal["full", "outline"] | None = None) -> Inspection:
        """Get the definition of a class, interface, function, method, constant, variable or type.

        Args:
            name: Its name, such as UserService or UserService.CreateUser. If several declarations have it,
                put the path of the file in front: services/user.go:UserService. A location is a name too.
            detail: Signatures alone if outline.
        """
        return self.code_base.inspect(name, detail or "full")

    @tool(read_only=True)
    def search(
        self,
        pattern: Annotated[str, MaxLen(MOST_PATTERN)],
        kind: Kind | None = None,
        limit: _Limit | None = None,
    ) -> SearchResult:
        """Find declarations whose names fit a pattern.

        Args:
            pattern: The name; * stands for any characters and ? for one, as in *Repository. With the path of
                a file in front, only what it declares: services/user.go:*.
            kind: Only declarations of this kind.
            limit: Most results to return; 10 unless given.
        """
        return self.code_base.search(pattern, kind, _FEW if limit is None else limit)

    @tool(read_only=True)
    def search_text(
        self,
        pattern: Annotated[str, MinLen(1), MaxLen(LONGEST_NAME)],
        path: _Name | None = None,
        limit: _Limit | None = None,
    ) -> TextFound:
        r"""Find lines of files in any language, also of those that the other tools don't read.

        Args:
            pattern: A text or a regular expression that each line is searched for, such as TODO|FIXME.
            path: Only in this file or folder.
            limit: Most lines to return; 50 unless given.
        """
        return self.code_base.search_text(pattern, path or "", _LINES if limit is None else limit)

    @tool(read_only=True)
    def read_func(
        self,
        name: _Name,
        *,
        line_numbers: bool | None = None,
        first_line: int | None = None,
    ) -> ReadFunction:
        """Read the implementation of a function or method, with the imports it uses and what it calls.

        Args:
            name: Its name, such as CreateUser or UserService.CreateUser.
            line_numbers: Put the number of each line in front of it.
            first_line: Begin at this line of the file, to read on where a long function was cut.
        """
        return self.code_base.read_func(name, line_numbers=bool(line_numbers), first_line=first_line)

    @tool(read_only=True)
    def references(
        self,
        name: _Name,
        path: _Name | None = None,
    ) -> ReferencesFound:
        """Find who uses or calls a declaration; each place is certain, likely (same name) or text.

        Args:
            name: Its name.
            path: Only in this file or folder.
        """
        return self.code_base.references(name, path or "")

    @tool(read_only=True)
    def implements(self, name: _Name) -> ImplementationsFound:
        """Find what extends or implements a type, or overrides a method.

        Args:
            name: Its name.
        """
        return self.code_base.implements(name)

    @tool(read_only=True)
    def overview(
        self,
        path: _Name | None = None,
        tokens: Annotated[int, Ge(LEAST_TOKENS), Le(MOST_TOKENS)] | None = None,
    ) -> Overview:
        """Get a map of a folder: the types and functions that are used most.

        Args:
            path: The folder; all unless given.
            tokens: Length of the map; 1,000 unless given.
        """
        return self.code_base.overview(path or "", _TOKENS if tokens is None else tokens)

    @tool(read_only=True)
    def check_syntax(
        self,
        code: _Code,
        context: Context | None = None,
        *,
        inside: _Name | None = None,
        language: _LanguageName | None = None,
    ) -> SyntaxCheck:
        """Check the syntax of code that you wrote, before you use it. The code isn't run.

        Args:
            code: The code.
            context: What the code is a part of, or all of; a file unless given.
            inside: The function that gets the code as its body, such as UserService.CreateUser, or the file
                that gets it as its text.
            language: Guessed unless given.
        """
        return self.code_base.check_syntax(code, context or "file", inside=inside, language=language)

    @tool(read_only=True)
    def check_patch(self, diff: Annotated[str, MaxLen(LONGEST_PATCH)]) -> PatchCheck:
        """Check a patch before you apply it: does it fit, and what does it break? Nothing is written.

        Args:
            diff: A unified diff, with paths below the root.
        """
        return self.code_base.check_patch(diff)


class CodeToolsWithTypes(CodeTools):
    """The tools of a code base for which type checkers may run."""

    @tool(read_only=True)
    def check_syntax(  # pyright: ignore[reportIncompatibleVariableOverride]  # it has one more parameter
        self,
        code: _Code,
        context: Context | None = None,
        *,
        inside: _Name | None = None,
        type_check: bool | None = None,
        language: _LanguageName | None = None,
    ) -> SyntaxCheck:
        """Check the syntax of code that you wrote, before you use it. The code isn't run.

        Args:
            code: The code.
            context: What the code is a part of, or all of; a file unless given.
            inside: The function that gets the code as its body, such as UserService.CreateUser, or the file
                that gets it as its text.
            type_check: Check types too.
            language: Guessed unless given.
        """
        return self.code_base.check_syntax(
            code, context or "file", inside=inside, type_check=bool(type_check), language=language
        )


def code_tools(
    root: str | os.PathLike[str] = ".",
    *,
    cache: str | os.PathLike[str] | None = None,
    budget: int = 20_000,
    type_check_seconds: float = 20.0,
    type_checks: bool = False,
) -> Registry:
    """Make the tools for a folder.

    Args:
        root: the folder.
        cache: file in which parsed files are kept for the next process; None to keep nothing.
        budget: characters that a result may have as JSON, at least 1,000.
        type_check_seconds: time that a type checker may take.
        type_checks: whether a type checker may run, as for `CodeBase`.

    Returns:
        A registry of its own.

    Raises:
        NotADirectoryError: `root` isn't a folder.
        ModuleNotFoundError: the extra `code` isn't installed.
        TypeError: the budget isn't a number, or a path isn't one.
        ValueError: the budget is too small, or the cache file belongs to something else.
    """
    _check_installed()
    code_base = CodeBase(
        root, cache=cache, budget=budget, type_check_seconds=type_check_seconds, type_checks=type_checks
    )
    made = Toolset.from_object((CodeToolsWithTypes if type_checks else CodeTools)(code_base))
    # Longer than the checker may take, so that the model reads the tool's own answer.
    checking = made["check_syntax"].with_(timeout=type_check_seconds + _TIME_FOR_AN_ANSWER)
    return Registry([checking if each.name == checking.name else each for each in made])


def _check_installed() -> None:
    """Check now that the extra `code` is installed, because it is imported only by the first call.

    Raises:
        ModuleNotFoundError: a package of the extra `code` is missing.
    """
    package = "tree_sitter"
    if find_spec(package) is None:
        raise missing_package(ModuleNotFoundError(name=package), package)
