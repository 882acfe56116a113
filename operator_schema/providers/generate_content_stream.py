"""Streams of Gemini's generateContent.

Source: https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import copy_json, to_json_text
from .merger import GrowingObject
from .partial_args import PartialArguments
from .streamed_call import StreamedCalls
from .wire import object_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from .streamed_call import StreamedCall

__all__ = ["GenerateContentMerger"]


class GenerateContentMerger:
    """Responses that continue each other; a call comes as a whole, or in parts."""

    is_binary = False

    def __init__(self, calls: StreamedCalls) -> None:
        self._known = calls
        self._feedback: dict[str, Any] = {}
        self._candidates: dict[int, _Candidate] = {}
        self._ended = 0
        self._about: dict[str, Any] = {}

    @property
    def is_complete(self) -> bool:
        """Whether each candidate has ended, or the prompt was blocked."""
        if not self._candidates:
            return "blockReason" in self._feedback
        return self._ended == len(self._candidates)

    def take(self, event: Mapping[str, Any]) -> None:
        """Take a response."""
        if not any(key in event for key in ("candidates", "promptFeedback", "usageMetadata")):
            raise KeyError
        self._feedback.update(object_of(event.get("promptFeedback") or {}))
        for key, value in event.items():
            if key not in {"candidates", "promptFeedback"} and value is not None:
                self._about[key] = copy_json(value)
        for found in event.get("candidates") or ():
            candidate = object_of(found)
            index = candidate.get("index") or 0
            if index not in self._candidates:
                # The calls that are told while they grow are those of the first answer.
                self._candidates[index] = _Candidate(self._known if index == 0 else StreamedCalls({}, {}, {}))
            had_ended = self._candidates[index].has_ended
            self._candidates[index].take(candidate)
            self._ended += self._candidates[index].has_ended - had_ended

    def response(self) -> dict[str, Any] | None:
        """Return the response so far."""
        if not self._candidates and not self._feedback:
            return None
        candidates = [candidate.whole() for _, candidate in sorted(self._candidates.items())]
        feedback = {"promptFeedback": self._feedback} if self._feedback else {}
        return {**self._about, "candidates": candidates, **feedback}


class _Candidate:
    """One candidate, which grows."""

    def __init__(self, known: StreamedCalls) -> None:
        self._known = known
        self._role: Any = "model"
        self._parts: list[GrowingObject] = []
        self._call: _Call | None = None
        self._reason: str | None = None
        self._about: dict[str, Any] = {}

    def take(self, candidate: Mapping[str, Any]) -> None:
        content = object_of(candidate.get("content") or {})
        self._role = content.get("role") or self._role
        # What is said beside the content, such as its sources, is said as a whole each time.
        about = {key: value for key, value in candidate.items() if key not in {"content", "finishReason"}}
        self._about.update(copy_json(about))
        parts = content.get("parts") or ()
        for part in parts:
            self._add(object_of(part))
        # It goes on after a reason, where Gemini runs code in between.
        self._reason = candidate.get("finishReason") or (None if parts else self._reason)

    @property
    def has_ended(self) -> bool:
        """Whether the reason is known why the model stopped, other than to have code run."""
        runs = self._reason == "STOP" and bool(self._parts) and "executableCode" in self._parts[-1].content
        return self._reason is not None and not runs

    def _add(self, part: Mapping[str, Any]) -> None:
        if "text" in part:
            tell = self._known.think if part.get("thought") else self._known.said.add
            tell(part["text"])
        last = self._parts[-1].content if self._parts else {}
        if _is_text(part) and _is_text(last) and last.get("thought") == part.get("thought"):
            self._parts[-1].append("text", part["text"])
            return
        if "functionCall" in part:
            self._take_call(part, object_of(part["functionCall"]))
        else:
            self._parts.append(GrowingObject(part))

    def _take_call(self, part: Mapping[str, Any], call: Mapping[str, Any]) -> None:
        name = call.get("name")
        if self._call is not None and (not name or name == self._call.streamed.wire_name):
            growing = self._call
        else:
            if self._call is not None:
                self._call.end()
                self._call = None
            self._parts.append(GrowingObject(part))
            is_whole = not ("partialArgs" in call or call.get("willContinue"))
            text = to_json_text(call.get("args") or {}) if is_whole else ""
            streamed = self._known.begin(call.get("id"), call["name"], text)
            if is_whole:
                return
            growing = _Call(self._parts[-1], streamed)
        growing.take(part, call)
        if call.get("willContinue"):
            self._call = growing
        else:
            growing.end(call.get("args"))  # some say all of them again
            self._call = None

    def whole(self) -> dict[str, Any]:
        if self._call is not None:
            self._call.leave()
        content = {"role": self._role, "parts": [part.whole() for part in self._parts]}
        return {**self._about, "content": content, "finishReason": self._reason}


class _Call:
    """One call that comes in parts.

    Args:
        part: of the content, which gets the arguments.
        streamed: shows them while they come.
    """

    def __init__(self, part: GrowingObject, streamed: StreamedCall) -> None:
        self._part = part
        self._call: dict[str, Any] = part.content["functionCall"]
        self._arguments = PartialArguments()
        self.streamed = streamed
        for key in ("partialArgs", "willContinue"):
            self._call.pop(key, None)

    def take(self, part: Mapping[str, Any], call: Mapping[str, Any]) -> None:
        """Take the next part, which may also say what no part before has said, such as a signature."""
        self._part.content.update(_said(part, {"functionCall"}))
        self._call.update(_said(call, {"name", "args", "partialArgs", "willContinue"}))
        self.streamed.id = self._call.get("id")
        for found in call.get("partialArgs") or ():
            self.streamed.grow(self._arguments.take(object_of(found)))

    def end(self, arguments: Any = None) -> None:
        self.streamed.grow(self._arguments.end())
        self._call["args"] = copy_json(arguments) or self._arguments.value

    def leave(self) -> None:
        """Say what has come: as text, because it lacks its end."""
        self._call.update(args=self.streamed.arguments, willContinue=True)


def _said(content: Mapping[str, Any], but: Collection[str]) -> dict[str, Any]:
    return {key: copy_json(value) for key, value in content.items() if key not in but and value is not None}


def _is_text(part: Mapping[str, Any]) -> bool:
    """Return whether a part is text alone: a signature stays with its own part."""
    return "text" in part and part.keys() <= {"text", "thought"}
