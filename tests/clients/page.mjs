// The script of the page: the same as with_sdk_2.mjs, over HTTP.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { callEveryTool, capabilities, client as info, fillIn, roots, sample } from "./every_tool.mjs";

globalThis.run = async (url, mode, argumentsOf) => {
  const versionNegotiation = { mode: mode === "legacy" ? mode : { pin: mode } };
  const client = new Client(info, { capabilities, versionNegotiation });
  client.setRequestHandler("elicitation/create", fillIn);
  client.setRequestHandler("sampling/createMessage", sample);
  client.setRequestHandler("roots/list", roots);
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const session = {
    answers: true,
    // In a browser this SDK does not send arguments as headers, which the later protocol version demands for such tools.
    cannotCall: (tool) => mode !== "legacy" && JSON.stringify(tool.inputSchema).includes('"x-mcp-header"'),
    list: async () => (await client.listTools()).tools,
    call: (name, args) => client.callTool({ name, arguments: args }),
  };
  const counts = await callEveryTool(session, argumentsOf);
  await client.close();
  return counts;
};
