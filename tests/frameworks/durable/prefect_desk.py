"""A flow of Prefect; when it runs again, tasks that ended give what they gave before."""

import asyncio
import sys

from desk import YES, asked, executor
from prefect import flow, task
from prefect.cache_policies import INPUTS

from operator_schema.adapters.durable import run_round, waiting_calls


@task(persist_result=True, cache_policy=INPUTS)
async def ask_model(order: str) -> str:
    return asked(order)


@task(persist_result=True, cache_policy=INPUTS)
async def run(saved: str, decisions: list) -> str:
    return await run_round(executor, saved, decisions)


@flow
async def turn(order: str, decisions: list) -> str:
    saved = await run(await ask_model(order), [])
    return await run(saved, decisions) if decisions else saved


saved = asyncio.run(turn("A7", [YES] if sys.argv[1] == "decide" else []))
sys.stdout.write(" ".join(f"{call['id']}: {call['reason']}" for call in waiting_calls(saved)) or "done")
