"""A workflow of Restate: its server calls it by HTTP, and again where it stopped."""

import restate
from desk import asked, executor

from operator_schema.adapters.durable import run_round, waiting_calls

workflow = restate.Workflow("desk")


async def ask_model(order: str) -> str:
    return asked(order)


async def run(saved: str, decisions: list) -> str:
    return await run_round(executor, saved, decisions)


@workflow.main()
async def turn(ctx: restate.WorkflowContext, order: str) -> str:
    saved = await ctx.run_typed("ask the model", ask_model, order=order)
    saved = await ctx.run_typed("run", run, saved=saved, decisions=[])
    number = 0
    while waits := waiting_calls(saved):
        number += 1
        ctx.set("waits", waits)
        decisions = await ctx.promise(f"decisions {number}", type_hint=list).value()
        saved = await ctx.run_typed("run", run, saved=saved, decisions=decisions)
    ctx.set("waits", [])
    return saved


@workflow.handler()
async def waits(ctx: restate.WorkflowSharedContext) -> list:
    return await ctx.get("waits", type_hint=list) or []


@workflow.handler()
async def decide(ctx: restate.WorkflowSharedContext, decided: dict) -> None:
    await ctx.promise(f"decisions {decided['number']}", type_hint=list).resolve(decided["decisions"])


app = restate.app([workflow])
