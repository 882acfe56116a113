"""Run the test suite on every newer Python that is supported and can be found.

`make test` runs it on the oldest one. Here, laws are tried with fewer examples, and what no version changes
is left out: `SAME_EVERYWHERE` says what, and why. A version between two others that run everything runs only
what reads types, writes code or runs it (`IN_BETWEEN`); with `--whole`, it runs as much as the others.

CPython is looked for by name (`python3.12`) on the PATH and among pyenv's versions. Where there is
no CPython 3.14, the one of Pyodide stands in: WebAssembly under node, with pure-Python wheels.
What each needs is installed under `.venv-matrix/` once, and again when the package's declaration
changes. The exit status is 1 when the suite fails anywhere; a version that is not there fails nothing.
"""

# ruff: noqa: T201  # what it prints is what it is for

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import chain
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENTS = ROOT / ".venv-matrix"
VERSIONS = ("3.12", "3.13", "3.14")
PYODIDE_VERSION = "3.14"
PYODIDE = "pyodide@314"
# The last releases without compiled parts; the tests skip what has none, or needs threads or processes.
PURE = {
    "anyio": [],
    "tree-sitter": [],
    "tree-sitter-go": [],
    "tree-sitter-python": [],
    "tree-sitter-rust": [],
    "tree-sitter-c": [],
    "tree-sitter-cpp": [],
    "tree-sitter-java": [],
    "tree-sitter-typescript": [],
    "duckdb": [],
    "hypothesis": ["hypothesis==6.155.2"],
    "ipykernel": [],
    "jsonschema": ["jsonschema[format-nongpl]==4.17.3", "pyrsistent==0.20.0"],
    "jsonschema-rs": [],
    "mcp": [],
    "msgspec": [],
    "nbclient": [],
    "orjson": [],
    "opentelemetry-exporter-otlp-json-file": [],
    "opentelemetry-sdk": [],
    "pyarrow": [],
    "pydantic": [],
    "pydantic-monty": [],
    "pytest-cov": [],
    "sarif-pydantic": [],
    "pytest-xdist": [],
    "slipcover": [],
    "trio": [],
    "zstandard": [],
}
# As in the Makefile: without a finder, each process that a test starts takes half of the time.
COMPAT = ("--config-settings", "editable_mode=compat")
PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet")
# No version of Python changes what these tests find; `make test` runs them.
SAME_EVERYWHERE = {
    "they ask other programs: git, Go, type checkers, other parsers, shells": (
        *("code_tools/test_in_place.py", "code_tools/test_judges.py", "code_tools/test_patches.py"),
        *("code_tools/test_type_checkers.py", "code_tools/test_uses.py"),
        *("workbench/cli/test_cli_completion.py", "workbench/cli/test_changes_page.py"),
        *("workbench/probe/test_planted_faults.py", "workbench/probe/test_probing.py"),
        *("workbench/probe/test_differences.py", "workbench/probe/test_several_calls.py"),
        *(
            "workbench/probe/test_probe_page.py",
            "workbench/probe/test_planned_calls.py",
            "workbench/probe_judge",
        ),
    ),
    "they read languages other than Python": (
        *("code_tools/test_brace_languages.py", "code_tools/test_doc_comments.py", "code_tools/test_rust.py"),
        *(
            "code_tools/test_lines_of_declarations.py",
            "code_tools/test_growth.py",
            "code_tools/test_index.py",
        ),
    ),
    "they compare JSON schemas, and what a campaign goes on with": (
        *("workbench/compare/test_counterexamples.py", "workbench/compare/test_containment.py"),
        *("workbench/compare/test_random_documents.py",),
        *("damage", "laws/test_campaign.py"),
    ),
    "they are about the tests themselves": (*("laws/test_drawn_laws.py", "house/test_reached_branches.py"),),
    "they read this repository: its pages, numbers, modules and releases": (
        *("code_tools/test_numbers_of_code_tools.py", "code_tools/test_recorded_session.py"),
        *("workbench/compare/test_replay_page.py", "mutation", "providers/test_judges_page.py"),
        *(
            "providers/test_numbers_of_providers.py",
            "site",
            "house/test_benchmarks.py",
            "house/test_distribution.py",
        ),
        *(
            "house/test_clocks.py",
            "pages/test_frameworks_page.py",
            "house/test_house.py",
            "pages/test_names_on_pages.py",
        ),
        "pages/test_pictures.py",
        *("pages/test_stability.py", "pages/test_website.py"),
    ),
}
# Its neighbours run the rest, and nothing comes and goes again from one version to the next but two.
IN_BETWEEN = {
    "3.12": (
        *("introspect", "codec", "tools", "rounds", "execution", "pitfalls", "adapters"),
        *(
            "test_errors.py",
            "house/test_import.py",
            "test_json_copies.py",
            "laws/test_laws.py",
            "test_value.py",
        ),
    ),
}
LEFT_OUT = [f"tests/{path}" for paths in SAME_EVERYWHERE.values() for path in paths]
# Slow tests that neither draw nor start anything measure time or memory, or read a lot: the same everywhere.
SELECTED = "not slow or hypothesis or needs_process or needs_threads"
PYTEST = ("-q", "-p", "no:cacheprovider", "-m", SELECTED, *[f"--ignore={path}" for path in LEFT_OUT])
CORES = os.cpu_count() or 1
# An interpreter of a distribution may come without what makes environments.
PROBE = "import ensurepip, platform, sys, venv; print(platform.python_version(), sys.executable)"
SUMMARY = re.compile(r"^=*\s*((?:\d+ \w+, )*\d+ \w+) in [\d.]+s", re.MULTILINE)

