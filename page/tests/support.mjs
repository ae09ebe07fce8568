// The real binary, real agents over stdio, and a real browser.

import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { crc32, deflateRawSync } from 'node:zlib';
import { chromium } from 'playwright-core';

const here = dirname(fileURLToPath(import.meta.url));
export const pageFolder = resolve(here, '..');
export const builtFolder = resolve(here, '../../crates/memoranda-server/src/page/built');
export const binary = process.env.MEMORANDA_BIN ?? resolve(here, '../../target/debug/memoranda');
const browserPath = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const run = promisify(execFile);
/** Moves the clock of a process; absent on machines without the package faketime. */
export const faketime = ['/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1', '/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1'].find(existsSync);

/** A vault of its own, with a home of its own: no test touches the vault of the person who runs it. */
export class Home {
  static async make() {
    const home = new Home();
    home.folder = await mkdtemp(join(tmpdir(), 'memoranda-page-'));
    home.vault = join(home.folder, 'memoranda');
    home.env = { PATH: process.env.PATH, HOME: home.folder, MEMORANDA_HOME: home.vault, TMPDIR: tmpdir() };
    home.running = [];
    return home;
  }

  async cli(...args) {
    const { stdout } = await run(binary, args, { env: this.env, maxBuffer: 64 << 20 });
    return stdout;
  }

  async json(...args) {
    return JSON.parse(await this.cli(...args, '--json'));
  }

