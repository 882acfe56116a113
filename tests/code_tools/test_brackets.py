"""Code with a wrong bracket and another error: both are told, and no remedy breaks more."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

from operator_schema.code_tools import CodeBase

CODES = {
    "go": "package p\nfunc f(a int) {\n\tx := g([]int{1, 2})\n\th(x)\n}\n\nfunc k() {\n\ty := 1\n}\n",
    "rust": "fn f(a: u8) {\n    let x = g([1, 2]);\n    h(x);\n}\n\nfn k() {\n    let y = 1;\n}\n",
    "typescript": "function f(a) {\n  let x = g([1, 2]);\n  h(x);\n}\n\nfunction k() {\n  let y = 1;\n}\n",
    "java": "class A {\n  void f() {\n    int x = g(1, b[2]);\n  }\n  void k() {\n    int y = 1;\n  }\n}\n",
    "c": "int f(int a) {\n  int x = g(b[1], 2);\n  return x;\n}\n\nint k() {\n  int y = 1;\n}\n",
}
CLOSING = ")]}"
LOST = [(name, at) for name, code in CODES.items() for at, sign in enumerate(code) if sign in CLOSING]
ADDED = [
    (name, at, sign)
    for name, code in CODES.items()
    for at in (code.index("{") + 1, code.index("x "), len(code))
    for sign in CLOSING
    # In a statement, nothing tells a brace too many from the end of the block.
    if sign != "}" or at != code.index("x ")
]


def damaged():
    """Yield codes with a bracket that is lost or too many, and one more error in another line."""
    for name, at in LOST:
        yield name, CODES[name][:at] + CODES[name][at + 1 :]
    for name, at, sign in ADDED:
        yield name, CODES[name][:at] + sign + CODES[name][at:]


DAMAGED = list(damaged())


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return CodeBase(tmp_path_factory.mktemp("empty"))


def lines_of(found):
    return {int(one["position"].partition(":")[0]) for one in found["errors"]}


@pytest.mark.parametrize("name", CODES)
def test_the_parsers_own_errors_are_told_beside_a_wrong_bracket(base, name):
    for language, code in DAMAGED:
        if language != name:
            continue
        alone = base.check_syntax(code, language=name)
        assert not alone["valid"], code
        both = re.sub(r"(y :?=)", r"\1 =", code)
        line = both[: both.index("= = ")].count("\n") + 1
        found = base.check_syntax(both, language=name)
        assert line in lines_of(found), (both, found)
        assert len(found["errors"]) > 1, both


def test_a_remedy_never_breaks_more(base):
    """What is suggested about a wrong bracket leaves fewer errors when it is done where the error is."""
    tried = 0
    for language, code in DAMAGED:
        found = base.check_syntax(code, language=language)
        for error in found["errors"]:
            line, column = map(int, error["position"].split(":"))
            at = len("".join(code.splitlines(keepends=True)[: line - 1])) + column - 1
            if "never opened" in error["message"] and any(
                "Remove" in one for one in found.get("suggestions", ())
            ):
                after = code[:at] + code[at + 1 :]
            elif "does not close" in error["message"] and found.get("suggestions"):
                after = code[:at] + found["suggestions"][0].split("'")[1] + code[at:]
            else:
                continue
            tried += 1
            then = base.check_syntax(after, language=language)
            assert len(then["errors"]) <= len(found["errors"]), (code, after)
    assert tried > 30
