"""What does a unified diff do to a code base, if it applies as strictly as in `git apply`?"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from .. import CallError
from .index import FoundDeclaration
from .language import SlowParseError, language_of
from .references import uses_of
from .results import Budget, FileAfter, PatchCheck, SyntaxErrorShown, Vanished
from .source_files import MOST_BYTES, Content, read_source
from .undecodable_paths import path_meant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from .index import Index
    from .language import Declaration, Language, SyntaxProblem

_MOST_COMPARED = 5_000_000
"""Lines that are compared to find where a hunk belongs; text that repeats itself takes the square."""

_HUNK = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_NO_NEWLINE = re.compile(rb"\\ ")
_BINARY = re.compile(rb"GIT binary patch|Binary files .* differ")
_NO_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Surrogates that don't stand for a byte, as others do in what `errors="surrogateescape"` has read."""

_EXTENDED = re.compile(
    rb"(old mode|new mode|deleted file mode|new file mode|copy from|copy to|rename old|rename new|"
    rb"rename from|rename to|similarity index|dissimilarity index|index) ?(.*)"
)


class PatchError(CallError):
    """A patch can't be read, or doesn't apply; the message is written for the model."""


class Hunk(NamedTuple):
    """A hunk: the part of a patch that changes one place of a file.

    Attributes:
        line: of the patch in which it begins, from 1.
        old_line: of the file in which it should begin; 0 for an empty file.
        new_line: of the new file.
        old: the lines before the change.
        new: the lines after the change.
        reaches_end: whether no context follows the last change, so that the hunk must end the file.
    """

    line: int
    old_line: int
    new_line: int
    old: tuple[bytes, ...]
    new: tuple[bytes, ...]
    reaches_end: bool


class FilePatch(NamedTuple):
    """The part of a patch that changes one file.

    Attributes:
        line: of the patch in which it begins, from 1.
        old: path before; None for a new file.
        new: path afterwards; None for a file that is deleted.
        hunks: in the order of the file.
        is_copy: whether the old file stays.
    """

    line: int
    old: str | None
    new: str | None
    hunks: tuple[Hunk, ...]
    is_copy: bool = False


class Applied(NamedTuple):
    """A file after a patch.

    Attributes:
        text: of it.
        moved: by how many lines each hunk was moved from the place that it names.
    """

    text: bytes
    moved: tuple[int, ...]


def applied(source: bytes, patch: FilePatch) -> Applied:
    """Apply a patch to a file, in which each hunk must find exactly its context.

    Args:
        source: the file; empty for a new one.
        patch: for it.

    Raises:
        PatchError: a hunk doesn't fit, or a file that is deleted isn't empty afterwards.
    """
    if patch.old is None and any(hunk.old for hunk in patch.hunks):
        raise _error(patch.line, f"the new file {patch.new} can't have lines before the patch")
    lines = _split(source)
    patched = [False] * len(lines)
    moved: list[int] = []
    budget = _MOST_COMPARED
    for number, hunk in enumerate(patch.hunks, 1):
        place, budget = _place(lines, patched, hunk, budget)
        if place is None:
            raise _misfit(patch, number, hunk, lines)
        lines[place : place + len(hunk.old)] = hunk.new
        patched[place : place + len(hunk.old)] = [True] * len(hunk.new)
        moved.append(place - max(hunk.new_line - 1, 0))
    if patch.new is None and lines:
        raise _error(patch.line, f"{patch.old} is deleted, but the patch leaves {len(lines)} lines of it")
    return Applied(b"".join(lines), tuple(moved))


def _split(source: bytes) -> list[bytes]:
    """Split a text into lines, only at line feeds."""
    lines = source.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _place(
    lines: Sequence[bytes], patched: Sequence[bool], hunk: Hunk, budget: int
) -> tuple[int | None, int]:
    """Find the place for a hunk nearest to the line it names; return how much may still be compared."""
    old, most = hunk.old, len(lines) - len(hunk.old)
    must_begin, must_end = hunk.old_line <= 1, hunk.reaches_end
    if most < 0:
        return None, budget
    if must_begin or must_end:
        only = 0 if must_begin else most
        candidates: Iterable[int] = [only] if not (must_begin and must_end) or most == 0 else []
    else:
        candidates = _outwards(min(max(hunk.new_line - 1, 0), len(lines)), most)
    for place in candidates:
        for offset, line in enumerate(old):
            budget -= 1
            if patched[place + offset] or lines[place + offset] != line:
                break
        else:
            return place, budget
        if budget < 0:
            raise _error(hunk.line, "it takes too long to find where this hunk belongs")
    return None, budget


