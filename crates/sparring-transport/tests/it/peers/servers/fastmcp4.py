"""A server over stdio or HTTP made with FastMCP, for our client to meet."""

import sys

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

server = FastMCP("desk", version="4.0")


@server.tool
def add(a: int, b: int) -> int:
    """Adds a and b."""
    return a + b


@server.tool
def fail() -> str:
    """Never works."""
    raise ToolError("no luck")


@server.tool
async def progress(context: Context) -> str:
    """Tells of three steps."""
    for step in (1, 2, 3):
        await context.report_progress(step, 3)
    return "done"


@server.tool
async def ask(context: Context) -> str:
    """Asks for a name, and greets."""
    answer = await context.elicit("Who are you?", str)
    return f"hello {answer.data}"


@server.tool
async def need(context: Context) -> str | InputRequiredResult:
    """Needs a name as input, since 2026-07-28, and greets."""
    if context.input_responses:
        return f"hello {context.input_responses['name'].content['name']}"
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    params = ElicitRequestFormParams(message="Who are you?", requested_schema=schema)
    return InputRequiredResult(input_requests={"name": ElicitRequest(params=params)})


@server.resource("desk://note")
def note() -> str:
    """What not to forget."""
    return "water the plants"


@server.prompt
def greet(tone: str) -> str:
    """Says hello."""
    return f"Say hello in a {tone} tone."


if __name__ == "__main__":
    # Over stdio, or: a transport and a port.
    if len(sys.argv) > 1:
        server.run(sys.argv[1], port=int(sys.argv[2]), show_banner=False)
    else:
        server.run(show_banner=False)
