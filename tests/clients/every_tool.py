"""What every Python client here does: list the tools of an MCP server, call each, and print how many, and what they return, as JSON.

A script for one client implements `Session` and ends with `main(connect)`, where `connect(target, mode)` gives a session as
an async context manager. Its command line:

    with_CLIENT.py MODE CALLS TARGET…

MODE is `legacy` or a protocol version. CALLS is a JSON file with arguments by tool name; tools that are not in it are called
without any. TARGET is a URL, or a command whose standard input and output speak MCP.
"""

import asyncio
import json
import sys
from typing import NamedTuple, Protocol

# These tools return an error for every call.
FAIL = {"test_error_handling"}

# These may have no content in their result.
EMPTY = {"find_notes"}


class Outcome(NamedTuple):
    is_error: bool
    has_content: bool
    # The structured content, if the client shows it.
    structured: dict | None = None


class Session(Protocol):
    # Whether this client answers elicitation, sampling and roots requests.
    answers: bool

    async def list(self) -> list:
        """All tools, each with `name` and `meta`."""

    async def call(self, name: str, arguments: dict) -> Outcome:
        """Calls one tool; raises for anything that is not a tool result."""


def is_url(target):
    return target[0].startswith("http://")


def value(schema):
    """A value that a property of an elicitation form accepts."""
    if "default" in schema:
        return schema["default"]
    if "enum" in schema:
        return schema["enum"][0]
    if "oneOf" in schema:
        return schema["oneOf"][0]["const"]
    return {"boolean": True, "integer": 1, "number": 1.5, "array": []}.get(schema["type"], "Ada")


def form(schema):
    """Content that an elicitation form accepts."""
    return {name: value(property) for name, property in schema["properties"].items()}


async def call_every_tool(connect, mode, calls, target):
    with open(calls) as file:
        arguments = json.load(file)
    structured = {}
    called = 0
    async with connect(target, mode) as session:
        tools = await session.list()
        assert tools, "tools/list is empty"
        for tool in tools:
            meta = getattr(tool, "meta", None) or {}
            if meta.get("mcp-servlet/asks") and not session.answers:
                continue
            outcome = await session.call(tool.name, arguments.get(tool.name, {}))
            assert outcome.is_error == (tool.name in FAIL), f"{tool.name}: {outcome}"
            assert outcome.has_content or tool.name in EMPTY, f"{tool.name}: {outcome}"
            structured[tool.name] = outcome.structured
            called += 1
    print(json.dumps({"listed": len(tools), "called": called, "structured": structured}))


def main(connect):
    mode, calls, *target = sys.argv[1:]
    asyncio.run(call_every_tool(connect, mode, calls, target))
