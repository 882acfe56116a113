"""SlipCover's probes find what the tracer of coverage.py finds."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from coverage import Coverage

pytestmark = [
    pytest.mark.skipif(sys.version_info >= (3, 12), reason="coverage is measured on Python 3.11"),
    pytest.mark.needs_process,
    pytest.mark.slow("starts two processes for each case"),
]
pytest.importorskip("slipcover", reason="there isn't a wheel for this machine")

SAMPLE = """
import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import nothing

count = 0


def decides(value):
    if value > 2:
        return "much"
    elif value > 1:
        return "some"
    if value:
        value += 1
    return value


def counts(up):
    if up is None:
        return
    global count
    if up:
        global other
        other = 1
    for step in range(up):
        count += step
        if step > 1:
            break
    else:
        count = 0
    while up:
        up -= 1


def matches(value):
    match value:
        case int() if value > 5:
            kind = "large"
        case (
            int()
            | float()
        ):
            kind = "number"
        case {"a": a}:
            match a:
                case 1:
                    return "one"
                case _:
                    return "other"
        case [] | [_]:
            kind = "list"
    return kind


def ends_with_match(value):
    match value:
        case 1:
            value = 2


def fails(how):
    try:
        if how:
            raise how("x")
    except KeyError:
        return "key"
    except ValueError:
        how = None
    else:
        how = 1
    finally:
        with contextlib.suppress(TypeError):
            how += 1
    return how


@contextlib.contextmanager
def decorated(value):
    if value:
        yield 1
    else:
        yield 2


class Kept:
    def __init__(self, value):
        self.value = [each for each in value if each]
        if not self.value:  # pragma: no cover
            self.value = []

    if not TYPE_CHECKING:

        def doubled(self):
            for each in self.value:
                return each * 2
"""
CALLS = {
    "nothing": "pass",
    "one way": """
decides(3); counts(1); matches(1); ends_with_match(1); fails(KeyError)
Kept([1]).doubled(); list(decorated(1).gen)
""",
    "the others": """
decides(2); decides(0); counts(None); matches({'a': 1}); ends_with_match(2); fails(ValueError)
Kept([0]).doubled(); list(decorated(0).gen)
""",
    "all": """
[decides(number) for number in range(4)]; [counts(number) for number in (None, 0, 1, 5)]
[matches(value) for value in (9, 1, {'a': 1}, {'a': 2}, [])]
ends_with_match(1); ends_with_match(2); fails(KeyError); fails(ValueError); fails(None)
Kept([1]).doubled(); Kept([0]).doubled(); list(decorated(0).gen); list(decorated(1).gen)
""",
}
TRACED = """
from coverage import Coverage
tracer = Coverage(data_file="data", branch=True, include=["sample.py"], config_file=False)
tracer.start()
import driver
tracer.stop()
tracer.save()
"""
PROBED = """
from coverage import CoverageData
from reached_branches import Probes, write
probes = Probes(["sample.py"])
import driver
write(probes.reached(), CoverageData("data"))
"""


def missing(folder: Path, program: str) -> dict:
    """Return the lines and branches that coverage.py says are missing, and those it leaves out."""
    path = [str(folder), str(Path(__file__).parents[1])]
    code = f"import sys; sys.path[:0] = {path}\n{program}"
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)
    measured = Coverage(data_file=str(folder / "data"), branch=True, config_file=False)
    measured.set_option("report:partial_also", ["if not TYPE_CHECKING:"])
    measured.load()
    measured.json_report(morfs=[str(folder / "sample.py")], outfile=str(folder / "report"))
    (found,) = json.loads((folder / "report").read_text())["files"].values()
    return {name: found[name] for name in found if name.endswith(("_lines", "_branches"))}


@pytest.mark.parametrize("calls", CALLS.values(), ids=CALLS)
def test_probes_find_what_tracing_finds(calls, tmp_path):
    (tmp_path / "sample.py").write_text(SAMPLE)
    (tmp_path / "driver.py").write_text(f"from sample import *\n{calls}\n")
    traced = missing(tmp_path, TRACED)
    assert missing(tmp_path, PROBED) == traced
    assert traced["executed_branches"] or calls == CALLS["nothing"]
    assert traced["missing_branches"]


WHOLE, PART = "1 passed", "Each line and branch of the engine must be reached."


@pytest.mark.parametrize(("number", "said"), [(2, WHOLE), (1, PART)], ids=["whole", "a part"])
def test_tests_that_leave_something_out_fail(number, said, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.coverage.run]\nbranch = true\ninclude = ["sample.py"]\n')
    (tmp_path / "sample.py").write_text("def twice(a):\n    if a:\n        return 2 * a\n    return 0\n")
    (tmp_path / "test_sample.py").write_text(
        f"from sample import twice\ndef test():\n    assert [twice(a) for a in range({number})][0] == 0\n"
    )
    plugins = ["-p", "reached_branches", "-p", "xdist", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugins],
        cwd=tmp_path,
        env={
            **{name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")},
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), str(tmp_path)]),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert said in done.stdout
    assert done.returncode == (pytest.ExitCode.OK if said == WHOLE else pytest.ExitCode.TESTS_FAILED)
