"""The tables of `docs/constrained-decoding.md`, written from counts and read again."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from grammars.campaign import COMPILED, ENGINES, UNFINISHED
from grammars.reasons import ACCEPTED, DECODED, closed_list
from grammars.subjects import WIRES

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable

    from grammars.campaign import Count

PAGE = Path(__file__).resolve().parents[3] / "docs" / "constrained-decoding.md"
BEGIN = "<!-- measured: `make grammars` writes what follows -->"
END = "<!-- end of what is measured -->"

TITLES = {
    "schemas": "An engine doesn't take a schema",
    "walks": "A grammar allows a text, and decoding refuses it",
    "instances": "The library writes a value, and a grammar refuses it",
    "other forms": "Decoding takes another form, and a grammar refuses it",
}
"""By step."""

NOT_LISTED = "\N{EN DASH}"


def written(counts: Counter[Count], how: str) -> str:
    """Write the tables of a campaign.

    Args:
        counts: of the campaign.
        how: it was run, as one sentence.
    """
    parts = [BEGIN, how, _agreement(counts)]
    for step, title in TITLES.items():
        parts += [f"### {title}", _reasons(counts, step)]
    return "\n\n".join([*parts, END])


def replaced(page: str, measured: str) -> str:
    """Return a page with other tables."""
    before, rest = page.split(BEGIN)
    return before + measured + rest.split(END)[1]


def _agreement(counts: Counter[Count]) -> str:
    rows: list[list[str]] = []
    for engine in ENGINES:
        for wire in WIRES:
            schemas, walks, instances, forms = (_total(counts, engine, wire, step) for step in TITLES)
            taken = _number(counts, engine, wire, "schemas", COMPILED)
            decoded = _number(counts, engine, wire, "walks", DECODED)
            unfinished = _number(counts, engine, wire, "walks", UNFINISHED)
            accepted = _number(counts, engine, wire, "instances", ACCEPTED)
            others = _number(counts, engine, wire, "other forms", ACCEPTED)
            rows.append([
                f"{engine} {version(engine)}", wire, f"{schemas:,}", _share(taken, schemas), f"{walks:,}",
                f"{unfinished:,}", _share(decoded, walks - unfinished), f"{instances:,}",
                _share(accepted, instances), _share(others, forms),
            ])  # fmt: skip
    head = [
        "engine", "schemas", "number", "taken", "walks", "without end", "decoded", "instances", "accepted",
        "other forms accepted",
    ]  # fmt: skip
    return _table(head, rows)


def _total(counts: Counter[Count], engine: str, wire: str, step: str) -> int:
    return sum(number for count, number in counts.items() if count[:3] == (engine, wire, step))


def _number(counts: Counter[Count], engine: str, wire: str, step: str, outcome: str) -> int:
    return sum(number for count, number in counts.items() if count == (engine, wire, step, outcome))


def _share(part: int, whole: int) -> str:
    """Write a percentage that says 100 only where it is the whole."""
    if part == whole:
        return "100 %"
    return f"{min(100 * part / whole, 99.9):.1f} %"


def _reasons(counts: Counter[Count], step: str) -> str:
    listed = {engine: closed_list(engine)[step] for engine in ENGINES}
    rows = [
        [
            reason,
            *[
                f"{sum(_number(counts, engine, wire, step, reason) for wire in WIRES):,}"
                if reason in listed[engine]
                else NOT_LISTED
                for engine in ENGINES
            ],
        ]
        for reason in sorted(frozenset[str]().union(*listed.values()))
    ]
    return _table(["reason", *ENGINES], rows)


def _table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join([f"| {' | '.join(line)} |" for line in lines])


def listed_on(page: str) -> dict[tuple[str, str], dict[str, int]]:
    """Read the tables of a page: for an engine and a step, the number of each reason on its list."""
    measured = page.split(BEGIN)[1].split(END, maxsplit=1)[0]
    found: dict[tuple[str, str], dict[str, int]] = {}
    for step, title in TITLES.items():
        rows = [
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in measured.split(f"### {title}\n")[1].split("###")[0].split("\n")
            if line.startswith("|")
        ]
        for column, engine in enumerate(rows[0][1:], 1):
            found[engine, step] = {
                row[0]: int(row[column].replace(",", "")) for row in rows[2:] if row[column] != NOT_LISTED
            }
    return found
