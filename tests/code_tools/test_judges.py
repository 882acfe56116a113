"""A sample of what `make code-judges` compares: the index reads what griffe and Go's own parser read."""

from __future__ import annotations

import logging
import random
import sysconfig
import tomllib
import warnings
from pathlib import Path

import pytest

pytest.importorskip("tree_sitter", reason="WebAssembly has no wheel of it")

import ctags_judge
import go_judge
import griffe_judge
import names_judge
import questions_judge
import test_brace_languages as samples

from operator_schema.code_tools import CodeBase

LIBRARY = Path(sysconfig.get_paths()["stdlib"])
FOLDERS = ("asyncio", "email", "importlib", "json", "logging")
GO = Path(__file__).parent / "go_sample"
with_go = pytest.mark.skipif(not go_judge.is_there(), reason="Go isn't installed")


@pytest.fixture(autouse=True)
def _quiet():
    logging.disable(logging.CRITICAL)  # griffe tells what it can't follow
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    logging.disable(logging.NOTSET)


@pytest.mark.slow("reads packages with two parsers")
@pytest.mark.parametrize("folder", FOLDERS)
def test_python_is_read_as_griffe_reads_it(folder):
    files = sorted((LIBRARY / folder).glob("*.py"))
    assert files
    verdicts = [griffe_judge.compare(file) for file in files]
    assert [each for one in verdicts for each in one.differences] == []
    assert sum(one.compared.total() for one in verdicts) > len(files)
    assert {reason for one in verdicts for reason in one.explained} <= griffe_judge.REASONS.keys()


@with_go
@pytest.mark.needs_process
def test_go_is_read_as_its_own_parser_reads_it(tmp_path):
    files = sorted(GO.rglob("*.go"))
    verdicts = [go_judge.compare_go(each) for each in go_judge.go_reads(files, tmp_path)]
    assert len(verdicts) == len(files)
    assert [each for one in verdicts for each in one.differences] == []
    assert sum(one.compared.total() for one in verdicts) >= 20


@with_go
@pytest.mark.needs_process
def test_gofmt_refuses_what_is_refused_here():
    draw = random.Random(0)  # noqa: S311  # the same damage each time
    files = sorted(GO.rglob("*.go"))
    verdicts = [go_judge.compare_syntax(go_judge.damaged(draw.choice(files), draw)) for _ in range(60)]
    explained = sum((one.explained for one in verdicts), start=verdicts[0].explained.__class__())
    assert explained.keys() <= go_judge.SYNTAX_REASONS.keys()
    assert explained["tree-sitter takes it"] + explained["gofmt takes it"] <= 3
    assert {kind for one in verdicts for kind in one.compared} == {"valid", "refused"}


@pytest.mark.parametrize(
    ("code", "place"),
    [
        ("package p\n\nx := 1\n", (3, 1)),
        ("package p\n\nvar x = 1\nfunc f() {}\n f()\n", (5, 2)),
        ("package p\nreturn\n", (2, 1)),
    ],
)
def test_a_statement_outside_of_a_function_is_refused_in_a_file(code, place):
    found = CodeBase(GO).check_syntax(code, language="go")
    line, column = place
    assert found["errors"] == [
        {"position": f"{line}:{column}", "message": "a statement is outside of a function"}
    ]


def test_a_comment_behind_a_declaration_is_not_about_the_next_one():
    from operator_schema.code_tools.language import language_named
    from operator_schema.code_tools.source_text import doc_text

    source = b"package p\n\nconst (\n\tA = 1 // of A\n\tB = 2\n\t// of C\n\tC = 3\n)\n"
    docs = {one.name: doc_text(source, one) for one in language_named("go").parse(source).declarations}
    assert docs == {"A": "", "B": "", "C": "of C"}


@pytest.mark.needs_process
@pytest.mark.skipif(not ctags_judge.is_there(), reason="universal-ctags isn't installed")
@pytest.mark.parametrize(("language", "suffix"), [("java", ".java"), ("c", ".c"), ("cpp", ".cc")])
def test_what_ctags_reads_is_read(language, suffix, tmp_path):
    file = tmp_path / f"sample{suffix}"
    sample = {"java": samples.JAVA, "c": samples.C.partition("BEGIN_C_DECLS")[0], "cpp": samples.CPP}[
        language
    ]
    file.write_text(sample)
    ((_, tags),) = ctags_judge.tags_of(language, [file])
    verdicts = ctags_judge.compare_tags(language, file, tags)
    assert verdicts.differences == []
    assert verdicts.compared.total() >= 15
    assert verdicts.explained.keys() <= {"passed over"}
    file.write_text("\n" * sample.count("\n"))
    assert len(ctags_judge.compare_tags(language, file, tags).differences) >= 15


def test_each_question_has_one_tool_and_says_what_is_right():
    questions = tomllib.loads(questions_judge.QUESTIONS.read_text(encoding="utf-8"))
    assert questions.keys() == questions_judge.ROOTS.keys()
    every = [one for some in questions.values() for one in some]
    assert len(every) == 243
    expected = {"at", "has", "reason"}
    for one in every:
        (_,) = one.keys() & set(questions_judge.TOOLS)
        assert one.keys() & expected
        assert one.keys() <= {*questions_judge.TOOLS, *expected, "lacks", "with", "line_of"}


def test_an_answer_is_judged_by_its_place_and_its_text(tmp_path, monkeypatch):
    (tmp_path / "a.py").write_text("def kept(): ...\nlimit = 3\n", encoding="utf-8")
    questions = tmp_path / "questions.toml"
    questions.write_text(
        """cpython = [
            { inspect = "kept", at = "a.py: def kept(" },
            { inspect = "a.py:{line}", line_of = "a.py: limit", has = ["3"] },
            { inspect = "gone", at = "a.py: def gone(" },
            { inspect = "gone", reason = "not declared" },
            { inspect = "kept", at = "a.py: limit" },
            { inspect = "kept", lacks = ["kept"] },
            { search = "*", at = ["a.py: limit", "a.py: def kept("] },
        ]""",
        encoding="utf-8",
    )
    monkeypatch.setattr(questions_judge, "QUESTIONS", questions)
    answers = list(questions_judge.answered("cpython", tmp_path))
    verdicts = ["right", "right", "denied", "right", "wrong", "wrong", "right"]
    assert [one.verdict for one in answers] == verdicts
    assert questions_judge.summary(answers).startswith("7 | 4 | 1 | 2 | ")


def test_documentation_names_what_a_package_has(tmp_path):
    text = (
        ".. module:: shop.api\n\n.. autoclass:: Client\n\n    .. automethod:: close\n\n"
        ".. autofunction:: shop.run\n\nSee :meth:`~shop.api.Client.open` and :class:`other.Thing`.\n"
    )
    (tmp_path / "index.rst").write_text(text, encoding="utf-8")
    names = ["shop.api.Client", "shop.run", "shop.api.Client.open"]
    assert names_judge.documented(tmp_path, "shop") == names