def _outwards(start: int, most: int) -> Iterator[int]:
    """Yield all places, the nearest to a start first; of two equally near, the later one."""
    for distance in range(max(start, most - start) + 1):
        if start + distance <= most:
            yield start + distance
        if distance and 0 <= start - distance <= most:
            yield start - distance


def _misfit(patch: FilePatch, number: int, hunk: Hunk, lines: Sequence[bytes]) -> PatchError:
    """Return an error that names the first line at which a hunk doesn't match."""
    start = max(hunk.old_line - 1, 0)
    what = f"hunk {number} of {patch.old} doesn't fit"
    for offset, line in enumerate(hunk.old):
        there = lines[start + offset] if start + offset < len(lines) else None
        if there != line:
            wanted, found = _shown(line), "the end of the file" if there is None else _shown(there)
            if there is not None and there.rstrip(b"\r\n") == line.rstrip(b"\r\n"):
                reason = "they end differently: with CRLF, with LF, or without a line end"
            else:
                reason = f"line {start + offset + 1} is {found}, not {wanted}"
            return _error(hunk.line, f"{what}: {reason}")
    if hunk.reaches_end:
        return _error(hunk.line, f"{what}: no context follows its changes, so it must end the file")
    return _error(hunk.line, f"{what}: it begins with line {hunk.old_line}, so it must begin the file")


_LONGEST = 80


def _shown(line: bytes) -> str:
    text = line.decode(errors="replace").rstrip("\r\n")
    return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")


def _error(line: int, message: str) -> PatchError:
    return PatchError(f"line {line} of the patch: {message}")


def patches_in(text: str) -> list[FilePatch]:
    """Read a unified diff.

    Args:
        text: as `git diff` or `diff -u` write it; text between the patches of files is skipped.

    Raises:
        PatchError: it isn't one.
    """
    # That a line has no end is said by a line of its own; a text may lose its last one on the way.
    whole = text if text.endswith("\n") else f"{text}\n"
    reader = _PatchReader(_split(_NO_BYTE.sub("?", whole).encode(errors="surrogateescape")))
    found = list(reader.patches())
    if not found:
        message = (
            "this isn't a patch: it has no lines such as `--- a/path`, `+++ b/path` and `@@ -1,3 +1,4 @@`"
        )
        raise PatchError(message)
    return found


