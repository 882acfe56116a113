"""What do the tools answer about a declaration, a function, a pattern of names, and a folder?"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from ..message_text import quote
from .index import MOST_COUNTED, FoundDeclaration, is_private
from .language import TYPES
from .lookup import path_problem, pattern_hint, read_pattern, unread_note
from .resolution import Resolver
from .results import (
    Budget,
    CalledFunction,
    FieldShown,
    Inspection,
    Match,
    MethodShown,
    Overview,
    ReadFunction,
    SearchResult,
)
from .source_text import (
    doc_text,
    head_of,
    likeliest_first,
    location,
    one_line,
    source_of,
    span_text,
    whole_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .index import Index, SourceFile
    from .language import Kind, Span, TypeField
    from .lookup import Sought
    from .resolution import Way
    from .results import Reason

_LONGEST_WAY = 10
_MOST_BASES = 10
_SUPER = "super()"


def read_function(
    sought: Sought, budget: Budget, *, line_numbers: bool, first_line: int | None
) -> ReadFunction:
    """Describe the first function of a list in full, and list where the others are.

    Args:
        sought: the functions.
        budget: for the characters of the result.
        line_numbers: whether each line of the text gets its number in the file.
        first_line: of the file, from which the text is wanted; None for all of it.

    Raises:
        ChangedError: a file has changed since the index read it.
    """
    index = sought.where
    found, *others = likeliest_first(index, [way.found for way in sought.ways])
    via = next((way.via for way in sought.ways if way.found is found), ())
    declaration, source = found.declaration, source_of(index, found.file)
    result = ReadFunction(
        found=True,
        name=budget.line(declaration.qualified),
        location=budget.line(location(found)),
        signature=budget.line(head_of(index, found)),
    )
    if via:
        result["via"] = [budget.line(step) for step in via[:_LONGEST_WAY]]
    if others:
        result["others"] = others_shown(index, others, budget, "functions")
    start = source.count(b"\n", 0, declaration.whole.start) + 1
    lines = whole_text(source, declaration).split("\n")
    skipped = min(max((first_line or start) - start, 0), len(lines))
    if line_numbers:
        lines = [f"{start + place}: {line}" for place, line in enumerate(lines)]
    hint = "call read_func again with first_line"
    result["implementation"] = budget.text(
        "\n".join(lines[skipped:]), 0.7, f"{hint} = {start + skipped} + {{line}}"
    )
    _add_uses(result, index, found, source, budget)
    if budget.note:
        result["note"] = re.sub(r"(\d+) \+ (\d+)", lambda sums: str(int(sums[1]) + int(sums[2])), budget.note)
    if first_line is not None and first_line > declaration.last_line:
        result["note"] = f"The function ends at line {declaration.last_line}, before line {first_line}."
    if sought.note:
        result["note"] = f"{sought.note} {result.get('note', '')}".strip()
    return result


def _short(name: str) -> str:
    """Shorten a call on an expression to the name of its method: `open(path).close` becomes `close`."""
    last = re.split(r"""['"\])}>]""", name.removeprefix(_SUPER))[-1]
    return name if name in {last, f"{_SUPER}{last}"} else f"…{last}"


def _add_uses(
    result: ReadFunction, index: Index, found: FoundDeclaration, source: bytes, budget: Budget
) -> None:
    """Add the imports that a function uses, and what it calls."""
    declaration, language = found.declaration, found.file.language
    # The head without its decorators: they are outside of the function.
    text = source[declaration.head.start : declaration.whole.end]
    used = list(language.called(text))
    imports = [*found.file.parsed.imports, *language.imports(text)]
    names = {name for _, name in used}
    imported = [one for one in imports if one.name in names]
    if imported:
        texts = list(dict.fromkeys([budget.line(one.text) for one in imported]))
        result["imports_used"] = budget.items(texts, 0.4, "imports", of=len(texts))
    calls = list(dict.fromkeys([_short(name) for how, name in used if how == "call"]))
    if calls:
        resolver = Resolver(index)
        inside = imports[len(found.file.parsed.imports) :]
        each = (_called(index, name, resolver.called(found, name, inside)) for name in calls)
        result["calls"] = budget.items(each, 1, "calls", of=len(calls))


def _called(index: Index, name: str, way: Way | None) -> CalledFunction:
    if way is None:
        return CalledFunction(name=name)
    found = way.found
    shown = CalledFunction(name=name, location=location(found))
    if found.declaration.head.end:
        shown["signature"] = head_of(index, found)
    return shown


_LONGEST_TYPE = 300
_LONGEST_VALUE = 100
_LONGEST_CHARACTER = 4
"""Bytes of UTF-8."""


def inspected(sought: Sought, budget: Budget, *, outline: bool = False) -> Inspection:
    """Describe the first declaration of a list in full, and list where the others are.

    Args:
        sought: the declarations.
        budget: for the characters of the result.
        outline: whether only signatures, names and the first lines of comments are shown.

    Raises:
        ChangedError: a file has changed since the index read it.
    """
    index = sought.where
    found, *others = likeliest_first(index, [way.found for way in sought.ways])
    via = next((way.via for way in sought.ways if way.found is found), ())
    declaration, source = found.declaration, source_of(index, found.file)
    language = found.file.language
    result = Inspection(
        found=True,
        name=budget.line(declaration.qualified),
        kind=declaration.kind,
        location=budget.line(location(found)),
    )
    if declaration.head.end:
        result["signature"] = budget.line(head_of(index, found))
    if via:
        result["via"] = [budget.line(step) for step in via[:_LONGEST_WAY]]
    if others:
        result["others"] = others_shown(index, others, budget, "declarations")
    if value := language.value(source, declaration):
        result["value"] = budget.text(value, 0.5, "read the file")
    is_type = declaration.kind in TYPES
    methods = list(members_of(index, found)) if is_type else []
    _add_text(result, source, found, methods, budget, outline=outline)
    bases = [one for one in Resolver(index).bases(found) if one is not None] if is_type else []
    if bases:
        result["bases"] = [
            budget.line(f"{one.declaration.qualified} {location(one)}") for one in bases[:_MOST_BASES]
        ]
    _add_members(result, index, found, methods, budget)
    if sought.note or budget.note:
        result["note"] = " ".join(filter(None, [sought.note, budget.note]))
    return result


def _add_text(
    result: Inspection,
    source: bytes,
    found: FoundDeclaration,
    methods: list[FoundDeclaration],
    budget: Budget,
    *,
    outline: bool,
) -> None:
    """Add the text of a declaration, and its comment unless the text contains it."""
    declaration, language = found.declaration, found.file.language
    has_doc = False
    if not outline:
        outlined = language.bodies_inside and declaration.kind in TYPES
        text = _outline(source, found, methods) if outlined else whole_text(source, declaration)
        result["definition"] = budget.text(text, 0.5, "ask for a member by its own name, or use read_func")
        has_doc = declaration.whole.start <= declaration.doc.start and result["definition"] == text
    if declaration.doc.end and not has_doc:
        doc = doc_text(source, declaration)
        result["doc"] = budget.text(doc.partition("\n\n")[0] if outline else doc, 0.4, "read the file")


def _add_members(
    result: Inspection, index: Index, found: FoundDeclaration, methods: list[FoundDeclaration], budget: Budget
) -> None:
    """Add the fields and methods of a type."""
    declaration, language = found.declaration, found.file.language
    source = source_of(index, found.file)
    own = source[declaration.whole.start : declaration.whole.end]
    fields = language.fields(own) if declaration.kind in TYPES else []
    if fields:
        shown = (_field(own, field) for field in fields)
        result["fields"] = budget.items(shown, 0.4, "fields", of=len(fields))
    if methods:
        is_shown = not language.bodies_inside and not budget.note and "definition" in result
        whole = declaration.whole if is_shown else None
        each = (_method(index, one, found, whole) for one in methods)
        hint = f"search for {declaration.name}.*"
        result["methods"] = budget.items(each, 1, "methods", hint, of=len(methods))


def _method(
    index: Index, method: FoundDeclaration, owner: FoundDeclaration, shown: Span | None
) -> MethodShown:
    """Describe a method, without its signature if the text of its type contains that."""
    told = MethodShown(name=method.declaration.name, location=location(method))
    span = method.declaration.whole
    if method.file is owner.file and shown is not None and shown.start < span.start < shown.end:
        return told
    told["signature"] = head_of(index, method)
    return told


def members_of(index: Index, found: FoundDeclaration) -> Iterator[FoundDeclaration]:
    """Yield the methods of a type, in the order of their files."""
    return (one for one in index.members(found) if one.declaration.kind == "method")


def _field(text: bytes, field: TypeField) -> FieldShown:
    """Describe a field with its type and value, each cut if it is long."""
    shown = FieldShown(name=field.name)
    if field.type.end:
        shown["type"] = _shortened(text, field.type, _LONGEST_TYPE)
    if field.value.end:
        shown["value"] = _shortened(text, field.value, _LONGEST_VALUE)
    return shown


def _shortened(text: bytes, span: Span, most: int) -> str:
    is_cut = span.end - span.start > most * _LONGEST_CHARACTER
    end = span.start + most * _LONGEST_CHARACTER if is_cut else span.end
    line = one_line(span_text(text, span._replace(end=end)))
    return f"{line[:most]}…" if is_cut or len(line) > most else line


def _outline(source: bytes, found: FoundDeclaration, methods: list[FoundDeclaration]) -> str:
    """Return the text of a class without its methods, which the answer lists separately."""
    whole = found.declaration.whole
    if not methods:
        return whole_text(source, found.declaration)
    first = min([one.declaration.whole.start for one in methods])
    before = whole._replace(end=first)
    return f"{whole_text(source, found.declaration._replace(whole=before)).rstrip()}\n    ..."


MOST_OTHERS = 50
"""Declarations of a name that are looked at beyond the first one."""

_WITH_SIGNATURE = 10
"""Those of them that are shown with a signature."""


_NO_MORE_THAN_A_NAME = frozenset(
    {"class", "enum", "interface", "namespace", "struct", "trait", "type", "union"}
)
"""Words of a signature that say no more of a type than its kind."""


def match(index: Index, found: FoundDeclaration, budget: Budget, *, is_short: bool = False) -> Match:
    """Describe one declaration of a list, with its signature unless `is_short`."""
    declaration = found.declaration
    shown = Match(name=budget.line(declaration.qualified), kind=declaration.kind, location=location(found))
    if declaration.head.end and not is_short:
        head = head_of(index, found)
        if not _NO_MORE_THAN_A_NAME.issuperset(
            re.findall(r"\w+|[^\w\s:]", head.replace(declaration.name, "", 1))
        ):
            shown["signature"] = budget.line(head)
    return shown


def others_shown(index: Index, others: Sequence[FoundDeclaration], budget: Budget, what: str) -> list[Match]:
    """Describe the other declarations with this name, as far as the budget allows."""
    # A name such as __init__ has thousands.
    shown = [
        match(index, other, budget, is_short=place >= _WITH_SIGNATURE)
        for place, other in enumerate(others[:MOST_OTHERS])
    ]
    return budget.items(shown, 0.2, f"{what} of this name", "give the path too, path:name", of=len(others))


_MOST_SHOWN = 5
_LONGEST_NOTE = 350
_LINE = 10_000
"""Characters for one result alone: what fits is counted later."""


def found_by_pattern(
    index: Index, pattern: str, kind: Kind | None, limit: int, budget: Budget
) -> SearchResult:
    """Find declarations by a pattern of their names.

    Args:
        index: to look in.
        pattern: as somebody wrote it.
        kind: of the declarations; None for all.
        limit: how many are returned.
        budget: for the characters of the result.
    """
    path, names = read_pattern(pattern)
    found, more = index.search(path, names, kind, limit)
    if not found:
        path, names = _in_module(index, path, names) or (path, names)
        found, more = index.search(path, names, kind, limit)
    if not found:
        return _nothing(index, pattern, path, names, kind)
    shown = budget.items((match(index, one, Budget(_LINE)) for one in found), 1, "results", of=len(found))
    result = SearchResult(results=shown)
    if left := more + len(found) - len(shown):
        result["more"] = left
        at_least = " at least" if more >= MOST_COUNTED else ""
        result["note"] = (
            f"There are{at_least} {left:,} more: make the pattern longer, give a kind, or raise the limit."
        )
    elif others := index.in_another_case(path, names, kind, found):
        named = ", ".join([quote(name) for name in others[:_MOST_SHOWN]])
        result["note"] = f"In other upper or lower case there are also {named}."
    return result


def _in_module(index: Index, path: str, names: str) -> tuple[str, str] | None:
    """Split a pattern that begins with a module, such as `json:*` or `pkg.*`, into path and names."""
    if path:
        modules = [path.replace("/", ".")]
    else:
        parts = names.split(".")
        modules = [".".join(parts[:place]) for place in range(len(parts) - 1, 0, -1)]
    for module in modules:
        for known in () if "*" in module or "?" in module else index.modules.ending(module):
            files = index.modules.files(known)
            rest = names if path else names[len(module) + 1 :]
            if files:
                is_package = len(files) > 1 or files[0].rpartition("/")[2].startswith("__init__.")
                where = files[0].rpartition("/")[0] if is_package else files[0]
                return (where or files[0]), rest or "*"
    return None


def _nothing(index: Index, pattern: str, path: str, names: str, kind: Kind | None) -> SearchResult:
    """Explain why no declaration matches a pattern."""
    reason, note = _why(index, pattern, path, names, kind)
    return SearchResult(results=[], reason=reason, note=note[:_LONGEST_NOTE])


def _why(index: Index, pattern: str, path: str, names: str, kind: Kind | None) -> tuple[Reason, str]:
    if not names:
        return "not understood", "No pattern was given: write one such as *Repository, or users/service.go:*."
    if kind is not None and (others := index.search(path, names, None, 1)[0]):
        return (
            "of another kind",
            f"Nothing of this kind fits, but {_a_kind(others[0])} does: leave the kind out.",
        )
    if hint := pattern_hint(pattern):
        return "not understood", hint
    if path and not any(True for _ in index.at(path)):
        return path_problem(index, path)
    note = f"No declared name fits: a pattern is of a whole name, so try *{names.strip('*')}*."
    return "not declared", f"{note} {unread_note(index)}".strip()


def _a_kind(found: FoundDeclaration) -> str:
    return f"the {found.declaration.kind} {found.declaration.qualified}"


_CHARACTERS_A_TOKEN = 4
_SHORTEST_NAME = 3
_LONGEST_MAP_LINE = 110
_MOST_FOLDERS = 12
_MOST_OF_A_FILE = 8
_FOR_NOTE = 120


def overview_of(index: Index, path: str, tokens: int) -> Overview:
    """Return a map of a folder or file, with the names first that most files use.

    Args:
        index: to look in.
        path: of the folder or file; empty for all.
        tokens: maximum size of the map, at four characters each.

    Raises:
        ChangedError: a file has changed since the index read it.
    """
    files = list(index.at(path) if path else index.files())
    if not files:
        reason, note = path_problem(index, path)
        return Overview(files=0, map="", reason=reason, note=note)
    ranked = _ranked(index, files)
    lines = list(_folders(files, path.strip("/")))
    left = tokens * _CHARACTERS_A_TOKEN - _FOR_NOTE - sum(len(line) + 1 for line in lines)
    chosen: dict[str, list[tuple[int, str]]] = {}
    for found in ranked:
        own = chosen.get(found.file.path, [])
        if len(own) >= _MOST_OF_A_FILE:
            continue
        line = f"  {_map_line(index, found)}"
        left -= len(line) + 1 + (0 if own else len(found.file.path) + 1)
        if left < 0:
            break
        chosen.setdefault(found.file.path, []).append((found.declaration.line, line))
    for where, declarations in chosen.items():
        lines += [where, *[line for _, line in sorted(declarations)]]
    result = Overview(files=len(files), map="\n".join(lines))
    missing = len(ranked) - sum(map(len, chosen.values()))
    if missing:
        result["note"] = (
            f"{missing:,} of {len(ranked):,} types and functions are left out: "
            "give a path in it, or more tokens."
        )
    return result


def _folders(files: list[SourceFile], path: str) -> Iterator[str]:
    """Yield a line for each folder directly below a path, with the number of its files."""
    counts: Counter[str] = Counter()
    for file in files:
        before, found, rest = f"/{file.path}".partition(f"/{path}/" if path else "/")
        inner = rest if found else before
        if "/" in inner:
            counts[inner.partition("/")[0]] += 1
    if len(counts) == 1 and not path:  # a package alone in its root
        yield from _folders(files, next(iter(counts)))
        return
    for name, number in counts.most_common(_MOST_FOLDERS):
        yield f"{name}/ {number:,} files"
    if len(counts) > _MOST_FOLDERS:
        yield f"… {len(counts) - _MOST_FOLDERS} more folders"


def _ranked(index: Index, files: list[SourceFile]) -> list[FoundDeclaration]:
    """List the types and functions of some files, with the names first that most files contain."""
    found = [
        FoundDeclaration(file, declaration)
        for file in files
        for declaration in file.parsed.declarations
        if not declaration.owner
        and declaration.kind not in {"const", "var"}
        and len(declaration.name) >= _SHORTEST_NAME
    ]
    declared = Counter([one.declaration.name for one in found])
    used = Counter({name: len(index.importers(name)) for name in declared})
    # Words such as `first` stand in many files that don't mean the function.
    telling = {name for name in declared if "_" in name or name.lower() != name}
    for file in index.files():
        if not file.is_aside:
            used.update(telling.intersection(file.parsed.words.split("\n")))

    def rank(one: FoundDeclaration) -> tuple[bool, bool, float, str, int]:
        name = one.declaration.name
        # A name that many files declare says little about each of them.
        score = (used[name] + index.popularity(one.file)) / declared[name] ** 2
        return one.file.is_aside, is_private(one), -score, one.file.path, one.declaration.line

    return sorted(found, key=rank)


def _map_line(index: Index, found: FoundDeclaration) -> str:
    declaration = found.declaration
    text = head_of(index, found) if declaration.head.end else f"{declaration.kind} {declaration.name}"
    return text if len(text) <= _LONGEST_MAP_LINE else f"{text[:_LONGEST_MAP_LINE]}…"
