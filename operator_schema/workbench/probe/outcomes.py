"""What does the answer to a request say?"""

from __future__ import annotations

import json
from typing import Any, Final, Literal, NamedTuple

from ...json_values import is_array, is_object
from ...message_text import one_line

METHOD_NOT_FOUND: Final = -32601
"""The code of JSON-RPC for a method that isn't offered."""


class ProbedOutcome(NamedTuple):
    """The answer to a request, or the lack of one.

    Attributes:
        kind: `result` or `error` as JSON-RPC has them; `silent`: nothing came in time; `closed`: the
            connection or the process ended.
        value: the result, the error object, or a text about the end.
        size: bytes of the message.
        was_refused: whether this client refused a request of the server before the answer.
    """

    kind: Literal["result", "error", "silent", "closed"]
    value: Any
    size: int = 0
    was_refused: bool = False

    @property
    def result(self) -> dict[str, Any] | None:
        """The result, if there is one."""
        return self.value if self.kind == "result" and is_object(self.value) else None

    @property
    def is_lost(self) -> bool:
        """Whether no answer came."""
        return self.kind in ("silent", "closed")

    @property
    def code(self) -> int | None:
        """The code of an error of JSON-RPC."""
        if self.kind != "error" or not is_object(self.value):
            return None
        code = self.value.get("code")
        return code if isinstance(code, int) else None

    @property
    def is_own_refusal(self) -> bool:
        """Whether the error is the refusal of this client, which had been asked for something."""
        return self.code == METHOD_NOT_FOUND and self.was_refused

    @property
    def is_flagged(self) -> bool:
        """Whether it is an error for a client: of JSON-RPC, or a result with `isError`."""
        result = self.result
        return self.kind == "error" or (result is not None and result.get("isError") is True)

    @property
    def text(self) -> str:
        """The text that a model reads."""
        if self.kind == "error":
            value = self.value
            return str(value.get("message", "")) if is_object(value) else str(value)
        result = self.result
        if result is None:
            return str(self.value)
        content = result.get("content")
        blocks: list[Any] = content if is_array(content) else []
        texts = [block["text"] for block in blocks if is_object(block) and isinstance(block.get("text"), str)]
        return "\n".join(texts)

    @property
    def whole_text(self) -> str:
        """The text that a program reads: with the data of an error, or of a result that is one."""
        error = self.value if self.kind == "error" else None
        data = error.get("data") if is_object(error) else (self.result or {}).get("structuredContent")
        return (
            self.text if data is None else f"{self.text}\n{json.dumps(data, ensure_ascii=False, default=str)}"
        )

    @property
    def said(self) -> str:
        """An excerpt of the text for a message."""
        return one_line(" ".join(self.text.split()), 200)

    @property
    def data(self) -> Any:
        """The data of a result: its structured content, or the JSON of its text; None if there are none."""
        result = self.result or {}
        if result.get("structuredContent") is not None:
            return result["structuredContent"]
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError):
            return None

    def answer(self) -> str:
        """Return the answer as a text, to compare it with another one."""
        value = self.value
        if is_object(value):
            value = {key: inner for key, inner in value.items() if key != "_meta"}
        return f"{self.kind} {json.dumps(value, sort_keys=True, default=str)}"
