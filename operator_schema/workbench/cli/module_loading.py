"""How is a module of a command line found and imported, and what is said if that fails?"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import sys
import traceback
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ...errors import SchemaError
from ...message_text import class_name_of, escape, one_line, show_error
from ...similar_names import nearest
from .output import without_commands

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Iterator


T = TypeVar("T")

_MESSAGE_LENGTH = 300
_NAME_LENGTH = 100


class WrongUse(click.ClickException):  # the cause isn't the program
    """A name, file or module that can't be used: the program ends with status 2, and says why in one line."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        """Write the message to standard error; indent further lines, so none looks like another error."""
        text = "\n  ".join([escape(line) for line in self.message.split("\n")])
        click.echo(without_commands(f"operator-schema: error: {text}"), file=file or sys.stderr)


class BrokenModuleError(WrongUse):
    """A module that exists, but can't be imported or inspected: its own code raises an exception."""


def asked_safely(ask: Callable[[], T], otherwise: T) -> T:
    """Ask an object of the program for something; if its own code fails, return another value."""
    try:
        return ask()
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001  # the program's own code
        return otherwise


def holds(test: Callable[[], object]) -> bool:
    """Return whether a test of a program's object succeeds; False if its own code raises any exception."""
    return asked_safely(lambda: bool(test()), otherwise=False)


def attribute_in(module: object, name: str) -> Any:
    """Return an attribute of a module, without asking its `__getattr__`; None if there is none.

    A program may put any object into `sys.modules`.
    """
    return asked_safely(lambda: vars(module).get(name), None)


def file_of(module: object) -> str | None:
    """Return the file of a module; None if it has none, or its `__file__` isn't text."""
    file = attribute_in(module, "__file__")
    return file if type(file) is str else None


def _folders_of(module: object) -> list[str]:
    """Return the folders of a package; empty for any other object."""
    path = attribute_in(module, "__path__")
    if issubclass(type(path), str):
        return []
    return asked_safely(lambda: [one for one in path or () if type(one) is str], [])


@contextmanager
def extra_needed(packages: Collection[str], message: str) -> Generator[None]:
    """Convert a failed import of some packages to an error that names the missing extra.

    Args:
        packages: the packages of the extra.
        message: the text of the error.

    Raises:
        WrongUse: one of the packages isn't installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in packages:
            raise
        raise WrongUse(message) from None


@contextmanager
def own_output_kept() -> Generator[None]:
    """Redirect the standard output of the user's code and its child processes to standard error."""
    sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:  # it is closed, or there are no descriptors
        with redirect_stdout(sys.stderr):
            yield
        return
    try:
        with redirect_stdout(sys.stderr):
            os.dup2(2, 1)
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


_files: dict[str, str] = {}
"""The files of modules that were given as files, by the names of the modules."""


@contextmanager
def imports_from_here() -> Generator[None]:
    """While the context lasts, find modules in the current folder and in the folders of named files first."""
    before = list(sys.path)
    sys.path.insert(0, "")  # `python -m` does this; the console script has to do it itself
    try:
        yield
    finally:
        sys.path[:] = before
        _files.clear()


def is_path(text: str) -> bool:
    """Return whether a text names a file rather than a module."""
    return text.endswith(".py") or os.sep in text or "/" in text or text in {".", ".."}


def module_of_file(file: str) -> str:
    """Make the module in a file importable, and return its name.

    The module is imported from the folder above its outermost package, or from its own folder if it is in no
    package. That folder comes first on the path.

    Args:
        file: a file that ends in `.py`, or the folder of a package.

    Raises:
        WrongUse: there is no such file, or it can't be imported by a name.
    """
    path = Path(os.path.abspath(file))  # a link counts at its own place, not at its target
    _check_file(file, path)
    path = path.parent if path.name == "__init__.py" else path
    folder, names = path.parent, [path.stem if path.is_file() else path.name]
    while (folder / "__init__.py").is_file():
        folder, names = folder.parent, [folder.name, *names]
    name = ".".join(names)
    if any("." in one for one in names):
        message = f"{escape(file)} can't be imported: the name of a module can't have a dot, so rename it"
        raise WrongUse(message)
    known = _files.setdefault(name, str(path))
    if known != str(path):
        message = f"{escape(file)} and {escape(known)} are both the module {escape(name)}: give one at a time"
        raise WrongUse(message)
    if str(folder) not in sys.path and str(folder) != os.getcwd():
        sys.path.insert(0, str(folder))
        importlib.invalidate_caches()
    return name


