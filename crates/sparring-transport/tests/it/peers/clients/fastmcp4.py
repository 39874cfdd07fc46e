"""FastMCP's client over HTTP: talks to the URL in its arguments and prints what it
heard as JSON. The first argument is how to connect: `legacy`, `auto` or
`2026-07-28`."""

import json
import sys

import anyio
from fastmcp import Client
from fastmcp.exceptions import McpError

from visit import visit


async def answer(message, response_type, params, context):
    return {"name": "Fast"}


async def main(mode, url):
    def call(tool, arguments, step):
        return client.call_tool_mcp(tool, arguments, progress_handler=step)

    client = Client(url, mode=mode, elicitation_handler=answer, timeout=20)
    async with client:
        heard = await visit(client, call, McpError)
    print(json.dumps(heard))


anyio.run(main, *sys.argv[1:])
