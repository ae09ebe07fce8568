// Parts of checks 24 and 25: true numbers, a read-only server, no leaks.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { context, enter, fill, Home, launch, PLACES } from './support.mjs';

let home, server, browser;
before(async () => {
  home = await Home.make();
  await fill(home);
  server = await home.serve();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await home?.remove();
});

test('the counts of the page equal those of the command line', async () => {
  const made = await context(browser);
  const page = await enter(made, server, '#/care');
  await page.waitForSelector('dl dd');
  const status = await server.get('status');
  const log = await home.json('log', '--limit', '200');
  const commits = (log.commits ?? log.items ?? log).length;
  assert.equal(status.counts.commits, commits);
  const shown = await page.locator('dl').first().textContent();
  for (const number of [status.counts.notes, status.counts.observations, status.counts.commits]) assert.ok(shown.includes(String(number)), `${number} in ${shown}`);
  const cli = await home.cli('status');
  assert.match(cli, new RegExp(`notes +${status.counts.notes}\\b`));
  assert.match(cli, new RegExp(`facts +${status.counts.observations}\\b`));
  await made.close();
});

test('a read-only server: nothing can be written, and the buttons say why', async () => {
  const other = await home.serve({ args: ['--read-only'] });
  const made = await context(browser);
  const page = await enter(made, other, '#/note/main/Shop/Billing.md');
  await page.waitForSelector('article');
  const edit = page.getByRole('button', { name: /^edit/ });
  assert.ok(await edit.isDisabled());
  assert.match(await edit.getAttribute('title'), /read-only/);
  const session = await other.session();
  const response = await fetch(`${other.base}/api/page/note`, { method: 'PUT', headers: { Authorization: `Bearer ${session}`, 'Content-Type': 'application/json' }, body: JSON.stringify({ project: 'main', path: 'New.md', text: 'x', expected: null }) });
  assert.equal(response.status, 403);
  await made.close();
  await other.kill();
});

test('300 walks through the places leave heap and nodes as they were', async (t) => {
  const made = await context(browser);
  const page = await enter(made, server);
  const devtools = await made.newCDPSession(page);
  const walk = async (times) => {
    for (let at = 0; at < times; at += 1) {
      await page.evaluate((place) => (location.hash = `#/${place}`), PLACES[at % PLACES.length]);
      await page.waitForTimeout(25);
    }
    await page.evaluate(() => (location.hash = '#/care'));
    await page.waitForTimeout(600);
    await devtools.send('HeapProfiler.collectGarbage');
    const { usedSize } = await devtools.send('Runtime.getHeapUsage');
    const { nodes } = await devtools.send('Memory.getDOMCounters');
    return { usedSize, nodes };
  };
  const first = await walk(60);
  const second = await walk(300);
  t.diagnostic(`heap ${(first.usedSize / 1e6).toFixed(1)} MB, then ${(second.usedSize / 1e6).toFixed(1)} MB; nodes ${first.nodes}, then ${second.nodes}`);
  assert.ok(second.usedSize < first.usedSize * 1.1 + 500_000, 'the heap grew');
  assert.ok(second.nodes < first.nodes * 1.1 + 200, 'nodes stayed');
  await made.close();
});
