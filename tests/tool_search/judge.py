"""How often is the tool that a question needs among the first five that a search finds?

Tools and questions are those of BFCL, the Berkeley Function Calling Leaderboard (Apache License 2.0), which
the distribution `bfcl-eval` has as data. It is downloaded, and nothing of it is kept here. Beside
`ToolSearch`, the search of fastmcp and plain `rank_bm25` are asked the same.

`questions.jsonl` has 60 questions of ours, in other words than the tools have: each with the words that a
model may search for, and the tools of which any one is right. They were written before the search was tuned,
and no search by words alone can find most of them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from math import sqrt
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple, TypeAlias

from operator_schema.rounds import ToolSearch
from operator_schema.tools import document_tool

BFCL = "bfcl-eval==2026.3.23"
SETS = {
    "written": ("simple_python", "simple_java", "simple_javascript", "multiple"),
    "of users": ("live_simple", "live_multiple"),
}
"""Functions and questions that its authors wrote; and those that users of a public service sent."""

CONVERSATIONS = "in conversations"
"""Requests in a conversation about the tools of nine servers, such as one for a car."""

_SERVERS = "bfcl_eval/data/multi_turn_func_doc/"
_NOT_IN_CONVERSATIONS = "memory"
OWN = Path(__file__).with_name("questions.jsonl")
RECORDED = Path(__file__).parents[1] / "workbench" / "compare" / "histories"

FIRST = 5
LEAST_RECALL = 0.95
"""Of the first set: in the second, many tools do the same, and the question fits several."""

LEAST_TOOLS = 500
MOST_SECONDS = 0.005
PAGE = Path(__file__).parents[2] / "docs" / "tool-search.md"
BEGIN, END = "<!-- search-judge -->", "<!-- end of search-judge -->"

Functions: TypeAlias = dict[str, dict[str, Any]]
Search: TypeAlias = Callable[..., list[str]]


class Asked(NamedTuple):
    """A question, what a model may search for to answer it, and the tools of which each is right."""

    question: str
    words: str
    tools: frozenset[str]


class Catalogue(NamedTuple):
    """Functions by name, and questions for which one of them is needed."""

    functions: Functions
    asked: list[Asked]


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


def rows_of(archive: zipfile.ZipFile, path: str) -> list[dict[str, Any]]:
    """Return the rows of a file of the distribution."""
    return [json.loads(line) for line in archive.read(f"bfcl_eval/data/{path}").splitlines()]


def catalogue_of(archive: zipfile.ZipFile, categories: tuple[str, ...]) -> Catalogue:
    """Return the functions of some categories, with each question that needs one function.

    Where two functions have the same name, the first counts. The words of a model are the first three values
    of the expected arguments: small models search for these.
    """
    functions: Functions = {}
    asked: list[Asked] = []
    for category in categories:
        wanted = {
            row["id"]: row["ground_truth"]
            for row in rows_of(archive, f"possible_answer/BFCL_v4_{category}.json")
        }
        for row in rows_of(archive, f"BFCL_v4_{category}.json"):
            for function in row["function"]:
                functions.setdefault(function["name"], function)
            calls = wanted[row["id"]]
            names = {name for call in calls for name in call}
            said = [message for turn in row["question"] for message in turn if message["role"] == "user"]
            if len(names) == 1:
                values = [value for call in calls for given in call.values() for value in given.values()]
                question = "\n".join([message["content"] for message in said])
                asked.append(Asked(question, " ".join(list(_written(values))[:3]), frozenset(names)))
    return Catalogue(functions, asked)


def _written(values: list[Any]) -> Iterator[str]:
    """Yield the texts and numbers among expected values; each is a list of what is right."""
    for value in values:
        first = value[0] if isinstance(value, list) and value else ""
        one = first[0] if isinstance(first, list) and first else first
        if isinstance(one, (str, int, float)) and not isinstance(one, bool) and one != "":
            yield str(one)


def conversations(archive: zipfile.ZipFile) -> Catalogue:
    """Return the functions of BFCL's servers, with the requests in conversations that need one of them."""
    paths = [path for path in archive.namelist() if path.startswith(_SERVERS) and path.endswith(".json")]
    functions: Functions = {}
    for path in sorted(paths):
        if _NOT_IN_CONVERSATIONS not in path:
            for line in archive.read(path).splitlines():
                one = json.loads(line)
                functions.setdefault(one["name"], one)
    name = "BFCL_v4_multi_turn_base.json"
    wanted = {row["id"]: row["ground_truth"] for row in rows_of(archive, f"possible_answer/{name}")}
    asked = []
    for row in rows_of(archive, name):
        for turn, calls in zip(row["question"], wanted[row["id"]], strict=True):
            names = {call.partition("(")[0].rpartition(".")[2] for call in calls}
            said = " ".join([message["content"] for message in turn if message["role"] == "user"])
            if len(names) == 1 and said:
                asked.append(Asked(said, "", frozenset(names)))
    return Catalogue(functions, asked)


