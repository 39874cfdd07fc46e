"""Test bodies with FastMCP's client in memory: a line with how many in, the
microseconds that each took out."""

import asyncio
import logging
import sys
import time

from fastmcp import Client, FastMCP

logging.disable(logging.CRITICAL)
server = FastMCP("echo")
calls = int(sys.argv[1])


@server.tool
def echo(message: str) -> str:
    return message


async def body():
    async with Client(server) as client:
        tools = await client.list_tools()
        assert tools[0].name == "echo"
        for _ in range(calls):
            result = await client.call_tool("echo", {"message": "hello"})
            assert result.data == "hello"


async def turn(bodies):
    start = time.perf_counter()
    for _ in range(bodies):
        await body()
    return (time.perf_counter() - start) * 1e6 / bodies


async def main():
    for line in sys.stdin:
        print(await turn(int(line)), flush=True)


asyncio.run(main())
