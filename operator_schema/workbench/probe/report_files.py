"""How is a report of a probe written to a file: as JUnit XML, or as a page?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

from ...message_text import clip, escape, show_path
from ..report_pages import code, page, section, shown, table
from .checks import CHECKS
from .reports import LEVELS, MOST_SHOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...findings import Severity
    from .reports import FoundFault, ProbeReport


def as_junit(
    report: ProbeReport, found: Iterable[FoundFault], failing: Sequence[str], *, must_end: bool = False
) -> str:
    """Return a report as JUnit XML: a test case for each tool and check.

    Args:
        report: the report of a probe.
        found: the findings that nobody accepts.
        failing: the levels that count as failures; the others are skipped.
        must_end: whether it is a failure, too, if not all planned calls were made.
    """
    listed = list(found)
    known: dict[tuple[str, str], list[FoundFault]] = {}
    for each in listed:
        known.setdefault((each.finding.tool or "server", each.finding.code), []).append(each)
    called = [plan.tool for plan in report.plan if plan.is_called]
    cases = dict.fromkeys([*known, *[(tool, code) for tool in called for code in CHECKS]])
    suite = ET.Element("testsuite", name=escape(f"probe {report.target}"))
    failures = int(must_end and not report.is_complete)
    results = {tool: f"{number} valid calls succeeded" for tool, number in report.tools()}
    if failures:
        case = ET.SubElement(suite, "testcase", classname="server", name="complete")
        ET.SubElement(case, "failure", message=report.warnings(in_command=True)[0])
    for tool, name in cases:
        case = ET.SubElement(suite, "testcase", classname=escape(tool), name=name)
        of_case = known.get((tool, name), [])
        worst = [each for each in of_case if each.finding.severity in failing]
        text = "\n\n".join([_text(each) for each in of_case])
        if worst:
            failures += 1
            failure = ET.SubElement(case, "failure", message=escape(worst[0].lines()[0]))
            failure.text = text
        elif of_case:
            ET.SubElement(case, "system-out").text = text
        elif name == "never_succeeded" and escape(tool) in results:
            ET.SubElement(case, "system-out").text = results[escape(tool)]
    suite.set("failures", str(failures))
    suite.set("tests", str(len(suite)))
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def as_html(report: ProbeReport, found: Iterable[FoundFault]) -> str:
    """Return a report as an HTML page that loads nothing else.

    Args:
        report: the report of a probe.
        found: the findings that nobody accepts.
    """
    listed = list(found)
    sections = [
        section(
            level,
            f"<p>{shown(_LEVEL_MEANINGS[level])}</p>",
            table(_TITLES, [_cells(each) for each in listed if each.finding.severity == level]),
        )
        for level in LEVELS
        if any(each.finding.severity == level for each in listed)
    ]
    rows = [[shown(tool), shown(number)] for tool, number in report.tools()]
    tools = [section("tools", "", table(("tool", "valid calls that succeeded"), rows))] if rows else []
    said = [*report.warnings(in_command=True), report.summary(in_command=True, left=listed)]
    return page(report.target, "".join([f"<p>{shown(each)}</p>" for each in said]), *sections, *tools)


def _cells(found: FoundFault) -> list[str]:
    finding = found.finding
    calls = "\n".join(
        [*[clip(step.shown(), MOST_SHOWN) for step in found.steps], clip(found.repeat, MOST_SHOWN)]
    )
    what = found.lines()[0].partition(": ")[2]
    texts = (finding.tool or "", show_path(finding.path), what, finding.remedy or "")
    return [*map(shown, texts), code(calls.strip())]


_TITLES: Final = ("tool", "place", "what", "what to do", "smallest calls, and how to repeat them")
_LEVEL_MEANINGS: Final[dict[Severity, str]] = {
    "error": "programs and models that follow the protocol and the schemas are misled",
    "warning": "a model has to guess, or gets away with a mistake",
    "note": "it is harmless by itself",
}


def _text(found: FoundFault) -> str:
    """Return a fault as lines that XML 1.0 can hold, each escaped."""
    return "\n".join(map(escape, [*found.lines(), *found.repeat.split("\n")]))
