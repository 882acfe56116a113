"""What the tools say about a declaration, a function and its calls."""

from __future__ import annotations

import re
import textwrap
from itertools import islice
from typing import TYPE_CHECKING

from .index import Found, full_name
from .language import language_of
from .results import CalledFunction, FieldShown, Inspection, Match, MethodShown, ReadFunction
from .source_files import Content, read_part, read_source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .index import Index, SourceFile
    from .language import Declaration, Field, Import, Language, Span
    from .results import Budget

__all__ = [
    "ChangedError",
    "FUNCTIONS",
    "doc_text",
    "head_of",
    "implementation_first",
    "inspected",
    "location",
    "match",
    "members_of",
    "one_line",
    "others_shown",
    "read_function",
    "source_of",
    "span_text",
    "whole_text",
]


FUNCTIONS = frozenset({"func", "method"})
_MOST_BASES = 20
_MOST_EXPORTS = 50
_SUPER = "super()"


def read_function(
    index: Index, all_found: list[Found], budget: Budget, *, line_numbers: bool, first_line: int | None
) -> ReadFunction:
    """Describe the first of some functions, and name the others.

    Args:
        index: that they are from.
        all_found: at least one.
        budget: of the result.
        line_numbers: whether each line of the text gets its number in the file.
        first_line: of the file, from which the text is wanted; None for all of it.

    Raises:
        ChangedError: a file has changed since the index read it.
    """
    found, *others = implementation_first(index, all_found)
    declaration, source = found.declaration, source_of(index, found)
    result = ReadFunction(
        found=True,
        name=budget.line(declaration.qualified),
        location=budget.line(location(found)),
        signature=budget.line(head_of(index, found)),
    )
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
    return result


def _short(name: str) -> str:
    """Return what is called without the expression that it is called on, where that is more than names."""
    last = re.split(r"""['"\])}>]""", name.removeprefix(_SUPER))[-1]
    return name if name in {last, f"{_SUPER}{last}"} else f"…{last}"


def _add_uses(result: ReadFunction, index: Index, found: Found, source: bytes, budget: Budget) -> None:
    """Add the imports that a function uses, and what it calls."""
    declaration, language = found.declaration, language_of(found.file.path)
    assert language is not None  # noqa: S101  # the index holds nothing else
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
        resolver = _Resolver(index, found, language, {one.name: one for one in imports})
        each = (_called(index, name, resolver.declared(name)) for name in calls)
        result["calls"] = budget.items(each, 1, "calls", of=len(calls))


def _called(index: Index, name: str, found: Found | None) -> CalledFunction:
    if found is None:
        return CalledFunction(name=name)
    shown = CalledFunction(name=name, location=location(found))
    if found.declaration.head.end:
        shown["signature"] = head_of(index, found)
    return shown


def _bases(head: str) -> list[str]:
    """Return the names of the bases in the signature of a class, without type arguments and keywords."""
    arguments: list[list[str]] = [[]]
    level = 0
    for part in re.findall(r"[\w.]+|[\[\],=]", head.partition("(")[2]):
        if part in {"[", "]"}:
            level = max(level + (1 if part == "[" else -1), 0)
        elif level == 0 and part == ",":
            arguments.append([])
        elif level == 0:
            arguments[-1].append(part)
    return [name for argument in arguments if "=" not in argument for name in argument]


class _Namesakes:
    """The declarations that share the last part of their names.

    Args:
        index: that they are from.
        every: the likeliest first.
    """

    def __init__(self, index: Index, every: list[Found]) -> None:
        self._index = index
        self._alike: dict[tuple[str, str], list[Found]] = {}
        for one in every:
            self._alike.setdefault((one.file.path, one.declaration.qualified), []).append(one)
        self._groups = list(self._alike.values())
        # Full names, and what they end with after a dot; each to the first group that has it.
        self._whole: dict[str, int] = {}
        self._ends: dict[str, int] = {}
        for place, (first, *_) in enumerate(self._groups):
            full = full_name(first.file.path, first.declaration)
            self._whole.setdefault(full, place)
            for end in _ends(full):
                self._ends.setdefault(end, place)

    def called(self, full: str) -> Found | None:
        """Return the likeliest that has a full name; the root may be above or below its package."""
        places = [self._whole.get(full), self._ends.get(full) if "." in full else None]
        places += [self._whole.get(end) for end in _ends(full) if not self._is_package(full, end)]
        known = [place for place in places if place is not None]
        return implementation_first(self._index, self._groups[min(known)])[0] if known else None

    def _is_package(self, full: str, end: str) -> bool:
        """Return whether what stands before an end is a package; else it is a folder such as src."""
        above = full.removesuffix(f".{end}").replace(".", "/")
        return self._index.file(f"{above}/__init__.py") is not None


