"""FastMCP's client."""

from contextlib import asynccontextmanager

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from every_tool import Outcome, form, is_url, main


async def fill_in(message, response_type, params, context):
    return form(params.requested_schema)


async def sample(messages, params, context):
    return "Paris"


class Session:
    answers = True

    def __init__(self, client):
        self.client = client

    async def list(self):
        return await self.client.list_tools()

    async def call(self, name, arguments):
        result = await self.client.call_tool(name, arguments, raise_on_error=False)
        return Outcome(result.is_error, bool(result.content))


@asynccontextmanager
async def connect(target, mode):
    server = target[0] if is_url(target) else StdioTransport(command=target[0], args=target[1:])
    client = Client(
        server,
        mode=mode,
        roots=["file:///work"],
        sampling_handler=sample,
        elicitation_handler=fill_in,
    )
    async with client:
        yield Session(client)


main(connect)
