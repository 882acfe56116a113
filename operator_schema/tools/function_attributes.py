"""What a tool has in common with its function: name, docstring, annotations, and whether it is async."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

from .injection import is_union

__all__ = ["coroutine_mark", "copy_attributes", "not_a_function"]

_COPIED = (
    *("__module__", "__name__", "__qualname__", "__doc__"),
    *(("__type_params__",) if sys.version_info >= (3, 12) else ()),
)


def copy_attributes(function: Any, home: str, description: str) -> dict[str, Any]:
    """Return the attributes that make a tool look like its function, as `functools.wraps` does.

    Args:
        function: of the tool, or its input type.
        home: name of the module that makes the tool, for what has no module of its own.
        description: of the tool, for what has no docstring of its own.
    """
    content: dict[str, Any] = {}
    is_named = hasattr(function, "__qualname__") and not is_union(function)
    if not is_named:
        # The module and docstring of a partial or a union belong to its class.
        content["__module__"], content["__doc__"] = home, description
    for attribute in _COPIED if is_named else ():
        value: object = getattr(function, attribute, None)
        if value is not None:
            content[attribute] = value
    content["__wrapped__"] = function
    if getattr(function, "__isabstractmethod__", False):
        content["__isabstractmethod__"] = True
    with suppress(Exception):
        # Python 3.14 evaluates them here, and a name in them may not be known yet.
        content["__annotations__"] = function.__annotations__
    if sys.version_info >= (3, 14) and getattr(function, "__annotate__", None) is not None:
        content["__annotate__"] = function.__annotate__
    return content


def not_a_function(what: str) -> str:
    """Return the message for a framework that was given a tool instead of a function.

    Args:
        what: what it tried.
    """
    return (
        f"a Tool isn't a function, and {what}; give the framework the function, tool.__wrapped__, or give it "
        "tool.definition() and run the calls with an Executor"
    )


def coroutine_mark(module: str, *names: str) -> Any:
    """Return the object by which a module recognises coroutine functions that aren't written as such.

    Args:
        module: its name.
        names: of the object; releases of Python differ.
    """
    asked = sys.modules.get(module)  # it is loaded, if that is what asks
    return next((getattr(asked, name) for name in names if hasattr(asked, name)), None)
