/**
 * Claude's memory tool with Memoranda as its backend, for `@anthropic-ai/sdk`.
 *
 *     const runner = new Anthropic().beta.messages.toolRunner({ tools: [memorandaMemoryTool()], ... });
 */

import { betaMemoryTool, type MemoryToolHandlers } from "@anthropic-ai/sdk/helpers/beta/memory";

import { Memoranda } from "./client.js";
import { MemorandaError } from "./errors.js";

/** Returns the memory tool, stored in the project `memories`. */
export function memorandaMemoryTool(
  memory: Memoranda = new Memoranda({ client: "anthropic-sdk" }),
  extraProps?: Parameters<typeof betaMemoryTool>[1],
): ReturnType<typeof betaMemoryTool> {
  const run = async (command: object): Promise<string> => {
    const result = await memory.callMemoryTool(command);
    // The runner answers the model with the message of the error.
    if (result.is_error) throw new MemorandaError(result.content);
    return result.content;
  };
  const handlers: MemoryToolHandlers = {
    view: run,
    create: run,
    str_replace: run,
    insert: run,
    delete: run,
    rename: run,
  };
  return betaMemoryTool(handlers, extraProps);
}
