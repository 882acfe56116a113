"""Unified diffs, read and applied in memory, at least as strictly as `git apply` does it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from .. import CallError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["Applied", "FilePatch", "Hunk", "PatchError", "applied", "patches_in"]

_MOST_COMPARED = 5_000_000
"""Lines that are compared to find where a hunk belongs; text that repeats itself takes the square."""

_HUNK = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_NO_NEWLINE = re.compile(rb"\\ ")
_BINARY = re.compile(rb"GIT binary patch|Binary files .* differ")
_EXTENDED = re.compile(
    rb"(old mode|new mode|deleted file mode|new file mode|copy from|copy to|rename old|rename new|"
    rb"rename from|rename to|similarity index|dissimilarity index|index) ?(.*)"
)


class PatchError(CallError):
    """A patch can't be read, or doesn't fit; the message is for the model."""


class Hunk(NamedTuple):
    """A part of a patch for one place of a file.

    Attributes:
        line: of the patch in which it begins, from 1.
        old_line: of the file in which it should begin; 0 for an empty file.
        new_line: of the new file.
        old: the lines that are there before.
        new: the lines that are there afterwards.
        reaches_end: whether no context comes after the last change, so that it must end the file.
    """

    line: int
    old_line: int
    new_line: int
    old: tuple[bytes, ...]
    new: tuple[bytes, ...]
    reaches_end: bool


class FilePatch(NamedTuple):
    """What a patch does to one file.

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
    """Apply a patch to a file: the context of each hunk must be there as it is written.

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
    """Return the lines of a text; only a line feed ends one."""
    lines = source.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _place(
    lines: Sequence[bytes], patched: Sequence[bool], hunk: Hunk, budget: int
) -> tuple[int | None, int]:
    """Return the line nearest to the one it names where a hunk fits, and how much may still be compared."""
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
    """Yield the places up to the last one, the nearest to a start first, and the later one of two."""
    for distance in range(max(start, most - start) + 1):
        if start + distance <= most:
            yield start + distance
        if distance and 0 <= start - distance <= most:
            yield start - distance


def _misfit(patch: FilePatch, number: int, hunk: Hunk, lines: Sequence[bytes]) -> PatchError:
    """Return the error that says why a hunk doesn't fit, as far as one line tells."""
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
        text: as `git diff` or `diff -u` write it; what is between the patches of files is passed over.

    Raises:
        PatchError: it isn't one.
    """
    # That a line has no end is said by a line of its own; a text may lose its last one on the way.
    whole = text if text.endswith("\n") else f"{text}\n"
    reader = _Reader(_split(whole.encode(errors="replace")))
    found = list(reader.patches())
    if not found:
        message = (
            "this isn't a patch: it has no lines such as `--- a/path`, `+++ b/path` and `@@ -1,3 +1,4 @@`"
        )
        raise PatchError(message)
    return found


class _Reader:
    """Reads the lines of a patch.

    Args:
        lines: of it, each with its end.
    """

    def __init__(self, lines: list[bytes]) -> None:
        self._lines = lines
        self._at = 0

    def patches(self) -> Iterator[FilePatch]:
        """Yield what it does to each file."""
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
        """Take the line end off again, if the patch says that there is none."""
        if self._at == len(self._lines) or not _NO_NEWLINE.match(self._lines[self._at]):
            return
        while self._at < len(self._lines) and _NO_NEWLINE.match(self._lines[self._at]):
            self._at += 1
        for lines, marks in ((old, b" -"), (new, b" +")):
            if mark in marks and lines:
                lines[-1] = lines[-1].removesuffix(b"\n")


_ESCAPES = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13, b'"': 34, b"\\": 92}


def _name(text: bytes) -> str | None:
    """Return a path as a patch writes it; None for /dev/null."""
    text = text.rstrip(b"\r\n")
    if text.startswith(b'"'):
        end = re.search(rb'(?<!\\)(?:\\\\)*"', text[1:])
        inner = text[1 : end.end()] if end else text[1:]
        text = re.sub(rb"\\([0-7]{3}|.)", _unescaped, inner)
    else:
        text = text.partition(b"\t")[0]
    return None if text == b"/dev/null" else text.decode(errors="replace")


def _unescaped(match: re.Match[bytes]) -> bytes:
    said = match[1]
    return bytes([int(said, 8) & 255]) if said.isdigit() else bytes([_ESCAPES.get(said, said[0])])


def _without_prefixes(old: str | None, new: str | None, line: int) -> tuple[str | None, str | None]:
    """Return the paths of a patch without `a/` and `b/`, where both have them."""
    if old is None and new is None:
        raise _error(line, "both names are /dev/null")
    if (old is None or old.startswith("a/")) and (new is None or new.startswith("b/")):
        return old and old[2:], new and new[2:]
    return old, new


def _same_name(text: bytes, line: int) -> tuple[str, str]:
    """Return the name that a header such as `a/x y b/x y` has twice."""
    bare = text.rstrip(b"\r\n")
    if bare.startswith(b'"'):
        names = [_name(part) for part in re.findall(rb'"(?:\\.|[^"\\])*"', bare)]
        if len(names) == 2 and names[0] and names[1] and names[0][2:] == names[1][2:]:  # noqa: PLR2004  # before, after
            return names[0][2:], names[1][2:]
    half = (len(bare) - 1) // 2
    first, second = bare[:half], bare[half + 1 :]
    if first[:2] == b"a/" and second[:2] == b"b/" and first[2:] == second[2:]:
        return first[2:].decode(errors="replace"), second[2:].decode(errors="replace")
    raise _error(line, "the names of the file aren't clear")
