// Checks 8 to 10: search as you type, why, and nothing relevant.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { context, enter, fill, launch, standUp, takeDown, until } from './support.mjs';

let home, server, browser;
before(async () => {
  ({ home, server, browser } = await standUp(async (home) => {
    const agent = await home.agent('claude-code');
    await agent.call('write_note', { title: 'Straße', directory: 'words', project: 'main', content: '# Straße\n\nDie große Straße führt zum Café\u0301. 🚀 rocket launch. 東京タワー is tall.\n' });
    for (let at = 0; at < 60; at += 1) await agent.call('write_note', { title: `Runbook ${at}`, directory: 'ops', project: 'main', content: `# Runbook ${at}\n\nWhen service ${at} pages, look at the deploy of step ${at % 7} and the ledger queue.\n` });
    await agent.close();
  }));
});
after(() => takeDown({ home, browser }));

test('search as you type: the last query wins and the list never goes bare', async (t) => {
  const made = await context(browser);
  const page = await enter(made, server, '#/search');
  await page.waitForSelector('main li');
  await page.evaluate(() => {
    window.__bare = 0;
    new MutationObserver(() => {
      if (document.querySelectorAll('main li').length === 0) window.__bare += 1;
    }).observe(document.querySelector('main'), { childList: true, subtree: true });
  });
  await page.keyboard.press('/');
  const words = 'ledger queue deploy runbook service step';
  for (const key of words.slice(0, 40)) {
    await page.keyboard.type(key);
    await page.waitForTimeout(50);
  }
  await until('the last query is shown', () => page.evaluate((q) => decodeURIComponent(location.hash.replaceAll('+', ' ')).endsWith(`q=${q}`), words.slice(0, 40)));
  await page.waitForTimeout(400);
  const expected = await server.get(`search?q=${encodeURIComponent(words.slice(0, 40))}&limit=20&nearest=true`);
  const first = expected.hits[0].title.map((one) => one.text).join('');
  assert.equal((await page.textContent('main li .title')).trim(), first);
  assert.equal(await page.evaluate(() => window.__bare), 0, 'the list was empty in between');
  const times = await page.evaluate(() => performance.getEntriesByName('memoranda-search').map((one) => one.duration));
  times.sort((a, b) => a - b);
  t.diagnostic(`key to results, ${times.length} searches: median ${times[times.length >> 1].toFixed(0)} ms, p95 ${times[Math.floor(times.length * 0.95)].toFixed(0)} ms`);
  await made.close();
});

test('marks are right for ß, combining marks, emoji and Chinese characters', async () => {
  const made = await context(browser);
  for (const [query, mark] of [['straße', /stra(ß|ss)e/i], ['cafe\u0301', /Cafe?\u0301|Café/i], ['rocket', /rocket/], ['東京', /東京/]]) {
    const page = await enter(made, server, `#/search?q=${encodeURIComponent(query)}`);
    await page.waitForSelector('main li mark');
    const marks = await page.locator('main li mark').allTextContents();
    assert.ok(marks.some((one) => mark.test(one)), `${query}: ${marks}`);
    const text = await page.textContent('main ul');
    assert.ok(!text.includes('\ufffd'), 'a character was cut');
    await page.close();
  }
  await made.close();
});

test('an input method does not search half a word', async () => {
  const made = await context(browser);
  const page = await enter(made, server, '#/search');
  await page.waitForSelector('main li');
  const asked = [];
  page.on('request', (request) => request.url().includes('/api/page/search?') && asked.push(request.url()));
  await page.evaluate(() => {
    const input = document.querySelector('input[type=search]');
    input.focus();
    input.dispatchEvent(new CompositionEvent('compositionstart'));
    for (const text of ['t', 'to', 'と']) {
      input.value = text;
      input.dispatchEvent(new InputEvent('input', { bubbles: true, isComposing: true }));
    }
    input.value = '東京';
    input.dispatchEvent(new InputEvent('input', { bubbles: true, isComposing: true }));
    input.dispatchEvent(new CompositionEvent('compositionend'));
  });
  await until('the composed word is searched', () => asked.some((url) => url.includes(encodeURIComponent('東京'))));
  assert.equal(asked.length, 1, asked.join('\n'));
  await made.close();
});

