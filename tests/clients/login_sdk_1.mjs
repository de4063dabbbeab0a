// A login with the official TypeScript SDK, version 1.

import assert from "node:assert";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { client as info, main } from "./login.mjs";

await main((url, mode, authProvider) => {
  assert.equal(mode, "legacy", "this SDK has no later protocol version");
  const transport = new StreamableHTTPClientTransport(url, { authProvider });
  const finishAuth = transport.finishAuth.bind(transport);
  transport.finishAuth = (answer) => finishAuth(answer.get("code"));
  return { client: new Client(info), transport };
});
