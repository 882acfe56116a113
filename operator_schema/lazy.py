"""Names of a package that are loaded when they are first used (PEP 562), and what a wrong name meant."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["absent_name", "answer_misnamed_imports", "lazy_names", "names_meant"]

_ROOMS = ("types", "content", "errors", "tools", "rounds", "providers", "testing", "lint", "compare")
"""Where a name may be that is missing elsewhere, those for users first; a copy may lack the last ones."""


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package that loads names at their first use.

    Args:
        package: its `__name__`.
        homes: the modules that define the names, relative to the package, such as `.strategies`, each with
            its names separated by spaces; `SplitResult:URL` for a name that is another one here.
    """
    home_of = {
        name.rpartition(":")[2]: (module, name.partition(":")[0])
        for module, names in homes.items()
        for name in names.split()
    }

    def load(name: str) -> Any:
        if name not in home_of:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=sys.modules[package])
        module, own_name = home_of[name]
        value = getattr(import_module(module, package), own_name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return load, names, sorted(home_of)


def names_meant(name: str, names: Iterable[str]) -> list[str]:
    """Find the names that were probably meant: those with this name as their first or last words.

    Args:
        name: what was written.
        names: what there is.

    Returns:
        These names, else the most similar one, else none.
    """
    from .message_text import nearest

    names = list(names)
    longer = [other for other in names if other.startswith(f"{name}_") or other.endswith(f"_{name}")]
    near = [] if longer else [nearest(name, names)]
    return longer + [other for other in near if other is not None]


def answer_misnamed_imports(package: str, meant_by: Callable[[str], list[str]]) -> None:
    """Have imports from a package that find nothing say which names were meant.

    Args:
        package: its whole name.
        meant_by: returns the names that were probably meant by one that the package doesn't have.
    """

    def answer(name: str) -> str | None:
        from .message_text import listed

        meant = meant_by(name)
        return f"did you mean {listed(meant, separator=' or ')}?" if meant else None

    _answer_imports(package, answer)


def absent_name(package: str, name: str) -> AttributeError:
    """Return the exception for a name that a package doesn't have; it says which room has it, if one does.

    An import, which hides the text of this exception, says so from then on, too.

    Args:
        package: `operator_schema` itself, or a room of it with a `__path__`.
        name: what was asked for.
    """
    message = f"module {package!r} has no attribute {name!r}"
    home = None if _is_module(package, name) else _home_of(name)
    if home is not None:
        message = f"{message}; {home}"
        if not any(isinstance(one, _Misnamed) and one.answers(package) for one in sys.meta_path):
            _answer_imports(package, _home_of)
    return AttributeError(message, name=name, obj=sys.modules[package])


def _is_module(package: str, name: str) -> bool:
    """Return whether an import of the name goes on to a module: then the other rooms needn't be loaded."""
    return PathFinder.find_spec(f"{package}.{name}", sys.modules[package].__path__) is not None


def _home_of(name: str) -> str | None:
    if name.startswith("_"):
        return None
    root = __name__.rpartition(".")[0]
    rooms = (f"{root}.{room}" for room in _ROOMS if _is_module(root, room))  # a copy may lack some
    home = next((room for room in rooms if name in _names_of(room)), None)
    return None if home is None else f"it is in {home}"


def _names_of(room: str) -> list[str]:
    """Return what a room exports: nothing if a copy lacks a room that it needs."""
    try:
        return list(getattr(import_module(room), "__all__", ()))
    except ModuleNotFoundError:
        return []


def _answer_imports(package: str, answer: Callable[[str], str | None]) -> None:
    # At the end: it is asked only for what nothing else finds.
    sys.meta_path.append(_Misnamed(package, answer))


class _Misnamed:
    """A finder that finds nothing, but knows what was meant.

    Args:
        package: whose names it knows.
        answer: returns what to say about a name that the package doesn't have; None for nothing.
    """

    __slots__ = ("_answer", "_package")

    def __init__(self, package: str, answer: Callable[[str], str | None]) -> None:
        self._package = package
        self._answer = answer

    def answers(self, package: str) -> bool:
        """Return whether it is for this package."""
        return package == self._package

    def find_spec(self, fullname: str, _path: object = None, _target: object = None) -> None:
        """Refuse a module of the package if there is something to say; as the import system asks for it."""
        package, _, name = fullname.rpartition(".")
        answer = self._answer(name) if package == self._package else None
        if answer is not None:
            message = f"{package} has no {name}; {answer}"
            # Not a ModuleNotFoundError: `from package import name` would hide the message of that.
            raise ImportError(message, name=fullname)
