"""google-genai: declarations of our tools, a loop of one's own, and automatic calling."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

from google import genai
from google.genai import types
from local_server import serving

from operator_schema import Executor, RawCall, Registry, tool
from operator_schema.content import Image

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


@dataclass
class Node:
    name: str
    children: list[Node]


@tool
def grow(node: Node, depth: int = 1) -> Node:
    """Grow.

    Args:
        node: What.
        depth: How deep.
    """
    return Node(node.name, [Node(str(i), []) for i in range(depth)])


def answer(*parts):
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP"}]}


def calls(name, arguments):
    return answer({"functionCall": {"id": "c1", "name": name, "args": arguments}})


DONE = answer({"text": "done"})
NO_AFC = types.AutomaticFunctionCallingConfig(disable=True)


def declaration(made):
    return types.FunctionDeclaration(
        name=made.name,
        description=made.definition()["description"],
        parameters_json_schema=made.input_schema(),
        response_json_schema=made.output_schema(),
    )


def part_of(result):
    response = {"error": result.content} if result.is_error else {"output": result.json}
    images = [part for part in result.parts if isinstance(part, Image)]
    blobs = [types.FunctionResponseBlob(mime_type=one.media_type, data=one.data) for one in images]
    return types.Part(
        function_response=types.FunctionResponse(
            id=result.call_id,
            name=result.name,
            response=response,
            parts=[types.FunctionResponsePart(inline_data=blob) for blob in blobs] or None,
        )
    )


def test_a_result_arrives_as_a_json_value():
    executor = Executor([grow])
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[declaration(grow)])], automatic_function_calling=NO_AFC
    )
    first = calls("grow", {"node": {"name": "a", "children": []}, "depth": 2})
    with serving(first, calls("grow", {"node": 5}), DONE) as (address, requests):
        client = genai.Client(api_key="x", http_options=types.HttpOptions(base_url=address))
        contents = [types.Content(role="user", parts=[types.Part(text="go")])]
        while True:
            got = client.models.generate_content(model="gemini-x", contents=contents, config=config)
            if not got.function_calls:
                break
            raw = [RawCall(call.id, call.name, call.args) for call in got.function_calls]
            results = executor.run_sync(raw)
            contents += [
                got.candidates[0].content,
                types.Content(role="user", parts=[*map(part_of, results)]),
            ]
    assert got.text == "done"
    (declared,) = requests[0]["tools"][0]["functionDeclarations"]
    assert declared["parameters_json_schema"] == grow.input_schema()
    assert declared["response_json_schema"] == grow.output_schema()
    responses = [turn["parts"][0]["functionResponse"] for turn in requests[-1]["contents"][2::2]]
    children = [{"name": "0", "children": []}, {"name": "1", "children": []}]
    assert responses[0] == {
        "id": "c1",
        "name": "grow",
        "response": {"output": {"name": "a", "children": children}},
    }
    assert responses[1]["response"]["error"].startswith("grow: 1 problem with the arguments")


def test_an_image_arrives_beside_what_is_said_about_it():
    @tool
    def look() -> Any:
        """Look."""
        return ["Here:", Image.from_bytes(PNG)]

    result = Executor([look]).run_sync(RawCall("c1", "look", {}))
    content = types.Content(role="user", parts=[part_of(result)])
    with serving(DONE) as (address, requests):
        client = genai.Client(api_key="x", http_options=types.HttpOptions(base_url=address))
        assert client.models.generate_content(model="gemini-x", contents=[content]).text == "done"
    response = requests[0]["contents"][0]["parts"][0]["functionResponse"]
    assert response["response"] == {"output": result.json}
    (image,) = response["parts"]
    assert image["inline_data"]["mime_type"] == "image/png"
    assert base64.b64decode(image["inline_data"]["data"]) == PNG


class Host:
    """A program whose methods the SDK calls by itself."""

    def __init__(self, *tools):
        self.executor = Executor(Registry(tools))

    def grow_tree(self, name: str, depth: int) -> str:
        """Grow a tree of a name and a depth."""
        call = RawCall(name="grow", arguments={"node": {"name": name, "children": []}, "depth": depth})
        return self.executor.run_sync(call).content


def test_a_config_that_holds_an_executor_can_be_copied():
    # The SDK copies the config deeply, with the object that a method is bound to.
    config = types.GenerateContentConfig(tools=[Host(grow).grow_tree])
    with serving(calls("grow_tree", {"name": "a", "depth": 1}), DONE) as (address, requests):
        client = genai.Client(api_key="x", http_options=types.HttpOptions(base_url=address))
        got = client.models.generate_content(model="gemini-x", contents="go", config=config)
    assert got.text == "done"
    response = requests[-1]["contents"][-1]["parts"][0]["functionResponse"]["response"]
    assert response == {"result": '{"name":"a","children":[{"name":"0","children":[]}]}'}
