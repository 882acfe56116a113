"""How is a declaration described: its text, members, calls and other places?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .budget import join_notes
from .language import TYPES
from .resolution import Resolver
from .results import CalledFunction, FieldShown, Inspection, Match, MethodShown, ReadFunction
from .source_text import (
    doc_text,
    head_of,
    likeliest_first,
    one_line,
    source_of,
    span_text,
    whole_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .budget import Budget
    from .index import FoundDeclaration, Index
    from .language import Span, TypeField
    from .resolution import Sought, Way

_LONGEST_WAY = 10
_MOST_BASES = 10
_SUPER = "super()"
_MOST_OTHERS = 50
"""Declarations of a name that are looked at beyond the first one."""

_WITH_SIGNATURE = 10
"""Those of them that are shown with a signature."""
_NO_MORE_THAN_A_NAME = frozenset(
    {"class", "enum", "interface", "namespace", "struct", "trait", "type", "union"}
)
"""Words of a signature that say no more of a type than its kind."""
_LONGEST_TYPE = 300
_LONGEST_VALUE = 100
_LONGEST_CHARACTER = 4
"""Bytes of UTF-8."""


def describe_declaration(sought: Sought, budget: Budget, *, outline: bool = False) -> Inspection:
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
    declaration, source = found.declaration, source_of(index, found.file)
    language = found.file.language
    result = Inspection(
        found=True,
        name=budget.line(declaration.qualified),
        kind=declaration.kind,
        location=budget.line(found.location),
    )
    if declaration.head.end:
        result["signature"] = budget.line(head_of(index, found))
    _add_ways(result, sought, found, others, budget, "declarations")
    if value := language.value(source, declaration):
        result["value"] = budget.text(value, 0.5, "read the file")
    is_type = declaration.kind in TYPES
    methods = list(members_of(index, found)) if is_type else []
    _add_text(result, source, found, methods, budget, outline=outline)
    bases = [one for one in Resolver(index).bases(found) if one is not None] if is_type else []
    if bases:
        result["bases"] = [
            budget.line(f"{one.declaration.qualified} {one.location}") for one in bases[:_MOST_BASES]
        ]
    _add_members(result, index, found, methods, budget)
    if note := join_notes(sought.note, budget.note):
        result["note"] = note
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
        text = _outline_of_class(source, found, methods) if outlined else whole_text(source, declaration)
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
        shown = (_describe_field(own, field) for field in fields)
        result["fields"] = budget.items(shown, 0.4, "fields", of=len(fields))
    if methods:
        is_shown = not language.bodies_inside and not budget.note and "definition" in result
        whole = declaration.whole if is_shown else None
        each = (_describe_method(index, one, found, whole) for one in methods)
        hint = f"search for {declaration.name}.*"
        result["methods"] = budget.items(each, 1, "methods", hint, of=len(methods))


def _describe_method(
    index: Index, method: FoundDeclaration, owner: FoundDeclaration, shown: Span | None
) -> MethodShown:
    """Describe a method, without its signature if the text of its type contains that."""
    described = MethodShown(name=method.declaration.name, location=method.location)
    span = method.declaration.whole
    if method.file is owner.file and shown is not None and shown.start < span.start < shown.end:
        return described
    described["signature"] = head_of(index, method)
    return described


def members_of(index: Index, found: FoundDeclaration) -> Iterator[FoundDeclaration]:
    """Yield the methods of a type, in the order of their files."""
    return (one for one in index.members(found) if one.declaration.kind == "method")


def _describe_field(text: bytes, field: TypeField) -> FieldShown:
    """Describe a field with its type and value, each cut if it is long."""
    shown = FieldShown(name=field.name)
    if field.type.end:
        shown["type"] = _short_text(text, field.type, _LONGEST_TYPE)
    if field.value.end:
        shown["value"] = _short_text(text, field.value, _LONGEST_VALUE)
    return shown


def _short_text(text: bytes, span: Span, most: int) -> str:
    is_cut = span.end - span.start > most * _LONGEST_CHARACTER
    end = span.start + most * _LONGEST_CHARACTER if is_cut else span.end
    line = one_line(span_text(text, span._replace(end=end)))
    return f"{line[:most]}…" if is_cut or len(line) > most else line


def _outline_of_class(source: bytes, found: FoundDeclaration, methods: list[FoundDeclaration]) -> str:
    """Return the text of a class without its methods, which the answer lists separately."""
    whole = found.declaration.whole
    if not methods:
        return whole_text(source, found.declaration)
    first = min([one.declaration.whole.start for one in methods])
    before = whole._replace(end=first)
    return f"{whole_text(source, found.declaration._replace(whole=before)).rstrip()}\n    ..."


def describe_function(
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
    declaration, source = found.declaration, source_of(index, found.file)
    result = ReadFunction(
        found=True,
        name=budget.line(declaration.qualified),
        location=budget.line(found.location),
        signature=budget.line(head_of(index, found)),
    )
    _add_ways(result, sought, found, others, budget, "functions")
    start = source.count(b"\n", 0, declaration.whole.start) + 1
    lines = whole_text(source, declaration).split("\n")
    skipped = min(max((first_line or start) - start, 0), len(lines))
    if line_numbers:
        lines = [f"{start + place}: {line}" for place, line in enumerate(lines)]
    hint = "call read_func again with first_line"
    result["implementation"] = budget.text(
        "\n".join(lines[skipped:]), 0.7, f"{hint} = {{line}}", first=start + skipped
    )
    _add_uses(result, index, found, source, budget)
    is_beyond = first_line is not None and first_line > declaration.last_line
    beyond = f"The function ends at line {declaration.last_line}, before line {first_line}."
    if note := join_notes(sought.note, beyond if is_beyond else budget.note):
        result["note"] = note
    return result


def _add_ways(
    result: Inspection | ReadFunction,
    sought: Sought,
    found: FoundDeclaration,
    others: Sequence[FoundDeclaration],
    budget: Budget,
    what: str,
) -> None:
    """Add the steps from the name to the declaration, and the other declarations of this name."""
    via = next((way.via for way in sought.ways if way.found is found), ())
    if via:
        result["via"] = [budget.line(step) for step in via[:_LONGEST_WAY]]
    if others:
        # A name such as __init__ has thousands.
        shown = [
            match(sought.where, other, budget, is_short=place >= _WITH_SIGNATURE)
            for place, other in enumerate(others[:_MOST_OTHERS])
        ]
        hint = "give the path too, path:name"
        result["others"] = budget.items(shown, 0.2, f"{what} of this name", hint, of=len(others))


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
    calls = list(dict.fromkeys([_short_call_name(name) for how, name in used if how == "call"]))
    if calls:
        resolver = Resolver(index)
        inside = imports[len(found.file.parsed.imports) :]
        each = (_describe_call(index, name, resolver.called(found, name, inside)) for name in calls)
        result["calls"] = budget.items(each, 1, "calls", of=len(calls))


def _describe_call(index: Index, name: str, way: Way | None) -> CalledFunction:
    if way is None:
        return CalledFunction(name=name)
    found = way.found
    shown = CalledFunction(name=name, location=found.location)
    if found.declaration.head.end:
        shown["signature"] = head_of(index, found)
    return shown


def _short_call_name(name: str) -> str:
    """Shorten a call on an expression to the name of its method: `open(path).close` becomes `close`."""
    last = re.split(r"""['"\])}>]""", name.removeprefix(_SUPER))[-1]
    return name if name in {last, f"{_SUPER}{last}"} else f"…{last}"


def match(index: Index, found: FoundDeclaration, budget: Budget, *, is_short: bool = False) -> Match:
    """Describe one declaration of a list, with its signature unless `is_short`."""
    declaration = found.declaration
    shown = Match(name=budget.line(declaration.qualified), kind=declaration.kind, location=found.location)
    if declaration.head.end and not is_short:
        head = head_of(index, found)
        if not _NO_MORE_THAN_A_NAME.issuperset(
            re.findall(r"\w+|[^\w\s:]", head.replace(declaration.name, "", 1))
        ):
            shown["signature"] = budget.line(head)
    return shown
