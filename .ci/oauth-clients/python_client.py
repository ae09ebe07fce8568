"""The OAuth provider of the official `mcp` package against a team server, end to end.

    python python_client.py http://127.0.0.1:7337/mcp

Registers, goes through sign-in and consent, calls tools, lets the access token go, refreshes it,
and calls again. Account and password of the person come from ACCOUNT and PASSWORD.
"""

import asyncio
import sys
import urllib.parse

from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

from browser import allow

REDIRECT = "http://127.0.0.1:8914/callback"


class Storage:
    """Keeps tokens and registration in memory."""

    tokens = None
    client_info = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client_info

    async def set_client_info(self, client_info):
        self.client_info = client_info


async def main(url):
    storage = Storage()
    returned = []
    asked = 0
    issued = set()

    async def redirect(address):
        nonlocal asked
        asked += 1
        returned.append(await asyncio.to_thread(allow, address))

    async def callback():
        query = urllib.parse.parse_qs(urllib.parse.urlparse(returned[-1]).query)
        first = {name: values[0] for name, values in query.items()}
        return AuthorizationCodeResult(code=first["code"], state=first["state"], iss=first["iss"])

    metadata = OAuthClientMetadata(client_name="Python SDK", redirect_uris=[REDIRECT])
    provider = OAuthClientProvider(url, metadata, storage, redirect, callback)

    def target():
        return streamable_http_client(url, http_client=create_mcp_http_client(auth=provider))

    for text in ("The Python client signs in", "The Python client refreshes its token"):
        async with Client(target()) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert "recall" in names and "list_spaces" in names, names
            result = await client.call_tool("remember", {"content": text, "scope": "person"})
            assert not result.is_error, result
            result = await client.call_tool("recall", {"query": text})
            assert text in str(result.content), result
        assert asked == 1, asked
        # The access token counts as expired: the refresh token must bring another one.
        tokens = storage.tokens
        assert tokens.refresh_token and tokens.access_token.startswith("mem_oat_"), tokens
        issued.add(tokens.access_token)
        provider.context.token_expiry_time = 1
    assert len(issued) == 2, "the token was not refreshed"
    assert storage.client_info.token_endpoint_auth_method == "none", storage.client_info
    print("python client: ok")


asyncio.run(main(sys.argv[1]))