def _check_file(file: str, path: Path) -> None:
    if path.is_dir():
        if not (path / "__init__.py").is_file():
            message = f"{escape(file)} is a folder without __init__.py: give a file in it, such as tools.py"
            raise WrongUse(message)
    elif not path.is_file():
        found = path.parent.glob("*.py") if path.parent.is_dir() else ()
        beside = [one.name for one in found if one.name != path.name]  # itself, if a broken link
        near = near_name(path.name if path.suffix else f"{path.name}.py", beside)
        hint = f"; did you mean {escape(str(Path(file).with_name(near)))}?" if near else ""
        message = f"there is no file {escape(file)}{hint}"
        raise WrongUse(message)
    elif path.suffix != ".py":
        message = f"{escape(file)} isn't a Python file: its name doesn't end in .py"
        raise WrongUse(message)


def given_files() -> list[str]:
    """Return the files and folders that were given in place of modules."""
    return list(_files.values())


def written_in_full(module: str) -> str:
    """Return a name that means the same module in another folder: for a file, its absolute path."""
    return _files.get(module, module)


def load_module(name: str, *, show_traceback: bool, path: str = "") -> ModuleType:
    """Import a module.

    Args:
        name: the name of the module, with dots.
        show_traceback: whether to print the whole traceback if the import fails.
        path: names after the colon, for the message.

    Returns:
        The module.

    Raises:
        SchemaError: a type or tool in it has complaints; a note says where in the user's code.
        BrokenModuleError: importing it raises an exception.
        WrongUse: the module isn't found.
    """
    try:
        # Standard output is for schemas and values, not for output of a module's import.
        with own_output_kept():
            module = importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # an import can raise any exception, as `pytest.skip` does
        if show_traceback:
            traceback.print_exception(error)
        if isinstance(error, SchemaError):
            with suppress(TypeError):  # a program may have replaced the notes by another object
                error.add_note(_place(error).strip(" ()"))
            raise
        raise _import_failure(name, path, error, show_traceback=show_traceback) from None
    _check_origin(module, name)
    if not holds(lambda: type(module.__name__) is str and isinstance(vars(module), dict)):
        is_module = issubclass(type(module), ModuleType)
        why = f"its __name__ is {kind_of(module.__name__)}" if is_module else _replaced_by(module)
        message = f"the module {escape(name)} can't be used: {why}"
        raise BrokenModuleError(message)
    return module


def _replaced_by(module: object) -> str:
    return f"it puts {kind_of(module)} in its own place in sys.modules"


def check_is_there(name: str) -> None:
    """Check that a module can be found, without importing it or the packages around it.

    Raises:
        WrongUse: the module isn't found; the message has the nearest name.
    """
    first = name.partition(".")[0]
    if first not in sys.modules and importlib.util.find_spec(first) is None:
        raise WrongUse(_not_found(name, first, ""))


def _check_origin(module: ModuleType, name: str) -> None:
    """Check that a module comes from the named file, and not from another one with the same name."""
    wanted, found = _files.get(name), file_of(module)
    if wanted is None or (found is not None and _is_same(found, wanted)):
        return
    is_of_python = name.partition(".")[0] in sys.stdlib_module_names
    if found is None and not is_of_python:  # it says that it has no file, or puts something else in its place
        return
    place = "a module of Python itself" if found is None else f"already the module in {escape(found)}"
    message = f"{escape(wanted)} can't be imported: {escape(name)} is {place}, so rename the file"
    raise WrongUse(message)


def _is_same(found: str, wanted: str) -> bool:
    whole = os.path.join(wanted, "__init__.py") if Path(wanted).is_dir() else wanted
    return os.path.realpath(found) == os.path.realpath(whole)


