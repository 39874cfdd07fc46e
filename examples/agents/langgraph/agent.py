"""An agent of LangGraph with langchain-mcp-adapters, with the servers of an `mcpServers` file.

It speaks the API in its argument, `responses` or `chat_completions`; the variables
OPENAI_BASE_URL and OPENAI_API_KEY are those of the package `openai`.
"""

import asyncio
import json
import os
import sys

from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_openai import ChatOpenAI


def connection(server):
    if "url" in server:
        return {"transport": "streamable_http", "url": server["url"]}
    return {"transport": "stdio", "command": server["command"], "args": server["args"]}


async def main():
    with open(os.environ["MCP_CONFIG"]) as file:
        servers = json.load(file)["mcpServers"]
    client = MultiServerMCPClient({name: connection(server) for name, server in servers.items()})
    model = ChatOpenAI(model="gpt-5", use_responses_api=sys.argv[1] == "responses")
    agent = create_agent(model, await client.get_tools())
    state = await agent.ainvoke({"messages": [("user", sys.stdin.read())]})
    print(state["messages"][-1].text)


asyncio.run(main())
