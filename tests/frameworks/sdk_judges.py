"""What the SDKs of providers take, by their own types; nothing is sent."""

from __future__ import annotations

from importlib.metadata import version

import botocore.session
import cohere
from anthropic.types import MessageParam, ToolChoiceParam, ToolUnionParam
from botocore.validate import ParamValidator
from google.genai import types as google
from groq.types.chat import ChatCompletionMessageParam as GroqMessage
from groq.types.chat import ChatCompletionToolChoiceOptionParam as GroqChoice
from groq.types.chat import ChatCompletionToolParam as GroqTool
from mistralai.client import models as mistralai
from ollama import Message, Tool
from openai.types.chat import (
    ChatCompletionMessageParam,
    ChatCompletionToolChoiceOptionParam,
    ChatCompletionToolUnionParam,
)
from openai.types.responses import ResponseInputItemParam, ToolParam, response_create_params
from pydantic import ConfigDict, TypeAdapter


def typed(annotation):
    """Return what checks a value against TypedDicts, which may have no other keys."""
    return TypeAdapter(list[annotation], config=ConfigDict(extra="forbid"))


def read(value):
    """Read all of a value: where a type has an iterable, pydantic checks that only then."""
    if isinstance(value, dict):
        for inner in value.values():
            read(inner)
    elif not isinstance(value, (str, bytes)) and hasattr(value, "__iter__"):
        for inner in value:
            read(inner)


OWN_KEYS = frozenset({"annotations", "padding", "reasoning", "reasoning_content", "reasoning_details"})
"""What providers add to the message of Chat Completions, and take back in the next request."""


def without_own_keys(message):
    """Return a model's message without what OpenAI's types don't know of, and without what is null."""
    if message.get("type") == "reasoning":
        return {"id": "", **message}  # OpenAI's types want an id, and the API none that it didn't store
    if message.get("role") != "assistant":
        return message
    known = {key: value for key, value in message.items() if key not in OWN_KEYS and value is not None}
    if not known.get("tool_calls"):
        return {key: value for key, value in known.items() if key != "tool_calls"}
    calls = [{key: value for key, value in call.items() if key != "index"} for call in known["tool_calls"]]
    return {**known, "tool_calls": calls}


class Judge:
    """The types of one SDK.

    Attributes:
        name: of the SDK, with its version.
    """

    package: str

    @property
    def name(self):
        return f"{self.package} {version(self.package)}"

    def request(self, body):
        """Check the part of a request that offers tools."""
        raise NotImplementedError

    def messages(self, messages):
        """Check messages or items of the next request."""
        raise NotImplementedError


class TypedJudge(Judge):
    """TypedDicts: of tools, choice, messages."""

    def __init__(self, package, tool, choice, message):
        self.package = package
        self.typed_tools, self.typed_choices, self.typed_messages = typed(tool), typed(choice), typed(message)

    def request(self, body):
        assert body.keys() <= {"tools", "tool_choice", "parallel_tool_calls"}
        assert type(body.get("parallel_tool_calls", True)) is bool
        read(self.typed_tools.validate_python(body["tools"]))
        read(self.typed_choices.validate_python([body["tool_choice"]]))

    def messages(self, messages):
        read(self.typed_messages.validate_python([without_own_keys(message) for message in messages]))


class GoogleJudge(Judge):
    """Pydantic models that take no other keys."""

    package = "google-genai"

    def request(self, body):
        assert body.keys() == {"tools", "toolConfig"}
        tools = [google.Tool.model_validate(tool) for tool in body["tools"]]
        google.GenerateContentConfig(
            tools=tools, tool_config=google.ToolConfig.model_validate(body["toolConfig"])
        )

    def messages(self, messages):
        for message in messages:
            google.Content.model_validate(message)


class BotocoreJudge(Judge):
    """The model of the service, by which boto3 checks what it sends."""

    package = "botocore"

    def __init__(self):
        model = botocore.session.get_session().get_service_model("bedrock-runtime")
        self.shape = model.operation_model("Converse").input_shape

    def check(self, body):
        report = ParamValidator().validate({"modelId": "m", **body}, self.shape)
        assert not report.has_errors(), report.generate_report()

    def request(self, body):
        self.check(body)

    def messages(self, messages):
        self.check({"messages": messages})


class MistralJudge(Judge):
    """Pydantic models of a request."""

    package = "mistralai"

    def request(self, body):
        made = mistralai.ChatCompletionRequest(model="m", messages=[], **body)
        sent = made.model_dump(by_alias=True)
        assert [tool["function"]["parameters"] for tool in sent["tools"]] == [
            tool["function"]["parameters"] for tool in body["tools"]
        ]

    def messages(self, messages):
        made = mistralai.ChatCompletionRequest(model="m", messages=messages)
        assert [message.role for message in made.messages] == [message["role"] for message in messages]


class CohereJudge(Judge):
    """Pydantic models of tools and messages."""

    package = "cohere"

    def request(self, body):
        assert body.keys() <= {"tools", "tool_choice", "strict_tools"}
        for tool in body["tools"]:
            assert cohere.ToolV2.model_validate(tool).function.parameters == tool["function"]["parameters"]
        if "tool_choice" in body:
            TypeAdapter(cohere.V2ChatRequestToolChoice).validate_python(body["tool_choice"])

    def messages(self, messages):
        for message in messages:
            TypeAdapter(cohere.ChatMessageV2).validate_python(message)


class OllamaJudge(Judge):
    """Pydantic models of tools and messages."""

    package = "ollama"

    def request(self, body):
        assert body.keys() == {"tools"}
        for tool in body["tools"]:
            assert Tool.model_validate(tool).function.name == tool["function"]["name"]

    def messages(self, messages):
        for message in messages:
            read = Message.model_validate(message).model_dump(exclude_none=True)
            # The API knows the ids of calls (0.12.10); the SDK (0.6.3) drops them.
            known = {key for key, value in message.items() if value is not None} - {"tool_call_id"}
            assert read.keys() == known


CHAT = TypedJudge(
    "openai", ChatCompletionToolUnionParam, ChatCompletionToolChoiceOptionParam, ChatCompletionMessageParam
)
RESPONSES = TypedJudge("openai", ToolParam, response_create_params.ToolChoice, ResponseInputItemParam)
JUDGES = {
    "anthropic": TypedJudge("anthropic", ToolUnionParam, ToolChoiceParam, MessageParam),
    "bedrock": BotocoreJudge(),
    "cohere": CohereJudge(),
    "deepseek": CHAT,
    "gemini": GoogleJudge(),
    "gemini_parameters": GoogleJudge(),
    "groq": TypedJudge("groq", GroqTool, GroqChoice, GroqMessage),
    "mistral": MistralJudge(),
    "ollama": OllamaJudge(),
    "openai_chat": CHAT,
    "openai_responses": RESPONSES,
    "xai": RESPONSES,
}
