"""Files whose paths aren't UTF-8: what is shown of them can be asked for."""

from __future__ import annotations

import json
import os
import sys

import pytest

from operator_schema import CallError, Executor, RawCall
from operator_schema.code_tools import CodeBase, code_tools
from operator_schema.code_tools.undecodable_paths import path_meant, paths_shown_as

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")

FILES = {
    b"a\xe9.py": b"def of_latin():\n    return 1\n\n\nof_latin()\n",
    b"p\xff/m.py": b"def of_folder():\n    return 1\n",
    b"plain.py": b"def of_plain():\n    return 1\n",
}


@pytest.fixture
def root(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / os.fsdecode(name)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text)
    return tmp_path


@pytest.mark.needs_threads
def test_a_model_can_ask_for_what_it_was_shown(root, caplog):
    executor = Executor(code_tools(root))

    def answer(name, /, **arguments):
        return json.loads(executor.run_sync(RawCall("1", name, arguments)).content)

    locations = {each["name"]: each["location"] for each in answer("search", pattern="of_*")["results"]}
    assert locations == {"of_latin": "a�.py:1", "of_folder": "p�/m.py:1", "of_plain": "plain.py:1"}
    for name, location in locations.items():
        assert answer("inspect", name=location)["name"] == name
        assert answer("read_func", name=f"{location.rpartition(':')[0]}:{name}")["name"] == name
    assert answer("search", pattern="a�.py:*")["results"][0]["name"] == "of_latin"
    assert answer("overview", path="p�")["files"] == 1
    assert answer("references", name="of_latin", path="./a�.py")["places"]
    assert caplog.messages == []


def test_a_path_that_is_not_there_is_still_not_there(root):
    code = CodeBase(root)
    assert code.inspect("b�.py:of_latin")["reason"] == "no such file"
    assert code.inspect("a�.pyx:of_latin")["found"] is False


def test_paths_that_are_shown_as_the_same_are_nobodys():
    shown = paths_shown_as(["a\udce9.py", "a\udce8.py", "f\udcff/x.py", "f\udcff/y\udcff.py", "plain.py"])
    whole = {"f�": "f\udcff", "f�/x.py": "f\udcff/x.py", "f�/y�.py": "f\udcff/y\udcff.py"}
    assert shown == {"a�.py": None, **whole}
    assert path_meant("a�.py:3", shown) == "a�.py:3"
    assert path_meant("f�/y�.py:3", shown) == "f\udcff/y\udcff.py:3"
    assert path_meant("f�/z.py:3", shown) == "f\udcff/z.py:3"
    assert path_meant("f�x:3", shown) == "f�x:3"


def code_base_of(folder, *names):
    for number, name in enumerate(names):
        path = folder / os.fsdecode(name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"def of_{number}():\n    return {number}\n")
    return CodeBase(folder)


def test_a_path_that_is_really_written_like_that_is_itself(tmp_path):
    code = code_base_of(tmp_path, "a�.py".encode(), b"a\xff.py", b"d\xff/x.py", "d�/y.py".encode())
    assert [one["name"] for one in code.search("a�.py:*")["results"]] == ["of_0"]
    assert [one["name"] for one in code.search("d�/y.py:*")["results"]] == ["of_3"]
    assert [one["name"] for one in code.search("d�/x.py:*")["results"]] == ["of_2"]


def test_paths_that_cannot_be_asked_for_are_shown_all_the_same(tmp_path):
    code = code_base_of(tmp_path, b"a\xfe.py", b"a\xff.py")
    assert [one["location"] for one in code.search("of_*")["results"]] == ["a�.py:1", "a�.py:1"]
    assert code.inspect("of_1")["location"] == "a�.py:1"


def test_what_is_said_of_such_a_path_can_be_written(root):
    code = CodeBase(root)
    for name in ("p�", "p�/../../etc/passwd"):
        assert json.dumps(code.inspect(name), ensure_ascii=False).encode()
    with pytest.raises(CallError, match=r"There is no file p�/none\.py") as caught:
        code.check_syntax("x = 1", inside="p�/none.py:f")
    assert caught.value.message.encode()


def change(name, old="def of_latin():", new="def of_iso():"):
    """Return a patch for one line, with names as they stand after `---` and `+++`."""
    return f"--- {name('a')}\n+++ {name('b')}\n@@ -1,2 +1,2 @@\n-{old}\n+{new}\n     return 1\n"


NAMES = {
    "as it is shown": lambda side: f"{side}/a�.py",
    "as git writes it": lambda side: rf'"{side}/a\351.py"',
    "as Python reads its bytes": lambda side: f"{side}/a\udce9.py",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_patch_can_change_such_a_file(root, name):
    found = CodeBase(root).check_patch(change(name))
    assert found["files"] == [{"path": "a�.py", "status": "changed"}]
    vanished = {"name": "of_latin", "kind": "func", "location": "a�.py:1", "remaining": ["a�.py:5"]}
    assert found["vanished"] == [vanished]


def test_a_patch_can_move_such_a_file_and_add_one_beside_it(root):
    moved = "diff --git {0} {1}\nsimilarity index 100%\nrename from {2}\nrename to {3}\n"
    patch = "--- /dev/null\n+++ b/p�/new.py\n@@ -0,0 +1 @@\n+x = 1\n"
    patch += moved.format('"a/p\\377/m.py"', '"b/p\\377/n.py"', '"p\\377/m.py"', '"p\\377/n.py"')
    files = CodeBase(root).check_patch(patch)["files"]
    assert {"path": "p�/n.py", "status": "renamed", "old_path": "p�/m.py"} in files
    assert {"path": "p�/new.py", "status": "new"} in files
    patch = "--- /dev/null\n+++ b/p�/m.py\n@@ -0,0 +1 @@\n+x = 1\n"
    assert "p�/m.py is there already" in CodeBase(root).check_patch(patch)["error"]


def test_a_patch_for_one_of_two_files_that_are_shown_as_the_same(tmp_path):
    code = code_base_of(tmp_path, b"a\xfe.py", b"a\xff.py")
    other = {"old": "def of_1():", "new": "def of_9():"}
    assert code.check_patch(change(lambda side: rf'"{side}/a\377.py"', **other))["applies"]
    refused = code.check_patch(change(lambda side: f"{side}/a�.py", **other))
    assert "several paths are shown like this: write its bytes as git does" in refused["error"]


@pytest.mark.parametrize(
    "path", [r'"a\351.py"', os.fsdecode(b"a\xe9.py"), "a�.py", " a�.py", "a�.py:3", "\ud800"]
)
def test_an_answer_about_a_patch_can_be_written(tmp_path, path):
    code = CodeBase(tmp_path)
    for old, hunk, applies in (("/dev/null", "@@ -0,0 +1 @@", True), (path, "@@ -1 +1 @@\n-x", False)):
        found = code.check_patch(f"--- {old}\n+++ {path}\n{hunk}\n+y\n")
        assert found["applies"] == applies, found
        assert json.dumps(found, ensure_ascii=False).encode()


def test_a_path_of_a_patch_is_nothing_but_a_path(root):
    for path in (" a�.py", "a�.py:of_latin"):
        refused = CodeBase(root).check_patch(change(lambda _, path=path: path))
        assert "there is no such file" in refused["error"]
