"""How is a unified diff read, and applied to a text as strictly as by `git apply`?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from .. import CallError
from ..message_text import clip

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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

    Raises:
        PatchError: a hunk doesn't fit, or a file that is deleted isn't empty afterwards.
    """
    if patch.old is None and any(hunk.old for hunk in patch.hunks):
        raise patch_error(patch.line, f"the new file {patch.new} can't have lines before the patch")
    lines = _split_lines(source)
    patched = [False] * len(lines)
    moved: list[int] = []
    budget = _MOST_COMPARED
    for number, hunk in enumerate(patch.hunks, 1):
        place, budget = _find_place(lines, patched, hunk, budget)
        if place is None:
            raise _misfit_error(patch, number, hunk, lines)
        lines[place : place + len(hunk.old)] = hunk.new
        patched[place : place + len(hunk.old)] = [True] * len(hunk.new)
        moved.append(place - max(hunk.new_line - 1, 0))
    if patch.new is None and lines:
        raise patch_error(
            patch.line, f"{patch.old} is deleted, but the patch leaves {len(lines)} lines of it"
        )
    return Applied(b"".join(lines), tuple(moved))


def _split_lines(source: bytes) -> list[bytes]:
    """Split a text into lines, only at line feeds."""
    lines = source.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _find_place(
    lines: Sequence[bytes], patched: Sequence[bool], hunk: Hunk, budget: int
) -> tuple[int | None, int]:
    """Find the place nearest to a hunk's line where it fits, and count the lines left to compare."""
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
            raise patch_error(hunk.line, "it takes too long to find where this hunk belongs")
    return None, budget


def _outwards(start: int, most: int) -> Iterator[int]:
    """Yield all places, the nearest to a start first; of two equally near, the later one first."""
    for distance in range(max(start, most - start) + 1):
        if start + distance <= most:
            yield start + distance
        if distance and 0 <= start - distance <= most:
            yield start - distance


def _misfit_error(patch: FilePatch, number: int, hunk: Hunk, lines: Sequence[bytes]) -> PatchError:
    """Return an error that names the first line at which a hunk doesn't match."""
    start = max(hunk.old_line - 1, 0)
    what = f"hunk {number} of {patch.old} doesn't fit"
    for offset, line in enumerate(hunk.old):
        there = lines[start + offset] if start + offset < len(lines) else None
        if there != line:
            wanted, found = _show_line(line), "the end of the file" if there is None else _show_line(there)
            if there is not None and there.rstrip(b"\r\n") == line.rstrip(b"\r\n"):
                reason = "they end differently: with CRLF, with LF, or without a line end"
            else:
                reason = f"line {start + offset + 1} is {found}, not {wanted}"
            return patch_error(hunk.line, f"{what}: {reason}")
    if hunk.reaches_end:
        return patch_error(hunk.line, f"{what}: no context follows its changes, so it must end the file")
    return patch_error(hunk.line, f"{what}: it begins with line {hunk.old_line}, so it must begin the file")


_LONGEST = 80


def _show_line(line: bytes) -> str:
    return repr(clip(line.decode(errors="replace").rstrip("\r\n"), _LONGEST))


def patch_error(line: int, message: str) -> PatchError:
    """Return an error that names a line of the patch."""
    return PatchError(f"line {line} of the patch: {message}")


def patches_in(text: str) -> list[FilePatch]:
    """Read a unified diff.

    Args:
        text: as `git diff` or `diff -u` write it; text between the patches of files is skipped.

    Raises:
        PatchError: it isn't one.
    """
    # A line of its own marks a missing line end; a text may lose its last line end on the way.
    whole = text if text.endswith("\n") else f"{text}\n"
    reader = _PatchReader(_split_lines(_NO_BYTE.sub("?", whole).encode(errors="surrogateescape")))
    found = list(reader.patches())
    if not found:
        message = (
            "this isn't a patch: it has no lines such as `--- a/path`, `+++ b/path` and `@@ -1,3 +1,4 @@`"
        )
        raise PatchError(message)
    return found