test('the reasons equal those of the command line', async () => {
  const query = 'ledger postgres';
  const made = await context(browser);
  const page = await enter(made, server, `#/search?q=${encodeURIComponent(query)}`);
  await page.waitForSelector('main li');
  const [told, cli] = await Promise.all([server.get(`search?q=${encodeURIComponent(query)}&limit=20`), home.json('search', query, '--explain')]);
  const rows = cli.results ?? cli.hits ?? cli.items ?? cli;
  const explained = new Map(rows.map((row) => [`${row.project}/${row.path}`, row]));
  assert.ok(told.hits.length > 0);
  let compared = 0;
  for (const hit of told.hits) {
    const row = explained.get(`${hit.project}/${hit.path}`);
    if (!row) continue;
    compared += 1;
    // Recency changes from one moment to the next; everything else is the same number.
    const numbers = (why) => Object.fromEntries(why.filter((one) => one.signal !== 'recency').map((one) => [one.signal, one.amount.toFixed(6)]));
    assert.deepEqual(numbers(hit.why), numbers(row.why), hit.path);
    assert.ok(Math.abs(row.score - hit.score) < 1e-6, `${hit.path}: ${row.score} and ${hit.score}`);
    assert.ok(Math.abs(row.relevance - hit.relevance) < 1e-6, `${hit.path}: ${row.relevance} and ${hit.relevance}`);
  }
  assert.ok(compared > 0, 'no hit in common');
  await page.locator('main li summary').first().click();
  const table = await page.textContent('main li details table');
  for (const reason of told.hits[0].why) assert.ok(table.includes(reason.signal), `${reason.signal} is not shown: ${table}`);
  for (const { amount } of told.hits[0].why.filter((one) => one.signal !== 'recency')) {
    const shown = [...table.matchAll(/-?\d+\.\d+/g)].map(([text]) => Number(text));
    assert.ok(shown.some((one) => Math.abs(one - amount) < 1e-4), `${amount} is not shown: ${table}`);
  }
  await made.close();
});

test('as the agent gets it: byte for byte the tool’s answer', async () => {
  const made = await context(browser);
  const page = await enter(made, server, '#/search?q=ledger&view=agent');
  await page.waitForSelector('.answer');
  const shown = await page.evaluate(() => document.querySelector('.answer').textContent);
  const asked = await server.get('search/agent?q=ledger');
  const agent = await home.agent('claude-code');
  const text = await agent.call(asked.tool, asked.arguments);
  await agent.close();
  assert.equal(asked.text, text);
  assert.equal(shown, text);
  await made.close();
});

test('the filter of an agent shows what that agent wrote, also beyond the first hits, and without words', async () => {
  const made = await context(browser);
  // 60 runbooks of Claude Code rank before the one note of Cursor.
  for (const query of ['q=ledger&', '']) {
    const page = await enter(made, server, `#/search?${query}agent=cursor`);
    await page.waitForSelector('main li');
    const titles = (await page.locator('main li .title').allTextContents()).map((title) => title.trim());
    const log = await home.json('log', '--limit', '200');
    const last = new Map();
    for (const commit of log.commits.toReversed()) for (const file of commit.files) last.set(`${file.project}/${file.path}`, commit.client);
    const { hits } = await server.get(`search?${query}agent=cursor&limit=20`);
    assert.equal(titles.length, hits.length);
    assert.ok(titles.includes('Audit 2026'), titles.join());
    for (const hit of hits) assert.match(last.get(`${hit.project}/${hit.path}`), /^cursor/, hit.path);
    await page.close();
  }
  await made.close();
});

test('nothing relevant says so, keeps the filters, and clearing brings everything back', async () => {
  const made = await context(browser);
  const page = await enter(made, server, '#/search?q=zxqv%20wvutz%20qqqq&project=main');
  await page.waitForSelector('main .none');
  assert.match(await page.textContent('main .none'), /Nothing has to do with this/);
  assert.equal(await page.locator('select[aria-label=Project]').inputValue(), 'main');
  await page.fill('input[type=search]', '');
  await until('everything is back', async () => (await page.locator('main li').count()) >= 20 && (await page.locator('main .none').count()) === 0);
  assert.ok(!/no memories yet/i.test(await page.textContent('main')));
  await made.close();
});
