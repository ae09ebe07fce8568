// Checks 11 to 15: reading, versions, blame, editing, conflicts.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { context, enter, fill, standUp, takeDown, until } from './support.mjs';

let home, server, browser;
before(async () => ({ home, server, browser } = await standUp()));
after(() => takeDown({ home, browser }));
const BILLING = '#/note/main/Shop/Billing.md';

test('links in with their sentence, mentions, the graph, and the offer to write what is missing', async () => {
  const made = await context(browser);
  const page = await enter(made, server, BILLING);
  await page.waitForSelector('.side svg a');
  const side = await page.textContent('.side');
  assert.match(side, /The audit wants every price of/);
  assert.match(side, /wants cents/);
  assert.match(side, /Then we rewrite\s*Billing/);
  const around = await server.get('note/around?project=main&path=Shop/Billing.md&depth=1');
  const names = await page.locator('.side svg a').evaluateAll((nodes) => nodes.map((node) => node.dataset.title).sort());
  assert.deepEqual(names, around.graph.nodes.map((node) => node.title).sort());
  // The same notes as the command's drawing, and the same links in as the agent's tool.
  const drawn = await home.json('show', 'main/Shop/Billing.md', '--graph', '--depth', '1');
  assert.deepEqual(around.graph.nodes.filter((node) => node.depth > 0).map((node) => node.path).sort(), drawn.notes.map((one) => one.path).sort());
  assert.deepEqual([...new Set(around.in.map((one) => one.path))].sort(), drawn.notes.filter((one) => one.direction !== 'out' && one.direction !== 'outgoing').map((one) => one.path).sort());
  await page.getByRole('link', { name: 'On-call' }).first().click();
  await page.waitForSelector('.empty');
  assert.match(await page.textContent('.empty'), /nobody has written it/);
  await page.getByRole('link', { name: 'Write it' }).click();
  await page.waitForSelector('textarea');
  await made.close();
});

test('the slider shows each version as `show --at` does', async () => {
  const made = await context(browser);
  const page = await enter(made, server, BILLING);
  const { items } = await server.get('note/versions?project=main&path=Shop/Billing.md');
  assert.ok(items.length >= 2);
  for (const version of items) {
    const told = await server.get(`note?project=main&path=Shop/Billing.md&at=${version.commit}`);
    assert.equal(told.text, await home.cli('show', 'main/Shop/Billing.md', '--at', version.commit, '--raw'), version.commit);
  }
  await page.waitForSelector('.track input');
  await page.focus('.track input');
  await page.keyboard.press('ArrowLeft');
  await until('the old version is shown', async () => /PostgreSQL 14/.test(await page.textContent('article')));
  assert.match(page.url(), /at=/);
  await page.keyboard.press('ArrowRight');
  await until('now is shown', async () => /PostgreSQL 16/.test(await page.textContent('article')) && !/at=/.test(page.url()));
  await made.close();
});

test('blame names the writer of every line', async () => {
  const agents = ['claude-code', 'cursor', 'codex', 'gemini-cli'];
  const first = await home.agent(agents[0]);
  await first.call('write_note', { title: 'Blamed', directory: 'b', project: 'main', content: 'line of claude-code\n\nmiddle\n\nend\n' });
  await first.close();
  for (const name of agents.slice(1)) {
    const agent = await home.agent(name);
    await agent.call('edit_note', { identifier: 'b/Blamed', operation: 'append', project: 'main', content: `\nline of ${name}\n` });
    await agent.close();
  }
  const file = (await home.read('main/b/Blamed.md')).toString();
  await home.file('main/b/Blamed.md', `${file}\nline of person\n`);
  await home.cli('scan');
  const blame = await server.get('note/blame?project=main&path=b/Blamed.md');
  const lines = (await home.read('main/b/Blamed.md')).toString().split('\n');
  let named = 0;
  for (const run of blame.runs) {
    for (let at = run.first; at < run.first + run.count; at += 1) {
      const match = /^line of (.+)$/.exec(lines[at - 1] ?? '');
      if (!match) continue;
      named += 1;
      assert.ok(run.client.startsWith(match[1]) || run.agent.key === match[1], `line ${at} is of ${match[1]}, not of ${run.client}`);
    }
  }
  assert.equal(named, 5);
  // Replayed from the log: the first version that has a line names its writer.
  const { items } = await server.get('note/versions?project=main&path=b/Blamed.md');
  const seen = new Map();
  for (const version of items.toReversed()) {
    const text = await home.cli('show', 'main/b/Blamed.md', '--at', version.commit, '--raw');
    for (const line of text.split('\n')) if (line && !seen.has(line)) seen.set(line, version.commit);
  }
  for (const run of blame.runs) {
    for (let at = run.first; at < run.first + run.count; at += 1) if (lines[at - 1]) assert.equal(run.commit, seen.get(lines[at - 1]), `line ${at}: ${lines[at - 1]}`);
  }
  const made = await context(browser);
  const page = await enter(made, server, '#/note/main/b/Blamed.md');
  await page.waitForSelector('article .run');
  assert.ok((await page.locator('article .who').allTextContents()).join(' ').includes('You'));
  await made.close();
});

