"""What shells complete, in bash, zsh and fish themselves."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest
import warm_processes
from cli_samples import on_posix, process
from patience import at_most

from operator_schema.workbench.cli import main

pytestmark = pytest.mark.needs_process  # no shell either

DESK = '''
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from operator_schema import Registry, Toolset, tool

print("noise of an import")


@dataclass
class Order:
    number: int


@tool
def vat(net: float, rate: Literal["full", "very reduced"] = "full", express: bool = False) -> float:
    """Compute the tax: it's simple.

    Args:
        net: The price.
    """
    return net


@tool
def look(file: Path) -> str:
    """Look into a file."""
    return "x"


def make(root: Path = Path()) -> Registry:
    """Make tools."""
    return Registry([vat])


async def opened():
    """Open a context."""


registry = Registry([vat, look])
context = {Order: Order(1)}
'''

MARKER = "import pathlib\npathlib.Path(__file__).with_suffix('.imported').touch()\n"


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """Return a folder with modules, and a program that shows its arguments, or completes."""
    folder = tmp_path_factory.mktemp("completion")
    (folder / "desk.py").write_text(DESK)
    (folder / "marked.py").write_text(MARKER)
    (folder / "broken.py").write_text("1 / 0\n")
    (folder / "shop").mkdir()
    (folder / "shop" / "__init__.py").write_text(MARKER)
    (folder / "shop" / "counter.py").write_text(MARKER)
    program = folder / "bin" / "operator-schema"
    program.parent.mkdir()
    words = shlex.join(warm_processes.command())
    program.write_text(
        f'#!/bin/sh\nif [ -n "$_OPERATOR_SCHEMA_COMPLETE" ]; then exec {words}; fi\n'
        "printf 'GOT'\nfor word; do printf '<%s>' \"$word\"; done\nprintf '\\n'\n"
    )
    program.chmod(0o755)
    return folder


@pytest.fixture
def candidates(desk, monkeypatch, capsys):
    """Return what a shell gets for a text before the cursor: value to kind."""
    monkeypatch.chdir(desk)
    monkeypatch.delitem(sys.path_importer_cache, "", raising=False)
    before = set(sys.modules)

    def ask(text, shell="fish", breaks=""):
        monkeypatch.setenv("COMP_WORDS", f"operator-schema {text}")
        monkeypatch.setenv("COMP_WORDBREAKS", breaks)
        monkeypatch.setenv("_OPERATOR_SCHEMA_COMPLETE", shell)
        assert main([]) == 0
        lines = [line for line in capsys.readouterr().out.splitlines() if line]
        return {value: kind for kind, value, _ in [f"{line}\t\t".split("\t", 2) for line in lines]}

    yield ask
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in {"desk", "marked", "broken", "shop"}:
            del sys.modules[name]


needs_shell = pytest.mark.slow("starts a shell, and a process for each completion in it")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ser", {"serve": "full"}),
        ("serve --print", {"--print-config": "full"}),
        ("serve --print-config cu", {"cursor": "full"}),
        ("completion f", {"fish": "full"}),
        ("call ", {"desk:": "part", "marked:": "part", "broken:": "part", "shop:": "part"}),
        ("tools ", {"desk": "part", "marked": "part", "broken": "part", "shop": "part"}),
        ("tools shop.", {"shop.counter": "part"}),
        ("tools ./d", {"./desk.py": "part"}),
        ("tools desk.", {"desk.py": "part"}),
        ("tools ./shop/", {"./shop/counter.py": "part"}),
        ("tools desk:", {f"desk:{name}": "full" for name in ("vat", "look", "make", "registry")}),
        ("tools desk marke", {"marked": "part"}),
        ("schema desk:", {"desk:Order": "full", "desk:vat": "full", "desk:look": "full"}),
        (
            "call desk:",
            {"desk:vat": "full", "desk:look": "full", "desk:make.": "part", "desk:registry.": "part"},
        ),
        ("call desk:registry.", {"desk:registry.vat": "full", "desk:registry.look": "full"}),
        ("call desk:make.", {"desk:make.vat": "full"}),
        ("call desk:make.vat --ro", {"--root": "full"}),
        ("call --context desk:", {"desk:context": "full", "desk:opened": "full"}),
        ("call desk:vat ", {"net=": "part", "rate=": "part", "express=": "part"}),
        ("call desk:vat net=3 ", {"rate=": "part", "express=": "part"}),
        ("call desk:vat rate=", {"rate=full": "full", "rate=very reduced": "full"}),
        ('call desk:vat "rate=ve', {"rate=very reduced": "full"}),
        ("call desk:vat express=t", {"express=true": "full"}),
        ("call desk:look file=shop/c", {"file=shop/counter.py": "full"}),
        ("decode desk:Order ", {"": "file"}),
    ],
)
def test_the_candidates_for_a_word(candidates, text, found):
    assert candidates(text) == found


@pytest.mark.parametrize(
    "text",
    ["nothing ", "call nowhere:", "call broken:", "call broken:x ", "call desk:nothing ", "call 'x"],
)
def test_errors_are_silent(candidates, text):
    assert candidates(text) == {}


def test_a_module_is_imported_only_if_it_is_written_as_a_target(candidates, desk):
    for text in ("call ", "tools mark", "tools shop.c", "tools marked", "tools ./"):
        assert candidates(text)
    assert list(desk.rglob("*.imported")) == []
    candidates("tools marked:")
    assert [path.name for path in desk.rglob("*.imported")] == ["marked.imported"]


@on_posix
@pytest.mark.needs_process
def test_a_module_that_takes_too_long_completes_nothing(desk):
    (desk / "slow.py").write_text(
        "import signal\nsignal.raise_signal(signal.SIGALRM)\nfrom desk import vat\n"
    )
    asked = {"COMP_WORDS": "operator-schema call slow:", "_OPERATOR_SCHEMA_COMPLETE": "fish"}
    assert process([], desk, **asked)[:2] == (0, "")
    (desk / "slow.py").unlink()


def test_bash_gets_the_part_of_a_word_that_it_replaces(candidates):
    breaks = " \t\n\"'><=;|&(:"
    assert list(candidates("call desk:v", "bash", breaks)) == ["vat"]
    assert list(candidates("call desk:v", "bash", " \t\n")) == ["desk:vat"]
    assert list(candidates("call desk:vat rate=v", "bash", breaks)) == ["'very reduced'"]
    assert list(candidates("call desk:vat rate='v", "bash", breaks)) == ["very reduced"]
    assert list(candidates("call 'desk:v", "bash", breaks)) == ["desk:vat"]


TYPED = [
    ("ser\t", ["serve"]),
    ("call de\tva\t", ["call", "desk:vat"]),
    ("call desk:reg\tva\tnet=3 ra\tve\t", ["call", "desk:registry.vat", "net=3", "rate=very reduced"]),
    ("call desk:vat exp\tf\t", ["call", "desk:vat", "express=false"]),
    ("tools sho\t.c\t", ["tools", "shop.counter"]),
    ("serve --print-c\tvs\tde\t", ["serve", "--print-config", "vscode", "desk"]),
    ("decode desk:Ord\tshop/cou\t", ["decode", "desk:Order", "shop/counter.py"]),
    ("call broken:x\t", ["call", "broken:x"]),
]
"""What is typed, with tabs where a word is completed, and the words that the program gets then."""


class Terminal:
    """A shell in a terminal, to which lines are typed."""

    def __init__(self, words, folder):
        import pty

        self.master, slave = pty.openpty()
        path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        environment = {"PATH": path, "HOME": str(folder), "TERM": "dumb", "LC_ALL": "C.UTF-8", "PS1": "$ "}
        self.process = subprocess.Popen(
            words,
            cwd=folder,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            start_new_session=True,
        )
        os.close(slave)

    def type(self, text, until):
        os.write(self.master, text.encode())
        shown = ""
        while not (found := re.search(until, shown)):
            shown += os.read(self.master, 65536).decode(errors="replace")
        return found

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


def terminal(words, folder, before):
    """Start a shell that completes."""
    script = process(["completion", words[0]], folder)[1]
    (folder / f"{words[0]}-completion").write_text(script)
    shell = Terminal(words, folder)
    shell.type(f"{before} . ./{words[0]}-completion; echo rea''dy\n", "ready\r?\n")
    return shell


@on_posix
@needs_shell
@pytest.mark.needs_process
@pytest.mark.parametrize(
    ("words", "before"),
    [
        (["bash", "--norc", "--noprofile", "-i"], "bind 'set bell-style none';"),
        (["zsh", "-f", "-i"], "unsetopt beep; autoload -U compinit; compinit -u -D;"),
    ],
    ids=["bash", "zsh"],
)
def test_a_shell_completes_what_is_typed(desk, words, before):
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} isn't installed")
    with at_most(120):
        shell = terminal(words, desk, before)
        try:
            for typed, expected in TYPED:
                found = shell.type(f"operator-schema {typed}\n", r"GOT((?:<[^>]*>)*)\r?\n")
                assert re.findall("<([^>]*)>", found[1]) == expected, typed
        finally:
            shell.close()


@on_posix
@needs_shell
@pytest.mark.needs_process
def test_fish_completes_what_is_typed(desk):
    if shutil.which("fish") is None:
        pytest.skip("fish isn't installed")
    (desk / "fish-completion").write_text(process(["completion", "fish"], desk)[1])
    asked = ["ser", "call desk:v", "call desk:registry.vat rate=v", "tools shop.c", "call broken:"]
    code = "source fish-completion\n" + "\n".join(
        f"complete -C {shlex.quote(f'operator-schema {text}')}; echo ---" for text in asked
    )
    path = f"{desk / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["fish", "--no-config", "-c", code],  # noqa: S607  # the one that is installed
        cwd=desk,
        env={"PATH": path, "HOME": str(desk), "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stderr == ""
    assert done.stdout.split("---\n")[:-1] == [
        "serve\tServe tools over the Model Context...\n",
        "desk:vat\tCompute the tax: it's simple.\n",
        "rate=very\\ reduced\n" if "\\ " in done.stdout else "rate=very reduced\n",
        "shop.counter\n",
        "",
    ]


@on_posix
@needs_shell
@pytest.mark.needs_process
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_script_is_free_of_faults(run, shell, tmp_path):
    status, script, err = run("completion", shell)
    assert (status, err) == (0, "")
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} isn't installed")
    (tmp_path / "script").write_text(script)
    checked = subprocess.run([shell, "-n", "script"], cwd=tmp_path, capture_output=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, b"")


def test_a_shell_that_is_not_known_is_named(run):
    status, _, err = run("completion", "powershell")
    assert (status, "bash" in err) == (2, True)
