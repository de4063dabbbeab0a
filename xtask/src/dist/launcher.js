#!/usr/bin/env node
// Runs the `servlet` of the package for this platform.
"use strict";

const { spawn } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "servlet.exe" : "servlet";

let program;
try {
  program = require.resolve(`@mcp-servlet/${platform}/${file}`);
} catch {
  console.error(
    `mcp-servlet: the package @mcp-servlet/${platform} is not installed; it is an optional dependency, ` +
      "so install without --omit=optional, if the platform is supported",
  );
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => {
  console.error(`mcp-servlet: cannot run ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code) => process.exit(code ?? 1));
// A terminal sends Ctrl-C to both processes, all others signal this one alone.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
