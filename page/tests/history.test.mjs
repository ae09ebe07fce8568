// History keeps its filters, compares everything, and no address breaks a place.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { context, enter, standUp, takeDown, until } from './support.mjs';

let home, server, browser;
before(async () => {
  ({ home, server, browser } = await standUp(async (home) => {
    for (let at = 0; at < 70; at += 1) await home.file(`main/many/${at}.md`, `# Number ${at}\n`);
    await home.cli('scan');
    for (let at = 0; at < 3; at += 1) await home.file(`../folder/${at}.md`, `# Other ${at}\n`);
    await home.cli('project', 'add', 'other', join(home.folder, 'folder'));
  }));
});
after(() => takeDown({ home, browser }));

test('a chosen change keeps the filters', async () => {
  const made = await context(browser);
  const page = await enter(made, server, '#/history?agent=cursor&project=main');
  await page.waitForSelector('main [data-row]');
  const rows = await page.locator('main [data-row]').count();
  const all = (await server.get('history?limit=100')).items.length;
  assert.ok(rows < all, `${rows} of ${all}`);
  await page.locator('main [data-row]').first().click();
  await page.waitForSelector('.detail figure');
  assert.match(await page.evaluate(() => location.hash), /^#\/history\/\w+\?.*agent=cursor/);
  assert.equal(await page.locator('main [data-row]').count(), rows);
  await made.close();
});

test('a folder that is followed from now on is one thing, and none of its files', async () => {
  const made = await context(browser);
  const page = await enter(made, server);
  const row = page.locator('main li', { hasText: 'Began to follow other (3 files)' });
  await row.waitFor();
  assert.equal(await row.locator('.chip').count(), 0, 'its number is said once');
  assert.equal((await row.locator('.path').innerText()).trim(), 'other/');
  assert.match(await row.locator('[data-row]').getAttribute('href'), /^#\/history\//);
  await made.close();
});

test('two moments are compared in full, page by page', async () => {
  const made = await context(browser);
  const page = await enter(made, server, '#/history/compare');
  await page.waitForSelector('main li .name');
  const { total } = await server.get(`history/compare?from=${encodeURIComponent(new Date(Date.now() - 7 * 86_400_000).toISOString())}&to=now`);
  assert.ok(total > 70);
  assert.match(await page.textContent('main'), new RegExp(`${total} files differ`));
  await until('every file is listed', async () => {
    const more = page.getByRole('button', { name: 'More' });
    if (await more.count()) await more.click().catch(() => undefined);
    return (await page.locator('main li .name').count()) === total;
  });
  await made.close();
});

test('addresses that mean nothing break no place', async () => {
  const made = await context(browser);
  const page = await enter(made, server);
  const addresses = {
    '#/history/compare?from=garbage&to=x': /files? differ/,
    '#/facts?at=garbage': /Facts and rules/,
    '#/facts?at=99999-99-99': /Facts and rules/,
    '#/care/constructor': /All is well/,
    '#/note/%E0%A4%A': /Notes/,
    '#/note/main/Shop/Billing.md?at=zzzz': /no such version/,
    '#/note/main/Shop/Billing.md?edit=1&line=1e99': /Only the lines that you change/,
    '#/nowhere': /things? since/,
    '#c=%E0%A4%A': /things? since/,
  };
  for (const [address, expected] of Object.entries(addresses)) {
    await page.goto('about:blank');
    await page.goto(`${server.base}/${address}`);
    await until(`${address} shows ${expected}`, async () => expected.test((await page.textContent('body')) ?? ''));
  }
  // What the server refuses is named in the place, and in the browser's own log.
  assert.deepEqual(made.trouble.console.filter((text) => !/the server responded with a status of 4/.test(text)), []);
  await made.close();
});
