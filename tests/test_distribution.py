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


SETUP = """
import json, runpy, sys
print(runpy.run_path("setup.py")["readme_for_index"](*json.load(sys.stdin)), end="")
"""


@pytest.fixture
def readme_for_index():
    def call(*given):  # in a process without distutils, whose place setuptools takes
        return subprocess.run(
            [sys.executable, "-c", SETUP],
            cwd=ROOT,
            input=json.dumps(given),
            text=True,
            capture_output=True,
            check=True,
        ).stdout

    return call


README = "[tools](docs/tools.md#methods), [spec](https://a.example), ![A plot](docs/a.svg), [here](#here)"


@pytest.mark.needs_process
def test_links_of_the_readme_lead_to_the_repository(readme_for_index):
    assert readme_for_index(README, "https://code.example/me/it/", "v1.0.0") == (
        "[tools](https://code.example/me/it/blob/v1.0.0/docs/tools.md#methods), [spec](https://a.example), "
        "![A plot](https://code.example/me/it/raw/v1.0.0/docs/a.svg), [here](#here)"
    )


@pytest.mark.needs_process
def test_without_an_address_the_readme_has_no_link_that_leads_nowhere(readme_for_index):
    assert readme_for_index(README, None, "v1.0.0") == "tools, [spec](https://a.example), , [here](#here)"
    text = readme_for_index((ROOT / "README.md").read_text(encoding="utf-8"), None, "v1.0.0")
    assert re.findall(r"\]\((?!https?:|#)", text) == []


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with a wheel and a source distribution, made in a copy of the repository."""
    copy, out = tmp_path_factory.mktemp("copy") / "it", tmp_path_factory.mktemp("out")
    shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
    for kind in ("sdist", "wheel"):
        code = f"import sys; from setuptools import build_meta; build_meta.build_{kind}(sys.argv[1])"
        subprocess.run([sys.executable, "-c", code, out], cwd=copy, check=True, capture_output=True)
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
