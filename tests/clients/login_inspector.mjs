// The Inspector's command line, with a key in a header instead of a login.

import { spawnSync } from "node:child_process";

import { CALLS } from "./login.mjs";

const inspector = new URL("node_modules/.bin/mcp-inspector", import.meta.url).pathname;

const [mode, url] = process.argv.slice(2);
const era = mode === "legacy" ? "legacy" : "modern";
let called = 0;
for (const { name, arguments: args } of CALLS) {
  const server = [url, "--transport", "http", "--header", "Authorization: Bearer key-of-the-inspector"];
  const call = ["--method", "tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(args)];
  const options = ["--protocol-era", era, "--format", "json", "-q", ...call];
  const run = spawnSync(process.execPath, [inspector, "--cli", ...server, ...options], { encoding: "utf8" });
  if (run.status !== 0) throw new Error(`${name}: ${run.stderr}${run.stdout}`);
  called += 1;
}
console.log(JSON.stringify({ called, logins: 0 }));
