"""Tools by name: which of them a model may call."""
