"""A server with FastMCP: wrapped results, a recursive type, resources, a template and a prompt."""

from __future__ import annotations

from fastmcp import FastMCP
from pydantic import BaseModel

server = FastMCP("fastmcp")


class Tree(BaseModel):
    """A node and its children."""

    label: str
    children: list[Tree] = []


@server.tool
def depth(tree: Tree) -> int:
    """Measures a tree."""
    return 1 + max((depth(child) for child in tree.children), default=0)


@server.tool
def leaf(label: str, times: int = 1) -> Tree:
    """Makes a tree whose children have no children."""
    return Tree(label=label, children=[Tree(label=label)] * times)


@server.resource("trees://oak")
def oak() -> str:
    """An oak."""
    return "oak"


@server.resource("trees://{name}/height")
def height(name: str) -> str:
    """How high a tree grows."""
    return f"{name}: 30 m"


@server.prompt
def describe(name: str, tone: str = "dry") -> str:
    """Asks for a description."""
    return f"Describe the {name} in a {tone} tone."


if __name__ == "__main__":
    server.run(show_banner=False)
