// Checks 12, 15, 23 and parts of 24: facts as of a day, contradictions, import, export, vacuum, settings,
// set-up with a difference, the brief with its reasons, rules as files, reminders, work lists by keys.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { context, enter, fill, Home, launch, until } from './support.mjs';

let home, server, browser, made, page, scratch;
before(async () => {
  home = await Home.make();
  scratch = await mkdtemp(join(tmpdir(), 'memoranda-drop-'));
  await mkdir(join(home.folder, '.cursor'), { recursive: true });
  await fill(home);
  server = await home.serve();
  browser = await launch();
  made = await context(browser, { acceptDownloads: true });
  page = await enter(made, server);
  await page.waitForSelector('main [data-row]');
});
after(async () => {
  await browser?.close();
  await home?.remove();
  await rm(scratch, { recursive: true, force: true });
});
const go = (address) => page.goto(`${server.base}/${address}`);
const post = async (path, body) => {
  server.key ??= await server.session();
  return fetch(`${server.base}/api/page/${path}`, { method: 'POST', headers: { Authorization: `Bearer ${server.key}`, 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
};

test('a contradiction stands side by side; a key decides, and a key takes the decision back', async () => {
  const agent = await home.agent('cursor-vscode', '1.9');
  await agent.call('write_note', { title: 'Queue', directory: 'Shop', project: 'main', content: '# Queue\n\n- [fact] The worker pool has 8 threads #pool\n- [fact] Something else entirely\n- [fact] The worker pool has 16 threads #pool\n' });
  await agent.call('add_memory', { content: 'Deploys go out on Fridays', type: 'rule', global: true });
  await agent.close();
  const before = await home.read('main/Shop/Queue.md');
  await go('#/facts/contradictions');
  await page.waitForSelector('.pair');
  const pair = page.locator('.pair', { hasText: 'worker pool' });
  const text = await pair.textContent();
  assert.ok(text.includes('8 threads') && text.includes('16 threads'), text);
  assert.ok(text.includes('Cursor'), 'the writer is named');
  // Records of one scope contradict each other too.
  assert.ok((await page.locator('.pair', { hasText: 'Deploys go out on Fridays' }).count()) >= 1);
  const { items } = await server.get('facts/contradictions?limit=50');
  while (!(await pair.evaluate((node) => node.classList.contains('chosen')))) await page.keyboard.press('j');
  await page.keyboard.press('o');
  await until('it is decided', async () => (await pair.count()) === 0);
  const one = items.find((item) => item.newer.text.includes('worker pool'));
  const decided = (await home.read('main/Shop/Queue.md')).toString();
  assert.ok(decided.includes(`~~${one.newer.text}~~`), decided);
  assert.ok(decided.includes(`[fact] ${one.older.text}`), decided);
  assert.equal(decided.replaceAll('~~', ''), before.toString(), 'no other byte changed');
  await page.keyboard.press('u');
  await until('it is back', async () => (await home.read('main/Shop/Queue.md')).equals(before));
  await until('the pair is back', async () => (await pair.count()) === 1);
  // Of two records the other is superseded, and no longer in force.
  const record = items.find((item) => item.newer.text === 'Deploys go out on Fridays');
  assert.ok(record, JSON.stringify(items));
  assert.equal((await post('facts/decide', { id: record.id, holds: 'older' })).status, 200);
  const rules = await server.get('rules');
  assert.ok(!JSON.stringify(rules).includes('Deploys go out on Fridays'));
  assert.equal((await post('facts/decide', { id: record.id, holds: 'older' })).status, 409);
  // Both hold: the pair is gone from the page, and nothing is written.
  while (!(await pair.evaluate((node) => node.classList.contains('chosen')))) await page.keyboard.press('j');
  await page.keyboard.press('b');
  await until('hidden', async () => (await pair.count()) === 0);
  assert.ok((await home.read('main/Shop/Queue.md')).equals(before));
});

test('facts and rules as of a moment are those of the files then', async () => {
  const agent = await home.agent('codex-mcp-client', '0.40');
  await agent.call('write_note', { title: 'Limits', directory: 'Shop', project: 'main', content: '# Limits\n\n- [fact] The gateway allows 100 calls\n' });
  await new Promise((wait) => setTimeout(wait, 1100));
  const moment = new Date().toISOString();
  await new Promise((wait) => setTimeout(wait, 1100));
  await agent.call('edit_note', { identifier: 'Limits', operation: 'find_replace', find_text: '100 calls', content: '250 calls', project: 'main' });
  await agent.call('write_note', { title: 'Later', directory: 'Shop', project: 'main', content: '# Later\n\n- [fact] This came afterwards\n' });
  await agent.call('add_memory', { content: 'Sign every commit', type: 'rule', global: true });
  await home.cli('rm', 'Currency', '-y');
  await agent.close();
  const texts = async (at) => (await server.get(`facts?limit=200${at ? `&at=${encodeURIComponent(at)}` : ''}`)).items.map((item) => item.fact.text);
  const [then, now] = [await texts(moment), await texts(null)];
  assert.ok(then.includes('The gateway allows 100 calls') && !then.includes('The gateway allows 250 calls'));
  assert.ok(!then.includes('This came afterwards') && now.includes('This came afterwards'));
  assert.ok(then.some((text) => text.startsWith('Rates come')) && !now.some((text) => text.startsWith('Rates come')), 'a deleted note has its facts then');
  const shown = await home.cli('show', 'main/Shop/Limits.md', '--at', moment);
  assert.ok(shown.includes('100 calls'));
  const rulesThen = JSON.stringify(await server.get(`rules?at=${encodeURIComponent(moment)}`));
  assert.ok(!rulesThen.includes('Sign every commit') && rulesThen.includes('Deploys go out on Tuesdays'));
  await go('#/facts');
  await page.waitForSelector('.groups .card');
  await page.fill('input[type=date]', '2020-01-02');
  await page.waitForSelector('text=There were no facts then.');
  await page.getByRole('button', { name: 'Today' }).click();
  await page.waitForSelector('text=This came afterwards');
});

test('a folder is counted before it comes, comes once, and goes again; bad archives are refused', async () => {
  const vault = join(scratch, 'Vault');
  await mkdir(join(vault, 'Ideas'), { recursive: true });
  for (let at = 0; at < 120; at += 1) await writeFile(join(vault, 'Ideas', `Idea ${at}.md`), `# Idea ${at}\n\nA thought about [[Idea ${(at + 1) % 120}]].\n`);
  await writeFile(join(vault, 'Ü <b>x & co.md'), '# Ü\n\n<img src=x onerror=alert(1)>\n');
  const plan = JSON.parse(await home.cli('import', '--copy', '--dry-run', '--json', vault));
  const notes = (await server.get('status')).counts.notes;
  await go('#/care/bring');
  await page.locator('input[webkitdirectory]').setInputFiles(vault);
  await page.waitForSelector('text=/Bring 1\\d\\d/');
  assert.equal((await page.textContent('.counts dd')).trim(), String(plan.created));
  assert.equal(plan.created, 121);
  assert.equal((await server.get('status')).counts.notes, notes, 'nothing came yet');
  await page.getByRole('button', { name: /^Bring 1/ }).click();
  await page.waitForSelector('text=Brought from');
  assert.equal((await server.get('status')).counts.notes, notes + 121);
  await go('#/care/keep');
  await go('#/care/bring');
  await page.locator('input[webkitdirectory]').setInputFiles(vault);
  await page.waitForSelector('text=Nothing new to bring');
  await page.getByRole('button', { name: 'Leave it' }).click();
  // The undo is the undo of the commits.
  const { items } = await server.get('history?channel=import&limit=20');
  const undone = await post('undo', { commits: items.map((item) => item.commit) });
  assert.equal(undone.status, 200, await undone.text());
  assert.equal((await server.get('status')).counts.notes, notes);
  await writeFile(join(scratch, 'broken.zip'), Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(300, 7)]));
  await page.locator('input[type=file]').first().setInputFiles(join(scratch, 'broken.zip'));
  await page.waitForSelector('main [role=alert], main .trouble, main .notice.bad');
  // Paths out of the upload are refused.
  for (const path of ['../x.md', '/etc/x', 'a/../../x', 'a\\x']) {
    assert.equal((await post('import/upload', { parts: [{ path, offset: 0, data: '' }] })).status, 400, path);
  }
  assert.deepEqual(made.trouble.dialogs, []);
});

test('dropping files anywhere leads to what would come', async () => {
  await go('#/now');
  await page.waitForSelector('main [data-row]');
  const transfer = await page.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File(['# Dropped\n\nOn the page.\n'], 'Dropped note.md', { type: 'text/markdown' }));
    return data;
  });
  await page.dispatchEvent('main', 'drop', { dataTransfer: transfer });
  await until('the place', () => page.url().endsWith('#/care/bring'));
  await page.waitForSelector('text=Bring 1');
  await page.getByRole('button', { name: 'Leave it' }).click();
});

