// The Inspector's command line, once for the list and once for each tool.

import { spawnSync } from "node:child_process";

import { isUrl, main } from "./every_tool.mjs";

const inspector = new URL("node_modules/.bin/mcp-inspector", import.meta.url).pathname;

// The exit code of the Inspector after a result with `isError`.
const IS_ERROR = 5;

await main(async (target, mode) => {
  const era = mode === "legacy" ? "legacy" : "modern";
  const ask = (...more) => {
    const transport = target[0].endsWith("/sse") ? "sse" : "http";
    const server = isUrl(target) ? [target[0], "--transport", transport] : target;
    const options = ["--protocol-era", era, "--format", "json", "-q", "--method", ...more];
    const run = spawnSync(process.execPath, [inspector, "--cli", ...server, ...options], { encoding: "utf8" });
    if (run.status !== 0 && run.status !== IS_ERROR) throw new Error(run.stderr);
    return JSON.parse(run.stdout).result;
  };
  return {
    answers: false,
    startsEachCall: !isUrl(target),
    list: async () => ask("tools/list").tools,
    call: async (name, args) => ask("tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(args)),
    close: async () => {},
  };
});
