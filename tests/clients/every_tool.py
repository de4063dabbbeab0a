"""Lists and calls every tool of an MCP server with the official Python client.

    every_tool.py MODE CALLS TARGET…

MODE is how the client begins: `legacy` or a revision. CALLS is a JSON file of arguments by tool; other tools get none.
TARGET is a URL, or a command to talk to over standard input and output.
"""

import asyncio
import json
import sys

import mcp.types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

# These say no, whatever they are asked.
FAIL = {"test_error_handling"}

# These may find nothing.
EMPTY = {"find_notes"}


def value(schema):
    """Something that fits the schema of an entry in a form."""
    if "default" in schema:
        return schema["default"]
    if "enum" in schema:
        return schema["enum"][0]
    if "oneOf" in schema:
        return schema["oneOf"][0]["const"]
    return {"boolean": True, "integer": 1, "number": 1.5, "array": []}.get(schema["type"], "Ada")


async def fill_in(context, params):
    entries = params.requested_schema["properties"]
    content = {name: value(schema) for name, schema in entries.items()}
    return types.ElicitResult(action="accept", content=content)


async def sample(context, params):
    text = types.TextContent(type="text", text="Paris")
    return types.CreateMessageResult(role="assistant", content=text, model="test")


async def roots(context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///work", name="work")])


async def main(mode, calls, target):
    with open(calls) as file:
        arguments = json.load(file)
    server = target[0]
    if not server.startswith("http://"):
        server = StdioServerParameters(command=target[0], args=target[1:])
    client = Client(
        server,
        mode=mode,
        elicitation_callback=fill_in,
        sampling_callback=sample,
        list_roots_callback=roots,
    )
    async with client:
        tools = (await client.list_tools()).tools
        assert tools, "there are no tools"
        for tool in tools:
            result = await client.call_tool(tool.name, arguments.get(tool.name, {}))
            assert bool(result.is_error) == (tool.name in FAIL), f"{tool.name}: {result}"
            assert result.content or tool.name in EMPTY, f"{tool.name}: {result}"
    print(f"{len(tools)} tools")


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
