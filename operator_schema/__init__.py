"""Write a plain dataclass; get a tool.

JSON Schema out for the model, typed instances back from its arguments, errors that the model can
act on. Standard library only. Every name is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from urllib.parse import SplitResult as URL  # noqa: N814  # the name that a user looks for

    from .codec.codec import Codec
    from .codec.functions import decode, decode_json, encode, encode_json, json_schema
    from .codec.partial.stream import ArgumentStream, Partial
    from .codec.report import DecodeReport, IgnoredKey, Repair
    from .errors import (
        CallError,
        Complaint,
        DecodeError,
        DuplicateToolError,
        EncodeError,
        MissingContextError,
        NeedsInput,
        Problem,
        SchemaError,
        ToolError,
        ToolNotFoundError,
    )
    from .introspect.leaves import SchemaLeaf, register_leaf
    from .introspect.local_times import LocalDateTime, LocalTime
    from .tools.calls import RawCall, ToolResult
    from .tools.describe import describe_tools
    from .tools.execution.executor import Executor
    from .tools.function import tool, tool_input
    from .tools.injection.host_classes import register_injected
    from .tools.injection.skip import skip
    from .tools.input_tool import InputTool
    from .tools.neutral import parameters_of, schema_response
    from .tools.progress import Progress, ProgressUpdate
    from .tools.raw_arguments import RawArguments
    from .tools.registry.listeners import RegistryChange
    from .tools.registry.registry import Registry
    from .tools.results.content import Audio, File, Image, Part, Resource, Text
    from .tools.results.structured_output import StructuredOutput
    from .tools.tool import Tool
    from .tools.tool_annotations import ToolAnnotations
    from .tools.tool_properties import ToolDefinition

__version__ = "0.1.0"

__all__ = [
    "URL",
    "ArgumentStream",
    "Audio",
    "CallError",
    "Codec",
    "Complaint",
    "DecodeError",
    "DecodeReport",
    "DuplicateToolError",
    "EncodeError",
    "Executor",
    "File",
    "IgnoredKey",
    "Image",
    "InputTool",
    "LocalDateTime",
    "LocalTime",
    "MissingContextError",
    "NeedsInput",
    "Part",
    "Partial",
    "Problem",
    "Progress",
    "ProgressUpdate",
    "RawArguments",
    "RawCall",
    "Registry",
    "RegistryChange",
    "Repair",
    "Resource",
    "SchemaError",
    "SchemaLeaf",
    "StructuredOutput",
    "Text",
    "Tool",
    "ToolAnnotations",
    "ToolDefinition",
    "ToolError",
    "ToolNotFoundError",
    "ToolResult",
    "__version__",
    "decode",
    "decode_json",
    "describe_tools",
    "encode",
    "encode_json",
    "json_schema",
    "parameters_of",
    "register_injected",
    "register_leaf",
    "schema_response",
    "skip",
    "tool",
    "tool_input",
]

_HOMES = {
    "ArgumentStream": ".codec.partial.stream",
    "Audio": ".tools.results.content",
    "CallError": ".errors",
    "Codec": ".codec.codec",
    "Complaint": ".errors",
    "DecodeError": ".errors",
    "DecodeReport": ".codec.report",
    "DuplicateToolError": ".errors",
    "EncodeError": ".errors",
    "Executor": ".tools.execution.executor",
    "File": ".tools.results.content",
    "IgnoredKey": ".codec.report",
    "Image": ".tools.results.content",
    "InputTool": ".tools.input_tool",
    "LocalDateTime": ".introspect.local_times",
    "LocalTime": ".introspect.local_times",
    "MissingContextError": ".errors",
    "NeedsInput": ".errors",
    "Part": ".tools.results.content",
    "Partial": ".codec.partial.stream",
    "Problem": ".errors",
    "Progress": ".tools.progress",
    "ProgressUpdate": ".tools.progress",
    "RawArguments": ".tools.raw_arguments",
    "RawCall": ".tools.calls",
    "Registry": ".tools.registry.registry",
    "RegistryChange": ".tools.registry.listeners",
    "Repair": ".codec.report",
    "Resource": ".tools.results.content",
    "SchemaError": ".errors",
    "SchemaLeaf": ".introspect.leaves",
    "StructuredOutput": ".tools.results.structured_output",
    "Text": ".tools.results.content",
    "Tool": ".tools.tool",
    "ToolAnnotations": ".tools.tool_annotations",
    "ToolDefinition": ".tools.tool_properties",
    "ToolError": ".errors",
    "ToolNotFoundError": ".errors",
    "ToolResult": ".tools.calls",
    "decode": ".codec.functions",
    "decode_json": ".codec.functions",
    "describe_tools": ".tools.describe",
    "encode": ".codec.functions",
    "encode_json": ".codec.functions",
    "json_schema": ".codec.functions",
    "parameters_of": ".tools.neutral",
    "register_injected": ".tools.injection.host_classes",
    "register_leaf": ".introspect.leaves",
    "schema_response": ".tools.neutral",
    "skip": ".tools.injection.skip",
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
        raise AttributeError(message, name=name, obj=__import__("sys").modules[__name__])
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
