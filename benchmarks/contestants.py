"""The libraries that are compared: their names, and where each is found."""

from __future__ import annotations

import importlib
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from types import ModuleType

OURS = "operator_schema"


class Contestant(NamedTuple):
    """A library, or code that is compared like one.

    Attributes:
        name: as in the tables.
        module: its module in `benchmarks.peers`.
        distribution: the name to install, or None if there is nothing to install.
        imported: the statement by which a program imports it.
    """

    name: str
    module: str
    distribution: str | None
    imported: str


CONTESTANTS = (
    Contestant(OURS, "ours", None, "import operator_schema"),
    Contestant("by hand", "handwritten", None, "pass"),
    Contestant("msgspec", "msgspec_", "msgspec", "import msgspec"),
    Contestant("pydantic", "pydantic_", "pydantic", "from pydantic import TypeAdapter"),
    Contestant("serpyco-rs", "serpyco", "serpyco-rs", "import serpyco_rs"),
    Contestant("mashumaro", "mashumaro_", "mashumaro", "from mashumaro.codecs.basic import BasicDecoder"),
    Contestant("adaptix", "adaptix_", "adaptix", "from adaptix import Retort"),
    Contestant("cattrs", "cattrs_", "cattrs", "import cattrs"),
    Contestant("apischema", "apischema_", "apischema", "import apischema"),
)
OF_FUNCTIONS = (
    CONTESTANTS[0],
    Contestant("openai-agents", "agents_", "openai-agents", "from agents import function_tool"),
    Contestant("mcp", "mcp_", "mcp", "from mcp.server import MCPServer"),
)


WITH_BARS = (OURS, "msgspec", "pydantic")


def chosen(*, quick: bool) -> list[Contestant]:
    """Return all contestants, or for a quick run those that most bars name."""
    return [each for each in CONTESTANTS if not quick or each.name in WITH_BARS]


class Cant(Exception):  # noqa: N818  # this is a result, not an error
    """The reason why a contestant doesn't do a job."""


@cache
def load(contestant: Contestant) -> ModuleType:
    """Import the jobs of a contestant.

    Raises:
        Cant: the contestant isn't installed.
    """
    try:
        return importlib.import_module(f"benchmarks.peers.{contestant.module}")
    except ImportError as error:
        message = "not installed" if version_of(contestant) is None else f"does not import: {error}"
        raise Cant(message) from error


def job_of(contestant: Contestant, name: str) -> Any:
    """Return the function by which a contestant does a job.

    Raises:
        Cant: it doesn't do the job, or isn't installed.
    """
    found = getattr(load(contestant), name, None)
    if found is None:
        message = "can't"
        raise Cant(message)
    return found


def warm_decoder_of(contestant: Contestant) -> Any:
    """Return the function that makes the fastest decoder of a contestant.

    Raises:
        Cant: it doesn't decode, or isn't installed.
    """
    return getattr(load(contestant), "warm_decoder", None) or job_of(contestant, "decoder")


def version_of(contestant: Contestant) -> str | None:
    """Return the version of a contestant, or None if it isn't installed."""
    if contestant.distribution is None:
        return importlib.import_module(OURS).__version__ if contestant.name == OURS else ""
    try:
        return metadata.version(contestant.distribution)
    except metadata.PackageNotFoundError:
        return None


def is_pure(contestant: Contestant) -> bool:
    """Return whether a contestant is installed and has no compiled parts."""
    if contestant.distribution is None or version_of(contestant) is None:
        return False
    files = metadata.files(contestant.distribution) or ()
    return not any(str(file).endswith((".so", ".pyd")) for file in files)


def pure_names() -> list[str]:
    """Return the names of the pure Python contestants, except ours and the hand-written one."""
    # pydantic and serpyco-rs keep their compiled parts in distributions or names of their own
    compiled = {"msgspec", "pydantic", "serpyco-rs"}
    return [each.name for each in CONTESTANTS if each.name not in compiled and is_pure(each)]
