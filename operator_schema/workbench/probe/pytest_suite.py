"""How is a tool server tested in a pytest suite, with a test for each tool and check?

```text
test_server = probe_tests("python server.py", allow=["create_note"])
```
"""

from __future__ import annotations

import warnings
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

try:
    import pytest
except ModuleNotFoundError as error:
    if error.name != "pytest":
        raise
    message = "probe_tests needs pytest: pip install pytest 'operator-schema[probe]'"
    raise ModuleNotFoundError(message, name=error.name) from None

from ...message_text import checked_path, escape
from ..compare.accepted import AcceptError, notes_on_entries, read_accepted, sort_changes
from .checks import CHECKS
from .probe_error import ProbeError
from .probe_options import check_options
from .probing import plan, probe
from .reports import LEVELS
from .targets import checked_target

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from ...findings import Finding
    from ..compare.accepted import Accepted
    from .reports import FoundFault, Plan, ProbeReport

_DEFINITION: Final = "definition"
_SERVER: Final = "server"


def probe_tests(
    target: Any,
    /,
    *,
    accepted: str | os.PathLike[str] | None = None,
    fail_on: str = "error",
    **options: Any,
) -> Callable[[str, str], None]:
    """Return a test function that probes a server, with a case for each tool and check.

    The server is asked for its tools when the tests are collected, and probed when the first case runs. Cases
    of tools that aren't called are skipped with the reason. If the server can't be probed, the first case
    fails, and the others are skipped. If `seconds` is too short for all planned calls, or an entry of
    `accepted` accepts nothing any more, pytest shows a warning.

    Args:
        target: as for `probe`.
        accepted: path of a TOML file with findings that are expected. Each is a table `[[accept]]` with the
            name of the `tool`, a `reason` and a last day, `until`; `code` and `path` narrow it down. Such
            findings are expected failures.
        fail_on: the lowest level that fails: `error`, `warning` or `note`.
        options: options of `probe`, such as `allow`, `seed` and `seconds`.

    Raises:
        AcceptError: the file of accepted findings can't be read, or isn't such TOML.
        ProbeError: an option isn't for such a target.
        TypeError: there is no such option, or it or the target is of another kind.
        ValueError: `fail_on` is another word, or a number isn't above 0.
    """
    if fail_on not in LEVELS:
        message = f"fail_on is {', '.join(LEVELS[:-1])} or {LEVELS[-1]}, not {fail_on!r}"
        raise ValueError(message)
    check_options(options, more=("accepted", "fail_on"))
    target = checked_target(target, **options)
    entries = [] if accepted is None else _accepted_in(checked_path("accepted", accepted))
    failing = LEVELS[: LEVELS.index(fail_on) + 1]
    subject = _ProbedServer(target, options, entries, failing)
    cases = subject.cases()

    @pytest.mark.parametrize(("tool", "check"), cases, ids=[f"{tool}-{check}" for tool, check in cases])
    def test(tool: str, check: str) -> None:
        __tracebackhide__ = True
        subject.judge(tool, check)

    return test


def _accepted_in(file: str) -> list[Accepted]:
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it isn't UTF-8"
        message = f"{escape(file)} can't be read: {why}"
        raise AcceptError(message) from None
    return read_accepted(text, file)


class _ProbedServer:
    """Probes a server once, and judges each tool and check by the report."""

    def __init__(
        self, target: Any, options: dict[str, Any], entries: list[Accepted], failing: tuple[str, ...]
    ) -> None:
        self._target, self._options, self._entries, self._failing = target, options, entries, failing
        self._plans: dict[str, Plan] = {}
        self._failure = ""
        self._has_warned = False
        self._first: tuple[str, str] | None = None

    def cases(self) -> list[tuple[str, str]]:
        """Return the names of tools and checks; only those of the server if its tools aren't known."""
        given = {name: value for name, value in self._options.items() if name in (plan.__kwdefaults__ or {})}
        try:
            self._plans = {each.tool: each for each in plan(self._target, **given)}
        except ProbeError as error:
            self._failure = str(error)
        checks = [*CHECKS, _DEFINITION]
        called = [name for name, each in self._plans.items() if each.is_called]
        others = [(name, "called") for name, each in self._plans.items() if not each.is_called]
        return [*[(tool, check) for tool in [_SERVER, *called] for check in checks], *others]

    @cached_property
    def _report(self) -> ProbeReport | None:
        try:
            return probe(self._target, **self._options)
        except ProbeError as error:
            self._failure = str(error)
            return None

    def judge(self, tool: str, check: str) -> None:
        """Fail if something was found; skip what isn't called."""
        __tracebackhide__ = True
        if check == "called":
            reason, needs_allow = self._plans[tool].reason, self._plans[tool].needs_allow
            pytest.skip(f"{reason}: allow=[{tool!r}] calls it" if needs_allow else reason)
        report = None if self._failure else self._report
        if report is None:
            self._first = self._first or (tool, check)  # the same one fails when it is run again
            if self._first != (tool, check):
                pytest.skip(f"the server wasn't probed: {'-'.join(self._first)} says why")
            pytest.fail(self._failure, pytrace=False)
        self._warn(report)
        own = [each for each in report.found if _case_of(each.finding) == (tool, check)]
        rows = sort_changes([each.finding for each in own], self._entries, datetime.now(UTC).date())
        left = [each for each in own if each.finding in rows.left and each.finding.severity in self._failing]
        if left:
            pytest.fail("\n\n".join(_text_of(each) for each in left), pytrace=False)
        if rows.accepted:
            pytest.xfail(f"accepted: {rows.accepted[0][1].reason}")

    def _warn(self, report: ProbeReport) -> None:
        """Warn once of too little time and of idle entries; where warnings are errors, one test fails."""
        if self._has_warned:
            return
        self._has_warned = True
        rows = sort_changes(report.findings, self._entries, datetime.now(UTC).date())
        lines = [line for _, line in notes_on_entries(rows, "was found", CHECKS)]
        lines += [] if report.is_complete else [report.summary()]
        if lines:
            warnings.warn("\n".join([f"probe_tests: {line}" for line in lines]), pytest.PytestWarning, 1)


def _case_of(finding: Finding) -> tuple[str, str]:
    return finding.tool or _SERVER, finding.code if finding.code in CHECKS else _DEFINITION


def _text_of(found: FoundFault) -> str:
    return "\n".join([*found.lines(), *([f"repeat: {found.repeat}"] if found.repeat else [])])
