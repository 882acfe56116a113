"""What spans cost a call: none attached, those of the API alone, and those of the SDK, in one run.

    python -m benchmarks.spans

It needs the extra `opentelemetry` and opentelemetry-sdk. Each number is the CPU time of a call, the least of
several rounds in turn, and its ratio to a call without spans.
"""

from __future__ import annotations

from time import process_time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

CALLS = 2_000
ROUNDS = 15


def _executors() -> dict[str, Callable[[], object]]:
    """Return what runs a call in each way, by what it is called in the table."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import NoOpTracer

    from operator_schema import Executor, RawCall, hook, tool
    from operator_schema.adapters.opentelemetry import spans

    @tool(threads=False)
    def add(numbers: list[float]) -> float:
        """Add numbers."""
        return sum(numbers)

    @hook.around()
    def nothing(_: object) -> None:
        return None

    hooks = {
        "without spans": None,
        "a hook that does nothing": nothing,
        "the API alone": spans(NoOpTracer()),
        "the SDK": spans(TracerProvider().get_tracer("benchmark")),
        "the SDK, with arguments": spans(TracerProvider().get_tracer("benchmark"), record_arguments=True),
    }
    call = RawCall("call_1", "add", {"numbers": [1, 2.5]})

    def runs(hook_: object) -> Callable[[], object]:
        executor = Executor([add], hooks=hook_)
        return lambda: executor.run_sync(call)

    return {name: runs(hook_) for name, hook_ in hooks.items()}


def _seconds(run: Callable[[], object]) -> float:
    began = process_time()
    for _ in range(CALLS):
        run()
    return (process_time() - began) / CALLS


def main() -> None:
    """Print the table."""
    ways = _executors()
    least = dict.fromkeys(ways, float("inf"))
    for _ in range(ROUNDS):
        for name, run in ways.items():
            least[name] = min(least[name], _seconds(run))
    base = least["without spans"]
    for name, seconds in least.items():
        print(f"{name:26} {seconds * 1e6:7.1f} µs {seconds / base:6.2f} ×")


if __name__ == "__main__":
    main()
