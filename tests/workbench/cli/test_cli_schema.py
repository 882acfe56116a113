"""The command schema."""

from __future__ import annotations

import json

import pytest

from operator_schema import Codec


def test_schema_prints_the_schema(run):
    status, out, err = run("schema", "clitools:Search")
    import clitools

    assert (status, err) == (0, "")
    assert json.loads(out) == Codec(clitools.Search).json_schema()
    assert out.startswith('{\n  "type": "object",\n')


def test_schema_compact_is_one_line_without_spaces(run):
    _, out, _ = run("schema", "--compact", "clitools:Search.Option")
    assert out == '{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}\n'


def test_schema_of_closed_objects(run):
    _, out, _ = run("schema", "--unknown-fields", "reject", "clitools:Search")
    assert json.loads(out)["additionalProperties"] is False


@pytest.mark.parametrize(
    "target", ["clitools:Searches", "clitools:Ahead", "clipkg.inner:Deep", "clitools:Again"]
)
def test_schema_of_any_annotation(run, target):
    status, out, _ = run("schema", target)
    assert status == 0
    assert json.loads(out)["type"] in {"array", "object"}


def test_complaints_about_the_type_go_to_standard_error(run):
    status, out, err = run("schema", "faulty:Faulty")
    assert (status, out) == (1, "")
    assert err.startswith("Faulty: 2 complaints about the type\n- x (in Faulty): complex")


def test_what_a_module_prints_is_no_schema(run):
    status, out, err = run("schema", "loud:Imported")
    assert status == 0
    assert json.loads(out)["type"] == "object"
    assert err == "loading\n"
