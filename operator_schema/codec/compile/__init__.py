"""The compiled tier: straight-line Python for one type."""
