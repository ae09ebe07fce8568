export * from "./api.js";
export {
  Memoranda,
  type MemorandaOptions,
  type OpenApiDocument,
  type OpenApiOperation,
  type RecallOptions,
  type RememberOptions,
} from "./client.js";
export { MemorandaError, RequestRefusedError, ServerUnreachableError, ToolFailedError } from "./errors.js";
export type { MemoryToolResult } from "./transport.js";
export { VERSION } from "./version.js";
