"""What a release holds: a wheel with the package alone, and a source distribution with everything."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", ".*_cache", "__pycache__", "build", "dist", "*.egg-info")
WHOLE = (".ci", ".github", "benchmarks", "docs", "operator_schema", "tests", "website")


ADDRESS = "https://code.example/me/it"
README = """<!-- in the repository -->
From a clone.
<!-- on a package index
From the index.
-->
[tools](docs/tools.md#methods), [spec](https://a.example), ![A plot](docs/a.svg), [here](#here)
<picture>
  <source media="(max-width: 600px)" srcset="docs/narrow.svg">
  <img alt="A
    story" src="docs/wide.svg">
</picture>
"""
SETUP = """
import json, runpy, sys
readme_for_index = runpy.run_path("setup.py")["readme_for_index"]
print(json.dumps([readme_for_index(*given) for given in json.load(sys.stdin)]))
"""


@pytest.fixture(scope="module")
def readmes():
    """Return READMEs for an index: a short one with an address and without, and ours without."""
    ours = (ROOT / "README.md").read_text(encoding="utf-8")
    done = subprocess.run(  # in a process without distutils, whose place setuptools takes
        [sys.executable, "-c", SETUP],
        cwd=ROOT,
        input=json.dumps(
            [(README, f"{ADDRESS}/", "v1.0.0"), (README, None, "v1.0.0"), (ours, None, "v1.0.0")]
        ),
        text=True,
        capture_output=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.needs_process
def test_links_and_pictures_of_the_readme_lead_to_the_repository(readmes):
    assert readmes[0] == (
        "From the index.\n"
        "[tools](https://code.example/me/it/blob/v1.0.0/docs/tools.md#methods), [spec](https://a.example), "
        "![A plot](https://code.example/me/it/raw/v1.0.0/docs/a.svg), [here](#here)\n"
        "![A story](https://code.example/me/it/raw/v1.0.0/docs/wide.svg)\n"
    )


@pytest.mark.needs_process
def test_without_an_address_the_readme_has_no_link_that_leads_nowhere(readmes):
    assert readmes[1] == "From the index.\ntools, [spec](https://a.example), , [here](#here)\n\n"
    assert re.findall(r"\]\((?!https?:|#)", readmes[2]) == []


# The strongest compression takes most of the time, and nobody keeps what is built.
BUILD = """
import sys, zlib
compressobj = zlib.compressobj
zlib.compressobj = lambda level=-1, *more, **options: compressobj(1, *more, **options)
from setuptools import build_meta
getattr(build_meta, f"build_{sys.argv[1]}")(sys.argv[2])
"""


def build(kind, copy, out):
    """Build a distribution in a copy of the repository, and return the finished process."""
    command = [sys.executable, "-c", BUILD, kind, out]
    compiled = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(command, cwd=copy, env=compiled, check=False, capture_output=True, text=True)


class Release(NamedTuple):
    """What a release holds.

    Attributes:
        folder: where a wheel and a source distribution are.
        log: what building them said.
    """

    folder: Path
    log: str


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Make a wheel and a source distribution of version 1.0.0, in a copy of the repository."""
    copy, out = tmp_path_factory.mktemp("copy") / "it", tmp_path_factory.mktemp("out")
    shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
    package, settings = copy / "operator_schema" / "__init__.py", copy / "pyproject.toml"
    package.write_text(
        re.sub(
            r'^__version__ = ".*"', '__version__ = "1.0.0"', package.read_text("utf-8"), flags=re.MULTILINE
        ),
        "utf-8",
    )
    refused = build("wheel", copy, out)
    assert "write the address of the repository into [project.urls]" in refused.stderr, refused
    settings.write_text(
        re.sub(
            r"^# Repository = .*",
            f'Repository = "{ADDRESS}"',
            settings.read_text("utf-8"),
            flags=re.MULTILINE,
        ),
        "utf-8",
    )
    done = [build(kind, copy, out) for kind in ("sdist", "wheel")]
    assert [one.returncode for one in done] == [0, 0], done
    return Release(out, "".join(one.stdout + one.stderr for one in done))


def files_below(folder):
    for path in folder.rglob("*"):
        parts = path.relative_to(ROOT).parts
        if path.is_file() and not LEFT_OUT("", parts):
            yield "/".join(parts)


@pytest.mark.needs_process
@pytest.mark.slow("it copies the repository and builds it")
def test_the_source_distribution_is_whole(built):
    (file,) = built.folder.glob("*.tar.gz")
    with tarfile.open(file) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    expected = {name for folder in WHOLE for name in files_below(ROOT / folder)}
    expected |= {path.name for path in ROOT.glob("*.md")}
    assert expected | {"LICENSE", "Makefile", "conftest.py", "pyproject.toml", "setup.py"} <= names


def read_wheel(built):
    """Return the names of a wheel's files, its folder of metadata, and the metadata."""
    (file,) = built.folder.glob("*.whl")
    with zipfile.ZipFile(file) as archive:
        names = set(archive.namelist())
        (info,) = {name.partition("/")[0] for name in names if ".dist-info/" in name}
        return names, info, message_from_bytes(archive.read(f"{info}/METADATA"))


@pytest.mark.needs_process
@pytest.mark.slow("it copies the repository and builds it")
def test_building_warns_of_nothing(built):
    assert "running sdist" in built.log
    assert "running bdist_wheel" in built.log
    assert [
        line for line in built.log.split("\n") if re.search("warn|deprecat|!!", line, re.IGNORECASE)
    ] == []


UNTRUE = (
    "not released",
    "released yet",
    "in a clone",
    "from a clone",
    "until then",
    "once it is released",
    "<!--",
    "<picture",
)
"""What the description of a release can't say."""


@pytest.mark.needs_process
@pytest.mark.slow("it copies the repository and builds it")
def test_the_description_of_a_release_is_true_on_an_index(built):
    _, _, about = read_wheel(built)
    text = about.get_payload()
    assert [words for words in UNTRUE if words in text.lower()] == []
    assert "pip install operator-schema" in text
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)\s]+)\)", text)
    for image, link in links:
        place, _, tag_and_path = link.removeprefix(ADDRESS).strip("/").partition("/")
        tag, _, path = tag_and_path.partition("/")
        assert (link.startswith(ADDRESS), place, tag) == (True, "raw" if image else "blob", "v1.0.0"), link
        assert (ROOT / path.partition("#")[0]).is_file(), link
    pictures = [link for image, link in links if image]
    assert len(pictures) == 1
    assert not re.search(r"\b(picture|plot|screenshot)", text.replace(pictures[0], ""), re.IGNORECASE)


