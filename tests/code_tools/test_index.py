"""The index follows the files, whatever happens to them."""

from __future__ import annotations

import os
import random
import shutil
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

import git_judge
from hypothesis import given
from hypothesis import strategies as st

from operator_schema import CallError
from operator_schema.code_tools import CodeBase
from operator_schema.code_tools.ignore_rules import RuleFile
from operator_schema.code_tools.index import Index
from operator_schema.code_tools.parsing import missing_package
from operator_schema.code_tools.source_files import MOST_BYTES, read_source
from operator_schema.code_tools.source_text import source_of


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def names(base):
    return sorted(one["name"] for one in base.search("*", limit=200)["results"])


def test_changed_new_and_removed_files_are_seen_at_the_next_call(tmp_path):
    write(tmp_path / "a.py", "def one(): ...\n")
    base = CodeBase(tmp_path)
    assert names(base) == ["one"]
    write(tmp_path / "a.py", "def two(): ...\n")  # the same size, perhaps in the same tick of the clock
    assert names(base) == ["two"]
    write(tmp_path / "deep" / "er" / "b.py", "class Three: ...\n")
    assert names(base) == ["Three", "two"]
    (tmp_path / "a.py").unlink()
    assert names(base) == ["Three"]
    (tmp_path / "deep").rename(tmp_path / "other")
    assert base.inspect("Three")["location"] == "other/er/b.py:1"
    shutil.rmtree(tmp_path / "other")
    assert names(base) == []


def test_only_what_has_changed_is_parsed_again(tmp_path):
    for number in range(5):
        write(tmp_path / f"m{number}.py", f"X{number} = 1\n")
    base = CodeBase(tmp_path)
    seen = []
    assert base.refresh(lambda done, of: seen.append((done, of))) == 5
    assert seen == [(number + 1, 5) for number in range(5)]
    write(tmp_path / "m3.py", "Y = 22\n")
    assert base.refresh() == 1
    os.utime(tmp_path / "m4.py")  # another time, the same content
    assert base.refresh() == 0
    assert names(base) == ["X0", "X1", "X2", "X4", "Y"]


def test_broken_files_are_read_as_far_as_they_can_be(tmp_path):
    write(tmp_path / "a.py", "def good(): ...\n\ndef bad(:\n\nclass After:\n    def method(self): ...\n")
    (tmp_path / "b.py").write_bytes(b"# -*- coding: latin-1 -*-\nname = '\xe9'\ndef after(): ...\n")
    write(tmp_path / "c.go", "package c\nfunc Good() {}\nfunc Bad( {\nfunc After() {}\n")
    base = CodeBase(tmp_path)
    found = names(base)
    assert {"good", "name", "after", "Good"} <= set(found)


def test_files_that_are_not_read_are_named(tmp_path):
    (tmp_path / "binary.py").write_bytes(b"x = 1\0")
    with (tmp_path / "large.py").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    write(tmp_path / "good.py", "x = 1\n")
    base = CodeBase(tmp_path)
    assert names(base) == ["x"]
    assert base.skipped == {
        "binary.py": "it is a binary file",
        "large.py": "it has 10,000,001 bytes, more than 10,000,000",
    }
    assert "2 files under the root aren't read, such as " in base.inspect("nothing_like_it")["note"]
    write(tmp_path / "binary.py", "y = 2\n")
    assert names(base) == ["x", "y"]
    assert list(base.skipped) == ["large.py"]


def test_links_are_not_followed(tmp_path):
    write(tmp_path / "outside" / "secret.py", "SECRET = 1\n")
    root = tmp_path / "root"
    write(root / "a.py", "x = 1\n")
    (root / "link.py").symlink_to(tmp_path / "outside" / "secret.py")
    (root / "folder").symlink_to(tmp_path / "outside")
    base = CodeBase(root)
    assert names(base) == ["x"]
    (root / "a.py").unlink()
    (root / "a.py").symlink_to(tmp_path / "outside" / "secret.py")
    assert names(base) == []
    os.mkfifo(root / "pipe.py")
    assert names(base) == []


