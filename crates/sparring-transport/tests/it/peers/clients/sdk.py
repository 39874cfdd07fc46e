"""The official Python SDK's client: talks to the command in its arguments, or to
the URL, and prints what it heard as JSON. The first argument is how to connect:
`legacy`, `auto` or `2026-07-28`."""

import json
import sys

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.shared.exceptions import MCPError
from mcp.types import ElicitResult


async def answer(context, params):
    return ElicitResult(action="accept", content={"name": "Guido"})


async def code_of(request):
    try:
        return (await request).content[0].text
    except MCPError as error:
        return error.error.code


def reach(command, *args):
    if command.endswith("/sse"):
        return sse_client(command)
    if command.startswith("http://"):
        return command
    return StdioServerParameters(command=command, args=list(args))


async def main(mode, command, *args):
    steps = []

    async def step(progress, total, message):
        steps.append(progress)

    def call(tool, **arguments):
        return client.call_tool(tool, arguments, progress_callback=step)

    client = Client(
        reach(command, *args),
        mode=mode,
        elicitation_callback=answer,
        read_timeout_seconds=20,
    )
    async with client:
        note = (await client.read_resource("desk://note")).contents[0]
        heard = {
            "version": client.protocol_version,
            "tools": [tool.name for tool in (await client.list_tools()).tools],
            "resources": [str(it.uri) for it in (await client.list_resources()).resources],
            "prompts": [prompt.name for prompt in (await client.list_prompts()).prompts],
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
