"""Inputs that JSON doesn't say whole: what runs after a restart is what was approved, or nothing."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from typing import Annotated, Any

import pytest
from saving_samples import problems, refused, saved

from operator_schema import EncodeError, RawCall, SchemaLeaf, ToolError, Toolset, tool
from operator_schema.rounds.input_copies import makes

pydantic = pytest.importorskip("pydantic")


@dataclass
class Attribute:
    path: str
    mode: InitVar[str] = "hard"

    def __post_init__(self, mode: str) -> None:
        self.shown = mode


@dataclass
class NotCompared:
    path: str
    mode: InitVar[str] = "hard"
    shown: str = field(init=False, compare=False, default="")

    def __post_init__(self, mode: str) -> None:
        self.shown = mode


@pydantic.dataclasses.dataclass
class OfPydantic:
    path: str
    mode: InitVar[str] = "hard"

    def __post_init__(self, mode: str) -> None:
        self.shown = mode


class Serialized(pydantic.BaseModel):
    path: str
    mode: str = "hard"

    @pydantic.field_serializer("mode")
    def write(self, _: str) -> str:
        return "hard"

    @property
    def shown(self) -> str:
        return self.mode


class WithDataclass(pydantic.BaseModel):
    path: str
    mode: str = "hard"
    job: NotCompared = NotCompared("x")

    @pydantic.model_validator(mode="after")
    def keep(self) -> WithDataclass:
        self.job = NotCompared("x", self.mode)
        return self

    @pydantic.field_serializer("mode")
    def write(self, _: str) -> str:
        return "hard"

    @property
    def shown(self) -> str:
        return self.mode


LOSSY = [Attribute, NotCompared, OfPydantic, Serialized, WithDataclass]


def alone(cls: Any) -> tuple[Toolset[Any], Any]:
    @tool(name="run", confirm=True)
    def run(job: cls) -> str:
        """Run it."""
        return job.shown

    return Toolset(run), lambda sent: sent if "path" in run.input_schema()["properties"] else {"job": sent}


def beside(cls: Any) -> tuple[Toolset[Any], Any]:
    @tool(name="run", confirm=True)
    def run(job: cls, y: int = 0) -> str:
        """Run it."""
        return job.shown

    return Toolset(run), lambda sent: {"job": sent}


def deep(cls: Any) -> tuple[Toolset[Any], Any]:
    @tool(name="run", confirm=True)
    def run(jobs: dict[str, list[cls | None]]) -> str:
        """Run them."""
        return jobs["a"][0].shown

    return Toolset(run), lambda sent: {"jobs": {"a": [sent]}}


@pytest.mark.parametrize("around", [alone, beside, deep])
@pytest.mark.parametrize("cls", LOSSY)
def test_what_is_not_written_whole_is_shown_to_nobody_and_runs_as_it_was_sent(cls, around):
    toolset, wrap = around(cls)
    plan = toolset.offer().round([RawCall("c0", "run", wrap({"path": "a", "mode": "dry"}))]).confirmed()
    with pytest.raises((EncodeError, ToolError)):
        _ = plan.deferred[0].arguments
    (call,) = toolset.restore_round(saved(plan.approve("c0"))).pending
    assert call.tool.call(call.input) == "dry"
    name = next(iter(toolset["run"].input_schema()["properties"]))
    later = toolset["run"].with_(param_descriptions={name: "Now it says something else."})
    assert problems(refused(saved(plan), Toolset(later))) == [("input_does_not_fit", "c0")]


@pytest.mark.parametrize("around", [alone, beside, deep])
@pytest.mark.parametrize("cls", LOSSY)
def test_where_nothing_is_lost_it_is_shown_and_saved(cls, around):
    toolset, wrap = around(cls)
    plan = toolset.offer().round([RawCall("c0", "run", wrap({"path": "a"}))]).confirmed()
    assert "a" in str(plan.deferred[0].arguments)
    assert "source" not in saved(plan)["calls"][0]
    (call,) = toolset.restore_round(saved(plan.approve("c0"))).pending
    assert call.tool.call(call.input) == "hard"


class Mode:
    def __init__(self, name: str) -> None:
        self.name = name


LEAF = SchemaLeaf(Mode, {"type": "string"}, Mode, lambda mode: "hard", Mode("hard"))


def leafy(description: str) -> Toolset[Any]:
    @tool(name="run", confirm=True, leaves=[LEAF])
    def run(mode: Annotated[Mode, description]) -> str:
        """Run it."""
        return mode.name

    return Toolset(run)


def test_a_leaf_that_writes_another_value_runs_as_it_was_sent_and_with_the_same_schema_alone():
    plan = leafy("How").offer().round([RawCall("c0", "run", {"mode": "dry"})]).confirmed()
    (call,) = leafy("How").restore_round(saved(plan.approve("c0"))).pending
    assert call.tool.call(call.input) == "dry"
    assert problems(refused(saved(plan), leafy("What"))) == [("input_does_not_fit", "c0")]


def test_an_input_that_cannot_be_compared_is_saved_as_it_is_written():
    class Random:
        def __init__(self, name: str) -> None:
            self.name, self.made = name, object()

    random = SchemaLeaf(Random, {"type": "string"}, Random, lambda value: value.name, Random("a"))

    @tool(name="run", leaves=[random])
    def run(value: Random) -> str:
        """Run it."""
        return value.name

    (call,) = saved(Toolset(run).offer().round([RawCall("c0", "run", {"value": "b"})]).confirmed())["calls"]
    assert call["input"] == {"value": "b"}
    assert "source" not in call


def test_arguments_that_fit_no_more_make_no_input():
    run = leafy("How")["run"]
    assert makes(run, {"mode": "dry"}, run.decode({"mode": "dry"}))
    assert not makes(run, {"mode": 5}, run.decode({"mode": "dry"}))
