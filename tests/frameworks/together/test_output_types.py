"""A dataclass as the final answer of an agent, checked by our decoder."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import pytest
from agents import Agent as OpenAIAgent
from agents import OpenAIChatCompletionsModel, RunConfig, Runner
from agents.exceptions import ModelBehaviorError
from chat_turns import asked, completion
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from local_server import serving
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from turn_table import run_section
from turns import Call

from operator_schema.adapters import langchain_core, openai_agents, pydantic_ai


@dataclass
class Leg:
    """One leg.

    Attributes:
        to: Where it ends.
        on: Its day.
    """

    to: str
    on: date


@dataclass
class Trip:
    """A trip.

    Attributes:
        name: What it is called.
        legs: Its legs.
    """

    name: str
    legs: list[Leg] = field(default_factory=list)


RIGHT = {"name": "North", "legs": [{"to": "Oslo", "on": "2027-05-01"}]}
WRONG = {"name": "North", "legs": [{"to": "Oslo", "on": "soon"}]}
TRIP = Trip("North", [Leg("Oslo", date(2027, 5, 1))])


def said(answer):
    return completion({"content": json.dumps(answer)}, "stop")


class TestOpenAIAgents:
    def run(self, answer):
        with serving(said(answer)) as (address, requests):
            model = OpenAIChatCompletionsModel("gpt-4o", AsyncOpenAI(base_url=address, api_key="x"))
            agent = OpenAIAgent(name="a", model=model, output_type=openai_agents.output_type(Trip))
            end = asyncio.run(Runner.run(agent, "go", run_config=RunConfig(tracing_disabled=True)))
        return end.final_output, requests[0]

    def test_the_final_output_is_the_dataclass(self):
        output, request = self.run(RIGHT)
        assert output == TRIP
        sent = request["response_format"]["json_schema"]
        assert sent["schema"]["properties"]["legs"]["items"]["properties"]["on"]["format"] == "date"
        assert not sent["strict"]

    def test_a_wrong_one_ends_the_run_in_our_words(self):
        with pytest.raises(ModelBehaviorError, match=r"legs\[0\]\.on"):
            self.run(WRONG)


class TestPydanticAI:
    def run(self, *given):
        calls = [asked([Call("final_result", one)]) for one in given]
        with serving(*calls) as (address, requests):
            provider = OpenAIProvider(openai_client=AsyncOpenAI(base_url=address, api_key="x"))
            agent = Agent(
                OpenAIChatModel("gpt-4o", provider=provider), output_type=pydantic_ai.output_type(Trip)
            )
            return asyncio.run(agent.run("go")).output, requests

    def test_the_output_is_the_dataclass(self):
        output, requests = self.run(RIGHT)
        assert output == TRIP
        parameters = requests[0]["tools"][0]["function"]["parameters"]
        assert parameters["properties"]["legs"]["items"]["properties"]["on"]["format"] == "date"
        assert parameters["properties"]["name"]["description"] == "What it is called."

    def test_a_wrong_one_is_corrected_by_our_words(self):
        output, requests = self.run(WRONG, RIGHT)
        assert output == TRIP
        assert "legs[0].on" in json.dumps(requests[1]["messages"])


class Scripted(FakeMessagesListChatModel):
    """A model that remembers the tools that it is bound to."""

    bound: list[Any] = []  # a field of a model

    def bind_tools(self, tools, **_):
        self.bound.extend(tools)
        return self


def calls_of(*answers):
    return [
        AIMessage("", tool_calls=[{"name": "Trip", "args": one, "id": f"t{place}"}])
        for place, one in enumerate(answers)
    ]


class TestLangchain:
    def test_a_model_gives_the_dataclass(self):
        model = Scripted(responses=calls_of(RIGHT))
        assert model.with_structured_output(langchain_core.output_type(Trip)).invoke("go") == TRIP

    def test_a_wrong_one_is_an_error_in_our_words(self):
        model = Scripted(responses=calls_of(WRONG))
        with pytest.raises(ValueError, match=r"legs\[0\]\.on"):
            model.with_structured_output(langchain_core.output_type(Trip)).invoke("go")

    def test_an_agent_gives_the_dataclass_once_it_fits(self):
        model = Scripted(responses=calls_of(WRONG, RIGHT))
        agent = create_agent(model, [], response_format=langchain_core.output_type(Trip))
        end = agent.invoke({"messages": [("user", "go")]})
        assert end["structured_response"] == TRIP
        told = [message.text for message in end["messages"] if message.type == "tool"]
        assert "legs[0].on" in told[0]


def test_the_example_of_the_page_works():
    names = run_section("A dataclass as the final answer")
    assert names["agent"].output_json_schema()["properties"].keys() == {"city", "days"}


@pytest.mark.parametrize("adapter", [langchain_core, openai_agents, pydantic_ai])
def test_an_answer_that_isnt_an_object_is_refused(adapter):
    with pytest.raises(TypeError, match=r"^output_type takes a class whose JSON is an object"):
        adapter.output_type(list[int])