@pytest.mark.needs_threads
def test_files_that_change_while_they_are_read(tmp_path):
    path = tmp_path / "a.py"
    write(path, "def f0(): return 0\n")
    base = CodeBase(tmp_path)
    done = False

    def writing():
        number = 0
        while not done:
            number += 1
            other = tmp_path / "new"
            write(other, f"# {'x' * (number % 50)}\ndef f{number}(): return {number}\n")
            other.replace(path)

    def reading():
        for _ in range(100):
            try:
                (one,) = base.search("f*")["results"]
                found = base.read_func(one["name"])
            except CallError as error:
                assert "change while they are read" in str(error)
                continue
            if found["found"]:
                number = one["name"][1:]
                assert found["implementation"] == f"def f{number}(): return {number}"

    with ThreadPoolExecutor() as pool:
        writer = pool.submit(writing)
        readers = [pool.submit(reading) for _ in range(2)]
        try:
            for reader in readers:
                reader.result()
        finally:
            done = True
        writer.result()


# --- what git would ignore ---------------------------------------------------------------------------


@pytest.mark.needs_process
@pytest.mark.slow("asks git")
@pytest.mark.parametrize("seed", range(3))
def test_the_files_are_those_that_git_would_not_ignore(seed):
    if not git_judge.is_there():
        pytest.skip("there is no git")
    draw = random.Random(seed)  # noqa: S311  # the same cases each time
    assert git_judge.differences(list(git_judge.cases(draw, 100))) == []


def ignored(rules, path, *, is_folder=False):
    rule = RuleFile(rules.encode()).rule_for(path.encode(), is_folder=is_folder)
    return None if rule is None else not rule.is_negative


@pytest.mark.parametrize(
    ("rules", "path", "expected"),
    [
        ("a/**\n!c.py", "a/b/c.py", False),
        ("a/**", "a", None),
        ("a**/b", "a/x/b", True),  # git compares `a` alone, and reads `**/b`
        ("a**/b", "ab", True),
        ("**/a*b", "ax/ab", True),
        ("a/**/b", "a/b", True),
        ("a/*/b", "a/x/y/b", None),
        ("/**", "a/b", True),
        ("a/**\\/b", "a/x/b", True),
        ("a/**\\/b", "a/b", None),
        ("[]a].py", "].py", True),
        ("[!a].py", "a.py", None),
        ("[b-a].py", "a.py", None),
        ("[![b-a]].py", "x].py", True),
        ("[![b-a].py", "[.py", None),
        ("[^b-a].py", "x.py", True),
        ("[[:alpha:]-].py", "-.py", True),
        ("[[:nope:]].py", "n.py", None),
        ("[[:].py", ":.py", True),
        ("[a.py", "[a.py", None),
        ("[a\\", "a", None),
        ("a\\", "a\\", None),
        ("*x*\\", "x", None),
        ("a/[b]c?", "a/bcd", True),
        ("\\#a\n#b", "#a", True),
        ("#b", "#b", None),
        ("a\\ ", "a ", True),
        ("a ", "a", True),
        ("a\r\n", "a", True),
        ("\ufeffa", "a", True),
        (f"{'a' * 3000}*", "a" * 3000, None),
    ],
)
def test_a_rule_says_what_git_reads_in_it(rules, path, expected):
    assert ignored(rules, path) is expected


def test_a_repository_whose_rules_are_a_list_of_what_is_allowed_is_read(tmp_path):
    write(tmp_path / ".gitignore", "*\n!*/\n!*.py\n")
    write(tmp_path / "pkg" / "b.py", "def f(): pass\n")
    write(tmp_path / "pkg" / "c.go", "package c\n")
    base = CodeBase(tmp_path)
    assert base.inspect("f")["location"] == "pkg/b.py:1"
    missed = base.inspect("pkg/c.go:x")
    assert missed["reason"] == "ignored"
    assert missed["note"] == "pkg/c.go is ignored, by .gitignore:1 *."
    assert "Rules of git ignore 1 files and folders, such as pkg/c.go." in base.inspect("nothing")["note"]


def test_rules_that_change_are_seen(tmp_path):
    write(tmp_path / "a" / "x.py", "x = 1\n")
    write(tmp_path / "y.py", "y = 1\n")
    base = CodeBase(tmp_path)
    assert names(base) == ["x", "y"]
    write(tmp_path / ".gitignore", "a/\n")
    assert names(base) == ["y"]
    write(tmp_path / ".gitignore", "y.py\n")
    assert names(base) == ["x"]
    (tmp_path / ".gitignore").unlink()
    assert names(base) == ["x", "y"]


# --- the cache ---------------------------------------------------------------------------------------


def parsed_by(root, cache):
    return CodeBase(root, cache=cache).refresh()


