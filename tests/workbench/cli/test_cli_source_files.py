"""Which modules are imported again when their files change."""

import importlib
import os
import sys
import zipfile
import zipimport

import pytest

from operator_schema.workbench.cli.module_loading import _modules_in, imports_from_here, module_of_file
from operator_schema.workbench.cli.reloading import SourceFiles

NAMES = ("shop_of_tests", "helper_of_tests", "other_of_tests", "desk_of_tests", "beside_of_tests")


def write(file, text, time=1_000_000_000):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    os.utime(file, ns=(time, time))


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A package, a module beside it, and one of somebody else."""
    monkeypatch.setattr(sys, "dont_write_bytecode", sys.dont_write_bytecode)
    here = tmp_path / "here"
    write(here / "shop_of_tests" / "__init__.py", "from . import tools\n")
    write(here / "shop_of_tests" / "tools.py", "VALUE = 1\n")
    write(here / "helper_of_tests.py", "VALUE = 1\n")
    write(here / "venv" / "site-packages" / "other_of_tests.py", "VALUE = 1\n")
    monkeypatch.chdir(here)
    for path in (here / "venv" / "site-packages", here):
        monkeypatch.syspath_prepend(path)
    yield here
    for name in list(sys.modules):
        if name.partition(".")[0] in NAMES:
            del sys.modules[name]


def load():
    return [importlib.import_module(name) for name in ("shop_of_tests.tools", *NAMES[1:3])]


def test_only_a_change_is_a_change(project):
    load()
    files = SourceFiles("shop_of_tests.tools")
    assert not files.have_changed()
    assert not files.have_changed()
    write(project / "shop_of_tests" / "tools.py", "VALUE = 2\n", 2_000_000_000)
    assert files.have_changed()
    assert not files.have_changed()
    (project / "helper_of_tests.py").unlink()
    assert files.have_changed()
    assert not files.have_changed()


@pytest.mark.parametrize(
    ("file", "is_own"),
    [
        ("shop_of_tests/__init__.py", True),
        ("shop_of_tests/tools.py", True),
        ("helper_of_tests.py", True),
        ("venv/site-packages/other_of_tests.py", False),
    ],
)
def test_the_files_are_those_of_the_program(project, file, is_own):
    load()
    files = SourceFiles("shop_of_tests")
    write(project / file, "VALUE = 2\n", 2_000_000_000)
    assert files.have_changed() is is_own


def test_a_new_module_in_a_package_is_a_change(project):
    load()
    files = SourceFiles("shop_of_tests")
    os.utime(project / "shop_of_tests", ns=(3_000_000_000, 3_000_000_000))
    assert files.have_changed()
    write(project / "unrelated.py", "")
    assert not files.have_changed()


def test_a_package_outside_of_the_folder_is_followed_if_it_is_served(project, monkeypatch):
    load()
    monkeypatch.chdir(project.parent)
    (project.parent / "elsewhere").mkdir()
    monkeypatch.chdir(project.parent / "elsewhere")
    for module, is_own in (("other_of_tests", True), ("shop_of_tests", False)):
        files = SourceFiles(module)
        os.utime(project / "venv" / "site-packages" / "other_of_tests.py")
        assert files.have_changed() is is_own


def test_all_modules_of_the_program_are_made_anew(project):
    before = load()
    files = SourceFiles("shop_of_tests")
    write(project / "shop_of_tests" / "tools.py", "VALUE = 2\n", 2_000_000_000)
    write(project / "helper_of_tests.py", "VALUE = 3\n", 2_000_000_000)
    after = files.import_again(load)
    assert [one.VALUE for one in after] == [2, 3, 1]
    assert [new is old for new, old in zip(after, before, strict=True)] == [False, False, True]
    assert not files.have_changed()


@pytest.mark.parametrize("error", ["raise SystemExit(3)", "raise ValueError", "x = ="])
def test_a_program_that_cant_be_imported_stays_as_it_was(project, error):
    before = load()
    files = SourceFiles("shop_of_tests")
    write(project / "shop_of_tests" / "tools.py", f"{error}\n", 2_000_000_000)
    with pytest.raises((SystemExit, ValueError, SyntaxError)):
        files.import_again(load)
    assert load() == before
    assert not files.have_changed()
    write(project / "shop_of_tests" / "tools.py", "VALUE = 4\n", 3_000_000_000)
    assert files.have_changed()
    assert files.import_again(load)[0].VALUE == 4


@pytest.mark.usefixtures("project")
def test_modules_beside_a_named_file_are_its_own(tmp_path):
    write(tmp_path / "elsewhere" / "desk_of_tests.py", "import beside_of_tests\n")
    write(tmp_path / "elsewhere" / "beside_of_tests.py", "VALUE = 1\n")
    with imports_from_here():
        name = module_of_file(str(tmp_path / "elsewhere" / "desk_of_tests.py"))
        importlib.import_module(name)
        files = SourceFiles(name)
        write(tmp_path / "elsewhere" / "beside_of_tests.py", "VALUE = 2\n", 2_000_000_000)
        assert files.have_changed()
        assert files.import_again(lambda: importlib.import_module("beside_of_tests").VALUE) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right of their own there")
def test_a_link_to_itself_is_no_module(tmp_path):
    write(tmp_path / "a.py", "")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert _modules_in([str(tmp_path)]) == ["a"]


def test_what_is_no_text_is_no_folder_with_modules(tmp_path):
    write(tmp_path / "a.py", "")
    assert _modules_in([os.fsencode(tmp_path), None, str(tmp_path)]) == ["a"]


@pytest.mark.skipif(sys.platform in {"win32", "emscripten"}, reason="a folder in use can't be removed there")
def test_files_are_followed_although_the_current_folder_is_gone(project):
    importlib.import_module("shop_of_tests.tools")
    files = SourceFiles("shop_of_tests.tools")
    files.have_changed()
    gone = project / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    write(project / "shop_of_tests" / "tools.py", "VALUE = 2\n", 2_000_000_000)
    assert files.have_changed()


def test_a_zip_whose_names_were_forgotten_has_no_modules(tmp_path, monkeypatch):
    path = str(tmp_path / "packed.zip")
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("inside.py", "")
    write(tmp_path / "a.py", "")
    assert _modules_in([path, str(tmp_path)]) == ["inside", "a"]
    monkeypatch.delitem(zipimport._zip_directory_cache, path)
    assert _modules_in([path, str(tmp_path)])[-1] == "a"
