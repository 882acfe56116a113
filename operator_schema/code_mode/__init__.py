"""Code mode: a model writes a program that calls the tools. Each name is loaded when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .declarations import Stubs as Stubs
    from .declarations import stubs as stubs
    from .declarations import stubs_of as stubs_of
    from .journal import Journal as Journal
    from .monty import Monty as Monty
    from .process_sandbox import ProcessSandbox as ProcessSandbox
    from .program_runs import ProgramRun as ProgramRun
    from .program_runs import WaitingCall as WaitingCall
    from .replay import ReplayError as ReplayError
    from .sandbox import CallAnswer as CallAnswer
    from .sandbox import Ended as Ended
    from .sandbox import Limits as Limits
    from .sandbox import Program as Program
    from .sandbox import Request as Request
    from .sandbox import Sandbox as Sandbox
    from .session import CodeSession as CodeSession
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            ".declarations": "Stubs stubs stubs_of",
            ".journal": "Journal",
            ".monty": "Monty",
            ".process_sandbox": "ProcessSandbox",
            ".program_runs": "ProgramRun WaitingCall",
            ".replay": "ReplayError",
            ".sandbox": "CallAnswer Ended Limits Program Request Sandbox",
            ".session": "CodeSession",
        },
    )
