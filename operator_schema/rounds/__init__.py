"""One turn of tool calls: make the offer, decide about the calls, run them, and commit them as a whole.

Adapters, providers, code tools and the workbench use only the names that this room exports. Each module
is loaded when one of its names is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from ..tools.changes import ArgumentChange as ArgumentChange
    from ..tools.changes import ChangedArguments as ChangedArguments
    from ..tools.decision_records import DecisionRecord as DecisionRecord
    from .call_texts import call_text as call_text
    from .claims import Claims as Claims
    from .databases import Database as Database
    from .databases import SqliteDatabase as SqliteDatabase
    from .databases import Statements as Statements
    from .databases import Tables as Tables
    from .errors import CommitError as CommitError
    from .errors import OfferError as OfferError
    from .errors import RoundError as RoundError
    from .errors import StoreError as StoreError
    from .errors import StoreErrorCode as StoreErrorCode
    from .hook_decisions import CONFIRM as CONFIRM
    from .hook_decisions import Complete as Complete
    from .hook_decisions import Decision as Decision
    from .hook_decisions import Defer as Defer
    from .hook_decisions import Reject as Reject
    from .hook_decisions import RunAgain as RunAgain
    from .hook_decisions import RunNormally as RunNormally
    from .hooks import Hooks as Hooks
    from .hooks import hook as hook
    from .leases import Owner as Owner
    from .listed_rounds import StoreCounts as StoreCounts
    from .listed_rounds import StuckRound as StuckRound
    from .listed_rounds import WaitingRound as WaitingRound
    from .named_tools import ToolEntry as ToolEntry
    from .offer import Offer as Offer
    from .offer import ToolChoice as ToolChoice
    from .questions import answer_codec as answer_codec
    from .questions import answer_schema as answer_schema
    from .registry import Registry as Registry
    from .registry import RegistryChange as RegistryChange
    from .restore import MAYBE_SIGNED as MAYBE_SIGNED
    from .restore import RestoreError as RestoreError
    from .round import ON_COMMIT as ON_COMMIT
    from .round import HookError as HookError
    from .round import InterruptedRoundError as InterruptedRoundError
    from .round import Round as Round
    from .store_contents import stored_records as stored_records
    from .stored_rounds import StoredCall as StoredCall
    from .stored_rounds import StoredRound as StoredRound
    from .stored_transcripts import StoredTranscript as StoredTranscript
    from .stores import SqliteStore as SqliteStore
    from .stores import Store as Store
    from .threads import in_thread as in_thread
    from .tool_call import FAILURES as FAILURES
    from .tool_call import INTERRUPTED as INTERRUPTED
    from .tool_call import Question as Question
    from .tool_call import ToolCall as ToolCall
    from .tool_call import rejection_reason as rejection_reason
    from .tool_search import FoundTools as FoundTools
    from .tool_search import ToolSearch as ToolSearch
    from .toolset import Toolset as Toolset
    from .transcript import Transcript as Transcript
    from .transcript import Turn as Turn
    from .transcript import role_fault as role_fault
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "..tools.changes": "ArgumentChange ChangedArguments",
            "..tools.decision_records": "DecisionRecord",
            ".claims": "Claims",
            ".databases": "Database SqliteDatabase Statements Tables",
            ".leases": "Owner",
            ".stores": "SqliteStore Store",
            ".store_contents": "stored_records",
            ".stored_transcripts": "StoredTranscript",
            ".listed_rounds": "StoreCounts StuckRound WaitingRound",
            ".stored_rounds": "StoredCall StoredRound",
            ".errors": "CommitError OfferError RoundError StoreError StoreErrorCode",
            ".hook_decisions": "CONFIRM Complete Decision Defer Reject RunAgain RunNormally",
            ".hooks": "Hooks hook",
            ".offer": "Offer ToolChoice",
            ".call_texts": "call_text",
            ".named_tools": "ToolEntry",
            ".questions": "answer_codec answer_schema",
            ".registry": "Registry RegistryChange",
            ".restore": "MAYBE_SIGNED RestoreError",
            ".round": "ON_COMMIT HookError InterruptedRoundError Round",
            ".threads": "in_thread",
            ".tool_call": "FAILURES INTERRUPTED Question ToolCall rejection_reason",
            ".tool_search": "FoundTools ToolSearch",
            ".toolset": "Toolset",
            ".transcript": "Transcript Turn role_fault",
        },
    )
