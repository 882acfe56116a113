"""dspy: our tools as its tools, for ReAct and for native calls; needs the extra `dspy`.

`to_tool` takes the options `name` and `desc` of `dspy.Tool`. dspy has no context of a call, and doesn't
support recursive types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..lazy import answer_misnamed
from .base import Adapter, needing
from .conversions import flat_definition

with needing("dspy", "dspy 3.4 or newer", "dspy"):
    from dspy import Image as DspyImage
    from dspy import Tool as DspyTool
    from dspy.utils.callback import with_callbacks
    from pydantic import PrivateAttr

if TYPE_CHECKING:
    from ..tools import Tool, ToolResult
    from .runner import Runner

__all__ = ["OperatorTool", "to_tool", "to_tools"]

answer_misnamed(__name__)


class OperatorTool(DspyTool):
    """One of our tools as a tool of dspy; made by `to_tool` and `to_tools`."""

    _runner: Any = PrivateAttr()
    _tool: Any = PrivateAttr()

    def __init__(self, tool: Tool[..., Any], runner: Runner, /, **native: Any) -> None:
        definition = flat_definition(tool, "dspy")
        properties = definition["input_schema"].get("properties", {})
        own = {"name": tool.name, "desc": definition["description"], **native}

        # Parts of dspy call the tool, and others its function.
        def run(**arguments: Any) -> Any:
            return _outcome(runner.run_sync(tool.name, arguments))

        super().__init__(func=run, args=properties, arg_types={}, **own)
        self._runner, self._tool = runner, tool

    def format_as_litellm_function_call(self) -> dict[str, Any]:
        """Return the tool in the form for a request."""
        about = {"name": self.name, "description": self.desc, "parameters": self._tool.input_schema()}
        return {"type": "function", "function": about}

    # The arguments go on as one dict: a parameter may have any name, that of an argument of dspy's too.
    def __call__(self, /, **arguments: Any) -> Any:
        """Run a call, and wait for it."""
        return self._called(arguments)

    async def acall(self, /, **arguments: Any) -> Any:
        """Run a call."""
        return await self._acalled(arguments)

    @with_callbacks  # type: ignore[untyped-decorator]  # its types aren't there when ours are checked
    def _called(self, kwargs: dict[str, Any]) -> Any:
        return self.func(**kwargs)

    @with_callbacks  # type: ignore[untyped-decorator]  # as above
    async def _acalled(self, kwargs: dict[str, Any]) -> Any:
        return _outcome(await self._runner.run(self._tool.name, kwargs))


def _outcome(result: ToolResult) -> Any:
    # An exception would be shown with its traceback: our text is for the model.
    if result.is_error:
        return result.content
    return result.value if isinstance(result.value, DspyImage) else result.content


_adapter = Adapter[Any](
    "dspy", OperatorTool, native_results=(DspyImage,), options=(("name", "desc"), "Tool of dspy")
)
to_tool, to_tools = _adapter.to_tool, _adapter.to_tools
