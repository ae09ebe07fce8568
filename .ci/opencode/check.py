"""Runs the real OpenCode with our plugin, against the real binary and a simulated Claude API.

    MEMORANDA_BIN=target/debug/memoranda python3 .ci/opencode/check.py OPENCODE HOME

OPENCODE is the program, HOME an empty folder that becomes its home. The system prompt of the first
request must have the brief once, and the conversation must leave a checkpoint. What the plugin gave the
hooks is printed; with RECORD=FOLDER it is written there, as fixtures of the tests.
"""

import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "claude-code"))
from check import Api  # noqa: E402

QUESTION = "Which editor do I use?"
# The hook, with its input copied before.
RECORDER = """#!/bin/sh
input="$(cat)"
printf '%s\\n' "$input" > "{folder}/opencode-$2.json"
printf '%s' "$input" | "{program}" "$@"
"""


def main():
    opencode, home = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    program = os.environ["MEMORANDA_BIN"]
    folder, inputs = home / "shop", home / "inputs"
    for each in (folder, inputs):
        each.mkdir(parents=True)
    api = Api()
    settings = home / ".config/opencode/opencode.json"
    settings.parent.mkdir(parents=True)
    provider = {"options": {"baseURL": f"http://127.0.0.1:{api.server_port}/v1", "apiKey": "none"}}
    settings.write_text(json.dumps({"provider": {"anthropic": provider}, "autoupdate": False}))
    keep = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    environment = {**keep, "HOME": str(home), "OPENCODE_DISABLE_AUTOUPDATE": "1"}

    def run(*command):
        done = subprocess.run(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=180, check=False,
        )
        if done.returncode != 0:
            sys.exit(f"{command[0]} failed: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout

    run(program, "remember", "I edit with Neovim")
    run(program, "setup", "opencode", "--hooks", "--yes")
    recorder = home / "recorder"
    recorder.write_text(RECORDER.format(folder=inputs, program=program))
    recorder.chmod(0o755)
    plugin = settings.parent / "plugins/memoranda.js"
    plugin.write_text(plugin.read_text().replace(json.dumps(program), json.dumps(str(recorder))))
    run(opencode, "run", "--model", "anthropic/claude-sonnet-4-5", QUESTION)

    asked = [request for request in api.requests if QUESTION in json.dumps(request["messages"])]
    if not asked:
        sys.exit(f"the question did not reach the model: {len(api.requests)} requests")
    system = json.dumps(asked[0].get("system"))
    if system.count("<memoranda-brief>") != 1 or "Neovim" not in system:
        sys.exit(f"the system prompt has no brief: {system[-1500:]}")
    notes = sorted((home / "memoranda/memories/sessions").rglob("*.md"))
    if len(notes) != 1 or QUESTION not in notes[0].read_text():
        sys.exit(f"there is no checkpoint with the question: {notes}")
    for recorded in sorted(inputs.iterdir()):
        text = recorded.read_text().replace(str(home), "@HOME@")
        print(f"{recorded.name}: {text.strip()}")
        if "RECORD" in os.environ:
            (pathlib.Path(os.environ["RECORD"]) / recorded.name).write_text(text)


main()
