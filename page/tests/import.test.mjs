// Check 23: import by drop. Counts as the command's, brought once, taken back to the byte; bad archives are
// refused, and a large upload costs the server no memory.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { context, enter, fill, Home, launch, until, zip } from './support.mjs';

let home, server, browser, made, page, scratch;
before(async () => {
  home = await Home.make();
  scratch = await mkdtemp(join(tmpdir(), 'memoranda-import-'));
  await fill(home);
  server = await home.serve();
  browser = await launch();
  made = await context(browser);
  page = await enter(made, server, '#/care/bring');
});
after(async () => {
  await browser?.close();
  await home?.remove();
  await rm(scratch, { recursive: true, force: true });
});

/** Every file of the vault that a person sees, with its bytes. */
async function bytes() {
  const found = [];
  for (const entry of await readdir(home.vault, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    if (entry.isFile() && !path.includes('/.memoranda/')) found.push(`${path.slice(home.vault.length)} ${createHash('sha256').update(await readFile(path)).digest('hex')}`);
  }
  return found.sort();
}
const again = async () => {
  await page.goto(`${server.base}/#/now`);
  await page.goto(`${server.base}/#/care/bring`);
  await page.waitForSelector('input[type=file]');
};
const trouble = 'main [role=alert], main .trouble, main .notice.bad';

async function bring(input, chosen, expected) {
  const before = await bytes();
  const plan = JSON.parse(await home.cli('import', '--copy', '--dry-run', '--json', chosen));
  await again();
  await page.locator(input).setInputFiles(chosen);
  await page.waitForSelector('text=/^Bring \\d/', { timeout: 60_000 });
  assert.equal((await page.textContent('.counts dd')).replaceAll(/\D/g, ''), String(plan.created));
  assert.equal(plan.created, expected);
  assert.deepEqual(await bytes(), before, 'nothing came yet');
  await page.getByRole('button', { name: /^Bring \d/ }).click();
  await page.waitForSelector('text=Brought from', { timeout: 60_000 });
  const takeBack = page.getByRole('button', { name: 'Take all of it back' });
  await takeBack.waitFor();
  assert.equal((await bytes()).length, before.length + expected);
  // The same again, in another tab: nothing new.
  const other = await made.newPage();
  await other.goto(`${server.base}/#/care/bring`);
  await other.locator(input).setInputFiles(chosen);
  await other.waitForSelector('text=Nothing new to bring', { timeout: 60_000 });
  await other.close();
  await takeBack.click();
  await until('it is gone', async () => (await page.getByText('Brought from').count()) === 0, 30_000);
  assert.deepEqual(await bytes(), before, 'every byte is as before');
}

test('a folder of 1,000 files', async () => {
  const folder = join(scratch, 'Thousand');
  await mkdir(join(folder, 'Ideas'), { recursive: true });
  for (let at = 0; at < 1000; at += 1) await writeFile(join(folder, 'Ideas', `Idea ${at}.md`), `# Idea ${at}\n\nA thought about [[Idea ${(at + 1) % 1000}]].\n`);
  await bring('input[webkitdirectory]', folder, 1000);
});

test('an export of ChatGPT as a zip', async () => {
  const message = (id, parent, role, text) => ({ id, parent, children: [], message: { id, author: { role }, create_time: 1767225600, content: { content_type: 'text', parts: [text] } } });
  const talk = (at) => ({ id: `talk-${at}`, conversation_id: `talk-${at}`, title: `Talk ${at}`, create_time: 1767225600 + at, update_time: 1767225700 + at, current_node: 'b', mapping: { a: { ...message('a', null, 'user', `How do deploys work, ${at}?`), children: ['b'] }, b: message('b', 'a', 'assistant', `They go out on Tuesdays, ${at}.`) } });
  const file = join(scratch, 'chatgpt.zip');
  await writeFile(file, zip([{ name: 'conversations.json', bytes: Buffer.from(JSON.stringify([0, 1, 2].map(talk))) }, { name: 'user.json', bytes: Buffer.from('{"id":"user-x"}') }]));
  await bring('input[type=file]:not([webkitdirectory])', file, 3);
});

test('a broken zip, a zip that leads out, and a bomb are refused with a sentence; nothing is written', async () => {
  const before = await bytes();
  const note = Buffer.from('# Out\n\nThis must not be written.\n');
  const bad = {
    'broken.zip': Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(300, 7)]),
    'out.zip': zip([{ name: '../../out.md', bytes: note }, { name: '/tmp/memoranda-out.md', bytes: note }]),
    // 1 MB that becomes 1 GB.
    'bomb.zip': zip(Array.from({ length: 16 }, (_, at) => ({ name: `bomb-${at}.md`, bytes: Buffer.alloc(64 << 20, 97) }))),
  };
  for (const [name, content] of Object.entries(bad)) {
    const file = join(scratch, name);
    await writeFile(file, content);
    await again();
    await page.locator('input[type=file]:not([webkitdirectory])').setInputFiles(file);
    await page.waitForFunction((selector) => document.querySelector(selector) || /Nothing new to bring|Bring \d/.test(document.querySelector('main').textContent), trouble, { timeout: 60_000 });
    const brings = page.getByRole('button', { name: /^Bring \d/ });
    if (await brings.count()) {
      await brings.click();
      await page.waitForFunction((selector) => document.querySelector(selector) || document.querySelector("main").textContent.includes("Brought from"), trouble, { timeout: 60_000 });
    }
    assert.deepEqual(await bytes(), before, `${name} left something`);
  }
  assert.deepEqual(made.trouble.dialogs, []);
});

test('300 MB do not raise the memory of the server', async (t) => {
  const file = join(scratch, 'large.md');
  const handle = await open(file, 'w');
  for (let at = 0; at < 300; at += 1) await handle.write(Buffer.alloc(1 << 20, at % 60 ? 97 : 10));
  await handle.close();
  const peak = async () => Number(/VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${server.child.pid}/status`, 'utf8'))[1]) / 1024;
  await writeFile(`/proc/${server.child.pid}/clear_refs`, '5').catch(() => undefined);
  const before = await peak();
  await again();
  await page.locator('input[type=file]:not([webkitdirectory])').setInputFiles(file);
  await page.waitForFunction((selector) => document.querySelector(selector) || /Nothing new to bring|Bring \d/.test(document.querySelector('main').textContent), trouble, { timeout: 240_000 });
  const after = await peak();
  t.diagnostic(`300 MB uploaded: the server's memory rose from ${before.toFixed(0)} to ${after.toFixed(0)} MB`);
  assert.ok(after - before <= 30, `${(after - before).toFixed(0)} MB more`);
});
