"""Functions and dataclasses that a model can call."""
