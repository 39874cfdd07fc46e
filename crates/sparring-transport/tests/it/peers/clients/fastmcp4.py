"""FastMCP's client: talks to the command in its arguments, or to the URL, and prints
what it heard as JSON. The first argument is how to connect: `legacy`, `auto` or
`2026-07-28`."""

import json
import sys

import anyio
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import McpError

from visit import visit


async def answer(message, response_type, params, context):
    return {"name": "Fast"}


def reach(command, *args):
    if command.startswith("http://"):
        return command
    return StdioTransport(command=command, args=list(args))


async def main(mode, *target):
    def call(tool, arguments, step):
        return client.call_tool_mcp(tool, arguments, progress_handler=step)

    client = Client(reach(*target), mode=mode, elicitation_handler=answer, timeout=20)
    async with client:
        heard = await visit(client, call, McpError)
    print(json.dumps(heard))


anyio.run(main, *sys.argv[1:])
