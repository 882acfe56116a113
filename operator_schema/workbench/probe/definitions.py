"""What is wrong with the names, descriptions and schemas by which a server offers its tools?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..lint import lint
from ..lint.checks import many_tools
from ..tool_definitions import read_described
from .reports import FoundFault

if TYPE_CHECKING:
    from collections.abc import Collection

    from .subject import Server

_OTHER_DEFAULT: Final = frozenset({"unmarked_deletion"})
"""Codes of `lint` about hints that have another meaning in the protocol if they aren't stated."""


def faults_of_definitions(server: Server, names: Collection[str]) -> list[FoundFault]:
    """Return the faults of definitions that `check` finds, too.

    Weaknesses of the schemas of parameters are left to `check`.

    Args:
        server: a server whose tools are known.
        names: the names of the checked tools.
    """
    known = [each for each in server.tools if each["name"] in names]
    described = read_described({"tools": known})
    judged = lint(described.tools) if described.tools else []
    if len(known) < len(server.tools):
        judged = [finding for finding in judged if finding.code != "many_tools"]
        judged += [finding for _, finding in many_tools(server.tools)]
    rules = [
        finding
        for finding in judged
        if finding.code not in _OTHER_DEFAULT
        and (finding.severity == "error" or not finding.path or finding.code == "unchecked")
    ]
    return [
        FoundFault(
            finding.replace(tool=described.originals.get(finding.tool or "", finding.tool), where=None),
            (),
            is_smallest=True,
            repeat="",
        )
        for finding in [*described.findings, *rules]
    ]
