"""Write a plain dataclass or function, and get a tool.

JSON Schema out for the model, typed instances back from its arguments, errors that the model can act on.
Standard library only. Every name is loaded when it is first used.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if sys.version_info < (3, 11):  # noqa: UP036  # installers refuse it, but a copied folder has none
    _MESSAGE = "operator_schema needs Python 3.11 or newer, and this is Python {}.{}.{}"
    raise ImportError(_MESSAGE.format(*sys.version_info[:3]))

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .codec.codec import Codec
    from .codec.shortcuts import decode, decode_json, encode, encode_json, json_schema
    from .errors import CallError, DecodeError, EncodeError, NeedsInput, SchemaError, ToolError
    from .execution.around import Execution
    from .execution.executor import Executor
    from .findings import Finding
    from .introspect.leaves import SchemaLeaf
    from .providers.answer import AnswerError
    from .rounds.errors import RoundError
    from .rounds.hook_decisions import Complete, Defer, Reject, RunAgain, RunNormally
    from .rounds.hooks import hook
    from .rounds.offer import Offer
    from .rounds.registry import Registry
    from .rounds.round import Round
    from .rounds.tool_call import ToolCall
    from .rounds.toolset import Toolset
    from .rounds.transcript import Transcript, Turn
    from .tools.calls import RawCall, ToolResult
    from .tools.describe import describe_tools
    from .tools.function import tool
    from .tools.injection import skip
    from .tools.input_tool import tool_input
    from .tools.tool import Tool

__version__ = "1.0.0.dev0"

__all__ = [
    "AnswerError",
    "CallError",
    "Codec",
    "Complete",
    "DecodeError",
    "Defer",
    "EncodeError",
    "Execution",
    "Executor",
    "Finding",
    "NeedsInput",
    "Offer",
    "RawCall",
    "Registry",
    "Reject",
    "Round",
    "RoundError",
    "RunAgain",
    "RunNormally",
    "SchemaError",
    "SchemaLeaf",
    "Tool",
    "ToolCall",
    "ToolError",
    "ToolResult",
    "Toolset",
    "Transcript",
    "Turn",
    "__version__",
    "decode",
    "decode_json",
    "describe_tools",
    "encode",
    "encode_json",
    "hook",
    "json_schema",
    "skip",
    "tool",
    "tool_input",
]

_HOMES = {
    "AnswerError": ".providers.answer",
    "CallError": ".errors",
    "Codec": ".codec.codec",
    "Complete": ".rounds.hook_decisions",
    "DecodeError": ".errors",
    "Defer": ".rounds.hook_decisions",
    "EncodeError": ".errors",
    "Execution": ".execution.around",
    "Executor": ".execution.executor",
    "Finding": ".findings",
    "NeedsInput": ".errors",
    "Offer": ".rounds.offer",
    "RawCall": ".tools.calls",
    "Registry": ".rounds.registry",
    "Reject": ".rounds.hook_decisions",
    "Round": ".rounds.round",
    "RoundError": ".rounds.errors",
    "RunAgain": ".rounds.hook_decisions",
    "RunNormally": ".rounds.hook_decisions",
    "SchemaError": ".errors",
    "SchemaLeaf": ".introspect.leaves",
    "Tool": ".tools.tool",
    "ToolCall": ".rounds.tool_call",
    "ToolError": ".errors",
    "ToolResult": ".tools.calls",
    "Toolset": ".rounds.toolset",
    "Transcript": ".rounds.transcript",
    "Turn": ".rounds.transcript",
    "decode": ".codec.shortcuts",
    "decode_json": ".codec.shortcuts",
    "describe_tools": ".tools.describe",
    "encode": ".codec.shortcuts",
    "encode_json": ".codec.shortcuts",
    "hook": ".rounds.hooks",
    "json_schema": ".codec.shortcuts",
    "skip": ".tools.injection",
    "tool": ".tools.function",
    "tool_input": ".tools.input_tool",
}


class _Path(list[str]):
    """The `lazy.AnsweringPath` of this package; it loads nothing until an import fails."""

    def __iter__(self) -> Iterator[str]:
        yield from super().__iter__()
        wanted: object = sys._getframe(1).f_locals.get("fullname")
        if isinstance(wanted, str):
            from .lazy import refuse_import

            refuse_import(wanted)


__path__ = _Path(__path__)

if not TYPE_CHECKING:  # a type checker would take any name for one of this package

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            from .lazy import absent_name

            raise absent_name(__name__, name)
        from importlib import import_module

        value = getattr(import_module(_HOMES[name], __name__), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
