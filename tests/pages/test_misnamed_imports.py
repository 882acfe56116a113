"""An import of a name that a package doesn't have says which was meant; other imports are as ever."""

from __future__ import annotations

import copy
import importlib
import importlib.util
import inspect
import keyword
import pickle
import pkgutil
import re
import subprocess
import sys

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from test_stability import TABLE

import operator_schema
from operator_schema import lazy
from operator_schema.similar_names import fold

NEED_EXTRAS = {
    *("operator_schema.adapters.mcp", "operator_schema.adapters.mcp.gateway", "operator_schema.code_tools"),
    *("operator_schema.adapters.mcp_client", "operator_schema.adapters.mcp_connection"),
    "operator_schema.adapters.postgres",
}
"""What can't be imported without another distribution."""

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
        ("operator_schema", "snapshot_of", "workbench.compare"),
        ("operator_schema.errors", "CommitError", "rounds"),
        ("operator_schema.errors", "RoundError", ""),
        ("operator_schema.rounds", "tool", ""),
        ("operator_schema.adapters", "openai_chat", "providers"),
        ("operator_schema", "process", "adapters"),
        ("operator_schema", "inspector", "workbench"),
        ("operator_schema", "lint", "workbench.lint"),
        ("operator_schema.workbench.lint", "decode_lines", "workbench.bulk"),
    ],
)
def test_a_name_that_another_room_has_is_answered_with_this_room(module, name, home):
    room = f"operator_schema.{home}".removesuffix(".")
    with pytest.raises(ImportError) as caught:
        imported(f"from {module} import {name}")
    assert str(caught.value) == f"{module} has no {name}; it is in {room}"
    with pytest.raises(AttributeError, match=rf"has no attribute '{name}'; it is in {room}$"):
        getattr(importlib.import_module(module), name)
    assert not hasattr(importlib.import_module(module), name)
    imported(f"from {room} import {name}")


@pytest.mark.parametrize(
    ("module", "name", "meant"),
    [
        ("operator_schema", "ScriptModel", "ScriptedModel of operator_schema.testing"),
        ("operator_schema", "CommitErorr", "CommitError of operator_schema.rounds"),
        ("operator_schema", "provider", "providers"),
        ("operator_schema", "adapter", "adapters"),
        ("operator_schema.types", "RUL", "URL"),
        ("operator_schema.rounds", "Toolst", "Toolset"),
        ("operator_schema.rounds", "excecutor", "Executor of operator_schema"),
    ],
)
def test_the_nearest_name_is_sought_here_and_then_in_the_other_rooms(module, name, meant):
    with pytest.raises(ImportError) as caught:
        imported(f"from {module} import {name}")
    assert str(caught.value) == f"{module} has no {name}; did you mean {meant}?"


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


MODULES = [module for module in TABLE if module not in NEED_EXTRAS]
PUBLIC = [(module, name) for module in MODULES for name in importlib.import_module(module).__all__]
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
EDITS = {
    "left out": lambda name, at, _: name[:at] + name[at + 1 :],
    "added": lambda name, at, letter: name[:at] + letter + name[at:],
    "replaced": lambda name, at, letter: name[:at] + letter + name[at + 1 :],
    "swapped": lambda name, at, _: name[:at] + name[at : at + 2][::-1] + name[at + 2 :],
}


def edits_between(one, other):
    """Count the edits that make one name of another, as `EDITS` does them; past two it says two."""
    if one == other:
        return 0
    forms = {
        edit(one, at, letter) for edit in EDITS.values() for at in range(len(one)) for letter in set(other)
    }
    return 1 if other in {*forms, *(one + letter for letter in other)} else 2


def answers(module, name):
    """Return what attribute access and an import say of a name after the name itself."""
    with pytest.raises(AttributeError) as absent:
        getattr(importlib.import_module(module), name)
    with pytest.raises(ImportError) as unimportable:
        imported(f"from {module} import {name}")
    yield str(absent.value).partition(f"no attribute {name!r}")[2]
    yield str(unimportable.value).partition(f"{module} has no {name}")[2]


