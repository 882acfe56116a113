"""The compiled tier: generated Python code without loops over the graph, for one type each."""
