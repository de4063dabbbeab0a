"""A login with the official Python SDK, version 1."""

from contextlib import asynccontextmanager

import httpx
from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

from login import REDIRECT, Storage, main


class Session:
    def __init__(self, session):
        self.session = session

    async def call(self, name, arguments):
        """The result if it is an error."""
        result = await self.session.call_tool(name, arguments)
        return result if result.isError else None

    async def names(self):
        return [tool.name for tool in (await self.session.list_tools()).tools]


@asynccontextmanager
async def connect(url, mode, browser):
    assert mode == "legacy", "this SDK has no later protocol version"

    async def answer():
        return browser.answer["code"], browser.answer["state"]

    metadata = OAuthClientMetadata(client_name="test", redirect_uris=[REDIRECT])
    provider = OAuthClientProvider(url, metadata, Storage(), browser.open, answer)
    async with httpx.AsyncClient(auth=provider) as http:
        async with streamable_http_client(url, http_client=http) as (read, write, _):
            async with ClientSession(read, write) as session:
                await session.initialize()
                yield Session(session)


main(connect)
