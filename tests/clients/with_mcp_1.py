"""The official Python SDK, version 1."""

from contextlib import asynccontextmanager

from mcp import ClientSession
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from every_tool import Outcome, is_url, main
from mcp_answers import fill_in, roots, sample


class Session:
    answers = True

    def __init__(self, session):
        self.session = session

    async def list(self):
        return (await self.session.list_tools()).tools

    async def call(self, name, arguments):
        result = await self.session.call_tool(name, arguments)
        return Outcome(result.isError, bool(result.content), result.structuredContent)


@asynccontextmanager
async def connect(target, mode):
    assert mode == "legacy", "this SDK has no later protocol version"
    if is_url(target) and target[0].endswith("/sse"):
        streams = sse_client(target[0])
    elif is_url(target):
        streams = streamable_http_client(target[0])
    else:
        streams = stdio_client(StdioServerParameters(command=target[0], args=target[1:]))
    async with streams as (read, write, *_):
        session = ClientSession(
            read,
            write,
            elicitation_callback=fill_in,
            sampling_callback=sample,
            list_roots_callback=roots,
        )
        async with session:
            await session.initialize()
            yield Session(session)


main(connect)
