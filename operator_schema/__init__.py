"""Write a plain dataclass; get a tool.

JSON Schema out for the model, typed instances back from its arguments, errors that the model can
act on. Standard library only. Every name is loaded when it is first used.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if sys.version_info < (3, 11):  # noqa: UP036  # installers refuse it, but a copied folder has none
    _MESSAGE = "operator_schema needs Python 3.11 or newer, and this is Python {}.{}.{}"
    raise ImportError(_MESSAGE.format(*sys.version_info[:3]))

if TYPE_CHECKING:
    from urllib.parse import SplitResult as URL  # noqa: N814  # the name that a user looks for

    from .codec.codec import Codec
    from .codec.partial import ArgumentStream, Partial
    from .codec.report import DecodeReport
    from .codec.shortcuts import decode, decode_json, encode, encode_json, json_schema
    from .errors import (
        CallError,
        DecodeError,
        DuplicateToolError,
        EncodeError,
        MissingContextError,
        NeedsInput,
        SchemaError,
        ToolError,
        ToolNotFoundError,
    )
    from .execution.executor import Executor
    from .findings import Finding
    from .introspect.leaves import SchemaLeaf, register_leaf
    from .introspect.local_times import LocalDateTime, LocalTime
    from .rounds.errors import CommitError, OfferError, RoundError
    from .rounds.hooks import Complete, Decision, Defer, Hooks, Reject, RunAgain, RunNormally, hook
    from .rounds.offer import Offer, ToolChoice
    from .rounds.restore import RestoreError
    from .rounds.round import HookError, InterruptedRoundError, Round
    from .rounds.tool_call import Question, ToolCall, rejection_reason
    from .rounds.toolset import Toolset
    from .rounds.transcript import Transcript, Turn
    from .tools.calls import RawCall, ToolResult
    from .tools.content import Audio, File, Image, Part, Resource, Text
    from .tools.descriptions import describe_tools, parameters_of, schema_response
    from .tools.document_tool import document_tool
    from .tools.function import InputTool, tool, tool_input
    from .tools.injection import register_injected, skip
    from .tools.metadata import ToolAnnotations
    from .tools.output import StructuredOutput
    from .tools.registry import Registry, RegistryChange
    from .tools.special_parameters import Progress, ProgressUpdate, RawArguments
    from .tools.tool import Tool, ToolDefinition

__version__ = "0.1.0"

__all__ = [
    "URL",
    "ArgumentStream",
    "Audio",
    "CallError",
    "Codec",
    "CommitError",
    "Finding",
    "Complete",
    "Decision",
    "DecodeError",
    "DecodeReport",
    "Defer",
    "DuplicateToolError",
    "EncodeError",
    "Executor",
    "File",
    "HookError",
    "Hooks",
    "Image",
    "InputTool",
    "InterruptedRoundError",
    "LocalDateTime",
    "LocalTime",
    "MissingContextError",
    "NeedsInput",
    "Offer",
    "OfferError",
    "Part",
    "Partial",
    "Progress",
    "ProgressUpdate",
    "Question",
    "RawArguments",
    "RawCall",
    "Registry",
    "RegistryChange",
    "Reject",
    "Resource",
    "RestoreError",
    "Round",
    "RoundError",
    "RunAgain",
    "RunNormally",
    "SchemaError",
    "SchemaLeaf",
    "StructuredOutput",
    "Text",
    "Tool",
    "ToolAnnotations",
    "ToolCall",
    "ToolChoice",
    "ToolDefinition",
    "ToolError",
    "ToolNotFoundError",
    "ToolResult",
    "Toolset",
    "Transcript",
    "Turn",
    "__version__",
    "decode",
    "decode_json",
    "describe_tools",
    "document_tool",
    "encode",
    "encode_json",
    "hook",
    "json_schema",
    "parameters_of",
    "register_injected",
    "register_leaf",
    "rejection_reason",
    "schema_response",
    "skip",
    "tool",
    "tool_input",
]

_HOMES = {
    "ArgumentStream": ".codec.partial",
    "Audio": ".tools.content",
    "CallError": ".errors",
    "Codec": ".codec.codec",
    "CommitError": ".rounds.errors",
    "Finding": ".findings",
    "Complete": ".rounds.hooks",
    "Decision": ".rounds.hooks",
    "DecodeError": ".errors",
    "DecodeReport": ".codec.report",
    "Defer": ".rounds.hooks",
    "DuplicateToolError": ".errors",
    "EncodeError": ".errors",
    "Executor": ".execution.executor",
    "File": ".tools.content",
    "HookError": ".rounds.round",
    "Hooks": ".rounds.hooks",
    "Image": ".tools.content",
    "InputTool": ".tools.function",
    "InterruptedRoundError": ".rounds.round",
    "LocalDateTime": ".introspect.local_times",
    "LocalTime": ".introspect.local_times",
    "MissingContextError": ".errors",
    "NeedsInput": ".errors",
    "Offer": ".rounds.offer",
    "OfferError": ".rounds.errors",
    "Part": ".tools.content",
    "Partial": ".codec.partial",
    "Progress": ".tools.special_parameters",
    "ProgressUpdate": ".tools.special_parameters",
    "Question": ".rounds.tool_call",
    "RawArguments": ".tools.special_parameters",
    "RawCall": ".tools.calls",
    "Registry": ".tools.registry",
    "RegistryChange": ".tools.registry",
    "Reject": ".rounds.hooks",
    "Resource": ".tools.content",
    "RestoreError": ".rounds.restore",
    "Round": ".rounds.round",
    "RoundError": ".rounds.errors",
    "RunAgain": ".rounds.hooks",
    "RunNormally": ".rounds.hooks",
    "SchemaError": ".errors",
    "SchemaLeaf": ".introspect.leaves",
    "StructuredOutput": ".tools.output",
    "Text": ".tools.content",
    "Tool": ".tools.tool",
    "ToolAnnotations": ".tools.metadata",
    "ToolCall": ".rounds.tool_call",
    "ToolChoice": ".rounds.offer",
    "ToolDefinition": ".tools.tool",
    "ToolError": ".errors",
    "ToolNotFoundError": ".errors",
    "ToolResult": ".tools.calls",
    "Toolset": ".rounds.toolset",
    "Transcript": ".rounds.transcript",
    "Turn": ".rounds.transcript",
    "decode": ".codec.shortcuts",
    "decode_json": ".codec.shortcuts",
    "describe_tools": ".tools.descriptions",
    "document_tool": ".tools.document_tool",
    "encode": ".codec.shortcuts",
    "encode_json": ".codec.shortcuts",
    "hook": ".rounds.hooks",
    "json_schema": ".codec.shortcuts",
    "parameters_of": ".tools.descriptions",
    "register_injected": ".tools.injection",
    "register_leaf": ".introspect.leaves",
    "rejection_reason": ".rounds.tool_call",
    "schema_response": ".tools.descriptions",
    "skip": ".tools.injection",
    "tool": ".tools.function",
    "tool_input": ".tools.function",
}


def __getattr__(name: str) -> Any:
    if name == "URL":
        from urllib.parse import SplitResult

        value: Any = SplitResult
    elif name in _HOMES:
        from importlib import import_module

        value = getattr(import_module(_HOMES[name], __name__), name)
    else:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message, name=name, obj=sys.modules[__name__])
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
