"""The table of docs/frameworks.md: what happens in each turn in each framework.

`python tests/frameworks/turn_table.py` writes it, from the tables `TURNS` that the tests of adapters hold to.
"""

from __future__ import annotations

import ast
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "frameworks.md"
BEGIN, END = "<!-- turns -->", "<!-- end of turns -->"
PREFIX = "test_adapter_"


def tables() -> dict[str, dict[str, str]]:
    """Return the tables of all tests of adapters, by the name of the adapter."""
    found: dict[str, dict[str, str]] = {}
    for file in sorted(HERE.glob(f"*/{PREFIX}*.py")):
        for statement in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "TURNS":
                pairs = zip(statement.value.keys, statement.value.values, strict=True)
                table = {
                    key.value: "ours" if isinstance(value, ast.Name) else value.value for key, value in pairs
                }
                found[file.stem.removeprefix(PREFIX)] = table
    return found


def written() -> str:
    """Return the table as Markdown."""
    found = tables()
    names = list(next(iter(found.values())))
    lines = ["| adapter | as ours | otherwise |", "|---|---|---|"]
    for adapter, table in found.items():
        ours = ", ".join([name for name in names if table[name] == "ours"])
        others = " · ".join([f"{name}: {table[name]}" for name in names if table[name] != "ours"])
        lines.append(f"| `{adapter}` | {ours} | {others} |")
    return "\n".join(lines).replace("call_error", "`CallError`")


def page_with(table: str) -> str:
    """Return the page with a table in its place."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


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
    PAGE.write_text(page_with(written()), encoding="utf-8")
