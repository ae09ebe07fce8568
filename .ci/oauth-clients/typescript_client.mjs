// The OAuth client of the official TypeScript SDK against a team server, end to end.
//
//   node typescript_client.mjs http://127.0.0.1:7337/mcp
//
// Registers, goes through sign-in and consent (browser.py), calls tools, and refreshes its token.
import assert from 'node:assert';
import { execFileSync } from 'node:child_process';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { auth, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const url = new URL(process.argv[2]);
const browser = new URL('browser.py', import.meta.url).pathname;
const kept = {};
let returned;
const provider = {
  redirectUrl: 'http://127.0.0.1:8915/callback',
  clientMetadata: { client_name: 'TypeScript SDK', redirect_uris: ['http://127.0.0.1:8915/callback'] },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => { kept.client = client; },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => { kept.tokens = tokens; },
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
  redirectToAuthorization: (address) => {
    returned = execFileSync('python3', [browser, String(address)], { encoding: 'utf8' }).trim();
  },
};

async function connect() {
  const transport = new StreamableHTTPClientTransport(url, { authProvider: provider });
  const client = new Client({ name: 'typescript', version: '1' });
  try {
    await client.connect(transport);
    return client;
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    const query = new URL(returned).searchParams;
    assert.ok(query.get('iss').endsWith('/oauth'), returned);
    await transport.finishAuth(query.get('code'));
    return connect();
  }
}

const client = await connect();
const names = (await client.listTools()).tools.map((tool) => tool.name);
assert.ok(names.includes('recall') && names.includes('list_spaces'), String(names));
const result = await client.callTool({ name: 'remember', arguments: { content: 'The TypeScript client signs in', scope: 'person' } });
assert.ok(!result.isError, JSON.stringify(result));
await client.close();

const before = kept.tokens;
assert.ok(before.access_token.startsWith('mem_oat_'), JSON.stringify(before));
assert.strictEqual(await auth(provider, { serverUrl: url }), 'AUTHORIZED');
assert.notStrictEqual(kept.tokens.access_token, before.access_token);
const again = await connect();
const found = await again.callTool({ name: 'recall', arguments: { query: 'TypeScript client' } });
assert.ok(JSON.stringify(found).includes('signs in'), JSON.stringify(found));
await again.close();
console.log('typescript client: ok');
