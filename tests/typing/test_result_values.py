"""What mypy and pyright say of results, content parts and structured output; both run over this file."""

from __future__ import annotations

from typing import Any, assert_type

import pytest

from operator_schema import Executor, RawCall, ToolResult, tool
from operator_schema.content import File, Image, Part, Resource, Text
from operator_schema.tools import StructuredOutput

GIF = b"GIF89a\x01\x00"


class Interrupt(Exception):  # noqa: N818  # what hosts call theirs
    pass


@tool
def draw(caption: str) -> list[str | Image]:
    if not caption:
        raise Interrupt
    return [caption, Image.from_bytes(GIF)]


def test_parts_have_types() -> None:
    image = Image(bytearray(GIF), "image/gif")
    assert_type(image.data, bytes)
    assert_type(image.base64, str)
    assert_type(Image.from_bytes(GIF), Image)
    assert_type(File.from_bytes(GIF).name, str | None)
    assert_type(Resource("file:///a").base64, str | None)
    assert_type(image.as_dict(), dict[str, Any])
    parts: list[Part] = [image, Text("a")]
    assert [isinstance(part, Image) for part in parts] == [True, False]


@pytest.mark.needs_threads
def test_results_have_every_form() -> None:
    executor = Executor([draw], native_results=(Interrupt,), pass_through=[Interrupt])
    call = RawCall("1", "draw", {"caption": "a"})
    result = executor.run_sync(call)
    assert_type(result.parts, tuple[Part, ...])
    assert_type(result.content, str)
    assert_type(result.replace(content="b"), ToolResult)
    assert_type(executor.run_sync([call]), list[ToolResult])
    both = executor.run_sync([call], return_exceptions=True)
    assert_type(both, list[ToolResult | BaseException])
    assert_type(draw.structured_output(), StructuredOutput | None)
    assert draw.write_output(["a"]).text == '["a"]'
