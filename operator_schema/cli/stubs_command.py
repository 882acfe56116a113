"""The command `stubs`: the declarations of tools, for a model that calls them from a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..code_mode import stubs as stubs_of_tools
from .arguments import NearChoice, complete_target, traceback_option
from .modules import WrongUse
from .output import subject_of, text_of
from .sources import SOURCES, described_tools_of, tool_source

if TYPE_CHECKING:
    from ..tools import Tool
    from .output import Output

__all__ = ["stubs"]


@click.command(
    epilog=f"""\b
examples:
  operator-schema stubs tools
  operator-schema stubs --language typescript tools > tools.d.ts
  operator-schema stubs mcp:"uvx mcp-server-time" > server.pyi

{SOURCES}"""
)
@click.argument("target", shell_complete=complete_target)
@click.option(
    "--language",
    type=NearChoice(["python", "typescript"]),
    default="python",
    help="What the declarations are written in (default: python).",
)
@traceback_option
@click.pass_obj
def stubs(outputs: tuple[Output, Output], target: str, language: Any, *, show_traceback: bool) -> int:
    """Print typed declarations of tools.

    A model that reads them can write a program that calls the tools. Definitions that can't be read are named
    on standard error, and left out.
    """
    tools, status = _tools_of(outputs[1], target, show_traceback=show_traceback)
    if not tools:
        message = "there are no tools to declare"
        raise WrongUse(message)
    outputs[0].text(stubs_of_tools(tools, language))
    return status


def _tools_of(err: Output, target: str, *, show_traceback: bool) -> tuple[list[Tool[..., Any]], int]:
    """Return the tools of a target, and the exit status: 1 if some of them can't be read."""
    described = described_tools_of(target)
    if described is None:
        return tool_source(target, show_traceback=show_traceback)(), 0
    failed = [finding for finding in described.findings if finding.severity == "error"]
    for finding in failed:
        subject, text = subject_of(finding), text_of(finding)
        # The message about a tool without a name begins with its place in the list.
        err.report(f"{target}: ", text if text.startswith(f"{subject} ") else f"{subject}: {text}")
    return described.tools, 1 if failed else 0
