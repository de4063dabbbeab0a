// The official TypeScript SDK, version 2, in a page of a headless Chromium: requests of another origin, by CORS.
//
//     with_browser.mjs MODE CALLS URL
//
// The page is served on a free port of 127.0.0.1; the server at URL allows origins of this machine by default.

import assert from "node:assert";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";

import { build } from "esbuild";
import { chromium } from "playwright-core";

const [mode, calls, url] = process.argv.slice(2);
const browsers = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = process.env.CHROMIUM ?? browsers.find(existsSync);
assert(executablePath, "Chromium is not installed; install it, or set CHROMIUM to its path");

const bundle = await build({
  entryPoints: [new URL("page.mjs", import.meta.url).pathname],
  bundle: true,
  write: false,
  format: "esm",
  platform: "browser",
  external: ["node:*"],
});
const page = createServer((request, response) => {
  const isScript = request.url === "/page.js";
  response.setHeader("Content-Type", isScript ? "text/javascript" : "text/html");
  response.end(isScript ? bundle.outputFiles[0].text : "<!doctype html><script type=module src=page.js></script>");
});
await new Promise((listening) => page.listen(0, "127.0.0.1", listening));

// The last two keep Chromium from talking to the network for itself.
const args = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"];
const browser = await chromium.launch({ executablePath, args });
try {
  const tab = await browser.newPage();
  tab.on("pageerror", (error) => console.error(error));
  await tab.goto(`http://127.0.0.1:${page.address().port}/`);
  await tab.waitForFunction("globalThis.run");
  const argumentsOf = JSON.parse(readFileSync(calls, "utf8"));
  const counts = await tab.evaluate((given) => globalThis.run(...given), [url, mode, argumentsOf]);
  console.log(JSON.stringify(counts));
} finally {
  await browser.close();
  page.close();
}
