// Checks 1, 20, 21, 22: offline, without sight, by keys alone, axe.

import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import { builtFolder, context, enter, fill, Home, launch, PLACES, tabTo, until } from './support.mjs';

const axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const homes = {};
let browser;
before(async () => {
  for (const kind of ['full', 'empty']) {
    const home = await Home.make();
    if (kind === 'full') await fill(home);
    homes[kind] = { home, server: await home.serve() };
  }
  browser = await launch();
});
after(async () => {
  await browser?.close();
  for (const { home } of Object.values(homes)) await home.remove();
});

const ADDRESSES = [...PLACES.map((place) => `#/${place}`), '#/note/main/Shop/Billing.md', '#/note/main/Shop/Billing.md?edit=1', '#/search?q=ledger', '#/facts/contradictions', '#/facts/rules', '#/facts/reminders', '#/facts?at=2026-01-01', '#/history/deleted', '#/history/compare', '#/care/bring', '#/care/keep', '#/care/settings', '#/care/orphans'];

test('every place works offline: no request elsewhere, no error, no report', async (t) => {
  const made = await context(browser);
  const { server } = homes.full;
  const page = await enter(made, server);
  for (const address of ADDRESSES) {
    await page.goto(`${server.base}/${address}`);
    await page.waitForTimeout(350);
  }
  assert.deepEqual(made.trouble.foreign, []);
  assert.deepEqual(made.trouble.console, []);
  assert.equal(await page.evaluate(() => document.cookie), '');
  const paint = await made.newPage();
  await paint.goto(server.base);
  await paint.waitForSelector('main [data-row]');
  const first = await paint.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
  t.diagnostic(`first contentful paint ${first?.toFixed(0)} ms, ledger after ${await paint.evaluate(() => Math.round(performance.now()))} ms`);
  await made.close();
});

test('the first load is at most 60 kB compressed, everything at most 700 kB', async (t) => {
  const size = async (name) => {
    const bytes = await readFile(`${builtFolder}/${name}`);
    return { raw: bytes.length, zipped: gzipSync(bytes, { level: 9 }).length };
  };
  const first = await Promise.all(['index.html', 'page.js', 'page.css', 'icon.svg'].map(size));
  const later = await Promise.all(['places.js', 'places.css'].map(size));
  const sum = (files, part) => files.reduce((whole, one) => whole + one[part], 0);
  const zipped = sum(first, 'zipped');
  const raw = sum(first, 'raw') + sum(later, 'raw');
  t.diagnostic(`first load ${zipped} bytes compressed, later ${sum(later, 'zipped')}; embedded ${raw}`);
  assert.ok(zipped <= 60_000, `${zipped}`);
  assert.ok(raw <= 700_000, `${raw}`);
});

test('axe finds nothing in any place, light and dark, small and large, empty and full', async () => {
  const found = [];
  for (const kind of ['full', 'empty']) {
    const { server } = homes[kind];
    for (const colorScheme of ['light', 'dark']) {
      for (const width of [390, 1440]) {
        const made = await context(browser, { colorScheme, viewport: { width, height: width === 390 ? 844 : 900 }, bypassCSP: true, reducedMotion: 'reduce' });
        const page = await enter(made, server);
        for (const address of kind === 'full' ? ADDRESSES : ADDRESSES.slice(0, 8)) {
          await page.goto(`${server.base}/${address}`);
          await page.waitForTimeout(350);
          await page.evaluate(axeSource);
          const { violations } = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
          for (const one of violations) found.push(`${kind} ${colorScheme} ${width} ${address}: ${one.id}: ${one.nodes.slice(0, 3).map((node) => `${node.target} ${node.failureSummary?.split('\n')[1] ?? ''}`).join(' | ')}`);
          const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          if (over > 0) found.push(`${kind} ${width} ${address}: ${over} px too wide`);
        }
        await made.close();
      }
    }
  }
  assert.deepEqual([...new Set(found)], []);
});

test('at 200 % and 400 % zoom nothing is lost', async () => {
  const { server } = homes.full;
  for (const viewport of [{ width: 720, height: 450 }, { width: 360, height: 225 }]) {
    const made = await context(browser, { viewport });
    const page = await enter(made, server);
    for (const address of ADDRESSES) {
      await page.goto(`${server.base}/${address}`);
      await page.waitForTimeout(250);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, `${viewport.width} ${address}`);
    }
    await made.close();
  }
});

test('the map without sight: the same memories as a list, by keys, announced; nothing moves', async () => {
  const made = await context(browser, { reducedMotion: 'reduce' });
  const { server } = homes.full;
  const page = await enter(made, server, '#/map');
  await page.waitForSelector('.twin li');
  const map = await server.get('map');
  assert.equal(await page.locator('.twin li').count(), Math.min(60, map.count));
  await page.keyboard.press('j');
  await page.waitForSelector('.twin li.chosen');
  const name = (await page.textContent('.twin li.chosen .serif')).trim();
  await until('it is announced', async () => (await page.locator('[aria-live=polite]').last().textContent()).includes(name));
  assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
  await page.keyboard.press('p');
  await page.waitForTimeout(300);
  assert.match(await page.textContent('.time'), /memor/);
  const again = await server.get('map');
  assert.deepEqual(again.columns.x, map.columns.x);
  await page.keyboard.press('Enter');
  await page.waitForSelector('article');
  await made.close();
});

