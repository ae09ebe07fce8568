// Forbidden in the source: everything that turns text into markup or needs a laxer policy.

import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const source = resolve(dirname(fileURLToPath(import.meta.url)), '../src');
const FORBIDDEN = [
  [/\{@html/, 'renders markup'],
  [/\b(inner|outer)HTML\b|insertAdjacentHTML|document\.write|srcdoc|DOMParser|createContextualFragment/, 'parses markup'],
  [/\sstyle="|\sstyle=\{/, 'is an inline style; use a class or style:property'],
  [/\beval\(|new Function\(|setTimeout\(\s*['"`]/, 'runs text'],
  [/document\.cookie/, 'uses a cookie'],
  [/https?:\/\/(?!www\.w3\.org\/2000\/svg)[a-z]/i, 'names another host'],
];
let found = 0;
for (const name of await readdir(source, { recursive: true })) {
  if (!/\.(ts|svelte)$/.test(name)) continue;
  const lines = (await readFile(join(source, name), 'utf8')).split('\n');
  lines.forEach((line, at) => {
    for (const [pattern, why] of FORBIDDEN) {
      if (pattern.test(line) && !/^\s*\/\//.test(line)) {
        console.error(`${name}:${at + 1}: ${why}: ${line.trim().slice(0, 120)}`);
        found += 1;
      }
    }
  });
}
if (found) process.exit(1);
