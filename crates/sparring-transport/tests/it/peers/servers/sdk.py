"""A server over stdio or HTTP made with the official Python SDK, for our client to meet."""

import sys
from typing import Annotated

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel

server = MCPServer("desk", version="2.0")


class Person(BaseModel):
    name: str


async def who() -> Elicit[Person]:
    return Elicit("Who are you?", Person)


@server.tool()
def add(a: int, b: int) -> int:
    """Adds a and b."""
    return a + b


@server.tool()
def fail() -> str:
    """Never works."""
    raise ToolError("no luck")


@server.tool()
async def progress(context: Context) -> str:
    """Tells of three steps."""
    for step in (1, 2, 3):
        await context.report_progress(step, 3)
    return "done"


@server.tool()
async def ask(person: Annotated[Person, Resolve(who)]) -> str:
    """Asks for a name, and greets."""
    return f"hello {person.name}"


@server.resource("desk://note")
def note() -> str:
    """What not to forget."""
    return "water the plants"


@server.prompt()
def greet(tone: str) -> str:
    """Says hello."""
    return f"Say hello in a {tone} tone."


if __name__ == "__main__":
    # Over stdio, or: a transport and a port.
    if len(sys.argv) > 1:
        server.run(sys.argv[1], port=int(sys.argv[2]))
    else:
        server.run()
