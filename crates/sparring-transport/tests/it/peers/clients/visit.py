"""What a client does on our server, whichever SDK it is made with."""

import os

# What stands before the names of tools and prompts, where many servers are one.
PREFIX = os.environ.get("SPAR_PREFIX", "")


def inside(answer, name):
    """What a list or a resource has in it; FastMCP gives just that."""
    return getattr(answer, name, answer)


async def visit(client, call, refused):
    """Gives what the client heard. `call` takes a tool, its arguments and who is to
    hear of progress; an error of the server is raised as `refused`."""
    steps = []

    async def step(progress, total, message):
        steps.append(progress)

    async def text_of(tool, **arguments):
        return (await call(PREFIX + tool, arguments, step)).content[0].text

    async def text_or_code_of(tool):
        try:
            return await text_of(tool)
        except refused as error:
            return error.error.code

    note = inside(await client.read_resource("desk://note"), "contents")[0]
    tools = inside(await client.list_tools(), "tools")
    resources = inside(await client.list_resources(), "resources")
    prompts = inside(await client.list_prompts(), "prompts")
    return {
        "tools": [tool.name for tool in tools],
        "resources": [str(resource.uri) for resource in resources],
        "prompts": [prompt.name for prompt in prompts],
        "note": {"uri": str(note.uri), "text": note.text},
        "prompt": (await client.get_prompt(PREFIX + "greet")).messages[0].content.text,
        "echo": await text_of("echo", message="a\n😀"),
        "add": await text_of("add", a=2, b=3),
        "failed": (await call(PREFIX + "add", {"a": "two"}, step)).is_error,
        "counted": await text_of("progress"),
        "ask": await text_or_code_of("ask"),
        "missing": await text_or_code_of("fly"),
        "progress": steps,
    }
