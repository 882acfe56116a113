"""Streams of Gemini's generateContent.

Source: https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import to_json_text
from .merger import GrowingObject
from .streamed_call import StreamedCalls
from .wire import object_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["GenerateContentMerger"]


class GenerateContentMerger:
    """Responses that continue each other; each call comes as a whole."""

    is_binary = False

    def __init__(self, calls: StreamedCalls) -> None:
        self._known = calls
        self._feedback: dict[str, Any] = {}
        self._candidates: dict[int, _Candidate] = {}

    @property
    def is_complete(self) -> bool:
        """Whether each candidate has ended, or the prompt was blocked."""
        if not self._candidates:
            return "blockReason" in self._feedback
        return all(candidate.has_ended for candidate in self._candidates.values())

    def take(self, event: Mapping[str, Any]) -> None:
        """Take a response."""
        if not any(key in event for key in ("candidates", "promptFeedback", "usageMetadata")):
            raise KeyError
        self._feedback.update(object_of(event.get("promptFeedback") or {}))
        for found in event.get("candidates") or ():
            candidate = object_of(found)
            index = candidate.get("index") or 0
            if index not in self._candidates:
                # The calls that are told while they grow are those of the first answer.
                self._candidates[index] = _Candidate(self._known if index == 0 else StreamedCalls({}, {}))
            self._candidates[index].take(candidate)

    def response(self) -> dict[str, Any] | None:
        """Return the response so far."""
        if not self._candidates and not self._feedback:
            return None
        candidates = [candidate.whole() for _, candidate in sorted(self._candidates.items())]
        return {"candidates": candidates, "promptFeedback": self._feedback}


class _Candidate:
    """One candidate, which grows."""

    def __init__(self, known: StreamedCalls) -> None:
        self._known = known
        self._role: Any = "model"
        self._parts: list[GrowingObject] = []
        self._reason: str | None = None

    def take(self, candidate: Mapping[str, Any]) -> None:
        content = object_of(candidate.get("content") or {})
        self._role = content.get("role") or self._role
        parts = content.get("parts") or ()
        for part in parts:
            self._add(object_of(part))
        # It goes on after a reason, where Gemini runs code in between.
        self._reason = candidate.get("finishReason") or (None if parts else self._reason)

    @property
    def has_ended(self) -> bool:
        """Whether the reason is known why the model stopped, other than to have code run."""
        runs = self._reason == "STOP" and self._parts and "executableCode" in self._parts[-1].content
        return self._reason is not None and not runs

    def _add(self, part: Mapping[str, Any]) -> None:
        last = self._parts[-1].content if self._parts else {}
        if _is_text(part) and _is_text(last) and last.get("thought") == part.get("thought"):
            self._parts[-1].append("text", part["text"])
            return
        self._parts.append(GrowingObject(part))
        if "functionCall" in part:
            call = object_of(part["functionCall"])
            if "partialArgs" in call or call.get("willContinue"):
                message = "calls come in parts: turn streamFunctionCallArguments off"
                raise ValueError(message)
            self._known.begin(call.get("id"), call["name"], to_json_text(call.get("args") or {}))

    def whole(self) -> dict[str, Any]:
        content = {"role": self._role, "parts": [part.whole() for part in self._parts]}
        return {"content": content, "finishReason": self._reason}


def _is_text(part: Mapping[str, Any]) -> bool:
    """Return whether a part is text alone: a signature stays with its own part."""
    return "text" in part and part.keys() <= {"text", "thought"}
