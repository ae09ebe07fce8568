// Sign-in to a team server: the page is a client of the server's own authorization server (OAuth 2.1 with
// PKCE). What it must remember while the person is at the sign-in lies in this tab alone.

const CLIENT = 'memoranda-page';
const PENDING_NAME = 'memoranda-sign-in';

export interface Tokens { key: string; refresh: string }
interface Pending { verifier: string; state: string; address: string }

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function random(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

/** Browsers offer digests only over TLS or on this machine. */
export const canSignIn = () => crypto.subtle !== undefined;

/** Leaves the page for the sign-in. The public address is the only one that the sign-in returns to. */
export async function beginSignIn(origin: string) {
  if (location.origin !== origin) {
    location.assign(`${origin}/`);
    return;
  }
  const pending: Pending = { verifier: random(), state: random(), address: location.hash };
  sessionStorage.setItem(PENDING_NAME, JSON.stringify(pending));
  const challenge = base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(pending.verifier))));
  const query = new URLSearchParams({
    response_type: 'code', client_id: CLIENT, redirect_uri: `${origin}/`, code_challenge: challenge, code_challenge_method: 'S256', state: pending.state,
  });
  location.assign(`/oauth/authorize?${query}`);
}

/** Ends a sign-in that came back to this page; null if none did, a sentence if it failed. */
export async function endSignIn(): Promise<Tokens | string | null> {
  const answer = new URLSearchParams(location.search);
  const state = answer.get('state');
  if (!state) return null;
  const kept = sessionStorage.getItem(PENDING_NAME);
  sessionStorage.removeItem(PENDING_NAME);
  const pending = kept ? (JSON.parse(kept) as Pending) : null;
  // Out of the address bar and of the history before anything else happens.
  history.replaceState(null, '', `${location.pathname}${pending?.address || '#/now'}`);
  if (!pending || pending.state !== state) return 'This sign-in did not begin in this tab. Sign in again.';
  const code = answer.get('code');
  if (!code) return 'Nobody signed in.';
  return ask({ grant_type: 'authorization_code', code, code_verifier: pending.verifier, redirect_uri: `${location.origin}/` });
}

export const refreshTokens = (refresh: string) => ask({ grant_type: 'refresh_token', refresh_token: refresh });

async function ask(form: Record<string, string>): Promise<Tokens | string> {
  try {
    const response = await fetch('/oauth/token', { method: 'POST', body: new URLSearchParams({ ...form, client_id: CLIENT }), credentials: 'omit' });
    const answer = (await response.json()) as { access_token?: string; refresh_token?: string; error_description?: string };
    if (response.ok && answer.access_token && answer.refresh_token) return { key: answer.access_token, refresh: answer.refresh_token };
    return answer.error_description ?? 'The server did not accept the sign-in.';
  } catch {
    return 'The server does not answer. Try again soon.';
  }
}

/** Tells the server that nobody uses these tokens any more. */
export async function revokeTokens(token: string) {
  const body = new URLSearchParams({ token, client_id: CLIENT });
  await fetch('/oauth/revoke', { method: 'POST', body, credentials: 'omit' }).catch(() => undefined);
}