@pytest.mark.needs_process
@pytest.mark.slow("it copies the repository and builds it")
def test_the_metadata_of_a_release(built):
    _, _, about = read_wheel(built)
    assert about["Version"] == "1.0.0"
    assert about.get_all("Project-URL") == [f"Repository, {ADDRESS}"]
    assert "plain dataclass or function" in about["Summary"]
    assert not {"test", "dev", "mutation", "docs", "bench"} & set(about.get_all("Provides-Extra"))


@pytest.mark.needs_process
@pytest.mark.slow("it copies the repository and builds it")
def test_the_wheel_has_the_package_alone(built):
    names, info, about = read_wheel(built)
    own = set(files_below(ROOT / "operator_schema"))
    assert {name for name in names if not name.startswith(info)} == own
    assert {"operator_schema/py.typed", "operator_schema/workbench/inspector/page/index.html"} <= own
    assert about["Description-Content-Type"] == "text/markdown"
    assert "](docs/" not in about.get_payload()
    assert about.get_all("Requires-Dist") is not None
    assert [one for one in about.get_all("Requires-Dist") if "extra ==" not in one] == []


@pytest.fixture(scope="module")
def extras():
    """What the script knows that runs the tests of each extra with its lowest and newest versions."""
    return runpy.run_path(str(ROOT / "tests" / "extras" / "run.py"))


def test_each_extra_for_users_is_tested_with_its_lowest_and_newest_versions(extras):
    known = set(extras["extras"]())
    assert known == {*extras["SMALL"], *extras["frameworks"]()}
    assert known == set(extras["table"]())


def test_the_lowest_versions_of_the_table_are_the_bounds(extras):
    bounds = {}
    for asked in [one for each in extras["extras"]().values() for one in each]:
        if found := re.match(r"([\w-]+)[^<>=]*>=([\d.]+)", asked):
            bounds.setdefault(found[1], set()).add(found[2])
    for versions in extras["table"]().values():
        for one in filter(None, versions["lowest"].split(", ")):  # empty where a run is still to come
            name, version = one.split(" ")
            assert any(f"{version}.".startswith(f"{bound}.") for bound in bounds[name]), one
