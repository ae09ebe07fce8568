"""The session in the OpenAI Agents SDK. The SDK's own tests of a session run in .ci/sdk."""

from __future__ import annotations

import asyncio

import pytest

from memoranda import Memoranda

agents = pytest.importorskip("agents")
adapter = pytest.importorskip("memoranda.openai_agents")


def test_a_runner_continues_the_conversation(memory: Memoranda) -> None:
    testing = pytest.importorskip("agents.testing")
    assert isinstance(adapter.MemorandaSession("x", memory), agents.memory.Session)
    assert testing.ScriptedModel is not None


def test_a_session_is_a_note(memory: Memoranda) -> None:
    async def run() -> None:
        session = adapter.MemorandaSession("Order 7", memory)
        await session.add_items([{"role": "user", "content": "The parcel is green"}])
        await session.add_items([])
        await session.add_items([{"role": "assistant", "content": "Noted"}])
        again = adapter.MemorandaSession("Order 7", memory)
        assert [item["role"] for item in await again.get_items()] == ["user", "assistant"]
        assert await again.get_items(1) == [{"role": "assistant", "content": "Noted"}]
        assert await again.pop_item() == {"role": "assistant", "content": "Noted"}
        assert "parcel is green" in memory.recall("green parcel").text
        await again.clear_session()
        assert await session.get_items() == [] and await session.pop_item() is None

    asyncio.run(run())
