// The official TypeScript SDK, version 1.

import assert from "node:assert";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

import { capabilities, client as info, fillIn, isUrl, main, roots, sample } from "./every_tool.mjs";

await main(async (target, mode) => {
  assert.equal(mode, "legacy", "this SDK has no later protocol version");
  const [command, ...args] = target;
  const transport = isUrl(target)
    ? new StreamableHTTPClientTransport(new URL(target[0]))
    : new StdioClientTransport({ command, args });
  const client = new Client(info, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, fillIn);
  client.setRequestHandler(CreateMessageRequestSchema, sample);
  client.setRequestHandler(ListRootsRequestSchema, roots);
  await client.connect(transport);
  return {
    answers: true,
    list: async () => (await client.listTools()).tools,
    call: (name, args) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  };
});
