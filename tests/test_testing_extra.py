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
