"""What griffe reads of Python files, compared with what the index reads."""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import griffe

from operator_schema.code_tools.language import Declaration, language_named
from operator_schema.code_tools.source_text import doc_text, span_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["REASONS", "Difference", "Verdicts", "compare"]

REASONS = {
    "declared again": "griffe keeps one declaration of a name, we keep all of them",
    "imported too": "griffe keeps the import of a name that is bound elsewhere as well",
    "set by a method": "griffe gives an attribute of a class the value that a method sets",
    "several names": "one statement binds several names: griffe skips them, or gives each all of it",
    "type variable": "griffe calls a type variable an attribute, we call it a type",
    "as written": "a docstring with backslashes or tabs: griffe shows its value, we show its source",
    "griffe can't read": "griffe gives up on the file, or on a value",
    "the grammar can't read": "tree-sitter gives up on a statement of the file, which is then not compared",
}
"""The reasons why the two may differ, each explained."""


class Difference(NamedTuple):
    """One thing that the two don't read alike.

    Attributes:
        what: kind of the difference: `missing`, `more`, `kind`, `line`, `signature`, `docstring` or `value`.
        name: qualified.
        line: where it is.
        griffe: what griffe reads.
        ours: what the index reads.
    """

    what: str
    name: str
    line: int
    griffe: str
    ours: str


class Verdicts(NamedTuple):
    """What was compared, and what came of it.

    Attributes:
        compared: kind of declaration to their number.
        differences: that are left.
        explained: reason to the number of differences that it explains.
    """

    compared: Counter[str]
    differences: list[Difference]
    explained: Counter[str]


def compare(file: Path) -> Verdicts:
    """Compare the declarations of a file.

    Args:
        file: of Python, which the running interpreter can parse.
    """
    source = file.read_bytes()
    parsed = language_named("python").parse(source)
    ours: dict[str, list[Declaration]] = {}
    for declaration in parsed.declarations:
        ours.setdefault(declaration.qualified, []).append(declaration)
    verdicts = Verdicts(Counter(), [], Counter())
    try:
        text = source.decode("utf-8-sig")
        module = griffe.visit(file.stem, filepath=file, code=text)
    except Exception:  # noqa: BLE001  # whatever griffe doesn't expect
        verdicts.explained["griffe can't read"] += 1
        return verdicts
    if parsed.is_broken:
        verdicts.explained["the grammar can't read"] += 1
        return verdicts
    lines = text.split("\n")
    seen: set[tuple[str, int]] = set()
    for theirs in _declared(module):
        name = theirs.path.removeprefix(f"{module.path}.")
        kind = theirs.kind.value
        found = _same(ours.get(name, []), theirs)
        if found is None and "instance-attribute" in theirs.labels:
            continue  # a method sets it
        verdicts.compared[kind] += 1
        if found is None:
            verdicts.differences.append(Difference("missing", name, theirs.lineno or 0, kind, ""))
            continue
        seen.add((name, found.line))
        verdicts.differences.extend(_differences(theirs, found, name, source, lines, verdicts.explained))
    for name, declarations in ours.items():
        for declaration in declarations:
            if (name, declaration.line) in seen:
                continue
            texts = lines[declaration.line - 1], span_text(source, declaration.whole)
            reason = _why_more(module, ours, {key for key, _ in seen}, name, texts)
            if reason is None:
                more = Difference("more", name, declaration.line, "", texts[0].strip()[:80])
                verdicts.differences.append(more)
            else:
                verdicts.explained[reason] += 1
    return verdicts


def _why_more(
    module: Any, ours: dict[str, list[Declaration]], seen: set[str], name: str, texts: tuple[str, str]
) -> str | None:
    """Return the reason why griffe doesn't have a declaration; None if it isn't known."""
    if name in seen or _is_replaced(module, name) or _is_again(ours, name):
        return "declared again"
    if _is_alias(module, name):
        return "imported too"
    return "several names" if any(map(_binds_several, texts)) else None


def _is_replaced(module: Any, name: str) -> bool:
    """Return whether a class, whose member this is, has another meaning later in the file."""
    owner: Any = module
    for part in name.split(".")[:-1]:
        owner = owner.members.get(part)
        if owner is None or owner.is_alias or not owner.is_class:
            return True
    return False


def _is_again(ours: dict[str, list[Declaration]], name: str) -> bool:
    """Return whether a class, whose member this is, is there more than once."""
    parts = name.split(".")
    return any(len(ours.get(".".join(parts[:count]), [])) > 1 for count in range(1, len(parts)))


def _is_alias(module: Any, name: str) -> bool:
    owner: Any = module
    for part in name.split("."):
        owner = owner.members.get(part) if not owner.is_alias else None
        if owner is None:
            return False
        if owner.is_alias:
            return True
    return False


def _binds_several(line: str) -> bool:
    return re.match(
        r"\s*[\w.*()\[\]]+\s*(,|=\s*[\w.\[\]'\"]+\s*=(?!=))", line
    ) is not None or line.strip().startswith("(")


