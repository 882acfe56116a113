"""Modules whose own code raises exceptions, at import or when they are looked at, and are named for it."""

from __future__ import annotations

import sys

import pytest

from operator_schema.cli import main

ERRORS = ["RuntimeError", "SystemExit", "Skipped", "KeyError", "RecursionError", "AttributeError", "Mute"]
PREAMBLE = '''
from dataclasses import dataclass
from operator_schema import tool

class Skipped(BaseException):
    """As pytest.skip raises it."""

class Mute(Exception):
    def __str__(self):
        raise RuntimeError("an exception that can't say what it is")

def fail(*_, **__):
    raise {error}("a reason")

'''
GOOD = '''
@tool
def {name}(query: str) -> str:
    """Search."""
    return query
'''

AT_IMPORT = {
    "raises": "fail()",
    "decorator": "@fail\ndef f(): ...",
    "class": "class A:\n    x = fail()",
    "generator": "list(fail() for _ in [1])",
}
OBJECTS = {
    "class": "class A:\n    __class__ = property(fail)\nx = A()",
    "any attribute": "class A:\n    __getattribute__ = fail\nx = A()",
    "missing attributes": "class A:\n    __getattr__ = fail\nx = A()",
    "equality": "class A:\n    __eq__ = fail\n    __hash__ = fail\nx = A()",
    "texts": "class A:\n    __repr__ = __str__ = __bool__ = __len__ = __iter__ = fail\nx = A()",
    "module": "__getattr__ = fail",
    "directory": "__dir__ = fail",
    "class of classes": "class M(type):\n    __getattr__ = fail\nclass A(metaclass=M): ...",
    "module of a class": "class M(type):\n    __module__ = property(fail)\nclass A(metaclass=M): ...",
    "instances": "class M(type):\n    __instancecheck__ = fail\nclass A(metaclass=M): ...",
}
BROKEN = {
    "list of names": "__all__ = ['missing']",
    "offered": "class A:\n    __class__ = property(fail)\n__tools__ = A()",
    "another module": "import sys\nclass A:\n    __getattribute__ = fail\nsys.modules[__name__] = A()",
}


@pytest.fixture
def check(tmp_path, monkeypatch, capsys):
    """Write modules, and run a command in their folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.path_importer_cache, "", raising=False)

    def run(hostile, error, *words):
        preamble = PREAMBLE.replace("{error}", error)
        (tmp_path / "hostile.py").write_text(f"{preamble}{GOOD.format(name='beside')}{hostile}\n")
        (tmp_path / "good.py").write_text(preamble + GOOD.format(name="other"))
        status = main(words)
        return status, *capsys.readouterr()

    yield run
    for name in [name for name in sys.modules if name.partition(".")[0] in {"hostile", "good", "package"}]:
        del sys.modules[name]


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("when", AT_IMPORT)
def test_a_module_that_raises_anything_is_named_and_others_are_checked(check, when, error):
    status, out, err = check(AT_IMPORT[when], error, "check", "-v", "hostile", "good.py")
    said = err.splitlines()
    assert status == 2
    assert [line.partition(": " + error)[0] for line in said] == [
        "operator-schema: error: the module hostile can't be imported"
    ]
    assert "hostile.py, line" in err
    assert "checked other (tool, 1 parameter" in out
    assert check(AT_IMPORT[when], error, "tools", "hostile")[0] == 2


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("what", OBJECTS)
def test_an_object_that_raises_anything_is_passed_over_or_its_module_named(check, what, error):
    status, out, err = check(OBJECTS[what], error, "check", "-v", "hostile", "good.py")
    assert "checked other (tool, 1 parameter" in out
    if err:
        assert status == 2
        assert err.startswith("operator-schema: error: the module hostile can't be ")
        assert err.count("\n") == 1
    else:
        assert status == 0
        assert "checked beside (tool, 1 parameter" in out
    is_usual = error not in {"SystemExit", "Skipped"}
    assert not (is_usual and err), err


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("what", BROKEN)
def test_what_can_not_be_looked_at_is_named(check, what, error):
    status, out, err = check(BROKEN[what], error, "check", "-v", "hostile", "good.py")
    assert status == 2
    assert err.startswith("operator-schema: error: ")
    assert err.count("\n") == 1
    assert "checked other (tool, 1 parameter" in out or "hostile" not in err


def test_an_interrupt_is_one(check):
    assert check("raise KeyboardInterrupt", "RuntimeError", "check", "good.py", "hostile")[0] == 130


def test_a_module_below_a_package_hides_none_of_the_others(check, tmp_path):
    (tmp_path / "package").mkdir()
    for name, text in (
        ("__init__", ""),
        ("first", "raise LookupError"),
        ("second", GOOD.format(name="late")),
    ):
        (tmp_path / "package" / f"{name}.py").write_text(f"from operator_schema import tool\n{text}")
    status, out, err = check("", "RuntimeError", "check", "-v", "package", "good")
    assert status == 2
    assert err.startswith("operator-schema: error: the module package.first can't be imported: LookupError")
    assert "checked late" in out
    assert "checked other" in out


def test_a_module_without_tools_does_not_hide_what_is_wrong_with_another(check):
    status, out, err = check("fail()", "Skipped", "check", "-v", "hostile.py", "shutil", "good.py")
    assert (status, out) == (2, "")
    assert [line.partition(": ")[2][:30] for line in err.splitlines()] == [
        "error: the module hostile can'",
        "error: there are no dataclasse",
    ]
