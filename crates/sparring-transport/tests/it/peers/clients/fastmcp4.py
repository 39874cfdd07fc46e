"""FastMCP's client over HTTP: talks to the URL in its arguments and prints what it
heard as JSON. The first argument is how to connect: `legacy`, `auto` or
`2026-07-28`."""

import json
import sys

import anyio
from fastmcp import Client
from fastmcp.exceptions import McpError


async def answer(message, response_type, params, context):
    return {"name": "Fast"}


async def code_of(request):
    try:
        return (await request).content[0].text
    except McpError as error:
        return error.error.code


async def main(mode, url):
    steps = []

    async def step(progress, total, message):
        steps.append(progress)

    def call(tool, **arguments):
        return client.call_tool_mcp(tool, arguments, progress_handler=step)

    client = Client(url, mode=mode, elicitation_handler=answer, timeout=20)
    async with client:
        note = (await client.read_resource("desk://note"))[0]
        heard = {
            "tools": [tool.name for tool in await client.list_tools()],
            "resources": [str(it.uri) for it in await client.list_resources()],
            "prompts": [prompt.name for prompt in await client.list_prompts()],
            "note": {"uri": str(note.uri), "text": note.text},
            "prompt": (await client.get_prompt("greet")).messages[0].content.text,
            "echo": (await call("echo", message="a\n😀")).content[0].text,
            "add": (await call("add", a=2, b=3)).content[0].text,
            "failed": (await call("add", a="two")).is_error,
            "counted": (await call("progress")).content[0].text,
            "ask": await code_of(call("ask")),
            "missing": await code_of(call("fly")),
        }
    heard["progress"] = steps
    print(json.dumps(heard))


anyio.run(main, *sys.argv[1:])