test('writing begins at the line that was asked for', async () => {
  const made = await context(browser);
  const page = await enter(made, server, '#/note/main/Shop/Billing.md?edit=1&line=12');
  await page.waitForSelector('textarea');
  const before = async () => page.evaluate(() => document.querySelector('textarea').value.slice(0, document.querySelector('textarea').selectionStart));
  await until('the caret is there', async () => (await before()).split('\n').length === 12);
  await page.goto(`${server.base}/#/note/main/Shop/Currency.md?edit=1`);
  await until('at the beginning otherwise', async () => (await page.inputValue('textarea')).includes('Currency') && (await before()) === '');
  await made.close();
});

test('an edit of one word keeps every other byte, and the log says page', async () => {
  const before = Buffer.from('\ufeff# Windows\r\n\r\nfirst line  \r\n- [fact] Old word here #x <!-- obs_1 v1 2026-01-01T00:00:00Z -->\r\n\ttab\r\n\r\nlast without end', 'utf8');
  await home.file('main/Windows.md', before);
  await home.cli('scan');
  const made = await context(browser);
  const page = await enter(made, server, '#/note/main/Windows.md');
  await page.waitForSelector('article');
  await page.keyboard.press('e');
  await page.waitForSelector('textarea');
  const text = await page.inputValue('textarea');
  await page.fill('textarea', text.replace('Old word', 'New word'));
  await page.keyboard.press('Control+s');
  await until('the note is shown again', async () => (await page.locator('textarea').count()) === 0);
  const saved = await home.read('main/Windows.md');
  assert.equal(saved.toString(), before.toString().replace('Old word', 'New word'));
  const log = await home.json('log', '--limit', '1');
  assert.match(JSON.stringify(log), /"page"/);
  await made.close();
});

test('two who write different lines are merged; the same line is shown to both and nothing is written', async () => {
  const lines = Array.from({ length: 12 }, (_, at) => `line ${at + 1}`);
  const agent = await home.agent('claude-code');
  await agent.call('memory', { command: 'create', path: '/memories/merge.md', file_text: `${lines.join('\n')}\n` });
  const made = await context(browser);
  const page = await enter(made, server, '#/note/memories/merge.md?edit=1');
  await page.waitForSelector('textarea');
  const change = async (from, to) => page.fill('textarea', (await page.inputValue('textarea')).replace(from, to));
  await change('line 9', 'line 9 of the person');
  await agent.call('memory', { command: 'str_replace', path: '/memories/merge.md', old_str: 'line 3', new_str: 'line 3 of the agent' });
  await page.keyboard.press('Control+s');
  await until('merged', async () => (await page.locator('textarea').count()) === 0);
  let text = (await home.read('memories/merge.md')).toString();
  assert.match(text, /line 3 of the agent\n/);
  assert.match(text, /line 9 of the person\n/);

  await page.goto(`${server.base}/#/note/memories/merge.md?edit=1`);
  await page.waitForSelector('textarea');
  await change('line 5', 'line 5 as I want it');
  await agent.call('memory', { command: 'str_replace', path: '/memories/merge.md', old_str: 'line 5', new_str: 'line 5 as the agent wants it' });
  await page.keyboard.press('Control+s');
  await page.waitForSelector('[aria-label=Conflict]');
  const shown = await page.textContent('[aria-label=Conflict]');
  assert.match(shown, /as I want it/);
  assert.match(shown, /as the agent wants it/);
  text = (await home.read('memories/merge.md')).toString();
  assert.ok(!text.includes('as I want it'), 'written before it was decided');

  // The draft survives a reload, and a restart of the server.
  await page.reload();
  await until('the draft is there', async () => /as I want it/.test(await page.inputValue('textarea').catch(() => '')));
  const { port } = server;
  await server.kill();
  server = await home.serve({ port });
  await page.reload();
  await until('the draft is there after a restart', async () => /as I want it/.test(await page.inputValue('textarea').catch(() => '')), 8000);
  await page.keyboard.press('Control+s');
  await page.waitForSelector('[aria-label=Conflict]');
  await page.getByRole('button', { name: 'Both' }).click();
  await page.getByRole('button', { name: 'Save this' }).click();
  await until('saved', async () => (await page.locator('textarea').count()) === 0 && (await page.locator('[aria-label=Conflict]').count()) === 0);
  text = (await home.read('memories/merge.md')).toString();
  assert.match(text, /as I want it/);
  assert.match(text, /as the agent wants it/);
  await agent.close();
  await made.close();
});