def recorded() -> Functions:
    """Return the tools of the newest recorded version of each server, and the airline's."""
    functions: Functions = {}
    for folder in sorted(RECORDED.iterdir()):
        if folder.is_dir():
            newest = max(folder.glob("*.json"), key=lambda path: [int(part) for part in path.stem.split(".")])
            tools = json.loads(newest.read_text(encoding="utf-8"))
            for one in tools if isinstance(tools, list) else tools["tools"]:
                schema = one["inputSchema"] if "inputSchema" in one else one["input_schema"]
                functions[one["name"]] = {**one, "parameters": schema}
    return functions


def own_questions() -> Iterator[tuple[str, Asked]]:
    """Yield our questions, each with the catalogue that it asks."""
    for line in OWN.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield row["catalogue"], Asked(row["question"], row["query"], frozenset(row["tools"]))


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


def ours(functions: Functions) -> Search:
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
    return lambda query, message="": [names[one.name] for one in search.search(query, message=message)]


def fastmcp_(functions: Functions) -> Search:
    """Return a function that asks the search of fastmcp."""
    from fastmcp.server.transforms.search.bm25 import BM25SearchTransform
    from fastmcp.tools import Tool

    search = BM25SearchTransform(max_results=FIRST)
    tools = [
        Tool(name=name, description=one["description"], parameters=schema_of(one["parameters"]))
        for name, one in functions.items()
    ]
    return lambda question: [one.name for one in asyncio.run(search._search(tools, question))]


def rank_bm25_(functions: Functions) -> Search:
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