test('by keys alone: a setting, a client, files', async () => {
  const made = await context(browser);
  const { server, home } = homes.full;
  const page = await enter(made, server);
  await page.waitForSelector('main [data-row]');
  await page.keyboard.press('8');
  await page.waitForSelector('main h1');
  await tabTo(page, /Settings$/);
  await page.keyboard.press('Enter');
  await page.waitForSelector('#setting-default_project');
  await tabTo(page, /setting-default_project/);
  await page.keyboard.press('Control+a');
  await page.keyboard.type('work');
  await page.keyboard.press('Enter');
  await until('it is written', async () => (await home.cli('config', 'get', 'default_project')).trim() === 'work');
  await tabTo(page, /^\s+reset$/);
  await page.keyboard.press('Enter');
  await until('it is reset', async () => (await home.cli('config', 'get', 'default_project')).trim() === 'main');

  await mkdir(join(home.folder, '.cursor'), { recursive: true });
  const file = join(home.folder, '.cursor', 'mcp.json');
  await writeFile(file, '{}\n');
  await page.keyboard.press('Escape');
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('7');
  await page.waitForSelector('main section[aria-label=Cursor] button');
  await tabTo(page, /Connect…$/);
  await page.keyboard.press('Enter');
  await tabTo(page, /Write it$/);
  await page.keyboard.press('Enter');
  await until('it is connected', async () => (await readFile(file, 'utf8')).includes('memoranda'));

  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('>');
  await page.keyboard.type('care');
  await page.keyboard.press('Enter');
  await page.waitForSelector('main h1');
  await tabTo(page, /Bring$/);
  await page.keyboard.press('Enter');
  await page.waitForSelector('input[type=file]');
  const chooser = page.waitForEvent('filechooser');
  for (let at = 0; at < 60 && (await page.evaluate(() => document.activeElement.type)) !== 'file'; at += 1) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await (await chooser).setFiles([{ name: 'By keys.md', mimeType: 'text/markdown', buffer: Buffer.from('# By keys\n\nBrought without a mouse.\n') }]);
  await page.waitForSelector('text=/^Bring 1/');
  await tabTo(page, /Bring 1$/);
  await page.keyboard.press('Enter');
  await page.waitForSelector('text=Brought from');
  await tabTo(page, /Take all of it back/);
  await page.keyboard.press('Enter');
  await until('it is gone', async () => (await page.getByText('Brought from').count()) === 0);
  await made.close();
});

test('by keys alone: search, open, edit, undo, review, help; the focus is always visible', async () => {
  const made = await context(browser);
  const { server, home } = homes.full;
  const page = await enter(made, server);
  await page.waitForSelector('main [data-row]');
  await page.keyboard.press('?');
  await page.waitForSelector('dialog[open]');
  const help = await page.textContent('dialog');
  for (const word of ['next line', 'open', 'edit', 'take back', 'select several', 'keep', 'search']) assert.ok(help.includes(word), word);
  await page.keyboard.press('Escape');
  await until('closed', async () => (await page.locator('dialog[open]').count()) === 0);
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await until('two selected', async () => (await page.locator('li.marked').count()) === 2);
  await page.keyboard.press('Escape');
  // Twenty of an agent are reviewed: kept with one key each, and the last taken back.
  const agent = await home.agent('gemini-cli-mcp-client');
  for (let at = 0; at < 20; at += 1) await agent.call('add_memory', { content: `To be reviewed, number ${at}`, type: 'note', global: true });
  await agent.close();
  await until('all are there', async () => (await page.locator('main [data-row]', { hasText: 'To be reviewed' }).count()) === 20);
  await page.keyboard.press('j');
  for (let at = 0; at < 20; at += 1) {
    await page.keyboard.press(' ');
    await until(`${at + 1} kept`, async () => (await page.locator('li.kept').count()) === at + 1);
  }
  await page.keyboard.press('Control+k');
  await page.keyboard.type('billing ledger');
  await page.waitForSelector('main li .title');
  await page.waitForTimeout(300);
  await page.keyboard.press('Enter');
  await page.waitForSelector('article');
  await page.keyboard.press('e');
  await page.waitForSelector('textarea:focus');
  await page.keyboard.press('Control+End');
  await page.keyboard.type('\nTyped by keys alone.');
  await page.keyboard.press('Control+s');
  await until('saved', async () => (await page.locator('textarea').count()) === 0);
  await until('it is in the file', async () => (await home.cli('search', 'typed by keys alone')).includes('keys alone'));
  await page.keyboard.press('>');
  await page.keyboard.type('history');
  await page.keyboard.press('Enter');
  await until('history', () => page.url().endsWith('#/history'));
  // Around the page by Tab: every stop is visible, and it ends.
  const stops = new Set();
  let last = -1;
  await page.waitForSelector('main [data-row]');
  for (let at = 0; at < 400; at += 1) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate(() => {
      const node = document.activeElement;
      if (!node || node === document.body) return null;
      window.__stops ??= new Map();
      if (!window.__stops.has(node)) window.__stops.set(node, window.__stops.size);
      const style = getComputedStyle(node);
      const row = node.closest('li') && getComputedStyle(node.closest('li'));
      const ring = (one) => one && one.outlineStyle !== 'none' && parseFloat(one.outlineWidth) > 0;
      return { id: window.__stops.get(node), visible: ring(style) || ring(row) || ring(node.parentElement && getComputedStyle(node.parentElement)) || node.tagName === 'CIRCLE', name: node.outerHTML.slice(0, 90) };
    });
    if (!stop) break;
    assert.ok(stop.visible, `focus is not visible: ${stop.name}`);
    // A date field takes several presses.
    if (stops.has(stop.id) && stop.id !== last) break;
    last = stop.id;
    stops.add(stop.id);
  }
  assert.ok(stops.size > 12, `${stops.size} stops`);
  await made.close();
});