test('an export is the whole vault; a vacuum says what will be gone, and asks', async () => {
  await go('#/care/keep');
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('section[aria-label=Export] button').first().click()]);
  const file = join(scratch, 'vault.tar');
  await download.saveAs(file);
  assert.match(download.suggestedFilename(), /^memoranda-\d{4}-\d\d-\d\d\.tar$/);
  const bytes = await readFile(file);
  assert.ok(bytes.includes('PostgreSQL 16') && bytes.length % 512 === 0);
  const restored = join(scratch, 'restored');
  await home.cli('import', file, '--home', restored);
  assert.equal(JSON.parse(await home.cli('status', '--home', restored, '--json')).notes ?? 1, JSON.parse(await home.cli('status', '--json')).notes ?? 1);
  await page.locator('section[aria-label=Vacuum] select').selectOption('0');
  await page.waitForSelector('text=Would be gone for ever');
  const plan = JSON.parse(await home.cli('vacuum', '--older-than', 'now', '--dry-run', '--json'));
  assert.ok((await page.textContent('section[aria-label=Vacuum] .card')).includes(`${plan.contents} version`));
  assert.equal((await post('vacuum', { before: new Date().toISOString(), contents: plan.contents + 1 })).status, 409, 'something else was shown');
  await page.locator('button.danger').first().click();
  await page.waitForSelector('dialog[open]');
  await page.keyboard.press('Escape');
  assert.equal(JSON.parse(await home.cli('vacuum', '--older-than', 'now', '--dry-run', '--json')).contents, plan.contents, 'Escape keeps everything');
  await page.locator('button.danger').first().click();
  await page.getByRole('button', { name: 'Purge for ever' }).click();
  await page.waitForSelector('text=/^Purged/');
  assert.equal(JSON.parse(await home.cli('vacuum', '--older-than', 'now', '--dry-run', '--json')).contents, 0);
});

