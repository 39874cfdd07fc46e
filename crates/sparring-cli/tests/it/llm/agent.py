"""An agent of official packages: `openai` or `anthropic` for the model and `mcp` for
the tools. It asks the model what its stdin says, calls the tools of the only server
in the `mcpServers` file that it is given until the model calls none, and prints the
answer."""

import json
import sys

import anyio
from mcp import Client, StdioServerParameters


def reach(config):
    with open(config) as file:
        [server] = json.load(file)["mcpServers"].values()
    if server["type"] == "stdio":
        return StdioServerParameters(command=server["command"], args=server["args"])
    return server["url"]


class OpenAI:
    def __init__(self, url, task, tools):
        from openai import AsyncOpenAI

        self.client = AsyncOpenAI(base_url=url, api_key="none")
        self.messages = [{"role": "user", "content": task}]
        self.tools = [
            {"type": "function", "function": {
                "name": tool.name, "description": tool.description,
                "parameters": tool.input_schema}}
            for tool in tools]

    async def ask(self):
        answer = await self.client.chat.completions.create(
            model="any", messages=self.messages, tools=self.tools)
        message = answer.choices[0].message
        self.messages.append(message.to_dict())
        calls = message.tool_calls or []
        return message.content, [
            (call.id, call.function.name, json.loads(call.function.arguments)) for call in calls]

    def add(self, results):
        for id, text, _ in results:
            self.messages.append({"role": "tool", "tool_call_id": id, "content": text})


class Anthropic:
    def __init__(self, url, task, tools):
        from anthropic import AsyncAnthropic

        self.client = AsyncAnthropic(base_url=url, api_key="none")
        self.messages = [{"role": "user", "content": task}]
        self.tools = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
            for tool in tools]

    async def ask(self):
        async with self.client.messages.stream(
            model="any", max_tokens=1000, messages=self.messages, tools=self.tools
        ) as stream:
            answer = await stream.get_final_message()
        self.messages.append(
            {"role": "assistant", "content": [block.to_dict() for block in answer.content]})
        texts = [block.text for block in answer.content if block.type == "text"]
        calls = [block for block in answer.content if block.type == "tool_use"]
        return "".join(texts), [(call.id, call.name, call.input) for call in calls]

    def add(self, results):
        self.messages.append({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error}
            for id, text, is_error in results]})


async def main(api, url, config):
    task = sys.stdin.read()
    async with Client(reach(config), mode="legacy", read_timeout_seconds=20) as server:
        tools = (await server.list_tools()).tools
        model = {"openai": OpenAI, "anthropic": Anthropic}[api](url, task, tools)
        while True:
            text, calls = await model.ask()
            if not calls:
                return print(text)
            results = []
            for id, name, arguments in calls:
                result = await server.call_tool(name, arguments)
                texts = [block.text for block in result.content if block.type == "text"]
                results.append((id, "".join(texts), bool(result.is_error)))
            model.add(results)


anyio.run(main, *sys.argv[1:])
