import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";

import { Memoranda } from "../src/index.js";

if (!process.env.MEMORANDA_BIN) throw new Error("MEMORANDA_BIN must name the program");

/** A folder of its own, so that no test reaches the vault of the person who runs it. */
export const scratch = mkdtempSync(join(tmpdir(), "memoranda-client-"));
process.env.HOME = scratch;
for (const name of Object.keys(process.env)) {
  if (name.startsWith("XDG_") || (name.startsWith("MEMORANDA_") && name !== "MEMORANDA_BIN")) delete process.env[name];
}

export const vault = join(scratch, "vault");
/** A client that starts a real server. */
export const memory = new Memoranda({ home: vault, client: "tests/1" });

after(async () => {
  await memory.close();
  rmSync(scratch, { recursive: true, force: true });
});
