import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { Memoranda, RequestRefusedError, ServerUnreachableError, ToolFailedError } from "../src/index.js";
import { memory, scratch, vault } from "./support.js";

test("what is remembered is recalled and forgotten", async () => {
  const kept = await memory.remember("The kitchen tap takes cartridge 46374", { tags: ["home"] });
  assert.equal(kept.data.effect, "stored");
  assert.equal(kept.data.kind, "fact");
  const found = await memory.recall("tap cartridge");
  assert.match(found.text, /46374/);
  const passage = (found.data.passages as { id?: string; author?: string }[])[0];
  assert.equal(passage?.id, kept.data.id);
  assert.equal(passage?.author, "tests/1");
  assert.match((await memory.context("tap")).text, /46374/);
  assert.ok(kept.data.id);
  assert.ok((await memory.forget(kept.data.id)).data.forgotten);
  assert.equal((await memory.recall("tap cartridge")).data.count, 0);
});

test("a write can be undone", async () => {
  const written = await memory.tools.writeNote({
    title: "Boiler",
    content: "Warranty lapses in June.",
    directory: "house",
  });
  const { commit } = written.data;
  assert.ok(commit);
  const history = await memory.page.history({ project: "main" });
  assert.equal(history.items[0]?.commit, commit);
  assert.notEqual(await memory.undo(commit), commit);
  await assert.rejects(memory.tools.readNote({ identifier: "Boiler" }), (error: unknown) => {
    assert.ok(error instanceof ToolFailedError);
    assert.equal(error.tool, "read_note");
    assert.match(error.message, /Boiler/);
    return true;
  });
});

test("every kind of refusal has its error", async () => {
  await assert.rejects(memory.callTool("no_such_tool"), (error: unknown) => {
    assert.ok(error instanceof RequestRefusedError);
    assert.deepEqual([error.status, error.code], [404, "not-found"]);
    return true;
  });
  const stranger = new Memoranda({ url: await memory.url(), token: "wrong-token-of-this-server" });
  await assert.rejects(stranger.recall("x"), { name: "RequestRefusedError", status: 401 });
  await assert.rejects(stranger.page.status(), { code: "wrong-token" });
  const nobody = new Memoranda({ url: "http://127.0.0.1:1" });
  await assert.rejects(nobody.recall("x"), ServerUnreachableError);
});

test("a note is saved only over the version that it began as", async () => {
  const saved = await memory.page.notePut({ project: "main", path: "plan.md", text: "One.\n", expected: null });
  assert.ok(saved.saved);
  const again = memory.page.notePut({ project: "main", path: "plan.md", text: "Two.\n", expected: null });
  await assert.rejects(again, (error: unknown) => {
    assert.ok(error instanceof RequestRefusedError);
    assert.deepEqual([error.status, error.code, error.problem.theirs], [409, "conflict", "One.\n"]);
    return true;
  });
});

test("a repository has its own memories", async () => {
  await using shop = new Memoranda({ home: vault, repository: "github.com/acme/shop" });
  const kept = await shop.remember("Use pnpm in this repository", { kind: "rule", scope: "repository" });
  assert.equal(kept.data.repository, "github.com/acme/shop");
  assert.match((await shop.context()).text, /pnpm/);
  assert.doesNotMatch((await memory.context()).text, /pnpm/);
});

test("a second client uses the server that runs, and does not end it", async () => {
  const url = await memory.url();
  const second = new Memoranda({ home: vault });
  assert.equal(await second.url(), url);
  await second.close();
  assert.ok((await memory.recall("anything")).data.count >= 0);
});

test("the server ends with its client", async () => {
  const client = new Memoranda({ home: join(scratch, "other") });
  const url = await client.url();
  await client.close();
  await assert.rejects(new Memoranda({ url, token: "any-token-at-all-here" }).recall("x"), ServerUnreachableError);
});

test("a process that forgets to close its client ends, and its server with it", () => {
  const program = `
    import { Memoranda } from ${JSON.stringify(new URL("../src/index.js", import.meta.url).href)};
    console.log(await new Memoranda({ home: ${JSON.stringify(join(scratch, "third"))} }).url());`;
  const url = execFileSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8", timeout: 60_000 });
  return assert.rejects(new Memoranda({ url: url.trim(), token: "any-token-at-all-here" }).recall("x"), ServerUnreachableError);
});

test("a server that cannot start says why", async () => {
  writeFileSync(join(scratch, "file"), "no folder");
  await assert.rejects(new Memoranda({ home: join(scratch, "file", "vault") }).recall("x"), /did not start/);
  await assert.rejects(new Memoranda({ program: "/no/such/program" }).recall("x"), /was not found/);
});

test("calls run at the same time", async () => {
  const shelves = await Promise.all(
    Array.from({ length: 8 }, (_, n) => memory.remember(`Shelf ${n} holds the ${n} mm screws`)),
  );
  assert.equal(new Set(shelves.map((kept) => kept.data.id)).size, 8);
  assert.match((await memory.recall("Which shelf holds the 7 mm screws?")).text, /Shelf 7/);
});
