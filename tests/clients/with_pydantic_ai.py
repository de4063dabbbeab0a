"""Pydantic AI's toolset for MCP servers."""

from contextlib import asynccontextmanager

from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import ToolError
from pydantic_ai.mcp import MCPToolset

from every_tool import Outcome, is_url, main


class Session:
    answers = False

    def __init__(self, toolset):
        self.toolset = toolset

    async def list(self):
        return await self.toolset.list_tools()

    async def call(self, name, arguments):
        try:
            result = await self.toolset.direct_call_tool(name, arguments)
        except ToolError:
            return Outcome(True, True)
        return Outcome(False, result not in (None, []))


@asynccontextmanager
async def connect(target, mode):
    server = target[0] if is_url(target) else StdioTransport(command=target[0], args=target[1:])
    async with MCPToolset(server, tool_error_behavior="error") as toolset:
        yield Session(toolset)


main(connect)
