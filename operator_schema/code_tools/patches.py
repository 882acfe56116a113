"""Does a patch fit a code base, and what does it break?"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from .diffs import PatchError, applied, patch_error, patches_in
from .index import FoundDeclaration
from .language import language_of
from .parsing import SlowParseError
from .references import uses_of
from .results import FileAfter, PatchCheck, SyntaxErrorShown, Vanished
from .source_files import MOST_BYTES, Content, read_source
from .undecodable_paths import path_meant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .budget import Budget
    from .diffs import FilePatch
    from .index import Index
    from .language import Declaration, Language
    from .snippets import SyntaxProblem

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


def describe_patch(index: Index, diff: str, budget: Budget) -> PatchCheck:
    """Apply a patch in memory, and describe the code base after it."""
    try:
        changes = _apply_patches(index, patches_in(diff))
    except PatchError as error:
        return PatchCheck(applies=False, valid=False, error=budget.line(str(error)))
    files = [_describe_file(change, budget) for change in changes]
    result = PatchCheck(
        applies=True,
        valid=all("errors" not in file for file in files),
        files=budget.items(files, 0.6, "files", of=len(files)),
    )
    vanished = _find_vanished(changes)
    if vanished:
        shown = _describe_vanished(index, changes, vanished)
        result["vanished"] = budget.items(shown, 0.9, "declarations that vanish", of=len(vanished))
    if budget.note:
        result["note"] = budget.note
    return result


def _apply_patches(index: Index, patches: Sequence[FilePatch]) -> list[_FileChange]:
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
                raise patch_error(patch.line, f"{path} isn't a path below the root")
        before = b"" if patch.old is None else _text_before(index, now, patch, patch.old)
        if patch.new is not None and patch.new != patch.old and _is_there(index, now, patch.new):
            raise patch_error(patch.line, f"{patch.new} is there already")
        done = applied(before, patch)
        path = patch.new or patch.old or ""
        earlier = now.get(patch.old or path)
        first = earlier.before if earlier is not None else None if patch.old is None else before
        after = None if patch.new is None else done.text
        now[path] = _FileChange(path, _status_of(patch), first, after, done.moved, patch.old)
        if patch.old is not None and patch.new not in {None, patch.old} and not patch.is_copy:
            now[patch.old] = _FileChange(patch.old, "moved away", before, None)
    return list(now.values())


def _status_of(patch: FilePatch) -> str:
    if patch.old is None:
        return "new"
    if patch.new is None:
        return "deleted"
    if patch.old != patch.new:
        return "copied" if patch.is_copy else "renamed"
    return "changed"


def _text_before(index: Index, now: Mapping[str, _FileChange], patch: FilePatch, path: str) -> bytes:
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
        reason = _why_absent(index, path) if found is None else getattr(found, "reason", "it can't be read")
    if content is None:
        raise patch_error(patch.line, f"{path} can't be patched: {reason}")
    return content


def _why_absent(index: Index, path: str) -> str:
    if index.shown_as.get(path, "") is None:
        return 'several paths are shown like this: write its bytes as git does, such as "a/caf\\351.py"'
    return "there is no such file"


def _is_there(index: Index, now: Mapping[str, _FileChange], path: str) -> bool:
    return now[path].after is not None if path in now else read_source(index.root, path) is not None


def _describe_file(change: _FileChange, budget: Budget) -> FileAfter:
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
        errors, note = _new_errors(change, language)
        if errors:
            file["errors"] = [
                SyntaxErrorShown(position=f"{one.line}:{one.column}", message=budget.line(one.message))
                for one in errors[:_MOST_PLACES]
            ]
        notes += [note] if note else []
    if notes:
        file["note"] = " ".join(notes)
    return file


def _new_errors(change: _FileChange, language: Language) -> tuple[list[SyntaxProblem], str]:
    """Return the syntax errors that a patch adds to a file, and a note about them."""
    assert change.after is not None  # noqa: S101  # the caller looked
    if len(change.after) > MOST_BYTES:
        return [], "It is too large to be parsed."
    try:
        found = _errors_by_line(change.after, language)
        before = (
            set[tuple[str, str]]()
            if not found or change.before is None
            else set(_errors_by_line(change.before, language))
        )
    except SlowParseError:
        return [], "It takes too long to parse, so it wasn't checked."
    new = [one for (_, line), one in found.items() if (one.message, line) not in before]
    return new, "A part of it can't be read, as before the patch." if found and not new else ""


def _errors_by_line(source: bytes, language: Language) -> dict[tuple[str, str], SyntaxProblem]:
    """Group the errors of a file by their messages and the texts of their lines."""
    text = source.decode(errors="replace")
    lines = text.split("\n")
    problems = [one for one in language.problems(text, "file") if one.severity == "error"]
    return {(one.message, lines[min(one.line, len(lines)) - 1].strip()): one for one in problems}


def _declarations_in(path: str, source: bytes | None) -> tuple[Declaration, ...]:
    language = language_of(path)
    if source is None or language is None:
        return ()
    try:
        return language.parse(source).declarations
    except SlowParseError:
        return ()


def _find_vanished(changes: Sequence[_FileChange]) -> list[tuple[str, Declaration]]:
    """List the declarations that a patch removes and doesn't put into another changed file."""
    before = [
        (change.path, one)
        for change in changes
        if change.status not in {"renamed", "copied"}  # the old path stands for it
        for one in _declarations_in(change.path, change.before)
    ]
    if not before:
        return []
    after = {
        (one.qualified, one.kind) for change in changes for one in _declarations_in(change.path, change.after)
    }
    found: dict[tuple[str, str], tuple[str, Declaration]] = {}
    for path, one in before:
        if (one.qualified, one.kind) not in after:
            found.setdefault((path, one.qualified), (path, one))
    owners = {(path, one.qualified) for path, one in found.values()}
    # What is inside of a class that vanishes goes without saying.
    return [(path, one) for path, one in found.values() if (path, one.owner) not in owners]


def _describe_vanished(
    index: Index, changes: Sequence[_FileChange], vanished: Sequence[tuple[str, Declaration]]
) -> Iterator[Vanished]:
    """Describe the removed declarations, with the places that still use their names."""
    some = vanished[:_MOST_VANISHED]
    places = _places_of_names(changes, {one.name for _, one in some})
    changed = {change.path for change in changes}
    for path, one in some:
        shown = Vanished(name=one.qualified, kind=one.kind, location=f"{path}:{one.line}")
        found = [*places.get(one.name, []), *_uses_elsewhere(index, path, one, changed)]
        if found:
            shown["remaining"] = found[:_MOST_PLACES]
        if len(found) > _MOST_PLACES:
            shown["more"] = len(found) - _MOST_PLACES
        yield shown


def _uses_elsewhere(index: Index, path: str, declaration: Declaration, changed: set[str]) -> Iterator[str]:
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


def _places_of_names(changes: Sequence[_FileChange], names: set[str]) -> dict[str, list[str]]:
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
