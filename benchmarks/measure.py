"""Run contestants side by side: interleaved rounds, the collector as in production, medians and spreads.

Code in this process is measured in processor time. On a busy machine, long turns are interrupted more
often than short ones, so the clock would be unfair to slower contestants.
"""

from __future__ import annotations

import gc
import os
import re
import statistics
import subprocess
import sys
from functools import partial
from pathlib import Path
from time import process_time
from timeit import Timer
from typing import TYPE_CHECKING, Any, NamedTuple

from .contestants import OURS, Cant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rich.progress import Progress

    from .contestants import Contestant

ROOT = Path(__file__).parents[1]


class Plan(NamedTuple):
    """The amount to measure.

    Attributes:
        quick: whether to measure only what the bars need.
        rounds: the number of turns of each contestant.
        seconds: the approximate time of one turn of a hot loop.
        progress: shows the progress.
    """

    quick: bool
    rounds: int
    seconds: float
    progress: Progress


def check(make: Callable[[], Any], is_right: Callable[[Any], bool]) -> Any:
    """Make something and check it, before it is measured.

    Raises:
        Cant: it could not be made, or is wrong.
    """
    try:
        made = make()
    except Cant:
        raise
    except Exception as error:
        message = f"can't: {_gist(error)}"
        raise Cant(message) from error
    try:
        right = is_right(made)
    except Cant:
        raise
    except Exception as error:
        message = f"can't: the result is not comparable ({type(error).__name__})"
        raise Cant(message) from error
    if not right:
        message = "can't: gives another result"
        raise Cant(message)
    return made


def _gist(error: Exception) -> str:
    """Return what went wrong, without paths and without the numbers of fresh modules."""
    first_line = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {re.sub(r' *[(]/[^)]*[)]|fresh_[0-9]+[.]', '', first_line)[:100]}"


def hot(
    function: Callable[..., Any], argument: Any, seconds: float, *, collected: bool = True
) -> Callable[[], float]:
    """Return a sampler of a function that is called again and again with one argument.

    The function inside a partial is called directly, so the partial itself costs nothing. The garbage
    collector runs as in production, unless the question is what it costs.
    """
    keywords: dict[str, Any] = {}
    if isinstance(function, partial) and not function.args:
        function, keywords = function.func, function.keywords
    written = "".join(f", {name}={name}" for name in keywords)
    timer = Timer(
        f"function(argument{written})",
        "gc.enable()" if collected else "pass",  # timeit turns it off
        process_time,
        globals={"function": function, "argument": argument, "gc": gc, **keywords},
    )
    timer.timeit(2)  # some make what they need in the first call, or in the second
    number, taken = 1, timer.timeit(1)
    while taken < seconds / 4:
        number *= 2
        taken = timer.timeit(number)
    number = max(1, round(number * seconds / taken))
    return lambda: timer.timeit(number) / number


def fresh(prepare: Callable[[], Any], job: Callable[[Any], Any], number: int) -> Callable[[], float]:
    """Return a sampler of a job that is done once with each object that `prepare` makes."""

    def sample() -> float:
        prepared = [prepare() for _ in range(number)]
        results = []
        gc.collect()
        started = process_time()
        for each in prepared:
            results.append(job(each))  # noqa: PERF401  # what is made is kept, as in production
        return (process_time() - started) / number

    return sample


def process(code: str, **variables: str) -> Callable[[], float]:
    """Return a sampler that runs code in a new interpreter; the code prints a number.

    Args:
        code: what the interpreter runs.
        variables: environment variables for it.

    Raises:
        Cant: by the sampler, when the process fails.
    """
    # Where byte code is not kept, this package would be compiled every time, and the installed peers not.
    environment = os.environ | variables
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def sample() -> float:
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
        if done.returncode:
            message = f"can't: {done.stderr.strip().splitlines()[-1][:100]}"
            raise Cant(message)
        return float(done.stdout)

    return sample


Entry = dict[str, Any]


def samplers(
    contestants: Iterable[Contestant], make: Callable[[Contestant], Callable[[], float]]
) -> dict[str, Callable[[], float] | Cant]:
    """Make each contestant's sampler, or keep why it has none."""
    made: dict[str, Callable[[], float] | Cant] = {}
    for contestant in contestants:
        try:
            made[contestant.name] = make(contestant)
        except Cant as cant:
            made[contestant.name] = cant
    return made


def race(
    label: str, samplers: Mapping[str, Callable[[], float] | Cant], plan: Plan, rounds: int | None = None
) -> dict[str, Entry]:
    """Let each contestant have its turn in every round, and sum up.

    Args:
        label: what is measured, for the progress bar.
        samplers: a sampler for each contestant, or why there is none.
        plan: how much to measure.
        rounds: in place of the plan's.

    Returns:
        For each contestant what `summary` gives, or `{"cant": reason}`.
    """
    able = {name: sampler for name, sampler in samplers.items() if not isinstance(sampler, Cant)}
    times = interleave(label, able, plan, rounds or plan.rounds)
    return {
        name: {"cant": str(sampler)} if isinstance(sampler, Cant) else summary(times[name], times.get(OURS))
        for name, sampler in samplers.items()
    }


def interleave(
    label: str, samplers: Mapping[str, Callable[[], float]], plan: Plan, rounds: int
) -> dict[str, list[float]]:
    """Take a sample of each in every round, each round beginning with another one.

    Returns:
        The samples by name, those of a round at the same index.
    """
    # No program loads all these libraries: what they hold is kept out of the collector's way.
    gc.collect()
    gc.freeze()
    names = list(samplers)
    times: dict[str, list[float]] = {name: [] for name in names}
    task = plan.progress.add_task(label, total=rounds * len(names))
    for number in range(rounds):
        for turn in range(len(names)):
            name = names[(turn + number) % len(names)]
            gc.collect()
            times[name].append(samplers[name]())
            plan.progress.advance(task)
    plan.progress.remove_task(task)
    return times


def summary(times: Sequence[float], ours: Sequence[float] | None) -> Entry:
    """Return median and quartiles of the times, and of this package's ratio to them, round by round."""
    entry: Entry = spread(times)
    if ours and ours is not times:
        entry["ratio"] = spread([mine / theirs for mine, theirs in zip(ours, times, strict=True)])
    return entry


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return median and quartiles, to four digits."""
    low, median, high = (
        statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [*values] * 3
    )
    return {key: float(f"{each:.4g}") for key, each in (("median", median), ("low", low), ("high", high))}
