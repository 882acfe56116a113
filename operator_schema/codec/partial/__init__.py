"""Arguments that are still being received."""
