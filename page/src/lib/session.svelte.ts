// The way in: a one-time code from the fragment, or the key of another open tab, or a pasted token.
// The key lives in this tab's session storage and in a header; there is no cookie.

import type { SessionAnswer, Vault } from './types';

const KEY_NAME = 'memoranda-session';
const ASK_TIMEOUT_MS = 200;

type Message = { kind: 'ask' } | { kind: 'key'; key: string };

class Session {
  key = $state<string | null>(null);
  /** False until it is known whether this tab is signed in. */
  settled = $state(false);
  /** Sentence for the sign-in screen. */
  notice = $state('');
  vault = $state<Vault | null>(null);
  #channel = new BroadcastChannel('memoranda-session');
  #waiting: ((key: string) => void) | null = null;

  constructor() {
    this.#channel.onmessage = (event: MessageEvent<Message>) => {
      if (event.data.kind === 'ask' && this.key) this.#tell(this.key);
      else if (event.data.kind === 'key') {
        this.#waiting?.(event.data.key);
        if (!this.key && this.settled) this.#take(event.data.key);
      }
    };
  }

  #tell(key: string) {
    this.#channel.postMessage({ kind: 'key', key } satisfies Message);
  }

  #take(key: string) {
    sessionStorage.setItem(KEY_NAME, key);
    this.key = key;
    this.notice = '';
  }

  async start() {
    const code = /^#c=([^&]+)/.exec(location.hash)?.[1];
    if (code) {
      // Out of the address bar and of the history before anything else happens.
      history.replaceState(null, '', `${location.pathname}#/now`);
      await this.exchange({ code });
      if (!this.key) await this.#find();
    } else {
      await this.#find();
    }
    this.settled = true;
  }

  async #find() {
    const kept = sessionStorage.getItem(KEY_NAME);
    if (kept) {
      this.key = kept;
      return;
    }
    const key = await new Promise<string | null>((resolve) => {
      this.#waiting = resolve;
      this.#channel.postMessage({ kind: 'ask' } satisfies Message);
      setTimeout(() => resolve(null), ASK_TIMEOUT_MS);
    });
    this.#waiting = null;
    if (key) this.#take(key);
  }

  async exchange(proof: { code: string } | { token: string }) {
    try {
      const response = await fetch('/api/page/session', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(proof),
        credentials: 'omit',
      });
      const answer = (await response.json()) as SessionAnswer & { detail?: string; code?: string };
      if (!response.ok) {
        this.notice = answer.detail ?? 'The server refused this link.';
        return;
      }
      this.vault = answer.vault;
      this.#take(answer.session);
      this.#tell(answer.session);
    } catch {
      this.notice = 'The server does not answer. Run memoranda open again.';
    }
  }

  /** The server knows this key no longer. */
  end() {
    if (!this.key) return;
    sessionStorage.removeItem(KEY_NAME);
    this.key = null;
    this.notice = 'This session has ended. Run memoranda open to come back.';
  }
}

export const session = new Session();
