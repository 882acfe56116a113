"""The docs: every row of the tables of annotations is true, and what other pages list is complete."""

from __future__ import annotations

import code
import importlib.util
import json
import re
import sys
import types
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, make_dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args

import annotated_types
import pytest
from judge import validator

from operator_schema import Codec, DecodeError, SchemaError, json_values
from operator_schema.codec.default_checks import MAX_DEFAULT_VALUES
from operator_schema.codec.expected_values import EXPECTED_LENGTH
from operator_schema.codec.problem_texts import MESSAGE_LENGTH
from operator_schema.errors import REPORT_LENGTH, SHOWN_COMPLAINTS, SHOWN_PROBLEMS
from operator_schema.findings import RepairKind, TypeCode, ValueCode
from operator_schema.introspect.ambiguity_checks import MAX_COMPARED_MEMBERS
from operator_schema.introspect.annotations import ORIGINS
from operator_schema.introspect.walk import MAX_ANNOTATIONS
from operator_schema.json_values import LONGEST_BITS
from operator_schema.message_text import EXCERPT_LENGTH
from operator_schema.rounds import hook_decisions
from operator_schema.rounds.errors import FaultCode
from operator_schema.rounds.restore import RestoreProblemCode

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "annotations.md").read_text(encoding="utf-8")
HEADER = "| annotation | schema | decodes | refused |"
MAX_CELL = 100
LEAF_IS_STRICTER = {"bad_format"}


class Row(NamedTuple):
    """One row of a table.

    Attributes:
        annotation: as it would stand in a program.
        schema: JSON text.
        value: JSON text.
        decoded: repr of what the value decodes to.
        refused: JSON text, or None where nothing is refused.
        code: of the problem with it.
    """

    annotation: str
    schema: str
    value: str
    decoded: str
    refused: str | None
    code: str | None


def cells_of(line):
    cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
    return [cell.strip().replace("\\|", "|") for cell in cells]


def row_of(line):
    annotation, schema, decodes, refused = cells_of(line)
    if "below" in {schema, decodes}:
        details = details_of(annotation)
        if schema == "below":
            block = re.search(r"```json\n(.*?)```", details, re.DOTALL)[1]
            schema = json.dumps(json.loads(block), ensure_ascii=False)
        if decodes == "below":
            decodes = re.search(r"^`.+`\n→ `.+`$", details, re.MULTILINE)[0].replace("\n", " ")
    value, decoded = re.fullmatch(r"`(.+)` → `(.+)`", decodes).groups()
    example = None if refused == "nothing" else re.fullmatch(r"`(.+)`: `(\w+)`", refused)
    bad, code = (None, None) if example is None else example.groups()
    return Row(annotation.strip("`"), schema.strip("`"), value, decoded, bad, code)


def details_of(annotation):
    """Return what is below a table about one of its rows."""
    return PAGE.split(f"\n**{annotation}**\n")[1].partition("\n**`")[0].partition("\n#")[0]


def setup():
    """The block of Python that defines the names in the tables."""
    return re.search(r"```python\n(.*?)```", PAGE.split("## The names in the tables")[1], re.DOTALL)[1]


def rows():
    for table in PAGE.split(HEADER)[1:]:
        lines = table.strip().split("\n")[1:]
        for line in lines[: next(i for i, line in enumerate([*lines, ""]) if not line.startswith("|"))]:
            yield row_of(line)


@pytest.fixture(scope="module")
def names():
    """What the page defines for its tables."""
    module = types.ModuleType("docs_annotations")
    sys.modules[module.__name__] = module
    exec(compile(setup(), "annotations.md", "exec", dont_inherit=True), vars(module))  # noqa: S102  # the page is ours
    yield vars(module)
    del sys.modules[module.__name__]


ROWS = list(rows())
every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.annotation)


def test_the_tables_are_found():
    assert len(ROWS) > 70
    assert len({row.annotation for row in ROWS}) == len(ROWS)


@every_row
def test_its_schema(row, names):
    schema = Codec(eval(row.annotation, names)).json_schema()  # noqa: S307  # the page is ours
    validator(schema)
    assert schema == json.loads(row.schema)
    assert json.dumps(schema, ensure_ascii=False) == row.schema


