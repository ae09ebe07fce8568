// Check 19, at a size that every run can afford: the right note under each click, dimming, time, and positions
// that never move. NOTES=100000 with a release build gives the numbers of the budgets.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { context, enter, Home, launch, until, writeNotes } from './support.mjs';

const NOTES = Number(process.env.NOTES ?? 1500);
let home, server, browser, made, page;
before(async () => {
  home = await Home.make();
  await home.cli('init');
  await writeNotes(home, NOTES);
  await home.cli('scan');
  server = await home.serve();
  await until('the index is whole', async () => (await server.get('status')).index.state === 'whole', 600_000);
  browser = await launch();
  made = await context(browser);
  page = await enter(made, server, '#/map');
  await page.waitForSelector('.twin li');
});
after(async () => {
  await browser?.close();
  await home?.remove();
});

/** Places of the points on the screen, from the columns of the server and the size of the canvas. */
async function screen(map) {
  const { width, height, left, top } = await page.evaluate(() => {
    const canvas = document.querySelector('.sky canvas');
    const box = canvas.getBoundingClientRect();
    return { width: canvas.clientWidth, height: canvas.clientHeight, left: box.left, top: box.top };
  });
  const low = (value) => Math.floor(value * 50) / 50;
  const high = (value) => Math.ceil(value * 50) / 50;
  const edge = {
    left: low(Math.min(1, ...map.projects.map((one) => one.x - one.r))), right: high(Math.max(0, ...map.projects.map((one) => one.x + one.r))),
    top: low(Math.min(1, ...map.projects.map((one) => one.y - one.r))), bottom: high(Math.max(0, ...map.projects.map((one) => one.y + one.r))),
  };
  const pad = Math.min(40, height * 0.11);
  let kx = (width - 2 * pad) / (edge.right - edge.left);
  let ky = (height - 2 * pad) / (edge.bottom - edge.top);
  kx = Math.min(kx, ky * 1.35);
  ky = Math.min(ky, kx * 1.35);
  const [cx, cy] = [(edge.left + edge.right) / 2, (edge.top + edge.bottom) / 2];
  const points = map.columns.id.map((id, at) => ({ id, x: width / 2 + (map.columns.x[at] - cx) * kx, y: height / 2 + (map.columns.y[at] - cy) * ky }));
  return { left, top, points };
}

test('50 clicks choose the note that is nearest to each', async () => {
  const map = await server.get('map');
  assert.equal(map.count, NOTES);
  const { left, top, points } = await screen(map);
  let seed = 11;
  const random = (below) => ((seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) % below);
  for (let click = 0; click < 50; click += 1) {
    const aim = points[random(points.length)];
    // A hand is not exact.
    const [x, y] = [Math.round(aim.x) + random(3) - 1, Math.round(aim.y) + random(3) - 1];
    const away = (one) => (one.x - x) ** 2 + (one.y - y) ** 2;
    const sorted = [...points].sort((a, b) => away(a) - away(b));
    // Two that are equally near: either is right.
    const near = sorted.filter((one) => Math.sqrt(away(one)) - Math.sqrt(away(sorted[0])) < 0.6).slice(0, 20).map((one) => one.id);
    const { items } = await server.get(`map/titles?ids=${near.join(',')}`);
    const paths = items.map((item) => `${item.project}/${item.path}`);
    await page.mouse.click(left + x, top + y);
    await until(`the note under click ${click}`, async () => paths.includes((await page.textContent('.twin .card .mono').catch(() => ''))?.trim()));
  }
});

test('words light up what has to do with them, and the list has the same', async () => {
  await page.fill('input[aria-label="Light up"]', 'garden compost');
  await until('lit', async () => /lit/.test(await page.textContent('.twin h2')));
  const found = await server.get('search?q=garden%20compost&limit=200');
  assert.match(await page.textContent('.twin h2'), new RegExp(`${found.hits.length} memor`));
  const shown = await page.locator('.twin li .serif').allTextContents();
  assert.deepEqual(shown, found.hits.slice(0, 60).map((hit) => hit.title.map((part) => part.text).join('')));
  await page.fill('input[aria-label="Light up"]', '');
  await until('everything is lit', async () => /In view/.test(await page.textContent('.twin h2')));
});

test('the count of a moment is that of the notes made until then', async () => {
  const map = await server.get('map');
  const slider = page.getByRole('slider', { name: 'Moment' });
  await slider.focus();
  await page.keyboard.press('Home');
  const first = Math.min(...map.columns.created.filter(Boolean));
  const least = map.columns.created.filter((time) => time <= first).length;
  await until('the first moment', async () => (await page.textContent('.time')).includes(`· ${least.toLocaleString('en-GB')} memor`));
  await page.keyboard.press('End');
  await until('now', async () => (await page.textContent('.time')).includes(`now · ${map.count.toLocaleString('en-GB')} memories`));
});

test('positions are the same after a reload, a restart and 100 new notes', async () => {
  const place = (map) => new Map(map.columns.id.map((id, at) => [id, [map.columns.x[at], map.columns.y[at]]]));
  const before = place(await server.get('map'));
  await page.reload();
  await page.waitForSelector('.twin li');
  const { port } = server;
  await server.kill();
  server = await home.serve({ port });
  await until('the index is whole', async () => (await server.get('status')).index.state === 'whole', 60_000);
  assert.deepEqual(place(await server.get('map')), before);
  const agent = await home.agent('claude-code');
  for (let at = 0; at < 100; at += 1) await agent.call('write_note', { title: `New ${at}`, directory: 'new', project: at % 2 ? 'main' : 'work', content: `# New ${at}\n\nThe garden ${at} and its compost.\n` });
  await agent.close();
  await until('all are placed', async () => (await server.get('map')).count === NOTES + 100, 20_000);
  const after = place(await server.get('map'));
  let moved = 0;
  for (const [id, [x, y]] of before) if (after.get(id)?.[0] !== x || after.get(id)?.[1] !== y) moved += 1;
  assert.equal(moved, 0, `${moved} of ${before.size} were moved`);
  await until('the page has them', async () => (await page.textContent('.time')).includes(`${(NOTES + 100).toLocaleString('en-GB')} memories`), 10_000);
});