def test_a_cache_spares_the_next_process_the_parsing(tmp_path):
    root, cache = tmp_path / "root", tmp_path / "cache" / "index.db"
    write(root / "a.py", "def one(x: int = 1) -> str:\n    '''Doc.'''\n")
    write(root / "b.go", "package b\nfunc Two() {}\n")
    assert parsed_by(root, cache) == 2
    assert parsed_by(root, cache) == 0
    assert CodeBase(root, cache=cache).inspect("one") == CodeBase(root).inspect("one")
    write(root / "a.py", "def three(): ...\n")
    assert parsed_by(root, cache) == 1
    assert names(CodeBase(root, cache=cache)) == ["Two", "three"]


@pytest.mark.parametrize("keeps", [72, 100, 500, 5000])
def test_a_damaged_cache_is_made_anew_while_it_says_that_it_is_ours(tmp_path, keeps):
    root, cache = tmp_path / "root", tmp_path / "index.db"
    write(root / "a.py", "x = 1\n")
    assert parsed_by(root, cache) == 1
    whole = cache.read_bytes()
    for damage in (whole[:keeps], whole[:keeps] + bytes(len(whole) - keeps)):
        cache.write_bytes(damage)
        assert parsed_by(root, cache) == 1
        assert parsed_by(root, cache) == 0


def database(path):
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE files (name TEXT)")
        connection.execute("INSERT INTO files VALUES ('the only copy')")


OTHERS = {
    "an empty file": lambda path: path.write_bytes(b""),
    "a text": lambda path: path.write_text("the only copy\n"),
    "a source": lambda path: path.write_text("def f(): ...\n"),
    "one byte": lambda path: path.write_bytes(b"x"),
    "a header of sqlite": lambda path: path.write_bytes(b"SQLite format 3\0" + bytes(200)),
    "a database": database,
    "an image": lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100)),
    "a folder": lambda path: path.mkdir(),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_a_file_of_something_else_is_never_touched(tmp_path, kind):
    root, cache = tmp_path / "root", tmp_path / "other"
    write(root / "a.py", "x = 1\n")
    OTHERS[kind](cache)
    before = cache.read_bytes() if cache.is_file() else None
    with pytest.raises(ValueError, match=r"^the cache .*other (is something else|isn't a plain file)"):
        CodeBase(root, cache=cache)
    assert (cache.read_bytes() if cache.is_file() else None) == before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["other", "root"]


SWAPS = {
    "itself": lambda other, cache: other.rename(cache),
    "a link": lambda other, cache: cache.symlink_to(other),
    "a hard link": lambda other, cache: cache.hardlink_to(other),
}


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize("swap", SWAPS)
@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("has_cache", [False, True])
def test_what_is_put_in_place_of_a_cache_while_it_is_opened_is_not_touched(
    tmp_path, monkeypatch, has_cache, kind, swap
):
    import sqlite3

    from operator_schema.code_tools import index_cache

    if kind == "a folder" and swap == "a hard link":
        pytest.skip("folders have no hard links")
    root, cache, other = tmp_path / "root", tmp_path / "index.db", tmp_path / "other"
    write(root / "a.py", "x = 1\n")
    if has_cache:
        parsed_by(root, cache)
    base = CodeBase(root, cache=cache)
    OTHERS[kind](other)
    before = other.read_bytes() if other.is_file() else None
    connect, swapped = sqlite3.connect, []

    def connect_late(path, *args, **kwargs):
        if str(path).partition("?")[0].endswith("index.db") and not swapped:
            cache.unlink()
            SWAPS[swap](other, cache)
            swapped.append(path)
        return connect(path, *args, **kwargs)

    monkeypatch.setattr(index_cache.sqlite3, "connect", connect_late)
    base.refresh()
    write(root / "b.py", "y = 1\n")
    base.refresh()
    assert swapped
    assert names(base) == ["x", "y"]
    assert (cache.read_bytes() if cache.is_file() else None) == before
    assert cache.is_symlink() == (swap == "a link")


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes need rights there")
@pytest.mark.parametrize("kind", ["a link", "a link to a cache", "a link to nothing", "a pipe"])
def test_links_and_pipes_are_never_touched(tmp_path, kind):
    root, cache, target = tmp_path / "root", tmp_path / "other", tmp_path / "target"
    write(root / "a.py", "x = 1\n")
    if kind == "a link":
        target.write_text("the only copy\n")
    elif kind == "a link to a cache":
        parsed_by(root, target)
    before = target.read_bytes() if target.exists() else None
    if kind == "a pipe":
        os.mkfifo(cache)
    else:
        cache.symlink_to(target)
    with pytest.raises(ValueError, match=r"^the cache .*other "):
        CodeBase(root, cache=cache)
    assert cache.is_symlink() or cache.is_fifo()
    assert (target.read_bytes() if target.exists() else None) == before


