"""Repair: what it reads, and what it never touches."""

from __future__ import annotations
