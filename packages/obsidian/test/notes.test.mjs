// What the side bar shows, against the real program. The window itself needs Obsidian.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { relatedQuery, VaultMemory } from "../dist/test/notes.mjs";

const program = process.env.MEMORANDA_BIN;
assert.ok(program, "MEMORANDA_BIN must name the program");
const scratch = mkdtempSync(join(tmpdir(), "memoranda-obsidian-"));
for (const name of Object.keys(process.env)) {
  if (name.startsWith("XDG_") || name.startsWith("MEMORANDA_")) delete process.env[name];
}
process.env.HOME = scratch;
const vault = join(scratch, "Vault");
const home = join(scratch, "memoranda");
mkdirSync(join(vault, ".obsidian"), { recursive: true });
const write = (name, text) => writeFileSync(join(vault, name), text);
write("Compost.md", "# Compost\n\nTurn the compost heap in March.\n");
write("Kitchen garden.md", "Tomatoes follow [[Compost]], never potatoes.\n");
write("Tax.md", "The tax return is due in July.\n");

const memoranda = (...args) => execFileSync(program, ["--home", home, ...args], { encoding: "utf8", cwd: scratch });
const memory = new VaultMemory(vault, { program, home });
after(async () => {
  await memory.close();
  rmSync(scratch, { recursive: true, force: true });
});

test("a vault that is not followed says how to begin", async () => {
  memoranda("add", "a first note");
  assert.equal(await memory.project(), undefined);
  await assert.rejects(memory.versions("Compost.md"), /memoranda import obsidian/);
});

test("the history of a note can be compared, undone and restored", async () => {
  memoranda("import", "obsidian", vault);
  const append = { project: "vault", identifier: "Compost", operation: "append", content: "Ready in April." };
  memoranda("tool", "edit_note", JSON.stringify(append));
  assert.equal(await memory.project(), "vault");
  const [edited, first] = await memory.versions("Compost.md");
  assert.equal(edited.action, "changed");
  assert.equal(edited.added >= 1, true);
  const changes = await memory.changesSince("Compost.md", first.commit);
  assert.deepEqual(changes.filter((line) => line.kind === "added").map((line) => line.text.trim()).filter(Boolean), ["Ready in April."]);
  assert.equal(await memory.undoProblem(edited.commit), undefined);
  assert.equal(await memory.undoFiles(edited.commit), 1);
  await memory.undo(edited.commit);
  assert.equal(readFileSync(join(vault, "Compost.md"), "utf8"), "# Compost\n\nTurn the compost heap in March.\n");
  await memory.restore("Compost.md", edited.commit);
  assert.match(readFileSync(join(vault, "Compost.md"), "utf8"), /Ready in April\./);
  // The first look at the vault is no change.
  assert.match(await memory.undoProblem(first.commit), /./);
});

test("related and linking notes are found, and not the note itself", async () => {
  const text = readFileSync(join(vault, "Compost.md"), "utf8");
  const related = await memory.related("Compost.md", text);
  const paths = related.map((note) => note.path);
  assert.ok(paths.includes("Kitchen garden.md"), paths.join());
  assert.ok(!paths.includes("Compost.md"));
  const [link] = await memory.linking("Compost.md");
  assert.equal(link.path, "Kitchen garden.md");
  assert.match(link.sentence, /Tomatoes follow/);
});

test("the query of related notes has words only", () => {
  const text = "---\ntags: [a]\n---\n# Compost\n\n```js\nlet x;\n```\nSee [[Other|that]].\n";
  assert.equal(relatedQuery("Garden/Compost.md", text), "Compost Compost See Other that .");
  assert.ok(relatedQuery("a.md", "word ".repeat(500)).length <= 300);
});
