"""Run the tests of each extra with the lowest versions that it allows, and with the newest.

    python tests/extras/run.py [NAME ...]

Without names it runs the extras that `make test` covers. The extra of a framework, or of a cluster, is run if
it is named. The environments are under `.venv-extras/`. uv resolves and installs; `--uv PATH` says where
it is. `--write` updates the table of docs/stability.md with the versions whose tests passed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".venv-extras"
ENDS = {"lowest": "lowest-direct", "newest": "highest"}
PAGE = ROOT / "docs" / "stability.md"
MARKS = ("<!-- extras -->\n", "<!-- end of extras -->")

LINES = [
    "tests/workbench/bulk",
    "tests/recordings/test_logs.py",
    "tests/workbench/compare/test_parallel_engines.py",
    "tests/workbench/cli/test_cli_replay.py",
]
SMALL = {
    "arrow": LINES,
    "cli": ["tests/workbench/cli"],
    "code": ["tests/code_tools"],
    "inspector": ["tests/workbench/inspector"],
    "mcp": ["tests/adapters/mcp"],
    "monty": ["tests/code_mode"],
    "opentelemetry": ["tests/adapters/test_opentelemetry.py"],
    "probe": ["tests/workbench/probe"],
    "testing": [
        "tests/testing/test_testing.py",
        "tests/testing/test_testing_extra.py",
        "tests/testing/test_scripted_model.py",
    ],
    "zstd": LINES,
}
"""The extras that `make test` covers, and their tests."""

OF_ONE_RELEASE = {"opentelemetry": ("opentelemetry-sdk", "opentelemetry-exporter-otlp-json-file")}
"""A package for tests that has to be of the release of the extra, and one that needs the newest release."""

ELSEWHERE = {
    **dict.fromkeys(["dask", "ray"], "engines/test_engines_elsewhere.py"),
    "postgres": "stores/test_postgres.py",
}
"""The extras of clusters and servers, which have an environment of their own, as frameworks do."""


class Outcome(NamedTuple):
    """How the tests of one extra went.

    Attributes:
        extra: its name.
        end: "lowest" or "newest".
        versions: what was installed for it.
        said: the last line of pytest, or why nothing ran.
        passed: whether all of them did.
    """

    extra: str
    end: str
    versions: str
    said: str
    passed: bool


def extras() -> dict[str, list[str]]:
    """Return what each extra asks for."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return dict(table["project"]["optional-dependencies"])


def frameworks() -> dict[str, Path]:
    """Return the tests of each extra that has an environment under `tests/frameworks/`, by its name."""
    folder = ROOT / "tests" / "frameworks"
    found = {
        path.stem.removeprefix("test_adapter_").replace("_", "-"): path
        for path in sorted(folder.glob("*/test_adapter_*.py"))
    }
    found |= {name: folder / path for name, path in ELSEWHERE.items()}
    return {name: path for name, path in found.items() if name in extras()}


def names_of(extra: str) -> list[str]:
    """Return the packages that an extra asks for, without ours."""
    names: list[str] = []
    for one in extras()[extra]:
        name, _, inner = re.split(r"[<>= ;]", one)[0].partition("[")
        if name == "operator-schema":
            names += [found for each in inner.rstrip("]").split(",") for found in names_of(each)]
        else:
            names.append(name)
    return names


def run(extra: str, end: str, uv: str) -> Outcome:
    """Install an extra at one end of its versions, and run its tests."""
    place = FOLDER / f"{extra}-{end}"
    python = place / "bin" / "python"
    pins = FOLDER / f"{extra}-{end}.txt"
    asked = [uv, "pip", "compile", "--quiet", "--no-header", "--no-annotate", f"--python={sys.executable}"]
    install = [uv, "pip", "install", "--quiet", f"--python={python}"]
    framework = frameworks().get(extra)
    steps = [
        [uv, "venv", "--quiet", "--clear", f"--python={sys.executable}", str(place)],
        [*asked, f"--resolution={ENDS[end]}", f"--extra={extra}", "pyproject.toml", f"--output-file={pins}"],
    ]
    if framework is None:
        tests = SMALL[extra]
        if end == "lowest" and extra in OF_ONE_RELEASE:
            same, newest = OF_ONE_RELEASE[extra]
            steps += [
                [*install, "--editable=.", "--group=test"],
                [*install, f"--constraint={pins}", same],
                [uv, "pip", "uninstall", "--quiet", f"--python={python}", newest],
            ]
        else:
            steps.append([*install, f"--constraint={pins}", "--editable=.", "--group=test"])
    else:
        steps += [
            [*install, "--no-deps", f"--requirement={framework.parent / 'requirements.txt'}"],
            [*install, f"--requirement={pins}", "--editable=."],
        ]
        tests = [str(framework.relative_to(ROOT))]
    FOLDER.mkdir(exist_ok=True)
    pins.unlink(missing_ok=True)  # uv would keep the versions of an earlier run
    for step in steps:
        done = subprocess.run(step, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            return Outcome(extra, end, "", " ".join(done.stderr.split())[-300:], passed=False)
    pinned = dict(line.split("==") for line in pins.read_text(encoding="utf-8").splitlines() if "==" in line)
    versions = ", ".join(
        [f"{name} {pinned[name].partition(' ')[0]}" for name in names_of(extra) if name in pinned]
    )
    pytest = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", *tests]
    done = subprocess.run(pytest, cwd=ROOT, capture_output=True, text=True, check=False)
    (FOLDER / f"{extra}-{end}.log").write_text(done.stdout + done.stderr, encoding="utf-8")
    lines = done.stdout.strip().splitlines() or ["pytest said nothing"]
    return Outcome(extra, end, versions, lines[-1].strip("= "), passed=done.returncode == 0)


def table() -> dict[str, dict[str, str]]:
    """Return the versions in the table of the page, by extra and end."""
    rows = PAGE.read_text(encoding="utf-8").partition(MARKS[0])[2].partition(MARKS[1])[0].splitlines()[2:]
    cells = [[cell.strip(" `") for cell in row.strip("|").split("|")] for row in rows]
    return {extra: dict(zip(ENDS, versions, strict=True)) for extra, *versions in cells}


def write(found: Outcome) -> None:
    """Write the versions whose tests passed into the table of the page."""
    rows = table()
    rows.setdefault(found.extra, dict.fromkeys(ENDS, ""))[found.end] = found.versions
    lines = [f"| extra | {' | '.join(ENDS)} |", f"|---{'|---' * len(ENDS)}|"]
    lines += [f"| `{extra}` | {' | '.join(rows[extra].values())} |" for extra in sorted(rows)]
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    PAGE.write_text("".join([before, MARKS[0], *[f"{line}\n" for line in lines], MARKS[1], after]), "utf-8")


def main() -> int:
    """Run what was asked for; return the code of the process."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("extras", nargs="*", metavar="NAME", help="extras (default: those of `make test`)")
    parser.add_argument("--uv", default="uv", help="the program uv")
    parser.add_argument("--end", choices=ENDS, action="append", help="only one end")
    parser.add_argument("--write", action="store_true", help="update docs/stability.md")
    given = parser.parse_args()
    unknown = set(given.extras) - {*SMALL, *frameworks()}
    if unknown:
        parser.error(f"no extra with tests: {', '.join(sorted(unknown))}")
    failed = 0
    for extra in given.extras or SMALL:
        for end in given.end or ENDS:
            found = run(extra, end, given.uv)
            failed += not found.passed
            if given.write and found.passed:
                write(found)
            mark = "pass" if found.passed else "FAIL"
            print(mark, extra, end, f"({found.versions}):", found.said, flush=True)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
