"""Calls everything that Memoranda offers to an MCP client, with the official `mcp` package.

    pip install mcp
    python examples/mcp_client.py                                over stdio, in both eras
    python examples/mcp_client.py http://127.0.0.1:7337/mcp      over HTTP, with `memoranda serve`

`memoranda` must be on the PATH, or MEMORANDA_BIN must name it. It writes to the vault that
MEMORANDA_HOME names: use one of its own. Over HTTP the token is in MEMORANDA_TOKEN;
`memoranda token` prints it.
"""

import asyncio
import os
import sys

from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

BINARY = os.environ.get("MEMORANDA_BIN", "memoranda")
NOTE = "---\ntitle: Tulips\n---\n- [fact] They bloom in spring #garden\n- grow_beside [[Daffodils]]\n"


def server():
    """Starts a server over stdio."""
    ours = ("MEMORANDA_", "XDG_", "HOME")
    env = {name: value for name, value in os.environ.items() if name.startswith(ours)}
    return stdio_client(StdioServerParameters(command=BINARY, args=["mcp"], env=env))


def over_http(url):
    """A server that runs already."""
    token = os.environ.get("MEMORANDA_TOKEN")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return streamable_http_client(url, http_client=create_mcp_http_client(headers=headers))


async def memory(client, **arguments):
    """Calls the memory tool; returns its text, and true if it is an error."""
    result = await client.call_tool("memory", arguments)
    assert result.structured_content, result
    return result.content[0].text, bool(result.is_error)


async def check(target, mode):
    async with Client(target, mode=mode) as client:
        tools = (await client.list_tools()).tools
        assert "memory" in [tool.name for tool in tools], tools
        assert "/memories" in client.instructions
        path = f"/memories/{mode}/tulips.md"
        for arguments, expected in [
            ({"command": "create", "path": path, "file_text": NOTE}, f"Created {path}"),
            ({"command": "view", "path": path}, "     4\t- [fact] They bloom in spring #garden"),
            ({"command": "str_replace", "path": path, "old_str": "spring", "new_str": "April"}, "Replaced text"),
            ({"command": "insert", "path": path, "insert_line": 4, "insert_text": "- [fact] Red"}, "at line 4"),
            ({"command": "view", "path": "/memories"}, path),
            ({"command": "rename", "old_path": path, "new_path": f"{path}.old.md"}, "Renamed"),
            ({"command": "delete", "path": f"{path}.old.md"}, "Deleted"),
            ({"command": "create", "path": path, "file_text": NOTE}, "Created"),
        ]:
            text, is_error = await memory(client, **arguments)
            assert expected in text and not is_error, (arguments, text)
        text, is_error = await memory(client, command="view", path="/memories/none.md")
        assert is_error and text == '{"error":"File not found: /memories/none.md","is_error":true}', text

        prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert {"memory_guide", "remember", "recall", "continue"} <= set(prompts), prompts
        for name, arguments in [
            ("memory_guide", {}),
            ("remember", {"what": "tulips"}),
            ("recall", {"topic": "bloom"}),
            ("continue", {}),
        ]:
            said = await client.get_prompt(name, arguments)
            assert said.messages[0].content.text, name

        resources = (await client.list_resources()).resources
        uri = f"memoranda://memories/{mode}/tulips"
        assert uri in [str(resource.uri) for resource in resources], resources
        read = await client.read_resource(uri)
        assert read.contents[0].text == NOTE, read
        templates = (await client.list_resource_templates()).resource_templates
        assert templates[0].uri_template == "memoranda://{project}/{+permalink}", templates
        print(f"mcp {mode}: {client.protocol_version}, {len(tools)} tools, {len(prompts)} prompts,",
              f"{len(resources)} resources")


async def main():
    for mode in ("legacy", "auto"):
        await check(over_http(sys.argv[1]) if len(sys.argv) > 1 else server(), mode)


asyncio.run(main())
