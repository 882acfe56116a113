"""Write a plain dataclass; get a tool.

JSON Schema out for the model, typed instances back from its arguments, errors that the model can
act on. Standard library only. Every name is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from urllib.parse import SplitResult as URL  # noqa: N814  # the name that a user looks for

    from .codec.codec import Codec
    from .codec.functions import decode, decode_json, encode, json_schema
    from .codec.partial import ArgumentStream, Partial
    from .codec.report import DecodeReport, IgnoredKey, Repair
    from .errors import Complaint, DecodeError, EncodeError, Problem, SchemaError
    from .introspect.leaves import SchemaLeaf, register_leaf

__version__ = "0.1.0"

__all__ = [
    "URL",
    "ArgumentStream",
    "Codec",
    "Complaint",
    "DecodeError",
    "DecodeReport",
    "EncodeError",
    "IgnoredKey",
    "Partial",
    "Problem",
    "Repair",
    "SchemaError",
    "SchemaLeaf",
    "__version__",
    "decode",
    "decode_json",
    "encode",
    "json_schema",
    "register_leaf",
]

_HOMES = {
    "ArgumentStream": ".codec.partial",
    "Codec": ".codec.codec",
    "Complaint": ".errors",
    "DecodeError": ".errors",
    "DecodeReport": ".codec.report",
    "EncodeError": ".errors",
    "IgnoredKey": ".codec.report",
    "Partial": ".codec.partial",
    "Problem": ".errors",
    "Repair": ".codec.report",
    "SchemaError": ".errors",
    "SchemaLeaf": ".introspect.leaves",
    "decode": ".codec.functions",
    "decode_json": ".codec.functions",
    "encode": ".codec.functions",
    "json_schema": ".codec.functions",
    "register_leaf": ".introspect.leaves",
}


def __getattr__(name: str) -> Any:
    if name == "URL":
        from urllib.parse import SplitResult  # noqa: PLC0415  # loaded when used

        value: Any = SplitResult
    elif name in _HOMES:
        from importlib import import_module  # noqa: PLC0415  # likewise

        value = getattr(import_module(_HOMES[name], __name__), name)
    else:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message, name=name, obj=__import__("sys").modules[__name__])
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