BESIDE = {
    "a text": lambda path, _: path.write_text("the only copy\n"),
    "a hard link": lambda path, other: path.hardlink_to(other),
    "a folder": lambda path, _: path.mkdir(),
}


@pytest.mark.parametrize("end", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("kind", BESIDE)
@pytest.mark.parametrize("has_cache", [False, True])
def test_what_lies_where_sqlite_would_write_is_not_touched(tmp_path, has_cache, kind, end):
    root, cache, other = tmp_path / "root", tmp_path / "index.db", tmp_path / "other"
    write(root / "a.py", "x = 1\n")
    other.write_bytes(b"")
    if has_cache:
        parsed_by(root, cache)
    beside = tmp_path / f"index.db{end}"
    BESIDE[kind](beside, other)
    before = beside.read_bytes() if beside.is_file() else None
    with pytest.raises(ValueError, match=r"is there already; name another file, or delete that one"):
        CodeBase(root, cache=cache)
    assert (beside.read_bytes() if beside.is_file() else None) == before
    assert beside.exists()


@pytest.mark.needs_process
def test_a_cache_is_used_again_after_a_process_that_was_killed_while_it_wrote(tmp_path):
    root, cache = tmp_path / "root", tmp_path / "index.db"
    write(root / "a.py", "x = 1\n")
    assert parsed_by(root, cache) == 1
    code = (
        "import os, sqlite3; "
        f"connection = sqlite3.connect({str(cache)!r}); "
        "connection.execute('CREATE TABLE more (a)'); connection.commit(); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert (tmp_path / "index.db-wal").exists()
    assert parsed_by(root, cache) == 0


def test_a_cache_that_becomes_something_else_is_left_alone(tmp_path):
    root, cache = tmp_path / "root", tmp_path / "index.db"
    write(root / "a.py", "x = 1\n")
    base = CodeBase(root, cache=cache)
    base.refresh()
    for end in ("", "-wal", "-shm"):
        (tmp_path / f"index.db{end}").unlink(missing_ok=True)
    cache.write_text("the only copy\n")
    write(root / "b.py", "y = 1\n")
    assert base.refresh() == 1
    assert cache.read_text() == "the only copy\n"


def test_a_locked_cache_is_left_out_and_stays(tmp_path, monkeypatch):
    import sqlite3
    from contextlib import closing

    from operator_schema.code_tools import index_cache

    monkeypatch.setattr(index_cache, "_WAIT", 0.05)
    root, cache = tmp_path / "root", tmp_path / "index.db"
    write(root / "a.py", "x = 1\n")
    parsed_by(root, cache)
    with closing(sqlite3.connect(cache, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert parsed_by(root, cache) == 1
        other.execute("ROLLBACK")
    assert parsed_by(root, cache) == 0


def test_a_cache_of_another_version_or_with_other_rows_is_not_used(tmp_path):
    import sqlite3
    from contextlib import closing

    root, cache = tmp_path / "root", tmp_path / "index.db"
    write(root / "a.py", "x = 1\n")
    write(root / "b.py", "y = 1\n")
    assert parsed_by(root, cache) == 2
    for change in (
        "UPDATE about SET made_by = 'older'",
        "UPDATE files SET parsed = '[1]'",
        "UPDATE files SET parsed = '[[[\"x\"]], [], 0]'",
    ):
        with closing(sqlite3.connect(cache)) as connection, connection:
            connection.execute(change)
        assert parsed_by(root, cache) == 2
    with closing(sqlite3.connect(cache)) as connection, connection:
        connection.execute("DROP TABLE files")
        connection.execute("CREATE TABLE files (other INTEGER)")
    assert parsed_by(root, cache) == 2


def test_a_cache_that_cannot_be_written_is_left_out(tmp_path):
    write(tmp_path / "root" / "a.py", "x = 1\n")
    blocked = tmp_path / "file"
    blocked.write_text("no folder\n")
    assert parsed_by(tmp_path / "root", blocked / "index.db") == 1


SHARING = """
import os, sys
from operator_schema.code_tools import CodeBase
root, cache = sys.argv[1:]
gate, opened = os.pipe()
children = []
for _ in range(6):
    child = os.fork()
    if child == 0:
        os.close(opened)
        os.read(gate, 1)  # until all of them are there
        CodeBase(root, cache=cache).refresh()
        os._exit(0)  # an exception ends it with another status
    children.append(child)
os.close(opened)
sys.exit(any([os.waitpid(child, 0)[1] for child in children]))
"""


def test_a_cache_that_another_process_makes_between_two_looks_is_taken(tmp_path, monkeypatch):
    from operator_schema.code_tools import index_cache

    path = tmp_path / "cache" / "index.db"
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "a.py").write_text("def f(): pass\n")
    CodeBase(tmp_path / "root", cache=path).refresh()
    path.with_name("index.db-wal").touch()
    look, seen = index_cache._state, []

    def state(file):
        seen.append(file)
        return None if len(seen) == 1 else look(file)

    monkeypatch.setattr(index_cache, "_state", state)
    index_cache.check_cache(path)
    assert seen.count(path) > 1


@pytest.mark.slow("starts processes")
@pytest.mark.needs_process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_processes_may_share_a_cache(tmp_path):
    root, cache = tmp_path / "root", tmp_path / "cache" / "index.db"
    for number in range(20):
        write(root / f"m{number}.py", f"X{number} = 1\n")
    subprocess.run([sys.executable, "-c", SHARING, str(root), str(cache)], check=True)
    assert parsed_by(root, cache) == 0


# --- bad input ---------------------------------------------------------------------------------------

SOURCES = [
    b"(" * 10_000,
    b"class A:\n" + b"".join(b" " * level + b"class A%d:\n" % level for level in range(1, 300)),
    b"if x:\n" * 2000,
    b"x = [" + b"1," * 100_000 + b"]\n",
    b"a" * 300_000 + b" = 1\n",
    b"def " + "ﬁ_Ω_名前".encode() + b"(): ...\n",
    b"\xff\xfe\x00x\x00",
    b"\xef\xbb\xbfx = 1\n",
    b"import " + b"a." * 10_000 + b"b\n",
]


@pytest.mark.slow("measures how time grows with the text")
@pytest.mark.parametrize("source", SOURCES, ids=range(len(SOURCES)))
@pytest.mark.parametrize("suffix", ["py", "go", "rs"])
def test_hostile_files_are_read_in_time(tmp_path, source, suffix):
    (tmp_path / f"a.{suffix}").write_bytes(source)
    base = CodeBase(tmp_path)
    for one in base.search("*", limit=5)["results"]:
        assert base.inspect(one["name"])["name"]
        base.read_func(one["name"])


UNCLOSED = [
    ("ts", b"{a:" * 33_000),
    ("go", b"{[" * 50_000),
    ("ts", b"{a:" * 10_900),
    ("go", b"{[" * 16_000),
]


@pytest.mark.parametrize(("suffix", "source"), UNCLOSED, ids=["ts", "go", "short ts", "short go"])
def test_brackets_that_are_never_closed_do_not_end_the_process(tmp_path, suffix, source):
    (tmp_path / f"a.{suffix}").write_bytes(source)
    found = []
    before = threading.stack_size(2_000_000 // 4096 * 4096)  # as on Windows; other systems give more
    try:
        asking = threading.Thread(target=lambda: found.append(CodeBase(tmp_path).search("a")))
        asking.start()
    finally:
        threading.stack_size(before)
    asking.join()
    assert found[0]["results"] == []


@given(
    st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode(errors="replace")),
    st.sampled_from(["py", "go", "rs"]),
    st.text(max_size=30),
)
def test_any_bytes_and_any_question_have_an_answer(source, suffix, question):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, f"a.{suffix}").write_bytes(source)
        base = CodeBase(folder)
        base.search(question)
        base.inspect(question)
        base.read_func(question)
        for one in base.search("*", limit=200)["results"]:
            base.inspect(one["name"])


def test_a_root_is_a_folder(tmp_path):
    with pytest.raises(
        NotADirectoryError, match=r"the root of a code base is a folder, and .*nothing isn't there"
    ):
        CodeBase(tmp_path / "nothing")
    (tmp_path / "shop.py").touch()
    with pytest.raises(NotADirectoryError, match=r"shop\.py is a file"):
        CodeBase(tmp_path / "shop.py")
    with pytest.raises(TypeError, match="the root of a code base must be a string or a Path, not integer 5"):
        CodeBase(5)
    with pytest.raises(TypeError, match="the cache of a code base must be a string or a Path, not boolean"):
        CodeBase(tmp_path, cache=True)
    with pytest.raises(ValueError, match="at least 1,000 characters, not 10"):
        CodeBase(tmp_path, budget=10)
    with pytest.raises(TypeError, match="the budget is a number of characters, not string"):
        CodeBase(tmp_path, budget="large")
    with pytest.raises(ValueError, match="the context is one of file, function_body, expression, statements"):
        CodeBase(tmp_path).check_syntax("x", "class_body", language="python")
    assert repr(CodeBase(tmp_path)) == f"CodeBase({str(tmp_path)!r})"


def test_patterns_of_many_stars_take_no_longer(tmp_path):
    write(tmp_path / "a.py", f"{'a' * 5000} = 1\n")
    index = Index(str(tmp_path))
    index.refresh()
    assert index.search("", "*a" * 90 + "b", None, 10) == ([], 0)


@pytest.mark.parametrize("ask", ["inspect", "read_func", "search"])
def test_an_answer_is_of_one_state_of_the_files(tmp_path, monkeypatch, ask):
    write(tmp_path / "a.py", "def one(): ...\n")
    refresh, edits = Index.refresh, [3]

    def edited(index, *args, **kwargs):
        """Edit the file after each look at it, some times."""
        parsed = refresh(index, *args, **kwargs)
        if edits[0]:
            edits[0] -= 1
            write(tmp_path / "a.py", f"# edit {edits[0]}\n{(tmp_path / 'a.py').read_text()}")
        return parsed

    monkeypatch.setattr(Index, "refresh", edited)
    found = getattr(CodeBase(tmp_path), ask)("one")
    assert (found["results"][0] if ask == "search" else found)["location"] == "a.py:4"
    edits[0] = 100
    with pytest.raises(CallError, match="the files change while they are read: try again"):
        getattr(CodeBase(tmp_path), ask)("one")


def test_what_was_read_lately_is_of_the_state_that_was_looked_at(tmp_path):
    write(tmp_path / "a.py", "def one(): ...\n")
    index = Index(str(tmp_path))
    index.refresh()
    (found,) = index.named("one")
    assert source_of(index, found.file) == b"def one(): ...\n"
    write(tmp_path / "a.py", "\ndef one(): ...\n")
    assert source_of(index, found.file) == b"def one(): ...\n"
    index.refresh()
    (found,) = index.named("one")
    assert source_of(index, found.file) == b"\ndef one(): ...\n"


def test_what_was_read_lately_is_kept_up_to_a_number_of_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr("operator_schema.code_tools.index._MOST_RECENT", 250)
    for name in "abc":
        write(tmp_path / f"{name}.py", f"{name} = 1\n".ljust(100))
    index = Index(str(tmp_path))
    index.refresh()
    files = list(index.files())
    for file in files:
        source_of(index, file)
    assert [index.recent.text(file) is not None for file in files] == [False, True, True]


def test_what_is_no_file_any_more_when_it_is_read(tmp_path):
    write(tmp_path / "a.py", "x = 1\n")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "link.py").symlink_to(tmp_path / "a.py")
    (tmp_path / "large.py").write_bytes(b" " * (MOST_BYTES + 1))
    root = str(tmp_path)
    assert read_source(root, "gone.py") is None
    assert read_source(root, "link.py").reason == "Too many levels of symbolic links"
    assert {read_source(root, name).reason for name in ("pipe.py", "folder.py")} == {"it isn't a plain file"}


def test_rules_of_git_that_cannot_be_read_are_left_out(tmp_path):
    write(tmp_path / "a.py", "x = 1\n")
    (tmp_path / ".gitignore").mkdir()
    write(tmp_path / "other" / ".gitignore", "[z-a].py\n\\\nb.py\n")
    write(tmp_path / "other" / "b.py", "y = 1\n")
    assert names(CodeBase(tmp_path)) == ["x"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_rules_of_git_are_read_from_plain_files_alone(tmp_path):
    root = tmp_path / "root"
    write(tmp_path / "outside", "a.py\n")
    for folder in ("pipe", "device", "link"):
        write(root / folder / "a.py", f"{folder} = 1\n")
    os.mkfifo(root / "pipe" / ".gitignore")
    (root / "device" / ".gitignore").symlink_to("/dev/zero")
    (root / "link" / ".gitignore").symlink_to(tmp_path / "outside")
    assert sorted(names(CodeBase(root))) == ["device", "link", "pipe"]


def test_the_users_own_rules_may_be_behind_a_link(tmp_path, monkeypatch):
    write(tmp_path / "dotfiles", "b.py\n")
    (tmp_path / "config" / "git").mkdir(parents=True)
    (tmp_path / "config" / "git" / "ignore").symlink_to(tmp_path / "dotfiles")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    write(tmp_path / "root" / ".git" / "HEAD", "ref: refs/heads/main\n")
    write(tmp_path / "root" / "a.py", "a = 1\n")
    write(tmp_path / "root" / "b.py", "b = 1\n")
    assert names(CodeBase(tmp_path / "root")) == ["a"]


def test_what_is_asked_wrongly_is_told(tmp_path):
    base = CodeBase(tmp_path)
    with pytest.raises(ValueError, match=r'the kind is one of struct, class, .* not string "function"'):
        base.search("x", "function")


@pytest.mark.parametrize(("missing", "told"), [("other_one", "other-one"), (None, "tree-sitter-go")])
def test_the_package_that_is_missing_is_named(missing, told):
    error = missing_package(ModuleNotFoundError("no module", name=missing), "tree_sitter_go")
    assert str(error) == f"the code tools need {told}: pip install 'operator-schema[code]'"
    assert error.name == missing


@pytest.mark.parametrize("first", ["p/a.py:one", "one"])
def test_a_path_in_one_question_says_nothing_about_the_next(tmp_path, first):
    write(tmp_path / "p/a.py", "one = 1\n")
    write(tmp_path / "b.py", "one = 2\ntwo = 2\n")
    base = CodeBase(tmp_path)
    base.search(first)
    assert [one["location"] for one in base.search("p/a.py:*")["results"]] == ["p/a.py:1"]
    assert [one["location"] for one in base.search("two")["results"]] == ["b.py:2"]
    assert len(base.search("one")["results"]) == 2


def test_what_is_asked_is_text(tmp_path):
    base = CodeBase(tmp_path)
    for ask, what in [
        (lambda: base.inspect(5), "the name must be a string, not integer 5"),
        (lambda: base.read_func(None), "the name must be a string, not null"),
        (lambda: base.search(b"x"), "the pattern must be a string"),
        (lambda: base.check_syntax(5, language="go"), "the code must be a string, not integer 5"),
        (lambda: base.check_syntax("x", language=5), "the language must be a string, not integer 5"),
    ]:
        with pytest.raises(TypeError, match=what):
            ask()


def test_a_file_whose_disk_fails_is_skipped(tmp_path, monkeypatch):
    write(tmp_path / "a.py", "x = 1\n")
    write(tmp_path / "b.py", "y = 1\n")
    read = os.read

    def failing(descriptor, size):
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(5, "Input/output error")
        return read(descriptor, size)  # the pipes of those who run the tests

    monkeypatch.setattr(os, "read", failing)
    base = CodeBase(tmp_path)
    assert not base.inspect("x")["found"]
    assert base.skipped == {"a.py": "Input/output error", "b.py": "Input/output error"}
    monkeypatch.undo()
    write(tmp_path / "a.py", "x = 12\n")
    assert base.inspect("x")["found"]


def test_files_with_a_word_are_those_that_have_it_whatever_was_edited_since(tmp_path):
    draw = random.Random(3)  # noqa: S311  # the same edits each time
    words = ["one", "two", "three", "four", "tests", "é", "a1"]

    def text():
        return "\n".join(f"{word} = 1" for word in draw.choices(words, k=draw.randrange(5)))

    for number in range(12):
        write(tmp_path / f"m{number}.py", text())
    index = Index(str(tmp_path))
    index.refresh()
    found = 0
    for turn in range(60):
        path = tmp_path / draw.choice(["", "tests", "deep/er"]) / f"m{draw.randrange(14)}.py"
        if path.exists() and draw.random() < 0.3:
            path.unlink()
        else:
            write(path, text() + "\n" * turn)
        index.refresh()
        for word in [*words, "nowhere", "on", "one\ntwo", ""]:
            expected = [file.path for file in index.files() if index.has_word(file, word)]
            assert [file.path for file in index.with_word(word)] == expected
            found += len(expected)
    assert found > 1000