def _ends(name: str) -> list[str]:
    """Return what comes after each dot of a name, the longest first."""
    return [name[place + 1 :] for place, letter in enumerate(name) if letter == "."]


class _Resolver:
    """Finds the declarations of what a function calls.

    What it has looked up it keeps, since a function may call thousands.

    Args:
        index: to look in.
        found: the function.
        language: of it.
        imports: by the names that its file knows.
    """

    def __init__(self, index: Index, found: Found, language: Language, imports: Mapping[str, Import]) -> None:
        self._index = index
        self._found = found
        self._language = language
        self._imports = imports
        receiver = re.match(r"func\s*\(\s*(\w+)", span_text(source_of(index, found), found.declaration.head))
        self._own_names = language.self_names | (set[str]() if receiver is None else {str(receiver[1])})
        self._namesakes: dict[str, _Namesakes] = {}
        self._bases: dict[tuple[str, str], list[tuple[str, str]]] = {}
        self._imports_of: dict[str, dict[str, list[Import]]] = {}

    def declared(self, name: str) -> Found | None:
        """Return the declaration of a called name; None where it isn't known."""
        head, _, rest = name.partition(".")
        owner = self._found.declaration.owner
        if head == _SUPER:
            path = self._found.file.path
            return None if "." in rest else self._inherited(path, owner, rest, set())
        if rest and head in self._own_names:
            return None if "." in rest else self._method(self._found.file.path, owner, rest, set())
        if head in self._imports:
            target = self._language.import_target(self._imports[head].target, self._found.file.path)
            return self._only(f"{target}.{rest}" if rest else target)
        if self._language.package_is_folder and rest:
            return None
        module = self._language.module_of(self._found.file.path)
        return self._only(f"{module}.{name}" if module else name)

    def _method(self, path: str, owner: str, name: str, seen: set[tuple[str, str]]) -> Found | None:
        """Return a method of a class, or of the first of its bases that has it."""
        module = self._language.module_of(path)
        found = self._only(f"{module}.{owner}.{name}" if module else f"{owner}.{name}")
        return self._inherited(path, owner, name, seen) if found is None else found

    def _inherited(self, path: str, owner: str, name: str, seen: set[tuple[str, str]]) -> Found | None:
        """Return a method of the first base of a class that has it."""
        if len(seen) > _MOST_BASES:
            return None
        seen.add((path, owner))
        for base in self._bases_of(path, owner):
            if base not in seen:
                found = self._method(*base, name, seen)
                if found is not None:
                    return found
        return None

    def _bases_of(self, path: str, owner: str) -> list[tuple[str, str]]:
        """Return the bases of a class, each as its file and its name there."""
        if (path, owner) not in self._bases:
            here = [
                one for one in self._index.named(owner) if one.file.path == path and one.declaration.head.end
            ]
            names = [
                (one.file, name) for one in here[:_MOST_BASES] for name in _bases(head_of(self._index, one))
            ]
            bases = [self._base(file, name) for file, name in names[:_MOST_BASES]]
            self._bases[path, owner] = [
                (base.file.path, base.declaration.qualified) for base in bases if base is not None
            ]
        return self._bases[path, owner]

    def _base(self, file: SourceFile, name: str) -> Found | None:
        """Return the declaration of a class by the name that a file knows."""
        head, dot, rest = name.partition(".")
        for one in self._imported(file).get(head, [])[:1]:
            return self._only(f"{self._language.import_target(one.target, file.path)}{dot}{rest}")
        module = self._language.module_of(file.path)
        return self._only(f"{module}.{name}" if module else name)

    def _imported(self, file: SourceFile) -> dict[str, list[Import]]:
        """Return the imports of a file by the names that it knows them by."""
        if file.path not in self._imports_of:
            known = self._imports_of[file.path] = {}
            for one in file.parsed.imports:
                known.setdefault(one.name, []).append(one)
        return self._imports_of[file.path]

    def _only(self, name: str) -> Found | None:
        """Return the declaration of a full name, as far as the root shows all of it."""
        waiting = [name]
        for full in waiting:  # it grows by what a name may be as well
            last = full.rpartition(".")[2]
            if last not in self._namesakes:
                self._namesakes[last] = _Namesakes(self._index, self._index.named(last))
            found = self._namesakes[last].called(full)
            if found is not None:
                return found
            more = islice(self._exported(full), max(_MOST_EXPORTS - len(waiting), 0))
            waiting += [other for other in more if other not in waiting]
        return None

    def _exported(self, name: str) -> Iterator[str]:
        """Yield what a name may be that a module has by an import."""
        parts = name.split(".")
        for place in range(len(parts) - 1, -1, -1):
            folder = "/".join(parts[:place])
            own = (f"{folder}/__init__.py", f"{folder}.py") if folder else ("__init__.py",)
            for path in own:
                file = self._index.file(path)
                known = {} if file is None else self._imported(file)
                for one in [*known.get(parts[place], []), *known.get("*", [])]:
                    target = self._language.import_target(one.target, path)
                    rest = parts[place:] if one.name == "*" else parts[place + 1 :]
                    yield ".".join([target, *rest])


