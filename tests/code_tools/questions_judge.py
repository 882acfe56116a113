"""Questions that a coding agent asks about code that it doesn't know, and whether the answers are right.

The questions are in `questions.toml`, with what is right to answer, as it was read in the sources.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from names_judge import read_once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from operator_schema.code_tools import CodeBase

__all__ = ["ROOTS", "Answered", "answered", "sdist", "summary"]

QUESTIONS = Path(__file__).with_name("questions.toml")
TOOLS = ("inspect", "read_func", "search", "references", "implements", "overview", "check_syntax")
ASKED_FOR = {"search": "pattern", "overview": "path", "check_syntax": "code"}
"""The first argument of a tool, where it isn't `name`."""

RIPGREP = (
    "grep",
    "grep-cli",
    "grep-matcher",
    "grep-printer",
    "grep-regex",
    "grep-searcher",
    "globset",
    "ignore",
)
"""Crates that ripgrep is made of."""

TANSTACK = ("query-core", "react-query", "query-persist-client-core")
"""Packages of one workspace, which import each other by their names."""

TIPTAP = ("core", "extension-link", "extension-list-item", "pm")
"""Packages of another one."""

CROSSBEAM = ("channel", "epoch", "utils")
"""Crates that use each other."""

BACKEND = """
import email, pathlib, shutil

def prepare_metadata_for_build_wheel(folder, settings=None):
    about = email.message_from_string(pathlib.Path("PKG-INFO").read_text(encoding="utf-8"))
    name = f"{about['Name'].replace('-', '_')}-{about['Version']}.dist-info"
    (pathlib.Path(folder) / name).mkdir()
    shutil.copy("PKG-INFO", pathlib.Path(folder) / name / "METADATA")
    return name
"""
"""Stands for what builds a package while pip downloads it, since builders run code for its metadata."""

BUILDERS = (
    "maturin",
    "setuptools/build_meta",
    "flit_core/buildapi",
    "hatchling/build",
    "poetry/core/masonry/api",
)


class Answered(NamedTuple):
    """How a question was answered.

    Attributes:
        question: the tool and what it was asked.
        verdict: `right`, `denied` (nothing was found, and something is there) or `wrong`.
        why: what is wrong with the answer; empty if it is right.
        size: characters of the answer as JSON.
    """

    question: str
    verdict: str
    why: str
    size: int


def answered(of: str, root: Path) -> Iterator[Answered]:
    """Ask the questions about some code.

    Args:
        of: the key of `ROOTS`.
        root: where the code is.
    """
    code = read_once(root)
    for question in tomllib.loads(QUESTIONS.read_text(encoding="utf-8"))[of]:
        (tool,) = [name for name in TOOLS if name in question]
        asked = question[tool]
        if "line_of" in question:
            asked = asked.replace("{line}", str(_lines_of(code, question["line_of"])[-1]))
        given = {ASKED_FOR.get(tool, "name"): asked, **question.get("with", {})}
        answer = getattr(code, tool)(**given)
        verdict, why = _verdict(code, question, answer)
        yield Answered(f"{of}: {tool} {asked}", verdict, why, len(json.dumps(answer, ensure_ascii=False)))


def _verdict(code: CodeBase, question: Mapping[str, Any], answer: Mapping[str, Any]) -> tuple[str, str]:
    text = json.dumps(answer, ensure_ascii=False)
    is_nothing = answer.get("found") is False or ("results" in answer and not answer["results"])
    if is_nothing:
        if answer.get("reason") != question.get("reason"):
            return "denied", f"{answer.get('reason')}: {answer.get('note')}"
    elif "reason" in question:
        return "wrong", "found, and it isn't there"
    wanted = question.get("at", [])
    places = _places(answer)
    for one in [wanted] if isinstance(wanted, str) else wanted:
        if not any(_is_at(code, place, one) for place in places):
            return "wrong", f"isn't at {one}: {', '.join(places[:9])}"
    for one in question.get("has", ()):
        if one not in text:
            return "wrong", f"doesn't have {one}: {text[:400]}"
    for one in question.get("lacks", ()):
        if one in text:
            return "wrong", f"has {one}"
    return "right", ""


def _places(answer: Mapping[str, Any]) -> list[str]:
    """List the places of an answer: the one of the declaration that it describes, or of all that it lists."""
    listed = [each for key in ("results", "places", "implementations") for each in answer.get(key, ())]
    return [each["location"] for each in listed] if listed else [answer.get("location", ":0")]


def _is_at(code: CodeBase, place: str, wanted: str) -> bool:
    path, _, line = place.rpartition(":")
    wanted_path, _, text = wanted.partition(": ")
    if not f"/{path}".endswith(f"/{wanted_path}"):
        return False
    lines = (code.root / path).read_text(encoding="utf-8", errors="replace").splitlines()
    return text in lines[int(line) - 1]


def _lines_of(code: CodeBase, wanted: str) -> list[int]:
    path, _, text = wanted.partition(": ")
    lines = (code.root / path).read_text(encoding="utf-8").splitlines()
    return [number for number, line in enumerate(lines, 1) if text in line]


def sdist(package: str, folder: Path) -> Path:
    """Return the folder of the source distribution of a package of PyPI; nothing of it is built or run.

    Args:
        package: such as `pydantic-core==2.46.0`.
        folder: for what is fetched.
    """
    for builder in BUILDERS:
        file = folder / "builders" / f"{builder}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(BACKEND, encoding="utf-8")
        (file.parent / "__init__.py").touch()  # so that it comes before one that is installed
    place = folder / re.sub(r"\W+", "_", package)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--use-pep517"]
    subprocess.run(
        [*command, "--no-build-isolation", "--no-binary", ":all:", "--dest", str(place), package],
        check=True,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(folder / "builders")},
    )
    (archive,) = place.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(place, filter="data")  # the filter lets nothing out of the folder
    return next(child for child in place.iterdir() if child.is_dir())


