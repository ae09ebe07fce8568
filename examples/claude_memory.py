"""Claude's memory tool with Memoranda as its backend, on the official `anthropic` package.

How to run it:

    pip install anthropic
    export ANTHROPIC_API_KEY=...
    python examples/claude_memory.py "Remember that I like my coffee black."

`memoranda` must be on the PATH, or MEMORANDA_BIN must name it. With MEMORANDA_URL (such as
http://127.0.0.1:7337) the memories are kept by a running `memoranda serve` instead, with the token
in MEMORANDA_TOKEN (`memoranda token` prints it). Without a key, `examples/stand_in.py` plays the API:

    python examples/stand_in.py 8080 &
    ANTHROPIC_API_KEY=none ANTHROPIC_BASE_URL=http://127.0.0.1:8080 python examples/claude_memory.py
"""

import json
import os
import subprocess
import sys
import urllib.request

from anthropic import Anthropic
from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError

BINARY = os.environ.get("MEMORANDA_BIN", "memoranda")
URL = os.environ.get("MEMORANDA_URL")


def by_command(tool_input, environment=None):
    """Runs a command with the binary and returns the `tool_result` block."""
    done = subprocess.run(
        [BINARY, "tool", "memory", "-", "--wording", "claude", "--json"],
        input=json.dumps(tool_input).encode(),
        stdout=subprocess.PIPE,
        env=environment,
    )
    if done.returncode not in (0, 1):
        raise RuntimeError(f"memoranda ended with {done.returncode}")
    return json.loads(done.stdout)


def by_http(tool_input):
    """Runs a command on a server and returns the `tool_result` block."""
    headers = {"Content-Type": "application/json", "User-Agent": "claude_memory.py"}
    if token := os.environ.get("MEMORANDA_TOKEN"):
        headers["Authorization"] = f"Bearer {token}"
    body = json.dumps(tool_input).encode()
    request = urllib.request.Request(f"{URL}/api/memory-tool", body, headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


class MemorandaTool(BetaAbstractMemoryTool):
    """The memory tool, stored in Memoranda's project `memories`."""

    def run(self, command):
        """Runs any of the commands."""
        tool_input = command.to_dict()
        result = by_http(tool_input) if URL else by_command(tool_input)
        if result["is_error"]:
            raise ToolError(result["content"])
        return result["content"]

    view = create = str_replace = insert = delete = rename = run


def main():
    question = " ".join(sys.argv[1:]) or "Remember that I like my coffee black."
    runner = Anthropic().beta.messages.tool_runner(
        model=os.environ.get("ANTHROPIC_MODEL", "claude-sonnet-5-5"),
        max_tokens=1024,
        messages=[{"role": "user", "content": question}],
        tools=[MemorandaTool()],
    )
    for message in runner:
        for block in message.content:
            if block.type == "tool_use":
                print(f"[memory] {json.dumps(block.input)}")
            elif block.type == "text":
                print(block.text)


if __name__ == "__main__":
    main()
