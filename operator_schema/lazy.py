"""Names of a package that are loaded when they are first used (PEP 562), and which name a wrong one meant."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["answer_misnamed_imports", "lazy_names", "names_meant"]


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
        from importlib import import_module

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
            from .message_text import listed

            message = f"{package} has no {name}; did you mean {listed(meant, separator=' or ')}?"
            # Not a ModuleNotFoundError: `from package import name` would hide the message of that.
            raise ImportError(message, name=fullname)
