"""How are findings shown beside lines of code in a CI system?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

from ... import __version__
from ...message_text import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .output import Printer

_KINDS: Final = {"error": "error", "warning": "warning", "note": "notice"}
"""GitHub's kind of annotation for each severity."""


class Annotation(NamedTuple):
    """The text of one finding for a CI system.

    Attributes:
        severity: `error`, `warning` or `note`, as SARIF calls them too.
        code: the code of the finding.
        title: a few words about the subject.
        message: one or more lines.
        subjects: the tools or types with this finding.
        file: the file of the finding, relative to the current folder if it is below that; empty if not known.
        line: the line in the file, from 1.
    """

    severity: str
    code: str
    title: str
    message: str
    subjects: tuple[str, ...]
    file: str = ""
    line: str = "1"


def print_annotations(out: Printer, shape: str, annotations: Iterable[Annotation]) -> None:
    """Print annotations in the format of a CI system.

    Args:
        out: the printer.
        shape: `github` for commands of GitHub Actions, `sarif` for a file that code scanning reads.
        annotations: the annotations.
    """
    if shape == "sarif":
        out.json(_as_sarif(annotations), 2)
        return
    for each in annotations:
        out.command(_as_command(each))


def _as_command(of: Annotation) -> str:
    """Write an annotation as a command of GitHub Actions.

    Source: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
    """
    place = {"file": of.file, "line": of.line} if of.file else {}
    about = {**place, "title": of.title}
    marks = ",".join([f"{key}={_escaped(value, ':,')}" for key, value in about.items()])
    lines = [_escaped(line) for line in of.message.split("\n")]
    return f"::{_KINDS[of.severity]} {marks}::{'%0A'.join(lines)}"


def _escaped(text: str, others: str = "") -> str:
    text = escape(text)
    for character in f"%{others}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _as_sarif(annotations: Iterable[Annotation]) -> dict[str, Any]:
    """Return annotations as one run of a SARIF log.

    Source: SARIF 2.1.0, https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
    """
    results = [_result_of(each) for each in annotations]
    driver = {
        "name": "operator-schema",
        "version": __version__,
        "rules": [{"id": code} for code in dict.fromkeys([each["ruleId"] for each in results])],
    }
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }


def _result_of(of: Annotation) -> Mapping[str, Any]:
    where: dict[str, Any] = {
        "logicalLocations": [{"fullyQualifiedName": name, "kind": "function"} for name in of.subjects]
    }
    if of.file:
        where["physicalLocation"] = {
            "artifactLocation": {"uri": _uri_of(of.file)},
            "region": {"startLine": int(of.line)},
        }
    return {"ruleId": of.code, "level": of.severity, "message": {"text": of.message}, "locations": [where]}


def _uri_of(file: str) -> str:
    """Return a URI: relative to the root of the sources for a relative path, otherwise with `file:`."""
    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
