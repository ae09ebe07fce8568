// Check 24: a damaged index, an absent drive, a full disk and a read-only vault each show their sentence,
// writing buttons say why they are off, and everything goes on by itself when the obstacle is gone.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { context, enter, fill, Home, launch, until } from './support.mjs';

const run = promisify(execFile);
const BILLING = '#/note/main/Shop/Billing.md';
let browser, canMount;
before(async () => {
  browser = await launch();
  // Only root can mount; a drive that is away needs no mount.
  canMount = await run('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).then(() => true, () => false);
});
after(() => browser?.close());

/** A served vault and a page on one of its notes; everything is removed afterwards. */
async function open(t, { prepare = async () => undefined, release = async () => undefined } = {}) {
  const home = await Home.make();
  await prepare(home);
  await fill(home);
  const server = await home.serve();
  const made = await context(browser);
  const page = await enter(made, server, BILLING);
  await page.waitForSelector('article');
  t.after(async () => {
    await made.close();
    await server.kill();
    await release(home).catch(() => undefined);
    await home.remove();
  });
  return { home, server, made, page };
}
const button = (page, name) => page.getByRole('button', { name });
const strip = async (page, sentence) => page.locator('.strip', { hasText: sentence }).first().waitFor({ timeout: 8000 });

/** Writing is off: each button says why, and the key does nothing. */
async function isOff(page, why) {
  for (const name of [/^edit/, /^undo/, /^delete/]) {
    await until(`${name} is off`, () => button(page, name).isDisabled());
    assert.match(await button(page, name).getAttribute('title'), why);
  }
  await page.keyboard.press('e');
  assert.equal(await page.locator('textarea').count(), 0);
}
const isOn = (page) => until('writing is on again', async () => (await button(page, /^edit/).isEnabled()) && (await page.locator('.strip').count()) === 0, 12_000);

test('a drive that is away: the sentence, nothing said to be missing, and it goes on when the drive is back', async (t) => {
  const { home, server, page } = await open(t);
  await rename(home.vault, `${home.vault}-away`);
  await page.reload();
  await strip(page, /cannot be reached/);
  const said = await page.textContent('main');
  assert.ok(!/no such note|nobody has written/i.test(said), said);
  await page.locator('main', { hasText: /cannot be reached/ }).waitFor();
  await page.goto(`${server.base}/#/now`);
  await page.waitForSelector('main [data-row]');
  assert.ok(!/Nothing yet/.test(await page.textContent('main')));
  await rename(`${home.vault}-away`, home.vault);
  await until('the sentence goes by itself', async () => (await page.locator('.strip').count()) === 0, 12_000);
  await page.goto(`${server.base}/${BILLING}`);
  await page.waitForSelector('article');
  await isOn(page);
});

test('a project on a drive that is away is named; the other projects can be written', async (t) => {
  const { home, server, page } = await open(t);
  const drive = join(home.folder, 'drive');
  await mkdir(join(drive, 'work'), { recursive: true });
  await writeFile(join(drive, 'work', 'Far.md'), '# Far\n\nOn another drive.\n');
  await home.cli('project', 'add', 'work', join(drive, 'work'));
  await home.cli('scan');
  await rename(drive, `${drive}-away`);
  // An unmounted drive leaves its empty folder.
  await mkdir(join(drive, 'work'), { recursive: true });
  await page.goto(`${server.base}/#/note/work/Far.md`);
  await page.reload();
  await strip(page, /project work cannot be reached/);
  await page.locator('main', { hasText: /cannot be reached/ }).waitFor();
  await page.goto(`${server.base}/${BILLING}`);
  await page.waitForSelector('article');
  assert.ok(await button(page, /^edit/).isEnabled(), 'main can be written');
  await rm(drive, { recursive: true });
  await rename(`${drive}-away`, drive);
  await isOn(page);
});

test('a damaged index is built again, and nobody reads that there is nothing', async (t) => {
  const { home, server, page } = await open(t);
  const folder = join(home.folder, '.cache', 'memoranda');
  const [vault] = await readdir(folder);
  const index = join(folder, vault, 'index.db');
  const said = [];
  await page.goto(`${server.base}/#/now`);
  await page.waitForSelector('main [data-row]');
  await page.exposeFunction('heard', (text) => said.push(text));
  await page.evaluate(() => new MutationObserver(() => window.heard(document.body.innerText)).observe(document.body, { childList: true, subtree: true, characterData: true }));
  // While it is open: pages in the middle of the file.
  await run('dd', ['if=/dev/urandom', `of=${index}`, 'bs=4096', 'seek=1', 'count=20', 'conv=notrunc']);
  const find = async () => {
    await page.goto(`${server.base}/#/search?q=ledger`);
    await until('it is found again', async () => (await page.locator('main li', { hasText: 'Billing' }).count()) > 0, 15_000);
    await page.goto(`${server.base}/#/now`);
    await page.waitForSelector('main [data-row]');
  };
  await find();
  // Before a start: the whole file.
  await server.kill();
  await writeFile(index, Buffer.alloc(100_000, 7));
  for (const rest of ['index.db-wal', 'index.db-shm']) await rm(join(folder, vault, rest), { force: true });
  const again = await home.serve({ port: server.port });
  await until('the page is connected', async () => (await page.locator('.strip').count()) === 0, 15_000);
  await find();
  await page.reload();
  await page.waitForSelector('main [data-row]');
  assert.equal((await again.get('status')).counts.notes, 10);
  assert.ok(!said.some((text) => /Nothing yet|No notes yet|waiting for the first memory/.test(text)), 'the page said that there is nothing');
  await again.kill();
});

test('a full disk: the sentence, the buttons, and the text that was typed is kept', async (t) => {
  if (!canMount) return t.skip('only root can mount a small disk');
  const { home, server, page } = await open(t, {
    prepare: async (home) => {
      await mkdir(home.vault);
      await run('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', home.vault]);
    },
    release: (home) => run('umount', ['-l', home.vault]),
  });
  await page.keyboard.press('e');
  await page.waitForSelector('textarea');
  await page.keyboard.press('Control+End');
  await page.keyboard.type('\nTyped before the disk was full.');
  const before = await home.read('main/Shop/Billing.md');
  await run('dd', ['if=/dev/zero', `of=${join(home.vault, '.fill')}`, 'bs=4096']).catch(() => undefined);
  // Nothing has told the page yet: the refusal says it, and the frame then says it for all places.
  await page.keyboard.press('Control+s');
  await page.locator('main', { hasText: /disk is full/ }).waitFor();
  await strip(page, /disk of the vault is full/);
  assert.deepEqual(await home.read('main/Shop/Billing.md'), before, 'nothing changed');
  const save = button(page, /^Save/);
  await until('Save is off', () => save.isDisabled());
  assert.match(await save.getAttribute('title'), /disk of the vault is full/);
  await page.reload();
  await until('the text is still there', async () => /Typed before the disk was full/.test(await page.inputValue('textarea').catch(() => '')));
  await page.goto(`${server.base}/#/note/main/Kitchen.md`);
  await page.waitForSelector('article');
  await isOff(page, /disk of the vault is full/);
  await rm(join(home.vault, '.fill'));
  await isOn(page);
  await page.goto(`${server.base}/${BILLING}?edit=1`);
  await until('Save is on', () => save.isEnabled(), 12_000);
  await save.click();
  await until('saved', async () => (await home.read('main/Shop/Billing.md')).includes('Typed before the disk was full.'));
});