@every_row
def test_what_it_decodes(row, names):
    codec = Codec(eval(row.annotation, names))  # noqa: S307  # the page is ours
    value = json.loads(row.value)
    assert validator(codec.json_schema()).is_valid(value)
    assert repr(codec.decode(value)) == row.decoded
    assert repr(codec.decode_json(row.value)) == row.decoded


@every_row
def test_what_it_refuses(row, names):
    codec = Codec(eval(row.annotation, names))  # noqa: S307  # the page is ours
    if row.refused is None:
        for value in (None, True, 1, 1.5, "a", [1, [None]], {"a": {"b": []}}):
            assert codec.report(value) == ()
        return
    value = json.loads(row.refused)
    with pytest.raises(DecodeError) as caught:
        codec.decode(value)
    assert [problem.code for problem in caught.value.findings] == [row.code]
    assert row.code in get_args(ValueCode)
    if row.code not in LEAF_IS_STRICTER:
        assert not validator(codec.json_schema()).is_valid(value)


@pytest.mark.parametrize("origin", ORIGINS, ids=str)
def test_every_kind_of_annotation_is_on_the_page(origin):
    name: Any = getattr(origin, "__name__", None) or getattr(origin, "_name", None)
    shown = {"UnionType": "|"}.get(name, name)
    assert any(re.search(rf"(^|\W){re.escape(shown)}(\W|$)", row.annotation) for row in ROWS) or (
        f"{shown}[" in setup()
    )


def test_cells_are_short_enough_to_read():
    tables = [line for line in PAGE.split("\n") if line.startswith("| ")]
    assert max(len(cell) for line in tables for cell in cells_of(line)) <= MAX_CELL


def test_the_limits_of_the_page():
    table = PAGE.split("| limit | value | beyond it |")[1].split("\n\n")[0]
    values = [int(re.match(r"\d+", cells_of(line)[1])[0]) for line in table.strip().split("\n")[1:]]
    assert values == [
        json_values.MAX_DEPTH,
        json_values.MAX_TEXT_DEPTH,
        json_values.MAX_INTEGER_DIGITS,
        sys.int_info.str_digits_check_threshold,
        json_values.MAX_COLLISIONS,
        json_values.MAX_KEY_DIGITS,
        json_values.MAX_PROBLEMS,
        REPORT_LENGTH,
        SHOWN_PROBLEMS,
        MESSAGE_LENGTH,
        EXCERPT_LENGTH,
        EXPECTED_LENGTH,
        SHOWN_COMPLAINTS,
        MAX_ANNOTATIONS,
        MAX_DEFAULT_VALUES,
        MAX_COMPARED_MEMBERS,
    ]
    assert 2**LONGEST_BITS < 10**sys.int_info.str_digits_check_threshold < 2 ** (LONGEST_BITS + 2)


PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def prose_of(page):
    return re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def anchors_of(page):
    """Return the anchors of a page, as GitHub derives them from its headings."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@every_page
def test_links_lead_somewhere(page):
    for target in re.findall(r"""(?:\]\(|\bsrc="|\bsrcset=")(?!https?:)([^)"]+)""", prose_of(page)):
        path, _, anchor = target.partition("#")
        found = page.parent / path if path else page
        assert found.exists(), target
        assert not anchor or anchor in anchors_of(found), target


@every_page
def test_a_page_begins_with_whom_it_is_for(page):
    first = page.read_text(encoding="utf-8").split("\n\n")[1]
    assert re.match(r"(This page is .*for|For) (people|everyone|Python developers) |Generated by ", first), (
        first
    )


def test_the_index_leads_to_every_page():
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / target).resolve() for target in re.findall(r"\]\(([^)#:]+)\)", prose_of(index))}
    assert set((ROOT / "docs").glob("*.md")) - {index} <= linked


