// One event stream for each browser. A visible tab takes a lock and reads the stream; the others hear
// it over a channel. A hidden tab lets go of both and asks again when it is looked at.

import { Problem, request } from './api';
import { session } from './session.svelte';
import type { Entry } from './types';

const RETRY_MS = [250, 500, 1000, 2000, 5000];

type LiveEvent =
  | { kind: 'commit'; id: string; entry: Entry }
  | { kind: 'ready'; head: string | null; resumed: boolean }
  | { kind: 'index'; state: string; done: number; total: number }
  | { kind: 'lost' };

type Listener = (entry: Entry) => void;

class Live {
  /** False while the server does not answer. */
  connected = $state(true);
  index = $state.raw<{ done: number; total: number } | null>(null);
  /** Counts up when lists may have missed something and must be read again. */
  stale = $state(0);
  #head: string | null = null;
  #channel: BroadcastChannel | null = null;
  #stop: AbortController | null = null;
  #listeners = new Set<Listener>();

  start() {
    document.addEventListener('visibilitychange', () => this.#follow());
    addEventListener('pagehide', () => this.#leave());
    addEventListener('pageshow', (event) => {
      if (event.persisted) this.#follow();
    });
    this.#follow(true);
  }

  onCommit(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #follow(first = false) {
    if (document.visibilityState !== 'visible' || !session.key) {
      this.#leave();
      return;
    }
    if (this.#stop) return;
    if (!first) this.stale += 1;
    const stop = new AbortController();
    this.#stop = stop;
    // Tabs that show another space of a team have a stream of their own.
    const name = `memoranda-live${session.space ? `-${session.space}` : ''}`;
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = (event: MessageEvent<LiveEvent>) => this.#hear(event.data);
    // Without a secure context there are no locks: then each visible tab reads its own stream.
    if (!navigator.locks) void this.#read(stop.signal);
    else {
      navigator.locks
        .request(name, { signal: stop.signal }, () => this.#read(stop.signal))
        .catch(() => undefined);
    }
  }

  #leave() {
    this.#stop?.abort();
    this.#stop = null;
    this.#channel?.close();
    this.#channel = null;
  }

  async #read(signal: AbortSignal) {
    let failures = 0;
    while (!signal.aborted) {
      try {
        const after = this.#head ? `?after=${encodeURIComponent(this.#head)}` : '';
        const response = await request('GET', `events${after}`, { signal });
        failures = 0;
        await this.#parse(response.body!, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof Problem && error.status === 401) return this.#leave();
      }
      if (signal.aborted) return;
      this.#say({ kind: 'lost' });
      const wait = RETRY_MS[Math.min(failures, RETRY_MS.length - 1)]!;
      failures += 1;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  async #parse(body: ReadableStream<Uint8Array>, signal: AbortSignal) {
    const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
    signal.addEventListener('abort', () => void reader.cancel().catch(() => undefined), { once: true });
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += value.replaceAll('\r\n', '\n');
      let end: number;
      while ((end = rest.indexOf('\n\n')) >= 0) {
        this.#message(rest.slice(0, end));
        rest = rest.slice(end + 2);
      }
    }
  }

  #message(text: string) {
    let name = '';
    let data = '';
    for (const line of text.split('\n')) {
      if (line.startsWith('event:')) name = line.slice(6).trim();
      else if (line.startsWith('data:')) data += (data ? '\n' : '') + line.slice(5).trimStart();
    }
    if (!name || !data) return;
    const value = JSON.parse(data);
    if (name === 'commit') this.#say({ kind: 'commit', id: value.commit, entry: value });
    else if (name === 'ready') this.#say({ kind: 'ready', head: value.head ?? null, resumed: value.resumed !== false });
    else if (name === 'index') this.#say({ kind: 'index', ...value });
  }

  #say(event: LiveEvent) {
    this.#channel?.postMessage(event);
    this.#hear(event);
  }

  #hear(event: LiveEvent) {
    if (event.kind === 'lost') {
      this.connected = false;
      return;
    }
    this.connected = true;
    if (event.kind === 'commit') {
      this.#head = event.id;
      for (const listener of this.#listeners) listener(event.entry);
    } else if (event.kind === 'ready') {
      this.index = null;
      // Without a position the server could not resume from: what is on the screen may lack something.
      if (this.#head && !event.resumed) this.stale += 1;
      if (event.head && (!this.#head || !event.resumed)) this.#head = event.head;
    } else {
      this.index = event.state === 'building' ? { done: event.done, total: event.total } : null;
      // What was read while it was built lacks something.
      if (!this.index) this.stale += 1;
    }
  }
}

export const live = new Live();