class _PatchReader:
    """Reads the lines of a patch.

    Args:
        lines: of the patch, each with its line end.
    """

    def __init__(self, lines: list[bytes]) -> None:
        self._lines = lines
        self._at = 0

    def patches(self) -> Iterator[FilePatch]:
        """Yield the change of each file."""
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.startswith(b"diff --git "):
                yield self._with_git_header()
            elif line.startswith(b"--- ") and self._next().startswith(b"+++ "):
                yield self._plain()
            elif _HUNK.match(line):
                raise _error(self._at + 1, "a hunk without the lines `--- path` and `+++ path` before it")
            else:
                self._at += 1

    def _next(self) -> bytes:
        return self._lines[self._at + 1] if self._at + 1 < len(self._lines) else b""

    def _plain(self) -> FilePatch:
        start = self._at
        old, new = _name(self._lines[start][4:]), _name(self._next()[4:])
        self._at += 2
        hunks = self._hunks()
        if not hunks:
            raise _error(start + 1, "no hunk follows the names of the file")
        return FilePatch(start + 1, *_without_prefixes(old, new, start + 1), hunks)

    def _with_git_header(self) -> FilePatch:
        start = self._at
        line = self._lines[start]
        said: dict[str, str] = {}
        self._at += 1
        while self._at < len(self._lines) and (
            match := _EXTENDED.match(self._lines[self._at].rstrip(b"\r\n"))
        ):
            said[match[1].decode()] = _name(match[2]) or ""
            self._at += 1
        moved = [(said.get(f"{how} from"), said.get(f"{how} to"), how) for how in ("rename", "copy")]
        names: tuple[str | None, str | None] | None
        names = next(((old, new) for old, new, _ in moved if old and new), None)
        following = self._lines[self._at] if self._at < len(self._lines) else b""
        if _BINARY.match(following):
            raise _error(self._at + 1, "a binary patch can't be checked")
        if following.startswith(b"--- ") and self._next().startswith(b"+++ "):
            given = _name(self._lines[self._at][4:]), _name(self._next()[4:])
            self._at += 2
            hunks = self._hunks()
            if not hunks:
                raise _error(self._at, "no hunk follows the names of the file")
            names = names or _without_prefixes(*given, start + 1)
        else:
            hunks = ()
        names = names or _same_name(line[len(b"diff --git ") :], start + 1)
        old, new = names
        if "new file mode" in said:
            old, new = None, new or old
        if "deleted file mode" in said:
            old, new = old or new, None
        return FilePatch(start + 1, old, new, hunks, is_copy="copy from" in said)

    def _hunks(self) -> tuple[Hunk, ...]:
        found: list[Hunk] = []
        while self._at < len(self._lines) and (match := _HUNK.match(self._lines[self._at])):
            found.append(self._hunk(match))
        if self._at < len(self._lines) and self._lines[self._at].startswith(b"@@"):
            message = "a hunk begins with the lines before and after, and their numbers: `@@ -12,3 +12,4 @@`"
            raise _error(self._at + 1, message)
        return tuple(found)

    def _hunk(self, match: re.Match[bytes]) -> Hunk:
        start = self._at
        old_line, new_line = int(match[1]), int(match[3])
        wanted = [int(match[group]) if match[group] is not None else 1 for group in (2, 4)]
        old: list[bytes] = []
        new: list[bytes] = []
        has_change, trailing = False, 0
        self._at += 1
        while self._at < len(self._lines) and (len(old) < wanted[0] or len(new) < wanted[1]):
            line = self._lines[self._at]
            mark, rest = line[:1], line[1:]
            if mark in {b" ", b"\n"} or line == b"\r\n":
                kept = rest if mark == b" " else line
                old.append(kept)
                new.append(kept)
                trailing += 1
            elif mark == b"-":
                old.append(rest)
            elif mark == b"+":
                new.append(rest)
            else:
                break
            has_change |= mark in {b"-", b"+"}
            trailing = 0 if mark in {b"-", b"+"} else trailing
            self._at += 1
            self._without_newline(mark, old, new)
        if [len(old), len(new)] != wanted:
            counts = f"{wanted[0]} old and {wanted[1]} new lines, but has {len(old)} and {len(new)}"
            raise _error(start + 1, f"this hunk says that it has {counts}")
        following = self._lines[self._at] if self._at < len(self._lines) else b""
        if following[:1] in {b"+", b"-", b" "} and not following.startswith((b"--- ", b"-- \n")):
            # `git apply` passes over them without a word.
            raise _error(self._at + 1, "the hunk before this line has more lines than it says")
        if not has_change:
            raise _error(start + 1, "this hunk changes nothing")
        return Hunk(start + 1, old_line, new_line, tuple(old), tuple(new), trailing == 0)

    def _without_newline(self, mark: bytes, old: list[bytes], new: list[bytes]) -> None:
        """Remove the last line end if the patch says that the file has none."""
        if self._at == len(self._lines) or not _NO_NEWLINE.match(self._lines[self._at]):
            return
        while self._at < len(self._lines) and _NO_NEWLINE.match(self._lines[self._at]):
            self._at += 1
        for lines, marks in ((old, b" -"), (new, b" +")):
            if mark in marks and lines:
                lines[-1] = lines[-1].removesuffix(b"\n")


_ESCAPES = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13, b'"': 34, b"\\": 92}


