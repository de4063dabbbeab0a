"""What the Python clients here do that log in: call a tool, and one that needs another scope, are denied others, and print the counts as
JSON.

A script for one client ends with `main(connect)`, where `connect(url, mode, browser)` gives an object with an async `call` and an async
`names` as an async context manager. Its command line:

    login_CLIENT.py MODE URL

MODE is `legacy` or a protocol version.
"""

import asyncio
import json
import sys
from http.client import HTTPConnection
from urllib.parse import parse_qs, urlsplit

REDIRECT = "http://127.0.0.1:9/callback"

# The second tool needs the scope `pay`, which the first login does not have.
CALLS = [("add", {"a": 1, "b": 2}), ("divide", {"dividend": 6, "divisor": 2})]

# Rules deny a tool, which then does not exist, and calls of another one with some arguments.
HIDDEN = ("gcd", {"a": 1, "b": 2})
DENIED = ("divide", {"dividend": 6, "divisor": 12})


class Storage:
    def __init__(self):
        self.tokens = self.client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


class Browser:
    """Opens the page of an issuer that redirects at once, and keeps the parameters of the redirect."""

    def __init__(self):
        self.logins = 0
        self.answer = {}

    async def open(self, url):
        parts = urlsplit(url)
        connection = HTTPConnection(parts.netloc)
        connection.request("GET", f"{parts.path}?{parts.query}")
        response = connection.getresponse()
        location = response.getheader("location")
        assert location, f"{response.status} {response.read()}"
        assert location.startswith(REDIRECT), location
        self.answer = {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}
        self.logins += 1


async def call_with_logins(connect, mode, url):
    browser = Browser()
    called = 0
    async with connect(url, mode, browser) as session:
        for name, arguments in CALLS:
            result = await session.call(name, arguments)
            assert not result, f"{name}: {result}"
            called += 1
        denied = await count_denied(session)
    print(json.dumps({"called": called, "denied": denied, "logins": browser.logins}))


async def count_denied(session):
    """How many of these the server refuses as it should: the list of tools, and the texts of both calls."""
    names = await session.names()
    assert HIDDEN[0] not in names, names
    try:
        hidden = await session.call(*HIDDEN)
    except Exception as error:
        hidden = error
    assert "unknown tool `gcd`" in str(hidden), hidden
    denied = await session.call(*DENIED)
    assert "Not allowed: divide with divisor = 12" in str(denied), denied
    return 3


def main(connect):
    asyncio.run(call_with_logins(connect, *sys.argv[1:]))
