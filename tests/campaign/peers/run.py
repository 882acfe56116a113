"""Ask other checkers about the same edits of random schemas: which breaks does each miss?

What is true of a pair is known where a value was found that fits the old schema and not the new one, as
`jsonschema` sees it, or where our comparison proves that there is none and a search finds none. Other pairs don't
count. Each checker is asked about all pairs, and judged once more on those in which everything is among the
keywords that it says it supports.
"""

# ruff: noqa: T201  # what it prints is what it is for

from __future__ import annotations

import argparse
import json
import random
import select
import subprocess
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parents[1]))

from schema_edits import Documents, flips, search

from operator_schema.workbench.compare.narrowings import NO_VALUE, narrowings

PAGE = ROOT / "docs" / "changes.md"
BEGIN, END = "<!-- peers: begin -->", "<!-- peers: end -->"
PATIENCE = 3
"""Seconds until a checker that doesn't answer is started anew."""

_ANY = "type description title default examples $ref definitions $defs properties required additionalProperties items"
_DIFF = f"{_ANY} maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength maxItems minItems maxProperties"
_DIFF += " minProperties allOf anyOf oneOf not"
_SUB = f"{_DIFF} enum const pattern multipleOf uniqueItems additionalItems prefixItems patternProperties"
CLAIMS = {
    "json-schema-diff": frozenset(_DIFF.split()),
    "jsonsubschema": frozenset(_SUB.split()),
}
"""Keywords that a checker says it supports, by its documentation; the others name none."""

NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")


class Pair(NamedTuple):
    """Two schemas, and what is true of them.

    Attributes:
        old: the schema.
        new: what takes its place.
        is_breaking: whether a value shows it.
        says_breaking: whether our comparison says so.
        is_shown: whether its witness shows it.
        is_undecided: whether our comparison says so.
    """

    old: dict[str, Any]
    new: dict[str, Any]
    is_breaking: bool
    says_breaking: bool
    is_shown: bool
    is_undecided: bool


class Peer:
    """A checker in a process of its own."""

    def __init__(self, command: list[str]) -> None:
        self.command = command
        self.process: subprocess.Popen[str] | None = None

    def ask(self, old: Any, new: Any) -> bool | None:
        """Return whether it says that a change is breaking, None if it gives no answer."""
        if self.process is None:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            assert self.process.stdout is not None
            self.process.stdout.readline()  # it says that it is ready
        process = self.process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps([old, new]) + "\n")
            process.stdin.flush()
        except BrokenPipeError:  # it ended after its last answer
            self.end()
            return None
        ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
        line = process.stdout.readline() if ready else ""
        if not line:
            self.end()
            return None
        answer: bool | None = json.loads(line).get("breaking")
        return answer

    def end(self) -> None:
        """End its process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self.process = None


def pairs(number: int, seed: int, values: int) -> list[Pair]:
    """Make pairs of which it is known whether they are breaking."""
    documents = Documents(random.Random(seed))  # noqa: S311  # a sample that can be drawn again
    found: list[Pair] = []
    while len(found) < number:
        old = documents.arguments()
        new = documents.edited(old)
        places = narrowings(old, new)
        verdicts = {each.verdict for each in places}
        says_breaking = not verdicts.isdisjoint(("breaking", "unasked"))
        # A key that the old schema ignores counts, too: a checker of schemas knows nothing of arguments.
        is_shown = any(
            each.verdict != "undecided" and each.witness is not NO_VALUE and flips(old, new, each.witness)
            for each in places
        )
        is_breaking = is_shown or next(search(documents, old, new, values), NO_VALUE) is not NO_VALUE
        is_undecided = "undecided" in verdicts and not says_breaking
        if is_breaking or says_breaking or not is_undecided:
            found.append(Pair(old, new, is_breaking, says_breaking, is_shown, is_undecided))
    return found


def in_draft_7(schema: Any) -> Any:
    """Return a schema as drafts 4 to 7 write it, as far as they can say it."""
    if not isinstance(schema, dict):
        return schema
    found = {name: _inside(name, value) for name, value in schema.items()}
    if "prefixItems" in found:
        found["additionalItems"] = found.pop("items", True)
        found["items"] = found.pop("prefixItems")
    if "$defs" in found:
        found["definitions"] = {**found.get("definitions", {}), **found.pop("$defs")}
    if "$ref" in found:
        found["$ref"] = found["$ref"].replace("#/$defs/", "#/definitions/")
    return found


def in_draft_4(schema: Any) -> Any:
    """Return a schema of draft 7 as draft 4 writes it, as far as that can say it."""
    if schema is True:
        return {}
    if schema is False:
        return {"not": {}}
    if not isinstance(schema, dict):
        return schema
    found = {name: _inside(name, value, in_draft_4) for name, value in schema.items()}
    for name, exclusive, tighter in (
        ("minimum", "exclusiveMinimum", max),
        ("maximum", "exclusiveMaximum", min),
    ):
        if exclusive in found:
            limit = found.pop(exclusive)
            if name not in found or tighter(found[name], limit) == limit:
                found[name], found[exclusive] = limit, True
    if "const" in found:
        found["enum"] = [found.pop("const")]
    return found


def _inside(name: str, value: Any, visit: Any = in_draft_7) -> Any:
    if name in NAMED and isinstance(value, dict):
        return {key: visit(each) for key, each in value.items()}
    if name in ("additionalProperties", "additionalItems") and isinstance(value, bool):
        return value
    if name in ("anyOf", "oneOf", "allOf", "prefixItems", "items") and isinstance(value, list):
        return [visit(each) for each in value]
    if name in ("enum", "const", "required", "type", "default"):
        return value
    return (
        visit(value) if isinstance(value, dict) or name in ("items", "not", "if", "then", "else") else value
    )


def keywords_in(schema: Any) -> set[str]:
    """List the keywords of a schema."""
    found: set[str] = set()
    if isinstance(schema, dict):
        found |= schema.keys()
        for name, value in schema.items():
            inside = value.values() if name in NAMED else value if isinstance(value, list) else [value]
            found |= {
                each for inner in inside if name not in ("enum", "const") for each in keywords_in(inner)
            }
    return found


def is_claimed(name: str, pair: Pair) -> bool:
    """Return whether a checker says that it knows what is in a pair."""
    if name == "mcp-diff":
        return _without_types(pair.old) == _without_types(pair.new)
    used = keywords_in(pair.old) | keywords_in(pair.new)
    is_recursive = any(
        "#" in json.dumps(each) and "$ref" in json.dumps(each) for each in (pair.old, pair.new)
    )
    return name not in CLAIMS or (used <= CLAIMS[name] and not is_recursive)


def _without_types(schema: dict[str, Any]) -> Any:
    """Return what `mcp-diff` doesn't say it compares: all but names, types and what is required."""
    properties = {
        name: {key: value for key, value in each.items() if key != "type"} if isinstance(each, dict) else each
        for name, each in schema["properties"].items()
    }
    rest = {name: value for name, value in schema.items() if name not in ("properties", "required")}
    return rest, properties


