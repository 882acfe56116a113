"""Draw results as SVG: bars of time on a logarithmic scale, curves of growth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl

from .contestants import OURS
from .questions import QUESTIONS
from .report import amount

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

mpl.use("svg")
mpl.rcParams |= {"svg.hashsalt": "operator_schema", "svg.fonttype": "none", "font.size": 9}

import matplotlib.pyplot as plt  # noqa: E402  # the back end is chosen first

OWN_COLOUR, OTHER_COLOUR = "#c2410c", "#94a3b8"
WIDTH, ROW_HEIGHT, HEAD_HEIGHT = 8.0, 0.26, 0.75


def draw_all(document: dict[str, Any], folder: Path) -> dict[str, str]:
    """Draw every question into a folder.

    Returns:
        The name of each question's file.
    """
    files = {}
    for name, cases in document["results"].items():
        draw = _curves if name == "growth" else _bars
        figure = draw(cases, QUESTIONS[name].UNIT)
        figure.suptitle(f"{QUESTIONS[name].TITLE}, {document['machine']['python']}")
        files[name] = f"{name}.svg"
        figure.savefig(folder / files[name], metadata={"Date": None})
        plt.close(figure)
    return files


def _bars(cases: dict[str, Any], unit: str) -> Any:
    rows = [sum("median" in entry for entry in case.values()) for case in cases.values()]
    figure, axes = plt.subplots(
        len(cases),
        1,
        squeeze=False,
        layout="constrained",
        height_ratios=[max(1, count) for count in rows],
        figsize=(WIDTH, HEAD_HEIGHT * (len(cases) + 1) + ROW_HEIGHT * sum(rows)),
    )
    for axis, (title, case) in zip(axes.flat, cases.items(), strict=True):
        _bar_chart(axis, title, case, unit)
    return figure


def _bar_chart(axis: Axes, title: str, case: dict[str, Any], unit: str) -> None:
    able = {name: entry for name, entry in case.items() if "median" in entry}
    able = dict(sorted(able.items(), key=lambda item: -item[1]["median"]))
    medians = [entry["median"] for entry in able.values()]
    errors = [
        [entry["median"] - entry["low"] for entry in able.values()],
        [entry["high"] - entry["median"] for entry in able.values()],
    ]
    colours = [OWN_COLOUR if name.startswith(OURS) else OTHER_COLOUR for name in able]
    drawn = axis.barh(list(able), medians, xerr=errors, color=colours, ecolor="#475569")
    axis.bar_label(drawn, [amount(median, unit) for median in medians], padding=4)
    axis.set_title(title, loc="left", fontsize=9)
    if unit != "bytes":
        axis.set_xscale("log")
    axis.margins(x=0.15)
    axis.xaxis.set_major_formatter(lambda value, _: amount(value, unit))
    axis.xaxis.set_minor_formatter("")  # they would lie over each other
    axis.spines[["top", "right"]].set_visible(False)


def _curves(cases: dict[str, Any], _: str) -> Any:
    figure, axes = plt.subplots(2, 2, layout="constrained", figsize=(WIDTH, WIDTH * 0.75))
    for axis, (title, case) in zip(axes.flat, cases.items(), strict=False):
        for name, entry in case.items():
            if "curve" in entry:
                axis.loglog(*zip(*entry["curve"], strict=True), marker="o", label=name)
        axis.set_title(title, loc="left", fontsize=9)
        axis.yaxis.set_major_formatter(lambda value, _: amount(value, "s"))
        axis.legend()
    return figure
