"""What a release holds: a wheel with the package alone, and a source distribution with everything."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", ".*_cache", "__pycache__", "build", "dist", "*.egg-info")
WHOLE = (".ci", ".github", "benchmarks", "docs", "operator_schema", "tests", "website")


README = "[tools](docs/tools.md#methods), [spec](https://a.example), ![A plot](docs/a.svg), [here](#here)"
SETUP = """
import json, runpy, sys
readme_for_index = runpy.run_path("setup.py")["readme_for_index"]
print(json.dumps([readme_for_index(*given) for given in json.load(sys.stdin)]))
"""


@pytest.fixture(scope="module")
def readmes():
    """Return READMEs for an index: a short one with an address and without, and ours without."""
    ours = (ROOT / "README.md").read_text(encoding="utf-8")
    address = "https://code.example/me/it/"
    done = subprocess.run(  # in a process without distutils, whose place setuptools takes
        [sys.executable, "-c", SETUP],
        cwd=ROOT,
        input=json.dumps([(README, address, "v1.0.0"), (README, None, "v1.0.0"), (ours, None, "v1.0.0")]),
        text=True,
        capture_output=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.needs_process
def test_links_of_the_readme_lead_to_the_repository(readmes):
    assert readmes[0] == (
        "[tools](https://code.example/me/it/blob/v1.0.0/docs/tools.md#methods), [spec](https://a.example), "
        "![A plot](https://code.example/me/it/raw/v1.0.0/docs/a.svg), [here](#here)"
    )


@pytest.mark.needs_process
def test_without_an_address_the_readme_has_no_link_that_leads_nowhere(readmes):
    assert readmes[1] == "tools, [spec](https://a.example), , [here](#here)"
    assert re.findall(r"\]\((?!https?:|#)", readmes[2]) == []


# The strongest compression takes most of the time, and nobody keeps what is built.
BUILD = """
import sys, zlib
compressobj = zlib.compressobj
zlib.compressobj = lambda level=-1, *more, **options: compressobj(1, *more, **options)
from setuptools import build_meta
getattr(build_meta, f"build_{sys.argv[1]}")(sys.argv[2])
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with a wheel and a source distribution, made in a copy of the repository."""
    copy, out = tmp_path_factory.mktemp("copy") / "it", tmp_path_factory.mktemp("out")
    shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
    for kind in ("sdist", "wheel"):
        subprocess.run([sys.executable, "-c", BUILD, kind, out], cwd=copy, check=True, capture_output=True)
    return out


def files_below(folder):
    for path in folder.rglob("*"):
        parts = path.relative_to(ROOT).parts
        if path.is_file() and not LEFT_OUT("", parts):
            yield "/".join(parts)


@pytest.mark.needs_process
@pytest.mark.slow("it copies the repository and builds it")
def test_the_source_distribution_is_whole(built):
    (file,) = built.glob("*.tar.gz")
    with tarfile.open(file) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    expected = {name for folder in WHOLE for name in files_below(ROOT / folder)}
    expected |= {path.name for path in ROOT.glob("*.md")}
    assert expected | {"LICENSE", "Makefile", "conftest.py", "pyproject.toml", "setup.py"} <= names


@pytest.mark.needs_process
@pytest.mark.slow("it copies the repository and builds it")
def test_the_wheel_has_the_package_alone(built):
    (file,) = built.glob("*.whl")
    with zipfile.ZipFile(file) as archive:
        names = set(archive.namelist())
        (info,) = {name.partition("/")[0] for name in names if ".dist-info/" in name}
        about = message_from_bytes(archive.read(f"{info}/METADATA"))
    own = set(files_below(ROOT / "operator_schema"))
    assert {name for name in names if not name.startswith(info)} == own
    assert {"operator_schema/py.typed", "operator_schema/inspector/page/index.html"} <= own
    assert about["Description-Content-Type"] == "text/markdown"
    assert "](docs/" not in about.get_payload()
    assert about.get_all("Requires-Dist") is not None
    assert [one for one in about.get_all("Requires-Dist") if "extra ==" not in one] == []


@pytest.fixture(scope="module")
def extras():
    """What the script knows that runs the tests of each extra with its lowest and newest versions."""
    return runpy.run_path(str(ROOT / "tests" / "extras" / "run.py"))


def test_each_extra_for_users_is_tested_with_its_lowest_and_newest_versions(extras):
    known = set(extras["extras"]()) - {"test", "dev", "mutation", "docs", "bench"}
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
