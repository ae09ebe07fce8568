"""A simulated Claude API, so that the examples run without a key.

    python examples/stand_in.py [PORT]

It answers POST /v1/messages by a script: look at the memories, write one, change it, read it, ask
for one that is not there, then say what the tool answered. It prints its address when it listens;
port 0 is any free one.
"""

import itertools
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FILE = "/memories/user/coffee.md"
SCRIPT = [
    {"command": "view", "path": "/memories"},
    {"command": "create", "path": FILE, "file_text": "- [preference] Coffee: with milk #drinks\n"},
    {"command": "str_replace", "path": FILE, "old_str": "with milk", "new_str": "black"},
    {"command": "view", "path": FILE},
    {"command": "view", "path": "/memories/none.md"},
]
NUMBERS = itertools.count()
# The conversation up to each of our messages: newer clients send only the new part.
THREADS = {}


def conversation(request):
    """Returns the whole conversation, also if the client sends only its continuation."""
    thread = request.get("thread") or {}
    earlier, tools = THREADS.get(thread.get("previous_message_id"), ([], []))
    return earlier + request["messages"], request.get("tools") or tools


def results(messages):
    """Returns the answers of the tool so far, in order."""
    found = []
    for message in messages:
        if isinstance(message["content"], list):
            found += [block for block in message["content"] if block.get("type") == "tool_result"]
    return found


def text_of(result):
    content = result.get("content", "")
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content)


def answer(request):
    """Returns the next message of the script; nothing if the tool is missing."""
    messages, tools = conversation(request)
    if not any(tool.get("type") == "memory_20250818" for tool in tools):
        return None
    done = results(messages)
    if len(done) < len(SCRIPT):
        call = {"type": "tool_use", "id": f"toolu_{len(done)}", "name": "memory", "input": SCRIPT[len(done)]}
        content, reason = [call], "tool_use"
    else:
        said = [f"{'error' if result.get('is_error') else 'ok'}: {text_of(result)}" for result in done]
        content, reason = [{"type": "text", "text": "\n---\n".join(said)}], "end_turn"
    identifier = f"msg_{next(NUMBERS)}"
    THREADS[identifier] = (messages, tools)
    return {
        "id": identifier,
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": content,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = answer(request)
        if message is None:
            self.send_error(400, "the memory tool is missing")
            return
        body = json.dumps(message).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8080), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
