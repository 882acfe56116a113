"""Tools found in modules and distributions."""

from __future__ import annotations

import sys
import textwrap
import types

import pytest
from registry_samples import MODULE, names

from operator_schema import Registry, SchemaError, Toolset, tool_input
from operator_schema.errors import DuplicateToolError


def test_from_module_takes_what_the_module_defines(folder):
    (folder / "rtools_a.py").write_text(MODULE.format(imports=""))
    (folder / "rtools_b.py").write_text(MODULE.format(imports="from rtools_a import first as imported"))
    registry = Toolset.from_module("rtools_b")
    assert names(registry) == ["second", "first", "third"]
    assert registry["first"] is sys.modules["rtools_b"].first
    assert names(Toolset.from_module(sys.modules["rtools_a"])) == names(registry)


@pytest.mark.parametrize("given", [None, 5, len, Toolset])
def test_from_module_takes_only_modules(given):
    with pytest.raises(TypeError, match="expected a module, or its name to import it, not "):
        Toolset.from_module(given)


def test_from_module_takes_what_all_names(folder):
    (folder / "rtools_a.py").write_text(MODULE.format(imports=""))
    (folder / "rtools_c.py").write_text(
        "from rtools_a import first, _hidden\n__all__ = ['_hidden', 'first']\n"
    )
    assert names(Toolset.from_module("rtools_c")) == ["_hidden", "first"]
    module = types.ModuleType("rtools_d")
    module.__all__ = ["nothing"]
    with pytest.raises(AttributeError, match="nothing"):
        Toolset.from_module(module)


def distribution(folder, name, entry_points):
    """Install a distribution into a folder, as pip would leave it."""
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(textwrap.dedent(entry_points))


def test_from_entry_points(folder):
    (folder / "rtools_a.py").write_text(MODULE.format(imports=""))
    more = "from rtools_a import first\nfrom operator_schema import Toolset\n"
    more += "ones = Toolset([first]).prefix('r_')\nlisted = [first.with_(name='listed')]\nnothing = 5\n"
    more += "named = {'renamed': first}\n"
    (folder / "rtools_e.py").write_text(more)
    group = "[operator_schema.tools]"
    distribution(folder, "z-tools", f"{group}\nall = rtools_a\n\n[console_scripts]\nx = rtools_e:nothing\n")
    distribution(
        folder,
        "a-tools",
        f"{group}\nb = rtools_e:ones\na = rtools_e:listed\n"
        "[other.group]\none = rtools_a:first\ntwo = rtools_e:named\n",
    )
    assert names(Toolset.from_entry_points()) == ["listed", "r_first", "second", "first", "third"]
    assert names(Toolset.from_entry_points("other.group")) == ["first", "renamed"]
    assert names(Toolset.from_entry_points("no.group")) == []
    assert [tool.name for tool in Toolset.from_entry_points("other.group").offered()] == ["first", "renamed"]


@pytest.mark.parametrize(
    ("target", "error", "note"),
    [
        (
            "rtools_a:nothing",
            AttributeError,
            "while loading the entry point x of b-tools, group operator_schema.tools",
        ),
        (
            "rtools_nowhere",
            ModuleNotFoundError,
            "while loading the entry point x of b-tools, group operator_schema.tools",
        ),
        ("rtools_b:named", SchemaError, "in the entry point x of b-tools, group operator_schema.tools"),
        ("rtools_a:plain", TypeError, "in the entry point x of b-tools, group operator_schema.tools"),
        (
            "rtools_a:first",
            DuplicateToolError,
            "in the entry point x of b-tools, group operator_schema.tools",
        ),
    ],
)
def test_an_entry_point_that_is_wrong_says_where(folder, target, error, note):
    (folder / "rtools_a.py").write_text(MODULE.format(imports=""))
    (folder / "rtools_b.py").write_text("from rtools_a import first\nnamed = {'not a name': first}\n")
    distribution(folder, "a-tools", "[operator_schema.tools]\nall = rtools_a\n")
    distribution(folder, "b-tools", f"[operator_schema.tools]\nx = {target}\n")
    with pytest.raises(error) as caught:
        Toolset.from_entry_points()
    assert caught.value.__notes__ == [note]


def test_input_tools_are_tools_too():
    from dataclasses import dataclass

    @tool_input(name="move", description="Move a piece.")
    @dataclass
    class Move:
        to: str

    assert Registry([Move]).definitions()[0]["description"] == "Move a piece."


def test_all_may_name_submodules_that_are_not_imported(folder):
    package = folder / "rtools_lazy"
    package.mkdir()
    (package / "__init__.py").write_text("__all__ = ['inner']\n")
    (package / "inner.py").write_text("")
    with pytest.raises(
        ValueError, match=r"^the module rtools_lazy has no tools: decorate its functions with @tool$"
    ):
        Toolset.from_module("rtools_lazy")
    assert "rtools_lazy.inner" not in sys.modules


@pytest.mark.skipif(
    sys.platform == "emscripten", reason="pkgutil can't list the packages in the zip file that Pyodide has"
)
def test_each_module_of_this_process_has_tools_or_an_error_that_names_it():
    """Names in `__all__` that don't exist are an AttributeError, as in `from module import *`."""
    import operator_schema

    assert sys.modules["operator_schema"] is operator_schema  # its finder refuses names that aren't modules
    for name, module in sorted(sys.modules.items()):
        if name.startswith("operator_schema") or name in sys.stdlib_module_names:
            try:
                assert bool(names(Toolset.from_module(module))) != (getattr(module, "__all__", None) == [])
            except ValueError as error:
                assert f" {module.__name__} " in str(error)
            except AttributeError as error:
                assert {error.name} <= {*module.__all__} - {*vars(module)}


def test_a_module_without_tools_says_what_it_has_instead(folder):
    with pytest.raises(ValueError, match=r"the module json has no tools: decorate .* such as dump, dumps, "):
        Toolset.from_module("json")
    text = "from operator_schema import tool\n@tool\ndef find(x: int) -> int: ...\n"
    text += "__all__ = ['other']\nother = 1\n"
    (folder / "rtools_all.py").write_text(text)
    with pytest.raises(
        ValueError, match=r"^the module rtools_all has no tools: its __all__ leaves out find: name them"
    ):
        Toolset.from_module("rtools_all")
