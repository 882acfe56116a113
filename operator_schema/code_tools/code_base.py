"""Which questions can a program ask about a folder of source files?"""

from __future__ import annotations

import time
from collections import Counter
from functools import cached_property
from pathlib import Path
from posixpath import normpath
from threading import RLock
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar, cast, get_args

from .. import CallError
from ..files import resolved
from ..json_values import writable_json
from ..message_text import checked_path, checked_text, one_line, received
from .budget import SMALLEST, Budget
from .descriptions import describe_declaration, describe_function
from .folder_map import map_folder
from .implementations import describe_implementations, describe_implementations_of_outer
from .index import Index
from .installed_packages import Environment
from .language import KINDS, LANGUAGES, Kind, language_of
from .lookup import look_up
from .misses import Miss
from .name_search import search_names
from .references import describe_references
from .results import PatchCheck
from .snippets import Context
from .source_text import ChangedError, implementation_first, source_of
from .undecodable_paths import REPLACED, path_meant
from .written_names import read_name

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from .resolution import Sought
    from .results import (
        ImplementationsFound,
        Inspection,
        Overview,
        ReadFunction,
        ReferencesFound,
        SearchResult,
        SyntaxCheck,
        TextFound,
    )
    from .syntax_check import Checking, Fenced


Result = TypeVar("Result")
Detail: TypeAlias = Literal["full", "outline"]

