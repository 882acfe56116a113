"""Answer the import of a name that a package of ours doesn't have by those that were meant."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["answer_misnamed_imports", "names_meant"]


def names_meant(name: str, names: Iterable[str]) -> list[str]:
    """Find the names that were probably meant: those with this name as their first or last words.

    Args:
        name: what was written.
        names: what there is.

    Returns:
        These names, else the most similar one, else none.
    """
    from .wording import nearest

    names = list(names)
    longer = [other for other in names if other.startswith(f"{name}_") or other.endswith(f"_{name}")]
    near = [] if longer else [nearest(name, names)]
    return longer + [other for other in near if other is not None]


def answer_misnamed_imports(package: str, names: Callable[[], Iterable[str]]) -> None:
    """Have imports from a package that find nothing say which names were meant.

    Args:
        package: its whole name.
        names: what it has; called for an import that found nothing.
    """
    # At the end: it is asked only for what nothing else finds.
    sys.meta_path.append(_Misnamed(package, names))


class _Misnamed:
    """A finder that finds nothing, but knows what was meant."""

    __slots__ = ("_names", "_package")

    def __init__(self, package: str, names: Callable[[], Iterable[str]]) -> None:
        self._package = package
        self._names = names

    def find_spec(self, fullname: str, _path: object = None, _target: object = None) -> None:
        """Refuse a module of the package if others were meant; as the import system asks for it."""
        package, _, name = fullname.rpartition(".")
        if package != self._package:
            return
        meant = names_meant(name, self._names())
        if meant:
            from .wording import listed

            message = f"{package} has no {name}; did you mean {listed(meant, separator=' or ')}?"
            # Not a ModuleNotFoundError: `from package import name` would hide the message of that.
            raise ImportError(message, name=fullname)