def commands(python: str, modules: str) -> dict[str, list[str]]:
    """Return how each checker is started."""
    ours = {
        name: [python, str(HERE / "worker.py"), name] for name in ("mcp-diff", "jsoncompat", "jsonsubschema")
    }
    names = ("json-schema-diff", "json-schema-diff-validator")
    return {**ours, **{name: ["node", str(HERE / "worker.cjs"), name, modules] for name in names}}


def counted(name: str, command: list[str], known: list[Pair]) -> list[str]:
    """Ask a checker about all pairs; return its row."""
    peer = Peer(command)
    whole: Counter[str] = Counter()
    claimed: Counter[str] = Counter()
    for pair in known:
        old, new = pair.old, pair.new
        if name not in ("mcp-diff", "jsoncompat"):
            old, new = in_draft_7(old), in_draft_7(new)
        if name == "jsonsubschema":
            old, new = in_draft_4(old), in_draft_4(new)
        said = peer.ask(old, new)
        what = "no answer" if said is None else _verdict(said, is_breaking=pair.is_breaking)
        whole[what] += 1
        if is_claimed(name, pair):
            claimed[what] += 1
    peer.end()
    print(name, dict(whole), dict(claimed), file=sys.stderr)
    return [name, *_cells(whole), f"{claimed.total():,}", *_cells(claimed)]


def _verdict(said: bool, *, is_breaking: bool) -> str:
    return "right" if said == is_breaking else "missed" if is_breaking else "cried"


def _cells(counts: Counter[str]) -> list[str]:
    return [f"{counts[name]:,}" for name in ("missed", "cried", "no answer")]


def table(rows: list[list[str]], known: list[Pair], versions: dict[str, str]) -> str:
    """Write the table."""
    breaking = sum(pair.is_breaking for pair in known)
    undecided = sum(pair.is_undecided for pair in known)
    missed = sum(pair.is_breaking and not pair.says_breaking and not pair.is_undecided for pair in known)
    alarms = sum(pair.says_breaking and not pair.is_breaking for pair in known)
    cells = [f"{missed:,}", f"{alarms:,}", f"{undecided:,}"]
    ours = ["this package", *cells, f"{len(known):,}", *cells]
    lines = [
        f"{len(known):,} edits, of which {breaking:,} are breaking and {len(known) - breaking:,} are not:",
        "",
        "| checker | missed | false alarm | no answer | within its claims | missed | false alarm | no answer | witness |",
        "|---|---|---|---|---|---|---|---|---|",
        f"| {' | '.join(ours)} | {sum(pair.is_shown for pair in known):,} |",
        *[f"| `{row[0]}` {versions[row[0]]} | {' | '.join(row[1:])} | none |" for row in rows],
    ]
    return "\n".join(lines)


def written(page: str, text: str) -> str:
    """Return a page with a table between its marks."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}"


def main() -> None:
    """Ask all checkers, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--values", type=int, default=1000, help="for each pair that isn't breaking")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--python", required=True, help="of the environment that has the checkers of Python")
    parser.add_argument("--modules", required=True, help="the folder that has those of Node.js")
    parser.add_argument("--write", action="store_true", help="write docs/changes.md")
    given = parser.parse_args()
    known = pairs(given.pairs, given.seed, given.values)
    lines = (HERE / "requirements.txt").read_text().split()
    versions = dict(line.split("==") for line in lines)
    versions.update(json.loads((HERE / "package.json").read_text())["dependencies"])
    rows = [
        counted(name, command, known)
        for name, command in commands(given.python, str(Path(given.modules).resolve())).items()
    ]
    text = table(rows, known, versions)
    print(text)
    print(f"jsonschema {version('jsonschema')} judged", file=sys.stderr)
    if given.write:
        PAGE.write_text(written(PAGE.read_text(), text))


if __name__ == "__main__":
    main()
