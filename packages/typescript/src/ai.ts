/**
 * Tools for the Vercel AI SDK.
 *
 *     const result = await generateText({ model, tools: await memorandaTools(), stopWhen: isStepCount(5), prompt });
 */

import { dynamicTool, jsonSchema, type ToolSet } from "ai";

import { Memoranda } from "./client.js";
import { ToolFailedError } from "./errors.js";

/** The tools that a model gets if none are named. */
export const DEFAULT_TOOLS: readonly string[] = ["remember", "recall", "get_context", "forget"];

/**
 * Returns tools of the server for `generateText`, `streamText` and agents. Names, descriptions and
 * schemas are those that the server describes.
 */
export async function memorandaTools(
  memory: Memoranda = new Memoranda({ client: "vercel-ai-sdk" }),
  names: readonly string[] = DEFAULT_TOOLS,
): Promise<ToolSet> {
  const document = await memory.describe();
  const tools: ToolSet = {};
  for (const name of names) {
    const operation = document.paths[`/api/tools/${name}`]?.post;
    const schema = operation?.requestBody?.content["application/json"]?.schema;
    if (operation === undefined || schema === undefined) {
      throw new RangeError(`the server has no tool ${JSON.stringify(name)}`);
    }
    tools[name] = dynamicTool({
      description: operation.description ?? operation.summary ?? name,
      inputSchema: jsonSchema(schema),
      execute: async (input) => {
        try {
          return (await memory.callTool(name, input as object)).text;
        } catch (error) {
          // The text says how to call the tool correctly, so the model gets it as the answer.
          if (error instanceof ToolFailedError) return error.message;
          throw error;
        }
      },
    });
  }
  return tools;
}
