"""The table of judges in docs/."""

from __future__ import annotations

from pathlib import Path

import pytest

TABLE = Path(__file__).parents[3] / "docs" / "provider-judges.md"
HEAD = "| provider | judge | what | cases | passed |"


def pytest_addoption(parser):
    parser.addoption("--write-table", action="store_true", help="write the table of docs/provider-judges.md")


@pytest.fixture(scope="session")
def table(request):
    """The rows to write; None if they have to be there."""
    if not request.config.getoption("--write-table"):
        yield None
        return
    rows = Rows()
    yield rows
    before, _, rest = TABLE.read_text(encoding="utf-8").partition(HEAD)
    _, gap, after = rest.partition("\n\n")
    lines = [f"{before}{HEAD}", "|---|---|---|---|---|", *sorted(rows), f"{gap[1:]}{after}"]
    TABLE.write_text("\n".join(lines), encoding="utf-8")


class Rows(list):
    """Rows of the table; true also while there are none."""

    def __bool__(self):
        return True
