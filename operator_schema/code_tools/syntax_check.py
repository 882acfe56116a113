"""Is code that a model wrote valid, alone or in the file that it is written for?"""

from __future__ import annotations

import re
import sys
import textwrap
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from .. import CallError
from .brackets import unpaired_brackets
from .language import LANGUAGES, language_named
from .parsing import SlowParseError
from .results import SyntaxCheck, SyntaxErrorShown
from .snippets import Snippet, SnippetReader, SyntaxProblem

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .budget import Budget
    from .language import Declaration, Language
    from .snippets import Context

_FENCE = re.compile(r"\s*+(`{3,}+|~{3,}+)[ \t]*+([\w+#-]*+)[^\n]*+\n")
_PATCH = re.compile(
    r"\A\s*(?:diff --git |Index: |--- \S[^\n]*\n\+\+\+ |@@ -\d)|^@@ -\d+(?:,\d+)? \+\d+", re.MULTILINE
)
_KNOWN_AS = {
    "py": "python",
    "python3": "python",
    "golang": "go",
    "rs": "rust",
    "ts": "typescript",
    "js": "javascript",
    "jsx": "javascript",
    "c++": "cpp",
    "h": "c",
}
_IN_ANOTHER_LANGUAGE = 2
"""How many times as much of a snippet must be broken in one language before it is taken for another one."""


_MOST_ELSEWHERE = 3


class Fenced(NamedTuple):
    """Code without the Markdown fence that was around it.

    Attributes:
        code: the code without the fence.
        lines: before the code.
        language: named by the fence; None if the tools don't read it.
    """

    code: str
    lines: int = 0
    language: str | None = None


def without_fence(code: str) -> Fenced:
    """Remove the Markdown fence around some code."""
    fence, text = _FENCE.match(code), code.rstrip()
    if fence is None or not text.endswith(fence[1], fence.end()):
        return Fenced(code)
    inner = text[fence.end() : -len(fence[1])].rstrip(" \t").removesuffix("\n")
    name_given = fence[2].lower()
    name = _KNOWN_AS.get(name_given, name_given)
    lines = code.count("\n", 0, fence.end())
    return Fenced(inner, lines, name if name in LANGUAGES else None)


class JudgedSnippet(NamedTuple):
    """The syntax errors of a snippet in one language.

    Attributes:
        language: name of it.
        problems: of the snippet; notes too.
        note: why this language was chosen; None if there was no choice.
    """

    language: str
    problems: list[SyntaxProblem]
    note: str | None = None


def best_language(code: str, context: Context, languages: Sequence[str]) -> JudgedSnippet:
    """Check a snippet in the language that it is most probably written in.

    Args:
        code: the snippet.
        context: the kind of text that it is.
        languages: the possible languages, the likeliest first; at least one.

    Raises:
        SlowParseError: it takes too long to parse.
    """
    first, *others = languages
    problems = language_named(first).problems(code, context)
    if not others or not _errors_in(problems):
        return JudgedSnippet(first, problems)
    broken = {first: _count_broken(code, first)}
    for name in others:
        with suppress(SlowParseError):
            found = language_named(name).problems(code, context)
            if not _errors_in(found):
                return JudgedSnippet(name, found, f"As {first}, the main language, it has errors.")
            broken[name] = _count_broken(code, name)
    best = min(broken, key=lambda name: broken[name])
    if broken[best] * _IN_ANOTHER_LANGUAGE < broken[first]:
        note = f"It looks like {best}, not {first}, the main language: give the language if this is wrong."
        return JudgedSnippet(best, language_named(best).problems(code, context), note)
    return JudgedSnippet(first, problems)


def _errors_in(problems: Sequence[SyntaxProblem]) -> list[SyntaxProblem]:
    return [one for one in problems if one.severity == "error"]


def _count_broken(code: str, language: str) -> int:
    """Return how many bytes of a snippet the grammar of a language can't read."""
    reader = language_named(language)
    return SnippetReader(reader.grammar, reader.tokens).count_broken(code)


class Checking(NamedTuple):
    """A snippet, with everything that is known about it before the check.

    Attributes:
        fenced: the code.
        context: the kind of text that it is; None if only its place can tell.
        languages: the possible languages, the likeliest first.
        place: the file that it is written for, with the snippet in it; None if that is unknown.
        was_broken: whether that file had syntax errors before.
    """

    fenced: Fenced
    context: Context | None
    languages: Sequence[str]
    place: Snippet | None = None
    was_broken: bool = False


