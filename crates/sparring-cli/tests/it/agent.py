"""An agent on the official Python SDK: reaches the only server of the `mcpServers`
file in its first argument, gives its stdin to `get_data` until that fails, and
prints what it got, a line each."""

import json
import sys

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client


def reach(server):
    match server["type"]:
        case "stdio":
            return StdioServerParameters(command=server["command"], args=server["args"])
        case "sse":
            return sse_client(server["url"])
        case _:
            return server["url"]


async def main(config):
    with open(config) as file:
        [server] = json.load(file)["mcpServers"].values()
    task = sys.stdin.read()
    async with Client(reach(server), mode="legacy", read_timeout_seconds=20) as client:
        while True:
            result = await client.call_tool("get_data", {"task_description": task})
            if result.is_error:
                return
            for block in result.content:
                print(block.type, getattr(block, "text", ""), getattr(block, "mime_type", ""))


anyio.run(main, *sys.argv[1:])