class _PatchReader:
    """Reads the lines of a patch."""

    def __init__(self, lines: list[bytes]) -> None:
        self._lines = lines
        self._at = 0

    def patches(self) -> Iterator[FilePatch]:
        """Yield the change of each file."""
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.startswith(b"diff --git "):
                yield self._read_git()
            elif line.startswith(b"--- ") and self._next_line().startswith(b"+++ "):
                yield self._read_plain()
            elif _HUNK.match(line):
                raise patch_error(
                    self._at + 1, "a hunk without the lines `--- path` and `+++ path` before it"
                )
            else:
                self._at += 1

    def _next_line(self) -> bytes:
        return self._lines[self._at + 1] if self._at + 1 < len(self._lines) else b""

    def _read_plain(self) -> FilePatch:
        start = self._at
        old, new = _read_path(self._lines[start][4:]), _read_path(self._next_line()[4:])
        self._at += 2
        hunks = self._read_hunks()
        if not hunks:
            raise patch_error(start + 1, "no hunk follows the names of the file")
        return FilePatch(start + 1, *_without_prefixes(old, new, start + 1), hunks)

    def _read_git(self) -> FilePatch:
        start = self._at
        line = self._lines[start]
        headers: dict[str, str] = {}
        self._at += 1
        while self._at < len(self._lines) and (
            match := _EXTENDED.match(self._lines[self._at].rstrip(b"\r\n"))
        ):
            headers[match[1].decode()] = _read_path(match[2]) or ""
            self._at += 1
        moved = [(headers.get(f"{how} from"), headers.get(f"{how} to"), how) for how in ("rename", "copy")]
        names: tuple[str | None, str | None] | None
        names = next(((old, new) for old, new, _ in moved if old and new), None)
        following = self._lines[self._at] if self._at < len(self._lines) else b""
        if _BINARY.match(following):
            raise patch_error(self._at + 1, "a binary patch can't be checked")
        if following.startswith(b"--- ") and self._next_line().startswith(b"+++ "):
            given = _read_path(self._lines[self._at][4:]), _read_path(self._next_line()[4:])
            self._at += 2
            hunks = self._read_hunks()
            if not hunks:
                raise patch_error(self._at, "no hunk follows the names of the file")
            names = names or _without_prefixes(*given, start + 1)
        else:
            hunks = ()
        names = names or _name_said_twice(line[len(b"diff --git ") :], start + 1)
        old, new = names
        if "new file mode" in headers:
            old, new = None, new or old
        if "deleted file mode" in headers:
            old, new = old or new, None
        return FilePatch(start + 1, old, new, hunks, is_copy="copy from" in headers)

    def _read_hunks(self) -> tuple[Hunk, ...]:
        found: list[Hunk] = []
        while self._at < len(self._lines) and (match := _HUNK.match(self._lines[self._at])):
            found.append(self._read_hunk(match))
        if self._at < len(self._lines) and self._lines[self._at].startswith(b"@@"):
            message = "a hunk begins with the lines before and after, and their numbers: `@@ -12,3 +12,4 @@`"
            raise patch_error(self._at + 1, message)
        return tuple(found)

    def _read_hunk(self, match: re.Match[bytes]) -> Hunk:
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
            raise patch_error(start + 1, f"this hunk says that it has {counts}")
        following = self._lines[self._at] if self._at < len(self._lines) else b""
        if following[:1] in {b"+", b"-", b" "} and not following.startswith((b"--- ", b"-- \n")):
            # `git apply` passes over them without a word.
            raise patch_error(self._at + 1, "the hunk before this line has more lines than it says")
        if not has_change:
            raise patch_error(start + 1, "this hunk changes nothing")
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


def _read_path(text: bytes) -> str | None:
    """Read a path from a patch, with surrogates for bytes that aren't UTF-8; None for /dev/null."""
    text = text.rstrip(b"\r\n")
    if text.startswith(b'"'):
        end = re.search(rb'(?<!\\)(?:\\\\)*"', text[1:])
        inner = text[1 : end.end()] if end else text[1:]
        text = re.sub(rb"\\([0-7]{3}|.)", _unescape, inner)
    else:
        text = text.partition(b"\t")[0]
    return None if text == b"/dev/null" else text.decode(errors="surrogateescape")


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) & 255]) if code.isdigit() else bytes([_ESCAPES.get(code, code[0])])


def _without_prefixes(old: str | None, new: str | None, line: int) -> tuple[str | None, str | None]:
    """Remove `a/` and `b/` from the paths of a patch, if both have them."""
    if old is None and new is None:
        raise patch_error(line, "both names are /dev/null")
    if (old is None or old.startswith("a/")) and (new is None or new.startswith("b/")):
        return old and old[2:], new and new[2:]
    return old, new


def _name_said_twice(text: bytes, line: int) -> tuple[str, str]:
    """Return the path that a header such as `a/x y b/x y` contains twice."""
    bare = text.rstrip(b"\r\n")
    if bare.startswith(b'"'):
        names = [_read_path(part) for part in re.findall(rb'"(?:\\.|[^"\\])*"', bare)]
        if len(names) == 2 and names[0] and names[1] and names[0][2:] == names[1][2:]:  # noqa: PLR2004  # before, after
            return names[0][2:], names[1][2:]
    half = (len(bare) - 1) // 2
    first, second = bare[:half], bare[half + 1 :]
    if first[:2] == b"a/" and second[:2] == b"b/" and first[2:] == second[2:]:
        name = first[2:].decode(errors="surrogateescape")
        return name, name
    raise patch_error(line, "the names of the file aren't clear")
