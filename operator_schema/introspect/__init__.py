"""Turns annotations into a graph of nodes, which describes the meaning of a type."""