def _name(text: bytes) -> str | None:
    """Read a path from a patch, with surrogates for bytes that aren't UTF-8; None for /dev/null."""
    text = text.rstrip(b"\r\n")
    if text.startswith(b'"'):
        end = re.search(rb'(?<!\\)(?:\\\\)*"', text[1:])
        inner = text[1 : end.end()] if end else text[1:]
        text = re.sub(rb"\\([0-7]{3}|.)", _unescaped, inner)
    else:
        text = text.partition(b"\t")[0]
    return None if text == b"/dev/null" else text.decode(errors="surrogateescape")


def _unescaped(match: re.Match[bytes]) -> bytes:
    said = match[1]
    return bytes([int(said, 8) & 255]) if said.isdigit() else bytes([_ESCAPES.get(said, said[0])])


def _without_prefixes(old: str | None, new: str | None, line: int) -> tuple[str | None, str | None]:
    """Remove `a/` and `b/` from the paths of a patch, if both have them."""
    if old is None and new is None:
        raise _error(line, "both names are /dev/null")
    if (old is None or old.startswith("a/")) and (new is None or new.startswith("b/")):
        return old and old[2:], new and new[2:]
    return old, new


def _same_name(text: bytes, line: int) -> tuple[str, str]:
    """Return the path that a header such as `a/x y b/x y` contains twice."""
    bare = text.rstrip(b"\r\n")
    if bare.startswith(b'"'):
        names = [_name(part) for part in re.findall(rb'"(?:\\.|[^"\\])*"', bare)]
        if len(names) == 2 and names[0] and names[1] and names[0][2:] == names[1][2:]:  # noqa: PLR2004  # before, after
            return names[0][2:], names[1][2:]
    half = (len(bare) - 1) // 2
    first, second = bare[:half], bare[half + 1 :]
    if first[:2] == b"a/" and second[:2] == b"b/" and first[2:] == second[2:]:
        name = first[2:].decode(errors="surrogateescape")
        return name, name
    raise _error(line, "the names of the file aren't clear")


MOST_FILES = 200
"""Files that a patch may change."""

_MOST_VANISHED = 50
_MOST_PLACES = 10
_NEVER = re.compile(r"(^|/)(\.\.?|\.git)(/|$)|^/|^[A-Za-z]:|\\|\0|//|/$|^$")
"""Paths that lead out of the root, or into what git keeps for itself."""


class _FileChange(NamedTuple):
    """A file before and after a patch; None where it isn't there.

    Attributes:
        path: of the new file, or of the one that is deleted.
        status: what the patch does.
        before: its content.
        after: its content.
        moved: by how many lines each hunk was moved.
        old_path: of the file before.
    """

    path: str
    status: str
    before: bytes | None
    after: bytes | None
    moved: Sequence[int] = ()
    old_path: str | None = None


def patch_checked(index: Index, diff: str, budget: Budget) -> PatchCheck:
    """Apply a patch in memory, and describe the code base after it.

    Args:
        index: of the code base.
        diff: the patch.
        budget: for the characters of the result.
    """
    try:
        changes = _changes(index, patches_in(diff))
    except PatchError as error:
        return PatchCheck(applies=False, valid=False, error=budget.line(str(error)))
    files = [_after(change, budget) for change in changes]
    result = PatchCheck(
        applies=True,
        valid=all("errors" not in file for file in files),
        files=budget.items(files, 0.6, "files", of=len(files)),
    )
    vanished = _vanished(changes)
    if vanished:
        shown = _described(index, changes, vanished)
        result["vanished"] = budget.items(shown, 0.9, "declarations that vanish", of=len(vanished))
    if budget.note:
        result["note"] = budget.note
    return result


