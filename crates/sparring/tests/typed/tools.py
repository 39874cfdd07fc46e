"""A server of FastMCP, or of the Python SDK, whose tools have types of every kind."""

import sys
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Literal, Optional

from pydantic import BaseModel, Field

if sys.argv[1:] == ["fastmcp"]:
    from fastmcp import FastMCP as Server
else:
    try:
        from mcp.server.fastmcp import FastMCP as Server
    except ImportError:
        from mcp.server import MCPServer as Server

server = Server("python-tools")


class Unit(str, Enum):
    celsius = "celsius"
    fahrenheit = "fahrenheit"


class Place(BaseModel):
    """Somewhere."""

    name: str
    country: Optional[str] = None


class Tree(BaseModel):
    label: str
    children: list["Tree"] = []


@dataclass
class Weather:
    place: str
    temperature: float
    unit: Unit
    notes: list[str]


@server.tool()
def weather(
    place: Place,
    unit: Unit = Unit.celsius,
    days: Annotated[int, Field(ge=1, le=7, description="How many days.")] = 1,
) -> Weather:
    """The weather of a place.

    Args:
        place: Where.
        unit: How to count.
    """
    temperature = 20.0 if unit is Unit.celsius else 68.0
    notes = [f"{days} days"] + ([place.country] if place.country else [])
    return Weather(place.name, temperature, unit, notes)


@server.tool()
def depth(tree: Tree) -> int:
    """How deep a tree is."""
    return 1 + max([depth_of(child) for child in tree.children], default=0)


def depth_of(tree: Tree) -> int:
    return 1 + max([depth_of(child) for child in tree.children], default=0)


@server.tool()
def count(words: list[str], by: Literal["length", "letter"] = "length") -> dict[str, int]:
    """Counts words."""
    keys = [str(len(word)) if by == "length" else word[0] for word in words]
    return {key: keys.count(key) for key in keys}


@server.tool()
def fail(limit: int | str | None = None) -> list[Place]:
    """Always fails."""
    raise ValueError(f"no place within {limit}")


if __name__ == "__main__":
    server.run()
