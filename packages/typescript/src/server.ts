import { execFile, spawn, type ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";

import { ServerUnreachableError } from "./errors.js";

const START_MILLISECONDS = 30_000;

/** Where a server listens, and the token that it wants. */
export interface ServerAddress {
  url: string;
  token?: string | undefined;
}

/** Returns the program that was named, or else MEMORANDA_BIN, or else the one on the PATH. */
export function resolveProgram(program?: string): string {
  return program ?? process.env.MEMORANDA_BIN ?? "memoranda";
}

function homeFlag(home?: string): string[] {
  return home === undefined ? [] : ["--home", home];
}

/** Returns the server of the vault that runs at present; `undefined` if there is none. */
export async function findServer(program: string, home?: string): Promise<ServerAddress | undefined> {
  const answer = await new Promise<string | undefined>((resolve, reject) => {
    execFile(program, ["token", "--json", ...homeFlag(home)], (error, stdout) => {
      if (error === null) resolve(stdout);
      else if (error.code === "ENOENT") reject(new ServerUnreachableError(notInstalled(program)));
      // No vault yet: `serve` makes it, or says what is wrong.
      else resolve(undefined);
    });
  });
  if (answer === undefined) return undefined;
  const { server } = JSON.parse(answer) as { server?: ServerAddress | null };
  return server ?? undefined;
}

function notInstalled(program: string): string {
  return `the program ${program} was not found: install it, or name it by MEMORANDA_BIN or the option "program"`;
}

/** A server that this process has started. It ends with `close`, or with the process. */
export class OwnServer {
  readonly address: ServerAddress;
  readonly #process: ChildProcess;
  readonly #endWithProcess: () => void;

  private constructor(child: ChildProcess, address: ServerAddress) {
    this.#process = child;
    this.address = address;
    this.#endWithProcess = () => child.kill();
    process.once("exit", this.#endWithProcess);
  }

  static async start(program: string, home?: string): Promise<OwnServer> {
    const args = ["serve", "--bind", "127.0.0.1:0", "--json", ...homeFlag(home)];
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-2000);
    });
    const line = await new Promise<string>((resolve, reject) => {
      const fail = (reason: string) => {
        clearTimeout(timer);
        child.kill();
        reject(new ServerUnreachableError(`memoranda serve did not start: ${reason}`));
      };
      const timer = setTimeout(() => fail(`no answer within ${START_MILLISECONDS} ms`), START_MILLISECONDS);
      child.once("error", (error: NodeJS.ErrnoException) =>
        fail(error.code === "ENOENT" ? notInstalled(program) : error.message),
      );
      child.once("close", () => fail(said.trim() || "it said nothing"));
      createInterface({ input: child.stdout }).once("line", (first) => {
        clearTimeout(timer);
        resolve(first);
      });
    });
    const started = JSON.parse(line) as { address: string; token_file?: string | null };
    let token = process.env.MEMORANDA_TOKEN;
    if (started.token_file) token = (await readFile(started.token_file, "utf8")).trim();
    // The server must not keep a process alive that has nothing else to do.
    child.unref();
    for (const stream of [child.stdout, child.stderr]) {
      if ("unref" in stream && typeof stream.unref === "function") stream.unref();
      stream.resume();
    }
    return new OwnServer(child, { url: `http://${started.address}`, token });
  }

  /** Ends the server. */
  async close(): Promise<void> {
    process.off("exit", this.#endWithProcess);
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = new Promise((resolve) => this.#process.once("close", resolve));
    this.#process.ref();
    this.#process.kill();
    await ended;
  }
}
