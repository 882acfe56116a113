"""How often is the tool that a question needs among the first five that a search finds?

Tools and questions are those of BFCL, the Berkeley Function Calling Leaderboard (Apache License 2.0), which
the distribution `bfcl-eval` has as data. It is downloaded, and nothing of it is kept here. Beside
`ToolSearch`, the search of fastmcp and plain `rank_bm25` are asked the same.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from time import process_time
from typing import Any

from operator_schema.rounds import ToolSearch
from operator_schema.tools import document_tool

BFCL = "bfcl-eval==2026.3.23"
SETS = {
    "written": ("simple_python", "simple_java", "simple_javascript", "multiple"),
    "of users": ("live_simple", "live_multiple"),
}
"""Functions and questions that its authors wrote; and those that users of a public service sent."""

FIRST = 5
LEAST_RECALL = 0.95
"""Of the first set: in the second, many tools do the same, and the question fits several."""

LEAST_TOOLS = 500
MOST_SECONDS = 0.005
PAGE = Path(__file__).parents[2] / "docs" / "tool-search.md"
BEGIN, END = "<!-- search-judge -->", "<!-- end of search-judge -->"

_TYPES = {
    "dict": "object",
    "HashMap": "object",
    "Hashtable": "object",
    "float": "number",
    "double": "number",
    "long": "integer",
    "byte": "integer",
    "short": "integer",
    "tuple": "array",
    "Array": "array",
    "ArrayList": "array",
    "Set": "array",
    "Queue": "array",
    "Stack": "array",
    "Bigint": "integer",
    "bigint": "integer",
    "char": "string",
    "String": "string",
    "Boolean": "boolean",
    "bool": "boolean",
}
_KNOWN = {"object", "array", "string", "integer", "number", "boolean", "null"}


def wheel(folder: Path) -> Path:
    """Return the file of the distribution, downloaded if it isn't there."""
    name, _, version = BFCL.partition("==")
    path = folder / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    if not path.exists():
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--dest",
            str(folder),
            BFCL,
        ]
        subprocess.run(command, check=True)
    return path


def questions_of(
    archive: zipfile.ZipFile, categories: tuple[str, ...]
) -> tuple[dict[str, dict[str, Any]], list[tuple[str, str]]]:
    """Return the functions by name, and each question with the name of the one function that it needs.

    Questions that need several are left out. Where two functions have the same name, the first counts.
    """

    def rows(path: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in archive.read(f"bfcl_eval/data/{path}").splitlines()]

    functions: dict[str, dict[str, Any]] = {}
    questions: list[tuple[str, str]] = []
    for category in categories:
        wanted = {row["id"]: row["ground_truth"] for row in rows(f"possible_answer/BFCL_v4_{category}.json")}
        for row in rows(f"BFCL_v4_{category}.json"):
            for function in row["function"]:
                functions.setdefault(function["name"], function)
            names = {name for call in wanted[row["id"]] for name in call}
            said = [message for turn in row["question"] for message in turn if message["role"] == "user"]
            if len(names) == 1:
                questions.append(("\n".join([message["content"] for message in said]), *names))
    return functions, questions


def schema_of(part: Any) -> Any:
    """Return the parameters of a function as JSON Schema: BFCL writes types as Python, Java and so on do."""
    if isinstance(part, list):
        return [schema_of(one) for one in part]
    if not isinstance(part, dict):
        return part
    kept = {key: schema_of(value) for key, value in part.items()}
    kind = kept.get("type")
    if isinstance(kind, str):
        kept["type"] = _TYPES.get(kind, kind)
        if kept["type"] not in _KNOWN:
            del kept["type"]
    return kept


def names_for_tools(names: list[str]) -> dict[str, str]:
    """Return names that providers take, each with the one that it stands for."""
    found: dict[str, str] = {}
    for name in names:
        short = re.sub(r"\W", "_", name)[:60]
        found[short if short not in found else f"{short}_{len(found)}"] = name
    return found


def ours(functions: dict[str, dict[str, Any]]) -> Any:
    """Return a function that asks `ToolSearch`."""

    def never(**_: Any) -> None:
        """Do nothing: nothing is called here."""

    names = names_for_tools(list(functions))
    tools = [
        document_tool(
            never,
            schema_of(functions[name]["parameters"]),
            name=short,
            summary=functions[name]["description"],
        )
        for short, name in names.items()
    ]
    search = ToolSearch(tools, most=FIRST)
    return lambda question: [names[one.name] for one in search.search(question)]


def fastmcp_(functions: dict[str, dict[str, Any]]) -> Any:
    """Return a function that asks the search of fastmcp."""
    from fastmcp.server.transforms.search.bm25 import BM25SearchTransform
    from fastmcp.tools import Tool

    search = BM25SearchTransform(max_results=FIRST)
    tools = [
        Tool(name=name, description=one["description"], parameters=schema_of(one["parameters"]))
        for name, one in functions.items()
    ]
    return lambda question: [one.name for one in asyncio.run(search._search(tools, question))]


def rank_bm25_(functions: dict[str, dict[str, Any]]) -> Any:
    """Return a function that asks `rank_bm25`; texts are split as in its own documentation."""
    from rank_bm25 import BM25Okapi

    names = list(functions)
    texts = [
        " ".join([name, one["description"], *parameter_texts(one["parameters"])])
        for name, one in functions.items()
    ]
    index = BM25Okapi([text.lower().split() for text in texts])
    return lambda question: index.get_top_n(question.lower().split(), names, n=FIRST)


def parameter_texts(schema: dict[str, Any]) -> list[str]:
    """List the names of parameters and what is said about them."""
    found: list[str] = []
    for name, one in schema.get("properties", {}).items():
        found += [name, str(one.get("description", ""))]
    return found


def recall(ask: Any, questions: list[tuple[str, str]]) -> float:
    """Return how many questions have their function among the first that are found: from 0 to 1."""
    return sum([name in ask(question) for question, name in questions]) / len(questions)


def main() -> int:
    """Measure, write the table, and say whether the bars are kept."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--print", action="store_true", help="only print the table")
    folder = Path("build") / "search-judge"
    folder.mkdir(parents=True, exist_ok=True)
    only_print = parser.parse_args().print
    titles = ["BFCL's questions", "tools", "questions", "ToolSearch", "fastmcp 4.2.3", "rank_bm25 0.2.2"]
    lines = [f"| {' | '.join(titles)} | CPU time a search |", "|---|---|---|---|---|---|---|"]
    is_kept = True
    with zipfile.ZipFile(wheel(folder)) as archive:
        for label, categories in SETS.items():
            functions, questions = questions_of(archive, categories)
            ask = ours(functions)
            ask("makes the index")
            start = process_time()
            own = recall(ask, questions)
            seconds = (process_time() - start) / len(questions)
            others = [recall(make(functions), questions) for make in (fastmcp_, rank_bm25_)]
            shown = [f"{100 * value:.1f} %" for value in (own, *others)]
            cells = [label, str(len(functions)), f"{len(questions):,}", *shown, f"{seconds * 1000:.1f} ms"]
            lines.append(f"| {' | '.join(cells)} |")
            is_kept &= seconds < MOST_SECONDS and own > max(others)
            is_kept &= label != "written" or (own >= LEAST_RECALL and len(functions) >= LEAST_TOOLS)
    table = "\n".join(lines)
    print(table)  # noqa: T201  # for who runs it
    if not only_print:
        text = PAGE.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
