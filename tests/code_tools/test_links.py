"""Nothing outside of the root is told, even if links are put in place of folders while tools read."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

from operator_schema import CallError
from operator_schema.code_tools import CodeBase, source_files
from operator_schema.code_tools.source_files import Content, read_source
from operator_schema.code_tools.source_tree import Tree

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")

FILES = {
    "core.py": 'def shared(value):\n    """Inside."""\n    return inside(value)\n\nclass Inside: ...\n',
    "deep/er/leaf.rs": "/// Inside.\nfn shared_leaf() { inside() }\n",
}
ASKED = ["shared", "shared_leaf", "only_leaked"]


class Swap(NamedTuple):
    """A folder of the root, and a link that takes its place, to a folder with files of the same names."""

    folder: Path
    aside: Path
    outside: Path

    def put(self):
        self.folder.rename(self.aside)
        self.folder.symlink_to(self.outside)

    def take_back(self):
        self.folder.unlink()
        self.aside.rename(self.folder)


def laid_out(tmp_path, folder):
    """Write a root, and beside it the same again with other texts, another file and other rules."""
    shutil.rmtree(tmp_path / "all", ignore_errors=True)
    root, outside = tmp_path / "all" / "root", tmp_path / "all" / "outside"
    for place, text in FILES.items():
        for top, changed in [
            (root / "a", text),
            (outside, text.replace("nside", "leaked").replace("er(", "leaked(")),
        ]:
            (top / place).parent.mkdir(parents=True, exist_ok=True)
            (top / place).write_text(changed)
    for place in ("", "deep", "deep/er"):
        (outside / place / "leaked.py").write_text("def only_leaked(): return 'leaked'\n")
    (root / "b.py").write_text("def other(): ...\n")
    place = root / folder
    below = folder.removeprefix("a").strip("/")
    return root, Swap(place, tmp_path / "all" / "aside", outside / below)


def told(base, names=ASKED):
    """Return all that the tools tell about some names, as text."""
    answers = [base.search("*", limit=200), dict(base.skipped)]
    answers += [ask(name) for name in names for ask in (base.inspect, base.read_func)]
    return json.dumps([answer for answer in answers if answer.get("found", True)])


def read_and_listed(root):
    """Return what is read of a file, and which files are found; an index would look again before it tells."""
    content = read_source(str(root), "a/core.py")
    tree = Tree(str(root))
    tree.refresh()
    said = content.source.decode() if isinstance(content, Content) else ""
    return f"{said}{list(tree.files())}"


class Steps:
    """The functions by which files are looked at, which do something before the call of a number."""

    def __init__(self, monkeypatch, *, of_anybody=False):
        self.count = 0
        self.before = {}
        self.of_anybody = of_anybody
        self.is_at_work = False
        for name in ("open", "scandir", "lstat", "stat", "pread"):
            monkeypatch.setattr(os, name, self.counted(getattr(os, name)))

    def counted(self, function):
        def call(*args, **options):
            package = sys._getframe(1).f_globals.get("__package__")
            if not self.is_at_work and (self.of_anybody or package == "operator_schema.code_tools"):
                self.is_at_work = True
                self.before.get(self.count, lambda: None)()
                self.count += 1
                self.is_at_work = False
            return function(*args, **options)

        return call


@pytest.mark.slow("stops between all steps that open a file")
@pytest.mark.parametrize("folder", ["a", "a/deep/er"])
@pytest.mark.parametrize("stays", [True, False], ids=["a link that stays", "a link for one step"])
def test_a_link_that_is_put_in_between_any_two_steps_leads_nowhere(memory_folder, monkeypatch, folder, stays):
    root, swap = laid_out(memory_folder, folder)
    # This one is in either folder. To ask about others takes the same steps again.
    names = ["shared_leaf"]
    with monkeypatch.context() as patch:
        steps = Steps(patch)
        assert "Inside" in told(CodeBase(root), names)
    number = steps.count
    assert number > 20
    for place in range(number):
        with monkeypatch.context() as patch:
            steps = Steps(patch)
            steps.before[place] = swap.put
            if not stays:
                steps.before[place + 1] = swap.take_back
            base = CodeBase(root)
            said = told(base, names)
        # The last question tells what came in since.
        assert "leaked" not in f"{said}{base.search('*', limit=200)}", place
        is_back = place + 1 < steps.count and not stays
        if swap.folder.is_symlink():
            assert not is_back
            swap.take_back()
        # What is back is read again.
        assert not is_back or "Inside" in json.dumps(base.inspect("shared_leaf")), place


@pytest.mark.parametrize("folder", ["a", "a/deep/er"])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_link_that_is_there_for_some_steps_is_not_read_behind(memory_folder, monkeypatch, folder, length):
    root, swap = laid_out(memory_folder, folder)
    with monkeypatch.context() as patch:
        steps = Steps(patch, of_anybody=True)
        assert "Inside" in read_and_listed(root)
    number = steps.count
    assert number > 10
    for place in range(number):
        with monkeypatch.context() as patch:
            steps = Steps(patch, of_anybody=True)
            steps.before = {place: swap.put, place + length: swap.take_back}
            assert "leaked" not in read_and_listed(root), place
        if swap.folder.is_symlink():
            swap.take_back()


@pytest.mark.needs_threads
def test_links_that_come_and_go_while_tools_read_lead_nowhere(tmp_path):
    root, swap = laid_out(tmp_path, "a")
    base = CodeBase(root)
    is_done = threading.Event()
    swaps = 0

    def swapping():
        nonlocal swaps
        while not is_done.is_set():
            swap.put()
            swap.take_back()
            swaps += 1

    swapper = threading.Thread(target=swapping)
    swapper.start()
    seen = set()
    try:
        number = 0
        while number < 2000 or swaps <= 100 or not seen:  # on a busy machine one of them comes late
            number += 1
            content = read_source(str(root), "a/core.py")
            said = content.source.decode() if isinstance(content, Content) else ""
            if number % 20 == 0:
                said += read_and_listed(root)
            with suppress(CallError):  # the files change while they are read
                said += told(base) if number % 50 == 0 else ""
            seen |= {word for word in ("Inside", "leaked") if word in said}
    finally:
        is_done.set()
        swapper.join()
    assert seen == {"Inside"}


@pytest.mark.parametrize(
    "by_steps", [True, False], ids=["by steps", "where there are no descriptors of folders"]
)
def test_a_link_on_the_way_is_refused_everywhere(tmp_path, monkeypatch, by_steps):
    monkeypatch.setattr(source_files, "_BY_STEPS", by_steps)
    root, swap = laid_out(tmp_path, "a")
    base = CodeBase(root)
    assert "Inside" in told(base)
    swap.put()
    assert read_source(str(root), "a/core.py") is None
    said = told(base)
    assert "leaked" not in said
    assert "other" in said
    swap.take_back()
    assert "Inside" in told(base)


def test_a_folder_that_can_be_read_again_is_read(tmp_path):
    if not os.geteuid():
        pytest.skip("nothing is forbidden to root")
    root, _ = laid_out(tmp_path, "a")
    (root / "a").chmod(0)
    base = CodeBase(root)
    try:
        assert "Inside" not in told(base)
        (root / "a").chmod(0o700)
        assert "Inside" in told(base)
        (root / "a").chmod(0)
        assert "Inside" not in told(base)
    finally:
        (root / "a").chmod(0o700)
    assert "Inside" in told(base)


def test_a_root_may_go_and_come_back(tmp_path):
    root, _ = laid_out(tmp_path, "a")
    base = CodeBase(root)
    assert "Inside" in told(base)
    root.rename(tmp_path / "elsewhere")
    assert told(base) == told(base)
    assert "Inside" not in told(base)
    (tmp_path / "elsewhere").rename(root)
    assert "Inside" in told(base)