def modules_of(name: str, listed: Collection[str] = ()) -> Iterator[str]:
    """List a module and, if it is a package, the modules below it.

    Args:
        name: the name of the module.
        listed: the folders whose modules aren't listed again: a package may claim to be in its own folder.

    Yields:
        The names of the modules; private modules and `__main__` are left out below a package.
    """
    yield name
    try:
        module = load_module(name, show_traceback=False)
    except (SchemaError, WrongUse):  # whoever takes the module gets it, too
        return
    folders = {os.path.realpath(folder): folder for folder in _folders_of(module) if "\0" not in folder}
    new = [folder for place, folder in folders.items() if place not in listed]
    for entry in pkgutil.iter_modules(new):
        if not entry.name.startswith("_"):
            yield from modules_of(f"{name}.{entry.name}", {*listed, *folders})


def _import_failure(name: str, path: str, error: BaseException, *, show_traceback: bool) -> WrongUse:
    missing = vars(ImportError)["name"].__get__(error) if isinstance(error, ModuleNotFoundError) else None
    if type(missing) is str:
        if f"{name}.".startswith(f"{missing}."):
            return WrongUse(_not_found(name, missing, path))
        reason = f"imports {escape(missing)}, which is not found{_place(error)}"
    else:
        reason = f"can't be imported: {reason_of(error, show_traceback=show_traceback)}"
    return BrokenModuleError(f"the module {escape(name)} {reason}")


def near_name(name: str, names: Iterable[str]) -> str | None:
    """Return the name that was probably meant, among the many names of a module or a folder.

    With many names, some name is always slightly similar, so a short name may differ by little more than one
    character.

    Args:
        name: the name as it was written.
        names: the possible names.
    """
    return nearest(name, names, 0.75 if len(name) <= _SHORT else 0.65)


_SHORT = 6
"""The maximum length of a short name."""


def kind_of(value: object) -> str:
    """Return a word for the type of an object, with its article."""
    name = one_line(class_name_of(value), _NAME_LENGTH)
    return f"an {name}" if name[:1].lower() in "aeiou" else f"a {name}"


def reason_of(error: BaseException, *, show_traceback: bool) -> str:
    """Describe an exception: its type and message, where it was raised, and how to see more.

    Args:
        error: an exception of the user's code.
        show_traceback: whether the whole traceback is printed anyway.
    """
    more = "" if show_traceback else "; --traceback shows all of it"
    return f"{show_error(error, _MESSAGE_LENGTH)}{_place(error)}{more}"


def _not_found(name: str, missing: str, path: str) -> str:
    parent, dot, last = missing.rpartition(".")
    if parent and holds(lambda: hasattr(sys.modules.get(parent), last)):
        inside = ".".join(filter(None, [name[len(parent) + 1 :], path]))
        meant = f"{escape(last)} is in the module {escape(parent)}: write {escape(f'{parent}:{inside}')}"
        return f"no module {escape(name)}; {meant}"
    known = _modules_in(_folders_of(sys.modules.get(parent)) if parent else sys.path)
    near = near_name(
        last, known if parent else [name for name in known if name not in sys.stdlib_module_names]
    )
    meant = f"{parent}{dot}{near}{name[len(missing) :]}"
    hint = "" if near is None or meant == name else f"; did you mean {escape(meant)}?"
    if missing != name:
        return f"no module {escape(name)}: there is no {escape(missing)}{hint}"
    where = "" if parent else " in this folder or on the path"
    return f"no module {escape(name)}{where}{hint}"


def _modules_in(folders: Iterable[object]) -> list[str]:
    """List the names of the modules in folders and zip files."""
    names: list[str] = []
    for folder in folders:
        if isinstance(folder, str):  # imports ignore other entries, too
            # A loop of links; or a zip file in which nothing was looked up since caches were emptied.
            with suppress(OSError, KeyError):
                names += [module.name for module in pkgutil.iter_modules([folder])]
    return list(dict.fromkeys(names))


def _place(error: BaseException) -> str:
    """Return where the user's own code raised an exception: ` (tools.py, line 3)`; or an empty text."""
    if isinstance(error, SyntaxError):
        return ""  # its message says where
    ours = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = frame.filename
        if file != importlib.__file__ and not file.startswith(("<frozen ", ours + os.sep)):
            here = os.path.join(os.getcwd(), "")
            return f" ({escape(file.removeprefix(here))}, line {frame.lineno})"
    return ""
