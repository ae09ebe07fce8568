// Parts of checks 24 and 25: true numbers, a read-only server, no leaks.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { context, enter, PLACES, standUp, takeDown, until } from './support.mjs';

let home, server, browser;
before(async () => ({ home, server, browser } = await standUp()));
after(() => takeDown({ home, browser }));

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
  const json = await home.json('status');
  assert.equal(status.counts.relations, json.relations);
  assert.equal(status.counts.unresolved, json.unresolved);
  assert.deepEqual(status.projects.map((one) => [one.name, one.notes]), json.projects.map((one) => [one.name, one.notes]));

  // The doctor of the page finds what the command finds.
  await page.getByRole('button', { name: 'Check everything' }).click();
  await until('checked', () => page.getByRole('button', { name: 'Check everything' }).isEnabled(), 30_000);
  const doctor = await home.json('doctor');
  assert.ok(doctor.agrees);
  assert.match(await page.textContent('section[aria-label=Doctor]'), /All is well/);
  const care = await server.get('care');
  const lists = Object.fromEntries(care.lists.map((one) => [one.name, one.count]));
  assert.equal(lists.dead_links, json.unresolved);
  assert.equal(lists.unreadable, doctor.problems.length);

  // Each agent's writes are those of the log, and of the command.
  const { agents } = await server.get('agents?days=7');
  const activity = await home.json('activity');
  assert.deepEqual(agents.map((one) => [one.agent.key, one.total]).sort(), activity.agents.map((one) => [one.key, one.total]).sort());
  await page.goto(`${server.base}/#/agents`);
  await page.waitForSelector('main .cards');
  for (const one of agents) {
    const card = await page.locator('main .cards section', { has: page.getByRole('heading', { name: one.agent.name, exact: true }) }).textContent();
    assert.ok(card.includes(`${one.writes} written`), `${one.agent.name}: ${card}`);
    assert.equal(one.tools_used.reduce((sum, tool) => sum + tool.count, 0), one.writes, `the tools of ${one.agent.name}`);
  }

  // The price of the tools is that of the definitions that an agent gets.
  const agent = await home.agent('counter');
  const { tools } = (await agent.ask('tools/list', {})).result;
  await agent.close();
  const { toolsets } = await server.get('agents');
  const priced = new Map(toolsets.flatMap((set) => set.tools.map((tool) => [tool.name, tool.tokens])));
  let counted = 0;
  for (const tool of tools) {
    const tokens = JSON.stringify(tool).length / 4;
    // Tools of further sets have no price here.
    if (!priced.has(tool.name)) continue;
    counted += 1;
    assert.ok(priced.get(tool.name) > tokens * 0.5 && priced.get(tool.name) < tokens * 2, `${tool.name}: ${priced.get(tool.name)} tokens, about ${tokens.toFixed(0)} counted`);
  }
  assert.equal(counted, priced.size, 'every price is that of a tool');
  const banks = await home.json('bank', 'stats');
  assert.equal((banks.banks ?? []).length, 0, 'no bank, and no project of banks in the page');
  assert.ok(!status.projects.some((one) => one.name === 'banks'));
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

test('500 walks and 2,000 live events leave heap and nodes as they were', async (t) => {
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
  // Each place was whole once, so that everything it keeps is there.
  for (const place of PLACES) {
    await page.evaluate((name) => (location.hash = `#/${name}`), place);
    await page.waitForTimeout(1500);
  }
  const first = await walk(60);
  const second = await walk(500);
  t.diagnostic(`heap ${(first.usedSize / 1e6).toFixed(1)} MB, then ${(second.usedSize / 1e6).toFixed(1)} MB; nodes ${first.nodes}, then ${second.nodes}`);
  assert.ok(second.usedSize < first.usedSize * 1.1 + 500_000, 'the heap grew');
  assert.ok(second.nodes < first.nodes * 1.1 + 200, 'nodes stayed');
  // 2,000 writes arrive while Care is open.
  const agents = await Promise.all(Array.from({ length: 4 }, (_, at) => home.agent(`writer-${at}`)));
  await Promise.all(agents.map(async (agent) => {
    for (let at = 0; at < 500; at += 1) await agent.call('memory', { command: at ? 'str_replace' : 'create', path: `/memories/${agent.process.pid}.md`, ...(at ? { old_str: `n ${at - 1}.`, new_str: `n ${at}.` } : { file_text: 'n 0.\n' }) });
  }));
  await Promise.all(agents.map((agent) => agent.close()));
  await until('the page has heard of all', async () => (await page.textContent('dl')).replaceAll(/\D/g, '').includes(String((await server.get('status')).counts.commits)), 30_000);
  const third = await walk(60);
  t.diagnostic(`after 2,000 writes: heap ${(third.usedSize / 1e6).toFixed(1)} MB, nodes ${third.nodes}`);
  assert.ok(third.usedSize < second.usedSize * 1.1 + 1_000_000, 'the heap grew with the writes');
  await made.close();
});