  /** Calls tools as an agent with this client name; `clock` is a file with the time that the agent sees. */
  async agent(name, version = '1.0', clock = null) {
    const moved = clock && { LD_PRELOAD: faketime, FAKETIME_TIMESTAMP_FILE: clock, FAKETIME_NO_CACHE: '1', DONT_FAKE_MONOTONIC: '1', TZ: 'UTC' };
    const agent = new Agent(spawn(binary, ['mcp', '--toolsets', 'all'], { env: { ...this.env, ...moved }, stdio: ['pipe', 'pipe', 'ignore'] }));
    this.running.push(agent.process);
    await agent.ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name, version } });
    agent.tell('notifications/initialized');
    return agent;
  }

  /** Starts the server on a free port, or on a given one. */
  async serve({ host = '127.0.0.1', port = 0, args = [] } = {}) {
    const child = spawn(binary, ['serve', '--bind', `${host}:${port}`, ...args], { env: this.env, stdio: ['ignore', 'ignore', 'pipe'] });
    this.running.push(child);
    let said = '';
    const base = await new Promise((found, failed) => {
      child.stderr.on('data', (data) => {
        said += data;
        const match = /http:\/\/(?:127\.0\.0\.1|0\.0\.0\.0):(\d+)/.exec(said);
        if (match) found(`http://127.0.0.1:${match[1]}`);
      });
      child.on('exit', (code) => failed(new Error(`serve ended with ${code}: ${said}`)));
    });
    const server = { base, port: Number(new URL(base).port), child, log: () => said, kill: (signal = 'SIGKILL') => stop(child, signal) };
    server.token = (await this.cli('token')).trim();
    server.code = async () => {
      const response = await fetch(`${base}/api/page/code`, { method: 'POST', headers: { Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json' }, body: '{}' });
      return (await response.json()).code;
    };
    server.session = async () => {
      const response = await fetch(`${base}/api/page/session`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ token: server.token }) });
      return (await response.json()).session;
    };
    server.get = async (path) => {
      server.key ??= await server.session();
      const response = await fetch(`${base}/api/page/${path}`, { headers: { Authorization: `Bearer ${server.key}` } });
      return response.json();
    };
    return server;
  }

  async file(path, content) {
    const full = join(this.vault, path);
    await mkdir(dirname(full), { recursive: true });
    await writeFile(full, content);
  }

  read(path) {
    return readFile(join(this.vault, path));
  }

  async remove() {
    await Promise.all(this.running.map((child) => stop(child, 'SIGKILL')));
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Makes a filled vault with its server and a browser; `prepare` fills it further before the server starts. */
export async function standUp(prepare = async () => undefined) {
  const home = await Home.make();
  await fill(home);
  await prepare(home);
  return { home, server: await home.serve(), browser: await launch() };
}

/** Ends what `standUp` began. */
export async function takeDown({ home, browser }) {
  await browser?.close();
  await home?.remove();
}

async function stop(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise((done) => {
    child.once('exit', done);
    child.kill(signal);
  });
}

class Agent {
  constructor(child) {
    this.process = child;
    this.next = 1;
    this.open = new Map();
    createInterface({ input: child.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      this.open.get(message.id)?.(message);
      this.open.delete(message.id);
    });
  }

  tell(method, params) {
    this.process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`);
  }

  ask(method, params) {
    const id = this.next++;
    this.process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return new Promise((found) => this.open.set(id, found));
  }

  /** Returns the text of the answer; throws if the tool refused. */
  async call(name, args) {
    const answer = await this.ask('tools/call', { name, arguments: args });
    const text = (answer.result?.content ?? []).map((part) => part.text).join('');
    if (answer.error || answer.result?.isError) throw new Error(`${name}: ${JSON.stringify(answer.error ?? text)}`);
    return text;
  }

  async close() {
    this.process.stdin.end();
    await new Promise((done) => this.process.once('exit', done));
  }
}

const OFFLINE = '--host-resolver-rules=MAP evil.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1';

export async function launch() {
  return chromium.launch({ executablePath: browserPath, args: ['--no-sandbox', '--disable-dev-shm-usage', OFFLINE] });
}

/** A browser context that notes everything that must not happen. */
export async function context(browser, options = {}) {
  const made = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB', ...options });
  const trouble = { console: [], foreign: [], dialogs: [] };
  // While the page is being written: the files as they were built last, with the headers of the server.
  if (process.env.PAGE_FROM_DISK) {
    await made.route(/^http:\/\/127\.0\.0\.1:\d+\/((page|places)\.(js|css))?$/, async (route) => {
      const shell = await route.fetch({ url: new URL('/', route.request().url()).href });
      const name = new URL(route.request().url()).pathname.slice(1) || 'index.html';
      const headers = { ...shell.headers(), 'content-type': { js: 'text/javascript', css: 'text/css', html: 'text/html' }[name.split('.')[1]] };
      await route.fulfill({ status: 200, headers, body: await readFile(join(builtFolder, name)) });
    });
  }
  made.on('page', (page) => {
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') trouble.console.push(message.text());
    });
    page.on('pageerror', (error) => trouble.console.push(`uncaught: ${error.message}`));
    page.on('dialog', (dialog) => {
      trouble.dialogs.push(dialog.message());
      void dialog.dismiss();
    });
  });
  made.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'blob:' && url.hostname !== '127.0.0.1') trouble.foreign.push(request.url());
  });
  return Object.assign(made, { trouble });
}

export async function enter(made, server, address = '#/now') {
  const page = await made.newPage();
  await page.goto(`${server.base}/#c=${await server.code()}`);
  await page.waitForSelector('nav.rail');
  if (address !== '#/now') await page.goto(`${server.base}/${address}`);
  return page;
}

export async function until(what, test, ms = 5000) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await test();
    if (value) return value;
    if (Date.now() > end) throw new Error(`did not happen within ${ms} ms: ${what}`);
    await new Promise((wait) => setTimeout(wait, 20));
  }
}

/** Paths and methods of the server, from its own description. */
export async function routes(server) {
  const { paths } = await (await fetch(`${server.base}/api/openapi.json`)).json();
  return paths;
}

export const PLACES = ['now', 'search', 'note', 'map', 'history', 'facts', 'agents', 'care'];

/** Sets the clock of agents that were started with this file. */
export const setClock = (file, time) => writeFile(file, new Date(time).toISOString().slice(0, 19).replace('T', ' '));

