"""Files whose paths aren't UTF-8: what is shown of them can be asked for."""

from __future__ import annotations

import json
import os
import sys

import pytest

from operator_schema import Executor, RawCall
from operator_schema.code_tools import CodeBase, code_tools
from operator_schema.code_tools.source_files import path_meant, paths_shown_as

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
    assert shown == {"f�": "f\udcff", "f�/x.py": "f\udcff/x.py", "f�/y�.py": "f\udcff/y\udcff.py"}
    assert path_meant("f�/y�.py:3", shown) == "f\udcff/y\udcff.py:3"
    assert path_meant("f�/z.py:3", shown) == "f\udcff/z.py:3"
    assert path_meant("f�x:3", shown) == "f�x:3"
