"""Which rule of a file such as `.gitignore` decides whether git ignores a path?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_SPECIAL = re.compile(rb"[*?\[\\]")
_LONGEST = 2000
"""Bytes of a rule; git refuses longer paths."""
_CLASSES = {
    b"alnum": rb"0-9A-Za-z",
    b"alpha": rb"A-Za-z",
    b"blank": rb" \t",
    b"cntrl": rb"\x00-\x1f\x7f",
    b"digit": rb"0-9",
    b"graph": rb"\x21-\x7e",
    b"lower": rb"a-z",
    b"print": rb"\x20-\x7e",
    b"punct": rb"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
    b"space": rb"\s",
    b"upper": rb"A-Z",
    b"xdigit": rb"0-9A-Fa-f",
}


class IgnoreRule(NamedTuple):
    """A rule: one line of a file such as `.gitignore`.

    Attributes:
        line: its number, from 1.
        text: as it is written.
        is_negative: whether it re-includes paths that an earlier rule ignores.
        is_for_folders: whether it applies only to folders.
        is_for_names: whether it applies only to the last part of a path.
        fits: tests whether it matches a name, or a path below the folder of the file.
    """

    line: int
    text: str
    is_negative: bool
    is_for_folders: bool
    is_for_names: bool
    fits: Callable[[bytes], bool]


class RuleFile:
    """The rules of one file such as `.gitignore`."""

    def __init__(self, content: bytes) -> None:
        self._read_rules = list(_read_rules(content))[::-1]

    def rule_for(self, path: bytes, *, is_folder: bool) -> IgnoreRule | None:
        """Return the rule that decides about a path; None if no rule matches it.

        Args:
            path: below the folder of the file, with `/` between its parts.
            is_folder: whether it is one.
        """
        name = path[path.rfind(b"/") + 1 :]
        for rule in self._read_rules:
            if (is_folder or not rule.is_for_folders) and rule.fits(name if rule.is_for_names else path):
                return rule
        return None


def _read_rules(content: bytes) -> Iterator[IgnoreRule]:
    """Yield the rules of a file in their order.

    Source: https://git-scm.com/docs/gitignore
    """
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.startswith(b"#"):
            continue
        text = _without_spaces(line.removesuffix(b"\r"))
        pattern = text.removeprefix(b"!")
        is_for_folders = pattern.endswith(b"/")
        pattern = pattern[:-1] if is_for_folders else pattern
        if not (text and len(text) <= _LONGEST):
            continue
        is_for_names = b"/" not in pattern
        yield IgnoreRule(
            number,
            text.decode(errors="replace"),
            text.startswith(b"!"),
            is_for_folders,
            is_for_names,
            _compile_pattern(pattern, is_path=not is_for_names),
        )


def _without_spaces(line: bytes) -> bytes:
    """Remove the spaces at the end of a line, unless there is a backslash before them."""
    bare = line.rstrip(b" ")
    slashes = len(bare) - len(bare.rstrip(b"\\"))
    return bare + b" " if slashes % 2 and bare != line else bare


def _compile_pattern(pattern: bytes, *, is_path: bool) -> Callable[[bytes], bool]:
    """Compile a pattern into a function that tests paths; a pattern that git can't read matches nothing."""
    pattern = pattern[1:] if is_path and pattern.startswith(b"/") else pattern
    special = _SPECIAL.search(pattern)
    if special is None:
        return pattern.__eq__
    if not is_path and pattern.startswith(b"*") and _SPECIAL.search(pattern, 1) is None:
        return lambda name: name.endswith(pattern[1:])
    # What stands before the first special letter is compared alone, so `a**/b` begins with `**` for git.
    start = pattern[: special.start()]
    steps = _translate_pattern(pattern[special.start() :], is_path=is_path)
    if steps is None:
        return lambda _: False
    known = steps

    def fits(text: bytes) -> bool:
        if not text.startswith(start):
            return False
        rest = text[len(start) :]
        return _steps_match(known, rest.split(b"/") if is_path else [rest])

    return fits


_ANY_FOLDERS = re.compile(b"")
"""Stands for any number of folders."""
_ANY_NAME = re.compile(b".*", re.DOTALL)


