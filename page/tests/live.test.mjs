// Checks 17 and 18: live, without loss, with one stream for each browser.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { context, enter, standUp, takeDown, until } from './support.mjs';

let home, server, browser;
before(async () => ({ home, server, browser } = await standUp()));
after(() => takeDown({ home, browser }));

test('what an agent writes is on the screen at once', async (t) => {
  const made = await context(browser);
  const page = await enter(made, server);
  await page.waitForSelector('main [data-row]');
  await page.waitForTimeout(500);
  const agent = await home.agent('claude-code');
  const times = [];
  for (let at = 0; at < 10; at += 1) {
    const begun = performance.now();
    await agent.call('add_memory', { content: `Live sentence number ${at}`, type: 'fact', global: true });
    const written = performance.now();
    await page.waitForFunction((text) => document.querySelector('main')?.textContent.includes(text), `Live sentence number ${at}`, { timeout: 4000, polling: 20 });
    times.push(performance.now() - written);
    assert.ok(begun < written);
  }
  times.sort((a, b) => a - b);
  t.diagnostic(`acknowledged to seen: median ${times[5].toFixed(0)} ms, most ${times[9].toFixed(0)} ms`);
  const begun = performance.now();
  await home.file('main/By hand.md', '# By hand\n\nA sentence that a person typed in an editor.\n');
  await page.waitForFunction(() => /By hand|that a person typed/.test(document.querySelector('main').textContent), null, { timeout: 6000, polling: 20 });
  t.diagnostic(`an editor's save to seen: ${(performance.now() - begun).toFixed(0)} ms`);
  await agent.close();
  await made.close();
});

test('under a filter what passes it appears, and nothing else; a search and the history follow too', async () => {
  const made = await context(browser);
  const page = await enter(made, server);
  await page.waitForSelector('main [data-row]');
  await page.locator('figure[aria-label^=Writes] button', { hasText: 'Cursor' }).click();
  const rows = page.locator('main [data-row]');
  await until('only those of Cursor', async () => (await page.locator('.ledger section').evaluateAll((all) => all.every((one) => one.ariaLabel.startsWith('Cursor')))));
  const found = await made.newPage();
  await found.goto(`${server.base}/#/search?q=filtered%20sentence`);
  await found.waitForSelector('main .filters');
  const history = await made.newPage();
  await history.goto(`${server.base}/#/history?agent=cursor`);
  await history.waitForSelector('main [data-row]');
  await page.bringToFront();
  const [cursor, other] = [await home.agent('cursor-vscode'), await home.agent('codex-mcp-client')];
  await other.call('add_memory', { content: 'A filtered sentence of another agent.', type: 'note', global: true });
  await cursor.call('add_memory', { content: 'A filtered sentence of Cursor.', type: 'note', global: true });
  await rows.filter({ hasText: 'A filtered sentence of Cursor.' }).waitFor();
  await found.locator('main li', { hasText: 'sentence of another agent' }).waitFor();
  await history.locator('main [data-row]', { hasText: 'A filtered sentence of Cursor.' }).waitFor();
  assert.equal(await rows.filter({ hasText: 'of another agent' }).count(), 0);
  assert.equal(await history.locator('main [data-row]', { hasText: 'of another agent' }).count(), 0);
  await page.getByRole('button', { name: 'Show everything' }).click();
  await rows.filter({ hasText: 'of another agent' }).waitFor();
  await Promise.all([cursor.close(), other.close()]);
  await made.close();
});

