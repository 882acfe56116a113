"""Calls of a model, run side by side within their limits."""
