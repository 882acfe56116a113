"""The arguments of a tool: from JSON to its input, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import DecodeError, ToolError
from ..introspect.node_kinds import visit
from ..introspect.nodes import ObjectNode, UnionNode
from ..same_state import is_same_state
from ..wording import received
from .error_hints import error_hint, unknown_keys
from .raw_arguments import RawArguments
from .tool_properties import ToolProperties

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..codec.report import DecodeReport
    from ..introspect.nodes import Graph

__all__ = ["ToolArguments"]


class ToolArguments(ToolProperties):
    """What a tool does with arguments."""

    _options: Mapping[str, Any]

    def decode(self, arguments: object) -> Any:
        """Turn a model's arguments into an input.

        Args:
            arguments: a dict of JSON values, or JSON text.

        Returns:
            An instance of `input_type`.

        Raises:
            DecodeError: with every problem.
        """
        codec = self._codec
        return self._completed(self._decoded(arguments, codec.decode, codec.decode_json))

    def decode_report(self, arguments: object) -> DecodeReport[Any]:
        """Turn a model's arguments into an input, and return what was done on the way.

        Args:
            arguments: a dict of JSON values, or JSON text.

        Returns:
            An instance of `input_type`, the repairs that were made and the keys that were ignored.

        Raises:
            DecodeError: with every problem.
        """
        codec = self._codec
        report: DecodeReport[Any] = self._decoded(arguments, codec.decode_report, codec.decode_json_report)
        if isinstance(report.instance, RawArguments):
            return report.replace(instance=self._completed(report.instance))
        return report

    def encode_input(self, given: Any, /) -> dict[str, Any]:
        """Turn an input back into arguments: for hooks, approvals and logs.

        In contrast to what the model sent, repairs are made, defaults are filled in, and keys that
        were ignored are left out. So is what is None because the model left it out.

        Args:
            given: of `input_type`, such as what `decode` returned.

        Returns:
            A fresh dict of JSON values, which `decode` turns back into an equal input.

        Raises:
            EncodeError: with every value that does not fit its field; so for a dataclass with an
                `InitVar` that has no default, as the instance does not keep it.
            ToolError: it isn't an input of this tool, or an `InitVar` that is left out changed it.
        """
        graph = self._codec.graph
        if not isinstance(graph.resolve_root(), UnionNode):  # of a union, the encoder says what is wrong
            self._check_input(given, "encode_input")
        arguments: dict[str, Any] = self._codec.encode(given)
        if _keeps_not_all(graph) and not is_same_state(self.decode(arguments), given):
            message = "its input has an InitVar, which the instance doesn't keep, so its arguments are lost"
            raise ToolError(self.name, message)
        return arguments

    def _decoded(
        self, arguments: object, decode: Callable[[Any], Any], decode_json: Callable[[Any], Any]
    ) -> Any:
        try:
            is_text = isinstance(arguments, (str, bytes, bytearray))
            return decode_json(arguments) if is_text else decode(arguments)
        except DecodeError as error:
            hint = error_hint(self, unknown_keys(error))
            raise error.with_hint(hint) from None

    def _completed(self, decoded: Any) -> Any:
        """Return an input; raw arguments with what their own errors need."""
        if not isinstance(decoded, RawArguments):
            return decoded
        hint = error_hint(self, [])
        return decoded.replace(tool=self.name, hint=hint, repair=bool(self._options.get("repair")))

    def _check_input(self, given: Any, caller: str) -> None:
        node = self._codec.graph.resolve_root()
        expected: Any = RawArguments
        if isinstance(node, UnionNode):  # of plain dicts: those of classes have no function
            node = self._codec.graph.resolve(node.members[0])
        if isinstance(node, ObjectNode) and self.input_type is not RawArguments:
            expected = dict if node.form == "typed_dict" else node.type
        if not isinstance(given, expected):
            wanted = getattr(self.input_type, "__name__", "input")
            raise ToolError(
                self.name, f"{caller} takes an input ({wanted}), not {received(given)}; decode makes one"
            )


def _keeps_not_all(graph: Graph) -> bool:
    """Return whether there is an `InitVar` in the type, which an instance doesn't keep."""
    nodes = visit([graph.root, *graph.definitions.values()])
    return any(field.init_only for node in nodes if isinstance(node, ObjectNode) for field in node.fields)
