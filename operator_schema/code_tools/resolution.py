"""To which declaration does a name lead, by imports, exports, base classes, aliases and fields?"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from .index import FoundDeclaration
from .language import FUNCTIONS, TYPES, Declaration, Import, Span
from .nodes import qualified
from .source_text import implementation_first, source_of, span_text
from .words import has_word, lines_with

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .index import Index, SourceFile
    from .language import Base, TypeField

_LONGEST = 50
"""Names with dots between them that an import and what follows it may have: each beginning is looked up."""
_MOST_STEPS = 2000
"""Modules, types and imports that are looked at for one name: some packages export from each other."""
_MOST_LEVELS = 40
_MOST_WAYS = 20
_MOST_MODULES = 300
_MOST_BASES = 60
_ALIAS = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
_MADE = re.compile(r"(?P<maker>[A-Za-z_]\w*(?:\.\w+)*)\(")
_SUPER = "super()"
_LAST_PART = re.compile(r"[./:#]")
_OF_THIS_CRATE = ("crate::", "self::", "super")
"""How the target of an import of Rust begins that is below the root, even if a macro makes it."""


class Way(NamedTuple):
    """A declaration together with the steps that lead from a name to it.

    Attributes:
        found: the declaration.
        via: the steps, such as an import; empty if the name is the declaration's own.
        is_certain: whether code outside of the root can't change the result.
    """

    found: FoundDeclaration
    via: tuple[str, ...] = ()
    is_certain: bool = True

    def after(self, step: str) -> Way:
        """Return the same way with one more step at its beginning."""
        return self._replace(via=(step, *self.via))


class Sought(NamedTuple):
    """The declarations that were found for a name.

    Attributes:
        ways: at least one, the likeliest first.
        where: the index that contains them.
        note: where they are, if they aren't below the root.
    """

    ways: Sequence[Way]
    where: Index
    note: str = ""


class Resolver:
    """Finds the declarations that names mean.

    It is for one answer: it keeps what it has looked up.

    Args:
        index: to look in.
        with_steps: whether ways name the imports on their path: finding the line of one takes longer than
            following it.
    """

    def __init__(self, index: Index, *, with_steps: bool = True) -> None:
        self._index = index
        self._with_steps = with_steps
        self._steps = 0
        self._busy: set[tuple[str, ...]] = set()
        self._known: dict[tuple[str, str], Way | None] = {}
        self._mros: dict[tuple[str, str], list[FoundDeclaration | None]] = {}
        self._imports: dict[str, dict[str, list[Import]]] = {}
        self._own: dict[tuple[str, str], bool] = {}
        self._methods: dict[tuple[str, str, str, bool], Way | None] = {}
        self._fields: dict[tuple[str, str], dict[str, TypeField]] = {}

    # --- what somebody asks for ----------------------------------------------------------------------

    def named(self, name: str, path: str = "") -> list[Way]:
        """List the declarations to which a dotted name leads by imports, base classes and the like.

        Args:
            name: such as `models.CharField` or `ModelForm.is_valid`.
            path: of the file that knows the name, or the end of it; empty for any.
        """
        self._steps = 0
        parts = name.split(".")
        ways = list(self._in_modules(parts, path, range(len(parts) - 1, 0, -1)))
        for place in range(len(parts) - 1, 0, -1):
            if ways:
                break
            owners = self._index.named(".".join(parts[:place]), path)[:_MOST_WAYS]
            found = [self._find_member(Way(owner), parts[place:], 0) for owner in owners]
            ways = [way for way in found if way is not None]
        ways = ways or list(self._in_modules(parts, path, range(1)))
        ways = ways or list(self._below_package(parts, path))
        unlike: dict[tuple[str, Span], Way] = {}
        for way in ways:
            alike = self._declared_in(way.found.file, way.found.declaration.qualified) or [way.found]
            for one in alike:
                unlike.setdefault(one.key, way._replace(found=one))
        return list(unlike.values())

    def _in_modules(self, parts: list[str], path: str, places: Iterable[int]) -> Iterator[Way]:
        """Yield the declarations of a dotted name that begins with the name of a module."""
        for place in places:
            groups = self._modules_meant(".".join(parts[:place]), parts[place], path)
            found = [way for files in groups if (way := self._find_in_module(files, parts[place:], 0))]
            if found:
                yield from found
                return

    def _modules_meant(self, module: str, name: str, path: str) -> list[list[SourceFile]]:
        """Return the files of each module that the parts in front of a name may mean."""
        index = self._index
        if path:
            return [] if module else [[file] for file in islice(index.at(path), _MOST_WAYS)]
        if module:
            names = dict.fromkeys(index.modules.ending(module))
            return [index.of_module(one) for one in islice(names, _MOST_MODULES)]
        return [[file] for file in index.importers(name)[:_MOST_WAYS]]

    def _below_package(self, parts: list[str], path: str) -> Iterator[Way]:
        """Yield declarations in modules below a package of Python, which may export them when it runs."""
        above = ".".join(parts[:-1])
        for module in islice(self._index.modules.ending(above), _MOST_WAYS) if above and not path else ():
            files = self._index.modules.files(module)
            if files and files[0].endswith("lib.rs"):
                yield from self._macros_below(files[0].rpartition("/")[0] or files[0], parts[-1])
            if files and files[0].endswith("__init__.py"):
                folder = files[0].rpartition("/")[0]
                for found in self._index.named(parts[-1], folder or files[0]):
                    if not found.declaration.owner:
                        step = f"declared below {module or files[0]}, which may export it when it runs"
                        yield Way(found, (step,), is_certain=False)
                        return

    def _macros_below(self, folder: str, name: str) -> Iterator[Way]:
        """Yield the exported macros of a crate, which belong to its root wherever they are declared."""
        for found in self._index.named(name, folder):
            start, end = found.declaration.whole.start, found.declaration.head.start
            if b"#[macro_export" in source_of(self._index, found.file)[start:end]:
                yield Way(found, ("exported as a macro",))

    def in_module(self, files: Sequence[SourceFile], parts: Sequence[str]) -> Way | None:
        """Find the declaration of a name in a module whose files are known."""
        self._steps = 0
        return self._find_in_module(files, parts, 0)

    def without_source(self, name: str) -> str:
        """Describe an import of all names of a module that has no source here; empty if there is none."""
        parts = name.split(".")
        for place in range(len(parts) - 1, 0, -1):
            waiting = list(islice(self._index.modules.ending(".".join(parts[:place])), 3))
            for module in waiting:  # it grows by the modules from which these import all names
                for file, one in self._star_imports(module):
                    target = file.language.import_target(one.target, file.path)
                    known = [found for found, _ in self._index.modules.imported(target, file.path)]
                    if not known:
                        source = target or one.target
                        return f"{file.path} imports all names of {source}, which has no source here"
                    if known[0] not in waiting and len(waiting) < _MOST_WAYS:
                        waiting.append(known[0])
        return ""

    def _star_imports(self, module: str) -> Iterator[tuple[SourceFile, Import]]:
        """Yield the imports of all names in the files of a module."""
        for file in self._index.of_module(module):
            for one in self._imports_by_name(file).get("*", ()) if file.language.module_is_namespace else ():
                if not one.target.startswith(_OF_THIS_CRATE):
                    yield file, one

    def outer_bases(self, name: str) -> Iterator[tuple[FoundDeclaration, str]]:
        """Yield the types of a name, each with the full name of a base outside of the root."""
        owners = self._index.named(name) or [way.found for way in self.named(name)]
        types = [owner for owner in owners[:_MOST_WAYS] if owner.declaration.kind in TYPES]
        for owner in types:
            for one in self.mro(owner):
                for file, base in () if one is None else self._named_bases(one):
                    if self._meant_inside(file, base.owner, base.name, 1) is None:
                        head, dot, rest = base.name.partition(".")
                        known = self._imports_by_name(file).get(head, ())
                        targets = [file.language.import_target(each.target, file.path) for each in known]
                        yield from ((owner, f"{target}{dot}{rest}") for target in targets or [head])

    def inner_by_line(self, found: FoundDeclaration) -> dict[int, FoundDeclaration]:
        """Map each line of a function to the declaration inside it that begins there."""
        if found.declaration.kind not in FUNCTIONS:
            return {}
        return {one.declaration.line: one for one in reversed([*self._inner_declarations(found)])}

    # --- what code means -----------------------------------------------------------------------------

    def meant(self, file: SourceFile, name: str) -> Way | None:
        """Find the declaration that a dotted name means at the top of a file; None if it is unknown."""
        key = file.path, name
        if key not in self._known:
            self._steps = 0
            self._known[key] = self._meant(file, name.split("."), 0)
        return self._known[key]

    def called(self, found: FoundDeclaration, name: str, imports: Iterable[Import] = ()) -> Way | None:
        """Find the declaration that a dotted name means inside a function; None if it is unknown.

        Args:
            found: the function.
            name: such as `self.close` or `json.loads`.
            imports: inside of the function.
        """
        file, owner = found.file, found.declaration.owner
        head, _, rest = name.partition(".")
        if head == _SUPER:
            return None if "." in rest else self.method(file, owner, rest, after=True)
        if rest and owner and head in self.own_names(found):
            return None if "." in rest else self.method(file, owner, rest)
        for one in imports:
            parts = name.split(".")
            self._steps = 0
            if one.name == head:
                return self._follow_import(one, file, parts[1:], 0)
            way = self._follow_import(one, file, parts, 0) if one.name == "*" else None
            if way is not None:
                return way
        if rest and file.path.endswith(".go") and head not in self._imports_by_name(file):
            return None  # a variable may have the name of a type
        return self.meant(file, name)

    def own_names(self, found: FoundDeclaration) -> frozenset[str]:
        """Return the names by which a method refers to its own object, such as `self`."""
        language = found.file.language
        if not found.file.path.endswith(".go"):
            return language.self_names
        head = span_text(source_of(self._index, found.file), found.declaration.head)
        receiver = re.match(r"func\s*\(\s*(\w+)", head)
        return frozenset() if receiver is None else frozenset({str(receiver[1])})

    def method(self, file: SourceFile, owner: str, name: str, *, after: bool = False) -> Way | None:
        """Find a type's member by name; return None if it is unknown, or code of the type assigns it.

        Args:
            file: of the type.
            owner: the qualified name of the type.
            name: of the member.
            after: whether only inherited members count, as for `super()`.
        """
        key = file.path, owner, name, after
        if key not in self._methods:
            self._steps = 0
            alike = self._declared_in(file, owner)
            start = alike[0] if alike else FoundDeclaration(file, _stand_in_for(owner))
            way = self._find_in_type(start, [name], 0, skipped=int(after))
            is_set = way is None or self._is_set(start, name) or self._is_set(way.found, name)
            self._methods[key] = None if is_set else way
        return self._methods[key]

    def _is_set(self, found: FoundDeclaration, name: str) -> bool:
        """Return whether the code of a type, or of the type around a member, sets an attribute."""
        file, declaration = found
        if declaration.kind not in TYPES:
            owners = self._declared_in(file, declaration.owner)
            if not owners:
                return False
            declaration = owners[0].declaration
        key = f"{file.path}:{declaration.qualified}", name
        if key not in self._own:
            names = "|".join(sorted(file.language.self_names)) or "this"
            text = source_of(self._index, file)[declaration.whole.start : declaration.whole.end]
            expression = rf"\b(?:{names})\.{re.escape(name)}[ \t]*(?::[^=\n]*)?=[^=]"
            lines = lines_with(text, f".{name}".encode()) + _LINE
            self._own[key] = re.search(expression.encode(), lines) is not None
        return self._own[key]

    # --- types ---------------------------------------------------------------------------------------

    def bases(self, found: FoundDeclaration) -> list[FoundDeclaration | None]:
        """List the direct bases of a type in their order, with None for each base outside of the root."""
        self._steps = 0
        return self._find_bases(found, 0)

    def _find_bases(self, found: FoundDeclaration, level: int) -> list[FoundDeclaration | None]:
        bases: list[FoundDeclaration | None] = []
        for file, base in islice(self._named_bases(found), _MOST_BASES):
            way = self._meant_inside(file, base.owner, base.name, level + 1)
            bases.append(self._type_at(way, level) if way is not None else None)
        return bases

    def _named_bases(self, found: FoundDeclaration) -> Iterator[tuple[SourceFile, Base]]:
        """Yield the names of a type's bases, with the files that contain them."""
        owner = found.declaration.qualified
        for file in self._index.beside(found.file):
            for base in file.parsed.bases:
                if base.owner == owner and base.name not in _EVERYTHING:
                    yield file, base

    def _meant_inside(self, file: SourceFile, owner: str, name: str, level: int) -> Way | None:
        """Find the declaration that a name means inside a type; types around it come first."""
        above = owner.rpartition(".")[0]
        while above:
            way = self._meant(file, [*above.split("."), *name.split(".")], level)
            if way is not None:
                return way
            above = above.rpartition(".")[0]
        return self._meant(file, name.split("."), level)

    def _type_at(self, way: Way, level: int) -> FoundDeclaration | None:
        """Return the type to which a way leads, directly or by an alias."""
        for _ in range(_MOST_LEVELS):
            if way.found.declaration.kind in TYPES - {"type"} or way.found.file.path.endswith(".rs"):
                return way.found
            alias = _ALIAS.fullmatch(self._text_of_value(way.found))
            other = None if alias is None else self._meant(way.found.file, alias[0].split("."), level + 1)
            if other is None:
                return way.found if way.found.declaration.kind == "type" else None
            way = other
        return None

    def mro(self, found: FoundDeclaration, level: int = 0) -> list[FoundDeclaration | None]:
        """List a type and all its bases in the order of Python (C3), with None for each unknown base."""
        key = found.file.path, found.declaration.qualified
        if key not in self._mros:
            self._mros[key] = [found]  # for a circle
            if level < _MOST_LEVELS:
                bases = self._find_bases(found, level)
                rows: list[list[FoundDeclaration | None]] = [
                    [None] if base is None else self.mro(base, level + 1) for base in bases
                ]
                merged = _merge_orders([*rows, bases])
                self._mros[key] = [found, *[one for one in merged if not _are_same(one, found)]]
        return self._mros[key]

    def _find_in_type(
        self, found: FoundDeclaration, parts: Sequence[str], level: int, skipped: int = 0
    ) -> Way | None:
        """Return a member of a type, or of its first base that has the member."""
        if self._is_too_far(level):
            return None
        is_certain = True
        passed: list[str] = []
        for place, base in enumerate(self.mro(found, level)):
            if base is None:
                is_certain = False
                continue
            passed.append(base.declaration.qualified)
            own = self._find_own_member(base, parts[0]) if place >= skipped else None
            if own is None:
                continue
            way = self._find_member(Way(own, (), is_certain), parts[1:], level + 1)
            if way is None or not place:
                return way
            return way.after(f"inherited: {' → '.join(passed)}")
        return None

    def _find_own_member(self, found: FoundDeclaration, name: str) -> FoundDeclaration | None:
        for file in self._index.beside(found.file):
            alike = self._declared_in(file, f"{found.declaration.qualified}.{name}")
            if alike:
                return alike[0]
        return self._find_field(found, name)

    def _find_field(self, found: FoundDeclaration, name: str) -> FoundDeclaration | None:
        """Make a declaration for a field that the text of a type or its `__init__` sets."""
        file, declaration = found
        if declaration.kind not in TYPES or not self._index.has_word(file, name):
            return None
        key, start = (file.path, declaration.qualified), declaration.whole.start
        source = source_of(self._index, file)
        text = source[start : declaration.whole.end]
        if key not in self._fields:
            if not has_word(name.encode(), text):
                return None
            self._fields[key] = {one.name: one for one in file.language.fields(text)}
        field = self._fields[key].get(name)
        if field is None:
            return None
        begin = source.rfind(b"\n", 0, start + field.at) + 1
        end = source.find(b"\n", start + field.at)
        end = len(source) if end < 0 else end
        begin = end - len(source[begin:end].lstrip())
        line = source.count(b"\n", 0, begin) + 1
        full_name, value = f"{declaration.qualified}.{name}", _shift_span(field.value, start)
        made = Declaration(name, full_name, "var", line, line, Span(begin, end), Span(), Span(), value)
        return FoundDeclaration(file, made)

    # --- steps ---------------------------------------------------------------------------------------

    def _is_too_far(self, level: int) -> bool:
        self._steps += 1
        return self._steps > _MOST_STEPS or level > _MOST_LEVELS

    def _find_member(self, way: Way, parts: Sequence[str], level: int) -> Way | None:
        """Find a member of a declaration."""
        if not parts or self._is_too_far(level):
            return None if parts else way
        declaration = way.found.declaration
        if declaration.kind in FUNCTIONS:
            inner = self._find_inner(way.found, parts)
            return None if inner is None else Way(inner, (*way.via, f"inside {declaration.qualified}"))
        if declaration.kind in TYPES:
            own = self._find_in_type(way.found, parts, level)
            if own is not None:
                return own._replace(via=(*way.via, *own.via), is_certain=own.is_certain and way.is_certain)
        return self._follow_alias(way, parts, level)

    def _follow_alias(self, way: Way, parts: Sequence[str], level: int) -> Way | None:
        """Find a member of a variable whose value is another name or a new object."""
        value = self._text_of_value(way.found)
        alias, made = _ALIAS.fullmatch(value), _MADE.match(value)
        if alias is None and made is None:
            return None
        maker = alias[0] if alias is not None else str(made and made["maker"])
        other = self._meant(way.found.file, [*maker.split("."), *parts], level + 1)
        if other is None or (alias is None and other.found.declaration.kind == "func"):
            return None
        step = f"{way.found.location} {way.found.declaration.name} = {value if alias else f'{maker}(…)'}"
        return other._replace(via=(*way.via, step, *other.via), is_certain=False)

    def _text_of_value(self, found: FoundDeclaration) -> str:
        span = found.declaration.value
        if not span.end or found.declaration.kind not in {"const", "var", "type"}:
            return ""
        return span_text(
            source_of(self._index, found.file), span._replace(end=min(span.end, span.start + 200))
        )

    def _find_inner(self, found: FoundDeclaration, parts: Sequence[str]) -> FoundDeclaration | None:
        """Find a declaration inside a function by its name."""
        wanted = ".".join([found.declaration.qualified, *parts])
        if not self._index.has_word(found.file, parts[0]):
            return None
        start, end = found.declaration.head.start, found.declaration.whole.end
        text = source_of(self._index, found.file)[start:end]
        if not has_word(parts[0].encode(), text):
            return None
        return next(
            (one for one in self._inner_declarations(found) if one.declaration.qualified == wanted), None
        )

    def _inner_declarations(self, found: FoundDeclaration) -> Iterator[FoundDeclaration]:
        """Yield the declarations inside a function, with their places in the file."""
        declaration = found.declaration
        start, rows = declaration.head.start, declaration.line - 1
        text = source_of(self._index, found.file)[start : declaration.whole.end]
        for one in found.file.language.inner(text):
            yield FoundDeclaration(
                found.file,
                one._replace(
                    qualified=qualified(declaration.owner, one.qualified),
                    line=one.line + rows,
                    last_line=one.last_line + rows,
                    whole=_shift_span(one.whole, start),
                    head=_shift_span(one.head, start),
                    doc=_shift_span(one.doc, start),
                    value=_shift_span(one.value, start),
                ),
            )

    def _meant(self, file: SourceFile, parts: Sequence[str], level: int) -> Way | None:
        """Find the declaration that a name means at the top of a file."""
        key = file.path, *parts
        if self._is_too_far(level) or key in self._busy:
            return None
        self._busy.add(key)
        try:
            for one in self._index.beside(file):
                alike = self._declared_in(one, parts[0])
                way = self._find_member(Way(alike[0]), parts[1:], level + 1) if alike else None
                if way is not None:
                    return way
            known = self._imports_by_name(file)
            rests = [(each, parts[1:]) for each in known.get(parts[0], ())]
            is_only = len({each.target for each, _ in rests}) < 2  # noqa: PLR2004  # of several scopes
            for each, rest in [*rests, *[(each, parts) for each in known.get("*", ())]]:
                way = self._follow_import(each, file, rest, level)
                if way is not None:
                    return way._replace(is_certain=way.is_certain and is_only)
            if len(parts) > 1 and parts[0] not in known and file.path.endswith(".rs"):
                path = "::".join(parts)  # of a crate or a module, which needs no `use`
                return (
                    None
                    if file.language.is_own_library(path)
                    else self._follow_import(Import(parts[-1], path, path), file, (), level)
                )
        finally:
            self._busy.discard(key)
        return None

    def may_import(self, file: SourceFile, name: str, inside: Iterable[Import] = ()) -> bool:
        """Return whether an unresolved import may make a name known."""
        known = self._imports_by_name(file)
        named = [one for one in file.parsed.imports if _LAST_PART.split(one.target)[-1] == name]
        each = [*inside, *named, *known.get(name, ()), *known.get("*", ())]
        if file.language.names_packages_inside and not each and self.meant(file, name) is None:
            each = list(file.parsed.imports)  # one of them may be of a package that has this name
        return any(not file.language.is_own_library(one.target) for one in each)

    def _imports_by_name(self, file: SourceFile) -> dict[str, list[Import]]:
        """Group the imports of a file by the names that they make known."""
        if file.path not in self._imports:
            known = self._imports[file.path] = {}
            for one in file.parsed.imports:
                known.setdefault(one.name, []).append(one)
        return self._imports[file.path]

    def _follow_import(self, one: Import, file: SourceFile, rest: Sequence[str], level: int) -> Way | None:
        """Find the declaration that an import and the names behind it mean."""
        target = file.language.import_target(one.target, file.path).split(".")
        parts, index, is_bare = [*target, *rest], self._index, file.language.is_bare(one.target)
        if len(parts) > _LONGEST:
            return None
        if file.path.endswith(".rs") and self._declared_in(file, target[0]):
            return self._meant(file, parts, level + 1)
        # `*` means a module as a whole: one that isn't there would be looked for inside of itself, and so on.
        is_type = file.path.endswith(".rs") and target[-1][:1].isupper()
        last = len(target) - 1 if one.name == "*" and not is_type else -1
        for place in range(len(parts) - 1, last, -1):
            name = ".".join(parts[:place])
            for module, is_certain in index.modules.imported(name, file.path, is_bare=is_bare):
                way = self._find_in_module(index.of_module(module), parts[place:], level + 1)
                if way is not None:
                    is_only = is_certain and not self._has_twin(way.found)
                    way = way._replace(is_certain=way.is_certain and is_only)
                    return (
                        way.after(f"{self._place_of_import(one, file)} {one.text}")
                        if self._with_steps
                        else way
                    )
        return None

    def _has_twin(self, found: FoundDeclaration) -> bool:
        """Return whether a package of the same name in another folder has the same declaration."""
        file, declaration = found
        folder, package = file.path.rpartition("/")[0], file.language.package_of(file.path)
        return package != folder and any(
            one.file.path.rpartition("/")[0] != folder
            and one.file.language.package_of(one.file.path) == package
            for one in self._index.named(declaration.qualified)
            if one.declaration.qualified == declaration.qualified
        )

    def _find_in_module(self, files: Sequence[SourceFile], parts: Sequence[str], level: int) -> Way | None:
        """Find the declaration of a name in a module."""
        for file in files:
            way = self._meant(file, parts, level + 1)
            if way is not None or file.language.package_is_folder:
                return way  # one file of a folder knows what all of them declare
        if len(parts) > 1 and files:
            module = files[0].language.module_of(files[0].path)
            inner = self._index.of_module(qualified(module, parts[0]))
            return self._find_in_module(inner, parts[1:], level + 1) if inner else None
        return None

    def _place_of_import(self, one: Import, file: SourceFile) -> str:
        source = source_of(self._index, file)
        written = one.target.rpartition(".")[2] if one.name == "*" else one.name
        expression = (
            rf"^[^\n]{{0,300}}?\b(?:import|from|use|export|include)\b[^\n]{{0,300}}?\b{re.escape(written)}\b"
        )
        place = re.search(expression.encode(), source, re.MULTILINE) or re.search(
            rf"\b{re.escape(written)}\b".encode(), source
        )
        return f"{file.path}:{1 if place is None else source.count(_LINE, 0, place.end()) + 1}"

    def _declared_in(self, file: SourceFile, name: str) -> list[FoundDeclaration]:
        """List the declarations of a qualified name in a file; the one with a body comes first."""
        alike = self._index.declared(file, name)
        return alike if len(alike) < 2 else implementation_first(self._index, alike)  # noqa: PLR2004  # one is plain