test('a setting is written into the file, and reset', async () => {
  await go('#/care/settings');
  const field = page.locator('#setting-default_project');
  await field.waitFor();
  await field.fill('work');
  await field.press('Enter');
  await page.waitForSelector('text=/^Written/');
  assert.equal((await home.cli('config', 'get', 'default_project')).trim(), 'work');
  await page.locator('li', { has: field }).getByRole('button', { name: 'reset' }).click();
  await until('reset', async () => (await home.cli('config', 'get', 'default_project')).trim() === 'main');
  const refused = await post('settings', { key: 'no_such_setting', value: 'x' });
  assert.equal(refused.status, 400);
  assert.match((await refused.json()).detail, /no_such_setting/);
});

test('a client is connected as it was shown, never otherwise, and taken out without a trace', async () => {
  const file = join(home.folder, '.cursor', 'mcp.json');
  const mine = '{\n  // mine\n  "mcpServers": { "other": { "command": "x" } }\n}\n';
  await writeFile(file, mine);
  await go('#/agents');
  const card = page.locator('section[aria-label=Cursor]').last();
  await card.getByRole('button', { name: 'Connect…' }).click();
  const shown = await card.textContent();
  assert.ok(shown.includes('.cursor/mcp.json') && shown.includes('memoranda'), shown);
  assert.equal(await readFile(file, 'utf8'), mine, 'looking writes nothing');
  await writeFile(file, `${mine}\n`);
  await card.getByRole('button', { name: 'Write it' }).click();
  await page.waitForSelector('text=/changed since/');
  assert.equal(await readFile(file, 'utf8'), `${mine}\n`);
  await writeFile(file, mine);
  await go('#/care');
  await go('#/agents');
  await card.getByRole('button', { name: 'Connect…' }).click();
  await card.getByRole('button', { name: 'Write it' }).click();
  await card.getByText('Cursor is connected').waitFor();
  const written = await readFile(file, 'utf8');
  assert.ok(written.includes('"memoranda"') && written.includes('// mine'));
  await card.getByText('Take it out again').click();
  await card.getByRole('button', { name: 'Take it out', exact: true }).click();
  await card.getByText('Taken out of Cursor again').waitFor();
  assert.equal(await readFile(file, 'utf8'), mine);
  await assert.rejects(stat(`${file}.memoranda-backup`));
});

