"""Which findings or changes does the file of `--accepted` accept, and which of its entries do nothing?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..compare.accepted import AcceptError, notes_on_entries, read_accepted
from .module_loading import WrongUse
from .text_files import read_text

if TYPE_CHECKING:
    from collections.abc import Collection

    from ..compare.accepted import Accepted, Sorted
    from .output import Printer


def accepted_in(file: str) -> list[Accepted]:
    """Return the entries of a TOML file of accepted changes or findings; see `compare/accepted.py`.

    Raises:
        WrongUse: the file can't be read.
    """
    try:
        return read_accepted(read_text(file), file)
    except AcceptError as error:
        raise WrongUse(str(error)) from None


def write_accepted(err: Printer, found: Sorted[Any], what: str, codes: Collection[str]) -> None:
    """Write which entries of a file of accepted changes or findings have no effect any more, and why.

    Args:
        err: standard error.
        found: the changes or findings, sorted by the entries.
        what: the word for the missing event, such as `changed`.
        codes: the codes that an entry may have.
    """
    for entry, line in notes_on_entries(found, what, codes):
        err.line(line, "yellow" if entry in found.expired else "dim")
