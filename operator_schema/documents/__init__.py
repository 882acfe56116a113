"""JSON Schema documents that others wrote: read into the node graph, and decoded by it."""
