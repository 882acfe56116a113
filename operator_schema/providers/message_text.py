"""What a message says as text, and what the model thought, in forms that are close to Chat Completions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["REASONING_KEYS", "part_text", "reasoning_of", "text_of", "thought_of"]

REASONING_KEYS = ("reasoning_content", "reasoning", "thinking")
"""Keys of a message that hold what the model thought, of DeepSeek, of OpenRouter and Groq, and of Ollama."""


def text_of(content: Any) -> str:
    """Return the text of a message, whose content is text or a list of parts."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join([part_text(part) for part in content])


def part_text(part: Any) -> str:
    """Return the text of a part of a message's content; nothing for one of another kind."""
    found = part.get("text")
    return found if isinstance(found, str) else ""


def reasoning_of(message: Mapping[str, Any]) -> str:
    """Return what the model thought: some servers say the same under two keys, and some in parts."""
    for key in REASONING_KEYS:
        if isinstance(message.get(key), str) and message[key]:
            return str(message[key])
    content = message.get("content")
    return "".join([thought_of(part) for part in content]) if is_array(content) else ""


def thought_of(part: Any) -> str:
    """Return what a part of Mistral's or Cohere's content says of the model's thinking: parts, or text.

    Source: https://docs.mistral.ai/capabilities/reasoning and https://docs.cohere.com/docs/reasoning
    """
    found = part.get("thinking") if is_object(part) else None
    return text_of(found) if isinstance(found, (str, list)) else ""
