"""The limits of the code tools, at their edges."""

import json

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

from operator_schema.code_tools import CodeBase
from operator_schema.code_tools.budget import Budget
from operator_schema.code_tools.source_files import Content, Skipped, read_source


@pytest.fixture
def base(tmp_path):
    (tmp_path / "a.py").write_text("\n".join(f"def f{number}(): ..." for number in range(230)))
    return CodeBase(tmp_path)


def test_a_search_has_ten_results_or_as_many_as_asked_for(base):
    assert len(base.search("*")["results"]) == 10
    for limit in (1, 11, 200):
        assert len(base.search("*", limit=limit)["results"]) == limit
    for limit in (0, -1, 201):
        with pytest.raises(ValueError, match=f"the limit is from 1 to 200, not {limit}"):
            base.search("*", limit=limit)


def test_a_pattern_has_a_length(base):
    assert base.search("f1" + "*" * 198)["results"]
    with pytest.raises(ValueError, match="a pattern has at most 200 characters"):
        base.search("f1" + "*" * 199)


def test_a_name_that_isnt_there_is_repeated_up_to_a_length(base):
    assert base.inspect("n" * 200)["name"] == "n" * 200
    assert base.inspect("n" * 201)["name"] == "n" * 200
    assert base.read_func("n" * 201)["name"] == "n" * 200


def test_a_snippet_has_a_length(base):
    code = "x = 1" + " " * 199_995
    found = base.check_syntax(code, "file")
    assert (found["valid"], found["errors"]) == (True, [])
    (problem,) = base.check_syntax(code + " ", "file")["errors"]
    assert problem == {"position": "1:1", "message": "the code is longer than 200,000 characters"}


def test_a_file_has_a_size(tmp_path):
    (tmp_path / "a.py").write_bytes(b" " * 10_000_000)
    (tmp_path / "b.py").write_bytes(b" " * 10_000_001)
    assert isinstance(read_source(str(tmp_path), "a.py"), Content)
    reason = "it has 10,000,001 bytes, more than 10,000,000"
    assert read_source(str(tmp_path), "b.py") == Skipped("b.py", reason)


def test_a_null_byte_near_the_beginning_makes_a_file_binary(tmp_path):
    (tmp_path / "a.py").write_bytes(b" " * 8191 + b"\0")
    (tmp_path / "b.py").write_bytes(b" " * 8192 + b"\0")
    assert read_source(str(tmp_path), "a.py") == Skipped("a.py", "it is a binary file")
    assert isinstance(read_source(str(tmp_path), "b.py"), Content)


def test_a_budget_is_a_number_and_not_too_small(tmp_path):
    assert CodeBase(tmp_path).budget == 20_000
    assert CodeBase(tmp_path, budget=1000).budget == 1000
    with pytest.raises(ValueError, match="the budget is at least 1,000 characters, not 999"):
        CodeBase(tmp_path, budget=999)


@pytest.mark.parametrize("budget", [1000, 2000, 5000])
def test_no_answer_is_larger_than_its_budget(tmp_path, budget):
    fields = "\n".join(f"    field_{number}: int = {number}" for number in range(300))
    methods = "\n".join(f"    def method_{number}(self): return helper()" for number in range(300))
    text = f"class Box:\n{fields}\n{methods}\n\ndef helper(): ...\n"
    (tmp_path / "a.py").write_text(text)
    base = CodeBase(tmp_path, budget=budget)
    for answer in (base.inspect("Box"), base.search("*", limit=200), base.read_func("Box.method_1")):
        assert len(json.dumps(answer)) <= budget


@pytest.mark.parametrize(("place", "most"), [("type", 300), ("value", 100)])
@pytest.mark.parametrize("letter", ["a", "ä", "\U0001d4b6"])
def test_types_and_values_of_fields_are_shown_up_to_a_length(tmp_path, place, most, letter):
    def shown(length):
        name = letter * length
        field = f"x: {name} = 1" if place == "type" else f"x: int = {name}"
        (tmp_path / "a.py").write_text(f"class Box:\n    {field}\n", encoding="utf-8")
        (found,) = CodeBase(tmp_path).inspect("Box")["fields"]
        return found[place]

    assert shown(most) == letter * most
    assert shown(most + 1) == letter * most + "…"
    assert shown(20 * most) == letter * most + "…"


def test_a_line_is_shown_up_to_a_length():
    assert Budget(5000).line("x" * 299) == "x" * 299
    assert Budget(5000).line("x" * 300) == "x" * 300
    assert Budget(5000).line("x" * 301) == "x" * 299 + "…"


def test_methods_come_from_the_package_where_a_package_is_a_folder(tmp_path):
    (tmp_path / "a.go").write_text("package p\n\ntype Box struct{}\n\nfunc (b Box) One() {}\n")
    (tmp_path / "b.go").write_text("package p\n\nfunc (b Box) Two() {}\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "c.go").write_text("package q\n\nfunc (b Box) Three() {}\n")
    methods = CodeBase(tmp_path).inspect("Box")["methods"]
    assert [one["name"] for one in methods] == ["One", "Two"]


def test_methods_come_from_the_file_where_a_file_is_a_module(tmp_path):
    (tmp_path / "a.py").write_text("class Box:\n    def one(self): ...\n")
    (tmp_path / "b.py").write_text("class Box:\n    def two(self): ...\n")
    base = CodeBase(tmp_path)
    for file, name in (("a.py", "one"), ("b.py", "two")):
        assert [one["name"] for one in base.inspect(f"{file}:Box")["methods"]] == [name]


@pytest.mark.parametrize("number", [1, 9, 10, 11, 30])
def test_a_snippet_has_so_many_problems_at_most(base, number):
    code = "\n".join(f"let x{line} = = 1;" for line in range(number))
    found = base.check_syntax(code, "statements", language="rust")["errors"]
    assert [one["position"].partition(":")[0] for one in found] == [
        str(line + 1) for line in range(min(number, 10))
    ]