def share(found: int, of: int) -> str:
    """Return a share in percent, with its Wilson interval of 95 %."""
    z, part = 1.96, found / of
    middle = (part + z * z / (2 * of)) / (1 + z * z / of)
    half = z * sqrt(part * (1 - part) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return f"{100 * part:.1f} % [{100 * (middle - half):.0f}..{100 * (middle + half):.0f}]"


def hits(asked: list[tuple[Asked, list[str]]]) -> int:
    """Return how many questions have a right tool among those that were found."""
    return sum([bool(one.tools & set(found[:FIRST])) for one, found in asked])


def whole_questions(catalogues: dict[str, Catalogue]) -> tuple[list[str], bool]:
    """Return the lines of the table about whole questions, and whether the bars are kept."""
    titles = ["questions", "tools", "questions", "ToolSearch", "fastmcp 4.2.3", "rank_bm25 0.2.2"]
    lines, is_kept = [f"| {' | '.join(titles)} | CPU time a search |", "|---|---|---|---|---|---|---|"], True
    own: dict[str, list[Asked]] = {}
    for label, one in own_questions():
        own.setdefault(label, []).append(one)
    totals = [0, 0, 0]
    for label, (functions, asked) in catalogues.items():
        ask = ours(functions)
        ask("makes the index")
        start = process_time()
        found = [hits([(one, ask(one.question)) for one in asked])]
        seconds = (process_time() - start) / max(len(asked), 1)
        searches = [ask, fastmcp_(functions), rank_bm25_(functions)]
        found += [hits([(one, search(one.question)) for one in asked]) for search in searches[1:]]
        more = [hits([(one, search(one.question)) for one in own.get(label, ())]) for search in searches]
        totals = [total + count for total, count in zip(totals, more, strict=True)]
        if asked:
            shown = [share(count, len(asked)) for count in found]
            cells = [f"BFCL's, {label}", str(len(functions)), f"{len(asked):,}", *shown]
            lines.append(f"| {' | '.join(cells)} | {seconds * 1000:.1f} ms |")
            is_kept &= seconds < MOST_SECONDS and found[0] > max(found[1:])
        if label == "written":
            is_kept &= found[0] >= LEAST_RECALL * len(asked) and len(functions) >= LEAST_TOOLS
    count = sum([len(some) for some in own.values()])
    shown = [share(total, count) for total in totals]
    lines.append(f"| ours, in other words | as above, and 52 | {count} | {' | '.join(shown)} | |")
    return lines, is_kept


def words_of_models(catalogues: dict[str, Catalogue]) -> list[str]:
    """Return the lines of the table about queries of models, with and without the message of the user."""
    lines = ["| the query | the message | written | of users |", "|---|---|---|---|"]
    chance = random.Random(40)  # noqa: S311  # messages of other questions
    columns: list[list[str]] = []
    for label in SETS:
        functions, every = catalogues[label]
        ask, asked = ours(functions), [one for one in every if one.words]
        others = [one.question for one in asked]
        chance.shuffle(others)
        some = [_three_words(one.question, chance) for one in asked]
        searched = [
            [ask(one.words) for one in asked],
            [ask(one.words, one.question) for one in asked],
            [ask(words) for words in some],
            [ask(words, one.question) for one, words in zip(asked, some, strict=True)],
            [ask(words, other) for words, other in zip(some, others, strict=True)],
            [ask(one.question) for one in asked],
            [ask(one.question, other) for one, other in zip(asked, others, strict=True)],
            [ask(_mistyped(words, chance)) for words in some],
        ]
        columns.append([share(hits(list(zip(asked, found, strict=True))), len(asked)) for found in searched])
    rows = [
        ("three values of the arguments", "none"),
        ("the same", "the question"),
        ("three words of the question", "none"),
        ("the same", "the question"),
        ("the same", "another question"),
        ("the question", "none"),
        ("the same", "another question"),
        ("three words of the question, the longest mistyped", "none"),
    ]
    lines += [f"| {' | '.join([*row, *shares])} |" for row, *shares in zip(rows, *columns, strict=True)]
    return lines


def _three_words(question: str, chance: random.Random) -> str:
    """Return three longer words of a question, in their order: it is what a short query has at least."""
    words = [word for word in re.findall(r"\w+", question) if len(word) > 3]  # skips "the"
    places = sorted(chance.sample(range(len(words)), min(3, len(words))))
    return " ".join([words[place] for place in places]) or question


def _mistyped(words: str, chance: random.Random) -> str:
    """Swap two letters of the longest word, or leave one out."""
    longest = max(words.split(), key=len)
    place = chance.randrange(1, max(2, len(longest) - 1))
    pair = longest[place : place + 2]
    return words.replace(
        longest, longest[:place] + chance.choice([pair[::-1], pair[1:]]) + longest[place + 2 :], 1
    )


def main() -> int:
    """Measure, write the tables, and say whether the bars are kept."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--print", action="store_true", help="only print the tables")
    folder = Path("build") / "search-judge"
    folder.mkdir(parents=True, exist_ok=True)
    only_print = parser.parse_args().print
    with zipfile.ZipFile(wheel(folder)) as archive:
        catalogues = {label: catalogue_of(archive, categories) for label, categories in SETS.items()}
        catalogues[CONVERSATIONS] = conversations(archive)
    catalogues["recorded"] = Catalogue(recorded(), [])
    lines, is_kept = whole_questions(catalogues)
    table = "\n".join([*lines, "", *words_of_models(catalogues)])
    print(table)  # noqa: T201  # for who runs it
    if not only_print:
        text = PAGE.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
