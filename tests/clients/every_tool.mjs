// Code of every JavaScript client here: lists the tools of an MCP server, calls each, and prints the counts and the structured
// contents as JSON.
//
// A script for one client ends with `await main(connect)`, where `connect(target, mode)` returns `list()`,
// `call(name, args)`, `close()` and `answers`: whether the client answers elicitation, sampling and roots requests. With
// `startsEachCall`, the client starts the server again for each call. The script's command line is that of the Python
// scripts: with_CLIENT.mjs MODE CALLS TARGET…
//
// A browser loads this file too, so Node's modules are imported where they are needed.

// These tools return an error for every call.
const FAIL = new Set(["test_error_handling"]);

// These return an error where an earlier call was answered by another process, which keeps its own state.
const NEED_STATE = new Set(["delete_note"]);

// These may have no content in their result.
const EMPTY = new Set(["find_notes"]);

export const isUrl = (target) => target[0].startsWith("http://");

export const client = { name: "every-tool", version: "1.0.0" };

export const capabilities = { elicitation: {}, sampling: {}, roots: {} };

function value(schema) {
  if ("default" in schema) return schema.default;
  if ("enum" in schema) return schema.enum[0];
  if ("oneOf" in schema) return schema.oneOf[0].const;
  return { boolean: true, integer: 1, number: 1.5, array: [] }[schema.type] ?? "Ada";
}

// The answers to elicitation, sampling and roots requests.
export const fillIn = (request) => {
  const properties = Object.entries(request.params.requestedSchema.properties);
  return { action: "accept", content: Object.fromEntries(properties.map(([name, schema]) => [name, value(schema)])) };
};
export const sample = () => ({ role: "assistant", content: { type: "text", text: "Paris" }, model: "test" });
export const roots = () => ({ roots: [{ uri: "file:///work", name: "work" }] });

function check(holds, message) {
  if (!holds) throw new Error(message);
}

// Lists and calls every tool of a session.
export async function callEveryTool(session, argumentsOf) {
  const tools = await session.list();
  check(tools.length > 0, "tools/list is empty");
  const structured = {};
  let called = 0;
  for (const tool of tools) {
    if (!session.answers && tool._meta?.["mcp-servlet/asks"]) continue;
    if (session.cannotCall?.(tool)) continue;
    const result = await session.call(tool.name, argumentsOf[tool.name] ?? {});
    const shown = `${tool.name}: ${JSON.stringify(result)}`;
    const needsState = session.startsEachCall === true && NEED_STATE.has(tool.name);
    const fails = FAIL.has(tool.name) || needsState;
    check((result.isError ?? false) === fails, shown);
    check(result.content.length > 0 || EMPTY.has(tool.name), shown);
    structured[tool.name] = result.structuredContent ?? null;
    called += 1;
  }
  return { listed: tools.length, called, structured };
}

export async function main(connect) {
  const { readFileSync } = await import("node:fs");
  const [mode, calls, ...target] = process.argv.slice(2);
  const session = await connect(target, mode);
  console.log(JSON.stringify(await callEveryTool(session, JSON.parse(readFileSync(calls, "utf8")))));
  await session.close();
}
