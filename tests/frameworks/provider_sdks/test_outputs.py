"""Requests for answers with a type, checked by the types of the providers' SDKs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Literal

import botocore.session
import pytest
from anthropic.types import OutputConfigParam
from botocore.validate import ParamValidator
from cohere.types.response_format_v2 import JsonObjectResponseFormatV2
from google.genai import types as google
from groq.types.chat import completion_create_params as groq
from mistralai.client import models as mistralai
from ollama._types import ChatRequest
from openai.types.responses import ResponseTextConfigParam
from openai.types.shared_params import ResponseFormatJSONSchema
from sdk_judges import JUDGES, read, typed

from operator_schema import Toolset, providers, tool


@dataclass
class Leg:
    """A flight."""

    start: str
    end: str
    cabin: Literal["economy", "business"] = "economy"


@dataclass
class Booking:
    """A booking."""

    name: str
    legs: list[Leg]
    notes: list[str] = field(default_factory=list)


@tool
def find(city: str) -> str:
    """Find flights."""
    return city


def check_typed(annotation, value):
    read(typed(annotation).validate_python([value]))


def check_chat(body):
    check_typed(ResponseFormatJSONSchema, body.pop("response_format"))


def check_responses(body):
    check_typed(ResponseTextConfigParam, body.pop("text"))


def check_anthropic(body):
    check_typed(OutputConfigParam, body.pop("output_config"))


def check_bedrock(body):
    model = botocore.session.get_session().get_service_model("bedrock-runtime")
    sent = {"modelId": "m", "outputConfig": body.pop("outputConfig")}
    report = ParamValidator().validate(sent, model.operation_model("Converse").input_shape)
    assert not report.has_errors(), report.generate_report()


def check_gemini(body):
    made = google.GenerateContentConfig.model_validate(body.pop("generationConfig"))
    assert made.response_json_schema or made.response_schema


def check_groq(body):
    check_typed(groq.ResponseFormatResponseFormatJsonSchema, body.pop("response_format"))


def check_mistral(body):
    sent = body.pop("response_format")
    made = mistralai.ResponseFormat.model_validate(sent).model_dump(by_alias=True, exclude_unset=True)
    assert made == sent


def check_cohere(body):
    sent = body.pop("response_format")
    assert JsonObjectResponseFormatV2(**sent).model_dump(exclude_none=True) == sent


def check_ollama(body):
    assert ChatRequest(model="m", format=body.pop("format")).format


CHECKS = {
    "openai_chat": check_chat,
    "llama_cpp": check_chat,
    "openai_responses": check_responses,
    "xai": check_responses,
    "anthropic": check_anthropic,
    "bedrock": check_bedrock,
    "gemini": check_gemini,
    "gemini_parameters": check_gemini,
    "groq": check_groq,
    "mistral": check_mistral,
    "cohere": check_cohere,
    "ollama": check_ollama,
    "deepseek": None,
}


def test_each_provider_is_checked():
    assert {*CHECKS} == {*providers.provider_names()}


@pytest.mark.parametrize("output", [Booking, list[Leg], int, Leg | Booking], ids=str)
@pytest.mark.parametrize("offer", [[], Toolset(find).offer()], ids=["alone", "with tools"])
@pytest.mark.parametrize("name", CHECKS)
def test_a_request_for_an_answer_with_a_type_fits_the_types_of_the_sdk(name, offer, output):
    body = getattr(providers, name).request(offer, output=output)
    check = CHECKS[name]
    is_by_tool = "final_answer" in json.dumps(body.get("tools", []))
    assert is_by_tool == (check is None or (bool(offer) and name in BY_TOOL_BESIDE_TOOLS))
    if check is not None and not is_by_tool:
        check(body)
    if body and name in JUDGES:
        JUDGES[name].request(body)


BY_TOOL_BESIDE_TOOLS = {"cohere", "gemini", "gemini_parameters", "groq", "llama_cpp", "ollama"}
