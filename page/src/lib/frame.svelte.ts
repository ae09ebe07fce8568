// State of the frame that several places use: status of the vault, announcements, keys.

import { untrack } from 'svelte';
import { get } from './api';
import { Loaded } from './load.svelte';
import type { Status } from './types';

export const status = new Loaded<Status>();
export const readStatus = () => status.load((signal) => get<Status>('status', {}, signal));

const NO_WRITE = ['read-only', 'vault-absent', 'vault-read-only', 'disk-full'];
/** The sentence why nothing can be written, in a project or at all; empty if it can. */
export function whyNoWrite(project?: string): string {
  const problems = status.value?.problems ?? [];
  return problems.find((one) => NO_WRITE.includes(one.code) || (project !== undefined && one.project === project))?.detail ?? '';
}

class Announcer {
  text = $state('');
  say(text: string) {
    this.text = this.text === text ? `${text}\u00a0` : text;
  }
}
export const announcer = new Announcer();

export interface KeyBinding { keys: string[]; shown: string; does: string; run: (event: KeyboardEvent) => void }

class Keys {
  bindings = $state.raw<KeyBinding[]>([]);

  /** Adds the keys of a place; the answer takes them away again. */
  add(bindings: KeyBinding[]): () => void {
    // Called in effects, which must not depend on the list that they change.
    untrack(() => (this.bindings = [...this.bindings, ...bindings]));
    return () => {
      this.bindings = this.bindings.filter((one) => !bindings.includes(one));
    };
  }

  handle(event: KeyboardEvent) {
    if (event.defaultPrevented || event.isComposing || event.metaKey || event.altKey) return;
    if (isTyping(event.target) || document.querySelector('dialog[open]')) return;
    const name = (event.ctrlKey ? 'Ctrl+' : '') + event.key;
    // The place's own keys come last and win.
    const binding = this.bindings.findLast((one) => one.keys.includes(name));
    if (!binding) return;
    // Enter and space belong to a focused control.
    if ((event.key === 'Enter' || event.key === ' ') && isControl(event.target)) return;
    event.preventDefault();
    binding.run(event);
  }
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName) ||
    (target instanceof HTMLInputElement && !/^(checkbox|radio|button|range)$/.test(target.type)));
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('button, a, summary, input, select, [role="slider"], [data-row]') !== null &&
    !target.closest('[data-row]');
}

export const keys = new Keys();

const motion = matchMedia('(prefers-reduced-motion: reduce)');
export const movesLittle = () => motion.matches;

export type Theme = 'system' | 'light' | 'dark';
const THEME_NAME = 'memoranda-theme';

export function setTheme(theme: Theme) {
  if (theme === 'system') {
    delete document.documentElement.dataset.theme;
    localStorage.removeItem(THEME_NAME);
  } else {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem(THEME_NAME, theme);
  }
  dispatchEvent(new Event('themechange'));
}

export function startTheme() {
  const kept = localStorage.getItem(THEME_NAME);
  if (kept === 'light' || kept === 'dark') document.documentElement.dataset.theme = kept;
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => dispatchEvent(new Event('themechange')));
}

/** Colours of custom properties as the browser paints them, for canvases. */
export function colours(names: string[]): [number, number, number][] {
  const probe = document.createElement('span');
  document.body.append(probe);
  const found = names.map((name): [number, number, number] => {
    probe.style.color = `var(${name})`;
    const [red = 0, green = 0, blue = 0] = (getComputedStyle(probe).color.match(/[\d.]+/g) ?? []).map(Number);
    return [red, green, blue];
  });
  probe.remove();
  return found;
}
