"""Where does a path lead, and how is a file changed completely, or not at all?"""

from __future__ import annotations

import os
from contextlib import contextmanager
from errno import ELOOP, ENOENT, ENOTDIR
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

_EVERYBODY = 0o666
"""The mode of a new file, before the process's umask takes permissions away."""


def resolved(path: str | os.PathLike[str]) -> Path:
    """Return an absolute path with all links followed; the file itself needn't exist.

    `Path.resolve` raises a `RuntimeError` for a link that leads to itself, up to Python 3.12, and returns the
    link later.

    Raises:
        OSError: the path is a link that leads to itself.
    """
    found = Path(os.path.realpath(path))
    if found.is_symlink():
        raise OSError(ELOOP, "it is a link that leads to itself", os.fspath(path))
    return found


def check_can_be_made(path: str | os.PathLike[str]) -> None:
    """Check that a file can be made at a path, by making another one beside it and removing it.

    Use it when the file itself is written much later, so that the user learns of a problem at once.

    Args:
        path: the path, which may be a link to a file that doesn't exist yet.

    Raises:
        OSError: the path is a link that leads to itself, its folder doesn't exist, or no file can be made
            there.
    """
    place = resolved(path)
    folder = place.parent
    if not folder.is_dir():
        is_there = folder.exists()
        reason = f"{folder} isn't a folder" if is_there else f"there is no folder {folder}"
        raise OSError(ENOTDIR if is_there else ENOENT, reason, os.fspath(path))
    _made_beside(place, 0o600).unlink()


def _made_beside(path: Path, mode: int) -> Path:
    """Make an empty file beside another one, with a name that nobody can guess."""
    # As short as its place: a name may have 255 bytes. `secrets` takes longer to import than all of this.
    made = path.with_name(f".{os.urandom(8).hex()}.new")
    os.close(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
    return made


@contextmanager
def replacement(path: Path, *, is_private: bool = False) -> Generator[Path]:
    """Give a new file that replaces another one at the end: readers see the old or the new, never a mixture.

    The new file stands beside the old one under a name that nobody can guess. Only those who can read the old
    one can read it, because it may hold secrets. If an exception ends the context, the new file is removed
    and the old one stays unchanged.

    Args:
        path: the file to replace, which needn't exist; it must not be a link.
        is_private: whether only the owner may read the new file, even if others could read the old one.

    Yields:
        The path of the new file, which is empty.

    Raises:
        OSError: the new file can't be made, or can't replace the old one.
    """
    before = path.stat().st_mode & 0o777 if path.exists() else None
    # Not writable for others in place of an old one either, until it is whole.
    mode = 0o600 if is_private else _EVERYBODY if before is None else before & 0o644 | 0o600
    made = _made_beside(path, mode)
    try:
        yield made
        if before is not None and not is_private:
            made.chmod(before)
        made.replace(path)
    except BaseException:  # an interrupt too: no half-written file stays
        made.unlink(missing_ok=True)
        raise
