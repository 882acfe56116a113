"""Results of calls that succeed: what the model reads, and what your program gets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...wording import listed, show_path
from ..calls import ToolResult, class_name_of
from ..log import WARNING
from ..output import items_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...errors import Problem
    from ..calls import RawCall
    from ..tool import Tool
    from .failures import Failures
    from .passing import ClassSet

__all__ = ["Successes"]

_SHOWN_CLASSES = 5


class Successes:
    """Make the result of a function that has returned something.

    Args:
        failures: makes the result where that has no JSON form.
        native: the classes of values that aren't written as JSON.
        strict: whether a value that does not fit its declared type is a failure.
    """

    __slots__ = ("_failures", "_native", "_strict")

    def __init__(self, failures: Failures, native: ClassSet, *, strict: bool) -> None:
        self._failures = failures
        self._native = native
        self._strict = strict

    def result(
        self, call: RawCall, tool: Tool[..., Any], value: object, details: Mapping[str, Any]
    ) -> ToolResult:
        """Return the result of a call.

        Args:
            call: as the model sent it.
            tool: as the model sees it.
            value: what its function returned.
            details: what is known so far.
        """
        found = details or None
        if self._native:
            text = self._native_text(value)
            if text is not None:
                return ToolResult(call.id, call.name, text, details=found, value=value)
        try:
            written = tool.write_output(value, is_lenient=not self._strict)
        except Exception as error:  # noqa: BLE001  # the code of the value, or of a leaf, runs in it
            return self._failures.not_written(call, error)
        if written.notes:
            self._note(call, tool, written.notes)
            found = {**details, "mismatches": written.notes}
        text, parts = written.text, written.parts
        return ToolResult(call.id, call.name, text, False, None, found, parts, written.json, value)  # noqa: FBT003  # by position, for speed

    def _note(self, call: RawCall, tool: Tool[..., Any], notes: Sequence[Problem]) -> None:
        # Without the values: they may hold secrets.
        places = [f"{show_path(problem.path)} {problem.code}".lstrip() for problem in notes]
        is_declared = tool.output_schema() is not None
        what = "does not fit its declared type" if is_declared else "has no exact JSON form"
        self._failures.note(call, WARNING, f"the result {what}", {"mismatches": places})

    def _native_text(self, value: object) -> str | None:
        """Return what the model reads of a native result, or of a list that holds one; None for others."""
        if self._native.has(value):
            return f"[native result: {class_name_of(value)}]"
        first_of_class = {id(type(item)): item for item in items_of(value)}.values()
        if not any(self._native.has(item) for item in first_of_class):
            return None
        return f"[native result: {listed([class_name_of(item) for item in first_of_class], _SHOWN_CLASSES)}]"
