import assert from "node:assert/strict";
import { test } from "node:test";

import { memorandaMemoryTool } from "../src/anthropic.js";
import { memory } from "./support.js";

test("commands of the memory tool are stored as memories", async () => {
  const tool = memorandaMemoryTool(memory);
  assert.equal((tool as { type?: string }).type, "memory_20250818");
  const created = await tool.run({ command: "create", path: "/memories/coffee.md", file_text: "Black.\n" });
  assert.equal(created, "File created successfully at: /memories/coffee.md");
  assert.match(String(await tool.run({ command: "view", path: "/memories/coffee.md" })), /Black\./);
  await assert.rejects(async () => tool.run({ command: "view", path: "/memories/none.md" }), /does not exist/);
  assert.match((await memory.recall("coffee black")).text, /Black/);
});
