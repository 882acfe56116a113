"""Run every Python example in README and docs."""

from __future__ import annotations

from doctest import ELLIPSIS

from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

# A block that is no session defines what the sessions after it use.
pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(doctest_optionflags=ELLIPSIS)],
    patterns=["*.md"],
    excludes=["CHANGELOG.md"],
).pytest()