_LONGEST_TYPE = 300
_LONGEST_VALUE = 100
_LONGEST_CHARACTER = 4
"""Bytes of UTF-8."""
_TYPES = frozenset({"struct", "class", "interface", "protocol", "type"})


def inspected(index: Index, all_found: list[Found], budget: Budget) -> Inspection:
    """Describe the first of some declarations, and name the others.

    Args:
        index: that they are from.
        all_found: at least one.
        budget: of the result.

    Raises:
        ChangedError: a file has changed since the index read it.
    """
    found, *others = implementation_first(index, all_found)
    declaration, source = found.declaration, source_of(index, found)
    language = language_of(found.file.path)
    assert language is not None  # noqa: S101  # the index holds nothing else
    result = Inspection(
        found=True,
        name=budget.line(declaration.qualified),
        kind=declaration.kind,
        location=budget.line(location(found)),
    )
    if declaration.head.end:
        result["signature"] = budget.line(head_of(index, found))
    if others:
        result["others"] = others_shown(index, others, budget, "declarations")
    if declaration.value.end:
        result["value"] = budget.text(span_text(source, declaration.value), 0.5, "read the file")
    methods = list(members_of(index, found, language)) if declaration.kind in _TYPES else []
    outlined = language.bodies_inside and declaration.kind in _TYPES
    text = _outline(source, found, methods) if outlined else whole_text(source, declaration)
    result["definition"] = budget.text(text, 0.5, "ask for a member by its own name, or use read_func")
    is_told = declaration.whole.start <= declaration.doc.start and result["definition"] == text
    if declaration.doc.end and not is_told:
        result["doc"] = budget.text(doc_text(source, declaration), 0.4, "read the file")
    _add_members(result, index, found, methods, budget)
    if budget.note:
        result["note"] = budget.note
    return result


def _add_members(
    result: Inspection, index: Index, found: Found, methods: list[Found], budget: Budget
) -> None:
    """Add the fields and methods of a type."""
    declaration, language = found.declaration, language_of(found.file.path)
    assert language is not None  # noqa: S101  # the index holds nothing else
    source = source_of(index, found)
    own = source[declaration.whole.start : declaration.whole.end]
    fields = language.fields(own) if declaration.kind in _TYPES else []
    if fields:
        shown = (_field(own, field) for field in fields)
        result["fields"] = budget.items(shown, 0.4, "fields", of=len(fields))
    if methods:
        each = (
            MethodShown(
                name=one.declaration.name,
                signature=head_of(index, one),
                location=location(one),
            )
            for one in methods
        )
        hint = f"search for {declaration.name}.*"
        result["methods"] = budget.items(each, 1, "methods", hint, of=len(methods))


def members_of(index: Index, found: Found, language: Language) -> Iterator[Found]:
    """Yield the methods of a type, in the order of their files."""
    owner = found.declaration.qualified
    files = [found.file]
    if language.package_is_folder:
        folder = found.file.path.rpartition("/")[0]
        files = [file for file in index.files() if file.path.rpartition("/")[0] == folder]
    for file in files:
        for declaration in file.parsed.declarations:
            if declaration.kind == "method" and declaration.owner == owner:
                yield Found(file, declaration)


def _field(text: bytes, field: Field) -> FieldShown:
    """Describe a field: its type and value, of which only the beginning may be shown."""
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


def _outline(source: bytes, found: Found, methods: list[Found]) -> str:
    """Return what a class holds before its methods, which have a list of their own."""
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


class ChangedError(Exception):
    """A file has changed since the index read it."""


def source_of(index: Index, found: Found) -> bytes:
    """Return the bytes of the file of a declaration.

    Raises:
        ChangedError: they differ from the ones that the index knows.
    """
    if index.last is not None and index.last[0] is found.file:
        return index.last[1]
    content = read_source(index.root, found.file.path)
    if not isinstance(content, Content) or (
        content.key != found.file.key and not found.file.is_same(content.source)
    ):
        raise ChangedError
    index.last = found.file, content.source
    return content.source


