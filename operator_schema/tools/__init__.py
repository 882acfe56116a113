"""Functions and dataclasses that a model can call.

Adapters, providers, code tools and the workbench use only the names that this room exports. Each name is
loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from ..introspect.other_leaves import write_base64 as write_base64
    from .calls import RawCall as RawCall
    from .calls import ToolResult as ToolResult
    from .calls import arguments_to_decode as arguments_to_decode
    from .content import Audio as Audio
    from .content import File as File
    from .content import Image as Image
    from .content import Part as Part
    from .content import Resource as Resource
    from .content import Text as Text
    from .describe import describe_tools as describe_tools
    from .describe import documentation_of as documentation_of
    from .document_tools import DocumentOutput as DocumentOutput
    from .document_tools import document_output as document_output
    from .document_tools import document_tool as document_tool
    from .document_tools import tool_of_document as tool_of_document
    from .function import output_tool as output_tool
    from .injected_values import WholeContext as WholeContext
    from .injection import Progress as Progress
    from .injection import ProgressUpdate as ProgressUpdate
    from .injection import register_handed_through as register_handed_through
    from .injection import register_injected as register_injected
    from .injection import skip as skip
    from .input_tool import InputTool as InputTool
    from .input_tool import tool_input as tool_input
    from .logs import ERROR as ERROR
    from .logs import INFO as INFO
    from .logs import WARNING as WARNING
    from .logs import write_log as write_log
    from .metadata import MCP_HINTS as MCP_HINTS
    from .metadata import STATEMENTS as STATEMENTS
    from .metadata import ToolAnnotations as ToolAnnotations
    from .metadata import is_duration as is_duration
    from .options import ToolOptions as ToolOptions
    from .options import check_options_for_all as check_options_for_all
    from .output import NO_OUTPUT as NO_OUTPUT
    from .output import StructuredOutput as StructuredOutput
    from .output import WrittenOutput as WrittenOutput
    from .output import items_of as items_of
    from .parameter_lists import parameters_of as parameters_of
    from .parameter_lists import schema_of_parameters as schema_of_parameters
    from .parameter_lists import schema_response as schema_response
    from .raw_arguments import RawArguments as RawArguments
    from .signature import is_awaitable as is_awaitable
    from .signature import is_coroutine_function as is_coroutine_function
    from .tool import Tool as Tool
    from .tool import ToolDefinition as ToolDefinition
    from .tool_sources import check_is_tool as check_is_tool
    from .tool_sources import is_undescribed as is_undescribed
    from .tool_sources import place_of_tool as place_of_tool
    from .tool_sources import tools_in as tools_in
    from .tool_sources import tools_of as tools_of
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "..introspect.other_leaves": "write_base64",
            ".calls": "RawCall ToolResult arguments_to_decode",
            ".content": "Audio File Image Part Resource Text",
            ".describe": "describe_tools documentation_of",
            ".document_tools": "DocumentOutput document_output document_tool tool_of_document",
            ".logs": "ERROR INFO WARNING write_log",
            ".function": "output_tool",
            ".injected_values": "WholeContext",
            ".injection": "Progress ProgressUpdate register_handed_through register_injected skip",
            ".input_tool": "InputTool tool_input",
            ".metadata": "MCP_HINTS STATEMENTS ToolAnnotations is_duration",
            ".options": "check_options_for_all",
            ".output": "NO_OUTPUT StructuredOutput WrittenOutput items_of",
            ".parameter_lists": "parameters_of schema_of_parameters schema_response",
            ".raw_arguments": "RawArguments",
            ".signature": "is_awaitable is_coroutine_function",
            ".tool": "Tool ToolDefinition",
            ".tool_sources": "check_is_tool is_undescribed place_of_tool tools_in tools_of",
        },
    )
