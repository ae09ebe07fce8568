// Check 16: taking back, with the difference first, from three places.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { context, enter, standUp, takeDown, until } from './support.mjs';

let home, server, browser;
before(async () => ({ home, server, browser } = await standUp()));
after(() => takeDown({ home, browser }));
const commits = async () => (await server.get('status')).counts.commits;

test('from the ledger: u takes back, u again brings back', async () => {
  const agent = await home.agent('claude-code');
  await agent.call('memory', { command: 'create', path: '/memories/ledger.md', file_text: 'before\n' });
  const bytes = await home.read('memories/ledger.md');
  await agent.call('memory', { command: 'str_replace', path: '/memories/ledger.md', old_str: 'before', new_str: 'after' });
  const changed = await home.read('memories/ledger.md');
  await agent.close();
  const made = await context(browser);
  const page = await enter(made, server);
  await page.waitForSelector('main [data-row]');
  await page.keyboard.press('j');
  await page.waitForSelector('.side del');
  assert.match(await page.textContent('.side figure'), /before/);
  assert.deepEqual(await home.read('memories/ledger.md'), changed, 'only the preview was asked for');
  await page.keyboard.press('u');
  await until('taken back', async () => (await home.read('memories/ledger.md')).equals(bytes));
  await page.waitForSelector('li.chosen.undone');
  await until('the way back is shown', async () => /Bring back/i.test(await page.textContent('.side')) && (await page.locator('.side button.primary:enabled').count()) === 1);
  await page.keyboard.press('u');
  await until('brought back', async () => (await home.read('memories/ledger.md')).equals(changed));
  await made.close();
});

test('from the history: u takes back, u again brings back; and from the note', async () => {
  const agent = await home.agent('cursor');
  await agent.call('memory', { command: 'create', path: '/memories/history.md', file_text: 'one\n' });
  const one = await home.read('memories/history.md');
  await agent.call('memory', { command: 'str_replace', path: '/memories/history.md', old_str: 'one', new_str: 'two' });
  const two = await home.read('memories/history.md');
  await agent.close();
  const made = await context(browser);
  const page = await enter(made, server, '#/history');
  await page.waitForSelector('main [data-row]');
  await page.keyboard.press('j');
  await page.waitForSelector('.detail figure');
  // What the key will do is shown before it is pressed.
  await page.waitForSelector('.detail button.primary:enabled');
  assert.match(await page.textContent('.detail section'), /Taking it back will.*1 file/s);
  assert.deepEqual(await home.read('memories/history.md'), two);
  await page.keyboard.press('u');
  await until('taken back', async () => (await home.read('memories/history.md')).equals(one));
  const isReady = async (words) => words.test(await page.textContent('.detail')) && (await page.locator('.detail button.primary:enabled').count()) === 1;
  await until('the way back is shown', () => isReady(/Bringing it back will/));
  await page.keyboard.press('u');
  await until('brought back', async () => (await home.read('memories/history.md')).equals(two));
  await until('it can be taken back again', () => isReady(/Taking it back will/));
  await page.keyboard.press('u');
  await until('taken back again', async () => (await home.read('memories/history.md')).equals(one));

  await page.goto(`${server.base}/#/note/memories/history.md`);
  await page.waitForSelector('article');
  await page.waitForTimeout(300);
  await page.keyboard.press('u');
  await page.waitForSelector('main button.primary:enabled');
  assert.deepEqual(await home.read('memories/history.md'), one);
  await page.keyboard.press('u');
  await until('the undo is undone', async () => (await home.read('memories/history.md')).equals(two));
  await made.close();
});

test('a whole conversation of 30 writes is one commit', async () => {
  const agent = await home.agent('codex');
  for (let at = 0; at < 30; at += 1) await agent.call('memory', { command: 'create', path: `/memories/many/${at}.md`, file_text: `${at}\n` });
  await agent.close();
  const before = await commits();
  const made = await context(browser);
  const page = await enter(made, server);
  await page.getByRole('link', { name: /30 in this conversation/ }).click();
  await page.getByRole('button', { name: 'Take back this conversation' }).click();
  await page.waitForSelector('.detail button.primary:enabled');
  assert.match(await page.textContent('.detail'), /30 (changes|files)/);
  await page.locator('.detail button.primary').click();
  await until('all are gone', async () => (await Promise.all(Array.from({ length: 30 }, (_, at) => home.read(`memories/many/${at}.md`).then(() => 1, () => 0)))).every((one) => one === 0));
  assert.equal(await commits(), before + 1);
  await made.close();
});
