"""A registry used by many threads."""

from __future__ import annotations

import threading

import pytest
from registry_samples import names, read_file, web_search

from operator_schema import Registry
from operator_schema.errors import DuplicateToolError


@pytest.mark.needs_threads
def test_threads_may_change_and_read_it():
    registry = Registry([web_search])
    failures = []

    def work(number):
        try:
            for turn in range(50):
                own = read_file.with_(name=f"read_{number}_{turn}")
                registry.register(own)
                registry.switch(own.name, enabled=turn % 2 == 0)
                found = [definition["name"] for definition in registry.definitions()]
                assert "web_search" in found
                assert (own.name in found) == (turn % 2 == 0)
                if turn % 5:
                    registry.unregister(own.name)
        except BaseException as error:  # noqa: BLE001  # shown by the test
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(registry) == 1 + 8 * 10
    assert sorted(names(registry)) == sorted({*names(registry)})


@pytest.mark.needs_threads
def test_one_of_many_threads_gets_the_name():
    for _ in range(20):
        registry = Registry()
        taken = []
        barrier = threading.Barrier(8)

        def register(registry=registry, taken=taken, barrier=barrier):
            barrier.wait()
            try:
                registry.register(web_search)
            except DuplicateToolError:
                taken.append(1)

        threads = [threading.Thread(target=register) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(taken) == 7
        assert len(registry) == 1
