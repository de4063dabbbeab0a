// The Inspector's command line, with a key in a header instead of a login.

import { spawnSync } from "node:child_process";

import { CALLS, DENIED, HIDDEN, countDenied } from "./login.mjs";

const inspector = new URL("node_modules/.bin/mcp-inspector", import.meta.url).pathname;

const [mode, url] = process.argv.slice(2);
const era = mode === "legacy" ? "legacy" : "modern";
const ask = (...more) => {
  const server = [url, "--transport", "http", "--header", "Authorization: Bearer key-of-the-inspector"];
  const options = ["--protocol-era", era, "--format", "json", "-q", "--method", ...more];
  return spawnSync(process.execPath, [inspector, "--cli", ...server, ...options], { encoding: "utf8" });
};
const call = ({ name, arguments: args }) =>
  ask("tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(args));
// A result, or the text of an error.
const text = ({ stdout, stderr }) => `${stdout}${stderr}`;

let called = 0;
for (const one of CALLS) {
  const run = call(one);
  if (run.status !== 0) throw new Error(`${one.name}: ${text(run)}`);
  called += 1;
}
const names = JSON.parse(ask("tools/list").stdout).result.tools.map(({ name }) => name);
// The Inspector looks for the tool in the list before it calls it.
const unknown = "Tool 'gcd' not found on server";
const denied = countDenied(names, text(call(HIDDEN)), text(call(DENIED)), unknown);
console.log(JSON.stringify({ called, denied, logins: 0 }));
