"""The house: each module says its question, and what is loaded anyway is imported at the top."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
from module_index import PACKAGE, modules, question_of, says_something

ROOT = Path(__file__).parents[2]
MODULES = {name: PACKAGE / name for name in modules()}


def imports_in(body, *, at_top=True, is_typing=False):
    """Yield each import with whether it runs when the module is loaded, and whether it is for types alone."""
    for node in body:
        if isinstance(node, ast.ImportFrom):
            yield node, at_top, is_typing
        elif isinstance(node, ast.If) and getattr(node.test, "id", None) == "TYPE_CHECKING":
            yield from imports_in(node.body, at_top=at_top, is_typing=True)
            yield from imports_in(node.orelse, at_top=at_top, is_typing=is_typing)
        elif isinstance(node, (ast.stmt, ast.excepthandler, ast.match_case)):  # what may hold statements
            is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            inner = ast.iter_child_nodes(node)
            yield from imports_in(inner, at_top=at_top and not is_function, is_typing=is_typing)


def modules_meant(importer: str, node: ast.ImportFrom) -> set[str]:
    folder = [*MODULES[importer].relative_to(PACKAGE).parts[:-1]]
    if not node.level:
        return set()
    base = "/".join([*folder[: len(folder) - node.level + 1], *(node.module or "").split(".")]).strip("/")
    inside = {f"{base}/{alias.name}.py".lstrip("/") for alias in node.names}
    return (inside | {f"{base}.py"}) & set(MODULES)


AT_TOP = re.compile(r"^from \.[^\n(]*(?:\([^)]*\))?|^if TYPE_CHECKING:\n(?:[ \t].*\n|\n)+", re.MULTILINE)


def parsed(source: str) -> ast.Module:
    """Parse a module: only its imports where all stand at the top, which takes a tenth of the time."""
    if re.search(r"\bfrom[ \\]*\.", AT_TOP.sub("", source)):
        return ast.parse(source)
    return ast.parse("\n".join(AT_TOP.findall(source)))


@cache
def importers() -> dict[str, dict[str, set[str]]]:
    """Return who imports each module: when they are loaded, later, and for the public names of a package."""
    found: dict[str, dict[str, set[str]]] = {name: defaultdict(set) for name in MODULES}
    for importer, path in MODULES.items():
        for node, at_top, is_typing in imports_in(parsed(path.read_text(encoding="utf-8")).body):
            for module in modules_meant(importer, node) - {importer}:
                is_entrance = importer.rpartition("/")[2] == "__init__.py"
                when = ("public" if is_entrance else "types") if is_typing else "first" if at_top else "later"
                found[module][when].add(importer)
    return found


def loaded_at_once() -> dict[str, set[str]]:
    """Return what each module brings along when it is loaded."""
    brought: dict[str, set[str]] = {module: set() for module in MODULES}
    for module, by in importers().items():
        for user in by["first"]:
            brought[user].add(module)
    found: dict[str, set[str]] = {}
    for module in MODULES:
        waiting, seen = [module], set()
        while waiting:
            new = brought[waiting.pop()] - seen
            seen |= new
            waiting += new
        found[module] = seen
    return found


def test_what_is_loaded_anyway_is_imported_at_the_top():
    """An import in a function is for what may never be needed."""
    brought = loaded_at_once()
    late = [(user, module) for module, by in importers().items() for user in by["later"]]
    assert [(user, module) for user, module in late if module in brought[user]] == []
    assert ("codec/codec.py", "codec/example.py") in late  # it finds some


FOR_TYPES = re.compile(r"^if TYPE_CHECKING:\n((?:[ \t].*\n|\n)++)(?!else:)", re.MULTILINE)
EXPORTED = re.compile(r"^__all__[^=\n]*= [\[(]([^\])]*)[\])]", re.MULTILINE)


def exported_for_types_alone(source: str) -> set[str]:
    """Return the names in `__all__` that only type checkers see, so that `import *` would fail."""
    bound = {
        name
        for block in FOR_TYPES.findall(source)
        for name in re.findall(r"(?m)^    (\w+)[^=\n(]* = ", block)
    }
    exported = {name for block in EXPORTED.findall(source) for name in re.findall(r'"(\w+)"', block)}
    return bound & exported


def test_each_exported_name_exists_when_the_module_runs():
    found = {
        name: exported_for_types_alone(path.read_text(encoding="utf-8")) for name, path in MODULES.items()
    }
    assert {name: names for name, names in found.items() if names} == {}
    wrong = 'if TYPE_CHECKING:\n    A: TypeAlias = int | str\n    B = int\n\n__all__ = ["A", "C"]\n'
    assert exported_for_types_alone(wrong) == {"A"}


QUESTIONS = {name: question_of(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}


def test_the_first_line_of_each_module_says_its_question():
    assert [name for name, question in QUESTIONS.items() if not re.fullmatch(r"\S.*[.?]", question)] == []
    assert [name for name, question in QUESTIONS.items() if not says_something(question, name)] == []


@pytest.mark.parametrize(
    ("module", "line"), [("go_language.py", "Declarations of Go."), ("cli/serve.py", "The command `serve`.")]
)
def test_a_line_that_repeats_the_name_of_its_module_says_nothing(module, line):
    assert not says_something(line, module)


def test_no_two_modules_answer_one_question():
    assert len(QUESTIONS) == len(set(QUESTIONS.values()))


def test_no_two_files_of_tests_share_their_name():
    """Folders of tests aren't packages: pytest would refuse the second file."""
    apart = {"frameworks", "extras", "matrix"}  # these run in environments of their own
    files = [path for path in (ROOT / "tests").rglob("test_*.py") if not apart.intersection(path.parts)]
    names = sorted(path.name for path in files)
    assert [name for name in set(names) if names.count(name) > 1] == []


def class_names_in(node: ast.JoinedStr) -> set[str]:
    """Return the code of what an f-string shows the class of, by `type(…).__name__`."""
    return {
        ast.unparse(part.value.value.args[0])
        for part in node.values
        if isinstance(part, ast.FormattedValue)
        and isinstance(part.value, ast.Attribute)
        and isinstance(part.value.value, ast.Call)
        and ast.unparse(part.value.value.func) == "type"
    }


def test_exceptions_are_shown_by_one_function():
    """`show_error` is safe whatever the exception's own code does; an f-string isn't."""
    own_ways = []
    for name, path in MODULES.items():
        source = path.read_text(encoding="utf-8")
        if ".__name__}: {" in source:
            shown = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.JoinedStr)]
            own_ways += [
                f"{name}:{node.lineno}"
                for node in shown
                for part in node.values
                if isinstance(part, ast.FormattedValue) and ast.unparse(part.value) in class_names_in(node)
            ]
    assert not own_ways, "show_error or exception_text of message_text.py shows these"
