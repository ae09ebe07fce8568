// Claude's memory tool with Memoranda as its backend, on the official `@anthropic-ai/sdk` package.
//
// How to run it:
//
//     npm install @anthropic-ai/sdk tsx
//     export ANTHROPIC_API_KEY=...
//     npx tsx examples/claude_memory.ts "Remember that I like my coffee black."
//
// `memoranda` must be on the PATH, or MEMORANDA_BIN must name it. With MEMORANDA_URL (such as
// http://127.0.0.1:7337) the memories are kept by a running `memoranda serve` instead, with the
// token in MEMORANDA_TOKEN (`memoranda token` prints it). Without a key, `examples/stand_in.py` simulates the API:
//
//     python examples/stand_in.py 8080 &
//     ANTHROPIC_API_KEY=none ANTHROPIC_BASE_URL=http://127.0.0.1:8080 npx tsx examples/claude_memory.ts

import { spawnSync } from "node:child_process";
import Anthropic from "@anthropic-ai/sdk";
import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";

const binary = process.env.MEMORANDA_BIN ?? "memoranda";
const url = process.env.MEMORANDA_URL;

type ToolResult = { content: string; is_error: boolean };

/** Has the binary do a command. */
function byCommand(input: object): ToolResult {
  const args = ["tool", "memory", "-", "--wording", "claude", "--json"];
  const done = spawnSync(binary, args, { input: JSON.stringify(input), encoding: "utf8" });
  if (done.error) throw done.error;
  if (done.status !== 0 && done.status !== 1) throw new Error(`memoranda ended with ${done.status}`);
  return JSON.parse(done.stdout);
}

/** Has a running server do a command. */
async function byHttp(input: object): Promise<ToolResult> {
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (process.env.MEMORANDA_TOKEN) headers.Authorization = `Bearer ${process.env.MEMORANDA_TOKEN}`;
  const request = { method: "POST", headers, body: JSON.stringify(input) };
  const answer = await fetch(`${url}/api/memory-tool`, request);
  if (!answer.ok) throw new Error(`memoranda answered ${answer.status}`);
  return (await answer.json()) as ToolResult;
}

/** Does one command, whichever it is. */
async function run(input: object): Promise<string> {
  const result = url ? await byHttp(input) : byCommand(input);
  if (result.is_error) throw new Error(result.content);
  return result.content;
}

const memory = betaMemoryTool({
  view: run,
  create: run,
  str_replace: run,
  insert: run,
  delete: run,
  rename: run,
});

async function main() {
  const question = process.argv.slice(2).join(" ") || "Remember that I like my coffee black.";
  const runner = new Anthropic().beta.messages.toolRunner({
    model: process.env.ANTHROPIC_MODEL ?? "claude-sonnet-5-5",
    max_tokens: 1024,
    messages: [{ role: "user", content: question }],
    tools: [memory],
  });
  for await (const message of runner) {
    for (const block of message.content) {
      if (block.type === "tool_use") console.log(`[memory] ${JSON.stringify(block.input)}`);
      else if (block.type === "text") console.log(block.text);
    }
  }
}

void main();
