"""What `operator_schema.testing` says where Hypothesis isn't installed."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.needs_process
def test_the_extra_that_is_missing_is_named():
    code = "import sys; sys.modules['hypothesis'] = None; from operator_schema.testing import arguments"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    remedy = "pip install 'operator-schema[testing]'"
    assert last == f"ModuleNotFoundError: operator_schema.testing needs Hypothesis: {remedy}"


@pytest.mark.needs_process
def test_a_script_needs_no_extra():
    code = "import sys; sys.modules['hypothesis'] = None; from operator_schema.testing import ScriptedModel"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.needs_process
def test_doubles_with_given_answers_cassettes_and_checks_need_no_extra():
    code = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "from operator_schema import tool\n"
        "from operator_schema.testing import ToolDouble, assert_calls, playback, record\n"
        "def say(text: str) -> str:\n"
        "    'Say it.'\n"
        "double = ToolDouble(tool(say), 'done')\n"
        "assert double('x') == 'done'\n"
        "assert_calls(double, [{'text': 'x'}])\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
