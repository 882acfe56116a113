"""Values that your program injects into a call."""
