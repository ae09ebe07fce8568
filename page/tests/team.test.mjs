// The page of a team server: sign-in, spaces, members, tokens, proposals, audit; everybody sees their own.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { context, launch, until } from './support.mjs';
import { TeamServer, whyNoTeam } from './team-server.mjs';

const skip = whyNoTeam();
let team, browser;
const people = {};

before(async () => {
  if (skip) return;
  team = await TeamServer.start();
  for (const name of ['anna', 'ben', 'carla']) {
    const added = await team.json('account', 'add', name, '--token', 'laptop');
    people[name] = { token: added.token, password: (await team.json('account', 'password', name)).password };
  }
  await team.admin('space', 'add', 'acme', '--owner', 'anna');
  await team.admin('member', 'add', 'acme', 'ben');
  await team.serve();
  for (const [name, space] of [['anna', 'anna'], ['ben', 'ben'], ['carla', 'carla'], ['anna', 'acme']]) {
    const canary = `canary-${space}`;
    await team.call(people[name].token, 'write_note', { title: `About ${canary}`, folder: 'notes', content: `Only ${canary} is here.`, space });
  }
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await team?.stop();
});

/** Signs in as a person would, from the page. */
async function signIn(made, name, { page } = {}) {
  page ??= await made.newPage();
  await page.goto(`${team.base}/`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('Account').fill(name);
  await page.getByLabel('Password').fill(people[name].password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForSelector('nav.rail');
  return page;
}

const text = (page) => page.locator('body').innerText();
const row = (page, name) => page.locator('tr', { hasText: name });

test('a person signs in, sees their spaces, and no cookie stays', { skip }, async () => {
  const made = await context(browser);
  const page = await signIn(made, 'anna');
  assert.equal(new URL(page.url()).search, '', 'the address bar has the code');
  assert.deepEqual(await made.cookies(), []);
  await page.waitForSelector('text=canary-anna');
  assert.doesNotMatch(await text(page), /canary-(ben|carla|acme)/);
  await page.getByLabel('Space').selectOption('acme');
  await page.waitForSelector('text=canary-acme');
  assert.doesNotMatch(await text(page), /canary-(ben|carla|anna)/);
  // The other tab comes in without a sign-in, and shows its own space.
  const other = await made.newPage();
  await other.goto(`${team.base}/`);
  await other.waitForSelector('text=canary-anna');
  assert.deepEqual(made.trouble, { console: [], foreign: [], dialogs: [] });
  await made.close();
});

test('an edit in the page is in the history with its person, and another person sees it', { skip }, async () => {
  const anna = await context(browser);
  const ben = await context(browser);
  const [hers, his] = [await signIn(anna, 'anna'), await signIn(ben, 'ben')];
  await his.getByLabel('Space').selectOption('acme');
  await his.waitForSelector('text=canary-acme');
  await hers.getByLabel('Space').selectOption('acme');
  await hers.waitForSelector('text=canary-acme');
  await hers.goto(`${team.base}/#/note/main/notes/About%20canary-acme.md?edit=1`);
  await hers.waitForSelector('textarea');
  await hers.fill('textarea', `${await hers.inputValue('textarea')}\nAnna adds live-word.\n`);
  await hers.keyboard.press('Control+s');
  await until('the note is shown again', async () => (await hers.locator('textarea').count()) === 0);
  await his.goto(`${team.base}/#/history`);
  await until('the other page shows the change and its person', async () => {
    const rows = await his.locator('main li:has([data-row])').allInnerTexts();
    return rows.length > 1 && rows.some((one) => one.includes('live-word')) && rows.every((one) => one.includes('anna'));
  });
  const log = await team.call(people.ben.token, 'read_note', { identifier: 'About canary-acme', space: 'acme' });
  assert.match(log.text, /live-word/);
  await anna.close();
  await ben.close();
});

test('a stranger, a token of another, and a foreign space get nothing', { skip }, async () => {
  const ask = (path, headers) => fetch(`${team.base}/api/page/${path}`, { headers });
  for (const path of ['status', 'now', 'search?q=canary', 'team', 'team/audit', 'events', 'export']) {
    assert.equal((await ask(path, {})).status, 401, path);
  }
  const own = { Authorization: `Bearer ${people.carla.token}` };
  assert.equal((await ask('now', { ...own, 'Memoranda-Space': 'acme' })).status, 403);
  for (const path of ['settings', 'setup', 'import/upload', 'code']) assert.ok([404, 405].includes((await ask(path, own)).status), path);
  // A token that a program has can neither make others nor look after members.
  for (const [path, body] of [['tokens', { name: 'x' }], ['members', { space: 'carla', account: 'ben', role: 'owner' }]]) {
    const response = await fetch(`${team.base}/api/page/team/${path}`, { method: 'POST', headers: { ...own, 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
    assert.equal(response.status, 403, path);
  }
  const status = await (await ask('status', own)).json();
  assert.equal(status.vault.home, '');
  assert.doesNotMatch(JSON.stringify(status), /canary-(anna|ben|acme)|\/home\//);
});

test('a pasted token opens the page, and does not manage', { skip }, async () => {
  const made = await context(browser);
  const page = await made.newPage();
  await page.goto(`${team.base}/`);
  await page.fill('#token', 'mem_pat_wrong');
  await page.getByRole('button', { name: 'Enter' }).click();
  await page.waitForSelector('[role=alert]');
  await page.fill('#token', people.carla.token);
  await page.getByRole('button', { name: 'Enter' }).click();
  await page.waitForSelector('text=canary-carla');
  await page.goto(`${team.base}/#/team`);
  await page.waitForSelector('text=opened with a token');
  assert.equal(await page.locator('main form').count(), 0);
  await made.close();
});

test('an owner adds, changes and removes members, and what is removed is closed at once', { skip }, async () => {
  const made = await context(browser);
  const page = await signIn(made, 'anna');
  await page.goto(`${team.base}/#/team`);
  const space = page.getByRole('region', { name: 'Space acme' });
  await space.getByLabel('Account or e-mail address').fill('carla');
  await space.getByLabel('Role of the new member').selectOption('reader');
  await space.getByRole('button', { name: 'Add' }).click();
  await row(space, 'carla').waitFor();
  const found = await team.call(people.carla.token, 'read_note', { identifier: 'About canary-acme', space: 'acme' });
  assert.match(found.text, /canary-acme/);

  // A stream that is open when its person is removed ends before it says anything more.
  const stream = await fetch(`${team.base}/api/page/events`, { headers: { Authorization: `Bearer ${people.carla.token}`, 'Memoranda-Space': 'acme' } });
  const reader = stream.body.getReader();
  assert.match(new TextDecoder().decode((await reader.read()).value), /ready/);
  await row(space, 'carla').getByRole('button', { name: 'Remove' }).click();
  await row(space, 'carla').getByRole('button', { name: 'Remove' }).click();
  await row(space, 'carla').waitFor({ state: 'detached' });
  await team.call(people.anna.token, 'write_note', { title: 'After', folder: 'notes', content: 'canary-after', space: 'acme' });
  let heard = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) heard += new TextDecoder().decode(part.value);
  assert.doesNotMatch(heard, /After/);
  await assert.rejects(team.call(people.carla.token, 'read_note', { identifier: 'About canary-acme', space: 'acme' }));

  await space.getByLabel('Account or e-mail address').fill('dora@example.org');
  await space.getByRole('button', { name: 'Invite' }).click();
  await row(space, 'dora@example.org').waitFor();
  await row(space, 'dora@example.org').getByRole('button', { name: 'Withdraw' }).click();
  await row(space, 'dora@example.org').waitFor({ state: 'detached' });
  // A space always has an owner.
  await space.getByLabel('Role of anna').selectOption('reader');
  await page.waitForSelector('[role=alert]');
  assert.match(await page.textContent('[role=alert]'), /no owner/);
  await made.close();
});

test('a member who is no owner sees the members and changes none', { skip }, async () => {
  const made = await context(browser);
  const page = await signIn(made, 'ben');
  await page.goto(`${team.base}/#/team`);
  const space = page.getByRole('region', { name: 'Space acme' });
  await row(space, 'anna').waitFor();
  assert.equal(await space.getByRole('combobox').count(), 0);
  const key = await page.evaluate(() => sessionStorage.getItem('memoranda-session'));
  const change = async (path, body) => {
    const response = await fetch(`${team.base}/api/page/team/${path}`, { method: 'POST', headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
    return [response.status, (await response.json()).detail];
  };
  assert.deepEqual(await change('members', { space: 'acme', account: 'ben', role: 'owner' }), [409, 'Only an owner of acme can do this.']);
  assert.deepEqual(await change('members', { space: 'carla', account: 'ben', role: 'owner' }), [409, 'There is no space carla.']);
  assert.equal((await change('members', { space: 'acme', account: 'ben', role: 'king' }))[0], 400);
  // The key of the page opens the page alone.
  const mcp = await fetch(`${team.base}/api/tools/recall`, { method: 'POST', headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }, body: '{"query":"x"}' });
  assert.equal(mcp.status, 401);
  await made.close();
});

test('a token is made, shown once, used and revoked; the audit tells it', { skip }, async () => {
  const made = await context(browser);
  const page = await signIn(made, 'ben');
  await page.goto(`${team.base}/#/team/tokens`);
  await page.getByLabel('Name of the token').fill('phone');
  await page.getByLabel('Access of the token').selectOption('read');
  await page.getByRole('checkbox', { name: 'acme' }).check();
  await page.getByRole('button', { name: 'Make' }).click();
  const token = (await page.locator('pre code').first().innerText()).trim();
  assert.match(token, /^mem_pat_/);
  const spaces = await team.call(token, 'list_spaces', {});
  assert.deepEqual(spaces.structured.spaces.map((space) => [space.name, space.access]), [['acme', 'read']]);
  await page.reload();
  await row(page, 'phone').waitFor();
  assert.ok(!(await text(page)).includes(token));
  await row(page, 'phone').getByRole('button', { name: 'Revoke' }).click();
  await page.waitForSelector('tr:has-text("phone") >> text=revoked');
  await assert.rejects(team.call(token, 'list_spaces', {}));
  await page.goto(`${team.base}/#/team/audit`);
  await page.waitForSelector('text=token revoke');
  const audit = await text(page);
  assert.match(audit, /token add/);
  assert.doesNotMatch(audit, /carla: laptop|anna: laptop|mem_pat_/, 'the audit of others');
  await made.close();
});

test("a proposer's write waits in the page until an owner says yes", { skip }, async () => {
  await team.admin('member', 'add', 'acme', 'carla', '--role', 'proposer');
  await team.call(people.carla.token, 'write_note', { title: 'Proposed', folder: 'notes', content: 'canary-proposed', space: 'acme' });
  const made = await context(browser);
  const page = await signIn(made, 'anna');
  await page.goto(`${team.base}/#/team`);
  await page.waitForSelector('text=canary-proposed');
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.waitForSelector('text=canary-proposed', { state: 'detached' });
  const note = await team.call(people.ben.token, 'read_note', { identifier: 'Proposed', space: 'acme' });
  assert.match(note.text, /canary-proposed/);
  await made.close();
});

test('an expired key is renewed in all tabs, and signing out ends them', { skip }, async () => {
  const made = await context(browser);
  const page = await signIn(made, 'carla');
  const other = await made.newPage();
  await other.goto(`${team.base}/`);
  await other.waitForSelector('text=canary-carla');
  // As after an hour: the server knows the key no longer.
  for (const tab of [page, other]) await tab.evaluate(() => sessionStorage.setItem('memoranda-session', 'mem_oat_old'));
  await Promise.all([page.reload(), other.reload()]);
  await Promise.all([page.waitForSelector('text=canary-carla'), other.waitForSelector('text=canary-carla')]);
  const key = await page.evaluate(() => sessionStorage.getItem('memoranda-session'));
  await page.goto(`${team.base}/#/team`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForSelector('#token');
  const after = await fetch(`${team.base}/api/page/status`, { headers: { Authorization: `Bearer ${key}` } });
  assert.equal(after.status, 401);
  await made.close();
});

test('a form of another page cannot sign anybody in, and a state of another tab is refused', { skip }, async () => {
  const made = await context(browser);
  const page = await made.newPage();
  await page.goto(`${team.base}/?code=mem_code_x&state=of-another`);
  await page.waitForSelector('[role=alert]');
  assert.match(await page.textContent('[role=alert]'), /did not begin in this tab/);
  assert.equal(await page.locator('nav.rail').count(), 0);
  await made.close();
});
