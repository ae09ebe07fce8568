// Makes the picture of the README, and on request those of all places, from a vault that several agents
// filled over four months. The clock is moved with libfaketime, so the history has real days.
//
//   node tests/picture.mjs                 writes ../docs/images/now.png
//   node tests/picture.mjs --all FOLDER    all places, light and dark, large and small, full and empty
//   node tests/picture.mjs --vault FOLDER  only makes the vault, below FOLDER

import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { context, enter, faketime, Home, launch, pageFolder, PLACES, setClock as setClockFile } from './support.mjs';

const DAY = 86_400_000;
let seed = 20261118;
const random = () => ((seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32);
const pick = (list) => list[Math.floor(random() * list.length)];

const SUBJECTS = {
  main: { folder: 'Shop', words: ['Currency', 'Ledger', 'Refunds', 'Checkout', 'Webhooks', 'Audit 2026', 'On-call', 'Release train', 'Search index', 'Image service', 'Rate limits', 'Backups', 'Feature flags', 'Mail templates', 'Invoices', 'Tax tables', 'Session store'] },
  thesis: { folder: 'Chapters', words: ['Introduction', 'Survey of 2019', 'Method', 'Corpus', 'Chapter 3', 'Chapter 4', 'Figures', 'Bibliography', 'Defence', 'Notes of the supervisor', 'Statistics', 'Ethics'] },
  'garden-and-house': { folder: 'House', words: ['Kitchen', 'Roof', 'Pear tree', 'Compost', 'Heating', 'Cellar', 'Windows', 'Vegetable beds', 'Tools', 'Neighbours'] },
  people: { folder: 'Friends', words: ['Ada', 'Björn', 'Chiara', 'Deniz', 'Emil', 'Fatima', 'Goran', 'Hanna'] },
};
const SENTENCES = ['It was decided in the meeting on Monday.', 'The old way stays until the end of the quarter.', 'Nobody has looked at this since spring.', 'Both numbers come from the same source.', 'Ask before you change it.', 'This holds for the test system too.', 'The first version was simpler and slower.', 'It breaks when the clock changes.'];
const FACTS = ['The nightly run takes 40 minutes', 'The limit is 250 calls a minute', 'Only two people have the key', 'The contract ends in March', 'The spare part is in the cellar', 'The draft has 34 pages'];
const CLIENTS = [['claude-code', '2.1.4', 5], ['cursor-vscode', '1.9', 3], ['codex-mcp-client', '0.40', 2.2], ['claude-ai', '1.0', 1.1], ['gemini-cli-mcp-client', '0.9', 0.9]];

const BILLING = { title: 'Billing', directory: 'Shop', project: 'main', tags: ['shop', 'money'], overwrite: true, content: '# Billing\n\n## How we charge\nPrices are integers of cents, everywhere; the shop converts at the edge.\nThe ledger is append-only. A refund is a new entry, never a change.\n\n## Decisions\n- [decision] Use PostgreSQL 14 for the ledger #db (since the audit)\n- [rule] Never round before tax\n- [fact] The payment webhook retries 3 times\n\n## Open\n- depends_on [[Currency]]\n- relates_to [[Audit 2026]]\n\nParked orders are looked at on Monday mornings by [[On-call]].\n' };

export async function lived(home, notes = Number(process.env.NOTES ?? 420)) {
  const clockFile = join(home.folder, 'clock');
  const setClock = (time) => setClockFile(clockFile, time);
  const now = Date.now();
  await setClock(now - 125 * DAY);
  const agents = [];
  for (const [name, version, weight] of CLIENTS) agents.push({ agent: await home.agent(name, version, clockFile), name, weight });
  for (const project of Object.keys(SUBJECTS)) if (project !== 'main') await agents[0].agent.call('create_memory_project', { project_name: project, project_path: join(home.vault, project) });
  const whole = agents.reduce((sum, one) => sum + one.weight, 0);
  const anAgent = () => {
    let left = random() * whole;
    return agents.find((one) => (left -= one.weight) < 0) ?? agents[0];
  };
  const known = [];
  let made = 0;
  for (let day = 124; day >= 1; day -= 1) {
    const weekday = new Date(now - day * DAY).getUTCDay();
    const writes = weekday === 0 || weekday === 6 ? Math.floor(random() * 3) : 1 + Math.floor(random() * (notes / 45));
    const { agent } = anAgent();
    if (day === 29) await agents[1].agent.call('add_memory', { content: 'Deploys go out on Fridays', type: 'rule', global: true });
    if (day === 21) await agents[0].agent.call('write_note', BILLING);
    if (day === 20) await agents[2].agent.call('add_reminder', { cron_expression: `0 9 ${new Date(now - DAY).getUTCDate()} * *`, message: 'Renew the domain of the shop', global: true });
    for (let n = 0; n < writes; n += 1) {
      const time = now - day * DAY + n * 660_000 + Math.floor(random() * 300_000);
      if (time > now - 1.2 * DAY) continue;
      await setClock(time);
      const writer = random() < 0.7 ? agent : anAgent().agent;
      if (known.length > 5 && random() < 0.5) {
        const { title, project } = pick(known);
        await writer.call('read_note', { identifier: title, project }).catch(() => undefined);
      }
      const roll = random();
      if (roll < 0.16) await writer.call('add_memory', { content: `${pick(FACTS)}, said ${pick(SUBJECTS.people.words)}`, type: pick(['fact', 'decision', 'note']), global: true });
      else if (roll < 0.3 && known.length > 8) {
        const { title, project } = pick(known);
        await writer.call('edit_note', { identifier: title, project, operation: 'append', content: `\n- [fact] ${pick(FACTS)}\n` }).catch(() => undefined);
      } else {
        const project = pick(['main', 'main', 'main', 'thesis', 'thesis', 'garden-and-house', 'people']);
        const { folder, words } = SUBJECTS[project];
        const base = pick(words);
        const title = known.some((one) => one.title === base) ? `${base}: ${pick(['plan', 'review', 'numbers', 'questions', 'next steps', 'history'])} ${made}` : base;
        const link = known.filter((one) => one.project === project);
        await writer.call('write_note', { title, project, directory: folder, tags: [folder.toLowerCase()], content: `# ${title}\n\n${pick(SENTENCES)} ${pick(SENTENCES)}\n\n- [${pick(['fact', 'decision', 'idea'])}] ${pick(FACTS)}\n${link.length && random() < 0.65 ? `- relates_to [[${pick(link).title}]]\n` : ''}` });
        known.push({ title, project });
        made += 1;
      }
    }
  }
  await setClock(now - 26 * 3_600_000);
  for (const { agent } of agents) await agent.close();
  await recent(home, clockFile, setClock, now);
}

/** The last day, with sentences that are read. */
async function recent(home, clockFile, setClock, now) {
  const say = async (name, version, hoursAgo, calls) => {
    await setClock(now - hoursAgo * 3_600_000);
    const agent = await home.agent(name, version, clockFile);
    for (const [n, [tool, args]] of calls.entries()) {
      await setClock(now - hoursAgo * 3_600_000 + n * 540_000);
      await agent.call(tool, args);
    }
    await agent.close();
  };
  const note = (title, directory, content, project = 'main') => ['write_note', { title, directory, content, project, tags: [directory.toLowerCase()], overwrite: true }];
  const memory = (content, type) => ['add_memory', { content, type, global: true }];
  await say('codex-mcp-client', '0.40', 20, [note('Survey of 2019', 'Chapters', '# Survey of 2019\n\nChapter 3 cites it twice; keep the second citation.\n\n- [fact] The survey has 412 answers\n', 'thesis'), memory('Prefers tables over figures where both would do', 'note'), ['create_entities', { threadId: 'shop', entities: [{ name: 'Ledger', entityType: 'service', observations: ['p95 of a booking is 80 ms'] }] }]]);
  await say('cursor-vscode', '1.9', 13, [['edit_note', { identifier: 'main/Shop/Billing', project: 'main', operation: 'find_replace', find_text: 'PostgreSQL 14', content: 'PostgreSQL 16' }], ['edit_note', { identifier: 'main/Shop/Billing', project: 'main', operation: 'append', content: '- [fact] The payment webhook retries 5 times\n' }]]);
  await say('claude-code', '2.1.4', 1.6, [note('Audit 2026', 'Shop', '# Audit 2026\n\nThe audit wants every price of [[Billing]] in cents.\n\n- [fact] The ledger of 2025 was complete\n'), ['edit_note', { identifier: 'main/Shop/Billing', project: 'main', operation: 'append', content: 'A parked order is billed on the day it is released.\n' }], note('Release train', 'Shop', '# Release train\n\n- [decision] Releases wait for the audit of the ledger\n- relates_to [[Audit 2026]]\n'), memory('Deploys go out on Tuesdays, never on Fridays', 'rule')]);
  await say('codex-mcp-client', '0.40', 0.6, [note('On-call', 'Shop', '# On-call\n\nWebhook failures are parked, see [[Billing]].\n\n- [rule] Parked orders are looked at on Monday mornings\n'), memory('Answer questions about prices in cents', 'rule')]);
  await home.file('main/Kitchen.md', '# Kitchen\n\n- [fact] The tap takes cartridge 46374\n');
  await home.cli('scan');
}

async function shoot(page, file) {
  await page.waitForTimeout(900);
  await page.screenshot({ path: file });
}

const LOOKS = ['light', 'dark'].flatMap((colorScheme) => [[1440, 900], [390, 844]].map(([width, height]) => ({ colorScheme, viewport: { width, height } })));
const ADDRESSES = [...PLACES.map((place) => [place, `#/${place}`]), ['billing', '#/note/main/Shop/Billing.md'], ['edit', '#/note/main/Shop/Billing.md?edit=1'], ['found', '#/search?q=ledger'], ['as-the-agent', '#/search?q=ledger&view=agent'], ['contradictions', '#/facts/contradictions'], ['rules', '#/facts/rules'], ['reminders', '#/facts/reminders'], ['compare', '#/history/compare'], ['bring', '#/care/bring'], ['keep', '#/care/keep'], ['settings', '#/care/settings'], ['orphans', '#/care/orphans']];

async function shootAll(browser, server, folder, addresses) {
  await mkdir(folder, { recursive: true });
  for (const look of LOOKS) {
    const made = await context(browser, look);
    const page = await enter(made, server);
    for (const [name, address] of addresses) {
      await page.goto(`${server.base}/${address}`);
      await shoot(page, join(folder, `${name}-${look.colorScheme}-${look.viewport.width}.png`));
    }
    await made.close();
  }
}

async function main() {
  if (!faketime) throw new Error('libfaketime is missing: apt-get install faketime');
  const [mode, folder] = process.argv.slice(2);
  const home = await Home.make();
  const bare = await Home.make();
  let browser;
  try {
    await lived(home);
    if (mode === '--vault') {
      const { cp } = await import('node:fs/promises');
      await cp(home.folder, resolve(folder), { recursive: true });
      return;
    }
    browser = await launch();
    const server = await home.serve();
    if (mode === '--all') {
      await shootAll(browser, server, folder, ADDRESSES);
      await shootAll(browser, await bare.serve(), join(folder, 'empty'), ADDRESSES.slice(0, PLACES.length));
      return;
    }
    const made = await context(browser, { colorScheme: 'dark' });
    const page = await enter(made, server);
    await page.waitForSelector('main [data-row]');
    await page.waitForTimeout(1500);
    await shoot(page, resolve(pageFolder, '../docs/images/now.png'));
  } finally {
    await browser?.close();
    await home.remove();
    await bare.remove();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
