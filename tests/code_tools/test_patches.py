"""Unified diffs: read, applied in memory, and what is said about the code after them."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

import patch_judge
from hypothesis import given
from hypothesis import strategies as st

from operator_schema import Executor, RawCall
from operator_schema.code_tools import CodeBase, code_tools
from operator_schema.code_tools.diffs import PatchError, applied, patches_in

TEXT = b"one\ntwo\nthree\nfour\nfive\nsix\n"


def patched(patch, source=TEXT):
    for one in patches_in(patch):
        source = applied(source, one).text
    return source


def hunk(body, header="--- a/f\n+++ b/f\n"):
    return f"{header}{body}"


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n", b"one\n2\nthree\nfour\nfive\nsix\n"),
        ("@@ -5,2 +5,3 @@\n five\n six\n+seven\n", TEXT + b"seven\n"),
        ("@@ -5,2 +5,2 @@\n five\n-six\n+six\n\\ No newline at end of file\n", TEXT[:-1]),
        ("@@ -1,2 +1 @@\n-one\n two\n", b"two\nthree\nfour\nfive\nsix\n"),
        ("@@ -2,3 +2,3 @@ def f():\n two\n-three\n+3\n four\n", b"one\ntwo\n3\nfour\nfive\nsix\n"),
        ("@@ -3,3 +3,3 @@\n two\n-three\n+3\n four\n", b"one\ntwo\n3\nfour\nfive\nsix\n"),
    ],
)
def test_hunks(body, after):
    assert patched(hunk(body)) == after


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        (hunk("@@ -2,3 +2,3 @@\n two\n-tree\n+3\n four\n"), "line 3 is 'three', not 'tree'"),
        (hunk("@@ -5,3 +5,3 @@\n five\n-six\n+6\n seven\n"), "line 7 is the end of the file, not 'seven'"),
        (hunk("@@ -2,3 +2,3 @@\n two\r\n-three\r\n+3\r\n four\r\n"), "they end differently: with CRLF"),
        (
            hunk("@@ -2,3 +2,2 @@\n two\n-three\n four\n-x\n"),
            "line 7 of the patch: the hunk before this line has more lines",
        ),
        (hunk("@@ -2,2 +2,1 @@\n two\n-three\n"), "no context follows its changes, so it must end the file"),
        (hunk("@@ -1,2 +1,1 @@\n-two\n three\n"), "line 1 is 'one', not 'two'"),
        (hunk("@@ -2,4 +2,3 @@\n two\n-three\n four\n"), "4 old and 3 new lines, but has 3 and 2"),
        (hunk("@@ -2,2 +2,2 @@\n two\n three\n"), "changes nothing"),
        (hunk("", "--- a/f\n+++ b/f\n"), "no hunk follows"),
        ("@@ -1 +1 @@\n-a\n+b\n", "line 1 of the patch: a hunk without the lines"),
        (hunk("@@ ... @@\n-a\n+b\n"), "a hunk begins with the lines before and after"),
        ("--- /dev/null\n+++ /dev/null\n@@ -0,0 +1 @@\n+a\n", "both names are /dev/null"),
        ("x = 1\n", "this isn't a patch"),
        ("diff --git a/f b/g\n", "the names of the file aren't clear"),
        ("diff --git a/f b/f\nGIT binary patch\n", "a binary patch can't be checked"),
        ("--- /dev/null\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", "can't have lines before the patch"),
        ("--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n", "doesn't fit"),
    ],
)
def test_what_does_not_fit_says_why(patch, said):
    with pytest.raises(PatchError) as caught:
        patched(patch)
    assert said in str(caught.value)


def test_a_file_that_is_deleted_must_be_empty_afterwards():
    with pytest.raises(PatchError, match="leaves 1 lines of it"):
        patched(
            "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n two\n".replace("-1 +0,0", "-1,2 +1"), b"one\ntwo\n"
        )


def test_a_hunk_is_moved_to_where_it_fits():
    (one,) = patches_in(hunk("@@ -2,3 +2,3 @@\n two\n-three\n+3\n four\n"))
    done = applied(b"a\nb\n" + TEXT, one)
    assert (done.text, done.moved) == (b"a\nb\none\ntwo\n3\nfour\nfive\nsix\n", (2,))


def test_a_patch_may_lack_its_last_line_end():
    assert patched(hunk("@@ -5,2 +5,2 @@\n five\n-six\n+6")) == TEXT.replace(b"six", b"6")


def test_text_that_repeats_itself_is_bounded():
    body = " x\n" * 3000 + "-y\n+z\n" + " x\n" * 3000
    (one,) = patches_in(hunk(f"@@ -5,6001 +5,6001 @@\n{body}"))
    with pytest.raises(PatchError, match="takes too long"):
        applied(b"x\n" * 100_000, one)


@pytest.mark.parametrize(
    ("patch", "names"),
    [
        ("diff --git a/x y b/x y\nnew file mode 100644\n", (None, "x y")),
        ("diff --git a/x b/x\ndeleted file mode 100644\n", ("x", None)),
        ("diff --git a/x b/z\nsimilarity index 100%\nrename from x\nrename to z\n", ("x", "z")),
        (
            'diff --git "a/f\\303\\251\\t" "b/f\\303\\251\\t"\nold mode 100644\nnew mode 100755\n',
            ("fé\t", "fé\t"),
        ),
        ('--- "a/q\\"s"\n+++ "b/q\\"s"\n@@ -1 +1 @@\n-a\n+b\n', ('q"s', 'q"s')),
        ("--- a/x\t2020-01-01\n+++ b/x\t2020-01-01\n@@ -1 +1 @@\n-a\n+b\n", ("x", "x")),
        ("--- x.py\n+++ x.py\n@@ -1 +1 @@\n-a\n+b\n", ("x.py", "x.py")),
    ],
)
def test_names(patch, names):
    (one,) = patches_in(patch)
    assert (one.old, one.new) == names


@pytest.mark.needs_process
@pytest.mark.skipif(not patch_judge.is_there(), reason="git isn't installed")
@pytest.mark.slow("starts git some hundred times")
def test_git_applies_what_is_applied_here(tmp_path):
    fits = 0
    for seed in range(120):
        draw = random.Random(seed)  # noqa: S311  # the same cases each time
        said, fit = patch_judge.disagreement(patch_judge.random_case(draw, tmp_path), tmp_path)
        assert said is None
        fits += fit
    assert 36 <= fits <= 108


@given(st.text("+-@ \\\nab1,/\r\t", max_size=200))
def test_any_text_is_a_patch_or_an_error(text):
    try:
        patched(hunk("@@ -1 +1 @@\n") + text, b"a\n")
    except PatchError as error:
        assert str(error)


FILES = {
    "shop/users.py": """from shop.names import clean


