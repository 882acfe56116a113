"""A folder of source files: what can be asked about it, and the tools by which a model asks."""

from __future__ import annotations

import re
from heapq import nlargest
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar, get_args

from .. import CallError, Registry, Toolset, tool
from ..message_text import checked_text, nearest_names, quote, received
from .answers import FUNCTIONS, ChangedError, inspected, match, read_function
from .index import Index, Pattern
from .index_cache import IndexCache, check_cache
from .language import KINDS, LANGUAGES, Context, Kind, TooHardError, language_named, missing_package
from .results import (  # the tools read them
    SMALLEST,
    Budget,
    Inspection,
    ReadFunction,
    SearchResult,
    SyntaxCheck,
    SyntaxErrorShown,
)
from .type_checkers import type_checked

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping


__all__ = ["CodeBase", "CodeTools", "LONGEST_NAME", "LONGEST_SNIPPET", "MOST_PATTERN", "code_tools"]


Result = TypeVar("Result")

_TRIES = 5
_MOST_RESULTS = 200
_MOST_NEAREST = 5
_MOST_COMPARED = 50
LONGEST_NAME = 1_000
"""Characters of a name with its path that a model may send."""
MOST_PATTERN = 200
LONGEST_SNIPPET = 200_000


class CodeBase:
    """The source files under a folder that git would not ignore; nothing of them is run or imported.

    Each call sees the files as they are now: what is new or has changed is read again before it answers.
    Calls may come from several threads; they take turns. A `CallError` says that the
    files change all the time, so that no answer is of one state of them.

    Args:
        root: the folder. Links in it are not followed.
        cache: file in which parsed files are kept for the next process (sqlite3); None to keep nothing.
        budget: characters that a result may have as JSON, at least 1,000.
        type_check_seconds: time that a type checker may take.
        type_checks: whether a type checker may run. It may be a program of the project, and some settings
            of a project name code to run: say True only for code that you trust.

    Raises:
        NotADirectoryError: `root` isn't a folder.
        TypeError: the budget isn't a number.
        ValueError: it is too small, or the cache is a file of something else.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] = ".",
        *,
        cache: str | os.PathLike[str] | None = None,
        budget: int = 20_000,
        type_check_seconds: float = 30.0,
        type_checks: bool = False,
    ) -> None:
        self.root = Path(root).resolve()
        if not self.root.is_dir():
            message = f"the root of a code base is a folder: {self.root}"
            raise NotADirectoryError(message)
        if not isinstance(budget, int):  # what callers promise, some do not
            message = f"the budget is a number of characters, not {received(budget)}"
            raise TypeError(message)
        if budget < SMALLEST:
            message = f"the budget is at least {SMALLEST:,} characters, not {budget:,}"
            raise ValueError(message)
        self.budget = budget
        self.type_check_seconds = type_check_seconds
        self.type_checks = type_checks
        self._cache = None if cache is None else Path(cache)
        if self._cache is not None:
            check_cache(self._cache)
        self._index: Index | None = None
        self._lock = RLock()

    def refresh(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Read what is new or has changed; the other methods do this by themselves.

        Args:
            progress: called with the number of files that were read, and of all that have to be read.

        Returns:
            How many files were parsed.
        """
        with self._lock:
            if self._index is None:
                cache = None if self._cache is None else IndexCache(self._cache)
                self._index = Index(str(self.root), cache)
            return self._index.refresh(progress)

    @property
    def skipped(self) -> Mapping[str, str]:
        """Files that aren't read, with the reason: binary, too large, no right to read them."""
        with self._lock:
            return {} if self._index is None else dict(self._index.skipped)

    def inspect(self, name: str) -> Inspection:
        """Describe a declaration.

        Args:
            name: such as `Codec`, `Codec.decode`, `codec.Codec.decode` or `codec/codec.py:Codec`.
        """
        name = checked_text("the name", name)

        def answer(index: Index) -> Inspection:
            found = index.named(name)
            if found:
                return inspected(index, found, Budget(self.budget))
            nearest, note = self._missed(index, name)
            result = Inspection(found=False, name=name[:MOST_PATTERN])
            if nearest:
                result["nearest"] = nearest
            if note:
                result["note"] = note
            return result

        return self._answered(answer)

    def search(self, pattern: str, kind: Kind | None = None, limit: int = 10) -> SearchResult:
        """Find declarations by a pattern of their names.

        Args:
            pattern: with `*` for any characters and `?` for one; with a dot in it, of the qualified name;
                with a path in front, of what this file declares: `codec/codec.py:*`. Case counts, unless
                nothing fits.
            kind: of the declarations; struct and class are one kind, so are interface and protocol.
            limit: how many are returned, from 1 to 200.

        Raises:
            ValueError: the pattern is longer than 200 characters, the kind isn't known, or the limit is
                out of bounds.
        """
        pattern = checked_text("the pattern", pattern)
        if len(pattern) > MOST_PATTERN:
            message = f"a pattern has at most {MOST_PATTERN} characters"
            raise ValueError(message)
        if kind is not None and kind not in KINDS:
            message = f"the kind is one of {', '.join(KINDS)}, not {received(kind)}"
            raise ValueError(message)
        if not 1 <= limit <= _MOST_RESULTS:
            message = f"the limit is from 1 to {_MOST_RESULTS}, not {limit}"
            raise ValueError(message)

        def answer(index: Index) -> SearchResult:
            budget = Budget(self.budget)
            found, more = index.search(pattern.strip(), kind, limit)
            matches = (match(index, one, Budget(self.budget)) for one in found)
            shown = budget.items(matches, 1, "results", of=len(found))
            result = SearchResult(results=shown)
            if more + len(found) - len(shown):
                result["more"] = more + len(found) - len(shown)
                result["note"] = "There are more: make the pattern longer, give a kind, or raise the limit."
            elif not found and kind is not None and index.search(pattern.strip(), None, 1)[0]:
                result["note"] = "Nothing of this kind fits, but declarations of other kinds do."
            elif others := index.in_another_case(pattern.strip(), kind, found):
                shown_names = ", ".join([quote(name) for name in others[:_MOST_NEAREST]])
                result["note"] = f"In another case of letters there are also {shown_names}."
            return result

        return self._answered(answer)

    def read_func(
        self, name: str, *, line_numbers: bool = False, first_line: int | None = None
    ) -> ReadFunction:
        """Read the text of a function or method.

        Args:
            name: such as `decode` or `Codec.decode`; see `inspect`.
            line_numbers: whether each line gets its number in the file.
            first_line: of the file, where the text shall begin; None for all of it.
        """
        name = checked_text("the name", name)

        def answer(index: Index) -> ReadFunction:
            found = index.named(name)
            functions = [one for one in found if one.declaration.kind in FUNCTIONS]
            if functions:
                budget = Budget(self.budget)
                return read_function(
                    index, functions, budget, line_numbers=line_numbers, first_line=first_line
                )
            result = ReadFunction(found=False, name=name[:MOST_PATTERN])
            if found:
                kind = found[0].declaration.kind
                result["note"] = f"This name is a {kind}, not a function: call inspect."
                return result
            nearest, note = self._missed(index, name, functions=True)
            if nearest:
                result["nearest"] = nearest
            if note:
                result["note"] = note
            return result

        return self._answered(answer)

    def check_syntax(
        self, code: str, context: Context = "file", *, type_check: bool = False, language: str | None = None
    ) -> SyntaxCheck:
        """Check the syntax of a snippet; it isn't run.

        Args:
            code: of at most 200,000 characters.
            context: what it is a part of.
            type_check: whether a type checker of the project reads it too.
            language: of the snippet; None for the language of most files under the root.

        Raises:
            ValueError: the language or the context isn't known.
        """
        code = checked_text("the code", code)
        language = (
            self._main_language() if language is None else checked_text("the language", language).lower()
        )
        if language not in LANGUAGES:
            message = f"the language is one of {', '.join(LANGUAGES)}, not {quote(language)}"
            raise ValueError(message)
        if context not in get_args(Context):
            message = f"the context is one of {', '.join(get_args(Context))}, not {received(context)}"
            raise ValueError(message)
        if len(code) > LONGEST_SNIPPET:
            message = f"the code is longer than {LONGEST_SNIPPET:,} characters"
            return SyntaxCheck(valid=False, errors=[SyntaxErrorShown(position="1:1", message=message)])
        try:
            problems = language_named(language).problems(code, context)
        except TooHardError:
            message = "it takes too long to parse, so it wasn't checked: write it in shorter pieces"
            return SyntaxCheck(valid=False, errors=[SyntaxErrorShown(position="1:1", message=message)])
        checked_with = None
        if type_check and not self.type_checks:
            checked_with = "type checks are switched off here"
        elif type_check and not problems:
            problems, checked_with = type_checked(self.root, code, context, language, self.type_check_seconds)
        budget = Budget(self.budget)
        errors = [
            SyntaxErrorShown(position=f"{one.line}:{one.column}", message=budget.line(one.message))
            for one in problems
        ]
        result = SyntaxCheck(valid=not problems, errors=budget.items(errors, 0.9, "errors", of=len(errors)))
        suggestions = list(dict.fromkeys([one.suggestion for one in problems if one.suggestion]))
        if suggestions:
            result["suggestions"] = budget.items(suggestions, 1, "suggestions", of=len(suggestions))
        if checked_with is not None:
            result["checked_with"] = checked_with
        if budget.note:
            result["note"] = budget.note
        return result

    def _answered(self, answer: Callable[[Index], Result]) -> Result:
        """Return an answer that is of the files as they are now."""
        with self._lock:
            for _ in range(_TRIES):
                self.refresh()
                assert self._index is not None  # noqa: S101  # refresh made it
                try:
                    return answer(self._index)
                except ChangedError:
                    continue
        message = "the files change while they are read: try again"
        raise CallError(message)

    def _missed(self, index: Index, name: str, *, functions: bool = False) -> tuple[list[str], str | None]:
        """Return names that are like one that wasn't found, and what may explain it."""
        last = re.split(r"[.:/]", name.strip())[-1][:MOST_PATTERN].replace("*", "").replace("?", "")
        words = [word for word in re.findall(r"[A-Z]?[a-z\d]+|[A-Z]+", last) if len(word) > 3]  # noqa: PLR2004  # shorter words are everywhere
        patterns = [f"*{word}*" for word in sorted(words, key=len, reverse=True)[:2]]
        patterns += [f"{last[:3]}*", f"*{last[-4:]}"] if len(last) > 3 else [last]  # noqa: PLR2004  # as above
        known: dict[str, None] = {}
        for pattern in patterns:
            for found in index.matching(Pattern(pattern, any_case=True), 200):
                if not functions or found.declaration.kind in FUNCTIONS:
                    known[found.declaration.name] = None
        path = name.strip().removeprefix("./")
        if index.file(path) is not None:
            return [], f"This is a file: search for {path}:* to list what it declares."
        skipped = len(index.skipped)
        note = (
            f"{skipped} files under the root aren't read, such as {next(iter(index.skipped))}."
            if skipped
            else None
        )
        return nearest_names(last, _alike(last, known), _MOST_NEAREST), note

    def _main_language(self) -> str:
        self.refresh()
        assert self._index is not None  # noqa: S101  # refresh made it
        counts = dict.fromkeys(LANGUAGES, 0)
        suffixes = {suffix: name for name, each in LANGUAGES.items() for suffix in each}
        with self._lock:
            for file in self._index.files():
                counts[suffixes[file.path[file.path.rfind(".") :]]] += 1
        return max(counts, key=lambda name: counts[name])

    def __repr__(self) -> str:
        return f"CodeBase({str(self.root)!r})"


def _alike(name: str, known: Iterable[str]) -> list[str]:
    """Return the names that share the most letters in a row: comparing names as a whole takes long."""
    wanted = _triples(name)
    return nlargest(_MOST_COMPARED, known, key=lambda other: len(wanted & _triples(other)))


def _triples(name: str) -> set[str]:
    folded = name.casefold()
    return {folded[place : place + 3] for place in range(max(len(folded) - 2, 1))}


try:
    from annotated_types import Ge, Le, MaxLen
except ModuleNotFoundError as error:
    raise missing_package(error, "annotated-types") from None


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
    made = Toolset.from_object(CodeTools(code_base))
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
