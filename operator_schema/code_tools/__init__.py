"""Tools that read a code base for a model: what is declared, who uses it, and whether new code is valid.

They need the extra `code`: `pip install 'operator-schema[code]'`. Nothing of the code that is read is
run or imported.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from .. import Registry  # noqa: TC001  # the command line reads it
from ..lazy import answer_misnamed
from .code_base import CodeBase
from .model_tools import CodeTools, code_tools
from .parsing import missing_package

try:
    from annotated_types import Ge, Gt
except ModuleNotFoundError as error:
    raise missing_package(error, "annotated-types") from None

__all__ = ["CodeBase", "CodeTools", "code_tools"]

answer_misnamed(__name__)


def make_tools(
    root: Path = Path(),
    cache: Path | None = None,
    budget: Annotated[int, Ge(1000)] = 20_000,
    type_check_seconds: Annotated[float, Gt(0)] = 20.0,
    type_checks: bool = False,  # noqa: FBT001, FBT002  # an option of the command line
) -> Registry:
    """Make the tools of a folder, for the command line.

    Args:
        root: The folder that the tools read.
        cache: A file in which parsed files are kept for the next start; a file of something else is refused.
        budget: Characters that a result may have.
        type_check_seconds: Seconds that a type checker may take.
        type_checks: Whether a type checker may run, which may run programs of the project.
    """
    return code_tools(
        root, cache=cache, budget=budget, type_check_seconds=type_check_seconds, type_checks=type_checks
    )


__tools__ = make_tools
