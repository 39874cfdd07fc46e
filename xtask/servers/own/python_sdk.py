"""A small server made with the official Python SDK, in its second version."""

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

server = MCPServer("notes", version="1.0.0")
READ_ONLY = ToolAnnotations(read_only_hint=True)


@server.tool(annotations=READ_ONLY)
def add(a: int, b: int) -> int:
    """Adds two integers."""
    return a + b


@server.tool(annotations=READ_ONLY)
def find(text: str, limit: int = 10) -> list[str]:
    """Finds notes that contain a text."""
    return [note for note in ["water the plants", "buy milk"] if text in note][:limit]


@server.tool(annotations=READ_ONLY)
def fail() -> str:
    """Always fails."""
    raise ToolError("it failed")


@server.tool(annotations=READ_ONLY)
async def count(steps: int, context: Context) -> str:
    """Reports progress for each step."""
    for step in range(min(max(steps, 0), 5)):
        await context.report_progress(step + 1, 5)
    return "done"


@server.resource("notes://today")
def today() -> str:
    """The note of today."""
    return "water the plants"


@server.resource("notes://day/{day}")
def day(day: str) -> str:
    """The note of a day."""
    return f"nothing on {day}"


@server.prompt()
def greet(tone: str) -> str:
    """Says hello."""
    return f"Say hello in a {tone} tone."


if __name__ == "__main__":
    server.run()
