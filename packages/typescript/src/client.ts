import {
  PageCalls,
  ToolCalls,
  type ForgetResult,
  type GetContextResult,
  type RecallArguments,
  type RecallResult,
  type RememberArguments,
  type RememberResult,
  type ToolAnswer,
} from "./api.js";
import { findServer, OwnServer, resolveProgram, type ServerAddress } from "./server.js";
import { HttpTransport, type MemoryToolResult } from "./transport.js";
import { VERSION } from "./version.js";

export interface MemorandaOptions {
  /** Address of a server, such as `http://127.0.0.1:7337`. */
  url?: string;
  /** Token of that server; `memoranda token` prints it. */
  token?: string;
  /** Folder of another vault. */
  home?: string;
  /** Path of the program `memoranda`. */
  program?: string;
  /** Name of your program, which the history shows, such as `my-agent/1.0`. */
  client?: string;
  /** Repository that calls are about, such as `github.com/acme/shop`. */
  repository?: string;
  /** Maximum milliseconds for an answer. */
  timeout?: number;
  /** Replaces the global `fetch`, for programs with a network function of their own. */
  fetch?: typeof fetch;
}

/** Options of `remember`, besides the statement. */
export type RememberOptions = Omit<RememberArguments, "content" | "project_id"> & { repository?: string };

/** Options of `recall`, besides the query. */
export type RecallOptions = Omit<RecallArguments, "query">;

/**
 * A client of Memoranda.
 *
 * Without options it uses MEMORANDA_URL and MEMORANDA_TOKEN, or else the server of the vault that
 * runs on this machine, or else starts one, which ends with the client.
 */
export class Memoranda implements AsyncDisposable {
  /** Every tool, by its name. */
  readonly tools: ToolCalls;
  /** Every route of the page, by its path. */
  readonly page: PageCalls;
  readonly #options: MemorandaOptions;
  readonly #transport: HttpTransport;
  #server: OwnServer | undefined;

  constructor(options: MemorandaOptions = {}) {
    this.#options = options;
    const headers: Record<string, string> = {
      "User-Agent": options.client ?? `memoranda-typescript/${VERSION}`,
      "X-MCP-Toolsets": "all",
    };
    if (options.repository) headers["X-Memoranda-Repository"] = options.repository;
    const timeout = options.timeout ?? 60_000;
    this.#transport = new HttpTransport(() => this.#locate(), headers, timeout, options.fetch);
    this.tools = new ToolCalls((name, args) => this.#transport.callTool(name, args));
    this.page = new PageCalls((method, path, args) => this.#transport.requestPage(method, path, args));
  }

  /** Remembers one statement. Kind and scope are guessed if absent. */
  remember(content: string, options: RememberOptions = {}): Promise<ToolAnswer<RememberResult>> {
    const { repository, ...rest } = options;
    return this.tools.remember({ content, ...rest, project_id: repository });
  }

  /** Searches everything. `text` is ready for a prompt, `data.passages` for a program. */
  recall(query?: string, options: RecallOptions = {}): Promise<ToolAnswer<RecallResult>> {
    return this.tools.recall({ query, ...options });
  }

  /** Returns rules, the person, what is due and what is relevant, for the start of a task. */
  context(
    query?: string,
    options: { repository?: string; budget_tokens?: number } = {},
  ): Promise<ToolAnswer<GetContextResult>> {
    const { repository, budget_tokens } = options;
    return this.tools.getContext({ query, project_id: repository, budget_tokens });
  }

  /** Forgets one memory. `memoranda undo` brings it back. */
  forget(which: string | { name: string } | { query: string }): Promise<ToolAnswer<ForgetResult>> {
    return this.tools.forget(typeof which === "string" ? { id: which } : which);
  }

  /** Undoes a commit, and returns the commit that does so. */
  async undo(commit: string): Promise<string> {
    const { commit: undone } = await this.page.undo({ commits: [commit] });
    return undone;
  }

  /** Calls a tool by its name. */
  callTool(name: string, args: object = {}): Promise<ToolAnswer<unknown>> {
    return this.#transport.callTool(name, args);
  }

  /** Executes a command of Claude's memory tool and returns the `tool_result` block. */
  callMemoryTool(input: object): Promise<MemoryToolResult> {
    return this.#transport.callMemoryTool(input);
  }

  /** Returns the description of the HTTP API. */
  async describe(): Promise<OpenApiDocument> {
    return (await this.#transport.send("GET", "/api/openapi.json")) as OpenApiDocument;
  }

  /** Returns the address of the server. */
  async url(): Promise<string> {
    return (await this.#transport.address()).url;
  }

  /** Ends the server that the client started, if it did. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #locate(): Promise<ServerAddress> {
    const { home } = this.#options;
    const url = this.#options.url ?? (home === undefined ? process.env.MEMORANDA_URL : undefined);
    if (url) return { url, token: this.#options.token ?? process.env.MEMORANDA_TOKEN };
    const program = resolveProgram(this.#options.program);
    const running = await findServer(program, home);
    if (running) return running;
    this.#server = await OwnServer.start(program, home);
    return this.#server.address;
  }
}

/** The parts of the description that this package reads. */
export interface OpenApiDocument {
  openapi: string;
  paths: Record<string, Record<string, OpenApiOperation>>;
}

export interface OpenApiOperation {
  operationId: string;
  summary?: string;
  description?: string;
  requestBody?: { content: Record<string, { schema: Record<string, unknown> }> };
}
