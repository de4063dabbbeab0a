// A login with the official TypeScript SDK, version 2.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { client as info, main } from "./login.mjs";

await main((url, mode, authProvider) => {
  const transport = new StreamableHTTPClientTransport(url, { authProvider });
  const versionNegotiation = { mode: mode === "legacy" ? mode : { pin: mode } };
  return { client: new Client(info, { versionNegotiation }), transport };
});
