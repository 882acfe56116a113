"""An import of a name that a package doesn't have says which was meant; other imports are as ever."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys

import pytest

import operator_schema
from operator_schema import lazy

ADAPTERS = [
    ("langchain", "langchain_core"),
    ("LangChain_core", "langchain_core"),
    ("pydanticai", "pydantic_ai"),
    ("pydantic", "pydantic_ai"),
    ("agents", "openai_agents or strands_agents"),
    ("openai", "openai_agents"),
    ("adk", "google_adk"),
    ("haystack", "haystack_ai"),
    ("strands", "strands_agents"),
    ("llama_index", "llama_index_core"),
    ("semantickernel", "semantic_kernel"),
    ("smolagent", "smolagents"),
    ("claude", "claude_agent_sdk"),
    ("client", "mcp_client"),
]
PROVIDERS = [
    ("openai", "openai_chat or openai_compatible or openai_responses"),
    ("antropic", "anthropic"),
    ("Bedrock", "bedrock"),
    ("google", "gemini"),
    ("Claude", "anthropic"),
    ("azure", "openai_chat"),
    ("vllm", "openai_compatible"),
]


def imported(statement):
    exec(statement, {})  # noqa: S102  # a statement of this file


@pytest.mark.parametrize(
    ("package", "name", "meant"),
    [
        *[("adapters", name, meant) for name, meant in ADAPTERS],
        *[("providers", name, meant) for name, meant in PROVIDERS],
    ],
)
@pytest.mark.parametrize(
    "statement",
    [
        "import operator_schema.{package}.{name}",
        "from operator_schema.{package} import {name}",
        "from operator_schema.{package}.{name} import to_tools",
    ],
)
def test_each_form_of_an_import_says_which_name_was_meant(package, name, meant, statement):
    with pytest.raises(ImportError) as caught:
        imported(statement.format(package=package, name=name))
    assert str(caught.value) == f"operator_schema.{package} has no {name}; did you mean {meant}?"
    assert caught.value.name == f"operator_schema.{package}.{name}"


@pytest.mark.parametrize(("name", "meant"), PROVIDERS)
def test_an_attribute_of_providers_says_so_too(name, meant):
    import operator_schema.providers

    with pytest.raises(AttributeError, match=rf"has no attribute '{name}'; did you mean {meant}\?$"):
        getattr(operator_schema.providers, name)


@pytest.mark.parametrize(
    ("module", "name", "home"),
    [
        ("operator_schema", "CommitError", "rounds"),
        ("operator_schema", "DuplicateToolError", "errors"),
        ("operator_schema", "URL", "types"),
        ("operator_schema", "Image", "content"),
        ("operator_schema", "ScriptedModel", "testing"),
        ("operator_schema", "openai_chat", "providers"),
        ("operator_schema", "snapshot_of", "compare"),
        ("operator_schema.errors", "CommitError", "rounds"),
        ("operator_schema.errors", "RoundError", "rounds"),
    ],
)
def test_a_name_that_another_room_has_is_answered_with_this_room(module, name, home):
    for _ in range(2):
        with pytest.raises(ImportError) as caught:
            imported(f"from {module} import {name}")
        assert str(caught.value) == f"{module} has no {name}; it is in operator_schema.{home}"
    with pytest.raises(AttributeError, match=rf"has no attribute '{name}'; it is in operator_schema.{home}$"):
        getattr(importlib.import_module(module), name)
    assert not hasattr(importlib.import_module(module), name)
    imported(f"from operator_schema.{home} import {name}")


@pytest.mark.parametrize("module", ["operator_schema", "operator_schema.errors"])
@pytest.mark.parametrize("name", ["zzz", "_Error", "__wrapped__"])
def test_a_name_that_no_room_has_is_missing_as_everywhere(module, name):
    with pytest.raises(ImportError, match=rf"^cannot import name '{name}' from '{module}'"):
        imported(f"from {module} import {name}")
    with pytest.raises(AttributeError, match=rf"^module '{module}' has no attribute '{name}'$"):
        getattr(importlib.import_module(module), name)


def test_a_copy_without_some_rooms_answers_for_the_others(monkeypatch):
    monkeypatch.setattr(lazy, "_ROOMS", ("left_out", "rounds"))
    with pytest.raises(AttributeError, match=r"it is in operator_schema\.rounds$"):
        _ = operator_schema.CommitError
    with pytest.raises(AttributeError, match=r"has no attribute 'zzz'$"):
        _ = operator_schema.zzz


def test_answers_for_a_package_are_added_to_the_finders_once():
    imports = [f"from operator_schema.errors import {name}" for name in ("StoreError", "OfferError", "Hooks")]
    sizes = []
    for statement in imports:
        with pytest.raises(ImportError, match="it is in"):
            imported(statement)
        sizes.append(len(sys.meta_path))
    assert len(set(sizes)) == 1


@pytest.mark.parametrize("package", ["adapters", "providers"])
def test_a_name_that_resembles_none_is_missing_as_everywhere(package):
    with pytest.raises(ModuleNotFoundError, match=rf"^No module named 'operator_schema.{package}.zzz'$"):
        imported(f"import operator_schema.{package}.zzz")
    with pytest.raises(ImportError, match=r"^cannot import name 'zzz'"):
        imported(f"from operator_schema.{package} import zzz")
    assert importlib.util.find_spec(f"operator_schema.{package}.zzz") is None


def test_imports_of_others_are_not_answered():
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'langchains'$"):
        imported("import langchains")
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'operator_schema.langchain'$"):
        imported("import operator_schema.langchain")


@pytest.mark.needs_process
def test_a_message_is_the_last_line_that_a_program_prints():
    code = "from operator_schema.adapters.langchain import to_tools"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert last == "ImportError: operator_schema.adapters has no langchain; did you mean langchain_core?"