/** A vault as several agents and a person leave it. */
export async function fill(home) {
  const claude = await home.agent('claude-code', '2.1.4');
  const note = (agent, title, directory, content, tags = []) => agent.call('write_note', { title, directory, content, tags, project: 'main' });
  await note(claude, 'Billing', 'Shop', `# Billing

## How we charge
Prices are integers of cents, everywhere; the shop converts at the edge.
The ledger is append-only. A refund is a new entry, never a change.

## Decisions
- [decision] Use PostgreSQL 14 for the ledger #db (since the audit)
- [rule] Never round before tax

## Open
- depends_on [[Currency]]
- relates_to [[Audit 2026]]
Parked orders are looked at on Monday mornings by [[On-call]].
`, ['shop', 'money']);
  await note(claude, 'Currency', 'Shop', '# Currency\n\nEuro and franc. [[Billing]] wants cents.\n\n- [fact] Rates come from the central bank at four o\'clock #rates\n');
  await claude.call('add_memory', { content: 'Deploys go out on Tuesdays, never on Fridays', type: 'rule', global: true });
  await claude.call('add_memory', { content: 'The payment webhook retries five times, then parks the order', type: 'fact', global: true });
  await claude.close();
  const cursor = await home.agent('cursor-vscode', '1.9');
  await cursor.call('edit_note', { identifier: 'Billing', operation: 'find_replace', find_text: 'PostgreSQL 14', content: 'PostgreSQL 16', project: 'main' });
  await note(cursor, 'Audit 2026', 'Shop', '# Audit 2026\n\nThe audit wants every price of [[Billing]] in cents.\nThe ledger of 2025 was complete.\n');
  await note(cursor, 'Plan for spring', 'Plans', '# Plan for spring\n\nThen we rewrite Billing in one go, and the kitchen gets a new tap.\n');
  await cursor.close();
  const codex = await home.agent('codex-mcp-client', '0.40');
  await codex.call('create_entities', { threadId: 'shop', entities: [{ name: 'Ledger', entityType: 'service', observations: [{ content: 'p95 of a booking is 60 ms', category: 'metric' }] }].map((one) => ({ ...one, observations: one.observations.map((seen) => seen.content) })) });
  await codex.call('memory', { command: 'create', path: '/memories/style.md', file_text: '# Style\n\nPrefers tables over figures where both would do.\n' });
  await codex.call('add_reminder', { cron_expression: '0 9 17 11 *', message: 'Renew the domain of the shop', global: true });
  await codex.close();
  await home.file('main/Kitchen.md', '# Kitchen\n\n- [fact] The tap takes cartridge 46374\n');
  await home.cli('scan');
}

const WORDS = 'ledger billing refund invoice webhook deploy release audit currency rate limit queue worker thread cache index search vector backup restore migration schema token session browser kernel driver garden kitchen compost pear roof heating window thesis chapter survey method corpus figure supervisor defence friend birthday recipe train ticket mountain river coast island harbour'.split(' ');

/** Writes many notes as files, the same on every run, in four projects. */
export async function writeNotes(home, count) {
  let seed = 7;
  const random = (below) => ((seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) % below);
  const sentence = (length) => Array.from({ length }, () => WORDS[random(WORDS.length)]).join(' ');
  const projects = ['main', 'work', 'thesis', 'house'];
  for (let at = 0; at < count; at += 1) {
    const folder = join(home.vault, projects[at % 4], `f${at % 50}`);
    if (at < 200) await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `note-${at}.md`), `# ${sentence(3)} ${at}\n\n${sentence(40)}.\n${sentence(30)}.\n\n- [fact] ${sentence(6)} ${at}\n- relates_to [[note-${random(at + 1)}]]\n`);
  }
}

/** Presses Tab until a control has the focus. */
export async function tabTo(page, name) {
  for (let at = 0; at < 250; at += 1) {
    await page.keyboard.press('Tab');
    const found = await page.evaluate(() => {
      const node = document.activeElement;
      return `${node?.getAttribute('aria-label') ?? ''} ${node?.id ?? ''} ${node?.textContent?.trim().slice(0, 80) ?? ''}`;
    });
    if (name.test(found)) return;
  }
  throw new Error(`Tab does not reach ${name}`);
}

/** A zip archive of these entries. */
export function zip(entries) {
  const parts = [];
  const central = [];
  let offset = 0;
  for (const { name, bytes } of entries) {
    const data = deflateRawSync(bytes);
    const path = Buffer.from(name);
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt16LE(0x0800, 2);
    head.writeUInt16LE(8, 4);
    head.writeUInt32LE(crc32(bytes), 10);
    head.writeUInt32LE(data.length, 14);
    head.writeUInt32LE(bytes.length, 18);
    head.writeUInt16LE(path.length, 22);
    const end = Buffer.alloc(14);
    end.writeUInt32LE(offset, 10);
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), head, end, path]));
    parts.push(Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), head, path, data]));
    offset += parts.at(-1).length;
  }
  const index = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(index.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, index, end]);
}
