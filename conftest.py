"""Run every Python example in README and docs."""

from __future__ import annotations

import sys
from doctest import ELLIPSIS
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, settings
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

from operator_schema.introspect import leaves

if TYPE_CHECKING:
    from collections.abc import Iterator

# They need frameworks that `make test-frameworks` installs, and have settings of their own.
collect_ignore = ["tests/frameworks"]

_EXPLAINED: list[str] = []
"""The profile of Hypothesis outside of a page."""


def _begin(_: dict[str, object]) -> None:
    """Explain no failure of a page: it shows what is found, and an explanation takes hundreds of examples."""
    _EXPLAINED.append(settings.get_current_profile_name())
    settings.register_profile("pages", phases=[phase for phase in Phase if phase is not Phase.explain])
    settings.load_profile("pages")


def _end(_: dict[str, object]) -> None:
    settings.load_profile(_EXPLAINED.pop())


# A block without prompts defines names for the sessions after it.
pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(doctest_optionflags=ELLIPSIS)],
    patterns=["*.md"],
    setup=_begin,
    teardown=_end,
    # WebAssembly starts no threads, and has no wheels of msgspec, pyarrow and pydantic-core.
    excludes=[
        "CHANGELOG.md",
        "docs/mcp-beyond-tools.md",  # as the next one
        "docs/mcp.md",  # it needs mcp: tests/adapters/mcp/test_mcp_server.py runs it
        "docs/frameworks.md",  # the tests of adapters run its examples, where the frameworks are
        *(
            [
                "docs/approvals.md",
                "docs/bulk.md",
                "docs/code-mode.md",
                "docs/durable.md",
                "docs/embedding.md",
                "docs/executing.md",
                "docs/failures.md",
                "docs/faq.md",
                "docs/code-tools.md",
                "docs/coming-from.md",
                "docs/mcp-gateway.md",
                "docs/opentelemetry.md",
                "docs/other-libraries.md",
                "docs/probe.md",
                "docs/provider-round-trips.md",
                "docs/providers.md",
                "docs/repair.md",
                "docs/results.md",
                "docs/rounds.md",
                "docs/scripts.md",
                "docs/start.md",
                "docs/stores.md",
                "docs/testing.md",
                "docs/tool-search.md",
                "docs/toolsets.md",
            ]
            if sys.platform == "emscripten"
            else []
        ),
    ],
).pytest()


@pytest.hookimpl(optionalhook=True)  # of xdist, which isn't everywhere
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a file in one process: the examples of a page share their names."""
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import LoadFileScheduling  # noqa: PLC0415  # as above

    return LoadFileScheduling(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip README where its examples can't run."""
    if sys.platform != "emscripten":
        return
    for item in items:
        # It can't be excluded, as pytest is told to collect it.
        if item.path.name == "README.md":
            item.add_marker(pytest.mark.skip(reason="WebAssembly starts no threads"))


@pytest.fixture(autouse=True)
def _own_registry() -> Iterator[None]:
    """Let no test see the leaves that another one registered."""
    before, generation = leaves._registered, leaves._generation  # noqa: SLF001  # there is no public way back
    yield
    if leaves._generation != generation:  # noqa: SLF001  # as above, there is no public way
        leaves._registered = before  # noqa: SLF001  # there is no public way back
        leaves._generation += 1  # noqa: SLF001  # what was cached meanwhile is not found again
