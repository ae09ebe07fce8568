// Checks 6 and 7: hostile text everywhere is text, and nothing calls home.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { CORPUS } from './corpus.mjs';
import { context, enter, Home, launch, PLACES } from './support.mjs';

let home, server, browser;
const TITLES = ['<img src=x onerror=window.__ran=1>', '"><svg onload=window.__ran=1>', 'gnp\u202eexe', '[[nested]] # heading', "javascript:window.__ran=1"];

before(async () => {
  home = await Home.make();
  const agent = await home.agent('<img src=x onerror=window.__ran=1>', '"><script>window.__ran=1</script>');
  const size = 25;
  for (let at = 0; at < CORPUS.length; at += size) {
    const part = CORPUS.slice(at, at + size);
    await agent.call('write_note', { title: `Corpus ${at}`, directory: 'hostile', project: 'main', tags: ['<b>tag</b>'], content: `# Corpus ${at}\n\n${part.join('\n\n')}\n` });
  }
  for (const title of TITLES) await agent.call('write_note', { title, directory: 'titles', project: 'main', content: `${title}\n\n- [fact] about ${title}\n` }).catch(() => undefined);
  await agent.call('memory', { command: 'create', path: '/memories/<img src=x onerror=window.__ran=1>.md', file_text: CORPUS.slice(0, 40).join('\n\n') }).catch(() => undefined);
  for (const text of CORPUS.slice(0, 30)) await agent.call('add_memory', { content: text, type: 'rule', global: true }).catch(() => undefined);
  await agent.call('create_entities', { threadId: 'x', entities: [{ name: '<svg onload=window.__ran=1>', entityType: '<b>', observations: CORPUS.slice(0, 10) }] }).catch(() => undefined);
  await agent.call('write_note', { title: 'Opposed', directory: 'hostile', project: 'main', content: '# Opposed\n\n- [<b>x</b>] <img src=x onerror=window.__ran=1> threads 8\n- [<b>x</b>] <img src=x onerror=window.__ran=1> threads 16\n- [fact] <svg onload=window.__ran=1> handles large files\n- [fact] <svg onload=window.__ran=1> never handles large files\n' });
  // A second version of each, so that diffs and sliders have something to show.
  for (let at = 0; at < CORPUS.length; at += size) {
    await agent.call('edit_note', { identifier: `hostile/Corpus ${at}`, operation: 'append', project: 'main', content: `\n${CORPUS[at]}\n<img src=x onerror=window.__ran=1> appended\n` });
  }
  await agent.close();
  await home.file('main/files/<img src=x onerror=window.__ran=1>.md', CORPUS.slice(0, 20).join('\n\n')).catch(() => undefined);
  await home.file('main/files/page.html', '<script>window.__ran=1</script>');
  await home.file('main/files/picture.svg', '<svg xmlns="http://www.w3.org/2000/svg" onload="window.__ran=1"><script>window.__ran=1</script></svg>');
  await home.cli('scan');
  server = await home.serve();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await home?.remove();
});

test(`the corpus has at least 200 strings`, () => assert.ok(CORPUS.length >= 200, String(CORPUS.length)));

