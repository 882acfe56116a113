"""The ways in which an executor runs one call: each takes the executor, the call and the options."""

from __future__ import annotations

import asyncio


def by_run(executor, call, **options):
    return asyncio.run(executor.run(call, **options))


def by_run_sync(executor, call, **options):
    return executor.run_sync(call, **options)


def by_run_sync_in_a_loop(executor, call, **options):
    async def inside():
        return executor.run_sync(call, **options)

    return asyncio.run(inside())


def by_list(executor, call, **options):
    return asyncio.run(executor.run([call], **options))[0]


def by_list_sync(executor, call, **options):
    return executor.run_sync([call], **options)[0]


def by_stream(executor, call, **options):
    async def first():
        async with executor.stream([call], **options) as results:
            return await anext(results)

    return asyncio.run(first())


ALONE = [by_run, by_run_sync, by_run_sync_in_a_loop, by_list, by_list_sync, by_stream]