def _changes(index: Index, patches: Sequence[FilePatch]) -> list[_FileChange]:
    """Apply the patches in their order; several may be for one file.

    Raises:
        PatchError: one of them doesn't fit.
    """
    if len(patches) > MOST_FILES:
        message = f"the patch changes {len(patches)} files; at most {MOST_FILES} are checked at once"
        raise PatchError(message)
    now: dict[str, _FileChange] = {}
    real = partial(path_meant, shown_as=index.shown_as, is_path=True)
    for given in patches:
        patch = given._replace(old=given.old and real(given.old), new=given.new and real(given.new))
        for path in filter(None, (patch.old, patch.new)):
            if _NEVER.search(path):
                message = f"line {patch.line} of the patch: {path} isn't a path below the root"
                raise PatchError(message)
        before = b"" if patch.old is None else _content(index, now, patch, patch.old)
        if patch.new is not None and patch.new != patch.old and _is_there(index, now, patch.new):
            message = f"line {patch.line} of the patch: {patch.new} is there already"
            raise PatchError(message)
        done = applied(before, patch)
        path = patch.new or patch.old or ""
        earlier = now.get(patch.old or path)
        first = earlier.before if earlier is not None else None if patch.old is None else before
        after = None if patch.new is None else done.text
        now[path] = _FileChange(path, _status(patch), first, after, done.moved, patch.old)
        if patch.old is not None and patch.new not in {None, patch.old} and not patch.is_copy:
            now[patch.old] = _FileChange(patch.old, "moved away", before, None)
    return list(now.values())


def _status(patch: FilePatch) -> str:
    if patch.old is None:
        return "new"
    if patch.new is None:
        return "deleted"
    if patch.old != patch.new:
        return "copied" if patch.is_copy else "renamed"
    return "changed"


def _content(index: Index, now: Mapping[str, _FileChange], patch: FilePatch, path: str) -> bytes:
    """Return the text of a file after the earlier patches.

    Raises:
        PatchError: it isn't there, or isn't read.
    """
    if path in now:
        content = now[path].after
        reason = "an earlier part of the patch removes it"
    else:
        found = read_source(index.root, path)
        content = found.source if isinstance(found, Content) else None
        reason = _absent(index, path) if found is None else getattr(found, "reason", "it can't be read")
    if content is None:
        message = f"line {patch.line} of the patch: {path} can't be patched: {reason}"
        raise PatchError(message)
    return content


def _absent(index: Index, path: str) -> str:
    if index.shown_as.get(path, "") is None:
        return 'several paths are shown like this: write its bytes as git does, such as "a/caf\\351.py"'
    return "there is no such file"


def _is_there(index: Index, now: Mapping[str, _FileChange], path: str) -> bool:
    return now[path].after is not None if path in now else read_source(index.root, path) is not None


def _after(change: _FileChange, budget: Budget) -> FileAfter:
    """Describe a file after the patch."""
    file = FileAfter(path=budget.line(change.path), status=change.status)
    if change.status in {"renamed", "copied"} and change.old_path is not None:
        file["old_path"] = budget.line(change.old_path)
    far = [f"hunk {number} by {by}" for number, by in enumerate(change.moved, 1) if by]
    notes = [f"It fits only when moved: {', '.join(far[:_MOST_PLACES])} lines."] if far else []
    language = language_of(change.path)
    if change.after is not None and language is None:
        notes.append("Its language isn't read.")
    elif change.after is not None and language is not None:
        errors, note = _errors(change, language)
        if errors:
            file["errors"] = [
                SyntaxErrorShown(position=f"{one.line}:{one.column}", message=budget.line(one.message))
                for one in errors[:_MOST_PLACES]
            ]
        notes += [note] if note else []
    if notes:
        file["note"] = " ".join(notes)
    return file


def _errors(change: _FileChange, language: Language) -> tuple[list[SyntaxProblem], str]:
    """Return the syntax errors that a patch adds to a file, and a note about them."""
    assert change.after is not None  # noqa: S101  # the caller looked
    if len(change.after) > MOST_BYTES:
        return [], "It is too large to be parsed."
    try:
        found = _wrong(change.after, language)
        before = (
            set[tuple[str, str]]()
            if not found or change.before is None
            else set(_wrong(change.before, language))
        )
    except SlowParseError:
        return [], "It takes too long to parse, so it wasn't checked."
    new = [one for (_, line), one in found.items() if (one.message, line) not in before]
    return new, "It can't be read wholly, as before the patch." if found and not new else ""


