"""The pages name limits of the server and the gateway, and the code has the same."""

from pathlib import Path

import pytest

from operator_schema import Executor
from operator_schema.adapters import mcp_client
from operator_schema.adapters.mcp import (
    forwarding,
    http,
    http_guard,
    http_limits,
    stdio,
    stdio_lines,
    watched_resources,
)
from operator_schema.workbench.cli import serve

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("mcp.md", f"more than {stdio_lines.LONGEST_LINE // 2**20} MiB, an id"),
        ("mcp.md", f"a request of more than {http_guard.LARGEST_BODY // 2**20} MiB | 413"),
        ("mcp.md", f"headers that take more than {http_limits.SECONDS_FOR_HEADERS:g} seconds"),
        ("mcp.md", f"a request that takes more than {http_guard.SECONDS_FOR_BODY:g} |"),
        ("mcp.md", f"sessions over HTTP | {http_limits.MOST_SESSIONS:,} at most"),
        ("mcp.md", f"have been idle for {http_limits.SECONDS_IDLE / 60:g} minutes end"),
        ("mcp.md", f"connections over HTTP | {http.MOST_CONNECTIONS:,} at most"),
        ("mcp.md", f"of which {http_limits.MOST_STREAMS} are streams"),
        ("mcp.md", f"have {stdio.GRACE:g} seconds"),
        ("mcp.md", f"have {http.GRACE} seconds"),
        ("mcp.md", f"text of more than `max_content` characters ({Executor([]).max_content:,})"),
        ("mcp.md", f"at least {serve.SHORTEST_TOKEN} characters"),
        ("mcp-gateway.md", f"an answer or a question {forwarding.MOST_CHARACTERS // 2**20} Mi characters"),
        ("mcp-gateway.md", f"At most {mcp_client.MAX_TOOLS:,} tools, in {mcp_client.MAX_PAGES:,} pages"),
        ("mcp-gateway.md", f"A client can watch {watched_resources.MOST_OF_ONE:,} resources"),
        ("mcp-gateway.md", f"watch {watched_resources.MOST_WATCHED:,} different resources of a server"),
        ("mcp-gateway.md", f"a request of more than {stdio.MOST_TO_OPEN // 2**20} MiB"),
    ],
)
def test_the_page_names_the_limit(page, said):
    assert said in " ".join((DOCS / page).read_text(encoding="utf-8").split())


def test_limits_are_whole():
    for limit in (http_guard.LARGEST_BODY, stdio_lines.LONGEST_LINE, forwarding.MOST_CHARACTERS):
        assert limit % 2**20 == 0
