"""What a comment above a declaration says, without the marks that make it a comment."""

from textwrap import dedent

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

from operator_schema.code_tools.language import language_named
from operator_schema.code_tools.source_text import doc_text


def doc_of(language, source):
    """Return what is said of the only declaration that has a comment or a docstring."""
    text = dedent(source).encode()
    (found,) = [one for one in language_named(language).parse(text).declarations if one.doc.end]
    return doc_text(text, found)


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("// F does.", "F does."),
        ("//F does.", "F does."),
        ("// F does:\n//\n//\tcode\n// and ends.", "F does:\n\n\tcode\nand ends."),
        ("/* F does. */", "F does."),
        ("/* F does:\n\n      code\n\n   and ends.\n*/", "F does:\n\n      code\n\n   and ends."),
        ("/*\n * F does:\n *\n *   code\n * and ends.\n */", "F does:\n\n  code\nand ends."),
        ("/* One. */\n/* Two. */", "One.\nTwo."),
        ("/* One. */\n// Two.", "One.\nTwo."),
        ("/* One:\n   // no mark\n*/\n// Two.", "One:\n   // no mark\n\nTwo."),
    ],
)
def test_marks_of_comments_are_left_out(comment, said):
    assert doc_of("go", f"package p\n\n{comment}\nfunc F() {{}}\n") == said


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("/// Does.\n    /// More.", "Does.\nMore."),
    ],
)
def test_marks_of_comments_inside_of_a_block_are_left_out(comment, said):
    assert doc_of("rust", f"impl A {{\n    {comment}\n    fn f() {{}}\n}}\n") == said


@pytest.mark.parametrize(
    ("comment", "is_doc"),
    [
        ("/// Does.", True),
        ("/** Does. */", True),
        ("/**\n * Does.\n */", True),
        ("//// Does.", False),
        ("/*** Does. */", False),
        ("/* Does. */", False),
        ("//! Does.", False),
        ("/**/", False),
    ],
)
def test_rust_has_two_kinds_of_doc_comments(comment, is_doc):
    (found,) = language_named("rust").parse(f"{comment}\nfn f() {{}}\n".encode()).declarations
    assert (found.doc.end > 0) == is_doc


@pytest.mark.parametrize(
    ("doc", "said"),
    [
        ('"""Do it."""', "Do it."),
        ('"""\n    Do it.\n\n        code\n    """', "Do it.\n\n    code"),
        ("'''Do it.\n\n    More.\n    '''", "Do it.\n\nMore."),
    ],
)
def test_a_docstring_has_no_indentation(doc, said):
    assert doc_of("python", f"def f():\n    {doc}\n") == said
