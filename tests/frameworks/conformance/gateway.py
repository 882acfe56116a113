"""Our gateway over HTTP in front of our server over standard input and output: `gateway.py PORT`."""

import sys
from pathlib import Path

import anyio
import uvicorn
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from operator_schema import Registry
from operator_schema.adapters.mcp import server
from operator_schema.adapters.mcp_client import tools_from

BEHIND = StdioServerParameters(
    command=sys.executable,
    args=["-m", "operator_schema", "serve", "our_server:registry"],
    cwd=Path(__file__).parent,
    env={"PYTHONPATH": str(Path(__file__).parents[3])},
)


async def main(port: int) -> None:
    """Serve until the end of the process."""
    async with stdio_client(BEHIND) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        gateway = server(Registry(await tools_from(session, repair=True)))
        settings = uvicorn.Config(gateway.streamable_http_app(), port=port, log_level="warning")
        await uvicorn.Server(settings).serve()


if __name__ == "__main__":
    anyio.run(main, int(sys.argv[1]))