def head_of(index: Index, found: Found) -> str:
    """Return the signature of a declaration on one line, the names of its decorators before it.

    Only this part of its file is read.

    Raises:
        ChangedError: the file isn't the one that the index knows.
    """
    before, head = _parts_of_head(index, found)
    return " ".join([*_decorators(before), one_line(head)])


def implementation_first(index: Index, all_found: list[Found]) -> list[Found]:
    """Return declarations of a name, the one that has a body before its overloads.

    Raises:
        ChangedError: the file isn't the one that the index knows.
    """
    first = all_found[0]
    alike = [
        one
        for one in all_found
        if one.file is first.file and one.declaration.qualified == first.declaration.qualified
    ]
    if len(alike) == 1:
        return all_found
    overloaded = [_is_overload(_parts_of_head(index, one)[0]) for one in alike]
    if not any(overloaded) or all(overloaded):
        return all_found
    chosen = alike[overloaded.index(False)]
    return [chosen, *[one for one in all_found if one is not chosen]]


def _parts_of_head(index: Index, found: Found) -> tuple[str, str]:
    """Return the decorators of a declaration, and its signature."""
    declaration = found.declaration
    start, middle, end = declaration.whole.start, declaration.head.start, declaration.head.end
    part = None
    if index.last is None or index.last[0] is not found.file:
        part = read_part(index.root, found.file.path, found.file.key, start, end)
    if part is None:
        part = source_of(index, found)[start:end]
    cut = middle - start
    return part[:cut].decode(errors="replace"), part[cut:].decode(errors="replace")


def _decorators(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"^[^\S\n]*(@[\w.]+)", text, re.MULTILINE)))


def _is_overload(decorators: str) -> bool:
    return any(name.rpartition(".")[2].lstrip("@") == "overload" for name in _decorators(decorators))


def span_text(source: bytes, span: Span) -> str:
    """Return the text of a place."""
    return source[span.start : span.end].decode(errors="replace")


def one_line(text: str) -> str:
    """Return a text that spans lines as one."""
    if "\n" not in text:
        return text.strip()
    joined = " ".join(filter(None, map(str.strip, text.split("\n"))))
    return re.sub(r",? ([)\]])", r"\1", re.sub(r"([(\[]) ", r"\1", joined))


def whole_text(source: bytes, declaration: Declaration) -> str:
    """Return the text of a declaration, without the indentation that it has in its file."""
    start = declaration.whole.start
    indent = start - (source.rfind(b"\n", 0, start) + 1)
    before = source[start - indent : start]
    text = span_text(source, declaration.whole)
    return textwrap.dedent(before.decode(errors="replace") + text) if not before.strip() else text


def doc_text(source: bytes, declaration: Declaration) -> str:
    """Return a docstring without its indentation, or a comment without its slashes."""
    text = span_text(source, declaration.doc)
    if text.startswith(("//", "/*")):
        return "\n".join(_without_marks(text.split("\n"))).strip()
    first, _, rest = text.partition("\n")
    return f"{first.strip()}\n{textwrap.dedent(rest)}".strip()


def _without_marks(lines: list[str]) -> Iterator[str]:
    """Yield the lines of comments without the marks that begin and end them."""
    in_block = False
    for line in lines:
        bare = line.lstrip()
        if not in_block and bare.startswith("//"):
            yield re.sub(r"^///?!? ?", "", bare)
            continue
        shown = re.sub(r"^\s*\*(?!/) ?" if in_block else r"^/\*\*? ?", "", line if in_block else bare)
        in_block = not shown.rstrip().endswith("*/")
        yield shown if in_block else shown.rstrip().removesuffix("*/").rstrip()


def location(found: Found) -> str:
    """Return file and line of a declaration."""
    return f"{found.file.path}:{found.declaration.line}"


def match(index: Index, found: Found, budget: Budget, *, is_short: bool = False) -> Match:
    """Return what a list of declarations says of one, without its signature if it `is_short`."""
    declaration = found.declaration
    shown = Match(name=budget.line(declaration.qualified), kind=declaration.kind, location=location(found))
    if declaration.head.end and not is_short:
        shown["signature"] = budget.line(head_of(index, found))
    return shown


def others_shown(index: Index, others: Sequence[Found], budget: Budget, what: str) -> list[Match]:
    """Describe other declarations with this name, within the budget."""
    # A name such as __init__ has thousands.
    shown = [
        match(index, other, budget, is_short=place >= _WITH_SIGNATURE)
        for place, other in enumerate(others[:MOST_OTHERS])
    ]
    return budget.items(shown, 0.2, f"{what} of this name", "give the path too, path:name", of=len(others))
