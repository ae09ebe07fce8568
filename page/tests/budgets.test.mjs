// Check 25: budgets of a vault with many notes, reported and not asserted: the machine decides.
// NOTES=10000 (or 100000) with a release build gives the numbers of the budgets.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { context, enter, fill, Home, launch, until, writeNotes } from './support.mjs';

const NOTES = Number(process.env.NOTES ?? 2000);
let home, server, browser;
before(async () => {
  home = await Home.make();
  await fill(home);
  await writeNotes(home, NOTES);
  await home.cli('scan');
  server = await home.serve();
  await until('the index is whole', async () => (await server.get('status')).index.state === 'whole', 600_000);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await home?.remove();
});

const spread = (times) => {
  const sorted = [...times].sort((a, b) => a - b);
  return `median ${sorted[sorted.length >> 1].toFixed(0)} ms, p95 ${sorted[Math.floor(sorted.length * 0.95)].toFixed(0)} ms`;
};

test(`budgets at ${NOTES} notes`, async (t) => {
  const made = await context(browser);
  await made.addInitScript(() => {
    addEventListener('keydown', (event) => performance.mark('key', { startTime: event.timeStamp }), true);
    new MutationObserver((_, observer) => {
      if (!document.querySelector('main [data-row]')) return;
      performance.mark('ledger');
      observer.disconnect();
    }).observe(document, { childList: true, subtree: true });
  });
  const page = await enter(made, server);
  await page.waitForSelector('main [data-row]');
  const paints = [];
  const usable = [];
  for (let at = 0; at < 7; at += 1) {
    const fresh = await made.newPage();
    await fresh.goto(server.base);
    await fresh.waitForSelector('main [data-row]');
    usable.push(await fresh.evaluate(() => performance.getEntriesByName('ledger')[0].startTime));
    paints.push(await fresh.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime));
    await fresh.close();
  }
  t.diagnostic(`first contentful paint: ${spread(paints)}; ledger there: ${spread(usable)}`);

  await page.goto(`${server.base}/#/search`);
  await page.waitForSelector('main li');
  await page.keyboard.press('/');
  for (const words of ['ledger refund queue', 'garden compost', 'vector search index', 'thesis supervisor']) {
    for (const key of words) {
      await page.keyboard.type(key);
      await page.waitForTimeout(110);
    }
    await page.keyboard.press('Control+a');
  }
  await page.waitForTimeout(500);
  // From the key that was pressed to the frame with its results.
  const times = await page.evaluate(() => {
    const keys = performance.getEntriesByName('key').map((key) => key.startTime);
    return performance.getEntriesByName('memoranda-search').map((one) => one.startTime + one.duration - (keys.findLast((time) => time <= one.startTime + 1) ?? one.startTime));
  });
  assert.ok(times.length > 20);
  t.diagnostic(`key to results, ${times.length} searches: ${spread(times)}`);

  const opened = [];
  for (let at = 0; at < 20; at += 1) {
    const path = `f${(at * 4) % 50}/note-${at * 4}.md`;
    const begun = performance.now();
    await page.evaluate((hash) => (location.hash = hash), `#/note/main/${path}`);
    await page.waitForFunction((name) => document.querySelector('article') && location.hash.includes(name) && document.querySelector('.mono, .path, nav')?.textContent !== null, `note-${at * 4}.md`);
    opened.push(performance.now() - begun);
  }
  t.diagnostic(`open a note: ${spread(opened)}`);

  const fresh = await made.newPage();
  await fresh.goto(`${server.base}/#/map`);
  await fresh.waitForSelector('canvas');
  await fresh.waitForFunction(() => {
    // A copy is read: reading the canvas itself would make it slower.
    window.copy ??= new OffscreenCanvas(200, 100).getContext('2d', { willReadFrequently: true });
    window.copy.drawImage(document.querySelector('canvas'), 0, 0, 200, 100);
    return window.copy.getImageData(0, 0, 200, 100).data.some((part) => part > 0);
  }, null, { polling: 'raf' });
  t.diagnostic(`map in a new tab, first pixels: ${(await fresh.evaluate(() => performance.now())).toFixed(0)} ms`);
  await fresh.close();
  const begun = performance.now();
  await page.evaluate(() => (location.hash = '#/map'));
  await page.waitForSelector('canvas');
  await page.waitForSelector('.twin li');
  t.diagnostic(`map with its list: ${(performance.now() - begun).toFixed(0)} ms`);
  const frames = await page.evaluate(async () => {
    const canvas = document.querySelector('canvas');
    const gaps = [];
    let last = performance.now();
    for (let at = 0; at < 60; at += 1) {
      canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: at % 2 ? 40 : -60, clientX: 600 + at, clientY: 400, bubbles: true, cancelable: true }));
      await new Promise((next) => requestAnimationFrame(next));
      const now = performance.now();
      gaps.push(now - last);
      last = now;
    }
    return gaps.slice(5);
  });
  t.diagnostic(`map, frames while zooming: ${spread(frames)}`);
  const lapse = await page.evaluate(async () => {
    const play = document.querySelector('button[aria-label^="Play"]');
    play.click();
    const gaps = [];
    let last = performance.now();
    for (let at = 0; at < 90; at += 1) {
      await new Promise((next) => requestAnimationFrame(next));
      gaps.push(performance.now() - last);
      last = performance.now();
    }
    play.click();
    return gaps.slice(5);
  });
  t.diagnostic(`map, frames of the time-lapse: ${spread(lapse)}`);
  const devtools = await made.newCDPSession(page);
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  t.diagnostic(`heap with the map: ${(usedSize / 1e6).toFixed(1)} MB`);
  const memory = /VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${server.child.pid}/status`, 'utf8').catch(() => ''));
  if (memory) t.diagnostic(`resident memory of the server: ${(Number(memory[1]) / 1000).toFixed(0)} MB`);
  assert.deepEqual(made.trouble.console, []);
  await made.close();
});