test('a read-only vault: everything can be read, and every writing button says why it is off', async (t) => {
  if (!canMount) return t.skip('only root can make a vault read-only for itself');
  const { home, server, page } = await open(t, {
    prepare: async (home) => {
      await mkdir(home.vault);
      await run('mount', ['--bind', home.vault, home.vault]);
    },
    release: (home) => run('umount', ['-l', home.vault]),
  });
  // A file system with open files stays writable: the server starts on a read-only one.
  await server.kill();
  await run('mount', ['-o', 'remount,bind,ro', home.vault]);
  const again = await home.serve({ port: server.port });
  await page.reload();
  await strip(page, /read-only/);
  await page.waitForSelector('article');
  await isOff(page, /folder of the vault is read-only/);
  await page.goto(`${server.base}/#/now`);
  await page.waitForSelector('main [data-row]');
  await page.keyboard.press('j');
  await page.waitForSelector('.side button.primary');
  const back = page.locator('.side button.primary');
  assert.ok(await back.isDisabled());
  assert.match(await back.getAttribute('title'), /read-only/);
  await page.keyboard.press('u');
  await run('mount', ['-o', 'remount,bind,rw', home.vault]);
  await page.goto(`${server.base}/${BILLING}`);
  await page.waitForSelector('article');
  await isOn(page);
  await again.kill();
});

test('a map that is not placed yet says so, and never that there are no memories', async (t) => {
  const { server, made, page } = await open(t);
  let release;
  const held = new Promise((done) => (release = done));
  await made.route('**/api/page/map', async (route) => {
    await held;
    await route.continue();
  });
  await page.reload();
  await page.goto(`${server.base}/#/map`);
  const status = page.locator('.time [role=status]');
  await status.filter({ hasText: 'placing the memories…' }).waitFor({ timeout: 8000 });
  await page.locator('.sky .placing').waitFor();
  assert.doesNotMatch(await page.locator('main').innerText(), /\b0 memories/);
  assert.doesNotMatch(await page.locator('canvas').getAttribute('aria-label'), /\b0 memories/);
  release();
  await status.filter({ hasText: /now · [1-9]/ }).waitFor({ timeout: 8000 });
  assert.equal(await page.locator('.placing').count(), 0);
});
