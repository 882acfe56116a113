"""Work for the tests of engines, dask and ray too: in a module of its own, since each process imports it."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Order:
    id: int
    item: str


class Square:
    """Squares a number."""

    def __call__(self, number):
        return number * number


class Where:
    """Says which process it is in."""

    def __call__(self, _number):
        return os.getpid()


class DiesOnce:
    """Kills its process at one number, the first time."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, number):
        if number == 5:
            flag = Path(self.folder) / "died"
            if not flag.exists():
                flag.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return number


class DiesAlways:
    """Kills its process at one number."""

    def __call__(self, number):
        if number == 9:
            os.kill(os.getpid(), signal.SIGKILL)
        return number


class Fails:
    """Raises an exception at one number."""

    def __call__(self, number):
        if number == 7:
            raise LookupError(number)
        return number