_EVERYTHING = frozenset({"Generic", "Protocol", "object"})
"""Bases that bring no members of their own."""
_LINE = b"\n"


def _shift_span(span: Span, start: int) -> Span:
    return Span(span.start + start, span.end + start) if span.end else span


def _stand_in_for(owner: str) -> Declaration:
    """Make a stand-in for a type that is declared in another file than its methods."""
    return Declaration(owner.rpartition(".")[2], owner, "struct", 1, 1, Span(), Span())


def _merge_orders(rows: list[list[FoundDeclaration | None]]) -> list[FoundDeclaration | None]:
    """Merge several orders of types into one that respects each (C3); in a conflict, the first one counts."""
    waiting = [list(row) for row in rows if row]
    merged: list[FoundDeclaration | None] = []
    while waiting:
        heads = [row[0] for row in waiting]
        chosen = next((one for one in heads if not any(_is_in(one, row[1:]) for row in waiting)), heads[0])
        if chosen is None or not _is_in(chosen, merged):
            merged.append(chosen)
        waiting = [kept for row in waiting if (kept := row[1:] if _are_same(row[0], chosen) else row)]
    return merged


def _are_same(one: FoundDeclaration | None, other: FoundDeclaration | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.key == other.key


def _is_in(one: FoundDeclaration | None, row: Sequence[FoundDeclaration | None]) -> bool:
    return one is not None and any(_are_same(one, other) for other in row)
