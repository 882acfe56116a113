"""What every test of the command line starts from: a folder of modules, and a way to call it."""

from __future__ import annotations

import io
import sys

import pytest
from cli_samples import (
    FILES,
)

from operator_schema.workbench.cli import main


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("modules")
    for name, text in FILES.items():
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def here(folder, monkeypatch):
    """Work in the folder of the modules, and forget them afterwards."""
    monkeypatch.chdir(folder)
    # The finder for "" keeps the folder in which it was made: that of an earlier test.
    monkeypatch.delitem(sys.path_importer_cache, "", raising=False)
    before = set(sys.modules)
    yield folder
    names = {name.removesuffix(".py").partition("/")[0] for name in FILES}
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in names:
            del sys.modules[name]


@pytest.fixture
def run(here, capsys):  # noqa: ARG001  # where it runs
    """Call `main` and return status, standard output and standard error."""

    def call(*argv):
        try:
            status = main(argv)
        except SystemExit as stop:
            status = stop.code
        return status, *capsys.readouterr()

    return call


@pytest.fixture
def stdin(monkeypatch):
    def give(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return give
