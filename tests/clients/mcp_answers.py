"""Answers to elicitation, sampling and roots requests, for both versions of the official Python SDK."""

import mcp.types as types

from every_tool import form


async def fill_in(context, params):
    # Version 2 writes names of fields as Python does.
    schema = getattr(params, "requested_schema", None) or params.requestedSchema
    return types.ElicitResult(action="accept", content=form(schema))


async def sample(context, params):
    text = types.TextContent(type="text", text="Paris")
    return types.CreateMessageResult(role="assistant", content=text, model="test")


async def roots(context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///work", name="work")])