PACKAGE = ROOT / "operator_schema"


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_the_pages_for_contributors_name_files_that_exist(name):
    files = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")}
    own = {f"tests/{path.relative_to(ROOT / 'tests').as_posix()}" for path in (ROOT / "tests").rglob("*.py")}
    known = "\n".join(sorted(files | own))
    text = (ROOT / name).read_text(encoding="utf-8")
    for path in re.findall(r"`(?:operator_schema/)?([\w/]+\.py)`", text):
        assert re.search(rf"(^|/){re.escape(path)}$", known, re.MULTILINE), path


def test_the_codes_of_the_page_of_errors():
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    table = page.split("| code | what is wrong |")[1].split("\n\n")[0]
    codes = [code for line in table.split("\n")[2:] for code in re.findall(r"`(\w+)`", cells_of(line)[0])]
    assert codes == list(get_args(ValueCode))
    table = page.split("| code of a type | what is wrong |")[1].split("\n\n")[0]
    codes = [code for line in table.split("\n")[2:] for code in re.findall(r"`(\w+)`", cells_of(line)[0])]
    assert sorted(codes) == sorted(get_args(TypeCode))


def test_the_kinds_of_the_page_of_repair():
    page = (ROOT / "docs" / "repair.md").read_text(encoding="utf-8")
    table = page.split("| kind | what came |")[1].split("\n\n")[0]
    assert [cells_of(line)[0].strip("`") for line in table.split("\n")[2:]] == list(get_args(RepairKind))


def codes_of_table(page, header):
    table = (ROOT / "docs" / page).read_text(encoding="utf-8").split(header)[1].split("\n\n")[0]
    return [cells_of(line)[0].strip("`") for line in table.split("\n")[2:]]


def test_the_codes_of_the_pages_of_rounds():
    assert codes_of_table("rounds.md", "| code of a fault | what is wrong |") == list(get_args(FaultCode))
    problems = codes_of_table("approvals.md", "| code of a problem | what is wrong |")
    assert problems == list(get_args(RestoreProblemCode))


def test_the_decisions_of_the_page_of_rounds():
    decided = codes_of_table("rounds.md", "| a hook returns | the call |")
    names = {name for cell in decided for name in re.findall(r"[A-Z]\w+", cell)}
    assert names == {cls.__name__ for cls in hook_decisions.DECISIONS} | {"None"}


def lines_to_type(block):
    """Return what somebody types of a block: of a session the lines behind prompts, else every line."""
    lines = block.split("\n")
    if not block.startswith(">>> "):
        return [*lines, ""]
    typed = [
        ("" if line.startswith("...") else "\n") + line[4:] for line in lines if line[:3] in {">>>", "..."}
    ]
    return [*"\n".join(typed).split("\n"), "", ""]


