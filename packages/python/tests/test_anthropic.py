"""The memory tool of the `anthropic` package. The SDK's own tests run in .ci/clients."""

from __future__ import annotations

import asyncio

import pytest

from memoranda import AsyncMemoranda, Memoranda

tools = pytest.importorskip("anthropic.lib.tools")
adapter = pytest.importorskip("memoranda.anthropic")


def test_commands_are_stored_as_memories(memory: Memoranda) -> None:
    tool = adapter.MemorandaMemoryTool(memory)
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}
    created = tool.call({"command": "create", "path": "/memories/coffee.md", "file_text": "Black.\n"})
    assert created == "File created successfully at: /memories/coffee.md"
    assert "Black." in tool.call({"command": "view", "path": "/memories/coffee.md"})
    with pytest.raises(tools.ToolError, match="does not exist"):
        tool.call({"command": "view", "path": "/memories/none.md"})
    assert "Black." in memory.recall("coffee black").text


def test_the_async_tool_does_the_same(memory: Memoranda) -> None:
    async def run() -> None:
        client = AsyncMemoranda(memory.url, memory._connection.transport.address().token)
        tool = adapter.AsyncMemorandaMemoryTool(client)
        assert "tea.md" in await tool.call(
            {"command": "create", "path": "/memories/tea.md", "file_text": "Green.\n"}
        )
        with pytest.raises(tools.ToolError):
            await tool.call({"command": "delete", "path": "/memories/none.md"})

    asyncio.run(run())
