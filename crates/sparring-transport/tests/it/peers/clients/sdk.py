"""The official Python SDK's client: talks to the command in its arguments, or to
the URL, and prints what it heard as JSON. The first argument is how to connect:
`legacy`, `auto` or `2026-07-28`."""

import json
import sys

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.shared.exceptions import MCPError
from mcp.types import ElicitResult

from visit import visit


async def answer(context, params):
    return ElicitResult(action="accept", content={"name": "Guido"})


def reach(command, *args):
    if command.endswith("/sse"):
        return sse_client(command)
    if command.startswith("http://"):
        return command
    return StdioServerParameters(command=command, args=list(args))


async def main(mode, command, *args):
    def call(tool, arguments, step):
        return client.call_tool(tool, arguments, progress_callback=step)

    client = Client(
        reach(command, *args),
        mode=mode,
        elicitation_callback=answer,
        read_timeout_seconds=20,
    )
    async with client:
        heard = await visit(client, call, MCPError)
        heard["version"] = client.protocol_version
    print(json.dumps(heard))


anyio.run(main, *sys.argv[1:])
