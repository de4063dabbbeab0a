"""A login with the official Python SDK, version 2."""

from contextlib import asynccontextmanager

import httpx2
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

from login import REDIRECT, Storage, main


class Session:
    def __init__(self, client):
        self.client = client

    async def call(self, name, arguments):
        """The result if it is an error."""
        result = await self.client.call_tool(name, arguments)
        return result if result.is_error else None

    async def names(self):
        return [tool.name for tool in (await self.client.list_tools()).tools]


@asynccontextmanager
async def connect(url, mode, browser):
    async def answer():
        return AuthorizationCodeResult(**browser.answer)

    metadata = OAuthClientMetadata(client_name="test", redirect_uris=[REDIRECT])
    provider = OAuthClientProvider(url, metadata, Storage(), browser.open, answer)
    async with httpx2.AsyncClient(auth=provider) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            yield Session(client)


main(connect)
