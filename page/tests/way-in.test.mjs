// Checks 2 to 5: the way in, and who does not get in.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { context, enter, routes, standUp, takeDown } from './support.mjs';

let home, server, browser;
before(async () => ({ home, server, browser } = await standUp()));
after(() => takeDown({ home, browser }));

test('a link works once, and the code is nowhere afterwards', async () => {
  const made = await context(browser);
  const link = (await home.cli('open', '--print')).match(/http:\/\/\S+#c=\S+/)[0];
  const code = /#c=(.+)$/.exec(link)[1];
  const page = await made.newPage();
  await page.goto(link);
  await page.waitForSelector('nav.rail');
  assert.ok(!page.url().includes(code), 'the address bar still has the code');
  await page.goto(`${new URL(link).origin}/#/care`);
  await page.goBack();
  assert.ok(!page.url().includes(code), 'the history has the code');
  assert.equal(await page.evaluate(() => document.cookie), '');
  assert.ok(!server.log().includes(code), 'the log has the code');

  const second = await (await context(browser)).newPage();
  await second.goto(link);
  await second.waitForSelector('[role=alert]');
  assert.match(await second.textContent('[role=alert]'), /used|once|already/i);
  assert.equal(await second.locator('nav.rail').count(), 0);
  await made.close();
});

test('another tab gets the key from an open one; a new browser does not', async () => {
  const made = await context(browser);
  await enter(made, server);
  const other = await made.newPage();
  await other.goto(server.base);
  await other.waitForSelector('nav.rail');
  assert.equal(await other.evaluate(() => document.cookie), '');
  const stranger = await (await context(browser)).newPage();
  await stranger.goto(server.base);
  await stranger.waitForSelector('#token');
  await made.close();
});

test('without a session every route of the page refuses, and the shell holds no memory', async () => {
  const described = Object.entries(await routes(server)).filter(([path]) => path.startsWith('/api/page/') && !['/api/page/session', '/api/page/way-in'].includes(path));
  assert.ok(described.length > 15, `only ${described.length} routes are described`);
  for (const [path, methods] of described) {
    for (const method of Object.keys(methods)) {
      const response = await fetch(server.base + path, { method: method.toUpperCase(), headers: { 'Content-Type': 'application/json' }, body: method === 'get' ? undefined : '{}' });
      assert.equal(response.status, 401, `${method} ${path}`);
    }
  }
  for (const file of ['', 'page.js', 'places.js', 'page.css', 'places.css', 'icon.svg']) {
    const response = await fetch(`${server.base}/${file}`);
    assert.equal(response.status, 200, file);
    const text = await response.text();
    for (const word of ['parks the order', '46374', home.vault]) assert.ok(!text.includes(word), `${file} contains ${word}`);
    const policy = response.headers.get('content-security-policy');
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /require-trusted-types-for 'script'/);
    assert.ok(!/unsafe/.test(policy), policy);
  }
});

test('a name that was made to point here is refused', async () => {
  const made = await context(browser);
  const page = await made.newPage();
  for (const path of ['/', '/page.js', '/api/page/status', '/api/health']) {
    const response = await page.goto(`http://evil.test:${server.port}${path}`);
    assert.equal(response.status(), 403, path);
  }
  await made.close();
});

test('a page of another port changes nothing and reads nothing', async () => {
  const commits = async () => (await server.get('status')).counts.commits;
  const beforehand = await commits();
  const attack = createServer((request, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end('<!doctype html><title>other</title>');
  });
  await new Promise((ready) => attack.listen(0, '127.0.0.1', ready));
  const made = await context(browser);
  const page = await made.newPage();
  await page.goto(`http://127.0.0.1:${attack.address().port}/`);
  const targets = [...Object.keys(await routes(server)), '/api/tools/add_memory', '/mcp', '/page.js', '/page.css', '/'];
  const readable = await page.evaluate(async ({ base, targets }) => {
    const read = [];
    const attempt = async (name, work) => {
      try {
        const got = await work();
        if (got) read.push(`${name}: ${got}`);
      } catch {
        // Refused, as it should be.
      }
    };
    for (const path of targets) {
      const body = JSON.stringify({ content: 'from elsewhere', type: 'note', global: true });
      await attempt(`GET ${path}`, async () => (await fetch(base + path)).text());
      await attempt(`POST text ${path}`, async () => (await fetch(base + path, { method: 'POST', body, headers: { 'Content-Type': 'text/plain' } })).text());
      await attempt(`POST json ${path}`, async () => (await fetch(base + path, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } })).text());
      await attempt(`no-cors ${path}`, async () => (await fetch(base + path, { method: 'POST', body, mode: 'no-cors' })).text());
      const form = document.createElement('form');
      form.action = base + path;
      form.method = 'POST';
      form.enctype = 'text/plain';
      form.target = 'sink';
      const field = document.createElement('input');
      field.name = '{"content":"from a form","type":"note","global":true,"x":"';
      field.value = '"}';
      form.append(field);
      document.body.append(form);
      const sink = document.createElement('iframe');
      sink.name = 'sink';
      document.body.append(sink);
      form.submit();
      await new Promise((done) => setTimeout(done, 10));
      sink.remove();
      form.remove();
    }
    // By element: a picture, a script, a style, an event stream. None may load, whatever the route.
    await Promise.all(targets.flatMap((path) => ['img', 'script', 'link'].map((make) => new Promise((done) => {
      const node = document.createElement(make);
      node.onload = () => { read.push(`${make} ${path}`); done(); };
      node.onerror = done;
      if (make === 'link') Object.assign(node, { rel: 'stylesheet', href: base + path });
      else node.src = base + path;
      document.body.append(node);
    }))));
    await Promise.all(targets.map((path) => new Promise((done) => {
      const source = new EventSource(base + path);
      source.onopen = source.onmessage = () => { read.push(`EventSource ${path}`); source.close(); done(); };
      source.onerror = () => { source.close(); done(); };
    })));
    const frame = document.createElement('iframe');
    frame.src = `${base}/`;
    document.body.append(frame);
    await new Promise((done) => setTimeout(done, 400));
    try {
      if (frame.contentDocument?.body?.textContent) read.push('frame');
    } catch {
      // Another origin.
    }
    return read;
  }, { base: server.base, targets });
  assert.deepEqual(readable.map((one) => one.slice(0, 80)), []);
  const framed = await Promise.all(page.frames().filter((frame) => frame !== page.mainFrame()).map((frame) => frame.content().catch(() => '')));
  assert.ok(!framed.some((text) => text.includes('id="page"')), 'the shell was framed');
  assert.equal(await commits(), beforehand);
  await made.close();
  attack.close();
});
