"""Which errors of classes and metadata become a `SchemaError`?"""

from __future__ import annotations

from opcode import opmap
from typing import TYPE_CHECKING, Final, NoReturn, cast

from ..errors import SchemaError
from ..findings import about_type
from ..message_text import show_error

if TYPE_CHECKING:
    from types import TracebackType


def raise_for(error: Exception, name: str, about: str) -> NoReturn:
    """Raise a `SchemaError` for an error during registration, or our own errors unchanged.

    Classes, their metaclasses and metadata are foreign code, and may raise any error when they are read.

    Args:
        error: the error.
        name: name of the thing to register.
        about: the kind of thing, such as `function`.

    Raises:
        SchemaError: the code of a type raised the error, which is its cause.
        Exception: the given error, if it is one of this package or of the machine.
    """
    if isinstance(error, (SchemaError, MemoryError, RecursionError)) or _is_own(error):
        raise error
    message = f"a class or metadata can't be read: its own code raised {show_error(error)}"
    found = about_type((), "unsupported", name, message, "Fix the class or the metadata")
    raise SchemaError(name, [found], about) from error


def _is_own(error: Exception) -> bool:
    """Return whether a `raise` of this package raised an exception.

    A faulty class, such as one without `__hash__`, may also make a line of this package fail that has no
    `raise`.
    """
    last = cast("TracebackType", error.__traceback__)  # a caught exception has one
    while last.tb_next is not None:
        last = last.tb_next
    module = last.tb_frame.f_globals.get("__name__")
    is_here = isinstance(module, str) and f"{module}.".startswith(_PACKAGE)
    return is_here and last.tb_frame.f_code.co_code[last.tb_lasti] == opmap["RAISE_VARARGS"]


_PACKAGE: Final = f"{__name__.rpartition('.introspect.')[0]}."
