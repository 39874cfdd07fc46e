"""An agent of OpenAI's Agents SDK, with the servers of an `mcpServers` file.

It speaks the API in its argument, `responses` or `chat_completions`; the variables
OPENAI_BASE_URL and OPENAI_API_KEY are those of the package `openai`.
"""

import asyncio
import json
import os
import sys

from agents import Agent, Runner, set_default_openai_api, set_tracing_disabled
from agents.mcp import MCPServerManager, MCPServerStdio, MCPServerStreamableHttp


def connect(server):
    # With a cached list of tools, the agent survives a crash of the server.
    if "url" in server:
        return MCPServerStreamableHttp(params={"url": server["url"]}, cache_tools_list=True)
    params = {"command": server["command"], "args": server["args"]}
    return MCPServerStdio(params=params, cache_tools_list=True)


async def main():
    set_tracing_disabled(True)
    set_default_openai_api(sys.argv[1])
    with open(os.environ["MCP_CONFIG"]) as file:
        servers = json.load(file)["mcpServers"].values()
    async with MCPServerManager([connect(server) for server in servers]) as manager:
        agent = Agent(name="weather", model="gpt-5", mcp_servers=manager.active_servers)
        result = await Runner.run(agent, sys.stdin.read())
        print(result.final_output)


asyncio.run(main())