def from_debian(name: str, packages: Sequence[str]) -> Callable[[Path], Path | None]:
    """Return what fetches sources as Debian packs them, and returns their folder; None without apt.

    Args:
        name: of the folder.
        packages: whose files are the sources.
    """

    def fetched(folder: Path) -> Path | None:
        fetch, unpack = shutil.which("apt-get"), shutil.which("dpkg-deb")
        if fetch is None or unpack is None:
            return None
        place = folder / name
        place.mkdir(exist_ok=True)
        done = subprocess.run([fetch, "download", *packages], cwd=place, capture_output=True, check=False)
        if done.returncode:
            return None
        for archive in place.glob("*.deb"):
            subprocess.run([unpack, "-x", str(archive), str(place)], check=True)
        return place / "usr" / "share"

    return fetched


def from_npm(name: str, packages: Sequence[str]) -> Callable[[Path], Path | None]:
    """Return what fetches packages of npm into one folder, without what a build wrote; None without npm.

    Args:
        name: of the folder.
        packages: with their sources in them.
    """

    def fetched(folder: Path) -> Path | None:
        npm = shutil.which("npm")
        if npm is None:
            return None
        for package in packages:
            place = folder / name / re.sub(r"\W+", "_", package)
            place.mkdir(parents=True)
            done = subprocess.run(
                [npm, "pack", "--silent", package], cwd=place, check=True, capture_output=True, text=True
            )
            with tarfile.open(place / done.stdout.split()[-1]) as archive:
                archive.extractall(place, filter="data")  # the filter lets nothing out of the folder
            for built in ("build", "dist"):  # git ignores it in the repositories that they come from
                shutil.rmtree(place / "package" / built, ignore_errors=True)
        return folder / name

    return fetched


def _cpython(folder: Path) -> Path:
    """Return a copy of the library of the running Python, without what is installed."""
    place = folder / "cpython"
    leave = shutil.ignore_patterns("__pycache__", "site-packages")
    shutil.copytree(sysconfig.get_paths()["stdlib"], place, ignore=leave)
    return place


def _go(_folder: Path) -> Path | None:
    program = shutil.which("go")
    if program is None:
        return None
    done = subprocess.run([program, "env", "GOROOT"], check=True, capture_output=True, text=True)
    return (Path(done.stdout.strip()) / "src").resolve()


ROOTS: dict[str, Callable[[Path], Path | None]] = {
    "cpython": _cpython,
    "django": lambda folder: folder / "django",
    "sqlalchemy": lambda folder: folder / "sqlalchemy",
    "go": _go,
    "ripgrep": from_debian("ripgrep", [f"librust-{name}-dev" for name in RIPGREP]),
    "pydantic_core": lambda folder: sdist("pydantic-core==2.46.0", folder),
    "starlette": lambda folder: sdist("starlette==0.41.3", folder),
    "textual": lambda folder: sdist("textual==0.89.1", folder),
    "tokenizers": lambda folder: sdist("tokenizers==0.21.0", folder),
    "rayon": from_debian("rayon", ["librust-rayon-dev", "librust-rayon-core-dev"]),
    "gin": from_debian("gin", ["golang-github-gin-gonic-gin-dev"]),
    "cobra": from_debian("cobra", ["golang-github-spf13-cobra-dev"]),
    "toolkit": from_npm("toolkit", ["@reduxjs/toolkit@2.5.0"]),
    "tanstack": from_npm("tanstack", [f"@tanstack/{name}@5.62.0" for name in TANSTACK]),
    "capacitor": from_npm("capacitor", ["@capacitor/android@6.2.0"]),
    "jpype": lambda folder: sdist("jpype1==1.5.1", folder),
    "werkzeug": lambda folder: sdist("werkzeug==3.1.9", folder),
    "scrapy": lambda folder: sdist("scrapy==2.19.0", folder),
    "cryptography": lambda folder: sdist("cryptography==50.0.2", folder),
    "crossbeam": from_debian("crossbeam", [f"librust-crossbeam-{name}-dev" for name in CROSSBEAM]),
    "tower": from_debian("tower", ["librust-tower-dev"]),
    "zap": from_debian("zap", ["golang-go.uber-zap-dev"]),
    "mux": from_debian("mux", ["golang-github-gorilla-mux-dev"]),
    "prom": from_debian("prom", ["golang-github-prometheus-client-golang-dev"]),
    "tiptap": from_npm("tiptap", [f"@tiptap/{name}@3.35.0" for name in TIPTAP]),
    "mobx": from_npm("mobx", ["mobx@7.1.3"]),
    "fastify": from_npm("fastify", ["fastify@5.12.8"]),
}
"""What questions are asked about, and what returns the folder with it; None if it can't be had here."""


def summary(answers: list[Answered]) -> str:
    """Return the cells of a table: how many answers, right, denied and wrong ones, and their median size."""
    counts = Counter([one.verdict for one in answers])
    sizes = sorted(one.size for one in answers)
    cells = [len(answers), counts["right"], counts["denied"], counts["wrong"], sizes[len(sizes) // 2]]
    return " | ".join([f"{cell:,}" for cell in cells])
