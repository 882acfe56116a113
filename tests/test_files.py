"""Files that are replaced as a whole."""

from __future__ import annotations

import os
import stat
import sys
from errno import EACCES

import pytest

from operator_schema.files import check_can_be_made, replacement, resolved
from operator_schema.workbench.cli.module_loading import WrongUse
from operator_schema.workbench.cli.text_files import replace_file

pytestmark = pytest.mark.skipif(sys.platform == "emscripten", reason="its files have no modes")
modes = pytest.mark.skipif(os.name == "nt", reason="its files have no modes")


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_the_old_one_until_it_is_the_new_one(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("old")
    with replacement(path) as made:
        made.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_what_goes_wrong_leaves_the_old_file_and_no_other(tmp_path, error):
    path = tmp_path / "a.json"
    path.write_text("old")

    def fails():
        with replacement(path) as made:
            made.write_text("half")
            raise error

    with pytest.raises(error):
        fails()
    assert (path.read_text(), [*tmp_path.iterdir()]) == ("old", [path])


@modes
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o666, 0o755])
def test_nobody_reads_the_new_file_who_could_not_read_the_old_one(tmp_path, mode):
    path = tmp_path / "a.json"
    path.write_text("old")
    path.chmod(mode)
    with replacement(path) as made:
        assert mode_of(made) & ~0o600 & ~mode == 0
    assert mode_of(path) == mode


@modes
@pytest.mark.parametrize(
    ("umask", "is_private", "mode"), [(0o027, False, 0o640), (0o002, False, 0o664), (0o002, True, 0o600)]
)
def test_a_file_that_was_not_there_has_the_mode_of_new_files(tmp_path, umask, is_private, mode):
    before = os.umask(umask)
    try:
        with replacement(tmp_path / "a.json", is_private=is_private):
            pass
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "a.json") == mode


def test_a_name_may_be_as_long_as_names_are(tmp_path):
    path = tmp_path / ("a" * 255)
    for text in ("one", "two"):
        with replacement(path) as made:
            made.write_text(text)
        assert path.read_text() == text


def test_no_file_of_somebody_else_is_written_over(tmp_path, monkeypatch):
    (tmp_path / ".abcd.new").symlink_to(tmp_path / "theirs")
    monkeypatch.setattr("operator_schema.files.os.urandom", lambda _: b"\xab\xcd")
    with pytest.raises(FileExistsError), replacement(tmp_path / "a.json"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == [".abcd.new"]


def test_a_path_leads_through_its_links_to_what_may_not_be_there_yet(tmp_path):
    (tmp_path / "link").symlink_to("folder")
    assert resolved(tmp_path / "link" / "a.json") == tmp_path.resolve() / "folder" / "a.json"


def test_a_file_that_can_be_made_is_not_made_by_the_check(tmp_path):
    (tmp_path / "link").symlink_to("new.json")
    check_can_be_made(tmp_path / "link")
    check_can_be_made(tmp_path / "new.json")
    assert [path.name for path in tmp_path.iterdir()] == ["link"]


def test_a_folder_in_which_nothing_can_be_made_is_noticed(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(EACCES, "Permission denied")

    monkeypatch.setattr("operator_schema.files.os.open", refuse)
    with pytest.raises(PermissionError):
        check_can_be_made(tmp_path / "new.json")


def test_a_link_that_leads_to_itself_is_refused_and_stays(tmp_path):
    path = tmp_path / "a.json"
    path.symlink_to(path)
    with pytest.raises(OSError, match="it is a link that leads to itself"):
        resolved(path)
    with pytest.raises(WrongUse, match=r"a\.json can't be written: it is a link that leads to itself"):
        replace_file(str(path), "new")
    assert path.is_symlink()