def assert_answered(module, name, misspelt):
    """Check that both answers are the same, and name what was meant or something that is as near."""
    by_attribute, by_import = answers(module, misspelt)
    assert by_attribute == by_import
    found = re.fullmatch(r"; (?:it is in|did you mean) (.+?)\??", by_import)
    assert found, (module, misspelt, by_import)
    meant = [part.partition(" ")[0] for part in found[1].split(" or ")]
    near = {edits_between(fold(misspelt), fold(one)) for one in meant}
    assert (
        name in meant or "; it is in" in by_import or min(near) <= edits_between(fold(misspelt), fold(name))
    )


def is_absent(module, name):
    own = importlib.import_module(module)
    below = {found.name for found in pkgutil.iter_modules([*getattr(own, "__path__", ())])}
    known = {*dir(own), *own.__all__, *below, "openai_compatible"}
    return name.isidentifier() and not keyword.iskeyword(name) and name[0] != "_" and name not in known


@pytest.mark.parametrize(("module", "name"), PUBLIC)
def test_each_public_name_without_its_last_letter_is_answered(module, name):
    if is_absent(module, name[:-1]) and not name.startswith("_"):
        assert_answered(module, name, name[:-1])


@pytest.mark.needs_threads  # the inspector's server
@pytest.mark.slow("draws thousands of misspelt names")
@example(("operator_schema.workbench.lint", "lint"), "replaced", 2, "i")
@settings(max_examples=5 * settings().max_examples)
@given(st.sampled_from(PUBLIC), st.sampled_from(sorted(EDITS)), st.integers(0, 30), st.sampled_from(LETTERS))
def test_each_single_edit_of_each_public_name_is_answered(public, edit, at, letter):
    module, name = public
    misspelt = EDITS[edit](name, at % len(name), letter)
    assume(not name.startswith("_") and is_absent(module, misspelt))
    assert_answered(module, name, misspelt)


@pytest.mark.needs_threads  # the inspector's server
@pytest.mark.parametrize("module", MODULES)
def test_a_module_is_asked_for_absent_names_as_ever(module):
    own = importlib.import_module(module)
    before = [*sys.meta_path]
    for name in ("tol", "zzz", "__wrapped__", "_private"):
        assert not hasattr(own, name)
        assert getattr(own, name, None) is None
    assert own in {inspect.getmodule(own), sys.modules[module]}
    with pytest.raises(AttributeError) as absent:
        _ = own.zzz
    assert (absent.value.name, absent.value.obj) == ("zzz", own)
    namespace: dict[str, object] = {}
    exec(f"from {module} import *", namespace)  # noqa: S102  # a statement of this file
    assert set(own.__all__) <= set(namespace)
    assert sys.meta_path == before


@pytest.mark.needs_threads  # the inspector's server
@pytest.mark.parametrize(("module", "name"), PUBLIC)
def test_each_public_class_is_pickled_and_copied_by_its_name(module, name):
    value = getattr(importlib.import_module(module), name)
    if isinstance(value, type):
        assert pickle.loads(pickle.dumps(value)) is value  # just written
        assert copy.copy(value) is value


def test_an_import_with_hundreds_of_names_is_told_from_an_attribute():
    names = [f"name_{number}" for number in range(300)]
    statement = "\n".join([f"{name} = 0" for name in names])
    with pytest.raises(ImportError, match=r"^operator_schema has no tol; did you mean tool\?$"):
        imported(f"{statement}\nfrom operator_schema import tool, tol")
    with pytest.raises(AttributeError, match=r"has no attribute 'tol'; did you mean tool\?$"):
        imported(f"{statement}\nimport operator_schema\noperator_schema.tol\nfrom operator_schema import tol")


