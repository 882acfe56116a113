"""How much longer a bound in seconds is where Python is slow."""

import sys
import time

# WebAssembly is slower, and knows only the time of the machine, not that of the process.
PATIENCE = 5 if sys.platform == "emscripten" else 1

cpu_time = getattr(time, "thread_time", time.perf_counter)
"""The time that this thread has taken, where Python knows it."""
