// A short run in Firefox over WebDriver BiDi: the way in, every place, live, undo; no error on the way.
// Needs a global WebSocket: node --experimental-websocket before Node 22.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fill, Home, PLACES, until } from './support.mjs';

const firefoxPath = process.env.FIREFOX ?? ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find(existsSync);

/** The few commands of WebDriver BiDi that this run needs. */
class Firefox {
  static async start() {
    const firefox = new Firefox();
    firefox.folder = await mkdtemp(join(tmpdir(), 'memoranda-firefox-'));
    const port = await new Promise((found) => {
      const probe = createServer().listen(0, '127.0.0.1', () => {
        const { port: free } = probe.address();
        probe.close(() => found(free));
      });
    });
    firefox.process = spawn(firefoxPath, ['--headless', '--no-remote', '--profile', firefox.folder, `--remote-debugging-port=${port}`, 'about:blank'], { stdio: 'ignore', env: { ...process.env, HOME: firefox.folder, MOZ_HEADLESS: '1' } });
    firefox.open = new Map();
    firefox.next = 1;
    firefox.errors = [];
    await until('Firefox listens', () => firefox.connect(port), 60_000);
    await firefox.ask('session.new', { capabilities: {} });
    await firefox.ask('session.subscribe', { events: ['log.entryAdded'] });
    const { contexts } = await firefox.ask('browsingContext.getTree', {});
    firefox.context = contexts[0].context;
    return firefox;
  }

  connect(port) {
    return new Promise((done) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/session`);
      socket.onerror = () => done(false);
      socket.onopen = () => {
        this.socket = socket;
        socket.onmessage = ({ data }) => this.take(JSON.parse(data));
        done(true);
      };
    });
  }

  take(message) {
    if (message.method === 'log.entryAdded' && message.params.level === 'error') this.errors.push(message.params.text);
    const waiting = this.open.get(message.id);
    this.open.delete(message.id);
    if (message.type === 'error') waiting?.failed(new Error(`${message.error}: ${message.message}`));
    else waiting?.found(message.result);
  }

  ask(method, params) {
    const id = this.next++;
    return new Promise((found, failed) => {
      this.open.set(id, { found, failed });
      this.socket.send(JSON.stringify({ id, method, params }));
    });
  }

  go(url) {
    return this.ask('browsingContext.navigate', { context: this.context, url, wait: 'complete' });
  }

  async look(expression) {
    const answer = await this.ask('script.evaluate', { expression, target: { context: this.context }, awaitPromise: true });
    if (answer.type === 'exception') throw new Error(answer.exceptionDetails.text);
    return answer.result.value;
  }

  press(...values) {
    const actions = values.flatMap((value) => [{ type: 'keyDown', value }, { type: 'keyUp', value }]);
    return this.ask('input.performActions', { context: this.context, actions: [{ type: 'key', id: 'keys', actions }] });
  }

  async end() {
    this.socket?.close();
    const ended = new Promise((done) => this.process.once('exit', done));
    this.process.kill('SIGKILL');
    await ended;
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

let home, server, firefox;
before(async () => {
  home = await Home.make();
  await fill(home);
  server = await home.serve();
  firefox = await Firefox.start();
});
after(async () => {
  await firefox?.end();
  await home?.remove();
});

test('Firefox: the way in, eight places, live, undo by key, nothing in the console', async () => {
  await firefox.go(`${server.base}/#c=${await server.code()}`);
  await until('Now', () => firefox.look("document.querySelectorAll('main [data-row]').length > 0"), 20_000);
  assert.equal(await firefox.look('location.hash'), '#/now');
  assert.equal(await firefox.look('document.cookie'), '');
  for (const place of PLACES) {
    await firefox.look(`location.hash = '#/${place}'`);
    await until(place, () => firefox.look("(document.querySelector('main h1, main canvas, main .empty, main input') !== null)"), 10_000);
    await new Promise((wait) => setTimeout(wait, 300));
    assert.ok(await firefox.look('document.documentElement.scrollWidth <= innerWidth'), place);
  }
  await firefox.look("location.hash = '#/now'");
  await until('the ledger', () => firefox.look("document.querySelectorAll('main [data-row]').length > 0"));
  const agent = await home.agent('claude-code', '2.1');
  await agent.call('add_memory', { content: 'The Firefox run was here', type: 'fact', global: true });
  const shows = (text) => firefox.look(`[...document.querySelectorAll('main [data-row]')].some((row) => row.textContent.includes(${JSON.stringify(text)}))`);
  await until('it is live', () => shows('The Firefox run was here'));
  await firefox.press('j');
  await until('the difference', () => firefox.look("document.querySelector('.split button.primary:not(:disabled)') !== null"));
  await firefox.press('u');
  await until('taken back', () => firefox.look("document.querySelector('li.undone') !== null"));
  assert.ok(!(await home.cli('log', '--limit', '1')).includes('add_memory'), 'the undo is the last change');
  await agent.close();
  assert.deepEqual(firefox.errors, []);
});