@pytest.mark.needs_threads
def test_the_examples_of_the_readme_can_be_pasted_into_a_prompt(capsys):
    blocks = re.findall(
        r"^```python\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    module = types.ModuleType("pasted")
    sys.modules[module.__name__] = module
    vars(module)["__name__"] = module.__name__
    console = code.InteractiveConsole(vars(module))
    for line in [line for block in blocks for line in lines_to_type(block)]:
        console.push(line)
    del sys.modules[module.__name__]
    shown = capsys.readouterr()
    assert "9.00 CHF" in shown.out
    ends = re.findall(r"^(?! |Traceback)([\w.]+): (?=\w+: \d)", shown.err, re.MULTILINE)
    assert ends == re.findall(r"^operator_schema\.errors\.\w+", "\n".join(blocks), re.MULTILINE)
    assert shown.err.count("Traceback") == len(ends)


def test_the_readme_is_short_and_begins_with_the_engine():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 900
    first_screen = text.partition("## Install")[0]
    assert "(docs/decoding.md)" in first_screen
    code = text[: text.index("## A tool")]
    assert all(
        word in code
        for word in ("@dataclass", "param_descriptions", "json_schema", "DecodeError", "SchemaError")
    )


class Money:
    """A class without fields that anybody knows."""


@dataclass(frozen=True)
class Amount:
    cents: int


class Keep(NamedTuple):
    path: str


class Delete(NamedTuple):
    path: str


@dataclass
class TaggedKeep:
    path: str
    kind: Literal["keep"]


@dataclass
class TaggedDelete:
    path: str
    kind: Literal["delete"]


class Objects(Enum):
    A = Amount(1)


class Texts(Enum):
    A = "a"


def pydantic():
    return pytest.importorskip("pydantic", reason="no wheels for WebAssembly")


def with_default(annotation, value):
    """Return a class whose only field has this default."""
    return make_dataclass("Defaulted", [("x", annotation, value)])


REFUSED = {
    "a class of your own": lambda: ([Money], [Amount]),
    "`Iterator[T]`": lambda: ([Iterator[int], Generator[int, None, None]], [list[int], Iterable[int]]),
    "`dict[float, T]`": lambda: ([dict[float, int], dict[Amount, int]], [dict[str, int], list[Amount]]),
    "`set[list[int]]`": lambda: ([set[list[int]]], [set[tuple[int, ...]], list[list[int]]]),
    "`Keep \\| Delete`": lambda: ([Keep | Delete], [TaggedKeep | TaggedDelete]),
    "`x: int = pydantic.Field": lambda: (
        [with_default(int, pydantic().Field(gt=3))],
        [with_default(Annotated[int, annotated_types.Gt(3)], 4)],
    ),
    "`Annotated[int, AfterValidator": lambda: (
        [Annotated[int, pydantic().AfterValidator(abs)]],
        [Annotated[int, annotated_types.Gt(3)]],
    ),
    "an Enum whose values": lambda: ([Objects], [Texts]),
    "a default that doesn't fit": lambda: ([with_default(int, "a")], [with_default(int | None, None)]),
    "`complex`": lambda: (
        [complex, bytearray, Counter, Callable[[int], str]],
        [tuple[float, float], bytes, dict[str, int]],
    ),
}
"""Each row of the page, by how it begins: what is refused, and what the page says to write."""


def rows_of_what_is_refused():
    page = (ROOT / "docs" / "decoding.md").read_text(encoding="utf-8")
    table = page.partition("| refused | write |\n|---|---|\n")[2].partition("\n\n")[0]
    return [line.removeprefix("| ") for line in table.split("\n")]


@pytest.mark.parametrize("row", rows_of_what_is_refused())
def test_what_the_page_says_to_write_is_taken(row):
    (pair,) = [pair for begin, pair in REFUSED.items() if row.startswith(begin)]
    refused, taken = pair()
    for annotation in refused:
        with pytest.raises(SchemaError):
            Codec(annotation)
    for annotation in taken:
        Codec(annotation)


def test_the_seven_places_of_descriptions_give_what_the_page_shows(tmp_path, capsys):
    page = (ROOT / "docs" / "decoding.md").read_text(encoding="utf-8")
    source, shown = re.search(
        r"^```py\n(.*?)^```\n\n```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL
    ).groups()
    (tmp_path / "booking.py").write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("booking", tmp_path / "booking.py")
    module = sys.modules["booking"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    del sys.modules["booking"]
    assert capsys.readouterr().out == shown
    assert len(shown.splitlines()) == 7


NUMBERS = {13: "thirteen", 16: "sixteen"}
"""The numbers that pages say in words."""


def test_pages_count_providers_and_frameworks_right():
    from operator_schema import providers

    known = [getattr(providers, name) for name in providers.__all__]
    number = NUMBERS[sum(isinstance(each, providers.Provider) for each in known)]
    sections = (ROOT / "docs" / "frameworks.md").read_text(encoding="utf-8")
    frameworks = set(re.findall(r"operator_schema\.adapters\.(\w+) import", sections)) - {"schema_changes"}
    readme = (ROOT / "README.md").read_text(encoding="utf-8").lower()
    assert f"[{number} providers](" in readme
    assert f"[{NUMBERS[len(frameworks)]} frameworks](" in readme
    for page in (ROOT / "docs").glob("*.md"):
        said = re.findall(
            r"\b(\w+teen|ten|eleven|twelve)\b(?= \[?providers)", page.read_text(encoding="utf-8").lower()
        )
        assert set(said) <= {number}, page.name