class Users:
    def add(self, name):
        return clean(name)

    def drop(self):
        pass
""",
    "shop/names.py": """LIMIT = 5


def clean(name):
    # clean it
    return name.strip()


def other():
    return clean('clean')
""",
    "web/app.ts": "export function run() {\n  return 1;\n}\n",
    "notes.txt": "clean\n",
    "broken.py": "x = (\n",
}


@pytest.fixture
def code(tmp_path):
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return CodeBase(tmp_path)


GONE = """--- a/shop/names.py
+++ b/shop/names.py
@@ -1,10 +1,6 @@
 LIMIT = 5


-def clean(name):
-    # clean it
-    return name.strip()
-
-
 def other():
     return clean('clean')
"""


def test_what_vanishes_and_where_its_name_remains(code):
    found = code.check_patch(GONE.replace("+1,6", "+1,5"))
    assert found == {
        "applies": True,
        "valid": True,
        "files": [{"path": "shop/names.py", "status": "changed"}],
        "vanished": [
            {
                "name": "clean",
                "kind": "func",
                "location": "shop/names.py:4",
                "remaining": ["shop/names.py:5", "shop/users.py:1 (certain)", "shop/users.py:6 (certain)"],
            }
        ],
    }
    assert (code.root / "shop/names.py").read_text() == FILES["shop/names.py"]


def test_errors_after_a_patch(code):
    header = "--- a/web/app.ts\n+++ b/web/app.ts\n@@ -1,3 +1,3 @@\n"
    patch = f"{header} export function run() {{\n-  return 1;\n+  return (1;\n }}\n"
    found = code.check_patch(f"```diff\n{patch}```")
    assert (found["applies"], found["valid"]) == (True, False)
    assert found["files"][0]["errors"][0]["message"] == (
        "missing closing parenthesis: '(' of line 2 is never closed"
    )
    assert "vanished" not in found


def test_errors_that_were_there_before_are_not_new(code):
    found = code.check_patch("--- a/broken.py\n+++ b/broken.py\n@@ -1 +1,2 @@\n x = (\n+y = 1\n")
    assert found["valid"]
    assert found["files"][0]["note"] == "A part of it can't be read, as before the patch."


def test_files_that_are_new_renamed_and_deleted(code):
    found = code.check_patch(
        "diff --git a/new.py b/new.py\nnew file mode 100644\n"
        "--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+def made(:\n"
        "diff --git a/shop/names.py b/shop/texts.py\n"
        "rename from shop/names.py\nrename to shop/texts.py\n"
        "diff --git a/web/app.ts b/web/app.ts\ndeleted file mode 100644\n"
        "--- a/web/app.ts\n+++ /dev/null\n"
        "@@ -1,3 +0,0 @@\n-export function run() {\n-  return 1;\n-}\n"
        "--- a/notes.txt\n+++ b/notes.txt\n@@ -1 +1 @@\n-clean\n+run\n"
    )
    assert not found["valid"]
    assert [(one["path"], one["status"]) for one in found["files"]] == [
        ("new.py", "new"),
        ("shop/texts.py", "renamed"),
        ("shop/names.py", "moved away"),
        ("web/app.ts", "deleted"),
        ("notes.txt", "changed"),
    ]
    assert found["files"][0]["errors"][0]["position"].startswith("1:")
    assert found["files"][1]["old_path"] == "shop/names.py"
    assert [one["name"] for one in found["vanished"]] == ["run"]


def test_several_patches_of_one_file_follow_each_other(code):
    first = "--- a/notes.txt\n+++ b/notes.txt\n@@ -1 +1 @@\n-clean\n+one\n"
    second = first.replace("+one", "+two").replace("-clean", "-one")
    assert code.check_patch(first + second)["applies"]
    assert "line 1 is 'one', not 'clean'" in code.check_patch(first + first)["error"]


@pytest.mark.parametrize(
    "path", ["../x.py", "/etc/passwd", "a/../../x", ".git/config", "a\\b", "C:/x", "a//b", "link.py"]
)
def test_no_file_outside_of_the_root_is_read(code, path, tmp_path_factory):
    if path == "link.py":
        outside = tmp_path_factory.mktemp("outside") / "x.py"
        outside.write_text("a\n")
        try:
            (code.root / "link.py").symlink_to(outside)
        except OSError:
            pytest.skip("links aren't allowed here")
    found = code.check_patch(f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n")
    assert (found["applies"], found["valid"]) == (False, False)
    assert "isn't a path below the root" in found["error"] or "link" in found["error"]


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ("--- a/no.py\n+++ b/no.py\n@@ -1 +1 @@\n-a\n+b\n", "no.py can't be patched: there is no such file"),
        ("--- /dev/null\n+++ b/notes.txt\n@@ -0,0 +1 @@\n+a\n", "notes.txt is there already"),
        (
            "--- a/notes.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-clean\n" * 2,
            "an earlier part of the patch removes it",
        ),
        ("--- a/notes.txt\n+++ b/notes.txt\n@@ -1 +1 @@\n-clean\n+a\n" * 201, "changes 201 files"),
        ("x" * 500_001, "longer than 500,000 characters"),
    ],
)
def test_a_patch_that_does_not_apply_says_why(code, patch, said):
    assert said in code.check_patch(patch)["error"]


def test_members_of_a_class_that_vanishes_go_without_saying(code):
    lines = FILES["shop/users.py"].splitlines(keepends=True)
    removed = "".join(f"-{line}" for line in lines[3:])
    header = "--- a/shop/users.py\n+++ b/shop/users.py\n@@ -1,9 +1,3 @@\n"
    found = code.check_patch(f"{header} {' '.join(lines[:3])}{removed}")
    assert [one["name"] for one in found["vanished"]] == ["Users"]


def test_the_tool(code):
    tools = code_tools(code.root)
    result = Executor(tools).run_sync(RawCall(None, "check_patch", {"diff": "x"}))
    assert result.value["error"].startswith("this isn't a patch")


@pytest.mark.needs_process
@pytest.mark.skipif(not patch_judge.is_there() or sys.platform == "win32", reason="git isn't installed")
def test_git_names_files_as_they_are_read_here(code):
    def git(*command):
        return subprocess.run(
            [patch_judge.GIT, *command], cwd=code.root, capture_output=True, text=True, check=True
        ).stdout

    git("init", "-q")
    git("add", "-A")
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a")
    (code.root / "a é.py").write_text("x = 1\n")
    (code.root / "shop/names.py").rename(code.root / "shop/tëxts.py")
    (code.root / "notes.txt").unlink()
    git("add", "-A")
    patch = git("diff", "--cached", "-M")
    git("reset", "-q", "--hard")
    found = code.check_patch(patch)
    assert (found["applies"], found["valid"]) == (True, True)
    assert {one["path"]: one["status"] for one in found["files"]} == {
        "a é.py": "new",
        "notes.txt": "deleted",
        "shop/tëxts.py": "renamed",
        "shop/names.py": "moved away",
    }
