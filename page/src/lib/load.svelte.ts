// A value from the server: the last request wins, and the old value stays on the screen until then.

import { isAbort } from './api';

export class Loaded<T> {
  value = $state.raw<T | null>(null);
  error = $state.raw<unknown>(null);
  busy = $state(false);
  #stop: AbortController | null = null;

  async load(read: (signal: AbortSignal) => Promise<T>): Promise<T | null> {
    this.#stop?.abort();
    const stop = new AbortController();
    this.#stop = stop;
    this.busy = true;
    try {
      const value = await read(stop.signal);
      if (stop.signal.aborted) return null;
      this.value = value;
      this.error = null;
      return value;
    } catch (error) {
      if (!stop.signal.aborted && !isAbort(error)) this.error = error;
      return null;
    } finally {
      if (this.#stop === stop) {
        this.#stop = null;
        this.busy = false;
      }
    }
  }

  clear() {
    this.#stop?.abort();
    this.#stop = null;
    this.value = null;
    this.error = null;
    this.busy = false;
  }
}
