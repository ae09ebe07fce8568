// Lists and calls everything that Memoranda offers, with the official TypeScript SDK.
//
//     npm install @modelcontextprotocol/sdk tsx
//     npx tsx examples/mcp_client.ts                               over stdio
//     npx tsx examples/mcp_client.ts http://127.0.0.1:7337/mcp     over HTTP, with `memoranda serve`
//
// Over HTTP the token is in MEMORANDA_TOKEN; `memoranda token` prints it.
// `memoranda` must be on the PATH, or MEMORANDA_BIN must name it. It writes to the vault that
// MEMORANDA_HOME names: use a separate one.

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const url = process.argv[2];
const token = process.env.MEMORANDA_TOKEN;
const headers: Record<string, string> = token ? { Authorization: `Bearer ${token}` } : {};
const ours = Object.entries(process.env).filter(([name]) => /^(MEMORANDA_|XDG_|HOME$)/.test(name));
const transport = url
  ? new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
  : new StdioClientTransport({
      command: process.env.MEMORANDA_BIN ?? "memoranda",
      args: ["mcp"],
      env: Object.fromEntries(ours) as Record<string, string>,
    });
const client = new Client({ name: "mcp_client.ts", version: "1" });
await client.connect(transport);
assert.match(client.getInstructions() ?? "", /\/memories/);

// Listed first, so that the SDK checks every structured result against the tool's output schema.
const { tools } = await client.listTools();
assert.ok(tools.some((tool) => tool.name === "memory"));
for (const tool of tools) {
  assert.equal(tool.inputSchema.type, "object", tool.name);
  assert.ok(tool.title && tool.description && tool.outputSchema, tool.name);
}

async function memory(args: Record<string, unknown>): Promise<{ text: string; failed: boolean }> {
  const result = await client.callTool({ name: "memory", arguments: args });
  const [block] = result.content as { type: string; text: string }[];
  assert.ok(result.structuredContent, block.text);
  return { text: block.text, failed: result.isError === true };
}

const path = "/memories/typescript/roses.md";
const note = "---\ntitle: Roses\n---\n- [fact] They bloom in June #garden\n";
const steps: [Record<string, unknown>, string][] = [
  [{ command: "create", path, file_text: note }, `Created ${path}`],
  [{ command: "view", path, view_range: [4, 4] }, "They bloom in June"],
  [{ command: "str_replace", path, old_str: "June", new_str: "July" }, "Replaced text"],
  [{ command: "insert", path, insert_line: 4, insert_text: "- [fact] Red" }, "at line 4"],
  [{ command: "rename", old_path: path, new_path: `${path}.md` }, "Renamed"],
  [{ command: "view", path: "/memories" }, `${path}.md`],
  [{ command: "delete", path: `${path}.md` }, "Deleted"],
  [{ command: "create", path, file_text: note }, "Created"],
];
for (const [args, expected] of steps) {
  const { text, failed } = await memory(args);
  assert.ok(!failed && text.includes(expected), `${JSON.stringify(args)}: ${text}`);
}
const missing = await memory({ command: "view", path: "/memories/none.md" });
assert.deepEqual(missing, {
  text: '{"error":"File not found: /memories/none.md","is_error":true}',
  failed: true,
});

const { prompts } = await client.listPrompts();
assert.ok(prompts.some((prompt) => prompt.name === "recall"));
const recalled = await client.getPrompt({ name: "recall", arguments: { topic: "bloom" } });
assert.match(JSON.stringify(recalled.messages), /They bloom in June/);

const uri = "memoranda://memories/typescript/roses";
const { resources } = await client.listResources();
assert.ok(resources.some((resource) => resource.uri === uri));
const read = await client.readResource({ uri });
assert.equal((read.contents[0] as { text: string }).text, note);
const { resourceTemplates } = await client.listResourceTemplates();
assert.equal(resourceTemplates[0].uriTemplate, "memoranda://{project}/{+permalink}");
const { completion } = await client.complete({
  ref: { type: "ref/resource", uri: resourceTemplates[0].uriTemplate },
  argument: { name: "permalink", value: "typescript/" },
});
assert.deepEqual(completion.values, ["typescript/roses"]);

console.log(
  `mcp from TypeScript: ${tools.length} tools, ${prompts.length} prompts, ${resources.length} resources`,
);
await client.close();