test('the brief says for each line why, and where it is from; looking is no visit', async () => {
  await go('#/agents');
  const line = page.locator('.told', { hasText: 'Deploys go out on Tuesdays' }).first();
  await line.waitFor();
  const said = await line.textContent();
  assert.ok(said.includes('a rule for every repository') && said.includes('records/global/rule/'), said);
  const [first, second] = [await server.get('brief?client=claude-code'), await server.get('brief?client=claude-code')];
  assert.equal(first.text, second.text);
  assert.equal(first.lines.map((one) => one.text).join('\n'), first.text.split('\n').filter((text) => text.trim()).join('\n'));
  await page.getByRole('button', { name: 'as it is sent' }).click();
  await until('the text', async () => (await page.textContent('main pre'))?.includes('Deploys go out on Tuesdays'));
  const reads = (await server.get('agents')).agents;
  assert.ok(reads.every((one) => Number.isInteger(one.reads)));
});

test('rules show the files that they become, and a due reminder is done', async () => {
  await go('#/facts/rules');
  await page.getByRole('button', { name: 'The file it becomes' }).first().click();
  await page.waitForSelector('figure pre');
  assert.ok((await page.textContent('figure pre')).includes('Deploys go out on Tuesdays'));
  assert.ok((await page.textContent('figure figcaption')).includes('AGENTS.md'));
  const agent = await home.agent('claude-code', '2.1');
  await agent.call('add_reminder', { cron_expression: '* * * * *', message: 'Water the plants', global: true });
  await agent.close();
  // Due from the next minute on: make it so at once.
  const { items } = await server.get('reminders');
  const reminder = items.find((one) => one.text === 'Water the plants');
  const path = `records/${reminder.path}`;
  const text = (await home.read(path)).toString();
  await home.file(path, text.replace(/since: .*/, 'since: 2026-01-01T00:00:00Z'));
  await go('#/facts/reminders');
  const row = page.locator('li', { hasText: 'Water the plants' });
  await row.getByRole('button', { name: 'Done' }).click();
  await until('done', async () => (await row.getByRole('button', { name: 'Done' }).count()) === 0);
  assert.ok((await page.locator('.days .due').count()) >= 1, 'the calendar has it');
});

test('a work list is done by keys: delete, bring back', async () => {
  const note = await home.read('main/Kitchen.md');
  await go('#/care/orphans');
  await page.waitForSelector('.work [data-row]');
  const titles = await page.locator('.work [data-row]').allTextContents();
  const at = titles.findIndex((title) => title.trim() === 'Kitchen');
  assert.ok(at >= 0, titles.join());
  for (let step = 0; step <= at; step += 1) await page.keyboard.press('j');
  await page.keyboard.press('d');
  await page.waitForSelector('.work.gone');
  await assert.rejects(home.read('main/Kitchen.md'));
  await page.keyboard.press('u');
  await until('back', async () => home.read('main/Kitchen.md').then((bytes) => bytes.equals(note), () => false));
});

test('a server that other machines reach changes nothing of this one', async () => {
  const open = await home.serve({ host: '0.0.0.0' });
  const key = await open.session();
  const ask = (method, path, body) => fetch(`${open.base}/api/page/${path}`, { method, headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }, body: body && JSON.stringify(body) });
  for (const [method, path, body] of [['GET', 'setup'], ['POST', 'setup', { client: 'cursor', action: 'connect', digest: 'x' }], ['POST', 'settings', { key: 'editor', value: 'x' }], ['POST', 'import/upload', { parts: [] }], ['POST', 'vacuum', { before: '2026-01-01', contents: 0 }]]) {
    const response = await ask(method, path, body);
    assert.equal(response.status, 403, `${method} ${path}`);
    assert.equal((await response.json()).code, 'not-local');
  }
  await open.kill();
});