def _declared(owner: Any) -> Iterator[Any]:
    """Yield functions, classes, attributes and type aliases, without what is only bound to an instance."""
    for member in owner.members.values():
        if member.is_alias:
            continue
        yield member
        if member.is_class:
            yield from _declared(member)


def _same(declarations: list[Declaration], theirs: Any) -> Declaration | None:
    return next(
        (one for one in declarations if one.line == _line(theirs)), declarations[-1] if declarations else None
    )


def _line(theirs: Any) -> int:
    return theirs.lineno or 0


_KINDS = {
    "function": {"func", "method"},
    "class": {"class", "protocol", "interface"},
    "attribute": {"const", "var"},
    "type alias": {"type"},
}


def _differences(
    theirs: Any, ours: Declaration, name: str, source: bytes, lines: list[str], explained: Counter[str]
) -> Iterator[Difference]:
    kind = theirs.kind.value
    is_property = kind == "attribute" and "property" in theirs.labels
    if ours.kind == "type" and kind == "attribute":
        explained["type variable"] += 1
        return
    if ours.kind not in _KINDS["function" if is_property else kind] and ours.line != _line(theirs):
        explained["declared again"] += 1
        return
    if ours.kind not in _KINDS["function" if is_property else kind]:
        yield Difference("kind", name, ours.line, kind, ours.kind)
        return
    if kind in {"attribute", "type alias"} and not is_property:
        yield from _value_difference(theirs, ours, name, source, lines, explained)
        return
    wanted = inspect.cleandoc(theirs.docstring.value) if theirs.docstring is not None else ""
    found = inspect.cleandoc(doc_text(source, ours))
    raw = span_text(source, ours.doc)
    if wanted != found and ("\\" in raw or "\t" in raw) and wanted and found:
        explained["as written"] += 1
    elif wanted != found:
        yield Difference("docstring", name, ours.line, wanted[:200], found[:200])
    if kind == "function":
        head = span_text(source, ours.head)
        wanted, found = _signature(_written(theirs)), _signature(head)
        if wanted != found:
            yield Difference("signature", name, ours.line, wanted, found)


def _value_difference(
    theirs: Any, ours: Declaration, name: str, source: bytes, lines: list[str], explained: Counter[str]
) -> Iterator[Difference]:
    wanted = _unparsed(str(theirs.value)) if theirs.value is not None else ""
    found = _unparsed(span_text(source, ours.value))
    if re.sub(r"[\s()]", "", wanted) == re.sub(r"[\s()]", "", found):
        return
    if _binds_several(lines[ours.line - 1]):
        explained["several names"] += 1
    elif not wanted:
        explained["griffe can't read"] += 1
    elif "instance-attribute" in theirs.labels:
        explained["set by a method"] += 1
    else:
        yield Difference("value", name, ours.line, wanted[:200], found[:200])


def _unparsed(text: str) -> str:
    try:
        return ast.unparse(ast.parse(f"({text})" if text else "", mode="eval"))
    except (SyntaxError, ValueError, RecursionError):
        return re.sub(r"[\s()]", "", text)


def _written(theirs: Any) -> str:
    """Write the signature that griffe read."""
    returned = "" if theirs.returns is None else f" -> {theirs.returns}"
    return f"def {theirs.name}{_parameters(theirs)}{returned}: ..."


def _parameters(theirs: Any) -> str:
    parts: list[str] = []
    kinds = [parameter.kind.value for parameter in theirs.parameters]
    for place, parameter in enumerate(theirs.parameters):
        kind = kinds[place]
        stars = {"variadic positional": "*", "variadic keyword": "**"}.get(kind, "")
        if kind == "keyword-only" and "variadic positional" not in kinds and kinds.index(kind) == place:
            parts.append("*")
        text = f"{stars}{parameter.name.lstrip('*')}"
        if parameter.annotation is not None:
            text += f": {parameter.annotation}"
        if parameter.default is not None and not stars:
            text += f" = {parameter.default}"
        parts.append(text)
        if kind == "positional-only" and (place + 1 == len(kinds) or kinds[place + 1] != kind):
            parts.append("/")
    return f"({', '.join(parts)})"


def _signature(text: str) -> str:
    text = re.sub(r"^(?:@.*\n\s*)*", "", text.strip())
    try:
        (statement,) = ast.parse(f"{text.rstrip(': ')}: ..." if not text.endswith("...") else text).body
    except (SyntaxError, ValueError, RecursionError):
        return f"unreadable: {text}"
    assert isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef))
    _Annotations().visit(statement)
    returned = "" if statement.returns is None else f" -> {ast.unparse(statement.returns)}"
    return f"{statement.name}({ast.unparse(statement.args)}){returned}"


class _Annotations(ast.NodeTransformer):
    """Takes the quotes off annotations, as griffe does."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = _bare(node.annotation)
        return node

    def visit_FunctionDef(self, node: Any) -> Any:
        self.generic_visit(node)
        node.returns = _bare(node.returns)
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815  # as ast looks for it


def _bare(node: ast.expr | None) -> ast.expr | None:
    if node is None:
        return None
    return ast.parse(
        re.sub(r"""(?<![\w"'])(["'])([\w.\[\], |]+)\1""", r"\2", ast.unparse(node)), mode="eval"
    ).body
