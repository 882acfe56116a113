"""Probe three servers with planted faults; print what is found, what is missed, and what is a false alarm.

It knows of the probe only what docs/probe.md promises, and runs it as a command. Faults of different tools of
a server are on at the same time, if neither stops the server nor disturbs the answers of other tools; with
`--each` every fault is on alone. Then each server is probed without a fault, with ten seeds. The exit status
is 1 if fewer than 37 of 40 faults are found, or if there is a false alarm.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

from planted import FAULTS, VALID, Fault, groups  # noqa: E402  # the folder is put on the path first

LEAST_FOUND = 37
SERVER_WIDE = ("crash", "hang", "channel_noise", "stuck_after_cancel", "unknown_tool_accepted")
"""Codes of findings that any tool may show, if the fault is one of the whole server."""


class Run(NamedTuple):
    """One probe of a server: the findings, and whether all planned calls were made."""

    findings: list[dict[str, Any]]
    complete: bool
    failure: str = ""


def say(line: str) -> None:
    print(line, flush=True)  # noqa: T201  # it tells what it found


def probed(server: str, faults: list[Fault], seed: int, options: argparse.Namespace) -> Run:
    """Probe a server with faults."""
    names = ",".join(each.name for each in faults)
    command = [
        *(sys.executable, "-m", "operator_schema", "probe", "--allow-all", "--json"),
        *("--seconds", str(options.seconds), "--timeout", str(options.timeout), "--seed", str(seed)),
        *("--env", f"FAULT={names}", f"mcp:{sys.executable} {FOLDER / server}_server.py"),
    ]
    longest = 2 * options.seconds + 10 * options.timeout
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=longest)
        report = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return Run([], complete=False, failure=f"the probe didn't end within {longest:.0f} seconds")
    except ValueError:
        return Run([], complete=False, failure=f"exit status {done.returncode}: {done.stderr[-300:].strip()}")
    return Run(report["findings"], report["complete"])


def is_of(finding: dict[str, Any], fault: Fault) -> bool:
    """Return whether a finding is a right answer to a fault."""
    if finding["code"] not in fault.codes:
        return False
    if "*" in fault.tools or (fault.alone and finding["code"] in SERVER_WIDE):
        return True
    called = {each["tool"] for each in finding.get("calls", ())}
    return bool({finding["tool"]} & {*fault.tools} if finding.get("tool") else called & {*fault.tools})


def in_words(finding: dict[str, Any]) -> str:
    calls = " ; ".join(
        f"{each['tool']} {json.dumps(each['arguments'])[:150]}" for each in finding.get("calls", ())
    )
    return f"{finding.get('tool')}: {finding['code']}: {finding['message'][:150]} [{calls}]"


def report_false(run: Run, faults: list[Fault], where: str) -> int:
    """Print the findings that belong to no fault; return their number."""
    false = [each for each in run.findings if not any(is_of(each, fault) for fault in faults)]
    for finding in false:
        say(f"  FALSE ALARM {where}: {in_words(finding)}")
    return len(false)


def judge_group(group: list[Fault], options: argparse.Namespace) -> tuple[int, int]:
    """Probe a server with a group of faults; return how many are found, and the false alarms."""
    run = probed(group[0].server, group, options.seed, options)
    number = 0
    for fault in group:
        codes = sorted({each["code"] for each in run.findings if is_of(each, fault)})
        number += bool(codes)
        missed = "MISSED" + ("" if run.complete else " (its time was over)") + f" {run.failure}".rstrip()
        say(f"{fault.server:8} {fault.name:22} {', '.join(codes) or missed}")
    return number, report_false(run, group, "+".join(each.name for each in group))


def judge_clean(server: str, seed: int, options: argparse.Namespace) -> int:
    """Probe a server without a fault; return the number of false alarms."""
    run = probed(server, [], seed, options)
    state = run.failure or ("all calls made" if run.complete else "its time was over")
    say(f"{server:8} seed {seed:<17} {len(run.findings)} findings, {state}")
    return report_false(run, [], f"seed {seed}") + bool(run.failure)


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", action="append", choices=sorted(VALID), help="only this server")
    parser.add_argument("--fault", action="append", metavar="NAME", help="only this fault")
    parser.add_argument("--each", action="store_true", help="one fault at a time")
    parser.add_argument("--seeds", type=int, default=10, help="probes of each server without a fault")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the probes with faults")
    parser.add_argument("--seconds", type=float, default=60, help="the time of a probe")
    parser.add_argument("--timeout", type=float, default=5, help="the time of a call")
    return parser.parse_args(arguments)


def main() -> int:
    options = options_of()
    servers = options.server or list(VALID)
    chosen = [each for each in FAULTS if each.server in servers]
    if options.fault:
        chosen = [each for each in chosen if each.name in options.fault]
    found = false = 0
    for group in [[each] for each in chosen] if options.each else groups(tuple(chosen)):
        of_group = judge_group(group, options)
        found, false = found + of_group[0], false + of_group[1]
    for server in servers:
        false += sum(judge_clean(server, seed, options) for seed in range(options.seeds))
    least = math.ceil(len(chosen) * LEAST_FOUND / len(FAULTS))
    say(f"{found} of {len(chosen)} faults found, {false} false alarms")
    return int(found < least or false > 0)


if __name__ == "__main__":
    sys.exit(main())
