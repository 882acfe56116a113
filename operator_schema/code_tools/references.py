"""Who uses a declaration, and how certain is each place?"""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from .budget import join_notes
from .code_places import Places
from .function_text import IMPORT, FunctionText
from .index import FoundDeclaration, is_at
from .language import FUNCTIONS, TYPES
from .misses import languages_note, path_problem
from .resolution import Resolver, Way
from .results import PlaceShown, ReferencesFound
from .source_text import source_of
from .words import has_word, places_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .budget import Budget
    from .index import Index, SourceFile
    from .language import Declaration, Import, Span
    from .resolution import Sought
    from .results import Certainty

_MOST_FILES = 500
_MOST_BYTES = 20_000_000
_MOST_PLACES = 400
"""Places after which no further file is looked into, unless it can use the declaration for certain."""
_CHAIN = re.compile(
    rb"(?:(?<![\w'\".])|(?<=\.\.))([A-Za-z_]\w*(?:\s*(?:\.|::)[A-Za-z_]\w*)*)(?:\s*(?:\.|::)[ \t]*|->)\Z"
)
_DOTTED = re.compile(rb"(?:(?:(?<!\.)\.|::)[ \t]*|(?<=[\w)\]])->)\Z")
"""Behind a dot, an arrow or `::`; two dots stand for a range or the rest, and begin a name of their own."""
_CHAIN_SIGNS = re.compile(rb"[\w\s.:>()-]*")
_SUPER = re.compile(rb"\bsuper\(\)\s*\.[ \t]*\Z")
_KEYWORD = re.compile(rb"\s*=(?![=>])")
_BEFORE_KEYWORD = re.compile(rb"[(,]\s*\Z")
_KEY = re.compile(rb"[ \t]*:(?![:=])")
_BEFORE_KEY = re.compile(rb"[{,\n]\s*\Z")
_FIELDS_BEFORE = re.compile(rb"[ \t]*(?:\w+[ \t]*,[ \t]*)*\Z")
_FIELD_AFTER = re.compile(rb"(?:[ \t]*,[ \t]*\w+)*[ \t]+[\w*\[(<]")
_MACRO_USE = re.compile(rb"![ \t]*[\[({]")
_LONGEST_CHAIN = 200
_LOADED = re.compile(rb"\b(?:require|import|import_module|__import__)[ \t]*\([^()\n]*\)\)?\s*\.\s*\Z")
"""A module that the code itself loads, with a dot behind it."""


class Reference(NamedTuple):
    """A place that uses a declaration, or seems to use it.

    Attributes:
        file: that has it.
        line: from 1.
        inside: the qualified name of the declaration around it; empty at the top of a file.
        certainty: how certain the use is.
        text: of the line.
    """

    file: SourceFile
    line: int
    inside: str
    certainty: Certainty
    text: str


class Uses(NamedTuple):
    """The uses of a declaration.

    Attributes:
        references: in the order of the files.
        unread: how many files with the word weren't looked into.
        others: places of the same name that certainly mean something else.
    """

    references: list[Reference]
    unread: int
    others: int


_SURE: dict[Certainty, int] = {"certain": 0, "likely": 1, "text": 2}
_LONGEST_LINE = 120
_LONGEST_NOTE = 390
_MOST_FILES_SHOWN = 40


