// What the command packs and signs, read by the libraries of these formats: check_packages.mjs FOLDER REGISTRY REPOSITORY DIGEST
//
// The folder has `needs.mcpb`, `greet.wasm` with `greet.wasm.sigstore.json`, `ada.pub` that has signed it and the image with the
// digest, and `other.pub`.

import assert from "node:assert";
import { createHash, createPublicKey } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { getMcpConfigForManifest, packExtension, unpackExtension, validateManifest } from "@anthropic-ai/mcpb";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { bundleFromJSON } from "@sigstore/bundle";
import { toSignedEntity, toTrustMaterial, Verifier } from "@sigstore/verify";

const [folder, registry, repository, digest] = process.argv.slice(2);
const file = (name) => join(folder, name);

// Unpacks the bundle, validates its manifest, and packs it again.
async function validate() {
  const extensionPath = file("unpacked");
  assert(await unpackExtension({ mcpbPath: file("needs.mcpb"), outputDir: extensionPath, silent: true }), "unpack");
  assert(validateManifest(join(extensionPath, "manifest.json")), "validate");
  assert(await packExtension({ extensionPath, outputPath: file("again.mcpb"), silent: true }), "pack");
  return extensionPath;
}

// Starts the server as Claude Desktop does: the user has made two of the four settings, and has no variable of a shell.
async function launch(extensionPath) {
  const manifest = JSON.parse(readFileSync(join(extensionPath, "manifest.json")));
  mkdirSync(file("data"));
  const start = (userConfig) =>
    getMcpConfigForManifest({ manifest, extensionPath, systemDirs: {}, userConfig, pathSeparator: "/" });
  assert.equal(await start({}), undefined, "the key is required");
  const { command, args, env } = await start({ api_key: "secret", data: file("data") });
  const transport = new StdioClientTransport({ command, args, env: { PATH: "/usr/bin:/bin", HOME: folder, ...env } });
  const client = new Client({ name: "check", version: "1.0.0" });
  await client.connect(transport);
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name), manifest.tools.map((tool) => tool.name));
  const { content } = await client.callTool({ name: "weather", arguments: { city: "Paris" } });
  assert.deepEqual(content, [{ type: "text", text: "Paris, 6 characters, 0, none" }]);
  await client.close();
}

// Throws unless this key has signed. There is no transparency log, and no time.
function verify(bundle, key, bytes) {
  const nothing = { certificateAuthorities: [], timestampAuthorities: [], tlogs: [], ctlogs: [] };
  const publicKey = createPublicKey(readFileSync(file(key)));
  const trusted = toTrustMaterial(nothing, () => ({ publicKey, validFor: () => true }));
  const verifier = new Verifier(trusted, { ctlogThreshold: 0, tlogThreshold: 0, timestampThreshold: 0 });
  verifier.verify(toSignedEntity(bundleFromJSON(bundle), bytes));
}

async function get(path) {
  const accept = "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json";
  const response = await fetch(`https://${registry}/v2/${repository}/${path}`, { headers: { accept } });
  assert.equal(response.status, 200, path);
  return response.json();
}

async function signatures() {
  const wasm = readFileSync(file("greet.wasm"));
  const ofFile = JSON.parse(readFileSync(file("greet.wasm.sigstore.json")));
  verify(ofFile, "ada.pub", wasm);
  assert.throws(() => verify(ofFile, "other.pub", wasm), /signature verification failed/);
  assert.throws(() => verify(ofFile, "ada.pub", Buffer.concat([wasm, wasm])), /signature verification failed/);

  const index = await get(`manifests/${digest.replace(":", "-")}`);
  const manifest = await get(`manifests/${index.manifests[0].digest}`);
  assert.equal(manifest.subject.digest, digest);
  const ofImage = await get(`blobs/${manifest.layers[0].digest}`);
  verify(ofImage, "ada.pub");
  assert.throws(() => verify(ofImage, "other.pub"), /signature verification failed/);
  const statement = JSON.parse(Buffer.from(ofImage.dsseEnvelope.payload, "base64"));
  assert.deepEqual(statement.subject, [{ digest: { sha256: digest.slice("sha256:".length) } }]);
  assert.equal(statement.predicateType, "https://sigstore.dev/cosign/sign/v1");
  const der = createPublicKey(readFileSync(file("ada.pub"))).export({ type: "spki", format: "der" });
  const hint = createHash("sha256").update(der).digest("base64");
  assert.equal(ofImage.verificationMaterial.publicKey.hint, hint);
}

await launch(await validate());
console.log("works: @anthropic-ai/mcpb validates, packs and starts a bundle");
await signatures();
console.log("works: @sigstore/verify verifies the signatures of a file and an image");
