"""The four tools of a code base, for a model."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Literal

from .. import Registry, tool
from .code_base import LONGEST_NAME, LONGEST_SNIPPET, MOST_PATTERN, CodeBase
from .declarations import (
    Kind,  # the tools read it
    missing_package,
)
from .results import Inspection, ReadFunction, SearchResult, SyntaxCheck  # noqa: TC001  # the tools read them

if TYPE_CHECKING:
    import os

try:
    from annotated_types import Ge, Le, MaxLen
except ModuleNotFoundError as error:
    raise missing_package(error, "annotated-types") from None

__all__ = ["CodeTools", "code_tools"]

_TIME_FOR_AN_ANSWER = 10.0
"""Seconds that a call may take besides the type checker."""

_NEEDED = ("tree_sitter", "pathspec")
"""Packages of the extra that are imported late."""


class CodeTools:
    """The tools of one code base.

    Args:
        code_base: that they read.
    """

    def __init__(self, code_base: CodeBase) -> None:
        self.code_base = code_base

    @tool(read_only=True)
    def inspect(self, name: Annotated[str, MaxLen(LONGEST_NAME)]) -> Inspection:
        """Get the definition of a class, interface, function, method, constant, variable or type.

        Args:
            name: Its name, such as UserService or UserService.CreateUser. If several declarations have it,
                put the path of the file in front: services/user.go:UserService.
        """
        return self.code_base.inspect(name)

    @tool(read_only=True)
    def search(
        self,
        pattern: Annotated[str, MaxLen(MOST_PATTERN)],
        kind: Kind | None = None,
        limit: Annotated[int, Ge(1), Le(200)] = 10,
    ) -> SearchResult:
        """Find declarations whose names fit a pattern.

        Args:
            pattern: The name; * stands for any characters and ? for one, as in *Repository. With the path of
                a file in front, only what it declares: services/user.go:*.
            kind: Only declarations of this kind.
            limit: Most results to return.
        """
        return self.code_base.search(pattern, kind, limit)

    @tool(read_only=True)
    def read_func(
        self,
        name: Annotated[str, MaxLen(LONGEST_NAME)],
        *,
        line_numbers: bool = False,
        first_line: int | None = None,
    ) -> ReadFunction:
        """Read the implementation of a function or method, with the imports it uses and what it calls.

        Args:
            name: Its name, such as CreateUser or UserService.CreateUser.
            line_numbers: Put the number of each line in front of it.
            first_line: Begin at this line of the file, to read on where a long function was cut.
        """
        return self.code_base.read_func(name, line_numbers=line_numbers, first_line=first_line)

    @tool(read_only=True)
    def check_syntax(
        self,
        code: Annotated[str, MaxLen(LONGEST_SNIPPET)],
        context: Literal["file", "function_body", "expression", "statements"] = "file",
        *,
        type_check: bool = False,
        language: Literal["python", "go", "rust"] | None = None,
    ) -> SyntaxCheck:
        """Check the syntax of code that you wrote, before you use it. The code isn't run.

        Args:
            code: The code.
            context: What the code is: a whole file, the inside of a function, one expression, or statements.
            type_check: Run the type checker of the project too, if that is allowed here.
            language: Language of the code; the main language of the project unless given.
        """
        return self.code_base.check_syntax(code, context, type_check=type_check, language=language)


def code_tools(
    root: str | os.PathLike[str] = ".",
    *,
    cache: str | os.PathLike[str] | None = None,
    budget: int = 20_000,
    type_check_seconds: float = 30.0,
    type_checks: bool = False,
) -> Registry:
    """Make the four tools for a folder: inspect, search, read_func and check_syntax.

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
        TypeError: the budget isn't a number.
        ValueError: it is too small, or the cache is a file of something else.
    """
    _check_installed()
    code_base = CodeBase(
        root, cache=cache, budget=budget, type_check_seconds=type_check_seconds, type_checks=type_checks
    )
    made = Registry.from_object(CodeTools(code_base))
    # Longer than the checker may take, so that the model reads the tool's own answer.
    checking = made["check_syntax"].with_(timeout=type_check_seconds + _TIME_FOR_AN_ANSWER)
    return Registry([checking if each.name == checking.name else each for each in made])


def _check_installed() -> None:
    """Check that the tools can answer at all: what they need is imported by the first call that needs it.

    Raises:
        ModuleNotFoundError: a package of the extra `code` is missing.
    """
    for package in _NEEDED:
        if find_spec(package) is None:
            raise missing_package(ModuleNotFoundError(name=package), package)
