"""How much longer a bound in seconds is where Python is slow."""

import sys

# WebAssembly is slower, and knows only the time of the machine, not that of the process.
PATIENCE = 5 if sys.platform == "emscripten" else 1