@pytest.mark.needs_process
def test_nothing_is_loaded_for_names_of_python_and_no_import_hook_is_left():
    code = (
        "import sys; finders = [*sys.meta_path]\n"
        "import operator_schema, operator_schema.providers, operator_schema.adapters\n"
        "before = {*sys.modules}\n"
        "rooms = [operator_schema, operator_schema.providers, operator_schema.adapters]\n"
        "for room in rooms: hasattr(room, '__wrapped__'), hasattr(room, '_private')\n"
        "print(sorted({*sys.modules} - before), sys.meta_path == finders)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[] True\n"


def modules_below(package):
    folders = importlib.import_module(package).__path__
    return {found.name: f"{package}.{found.name}" for found in pkgutil.iter_modules([*folders])}


PACKAGES = [module for module in MODULES if hasattr(importlib.import_module(module), "__path__")]
ROOMS = [room for room in PACKAGES if room != "operator_schema.codec"]
"""Packages that users import from, without the one that loads nothing but what a first decode needs."""
TOP = {room.split(".")[1] for room in PACKAGES if "." in room} | {"adapters", "workbench"}


def refusal(module):
    """Return what an import of an absent module says, with a name after it or not."""
    for statement in (f"import {module}", f"from {module} import anything"):
        with pytest.raises(ModuleNotFoundError) as refused:
            imported(statement)
        assert refused.value.name == module
        yield str(refused.value)


@pytest.mark.needs_threads  # the inspector's server
@pytest.mark.parametrize(
    ("package", "name"),
    [
        (package, name)
        for package in ROOMS
        for name in importlib.import_module(package).__all__
        if name not in modules_below(package) and not name.startswith("_")
    ],
)
def test_a_public_name_that_is_imported_as_a_module_is_answered_with_the_import_to_write(package, name):
    said = f"{package}.{name} isn't a module: write from {package} import {name}"
    assert {*refusal(f"{package}.{name}")} == {said}
    imported(said.partition(": write ")[2])


MOVED = modules_below("operator_schema.adapters") | modules_below("operator_schema.workbench")


@pytest.mark.parametrize("name", sorted({*MOVED} - {*modules_below("operator_schema")}))
def test_a_module_of_another_room_is_found_from_the_package_itself(name):
    homes = {
        said.partition(f"operator_schema has no {name}; it is in ")[2]
        for said in refusal(f"operator_schema.{name}")
    }
    assert homes <= {MOVED[name], MOVED[name].rpartition(".")[0], "operator_schema.providers"}


@pytest.mark.parametrize("name", sorted(TOP))
def test_a_room_without_its_last_letter_or_in_another_room_is_answered(name):
    for said in refusal(f"operator_schema.{name[:-1]}"):
        meant = re.split(r"did you mean |, | or |\?| import ", said)
        assert name in meant or fold(name[:-1]) in map(fold, meant)
    if name not in modules_below("operator_schema.testing"):
        (said, _) = refusal(f"operator_schema.testing.{name}")
        assert said == f"operator_schema.testing has no {name}; it is in operator_schema"


@pytest.mark.needs_process
@pytest.mark.parametrize("package", ["operator_schema", "operator_schema.workbench"])
def test_a_room_that_is_not_imported_yet_is_answered_with_its_import(package):
    below = modules_below(package)
    code = "import {0}\nfor name in {1}:\n try: {0}.__getattr__(name)\n except AttributeError as e: print(e)"
    names = sorted(below.keys() - {"__main__"})
    run = [sys.executable, "-c", code.format(package, names)]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    said = "module {0!r} has no attribute {1!r}; it's a module: write import {0}.{1} first"
    assert done.stdout.splitlines() == [said.format(package, name) for name in names]


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
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'langchain'$"):
        imported("from operator_schema import tool\nimport langchain")


@pytest.mark.needs_process
def test_a_message_is_the_last_line_that_a_program_prints():
    code = "from operator_schema.adapters.langchain import to_tools"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert last == (
        "ModuleNotFoundError: operator_schema.adapters has no langchain; did you mean langchain_core?"
    )
