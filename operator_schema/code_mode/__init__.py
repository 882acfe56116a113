"""Code mode: a model writes a program that calls the tools. Each name is loaded when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .declarations import Stubs as Stubs
    from .declarations import stubs as stubs
    from .declarations import stubs_of as stubs_of
    from .journal import Journal as Journal
    from .journal import ProgramRun as ProgramRun
    from .journal import WaitingCall as WaitingCall
    from .sandbox import CallAnswer as CallAnswer
    from .sandbox import Ended as Ended
    from .sandbox import Limits as Limits
    from .sandbox import Monty as Monty
    from .sandbox import ProcessSandbox as ProcessSandbox
    from .sandbox import Program as Program
    from .sandbox import Request as Request
    from .sandbox import Sandbox as Sandbox
    from .session import CodeSession as CodeSession
    from .session import ReplayError as ReplayError
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            ".journal": "Journal ProgramRun WaitingCall",
            ".sandbox": "CallAnswer Ended Limits Monty ProcessSandbox Program Request Sandbox",
            ".session": "CodeSession ReplayError",
            ".declarations": "Stubs stubs stubs_of",
        },
    )