installing = threading.Lock()  # every editable install writes the same *.egg-info


class Missing(Exception):  # noqa: N818  # nothing went wrong
    """Says why a version cannot be run here."""


class Outcome(NamedTuple):
    """What came of one version.

    Attributes:
        label: the version, and what runs it.
        verdict: `passed …`, `FAILED …` or `not run: …`.
        failed: whether the suite, or installing the package, failed.
        output: what pytest or pip said.
    """

    label: str
    verdict: str
    failed: bool
    output: str = ""


class Suite(NamedTuple):
    """A command that runs the test suite.

    Attributes:
        label: the version, and what runs it.
        command: the command.
        folder: its environment.
    """

    label: str
    command: list[str]
    folder: Path


def command_output(command: list[str]) -> str | None:
    """Return what a command prints, or None where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def candidates(version: str) -> list[str]:
    """List the programs that may be the CPython of a version, the likeliest first."""
    name = f"python{version}"
    found = [shutil.which(name, path=folder) for folder in os.get_exec_path()]
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        found.append(sys.executable)
    pyenv = command_output(["pyenv", "root"])
    if pyenv:
        found += sorted(map(str, Path(pyenv).glob(f"versions/*/bin/{name}")), reverse=True)
    return [program for program in found if program]


def find_cpython(version: str) -> tuple[str, str]:
    """Find the CPython of a version.

    A name on the PATH is not enough: pyenv has a shim for every version, chosen or not.

    Returns:
        Its full version and its program.

    Raises:
        Missing: there is none.
    """
    for program in candidates(version):
        full, _, executable = (command_output([program, "-c", PROBE]) or "").partition(" ")
        if full.startswith(f"{version}."):
            return full, executable
    raise Missing("no interpreter found")


def stamp_of(*parts: str) -> str:
    """Return what changes whenever an environment must be made anew."""
    declared = [ROOT / "pyproject.toml", ROOT / "setup.cfg", Path(__file__)]
    return hashlib.sha256(b"\0".join([*map(Path.read_bytes, declared), *map(str.encode, parts)])).hexdigest()


def is_fresh(folder: Path, stamp: str) -> bool:
    """Say whether an environment is there and still right; take it away where it is not."""
    recorded = folder / "stamp"
    if recorded.is_file() and recorded.read_text() == stamp:
        return True
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return False


def install(*commands: list[str]) -> None:
    """Run commands that install, with their output in the exception when one fails."""
    for command in commands:
        subprocess.run(
            command, cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )


def cpython(version: str, words: Sequence[str], uv: str) -> Suite:
    """Make the environment of a CPython, with the package installed in it.

    Args:
        version: such as `3.12`.
        words: for pytest: in how many processes it runs which tests.
        uv: the program that installs, which takes a tenth of the time of pip.

    Raises:
        Missing: there is no such CPython.
        CalledProcessError: the package could not be installed.
    """
    full, program = find_cpython(version)
    folder = ENVIRONMENTS / version
    python = str(folder / "bin" / "python")
    stamp = stamp_of(full, program)
    with installing:
        if not is_fresh(folder, stamp):
            install(
                [program, "-m", "venv", str(folder)],
                [
                    uv,
                    "pip",
                    "install",
                    "--quiet",
                    "--python",
                    python,
                    *COMPAT,
                    "--editable",
                    ".",
                    "--group",
                    "test",
                ],
            )
            (folder / "stamp").write_text(stamp)
    return Suite(full, [python, "-m", "pytest", *PYTEST, *words], folder)


def pure_requirements() -> list[str]:
    """List what the tests need, in releases without compiled parts."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = settings["project"]["optional-dependencies"]
    declared = [requirement for extra in ("cli", "code", "testing") for requirement in extras[extra]]
    declared += settings["dependency-groups"]["test"]
    wanted = [PURE.get(re.split(r"[^\w-]", requirement)[0], [requirement]) for requirement in declared]
    return [pure for some in wanted for pure in some if not pure.startswith("operator-schema")]