def check_snippet(checking: Checking, budget: Budget, types: tuple[Path, float] | str | None) -> SyntaxCheck:
    """Check a snippet.

    Args:
        checking: the snippet.
        budget: for the characters of the result.
        types: root of the project, and the seconds for its type checker; or why no checker runs; None
            if nobody asked for types.
    """
    code = checking.fenced.code
    try:
        judged = _judge_snippet(checking)
    except SlowParseError:
        return refuse_snippet("it takes too long to parse, so it wasn't checked: write it in shorter pieces")
    if _errors_in(judged.problems) and _PATCH.search(code):
        return refuse_snippet("this is a patch, not code", "Call check_patch with it")
    notes = [judged.note] if judged.note else []
    if checking.fenced.lines:
        notes.append("The fence of Markdown around the code was left out; lines are counted with it.")
    problems, checked_with = judged.problems, None
    if isinstance(types, str):
        checked_with = types
    elif types is not None and not _errors_in(problems):
        from .type_checkers import check_types

        snippet = checking.place or _make_file(code, checking.context or "file", judged.language)
        found = check_types(types[0], snippet, judged.language, types[1])
        problems, checked_with = [*problems, *found.problems], found.checked_with
        if found.unknown:
            notes.append(
                f"Not checked, because the code alone doesn't define them: {', '.join(found.unknown[:10])}."
                " Give `inside`, the function or file that the code is for, to check it in its place."
            )
        if found.elsewhere:
            few = [f"{one.line}:{one.column} {one.message}" for one in found.elsewhere[:_MOST_ELSEWHERE]]
            more = len(found.elsewhere) - len(few)
            notes.append(f"In the rest of the file: {'; '.join(few)}{f'; {more} more' if more else ''}.")
    skipped = checking.fenced.lines
    shown = [one._replace(line=one.line + skipped) for one in problems]
    return _describe_check(shown, as_checked(judged.language), checked_with, notes, budget)


def _judge_snippet(checking: Checking) -> JudgedSnippet:
    """Check a snippet alone, and then in its file."""
    code = checking.fenced.code
    if checking.context is not None:
        judged = best_language(code, checking.context, checking.languages)
    else:
        language = checking.languages[0]
        unpaired = unpaired_brackets(code, language_named(language).tokens)
        judged = JudgedSnippet(language, [one.problem for one in unpaired[:1]])
    if checking.place is None or _errors_in(judged.problems):
        return judged
    found = _errors_in(language_named(judged.language).problems(checking.place.text, "file"))
    inside = [one for problem in found if (one := checking.place.position(problem)) is not None]
    if found and not inside and not checking.was_broken:
        inside = [SyntaxProblem(1, 1, f"with this, the file can't be read: {found[0].message}")]
    return judged._replace(problems=[*judged.problems, *inside])


def _describe_check(
    problems: Sequence[SyntaxProblem],
    checked_as: str,
    checked_with: str | None,
    notes: list[str],
    budget: Budget,
) -> SyntaxCheck:
    errors = [
        SyntaxErrorShown(position=f"{one.line}:{one.column}", message=budget.line(one.message))
        for one in _errors_in(problems)
    ]
    shown = budget.items(errors, 0.9, "errors", of=len(errors))
    result = SyntaxCheck(valid=not errors, errors=shown, checked_as=checked_as)
    suggestions = list(dict.fromkeys([one.suggestion for one in problems if one.suggestion]))
    if suggestions:
        result["suggestions"] = budget.items(suggestions, 1, "suggestions", of=len(suggestions))
    if checked_with is not None:
        result["checked_with"] = checked_with
    name_given = [f"{one.line}:{one.column}: {one.message}." for one in problems if one.severity == "note"]
    note = " ".join(
        budget.line(text) for text in [*name_given, *notes, *([budget.note] if budget.note else [])]
    )
    if note:
        result["note"] = note
    return result


def refuse_snippet(message: str, suggestion: str | None = None) -> SyntaxCheck:
    """Return the answer for code that isn't checked."""
    result = SyntaxCheck(valid=False, errors=[SyntaxErrorShown(position="1:1", message=message)])
    if suggestion is not None:
        result["suggestions"] = [suggestion]
    return result


@cache
def as_checked(language: str) -> str:
    """Return the name of a language with the version or the grammar that checks its code."""
    if language == "python":
        return f"python {sys.version_info[0]}.{sys.version_info[1]}"
    from importlib.metadata import PackageNotFoundError, version

    package = language_named(language).grammar.partition(":")[0].replace("_", "-")
    try:
        return f"{language}, as {package} {version(package)} reads it"
    except PackageNotFoundError:  # a grammar that was put into the program itself
        return f"{language}, as {package} reads it"


