"""Each word of the newest SDKs for why a model stopped, and each status, has a decision in our tables."""

from __future__ import annotations

from enum import Enum
from typing import Any, Literal, get_args, get_origin

import anthropic.types as anthropic_types
import anthropic.types.beta as anthropic_beta
import botocore.session
import cohere
import mistralai.client.models as mistralai
import ollama
import openai.types.beta as openai_beta
import pytest
from google.genai import types as google
from groq.types.chat import chat_completion as groq_whole
from groq.types.chat import chat_completion_chunk as groq_chunk
from openai.types import responses as openai_items
from openai.types.chat import chat_completion as chat_whole
from openai.types.chat import chat_completion_chunk as chat_chunk
from openai.types.responses import response as openai_response

from operator_schema import providers

BEDROCK = botocore.session.get_session().get_service_model("bedrock-runtime")

WORDS = {
    "anthropic": [anthropic_types.StopReason, anthropic_beta.BetaStopReason],
    "bedrock": [Literal[tuple(BEDROCK.shape_for("StopReason").enum)]],
    "cohere": [cohere.ChatFinishReason, cohere.V2ChatResponse.model_fields["finish_reason"].annotation],
    "gemini": [google.FinishReason],
    "groq": [
        groq_whole.Choice.model_fields["finish_reason"].annotation,
        groq_chunk.Choice.model_fields["finish_reason"].annotation,
    ],
    "mistral": [
        mistralai.ChatCompletionChoice.model_fields["finish_reason"].annotation,
        mistralai.CompletionResponseStreamChoice.model_fields["finish_reason"].annotation,
    ],
    "openai_chat": [
        chat_whole.Choice.model_fields["finish_reason"].annotation,
        chat_chunk.Choice.model_fields["finish_reason"].annotation,
    ],
    "openai_responses": [
        openai_items.ResponseStatus,
        openai_response.IncompleteDetails.model_fields["reason"].annotation,
        openai_beta.BetaResponse.model_fields["status"].annotation,
        openai_beta.beta_response.IncompleteDetails.model_fields["reason"].annotation,
    ],
}
"""Provider to what its SDK's types say of the word."""


def words_in(annotation: Any) -> set[str]:
    """Return the words that an annotation allows, whatever they are inside of."""
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return {word.value for word in annotation}
    if get_origin(annotation) is Literal:
        return set(get_args(annotation))
    inner = get_args(annotation) or get_args(getattr(annotation, "__value__", None))
    return {word for part in inner for word in words_in(part)}


@pytest.mark.parametrize("name", WORDS)
def test_each_word_of_the_sdk_has_a_decision(name):
    found = [words_in(annotation) for annotation in WORDS[name]]
    assert all(found), f"the SDK of {name} says the word in another way: {WORDS[name]}"
    table = getattr(providers, name).wire.STOPS
    new = set().union(*found) - table.keys()
    assert not new, (
        f"the SDK of {name} has new words: decide in the table STOPS of its wire form what each is for "
        f"Answer.stop, also if it is 'other': {sorted(new)}"
    )


def test_ollama_still_has_no_list_of_words():
    assert words_in(ollama.ChatResponse.model_fields["done_reason"].annotation) == set()


def test_each_reason_why_gemini_blocks_a_prompt_is_filtered():
    for reason in google.BlockedReason:
        answer = providers.gemini.answer({"promptFeedback": {"blockReason": reason.value}}, [])
        assert (answer.stop, answer.raw_stop) == ("filtered", reason.value)
