"""Claude's memory tool with Memoranda as its backend, for the package `anthropic`.

from anthropic import Anthropic
from memoranda.anthropic import MemorandaMemoryTool

runner = Anthropic().beta.messages.tool_runner(tools=[MemorandaMemoryTool()], ...)
"""

from __future__ import annotations

from typing import Any, Dict, Optional

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

from ._client import AsyncMemoranda, Memoranda


class MemorandaMemoryTool(BetaAbstractMemoryTool):
    """The memory tool, stored in the project `memories`."""

    def __init__(self, memory: Optional[Memoranda] = None, **options: Any) -> None:
        super().__init__(**options)
        self.memory = memory or Memoranda(client="anthropic-sdk")

    def run_command(self, command: Any) -> str:
        """Runs any of the six commands."""
        return _content(self.memory.call_memory_tool(command.to_dict()))

    view = create = str_replace = insert = delete = rename = run_command


class AsyncMemorandaMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool for the asynchronous client."""

    def __init__(self, memory: Optional[AsyncMemoranda] = None, **options: Any) -> None:
        super().__init__(**options)
        self.memory = memory or AsyncMemoranda(client="anthropic-sdk")

    async def run_command(self, command: Any) -> str:
        """Runs any of the six commands."""
        return _content(await self.memory.call_memory_tool(command.to_dict()))

    view = create = str_replace = insert = delete = rename = run_command


def _content(result: Dict[str, Any]) -> str:
    content: str = result["content"]
    if result["is_error"]:
        raise ToolError(content)
    return content
