"""The compiled tier: Python code generated for one type each, which doesn't walk the graph."""
