"""In an isolated sub-interpreter, which allows no daemon threads, tools run without threads."""

from __future__ import annotations

import subprocess
import sys

import pytest
from patience import LONGEST_WAIT

pytestmark = [
    pytest.mark.needs_threads,
    pytest.mark.skipif(sys.version_info < (3, 13), reason="isolated sub-interpreters came with Python 3.13"),
]

PROGRAM = """
import _interpreters

inside = '''
from operator_schema import Executor, RawCall, tool

@tool
def plain(x: int) -> int:
    return x

@tool
async def waiting(x: int) -> int:
    return x

for threads in (True, False):
    executor = Executor([plain, waiting], threads=threads, max_threads=1, timeout=5)
    calls = [RawCall("1", name, {"x": 1}) for name in ("plain", "plain", "waiting")]
    print([executor.run_sync(call).content for call in calls], executor.abandoned)
'''
one = _interpreters.create("isolated")
print(_interpreters.exec(one, inside))
_interpreters.destroy(one)
"""


def test_plain_functions_need_an_executor_without_threads():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=LONGEST_WAIT, check=False
    )
    assert done.stdout.splitlines() == [
        "['plain failed: RuntimeError', 'plain failed: RuntimeError', '1'] 0",  # and no place is lost
        "['1', '1', '1'] 0",
        "None",
    ]
    assert "with threads=False it needs none" in done.stderr
