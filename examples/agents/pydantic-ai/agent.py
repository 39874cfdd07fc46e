"""An agent of Pydantic AI, with the servers of an `mcpServers` file.

Its argument is a model with its API, such as `openai-responses:gpt-5`; the variables
OPENAI_BASE_URL and OPENAI_API_KEY are those of the package `openai`.
"""

import asyncio
import os
import sys

from pydantic_ai import Agent
from pydantic_ai.mcp import load_mcp_toolsets


async def main():
    agent = Agent(sys.argv[1], toolsets=load_mcp_toolsets(os.environ["MCP_CONFIG"]))
    async with agent:
        result = await agent.run(sys.stdin.read())
    print(result.output)


asyncio.run(main())