def _wrong(source: bytes, language: Language) -> dict[tuple[str, str], SyntaxProblem]:
    """Group the errors of a file by their messages and the texts of their lines."""
    text = source.decode(errors="replace")
    lines = text.split("\n")
    problems = [one for one in language.problems(text, "file") if one.severity == "error"]
    return {(one.message, lines[min(one.line, len(lines)) - 1].strip()): one for one in problems}


def _declared(path: str, source: bytes | None) -> tuple[Declaration, ...]:
    language = language_of(path)
    if source is None or language is None:
        return ()
    try:
        return language.parse(source).declarations
    except SlowParseError:
        return ()


def _vanished(changes: Sequence[_FileChange]) -> list[tuple[str, Declaration]]:
    """List the declarations that a patch removes and doesn't put into another changed file."""
    before = [
        (change.path, one)
        for change in changes
        if change.status not in {"renamed", "copied"}  # the old path stands for it
        for one in _declared(change.path, change.before)
    ]
    if not before:
        return []
    after = {(one.qualified, one.kind) for change in changes for one in _declared(change.path, change.after)}
    found: dict[tuple[str, str], tuple[str, Declaration]] = {}
    for path, one in before:
        if (one.qualified, one.kind) not in after:
            found.setdefault((path, one.qualified), (path, one))
    owners = {(path, one.qualified) for path, one in found.values()}
    # What is inside of a class that vanishes goes without saying.
    return [(path, one) for path, one in found.values() if (path, one.owner) not in owners]


def _described(
    index: Index, changes: Sequence[_FileChange], vanished: Sequence[tuple[str, Declaration]]
) -> Iterator[Vanished]:
    """Describe the removed declarations, with the places that still use their names."""
    some = vanished[:_MOST_VANISHED]
    places = _places(changes, {one.name for _, one in some})
    changed = {change.path for change in changes}
    for path, one in some:
        shown = Vanished(name=one.qualified, kind=one.kind, location=f"{path}:{one.line}")
        found = [*places.get(one.name, []), *_elsewhere(index, path, one, changed)]
        if found:
            shown["remaining"] = found[:_MOST_PLACES]
        if len(found) > _MOST_PLACES:
            shown["more"] = len(found) - _MOST_PLACES
        yield shown


def _elsewhere(index: Index, path: str, declaration: Declaration, changed: set[str]) -> Iterator[str]:
    """Yield the places that use, or seem to use, a declaration in files that the patch doesn't change."""
    file = index.file(path)
    known = () if file is None else file.parsed.declarations
    same = next((one for one in known if one.qualified == declaration.qualified), None)
    if file is None or same is None:
        return  # an earlier part of the patch has made it
    uses = [
        one for one in uses_of(index, FoundDeclaration(file, same)).references if one.file.path not in changed
    ]
    for certainty in ("certain", "likely"):
        places = [f"{one.file.path}:{one.line}" for one in uses if one.certainty == certainty]
        yield from dict.fromkeys(f"{place} ({certainty})" for place in places)


def _places(changes: Sequence[_FileChange], names: set[str]) -> dict[str, list[str]]:
    """Return the places of some names in the code of the changed files; strings and comments don't count."""
    usual = [name for name in names if re.fullmatch(r"[\w$]+", name)]
    if not usual:
        return {}
    wanted = re.compile(rf"(?<![\w$])(?:{'|'.join(map(re.escape, sorted(usual)))})(?![\w$])")
    found: dict[str, list[str]] = {}
    for change in changes:
        path, text = change.path, (change.after or b"").decode(errors="replace")
        if wanted.search(text) is None:
            continue
        language = language_of(path)
        hidden = [] if language is None else [one.span() for one in language.tokens.finditer(text)]
        at = 0
        for match in wanted.finditer(text):
            while at < len(hidden) and hidden[at][1] <= match.start():
                at += 1
            if at == len(hidden) or hidden[at][0] > match.start():
                place = f"{path}:{text.count(chr(10), 0, match.start()) + 1}"
                places = found.setdefault(match.group(), [])
                if len(places) <= 1000 and place not in places[-1:]:  # noqa: PLR2004  # more say nothing
                    places.append(place)
    return found
