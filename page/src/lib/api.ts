// The only door to the server: one function for reads, one for writes, one kind of error.

import { session } from './session.svelte';

/** A refusal of the server (RFC 9457), or the loss of the connection (`code` "offline"). */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly fields: Record<string, unknown> = {},
  ) {
    super(detail);
    this.name = 'Problem';
  }
}

export type Query = Record<string, string | number | boolean | string[] | null | undefined>;

export function queryString(query: Query): string {
  const parts = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === '' || value === false) continue;
    if (Array.isArray(value)) for (const one of value) parts.append(key, one);
    else parts.append(key, String(value));
  }
  const text = parts.toString();
  return text ? `?${text}` : '';
}

export async function request(method: string, path: string, init: { body?: unknown; signal?: AbortSignal } = {}): Promise<Response> {
  const key = session.key;
  const headers: Record<string, string> = { Accept: 'application/json, application/problem+json' };
  if (session.key) headers.Authorization = `Bearer ${session.key}`;
  if (session.space) headers['Memoranda-Space'] = session.space;
  if (init.body !== undefined) headers['Content-Type'] = 'application/json';
  let response: Response;
  try {
    response = await fetch(`/api/page/${path}`, {
      method,
      headers,
      body: init.body === undefined ? undefined : JSON.stringify(init.body),
      signal: init.signal,
      credentials: 'omit',
      redirect: 'error',
    });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Problem(0, 'offline', 'The server does not answer. It may have stopped: run memoranda open.');
  }
  if (response.ok) return response;
  let fields: Record<string, unknown> = {};
  try {
    fields = (await response.json()) as Record<string, unknown>;
  } catch {
    // A refusal without a JSON body: the status is all there is.
  }
  const code = typeof fields.code === 'string' ? fields.code : `status-${response.status}`;
  const detail = typeof fields.detail === 'string' ? fields.detail : response.statusText || `Status ${response.status}`;
  if (response.status === 401) {
    // An access token of a team lives for an hour.
    if (key && (await session.renew(key))) return request(method, path, init);
    session.end();
  }
  if (code === 'no-such-space') session.leaveSpace();
  // The frame says it once, for all places.
  if (response.status === 503 || response.status === 507) dispatchEvent(new Event('obstacle'));
  throw new Problem(response.status, code, detail, fields);
}

export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  const response = await request('GET', path + queryString(query), { signal });
  return (await response.json()) as T;
}

export async function send<T>(method: 'POST' | 'PUT', path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const response = await request(method, path, { body, signal });
  return (await response.json()) as T;
}

/** True for the error of an aborted request, which nobody needs to see. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
