"""Which findings tell of which planted fault, and how many are found?"""

from __future__ import annotations

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


def main() -> int:
    """Probe with all faults, with each alone, and ten times with none; print a table, return the status."""
    names = list(EXPECTED)
    together = found_in(probed("--all"), names)
    alone, more = set(), {}
    for name in names:
        report = probed("--fault", name)
        alone |= found_in(report, [name])
        more[name] = unexplained(report, [name])
        print(
            f"{name:22} alone {name in alone!s:5} with all {name in together!s:5} {more[name] or ''}",
            flush=True,
        )
    clean = [unexplained(probed(seed=seed), []) for seed in range(10)]
    wrong = [line for lines in [*more.values(), *clean] for line in lines]
    counts = f"with all {len(together)} of {len(names)}, alone {len(alone)} of {len(names)}"
    print(f"{counts}, findings that are wrong: {len(wrong)}")
    print(*wrong, sep="\n")
    return bool(wrong) or min(len(alone), len(together)) < LEAST


LEAST = 27
"""Faults of the 29 that have to be found: the same part as 23 of 25."""

if __name__ == "__main__":
    sys.exit(main())
