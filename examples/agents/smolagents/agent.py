"""An agent of smolagents, with the servers of an `mcpServers` file.

The variables OPENAI_BASE_URL and OPENAI_API_KEY are those of the package `openai`.
"""

import json
import os
import sys

from mcp import StdioServerParameters
from smolagents import MCPClient, OpenAIModel, ToolCallingAgent


def parameters(server):
    if "url" in server:
        return {"url": server["url"], "transport": "streamable-http"}
    return StdioServerParameters(command=server["command"], args=server["args"])


with open(os.environ["MCP_CONFIG"]) as file:
    servers = json.load(file)["mcpServers"].values()
model = OpenAIModel(model_id="gpt-5", api_base=os.environ["OPENAI_BASE_URL"])
with MCPClient([parameters(server) for server in servers], structured_output=False) as tools:
    agent = ToolCallingAgent(tools=tools, model=model, max_steps=4, verbosity_level=0)
    print(agent.run(sys.stdin.read()))
