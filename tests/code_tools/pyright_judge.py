"""Who uses a name, as the language server of pyright says it, and how that compares with `references`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from operator_schema.code_tools import CodeBase
from operator_schema.code_tools.references import uses_of

if TYPE_CHECKING:
    import random

    from operator_schema.code_tools.index import FoundDeclaration

__all__ = ["Compared", "Pyright", "compare", "drawn", "is_there"]

FILES = 3
"""Files that have the word of a name that is asked about: most names have no uses at all."""

PROGRAM = shutil.which("pyright-langserver", path=str(Path(sys.executable).parent))


class Compared(NamedTuple):
    """How the uses of a name differ from those that pyright finds.

    Attributes:
        name: of the declaration.
        theirs: how many places pyright finds.
        certain: how many we call certain.
        wrong: places that we call certain, and pyright doesn't find.
        missed: places that pyright finds, and we call neither certain nor likely.
    """

    name: str
    theirs: int
    certain: int
    wrong: list[str]
    missed: list[str]


def is_there() -> bool:
    """Return whether the language server is installed."""
    return PROGRAM is not None


class Pyright:
    """A running language server.

    Args:
        root: of the code.
    """

    def __init__(self, root: Path) -> None:
        assert PROGRAM is not None
        self.root = root.resolve()
        self.process = subprocess.Popen(
            [PROGRAM, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.number = 0
        self.opened: set[str] = set()
        folder = {"uri": self.root.as_uri(), "name": "root"}
        self.ask(
            "initialize", processId=None, rootUri=folder["uri"], capabilities={}, workspaceFolders=[folder]
        )
        self.tell("initialized")

    def close(self) -> None:
        """Stop it."""
        with self.process:  # which closes its pipes
            self.process.kill()

    def references(self, path: str, line: int, column: int) -> set[tuple[str, int]]:
        """Return the places, as file and line from 1, that use what stands at a place, from 1 and from 0."""
        file = self.root / path
        if path not in self.opened:
            self.opened.add(path)
            text = file.read_text(encoding="utf-8")
            item = {"uri": file.as_uri(), "languageId": "python", "version": 1, "text": text}
            self.tell("textDocument/didOpen", textDocument=item)
            self.ask("textDocument/documentSymbol", textDocument={"uri": file.as_uri()})
        found = self.ask(
            "textDocument/references",
            textDocument={"uri": file.as_uri()},
            position={"line": line - 1, "character": column},
            context={"includeDeclaration": False},
        )
        start = f"{self.root.as_uri()}/"
        return {
            (one["uri"].removeprefix(start), one["range"]["start"]["line"] + 1)
            for one in found or ()
            if one["uri"].startswith(start)
        }

    def ask(self, method: str, **params: Any) -> Any:
        """Return the answer to a request."""
        self.number += 1
        number = self.number
        self.send({"id": number, "method": method, "params": params})
        while True:
            message = self.read()
            if message.get("id") == number and "method" not in message:
                return message.get("result")
            if "id" in message and "method" in message:
                items = message.get("params", {}).get("items", ())
                self.send({"id": message["id"], "result": [None for _ in items] or None})

    def tell(self, method: str, **params: Any) -> None:
        self.send({"method": method, "params": params})

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while (line := self.process.stdout.readline().strip()) or not length:
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
            elif not line and not length:
                raise EOFError
        found: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return found


def drawn(code: CodeBase, draw: random.Random, number: int) -> list[FoundDeclaration]:
    """Return some public functions, methods and classes."""
    code.refresh()
    index = code._index
    every = [
        found
        for name in sorted(set(index.names()))
        if not name.startswith("_")
        for found in index.named(name)
        if found.declaration.kind in {"func", "method", "class"}
        and not found.file.is_aside
        and sum(1 for _ in index.with_word(name)) >= FILES
    ]
    return draw.sample(every, min(number, len(every)))


def compare(code: CodeBase, server: Pyright, target: FoundDeclaration) -> Compared:
    """Compare the uses of a declaration."""
    index = code._index
    declaration, path = target.declaration, target.file.path
    text = (code.root / path).read_text(encoding="utf-8").split("\n")[declaration.line - 1]
    column = text.index(declaration.name, text.find("class " if declaration.kind == "class" else "def "))
    theirs = server.references(path, declaration.line, column)
    # It counts the overloads of a function, and the other declarations of a name, as uses of the first one.
    theirs -= {(path, one.declaration.line) for one in index.declared(target.file, declaration.qualified)}
    ours = uses_of(index, target).references
    certain = {(one.file.path, one.line) for one in ours if one.certainty == "certain"}
    likely = {(one.file.path, one.line) for one in ours if one.certainty == "likely"}
    return Compared(
        f"{path}:{declaration.line} {declaration.qualified}",
        len(theirs),
        len(certain),
        [f"{where}:{line}" for where, line in sorted(certain - theirs)],
        [f"{where}:{line}" for where, line in sorted(theirs - certain - likely)],
    )
