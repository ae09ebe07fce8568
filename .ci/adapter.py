"""Puts Memoranda in the place of the official SDK's filesystem memory tool, for the SDK's own tests.

A pytest plugin: `pytest -p adapter`, with MEMORANDA_BIN naming the binary. Each tool has a vault of
its own, whose project `memories` is pointed at `<base_path>/memories`, where the tests look.
"""

import functools
import os
import subprocess
import tempfile
from pathlib import Path

from anyio import Path as AsyncPath
from anyio.to_thread import run_sync
from anthropic.lib.tools import (
    BetaAbstractMemoryTool,
    BetaAsyncAbstractMemoryTool,
    ToolError,
    _beta_builtin_memory_tool as official,
)

import claude_memory


class Vault:
    """A vault whose memories are in a given folder, created if necessary."""

    def __init__(self, memories):
        self.folder = tempfile.TemporaryDirectory()
        home = Path(self.folder.name)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
        self.environment = {**kept, "HOME": str(home), "MEMORANDA_HOME": str(home / "vault")}
        # A person who points the project at a folder creates that folder.
        missing = [folder for folder in (memories, *memories.parents) if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(mode=0o700)
        command = [claude_memory.BINARY, "project", "add", "memories", str(memories)]
        subprocess.run(command, env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def run(self, command):
        result = claude_memory.by_command(command.to_dict(), self.environment)
        if result["is_error"]:
            raise ToolError(result["content"])
        return result["content"]


class Tool(BetaAbstractMemoryTool):
    def __init__(self, base_path="./memory"):
        super().__init__()
        self.base_path = Path(base_path)
        self.memory_root = self.base_path / "memories"
        self.vault = Vault(self.memory_root)

    def run(self, command):
        return self.vault.run(command)

    view = create = str_replace = insert = delete = rename = run


class AsyncTool(BetaAsyncAbstractMemoryTool):
    def __init__(self, base_path="./memory"):
        super().__init__()
        self.base_path = AsyncPath(base_path)
        self.memory_root = self.base_path / "memories"

    @functools.cached_property
    def vault(self):
        return Vault(Path(str(self.memory_root)))

    async def _ensure_memory_root(self):
        await run_sync(lambda: self.vault)

    async def run(self, command):
        return await run_sync(lambda: self.vault.run(command))

    view = create = str_replace = insert = delete = rename = run


official.BetaLocalFilesystemMemoryTool = Tool
official.BetaAsyncLocalFilesystemMemoryTool = AsyncTool
