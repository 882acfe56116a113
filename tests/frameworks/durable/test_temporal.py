"""A workflow of Temporal that uses rounds can be loaded in its sandbox; its server isn't a package."""

from __future__ import annotations

import asyncio

from temporalio import activity, workflow
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from operator_schema.adapters.durable import waiting_calls


@activity.defn
async def run(saved: str, decisions: list) -> str:
    from desk import executor

    from operator_schema.adapters.durable import run_round

    return await run_round(executor, saved, decisions)


@workflow.defn(sandboxed=True)
class Turn:
    """A turn: what runs is in activities, and the workflow reads only which calls wait."""

    @workflow.run
    async def run(self, saved: str) -> list:
        return waiting_calls(saved)


def test_a_workflow_with_a_round_is_loaded_in_the_sandbox():
    async def main():
        SandboxedWorkflowRunner().prepare_workflow(workflow._Definition.must_from_class(Turn))

    asyncio.run(main())
