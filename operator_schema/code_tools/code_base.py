"""Which questions can a program or a model ask about a folder of source files?"""

from __future__ import annotations

import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from posixpath import normpath
from threading import RLock
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, TypeVar, cast, get_args

from .. import CallError, Registry, Toolset, tool
from ..files import resolved
from ..json_values import writable_json
from ..message_text import checked_path, checked_text, one_line, quote, received
from .answers import found_by_pattern, inspected, overview_of, read_function
from .index import Index
from .language import KINDS, LANGUAGES, Context, Kind, language_of, missing_package
from .lookup import Environment, Miss, look_up, read_name
from .references import implementations_of_outer, implementations_shown, references_shown
from .results import (  # the tools read them
    SMALLEST,
    Budget,
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
from .source_text import ChangedError, implementation_first, source_of
from .undecodable_paths import REPLACED, path_meant

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from .index_cache import IndexCache
    from .lookup import Sought
    from .syntax_check import Checking, Fenced


Result = TypeVar("Result")
Detail: TypeAlias = Literal["full", "outline"]

_TRIES = 5
_SECONDS_TO_READ = 20.0
"""Time in which one call reads files; what it has read by then is kept, and the next call goes on."""
_MOST_RESULTS = 200
_LONGEST_NOTE = 500
_LEAST_TOKENS, _MOST_TOKENS = 100, 20_000
LONGEST_NAME = 1_000
"""Characters of a name with its path that a model may send."""
MOST_PATTERN = 200
LONGEST_SNIPPET = 200_000
LONGEST_PATCH = 500_000


class CodeBase:
    """Answers questions about the source files below a folder, without running or importing any of them.

    Each call sees the files as they are now: what is new or has changed is read again before it answers.
    Calls may come from several threads; they take turns. A `CallError` says that the files change all the
    time, so that no consistent answer is possible.

    Args:
        root: the folder. Links in it are not followed.
        cache: file in which parsed files are kept for the next process (sqlite3); None to keep nothing.
        budget: characters that a result may have as JSON, at least 1,000.
        type_check_seconds: time that a type checker may take.
        type_checks: whether a type checker may run. It may be a program of the project, and some settings
            of a project name code to run: set it only for code that you trust.

    Raises:
        NotADirectoryError: `root` isn't a folder.
        TypeError: the budget isn't a number, or a path isn't one.
        ValueError: the budget is too small, or the cache file belongs to something else.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] = ".",
        *,
        cache: str | os.PathLike[str] | None = None,
        budget: int = 20_000,
        type_check_seconds: float = 20.0,
        type_checks: bool = False,
    ) -> None:
        self.root = resolved(checked_path("the root of a code base", root))
        if not self.root.is_dir():
            what = "is a file" if self.root.exists() else "isn't there"
            message = f"the root of a code base is a folder, and {self.root} {what}"
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
        self._cache = None if cache is None else Path(checked_path("the cache of a code base", cache))
        if self._cache is not None:
            from .index_cache import check_cache

            check_cache(self._cache)
        self._index: Index | None = None
        self._environment = Environment(str(self.root))
        self._lock = RLock()

    def refresh(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Read new and changed files; the other methods do this by themselves.

        Args:
            progress: called with the number of files read so far, and the number of files to read.

        Returns:
            How many files were parsed.
        """
        return self._refresh(progress, None)

    def _refresh(self, progress: Callable[[int, int], None] | None, until: float | None) -> int:
        with self._lock:
            if self._index is None:
                self._index = Index(str(self.root), self._kept())
            return self._index.refresh(progress, until)

    def _kept(self) -> IndexCache | None:
        if self._cache is None:
            return None
        from .index_cache import IndexCache

        return IndexCache(self._cache)

    @property
    def skipped(self) -> Mapping[str, str]:
        """Files that aren't read, with the reason: binary, too large, no right to read them."""
        with self._lock:
            return {} if self._index is None else dict(self._index.skipped)

    def inspect(self, name: str, detail: Detail = "full") -> Inspection:
        """Describe a declaration.

        Args:
            name: in any notation of its language, such as `Codec.decode`, `Type::method` or
                `net/http.Client`, with the path of a file in front (`codec/codec.py:Codec`), or a location
                (`codec/codec.py:81`).
            detail: `outline` leaves out the text of the definition, and all but the first lines of comments.

        Raises:
            ValueError: the detail isn't known.
        """
        if detail not in get_args(Detail):
            message = f"the detail is one of {', '.join(get_args(Detail))}, not {received(detail)}"
            raise ValueError(message)
        name = self._asked("the name", name)

        return self._looked_up(
            name, lambda found: inspected(found, Budget(self.budget), outline=detail == "outline")
        )

    def search(self, pattern: str, kind: Kind | None = None, limit: int = 10) -> SearchResult:
        """Find declarations by a pattern of their names.

        Args:
            pattern: with `*` for any characters and `?` for one; with a dot in it, of the qualified name;
                with a path in front, of what this file declares: `codec/codec.py:*`. Upper and lower case
                matter, unless nothing matches.
            kind: of the declarations; struct and class are one kind, so are interface and protocol.
            limit: how many are returned, from 1 to 200.

        Raises:
            ValueError: the pattern is longer than 200 characters, the kind isn't known, or the limit is
                out of bounds.
        """
        pattern = self._asked("the pattern", pattern)
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
            return found_by_pattern(index, pattern, kind, limit, Budget(self.budget))

        return self._answered(answer)

    def search_text(self, pattern: str, path: str = "", limit: int = 50) -> TextFound:
        """Find lines of files in any language, comments and texts included.

        Files that git would ignore aren't read. It takes a few seconds at most: a note says how many files
        were left out.

        Args:
            pattern: a regular expression (ECMA 262, without references to groups), which is searched for in
                each line; anything else is searched for as plain text.
            path: of a file, a folder or a pattern of them; empty for all.
            limit: how many lines are returned, from 1 to 200.

        Raises:
            ValueError: the pattern is empty or longer than 1,000 characters, or the limit is out of bounds.
        """
        from .text_search import text_found

        pattern = checked_text("the pattern", pattern)
        path = self._path_asked(path)
        if not 0 < len(pattern) <= LONGEST_NAME:
            message = f"a pattern has 1 to {LONGEST_NAME:,} characters"
            raise ValueError(message)
        if not 1 <= limit <= _MOST_RESULTS:
            message = f"the limit is from 1 to {_MOST_RESULTS}, not {limit}"
            raise ValueError(message)

        found = self._answered(lambda index: text_found(index, pattern, path, limit, Budget(self.budget)))
        return cast("TextFound", writable_json(found))  # a line may hold what no text can

    def read_func(
        self, name: str, *, line_numbers: bool = False, first_line: int | None = None
    ) -> ReadFunction:
        """Read the text of a function or method.

        Args:
            name: such as `decode` or `Codec.decode`; see `inspect`.
            line_numbers: whether each line gets its number in the file.
            first_line: the line of the file at which the text begins; None for all of it.
        """
        name = self._asked("the name", name)

        def show(found: Sought) -> ReadFunction:
            budget = Budget(self.budget)
            return read_function(found, budget, line_numbers=line_numbers, first_line=first_line)

        return self._looked_up(name, show, functions=True)

    def references(self, name: str, path: str = "") -> ReferencesFound:
        """Find the places that use a declaration, each with its certainty.

        Args:
            name: see `inspect`.
            path: of a file or folder where uses are wanted; empty for all.
        """
        name, path = self._asked("the name", name), self._path_asked(path)

        return self._looked_up(
            name, lambda found: references_shown(found, path, Budget(self.budget)), outside=False
        )

    def implements(self, name: str) -> ImplementationsFound:
        """Find the types that extend or implement a type, or the methods that replace a method.

        Args:
            name: see `inspect`.
        """
        name = self._asked("the name", name)

        def answer(index: Index) -> ImplementationsFound:
            found = look_up(index, self._environment, name, outside=False)
            if not isinstance(found, Miss):
                return implementations_shown(found, Budget(self.budget))
            written = read_name(name)
            known = (
                implementations_of_outer(index, written.name, Budget(self.budget))
                if found.reason in {"not declared", "outside of the root"} and not written.path
                else None
            )
            return known or cast("ImplementationsFound", _missing(name, found))

        return self._answered(answer)

    def overview(self, path: str = "", tokens: int = 1000) -> Overview:
        """Return a map of a folder: the types and functions that other files use most.

        Args:
            path: of the folder or file; empty for all of the root.
            tokens: maximum size of the map, at four characters each, from 100 to 20,000.

        Raises:
            ValueError: the number of tokens is out of bounds.
        """
        path = self._path_asked(path)
        if not _LEAST_TOKENS <= tokens <= _MOST_TOKENS:
            message = f"the tokens are from {_LEAST_TOKENS} to {_MOST_TOKENS:,}, not {tokens:,}"
            raise ValueError(message)
        return self._answered(lambda index: overview_of(index, path, tokens))

    def check_syntax(
        self,
        code: str,
        context: Context = "file",
        *,
        inside: str | None = None,
        type_check: bool = False,
        language: str | None = None,
    ) -> SyntaxCheck:
        """Check the syntax of a snippet; it isn't run.

        Args:
            code: of at most 200,000 characters.
            context: the kind of text that the snippet is; with `inside`, the place determines it.
            inside: the function whose body or whole text it is, such as `UserService.CreateUser`; or the
                path of the file whose text it is. The file is checked with the snippet in its place.
            type_check: whether a type checker of the project reads it too.
            language: of the snippet; None for the likeliest one of those under the root.

        Raises:
            CallError: there is no function or file to put it in.
            ValueError: the language or the context isn't known.
        """
        from .syntax_check import Checking, checked, refused, without_fence

        code = checked_text("the code", code)
        if language is not None:
            language = checked_text("the language", language).lower()
            if language not in LANGUAGES:
                message = f"the language is one of {', '.join(LANGUAGES)}, not {quote(language)}"
                raise ValueError(message)
        if context not in get_args(Context):
            message = f"the context is one of {', '.join(get_args(Context))}, not {received(context)}"
            raise ValueError(message)
        if len(code) > LONGEST_SNIPPET:
            return refused(f"the code is longer than {LONGEST_SNIPPET:,} characters")
        fenced = without_fence(code)
        known = language or fenced.language
        if inside is not None:
            checking = self._placed(fenced, self._asked("the place", inside))
        else:
            checking = Checking(fenced, context, self._languages() if known is None else (known,))
        types = None
        if type_check:
            types = (
                (self.root, self.type_check_seconds)
                if self.type_checks
                else "type checks are switched off here"
            )
        return checked(checking, Budget(self.budget), types)

    def check_patch(self, diff: str) -> PatchCheck:
        """Apply a unified diff in memory, and check the files after it; nothing is written.

        Args:
            diff: of at most 500,000 characters, with paths below the root.
        """
        from .patches import patch_checked
        from .syntax_check import without_fence

        diff = checked_text("the patch", diff)
        if len(diff) > LONGEST_PATCH:
            message = f"the patch is longer than {LONGEST_PATCH:,} characters"
            return PatchCheck(applies=False, valid=False, error=message)
        text = without_fence(diff).code
        found = self._answered(lambda index: patch_checked(index, text, Budget(self.budget)))
        return cast("PatchCheck", writable_json(found))  # also of paths that only the patch names

    def _placed(self, fenced: Fenced, inside: str) -> Checking:
        """Put a snippet into the function or file that it is written for."""
        from .syntax_check import Checking, in_file, in_function

        def answer(index: Index) -> Checking:
            language = language_of(inside)
            file = index.file(inside)
            if language is not None and file is not None:
                place = in_file(inside, fenced.code)
                return Checking(fenced, "file", (language.name,), place, file.parsed.is_broken)
            sought = look_up(index, self._environment, inside, functions=True, outside=False)
            if isinstance(sought, Miss):
                hint = f" Did you mean {sought.nearest[0]}?" if sought.nearest else ""
                named = one_line(inside, MOST_PATTERN)
                message = f"{named} isn't a function to put code in: {sought.note}{hint}"
                raise CallError(message)
            one = implementation_first(index, [way.found for way in sought.ways])[0]
            path, own = one.file.path, one.file.language
            source = source_of(index, one.file)
            snippet, is_whole = in_function(path, source, one.declaration, own, fenced.code)
            context: Context | None = None if is_whole else "function_body"
            return Checking(fenced, context, (own.name,), snippet, one.file.parsed.is_broken)

        return self._answered(answer)

    def _asked(self, what: str, text: object) -> str:
        """Return the name or path that a caller means, also if it isn't UTF-8 and was shown in another form.

        Raises:
            TypeError: it isn't a text.
        """
        asked = checked_text(what, text)
        if REPLACED not in asked:
            return asked
        self.refresh()
        assert self._index is not None  # noqa: S101  # refresh made it
        with self._lock:
            return path_meant(asked, self._index.shown_as)

    def _path_asked(self, text: object) -> str:
        """Return a path relative to the root, however the caller wrote it; the root itself is an empty text.

        Raises:
            TypeError: it isn't a text.
        """
        asked = self._asked("the path", text).strip()
        root = f"{self.root.as_posix().rstrip('/')}/"
        below = normpath("." if asked in {"", "/"} or f"{asked}/" == root else asked.removeprefix(root))
        return "" if below == "." else below

    def _looked_up(self, name: str, show: Callable[[Sought], Result], **where: bool) -> Result:
        """Look up a name, and answer with the declarations found, or explain why there are none."""

        def answer(index: Index) -> Result:
            found = look_up(index, self._environment, name, **where)
            return cast("Result", _missing(name, found)) if isinstance(found, Miss) else show(found)

        return self._answered(answer)

    def _answered(self, answer: Callable[[Index], Result]) -> Result:
        """Compute an answer from the current files, again if they change meanwhile."""
        until = time.monotonic() + _SECONDS_TO_READ
        with self._lock:
            for _ in range(_TRIES):
                self._refresh(None, until)
                assert self._index is not None  # noqa: S101  # refresh made it
                try:
                    found = answer(self._index)
                    return found if not self._index.shown_as else writable_json(found)
                except ChangedError:
                    continue
                except CallError as error:
                    if not self._index.shown_as:
                        raise
                    raise CallError(writable_json(str(error))) from error
        message = "the files change while they are read: try again"
        raise CallError(message)

    def _languages(self) -> list[str]:
        """List the languages of the files, the most frequent first; if there are no files, only Python."""
        self.refresh()
        assert self._index is not None  # noqa: S101  # refresh made it
        with self._lock:
            counts = Counter([file.language.name for file in self._index.files()])
        return [name for name, _ in counts.most_common()] or [next(iter(LANGUAGES))]

    def __repr__(self) -> str:
        return f"CodeBase({str(self.root)!r})"


def _missing(name: str, miss: Miss) -> dict[str, object]:
    """Return the answer for a name that isn't found, which always gives the reason."""
    said: dict[str, object] = {"found": False, "name": name[:MOST_PATTERN], "reason": miss.reason}
    if miss.nearest:
        said["nearest"] = [one[:MOST_PATTERN] for one in miss.nearest]
    return {**said, "note": miss.note[:_LONGEST_NOTE]}


try:
    from annotated_types import Ge, Le, MaxLen, MinLen
except ModuleNotFoundError as error:
    raise missing_package(error, "annotated-types") from None


_FEW, _LINES, _TOKENS = 10, 50, 1000
"""What a model gets that doesn't say how much it wants."""
_LanguageName: TypeAlias = Literal[
    "python", "go", "rust", "typescript", "tsx", "javascript", "java", "c", "cpp"
]
_TIME_FOR_AN_ANSWER = 10.0
"""Seconds that a call may take besides the type checker."""


class CodeTools:
    """The tools of one code base.

    Args:
        code_base: that they read.
    """

    def __init__(self, code_base: CodeBase) -> None:
        self.code_base = code_base

    @tool(read_only=True)
    def inspect(
        self, name: Annotated[str, MaxLen(LONGEST_NAME)], detail: Literal["full", "outline"] | None = None
    ) -> Inspection:
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
        limit: Annotated[int, Ge(1), Le(200)] | None = None,
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
        path: Annotated[str, MaxLen(LONGEST_NAME)] | None = None,
        limit: Annotated[int, Ge(1), Le(200)] | None = None,
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
        name: Annotated[str, MaxLen(LONGEST_NAME)],
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
        name: Annotated[str, MaxLen(LONGEST_NAME)],
        path: Annotated[str, MaxLen(LONGEST_NAME)] | None = None,
    ) -> ReferencesFound:
        """Find who uses or calls a declaration; each place is certain, likely (same name) or text.

        Args:
            name: Its name.
            path: Only in this file or folder.
        """
        return self.code_base.references(name, path or "")

    @tool(read_only=True)
    def implements(self, name: Annotated[str, MaxLen(LONGEST_NAME)]) -> ImplementationsFound:
        """Find what extends or implements a type, or overrides a method.

        Args:
            name: Its name.
        """
        return self.code_base.implements(name)

    @tool(read_only=True)
    def overview(
        self,
        path: Annotated[str, MaxLen(LONGEST_NAME)] | None = None,
        tokens: Annotated[int, Ge(_LEAST_TOKENS), Le(_MOST_TOKENS)] | None = None,
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
        code: Annotated[str, MaxLen(LONGEST_SNIPPET)],
        context: Context | None = None,
        *,
        inside: Annotated[str, MaxLen(LONGEST_NAME)] | None = None,
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
        code: Annotated[str, MaxLen(LONGEST_SNIPPET)],
        context: Context | None = None,
        *,
        inside: Annotated[str, MaxLen(LONGEST_NAME)] | None = None,
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
