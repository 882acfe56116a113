"""Valid code, broken in one or two places: each place is named, and no remedy breaks more."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

from operator_schema.code_tools import CodeBase

CODES = {
    "go": """package p

func f(a int) (int, error) {
	x := g([]int{1, 2})
	if h(x) {
		return x, nil
	}
	return 0, fmt.Errorf("no %d", a)
}

func k() {
	y := 1
	for i := range z(y) {
		w(func() { q(i) })
	}
}
""",
    "rust": """fn f(a: u8) -> u8 {
    let x = g([1, 2]);
    if h(x) {
        return x;
    }
    let b = q(a);
    b
}

fn k() {
    let y = 1;
    for i in z(y) {
        w(|| q(i));
    }
}
""",
    "typescript": """export function f(a: number): number {
  const x = g([1, 2]);
  if (h(x)) {
    return x;
  }
  const b = q({ a });
  return b;
}

class K {
  k(y = [1]) {
    const z = y.map((i) => { return w(i); });
    return z[0];
  }
}
""",
    "java": """class A {
  int f(int a) {
    int x = g(1, b[2]);
    if (h(x)) {
      return x;
    }
    int c = q(a);
    return c;
  }

  void k() {
    int y = 1;
    for (int i : z(y)) {
      w(i);
    }
  }
}
""",
    "c": """int f(int a) {
  int x = g(b[1], 2);
  if (h(x)) {
    return x;
  }
  int c = q(a);
  return c;
}

int k(void) {
  int y = 1;
  while (z(y)) {
    y = w(y);
  }
  return y;
}
""",
    "python": """def f(a: int) -> int:
    x = g([1, 2])
    if h(x):
        return x
    b = q({"a": a})
    return b


class K:
    def k(self, y=(1,)):
        try:
            z = [w(i) for i in y]
        except ValueError:
            z = []
        else:
            z = z[:1]
        return z
""",
}
WRONG = " =;= "
"""Two signs between which no language here allows anything."""


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return CodeBase(tmp_path_factory.mktemp("empty"))


def places(expression, code):
    return [match.start() for match in re.finditer(expression, code)]


def line_of(code, at):
    return code.count("\n", 0, at) + 1


def brackets_damaged(draw, code):
    """Take a bracket away, or put one in; return the place and the code."""
    at = draw(st.sampled_from(places(r"[(){}\[\]]", code)))
    if draw(st.booleans()):
        return at, code[:at] + code[at + 1 :]
    return at, code[: at + 1] + draw(st.sampled_from("()[]{}")) + code[at + 1 :]


def named(found):
    """Return the lines that errors have or tell of."""
    told = {int(line) for one in found["errors"] for line in re.findall(r"line (\d+)", one["message"])}
    return told | {int(one["position"].partition(":")[0]) for one in found["errors"]}


@pytest.mark.parametrize("language", CODES)
@given(data=st.data())
def test_each_assignment_that_is_broken_is_named_and_nothing_else(base, language, data):
    code = CODES[language]
    ways = places(r"(?<= )=(?= )|(?<=:)=", code)
    broken = data.draw(st.lists(st.sampled_from(ways), min_size=1, max_size=3, unique=True))
    for at in sorted(broken, reverse=True):
        code = code[: at + 1] + WRONG + code[at + 1 :]
    found = base.check_syntax(code, language=language)
    lines = {line_of(CODES[language], at) for at in broken}
    assert named(found) == lines, (code, found)


@pytest.mark.parametrize("language", CODES)
@given(data=st.data())
def test_a_wrong_bracket_hides_no_other_error(base, language, data):
    code = CODES[language]
    at, damaged = brackets_damaged(data.draw, code)
    first = base.check_syntax(damaged, language=language)
    if first["valid"]:
        return
    # A bracket that is lost is noticed in the next line with code, if what it held is a statement, too.
    assert min(named(first)) <= line_of(code, at) + 1 or code[at] in "([{", (damaged, first)
    far = [
        each
        for each in places(r"(?<= )=(?= )", damaged)
        if abs(line_of(damaged, each) - line_of(code, at)) > 2
    ]
    if far:
        other = data.draw(st.sampled_from(far))
        both = damaged[: other + 1] + WRONG + damaged[other + 1 :]
        found = base.check_syntax(both, language=language)
        assert line_of(damaged, other) in named(found), (both, found)


REMEDIES = {
    r"'.' closes what was never opened|unmatched": "Remove",
    r"'.' does not close": "Write",
    r"missing closing \w+: '.' of line|'.+' is missing": "Add",
}


def remedied(code, error, suggestions):
    """Return a code after what is suggested about one of its errors; None if it isn't clear what that is."""
    line, column = map(int, error["position"].split(":"))
    at = len("".join(code.splitlines(keepends=True)[: line - 1])) + column - 1
    for message, does in REMEDIES.items():
        fitting = [one for one in suggestions if one.startswith(does)]
        said = re.match(message, error["message"])
        if said is not None and len(fitting) == 1:
            if "is missing" in said[0] and fitting[0] != f"Add {said[0].partition(' is ')[0]}":
                return None
            if does == "Remove":
                return code[:at] + code[at + 1 :]
            return code[:at] + fitting[0].split("'")[1] + code[at:]
    return None


@pytest.mark.parametrize("language", CODES)
@given(data=st.data())
def test_a_remedy_breaks_no_more(base, language, data):
    _, damaged = brackets_damaged(data.draw, CODES[language])
    found = base.check_syntax(damaged, language=language)
    for error in found["errors"]:
        after = remedied(damaged, error, found.get("suggestions", []))
        if after is not None:
            then = base.check_syntax(after, language=language)
            assert len(then["errors"]) <= len(found["errors"]), (damaged, after, then)
