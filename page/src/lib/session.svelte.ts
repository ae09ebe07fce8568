// The way in: a one-time code from the fragment, a sign-in to a team, the key of another open tab, or a
// pasted token.
// The key lives in this tab's session storage and in a header; there is no cookie.

import { endSignIn, refreshTokens, revokeTokens, type Tokens } from './sign-in';
import type { SessionAnswer, Vault, WayIn } from './types';

const KEY_NAME = 'memoranda-session';
const REFRESH_NAME = 'memoranda-refresh';
const SPACE_NAME = 'memoranda-space';
const ASK_TIMEOUT_MS = 200;

type Message = { kind: 'ask' } | { kind: 'key'; key: string; refresh: string | null };

class Session {
  key = $state<string | null>(null);
  /** False until it is known whether this tab is signed in. */
  settled = $state(false);
  /** Sentence for the sign-in screen. */
  notice = $state('');
  vault = $state<Vault | null>(null);
  /** How people come in here; null until it is known. */
  wayIn = $state<WayIn | null>(null);
  /** The space of a team that this tab shows; empty for the first. */
  space = sessionStorage.getItem(SPACE_NAME) ?? '';
  #channel = new BroadcastChannel('memoranda-session');
  #waiting: ((found: { key: string; refresh: string | null }) => void) | null = null;
  #renewing: Promise<boolean> | null = null;

  constructor() {
    this.#channel.onmessage = (event: MessageEvent<Message>) => {
      if (event.data.kind === 'ask' && this.key) this.#tell(this.key);
      else if (event.data.kind === 'key') {
        this.#waiting?.(event.data);
        if (this.settled) this.#take(event.data.key, event.data.refresh);
      }
    };
  }

  #tell(key: string) {
    this.#channel.postMessage({ kind: 'key', key, refresh: sessionStorage.getItem(REFRESH_NAME) } satisfies Message);
  }

  #take(key: string, refresh: string | null = null) {
    sessionStorage.setItem(KEY_NAME, key);
    if (refresh) sessionStorage.setItem(REFRESH_NAME, refresh);
    else sessionStorage.removeItem(REFRESH_NAME);
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
      const signedIn = await endSignIn();
      if (typeof signedIn === 'string') this.notice = signedIn;
      else if (signedIn) this.#takeTokens(signedIn);
      if (!this.key) await this.#find();
    }
    if (!this.key) await this.#learnWayIn();
    this.settled = true;
  }

  #takeTokens(tokens: Tokens) {
    this.#take(tokens.key, tokens.refresh);
    this.#tell(tokens.key);
  }

  async #learnWayIn() {
    try {
      const response = await fetch('/api/page/way-in', { credentials: 'omit' });
      this.wayIn = (await response.json()) as WayIn;
    } catch {
      this.wayIn = { kind: 'vault' };
    }
  }

  /** Gets a new key in place of one that the server refused; false if there is none. */
  renew(refused: string): Promise<boolean> {
    if (this.key && this.key !== refused) return Promise.resolve(true);
    this.#renewing ??= this.#renewOnce(refused).finally(() => (this.#renewing = null));
    return this.#renewing;
  }

  async #renewOnce(refused: string): Promise<boolean> {
    if (!sessionStorage.getItem(REFRESH_NAME)) return false;
    const renew = async () => {
      // A refresh token works once, for all tabs: another tab may have a newer one.
      const other = await this.#askOthers();
      if (other && other.key !== refused) {
        this.#take(other.key, other.refresh);
        return true;
      }
      const refresh = sessionStorage.getItem(REFRESH_NAME);
      const tokens = refresh ? await refreshTokens(refresh) : '';
      if (typeof tokens === 'string') return false;
      this.#takeTokens(tokens);
      return true;
    };
    return navigator.locks ? navigator.locks.request('memoranda-renew', renew) : renew();
  }

  #askOthers(): Promise<{ key: string; refresh: string | null } | null> {
    return new Promise((resolve) => {
      const settle = (found: { key: string; refresh: string | null } | null) => {
        this.#waiting = null;
        resolve(found);
      };
      this.#waiting = settle;
      this.#channel.postMessage({ kind: 'ask' } satisfies Message);
      setTimeout(() => settle(null), ASK_TIMEOUT_MS);
    });
  }

  /** Shows another space of the team. Everything is read again. */
  showSpace(name: string) {
    sessionStorage.setItem(SPACE_NAME, name);
    history.replaceState(null, '', `${location.pathname}#/now`);
    location.reload();
  }

  /** Shows the first space, after the server refused the chosen one. */
  leaveSpace() {
    sessionStorage.removeItem(SPACE_NAME);
    location.reload();
  }

  /** Signs out of a team. */
  async leave() {
    const refresh = sessionStorage.getItem(REFRESH_NAME);
    if (refresh) await revokeTokens(refresh);
    sessionStorage.clear();
    location.assign('/');
  }

  async #find() {
    const kept = sessionStorage.getItem(KEY_NAME);
    if (kept) {
      this.key = kept;
      return;
    }
    const found = await this.#askOthers();
    if (found) this.#take(found.key, found.refresh);
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
    sessionStorage.removeItem(REFRESH_NAME);
    this.key = null;
    this.notice = 'This session has ended. Run memoranda open to come back.';
    void this.#learnWayIn().then(() => {
      if (this.wayIn?.kind === 'team') this.notice = 'This session has ended. Sign in again.';
    });
  }
}

export const session = new Session();
