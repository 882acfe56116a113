"""Where declarations begin and end, in each language."""

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

from operator_schema.code_tools.language import language_named

PYTHON = '''\
LIMIT = [
    1,
    2,
]
a, b = (
    1, 2
)


@decorated(
    1
)
class Box:
    """A box."""

    side: int = (
        3
    )

    @property
    def area(
        self,
    ):
        return (
            self.side ** 2
        )


def last(): pass
'''
GO = """\
package p

const (
	A = 1
	B = `
two lines`
)

var x = map[string]int{
	"a": 1,
}

type Box struct {
	Side int
	Name string
}

type Shape interface {
	Area() int
}

func (b Box) Area(
) int {
	return 1
}
"""
RUST = """\
const A: [u8; 2] = [
    1, 2,
];

struct Box {
    side: u8,
}

impl Box {
    fn area(
        &self,
    ) -> u8 {
        1
    }
}

enum Kind {
    One,
    Two,
}

trait Shape {
    fn area(&self) -> u8;
}
"""


@pytest.mark.parametrize(("language", "source"), [("python", PYTHON), ("go", GO), ("rust", RUST)])
def test_the_lines_of_a_declaration_are_those_of_its_text(language, source):
    text = source.encode()
    found = language_named(language).parse(text).declarations
    assert len(found) > 5
    for one in found:
        first, last = (text[:place].count(b"\n") + 1 for place in (one.whole.start, one.whole.end))
        name = one.name.encode()
        assert (one.qualified, last) == (one.qualified, one.last_line)
        assert first <= one.line <= last
        assert name in text.split(b"\n")[one.line - 1]
        assert name in text[one.whole.start : one.whole.end]
