// The story that the page is for: an agent on the left, Now on the right. A sentence lights up at once,
// `u` takes it back, `u` again brings it back, and the sliders show an earlier month.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { context, enter, faketime, fill, Home, launch, setClock, until } from './support.mjs';

const SENTENCE = 'Deploys go out on Tuesdays, never on a holiday';
let home, server, browser, spring;
before(async () => {
  home = await Home.make();
  if (faketime) {
    // The vault began in another month, with fewer notes and other words.
    const clock = join(home.folder, 'clock');
    spring = Date.now() - 240 * 86_400_000;
    await setClock(clock, spring);
    const agent = await home.agent('cursor-vscode', '1.8', clock);
    await agent.call('write_note', { title: 'Release train', directory: 'Shop', project: 'main', content: '# Release train\n\nDeploys go out on Fridays.\n' });
    await agent.call('write_note', { title: 'Old plan', directory: 'Shop', project: 'main', content: '# Old plan\n\nFirst the cellar, then the roof.\n' });
    await agent.close();
  }
  await fill(home);
  server = await home.serve();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await home?.remove();
});
const commits = async () => (await server.get('status')).counts.commits;

test('remember that deploys go out on Tuesdays', async (t) => {
  const made = await context(browser);
  const page = await enter(made, server);
  await page.waitForSelector('main [data-row]');
  const watching = await made.newPage();
  await watching.goto(`${server.base}/#/map`);
  await watching.waitForSelector('.twin li');
  const points = async () => Number(/(\d+) memor/.exec(await watching.textContent('.time'))?.[1]);
  const shown = await points();
  await page.bringToFront();
  await page.waitForTimeout(1500);
  const sky = () => page.evaluate(() => document.querySelector('.sky canvas').toDataURL());
  const calm = await sky();
  assert.equal(await sky(), calm, 'nothing moves while nothing happens');

  const agent = await home.agent('claude-code', '2.1.4');
  await agent.call('remember', { content: SENTENCE, kind: 'rule', scope: 'person' });
  const written = performance.now();
  const row = page.locator('main li', { has: page.locator('[data-row]', { hasText: SENTENCE }) });
  await row.waitFor();
  t.diagnostic(`acknowledged to lit up: ${(performance.now() - written).toFixed(0)} ms`);
  assert.match(await row.getAttribute('class'), /fresh/);
  assert.equal(await page.locator('main [data-row]').first().textContent().then((text) => text.trim()), SENTENCE, 'it is the newest line');
  const group = page.locator('.ledger section', { hasText: SENTENCE });
  assert.match(await group.getAttribute('aria-label'), /^Claude Code/);
  // A flare moves from picture to picture; a new point alone would change the sky once.
  await until('a point flares in the sky', async () => {
    const pictures = [];
    for (let at = 0; at < 3; at += 1) {
      pictures.push(await sky());
      await page.waitForTimeout(60);
    }
    return new Set(pictures).size === 3;
  }, 2500);
  await until('the other window has one more', async () => (await points()) === shown + 1);
  await until('and comes to rest', async () => {
    const picture = await sky();
    await page.waitForTimeout(200);
    return picture !== calm && picture === (await sky());
  });
  const place = (await server.get('history?limit=1')).items[0].files[0];
  const bytes = await home.read(`${place.project}/${place.path}`);

  // It is chosen, the difference is shown, and one key takes it back.
  const before = await commits();
  await page.keyboard.press('j');
  await page.waitForSelector('.side button.primary:enabled');
  assert.match(await page.textContent('.side figure'), /Tuesdays/);
  await page.keyboard.press('u');
  await row.locator('xpath=self::*[contains(@class, "undone")]').waitFor();
  await assert.rejects(home.read(`${place.project}/${place.path}`), 'the file is gone');
  await until('the other window has one less', async () => (await points()) === shown);
  assert.ok(!(await home.cli('search', SENTENCE)).includes('never on a holiday'), 'agents find it no longer');
  await until('the way back is offered', async () => /Bring/.test(await page.textContent('.side')) && (await page.locator('.side button.primary:enabled').count()) === 1);
  await page.keyboard.press('u');
  await until('it is back', async () => (await page.locator('main li.undone').count()) === 0);
  await until('with the same bytes', async () => (await home.read(`${place.project}/${place.path}`).catch(() => Buffer.alloc(0))).equals(bytes));
  assert.equal(await commits(), before + 2, 'taking back and bringing back are two changes, and nothing is lost');
  await until('the other window has it again', async () => (await points()) === shown + 1);
  await agent.close();
  assert.deepEqual(made.trouble.console, []);
  await made.close();
});

test('the sliders show an earlier month: a thinner sky, and the note as it read then', async (t) => {
  if (!faketime) return t.skip('needs the package faketime');
  const agent = await home.agent('claude-code', '2.1.4');
  await agent.call('edit_note', { identifier: 'Release train', operation: 'find_replace', find_text: 'Fridays', content: 'Tuesdays', project: 'main' });
  await agent.close();
  const made = await context(browser);
  const page = await enter(made, server, '#/map');
  await page.waitForSelector('.twin li');
  const map = await server.get('map');
  const slider = page.getByRole('slider', { name: 'Moment' });
  await slider.focus();
  await page.keyboard.press('Home');
  for (let at = 0; at < 20; at += 1) await page.keyboard.press('ArrowRight');
  const first = Math.min(...map.columns.created);
  const moment = first + (Date.now() / 1000 - first) * 0.1;
  const then = map.columns.created.filter((time) => time <= moment).length;
  assert.equal(then, 2);
  await until('the sky is thinner', async () => new RegExp(`· ${then} memories`).test(await page.textContent('.time')));
  const month = new Date(moment * 1000).toLocaleDateString('en-GB', { month: 'short' });
  assert.ok((await page.textContent('.time')).includes(month), `${month}: ${await page.textContent('.time')}`);
  await until('the list is that of then', async () => (await page.locator('.twin li').count()) === then);
  await page.keyboard.press('End');
  await until('everything is back', async () => (await page.textContent('.time')).includes(`now · ${map.count} memories`));

  await page.goto(`${server.base}/#/note/main/${encodeURIComponent('Shop')}/${encodeURIComponent('Release train.md')}`);
  await page.waitForSelector('.track input');
  assert.match(await page.textContent('article'), /Tuesdays/);
  await page.focus('.track input');
  await page.keyboard.press('ArrowLeft');
  await until('the note reads as it did', async () => /Deploys go out on Fridays/.test(await page.textContent('article')));
  const shown = new Date(spring).toLocaleDateString('en-GB', { month: 'short', year: 'numeric' });
  assert.ok((await page.textContent('main')).includes(shown), shown);
  await page.keyboard.press('ArrowRight');
  await until('and as it does', async () => /Tuesdays/.test(await page.textContent('article')) && !/at=/.test(page.url()));
  await made.close();
});
