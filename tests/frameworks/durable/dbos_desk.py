"""A program of DBOS: begins a workflow, or goes on with it and decides. Its first word says which."""

import asyncio
import os
import sys

from dbos import DBOS, SetWorkflowID
from desk import YES, asked, executor

from operator_schema.adapters.durable import run_round, waiting_calls

ORDER = os.environ["WORKFLOW"]

DBOS(
    config={
        "name": "desk",
        "system_database_url": os.environ["DATABASE"],
        "application_version": "1",
        "log_level": "ERROR",
    }
)


@DBOS.step()
async def ask_model(order: str) -> str:
    return asked(order)


@DBOS.step()
async def run(saved: str, decisions: list) -> str:
    return await run_round(executor, saved, decisions)


@DBOS.workflow()
async def turn(order: str) -> str:
    saved = await run(await ask_model(order), [])
    while waits := waiting_calls(saved):
        await DBOS.set_event_async("waits", waits)
        decisions = await DBOS.recv_async("decisions")
        saved = await run(saved, decisions)
    return saved


async def main():
    DBOS.launch()
    if sys.argv[1] == "begin":
        with SetWorkflowID(ORDER):
            await DBOS.start_workflow_async(turn, ORDER)
        await DBOS.get_event_async(ORDER, "waits", timeout_seconds=60)
        os._exit(3)  # the process dies while a person decides
    handle = await DBOS.retrieve_workflow_async(ORDER)
    if sys.argv[1] == "decide":
        await DBOS.send_async(ORDER, [YES], "decisions")
        await handle.get_result()
    if sys.argv[1] == "wait":  # for the call that waits again, or for the end
        while not (is_done := (await handle.get_status()).status in {"SUCCESS", "ERROR"}):
            waits = await DBOS.get_event_async(ORDER, "waits", timeout_seconds=60)
            if "interrupted" in waits[0]["reason"]:
                break
            await asyncio.sleep(0.05)
        sys.stdout.write("done" if is_done else "waits")
        sys.stdout.flush()
        os._exit(0)
    DBOS.destroy()


asyncio.run(main())
