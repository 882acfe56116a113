"""smolagents: our tools as its tools; needs the extra `smolagents`.

`to_tool` takes attributes of the tool as options, such as `output_type`, and `raise_errors`: whether a call
without a result raises `ToolCallError`, which is the default. In a `ToolCallingAgent` this ends the step, and
the results of other calls of the step are lost; otherwise the model gets the text as a result. In a
`CodeAgent`, code would continue with that text. Names of tools must be Python identifiers. smolagents has no
context of a call, and doesn't support recursive types.
"""

from __future__ import annotations

from copy import copy, deepcopy
from typing import TYPE_CHECKING, Any, cast

from .base import Adapter, needing
from .conversions import flat_definition, is_text, json_of

with needing("smolagents", "smolagents 1.26 or newer", "smolagents"):
    from smolagents import AgentImage
    from smolagents import Tool as SmolTool

from ..lazy import answer_misnamed
from ..tools import Image

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..tools import Tool, ToolResult

__all__ = ["OperatorTool", "ToolCallError", "to_tool", "to_tools"]

answer_misnamed(__name__)

_ANY = ["string", "integer", "number", "boolean", "object", "array", "null"]


class ToolCallError(ValueError):
    """A call has no result; the message is the text for the model."""


class OperatorTool(SmolTool):
    """One of our tools as a tool of smolagents; made by `to_tool` and `to_tools`."""

    skip_forward_signature_validation = True

    def __init__(self, tool: Any, runner: Any, /, *, raise_errors: bool = True, **native: Any) -> None:
        self.name, self.description = tool.name, tool.definition()["description"]
        structured = tool.structured_output()
        is_object = structured is not None and not structured.is_wrapped
        self.output_type = "object" if is_object else "any"
        self.output_schema = tool.output_schema() if is_object else None
        self.inputs: Any = _inputs(tool)
        self.__dict__.update(native)
        self._runner, self._signature, self._raises = runner, tool.signature, raise_errors
        super().__init__()

    def __call__(self, *args: Any, sanitize_inputs_outputs: bool = False, **kwargs: Any) -> Any:
        """Run a call of an agent."""
        if sanitize_inputs_outputs and len(args) == 1 and not kwargs and isinstance(args[0], str):
            return self._outcome(args[0])  # the agent couldn't read this text as JSON
        return super().__call__(*args, sanitize_inputs_outputs=sanitize_inputs_outputs, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run a call from code, with arguments by position or by name."""
        try:
            arguments = dict(self._signature.bind_partial(*args, **kwargs).arguments)
        except TypeError:  # too many arguments, or wrong names: decoding reports them
            arguments = kwargs
        return self._outcome(arguments)

    def to_code_prompt(self) -> Any:
        """Return the description of the tool for an agent that writes code."""
        shown = copy(self)
        shown.inputs = deepcopy(self.inputs)
        return SmolTool.to_code_prompt(shown)

    def _outcome(self, arguments: Any) -> Any:
        result: ToolResult = self._runner.run_sync(self.name, arguments)
        if result.is_error and self._raises:
            raise ToolCallError(result.content)
        if isinstance(result.value, AgentImage):
            return result.value
        parts = result.parts if result.changed is None else result.parts[1:]  # an image can't say more
        if len(parts) == 1 and isinstance(parts[0], Image):
            return AgentImage(parts[0].data)
        data = json_of(result)
        return result.content if result.is_error or data is None or not is_text(result) else data


class _Input(dict[str, Any]):
    """A property of the input that hides its type from smolagents, whose own check would come before ours.

    A copy, as the model gets it, has the type.
    """

    def __getitem__(self, key: str) -> Any:
        return "any" if key == "type" else super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        return True if key == "nullable" else super().get(key, default)

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return deepcopy(dict(self.items()), memo)


def _inputs(tool: Tool[..., Any]) -> dict[str, Any]:
    schema = flat_definition(tool, "smolagents", boolean_schemas=False)["input_schema"]
    properties = cast("Mapping[str, dict[str, Any]]", schema["properties"])
    required = frozenset(schema.get("required", ()))
    return {name: _Input(_property(part, name in required)) for name, part in properties.items()}


def _property(part: dict[str, Any], is_required: bool) -> dict[str, Any]:  # noqa: FBT001  # read beside its call
    """Return a schema for smolagents, which needs a type and a description, and splits `anyOf` itself."""
    made = {"type": _ANY, "description": "", **part, **({} if is_required else {"nullable": True})}
    if "anyOf" in made:
        made["allOf"] = [{"anyOf": made.pop("anyOf")}, *made.get("allOf", ())]
    return made


_adapter = Adapter[OperatorTool](
    "smolagents", OperatorTool, native_results=(AgentImage,), taken=("self", "sanitize_inputs_outputs")
)
to_tool, to_tools = _adapter.to_tool, _adapter.to_tools
