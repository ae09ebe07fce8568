"""LlamaIndex on Memoranda: a chat store, and a memory block with everything that is known.

from llama_index.core.memory import Memory
from memoranda.llama_index import MemorandaMemoryBlock

memory = Memory.from_defaults(session_id="s1", memory_blocks=[MemorandaMemoryBlock()])
"""

from __future__ import annotations

import asyncio
from typing import Any, List, Optional

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.storage.chat_store.base import BaseChatStore

from ._client import Memoranda
from ._documents import NoteFolder, Transcript


class MemorandaChatStore(BaseChatStore):
    """Conversations as notes, one for each key."""

    project: str = Field(default="agents", description="Project of the notes, made on first use.")
    folder: str = Field(default="llama-index", description="Folder of the notes in the project.")
    _notes: NoteFolder = PrivateAttr()

    def __init__(self, memory: Optional[Memoranda] = None, **options: Any) -> None:
        super().__init__(**options)
        self._notes = NoteFolder(
            memory or Memoranda(client="llama-index"), self.project, self.folder
        )

    @classmethod
    def class_name(cls) -> str:
        """Returns the name of the class."""
        return "MemorandaChatStore"

    def _transcript(self, key: str) -> Transcript:
        return Transcript(self._notes, key)

    def set_messages(self, key: str, messages: List[ChatMessage]) -> None:
        """Replaces the messages of a key."""
        self._transcript(key).replace([_document(message) for message in messages])

    def get_messages(self, key: str) -> List[ChatMessage]:
        """Returns the messages of a key."""
        return [ChatMessage.model_validate(item) for item in self._transcript(key).items()]

    def add_message(self, key: str, message: ChatMessage) -> None:
        """Adds a message to a key."""
        self._transcript(key).append([_document(message)])

    def delete_messages(self, key: str) -> Optional[List[ChatMessage]]:
        """Deletes the messages of a key and returns them."""
        messages = self.get_messages(key)
        return messages if self._transcript(key).clear() else None

    def delete_message(self, key: str, idx: int) -> Optional[ChatMessage]:
        """Deletes one message of a key and returns it."""
        removed = self._transcript(key).remove(idx)
        return ChatMessage.model_validate(removed) if removed else None

    def delete_last_message(self, key: str) -> Optional[ChatMessage]:
        """Deletes the last message of a key and returns it."""
        return self.delete_message(key, -1)

    def get_keys(self) -> List[str]:
        """Returns the keys, in alphabetical order."""
        return sorted(names[0] for names in self._notes.list())


class MemorandaMemoryBlock(BaseMemoryBlock[str]):
    """What is known about the last message: rules, the person, and every relevant memory."""

    name: str = Field(default="Memoranda", description="The name of the memory block.")
    budget_tokens: int = Field(default=1500, description="Maximum length of the context.")
    keep_messages: bool = Field(
        default=True, description="Keep messages of the user that leave the short-term memory."
    )
    _memory: Memoranda = PrivateAttr()

    def __init__(self, memory: Optional[Memoranda] = None, **options: Any) -> None:
        super().__init__(**options)
        self._memory = memory or Memoranda(client="llama-index")

    async def _aget(self, messages: Optional[List[ChatMessage]] = None, **block_kwargs: Any) -> str:
        asked = [m.content for m in messages or [] if m.role == MessageRole.USER and m.content]
        query = asked[-1] if asked else None
        answer = await asyncio.to_thread(
            self._memory.context, query, budget_tokens=self.budget_tokens
        )
        return answer.text

    async def _aput(self, messages: List[ChatMessage]) -> None:
        if not self.keep_messages:
            return
        for message in messages:
            # A longer text is no statement; `write_note` keeps such.
            if message.role == MessageRole.USER and message.content and len(message.content) <= 4000:
                await asyncio.to_thread(self._memory.remember, message.content)


def _document(message: ChatMessage) -> Any:
    return message.model_dump(mode="json")
