"""Our gateway over HTTP in front of our server over standard input and output: `gateway.py PORT`."""

import sys
from pathlib import Path

import anyio
import uvicorn
from mcp import StdioServerParameters

from operator_schema.adapters.mcp.gateway import Gateway

BEHIND = StdioServerParameters(
    command=sys.executable,
    args=["our_server.py"],
    cwd=Path(__file__).parent,
    env={"PYTHONPATH": str(Path(__file__).parents[3])},
)


async def main(port: int) -> None:
    """Serve until the end of the process."""
    async with Gateway(BEHIND, repair=True) as gateway:
        settings = uvicorn.Config(gateway.server().streamable_http_app(), port=port, log_level="warning")
        await uvicorn.Server(settings).serve()


if __name__ == "__main__":
    anyio.run(main, int(sys.argv[1]))