def describe_references(sought: Sought, path: str, budget: Budget) -> ReferencesFound:
    """Describe the uses of the first declaration of a list, in the files at a path or in all.

    Raises:
        ChangedError: a file has changed since the index read it.
    """
    ways = sorted(sought.ways, key=lambda way: bool(path) and not is_at(way.found.file.path, path))
    target = ways[0].found
    uses = uses_of(sought.where, target, path)
    counts = Counter([one.certainty for one in uses.references])
    result = ReferencesFound(
        found=True,
        name=budget.line(target.declaration.qualified),
        location=budget.line(target.location),
        certain=counts["certain"],
        likely=counts["likely"],
        text=counts["text"],
    )
    counted = list(_count_by_file(uses.references))
    result["files"] = budget.items(counted[:_MOST_FILES_SHOWN], 0.3, "files", "give a path", of=len(counted))
    best = sorted(uses.references, key=lambda one: _SURE[one.certainty])
    result["places"] = budget.items(map(_describe_place, best), 1, "places", "give a path", of=len(best))
    notes = [sought.note, budget.note]
    if path and not uses.references and next(sought.where.at(path), None) is None:
        notes.append(path_problem(sought.where, path)[1])
    if uses.others:
        notes.append(f"{uses.others} more places of this name certainly mean something else.")
    if uses.unread:
        notes.append(f"{uses.unread} more files have the word, and weren't looked into: give a path.")
    if len(ways) > 1:
        others = ", ".join([way.found.location for way in ways[1:4]])
        notes.append(f"Other declarations of this name: {others}.")
    notes.append(languages_note(sought.where))
    if note := join_notes(*notes):
        result["note"] = note[:_LONGEST_NOTE]
    return result


def _count_by_file(references: list[Reference]) -> Iterator[str]:
    """Yield a line of counts for each file; files with the most certain places come first."""
    files: dict[str, Counter[Certainty]] = {}
    for one in references:
        files.setdefault(one.file.path, Counter())[one.certainty] += 1
    for path in sorted(files, key=lambda path: [-files[path][kind] for kind in _SURE]):
        yield f"{path}: {', '.join([f'{files[path][kind]} {kind}' for kind in _SURE if files[path][kind]])}"


def _describe_place(one: Reference) -> PlaceShown:
    where = f"{one.file.path}:{one.line}"
    shown = PlaceShown(location=where, sure=one.certainty, line=one.text[:_LONGEST_LINE])
    if one.inside:
        shown["inside"] = one.inside
    return shown


def uses_of(index: Index, target: FoundDeclaration, path: str = "") -> Uses:
    """List the places that use a declaration, in the files at a path or in all.

    Raises:
        ChangedError: a file has changed since the index read it.
    """
    name = target.declaration.name
    family = target.file.language.family
    at = None if not path else {file.path for file in index.at(path)}
    files = [
        file
        for file in index.with_word(name)
        if file.language.family == family and (at is None or file.path in at)
    ]
    near = _files_near(index, target, files)
    files.sort(key=lambda file: (file is not target.file, file.path not in near))
    seeker = _Seeker(index, target)
    found: list[Reference] = []
    left = _MOST_BYTES
    done = 0
    for file in files[:_MOST_FILES]:
        left -= file.key[0]
        is_enough = len(found) + seeker.others > _MOST_PLACES and file.path not in near
        if done and (left < 0 or is_enough):
            break
        done += 1
        found += seeker.in_file(file)
    order = {file.path: place for place, file in enumerate(files)}
    found.sort(key=lambda one: (order[one.file.path], one.line))
    return Uses(found, len(files) - done, seeker.others)


def _files_near(index: Index, target: FoundDeclaration, files: list[SourceFile]) -> set[str]:
    """Return the paths of the files in which certain uses of a declaration are possible.

    They have the name of its type; if it isn't a member, they import it or its module, or are of its package.
    """
    owner, name = target.declaration.owner.rpartition(".")[2], target.declaration.name
    if owner:
        return {file.path for file in files if index.has_word(file, owner)}
    module = target.file.language.module_of(target.file.path).rpartition(".")[2].rpartition("/")[2]
    near = {file.path for file in index.beside(target.file)}
    return near.union(*[index.importing(one) for one in (name, module, "*")])


class _Spot(NamedTuple):
    """A place with the name of the target, and its surroundings.

    Attributes:
        file: that has it.
        source: text of the file.
        at: byte at which the name begins.
        around: the declarations in whose scope the name is, the outermost first.
        text: of the function around it; None outside of functions.
    """

    file: SourceFile
    source: bytes
    at: int
    around: Sequence[Declaration]
    text: FunctionText | None

    def binds(self, name: str) -> bool:
        """Return whether the function around the place seems to bind a name."""
        return self.text is not None and self.text.binds(name)

    def destructures(self, name: str) -> bool:
        """Return whether the function around the place destructures an object into a name."""
        return self.text is not None and self.text.destructures(name)

    def imports(self, name: str) -> Sequence[Import]:
        """Return the imports in the function around the place that bind a name."""
        return () if self.text is None else self.text.imports(name)