_TRIES = 5
_SECONDS_TO_READ = 20.0
"""Time in which one call reads files; what it has read by then is kept, and the next call goes on."""
MOST_RESULTS = 200
_LONGEST_NOTE = 500
LEAST_TOKENS, MOST_TOKENS = 100, 20_000
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
        if not isinstance(budget, int):  # callers without a type checker
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
        self._environment = Environment(str(self.root))
        self._lock = RLock()

    def refresh(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Read new and changed files; the other methods do this by themselves.

        Args:
            progress: called with the number of files read so far, and the number of files to read.

        Returns:
            How many files were parsed.
        """
        with self._lock:
            return self._index.refresh(progress)

    @cached_property
    def _index(self) -> Index:
        """The index of all files, which opens the cache when it is made."""
        if self._cache is None:
            return Index(str(self.root))
        from .index_cache import IndexCache

        return Index(str(self.root), IndexCache(self._cache))

    @property
    def skipped(self) -> Mapping[str, str]:
        """Files that aren't read, with the reason: binary, too large, no right to read them."""
        with self._lock:
            return dict(self._index.skipped)

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
        _check_choice("the detail", detail, get_args(Detail))
        name = self._real_name("the name", name)

        def show(found: Sought) -> Inspection:
            return describe_declaration(found, Budget(self.budget), outline=detail == "outline")

        return self._answer_about(name, show)

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
        pattern = self._real_name("the pattern", pattern)
        if len(pattern) > MOST_PATTERN:
            message = f"a pattern has at most {MOST_PATTERN} characters"
            raise ValueError(message)
        if kind is not None:
            _check_choice("the kind", kind, KINDS)
        _check_amount("the limit is", limit, 1, MOST_RESULTS)

        return self._answer(lambda index: search_names(index, pattern, kind, limit, Budget(self.budget)))

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
        from .text_search import search_lines

        pattern = checked_text("the pattern", pattern)
        path = self._path_below_root(path)
        if not 0 < len(pattern) <= LONGEST_NAME:
            message = f"a pattern has 1 to {LONGEST_NAME:,} characters"
            raise ValueError(message)
        _check_amount("the limit is", limit, 1, MOST_RESULTS)

        found = self._answer(lambda index: search_lines(index, pattern, path, limit, Budget(self.budget)))
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
        name = self._real_name("the name", name)

        def show(found: Sought) -> ReadFunction:
            budget = Budget(self.budget)
            return describe_function(found, budget, line_numbers=line_numbers, first_line=first_line)

        return self._answer_about(name, show, functions=True)

    def references(self, name: str, path: str = "") -> ReferencesFound:
        """Find the places that use a declaration, each with its certainty.

        Args:
            name: see `inspect`.
            path: of a file or folder where uses are wanted; empty for all.
        """
        name, path = self._real_name("the name", name), self._path_below_root(path)

        return self._answer_about(
            name, lambda found: describe_references(found, path, Budget(self.budget)), outside=False
        )

    def implements(self, name: str) -> ImplementationsFound:
        """Find the types that extend or implement a type, or the methods that replace a method.

        Args:
            name: see `inspect`.
        """
        name = self._real_name("the name", name)

        def answer(index: Index) -> ImplementationsFound:
            found = look_up(index, self._environment, name, outside=False)
            if not isinstance(found, Miss):
                return describe_implementations(found, Budget(self.budget))
            written = read_name(name)
            known = (
                describe_implementations_of_outer(index, written.name, Budget(self.budget))
                if found.reason in {"not declared", "outside of the root"} and not written.path
                else None
            )
            return known or cast("ImplementationsFound", _answer_of_miss(name, found))

        return self._answer(answer)

    def overview(self, path: str = "", tokens: int = 1000) -> Overview:
        """Return a map of a folder: the types and functions that other files use most.

        Args:
            path: of the folder or file; empty for all of the root.
            tokens: maximum size of the map, at four characters each, from 100 to 20,000.

        Raises:
            ValueError: the number of tokens is out of bounds.
        """
        path = self._path_below_root(path)
        _check_amount("the tokens are", tokens, LEAST_TOKENS, MOST_TOKENS)
        return self._answer(lambda index: map_folder(index, path, tokens))

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
        from .syntax_check import Checking, check_snippet, refuse_snippet, without_fence

        code = checked_text("the code", code)
        if language is not None:
            language = checked_text("the language", language).lower()
            _check_choice("the language", language, list(LANGUAGES))
        _check_choice("the context", context, get_args(Context))
        if len(code) > LONGEST_SNIPPET:
            return refuse_snippet(f"the code is longer than {LONGEST_SNIPPET:,} characters")
        fenced = without_fence(code)
        known = language or fenced.language
        if inside is not None:
            checking = self._put_in_place(fenced, self._real_name("the place", inside))
        else:
            checking = Checking(fenced, context, self._languages() if known is None else (known,))
        return check_snippet(checking, Budget(self.budget), self._type_checking() if type_check else None)

    def check_patch(self, diff: str) -> PatchCheck:
        """Apply a unified diff in memory, and check the files after it; nothing is written.

        Args:
            diff: of at most 500,000 characters, with paths below the root.
        """
        from .patches import describe_patch
        from .syntax_check import without_fence

        diff = checked_text("the patch", diff)
        if len(diff) > LONGEST_PATCH:
            message = f"the patch is longer than {LONGEST_PATCH:,} characters"
            return PatchCheck(applies=False, valid=False, error=message)
        text = without_fence(diff).code
        found = self._answer(lambda index: describe_patch(index, text, Budget(self.budget)))
        return cast("PatchCheck", writable_json(found))  # also of paths that only the patch names

    def _put_in_place(self, fenced: Fenced, inside: str) -> Checking:
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

        return self._answer(answer)

    def _type_checking(self) -> tuple[Path, float] | str:
        """Return the folder and the seconds for a type checker, or why none may run."""
        allowed = self.root, self.type_check_seconds
        return allowed if self.type_checks else "type checks are switched off here"

    def _real_name(self, what: str, text: object) -> str:
        """Return a name or path as the index knows it, also if it was shown with replaced bytes.

        Raises:
            TypeError: it isn't a text.
        """
        asked = checked_text(what, text)
        if REPLACED not in asked:
            return asked
        self.refresh()
        with self._lock:
            return path_meant(asked, self._index.shown_as)

    def _path_below_root(self, text: object) -> str:
        """Return a path relative to the root, however the caller wrote it; the root itself is an empty text.

        Raises:
            TypeError: it isn't a text.
        """
        asked = self._real_name("the path", text).strip()
        root = f"{self.root.as_posix().rstrip('/')}/"
        below = normpath("." if asked in {"", "/"} or f"{asked}/" == root else asked.removeprefix(root))
        return "" if below == "." else below

    def _answer_about(self, name: str, show: Callable[[Sought], Result], **where: bool) -> Result:
        """Look up a name, and answer with the declarations found, or explain why there are none."""

        def answer(index: Index) -> Result:
            found = look_up(index, self._environment, name, **where)
            return cast("Result", _answer_of_miss(name, found)) if isinstance(found, Miss) else show(found)

        return self._answer(answer)

    def _answer(self, answer: Callable[[Index], Result]) -> Result:
        """Compute an answer from the current files, again if they change meanwhile."""
        until = time.monotonic() + _SECONDS_TO_READ
        with self._lock:
            for _ in range(_TRIES):
                self._index.refresh(until=until)
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
        with self._lock:
            counts = Counter([file.language.name for file in self._index.files()])
        return [name for name, _ in counts.most_common()] or [next(iter(LANGUAGES))]

    def __repr__(self) -> str:
        return f"CodeBase({str(self.root)!r})"


def _answer_of_miss(name: str, miss: Miss) -> dict[str, object]:
    """Return the answer for a name that isn't found, which always gives the reason."""
    answer: dict[str, object] = {"found": False, "name": name[:MOST_PATTERN], "reason": miss.reason}
    if miss.nearest:
        answer["nearest"] = [one[:MOST_PATTERN] for one in miss.nearest]
    return {**answer, "note": miss.note[:_LONGEST_NOTE]}


def _check_choice(what: str, value: object, options: Sequence[str]) -> None:
    """Check that a value is one of some texts.

    Raises:
        ValueError: it isn't.
    """
    if value not in options:
        message = f"{what} is one of {', '.join(options)}, not {received(value)}"
        raise ValueError(message)


def _check_amount(what: str, value: int, least: int, most: int) -> None:
    """Check that a number is between two others.

    Raises:
        ValueError: it isn't.
    """
    if not least <= value <= most:
        message = f"{what} from {least} to {most:,}, not {value:,}"
        raise ValueError(message)