def install_pyodide(npm: str, folder: Path) -> None:
    """Install Pyodide, and beside it what the tests need.

    Raises:
        Missing: npm does not get Pyodide.
        CalledProcessError: what the tests need is not all there in pure Python.
    """
    quietly = ["--loglevel=error", "--no-save", "--no-audit", "--no-fund"]
    pure = ["--only-binary=:all:", "--platform=any", "--implementation=py", "--abi=none"]
    target = [
        f"--python-version={PYODIDE_VERSION}",
        "--no-warn-conflicts",
        f"--target={folder / 'site-packages'}",
    ]
    try:
        install([npm, "install", *quietly, f"--prefix={folder}", PYODIDE])
    except subprocess.CalledProcessError as error:
        print(error.stdout)
        raise Missing(f"no interpreter found, and npm does not get {PYODIDE}") from error
    install([sys.executable, *PIP, "install", *pure, *target, *pure_requirements()])


def pyodide() -> Suite:
    """Make the environment of Pyodide.

    Raises:
        Missing: it is not to be had, or does not start.
        CalledProcessError: what the tests need could not be installed.
    """
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        raise Missing(f"no interpreter found, nor {'npm' if node else 'node'} for Pyodide")
    folder = ENVIRONMENTS / "pyodide"
    node_version = command_output([node, "--version"]) or ""
    stamp = stamp_of(node_version)
    if not is_fresh(folder, stamp):
        install_pyodide(npm, folder)
        (folder / "stamp").write_text(stamp)
    runner = [node, str(Path(__file__).with_name("pyodide.mjs")), str(folder), str(ROOT)]
    label = command_output([*runner, "--version"])
    if not label:
        raise Missing(f"no interpreter found, and Pyodide does not start under node {node_version}")
    return Suite(label, [*runner, *PYTEST], folder)


def suite_of(version: str, words: Sequence[str], uv: str) -> Suite:
    """Make the environment of a version.

    Args:
        version: such as `3.12`.
        words: for pytest, on a CPython: in how many processes it runs which tests.
        uv: the program that installs.

    Raises:
        Missing: it cannot be run here.
        CalledProcessError: the package, or what its tests need, could not be installed.
    """
    try:
        return cpython(version, words, uv)
    except Missing:
        if version != PYODIDE_VERSION:
            raise
        return pyodide()