class _Seeker:
    """Finds the uses of one declaration in files."""

    def __init__(self, index: Index, target: FoundDeclaration) -> None:
        self._index = index
        self._target = target
        self._name = target.declaration.name
        self._resolver = Resolver(index, with_steps=False)
        self._owner = index.owner_of(target)
        self._related: dict[tuple[str, Span], bool] = {}
        self._function: FunctionText | None = None
        """The function that was looked at last."""
        self.others = 0

    def in_file(self, file: SourceFile) -> Iterator[Reference]:
        """Yield the uses in a file."""
        source = source_of(self._index, file)
        places = Places(file.parsed.declarations, file.language, source)
        for at in places_of(self._name.encode(), source):
            around = places.around(at)
            if self._is_declaration(file, around, at, places):
                continue
            certainty: Certainty | None = "text"
            if places.is_code(at):
                certainty = self._certainty_at(self._spot(file, source, around, at))
            elif places.is_type(at) or places.is_exported(at):
                sure = self._certainty_at(self._spot(file, source, around, at))
                certainty = "likely" if sure else "text"
            if certainty is None:
                self.others += 1
                continue
            inside = around[-1].qualified if around else ""
            yield Reference(file, places.line(at), inside, certainty, places.text(at))

    def _is_declaration(self, file: SourceFile, around: list[Declaration], at: int, places: Places) -> bool:
        """Return whether a place is the name in a declaration; those of other declarations are counted."""
        for one in reversed(around):
            if one.name != self._name or at >= (one.head.end or one.whole.end):
                continue
            if one.line == places.line(at):
                self.others += not self._is_target(FoundDeclaration(file, one))
                return True
        return False

    def _spot(self, file: SourceFile, source: bytes, around: list[Declaration], at: int) -> _Spot:
        """Find the scopes of a place: a decorator, for example, isn't in the scope of its function."""
        scopes = around
        for number, one in enumerate(around):
            if at >= one.head.end or one.kind not in FUNCTIONS:
                continue
            is_outside = at < one.head.start or (
                file.language.heads_name_members
                and not self._text_of_function(file, source, one).binds(self._name)
            )
            if is_outside:
                scopes = around[:number]
                break
        function = next((one for one in reversed(scopes) if one.kind in FUNCTIONS), None)
        text = None if function is None else self._text_of_function(file, source, function)
        return _Spot(file, source, at, scopes, text)

    def _text_of_function(self, file: SourceFile, source: bytes, function: Declaration) -> FunctionText:
        """Return the text of a function, with its imports and variables."""
        if self._function is None or self._function.declaration is not function:
            text = source[function.head.start : function.whole.end]
            self._function = FunctionText(function, file.language, text)
        return self._function

    def _certainty_at(self, spot: _Spot) -> Certainty | None:
        """Return how certainly a place means the target; None if it means something else."""
        file, source, at = spot.file, spot.source, spot.at
        end = at + len(self._name.encode())
        if file.path.endswith(".rs") and _MACRO_USE.match(source, end):
            return self._certainty_of_macro(file)
        line = source[max(at - _LONGEST_CHAIN, 0) : at]
        before = _end_of_chain(line)
        if _DOTTED.search(before):
            sure = self._certainty_of_member(spot, before)
            sure = sure or ("likely" if _LOADED.search(line) or self._is_embedded else None)
            if sure == "certain" or not IMPORT.match(source, source.rfind(b"\n", 0, at) + 1):
                return sure
            return self._certainty_of_import(file) or sure or self._certainty_of_unread_import(file)
        if _KEYWORD.match(source, end) and _BEFORE_KEYWORD.search(before):
            return "likely" if self._owner and self._target.declaration.kind == "var" else None
        if not file.path.endswith((".py", ".pyi")):
            if _KEY.match(source, end) and _BEFORE_KEY.search(before):
                return "likely"  # of a map, or a field in a literal
            if spot.around and spot.around[-1].kind == "struct" and _names_field(source, at, end):
                return None
        return self._certainty_of_name(spot)

    def _certainty_of_macro(self, file: SourceFile) -> Certainty | None:
        """Return how certainly a use of a macro of Rust means the target."""
        head = source_of(self._index, self._target.file)[self._target.declaration.head.start :]
        if not head.startswith(b"macro_rules!"):
            return None
        return self._certainty_of_way(self._resolver.meant(file, self._name), "likely")

    # --- a name behind a dot -------------------------------------------------------------------------

    def _certainty_of_member(self, spot: _Spot, before: bytes) -> Certainty | None:
        """Return how certainly a name behind a dot means the target."""
        unsure: Certainty | None = "likely" if self._target.declaration.owner else None
        if spot.text is not None and _SUPER.search(before):
            return self._certainty_of_way(self._meant(spot, f"super().{self._name}"), unsure)
        chain = _CHAIN.search(before)
        if chain is None:
            return unsure
        text = chain[1].decode(errors="replace")
        head = re.sub(r"\s+|::", lambda part: "." if ":" in part[0] else "", text)
        first, _, rest = head.partition(".")
        if spot.text is not None and not rest and self._is_own_object(spot, first):
            way = self._resolver.method(spot.file, spot.text.declaration.owner, self._name)
            sure = self._certainty_of_way(way, unsure)
            return sure and "likely" if spot.text.is_parameter_twice(first) else sure
        if spot.text is not None and b"::" not in chain[0] and spot.binds(first):
            kind = spot.text.type_of(first)
            full = ".".join(filter(None, [kind, rest, self._name]))
            return self._certainty_of_way(self._resolver.meant(spot.file, full) if kind else None, unsure)
        # A path of Rust begins with a crate or a module, which a macro may make.
        may_be_made = chain[0].endswith(b"::") and not (
            first[:1].isupper() or spot.file.language.is_own_library(first)
        )
        way = self._meant(spot, f"{head}.{self._name}")
        if way is None and not unsure:
            unsure = "likely" if may_be_made or self._may_lead_to_target(spot, first) else None
        return self._certainty_of_way(way, unsure)

    def _is_own_object(self, spot: _Spot, name: str) -> bool:
        """Return whether a name is that of the object of the method around a place, such as `self`."""
        if spot.text is None or not spot.text.declaration.owner:
            return False
        return name in self._resolver.own_names(FoundDeclaration(spot.file, spot.text.declaration))

    @cached_property
    def _is_embedded(self) -> bool:
        """Whether a struct of Go embeds the target, so that a field has the name of the type."""
        return (
            self._target.declaration.kind in TYPES
            and self._target.file.path.endswith(".go")
            and any(
                base.name.rpartition(".")[2] == self._name
                for file in self._index.with_word(self._name)
                for base in file.parsed.bases
            )
        )

    # --- a name alone --------------------------------------------------------------------------------

    def _certainty_of_name(self, spot: _Spot) -> Certainty | None:
        """Return how certainly a name without a dot before it means the target."""
        file = spot.file
        kind = next((one for one in reversed(spot.around) if one.kind not in {"const", "var"}), None)
        if kind is not None and kind.kind in TYPES:
            own = self._index.declared(file, f"{kind.qualified}.{self._name}")
            if own and self._name != kind.name:  # a constructor has the name of its type
                return "certain" if self._is_target(own[0]) else None
        if spot.binds(self._name):
            way = self._resolver.meant(file, self._name) or self._declared_around(spot)
            may_be = spot.destructures(self._name) if way is None else self._is_target(way.found)
            return "likely" if may_be else None
        way = self._meant(spot, self._name) or self._declared_around(spot)
        if way is not None:
            return self._certainty_of_way(way, None)
        may_be = (
            (self._owner is not None and file.language.has_plain_members)
            or spot.destructures(self._name)
            or self._may_lead_to_target(spot, self._name)
        )
        imported = None if spot.around else self._certainty_of_import(file)
        return imported or ("likely" if may_be else None)

    def _declared_around(self, spot: _Spot) -> Way | None:
        """Find the declaration of the name in a namespace or class around a place; None if there is none."""
        file, owner = spot.file, spot.around[-1].qualified if spot.around else ""
        while owner:
            own = self._index.declared(file, f"{owner}.{self._name}")
            is_namespace = all(one.declaration.kind in FUNCTIONS for one in self._index.declared(file, owner))
            if own and (is_namespace or file.language.has_plain_members):
                return Way(own[0], is_certain=is_namespace or own[0].declaration.kind in TYPES)
            owner = owner.rpartition(".")[0]
        return None

    # --- imports and meanings ------------------------------------------------------------------------

    def _meant(self, spot: _Spot, name: str) -> Way | None:
        """Find the declaration that a dotted name means at a place; None if it is unknown."""
        if spot.text is None:
            return self._resolver.meant(spot.file, name)
        function = FoundDeclaration(spot.file, spot.text.declaration)
        return self._resolver.called(function, name, spot.imports(name.partition(".")[0]))

    def _may_lead_to_target(self, spot: _Spot, first: str) -> bool:
        """Return whether a name of unknown meaning may lead to the target.

        An import may bring it that leads nowhere below the root, and that may be of a package there under
        another name; a part of the file can't be read; or the name means an object that holds the target.
        """
        if spot.file.parsed.is_broken or self._resolver.may_import(spot.file, first, spot.imports(first)):
            return True
        way = self._resolver.meant(spot.file, first)
        if way is None or way.found.declaration.kind not in {"const", "var"}:
            return False
        value = way.found.declaration.value
        text = source_of(self._index, way.found.file)[value.start : value.end]
        return has_word(self._name.encode(), text)

    def _certainty_of_import(self, file: SourceFile) -> Certainty | None:
        """Return how certainly the imports at the top of a file that have the name mean the target."""
        for one in file.parsed.imports:
            if one.target.endswith(self._name) and re.split(r"[./:#]", one.target)[-1] == self._name:
                way = self._resolver.meant(file, one.name)
                if way is not None and self._is_target(way.found):
                    return "certain" if way.is_certain else "likely"
        return None

    def _certainty_of_unread_import(self, file: SourceFile) -> Certainty | None:
        """Return how certainly a name in an unresolved import means the target."""
        alike = [one.target for one in file.parsed.imports if one.target.endswith(self._name)]
        return None if any(map(file.language.is_own_library, alike)) else "likely"

    def _certainty_of_way(self, way: Way | None, otherwise: Certainty | None) -> Certainty | None:
        """Return how certainly a place means the target, given the declaration that its name leads to.

        Args:
            way: to the declaration; None if it is unknown.
            otherwise: how certain the place is if the declaration is unknown.
        """
        if way is None:
            return otherwise
        if self._is_target(way.found):
            return "certain" if way.is_certain else "likely"
        return "likely" if self._is_related(way.found) or not way.is_certain else None

    def _is_target(self, found: FoundDeclaration) -> bool:
        one, other = found.declaration, self._target.declaration
        return found.file.path == self._target.file.path and one.qualified == other.qualified

    def _is_related(self, found: FoundDeclaration) -> bool:
        """Return whether a method overrides the target, or the target overrides it."""
        if found.key not in self._related:
            owner = self._index.owner_of(found)
            self._related[found.key] = (
                owner is not None
                and self._owner is not None
                and (self._inherits(owner, self._owner) or self._inherits(self._owner, owner))
            )
        return self._related[found.key]

    def _inherits(self, one: FoundDeclaration, base: FoundDeclaration) -> bool:
        return any(each is not None and each.key == base.key for each in self._resolver.mro(one))


def _names_field(source: bytes, at: int, end: int) -> bool:
    """Return whether a name in the text of a struct of Go is the name of a field."""
    start = source.rfind(b"\n", 0, at) + 1
    return _FIELDS_BEFORE.match(source[start:at]) is not None and _FIELD_AFTER.match(source, end) is not None


def _end_of_chain(before: bytes) -> bytes:
    """Return the end of a text that can be a chain of dotted names."""
    backwards = _CHAIN_SIGNS.match(before[::-1])
    return before if backwards is None else before[max(len(before) - backwards.end() - 1, 0) :]
