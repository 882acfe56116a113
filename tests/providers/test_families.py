"""Which modules a provider loads, and where its name stands."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from operator_schema import providers
from operator_schema.providers import Provider, chat

FAMILIES = {
    "anthropic": {"messages"},
    "bedrock": {"converse"},
    "cohere": {"chat", "cohere_chat"},
    "gemini": {"generate_content"},
    "gemini_parameters": {"generate_content"},
    "ollama": {"chat", "ollama_chat"},
    "openai_chat": {"chat"},
    "openai_responses": {"responses"},
    "groq": {"chat"},
    "xai": {"responses"},
}
ALL_FAMILIES = {module for modules in FAMILIES.values() for module in modules}
MOST_MODULES = 35
"""Of this package, that are loaded with a provider; 24 or 25 were."""


IMPORTS = f"""
import importlib, json, sys
loaded = {{}}
for name in {[*FAMILIES]}:
    getattr(importlib.import_module("operator_schema.providers"), name)
    loaded[name] = [module for module in sys.modules if module.partition(".")[0] == "operator_schema"]
    for module in loaded[name]:
        del sys.modules[module]
print(json.dumps(loaded))
"""


@pytest.fixture(scope="module")
def loaded_with() -> dict[str, list[str]]:
    """Return the modules of this package that the import of each provider loads, where none was loaded."""
    found = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True)
    return json.loads(found.stdout)


@pytest.mark.needs_process
@pytest.mark.parametrize("name", FAMILIES)
def test_a_provider_loads_its_own_family_alone(name, loaded_with):
    loaded = loaded_with[name]
    assert {module.rpartition(".")[2] for module in loaded} & ALL_FAMILIES == FAMILIES[name]
    assert not [module for module in loaded if module.startswith("operator_schema.rounds.")]
    assert len(loaded) <= MOST_MODULES


def test_the_names_of_all_providers_are_known():
    every = providers.provider_names()
    assert set(FAMILIES) < set(every)
    assert all(isinstance(getattr(providers, name), Provider) for name in every)
    assert set(every) < set(dir(providers)) == set(providers.__all__)
    taken: dict[str, object] = {}
    exec("from operator_schema.providers import *", taken)  # noqa: S102  # what a star takes
    assert set(every) < set(taken)


def test_the_name_of_a_provider_with_chat_completions_stands_in_one_place():
    rows = [name for name, found in vars(chat).items() if isinstance(found, Provider)]
    assert "groq" in rows
    package = Path(providers.__file__).parent
    for name in set(rows) - {"openai_chat"}:  # which docstrings name as an example
        places = [
            f"{module.name}: {line}"
            for module in package.glob("*.py")
            for line in module.read_text().splitlines()
            if line.startswith(f"{name} = ") or f'"{name}"' in line or f"import {name}" in line
        ]
        assert len(places) == 1, places
