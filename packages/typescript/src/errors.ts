/** Base of every error of this package. */
export class MemorandaError extends Error {
  override name = "MemorandaError";
}

/** No server answers at the address, or none could be started. */
export class ServerUnreachableError extends MemorandaError {
  override name = "ServerUnreachableError";
}

/** The server refused a request (RFC 9457). */
export class RequestRefusedError extends MemorandaError {
  override name = "RequestRefusedError";
  readonly status: number;
  readonly code: string;
  /** The whole answer, with further members such as `theirs` of a conflict. */
  readonly problem: Record<string, unknown>;

  constructor(problem: Record<string, unknown>) {
    const status = typeof problem.status === "number" ? problem.status : 0;
    super(String(problem.detail ?? problem.title ?? `status ${status}`));
    this.status = status;
    this.code = String(problem.code ?? "");
    this.problem = problem;
  }
}

/** A tool answered with an error that the caller can correct: the message says how. */
export class ToolFailedError extends MemorandaError {
  override name = "ToolFailedError";
  readonly tool: string;
  readonly data: unknown;

  constructor(tool: string, text: string, data: unknown) {
    super(text);
    this.tool = tool;
    this.data = data;
  }
}
