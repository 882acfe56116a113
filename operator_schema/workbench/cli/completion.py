"""How does a shell complete a command line: by which script, and with which candidates?

Modules are found by the names of their files. A module is imported only if it is complete before a colon, or
is the target of the command.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from shlex import quote
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, Literal

from click.shell_completion import CompletionItem, ShellComplete

from ...engine import EnumNode, LeafNode, LiteralNode, ObjectNode, ScalarNode, flat_members
from ...execution import Executor
from ...rounds import Registry, Toolset
from ...tools import tools_in
from .factories import factory_in
from .lookup import ObjectName, dataclasses_of, find_tool, find_tools
from .module_loading import load_module
from .output import to_json

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from types import ModuleType

    import click

    from ...engine import Field, Graph, Node


Shell = Literal["bash", "zsh", "fish"]

_SECONDS: Final = 10
"""The time limit for the import of a module; if it takes longer, nothing is completed."""

_MOST: Final = 500
"""The most candidates that a shell gets."""

_HELP: Final = 80

# Each script asks the program, with the text before the cursor in COMP_WORDS. It answers with a line for each
# candidate: kind, value and help, with tabs between them. The kind is `full` if a space follows, `part` if
# the word goes on, and `file` or `dir` if the shell itself lists files.

_BASH: Final = """\
_operator_schema_completion() {
    local kind value help
    COMPREPLY=()
    while IFS=$'\\t' read -r kind value help; do
        case $kind in
            full) COMPREPLY+=("$value ") ;;
            part) COMPREPLY+=("$value") ;;
            file) compopt +o nospace -o default ;;
            dir) compopt +o nospace -o dirnames ;;
        esac
    done < <(COMP_WORDS="${COMP_LINE:0:COMP_POINT}" COMP_WORDBREAKS="$COMP_WORDBREAKS" \\
        _OPERATOR_SCHEMA_COMPLETE=bash "${1/#\\~/$HOME}" </dev/null 2>/dev/null)
}
complete -o nospace -F _operator_schema_completion operator-schema
"""

_ZSH: Final = """\
#compdef operator-schema
_operator_schema_completion() {
    local kind value help
    local -a full full_shown part part_shown
    while IFS=$'\\t' read -r kind value help; do
        case $kind in
            full) full+=("$value"); full_shown+=("$value${help:+  -- $help}") ;;
            part) part+=("$value"); part_shown+=("$value${help:+  -- $help}") ;;
            file) _files ;;
            dir) _files -/ ;;
        esac
    done < <(COMP_WORDS="${(j: :)words[1,CURRENT-1]} ${words[CURRENT]%"$SUFFIX"}" \\
        _OPERATOR_SCHEMA_COMPLETE=zsh ${~words[1]} </dev/null 2>/dev/null)
    (( $#full )) && compadd -l -d full_shown -a full
    (( $#part )) && compadd -l -S '' -d part_shown -a part
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _operator_schema_completion "$@"
else
    compdef _operator_schema_completion operator-schema
fi
"""

_FISH: Final = """\
function _operator_schema_completion
    set -l text (commandline -cp | string collect --allow-empty)
    set -l words (commandline -cpo)
    set -lx COMP_WORDS "$text"
    set -lx _OPERATOR_SCHEMA_COMPLETE fish
    for line in ($words[1] </dev/null 2>/dev/null)
        set -l parts (string split -m 2 -- \\t $line)
        switch $parts[1]
            case full part
                printf '%s\\t%s\\n' $parts[2] $parts[3]
            case dir
                __fish_complete_directories (commandline -ct)
            case file
                __fish_complete_path (commandline -ct)
        end
    end
end
complete --command operator-schema --no-files --arguments '(_operator_schema_completion)'
"""

_SCRIPTS: Final[dict[Shell, str]] = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def script_of(shell: Shell) -> str:
    """Return the script that a shell has to run for completing words of `operator-schema`."""
    return _SCRIPTS[shell]


def complete(app: click.Command, program: str, shell: str) -> str:
    """Return the candidates for the command line in the environment, one per line.

    Errors are silent, since nobody could read them while typing.

    Args:
        app: the program.
        program: its name.
        shell: the shell.
    """
    lines: list[str] = []
    # After any error, a shell must complete nothing rather than show the error.
    with suppress(BaseException), redirect_stdout(sys.stderr), _limited():
        line = _Line(os.environ.get("COMP_WORDS", ""))
        found = ShellComplete(app, {}, program, "").get_completions(line.words[1:-1], line.words[-1])
        lines = [
            _line_of(item, shell, line)
            for item in found[:_MOST]
            if item.type in {"file", "dir"} or str(item.value).isprintable()
        ]
    return "\n".join(lines)


@contextmanager
def _limited() -> Generator[None]:
    """End this process, which only completes, if the block takes too long."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def end(_number: int, _frame: object) -> None:
        os._exit(0)

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _line_of(item: CompletionItem[Any], shell: str, line: _Line) -> str:
    if item.type in {"file", "dir"}:
        return str(item.type)
    value = str(item.value)
    kind = "part" if item.type == "part" else "full"
    if shell == "bash":
        value = line.rest_for_bash(value)
    about = " ".join((item.help or "").split())
    return f"{kind}\t{value}\t{about if len(about) <= _HELP else about[: _HELP - 1] + '…'}"


class _Line:
    """A command line up to the cursor.

    Attributes:
        words: its words, without quotation marks; the last one is being typed, and may be empty.

    Args:
        text: the text of the line.
    """

    def __init__(self, text: str) -> None:
        words, quote, begins, is_escaped, is_word = [""], "", 0, False, False
        for character in text:
            if is_escaped:
                words[-1] += character
                is_escaped = False
            elif character == "\\" and quote != "'":
                is_escaped = is_word = True
            elif character == quote:
                quote = ""
            elif not quote and character in "'\"":
                quote, begins, is_word = character, len(words[-1]), True
            elif not quote and character in " \t\n":
                words += [""] if is_word else []
                is_word = False
            else:
                words[-1] += character
                is_word = True
        self.words = words
        self._begins = begins if quote else None  # start of the quotation that is still open

    def rest_for_bash(self, value: str) -> str:
        """Return the replacement of the word as bash sees it: it begins at `:`, `=` or a quotation mark."""
        if self._begins is not None:
            return value[self._begins :]
        breaks = [mark for mark in ":=" if mark in os.environ.get("COMP_WORDBREAKS", ":=")]
        cut = max([self.words[-1].rfind(mark) for mark in breaks], default=-1) + 1
        return quote(value[cut:]) if value[cut:] else ""


# --- targets -------------------------------------------------------------------------------------


def complete_modules(typed: str, end: str) -> list[CompletionItem[str]]:
    """Return candidates for a module, without importing any.

    Args:
        typed: the word so far.
        end: the text after a module, such as a colon.
    """
    found = [name if name.endswith("/") else f"{name}{end}" for name in _module_paths(typed)]
    return [CompletionItem(name, type="part") for name in found]


def complete_names(kind: str, module_name: str, typed: str) -> list[CompletionItem[str]]:
    """Return candidates for a target in a module, which is imported.

    Args:
        kind: the kind of the object: `TOOL`, `TYPE`, `REGISTRY` or `NAME`.
        module_name: the name of the module.
        typed: the word so far: the module as it was written, a colon, and the beginning of a name.
    """
    module, _, path = typed.partition(":")
    names = _names(kind, load_module(module_name, show_traceback=False), path)
    return [
        CompletionItem(f"{module}:{name}", type="part" if name.endswith(".") else "plain", help=about)
        for name, about in names.items()
        if name.startswith(path)
    ]


def _module_paths(typed: str) -> list[str]:
    """List modules, packages and Python files that begin with a text, without importing any."""
    if "/" in typed or typed.startswith("."):
        folder, slash, _ = typed.rpartition("/")
        found = [f"{folder}{slash}{name}" for name in _python_names_in(Path(folder + slash), ".py", "/")]
    else:
        parent, dot, _ = typed.rpartition(".")
        found = [f"{parent}{dot}{name}" for name in _python_names_in(Path(*parent.split(".")), "", "")]
        found += _python_names_in(Path(), ".py", "") if dot else []  # desk. may become desk.py
    return sorted({name for name in found if name.startswith(typed)})


def _python_names_in(folder: Path, file_end: str, folder_end: str) -> list[str]:
    try:
        entries = list(folder.iterdir())[:_MOST]
    except OSError:
        return []
    names: list[str] = []
    for path in entries:
        if path.suffix == ".py" and path.stem.isidentifier() and not path.stem.startswith("_"):
            names.append(path.stem + file_end)
        elif path.name.isidentifier() and path.is_dir() and (folder_end or any(path.glob("*.py"))):
            names.append(path.name + folder_end)
    return names


def _names(kind: str, loaded: ModuleType, path: str) -> dict[str, str]:
    """List the names in a module that can be targets, each with its kind.

    A trailing `.` marks a name that has members.
    """
    holder, dot, _ = path.rpartition(".")
    if kind in {"TOOL", "REGISTRY"} and dot:
        found = find_tools(ObjectName(loaded.__name__, holder), show_traceback=False)[0]
        return {f"{holder}.{tool.name}": tool.summary for tool in found}
    if kind == "NAME":
        return {name: "" for name, value in _public(loaded) if _may_be_context(value, loaded)}
    tools = {tool.name: tool.summary for tool in tools_in(loaded)}
    if kind == "TYPE":
        inputs = {tool.input_type for tool in tools_in(loaded)}
        types = [cls.__qualname__ for cls in dataclasses_of(loaded) if cls not in inputs]
        return {**dict.fromkeys(types, ""), **tools}
    holders = dict.fromkeys([name for name, value in _public(loaded) if _holds_tools(value)], "")
    if "__tools__" in vars(loaded):
        offered = find_tools(ObjectName(loaded.__name__, "__tools__"), show_traceback=False)[0]
        tools |= {tool.name: tool.summary for tool in offered}
    return {**tools, **(holders if kind == "REGISTRY" else {f"{name}.": "" for name in holders})}


def _public(module: ModuleType) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in vars(module).items() if not name.startswith("_")]


def _holds_tools(value: object) -> bool:
    return isinstance(value, (Executor, Registry, Toolset)) or factory_in(value) is not None


def _may_be_context(value: Any, module: ModuleType) -> bool:
    """Return whether a value is a mapping, or a function or class of a module that may make one."""
    if isinstance(value, FunctionType):
        return value.__module__ == module.__name__ and factory_in(value) is None
    is_class = isinstance(value, type) and value.__module__ == module.__name__
    opens = is_class and (hasattr(value, "__enter__") or hasattr(value, "__aenter__"))
    return opens or isinstance(value, Mapping)


# --- arguments of a call -------------------------------------------------------------------------


def complete_arguments(
    ctx: click.Context, given: Mapping[str, Any], typed: str
) -> Iterator[CompletionItem[str]]:
    """Yield candidates for an argument of a call: a key, or after `=` a value.

    Args:
        ctx: the context of the command `call`, with its target.
        given: the arguments of the function that makes the tools.
        typed: the word so far.
    """
    tool, _ = find_tool(ctx.params["target"], given, show_traceback=False)
    graph = tool.codec.graph
    root = graph.resolve_root()
    fields = {field.key: field for field in root.fields} if isinstance(root, ObjectNode) else {}
    key, equals, value = typed.partition("=")
    if equals and key in fields:
        for text in _values(graph, fields[key], value):
            if text.startswith(value):
                yield CompletionItem(f"{key}={text}", type="part" if text.endswith("/") else "plain")
    if equals:
        return
    used = {word.partition("=")[0] for word in ctx.params.get("arguments") or ()}
    for name, field in fields.items():
        if name.startswith(typed) and name not in used:
            yield CompletionItem(f"{name}=", type="part", help=field.description or "")


def _values(graph: Graph, field: Field, typed: str) -> Iterable[str]:
    for node in flat_members(field.node, graph.definitions):
        yield from _values_of(node, typed)


def _values_of(node: Node, typed: str) -> Iterable[str]:
    if isinstance(node, (LiteralNode, EnumNode)):
        yield from [value if isinstance(value, str) else to_json(value) for value in node.values]
    elif isinstance(node, ScalarNode) and node.type == "boolean":
        yield from ("true", "false")
    elif isinstance(node, LeafNode) and hasattr(node.leaf.type, "__fspath__"):
        folder, slash, _ = typed.rpartition("/")
        for path in list(Path(folder + slash).iterdir())[:_MOST]:
            if not path.name.startswith("."):
                yield f"{folder}{slash}{path.name}{'/' if path.is_dir() else ''}"