def run(version: str, words: Sequence[str], uv: str) -> Outcome:
    """Run the test suite on a version, on a CPython with more words for pytest."""
    try:
        suite = suite_of(version, words, uv)
    except Missing as missing:
        return Outcome(version, f"not run: {missing}", failed=False)
    except subprocess.CalledProcessError as error:
        return Outcome(version, "FAILED  to install", failed=True, output=error.stdout)
    print(f"{suite.label}: the tests start", flush=True)
    started = time.monotonic()
    more = {"HYPOTHESIS_PROFILE": "matrix", "HYPOTHESIS_STORAGE_DIRECTORY": str(suite.folder / "hypothesis")}
    done = subprocess.run(
        suite.command,
        cwd=ROOT,
        env={**os.environ, **more},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    seconds = round(time.monotonic() - started)
    return Outcome(suite.label, *judge(done.returncode, done.stdout, seconds), output=done.stdout)


def judge(status: int, output: str, seconds: int) -> tuple[str, bool]:
    """Say how a run went, and whether it failed."""
    summary = SUMMARY.findall(output)
    counts = {word: int(count) for count, word in re.findall(r"(\d+) (\w+)", summary[-1] if summary else "")}
    passed = counts.pop("passed", 0)
    others = "".join(f", {count:,} {word}" for word, count in counts.items())
    if status or not passed:
        return f"FAILED  {passed:,} tests passed{others} in {seconds} s (exit status {status})", True
    return f"passed  {passed:,} tests in {seconds} s{others}", False


def main() -> int:
    """Run every version, print one line for each, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("versions", nargs="*", metavar="VERSION", help=f"one of {', '.join(VERSIONS)}")
    parser.add_argument("--uv", default="uv", help="the program that installs (uv)")
    at_once = min(CORES, len(VERSIONS))
    parser.add_argument("--jobs", type=int, default=at_once, help=f"versions that run at once ({at_once})")
    parser.add_argument(
        "--whole", action="store_true", help="all of them run everything, as one that is named does"
    )
    arguments = parser.parse_args()
    parts = {version: [f"tests/{name}" for name in names] for version, names in IN_BETWEEN.items()}
    named = [*LEFT_OUT, *chain.from_iterable(parts.values())]
    if gone := [path for path in named if not (ROOT / path).exists()]:
        parser.error(f"SAME_EVERYWHERE or IN_BETWEEN names what isn't there: {', '.join(gone)}")
    unknown = set(arguments.versions).difference(VERSIONS)
    if unknown:
        parser.error(f"not among {', '.join(VERSIONS)}: {', '.join(sorted(unknown))}")
    outcomes: dict[str, Outcome] = {}
    # Each process collects all tests: with as many versions as cores, one a version is quickest.
    many = CORES // arguments.jobs
    processes = (f"--numprocesses={many}", "--no-loadscope-reorder") if many > 1 else ()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        # The last one may be that of Pyodide, which takes longest.
        versions = sorted(arguments.versions or VERSIONS, reverse=True)
        is_whole = arguments.whole or arguments.versions  # whoever names a version asks about that one
        chosen = {} if is_whole else parts
        running = {
            pool.submit(run, version, [*processes, *chosen.get(version, [])], arguments.uv): version
            for version in versions
        }
        for done in as_completed(running):
            outcome = outcomes[running[done]] = done.result()
            if outcome.failed:
                print(outcome.output)
            print(f"{outcome.label}: {outcome.verdict}", flush=True)
    print()
    width = max(len(outcome.label) for outcome in outcomes.values())
    for _, outcome in sorted(outcomes.items()):
        print(f"{outcome.label:{width}}  {outcome.verdict}")
    return 1 if any(outcome.failed for outcome in outcomes.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
