"""LlamaIndex: the chat store and the memory block, in LlamaIndex's own memories."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from memoranda import Memoranda

core = pytest.importorskip("llama_index.core.memory")
types = pytest.importorskip("llama_index.core.base.llms.types")
chat_stores = pytest.importorskip("llama_index.core.storage.chat_store")
adapter = pytest.importorskip("memoranda.llama_index")


def message(text: str, role: str = "user") -> Any:
    return types.ChatMessage(role=role, content=text)


@pytest.fixture(params=["memoranda", "simple"])
def store(request: pytest.FixtureRequest, memory: Memoranda) -> Any:
    """Every test holds for the reference store too, so that it tests the interface."""
    if request.param == "simple":
        return chat_stores.SimpleChatStore()
    return adapter.MemorandaChatStore(memory, folder=f"llama-{request.node.originalname[:20].replace('_', '-')}")


def test_messages_are_kept_by_key(store: Any) -> None:
    store.set_messages("Ann", [message("one"), message("two", "assistant")])
    store.add_message("Ann", message("three"))
    store.add_message("bob", message("four"))
    assert [one.content for one in store.get_messages("Ann")] == ["one", "two", "three"]
    assert store.get_messages("Ann")[1].role == types.MessageRole.ASSISTANT
    assert sorted(store.get_keys()) == ["Ann", "bob"]
    assert store.delete_message("Ann", 0).content == "one"
    assert store.delete_last_message("Ann").content == "three"
    assert [one.content for one in store.delete_messages("Ann")] == ["two"]
    assert store.get_messages("Ann") == []


def test_a_buffer_uses_the_store(store: Any) -> None:
    buffer = core.ChatMemoryBuffer.from_defaults(
        chat_store=store, chat_store_key="k", token_limit=1000, tokenizer_fn=str.split
    )
    buffer.put(message("hello"))
    buffer.put(message("hi", "assistant"))
    assert [one.content for one in buffer.get()] == ["hello", "hi"]
    buffer.reset()
    assert buffer.get_all() == []


def test_the_block_gives_what_is_known(memory: Memoranda) -> None:
    async def run() -> None:
        block = adapter.MemorandaMemoryBlock(memory)
        await block.aput([message("My bicycle is in the cellar"), message("I see", "assistant")])
        assert "bicycle" in await block.aget([message("Where is my bicycle?")])
        composed = core.Memory.from_defaults(
            session_id="s", memory_blocks=[block], tokenizer_fn=str.split
        )
        await composed.aput(message("Where is my bicycle?"))
        text = "\n".join(str(one.content) for one in await composed.aget())
        assert "bicycle is in the cellar" in text

    asyncio.run(run())
