"""Runs the real Claude Code against the real binary and a simulated Claude API.

    MEMORANDA_BIN=target/debug/memoranda python3 .ci/claude-code/check.py CLAUDE HOME

CLAUDE is the program, HOME an empty folder that becomes its home. Three conversations:

1. Tool search is on. For each phrase of phrases.tsv the simulated model searches for tools; the
   expected tool must come back or be loaded already, and no destructive tool may come first.
2. The model calls `remember` with "I prefer tabs".
3. In another folder the model calls `recall` in other words, and must get the preference.
"""

import json
import os
import pathlib
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PREFIX = "mcp__memoranda__"
# Tools that delete: none may be the first answer, unless the phrase asks for it.
DESTRUCTIVE = ("forget", "delete", "vacuum", "bulk", "prune", "remove")
SEARCH_RESULTS = 5


def blocks(messages, kind):
    """Returns all blocks of a kind, in order."""
    lists = (message["content"] for message in messages if isinstance(message["content"], list))
    return [block for content in lists for block in content if block.get("type") == kind]


class Api(ThreadingHTTPServer):
    """A Claude API whose model calls the tools of a script, one after the other."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = []
        self.requests = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def next_block(self, request):
        """Returns the next call of the script, or the end. Requests without tools are titles."""
        done = len(blocks(request["messages"], "tool_result"))
        if not request.get("tools") or done >= len(self.script):
            return {"type": "text", "text": "Done."}
        name, arguments = self.script[done]
        return {"type": "tool_use", "id": f"toolu_{done}", "name": name, "input": arguments}


def events(message):
    """Returns a message as the events of a stream."""
    [block] = message["content"]
    if block["type"] == "text":
        empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    reason = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    yield {"type": "content_block_start", "index": 0, "content_block": empty}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": reason, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.reply("application/json", b"{}")

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "messages" not in request or "count_tokens" in self.path:
            self.reply("application/json", b'{"input_tokens": 1}')
            return
        if request.get("tools"):
            self.server.requests.append(request)
        block = self.server.next_block(request)
        message = {
            "id": f"msg_{len(self.server.requests)}",
            "type": "message",
            "role": "assistant",
            "model": request["model"],
            "content": [block],
            "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        if not request.get("stream"):
            self.reply("application/json", json.dumps(message).encode())
            return
        lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events(message))
        self.reply("text/event-stream", "".join(lines).encode())

    def reply(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Client:
    """Claude Code with a home of its own."""

    def __init__(self, program, home):
        self.program, self.home = program, home
        self.api = Api()
        # As `memoranda setup` connects it.
        self.run([os.environ["MEMORANDA_BIN"], "setup", "claude-code", "--yes"], home)

    def run(self, command, folder):
        # A proxy or a configuration of the person must not be used.
        keep = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        own = {
            "HOME": str(self.home),
            "ANTHROPIC_API_KEY": "none",
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{self.api.server_port}",
            "ENABLE_TOOL_SEARCH": "true",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        done = subprocess.run(
            command, cwd=folder, env={**keep, **own}, capture_output=True, text=True, timeout=120, check=False
        )
        if done.returncode != 0:
            sys.exit(f"{command[0]} failed: {done.stdout[-2000:]}{done.stderr[-2000:]}")

    def converse(self, folder, script):
        """Runs one conversation. Returns the last request, which has the results of all calls."""
        folder = self.home / folder
        folder.mkdir(exist_ok=True)
        self.api.script, self.api.requests = script, []
        allowed = "ToolSearch,mcp__memoranda"
        self.run([self.program, "-p", "Go on", "--allowedTools", allowed], folder)
        return self.api.requests[-1]


def found_tools(result):
    """Returns the tools that a search brought, in order."""
    content = result["content"]
    if isinstance(content, str):
        return []
    return [block["tool_name"] for block in content if block.get("type") == "tool_reference"]


def check_phrases(client):
    rows = (pathlib.Path(__file__).parent / "phrases.tsv").read_text().splitlines()
    rows = [row.split("\t") for row in rows if not row.startswith("#")]
    # The first search waits until the server is connected.
    script = [("ToolSearch", {"query": "memoranda", "max_results": 1})]
    script += [("ToolSearch", {"query": phrase, "max_results": SEARCH_RESULTS}) for phrase, _ in rows]
    last = client.converse("search", script)
    deferred = {tool["name"] for tool in last["tools"] if tool.get("defer_loading")}
    loaded = {tool["name"] for tool in last["tools"]} - deferred
    wrong = []
    for (phrase, tool), result in zip(rows, blocks(last["messages"], "tool_result")[1:], strict=True):
        found = found_tools(result)
        ours = [name.removeprefix(PREFIX) for name in found if name.startswith(PREFIX)]
        first = found[0].removeprefix(PREFIX) if found else ""
        if PREFIX + tool not in loaded and tool not in ours:
            wrong.append(f"{phrase!r}: {tool} is not in {found}")
        elif first != tool and first.startswith(DESTRUCTIVE):
            wrong.append(f"{phrase!r}: {first} comes first")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"Claude Code finds the tool of {len(rows)} phrases")


def check_memory(client):
    def call(folder, tool, arguments):
        script = [("ToolSearch", {"query": "memoranda", "max_results": 1}), (PREFIX + tool, arguments)]
        return json.dumps(blocks(client.converse(folder, script)["messages"], "tool_result")[-1])

    kept = call("one", "remember", {"content": "I prefer tabs"})
    # Claude Code gives its model the structured result.
    if "stored" not in kept or "preference" not in kept or "person" not in kept:
        sys.exit(f"remember: {kept}")
    told = call("two", "recall", {"query": "does she indent with tabs or spaces"})
    if "I prefer tabs" not in told or "claude-code" not in told:
        sys.exit(f"recall: {told}")
    print("Claude Code recalls in one conversation what it remembered in another")


if __name__ == "__main__":
    code = Client(sys.argv[1], pathlib.Path(sys.argv[2]))
    check_phrases(code)
    check_memory(code)
