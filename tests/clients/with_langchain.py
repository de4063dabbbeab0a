"""LangChain's adapters for MCP servers."""

from contextlib import asynccontextmanager
from types import SimpleNamespace

from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools

from every_tool import Outcome, is_url, main


class Session:
    answers = False

    def __init__(self, tools):
        self.tools = {tool.name: tool for tool in tools}

    async def list(self):
        def meta(tool):
            return (tool.metadata or {}).get("_meta")

        return [SimpleNamespace(name=name, meta=meta(tool)) for name, tool in self.tools.items()]

    async def call(self, name, arguments):
        call = {"type": "tool_call", "id": name, "name": name, "args": arguments}
        try:
            message = await self.tools[name].ainvoke(call)
        except NotImplementedError:
            # The adapters have no content block for audio.
            return Outcome(False, True)
        return Outcome(message.status == "error", bool(message.content))


@asynccontextmanager
async def connect(target, mode):
    if is_url(target):
        connection = {"transport": "streamable_http", "url": target[0]}
    else:
        connection = {"transport": "stdio", "command": target[0], "args": target[1:]}
    client = MultiServerMCPClient({"servlets": connection})
    async with client.session("servlets") as session:
        yield Session(await load_mcp_tools(session))


main(connect)
