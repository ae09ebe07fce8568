import type { ToolAnswer } from "./api.js";
import { RequestRefusedError, ServerUnreachableError, ToolFailedError } from "./errors.js";
import type { ServerAddress } from "./server.js";

/** The `tool_result` of a command of Claude's memory tool. */
export interface MemoryToolResult {
  type: string;
  content: string;
  is_error: boolean;
  tool_use_id?: string | null;
}

/** Sends requests to one server. */
export class HttpTransport {
  readonly #locate: () => Promise<ServerAddress>;
  readonly #headers: Record<string, string>;
  readonly #timeout: number;
  readonly #fetch: typeof fetch;
  #address: Promise<ServerAddress> | undefined;
  #session: Promise<string> | undefined;

  constructor(
    locate: () => Promise<ServerAddress>,
    headers: Record<string, string>,
    timeout: number,
    fetcher: typeof fetch = fetch,
  ) {
    this.#locate = locate;
    this.#headers = headers;
    this.#timeout = timeout;
    this.#fetch = fetcher;
  }

  /** Returns the address; the first call finds the server, or starts it. */
  address(): Promise<ServerAddress> {
    this.#address ??= this.#locate().catch((error: unknown) => {
      this.#address = undefined;
      throw error;
    });
    return this.#address;
  }

  /** Calls a tool. `undefined` stands for an absent argument. */
  async callTool(name: string, args: object): Promise<ToolAnswer<unknown>> {
    const answer = (await this.send("POST", `/api/tools/${encodeURIComponent(name)}`, args)) as {
      is_error: boolean;
      text: string;
      structured: unknown;
    };
    if (answer.is_error) throw new ToolFailedError(name, answer.text, answer.structured);
    return { text: answer.text, data: answer.structured };
  }

  /** Executes a command of Claude's memory tool and returns the `tool_result` block. */
  async callMemoryTool(input: object): Promise<MemoryToolResult> {
    return (await this.send("POST", "/api/memory-tool", input)) as MemoryToolResult;
  }

  /** Calls a route of the page, with a session that the token is exchanged for. */
  async requestPage(method: string, path: string, args: object): Promise<unknown> {
    this.#session ??= this.#signIn();
    try {
      return await this.send(method, path, args, await this.#session);
    } catch (error) {
      // A server that was started again with another token ends every session.
      if (error instanceof RequestRefusedError && error.status === 401) this.#session = undefined;
      throw error;
    }
  }

  async #signIn(): Promise<string> {
    const { token } = await this.address();
    const answer = await this.send("POST", "/api/page/session", { token: token ?? null });
    return (answer as { session: string }).session;
  }

  /** Sends a request and returns the decoded answer. */
  async send(method: string, path: string, args: object = {}, credential?: string): Promise<unknown> {
    const address = await this.address();
    const headers = new Headers(this.#headers);
    const secret = credential ?? address.token;
    if (secret) headers.set("Authorization", `Bearer ${secret}`);
    const request: RequestInit = { method, headers, signal: AbortSignal.timeout(this.#timeout) };
    let url = address.url.replace(/\/+$/, "") + path;
    if (method === "GET") {
      const given = Object.entries(args).filter(([, value]) => value !== undefined && value !== null);
      const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
      if (given.length > 0) url += `?${query.toString()}`;
    } else {
      headers.set("Content-Type", "application/json");
      request.body = JSON.stringify(args);
    }
    let response: Response;
    let text: string;
    try {
      const send = this.#fetch;
      response = await send(url, request);
      text = await response.text();
    } catch (error) {
      const reason = error instanceof Error ? (error.cause ?? error) : error;
      throw new ServerUnreachableError(`${address.url} does not answer: ${String(reason)}`, { cause: error });
    }
    let answer: unknown;
    try {
      answer = JSON.parse(text);
    } catch {
      answer = { detail: text.slice(0, 200) };
    }
    if (!response.ok) throw new RequestRefusedError({ status: response.status, ...(answer as object) });
    return answer;
  }
}
