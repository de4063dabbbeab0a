"""The official Python SDK, version 2."""

from contextlib import asynccontextmanager

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from every_tool import Outcome, is_url, main
from mcp_answers import fill_in, roots, sample


class Session:
    answers = True

    def __init__(self, client):
        self.client = client

    async def list(self):
        return (await self.client.list_tools()).tools

    async def call(self, name, arguments):
        result = await self.client.call_tool(name, arguments)
        return Outcome(bool(result.is_error), bool(result.content), result.structured_content)


@asynccontextmanager
async def connect(target, mode):
    server = target[0]
    if not is_url(target):
        server = StdioServerParameters(command=target[0], args=target[1:])
    client = Client(
        server,
        mode=mode,
        elicitation_callback=fill_in,
        sampling_callback=sample,
        list_roots_callback=roots,
    )
    async with client:
        yield Session(client)


main(connect)
