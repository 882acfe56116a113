"""Names of a package that are loaded when first used (PEP 562), and suggestions for misspelt names."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_ROOMS = (
    *("types", "content", "errors", "tools", "rounds", "providers", "testing", "workbench.lint"),
    *("workbench.compare", "execution", "codec", "code_mode", "workbench.probe", "workbench.bulk"),
    *("workbench.inspector", "workbench", "adapters"),
)
"""The packages in which an absent name is looked for, those for users first; a copy may lack some."""

_ROOT = __name__.rpartition(".")[0]
_FOLDERS = (f"{_ROOT}.workbench", f"{_ROOT}.adapters")
"""Packages whose modules have names of their own."""
_ONE_SLIP = 0.85
_ALMOST_THE_SAME = 0.8


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` for a package that loads its names when first used.

    Args:
        package: its `__name__`.
        homes: the modules that define the names, relative to the package, such as `.strategies`, each with
            its names separated by spaces; `SplitResult:URL` exports a name under another one.
    """
    home_of = {
        name.rpartition(":")[2]: (module, name.partition(":")[0])
        for module, names in homes.items()
        for name in names.split()
    }

    def load(name: str) -> Any:
        if name not in home_of:
            raise absent_name(package, name)
        module, own_name = home_of[name]
        value = getattr(import_module(module, package), own_name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    _answer_imports_below(package)

    return load, names, sorted(home_of)


def names_meant(name: str, names: Iterable[str], likeness: float = 0.6) -> list[str]:
    """Find the names that were probably meant: those with this name as their first or last words.

    Args:
        name: the name as written.
        names: the existing names.
        likeness: how similar a name must be at least, as for `nearest`.

    Returns:
        These names, and one that differs by a single slip; if there are none, the most similar name.
    """
    from .similar_names import nearest

    names = list(names)
    longer = [other for other in names if other.startswith(f"{name}_") or other.endswith(f"_{name}")]
    near = [nearest(name, names, _ONE_SLIP if longer else likeness)]
    return longer + [other for other in near if other is not None and other not in longer]


def answer_misnamed(package: str) -> None:
    """Make a module suggest names when an absent one is asked for, even though it loads no names lazily.

    Args:
        package: its `__name__`.
    """

    def answer(name: str) -> Any:
        raise absent_name(package, name)

    vars(sys.modules[package])["__getattr__"] = answer
    _answer_imports_below(package)


def _answer_imports_below(package: str) -> None:
    module = vars(sys.modules[package])
    if "__path__" in module:
        module["__path__"] = AnsweringPath(package)


def absent_name(
    package: str, name: str, meant_by: Callable[[str], list[str]] | None = None
) -> AttributeError | ImportError:
    """Return the exception for an absent name; it suggests a similar name, or where the name is.

    `from … import …` replaces each AttributeError by an exception of its own, so it gets an ImportError.

    Args:
        package: the module's `__name__`.
        name: the absent name.
        meant_by: returns the names that were probably meant; without it, or if it returns none, the most
            similar names in the module and in the rooms are suggested.
    """
    module = sys.modules[package]
    message = f"module {package!r} has no attribute {name!r}"
    if name.startswith("_"):
        return AttributeError(message, name=name, obj=module)
    if _is_module(package, name):  # then `from … import …` goes on to the module
        return AttributeError(f"{message}; it's a module: write import {package}.{name} first", name=name)
    answer = _answer(package, name, meant_by)
    if answer is None:
        return AttributeError(message, name=name, obj=module)
    if _is_imported_from(vars(module), name):
        return ImportError(f"{package} has no {name}; {answer}", name=f"{package}.{name}")
    return AttributeError(f"{message}; {answer}", name=name)  # with `obj`, Python would suggest a name, too


def _answer(package: str, name: str, meant_by: Callable[[str], list[str]] | None) -> str | None:
    home_of = _homes()
    if name in home_of:
        return f"it is in {home_of[name]}"
    meant = meant_by(name) if meant_by else []
    return _did_you_mean(meant) or _nearest(package, name, home_of)


def _nearest(package: str, name: str, home_of: Mapping[str, str]) -> str | None:
    here = [*sys.modules[package].__all__, *(_ROOMS if package == _ROOT else ())]
    everywhere = [*here, *[one for one in home_of if one not in here]]
    meant = names_meant(name, here, _ALMOST_THE_SAME) or names_meant(name, everywhere)
    return _did_you_mean([one if one in here else f"{one} of {home_of[one]}" for one in sorted(meant)])


def _homes() -> dict[str, str]:
    """Map exported names to the first room that exports them, and rooms and some modules to their package."""
    rooms = [_ROOT, *(f"{_ROOT}.{room}" for room in _ROOMS)]
    homes = {name: room for room in reversed(rooms) for name in _exported(room)}
    folders = [folder for folder in _FOLDERS if folder in sys.modules and folder in rooms]
    modules = {name: folder for folder in folders for name in module_names(folder)}
    return {room: _ROOT for room in module_names(_ROOT) if room in _ROOMS} | modules | homes


def _exported(room: str) -> list[str]:
    """Return the names that a room exports; none if this copy of the package lacks a room that it needs."""
    try:
        return list(import_module(room).__all__)
    except ModuleNotFoundError:
        return []


def _did_you_mean(meant: list[str]) -> str | None:
    from .message_text import listed

    return f"did you mean {listed(meant, separator=' or ')}?" if meant else None


def _is_module(package: str, name: str) -> bool:
    from importlib.machinery import PathFinder

    path = getattr(sys.modules[package], "__path__", [])
    return PathFinder.find_spec(f"{package}.{name}", path[:]) is not None


def module_names(package: str) -> list[str]:
    """List the modules of a package."""
    from pkgutil import iter_modules

    return [module.name for module in iter_modules(sys.modules[package].__path__)]


def _is_imported_from(module: dict[str, Any], name: str) -> bool:
    """Return whether the statement that asks a module for a name is `from module import name`."""
    from opcode import opmap

    frame = sys._getframe(1)  # nothing else knows who asks
    while frame.f_back is not None and (frame.f_globals is module or frame.f_globals is globals()):
        frame = frame.f_back
    code = frame.f_code
    return code.co_code[frame.f_lasti] == opmap["IMPORT_FROM"] and name in code.co_names


def refuse_import(module: str, meant_by: Callable[[str], list[str]] | None = None) -> None:
    """Refuse the import of an absent module with a suggestion, if there is one.

    Args:
        module: the full name of the module to import.
        meant_by: as for `absent_name`.

    Raises:
        ModuleNotFoundError: with the suggestion.
    """
    package, _, name = module.rpartition(".")
    if package not in sys.modules or name.startswith("_") or _is_left_out(module) or _is_looking_for_homes():
        return
    answer = None if _is_module(package, name) else _answer(package, name, meant_by)
    message = f"{package} has no {name}; {answer}"
    if name in _exported(package):
        message = f"{module} isn't a module: write from {package} import {name}"
    if answer is not None:
        raise ModuleNotFoundError(message, name=module)


def _is_left_out(module: str) -> bool:
    """Return whether a module is a room: only a partial copy lacks one, so its name isn't misspelt."""
    return module in {f"{_ROOT}.{room}" for room in _ROOMS}


def _is_looking_for_homes() -> bool:
    """Return whether a search for suggestions is running already; its own imports may fail."""
    frame = sys._getframe(2)  # no state is needed to know it, in none of the threads
    while frame.f_back is not None and frame.f_code is not _homes.__code__:
        frame = frame.f_back
    return frame.f_code is _homes.__code__


class AnsweringPath(list[str]):
    """The folders of a package, which suggest another name if an import finds no module in them.

    `import package.name` uses nothing else of the package before it fails, so this is the only place for it.

    Args:
        package: its `__name__`.
        meant_by: as for `absent_name`.
    """

    __slots__ = ("_meant_by",)

    def __init__(self, package: str, meant_by: Callable[[str], list[str]] | None = None) -> None:
        super().__init__(sys.modules[package].__path__)
        self._meant_by = meant_by

    def __iter__(self) -> Iterator[str]:
        """Yield the folders, and refuse the import if nothing was found in them.

        Raises:
            ModuleNotFoundError: an import looked in all folders without success, and there is a suggestion.
        """
        yield from super().__iter__()
        wanted: object = sys._getframe(1).f_locals.get("fullname")  # as `PathFinder` calls it
        if isinstance(wanted, str):
            refuse_import(wanted, self._meant_by)