_COLON = re.compile(rb"[^\n:]*:")
_INDENT = 4


def _make_file(code: str, context: Context, language: str) -> Snippet:
    """Make a file that consists of the snippet alone."""
    count = code.count("\n") + 1
    if context == "file":
        return Snippet(code, 1, count, is_part=language == "go")  # its package has other files
    if language == "go":
        wrapper = language_named(language).wrappers[context]
        before = wrapper.before.count("\n")
        return Snippet(f"{wrapper.before}{code}{wrapper.after}", before + 1, before + count, is_part=True)
    if context == "expression":
        return Snippet(f"(\n{code}\n)", 2, count + 1, is_part=True)
    body = "".join(f"    {line}" for line in code.splitlines(keepends=True)) or "    pass"
    return Snippet(f"def snippet():\n{body}\n", 2, count + 1, 4, is_part=True)


def in_file(path: str, code: str) -> Snippet:
    """Put the content of a whole file in place of the old one."""
    return Snippet(code, 1, code.count("\n") + 1, path=path)


def in_function(
    path: str, source: bytes, declaration: Declaration, language: Language, code: str
) -> tuple[Snippet, bool]:
    """Put a snippet into a file, as the body of a function, or as the whole function if it declares that.

    Returns:
        The file, and whether the snippet is the function itself.

    Raises:
        CallError: the function has no body.
    """
    is_whole = _is_whole_function(language, code, declaration.name)
    if language.name == "python":
        return _put_in_python(path, source, declaration, code, is_whole=is_whole), is_whole
    start, end = (
        (declaration.whole.start, declaration.whole.end)
        if is_whole
        else _find_body(language, source, declaration)
    )
    before, after = source[:start].decode(errors="replace"), source[end:].decode(errors="replace")
    if is_whole:
        return _put_between(path, before, code, after), True
    return _put_between(path, f"{before}\n", code, f"\n{after}"), False


def _put_between(path: str, before: str, code: str, after: str, columns: int = 0) -> Snippet:
    first = before.count("\n") + 1
    return Snippet(f"{before}{code}{after}", first, first + code.count("\n"), columns, path)


def _put_in_python(
    path: str, source: bytes, declaration: Declaration, code: str, *, is_whole: bool
) -> Snippet:
    start = declaration.head.start
    own = source[source.rfind(b"\n", 0, start) + 1 : start]
    indent = own.decode(errors="replace") if not own.strip() else ""
    colon = _COLON.match(source, declaration.head.end)
    if colon is None:
        raise _no_body_error(declaration)
    cut = start - len(own) if is_whole else colon.end()
    before = source[:cut].decode(errors="replace") + ("" if is_whole else "\n")
    after = source[declaration.whole.end :].decode(errors="replace")
    plain = textwrap.dedent(code)
    added = indent if is_whole else f"{indent}{' ' * _INDENT}"
    removed = len(code.partition("\n")[0]) - len(plain.partition("\n")[0])
    body = textwrap.indent(plain, added) if plain.strip() else f"{added}pass"
    # A body that ends with its line leaves no empty one.
    return _put_between(path, before, body, after, len(added) - removed)


def _is_whole_function(language: Language, code: str, name: str) -> bool:
    """Return whether a snippet is the whole function of this name, and not only its body."""
    for text in (textwrap.dedent(code), f"class _ {{\n{code}\n}}"):
        source = text.encode(errors="replace")
        try:
            found = language.parse(source).declarations
        except SlowParseError:
            return False
        for one in found:
            around = (source[: one.whole.start] + source[one.whole.end :]).strip()
            if one.name == name and around in {b"", b"class _ {\n}", b"class _ {\n\n}", b"class _ {\n\n\n}"}:
                return one.kind in {"func", "method"}
    return False


def _find_body(language: Language, source: bytes, declaration: Declaration) -> tuple[int, int]:
    """Return where the body of a function begins and ends, inside its last braces."""
    text = source[declaration.head.end : declaration.whole.end].decode(errors="replace")
    level, start, found = 0, 0, None
    for match in language.tokens.finditer(text):
        mark = match.group()
        if mark in {"{", "("}:
            if level == 0 and mark == "{":
                start = match.end()
            level += 1
        elif mark in {"}", ")"}:
            level -= 1
            if level == 0 and mark == "}":
                found = (start, match.start())
    if found is None:
        raise _no_body_error(declaration)
    offset = declaration.head.end
    return offset + len(text[: found[0]].encode()), offset + len(text[: found[1]].encode())


def _no_body_error(declaration: Declaration) -> CallError:
    return CallError(f"{declaration.qualified} has no body that code could be put into")
