"""Modules whose own code raises exceptions, at import or when they are looked at, and are named for it."""

from __future__ import annotations

import re
import sys

import pytest

from operator_schema.workbench.cli import main

ERRORS = ["RuntimeError", "SystemExit", "Skipped", "KeyError", "RecursionError", "AttributeError", "Mute"]
PREAMBLE = '''
from dataclasses import dataclass
import operator_schema
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
    for name in [
        name
        for name in sys.modules
        if name.partition(".")[0] in {"good", "package"} or name.startswith("hostile")
    ]:
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


def test_a_module_without_tools_hides_none_of_the_others(check):
    status, out, err = check("fail()", "Skipped", "check", "-v", "hostile.py", "shutil", "good.py")
    assert status == 2
    assert "checked other" in out
    assert [line.partition(": ")[2][:30] for line in err.splitlines()] == [
        "error: the module hostile can'",
        "error: there are no dataclasse",
    ]


FORGED = "operator-schema: error: forged\n::error::forged\n##[error]forged"
VALUES = {
    "None": "None",
    "a number": "5",
    "bytes": "b'x'",
    "text": "'hostile.py'",
    "empty text": "''",
    "lines": f"'x\\n' + {FORGED!r}",
    "text of its own": "type('Text', (str,), {'__str__': fail, '__repr__': fail, '__format__': fail})('x')",
    "list": "[5, None, b'x', 'x\\0', 'y\\n']",
    "table": "{'x': 5}",
    "function": "fail",
    "class": f"type('Name\\n' + {FORGED!r}, (), {{}})",
    "object": f"type('Name\\n' + {FORGED!r}, (), {{}})()",
    "object that raises": "type('A', (), dict.fromkeys(['__getattribute__', '__iter__'], fail))()",
    "module": "__import__('types').ModuleType('Name\\n')",
    "other module": "__import__('math')",
    "simple": "__import__('types').SimpleNamespace(x=1)",
}
NAMES = [
    *("__all__", "__builtins__", "__cached__", "__class__", "__dict__", "__dir__", "__doc__", "__file__"),
    *("__getattr__", "__loader__", "__name__", "__package__", "__path__", "__prompts__", "__resources__"),
    *("__spec__", "__tools__", "__version__", "x"),
]
RAISED = {
    "a class with lines": f"raise type('Name\\n' + {FORGED!r}, (Exception,), {{}})('x')",
    "a text with lines": f"raise RuntimeError({FORGED!r})",
    "a group": f"raise ExceptionGroup({FORGED!r}, [ValueError({FORGED!r})])",
    "a missing module": f"raise ModuleNotFoundError('x', name={FORGED!r})",
    "a missing number": "raise ModuleNotFoundError('x', name=5)",
    "a missing object": "raise ModuleNotFoundError('x', name=type('A', (), {'__format__': fail})())",
    "a failing name": "raise type('E', (ModuleNotFoundError,), {'name': property(fail)})('x')",
    "a failing class": "raise type('M', (type,), {'__name__': property(fail)})('E', (Exception,), {})('x')",
    "a note": "error = ValueError('x'); error.__notes__ = 5; raise error",
    "a note on a schema": "error = operator_schema.SchemaError('x', []); error.__notes__ = 5; raise error",
    "findings": "raise operator_schema.SchemaError(5, 5)",
    "a file with lines": f"exec(compile('fail()', 'x\\n' + {FORGED!r}, 'exec'))",
    "a syntax": f"raise SyntaxError('x', ({FORGED!r}, 5, 5, {FORGED!r}))",
}
CODES = {
    **{f"{name} = {kind}": f"{name} = {value}" for name in NAMES for kind, value in VALUES.items()},
    **{
        f"sys.modules = {kind}": f"import sys\nsys.modules[__name__] = {value}"
        for kind, value in VALUES.items()
    },
    **{f"raise {kind}": code for kind, code in RAISED.items()},
    "types": f"A = dataclass(type('A\\n' + {FORGED!r}, (), {{'__annotations__': {{'x': int}}}}))",
    "removed": "import sys\ndel sys.modules[__name__]",
}


LARGE = 330
"""At least so many modules are looked at."""


@pytest.mark.slow("imports and checks hundreds of modules")
@pytest.mark.parametrize("ending", ["", ".py"])
def test_whatever_a_module_sets_or_raises_only_it_is_named(check, tmp_path, monkeypatch, ending):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    modules = {f"hostile_{number}": code for number, code in enumerate(CODES.values())}
    assert len(modules) >= LARGE
    for name, code in modules.items():
        text = PREAMBLE.replace("{error}", "RuntimeError") + GOOD.format(name=f"tool_of_{name}") + code
        (tmp_path / f"{name}.py").write_text(text)
    names = [name + ending for name in modules]
    status, out, err = check("", "RuntimeError", "check", "-v", "--level", "error", *names, "good.py")
    assert status == 2
    assert "checked other (tool, 1 parameter" in out
    named = [next(iter(re.findall(r"\bhostile_\d+\b", line)), "") for line in err.splitlines()]
    assert sorted(named) == sorted({*named} - {""})
    for line in err.splitlines():
        assert line.startswith("operator-schema: error: ")
        assert len(line) < 1_000
    for line in (*out.splitlines(), *err.splitlines()):
        assert not line.lstrip().startswith(("::", "forged", "operator-schema: error: forged"))
        assert "##[" not in line
        assert line.isprintable()
    assert "a module of Python itself" not in err
    for name, code in modules.items():
        is_elsewhere = code.startswith(("__all__", "__name__", "import sys"))
        assert name in named or f"checked tool_of_{name} " in out or is_elsewhere, code


def test_a_module_that_says_it_is_a_package_in_its_own_folder_is_listed_once(check):
    status, out, err = check("__path__ = ['.', 'gone', '.']", "RuntimeError", "check", "-v", "hostile")
    assert (status, err) == (0, "")
    assert out.count("checked beside ") == 1
    assert "checked other " in out
