// mcporter, as a library.

import { createRuntime } from "mcporter";

import { isUrl, main } from "./every_tool.mjs";

await main(async (target) => {
  const command = isUrl(target)
    ? { kind: "http", url: new URL(target[0]) }
    : { kind: "stdio", command: target[0], args: target.slice(1), cwd: process.cwd() };
  const runtime = await createRuntime({ servers: [{ name: "servlets", command }] });
  return {
    answers: false,
    list: async () => (await (await runtime.connect("servlets")).client.listTools()).tools,
    call: (name, args) => runtime.callTool("servlets", name, { args }),
    close: () => runtime.close(),
  };
});
