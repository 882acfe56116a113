"""How is a replay of recorded calls shown to people, as a page?"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...message_text import clip
from ..report_pages import code, page, section, shown, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_MOST_BARS: Final = 30
_MOST_ROWS: Final = 200
_LABEL_LENGTH: Final = 28
_NAME_LENGTH: Final = 200
_TEXT_LENGTH: Final = 2_000

_KINDS: Final = {"fits": "fit", "repaired": "fit if repaired", "fails": "fail"}
"""The outcomes of a call in words, by their keys in the report."""

_WIDTH, _LEFT, _RIGHT, _BAR, _GAP = 900, 210, 190, 18, 8
"""Pixels: of a plot, of the names and the numbers beside its bars, the height of a bar, and between two."""


def replay_page(report: Mapping[str, Any], title: str) -> str:
    """Return a page about a replay that loads nothing.

    Args:
        report: JSON values, as from `Replay.as_dict`.
        title: the replayed logs, as text.
    """
    tools: Mapping[str, Any] = {name: each for name, each in report["tools"].items() if each["calls"]}
    parts = [f"<p>{_summary(report)}</p>"]
    if tools:
        parts.append(section("Calls by tool", _legend(), _plot(_of_tools(tools), "Calls by tool")))
    codes = _by_code(tools)
    if codes:
        ranked = sorted(codes.items(), key=lambda item: (-item[1], item[0]))
        about = "<p>Calls that don't fit as they are. A call with several mistakes counts several times.</p>"
        bars = [_Bar(name.replace("_", " "), {"count": number}) for name, number in ranked]
        parts.append(section("What is wrong", about, _plot(bars, "Calls by what is wrong with them")))
    parts += [*_faults(tools), *_counts(report, tools)]
    return page(title, *parts)


def _summary(report: Mapping[str, Any]) -> str:
    tools = report["tools"].values()
    numbers = {kind: sum(each[kind] for each in tools) for kind in _KINDS}
    unknown = sum(report["unknown"].values())
    parts = [f"{numbers[kind]:,} {words}" for kind, words in _KINDS.items()]
    redacted = sum(each.get("redacted", 0) for each in tools)
    more = [f"{redacted:,} not known: values are redacted"] if redacted else []
    more += [f"{unknown:,} of unknown tools"] if unknown else []
    unreadable = report["unreadable"]["count"]
    more += [f"{unreadable:,} unreadable places"] if unreadable else []
    calls = "1 call" if report["calls"] == 1 else f"{report['calls']:,} calls"
    return f"{calls}: {', '.join([*parts, *more])}"


# --- plots ---------------------------------------------------------------------------------------


class _Bar(NamedTuple):
    """A bar of a plot.

    Attributes:
        name: the name of the bar, as text.
        numbers: the numbers of its parts, by their kind.
    """

    name: str
    numbers: Mapping[str, int]


def _of_tools(tools: Mapping[str, Any]) -> list[_Bar]:
    """Return a bar for each tool, those with the most calls first."""
    ranked = sorted(tools.items(), key=lambda item: (-item[1]["calls"], item[0]))
    return [_Bar(name, {kind: each[kind] for kind in _KINDS}) for name, each in ranked]


def _by_code(tools: Mapping[str, Any]) -> Counter[str]:
    codes: Counter[str] = Counter()
    for each in tools.values():
        for fault in each["faults"]:
            codes[fault["code"]] += fault["calls"]
    return codes


def _legend() -> str:
    boxes = [
        f'<rect class="{kind}" x="{place * 150}" y="4" width="14" height="14"/>'
        f'<text x="{place * 150 + 20}" y="16">{words}</text>'
        for place, (kind, words) in enumerate(_KINDS.items())
    ]
    return f'<svg viewBox="0 0 {_WIDTH} 24" aria-hidden="true">{"".join(boxes)}</svg>'


def _plot(bars: Sequence[_Bar], label: str) -> str:
    """Return a plot of bars below each other, and the number of bars that are left out."""
    drawn, left_out = bars[:_MOST_BARS], len(bars) - _MOST_BARS
    most = max(
        [1, *[sum(bar.numbers.values()) for bar in drawn]]
    )  # of a call without secrets nothing is known
    rows = [_bar_row(bar, place * (_BAR + _GAP), most) for place, bar in enumerate(drawn)]
    height = len(drawn) * (_BAR + _GAP)
    box = f'viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{shown(label)}"'
    more = f"<p>{left_out:,} more have fewer.</p>" if left_out > 0 else ""
    return f"<svg {box}>{''.join(rows)}</svg>{more}"


def _bar_row(bar: _Bar, top: int, most: int) -> str:
    """Return a bar with its name and numbers; the lengths of its parts are relative to the longest bar."""
    space, left, parts = _WIDTH - _LEFT - _RIGHT, float(_LEFT), list[str]()
    for kind, number in bar.numbers.items():
        width = space * number / most
        if number:
            parts.append(
                f'<rect class="{kind}" x="{left:.1f}" y="{top}" width="{width:.1f}" height="{_BAR}"/>'
            )
        left += width
    numbers = " / ".join([f"{number:,}" for number in bar.numbers.values()])
    base = top + _BAR - 5
    name = f'<text x="{_LEFT - 8}" y="{base}" text-anchor="end">{shown(clip(bar.name, _LABEL_LENGTH))}</text>'
    return f'{name}{"".join(parts)}<text x="{left + 8:.1f}" y="{base}">{numbers}</text>'


# --- tables --------------------------------------------------------------------------------------


def by_example(faults: Iterable[tuple[str, Mapping[str, Any]]]) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """Group faults that share their example, so that a report shows it once.

    Args:
        faults: faults of a report, each with the name of its tool.
    """
    alike: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for name, fault in faults:
        alike.setdefault((name, fault["arguments"], fault["text"]), []).append(fault)
    return [(name, found) for (name, _, _), found in alike.items()]


def _faults(tools: Mapping[str, Any]) -> list[str]:
    """Return the faults of calls, with an example and the text that the model would read."""
    found = [(name, fault) for name, each in tools.items() for fault in each["faults"]]
    found.sort(key=lambda item: (-item[1]["calls"], item[0], item[1]["path"], item[1]["code"]))
    if not found:
        return []
    rows = [
        (
            shown(clip(name, _NAME_LENGTH)),
            "".join([f"<p>{_fault_line(fault)}</p>" for fault in alike]),
            code(clip(alike[0]["arguments"], _TEXT_LENGTH)),
            code(clip(alike[0]["text"], _TEXT_LENGTH)),
        )
        for name, alike in by_example(found[:_MOST_ROWS])
    ]
    titles = ("tool", "what is wrong", "an example", "what the model would read")
    more = (
        f"<p>{len(found) - _MOST_ROWS:,} more are in the JSON report.</p>" if len(found) > _MOST_ROWS else ""
    )
    return [section("Examples", table(titles, rows), more)]


def _fault_line(fault: Mapping[str, Any]) -> str:
    calls = "1 call" if fault["calls"] == 1 else f"{fault['calls']:,} calls"
    place = clip(fault["path"], _NAME_LENGTH) or "arguments"
    return shown(f"{place}: {fault['code'].replace('_', ' ')} in {calls}")


def _counts(report: Mapping[str, Any], tools: Mapping[str, Any]) -> list[str]:
    """Return the tables of repairs, ignored keys, unknown tools and unreadable places that aren't empty."""
    repairs = [
        ((name, kind.replace("_", " ")), number)
        for name, each in tools.items()
        for kind, number in each["repairs"].items()
    ]
    ignored = [
        ((name, key), number) for name, each in tools.items() for key, number in each["ignored"].items()
    ]
    unknown = [((name,), number) for name, number in report["unknown"].items()]
    places = [[shown(clip(place, _TEXT_LENGTH))] for place in report["unreadable"]["first"][:_MOST_ROWS]]
    unreadable = [section("Unreadable", table(("place and reason",), places))] if places else []
    return [
        *_ranked("Repairs", ("tool", "kind"), repairs),
        *_ranked("Ignored keys", ("tool", "key"), ignored),
        *_ranked("Unknown tools", ("name",), unknown),
        *unreadable,
    ]


def _ranked(title: str, columns: tuple[str, ...], counts: Sequence[tuple[tuple[str, ...], int]]) -> list[str]:
    """Return a table of counts, the highest first; empty if there are none."""
    if not counts:
        return []
    highest = sorted(counts, key=lambda item: (-item[1], item[0]))[:_MOST_ROWS]
    rows = [
        [*[shown(clip(text, _NAME_LENGTH)) for text in texts], f"{number:,}"] for texts, number in highest
    ]
    return [section(title, table((*columns, "number"), rows, frozenset({"number"})))]
