"""The tables of docs/frameworks.md: what works in each framework, and what happens in each turn.

`python tests/frameworks/turn_table.py` writes them, from `TURNS` and `SCHEMA`, which the tests of adapters
hold to.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "frameworks.md"
TICKS, TURNS = "ticks", "turns"
PREFIX = "test_adapter_"
HEADS = [
    "framework",
    "schema as it is",
    "errors as ours",
    "unreadable calls",
    "context",
    "asks a person",
    "images",
    "cancels",
]
YES, PARTLY, NO = "✓", "partly", "no"
ERRORS_OF_TOOLS = ("problems", "call_error", "exception")
ERRORS_BEFORE = ("malformed", "unknown")


def constants() -> dict[str, dict[str, Any]]:
    """Return `TURNS` and `SCHEMA` of all tests of adapters, by the name of the adapter."""
    found: dict[str, dict[str, Any]] = {}
    for file in sorted(HERE.glob(f"*/{PREFIX}*.py"), key=lambda file: file.name):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        values = {
            statement.targets[0].id: statement.value
            for statement in tree.body
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
        }
        turns = values["TURNS"]
        table = {key.value: said_by(value) for key, value in zip(turns.keys, turns.values, strict=True)}
        found[file.stem.removeprefix(PREFIX)] = {"TURNS": table, "SCHEMA": said_by(values["SCHEMA"])}
    return found


def said_by(value: ast.expr) -> str:
    """Return what a constant says; the name `OURS` says that all is as everywhere."""
    return "ours" if isinstance(value, ast.Name) else value.value


def turn_rows() -> str:
    """Return the table of turns as Markdown."""
    found = {adapter: {"schema": each["SCHEMA"], **each["TURNS"]} for adapter, each in constants().items()}
    names = list(next(iter(found.values())))
    lines = ["| adapter | as ours | otherwise |", "|---|---|---|"]
    for adapter, table in found.items():
        ours = ", ".join([name for name in names if table[name] == "ours"])
        others = " · ".join([f"{name}: {table[name]}" for name in names if table[name] != "ours"])
        lines.append(f"| `{adapter}` | {ours} | {others} |")
    return "\n".join(lines).replace("call_error", "`CallError`")


def tick_rows() -> str:
    """Return the table of ticks as Markdown."""
    lines = [
        f"| {' | '.join(HEADS)} |",
        f"|---|{':-:|' * (len(HEADS) - 1)}",
    ]
    for adapter, each in constants().items():
        turns, schema = each["TURNS"], each["SCHEMA"]
        ticks = [
            YES if schema == "ours" else PARTLY,
            tick_of_errors(turns, ERRORS_OF_TOOLS),
            tick_of_errors(turns, ERRORS_BEFORE),
            YES if turns["context"] == "ours" else NO,
            YES if turns["approval"].startswith("asks") else NO,
            tick_of_images(turns["rich"]),
            YES if turns["cancelled"] == "ours" else NO,
        ]
        lines.append(f"| {link_of(adapter)} | {' | '.join(ticks)} |")
    return "\n".join(lines)


def tick_of_errors(turns: dict[str, str], names: tuple[str, ...]) -> str:
    """Say how many of some errors are told in our words, of those that can come."""
    told = [turns[name] == "ours" for name in names if not turns[name].startswith("can't happen")]
    return YES if all(told) else PARTLY if any(told) else NO


def tick_of_images(rich: str) -> str:
    """Say whether the model sees the image of a result: always, in some cases, or never."""
    return {"ours": YES, "text": NO}.get(rich, PARTLY)


def link_of(adapter: str) -> str:
    """Return a link to the section about an adapter."""
    wanted = {"google_genai": "openai"}.get(adapter, adapter).replace("_", "-")
    titles = re.findall(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    (title,) = [title for title in titles if re.split(r",? ", title)[0] == wanted]
    anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
    return f"[{adapter.replace('_', '-')}](#{anchor})"


def page_with_tables() -> str:
    """Return the page with the tables in their places."""
    text = PAGE.read_text(encoding="utf-8")
    for name, table in ((TICKS, tick_rows()), (TURNS, turn_rows())):
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}\n{table}\n{end}{after}"
    return text


def run_section(title: str) -> dict[str, object]:
    """Run the examples of a section of the page, and return the names that they define."""
    text = PAGE.read_text(encoding="utf-8")
    section = text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    namespace: dict[str, object] = {"__name__": "page"}
    blocks = section.split("```python\n")[1:]
    assert blocks, title
    for block in blocks:
        text = block.partition("```")[0]
        # As a reader runs it: without what this module imports from the future.
        code = compile(text, f"docs/frameworks.md: {title}", "exec", dont_inherit=True)
        exec(code, namespace)  # noqa: S102  # the page's own examples
    return namespace


if __name__ == "__main__":
    PAGE.write_text(page_with_tables(), encoding="utf-8")
