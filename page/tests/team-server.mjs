// A team server on a real PostgreSQL of its own, on loopback.

import { execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { binary } from './support.mjs';

const run = promisify(execFile);
const DEBIAN = '/usr/lib/postgresql';
const NOBODY = 65534;

/** Programs of PostgreSQL; undefined if there is none. */
export const postgres = process.env.MEMORANDA_TEST_PG_BIN ??
  (existsSync(DEBIAN) ? readdirSync(DEBIAN).filter((name) => existsSync(join(DEBIAN, name, 'bin/initdb'))).map((name) => join(DEBIAN, name, 'bin')).at(-1) : undefined);

/** Why there can be no team server here; false if there can. */
export function whyNoTeam() {
  if (!postgres) return 'there is no PostgreSQL';
  const said = spawnSync(binary, ['admin', '--database', 'postgres://nobody@127.0.0.1:1/none', 'stats'], { encoding: 'utf8' });
  return said.stderr.includes('no team server') ? 'this build has no team server' : false;
}

async function freePort() {
  const probe = createServer();
  await new Promise((ready) => probe.listen(0, '127.0.0.1', ready));
  const { port } = probe.address();
  await new Promise((done) => probe.close(done));
  return port;
}

export class TeamServer {
  static async start() {
    const team = new TeamServer();
    team.folder = await mkdtemp(join(tmpdir(), 'memoranda-team-'));
    await chmod(team.folder, 0o755);
    team.data = join(team.folder, 'data');
    await mkdir(team.data);
    // PostgreSQL refuses to run as root.
    const isRoot = process.getuid() === 0;
    if (isRoot) await chown(team.data, NOBODY, NOBODY);
    team.owner = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
    const port = await freePort();
    const cluster = join(team.data, 'cluster');
    await run(join(postgres, 'initdb'), ['--pgdata', cluster, '--username', 'postgres', '--auth', 'trust', '--no-sync'], { ...team.owner, cwd: team.data });
    team.database = spawn(join(postgres, 'postgres'), ['-D', cluster, '-p', String(port), '-h', '127.0.0.1', '-k', team.data, '-c', 'fsync=off'], { ...team.owner, cwd: team.data, stdio: 'ignore' });
    team.env = { PATH: process.env.PATH, HOME: join(team.folder, 'home'), TMPDIR: tmpdir(), MEMORANDA_DATABASE: `postgres://postgres@127.0.0.1:${port}/postgres` };
    await mkdir(team.env.HOME);
    for (let tries = 0; ; tries += 1) {
      try {
        await team.admin('migrate');
        break;
      } catch (error) {
        if (tries > 100) throw error;
        await new Promise((wait) => setTimeout(wait, 100));
      }
    }
    return team;
  }

  async admin(...args) {
    const { stdout } = await run(binary, ['admin', ...args], { env: this.env });
    return stdout;
  }

  async json(...args) {
    const { stdout } = await run(binary, ['--json', 'admin', ...args], { env: this.env });
    return JSON.parse(stdout);
  }

  async serve() {
    const child = spawn(binary, ['--json', 'serve', '--bind', '127.0.0.1:0'], { env: this.env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.server = child;
    this.log = '';
    child.stderr.on('data', (data) => (this.log += data));
    const line = await new Promise((found, failed) => {
      let text = '';
      child.stdout.on('data', (data) => {
        text += data;
        if (text.trimEnd().endsWith('}')) found(text);
      });
      child.on('exit', (code) => failed(new Error(`serve ended with ${code}: ${this.log}`)));
    });
    this.base = new URL(JSON.parse(line).sign_in).origin;
  }

  /** Calls a tool with a token. */
  async call(token, name, args, headers = {}) {
    const response = await fetch(`${this.base}/api/tools/${name}`, { method: 'POST', headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(args) });
    const answer = await response.json();
    if (!response.ok || answer.is_error) throw new Error(`${name}: ${JSON.stringify(answer)}`);
    return answer;
  }

  async stop() {
    for (const child of [this.server, this.database]) {
      if (!child || child.exitCode !== null) continue;
      const ended = new Promise((done) => child.once('exit', done));
      child.kill(child === this.database ? 'SIGQUIT' : 'SIGTERM');
      await ended;
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}
