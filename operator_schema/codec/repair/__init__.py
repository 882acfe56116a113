"""Repair: values that are put right where they can be read in one way only."""