test('hostile text is shown in every place and runs nothing', async () => {
  const made = await context(browser);
  const page = await enter(made, server);
  const settle = async (address) => {
    await page.goto(`${server.base}/${address}`);
    await page.waitForTimeout(220);
    const found = await page.evaluate(() => ({
      ran: window.__ran ?? 0,
      foreign: [...document.querySelectorAll('#page script, #page iframe, #page object, #page embed, #page style, #page link, #page base, #page meta, #page video, #page audio, #page marquee, #page math, #page form[action]')].map((node) => node.outerHTML.slice(0, 80)),
      handlers: [...document.querySelectorAll('#page *')].filter((node) => [...node.attributes].some((one) => one.name.startsWith('on'))).length,
      schemes: [...document.querySelectorAll('#page a[href]')].map((node) => node.getAttribute('href')).filter((href) => !/^(#|https?:\/\/|mailto:)/.test(href)),
      images: [...document.querySelectorAll('#page img')].map((node) => node.src).filter((src) => !src.startsWith('blob:')),
    }));
    assert.deepEqual(found, { ran: 0, foreign: [], handlers: 0, schemes: [], images: [] }, address);
  };
  for (const place of PLACES) await settle(`#/${place}`);
  await settle('#/facts/contradictions');
  assert.ok((await page.locator('.pair').count()) >= 1, 'hostile facts contradict each other');
  await settle('#/facts/rules');
  await page.getByRole('button', { name: 'The file it becomes' }).first().click();
  await page.waitForSelector('figure pre');
  await settle('#/facts/rules');
  await settle('#/facts/reminders');
  for (const list of ['orphans', 'dead_links', 'duplicates', 'secrets', 'unreadable']) await settle(`#/care/${list}`);
  await settle('#/care/bring');
  await page.locator('input[type=file]').first().setInputFiles([{ name: '<img src=x onerror=window.__ran=1>.md', mimeType: 'text/markdown', buffer: Buffer.from(CORPUS.join('\n\n')) }]);
  await page.waitForSelector('text=/would come|This is/');
  await page.getByRole('button', { name: /^Bring \d/ }).click();
  await page.waitForSelector('text=Brought from');
  await settle('#/now');
  await page.keyboard.press('j');
  await page.waitForSelector('.side figure');
  await settle('#/care/settings');
  await settle('#/history/deleted');
  const shown = [];
  for (let at = 0; at < CORPUS.length; at += 25) {
    const path = `#/note/main/hostile/${encodeURIComponent(`Corpus ${at}.md`)}`;
    await settle(path);
    shown.push(await page.evaluate(() => document.querySelector('article')?.textContent ?? ''));
    const versions = await server.get(`note/versions?project=main&path=${encodeURIComponent(`hostile/Corpus ${at}.md`)}`);
    assert.ok(versions.items.length >= 2);
    await settle(`${path}?at=${versions.items.at(-1).commit}`);
    await settle(`#/history/${versions.items[0].commit}`);
  }
  await settle(`#/note/main/hostile/${encodeURIComponent('Corpus 0.md')}?edit=1`);
  await page.waitForTimeout(400);
  for (const text of CORPUS.slice(0, 25)) await settle(`#/search?q=${encodeURIComponent(text)}`);
  // Shown faithfully: what would have been markup stands there as text.
  const all = shown.join('\n');
  for (const word of ['<script>window.__ran', '<svg', 'onerror=', 'javascript:', '<meta http-equiv=refresh', 'U+202E', 'U+200B']) assert.ok(all.includes(word), `not shown: ${word}`);
  assert.deepEqual(made.trouble.dialogs, []);
  assert.deepEqual(made.trouble.foreign, []);
  assert.deepEqual(made.trouble.console, []);
  await made.close();
});

test('no beacon leaves the page, also on hover and in the preview', async () => {
  const agent = await home.agent('codex');
  await agent.call('write_note', { title: 'Beacons', directory: 'hostile', project: 'main', content: CORPUS.filter((one) => one.includes('evil.test')).join('\n\n') });
  await agent.close();
  const made = await context(browser);
  const page = await enter(made, server, '#/note/main/hostile/Beacons.md');
  await page.waitForSelector('article');
  for (const link of await page.locator('article a, article .chip').all()) await link.hover({ timeout: 500 }).catch(() => undefined);
  const [{ commit }] = (await server.get('history?limit=1')).items;
  await page.goto(`${server.base}/#/history/${commit}`);
  await page.waitForSelector('.detail figure');
  await page.goto(`${server.base}/#/note/main/hostile/Beacons.md?edit=1`);
  await page.waitForSelector('textarea');
  await page.waitForTimeout(10_000);
  assert.deepEqual(made.trouble.foreign, []);
  await made.close();
});