def _steps_match(steps: Sequence[re.Pattern[bytes]], names: Sequence[bytes]) -> bool:
    """Return whether the steps of a pattern match all names of a path."""
    places = _with_skipped(steps, {0})
    for name in names:
        stays = {place for place in places if place < len(steps) and steps[place] is _ANY_FOLDERS}
        moves = {
            place + 1
            for place in places - stays
            if place < len(steps) and steps[place].fullmatch(name) is not None
        }
        places = _with_skipped(steps, stays | moves)
    return len(steps) in places


def _with_skipped(steps: Sequence[re.Pattern[bytes]], places: set[int]) -> set[int]:
    """Add the positions that are reached if `**` matches no folder at all."""
    found = set(places)
    for place in places:
        while place < len(steps) and steps[place] is _ANY_FOLDERS:
            place += 1  # noqa: PLW2901  # goes on from it
            found.add(place)
    return found


def _translate_pattern(pattern: bytes, *, is_path: bool) -> list[re.Pattern[bytes]] | None:
    """Translate each part of a pattern into a regular expression; None if git can't read the pattern."""
    steps: list[re.Pattern[bytes]] = []
    parts: list[list[bytes]] = [[]]
    place = 0
    while place < len(pattern):
        letter = pattern[place : place + 1]
        if letter == b"*":
            end = len(pattern) - len(pattern[place:].lstrip(b"*"))
            is_alone = is_path and parts == [[]] and end - place > 1
            after = re.match(rb"\\?/|\Z", pattern[end:])
            if is_alone and after is not None:
                steps += [_ANY_FOLDERS] if after[0] == b"/" else [_ANY_NAME, _ANY_FOLDERS]
                if not after[0]:
                    return steps
                end += len(after[0])
            else:
                parts.append([])
            place = end
            continue
        if is_path and (slash := re.compile(rb"\\?/").match(pattern, place)):
            steps.append(_join_at_stars(parts))
            parts, place = [list[bytes]()], slash.end()
            continue
        if letter == b"[":
            made, place = _translate_set(pattern, place + 1)
        else:
            place += letter == b"\\"
            made = b"." if letter == b"?" else re.escape(pattern[place : place + 1])
            place += 1
        if not made:
            return None
        parts[-1].append(made)
    return [*steps, _join_at_stars(parts)]


def _join_at_stars(parts: Sequence[Sequence[bytes]]) -> re.Pattern[bytes]:
    """Join the parts of a pattern between its stars into an expression that never backtracks."""
    first, *rest = [b"".join(part) for part in parts]
    middle = b"".join([b"(?>.*?%b)" % part for part in rest[:-1]])
    return re.compile(first + middle + (b".*" + rest[-1] if rest else b""), re.DOTALL)


def _translate_set(pattern: bytes, place: int) -> tuple[bytes, int]:
    """Translate a set of letters such as `[a-z]`, and return where it ends; None if git can't read it."""
    is_negated = pattern[place : place + 1] in {b"!", b"^"}
    place += is_negated
    start, members, before = place, list[bytes](), b""
    while (letter := pattern[place : place + 1]) != b"]" or place == start:
        if letter == b"-" and before and pattern[place + 1 : place + 2] not in {b"", b"]"}:
            last, place = _read_letter(pattern, place + 1)
            if before <= last:
                members.append(b"%b-%b" % (_escape_letter(before), _escape_letter(last)))
            before = b""
        elif (known := _CLASS.match(pattern, place)) and known[2]:
            last = _CLASSES.get(known[1], b"")
            members.append(last)
            before, place = b"", known.end()
        else:
            before, place = _read_letter(pattern, place)
            last = before
            members.append(_escape_letter(before) if before else b"")
        if not last:
            return b"", place
    inside = b"".join(members)
    if not inside:
        return (b"." if is_negated else b"(?!)"), place + 1
    return (b"[^%b]" if is_negated else b"[%b]") % inside, place + 1


_CLASS = re.compile(rb"\[:([^\]]*?)(:?)\]")
"""A class of letters such as `[:alpha:]`; without the second colon, these are letters of a set."""


def _read_letter(pattern: bytes, place: int) -> tuple[bytes, int]:
    """Read one letter of a set, and return where the next one begins; None at the end of the pattern."""
    place += pattern[place : place + 1] == b"\\"
    return pattern[place : place + 1], place + 1


def _escape_letter(letter: bytes) -> bytes:
    return b"\\x%02x" % letter[0]
