"""Files are opened from one folder to the next, so that their paths may be longer than the system takes."""

import os
import sys

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

from operator_schema.code_tools.source_files import Content, read_source


@pytest.mark.skipif(sys.platform in {"win32", "emscripten"}, reason="there folders have no descriptors")
def test_a_file_may_be_deeper_than_a_path_is_long(tmp_path):
    names = [letter * 200 for letter in "abcdefghijklmnopqrstuvwxyz"]
    here = os.open(tmp_path, os.O_RDONLY)
    for name in names:
        os.mkdir(name, dir_fd=here)
        inner = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    file = os.open("a.py", os.O_CREAT | os.O_WRONLY, dir_fd=here)
    os.write(file, b"x = 1\n")
    os.close(file)
    os.close(here)
    found = read_source(str(tmp_path), "/".join([*names, "a.py"]))
    assert isinstance(found, Content)
    assert found.source == b"x = 1\n"
    assert read_source(str(tmp_path), "/".join([*names, "b.py"])) is None
