"""Finds the server of the vault, or starts one that ends with this process."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import threading
from typing import Any, Dict, List, NamedTuple, Optional

from ._errors import ServerUnreachableError
from ._program import find_program

_START_SECONDS = 30.0


class ServerAddress(NamedTuple):
    """Where a server listens, and the token that it wants."""

    url: str
    token: Optional[str]


class OwnServer:
    """A server that this process has started. It ends with `close`, or with the process."""

    def __init__(self, program: str, home: Optional[str]) -> None:
        command = [program, "serve", "--bind", "127.0.0.1:0", "--json", *_home_flag(home)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        atexit.register(self.close)
        started = self._first_line()
        token = os.environ.get("MEMORANDA_TOKEN")
        if started["token_file"]:
            with open(started["token_file"], encoding="utf-8") as file:
                token = file.read().strip()
        self.address = ServerAddress(f"http://{started['address']}", token)

    def _first_line(self) -> Dict[str, Any]:
        # A server that hangs ends the wait too: its output is closed then.
        timer = threading.Timer(_START_SECONDS, self._process.kill)
        timer.start()
        assert self._process.stdout is not None and self._process.stderr is not None
        line = self._process.stdout.readline()
        timer.cancel()
        if not line:
            said = self._process.stderr.read().decode("utf-8", "replace").strip()
            self.close()
            raise ServerUnreachableError(f"memoranda serve did not start: {said or 'it said nothing'}")
        # Nobody reads further lines; a full pipe would stop the server.
        for stream in (self._process.stdout, self._process.stderr):
            threading.Thread(target=stream.read, daemon=True).start()
        listening: Dict[str, Any] = json.loads(line)
        return listening

    def close(self) -> None:
        """Ends the server."""
        atexit.unregister(self.close)
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


def find_server(program: str, home: Optional[str]) -> Optional[ServerAddress]:
    """Returns the server of the vault that runs at present; `None` if there is none."""
    command = [program, "token", "--json", *_home_flag(home)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode != 0:
        # No vault yet: `serve` makes it, or says what is wrong.
        return None
    server = json.loads(done.stdout).get("server")
    return ServerAddress(server["url"], server["token"]) if server else None


def resolve_program(program: Optional[str]) -> str:
    """Returns the program that was named, or else MEMORANDA_BIN, or else the installed one."""
    return program or os.environ.get("MEMORANDA_BIN") or find_program()


def _home_flag(home: Optional[str]) -> List[str]:
    return ["--home", os.fspath(home)] if home else []
