"""When a progress bar is drawn while many values are decoded."""

import io
import os
from contextlib import contextmanager
from pathlib import Path

import pytest

from operator_schema import Codec
from operator_schema.workbench.cli import decode_command
from operator_schema.workbench.cli.decode_command import DecodeOutput, _size
from operator_schema.workbench.cli.output import Printer


class Watched(Printer):
    """Standard error that remembers for which sizes a bar was asked."""

    def __init__(self):
        super().__init__(io.StringIO())
        self.asked = []

    def progress(self, size):
        self.asked.append(size)
        return super().progress(size)


class Seen(Printer):
    """Standard output that a person sees."""

    may_reach_terminal = True


def bars(source, out=None):
    """Return for which sizes a bar is asked while a source is decoded."""
    err = Watched()
    assert DecodeOutput(Codec(int), out, err, as_json=False).decode_lines(source, "numbers.jsonl") == 0
    return err.asked


@pytest.mark.parametrize("size", [2, 998, 1000, 1002])
def test_a_long_file_has_a_bar(monkeypatch, tmp_path, size):
    monkeypatch.setattr(decode_command, "_LONG", 1000)
    (tmp_path / "numbers").write_bytes(b"1\n" * (size // 2))
    expected = [] if size < 1000 else [size]
    with (tmp_path / "numbers").open("rb") as source:
        assert bars(source) == expected
    with (tmp_path / "numbers").open("rb") as source:
        assert bars(source, Printer(io.StringIO())) == expected
    with (tmp_path / "numbers").open("rb") as source:
        assert bars(source, Seen(io.StringIO())) == []  # the values themselves show how far it is


def test_what_has_no_size_has_a_bar_without_an_end():
    assert bars(io.BytesIO(b"1\n2\n")) == [None]
    read, write = os.pipe()
    os.write(write, b"1\n")
    os.close(write)
    with os.fdopen(read, "rb") as source:
        assert bars(source) == [None]


def test_the_size_is_that_of_what_is_left(tmp_path):
    (tmp_path / "numbers").write_bytes(b"1\n" * 10)
    with (tmp_path / "numbers").open("rb") as source:
        assert _size(source) == 20
        source.readline()
        assert _size(source) == 18
    with Path(os.devnull).open("rb") as source:
        assert _size(source) is None
    assert _size(io.BytesIO(b"1")) is None


class Counted(Watched):
    """Standard error that remembers each step of a bar."""

    @contextmanager
    def progress(self, size):
        assert size is None
        yield self.asked.append


@pytest.mark.parametrize(("lines", "steps"), [(63, []), (64, [128]), (200, [128, 128, 128])])
def test_a_bar_grows_every_few_lines(lines, steps):
    err = Counted()
    source = io.BytesIO(b"1\n" * lines)
    assert DecodeOutput(Codec(int), None, err, as_json=False).decode_lines(source, "numbers.jsonl") == 0
    assert err.asked == steps
