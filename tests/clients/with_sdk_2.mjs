// The official TypeScript SDK, version 2.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { capabilities, client as info, fillIn, isUrl, main, roots, sample } from "./every_tool.mjs";

await main(async (target, mode) => {
  const [command, ...args] = target;
  const transport = isUrl(target)
    ? new StreamableHTTPClientTransport(new URL(target[0]))
    : new StdioClientTransport({ command, args });
  const versionNegotiation = { mode: mode === "legacy" ? mode : { pin: mode } };
  const client = new Client(info, { capabilities, versionNegotiation });
  client.setRequestHandler("elicitation/create", fillIn);
  client.setRequestHandler("sampling/createMessage", sample);
  client.setRequestHandler("roots/list", roots);
  await client.connect(transport);
  return {
    answers: true,
    list: async () => (await client.listTools()).tools,
    call: (name, args) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  };
});