test('8 processes write 200 notes; each appears once; a killed server loses nothing', async (t) => {
  const made = await context(browser);
  const page = await enter(made, server);
  await page.waitForSelector('main [data-row]');
  await page.evaluate(() => localStorage.removeItem('memoranda-seen'));
  const agents = await Promise.all(Array.from({ length: 8 }, (_, at) => home.agent(`agent-${at}`)));
  const begun = performance.now();
  await Promise.all(agents.map(async (agent, who) => {
    for (let at = 0; at < 25; at += 1) await agent.call('add_memory', { content: `Storm ${who}-${at}.`, type: 'note', global: true });
  }));
  const written = performance.now();
  const seen = () => page.evaluate(() => {
    const found = [...document.querySelectorAll('main [data-row]')].map((row) => row.textContent.match(/Storm \d-\d+\./)?.[0]).filter(Boolean);
    return { all: found.length, different: new Set(found).size };
  });
  await until('all 200 are there', async () => (await seen()).different === 200, 15000);
  t.diagnostic(`200 writes took ${(written - begun).toFixed(0)} ms, the last was seen ${(performance.now() - written).toFixed(0)} ms after that`);
  assert.deepEqual(await seen(), { all: 200, different: 200 });

  const { port } = server;
  await server.kill();
  await agents[0].call('add_memory', { content: 'Written while the server was away.', type: 'note', global: true });
  await page.waitForSelector('.strip');
  assert.equal(await page.locator('.strip').count(), 1, 'more than one notice');
  server = await home.serve({ port });
  await page.waitForFunction(() => document.querySelector('main').textContent.includes('Written while the server was away.'), null, { timeout: 15000 });
  await until('the notice goes', async () => (await page.locator('.strip').count()) === 0);
  assert.deepEqual(await seen(), { all: 200, different: 200 });
  await Promise.all(agents.map((agent) => agent.close()));
  await made.close();
});

test('an idle page asks for nothing', async () => {
  const made = await context(browser);
  const page = await enter(made, server);
  await page.waitForSelector('main [data-row]');
  await page.waitForTimeout(3000);
  const requests = [];
  made.on('request', (request) => requests.push(request.url()));
  const frames = await page.evaluate(async () => {
    // Animation frames that the page itself asks for.
    let asked = 0;
    const own = window.requestAnimationFrame;
    window.requestAnimationFrame = (run) => { asked += 1; return own(run); };
    await new Promise((done) => setTimeout(done, 4000));
    window.requestAnimationFrame = own;
    return asked + document.getAnimations().length;
  });
  assert.deepEqual(requests, []);
  assert.equal(frames, 0);
  await made.close();
});

test('nine tabs share one stream, and hidden tabs cost nothing', async () => {
  const made = await context(browser);
  const streams = new Set();
  const requests = [];
  made.on('request', (request) => {
    requests.push(request.url());
    if (request.url().includes('/api/page/events')) streams.add(request);
  });
  for (const gone of ['requestfinished', 'requestfailed']) made.on(gone, (request) => streams.delete(request));
  const pages = [await enter(made, server)];
  for (let at = 1; at < 9; at += 1) {
    const page = await made.newPage();
    await page.goto(server.base);
    await page.waitForSelector('main [data-row]');
    pages.push(page);
  }
  await until('one stream', () => streams.size === 1);
  const agent = await home.agent('cursor');
  await agent.call('add_memory', { content: 'Nine tabs see this.', type: 'note', global: true });
  for (const page of pages) await page.waitForFunction(() => document.querySelector('main').textContent.includes('Nine tabs see this.'), null, { timeout: 6000 });
  assert.equal(streams.size, 1);

  const hide = (page, state) => page.evaluate((value) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => value });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);
  for (const page of pages) await hide(page, 'hidden');
  await until('no stream', () => streams.size === 0);
  await new Promise((wait) => setTimeout(wait, 2500));
  requests.length = 0;
  await agent.call('add_memory', { content: 'Nobody looks.', type: 'note', global: true });
  await new Promise((wait) => setTimeout(wait, 1500));
  assert.deepEqual(requests, []);
  await hide(pages[3], 'visible');
  await pages[3].waitForFunction(() => document.querySelector('main').textContent.includes('Nobody looks.'), null, { timeout: 6000 });
  assert.equal(streams.size, 1);
  await agent.close();
  await made.close();
});
