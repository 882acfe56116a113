"""What a hook changes in the input of a call counts, whatever the classes in it say about equality."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from operator_schema import Executor, RawCall, RunNormally, tool

pytestmark = pytest.mark.needs_threads


@dataclass
class Usual:
    text: str


@dataclass
class NotCompared:
    text: str = field(compare=False)


@dataclass(eq=False)
class ByIdentity:
    text: str


@dataclass(eq=False)
class AlwaysEqual:
    text: str

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None


@dataclass(eq=False)
class Unequal:
    text: str

    def __eq__(self, other: object) -> bool:
        raise NotImplementedError

    __hash__ = None


@pytest.mark.parametrize("cls", [Usual, NotCompared, ByIdentity, AlwaysEqual, Unequal])
@pytest.mark.parametrize("text", ["as sent", "edited"])
def test_a_function_gets_what_a_hook_has_edited_in_place(cls, text):
    got = []

    def keep(parts: Any) -> int:
        """Keep."""
        got.extend(part.text for part in parts)
        return len(parts)

    keep.__annotations__["parts"] = list[cls]

    def edit(call):
        call.input.parts[0].text = text
        return RunNormally(input=call.input)

    executor = Executor(tool(keep), threads=False, hooks=edit)
    (result,) = executor.run_sync([RawCall("1", "keep", {"parts": [{"text": "as sent"}]})])
    assert (result.code, got) == (None, [text])
    assert (result.changed is not None) is (text == "edited")
