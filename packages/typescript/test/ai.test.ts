import assert from "node:assert/strict";
import { test } from "node:test";

import { generateText, isStepCount } from "ai";
import { MockLanguageModelV4 } from "ai/test";

import { DEFAULT_TOOLS, memorandaTools } from "../src/ai.js";
import { memory } from "./support.js";

type Generated = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>;

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

function toolCall(toolName: string, input: object): Generated {
  return {
    content: [{ type: "tool-call", toolCallId: toolName, toolName, input: JSON.stringify(input) }],
    finishReason: { unified: "tool-calls", raw: "tool_calls" },
    usage,
    warnings: [],
  };
}

test("a model of the SDK remembers and recalls with the tools", async () => {
  const answers = [
    toolCall("remember", { content: "The shed key hangs behind the clock" }),
    toolCall("recall", { query: "where is the shed key" }),
    toolCall("forget", { id: "no-such-id" }),
    { content: [{ type: "text", text: "Behind the clock." }], finishReason: { unified: "stop", raw: "stop" }, usage, warnings: [] },
  ] as Generated[];
  let calls = 0;
  const model = new MockLanguageModelV4({ doGenerate: async () => answers[calls++]! });
  const tools = await memorandaTools(memory);
  assert.deepEqual(Object.keys(tools), [...DEFAULT_TOOLS]);
  const result = await generateText({ model, tools, stopWhen: isStepCount(5), prompt: "Where is the shed key?" });
  assert.equal(result.text, "Behind the clock.");
  const outputs = result.steps.flatMap((step) => step.toolResults).map((done) => String(done.output));
  assert.equal(outputs.length, 3);
  assert.match(outputs[0]!, /^Remembered/);
  assert.match(outputs[1]!, /behind the clock/);
  assert.match(outputs[2]!, /no-such-id/);
});

test("a tool that the server does not have is named", async () => {
  await assert.rejects(memorandaTools(memory, ["remeber"]), /"remeber"/);
});
