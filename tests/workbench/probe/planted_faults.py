"""Which findings tell of which planted fault, and how many are found?"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple

from operator_schema.workbench.probe import ProbeReport, probe

SERVER = Path(__file__).with_name("faulty_server.py")


class Planted(NamedTuple):
    """Findings of which each tells of a fault.

    Attributes:
        tool: that has the fault; None for any.
        codes: of findings.
    """

    tool: str | None
    codes: frozenset[str]


def _of(tool: str | None, *codes: str) -> Planted:
    return Planted(tool, frozenset(codes))


EXPECTED = {
    "edge_refused": _of("scale_size", "valid_refused"),
    "optional_required": _of("greet_guest", "valid_refused"),
    "null_refused": _of("show_remark", "valid_refused"),
    "unicode_refused": _of("reverse_text", "valid_refused"),
    "long_refused": _of("measure_text", "valid_refused"),
    "type_coerced": _of("double_number", "invalid_accepted"),
    "unknown_key_accepted": _of("rectangle_area", "invalid_accepted"),
    "case_ignored": _of("mix_paint", "invalid_accepted"),
    "range_ignored": _of("preview_volume", "invalid_accepted"),
    "unflagged_error": _of("name_planet", "unflagged_error"),
    "internal_error": _of("join_words", "internal_error"),
    "unnamed_parameter": _of("split_line", "unnamed_parameter"),
    "missing_key": _of("range_of", "wrong_result"),
    "number_as_text": _of("count_letters", "wrong_result"),
    "no_structured_result": _of("unit_of", "no_structured_result"),
    "prints": _of("capitals_of", "channel_noise"),
    "crash": _of("find_word", "crash"),
    "hang": _of("fibonacci_number", "hang"),
    "closes_after_error": _of("divide_numbers", "crash"),
    "refused_changes": _of("create_item", "changed_by_refused"),
    "read_only_lie": _of("show_page", "read_only_changed"),
    "idempotent_lie": _of("set_label", "not_idempotent"),
    "huge_answer": _of("repeat_character", "large_answer"),
    "mixed_answers": _of("echo_message", "mixed_answers"),
    "stuck_after_cancel": _of(None, "stuck_after_cancel"),
    "second_delete": _of("delete_item", "crash"),
    "bad_name": _of("server version!", "bad_name"),
    "invalid_schema": _of("color_names", "unchecked", "schema"),
    "required_absent": _of("moons_of_mars", "invalid_accepted"),
}
"""Name of a fault of `faulty_server.py` to what tells of it."""


def probed(*options: str, seconds: float = 60, calls: int = 6, seed: int = 0) -> ProbeReport:
    """Probe the server with some faults."""
    command = [sys.executable, "-S", str(SERVER), *options]
    return probe(command, allow_all=True, seconds=seconds, calls=calls, timeout=2, seed=seed)


def found_in(report: ProbeReport, names: list[str]) -> set[str]:
    """Return which of some faults a report tells of."""
    told = {(each.finding.tool, each.finding.code) for each in report.found}
    return {name for name in names if _is_told(EXPECTED[name], told)}


def _is_told(planted: Planted, told: set[tuple[str | None, str]]) -> bool:
    return any(code in planted.codes and planted.tool in (None, tool) for tool, code in told)


def unexplained(report: ProbeReport, names: list[str]) -> list[str]:
    """Return the findings that tell of none of some faults, one line each."""
    return [
        f"{each.finding.tool} {each.finding.code}: {each.finding.message}"
        for each in report.found
        if not any(_is_told(EXPECTED[name], {(each.finding.tool, each.finding.code)}) for name in names)
    ]


def judged(words: list[str], faults: list[str], seed: int, seconds: float) -> bool:
    """Probe the server, and print a line; return whether the faults are found and nothing else, in time."""
    before = os.times()
    report = probed(*words, seed=seed, seconds=seconds)
    own, own_before = os.times()[:4], before[:4]
    probe_time, server_time = [sum(own[at : at + 2]) - sum(own_before[at : at + 2]) for at in (0, 2)]
    missed = [each for each in faults if each not in found_in(report, faults)]
    wrong = unexplained(report, faults)
    name = words[-1] if words else f"no fault, seed {seed}"
    print(
        f"{name:22} {len(faults) - len(missed)} of {len(faults)} found,",
        f"{report.calls:5} calls, {probe_time:.1f} s of processor, {server_time:.1f} s of the server",
        *(missed and [f"MISSED {missed}"]),
        *(wrong and [f"WRONG {wrong}"]),
        *([] if report.is_complete else ["NOT COMPLETE"]),
        flush=True,
    )
    return report.is_complete and not missed and not wrong


def main() -> int:
    """Probe with all faults, with each alone, and ten times with none; return the exit status."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    names = list(EXPECTED)
    alone = [judged(["--fault", name], [name], 0, seconds) for name in names]
    clean = [judged([], [], seed, seconds) for seed in range(10)]
    results = [judged(["--all"], names, 0, seconds), *alone, *clean]
    print(f"{sum(results)} of {len(results)} probes found all faults and nothing else, and were complete")
    return int(not all(results))


if __name__ == "__main__":
    sys.exit(main())
