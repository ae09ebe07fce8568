// One colour and one sign for each agent, everywhere. The sign carries the meaning without colour.

import type { Agent } from './types';

export const SHAPES = ['circle', 'square', 'triangle', 'diamond', 'hexagon', 'star', 'plus', 'ring'] as const;
export type Shape = (typeof SHAPES)[number];
export interface Look { colour: number; shape: Shape }

const KNOWN: Record<string, [number, Shape]> = {
  'claude-code': [0, 'circle'],
  cursor: [1, 'square'],
  'cursor-vscode': [1, 'square'],
  codex: [2, 'triangle'],
  'codex-mcp-client': [2, 'triangle'],
  person: [3, 'diamond'],
  'claude-ai': [5, 'hexagon'],
  'claude-desktop': [5, 'hexagon'],
  gemini: [4, 'star'],
  'gemini-cli': [4, 'star'],
  'gemini-cli-mcp-client': [4, 'star'],
  'visual-studio-code': [6, 'plus'],
  vscode: [6, 'plus'],
  import: [7, 'ring'],
};

const looks = new Map<string, Look>();

export function look(agent: Agent | string): Look {
  const key = typeof agent === 'string' ? agent : agent.key;
  let found = looks.get(key);
  if (!found) {
    const known = Object.hasOwn(KNOWN, key) ? KNOWN[key] : undefined;
    if (known) found = { colour: known[0], shape: known[1] };
    else {
      let hash = 2166136261;
      for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 16777619) >>> 0;
      found = { colour: (hash >>> 4) % 8, shape: SHAPES[(hash >>> 9) % SHAPES.length]! };
    }
    looks.set(key, found);
  }
  return found;
}

export const colourOf = (agent: Agent | string) => `var(--a${look(agent).colour})`;
